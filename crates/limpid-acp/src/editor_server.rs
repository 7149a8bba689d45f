//! A server of tools that an editor named for a session: how the owner is shown it, how far it has come, how long it is remembered.

use std::time::{Duration, UNIX_EPOCH};

use limpid_config::{Home, McpServerConfig};
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::address;

/// How the names of editors' servers begin.
pub(crate) const PREFIX: &str = "editor-";

/// How long a server that is not used is remembered.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// A server that an editor named for a session.
#[derive(Debug)]
pub(crate) struct EditorServer {
    /// Its name in the settings of the session.
    pub(crate) name: String,
    /// What it is called in sentences of ours: the name that a project gives it may be a sentence itself.
    pub(crate) called: String,
    /// Whether a yes to it outlasts the session.
    pub(crate) lasts: bool,
    /// What would be started or connected to, as the owner is shown it.
    pub(crate) target: String,
    /// The host that its address leads to, which is ours to say.
    pub(crate) host: Option<String>,
    /// How far it has come.
    pub(crate) stage: watch::Sender<Stage>,
}

/// How far a server has come in a session.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stage {
    /// The owner was not asked whether it may be started.
    New,
    /// It is connected to.
    Connecting,
    /// It has said what it offers.
    Connected,
    /// It could not be connected to, so many times in a row.
    Failed { times: u32, again: Instant },
    /// The owner has answered; it is not asked about again in this session.
    Settled,
}

impl EditorServer {
    /// A server by its name in settings, what the editor calls it, and its place among the session's.
    pub(crate) fn new((name, lasts): (String, bool), (at, called): (usize, &str), config: &McpServerConfig) -> Self {
        let named = format!("named {called:?}");
        let words = config.command.iter().chain(&config.args);
        let url = config.url.iter().map(|url| format!("address {url:?}"));
        let lines = words.map(|word| format!("{word:?}")).chain(url);
        let variables = config.env.iter().map(|(name, value)| valued("variable", name, value));
        let headers = config.headers.iter().map(|(name, value)| valued("header", name, value));
        let target = std::iter::once(named).chain(lines).chain(variables).chain(headers).collect::<Vec<_>>().join("\n");
        let host = config.url.as_deref().and_then(address::host);
        Self { name, called: in_words(at, called), lasts, target, host, stage: watch::channel(Stage::New).0 }
    }

    pub(crate) fn stage(&self) -> Stage {
        *self.stage.borrow()
    }
}

/// Letters of a name that is repeated.
const PLAIN: usize = 24;

/// A server in a sentence of ours: by its name where that is one plain word, else by its number.
fn in_words(at: usize, called: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    match called.bytes().all(is_plain) && (1..=PLAIN).contains(&called.len()) {
        true => format!("`{called}`"),
        false => format!("number {}", at + 1),
    }
}

/// Names of values that are keys.
const KEYS: [&str; 8] = ["key", "token", "secret", "passw", "pwd", "auth", "credential", "cookie"];

/// Letters of a key that was drawn by chance, at least.
const KEY: usize = 16;

/// A variable or header with its value: it may make the server run anything. Only what looks like a key and has the name of one is not
/// shown, but told apart from every other by its digest.
fn valued(what: &str, name: &str, value: &str) -> String {
    let lower = name.to_lowercase();
    let drawn = value.strip_prefix("Bearer ").unwrap_or(value);
    let is_drawn = drawn.len() >= KEY
        && drawn.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'+' | b'='))
        && drawn.bytes().any(|byte| byte.is_ascii_digit());
    if !is_drawn || !KEYS.iter().any(|key| lower.contains(key)) {
        return format!("{what} {name:?}: {value:?}");
    }
    let digits = Sha256::digest(value).iter().take(4).map(|byte| format!("{byte:02x}")).collect::<String>();
    format!("{what} {name:?}: a key of {} characters, sha256 {digits}", value.chars().count())
}

/// Forgets servers of editors that no session has connected to for a long time: the next one asks again. Each command and each set of
/// variables has a record of its own, so there would be ever more of them.
pub(crate) fn forget_unused(home: &Home, now_ms: i64) {
    let now = UNIX_EPOCH + Duration::from_millis(now_ms.unsigned_abs());
    for entry in std::fs::read_dir(home.mcp()).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_one = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(".json"));
        // A record is written at each connection.
        let used = entry.metadata().and_then(|metadata| metadata.modified());
        if is_one && used.is_ok_and(|used| now.duration_since(used).is_ok_and(|unused| unused > KEPT)) {
            // What is left is tried again at the next session.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-023 SEC-077
    #[test]
    fn the_name_that_a_project_gives_a_server_is_no_sentence_of_ours() {
        assert_eq!(in_words(0, "docs"), "`docs`");
        let named = ["docs` is your own program. May the MCP server `docs", "", "döcs", "a b", &"x".repeat(25)];
        assert_eq!(named.map(|called| in_words(1, called)), ["number 2"; 5]);
    }

    // SEC-023
    #[test]
    fn no_value_that_makes_a_server_run_something_hides_as_a_key() {
        let drawn = "sk-Zx81_0123456789abcdef";
        for (name, value, is_shown) in [
            ("GIT_CONFIG_KEY_0", "core.hooksPath", true),
            ("GIT_CONFIG_KEY_0", "safe.directory", true),
            ("GOAUTH", "/w/run-it-8", true),
            ("PYTHON_KEYRING_BACKEND", "evil.keyring.Backend01", true),
            ("DOCKER_AUTH_CONFIG", "{\"credHelpers\":{}}", true),
            ("API_KEY", drawn, false),
            ("LEVEL", drawn, true),
        ] {
            assert_eq!(valued("variable", name, value).contains(&format!("{value:?}")), is_shown, "{name} {value}");
        }
        let other = drawn.replace("81", "82");
        assert_ne!(valued("variable", "API_KEY", drawn), valued("variable", "API_KEY", &other));
        assert!(!valued("header", "Authorization", &format!("Bearer {drawn}")).contains(drawn));
    }
}
