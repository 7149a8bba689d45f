//! The connection to one server: made when it is needed, and made again after growing pauses when the server has died.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use limpid_config::McpServerConfig;
use limpid_core::{Labelled, Sentence, Trust, sentence};
use limpid_mcp::{Changed, Connection, How, KeptLogin, Listed, McpError, OfferedTool, Revision, Server};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::mcp::record::{ToolText, server_as_set};

/// How long a server has to live so that its end is not one of several in a row.
const LIVED: Duration = Duration::from_secs(60);

/// The longest pause between two tries.
const LONGEST: Duration = Duration::from_secs(300);

/// The connection to one server.
pub(super) struct Link {
    pub(super) name: String,
    /// The settings that it was made by.
    pub(super) config: McpServerConfig,
    server: Server,
    helper: Option<PathBuf>,
    /// What a login at it gave.
    login: Option<KeptLogin>,
    state: tokio::sync::Mutex<State>,
    /// What the server said of its tools last, by its own names: their hashes.
    offered: Mutex<BTreeMap<String, String>>,
    /// Set off when lists of the server have changed.
    pub(super) changes: Arc<Notify>,
    /// Whether somebody follows the server.
    is_followed: AtomicBool,
}

#[derive(Default)]
struct State {
    connection: Option<Arc<Connection>>,
    since: Option<Instant>,
    /// Ends and failures in a row.
    failures: u32,
    not_before: Option<Instant>,
    last: Option<McpError>,
}

/// What came of a wish to be connected.
pub(super) enum Connected {
    /// The connection was there.
    Before(Arc<Connection>),
    /// It was made now; the server offers these tools.
    Now(Arc<Connection>, Listed<OfferedTool>),
}

impl Link {
    pub(super) fn new(
        (name, config): (&str, &McpServerConfig),
        server: Server,
        helper: Option<PathBuf>,
        login: Option<KeptLogin>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            config: config.clone(),
            server,
            helper,
            login,
            state: tokio::sync::Mutex::default(),
            offered: Mutex::default(),
            changes: Arc::default(),
            is_followed: AtomicBool::new(false),
        }
    }

    /// Whether this is asked for the first time: whoever hears that follows the server.
    pub(super) fn is_first_time(&self) -> bool {
        !self.is_followed.swap(true, Ordering::SeqCst)
    }

    /// The connection, made if it is not there.
    ///
    /// # Errors
    /// A sentence: why there is none, and when it is tried again.
    pub(super) async fn connect(&self, revision: Option<Revision>) -> Result<Connected, Sentence> {
        let mut state = self.state.lock().await;
        if let Some(connection) = state.connection.as_ref().filter(|connection| !connection.is_closed()) {
            return Ok(Connected::Before(Arc::clone(connection)));
        }
        if state.connection.take().is_some() {
            let lived = state.since.is_some_and(|since| since.elapsed() >= LIVED);
            state.failures = if lived { 1 } else { state.failures + 1 };
            state.not_before = Some(Instant::now() + pause(state.failures));
        }
        if let (Some(until), Some(last)) = (state.not_before, &state.last)
            && let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
        {
            return Err(sentence!("{}; it is tried again in {} s", last.sentence(&self.name), left.as_secs() + 1));
        }
        match self.open(revision).await {
            Ok((connection, tools)) => {
                let connection = Arc::new(connection);
                state.connection = Some(Arc::clone(&connection));
                state.since = Some(Instant::now());
                state.last = Some(McpError::Gone(String::new()));
                Ok(Connected::Now(connection, tools))
            }
            Err(error) => {
                state.failures += 1;
                state.not_before = Some(Instant::now() + pause(state.failures));
                let told = error.sentence(&self.name);
                state.last = Some(error);
                Err(told)
            }
        }
    }

    async fn open(&self, revision: Option<Revision>) -> Result<(Connection, Listed<OfferedTool>), McpError> {
        let changes = Arc::clone(&self.changes);
        let mut how = How {
            helper: self.helper.clone(),
            revision,
            time: Duration::from_secs(self.config.seconds.into()),
            changed: Changed::new(move |_| changes.notify_one()),
            login: self.login.clone(),
        };
        let connection = match Connection::open(&self.server, &how).await {
            // It may be another version of the server than the last time.
            Err(McpError::NoConnection(_) | McpError::Silent(_)) if revision.is_some() => {
                how.revision = None;
                Connection::open(&self.server, &how).await?
            }
            other => other?,
        };
        let tools = self.look(&connection).await?;
        Ok((connection, tools))
    }

    /// Asks the server for its tools, and remembers what it says of them.
    pub(super) async fn look(&self, connection: &Connection) -> Result<Listed<OfferedTool>, McpError> {
        let tools = connection.tools().await?;
        let hashes = tools.items.iter().map(|tool| (tool.name.clone(), ToolText::from(tool).sha256(&tool.name)));
        *self.offered.lock().unwrap_or_else(PoisonError::into_inner) = hashes.collect();
        Ok(tools)
    }

    /// Says whether this is the server that a call was judged for, and whether it offers the tool with exactly the text that the owner has
    /// looked at. `as_set` stands for the server, `looked` is the hash of the text.
    ///
    /// # Errors
    /// A sentence for the model: it is not, or does not.
    pub(super) fn check(&self, as_set: &str, (tool, looked): (&str, &str)) -> Result<(), Sentence> {
        let server = || Labelled::new(self.name.clone(), Trust::Owner);
        // The owner may have set another one since, which nobody was asked about.
        if server_as_set((&self.name, &self.config)) != as_set {
            return Err(sentence!(
                "the settings of the MCP server `{}` have changed since this call was judged; call it again",
                server()
            ));
        }
        match self.offered.lock().unwrap_or_else(PoisonError::into_inner).get(tool) {
            Some(hash) if hash == looked => Ok(()),
            Some(_) => Err(sentence!(
                "the MCP server `{}` says something else of this tool than what its owner has looked at, so it is not \
                 called; the owner sees the difference with `limpid mcp enable {}`",
                server(),
                server()
            )),
            None => Err(sentence!("the MCP server `{}` does not have this tool any more", server())),
        }
    }

    /// Closes the connection and waits until the server has ended.
    pub(super) async fn close(&self) {
        let connection = self.state.lock().await.connection.take();
        if let Some(connection) = connection.and_then(Arc::into_inner) {
            connection.close().await;
        }
    }
}

