//! A compaction: after a complete answer, all or nothing.

use limpid_core::{Entry, MessageId, Role, Tier, Trust, WindowView};
use limpid_store::{Conversation, Lease, NewSnapshot, NewWindowEvent, WindowEvent};
use limpid_turn::window::{ContextSize, Fill, Made, Task};

use crate::agent::Inner;
use crate::context::History;
use crate::context::Measure;
use crate::context::window_state_of;
use crate::context::{self, BuiltContext, Occasion};
use crate::services::error::AgentError;
use crate::services::events::EventKind;
use crate::services::models::{ModelRegistry, Models};

/// Percent of what is available that a conversation has at most after a compaction.
const AFTERWARDS: usize = 60;

/// Percent of what is available that a conversation grows after a compaction that freed nothing before another is tried.
const GROWTH: u64 = 10;

/// The same for a trigger that counts messages, in percent of those.
const MORE_MESSAGES: usize = 50;

/// A conversation between two turns: what the next request would be made from.
pub(crate) struct Scene {
    pub(crate) conversation: Conversation,
    /// Who answers it, and who does in their place.
    pub(crate) models: Models,
    pub(crate) sizes: Measure,
    pub(crate) past: History,
    pub(crate) size: ContextSize,
}

impl Inner {
    /// Reads what the next request of a conversation would be made from, without a new message.
    pub(crate) async fn scene(&self, conversation: Conversation) -> Result<Scene, AgentError> {
        let mut models = self.models.for_turn(self.context.wanted_model(Some(&conversation)).await.as_deref()).await?;
        let occasion = Occasion {
            conversation: Some(&conversation),
            profile: &conversation.profile,
            path: None,
            mode: self.mode_of(&conversation),
            card: models[0].info(),
            window: &window_state_of(Some(&conversation)),
            text: "",
            trust: Trust::Owner,
            boundary: None,
            unanswered: &[],
            now: self.host.now(),
            fit: context::Fit::AsIs,
        };
        let BuiltContext { gathered, card, measure, size, .. } = context::build(&self.context, occasion).await?;
        models[0] = ModelRegistry::resized(&models[0], &card);
        Ok(Scene { conversation, models, sizes: measure, past: gathered.history, size })
    }

    /// Compacts a conversation if that is due, and warns when it soon will be. Whatever goes wrong costs nothing: the
    /// conversation is as it was, and the next request is fitted without a model.
    pub(crate) async fn compact_if_due(&self, lease: &Lease) -> Result<(), AgentError> {
        if !self.config.window.is_on() {
            return Ok(());
        }
        self.settle(&lease.conversation);
        let conversation = self.directory.existing(&lease.conversation).await?;
        let scene = self.scene(conversation).await?;
        if !is_complete(&scene.past) || self.was_tried(lease, &scene.past).await? {
            return Ok(());
        }
        if is_due(&scene) {
            if !self.is_hopeless(&scene).await? {
                self.compact(lease, scene, false).await?;
            }
            return Ok(());
        }
        if scene.size.fill(&scene.sizes.settings) >= Fill::Warn && self.warn_once(&lease.conversation) {
            let change = EventKind::ContextWarning {
                used: scene.size.conversation(),
                available: scene.size.available(),
                advice: format!("older messages become a digest at {} %", scene.sizes.settings.start),
            };
            self.bus.send(Some(&lease.conversation), change);
        }
        Ok(())
    }

    /// Does before a turn what a process that ended too early left undone. Says whether the view is another one.
    pub(crate) async fn compact_late(&self, lease: &Lease) -> bool {
        let is_mine = self.config.window.is_on() && !self.is_settled(&lease.conversation);
        is_mine && self.compact_if_due(lease).await.is_ok()
    }

