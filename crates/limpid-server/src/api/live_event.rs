//! What happens in a conversation, as a program is told it.

use limpid_core::Usage;
use limpid_prompt::shown::{Drawn, DrawnPieces};
use limpid_runtime::drafts::kept_words;
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
        #[schema(value_type = String)]
        model: Drawn,
    },
    /// More of what the model thinks.
    Reasoning {
        /// The words.
        #[schema(value_type = String)]
        text: Drawn,
    },
    /// More of the answer.
    Text {
        /// The words.
        #[schema(value_type = String)]
        text: Drawn,
    },
    /// What was said since the model was asked last does not count.
    Retrying {
        /// Why.
        #[schema(value_type = String)]
        reason: Drawn,
        /// The model that is asked now.
        #[schema(value_type = String)]
        model: Drawn,
    },
    /// A tool is called.
    ToolStarted {
        /// The call.
        id: String,
        /// The tool.
        #[schema(value_type = String)]
        name: Drawn,
        /// The arguments, as the model wrote them.
        #[schema(value_type = String)]
        arguments: Drawn,
    },
    /// A call was refused and never ran.
    ToolRefused {
        /// The call.
        id: String,
        /// The tool, which need not be there.
        #[schema(value_type = String)]
        name: Drawn,
        /// The arguments, as the model wrote them.
        #[schema(value_type = String)]
        arguments: Drawn,
        /// Why.
        #[schema(value_type = String)]
        result: Drawn,
    },
    /// A tool came back.
    ToolDone {
        /// The call.
        id: String,
        /// What came of it.
        #[schema(value_type = String)]
        result: Drawn,
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
        #[schema(value_type = String)]
        text: Drawn,
    },
    /// Something to know.
    Notice {
        /// The words.
        #[schema(value_type = String)]
        text: Drawn,
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
        #[schema(value_type = Option<String>)]
        answer: Option<Drawn>,
        /// Why it failed.
        #[schema(value_type = Option<String>)]
        message: Option<Drawn>,
    },
    /// The turn could not be carried on.
    Interrupted {
        /// Why.
        #[schema(value_type = String)]
        message: Drawn,
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
    #[schema(value_type = String)]
    name: Drawn,
    /// What would run.
    #[schema(value_type = String)]
    arguments: Drawn,
    /// What a number or a key in the arguments stands for, such as the words of a memory.
    #[schema(value_type = Option<String>)]
    about: Option<Drawn>,
    /// Where it would send or fetch something.
    #[schema(value_type = Option<String>)]
    destination: Option<Drawn>,
    /// The folder that relative paths begin at.
    #[schema(value_type = String)]
    folder: Drawn,
    /// Why it waits.
    #[schema(value_type = String)]
    reason: Drawn,
    /// What `always` would cover; where it is absent, `always` is not offered.
    #[schema(value_type = Option<String>)]
    pattern: Option<Drawn>,
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
            call: part.id.call().to_string(),
            name: Drawn::exact_line(&part.name),
            arguments: Drawn::exact_json(&part.arguments),
            about: part.about.as_deref().map(Drawn::exact_line),
            destination: part.destination.as_deref().map(Drawn::exact_line),
            folder: Drawn::exact_line(&part.folder),
            reason: Drawn::exact_line(&part.reason),
            pattern: part.pattern.as_deref().map(Drawn::exact_line),
        }
    }
}

/// The texts of a turn that come in pieces.
#[derive(Default)]
pub(super) struct Streams {
    text: DrawnPieces,
    reasoning: DrawnPieces,
}

impl Streams {
    /// What a program is told of an event of a turn: what was held back of a text before it, and the event.
    pub(super) fn next(&mut self, event: &TurnEvent) -> Vec<LiveEvent> {
        let mut told = Vec::new();
        if !matches!(event, TurnEvent::Reasoning(_)) {
            told.push(LiveEvent::Reasoning { text: self.reasoning.pause() });
        }
        if !matches!(event, TurnEvent::Text(_)) {
            told.push(LiveEvent::Text { text: self.text.pause() });
        }
        told.extend(self.event(event));
        told.retain(|event| match event {
            LiveEvent::Reasoning { text } | LiveEvent::Text { text } => !text.is_empty(),
            _ => true,
        });
        told
    }

    fn event(&mut self, event: &TurnEvent) -> Option<LiveEvent> {
        Some(match event {
            // A question is told with its number.
            TurnEvent::Accepted { .. } | TurnEvent::FormAsked(_) | TurnEvent::ApprovalRequested { .. } => return None,
            TurnEvent::Started { turn, model, .. } => {
                LiveEvent::Started { turn: turn.as_ref().map(ToString::to_string), model: Drawn::line(model) }
            }
            TurnEvent::Reasoning(text) => LiveEvent::Reasoning { text: self.reasoning.push(text) },
            TurnEvent::Text(text) => LiveEvent::Text { text: self.text.push(text) },
            TurnEvent::Retrying { reason, model } => {
                LiveEvent::Retrying { reason: Drawn::new(reason), model: Drawn::line(model) }
            }
            TurnEvent::ToolStarted { id, name, arguments } => LiveEvent::ToolStarted {
                id: id.to_string(),
                name: Drawn::line(name),
                arguments: Drawn::json(arguments),
            },
            TurnEvent::ToolRefused { id, name, arguments, result } => LiveEvent::ToolRefused {
                id: id.to_string(),
                name: Drawn::line(name),
                arguments: Drawn::json(arguments),
                result: Drawn::new(result),
            },
            TurnEvent::ToolDone { id, result } => {
                LiveEvent::ToolDone { id: id.to_string(), result: Drawn::new(result) }
            }
            TurnEvent::Steered { text } => LiveEvent::Steered { text: Drawn::new(text) },
            TurnEvent::Usage { usage: Usage { input, cached, output, .. }, cost } => {
                let cost_micro_usd = cost.map(|cost| cost.0);
                LiveEvent::Usage { input: *input, cached: *cached, output: *output, cost_micro_usd }
            }
            TurnEvent::Notice(text) => LiveEvent::Notice { text: Drawn::new(text) },
            TurnEvent::DraftKept(draft) => LiveEvent::Notice { text: Drawn::new(kept_words(*draft).text()) },
            TurnEvent::Done { outcome, answer } => {
                let (outcome, message) = match outcome {
                    Outcome::Answered { .. } => ("answered", None),
                    Outcome::Cancelled => ("cancelled", None),
                    Outcome::Failed { message, .. } => ("failed", Some(Drawn::new(message))),
                };
                LiveEvent::Done { outcome, answer: answer.as_deref().map(Drawn::new), message }
            }
            TurnEvent::Interrupted(message) => LiveEvent::Interrupted { message: Drawn::new(message) },
        })
    }
}
