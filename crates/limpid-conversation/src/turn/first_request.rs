//! The first request of a turn: everything that it needs is read, and its prompt rendered.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use limpid_context::{BuiltContext, Fit, Gathered, Occasion, StandingNotice};
use limpid_context::{Headroom, dropped_skills, rendered_items, unknown_notice, window_state_of};
use limpid_core::reach::FIND_TOOLS;
use limpid_core::{CacheLife, Labelled, Message};
use limpid_prompt::Prompt;
use limpid_prompt::count::WindowEstimate;
use limpid_prompt::inputs::{Inputs, ToolPlacement};
use limpid_services::directory::is_run;
use limpid_services::error::AgentError;
use limpid_services::events::EventKind;
use limpid_services::models::cache_life::cache_life;
use limpid_services::models::{EffortChoice, ModelRegistry, Models, lacking};
use limpid_services::profiles::new_fallback_notice;
use limpid_store::{Conversation, ItemId, Lease};

use crate::compaction::{self, Compaction, NoteQuestion, is_complete};
use crate::deps::ConversationDeps;
use crate::model_call::{Rendered, as_sent};
use crate::turn::asked::{Asked, is_overflow};
use crate::turn::journal::TurnStarted;

/// A turn that is ready to begin.
pub(super) struct Ready {
    pub(super) gathered: Gathered,
    pub(super) started: TurnStarted,
    pub(super) models: Models,
    /// What counts the prompts of the turn, by model.
    pub(super) counters: HashMap<String, WindowEstimate>,
    pub(super) first: Rendered,
    /// The message as it is sent.
    pub(super) sent: Message,
    /// The items of the inbox that its prompt shows.
    pub(super) items: Vec<ItemId>,
    /// What is different from the turn before; it is told once the turn is kept.
    pub(super) changes: Vec<EventKind>,
}

pub(super) enum Prepared {
    Ready(Box<Ready>),
    First(Compaction),
}

/// Reads everything that the turn needs and renders its first prompt.
pub(super) async fn prepare(
    deps: &Arc<ConversationDeps>,
    lease: &Lease,
    conversation: &Conversation,
    path: Option<&str>,
    asked: &Asked,
    (now, note): (Timestamp, &Option<Option<Labelled<String>>>),
) -> Result<Prepared, AgentError> {
    let mut models =
        deps.context.models.for_turn(deps.context.wanted_model(Some(conversation)).await.as_deref()).await?;
    let typed = asked.newest();
    let mode = deps.modes.of(conversation);
    let (window, unanswered) = (window_state_of(Some(conversation)), asked.earlier());
    let occasion = Occasion {
        conversation: Some(conversation),
        profile: &conversation.profile,
        path,
        mode,
        card: models[0].info(),
        window: &window,
        text: &typed.text,
        trust: typed.trust,
        boundary: typed.boundary.as_deref(),
        unanswered: &unanswered,
        now,
        fit: Fit::ToWindow,
    };
    let built = limpid_context::build(&deps.context, occasion).await;
    let may_be_due = match &built {
        Ok(built) => built.smaller.is_some() || is_tight(built),
        Err(error) => is_overflow(error),
    };
    if may_be_due && let Some(compaction) = Compaction::left_undone(deps, lease).await {
        return Ok(Prepared::First(compaction));
    }
    let mut built = built?;
    models[0] = ModelRegistry::resized(&models[0], &built.card);
    if let Some(request) = &built.wants_note {
        match note {
            Some(Some(note)) => built.with_note(note),
            Some(None) => {}
            None => {
                let question = NoteQuestion::new(&models, &built.measure, request);
                if let Some(asked) = question.ask(deps, lease).await? {
                    return Ok(Prepared::First(asked));
                }
            }
        }
    }
    if let Some(smaller) = built.smaller.take() {
        compaction::show_less(deps, lease, smaller).await?;
    }
    ready(deps, conversation, (typed, mode), models, built).await
}

