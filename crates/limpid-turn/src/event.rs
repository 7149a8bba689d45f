//! What a turn is told.

use limpid_core::{CallId, FailureClass, Labelled, Message, ProviderState, Sentence, ToolCall, Trust};

/// Something that happened to a turn.
///
/// Every event is journaled before the machine takes it. Of an answer that streams it is told nothing until the answer is
/// whole, or about to be cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// What came of an answer that is about to be cut. It takes the place of what came of an earlier request: a crash
    /// between this event and the one that cuts has the model asked again.
    Chunk {
        /// The text so far, with the label of what the model had read.
        text: Labelled<String>,
    },
    /// The model answered; the label is that of everything that it had read by then.
    Reply(Labelled<Reply>),
    /// The model could not be asked, or its answer broke off.
    ModelFailed {
        /// The class of the failure.
        class: FailureClass,
        /// What went wrong and what to do, for a person.
        message: String,
    },
    /// A tool came back.
    ToolDone {
        /// The call that it answers.
        id: CallId,
        /// What came of it.
        outcome: ToolOutcome,
    },
    /// A tool call may not run before the owner was asked.
    Held {
        /// The call.
        id: CallId,
        /// Why.
        why: Why,
    },
    /// The owner answered.
    Decided {
        /// The call.
        id: CallId,
        /// Whether it may run, once, as it was when the question was asked.
        approved: bool,
        /// When, in milliseconds since 1970.
        at_ms: i64,
    },
    /// The time of a tool call is up.
    Timer {
        /// The call.
        id: CallId,
    },
    /// The person sent another message while the turn ran.
    Steer(Message),
    /// The turn ends, answered, once every call under way has; what waits then is for the next turn.
    EndAfterCalls,
    /// The person stopped the turn.
    Cancel,
}

/// Why the owner is asked, and about what exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// The reason, for the owner.
    pub reason: String,
    /// What a number or a key in the arguments stands for, as the hash has it.
    pub about: Option<String>,
    /// The hash of everything that the answer is bound to.
    pub bound_to: String,
}

/// A whole answer of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Its text; may be empty beside calls.
    pub text: String,
    /// Its calls, in the model's order.
    pub calls: Vec<ToolCall>,
    /// What its provider wants back with it.
    pub state: Vec<ProviderState>,
    /// Why it ended.
    pub finish: Finish,
}

impl Reply {
    /// An answer without calls.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// An answer that only calls tools.
    pub fn calls(calls: Vec<ToolCall>) -> Self {
        Self { calls, ..Self::default() }
    }
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finish {
    /// The model was done.
    #[default]
    Stop,
    /// It reached its limit of tokens.
    Length,
    /// The provider withheld the rest.
    Moderated,
}

impl Finish {
    /// The name, as the journal and `--json` write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::Moderated => "moderated",
        }
    }

    /// Reads a name; anything else is no finish.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Stop, Self::Length, Self::Moderated].into_iter().find(|finish| finish.as_str() == word)
    }
}

/// What came of a tool call: words with their label, also when it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutcome {
    /// What the tool returned, whole; of a call that failed, what went wrong and what to do.
    pub said: Labelled<String>,
    /// The tag of the boundary around it, when the text is foreign.
    pub boundary: Option<String>,
    /// Whether the call failed.
    pub failed: bool,
}

impl ToolOutcome {
    /// What a call returned. `tag` draws the boundary's tag, which foreign words need.
    pub fn done(said: impl Into<Labelled<String>>, tag: impl FnOnce() -> String) -> Self {
        Self::new(said.into(), false, tag)
    }

    /// Why a call failed. `tag` draws the boundary's tag, which foreign words need.
    pub fn failed(why: impl Into<Labelled<String>>, tag: impl FnOnce() -> String) -> Self {
        Self::new(why.into(), true, tag)
    }

    /// Why a call did not run, in words of Limpid's own.
    pub fn refused(why: &'static str) -> Self {
        Self { said: Sentence::from(why).into(), boundary: None, failed: true }
    }

    fn new(said: Labelled<String>, failed: bool, tag: impl FnOnce() -> String) -> Self {
        let boundary = said.trust().is_foreign().then(tag);
        Self { said, boundary, failed }
    }

    /// The words.
    pub fn text(&self) -> &str {
        self.said.value()
    }

    /// Who wrote the least trusted of the words.
    pub fn trust(&self) -> Trust {
        self.said.trust()
    }

    /// The same with its words changed by somebody who adds none, such as a redactor.
    #[must_use]
    pub fn map(self, change: impl FnOnce(String) -> String) -> Self {
        Self { said: self.said.map(change), ..self }
    }
}
