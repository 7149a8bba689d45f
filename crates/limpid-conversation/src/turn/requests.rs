//! What makes the requests of a turn: each is rendered once, measured, and made to fit the window of the model that is
//! asked first.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, OnceLock};

use limpid_core::{CacheLife, Labelled, Message, MessageId, Tier, UsableWindow};
use limpid_model::{ReplyForm, ToolUse};
use limpid_prompt::Profile;
use limpid_prompt::count::WindowEstimate;
use limpid_prompt::inputs::Inputs;
use limpid_turn::window::ContextSize;

use crate::compaction::{Compaction, NoteQuestion};
use crate::deps::ConversationDeps;
use crate::model_call::{Recipe, Rendered, sampling};
use limpid_context::{
    Fitting, Headroom, History, Measure, Running, SmallerView, as_it_stands, fit_to_window, shown_goal,
};
use limpid_services::error::AgentError;
use limpid_services::models::{EffortChoice, Models};
use limpid_services::tools::window_trust;
use limpid_store::Lease;

/// Times that a smaller request follows one that a provider found too large.
const OVERFLOWS: u32 = 2;

/// What a model is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplyKind {
    /// A message; it may call tools.
    Message,
    /// The last message of the turn: a text, or the call that ends it.
    End,
    /// The arguments of the call that ends the turn, as a JSON document.
    Decision,
}

/// What a provider said of its window.
#[derive(Clone, Copy, Debug, Default)]
struct Overflow {
    /// How often a request was too large for it.
    times: u32,
    /// The window that it is believed to have.
    usable: Option<u32>,
}

/// Everything that the requests of a turn are made from.
pub(crate) struct TurnRequests {
    pub(crate) profile: Arc<Profile>,
    pub(crate) path: String,
    pub(crate) models: Models,
    /// Everything that the prompt uses; the messages of the turn are added for each call.
    pub(crate) inputs: Inputs,
    /// What the conversation shows of its past.
    pub(crate) history: History,
    /// The stored messages of the turn after the person's, by number.
    pub(crate) in_flight: Vec<MessageId>,
    /// What counts the prompts of the turn, by model: it does not change while the turn runs.
    pub(crate) counters: HashMap<String, WindowEstimate>,
    /// How much the models are to reason: it does not change while the turn runs.
    pub(crate) effort: EffortChoice,
    /// How long providers are asked to keep what they have read: a change costs what they have.
    pub(crate) cache: CacheLife,
    /// The first request, until it is made.
    pub(crate) first: Option<Rendered>,
    /// What the newest request leaves of the window.
    pub(crate) room: Option<Headroom>,
    windows: Windows,
}

/// What was learned in this turn of the room for requests and replies.
#[derive(Default)]
struct Windows {
    overflow: Overflow,
    /// Whether a reply ended at its limit without a word, so that the next one may be as long as is possible.
    raised: bool,
    /// What a model wrote as the note of a rollover, once it was asked.
    note: Option<Option<Labelled<String>>>,
}

/// The next request of a turn.
pub(crate) enum NextRequest {
    /// It fits.
    Ready(Box<FittedRequest>),
    /// A model is asked for a note first; then the request is made once more.
    NeedsNote(Compaction),
}

/// A request that fits, with what has to be written and told before it leaves.
pub(crate) struct FittedRequest {
    pub(crate) rendered: Rendered,
    /// The view that shows less.
    pub(crate) smaller: Option<SmallerView>,
    pub(crate) notices: Vec<String>,
}

impl TurnRequests {
    /// What a turn begins with, or is carried on with.
    pub(crate) fn new(
        (profile, path, models): (Arc<Profile>, String, Models),
        (inputs, history): (Inputs, History),
        (effort, cache): (EffortChoice, CacheLife),
    ) -> Self {
        Self {
            profile,
            path,
            models,
            inputs,
            history,
            in_flight: Vec::new(),
            counters: HashMap::new(),
            effort,
            cache,
            first: None,
            room: None,
            windows: Windows::default(),
        }
    }

