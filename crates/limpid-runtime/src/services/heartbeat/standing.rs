//! Standing items: what the owner wants looked at again and again, and when each of it is due.

use std::collections::HashMap;

use jiff::Timestamp;
use limpid_core::heartbeat::Recheck;
use limpid_core::heartbeat::news::tasks;
use limpid_prompt::Prompt;
use limpid_prompt::inputs::{Inputs, TaskEntry};

use crate::context::ContextDeps;
use crate::context::prefix_cache::key_of;
use crate::jobs::heartbeat::pending_work::additions;
use crate::services::error::AgentError;

/// An addition, a line of the checklist, or the owner's own opening.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StandingItem {
    /// Stands for its text, so that a changed item is a new one.
    pub(crate) mark: String,
    /// What a prompt that shows it says.
    text: String,
    /// The rhythm that it names itself.
    own: Option<Recheck>,
}

impl StandingItem {
    /// A line of the checklist.
    pub(crate) fn line(line: &str) -> Self {
        Self::new("checklist", line, Recheck::of_item(line))
    }

    /// A standing addition.
    pub(crate) fn addition(task: &TaskEntry) -> Self {
        let own = Recheck::of_item(&task.prompt).or_else(|| Recheck::of_item(&task.description));
        let item = Self::new("addition", &task.prompt, own);
        Self { mark: key_of([task.id.as_bytes(), item.mark.as_bytes()]), ..item }
    }

    fn new(kind: &str, text: &str, own: Option<Recheck>) -> Self {
        Self { mark: key_of([kind.as_bytes(), text.as_bytes()]), text: text.to_owned(), own }
    }

    /// How often it is asked.
    pub(crate) fn recheck(&self, usual: Recheck) -> Recheck {
        self.own.unwrap_or(usual)
    }

    /// Whether a prompt shows it: what a profile leaves out is no reason to ask a model.
    pub(crate) fn is_shown_by(&self, prompt: &Prompt) -> bool {
        prompt.messages().iter().any(|message| self.is_in(message.text()))
    }

    /// Whether a text says it, word for word.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (own, text) = (words(&self.text), words(text));
        let is_whole = |at: usize| {
            let before = text[..at].chars().next_back();
            let after = text[at + own.len()..].chars().next();
            !before.into_iter().chain(after).any(char::is_alphanumeric)
        };
        !own.is_empty() && text.match_indices(&own).any(|(at, _)| is_whole(at))
    }
}

/// The standing items of inputs.
pub(crate) fn standing_items(inputs: &Inputs) -> Vec<StandingItem> {
    let opening = inputs.heartbeat.prompt.iter();
    let opening = opening.map(|text| StandingItem::new("opening", text, Recheck::of_item(text)));
    let lines = tasks(&inputs.heartbeat.checklist).into_iter().map(|line| StandingItem::line(&line));
    opening.chain(lines).chain(additions(inputs).map(StandingItem::addition)).collect()
}

/// Says which items are due at a moment.
pub(crate) struct DueItems {
    asked: HashMap<String, i64>,
    usual: Recheck,
    now_ms: i64,
    day_ms: i64,
}

impl DueItems {
    /// Whether an item is due.
    pub(crate) fn has(&self, item: &StandingItem) -> bool {
        let asked_ms = self.asked.get(&item.mark).copied();
        item.recheck(self.usual).is_due(asked_ms, self.now_ms, self.day_ms)
    }
}

/// What tells which standing items are due now.
pub(crate) async fn due_items(deps: &ContextDeps, now: Timestamp) -> Result<DueItems, AgentError> {
    let now_ms = now.as_millisecond();
    let day = now.to_zoned(deps.host.zone()).start_of_day();
    Ok(DueItems {
        asked: deps.store.heartbeat_asked().await?,
        usual: deps.config.heartbeat.recheck,
        now_ms,
        day_ms: day.map_or(now_ms, |day| day.timestamp().as_millisecond()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // MEA-03
    #[test]
    fn an_item_is_in_a_text_word_for_word_only() {
        let item = |text: &str| StandingItem::line(text);
        assert!(item("Disk full?").is_in("Look at:\n- Disk\n  full? (daily)"));
        assert!(!item("disk").is_in("Look at the disks"));
        assert!(item("disk").is_in("the disks: disk, fan"));
        assert!(!item(" ").is_in("anything"));
    }
}
