//! Standing items: what the owner wants looked at again and again, and when each of it is due.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use limpid_core::heartbeat::Recheck;
use limpid_core::heartbeat::news::tasks;
use limpid_prompt::Prompt;
use limpid_prompt::inputs::{Inputs, TaskEntry, Trigger};
use limpid_prompt::prompt::hash_of as key_of;
use limpid_store::Store;

use crate::error::AgentError;
use crate::host::Host;

/// An addition, a line of the checklist, or the owner's own opening.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandingItem {
    /// Stands for its text, so that a changed item is a new one.
    pub mark: String,
    /// What a prompt that shows it says.
    text: String,
    /// The rhythm that it names itself.
    own: Option<Recheck>,
}

impl StandingItem {
    /// A line of the checklist.
    pub fn line(line: &str) -> Self {
        Self::new("checklist", line, Recheck::of_item(line))
    }

    /// A standing addition.
    pub fn addition(task: &TaskEntry) -> Self {
        let own = Recheck::of_item(&task.prompt).or_else(|| Recheck::of_item(&task.description));
        let item = Self::new("addition", &task.prompt, own);
        Self { mark: key_of([task.id.as_bytes(), item.mark.as_bytes()]), ..item }
    }

    /// The owner's own opening.
    pub fn opening(text: &str) -> Self {
        Self::new("opening", text, Recheck::of_item(text))
    }

    fn new(kind: &str, text: &str, own: Option<Recheck>) -> Self {
        Self { mark: key_of([kind.as_bytes(), text.as_bytes()]), text: text.to_owned(), own }
    }

    /// The owner's words.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How often it is asked.
    pub fn recheck(&self, usual: Recheck) -> Recheck {
        self.own.unwrap_or(usual)
    }

    /// Whether a prompt shows it: what a profile leaves out is no reason to ask a model.
    pub fn is_shown_by(&self, prompt: &Prompt) -> bool {
        prompt.messages().iter().any(|message| self.is_in(message.text()))
    }

    /// Whether a text says it, word for word.
    pub fn is_in(&self, text: &str) -> bool {
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
pub fn standing_items(inputs: &Inputs) -> Vec<StandingItem> {
    let opening = inputs.heartbeat.prompt.iter();
    let opening = opening.map(|text| StandingItem::opening(text));
    let lines = tasks(&inputs.heartbeat.checklist).into_iter().map(|line| StandingItem::line(&line));
    opening.chain(lines).chain(additions(inputs).map(StandingItem::addition)).collect()
}

/// Says which items are due at a moment.
pub struct DueItems {
    asked: HashMap<String, i64>,
    alone: HashSet<String>,
    usual: Recheck,
    now_ms: i64,
    day_ms: i64,
}

impl DueItems {
    /// What is due now. `usual` is the rhythm of items that name none.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn now(store: &dyn Store, usual: Recheck, host: &Host) -> Result<Self, AgentError> {
        Self::at(store, usual, host, host.now()).await
    }

    /// What is due at a moment.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn at(store: &dyn Store, usual: Recheck, host: &Host, now: Timestamp) -> Result<Self, AgentError> {
        let now_ms = now.as_millisecond();
        let day = now.to_zoned(host.zone()).start_of_day();
        Ok(Self {
            asked: store.heartbeat_asked().await?,
            alone: store.heartbeat_alone().await?,
            usual,
            now_ms,
            day_ms: day.map_or(now_ms, |day| day.timestamp().as_millisecond()),
        })
    }

    /// Whether an item is due.
    pub fn has(&self, item: &StandingItem) -> bool {
        let asked_ms = self.asked.get(&item.mark).copied();
        item.recheck(self.usual).is_due(asked_ms, self.now_ms, self.day_ms)
    }

    /// Whether an item is asked in a run of its own, since it led to a stranger's text the last time.
    pub fn is_alone(&self, item: &StandingItem) -> bool {
        self.alone.contains(&item.mark)
    }
}

/// Whether anything came in that no run has taken in.
pub fn has_new_items(inputs: &Inputs) -> bool {
    let email = inputs.email.enabled && !inputs.email.new.is_empty();
    let sms = inputs.sms.enabled && !inputs.sms.new.is_empty();
    email || sms || (inputs.notifications.enabled && !inputs.notifications.new.is_empty())
}

/// The standing additions of the inputs.
pub fn additions(inputs: &Inputs) -> impl Iterator<Item = &TaskEntry> {
    inputs.scheduling.tasks.iter().filter(|task| inputs.scheduling.enabled && task.trigger == Trigger::Heartbeat)
}

/// Stands for what is news once: promotion candidates and failing accounts. Unread counts and clocks are not in it.
pub fn standing_mark(inputs: &Inputs) -> String {
    let mut texts: Vec<String> = Vec::new();
    for memory in &inputs.memory.promotions {
        texts.extend([memory.key.clone(), memory.content.clone()]);
    }
    for account in inputs.email.accounts.iter().filter(|_| inputs.email.enabled) {
        if let Some(error) = &account.last_error {
            texts.extend([account.address.clone(), error.hash()]);
        }
    }
    if texts.iter().all(String::is_empty) { String::new() } else { key_of(texts.iter().map(String::as_bytes)) }
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
