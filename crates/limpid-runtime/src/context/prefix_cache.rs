//! What a conversation keeps from one turn to the next, so that nothing before its history changes.
//!
//! Files and settings may change the beginning of a prompt: that is a border, and everything is rendered anew. Memories
//! that are pinned between two borders would change it too; they stand in the tail of the next message instead and move
//! up at the border. A memory that is no longer pinned is a border: the owner wants it gone. A goal that changes is told
//! in the tail likewise.

use limpid_prompt::inputs::{GoalInput, MemoryEntry, StoredInput, TrustName};
pub(crate) use limpid_prompt::prompt::hash_of as key_of;
use limpid_store::{Conversation, ConversationChange};
use serde::{Deserialize, Serialize};

use crate::context::tool_selection::ToolSelection;
use crate::context::window_state::WindowState;

/// What a conversation keeps; the store holds it as JSON text. It is a cache: one that cannot be read costs a new prefix.
/// What must not get lost (who reads the conversation, the window that the person chose) is the conversation's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PrefixCache {
    /// The hash of everything whose change is a border.
    key: String,
    /// The memories that the beginning of the prompt shows.
    pinned: Vec<MemoryEntry>,
    /// Memories that the tail of an earlier message has shown since.
    told: Vec<MemoryEntry>,
    /// What the person was told that budgets cut; the same is not told again.
    #[serde(default)]
    cuts: Vec<String>,
    /// Which tools travel.
    #[serde(default)]
    pub(crate) tools: ToolSelection,
    /// Tier, window and system prompt; it outlives borders.
    #[serde(default)]
    pub(crate) frame: WindowState,
    /// The goal that the beginning of the prompt shows; none before it was rendered.
    #[serde(default)]
    stored: Option<StoredInput>,
    /// The goal as the beginning, or the tail of an earlier message, has shown it last.
    #[serde(default)]
    told_goal: Option<GoalInput>,
    /// Whether the person has spoken of goals, so that their tools are offered from there on.
    #[serde(default)]
    pub(crate) goals_asked_for: bool,
}

/// Pinned memories by the place where a turn's prompt shows them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pins {
    /// In the beginning.
    pub(crate) pinned: Vec<MemoryEntry>,
    /// In the tail of the newest message.
    pub(crate) changed: Vec<MemoryEntry>,
    /// Whether everything before the history is rendered anew.
    pub(crate) border: bool,
    /// What the conversation keeps when the turn has begun.
    pub(crate) session: PrefixCache,
}

impl PrefixCache {
    /// What a conversation has kept; none before its first turn. A text that cannot be read is a border.
    pub(crate) fn kept(conversation: &Conversation) -> Option<Self> {
        Self::read(conversation.session.as_deref(), conversation.window_tokens)
    }

    /// What a conversation has kept, if anything.
    pub(crate) fn of(conversation: &Conversation) -> Self {
        Self::kept(conversation).unwrap_or_else(|| {
            let frame = WindowState::of_window(conversation.window_tokens);
            Self { frame, ..Self::default() }
        })
    }

    fn read(stored: Option<&str>, window_tokens: Option<u32>) -> Option<Self> {
        let mut session: Self = serde_json::from_str(stored?).unwrap_or_default();
        session.frame.chosen = window_tokens;
        Some(session)
    }

    /// Takes what budgets cut in this turn, and returns what of it is news.
    pub(crate) fn news(&mut self, cuts: Vec<String>) -> Vec<String> {
        let news = cuts.iter().filter(|cut| !self.cuts.contains(cut)).cloned().collect();
        self.cuts = cuts;
        news
    }

    /// Says where the goal goes, as [`place`] does for pins: whether the tail of the newest message shows it, and what
    /// the beginning shows. At a border it moves up.
    pub(crate) fn place_goal(&mut self, goal: Option<&GoalInput>) -> (bool, StoredInput) {
        let Some(stored) = self.stored.clone() else {
            let stored = StoredInput { goal: goal.cloned() };
            (self.stored, self.told_goal) = (Some(stored.clone()), goal.cloned());
            return (false, stored);
        };
        let news = goal.map(as_told) != self.told_goal.as_ref().map(as_told);
        if news {
            self.told_goal = goal.cloned();
        }
        (news, stored)
    }

    /// What a profile keeps that renders its beginning each turn.
    pub(crate) fn without_beginning(self) -> Self {
        Self { cuts: self.cuts, goals_asked_for: self.goals_asked_for, ..Self::default() }
    }

    /// The same with a border at the next turn.
    pub(crate) fn at_border(self) -> Self {
        Self { key: String::new(), ..self }
    }

    /// What a conversation keeps once these tools were found.
    pub(crate) fn with_found_tools(conversation: &Conversation, found: Vec<String>) -> ConversationChange {
        let mut kept = Self::of(conversation);
        kept.tools.found = found;
        ConversationChange::Session(Some(kept.to_text()))
    }