/// What a built prompt comes to.
async fn ready(
    deps: &Arc<ConversationDeps>,
    conversation: &Conversation,
    (typed, mode): (&Message, &str),
    models: Models,
    mut built: BuiltContext,
) -> Result<Prepared, AgentError> {
    let changes = built.take_note();
    let mut told = built.trims();
    let BuiltContext { mut gathered, card, prompt, size, estimate, tier, notice, .. } = built;
    gathered.notices.extend(notice);
    let now_ms = deps.host().now_ms();
    gathered.notices.extend(new_fallback_notice(deps.store(), &gathered.profile, (mode, tier), now_ms).await?);
    let effort = EffortChoice::of(deps.config(), Some(conversation), &gathered.path);
    let on = (gathered.path.as_str(), Some(&conversation.id));
    let cache = cache_life(deps.store(), deps.config(), on, now_ms).await?;
    let items = rendered_items(deps.store(), &prompt).await?;
    told.extend(dropped_skills(&prompt, &gathered.inputs.skills));
    told.extend(gathered.standing_notices.drain(..).map(StandingNotice::into_line));
    told.extend(lacking(&card, effort.of_model(&card)));
    told.extend(models[0].left_out(&prompt));
    let news = gathered.session.news(told);
    gathered.notices.extend(news);
    if gathered.inputs.history.is_empty() {
        gathered.notices.extend(unknown_notice(&card));
        let is_found = deps.config().model.is_none() && deps.context.wanted_model(Some(conversation)).await.is_none();
        if is_found && !is_run(&conversation.id) {
            gathered.notices.extend(deps.context.models.instead(&card.name()));
        }
    }
    let mut started = started(deps, &gathered.inputs, &prompt, card.name());
    (started.effort, started.cache) = (effort, cache);
    started.calls_with_tools = gathered.max_turns.unwrap_or(u32::MAX).min(started.calls_with_tools);
    let sent = as_sent(&prompt, typed);
    let counters = HashMap::from([(card.name(), estimate)]);
    let first = Rendered { model: card.name(), prompt, size };
    Ok(Prepared::Ready(Box::new(Ready { sent, first, started, items, models, counters, changes, gathered })))
}

/// Whether a compaction can have been due after the newest answer.
fn is_tight(built: &BuiltContext) -> bool {
    let history = &built.gathered.history;
    is_complete(history) && Headroom::new(&built.size, &built.gathered.profile, history, 0).is_tight
}

/// What a turn begins with, for its journal; the tools are those that its first prompt offers or that can be found.
fn started(deps: &ConversationDeps, inputs: &Inputs, prompt: &Prompt, model: String) -> TurnStarted {
    let limits = &deps.config().limits;
    let tool = |name: &str| (name.to_owned(), deps.context.tools.time_limit(name, limits).as_secs());
    // What waits behind `find_tools` may be called once it was found.
    let finds = prompt.offered().iter().any(|tool| tool.name() == FIND_TOOLS);
    let waits = inputs.tools.iter().filter(|tool| finds && tool.reach == ToolPlacement::Deferred);
    let offered = prompt.offered().iter().map(limpid_prompt::OfferedTool::name);
    let names: Vec<&str> = offered.chain(waits.map(|tool| tool.name.as_str())).collect();
    let own_chars = |name: &&str| Some(((*name).to_owned(), deps.context.tools.tool(name)?.result_chars()?));
    TurnStarted {
        model,
        profile: prompt.profile().to_owned(),
        path: prompt.path().to_owned(),
        inputs: Inputs { history: Vec::new(), ..inputs.clone() },
        own_result_chars: names.iter().filter_map(own_chars).collect(),
        tools: names.into_iter().map(tool).collect(),
        calls_with_tools: limits.calls_with_tools,
        result_chars: limits.result_chars,
        effort: EffortChoice::default(),
        cache: CacheLife::default(),
    }
}
