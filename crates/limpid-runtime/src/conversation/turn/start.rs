//! How a turn begins: with the messages that wait.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;
use limpid_core::{Message, Trust, TurnId};
use limpid_prompt::count::WindowEstimate;
use limpid_store::{
    Conversation, ConversationChange, ConversationKind, Inbound, ItemId, Kept, Lease, NewMessage, NewTurn, TurnWrite,
};
use limpid_turn::{Turn, TurnStart};
use tokio::sync::OnceCell;

use crate::context::FindTools;
use crate::context::Headroom;
use crate::context::History;
use crate::context::PrefixCache;
use crate::context::dropped_skills;
use crate::context::rendered_items;
use crate::context::unknown_notice;
use crate::context::window_state_of;
use crate::context::{self, BuiltContext, Fit, Gathered, Occasion};
use crate::conversation::actor::{Worker, failed};
use crate::conversation::compaction::run::is_complete;
use crate::conversation::event::TurnEvent;
use crate::conversation::model_call::{Rendered, as_sent};
use crate::conversation::turn::asked::{Asked, is_overflow};
use crate::conversation::turn::journal::{Began, Entry};
use crate::conversation::turn::running::{Driver, Overflow, began, end_of};
use crate::conversation::turn::transaction::{News, Opening};
use crate::services::error::AgentError;
use crate::services::events::EventKind;
use crate::services::models::cache_life::cache_life;
use crate::services::models::{EffortChoice, lacking};
use crate::services::models::{ModelRegistry, Models};
use crate::services::profiles::new_fallback_notice;

/// Characters of the first message that a conversation is titled with.
const TITLE: usize = 60;

/// A turn that is ready to begin.
struct Ready {
    gathered: Gathered,
    began: Began,
    models: Models,
    /// What counts the prompts of the turn, by model.
    counters: HashMap<String, WindowEstimate>,
    /// The first request.
    first: Rendered,
    /// The message as it is sent.
    sent: Message,
    /// The items of the inbox that its prompt shows.
    items: Vec<ItemId>,
    /// What is different from the turn before; it is told once the turn is kept.
    changes: Vec<EventKind>,
}

impl Worker {
    /// Answers the messages that wait: the newest is this turn's, earlier ones stand before it.
    ///
    /// Those that leave no room for each other even when they are shortened are answered one after the other.
    pub(crate) async fn turn(&mut self, lease: &Lease, waiting: Vec<Inbound>) -> Result<(), AgentError> {
        let inner = Arc::clone(&self.inner);
        let now = inner.host.now();
        let mut conversation = inner.directory.existing(&self.conversation).await?;
        let hint = match waiting.last() {
            // No person speaks in a run, so nothing in it asks for another mode.
            Some(newest) if conversation.kind != ConversationKind::Run => inner.lean(&conversation, newest).await?,
            _ => None,
        };
        if hint.is_some() {
            conversation = inner.directory.existing(&self.conversation).await?;
        }
        let path = self.path.take();
        let Some(mut asked) = Asked::of(&inner, &waiting) else { return Ok(()) };
        let ready = loop {
            let ready = self.ready(lease, &conversation, path.clone(), &asked, now).await;
            if !is_overflow(&ready) || !asked.put_off_half() {
                break ready;
            }
            // Whoever wrote the others wants them answered the same way.
            self.path.clone_from(&path);
        };
        let ids = asked.ids();
        self.listeners.activate(&ids);

        let id = TurnId::new(inner.host.new_id("t"));
        let name = ready.as_ref().map(|ready| ready.gathered.path.clone());
        let path = name.unwrap_or_else(|_| path.unwrap_or_else(|| "chat-remote".to_owned()));
        let new = NewTurn { id: id.clone(), path, inbound: ids, now_ms: now.as_millisecond() };

        let ready = match ready {
            Ok(ready) => ready,
            Err(error) => return self.cannot_begin(lease, new, asked.as_accepted(), &error).await,
        };
        let shown = ready.gathered.history.unanswered.iter().map(|entry| &entry.message).chain([&ready.sent]);
        let messages = asked.as_sent(shown.cloned());
        // The end of a background run looks at what it began with.
        let began_kept = match conversation.kind {
            ConversationKind::Run => Kept::Afterwards,
            _ => Kept::UntilEnd,
        };
        let began = Entry::Began(Box::new(ready.began.clone())).into_row(began_kept)?;
        let mut writes = vec![TurnWrite::Event(began)];
        let skills: Vec<_> =
            ready.began.inputs.skills.active.iter().map(|skill| (skill.name.clone(), skill.version.clone())).collect();
        if !skills.is_empty() {
            writes.push(TurnWrite::Event(Entry::Skills(skills).into_row(Kept::Afterwards)?));
        }
        writes.push(TurnWrite::Messages(messages));
        writes.extend(kept(&conversation, &ready, asked.newest()));
        if !ready.items.is_empty() {
            writes.push(TurnWrite::Shown(ready.items.clone()));
        }
        let opening = Opening { new, writes, news: news(&id, &ready, hint) };
        let (effort, cache) = (ready.began.effort, ready.began.cache);
        let start = start_of(&ready.began, &ready.gathered.history);
        let (machine, effects) = Turn::start(start);
        let Ready { gathered, models, counters, first, .. } = ready;
        self.room = Some(Headroom::new(&first.size, &gathered.profile, &gathered.history, 0));
        let found = gathered.session.tools.found.clone();
        let finder = FindTools::of_turn(&gathered.profile, &gathered.path, &gathered.inputs, found);
        let tools = Arc::new(inner.executor.for_turn(gathered.policy, finder, std::iter::empty()));
        let driver = Driver {
            worker: self,
            lease,
            id,
            machine,
            profile: gathered.profile,
            path: gathered.path,
            models,
            inputs: gathered.inputs,
            past: gathered.history,
            in_flight: Vec::new(),
            overflow: Overflow::default(),
            tools,
            counters,
            effort,
            cache,
            raised: false,
            steering: VecDeque::new(),
            answers: opening.new.inbound.clone(),
            opening: Some(opening),
            first: Some(first),
            request: None,
            read: Trust::Owner,
            hosts: OnceCell::new(),
        };
        driver.run(effects).await
    }

