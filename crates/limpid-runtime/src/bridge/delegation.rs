//! Agents belong to a turn. A client has none here, so each of its calls that starts agents is written down as one, which has
//! ended at once.

use std::sync::Arc;
use std::time::Duration;

use limpid_config::process;
use limpid_core::{ConversationId, TurnId};
use limpid_services::error::AgentError;
use limpid_store::{Acquired, NewTurn, TurnOutcome, TurnWrite};

use super::PATH;
use crate::Agent;

/// How long the conversation is held for one write, in milliseconds.
const HELD_MS: i64 = 10_000;

/// How often it is asked for when another client has it, and how long to wait in between.
const TRIES: u32 = 200;
const PAUSE: Duration = Duration::from_millis(20);

/// Writes down a call as a turn.
pub(super) async fn write_turn(agent: &Agent, conversation: &ConversationId, turn: &TurnId) -> Result<(), AgentError> {
    let (store, host) = (agent.store(), &agent.context().host);
    let holder = host.holder();
    for _ in 0..TRIES {
        match store.acquire(conversation, holder, host.now_ms(), HELD_MS).await? {
            Acquired::Lease(lease) => {
                let new =
                    NewTurn { id: turn.clone(), path: PATH.to_owned(), inbound: Vec::new(), now_ms: host.now_ms() };
                let ended = vec![TurnWrite::End(TurnOutcome::Answered, String::new())];
                let store = Arc::clone(store);
                // Whoever asked may stop waiting; what is held is given back all the same.
                let written = tokio::spawn(async move {
                    let written = store.begin_turn(&lease, new, ended).await;
                    store.release(&lease.conversation, lease.fence).await.and(written.map(drop))
                });
                let broke = |_| AgentError::Invalid("the call could not be written down".to_owned());
                return Ok(written.await.map_err(broke)??);
            }
            Acquired::Busy(other) if process::is_dead(&other.holder) => {
                store.release(conversation, other.fence).await?;
            }
            Acquired::Busy(_) => tokio::time::sleep(PAUSE).await,
        }
    }
    Err(AgentError::Invalid("another client is busy with the same conversation; call it again".to_owned()))
}
