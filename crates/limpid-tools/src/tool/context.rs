//! What a call knows of the turn that it belongs to, and where it says what it did.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use limpid_core::form::AskOwner;
use limpid_core::policy::{Bans, PrivatePlace};
use limpid_core::{CallId, ConversationId, Labelled, Sentence, Tier, Trust, TurnId};

use super::{StrangersProgram, echoed};
use crate::snapshot::Snapshot;
use crate::written::Written;

/// What a call knows of the turn that it belongs to.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// When the call began: the one reading of the clock.
    pub now: Timestamp,
    /// The owner's zone.
    pub zone: TimeZone,
    /// The conversation.
    pub conversation: ConversationId,
    /// The turn.
    pub turn: TurnId,
    /// The call, as the model named it.
    pub call: CallId,
    /// Who wrote the least trusted text that the model has read in this turn.
    pub trust: Trust,
    /// The tier of the turn's prompt: how much room it has.
    pub tier: Tier,
    /// Whether the mode is one that looks and changes nothing: programs see the workspace read-only.
    pub read_only: bool,
    /// Whether the owner has said yes to this very call.
    pub approved: bool,
    /// The program and the files as they were when the owner said yes: these are run, and not what lies there by now.
    pub snapshot: Option<Arc<Snapshot>>,
    /// Where the owner's rules let it not be led.
    pub bans: Bans,
    /// Where it was judged to lead, if that is private to the owner. No other call gets to their own network.
    pub private_place: Option<PrivatePlace>,
    /// Whether what stands where it is led on to is private to the owner, if that address is a key.
    pub may_lead_to_key: bool,
    /// Whether it was judged as one that may leave a file which asks others for something when it is opened. No other call leaves one
    /// after a stranger's text, whatever the file holds by now.
    pub drawn: bool,
    /// As what it was judged when it starts a program that may be a stranger's. It runs as nothing else.
    pub program: Option<StrangersProgram>,
    /// Folders of skills that are not used as they stand: no program sees them.
    pub unused_skills: Vec<PathBuf>,
    /// Where it writes down how far its effect has come; absent: whoever called it has done so before.
    pub send_state: Option<Arc<dyn SendState>>,
    /// The only tools that an agent which it starts may have; none: those of its path.
    pub tools_of_agents: Option<Vec<String>>,
    /// Where it says which items of the inbox its result shows.
    pub shown: ShownItems,
    /// Where it says which files it wrote.
    pub written: Written,
    /// The way to the owner for what a stranger wants to know in the middle of it; absent: nobody is there to be asked.
    pub owner: Option<AskOwner>,
}

impl ToolContext {
    /// Words that the model wrote in this turn: they have the label of what it had read.
    pub fn words<T>(&self, words: T) -> Labelled<T> {
        Labelled::new(words, self.trust)
    }

    /// The time, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.now.as_millisecond()
    }

    /// Writes down that the effect of the call leaves for outside.
    ///
    /// # Errors
    /// When that cannot be written down; then it must not leave.
    pub async fn leaves(&self) -> Result<(), Sentence> {
        match &self.send_state {
            Some(send_state) => send_state.leaves().await.map_err(|why| echoed(why).into()),
            None => Ok(()),
        }
    }

    /// Writes down that the effect came about.
    pub async fn arrived(&self, what: &str) {
        if let Some(send_state) = &self.send_state {
            send_state.arrived(what).await;
        }
    }
}

/// Where a call writes down how far its effect has come, so that a crash leaves unknown no more than it must.
#[async_trait]
pub trait SendState: fmt::Debug + Send + Sync {
    /// The effect leaves: from here on nobody knows whether it came about, until [`SendState::arrived`].
    ///
    /// # Errors
    /// When that cannot be written down; then it must not leave.
    async fn leaves(&self) -> Result<(), String>;

    /// It came about; `what` says what that was.
    async fn arrived(&self, what: &str);
}

/// The items of the inbox that a call has shown to the model. They are written down together with the call's result, so a
/// call that fails or is cut off has shown nothing.
#[derive(Clone, Debug)]
pub struct ShownItems(Option<Arc<Mutex<Vec<i64>>>>);

impl ShownItems {
    /// What is shown stays unseen: a call that a stranger's text may have led to takes nothing out of the owner's sight.
    pub fn unkept() -> Self {
        Self(None)
    }

    /// Adds items by their numbers.
    pub fn add(&self, items: impl IntoIterator<Item = i64>) {
        if let Some(kept) = &self.0 {
            kept.lock().unwrap_or_else(PoisonError::into_inner).extend(items);
        }
    }

    /// Takes out everything that was added.
    pub fn take(&self) -> Vec<i64> {
        let taken =
            self.0.as_ref().map(|kept| std::mem::take(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner)));
        taken.unwrap_or_default()
    }
}

impl Default for ShownItems {
    fn default() -> Self {
        Self(Some(Arc::default()))
    }
}
