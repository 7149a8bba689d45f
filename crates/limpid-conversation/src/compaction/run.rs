//! A compaction: after a complete answer, all or nothing.

use std::sync::Arc;

use limpid_context::PrefixCache;
use limpid_core::{ConversationId, Entry, WindowView};
use limpid_services::error::AgentError;
use limpid_services::events::EventKind;
use limpid_store::{ConversationChange, Lease, NewWindowEvent, WindowEvent};
use limpid_turn::window::{Fill, Made, Task};
use tokio_util::sync::CancellationToken;

use crate::compaction::scene::{Scene, is_complete, scene, was_tried};
use crate::compaction::snapshot::save_automatic;
use crate::compaction::summary::Summarizer;
use crate::deps::ConversationDeps;

/// Percent of what is available that a conversation has at most after a compaction.
const AFTERWARDS: usize = 60;

/// Percent of what is available that a conversation grows after a compaction that freed nothing before another is tried.
const GROWTH: u64 = 10;

/// The same for a trigger that counts messages, in percent of those.
const MORE_MESSAGES: usize = 50;

/// What a compaction that is due would work on. Warns when it soon will be. From here on this process looks after the
/// conversation's window.
pub(super) async fn due(deps: &ConversationDeps, lease: &Lease) -> Result<Option<Scene>, AgentError> {
    if !deps.config().window.is_on() {
        return Ok(None);
    }
    deps.windows.look_after(&lease.conversation);
    let conversation = deps.directory.existing(&lease.conversation).await?;
    let scene = scene(deps, conversation).await?;
    if !is_complete(&scene.history) || was_tried(deps, lease, &scene.history).await? {
        return Ok(None);
    }
    if is_due(&scene) {
        return Ok(if is_hopeless(deps, &scene).await? { None } else { Some(scene) });
    }
    if scene.size.fill(&scene.measure.settings) >= Fill::Warn && deps.windows.warn_once(&lease.conversation) {
        let change = EventKind::ContextWarning {
            used: scene.size.conversation(),
            available: scene.size.available(),
            advice: format!("older messages become a digest at {} %", scene.measure.settings.start),
        };
        deps.events.send(Some(&lease.conversation), change);
    }
    Ok(None)
}

/// Compacts a conversation at any fill, and writes down how that ended. Forced, all but the newest turn
/// leaves the window.
pub(super) async fn compact(
    deps: &Arc<ConversationDeps>,
    lease: &Lease,
    scene: Scene,
    is_forced: bool,
    cancel: &CancellationToken,
) -> Result<WindowEvent, AgentError> {
    let before = scene.size.conversation();
    deps.events.send(Some(&lease.conversation), EventKind::CompactionStarted { before });
    let done = compact_now(deps, lease, scene, is_forced, cancel).await;
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
    deps.events.send(Some(&lease.conversation), change);
    done.map(|(written, _)| written)
}

/// Compacts, and says whether it failed for the reason that the person was last told.
async fn compact_now(
    deps: &Arc<ConversationDeps>,
    lease: &Lease,
    scene: Scene,
    is_forced: bool,
    cancel: &CancellationToken,
) -> Result<(WindowEvent, bool), AgentError> {
    let newest = scene.history.entries.last().map(|entry| entry.id);
    let before = scene.size.conversation();
    let moment = (newest, scene.history.view.clone());
    save_automatic(deps, &scene.conversation, &scene.history, moment, "before a compaction").await?;
    let summarizer = Summarizer::new(deps, &lease.conversation, (&scene.models, &scene.measure), cancel);
    let made = match summarizer.compact(&scene.history, is_forced).await? {
        _ if cancel.is_cancelled() => Err("it was stopped".to_owned()),
        Some(made) => within_bounds(&scene, made),
        None => Err("nothing is left that could leave the window".to_owned()),
    };
    let event = NewWindowEvent {
        kind: "compaction".to_owned(),
        newest,
        before: before as u64,
        after: before as u64,
        ..NewWindowEvent::default()
    };
    let event = match made {
        Ok((made, after)) => NewWindowEvent { after: after as u64, steps: made.steps, view: Some(made.view), ..event },
        Err(reason) => NewWindowEvent { failure: Some(reason), ..event },
    };
    // A person who was told why it fails is told again only when they ask, or when the reason is another one.
    let last = deps.store().window_events(&lease.conversation, 1).await?.rows.into_iter().next();
    let again = !is_forced && event.failure.is_some() && last.is_some_and(|last| last.new.failure == event.failure);
    let written = deps.store().write_window(lease, event, deps.host().now_ms()).await?;
    deps.windows.is_smaller(&lease.conversation);
    if written.new.failure.is_none() {
        renew_sizes(deps, &lease.conversation, "compaction").await?;
    }
    Ok((written, again))
}

/// Whether the newest attempt freed nothing and little was said since: it would free nothing again, and the person
/// knows. A trigger waits in its own unit: that of messages for messages, that of tokens for tokens.
async fn is_hopeless(deps: &ConversationDeps, scene: &Scene) -> Result<bool, AgentError> {
    let last = deps.store().window_events(&scene.conversation.id, 1).await?.rows.into_iter().next();
    let Some(last) = last.filter(|last| last.new.failure.is_some()) else { return Ok(false) };
    let growth = scene.size.available() as u64 * GROWTH / 100;
    let has_grown = scene.size.conversation() as u64 >= last.new.before + growth;
    let settings = &scene.measure.settings;
    let since = scene.history.entries.iter().filter(|entry| Some(entry.id) > last.new.newest).count();
    let more = settings.messages.map(|most| (most * MORE_MESSAGES / 100).max(1));
    let is_longer = settings.is_long(shown(scene)) && more.is_some_and(|more| since >= more);
    Ok(!has_grown && !is_longer)
}

/// Recounts what was made. What is still too large is made once more with smaller shares; what frees nothing is a
/// failure.
fn within_bounds(scene: &Scene, made: Made) -> Result<(Made, usize), String> {
    let sizes = &scene.measure;
    let count = |text: &str| sizes.count(text);
    let entries = &scene.history.entries;
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
        let task = sizes.task(&scene.history, &[]).map_err(|error| error.to_string())?;
        made.view = tighter(&made, &task, share * 3 / 4, &count);
    }
    Err("the conversation is as short as it can be".to_owned())
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
    scene.size.is_due(&scene.measure.settings, shown(scene))
}

/// Messages that are shown.
fn shown(scene: &Scene) -> usize {
    scene.history.entries.iter().filter(|entry| scene.history.view.shows(entry.id)).count()
}

/// Lets a conversation take tier and window anew at its next turn: the last turn of a stretch is over.
async fn renew_sizes(deps: &ConversationDeps, id: &ConversationId, reason: &str) -> Result<(), AgentError> {
    let conversation = deps.directory.existing(id).await?;
    let mut session = PrefixCache::of(&conversation);
    session.window_state.renew(reason);
    let kept = vec![ConversationChange::Session(Some(session.to_text()))];
    deps.store().change_conversation(id, kept, deps.host().now_ms()).await?;
    Ok(())
}
