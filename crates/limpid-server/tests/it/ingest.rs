//! What other machines hand in, over HTTP on loopback.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use limpid_model::{Pause, RealPause};
use limpid_runtime::inbox::IngestKind;
use limpid_runtime::{Agent, AgentOptions, Clock, Config, Environment, Home};
use limpid_server::{Server, ServerError};
use limpid_store::{InboxItem, ItemFilter};
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;

const TOKEN: &str = "a-token-of-thirty-two-characters";

struct Noon;

impl Clock for Noon {
    fn now(&self) -> jiff::Timestamp {
        "2026-04-11T12:00:00Z".parse().unwrap()
    }
}

fn agent(home: &Path, inbox: &str, token: &str) -> Agent {
    let listen = if inbox.contains("listen") { "" } else { "listen = \"127.0.0.1:0\"\n" };
    let config = format!("[inbox]\n{listen}{inbox}\n");
    let variables = [("LIMPID_INGEST_TOKEN", token), ("MY_API_KEY", "sk-a1B2c3D4e5F6g7H8")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Agent::open(AgentOptions {
        config: Config::parse(&config, "limpid.toml").unwrap(),
        environment: Environment::new(variables),
        clock: Arc::new(Noon),
        ..AgentOptions::new(Home::new(home))
    })
    .unwrap()
}

/// A server with every source on, and a client.
struct Bench {
    home: TempDir,
    agent: Agent,
    url: String,
    client: Client,
    stop: Option<oneshot::Sender<()>>,
}

impl Bench {
    async fn new(inbox: &str) -> Self {
        Self::at(tempfile::tempdir().unwrap(), inbox).await
    }

    async fn at(home: TempDir, inbox: &str) -> Self {
        let agent = agent(home.path(), inbox, TOKEN);
        let server = Server::bind(&agent, Arc::new(RealPause)).await.unwrap().unwrap();
        let url = format!("http://{}", server.address());
        let (stop, stopped) = oneshot::channel();
        tokio::spawn(server.run(async {
            let _ = stopped.await;
        }));
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().build().unwrap();
        Self { home, agent, url, client, stop: Some(stop) }
    }

    fn post(&self, kind: &str) -> reqwest::RequestBuilder {
        self.client.post(format!("{}/v1/inbox/{kind}", self.url)).bearer_auth(TOKEN)
    }

    async fn hand_in(&self, kind: &str, object: &Value) -> (StatusCode, Value) {
        answer(self.post(kind).body(object.to_string())).await
    }

    async fn items(&self) -> Vec<InboxItem> {
        self.agent.inbox().list(ItemFilter::default()).await.unwrap().rows
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(()));
    }
}

async fn answer(request: reqwest::RequestBuilder) -> (StatusCode, Value) {
    let response = request.send().await.unwrap();
    let status = response.status();
    (status, serde_json::from_str(&response.text().await.unwrap()).unwrap())
}

const ALL: &str = "sms = true\nnotifications = true\nmail = true";