    /// Compacts a conversation at any fill, and writes down how that ended. Forced, all but the newest turn
    /// leaves the window.
    pub(crate) async fn compact(
        &self,
        lease: &Lease,
        scene: Scene,
        is_forced: bool,
    ) -> Result<WindowEvent, AgentError> {
        let before = scene.size.conversation();
        self.bus.send(Some(&lease.conversation), EventKind::CompactionStarted { before });
        let done = self.compact_now(lease, scene, is_forced).await;
        // Whoever was told of the beginning is told of the end, whatever it is.
        let change = match &done {
            Ok((written, again)) => match &written.new.failure {
                None => EventKind::CompactionFinished {
                    before,
                    after: written.new.after as usize,
                    steps: written.new.steps.clone(),
                },
                Some(reason) => EventKind::CompactionFailed { again: *again, reason: reason.clone() },
            },
            Err(error) => EventKind::CompactionFailed { again: false, reason: error.to_string() },
        };
        self.bus.send(Some(&lease.conversation), change);
        done.map(|(written, _)| written)
    }

    /// Compacts, and says whether it failed for the reason that the person was last told.
    async fn compact_now(
        &self,
        lease: &Lease,
        scene: Scene,
        is_forced: bool,
    ) -> Result<(WindowEvent, bool), AgentError> {
        let newest = scene.past.entries.last().map(|entry| entry.id);
        let before = scene.size.conversation();
        self.keep_automatic(lease, newest, scene.past.view.clone(), "before a compaction").await?;
        let made = match self.make(&scene, is_forced).await? {
            Some(made) => self.within_bounds(&scene, made),
            None => Err("nothing is left that could leave the window".to_owned()),
        };
        let event = match made {
            Ok((made, after)) => NewWindowEvent {
                kind: "compaction".to_owned(),
                newest,
                before: before as u64,
                after: after as u64,
                steps: made.steps,
                view: Some(made.view),
                failure: None,
            },
            Err(reason) => NewWindowEvent {
                kind: "compaction".to_owned(),
                newest,
                before: before as u64,
                after: before as u64,
                failure: Some(reason),
                ..NewWindowEvent::default()
            },
        };
        // A person who was told why it fails is told again only when they ask, or when the reason is another one.
        let last = self.store.window_events(&lease.conversation, 1).await?.rows.into_iter().next();
        let again = !is_forced && event.failure.is_some() && last.is_some_and(|last| last.new.failure == event.failure);
        let written = self.store.write_window(lease, event, self.host.now_ms()).await?;
        self.warned().remove(&lease.conversation);
        if written.new.failure.is_none() {
            self.renew_sizes(&lease.conversation, "compaction").await?;
        }
        Ok((written, again))
    }

    /// Keeps the moment before something is shortened.
    pub(crate) async fn keep_automatic(
        &self,
        lease: &Lease,
        newest: Option<MessageId>,
        view: WindowView,
        reason: &str,
    ) -> Result<(), AgentError> {
        let conversation = self.directory.existing(&lease.conversation).await?;
        let new = self.moment(&conversation, reason, newest, view).await?;
        self.store.keep_snapshot(&lease.conversation, new, self.host.now_ms()).await?;
        Ok(())
    }

    /// The present moment of a conversation.
    pub(crate) async fn moment(
        &self,
        conversation: &Conversation,
        reason: &str,
        newest: Option<MessageId>,
        view: WindowView,
    ) -> Result<NewSnapshot, AgentError> {
        let goals = self.store.goal_log(&conversation.id).await?.records.len();
        Ok(NewSnapshot {
            automatic: true,
            reason: reason.to_owned(),
            newest,
            mode: conversation.mode.clone(),
            tier: window_state_of(Some(conversation)).tier().map(Tier::number),
            goals: Some(goals as u64),
            view,
        })
    }

    /// Keeps the present moment.
    pub(crate) async fn keep_turn(&self, lease: &Lease) -> Result<(), AgentError> {
        let conversation = self.directory.existing(&lease.conversation).await?;
        let past = History::read(&*self.store, &conversation, &mut Vec::new()).await?;
        let newest = past.entries.last().map(|entry| entry.id);
        self.keep_automatic(lease, newest, past.view, "every five turns").await
    }

