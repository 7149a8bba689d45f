//! Mail accounts that log in with access tokens: when tokens are fetched, and where secrets are.

use std::path::Path;
use std::sync::Arc;

use crate::kit::Bench;
use crate::kit::mailbox::FakeMailbox;
use jiff::ToSpan as _;
use limpid_channels::mail::{Mailbox, Secret};
use limpid_runtime::mail::{AccountSettings, LoginKind, OAuthSettings};
use limpid_runtime::{Agent, AgentOptions, Environment};

const ME: &str = "me@example.com";

const REFRESH: &str = "1//0refresh+token7one";

/// An account whose tokens are fetched at a server of the test's own.
struct Desk {
    bench: Bench,
    mailbox: Arc<FakeMailbox>,
}

impl Desk {
    async fn new() -> Self {
        Self { bench: Bench::new("[[reply]]\ntext = \"Hello.\"\n").await, mailbox: Arc::new(FakeMailbox::new()) }
    }

    fn agent(&self) -> Agent {
        let mailbox = Some(Arc::clone(&self.mailbox) as Arc<dyn Mailbox>);
        let environment = Environment::new([("MY_CLIENT".to_owned(), "client-secret-word".to_owned())]);
        Agent::open(AgentOptions { mailbox, environment, ..self.bench.options() }).unwrap()
    }

    fn settings(&self) -> AccountSettings {
        AccountSettings {
            address: ME.to_owned(),
            login: LoginKind::OAuth,
            oauth: Some(OAuthSettings {
                token_url: Some(format!("{}/token", self.bench.server.url())),
                client_id: "limpid".to_owned(),
                client_secret_env: Some("MY_CLIENT".to_owned()),
                ..OAuthSettings::default()
            }),
            ..AccountSettings::default()
        }
    }

    fn will_give(&self, token: &str, more: &str) {
        let body = format!(r#"{{"access_token": "{token}", "token_type": "Bearer", "expires_in": 3600{more}}}"#);
        self.bench.server.will_answer(200, &body);
    }

    /// What was said at the server of tokens.
    fn asked(&self) -> Vec<String> {
        let asked = self.bench.server.requests().into_iter().filter(|request| request.path == "/token");
        asked.map(|request| request.text()).collect()
    }
}

/// Whether any file of a folder holds a text.
fn holds(folder: &Path, text: &str) -> bool {
    let bytes = text.as_bytes();
    std::fs::read_dir(folder).unwrap().flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return holds(&path, text);
        }
        std::fs::read(path).is_ok_and(|file| file.windows(bytes.len()).any(|window| window == bytes))
    })
}

// SEC-032
#[tokio::test]
async fn an_access_token_is_fetched_when_the_last_one_runs_out_or_is_refused_and_stands_nowhere() {
    let desk = Desk::new().await;
    let agent = desk.agent();
    agent.mail().setup(desk.settings(), Some(Secret::new(REFRESH))).await.unwrap();
    desk.will_give("ya29a.access-token-1", "");
    for _ in 0..3 {
        agent.mail().test(ME).await.unwrap();
    }
    desk.bench.clock.forward(58.minutes());
    agent.mail().test(ME).await.unwrap();
    let form = "grant_type=refresh_token&refresh_token=1%2F%2F0refresh%2Btoken7one&client_id=limpid\
                &client_secret=client-secret-word";
    assert_eq!(desk.asked(), [form]);

    desk.bench.clock.forward(2.minutes());
    desk.will_give("ya29a.access-token-2", "");
    agent.mail().test(ME).await.unwrap();
    *desk.mailbox.refused.lock().unwrap() = Some(Secret::new("ya29a.access-token-2"));
    desk.will_give("ya29a.access-token-3", "");
    agent.mail().test(ME).await.unwrap();
    let used = desk.mailbox.tokens.lock().unwrap().clone();
    assert_eq!(used[3..], ["ya29a.access-token-1", "ya29a.access-token-2", "ya29a.access-token-3"]);
    assert_eq!(desk.asked().len(), 3);

    let home = desk.bench.home.path();
    for secret in ["access-token", "client-secret-word"] {
        assert!(!holds(home, secret), "{secret}");
    }
    assert!(!holds(&home.join("data"), REFRESH) && holds(&home.join("mail"), REFRESH));
    *desk.mailbox.broken.lock().unwrap() = Some("ya29a.access-token-3 is no token".to_owned());
    let error = agent.mail().test(ME).await.unwrap_err().to_string();
    assert_eq!(error, "imap.example.com:993: [secret me@example.com] is no token");
}

