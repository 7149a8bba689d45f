//! Handing something over to a program or an address that the owner has set: a text message to a gateway, a
//! notification to a screen.

use std::net::IpAddr;
use std::process::Stdio;
use std::sync::OnceLock;
use std::time::Duration;

use limpid_core::{Labelled, Sentence, causes, sentence};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode};
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::tool::{echoed, status};
use crate::web::{host_of, parse, use_tls};

/// How long it may take.
pub const TIME: Duration = Duration::from_secs(30);

/// Characters of what a program or a server says that an error repeats.
const SAID: usize = 300;

/// Bytes of an answer that are read at most.
const ANSWER: usize = 64 * 1024;

/// A program of the owner's, or an address that they set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outlet {
    /// The program and its arguments; it reads one JSON object from its standard input. No shell is between.
    Program(Vec<String>),
    /// An address that takes one JSON object by POST.
    Address {
        /// Where it is.
        url: String,
        /// Sent as a bearer token.
        token: Option<String>,
    },
}

impl Outlet {
    /// What rules and approvals call it: the host, or the program.
    pub fn name(&self) -> String {
        match self {
            Self::Program(words) => words.first().cloned().unwrap_or_default(),
            Self::Address { url, .. } => host_of(url).unwrap_or_else(|| url.clone()),
        }
    }

    /// Hands one object over, once. It was taken when the program ends well or the server answers with a 2xx status.
    ///
    /// # Errors
    /// A sentence: why it was not taken, or that nobody knows whether it was.
    pub async fn hand_over(&self, object: &Value) -> Result<(), Sentence> {
        let handed = async {
            match self {
                Self::Program(words) => run(words, object).await,
                Self::Address { url, token } => post(url, token.as_deref(), object).await,
            }
        };
        let late =
            |_| sentence!("{} gave no answer within {} s; the outcome is unknown", echoed(self.name()), TIME.as_secs());
        tokio::time::timeout(TIME, handed).await.map_err(late)?
    }
}

/// What a server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status, such as 201.
    pub status: u16,
    /// The body, its first 64 KiB; bytes that are no text are replaced.
    pub body: String,
}

impl Answer {
    /// What to say when this is not the answer that was hoped for.
    pub fn refusal(&self, url: &str) -> Sentence {
        let host = host_of(url).unwrap_or_default();
        told(sentence!("{} answered with status {}", echoed(host), self.status), &self.body)
    }
}

/// Sends bytes to an address by POST and gives the answer, whatever its status. Nobody between hears what is said: the
/// address has TLS or is on this machine.
///
/// # Errors
/// A sentence: the address cannot be used, or there is no answer.
pub async fn post_bytes(url: &str, headers: &[(&str, &str)], body: Vec<u8>) -> Result<Answer, Sentence> {
    let address = parse(url)?;
    let host = address.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let is_here = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    if address.scheme() != "https" && !is_here {
        return Err(sentence!(
            "`{}` is not used, as others would hear what is sent there; it must begin with https://",
            echoed(url)
        ));
    }
    let mut request = client()?.post(address).body(body);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let sent = async {
        let response = request.send().await.map_err(|error| Labelled::outside(causes(&error.without_url())))?;
        let status = response.status().as_u16();
        Ok(Answer { status, body: beginning(response).await })
    };
    let late = |_| sentence!("{} gave no answer within {} s", echoed(host_of(url).unwrap_or_default()), TIME.as_secs());
    tokio::time::timeout(TIME, sent).await.map_err(late)?
}

/// The beginning of a body. One that breaks off is as long as it is.
async fn beginning(mut response: Response) -> String {
    let mut bytes = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        bytes.extend_from_slice(&chunk[..chunk.len().min(ANSWER - bytes.len())]);
        if bytes.len() == ANSWER {
            break;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

async fn run(words: &[String], object: &Value) -> Result<(), Sentence> {
    let [program, arguments @ ..] = words else { return Err("no program is set".into()) };
    let mut child = Command::new(program)
        .args(arguments)
        // Limpid may be started in a stranger's folder, and some programs load what lies there.
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| sentence!("`{}` cannot be run: {}", echoed(program), Labelled::outside(error)))?;
    if let Some(mut input) = child.stdin.take() {
        // A program that does not read its input may still do its work; its status tells.
        let _ = input.write_all(object.to_string().as_bytes()).await;
    }
    let output = child
        .wait_with_output()
        .await
        .map_err(|error| sentence!("`{}`: {}", echoed(program), Labelled::outside(error)))?;
    if output.status.success() {
        return Ok(());
    }
    let failed = sentence!("`{}` failed ({})", echoed(program), echoed(output.status));
    Err(told(failed, &String::from_utf8_lossy(&output.stderr)))
}

async fn post(url: &str, token: Option<&str>, object: &Value) -> Result<(), Sentence> {
    let mut request = client()?.post(parse(url)?).json(object);
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    let response = request.send().await.map_err(|error| {
        let unknown = if error.is_connect() { "" } else { "; the outcome is unknown" };
        sentence!("{}{}", Labelled::outside(causes(&error.without_url())), unknown)
    })?;
    let status = response.status();
    if status.is_success() {
        return Ok(());
    }
    let host = host_of(url).unwrap_or_default();
    let refused = sentence!("{} answered with status {}", echoed(host), crate::status(status));
    Err(told(refused, &beginning(response).await))
}

/// Asks an address of the owner's a question that it answers by its status: 200 is yes, 204 and 304 are no.
///
/// # Errors
/// A sentence: why there was no answer, or none of these.
pub async fn says_yes(url: &str) -> Result<bool, Sentence> {
    let host = || host_of(url).unwrap_or_default();
    let asked = async {
        let response = client()?.get(parse(url)?).send().await;
        let status = response.map(|response| response.status());
        status.map_err(|error| Sentence::from(Labelled::outside(causes(&error.without_url()))))
    };
    let late = |_| sentence!("{} gave no answer within {} s", echoed(host()), TIME.as_secs());
    match tokio::time::timeout(TIME, asked).await.map_err(late)?? {
        StatusCode::OK => Ok(true),
        StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED => Ok(false),
        other => Err(sentence!(
            "{} answered with status {}; 200 says yes, 204 and 304 say no",
            echoed(host()),
            status(other)
        )),
    }
}

/// One client for every address: these are the owner's, so any address may be one, and none leads elsewhere.
fn client() -> Result<&'static Client, Sentence> {
    static CLIENT: OnceLock<Client> = OnceLock::new();
    if let Some(client) = CLIENT.get() {
        return Ok(client);
    }
    use_tls();
    let client = Client::builder()
        .user_agent(concat!("limpid/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .no_proxy()
        .build()
        .map_err(|error| echoed(causes(&error)))?;
    Ok(CLIENT.get_or_init(|| client))
}

/// What happened, with the beginning of what was said about it; nothing in it steers a terminal.
fn told(what: Sentence, said: &str) -> Sentence {
    let said: String = said.chars().filter(|c| c.is_whitespace() || !c.is_control()).collect();
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    if said.is_empty() {
        return what;
    }
    sentence!("{}: {}", what, Labelled::outside(said.chars().take(SAID).collect::<String>()))
}