    /// Makes the next request of a turn whose messages are these.
    pub(crate) async fn next(
        &mut self,
        deps: &Arc<ConversationDeps>,
        lease: &Lease,
        in_flight: &[Message],
    ) -> Result<NextRequest, AgentError> {
        if let Some(first) = self.first.take() {
            return Ok(NextRequest::Ready(Box::new(FittedRequest {
                rendered: first,
                smaller: None,
                notices: Vec::new(),
            })));
        }
        self.look_at_goal(deps, lease).await?;
        let Some(model) = self.models.first().map(Arc::clone) else {
            return Err(AgentError::Invalid("there is no model to ask".to_owned()));
        };
        let card = model.info();
        let counter = match self.counters.get(&card.name()) {
            Some(counter) => counter.clone(),
            None => deps.context.counts.estimate(card, window_trust(&self.inputs, in_flight)).await?,
        };
        let mut measure = Measure::new(&self.profile, &self.path, &self.inputs, &self.history, counter.clone(), card);
        let believed = self.windows.overflow.usable;
        if let Some(believed) = believed {
            measure.usable = UsableWindow(believed.min(measure.usable.0));
        }
        let now = Running { messages: in_flight, ids: &self.in_flight };
        let fitting = Fitting {
            measure: &measure,
            now,
            is_known: card.usable_window.is_some() || believed.is_some(),
            may_shrink: deps.config().window.is_on(),
            note: None,
        };
        let measured = as_it_stands(&measure, now, &self.history, &mut self.inputs)?;
        let mut fitted = fit_to_window(fitting, &mut self.history, &mut self.inputs, measured)?;
        if let Some(request) = fitted.wants_note.take() {
            match self.windows.note.take() {
                Some(Some(note)) => {
                    if let Some(with_note) = request.answered(fitting, &note) {
                        (fitted, self.history, self.inputs) = with_note;
                    }
                }
                Some(None) => {}
                None => {
                    let question = NoteQuestion::new(&self.models, &measure, &request);
                    if let Some(asked) = question.ask(deps, lease).await? {
                        (self.history, self.inputs) = request.whole;
                        return Ok(NextRequest::NeedsNote(asked));
                    }
                }
            }
        }
        let size = fitted.measured.size;
        self.room = Some(Headroom::new(&size, &self.profile, &self.history, in_flight.len()));
        let prompt = Arc::new(fitted.measured.prompt.counted_by(&counter));
        let rendered = Rendered { model: card.name(), prompt, size };
        Ok(NextRequest::Ready(Box::new(FittedRequest { rendered, smaller: fitted.smaller, notices: fitted.notices })))
    }

    /// Takes what a model wrote as the note of a rollover; none when it wrote none.
    pub(crate) fn take_note(&mut self, note: Option<Labelled<String>>) {
        self.windows.note = Some(note);
    }

    /// Where the beginning is rendered for each call, it shows the goal as it stands; elsewhere it stays for
    /// the whole turn, and the results of the tools tell what has changed.
    async fn look_at_goal(&mut self, deps: &ConversationDeps, lease: &Lease) -> Result<(), AgentError> {
        if !self.profile.behaviour().stable_prefix {
            self.inputs.goal = shown_goal(&deps.context, &lease.conversation).await?;
        }
        Ok(())
    }

    /// What renders the prompt of the next call for whichever model is asked.
    pub(crate) async fn recipe(
        &mut self,
        deps: &ConversationDeps,
        lease: &Lease,
        rendered: Rendered,
        (tools, reply): (ToolUse, ReplyForm),
    ) -> Result<Recipe, AgentError> {
        for model in &self.models {
            let name = model.info().name();
            if let Entry::Vacant(free) = self.counters.entry(name) {
                let window = window_trust(&self.inputs, &[]);
                free.insert(deps.context.counts.estimate(model.info(), window).await?);
            }
        }
        Ok(Recipe {
            profile: Arc::clone(&self.profile),
            path: self.path.clone(),
            inputs: self.inputs.clone(),
            counters: self.counters.clone(),
            sampling: sampling(deps.config()),
            effort: self.effort,
            raised: self.windows.raised,
            hide_reasoning: deps.config().chat.hide_reasoning,
            tools,
            reply,
            rendered,
            rendered_tokens: OnceLock::new(),
            conversation: Some(lease.conversation.to_string()),
            cache: self.cache,
        })
    }

    /// How what is wanted is put to a provider. Where a tool ends the turn, a call of it is forced as soon as nothing else
    /// can be called.
    pub(crate) fn form_of(&self, kind: ReplyKind, decision: Option<&str>) -> (ToolUse, ReplyForm) {
        let Some(name) = decision else {
            let tools = if kind == ReplyKind::Message { ToolUse::Auto } else { ToolUse::Never };
            return (tools, ReplyForm::Text);
        };
        let alone = self.inputs.tools.iter().all(|tool| tool.name == name);
        match kind {
            ReplyKind::Message if !alone => (ToolUse::Auto, ReplyForm::Text),
            ReplyKind::Message | ReplyKind::End => (ToolUse::Must(name.to_owned()), ReplyForm::Text),
            ReplyKind::Decision => {
                let tool = self.inputs.tools.iter().find(|tool| tool.name == name);
                let schema = tool.map(|tool| (*tool.schema).clone()).unwrap_or_default();
                (ToolUse::Never, ReplyForm::Json { name: name.to_owned(), schema: schema.into() })
            }
        }
    }

    /// Takes in that a provider found a request of this size too large. Says whether to try a smaller one.
    pub(crate) fn overflowed(&mut self, size: &ContextSize) -> bool {
        let overflow = &mut self.windows.overflow;
        overflow.times += 1;
        overflow.usable = u32::try_from(size.total() * 9 / 10).ok();
        overflow.times <= OVERFLOWS
    }

    /// Lets the next reply be as long as is possible. Says whether that is new.
    pub(crate) fn raise_limit(&mut self) -> bool {
        !std::mem::replace(&mut self.windows.raised, true)
    }

    /// The tier of the turn's prompt.
    pub(crate) fn tier(&self) -> Tier {
        // The path was rendered before this turn could begin.
        self.profile.tier(&self.path, &self.inputs).unwrap_or(Tier::ALL[2])
    }
}
