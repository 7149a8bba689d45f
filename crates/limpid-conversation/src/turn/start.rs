//! How a turn begins: with the messages that wait. The newest is the turn's own, earlier ones stand before it.

use std::collections::VecDeque;
use std::sync::Arc;

use limpid_context::{FindTools, Headroom, History, PrefixCache};
use limpid_core::{Labelled, Message, Trust, TurnId};
use limpid_prompt::inputs::UiMode;
use limpid_services::error::AgentError;
use limpid_services::modes::with_mode_of_chat;
use limpid_services::tools::Reservations;
use limpid_store::{
    Conversation, ConversationChange, ConversationKind, Inbound, Kept, Lease, NewMessage, NewTurn, TurnWrite,
};
use limpid_turn::{Turn, TurnStart};

use crate::compaction::Compaction;
use crate::deps::ConversationDeps;
use crate::event::TurnEvent;
use crate::listeners::Listeners;
use crate::outcome::{end_of, failed};
use crate::settings::suggest_mode;
use crate::turn::asked::{Asked, is_overflow};
use crate::turn::first_request::{Prepared, Ready, prepare};
use crate::turn::journal::{Entry, TurnStarted};
use crate::turn::requests::TurnRequests;
use crate::turn::running::{RunningTurn, TurnSeed};
use crate::turn::title::title_of;
use crate::turn::tool_tasks::ToolCalls;
use crate::turn::trace::TurnTrace;
use crate::turn::transaction::{PendingStart, TurnNews, TurnWriter};

/// What is known of a turn before it begins.
#[derive(Default)]
pub(crate) struct NextTurn {
    /// The path that the newest message asked for.
    pub(crate) path: Option<String>,
    /// What the person is told of a mode that was switched for it.
    pub(crate) hint: Option<String>,
    /// What a model wrote as the note of a rollover, once it was asked: none when it wrote none.
    pub(crate) note: Option<Option<Labelled<String>>>,
}

/// What is to be done for the messages that wait.
pub(crate) enum Start {
    /// This turn answers them.
    Turn(Box<RunningTurn>),
    /// This first; then the turn is begun anew.
    First(Compaction),
    /// Nothing: they are kept, and whoever listens was told why nobody answers them.
    Nothing,
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
    // What was changed while nobody looked waits for the owner before a prompt is made from it.
    deps.executor.files().settle().await?;
    let now = deps.host().now();
    let conversation = deps.directory.existing(&lease.conversation).await?;
    let mut conversation = with_mode_of_chat(deps.store(), deps.config(), conversation).await?;
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
    if listeners.owner_reads() {
        let notices = deps.executor.files().take_notices().await?;
        notices.into_iter().for_each(|notice| listeners.send(&TurnEvent::Notice(notice)));
    }
    next.note = None;
    let hint = next.hint.take();
    let id = TurnId::new(deps.host().new_id("t"));
    let name = ready.as_ref().map(|ready| ready.gathered.path.clone());
    let path = name.unwrap_or_else(|_| path.unwrap_or_else(|| "chat-remote".to_owned()));
    let mut trace = TurnTrace::begin(deps, &lease.conversation, &id, &path, now.as_millisecond()).await;
    let new = NewTurn { id, path, inbound: asked.ids(), now_ms: now.as_millisecond() };
    match ready {
        Ok(ready) => {
            let seed = seed(deps, lease, &conversation, new, &asked, *ready, (hint, trace))?;
            Ok(Start::Turn(Box::new(RunningTurn::new(Arc::clone(deps), Arc::clone(listeners), seed))))
        }
        Err(error) => {
            let outcome = failed(&error);
            let writes = vec![TurnWrite::Messages(asked.as_accepted()), end_of(&outcome)];
            deps.store().begin_turn(lease, new, writes).await?;
            trace.over(&outcome, deps.host().now_ms());
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
    (hint, trace): (Option<String>, TurnTrace),
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
        calls: ToolCalls::new(tools, Reservations::default()),
        writer: TurnWriter::starting(lease.clone(), PendingStart { new, writes, news }),
        steering: VecDeque::new(),
        answers,
        read: Trust::Owner,
        was_resumed: false,
        trace,
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
        changes.push(ConversationChange::Title(title_of(&typed.text)));
    }
    (!changes.is_empty()).then_some(TurnWrite::Conversation(changes))
}

/// Where the machine starts from.
pub(super) fn start_of(started: &TurnStarted, past: &History) -> TurnStart {
    TurnStart {
        tools: started.tools(),
        taken: past.calls.clone(),
        limits: started.limits(),
        decision: started.decision().map(str::to_owned),
        is_screen: started.inputs.ui_mode == UiMode::Interactive,
    }
}