// SUR-032 KAI-094
#[tokio::test]
async fn what_is_handed_in_is_kept_as_it_came() {
    let bench = Bench::new(ALL).await;
    let sms = json!({"from": "+49 151", "text": "Your key is sk-a1B2c3D4e5F6g7H8\nhere", "at": "2026-04-11T09:00:00Z"});
    assert_eq!(bench.hand_in("sms", &sms).await, (StatusCode::CREATED, json!({"id": 1, "stored": true})));
    let post = json!({"app": "Bank", "title": "Card", "text": "Used"});
    assert_eq!(bench.hand_in("notification", &post).await.0, StatusCode::CREATED);
    let mail = json!({"from": "eve@x.org", "subject": "Hi", "text": "Hello", "account": "ana@x.org"});
    assert_eq!(bench.hand_in("mail", &mail).await.0, StatusCode::CREATED);
    assert_eq!(bench.hand_in("custom", &json!({"text": "Backup done"})).await.0, StatusCode::CREATED);
    let shown: Vec<String> = bench
        .items()
        .await
        .into_iter()
        .rev()
        .map(|item| {
            let new = item.new;
            format!(
                "{} {:?} {:?} {:?} {:?} {}",
                new.source, new.account, new.sender, new.title, new.text, new.posted_ms
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            r#"sms "" "+49 151" "" "Your key is [secret MY_API_KEY]\nhere" 1775898000000"#,
            r#"notification "" "Bank" "Card" "Used" 1775908800000"#,
            r#"mail "ana@x.org" "eve@x.org" "Hi" "Hello" 1775908800000"#,
            r#"notification "" "custom" "" "Backup done" 1775908800000"#,
        ]
    );
}

// KAI-094 SUR-032
#[tokio::test]
async fn nothing_is_kept_of_what_is_wrong() {
    let bench = Bench::new("sms = true").await;
    let good = json!({"text": "Hello"});
    let url = |kind: &str| format!("{}/v1/inbox/{kind}", bench.url);
    let body = || good.to_string();
    let cases = [
        ("no token", bench.client.post(url("sms")).body(body()), 401),
        ("wrong token", bench.client.post(url("sms")).bearer_auth("wrong").body(body()), 401),
        ("another scheme", bench.client.post(url("sms")).basic_auth(TOKEN, Some(TOKEN)).body(body()), 401),
        ("source off", bench.post("notification").body(body()), 403),
        ("custom is a notification", bench.post("custom").body(body()), 403),
        ("blank", bench.post("sms").body(json!({"from": "+49", "text": " \n"}).to_string()), 422),
        ("no text", bench.post("sms").body("{}"), 422),
        ("no object", bench.post("sms").body(vec![0xff, 0, 0x7b]), 422),
        ("empty", bench.post("sms").body(""), 422),
        ("no such kind", bench.post("fax").body(body()), 404),
        ("too long", bench.post("sms").body(json!({"text": "x".repeat(70_000)}).to_string()), 413),
        ("another host", bench.post("sms").header("host", "evil.example").body(body()), 421),
        ("a page's request", bench.post("sms").header("origin", "https://evil.example").body(body()), 421),
    ];
    for (case, request, status) in cases {
        let (got, object) = answer(request).await;
        assert_eq!(got.as_u16(), status, "{case}");
        assert!(object["error"].as_str().is_some_and(|why| !why.contains(TOKEN)), "{case}: {object}");
        assert!(bench.items().await.is_empty(), "{case}");
    }
    assert_eq!(bench.hand_in("sms", &good).await.0, StatusCode::CREATED);
}

// LES-145 KAI-094
#[tokio::test]
async fn the_same_key_is_kept_once_over_restarts() {
    let bench = Bench::new(ALL).await;
    let keyed = json!({"text": "Hello", "key": "m1"});
    assert_eq!(bench.hand_in("sms", &keyed).await, (StatusCode::CREATED, json!({"id": 1, "stored": true})));
    let by_header = |bench: &Bench| bench.post("sms").header("idempotency-key", "m1").body("{\"text\": \"Hello\"}");
    let known = (StatusCode::OK, json!({"id": 1, "stored": false}));
    assert_eq!(answer(by_header(&bench)).await, known);
    let home = std::mem::replace(&mut { bench }.home, tempfile::tempdir().unwrap());
    let again = Bench::at(home, ALL).await;
    assert_eq!(answer(by_header(&again)).await, known);
    assert_eq!(again.items().await.len(), 1);
    assert_eq!(again.hand_in("custom", &keyed).await.0, StatusCode::CREATED, "another kind has keys of its own");
}

// SEC-030
#[tokio::test]
async fn whoever_guesses_tokens_is_soon_not_listened_to() {
    let bench = Bench::new("sms = true").await;
    for _ in 0..10 {
        let guess = bench.client.post(format!("{}/v1/inbox/sms", bench.url)).bearer_auth("guess");
        assert_eq!(guess.send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
    }
    let late = bench.client.post(format!("{}/v1/inbox/sms", bench.url)).bearer_auth("guess").send().await.unwrap();
    assert_eq!(late.status(), StatusCode::TOO_MANY_REQUESTS);
    let wait: u64 = late.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait));
    assert!(bench.items().await.is_empty());
    let health = bench.client.get(format!("{}/health", bench.url)).send().await.unwrap();
    assert_eq!((health.status(), health.text().await.unwrap().as_str()), (StatusCode::OK, "ok\n"));
    // Whoever guesses, or a page that asks, locks out nobody who has the token.
    let right = bench.post("sms").body("{\"text\": \"Hello\"}").send().await.unwrap();
    assert!(right.status().is_success(), "{}", right.status());
}

