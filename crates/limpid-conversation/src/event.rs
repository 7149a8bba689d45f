//! What a surface sees of a turn while it runs.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use limpid_core::form::{Form, FormAnswer};
use limpid_core::{CallId, ConversationId, Money, TurnId, Usage};
use limpid_model::ModelEvent;
use limpid_store::DraftId;
use limpid_turn::Outcome;
use tokio::sync::oneshot;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::question_id::QuestionId;

/// Something that happened in a turn, in the order in which it happened.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnEvent {
    /// The message was accepted and is kept, whatever comes.
    Accepted {
        /// The conversation that it belongs to.
        conversation: ConversationId,
    },
    /// A turn begins to answer it.
    Started {
        /// The turn; none for a request that is sent again or a model that is tested.
        turn: Option<TurnId>,
        /// The model that is asked: `provider/id`.
        model: String,
        /// The profile whose prompts are used.
        profile: String,
        /// The path of that profile.
        path: String,
    },
    /// More of the model's reasoning.
    Reasoning(String),
    /// More of the answer, or of what the model says beside its tool calls.
    Text(String),
    /// What was said since the model was asked last does not count: it is asked again.
    Retrying {
        /// Why.
        reason: String,
        /// The model that is asked: `provider/id`.
        model: String,
    },
    /// A tool is called.
    ToolStarted {
        /// The call.
        id: CallId,
        /// The tool.
        name: String,
        /// The arguments as the model wrote them.
        arguments: String,
    },
    /// A tool came back.
    ToolDone {
        /// The call.
        id: CallId,
        /// What it returned or what went wrong, as the model reads it.
        result: String,
    },
    /// A call was refused and never ran.
    ToolRefused {
        /// The call.
        id: CallId,
        /// The tool, which need not be there.
        name: String,
        /// The arguments as the model wrote them, which need not be JSON.
        arguments: String,
        /// Why, as the model reads it.
        result: String,
    },
    /// Calls wait for the owner: one question, with a part for each of them. [`TurnHandle::answer`](crate::TurnHandle::answer)
    /// answers a part; the turn goes on with the answers.
    ApprovalRequested {
        /// The calls, in the model's order.
        parts: Vec<QuestionPart>,
        /// Whether the window can be cleaned first: strangers' text is in it.
        can_clean: bool,
    },
    /// A stranger wants the owner to say something in the middle of a call. [`FormQuestion::answer`] answers; one that is dropped is
    /// a no.
    FormAsked(FormQuestion),
    /// A message that was sent while the turn ran stands in the conversation from here on, and this turn answers it.
    Steered {
        /// What it says.
        text: String,
    },
    /// A call of the model was paid for.
    Usage {
        /// What the provider counted.
        usage: Usage,
        /// What it cost, when the price is known.
        cost: Option<Money>,
    },
    /// Something that the person should know and that ends nothing: a text that was cut, a price that is unknown.
    Notice(String),
    /// A call is kept as a draft. No [`Self::Notice`] says so: its words may be anybody's, and a surface shows the draft itself.
    DraftKept(DraftId),
    /// The turn is over; nothing follows.
    Done {
        /// How it ended.
        outcome: Outcome,
        /// The answer, when there is one.
        answer: Option<String>,
    },
    /// The turn could not be carried on; nothing follows. What was accepted is kept.
    Interrupted(String),
}

/// A call that waits for the owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionPart {
    /// Which question it is, with the call: an answer hands it back.
    pub id: QuestionId,
    /// The tool.
    pub name: String,
    /// The arguments in their canonical form, which is what would run.
    pub arguments: String,
    /// What a number or a key in the arguments stands for now, such as the words of a memory.
    pub about: Option<String>,
    /// Where it would send or fetch something.
    pub destination: Option<String>,
    /// The folder that its program starts in, or that its relative paths begin at; empty where it has neither.
    pub folder: String,
    /// Why it waits, and what it would do.
    pub reason: String,
    /// What a lasting yes would cover; none where there is none.
    pub pattern: Option<String>,
    /// Whether a stranger's text led to it, so that all of it has to be seen: a yes may make it the owner's, send it or run it.
    pub whole: bool,
}

/// A form that waits for the owner. Clones are one question, and its first answer counts.
#[derive(Clone)]
pub struct FormQuestion {
    form: Arc<Form>,
    answer: Arc<Mutex<Option<oneshot::Sender<FormAnswer>>>>,
    /// Cancelled when nobody waits for an answer any more.
    over: CancellationToken,
}

impl FormQuestion {
    /// A question, and who waits for its answer.
    pub(crate) fn new(form: Form) -> (Self, FormWait) {
        let (sender, answer) = oneshot::channel();
        let over = CancellationToken::new();
        let wait = FormWait { answer, over: over.clone().drop_guard() };
        (Self { form: Arc::new(form), answer: Arc::new(Mutex::new(Some(sender))), over }, wait)
    }

    /// What is asked.
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// Whether the answer is still waited for.
    pub fn is_open(&self) -> bool {
        let answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        answer.as_ref().is_some_and(|answer| !answer.is_closed())
    }

    /// Ends when no answer is waited for any more: one was given, or whoever asked is gone. It does not keep the question.
    pub fn ended(&self) -> impl Future<Output = ()> + Send + use<> {
        self.over.clone().cancelled_owned()
    }

    /// Answers. Returns whether the answer was still waited for.
    pub fn answer(&self, answer: FormAnswer) -> bool {
        let sender = self.answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        sender.is_some_and(|sender| sender.send(answer).is_ok())
    }
}

/// Who waits for the answer to a form.
pub(crate) struct FormWait {
    answer: oneshot::Receiver<FormAnswer>,
    over: DropGuard,
}

impl FormWait {
    /// The answer; a no when the question is dropped.
    pub(crate) async fn answer(self) -> FormAnswer {
        let Self { answer, over: _until_then } = self;
        answer.await.unwrap_or(FormAnswer::No)
    }
}

impl PartialEq for FormQuestion {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.answer, &other.answer)
    }
}

impl fmt::Debug for FormQuestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FormQuestion").field(&self.form).finish()
    }
}

/// The owner's answer to a part of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// Yes, this call.
    Once,
    /// Yes, and in this conversation every call of the same pattern; a mere yes where there is no pattern.
    Always,
    /// Clean the window, then run this call as it was shown; the turn ends after it. A mere yes where nothing is to be cleaned.
    CleanFirst,
    /// No.
    No,
}

impl TurnEvent {
    /// What a surface sees of a model's event.
    pub(crate) fn of_model(event: &ModelEvent) -> Option<Self> {
        match event {
            ModelEvent::Text(text) => Some(Self::Text(text.clone())),
            ModelEvent::Reasoning(text) => Some(Self::Reasoning(text.clone())),
            ModelEvent::Call(_)
            | ModelEvent::Stretch
            | ModelEvent::State(_)
            | ModelEvent::Usage(_)
            | ModelEvent::Charged(_)
            | ModelEvent::Model(_)
            | ModelEvent::Searched
            | ModelEvent::End(_) => None,
        }
    }

    /// Whether nothing follows.
    pub fn is_last(&self) -> bool {
        matches!(self, Self::Done { .. } | Self::Interrupted(_))
    }
}
