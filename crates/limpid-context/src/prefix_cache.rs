//! What a conversation keeps from one turn to the next, so that nothing before its history changes.
//!
//! Files and settings may change the beginning of a prompt: then the prefix is reset, and everything is rendered anew.
//! Memories that are pinned between two resets would change it too; the tail of the next message shows them instead, and
//! they join the prefix at the reset. A memory that is no longer pinned resets it: the owner wants it gone. A goal that
//! changes is shown in the tail likewise. One that a stranger had a part in and that is gone resets the prefix too: the
//! owner cleared it, or put everything of strangers aside.

use limpid_core::Trust;
use limpid_prompt::inputs::{GoalInput, MemoryEntry, StoredInput, TrustName};
use limpid_store::{Conversation, ConversationChange};
use serde::{Deserialize, Serialize};

use crate::folders::Folders;
use crate::tool_selection::ToolSelection;
use crate::window_state::WindowState;

/// What a conversation keeps; the store holds it as JSON text. It is a cache: one that cannot be read costs a new prefix.
/// What must not get lost (who reads the conversation, the window that the person chose) is the conversation's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PrefixCache {
    /// The hash of everything whose change has the prefix rendered anew.
    key: String,
    /// The memories that the beginning of the prompt shows.
    pinned: Vec<MemoryEntry>,
    /// Memories that the tail of an earlier message has shown since.
    #[serde(rename = "told")]
    shown_in_tail: Vec<MemoryEntry>,
    /// What the person was told that budgets cut; the same is not told again.
    #[serde(default)]
    cuts: Vec<String>,
    /// Which tools travel.
    #[serde(default)]
    pub tools: ToolSelection,
    /// Tier, window and system prompt; a reset does not change it.
    #[serde(default)]
    pub window_state: WindowState,
    /// The goal that the beginning of the prompt shows; none before it was rendered.
    #[serde(default)]
    stored: Option<StoredInput>,
    /// The goal as the beginning, or the tail of an earlier message, has shown it last.
    #[serde(default, rename = "told_goal")]
    goal_shown: Option<GoalInput>,
    /// Whether the person has spoken of goals, so that their tools are offered from there on.
    #[serde(default)]
    pub(crate) goals_asked_for: bool,
    /// The folders that its newest prompt spoke of; none of one that an older version wrote.
    #[serde(default)]
    pub folders: Option<Folders>,
}

/// Pinned memories by the place where a turn's prompt shows them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PinnedMemories {
    /// In the beginning.
    pub(crate) pinned: Vec<MemoryEntry>,
    /// In the tail of the newest message.
    pub(crate) changed: Vec<MemoryEntry>,
    /// Whether everything before the history is rendered anew.
    pub(crate) prefix_reset: bool,
    /// What the conversation keeps when the turn has begun.
    pub(crate) session: PrefixCache,
}

impl PrefixCache {
    /// What a conversation has kept; none before its first turn. A text that cannot be read resets the prefix.
    pub(crate) fn kept(conversation: &Conversation) -> Option<Self> {
        Self::read(conversation.session.as_deref(), conversation.window_tokens)
    }

    /// What a conversation has kept, if anything.
    pub fn of(conversation: &Conversation) -> Self {
        Self::kept(conversation).unwrap_or_else(|| {
            let window_state = WindowState::of_window(conversation.window_tokens);
            Self { window_state, ..Self::default() }
        })
    }

    fn read(stored: Option<&str>, window_tokens: Option<u32>) -> Option<Self> {
        let mut session: Self = serde_json::from_str(stored?).unwrap_or_default();
        session.window_state.chosen = window_tokens;
        Some(session)
    }

    /// Takes what budgets cut in this turn, and returns what of it is news.
    pub fn news(&mut self, cuts: Vec<String>) -> Vec<String> {
        let news = cuts.iter().filter(|cut| !self.cuts.contains(cut)).cloned().collect();
        self.cuts = cuts;
        news
    }

