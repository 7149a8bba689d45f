//! What the owner is told of a run.

use limpid_core::failure_words;
use limpid_core::heartbeat::{Pause, Why};
use limpid_prompt::inputs::Inputs;
use limpid_services::heartbeat::{HeartbeatPart, standing_items};

/// Where a message is that no run could look at.
const IN_INBOX: &str = "`limpid inbox list --all` has what came in.";

/// What the owner is told of a run.
pub(super) struct Notices<'a> {
    /// What it reports.
    pub(super) report: Option<&'a str>,
    /// What it gives up on, and the key of what is told of it.
    pub(super) unread: Option<(String, Unread)>,
    /// Whether the heartbeat pauses.
    pub(super) pauses: bool,
    /// Messages that were too many to wait for it.
    pub(super) dropped: usize,
    /// What it failed of.
    pub(super) detail: &'a str,
}

/// What a run gives up on.
pub(super) enum Unread {
    /// So many messages.
    Messages(usize),
    /// What the owner wants looked at.
    Item(String),
}

impl Unread {
    /// What a run that saw a part gives up on.
    pub(super) fn of(part: &HeartbeatPart, inputs: Option<&Inputs>, messages: usize) -> Self {
        let inputs = inputs.filter(|_| matches!(part, HeartbeatPart::Alone(_)));
        let item = inputs.and_then(|inputs| standing_items(inputs).pop());
        item.map_or(Self::Messages(messages), |item| Self::Item(item.text().to_owned()))
    }
}

impl Notices<'_> {
    /// What is told besides the report of a run of this key, each under a key of its own.
    pub(super) fn texts(&self, key: &str) -> impl Iterator<Item = (String, String)> {
        let detail = failure_words(self.detail);
        let pause = self.pauses.then(|| format!("The heartbeat pauses: {} ({detail}).", Why::Paused(Pause::Provider)));
        let unread = self.unread.as_ref().map(|(key, unread)| {
            let text = match unread {
                Unread::Item(item) => format!("The heartbeat could not look at \"{item}\": {detail}."),
                Unread::Messages(0) => {
                    format!("The heartbeat fails again and again, and has told you nothing: {detail}.")
                }
                Unread::Messages(count) => not_looked_at(*count, detail),
            };
            (format!("{key}:unread"), text)
        });
        let dropped = (self.dropped > 0).then(|| not_looked_at(self.dropped, "too many came at once"));
        let named = [("pause", pause), ("dropped", dropped)];
        let named = named.into_iter().filter_map(|(name, text)| Some((format!("{key}:{name}"), text?)));
        named.chain(unread).collect::<Vec<_>>().into_iter()
    }
}

fn not_looked_at(count: usize, why: &str) -> String {
    let messages = if count == 1 { "message" } else { "messages" };
    format!("The heartbeat could not look at {count} new {messages}: {why}. {IN_INBOX}")
}