// SEC-030 SEC-032
#[tokio::test]
async fn a_server_that_would_not_be_safe_does_not_start() {
    let home = tempfile::tempdir().unwrap();
    let nothing = Server::bind(&agent(home.path(), "", TOKEN), Arc::new(RealPause)).await;
    assert!(matches!(nothing, Ok(None)), "nothing is on");
    let none = Server::bind(&agent(home.path(), "sms = true", ""), Arc::new(RealPause)).await.err().unwrap();
    assert!(matches!(none, ServerError::NoToken), "{none}");
    let short =
        Server::bind(&agent(home.path(), "sms = true", "short"), Arc::new(RealPause)).await.err().unwrap().to_string();
    assert!(short.contains("fewer than 16 characters") && !short.contains("short;"), "{short}");
    let public = "sms = true\nlisten = \"0.0.0.0:0\"";
    let config = Config::parse(&format!("[inbox]\n{public}\n"), "limpid.toml").unwrap();
    let environment = Environment::new([("LIMPID_INGEST_TOKEN".to_owned(), TOKEN.to_owned())]);
    let open = Agent::open(AgentOptions { config, environment, ..AgentOptions::new(Home::new(home.path())) }).unwrap();
    let refused = Server::bind(&open, Arc::new(RealPause)).await.err().unwrap();
    assert!(matches!(refused, ServerError::Public(_)), "{refused}");
}

/// Time of which each wait is over at once; during the third one an address becomes free.
struct FreeAtTheThird(Mutex<(u32, Option<std::net::TcpListener>)>);

impl Pause for FreeAtTheThird {
    fn pause(&self, _: Duration) -> BoxFuture<'static, ()> {
        let mut waits = self.0.lock().unwrap();
        waits.0 += 1;
        if waits.0 == 3 {
            waits.1 = None;
        }
        Box::pin(std::future::ready(()))
    }
}

// SEC-040 SUR-032
#[tokio::test]
async fn an_address_that_a_killed_server_still_holds_is_waited_for() {
    let home = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let agent = agent(home.path(), &format!("sms = true\nlisten = \"{address}\""), TOKEN);
    let time = Arc::new(FreeAtTheThird(Mutex::new((0, Some(taken)))));
    let server = Server::bind(&agent, Arc::clone(&time) as Arc<dyn Pause>).await.unwrap().unwrap();
    assert_eq!((server.address(), time.0.lock().unwrap().0), (address, 3));

    let never = Arc::new(FreeAtTheThird(Mutex::new((3, None))));
    let refused = Server::bind(&agent, Arc::clone(&never) as Arc<dyn Pause>).await.err().unwrap();
    assert!(matches!(refused, ServerError::Address { .. }), "somebody listens there for good: {refused}");
}

// SEC-032
#[cfg(unix)]
#[tokio::test]
async fn the_token_of_the_home_is_the_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = tempfile::tempdir().unwrap();
    let agent = agent(home.path(), "sms = true", "");
    assert_eq!(agent.inbox().token().unwrap(), None);
    let token = agent.inbox().make_token(false).unwrap();
    assert_eq!(token.len(), 64);
    let file = home.path().join("data/ingest.token");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(agent.inbox().token().unwrap().unwrap().is(&token));
    assert!(!agent.inbox().token().unwrap().unwrap().is(&token[1..]));
    assert!(agent.inbox().make_token(false).is_err(), "it is told once");
    let other = agent.inbox().make_token(true).unwrap();
    assert!(agent.inbox().token().unwrap().unwrap().is(&other) && !agent.inbox().token().unwrap().unwrap().is(&token));
    let again = self::agent(home.path(), "sms = true", "");
    again
        .inbox()
        .ingest(IngestKind::Sms, json!({"text": format!("it is {other}")}).to_string().as_bytes(), None)
        .await
        .unwrap();
    let kept = again.inbox().list(ItemFilter::default()).await.unwrap().rows.remove(0).new.text;
    assert_eq!(kept, "it is [secret ingest token]");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let open = agent.inbox().token().unwrap_err().to_string();
    assert!(open.contains("chmod 600"), "{open}");
}

