//! How a turn begins: with the messages that wait. The newest is the turn's own, earlier ones stand before it.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;
use limpid_core::reach::FIND_TOOLS;
use limpid_core::{CacheLife, Message, Trust, TurnId};
use limpid_prompt::Prompt;
use limpid_prompt::count::WindowEstimate;
use limpid_prompt::inputs::{Inputs, ToolReach};
use limpid_store::{
    Conversation, ConversationChange, ConversationKind, Inbound, ItemId, Kept, Lease, NewMessage, NewTurn, TurnWrite,
};
use limpid_turn::{Turn, TurnStart};

use crate::context::FindTools;
use crate::context::Headroom;
use crate::context::History;
use crate::context::PrefixCache;
use crate::context::dropped_skills;
use crate::context::rendered_items;
use crate::context::unknown_notice;
use crate::context::window_state_of;
use crate::context::{self, BuiltContext, Fit, Gathered, Occasion};
use crate::conversation::actor::NextTurn;
use crate::conversation::compaction::{self, Compaction, NoteQuestion, is_complete};
use crate::conversation::deps::ConversationDeps;
use crate::conversation::event::TurnEvent;
use crate::conversation::listeners::Listeners;
use crate::conversation::model_call::{Rendered, as_sent};
use crate::conversation::outcome::{end_of, failed};
use crate::conversation::settings::suggest_mode;
use crate::conversation::turn::asked::{Asked, is_overflow};
use crate::conversation::turn::journal::{Entry, TurnStarted};
use crate::conversation::turn::requests::TurnRequests;
use crate::conversation::turn::running::{RunningTurn, TurnSeed};
use crate::conversation::turn::tool_calls::ToolCalls;
use crate::conversation::turn::transaction::{PendingStart, TurnNews, TurnWriter};
use crate::services::error::AgentError;
use crate::services::events::EventKind;
use crate::services::models::cache_life::cache_life;
use crate::services::models::{EffortChoice, lacking};
use crate::services::models::{ModelRegistry, Models};
use crate::services::profiles::new_fallback_notice;

/// Characters of the first message that a conversation is titled with.
const TITLE: usize = 60;

/// What is to be done for the messages that wait.
pub(crate) enum Start {
    /// This turn answers them.
    Turn(Box<RunningTurn>),
    /// This first; then the turn is begun anew.
    First(Compaction),
    /// Nothing: they are kept, and whoever listens was told why nobody answers them.
    Nothing,
}

/// A turn that is ready to begin.
struct Ready {
    gathered: Gathered,
    started: TurnStarted,
    models: Models,
    /// What counts the prompts of the turn, by model.
    counters: HashMap<String, WindowEstimate>,
    first: Rendered,
    /// The message as it is sent.
    sent: Message,
    /// The items of the inbox that its prompt shows.
    items: Vec<ItemId>,
    /// What is different from the turn before; it is told once the turn is kept.
    changes: Vec<EventKind>,
}

enum Prepared {
    Ready(Box<Ready>),
    First(Compaction),
}

/// Begins the turn that answers the messages that wait. Those that leave no room for each other even when they are
/// shortened are answered one after the other.
pub(crate) async fn start(
    deps: &Arc<ConversationDeps>,
    lease: &Lease,
    listeners: &Arc<Listeners>,
    next: &mut NextTurn,
    waiting: &[Inbound],
) -> Result<Start, AgentError> {
    let now = deps.host().now();
    let mut conversation = deps.directory.existing(&lease.conversation).await?;
    if let Some(newest) = waiting.last()
        // No person speaks in a run, so nothing in it asks for another mode.
        && conversation.kind != ConversationKind::Run
        && next.hint.is_none()
    {
        next.hint = suggest_mode(deps, &conversation, newest).await?;
        if next.hint.is_some() {
            conversation = deps.directory.existing(&lease.conversation).await?;
        }
    }
    let path = next.path.take();
    let Some(mut asked) = Asked::of(deps.host(), waiting) else { return Ok(Start::Nothing) };
    let ready = loop {
        match prepare(deps, lease, &conversation, path.as_deref(), &asked, (now, &next.note)).await {
            Ok(Prepared::First(compaction)) => {
                next.path = path;
                return Ok(Start::First(compaction));
            }
            // Whoever wrote the others wants them answered the same way.
            Err(error) if is_overflow(&error) && asked.put_off_half() => next.path.clone_from(&path),
            Ok(Prepared::Ready(ready)) => break Ok(ready),
            Err(error) => break Err(error),
        }
    };
    listeners.activate(&asked.ids());
    next.note = None;
    let hint = next.hint.take();
    let id = TurnId::new(deps.host().new_id("t"));
    let name = ready.as_ref().map(|ready| ready.gathered.path.clone());
    let path = name.unwrap_or_else(|_| path.unwrap_or_else(|| "chat-remote".to_owned()));
    let new = NewTurn { id: id.clone(), path, inbound: asked.ids(), now_ms: now.as_millisecond() };
    match ready {
        Ok(ready) => {
            let seed = seed(deps, lease, &conversation, new, &asked, *ready, hint)?;
            Ok(Start::Turn(Box::new(RunningTurn::new(Arc::clone(deps), Arc::clone(listeners), seed))))
        }
        Err(error) => {
            let outcome = failed(&error);
            let writes = vec![TurnWrite::Messages(asked.as_accepted()), end_of(&outcome)];
            deps.store().begin_turn(lease, new, writes).await?;
            listeners.finish(&TurnEvent::Done { outcome, answer: None });
            Ok(Start::Nothing)
        }
    }
}