    /// Whether the newest attempt freed nothing and little was said since: it would free nothing again, and the person
    /// knows. A trigger waits in its own unit: that of messages for messages, that of tokens for tokens.
    async fn is_hopeless(&self, scene: &Scene) -> Result<bool, AgentError> {
        let last = self.store.window_events(&scene.conversation.id, 1).await?.rows.into_iter().next();
        let Some(last) = last.filter(|last| last.new.failure.is_some()) else { return Ok(false) };
        let growth = scene.size.available() as u64 * GROWTH / 100;
        let has_grown = scene.size.conversation() as u64 >= last.new.before + growth;
        let settings = &scene.sizes.settings;
        let since = scene.past.entries.iter().filter(|entry| Some(entry.id) > last.new.newest).count();
        let more = settings.messages.map(|most| (most * MORE_MESSAGES / 100).max(1));
        let is_longer = settings.is_long(shown(scene)) && more.is_some_and(|more| since >= more);
        Ok(!has_grown && !is_longer)
    }

    /// Whether a compaction was tried since the newest message: at most one an answer.
    pub(crate) async fn was_tried(&self, lease: &Lease, past: &History) -> Result<bool, AgentError> {
        let newest = past.entries.last().map(|entry| entry.id);
        let last = self.store.window_events(&lease.conversation, 1).await?.rows.into_iter().next();
        Ok(last.is_some_and(|last| last.new.newest == newest))
    }

    /// Recounts what was made. What is still too large is made once more with smaller shares; what frees nothing is a
    /// failure.
    fn within_bounds(&self, scene: &Scene, made: Made) -> Result<(Made, usize), String> {
        let sizes = &scene.sizes;
        let count = |text: &str| sizes.count(text);
        let entries = &scene.past.entries;
        let mut made = made;
        for share in [100, 75, 50, 25] {
            let size = sizes.recount(&made.view, entries, 0);
            let is_small = size.percent() <= AFTERWARDS;
            if is_small || share == 25 {
                let after = size.conversation();
                return if after < scene.size.conversation() {
                    Ok((made, after))
                } else {
                    Err("the conversation is as short as it can be".to_owned())
                };
            }
            let task = sizes.task(&scene.past, &[]).map_err(|error| error.to_string())?;
            made.view = tighter(&made, &task, share * 3 / 4, &count);
        }
        Err("the conversation is as short as it can be".to_owned())
    }
}

/// The same view with smaller shares, without a model.
fn tighter(made: &Made, task: &Task, percent: usize, count: limpid_turn::window::Count<'_>) -> WindowView {
    use limpid_turn::window::room::{fit_digests, shorten_to};
    let mut view = made.view.clone();
    let share = |tokens: usize| tokens * percent / 100;
    fit_digests(&mut view.digests, share(task.budget.digests), count);
    if let Some(pin) = &mut view.pin {
        pin.text = limpid_turn::window::shown::shorten(&pin.text, share(task.budget.pin), count);
    }
    let kept: Vec<Entry> = task.entries.iter().filter(|entry| view.shows(entry.id)).cloned().collect();
    let limits = shorten_to(&view, &kept, share(task.budget.recent), task.budget.result, count);
    view.shortened = limits.or(view.shortened);
    view
}

/// Whether a compaction is due by size or by number of messages.
fn is_due(scene: &Scene) -> bool {
    scene.size.is_due(&scene.sizes.settings, shown(scene))
}

/// Messages that are shown.
fn shown(scene: &Scene) -> usize {
    scene.past.entries.iter().filter(|entry| scene.past.view.shows(entry.id)).count()
}

/// Whether the last thing that was said is a whole answer.
pub(crate) fn is_complete(past: &History) -> bool {
    past.entries.last().is_some_and(|last| last.message.role == Role::Assistant && last.message.calls.is_empty())
}
