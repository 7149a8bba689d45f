//! Logging in at a server: OAuth 2.1 with PKCE, in the owner's browser, which comes back to a port of this machine.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use limpid_config::private_file;
use reqwest::header::{ACCEPT, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{Response, StatusCode};
use rmcp::model::ProtocolVersion;
use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationManager, AuthorizationRequest, AuthorizationSession,
    CredentialStore, StoredCredentials,
};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::connection::{client, install_tls};
use crate::trouble::McpError;

/// The path that the browser comes back to.
const CALLBACK: &str = "/callback";

/// Bytes of the browser's request that are read.
const MOST: usize = 16 * 1024;

/// How long the browser may take to send it.
const READ: Duration = Duration::from_secs(10);

/// Connections that are read at once.
const CONNECTIONS: usize = 64;

/// How long a server may take to say who grants access.
const CHALLENGE: Duration = Duration::from_secs(30);

/// The request that begins a connection, and the headers of those after it.
const HELLO: &str = "initialize";
const REVISION: &str = "mcp-protocol-version";
const SESSION: &str = "mcp-session-id";

/// What a login at a server gave: in a file that only the owner may read.
#[derive(Clone)]
pub struct KeptLogin {
    file: PathBuf,
    /// Scheme, host and port of the server: what it gave goes nowhere else, also when its name leads elsewhere later.
    origin: String,
    /// Where the login is handed to, as the owner saw it.
    redeems: Option<String>,
    /// Hears of every token, so that no text repeats it.
    learn: Arc<dyn Fn(&str) + Send + Sync>,
}

/// What stands in the file.
#[derive(Serialize, Deserialize)]
struct Kept {
    origin: String,
    /// Absent in a login of an older version, which counts as none.
    #[serde(default)]
    redeems: Option<String>,
    #[serde(flatten)]
    credentials: StoredCredentials,
}

impl KeptLogin {
    /// The login at an address that is kept in a file, if it is there. `learn` hears of its tokens now, and of those that take their
    /// place.
    pub fn new(file: PathBuf, url: &str, learn: impl Fn(&str) + Send + Sync + 'static) -> Self {
        let origin = reqwest::Url::parse(url).map(|url| url.origin().ascii_serialization()).unwrap_or_default();
        let kept = Self { file, origin, redeems: None, learn: Arc::new(learn) };
        if let Some(text) = kept.text() {
            kept.tell(&text);
        }
        kept
    }

    /// Whether there is one.
    pub fn is_there(&self) -> bool {
        self.file.exists()
    }

    /// The rights that it has.
    async fn granted(&self) -> Vec<String> {
        self.load().await.ok().flatten().map(|kept| kept.granted_scopes).unwrap_or_default()
    }

    fn text(&self) -> Option<String> {
        private_file::read(&self.file).ok().flatten()
    }

    fn tell(&self, text: &str) {
        let kept: Option<serde_json::Value> = serde_json::from_str(text).ok();
        let token = |name: &str| kept.as_ref()?["token_response"][name].as_str().map(str::to_owned);
        ["access_token", "refresh_token"].into_iter().filter_map(token).for_each(|token| (self.learn)(&token));
    }

    /// The same login, which is handed to this address.
    fn redeemed_at(&self, address: &str) -> Self {
        Self { redeems: Some(address.to_owned()), ..self.clone() }
    }

    /// What asks a server with it. The server says again who grants access, and could name somebody else by now: the login goes only
    /// where the owner saw it go.
    pub(crate) async fn manager(&self, url: &str) -> Result<Option<AuthorizationManager>, McpError> {
        let Some(Kept { origin, redeems, .. }) = self.text().and_then(|text| serde_json::from_str(&text).ok()) else {
            return Ok(None);
        };
        if origin != self.origin {
            return Ok(None);
        }
        let mut manager = manager(url).await?;
        let found = manager.resolve_metadata().await.map_err(of_login)?;
        let Some(redeems) = redeems.filter(|redeems| *redeems == found.metadata.token_endpoint) else {
            return Err(McpError::NeedsLogin);
        };
        manager.set_metadata(found.metadata);
        manager.set_credential_store(self.redeemed_at(&redeems));
        Ok(manager.initialize_from_store().await.map_err(of_login)?.then_some(manager))
    }
}

impl fmt::Debug for KeptLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptLogin").field("file", &self.file).field("origin", &self.origin).finish_non_exhaustive()
    }
}

