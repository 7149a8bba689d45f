//! Decides whether a call may run, and runs it.

mod decide;
mod run;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use limpid_config::{Ids, Live, TextKind, hex};
use limpid_core::policy::{Effect, PrivatePlace};
use limpid_core::{ConversationId, Sentence, ToolCall, ToolClass, Trust};
use limpid_store::Store;
use limpid_tools::{StrangersProgram, Tool};
use limpid_turn::result::READ_ON;
use limpid_turn::{ToolOutcome, Why};
use serde_json::Value;

use crate::tools::catalog::ToolCatalog;
use crate::tools::file_history::FileHistory;
use crate::tools::policy::{CallFacts, Pins, PolicyRules, ToolPolicy};
use crate::tools::reservations::Reservation;

/// The tool of a turn that finds tools which the turn's prompt does not declare.
pub trait ToolFinder: Tool {
    /// Whether a tool exists and must be found before it is called.
    fn is_not_loaded(&self, name: &str) -> bool;

    /// The tools that were found, in the order in which prompts declare them.
    fn found(&self) -> Vec<String>;

    /// The same if something was found since this was asked last: whoever asks keeps it with the conversation.
    fn take_changes(&self) -> Option<Vec<String>>;
}

/// What a [`ToolExecutor`] is made from.
#[derive(Clone)]
pub struct ToolExecutorParts {
    /// All tools of the agent.
    pub tools: Live<ToolCatalog>,
    /// What policies are made from.
    pub policy: PolicyRules,
    /// Versions of the files that prompts quote.
    pub files: Arc<FileHistory>,
    /// Where tags come from.
    pub ids: Arc<dyn Ids>,
    /// Where it stands who reads a conversation.
    pub store: Arc<dyn Store>,
}

/// Makes the executors of turns, and that of calls outside of turns.
#[derive(Clone)]
pub struct ToolExecutor(ToolExecutorParts);

impl ToolExecutor {
    /// An executor of these tools.
    pub fn new(parts: ToolExecutorParts) -> Self {
        Self(parts)
    }

    /// The tools of one turn. `finder` finds those that its prompt does not declare; `before` are the names of calls
    /// that the turn has already made.
    pub fn for_turn<'a>(
        &self,
        policy: ToolPolicy,
        finder: Option<Arc<dyn ToolFinder>>,
        before: impl Iterator<Item = &'a str>,
    ) -> TurnToolExecutor {
        let ToolExecutorParts { tools, files, ids, store, .. } = &self.0;
        let mut calls = HashMap::new();
        for name in before {
            *calls.entry(name.to_owned()).or_default() += 1;
        }
        TurnToolExecutor {
            tools: ToolCatalog::clone(tools),
            files: Arc::clone(files),
            policy,
            ids: Arc::clone(ids),
            store: Arc::clone(store),
            finder,
            calls: Mutex::new(calls),
        }
    }

    /// What tools and programs changed in files.
    pub fn files(&self) -> &FileHistory {
        &self.0.files
    }

    /// The executor of calls that no turn makes: under the owner's rules alone.
    pub fn outside_turns(&self) -> TurnToolExecutor {
        self.for_turn(self.0.policy.without_mode(), None, std::iter::empty())
    }
}

/// The tools of one turn: they know who may call which, and how often each was called.
pub struct TurnToolExecutor {
    tools: ToolCatalog,
    files: Arc<FileHistory>,
    policy: ToolPolicy,
    ids: Arc<dyn Ids>,
    store: Arc<dyn Store>,
    finder: Option<Arc<dyn ToolFinder>>,
    calls: Mutex<HashMap<String, u32>>,
}

impl TurnToolExecutor {
    /// Whether a call of unknown fate may be made again.
    pub fn is_repeatable(&self, name: &str) -> bool {
        self.tool(name).is_some_and(|tool| tool.is_repeatable())
    }

    /// Whether anybody could read what a tool returns.
    pub fn is_public(&self, name: &str) -> bool {
        self.tool(name).is_some_and(|tool| tool.is_public())
    }

    /// Whether what a tool returns says nothing that its call does not: a tool that writes files names them.
    pub fn says_nothing_new(&self, name: &str) -> bool {
        self.tool(name).is_some_and(|tool| tool.class() == ToolClass::Write && tool.group() == "files")
    }

    /// What kind of text a call of a tool returned. A file that was not read, and every other tool, may repeat what the model said.
    pub fn kind_of_result(&self, name: &str, outcome: &ToolOutcome) -> TextKind {
        let is_of_owner = self.tool(name).is_some_and(|tool| match tool.group() {
            "programs" => true,
            // What is read on may be of any tool.
            "files" | "skills" => !outcome.failed && tool.class() == ToolClass::Read && tool.name() != READ_ON,
            _ => false,
        });
        if is_of_owner { TextKind::of_file(outcome.trust()) } else { TextKind::Said }
    }

    /// What finds the tools that the prompt does not declare.
    pub fn finder(&self) -> Option<&dyn ToolFinder> {
        self.finder.as_deref()
    }

    fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        match &self.finder {
            Some(finder) if name == finder.name() => Some(Arc::clone(finder) as Arc<dyn Tool>),
            _ => self.tools.tool(name).map(Arc::clone),
        }
    }

    /// The address that a call would fetch, if that is what it would do.
    pub fn fetched_by(&self, call: &ToolCall) -> Option<String> {
        let arguments = serde_json::from_str(&call.arguments).ok()?;
        match self.tool(&call.name)?.effect(&arguments) {
            Effect::Fetch(address) => address,
            _ => None,
        }
    }

    /// Whether a call would search by a service.
    pub fn searches(&self, call: &ToolCall) -> bool {
        let arguments = serde_json::from_str(&call.arguments).ok();
        arguments.is_some_and(|arguments| {
            self.tool(&call.name).is_some_and(|tool| tool.effect(&arguments) == Effect::Search)
        })
    }

    /// Whether a call would run a program that may be a stranger's, with the network, unless somebody was asked about it.
    pub fn sends_strangers(&self, call: &ToolCall) -> bool {
        let arguments = serde_json::from_str(&call.arguments).ok();
        let program = |arguments| self.tool(&call.name)?.strangers_program(Trust::Owner, false, &arguments);
        arguments.and_then(program) == Some(StrangersProgram::Sends)
    }

    fn in_own_words(&self, why: Sentence) -> Sentence {
        self.policy.in_own_words(why.into()).into()
    }

    /// A call as it runs, and as whoever is asked about it is shown it: its path means the same everywhere, and a new file of a turn
    /// that has read a stranger's text goes where strangers' text is kept.
    pub fn as_run(&self, call: &ToolCall, trust: Trust) -> ToolCall {
        let moved = || {
            let tool = self.tool(&call.name)?;
            let arguments = serde_json::from_str(&call.arguments).ok()?;
            let whole = tool.with_whole_path(&arguments);
            let low = self.policy.keep_low(&*tool, whole.as_ref().unwrap_or(&arguments), trust);
            Some(low.or(whole)?.to_string())
        };
        ToolCall { arguments: moved().unwrap_or_else(|| call.arguments.clone()), ..call.clone() }
    }

    /// Says what keeps a call from being reserved. `typed` are the messages that the owner typed in the conversation.
    ///
    /// # Errors
    /// That sentence, for the model.
    pub fn check_reservation(&self, reservation: &Reservation, typed: &[String]) -> Result<(), Sentence> {
        let find = |name: &str| self.tools.tool(name).map(|tool| &**tool);
        reservation.check(typed, find, |tool, arguments| self.policy.is_fixed(tool, arguments))
    }

    /// Whether a reservation opens links.
    pub fn opens_links(&self, reservation: &Reservation) -> bool {
        self.tools.tool(&reservation.tool).is_some_and(|tool| reservation.fetches(&**tool))
    }

    /// How long a call of a tool may take, when that is not the usual time.
    pub fn timeout_of(&self, name: &str) -> Option<Duration> {
        self.tool(name).and_then(|tool| tool.timeout())
    }

    /// Whether nothing in the workspace may change.
    pub fn is_read_only(&self) -> bool {
        self.policy.is_read_only()
    }

    /// Whether the turn is a research worker's, whose window shows nothing of the owner's.
    pub fn is_research(&self) -> bool {
        self.policy.is_research()
    }

    /// Whether nothing of the owner's may be in the turn's window.
    pub const fn shows_nothing_private(&self) -> bool {
        self.policy.shows_nothing_private()
    }

    /// Whether answers of the turn leave for whoever asks.
    pub const fn is_for_strangers(&self) -> bool {
        self.policy.is_for_strangers()
    }

    /// The tag of a boundary around foreign words.
    pub fn new_tag(&self) -> String {
        hex(&*self.ids)
    }
}

/// What becomes of a call.
pub enum Decision {
    /// It may run, now.
    Run(Box<Permit>),
    /// It does not run; the model reads why.
    Refused(Sentence),
    /// It runs when the owner says so.
    Ask(Why),
}

/// The right to run one call as the policy saw it.
pub struct Permit {
    tool: Arc<dyn Tool>,
    call: ToolCall,
    arguments: Value,
    facts: CallFacts,
    /// Where it leads, if that is private to the owner.
    private_place: Option<PrivatePlace>,
    /// Whether what stands where it is led on to is the owner's, if that is a key.
    may_lead_to_key: bool,
    /// What an approval of it is bound to, when that was looked at.
    pins: Option<Pins>,
    /// Whether the owner has said yes to this very call.
    approved: bool,
    /// The conversation that it was judged in, if in one.
    conversation: Option<ConversationId>,
}

impl Permit {
    /// The address that it fetches, if that is what it does.
    pub fn fetches(&self) -> Option<&str> {
        match &self.facts.effect {
            Effect::Fetch(address) => address.as_deref(),
            _ => None,
        }
    }

    /// The call.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// The same call without what a yes to this very call would give, such as the network after a stranger's text.
    pub fn unapproved(self) -> Self {
        Self { approved: false, ..self }
    }

    /// Whether the owner has said yes to this very call.
    pub fn is_approved(&self) -> bool {
        self.approved
    }
}