    /// Reads everything that the turn needs and renders its first prompt.
    async fn ready(
        &self,
        lease: &Lease,
        conversation: &Conversation,
        path: Option<String>,
        asked: &Asked,
        now: Timestamp,
    ) -> Result<Ready, AgentError> {
        let inner = &self.inner;
        let mut models = inner.models.for_turn(inner.context.wanted_model(Some(conversation)).await.as_deref()).await?;
        let typed = asked.newest();
        let mode = inner.mode_of(conversation);
        let (window, unanswered) = (window_state_of(Some(conversation)), asked.earlier());
        let occasion = Occasion {
            conversation: Some(conversation),
            profile: &conversation.profile,
            path: path.as_deref(),
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
        let mut built = context::build(&inner.context, occasion).await;
        let may_be_due = match &built {
            Ok(built) => built.smaller.is_some() || is_tight(built),
            Err(_) => is_overflow(&built),
        };
        if may_be_due && inner.compact_late(lease).await {
            built = context::build(&inner.context, occasion).await;
        }
        let mut built = built?;
        models[0] = ModelRegistry::resized(&models[0], &built.card);
        if let Some(request) = &built.wants_note
            && let Some(note) = inner.note_of_rollover(lease, &models, &built.measure, request).await?
        {
            built.with_note(&note);
        }
        if let Some(smaller) = built.smaller.take() {
            inner.shrink(lease, smaller).await?;
        }
        let changes = built.take_note();
        let mut told = built.trims();
        let BuiltContext { mut gathered, card, prompt, size, estimate, tier, notice, .. } = built;
        gathered.notices.extend(notice);
        let fallback = new_fallback_notice(&*inner.store, &gathered.profile, (mode, tier), inner.host.now_ms()).await?;
        gathered.notices.extend(fallback);
        let effort = EffortChoice::of(&inner.config, Some(conversation), &gathered.path);
        let cache =
            cache_life(&*inner.store, &inner.config, (&gathered.path, Some(&conversation.id)), inner.host.now_ms())
                .await?;
        let items = rendered_items(&*inner.store, &prompt).await?;
        told.extend(dropped_skills(&prompt, &gathered.inputs.skills));
        told.append(&mut gathered.standing_notices);
        told.extend(lacking(&card, effort.of_model(&card)));
        told.extend(models[0].left_out(&prompt));
        let news = gathered.session.news(told);
        gathered.notices.extend(news);
        if gathered.inputs.history.is_empty() {
            gathered.notices.extend(unknown_notice(&card));
        }
        let mut began = began(inner, &gathered.inputs, &prompt, card.name());
        (began.effort, began.cache) = (effort, cache);
        began.calls_with_tools = gathered.max_turns.unwrap_or(u32::MAX).min(began.calls_with_tools);
        let sent = as_sent(&prompt, typed);
        let counters = HashMap::from([(card.name(), estimate)]);
        let first = Rendered { model: card.name(), prompt, size };
        Ok(Ready { sent, first, began, items, models, counters, changes, gathered })
    }

    /// Keeps the messages and tells why nobody answers them.
    async fn cannot_begin(
        &mut self,
        lease: &Lease,
        new: NewTurn,
        messages: Vec<NewMessage>,
        error: &AgentError,
    ) -> Result<(), AgentError> {
        let outcome = failed(error);
        self.inner.store.begin_turn(lease, new, vec![TurnWrite::Messages(messages), end_of(&outcome)]).await?;
        self.listeners.finish(&TurnEvent::Done { outcome, answer: None });
        Ok(())
    }
}

/// Whether a compaction can have been due after the newest answer.
fn is_tight(built: &BuiltContext) -> bool {
    let history = &built.gathered.history;
    is_complete(history) && Headroom::new(&built.size, &built.gathered.profile, history, 0).is_tight
}

/// What is told once a turn has begun.
fn news(id: &TurnId, ready: &Ready, hint: Option<String>) -> News {
    let started = TurnEvent::Started {
        turn: Some(id.clone()),
        model: ready.began.model.clone(),
        profile: ready.began.profile.clone(),
        path: ready.began.path.clone(),
    };
    let notices = hint.into_iter().chain(ready.gathered.notices.iter().cloned()).map(TurnEvent::Notice);
    News {
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

/// Where the machine starts from.
pub(crate) fn start_of(began: &Began, past: &History) -> TurnStart {
    TurnStart {
        tools: began.tools(),
        taken: past.calls.clone(),
        limits: began.limits(),
        decision: began.decision().map(str::to_owned),
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
