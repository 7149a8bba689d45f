//! A server of tools that an editor named for a session: how the owner is shown it, how far it has come, how long it is remembered.

use std::time::{Duration, UNIX_EPOCH};

use limpid_config::{Home, McpServerConfig};
use tokio::sync::watch;
use tokio::time::Instant;

/// How the names of editors' servers begin.
pub(crate) const PREFIX: &str = "editor-";

/// How long a server that is not used is remembered.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// A server that an editor named for a session.
#[derive(Debug)]
pub(crate) struct EditorServer {
    /// Its name in the settings of the session.
    pub(crate) name: String,
    /// What the editor calls it.
    pub(crate) called: String,
    /// What would be started or connected to, as the owner is shown it.
    pub(crate) target: String,
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
    pub(crate) fn new(name: String, called: String, config: &McpServerConfig) -> Self {
        let words = config.command.iter().chain(&config.args);
        let lines = words.map(|word| format!("{word:?}")).chain(config.url.clone());
        let variables = config.env.iter().map(|(name, value)| valued("variable", name, value));
        let headers = config.headers.iter().map(|(name, value)| valued("header", name, value));
        let target = lines.chain(variables).chain(headers).collect::<Vec<_>>().join("\n");
        Self { name, called, target, stage: watch::channel(Stage::New).0 }
    }

    pub(crate) fn stage(&self) -> Stage {
        *self.stage.borrow()
    }
}

/// Names of values that are keys, which no question shows.
const KEYS: [&str; 8] = ["key", "token", "secret", "passw", "pwd", "auth", "credential", "cookie"];

/// A variable or header with its value: it may make the server run anything. One whose name says that it is a key is counted.
fn valued(what: &str, name: &str, value: &str) -> String {
    let lower = name.to_lowercase();
    match KEYS.iter().any(|key| lower.contains(key)) {
        true => format!("{what} {name:?}: a key of {} characters", value.chars().count()),
        false => format!("{what} {name:?}: {value:?}"),
    }
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