#[async_trait]
impl CredentialStore for KeptLogin {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let Some(text) = private_file::read(&self.file).map_err(internal)? else { return Ok(None) };
        let Kept { origin, redeems, credentials } = serde_json::from_str(&text).map_err(internal)?;
        let goes_elsewhere = self.redeems.is_some() && redeems != self.redeems;
        Ok((origin == self.origin && !goes_elsewhere).then_some(credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let text =
            serde_json::to_string(&Kept { origin: self.origin.clone(), redeems: self.redeems.clone(), credentials })
                .map_err(internal)?;
        self.tell(&text);
        if let Some(folder) = self.file.parent() {
            std::fs::create_dir_all(folder).map_err(internal)?;
        }
        private_file::write(&self.file, &text).map_err(internal)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        match std::fs::remove_file(&self.file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(internal(error)),
            _ => Ok(()),
        }
    }
}

/// What the owner asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoginWish {
    /// The rights, besides those that a login before this one got; none: those that the server names.
    pub scopes: Vec<String>,
    /// As whom this program is known to whoever grants access; none: it introduces itself.
    pub client: Option<LoginClient>,
}

/// What the operator of a server gave the owner. Printing it does not show the secret.
#[derive(Clone, PartialEq, Eq)]
pub struct LoginClient {
    /// The client id.
    pub id: String,
    /// Its secret, if it has one.
    pub secret: Option<String>,
}

impl fmt::Debug for LoginClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginClient").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A login that waits for the owner.
pub struct Login {
    session: AuthorizationSession,
    listener: TcpListener,
    back: String,
    /// Where what the browser brings is taken to.
    redeems: String,
}

impl Login {
    /// Begins one: finds out who grants access, introduces this program there, and listens for the browser.
    ///
    /// # Errors
    /// When the server says nobody who grants access, or that one refuses.
    pub async fn begin(url: &str, kept: &KeptLogin, wish: LoginWish) -> Result<Self, McpError> {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.map_err(|error| McpError::Unreachable(format!("no port to come back to: {error}")))?;
        let port = listener.local_addr().map_err(|error| McpError::Unreachable(error.to_string()))?.port();
        let back = format!("http://127.0.0.1:{port}");
        let mut manager = manager(url).await?;
        let challenge = challenge(url).await;
        let found = manager.resolve_metadata_from_challenge(challenge.as_deref()).await.map_err(of_login)?;
        let redeems = found.metadata.token_endpoint.clone();
        manager.set_credential_store(kept.redeemed_at(&redeems));
        manager.set_metadata(found.metadata);
        let LoginWish { mut scopes, client } = wish;
        if !scopes.is_empty() {
            scopes.extend(kept.granted().await);
        }
        let mut request = AuthorizationRequest::new(format!("{back}{CALLBACK}")).with_client_name("Limpid");
        request = if scopes.is_empty() { request.with_initial_scope_selection() } else { request.with_scopes(scopes) };
        if let Some(LoginClient { id, secret }) = client {
            request = request.with_preregistered_client(id);
            if let Some(secret) = secret {
                request = request.with_client_secret(secret);
            }
        }
        let session = AuthorizationSession::new(manager, request).await.map_err(|(_, error)| of_login(error))?;
        let login = Self { session, listener, back, redeems };
        if login.hosts().is_none() {
            let why = "the address to log in at, or the one that gives the token, is no web address";
            return Err(McpError::NoLogin(why.to_owned()));
        }
        Ok(login)
    }

    /// The hosts that the owner logs in at and that the login is handed to afterwards; none when one of them is no host of the web. A
    /// server may name somebody else's page for the first and keep what comes of it.
    pub fn hosts(&self) -> Option<(String, String)> {
        let host = |address: &str| {
            let address = reqwest::Url::parse(address).ok()?;
            let is_web = matches!(address.scheme(), "http" | "https");
            address.host_str().filter(|_| is_web).map(str::to_owned)
        };
        Some((host(self.address())?, host(&self.redeems)?))
    }

    /// The address that the owner opens. It is a stranger's.
    pub fn address(&self) -> &str {
        self.session.get_authorization_url()
    }

    /// Waits for the browser to come back, and keeps what it brings.
    ///
    /// # Errors
    /// When it does not come in time, the owner said no, or the token is refused.
    pub async fn finish(self, time: Duration) -> Result<(), McpError> {
        tokio::time::timeout(time, self.wait()).await.map_err(|_| McpError::Silent(time))?
    }

