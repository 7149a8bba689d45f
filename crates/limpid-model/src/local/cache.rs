//! Which evaluated tokens are kept between calls, and which of them the next call begins with.
//!
//! The engine holds one sequence. When another conversation comes, the evaluated state of the last one is copied out
//! and parked; the next call begins with whatever has the longest beginning in common with it, which for a new
//! conversation is the system prompt of another one.

/// The tokens whose state is at hand: in the engine, and parked copies.
#[derive(Debug)]
pub(super) struct Cache<S> {
    active: Held,
    parked: Vec<Parked<S>>,
    budget: u64,
}

/// Evaluated tokens and whose they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Held {
    conversation: Option<String>,
    tokens: Vec<i32>,
}

#[derive(Debug)]
struct Parked<S> {
    held: Held,
    state: S,
    bytes: u64,
}

/// What to do before a prompt is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Whether the engine's sequence is to be parked first.
    pub(super) park: bool,
    /// What the prompt begins with.
    pub(super) source: Source,
    /// How many of its tokens are kept.
    pub(super) keep: usize,
}

/// Where evaluated tokens are taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The engine's sequence, as it is.
    Active,
    /// The parked copy with this number.
    Parked(usize),
}

impl<S> Cache<S> {
    /// A cache whose parked copies take at most `budget` bytes.
    pub(super) fn new(budget: u64) -> Self {
        Self { active: Held::default(), parked: Vec::new(), budget }
    }

    /// Plans how to evaluate `prompt`. At least its last token is evaluated again, since the answer follows from it.
    pub(super) fn plan(&self, conversation: Option<&str>, prompt: &[i32]) -> Plan {
        let most = prompt.len().saturating_sub(1);
        let common = |held: &Held| common_prefix(&held.tokens, prompt).min(most);
        let mut plan = Plan { park: false, source: Source::Active, keep: common(&self.active) };
        for (number, parked) in self.parked.iter().enumerate() {
            let keep = common(&parked.held);
            if keep > plan.keep {
                plan = Plan { source: Source::Parked(number), keep, ..plan };
            }
        }
        let another = self.active.conversation.as_deref() != conversation;
        let loses = plan.source != Source::Active || plan.keep < self.active.tokens.len();
        plan.park = self.active.conversation.is_some() && another && loses;
        plan
    }

    /// Parks a copy of the engine's sequence, in place of an older copy of the same conversation, and drops the copies
    /// that were parked longest ago until the rest fits.
    pub(super) fn park(&mut self, state: S, bytes: u64) {
        let held = self.active.clone();
        self.parked.retain(|parked| parked.held.conversation != held.conversation);
        self.parked.push(Parked { held, state, bytes });
        while self.parked.iter().map(|parked| parked.bytes).sum::<u64>() > self.budget {
            self.parked.remove(0);
        }
    }

    /// A parked copy and the tokens that it stands for.
    pub(super) fn parked(&self, number: usize) -> Option<(&S, &[i32])> {
        self.parked.get(number).map(|parked| (&parked.state, parked.held.tokens.as_slice()))
    }

    /// Says that the engine's sequence holds these tokens and whose it is.
    pub(super) fn hold(&mut self, conversation: Option<&str>, tokens: &[i32]) {
        self.active = Held { conversation: conversation.map(str::to_owned), tokens: tokens.to_vec() };
    }

    /// Says that more tokens were evaluated.
    pub(super) fn extend(&mut self, tokens: &[i32]) {
        self.active.tokens.extend_from_slice(tokens);
    }
}

fn common_prefix(one: &[i32], other: &[i32]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(budget: u64) -> Cache<&'static str> {
        Cache::new(budget)
    }

    // MEA-15
    #[test]
    fn the_next_turn_keeps_the_last_one() {
        let mut cache = cache(0);
        cache.hold(Some("a"), &[1, 2, 3]);
        cache.extend(&[4, 5]);
        assert_eq!(
            cache.plan(Some("a"), &[1, 2, 3, 4, 5, 6, 7]),
            Plan { park: false, source: Source::Active, keep: 5 }
        );
        // The same prompt again: its last token is evaluated once more.
        assert_eq!(cache.plan(Some("a"), &[1, 2, 3]).keep, 2);
        assert_eq!(cache.plan(Some("a"), &[9]).keep, 0);
        assert_eq!(cache.plan(None, &[]).keep, 0);
    }

    // MEA-15
    #[test]
    fn another_conversation_parks_the_first_and_finds_it_again() {
        let mut cache = cache(100);
        cache.hold(Some("a"), &[1, 2, 3]);
        assert_eq!(cache.plan(Some("b"), &[1, 2, 9]), Plan { park: true, source: Source::Active, keep: 2 });
        cache.park("state of a", 10);
        cache.hold(Some("b"), &[1, 2, 9]);
        assert_eq!(cache.plan(Some("a"), &[1, 2, 3, 4]), Plan { park: true, source: Source::Parked(0), keep: 3 });
        assert_eq!(cache.parked(0), Some((&"state of a", [1, 2, 3].as_slice())));
    }

    #[test]
    fn a_call_without_a_conversation_is_never_parked() {
        let mut cache = cache(100);
        cache.hold(None, &[1, 2, 3]);
        assert!(!cache.plan(Some("a"), &[7]).park);
    }

    #[test]
    fn the_oldest_copies_go_first_and_a_conversation_has_one() {
        let mut cache = cache(25);
        for (name, state) in [("a", "a1"), ("b", "b1"), ("a", "a2"), ("c", "c1")] {
            cache.hold(Some(name), &[1]);
            cache.park(state, 10);
        }
        let kept: Vec<_> = cache.parked.iter().map(|parked| parked.state).collect();
        assert_eq!(kept, ["a2", "c1"]);
        cache.hold(Some("d"), &[1]);
        cache.park("too large", 26);
        assert!(cache.parked.is_empty());
    }
}