// SEC-044
#[tokio::test]
async fn bytes_that_are_no_request_stop_nothing() {
    let bench = Bench::new("sms = true").await;
    let address = bench.url.strip_prefix("http://").unwrap().to_owned();
    let head = format!("POST /v1/inbox/sms HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {TOKEN}\r\n");
    let wrong: [Vec<u8>; 6] = [
        vec![0xff; 300],
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        b"POST /v1/inbox/%ff%00 HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        format!("{head}Content-Length: 18446744073709551616\r\n\r\n").into_bytes(),
        format!("{head}Transfer-Encoding: chunked\r\n\r\nzz\r\n").into_bytes(),
        [head.as_bytes(), b"Idempotency-Key: \xff\xfe\r\nContent-Length: 3\r\n\r\n\xff{\0"].concat(),
    ];
    for bytes in wrong {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        stream.write_all(&bytes).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut said = Vec::new();
        let _ = stream.read_to_end(&mut said).await;
    }
    assert!(bench.items().await.is_empty());
    assert_eq!(bench.hand_in("sms", &json!({"text": "Hello"})).await.0, StatusCode::CREATED);
}

/// Time of which the longest wait that anybody waits for is over when the test says so.
#[derive(Default)]
struct Held(Mutex<Vec<(Duration, oneshot::Sender<()>)>>);

impl Pause for Held {
    fn pause(&self, time: Duration) -> BoxFuture<'static, ()> {
        let (end, ended) = oneshot::channel();
        self.0.lock().unwrap().push((time, end));
        Box::pin(async move { drop(ended.await) })
    }
}

// SEC-092
#[tokio::test]
async fn a_body_has_thirty_seconds_and_then_the_sender_is_told() {
    let home = tempfile::tempdir().unwrap();
    let agent = agent(home.path(), ALL, TOKEN);
    let time = Arc::new(Held::default());
    let server = Server::bind(&agent, Arc::clone(&time) as Arc<dyn Pause>).await.unwrap().unwrap();
    let address = server.address();
    tokio::spawn(server.run(std::future::pending()));
    let mut client = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /v1/inbox/sms HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 100\r\n\r\n{{"
    );
    client.write_all(head.as_bytes()).await.unwrap();
    let body = loop {
        let found = time.0.lock().unwrap().iter().position(|(time, _)| *time == Duration::from_secs(30));
        match found {
            Some(at) => break time.0.lock().unwrap().remove(at).1,
            None => tokio::task::yield_now().await,
        }
    };
    body.send(()).unwrap();
    let mut said = [0; 2048];
    let read = client.read(&mut said).await.unwrap();
    let said = String::from_utf8_lossy(&said[..read]);
    assert!(said.starts_with("HTTP/1.1 408 ") && said.contains("did not come within 30 seconds"), "{said}");
}

// SEC-093
#[tokio::test]
async fn a_sender_that_hands_in_too_much_is_told_when_it_may_go_on_and_the_others_go_on() {
    let bench = Bench::new("sms = true\nnotifications = true\nitems_a_day = 6").await;
    let send = |kind: &str, from: &str, text: String| {
        let url = format!("{}/v1/inbox/{kind}", bench.url);
        bench.client.post(url).bearer_auth(TOKEN).body(json!({ "from": from, "text": text }).to_string()).send()
    };
    let hand_in = |kind: &str, text: String| send(kind, "Eve", text);
    for number in 0..3 {
        assert_eq!(hand_in("sms", number.to_string()).await.unwrap().status(), StatusCode::CREATED);
    }
    let refused = hand_in("sms", "one more".to_owned()).await.unwrap();
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(refused.headers()["retry-after"], "86400");
    let why = refused.text().await.unwrap();
    assert!(why.contains("as much as is kept of one in a day"), "{why}");
    assert_eq!(send("sms", "Bob", "hello".to_owned()).await.unwrap().status(), StatusCode::CREATED);
    assert_eq!(hand_in("notification", "mine".to_owned()).await.unwrap().status(), StatusCode::CREATED);
    assert_eq!(bench.items().await.len(), 5);
}
