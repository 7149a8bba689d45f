//! How a turn begins: with the messages that wait.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use jiff::Timestamp;
use limpid_config::hex;
use limpid_core::{ConversationId, Message, Trust, TurnId};
use limpid_prompt::count::WindowEstimate;
use limpid_store::{
    Conversation, ConversationChange, ConversationKind, Inbound, ItemId, Kept, Lease, NewMessage, NewTurn, TurnWrite,
};
use limpid_turn::{Turn, TurnStart};
use tokio::sync::OnceCell;

use crate::agent::Inner;
use crate::ask::{First, Recipe, as_sent};
use crate::asked::{Asked, is_overflow};
use crate::bus::Change;
use crate::context::sources::inbox::rendered_items;
use crate::context::sources::skills::dropped_skills;
use crate::context::{Gathered, Occasion, gather};
use crate::drive::{Driver, Overflow, began, end_of};
use crate::effort::{EffortChoice, lacking};
use crate::error::AgentError;
use crate::event::AgentEvent;
use crate::frame::{Fitted, Made};
use crate::journal::{Began, Entry};
use crate::models::{Models, Shelf};
use crate::notices::{cut_notice, unknown_notice};
use crate::opening::{News, Opening};
use crate::session::Session;
use crate::sizing::{effective, frame_of};
use crate::tools::{FindTools, TurnTools};
use crate::window::past::Past;
use crate::window::room::Room;
use crate::worker::{Worker, failed};

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
    first: First,
    /// The message as it is sent.
    sent: Message,
    /// The items of the inbox that its prompt shows.
    items: Vec<ItemId>,
    /// What is different from the turn before; it is told once the turn is kept.
    changes: Vec<Change>,
}

impl Worker {
    /// Answers the messages that wait: the newest is this turn's, earlier ones stand before it.
    ///
    /// Those that leave no room for each other even when they are shortened are answered one after the other.
    pub(crate) async fn turn(&mut self, lease: &Lease, waiting: Vec<Inbound>) -> Result<(), AgentError> {
        let inner = Arc::clone(&self.inner);
        let now = inner.clock.now();
        let mut conversation = inner.existing(&self.conversation).await?;
        let hint = match waiting.last() {
            // No person speaks in a run, so nothing in it asks for another mode.
            Some(newest) if conversation.kind != ConversationKind::Run => inner.lean(&conversation, newest).await?,
            _ => None,
        };
        if hint.is_some() {
            conversation = inner.existing(&self.conversation).await?;
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

        let id = TurnId::new(format!("t{}", hex(&*inner.ids)));
        let name = ready.as_ref().map(|ready| ready.gathered.path.clone());
        let path = name.unwrap_or_else(|_| path.unwrap_or_else(|| "chat-remote".to_owned()));
        let new = NewTurn { id: id.clone(), path, inbound: ids, now_ms: now.as_millisecond() };

        let ready = match ready {
            Ok(ready) => ready,
            Err(error) => return self.cannot_begin(lease, new, asked.as_accepted(), &error).await,
        };
        let shown = ready.gathered.past.unanswered.iter().map(|entry| &entry.message).chain([&ready.sent]);
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
        let start = start_of(&ready.began, &ready.gathered.past);
        let (machine, effects) = Turn::start(start);
        let Ready { gathered, models, counters, first, .. } = ready;
        self.room = Some(Room::new(&first.ledger, &gathered.profile, &gathered.past, 0));
        let found = gathered.session.tools.found.clone();
        let finder = FindTools::of_turn(&inner.store, &gathered.profile, &gathered.path, &gathered.inputs, found);
        let tools =
            TurnTools::new(inner.tools_and_store(), gathered.judge, Arc::clone(&inner.ids), finder, std::iter::empty());
        let tools = Arc::new(tools);
        let driver = Driver {
            worker: self,
            lease,
            id,
            machine,
            profile: gathered.profile,
            path: gathered.path,
            models,
            inputs: gathered.inputs,
            past: gathered.past,
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
        let mut models = inner.shelf.for_turn(inner.wanted_model(Some(conversation)).await.as_deref()).await?;
        let mut frame = frame_of(Some(conversation));
        let Fitted { card, mut changes, notice } = frame.fit(models[0].info(), now.as_millisecond());
        models[0] = Shelf::sized(&models[0], &card);
        let typed = asked.newest();
        let mode = inner.mode_of(conversation);
        let occasion = Occasion {
            conversation: Some(conversation),
            profile: &conversation.profile,
            path: path.as_deref(),
            mode,
            card: &card,
            frame: &frame,
            text: &typed.text,
            trust: typed.trust,
            now,
        };
        let mut gathered = gather(&inner.context, occasion).await?;
        if inner.compact_late(lease, conversation, &gathered.past).await {
            gathered = gather(&inner.context, occasion).await?;
        }
        gathered.past.unanswered = asked.earlier();
        if let Some(tag) = &typed.boundary {
            // The message is stored with the tag that it is sent with, so that it is shown the same from then on.
            gathered.inputs.boundary.clone_from(tag);
        }
        let counter = inner.counter(&card).await?;
        let ledger = inner.make_room(lease, &mut gathered, &models, counter).await?;
        let tier = effective(&gathered.profile, &gathered.path, &gathered.inputs);
        gathered.notices.extend(notice);
        gathered.notices.extend(inner.stand_in(&gathered.profile, mode, tier).await?);
        let effort = EffortChoice::of(&inner.config, Some(conversation), &gathered.path);
        let cache = inner.cache_life(&gathered.path, Some(&conversation.id)).await?;
        let recipe = Recipe { cache, ..Recipe::new(inner, &gathered, &card, effort).await? };
        let prompt = recipe.render(&card)?;
        let items = rendered_items(&*inner.store, &prompt).await?;
        let trims: Vec<String> = prompt.cuts().map(cut_notice).collect();
        let made = Made { prompt: &prompt, mode, tier, trims: trims.clone(), counter: &recipe.counter(&card) };
        changes.extend(gathered.session.frame.made(&made));
        let mut told = trims;
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
        let first = First { model: card.name(), prompt: Arc::new(prompt), ledger };
        Ok(Ready { sent, first, began, items, models, counters: recipe.counters, changes, gathered })
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
        self.listeners.finish(&AgentEvent::Done { outcome, answer: None });
        Ok(())
    }
}

impl Inner {
    /// A conversation that is known to exist.
    pub(crate) async fn existing(&self, id: &ConversationId) -> Result<Conversation, AgentError> {
        let missing = || AgentError::Invalid(format!("the conversation {id} is gone"));
        self.store.conversation(id).await?.ok_or_else(missing)
    }
}

/// What is told once a turn has begun.
fn news(id: &TurnId, ready: &Ready, hint: Option<String>) -> News {
    let started = AgentEvent::Started {
        turn: Some(id.clone()),
        model: ready.began.model.clone(),
        profile: ready.began.profile.clone(),
        path: ready.began.path.clone(),
    };
    let notices = hint.into_iter().chain(ready.gathered.notices.iter().cloned()).map(AgentEvent::Notice);
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
    if *session != Session::of(conversation) {
        changes.push(ConversationChange::Session(Some(session.to_text())));
    }
    if conversation.title.is_empty() {
        changes.push(ConversationChange::Title(title(&typed.text)));
    }
    (!changes.is_empty()).then_some(TurnWrite::Conversation(changes))
}

/// Where the machine starts from.
pub(crate) fn start_of(began: &Began, past: &Past) -> TurnStart {
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