/// Everything that a turn runs with.
fn seed(
    deps: &Arc<ConversationDeps>,
    lease: &Lease,
    conversation: &Conversation,
    new: NewTurn,
    asked: &Asked,
    ready: Ready,
    hint: Option<String>,
) -> Result<TurnSeed, AgentError> {
    let shown = ready.gathered.history.unanswered.iter().map(|entry| &entry.message).chain([&ready.sent]);
    let writes = first_writes(conversation, &ready, asked.as_sent(shown.cloned()), asked.newest())?;
    let answers = new.inbound.clone();
    let news = news(&new.id, &ready, hint);
    let Ready { gathered, started, models, counters, first, .. } = ready;
    let (machine, effects) = Turn::start(start_of(&started, &gathered.history));
    let found = gathered.session.tools.found.clone();
    let finder = FindTools::of_turn(&gathered.profile, &gathered.path, &gathered.inputs, found);
    let tools = deps.executor.for_turn(gathered.policy, finder, std::iter::empty());
    let room = Headroom::new(&first.size, &gathered.profile, &gathered.history, 0);
    let mut requests = TurnRequests::new(
        (gathered.profile, gathered.path, models),
        (gathered.inputs, gathered.history),
        (started.effort, started.cache),
    );
    (requests.counters, requests.first, requests.room) = (counters, Some(first), Some(room));
    Ok(TurnSeed {
        machine,
        effects,
        requests,
        calls: ToolCalls::new(tools),
        writer: TurnWriter::starting(lease.clone(), PendingStart { new, writes, news }),
        steering: VecDeque::new(),
        answers,
        read: Trust::Owner,
        was_resumed: false,
    })
}

/// What the first transaction of a turn writes besides its request.
fn first_writes(
    conversation: &Conversation,
    ready: &Ready,
    messages: Vec<NewMessage>,
    typed: &Message,
) -> Result<Vec<TurnWrite>, AgentError> {
    // The end of a background run looks at what it began with.
    let kept_until = match conversation.kind {
        ConversationKind::Run => Kept::Afterwards,
        _ => Kept::UntilEnd,
    };
    let started = Entry::Started(Box::new(ready.started.clone())).into_row(kept_until)?;
    let mut writes = vec![TurnWrite::Event(started)];
    let active = ready.started.inputs.skills.active.iter();
    let skills: Vec<_> = active.map(|skill| (skill.name.clone(), skill.version.clone())).collect();
    if !skills.is_empty() {
        writes.push(TurnWrite::Event(Entry::Skills(skills).into_row(Kept::Afterwards)?));
    }
    writes.push(TurnWrite::Messages(messages));
    writes.extend(kept(conversation, ready, typed));
    if !ready.items.is_empty() {
        writes.push(TurnWrite::Shown(ready.items.clone()));
    }
    Ok(writes)
}

/// Reads everything that the turn needs and renders its first prompt.
async fn prepare(
    deps: &Arc<ConversationDeps>,
    lease: &Lease,
    conversation: &Conversation,
    path: Option<&str>,
    asked: &Asked,
    (now, note): (Timestamp, &Option<Option<String>>),
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
    let built = context::build(&deps.context, occasion).await;
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
    told.append(&mut gathered.standing_notices);
    told.extend(lacking(&card, effort.of_model(&card)));
    told.extend(models[0].left_out(&prompt));
    let news = gathered.session.news(told);
    gathered.notices.extend(news);
    if gathered.inputs.history.is_empty() {
        gathered.notices.extend(unknown_notice(&card));
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

/// What is told once a turn has begun.
fn news(id: &TurnId, ready: &Ready, hint: Option<String>) -> TurnNews {
    let started = TurnEvent::Started {
        turn: Some(id.clone()),
        model: ready.started.model.clone(),
        profile: ready.started.profile.clone(),
        path: ready.started.path.clone(),
    };
    let notices = hint.into_iter().chain(ready.gathered.notices.iter().cloned()).map(TurnEvent::Notice);
    TurnNews {
        events: std::iter::once(started).chain(notices).collect(),
        changes: ready.changes.clone(),
        skills: ready.gathered.inputs.skills.active.iter().map(|skill| skill.name.clone()).collect(),
    }
}

/// What the conversation keeps once the turn has begun: its beginning, and a title.
fn kept(conversation: &Conversation, ready: &Ready, typed: &Message) -> Option<TurnWrite> {
    let mut changes = Vec::new();
    let session = &ready.gathered.session;
    if *session != PrefixCache::of(conversation) {
        changes.push(ConversationChange::Session(Some(session.to_text())));
    }
    if conversation.title.is_empty() {
        changes.push(ConversationChange::Title(title(&typed.text)));
    }
    (!changes.is_empty()).then_some(TurnWrite::Conversation(changes))
}

/// What a turn begins with, for its journal; the tools are those that its first prompt offers or that can be found.
fn started(deps: &ConversationDeps, inputs: &Inputs, prompt: &Prompt, model: String) -> TurnStarted {
    let limits = &deps.config().limits;
    let tool = |name: &str| {
        let own = deps.context.tools.tool(name).and_then(|tool| tool.timeout());
        (name.to_owned(), own.map_or(limits.tool_seconds, |time| time.as_secs()))
    };
    // What waits behind `find_tools` may be called once it was found.
    let finds = prompt.offered().iter().any(|tool| tool.name() == FIND_TOOLS);
    let waits = inputs.tools.iter().filter(|tool| finds && tool.reach == ToolReach::Deferred);
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

/// Where the machine starts from.
pub(super) fn start_of(started: &TurnStarted, past: &History) -> TurnStart {
    TurnStart {
        tools: started.tools(),
        taken: past.calls.clone(),
        limits: started.limits(),
        decision: started.decision().map(str::to_owned),
    }
}

fn title(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= TITLE {
        line
    } else {
        format!("{}…", line.chars().take(TITLE - 1).collect::<String>())
    }
}