    /// Connections are read side by side: a browser opens some that say nothing, and so may any other program.
    async fn wait(&self) -> Result<(), McpError> {
        let wanted = parameter(self.address(), "state");
        let mut reading = FuturesUnordered::new();
        loop {
            let (mut stream, asked) = tokio::select! {
                accepted = self.listener.accept(), if reading.len() < CONNECTIONS => {
                    let lost = |error| McpError::Unreachable(format!("the browser cannot come back: {error}"));
                    let (mut stream, _) = accepted.map_err(lost)?;
                    reading.push(async move {
                        let asked = tokio::time::timeout(READ, target(&mut stream)).await.ok().flatten();
                        (stream, asked)
                    });
                    continue;
                }
                Some(read) = reading.next() => read,
            };
            let Some(asked) = asked.filter(|asked| asked.starts_with(CALLBACK)) else {
                answer(&mut stream, "404 Not Found", "Not found.").await;
                continue;
            };
            let asked = format!("{}{asked}", self.back);
            // A page that guesses at this port knows no state.
            if wanted.is_none() || parameter(&asked, "state") != wanted {
                answer(&mut stream, "400 Bad Request", "No login is waiting for this request.").await;
                continue;
            }
            let done = match AuthorizationCallback::from_redirect_url(&asked) {
                Ok(_) => self.session.handle_callback_url(&asked).await.map(drop),
                Err(error) => Err(error),
            };
            let (status, text) = match &done {
                Ok(()) => ("200 OK", "You are logged in. Close this page."),
                Err(_) => ("400 Bad Request", "The login failed; the terminal says why."),
            };
            answer(&mut stream, status, text).await;
            return done.map_err(of_login);
        }
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("back", &self.back).finish_non_exhaustive()
    }
}

async fn manager(url: &str) -> Result<AuthorizationManager, McpError> {
    install_tls();
    AuthorizationManager::new(url).await.map_err(of_login)
}

/// What the server says to whoever asks without a login: who grants access, and which rights it wants to see. Some let anybody begin,
/// and say it to whoever asks for something then.
async fn challenge(url: &str) -> Option<String> {
    let own = serde_json::json!({ "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION") });
    let revision = ProtocolVersion::LATEST_WITH_INITIALIZE;
    let hello = serde_json::json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": own });
    let client = client().ok()?;
    let ask = async |method: &str, params: serde_json::Value, session: Option<HeaderValue>| {
        let body = serde_json::json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut request = client.post(url).header(ACCEPT, "application/json, text/event-stream").json(&body);
        if method != HELLO {
            request = request.header(REVISION, revision.as_str());
        }
        if let Some(session) = session {
            request = request.header(SESSION, session);
        }
        tokio::time::timeout(CHALLENGE, request.send()).await.ok()?.ok()
    };
    let says = |answer: &Response| {
        let says = answer.headers().get(WWW_AUTHENTICATE).filter(|_| answer.status() == StatusCode::UNAUTHORIZED)?;
        says.to_str().ok().map(str::to_owned)
    };
    let greeted = ask(HELLO, hello, None).await?;
    if let Some(said) = says(&greeted) {
        return Some(said);
    }
    let session = greeted.headers().get(SESSION).cloned();
    says(&ask("tools/list", serde_json::json!({}), session).await?)
}

/// What a browser asks for: the target of its first line.
async fn target(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < MOST {
        let mut more = [0; 1024];
        match stream.read(&mut more).await {
            Ok(0) | Err(_) => break,
            Ok(count) => head.extend_from_slice(&more[..count]),
        }
    }
    let line = std::str::from_utf8(head.split(|byte| *byte == b'\r').next()?).ok()?;
    let mut words = line.split(' ');
    (words.next()? == "GET").then_some(())?;
    words.next().map(str::to_owned)
}

async fn answer(stream: &mut TcpStream, status: &str, text: &str) {
    let page = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nReferrer-Policy: no-referrer\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
    // Whoever asked may be gone.
    let _ = stream.write_all(page.as_bytes()).await;
    let _ = stream.shutdown().await;
}

/// A parameter of an address's query, as it stands there.
fn parameter(address: &str, name: &str) -> Option<String> {
    let query = address.split_once('?')?.1;
    query
        .split('&')
        .find_map(|pair| pair.split_once('=').filter(|(known, _)| *known == name))
        .map(|(_, value)| value.to_owned())
}