/// How long to wait after so many ends and failures in a row; after the first one, not at all.
fn pause(failures: u32) -> Duration {
    match failures {
        0 | 1 => Duration::ZERO,
        more => Duration::from_secs(1 << (more - 2).min(9)).min(LONGEST),
    }
}

#[cfg(test)]
mod tests {
    use limpid_mcp::Program;

    use super::*;

    // SUR-034
    #[test]
    fn pauses_between_tries_grow_to_five_minutes() {
        let seconds: Vec<u64> = [0, 1, 2, 3, 4, 9, 10, 11, u32::MAX].map(|failures| pause(failures).as_secs()).into();
        assert_eq!(seconds, [0, 0, 1, 2, 4, 128, 256, 300, 300]);
    }

    // SEC-023 SEC-075
    #[test]
    fn a_call_reaches_only_the_server_and_the_text_that_it_was_judged_for() {
        let set = |argument: &str| McpServerConfig {
            command: Some("desk".to_owned()),
            args: vec![argument.to_owned()],
            ..McpServerConfig::default()
        };
        let program = Program {
            command: "desk".to_owned(),
            arguments: Vec::new(),
            variables: Vec::new(),
            folder: PathBuf::from("/"),
        };
        let link = Link::new(("desk", &set("one")), Server::Program(program), None, None);
        link.offered.lock().unwrap().insert("keep".to_owned(), "text".to_owned());
        let check = |argument: &str, tool| link.check(&server_as_set(("desk", &set(argument))), tool);
        assert_eq!(check("one", ("keep", "text")), Ok(()));
        let refused = check("other", ("keep", "text")).unwrap_err();
        assert!(refused.text().contains("`desk` have changed since this call was judged"), "{refused:?}");
        assert!(check("one", ("keep", "another text")).is_err() && check("one", ("send", "text")).is_err());
    }
}
