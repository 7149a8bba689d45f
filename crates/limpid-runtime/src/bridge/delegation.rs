//! Agents belong to a turn. A client has none here, so each of its calls that starts agents is written down as one, which has
//! ended at once.

use std::time::Duration;

use limpid_config::process;
use limpid_core::{ConversationId, TurnId};
use limpid_services::error::AgentError;
use limpid_store::{Acquired, NewTurn, TurnOutcome, TurnWrite};

use super::{Bridge, PATH};

/// How long the conversation is held for one write, in milliseconds.
const HELD_MS: i64 = 10_000;

/// How often it is asked for when another client has it, and how long to wait in between.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(20);

impl Bridge {
    /// Writes down a call as a turn.
    pub(super) async fn write_turn(&self, conversation: &ConversationId, turn: &TurnId) -> Result<(), AgentError> {
        let (store, host) = (self.agent.store(), &self.agent.context().host);
        // Two calls of this process are two holders, too.
        let holder = host.holder();
        for _ in 0..TRIES {
            match store.acquire(conversation, holder, host.now_ms(), HELD_MS).await? {
                Acquired::Lease(lease) => {
                    let new =
                        NewTurn { id: turn.clone(), path: PATH.to_owned(), inbound: Vec::new(), now_ms: host.now_ms() };
                    let ended = vec![TurnWrite::End(TurnOutcome::Answered, String::new())];
                    let written = store.begin_turn(&lease, new, ended).await;
                    store.release(conversation, lease.fence).await?;
                    written?;
                    return Ok(());
                }
                Acquired::Busy(other) if process::is_dead(&other.holder) => {
                    store.release(conversation, other.fence).await?;
                }
                Acquired::Busy(_) => tokio::time::sleep(PAUSE).await,
            }
        }
        Err(AgentError::Invalid("another client is busy with the same conversation; call it again".to_owned()))
    }
}