    /// Says where the goal is shown, as [`split_pinned`] does for memories: whether in the tail of the newest message, and
    /// what the beginning shows. A reset moves it up.
    pub(crate) fn split_goal(&mut self, goal: Option<&GoalInput>) -> (bool, StoredInput) {
        let Some(stored) = self.stored.clone() else {
            let stored = StoredInput { goal: goal.cloned() };
            (self.stored, self.goal_shown) = (Some(stored.clone()), goal.cloned());
            return (false, stored);
        };
        let news = goal.map(as_in_tail) != self.goal_shown.as_ref().map(as_in_tail);
        if news {
            self.goal_shown = goal.cloned();
        }
        (news, stored)
    }

    /// Whether the beginning still shows a goal that a stranger had a part in and that is not the conversation's any more.
    pub(crate) fn shows_gone_goal_of_strangers(&self, goal: Option<&GoalInput>) -> bool {
        let stored = self.stored.as_ref().and_then(|stored| stored.goal.as_ref());
        let is_gone = |stored: &GoalInput| goal.is_none_or(|goal| goal.id != stored.id);
        stored.is_some_and(|stored| Trust::from(stored.trust).is_foreign() && is_gone(stored))
    }

    /// What a profile keeps that renders its beginning each turn.
    pub(crate) fn without_beginning(self) -> Self {
        Self { cuts: self.cuts, goals_asked_for: self.goals_asked_for, folders: self.folders, ..Self::default() }
    }

    /// The same with a prefix reset at the next turn.
    pub fn with_prefix_reset(self) -> Self {
        Self { key: String::new(), ..self }
    }

    /// What a conversation keeps once these tools were found.
    pub fn with_found_tools(conversation: &Conversation, found: Vec<String>) -> ConversationChange {
        let mut kept = Self::of(conversation);
        kept.tools.found = found;
        ConversationChange::Session(Some(kept.to_text()))
    }