    /// The text for the store.
    pub(crate) fn to_text(&self) -> String {
        // Plain data with text keys always serialises.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Says where the memories that are pinned go.
pub(crate) fn place(kept: Option<PrefixCache>, key: String, current: Vec<MemoryEntry>) -> Pins {
    let is_there = |pin: &MemoryEntry| current.iter().any(|memory| memory.key == pin.key);
    let kept = kept.filter(|kept| kept.key == key && kept.pinned.iter().chain(&kept.told).all(is_there));
    let Some(mut session) = kept else {
        return Pins {
            pinned: current.clone(),
            changed: Vec::new(),
            border: true,
            session: PrefixCache { key, pinned: current, ..PrefixCache::default() },
        };
    };
    let is_new = |memory: &MemoryEntry| {
        let latest = session.told.iter().rev().chain(&session.pinned).find(|known| known.key == memory.key);
        latest.is_none_or(|known| known.content != memory.content)
    };
    let changed: Vec<MemoryEntry> = current.into_iter().filter(is_new).collect();
    session.told.extend(changed.iter().cloned());
    Pins { pinned: session.pinned.clone(), changed, border: false, session }
}

/// What the tail of a message tells of a goal: without its files, reasons and times.
fn as_told(goal: &GoalInput) -> GoalInput {
    let mut told = GoalInput {
        artifacts: Vec::new(),
        created_at: String::new(),
        completed_at: None,
        trust: TrustName::Owner,
        ..goal.clone()
    };
    told.checkpoints.iter_mut().for_each(|step| step.completed_at = None);
    told.decisions.iter_mut().for_each(|decision| decision.rationale.clear());
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pin(key: &str, content: &str) -> MemoryEntry {
        MemoryEntry { key: key.to_owned(), content: content.to_owned(), ..MemoryEntry::default() }
    }

    fn shown(pins: &Pins) -> (Vec<&str>, Vec<&str>) {
        let texts = |pins: &'_ [MemoryEntry]| pins.iter().map(|pin| pin.content.clone()).collect::<Vec<_>>();
        let leak = |texts: Vec<String>| texts.into_iter().map(|text| &*text.leak()).collect();
        (leak(texts(&pins.pinned)), leak(texts(&pins.changed)))
    }

    // PRO-040 PRO-041
    #[test]
    fn a_new_pin_is_told_once_in_the_tail_and_moves_up_at_the_border() {
        let (a, b, b2) = (pin("a", "1"), pin("b", "2"), pin("b", "3"));
        let first = place(None, "k".into(), vec![a.clone()]);
        assert_eq!(shown(&first), (vec!["1"], vec![]));
        let read = |pins: &Pins| PrefixCache::read(Some(&pins.session.to_text()), None);
        let second = place(read(&first), "k".into(), vec![a.clone(), b.clone()]);
        assert_eq!(shown(&second), (vec!["1"], vec!["2"]));
        let third = place(read(&second), "k".into(), vec![a.clone(), b]);
        assert_eq!(shown(&third), (vec!["1"], vec![]));
        let fourth = place(read(&third), "k".into(), vec![a.clone(), b2.clone()]);
        assert_eq!(shown(&fourth), (vec!["1"], vec!["3"]));
        let border = place(read(&fourth), "other".into(), vec![a, b2]);
        assert_eq!(shown(&border), (vec!["1", "3"], vec![]));
    }

    // PRO-023
    #[test]
    fn what_is_cut_is_told_once_a_change() {
        let mut session = PrefixCache::default();
        let mut news = |cuts: &[&str]| session.news(cuts.iter().map(|cut| (*cut).to_owned()).collect());
        assert_eq!(news(&["a"]), ["a"]);
        assert_eq!(news(&["a"]), [""; 0]);
        assert_eq!(news(&["a", "b"]), ["b"]);
        assert_eq!(news(&[]), [""; 0]);
        assert_eq!(news(&["a"]), ["a"]);
    }

    // PRO-040 PRO-041
    #[test]
    fn a_changed_goal_is_told_once_in_the_tail_and_moves_up_at_the_border() {
        let goal = |text: &str| GoalInput { description: text.to_owned(), ..GoalInput::default() };
        let shown = |(news, stored): (bool, StoredInput)| (news, stored.goal.map(|goal| goal.description));
        let (a, b) = (goal("a"), goal("b"));
        let mut session = place(None, "k".into(), Vec::new()).session;
        assert_eq!(shown(session.place_goal(None)), (false, None));
        assert_eq!(shown(session.place_goal(Some(&a))), (true, None));
        assert_eq!(shown(session.place_goal(Some(&a))), (false, None));
        let later = GoalInput { created_at: "later".to_owned(), ..a.clone() };
        assert_eq!(shown(session.place_goal(Some(&later))), (false, None), "the tail does not tell times");
        assert_eq!(shown(session.place_goal(Some(&b))), (true, None));
        let mut kept = place(Some(session.clone()), "k".into(), Vec::new()).session;
        assert_eq!(shown(kept.place_goal(Some(&b))), (false, None));
        let mut border = place(Some(session), "other".into(), Vec::new()).session;
        assert_eq!(shown(border.place_goal(Some(&b))), (false, Some("b".to_owned())));
        assert_eq!(shown(border.place_goal(None)), (true, Some("b".to_owned())), "a goal that is gone is told too");
    }

    // PRO-040
    #[test]
    fn a_memory_that_is_gone_is_a_border() {
        let first = place(None, "k".into(), vec![pin("a", "1"), pin("b", "2")]);
        let second = place(Some(first.session), "k".into(), vec![pin("b", "2"), pin("c", "3")]);
        assert_eq!(shown(&second), (vec!["2", "3"], vec![]));
    }
}
