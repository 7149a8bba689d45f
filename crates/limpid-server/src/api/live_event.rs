//! What happens in a conversation, as a program is told it.

use limpid_core::Usage;
use limpid_prompt::shown::{Unloaded, exact_json, exact_line, shown, shown_json};
use limpid_runtime::{ApprovalAnswer, Outcome, QuestionPart, TurnEvent};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Something that happened.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum LiveEvent {
    /// Some of what happened is not told any more, or was told by a server that is gone: read the messages again.
    Reset,
    /// A turn begins.
    Started {
        /// Its id.
        turn: Option<String>,
        /// The model that is asked.
        model: String,
    },
    /// More of what the model thinks.
    Reasoning {
        /// The words.
        text: String,
    },
    /// More of the answer.
    Text {
        /// The words.
        text: String,
    },
    /// What was said since the model was asked last does not count.
    Retrying {
        /// Why.
        reason: String,
        /// The model that is asked now.
        model: String,
    },
    /// A tool is called.
    ToolStarted {
        /// The call.
        id: String,
        /// The tool.
        name: String,
        /// The arguments, as the model wrote them.
        arguments: String,
    },
    /// A tool came back.
    ToolDone {
        /// The call.
        id: String,
        /// What came of it.
        result: String,
    },
    /// Calls wait for the owner.
    Question {
        /// The calls.
        parts: Vec<QuestionView>,
        /// Whether `clean` is offered.
        can_clean: bool,
    },
    /// A call was answered.
    Answered {
        /// The call.
        call: String,
        /// How.
        answer: AnswerWord,
    },
    /// Words that were sent while the turn runs; it answers them.
    Steered {
        /// The words.
        text: String,
    },
    /// Something to know.
    Notice {
        /// The words.
        text: String,
    },
    /// A request to a model was paid for.
    Usage {
        /// Tokens that were read, those from the cache included.
        input: u64,
        /// Those from the cache.
        cached: u64,
        /// Tokens that were written.
        output: u64,
        /// Millionths of a dollar, where the price is known.
        cost_micro_usd: Option<u64>,
    },
    /// The turn is over.
    Done {
        /// `answered`, `cancelled` or `failed`.
        outcome: &'static str,
        /// The answer, where there is one.
        answer: Option<String>,
        /// Why it failed.
        message: Option<String>,
    },
    /// The turn could not be carried on.
    Interrupted {
        /// Why.
        message: String,
    },
}

/// A call that waits for the owner.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct QuestionView {
    /// The number of the question; an answer names it. A call that has changed is asked about again, by another number.
    question: u64,
    /// The call.
    call: String,
    /// The tool.
    name: String,
    /// What would run.
    arguments: String,
    /// What a number or a key in the arguments stands for, such as the words of a memory.
    about: Option<String>,
    /// Where it would send or fetch something.
    destination: Option<String>,
    /// The folder that relative paths begin at.
    folder: String,
    /// Why it waits.
    reason: String,
    /// What `always` would cover; where it is absent, `always` is not offered.
    pattern: Option<String>,
}

/// An answer to a call that waits.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum AnswerWord {
    /// Yes, this call.
    Once,
    /// Yes, and every call of the same pattern in this conversation.
    Always,
    /// Clean the window, then yes.
    Clean,
    /// No.
    No,
}

impl AnswerWord {
    pub(super) fn of(answer: ApprovalAnswer) -> Self {
        match answer {
            ApprovalAnswer::Once => Self::Once,
            ApprovalAnswer::Always => Self::Always,
            ApprovalAnswer::CleanFirst => Self::Clean,
            ApprovalAnswer::No => Self::No,
        }
    }

    pub(super) fn answer(self) -> ApprovalAnswer {
        match self {
            Self::Once => ApprovalAnswer::Once,
            Self::Always => ApprovalAnswer::Always,
            Self::Clean => ApprovalAnswer::CleanFirst,
            Self::No => ApprovalAnswer::No,
        }
    }
}

impl QuestionView {
    pub(super) fn new(question: u64, part: &QuestionPart) -> Self {
        Self {
            question,
            call: part.id.to_string(),
            name: exact_line(&part.name),
            arguments: exact_json(&part.arguments),
            about: part.about.as_deref().map(exact_line),
            destination: part.destination.as_deref().map(exact_line),
            folder: exact_line(&part.folder),
            reason: exact_line(&part.reason),
            pattern: part.pattern.as_deref().map(exact_line),
        }
    }
}

/// A text as programs are given it: they show it to people, and print it, as it comes.
pub(super) fn said(text: &str) -> String {
    shown(text).into_owned()
}

impl LiveEvent {
    /// What a program is told of an event of a turn, whose answer comes in pieces.
    pub(super) fn of(event: &TurnEvent, unloaded: &mut Unloaded) -> Option<Self> {
        Some(match event {
            // A question is told with its number.
            TurnEvent::Accepted { .. } | TurnEvent::FormAsked(_) | TurnEvent::ApprovalRequested { .. } => return None,
            TurnEvent::Started { turn, model, .. } => {
                Self::Started { turn: turn.as_ref().map(ToString::to_string), model: model.clone() }
            }
            TurnEvent::Reasoning(text) => Self::Reasoning { text: said(text) },
            TurnEvent::Text(text) => Self::Text { text: unloaded.push(&said(text)) },
            TurnEvent::Retrying { reason, model } => Self::Retrying { reason: said(reason), model: model.clone() },
            TurnEvent::ToolStarted { id, name, arguments } => Self::ToolStarted {
                id: id.to_string(),
                name: said(name),
                arguments: shown_json(arguments).into_owned(),
            },
            TurnEvent::ToolDone { id, result } => Self::ToolDone { id: id.to_string(), result: said(result) },
            TurnEvent::Steered { text } => Self::Steered { text: said(text) },
            TurnEvent::Usage { usage: Usage { input, cached, output, .. }, cost } => {
                let cost_micro_usd = cost.map(|cost| cost.0);
                Self::Usage { input: *input, cached: *cached, output: *output, cost_micro_usd }
            }
            TurnEvent::Notice(text) => Self::Notice { text: said(text) },
            TurnEvent::Done { outcome, answer } => {
                let (outcome, message) = match outcome {
                    Outcome::Answered { .. } => ("answered", None),
                    Outcome::Cancelled => ("cancelled", None),
                    Outcome::Failed { message, .. } => ("failed", Some(said(message))),
                };
                Self::Done { outcome, answer: answer.as_deref().map(|answer| Unloaded::whole(&said(answer))), message }
            }
            TurnEvent::Interrupted(message) => Self::Interrupted { message: said(message) },
        })
    }
}