fn internal(error: impl fmt::Display) -> AuthError {
    AuthError::InternalError(error.to_string())
}

/// Words of whoever grants access are a stranger's.
fn of_login(error: AuthError) -> McpError {
    match error {
        AuthError::AuthorizationRequired | AuthError::TokenExpired => McpError::NeedsLogin,
        other => McpError::NoLogin(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::json;

    use super::*;

    // SEC-067 SUR-034
    #[tokio::test]
    async fn a_login_goes_to_the_server_that_gave_it_and_its_tokens_are_heard_of() {
        let folder = tempfile::tempdir().unwrap();
        let heard = Arc::new(Mutex::new(Vec::<String>::new()));
        let kept = |url: &str| {
            let heard = Arc::clone(&heard);
            KeptLogin::new(folder.path().join("login"), url, move |token| heard.lock().unwrap().push(token.to_owned()))
        };
        let token = json!({ "access_token": "first-token", "token_type": "bearer", "refresh_token": "second-token" });
        let credentials = json!({ "client_id": "limpid", "token_response": token, "granted_scopes": [] });
        let credentials: StoredCredentials = serde_json::from_value(credentials).unwrap();
        kept("https://desk.example/mcp").save(credentials).await.unwrap();
        assert_eq!(*heard.lock().unwrap(), ["first-token", "second-token"]);
        assert!(kept("https://desk.example/other").load().await.unwrap().is_some(), "the same server");
        assert_eq!(heard.lock().unwrap().len(), 4, "also when it is read");
        for other in ["https://evil.example/mcp", "http://desk.example/mcp", "https://desk.example:8443/mcp"] {
            assert!(kept(other).load().await.unwrap().is_none(), "{other}");
        }
        assert!(kept("https://desk.example/mcp").is_there(), "nothing is lost by asking");
    }

    /// A server that says who grants access, as it wants to by now.
    async fn says(token_endpoint: Arc<Mutex<String>>) -> (String, Arc<Mutex<Vec<String>>>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (own, noted) = (url.clone(), Arc::clone(&asked));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = vec![0; 8192];
                let read = stream.read(&mut head).await.unwrap_or(0);
                let line = String::from_utf8_lossy(&head[..read]).lines().next().unwrap_or_default().to_owned();
                noted.lock().unwrap().push(line.clone());
                let body = json!({
                    "issuer": own, "authorization_endpoint": format!("{own}/auth"),
                    "token_endpoint": token_endpoint.lock().unwrap().clone(),
                    "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
                })
                .to_string();
                let is_known = line.contains("oauth-authorization-server");
                let status = if is_known { "200 OK" } else { "404 Not Found" };
                let page = format!(
                    "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                );
                let _ = stream.write_all(page.as_bytes()).await;
            }
        });
        (url, asked)
    }

    // SEC-067 SUR-034
    #[tokio::test]
    async fn a_login_is_handed_to_nobody_whom_the_owner_did_not_see() {
        let folder = tempfile::tempdir().unwrap();
        let endpoint = Arc::new(Mutex::new(String::new()));
        let (url, asked) = says(Arc::clone(&endpoint)).await;
        let seen = format!("{url}/token");
        *endpoint.lock().unwrap() = seen.clone();
        let kept = KeptLogin::new(folder.path().join("login"), &url, |_| {});
        let token = json!({ "access_token": "a", "token_type": "bearer", "refresh_token": "r", "expires_in": 1 });
        let credentials = json!({
            "client_id": "limpid", "token_response": token, "granted_scopes": [], "token_received_at": 1, "issuer": url,
        });
        let credentials: StoredCredentials = serde_json::from_value(credentials).unwrap();
        kept.redeemed_at(&seen).save(credentials.clone()).await.unwrap();
        assert!(kept.manager(&url).await.unwrap().is_some(), "the one that the owner saw");
        *endpoint.lock().unwrap() = format!("{}/door/open", url.replace("127.0.0.1", "127.0.0.2"));
        assert!(matches!(kept.manager(&url).await, Err(McpError::NeedsLogin)), "another one");
        assert!(asked.lock().unwrap().iter().all(|line| line.starts_with("GET ")), "{asked:?}");
        // One of an older version, which says nothing of it.
        kept.save(credentials).await.unwrap();
        assert!(matches!(kept.manager(&url).await, Err(McpError::NeedsLogin)));
    }
}
