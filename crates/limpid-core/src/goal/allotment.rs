//! The room that a prompt has for a goal. What must always be there, the goal's line and its locked
//! decisions, is measured without looking at any profile, so that a conversation may change its profile at any time.

use super::{Goal, GoalError};

/// Tokens that the block of every profile takes besides entries: headings, status, instructions, `+n more`.
pub const FRAME: usize = 80;

/// Tokens that an entry takes besides its text: mark, number, the word that it is locked.
pub const ENTRY: usize = 6;

/// The room that the prompt has for a goal.
#[derive(Clone, Copy)]
pub struct Room<'a> {
    /// Tokens that the whole block may take.
    pub allotment: usize,
    /// Counts the tokens of a text.
    pub count: &'a dyn Fn(&str) -> usize,
}

impl Room<'_> {
    /// Tokens that an entry takes.
    pub fn entry(&self, text: &str) -> usize {
        ENTRY + (self.count)(text)
    }

    /// Whether a goal's line and its locked decisions fit.
    ///
    /// # Errors
    /// [`GoalError::DoesNotFit`] with the sizes.
    pub fn check(&self, goal: &Goal) -> Result<(), GoalError> {
        let locked: Vec<&str> = goal.decisions().locked().map(super::Decision::description).collect();
        self.check_texts(goal.description(), &locked)
    }

    /// Whether a goal's line fits with these locked decisions.
    pub(super) fn check_texts(&self, description: &str, locked: &[&str]) -> Result<(), GoalError> {
        let line = self.entry(description);
        let decisions = locked.iter().map(|text| self.entry(text)).sum::<usize>();
        if FRAME + line + decisions <= self.allotment {
            return Ok(());
        }
        Err(GoalError::DoesNotFit { allotment: self.allotment, frame: FRAME, line, decisions, locked: locked.len() })
    }
}

impl std::fmt::Debug for Room<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Room").field("allotment", &self.allotment).finish_non_exhaustive()
    }
}