// SEC-032
#[tokio::test]
async fn a_new_refresh_token_takes_the_place_of_the_old_one() {
    let desk = Desk::new().await;
    let agent = desk.agent();
    agent.mail().setup(desk.settings(), Some(Secret::new(REFRESH))).await.unwrap();
    desk.will_give("ya29a.access-token-1", r#", "refresh_token": "refresh-two""#);
    agent.mail().test(ME).await.unwrap();
    let file = desk.bench.home.path().join("mail/me@example.com.secret");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "refresh-two");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    drop(agent);
    desk.will_give("ya29a.access-token-2", "");
    desk.agent().mail().test(ME).await.unwrap();
    assert!(desk.asked()[1].contains("refresh_token=refresh-two&"), "{:?}", desk.asked());
}

// SEC-032
#[tokio::test]
async fn no_server_of_tokens_chooses_which_words_of_the_owners_are_struck_out() {
    let desk = Desk::new().await;
    let agent = desk.agent();
    agent.mail().setup(desk.settings(), Some(Secret::new(REFRESH))).await.unwrap();
    desk.will_give("at eight o'clock", r#", "refresh_token": "Take the heart pills""#);
    agent.mail().test(ME).await.unwrap();
    *desk.mailbox.broken.lock().unwrap() = Some("Take the heart pills at eight o'clock".to_owned());
    let expected = "imap.example.com:993: Take the heart pills at eight o'clock";
    assert_eq!(agent.mail().test(ME).await.unwrap_err().to_string(), expected);
    drop(agent);
    let agent = desk.agent();
    assert_eq!(agent.mail().test(ME).await.unwrap_err().to_string(), expected, "after a start");
}

// SEC-032
#[tokio::test]
async fn what_is_wrong_with_tokens_is_said_without_them() {
    let desk = Desk::new().await;
    let agent = desk.agent();
    let fails = async |settings: AccountSettings| match agent.mail().setup(settings, Some(Secret::new(REFRESH))).await {
        Ok(_) => agent.mail().test(ME).await.unwrap_err().to_string(),
        Err(error) => error.to_string(),
    };
    let settings = desk.settings();
    let url = format!("{}/token", desk.bench.server.url());
    let revoked = format!(r#"{{"error": "invalid_grant", "error_description": "{REFRESH} was revoked"}}"#);
    desk.bench.server.will_answer(400, &revoked);
    let advice = "enter a new refresh token with `limpid inbox mail add me@example.com`";
    let login = "imap.example.com:993 refuses the login of me@example.com:";
    assert_eq!(
        fails(settings.clone()).await,
        format!("{login} {url} gives no token (invalid_grant: [secret me@example.com] was revoked); {advice}")
    );
    desk.bench.server.will_answer(502, "<html>bad gateway</html>");
    assert_eq!(fails(settings.clone()).await, format!("{login} {url} answered with status 502 and no token"));

    let with = |oauth: OAuthSettings| AccountSettings { oauth: Some(oauth), ..settings.clone() };
    let known = settings.oauth.clone().unwrap();
    let overheard = Some("http://login.example.com/token".to_owned());
    let error = fails(with(OAuthSettings { token_url: overheard, ..known.clone() })).await;
    assert!(error.contains("as others would hear what is sent there"), "{error}");
    let lacking = "me@example.com logs in with oauth, so its file has to name";
    let error = fails(with(OAuthSettings { token_url: None, ..known.clone() })).await;
    assert_eq!(error, format!("{lacking} the `token_url` under [oauth]"));
    let error = fails(with(OAuthSettings { client_id: String::new(), ..known.clone() })).await;
    assert_eq!(error, format!("{lacking} the `client_id` under [oauth]"));
    let error = fails(with(OAuthSettings { client_secret_env: Some("OTHER".to_owned()), ..known })).await;
    assert_eq!(error, "the variable OTHER is not set");
}

// SEC-032
#[cfg(unix)]
#[tokio::test]
async fn a_password_may_come_from_the_systems_keyring_by_a_program() {
    let desk = Desk::new().await;
    let agent = desk.agent();
    let words = ["sh", "-c", "echo keyring-password"].map(str::to_owned).to_vec();
    let settings = AccountSettings { address: ME.to_owned(), secret_command: words, ..AccountSettings::default() };
    let status = agent.mail().setup(settings, None).await.unwrap();
    assert_eq!(status.problem, None, "no program is run for a list");
    let files = desk.bench.home.path().join("mail");
    assert!(!files.join("me@example.com.secret").exists());
    *desk.mailbox.broken.lock().unwrap() = Some("keyring-password is wrong".to_owned());
    let error = agent.mail().test(ME).await.unwrap_err().to_string();
    assert_eq!(error, "imap.example.com:993: [secret me@example.com] is wrong");
    assert!(!holds(&desk.bench.home.path().join("data"), "keyring-password"));
}
