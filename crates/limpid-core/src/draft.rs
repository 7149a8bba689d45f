//! The life of a draft: a call that waits for the owner, and what came of it.

use std::fmt;

/// How long a draft waits for the owner, in milliseconds: seven days.
pub const DRAFT_LIFE_MS: i64 = 7 * 24 * 60 * 60 * 1000;

/// Drafts that may wait or be under way at one time of those that no stranger's text led to.
pub const MOST_DRAFTS: u32 = 20;

/// The same of those that were made after a stranger's text. Each side is counted by itself, so that no letter and no page takes from
/// the owner what they ask for themselves.
pub const MOST_AFTER_STRANGERS: u32 = MOST_DRAFTS - 5;

/// Drafts that one turn of a chat may make after a stranger's text, and that may wait of one such chat and its agents together.
pub const MOST_OF_TURN_AFTER_STRANGERS: u32 = 10;

/// Drafts that one run in the background may make.
pub const MOST_OF_BACKGROUND_RUN: u32 = 5;

/// Drafts that may wait or be under way at one time of all that nobody typed for: heartbeats, tasks, clients and their agents. The
/// rest is for the turns that the owner begins.
pub const MOST_OF_BACKGROUND: u32 = MOST_DRAFTS / 2;

/// The same of what strangers or programs led to, counted by itself.
pub const MOST_OF_BACKGROUND_AFTER_STRANGERS: u32 = MOST_OF_BACKGROUND - MOST_OF_BACKGROUND_RUN;

/// Drafts that may wait of one run in the background that read a stranger's text, those of its agents included: whatever one stranger
/// wrote leaves places to what others wrote.
pub const MOST_OF_RUN_AFTER_STRANGERS: u32 = 2;

/// Drafts that may wait of all programs that are connected over MCP and their agents together: however many they ask for, a run that
/// read a stranger's text finds its places.
pub const MOST_OF_CLIENTS: u32 = MOST_OF_BACKGROUND_AFTER_STRANGERS - MOST_OF_RUN_AFTER_STRANGERS;

/// Where a draft stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DraftState {
    /// It waits for the owner.
    Open,
    /// The owner approved it, and it was not carried out yet.
    Approved,
    /// It is being carried out.
    Sending,
    /// It was carried out.
    Sent,
    /// It was tried and failed, or nobody knows what came of it.
    Failed,
    /// The owner said no.
    Refused,
    /// Nobody answered in time.
    Expired,
}

impl DraftState {
    /// Every state.
    pub const ALL: [Self; 7] =
        [Self::Open, Self::Approved, Self::Sending, Self::Sent, Self::Failed, Self::Refused, Self::Expired];

    /// What a draft in this state is said to do or have done: `Draft 3 expired`.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Open => "is open",
            Self::Approved => "is approved",
            Self::Sending => "is being sent",
            Self::Sent => "was sent",
            Self::Failed => "failed",
            Self::Refused => "was refused",
            Self::Expired => "expired",
        }
    }

    /// The state's name, as it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Approved => "approved",
            Self::Sending => "sending",
            Self::Sent => "sent",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Expired => "expired",
        }
    }

    /// Reads a state's name; nothing else is accepted.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// Whether a person may change what it holds; it is open again then, whoever had approved it.
    pub const fn may_be_edited(self) -> bool {
        matches!(self, Self::Open | Self::Approved)
    }

    /// Whether a draft may go from here to there. From where it is being carried out nothing leads back, so an approval
    /// is carried out once; one that was never begun may wait again.
    pub const fn leads_to(self, next: Self) -> bool {
        matches!(
            (self, next),
            (Self::Open, Self::Approved | Self::Refused | Self::Expired)
                | (Self::Approved, Self::Sending | Self::Failed | Self::Open)
                | (Self::Sending, Self::Sent | Self::Failed)
        )
    }
}

impl fmt::Display for DraftState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-010
    #[test]
    fn a_draft_is_carried_out_at_most_once() {
        for state in DraftState::ALL {
            assert_eq!(DraftState::parse(state.as_str()), Some(state));
            assert!(!state.leads_to(state), "{state}");
            assert_eq!(state.leads_to(DraftState::Open), state == DraftState::Approved, "{state}");
            let starts = state.leads_to(DraftState::Sending);
            assert_eq!(starts, state == DraftState::Approved, "{state}");
            let waits = state.leads_to(DraftState::Approved) || starts;
            assert_eq!(state.may_be_edited(), waits, "{state}");
        }
        for end in [DraftState::Sent, DraftState::Failed, DraftState::Refused, DraftState::Expired] {
            assert!(DraftState::ALL.into_iter().all(|next| !end.leads_to(next)), "{end} is an end");
        }
    }
}