    /// The text for the store.
    pub fn to_text(&self) -> String {
        // Plain data with text keys always serialises.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// What frames the prompts of a conversation.
pub fn window_state_of(conversation: Option<&Conversation>) -> WindowState {
    conversation.map(PrefixCache::of).unwrap_or_default().window_state
}

/// Says where a turn's prompt shows the memories that are pinned.
pub(crate) fn split_pinned(kept: Option<PrefixCache>, key: String, current: Vec<MemoryEntry>) -> PinnedMemories {
    let is_there = |pin: &MemoryEntry| current.iter().any(|memory| memory.key == pin.key);
    let kept = kept.filter(|kept| kept.key == key && kept.pinned.iter().chain(&kept.shown_in_tail).all(is_there));
    let Some(mut session) = kept else {
        return PinnedMemories {
            pinned: current.clone(),
            changed: Vec::new(),
            prefix_reset: true,
            session: PrefixCache { key, pinned: current, ..PrefixCache::default() },
        };
    };
    let is_new = |memory: &MemoryEntry| {
        let latest = session.shown_in_tail.iter().rev().chain(&session.pinned).find(|known| known.key == memory.key);
        latest.is_none_or(|known| known.content != memory.content)
    };
    let changed: Vec<MemoryEntry> = current.into_iter().filter(is_new).collect();
    session.shown_in_tail.extend(changed.iter().cloned());
    PinnedMemories { pinned: session.pinned.clone(), changed, prefix_reset: false, session }
}

/// What the tail of a message tells of a goal: without its files, reasons and times.
fn as_in_tail(goal: &GoalInput) -> GoalInput {
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
        MemoryEntry { key: key.to_owned(), content: content.to_owned(), ..MemoryEntry::by(TrustName::Owner) }
    }

    fn shown(pins: &PinnedMemories) -> (Vec<&str>, Vec<&str>) {
        let texts = |pins: &'_ [MemoryEntry]| pins.iter().map(|pin| pin.content.clone()).collect::<Vec<_>>();
        let leak = |texts: Vec<String>| texts.into_iter().map(|text| &*text.leak()).collect();
        (leak(texts(&pins.pinned)), leak(texts(&pins.changed)))
    }

    // PRO-040 PRO-041
    #[test]
    fn new_pinned_memory_is_shown_once_then_joins_the_prefix() {
        let (a, b, b2) = (pin("a", "1"), pin("b", "2"), pin("b", "3"));
        let first = split_pinned(None, "k".into(), vec![a.clone()]);
        assert_eq!(shown(&first), (vec!["1"], vec![]));
        let read = |pins: &PinnedMemories| PrefixCache::read(Some(&pins.session.to_text()), None);
        let second = split_pinned(read(&first), "k".into(), vec![a.clone(), b.clone()]);
        assert_eq!(shown(&second), (vec!["1"], vec!["2"]));
        let third = split_pinned(read(&second), "k".into(), vec![a.clone(), b]);
        assert_eq!(shown(&third), (vec!["1"], vec![]));
        let fourth = split_pinned(read(&third), "k".into(), vec![a.clone(), b2.clone()]);
        assert_eq!(shown(&fourth), (vec!["1"], vec!["3"]));
        let reset = split_pinned(read(&fourth), "other".into(), vec![a, b2]);
        assert_eq!(shown(&reset), (vec!["1", "3"], vec![]));
    }

    // PRO-023
    #[test]
    fn cut_notice_is_shown_once() {
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
    fn changed_goal_is_shown_once_then_joins_the_prefix() {
        let goal = |text: &str| GoalInput { description: text.to_owned(), ..GoalInput::by(TrustName::Owner) };
        let shown = |(news, stored): (bool, StoredInput)| (news, stored.goal.map(|goal| goal.description));
        let (a, b) = (goal("a"), goal("b"));
        let mut session = split_pinned(None, "k".into(), Vec::new()).session;
        assert_eq!(shown(session.split_goal(None)), (false, None));
        assert_eq!(shown(session.split_goal(Some(&a))), (true, None));
        assert_eq!(shown(session.split_goal(Some(&a))), (false, None));
        let later = GoalInput { created_at: "later".to_owned(), ..a.clone() };
        assert_eq!(shown(session.split_goal(Some(&later))), (false, None), "the tail does not tell times");
        assert_eq!(shown(session.split_goal(Some(&b))), (true, None));
        let mut kept = split_pinned(Some(session.clone()), "k".into(), Vec::new()).session;
        assert_eq!(shown(kept.split_goal(Some(&b))), (false, None));
        let mut reset = split_pinned(Some(session), "other".into(), Vec::new()).session;
        assert_eq!(shown(reset.split_goal(Some(&b))), (false, Some("b".to_owned())));
        assert_eq!(shown(reset.split_goal(None)), (true, Some("b".to_owned())), "a goal that is gone is told too");
    }

    // PRO-040 SEC-002
    #[test]
    fn only_a_goal_of_strangers_that_is_gone_resets_the_prefix() {
        let goal = |id: &str, trust| GoalInput { id: id.to_owned(), ..GoalInput::by(trust) };
        for (trust, is_foreign) in [(TrustName::Owner, false), (TrustName::Guest, true), (TrustName::Outside, true)] {
            let mut session = PrefixCache::default();
            session.split_goal(Some(&goal("1", trust)));
            assert_eq!(session.shows_gone_goal_of_strangers(None), is_foreign);
            assert_eq!(session.shows_gone_goal_of_strangers(Some(&goal("2", TrustName::Owner))), is_foreign);
            assert!(!session.shows_gone_goal_of_strangers(Some(&goal("1", trust))), "it is shown");
        }
        assert!(!PrefixCache::default().shows_gone_goal_of_strangers(None));
    }

    // PRO-040
    #[test]
    fn memory_that_is_gone_resets_the_prefix() {
        let first = split_pinned(None, "k".into(), vec![pin("a", "1"), pin("b", "2")]);
        let second = split_pinned(Some(first.session), "k".into(), vec![pin("b", "2"), pin("c", "3")]);
        assert_eq!(shown(&second), (vec!["2", "3"], vec![]));
    }
}
