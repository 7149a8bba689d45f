//! Decisions. A locked one is a type of its own without any way back: nothing edits, unlocks or deletes it.

use crate::DecisionId;

/// One decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may still be explained otherwise.
    Open(OpenDecision),
    /// It stands.
    Locked(LockedDecision),
}

/// What both kinds hold.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Text {
    id: DecisionId,
    description: String,
    rationale: String,
}

/// A decision that may still be explained otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenDecision(Text);

/// A decision that stands. It can only be read.
///
/// ```compile_fail
/// use limpid_core::goal::{LockedDecision, OpenDecision};
/// fn unlock(locked: LockedDecision) -> OpenDecision {
///     OpenDecision(locked.0)
/// }
/// ```
/// ```compile_fail
/// fn edit(locked: &mut limpid_core::goal::LockedDecision) {
///     locked.revise("another reason");
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedDecision(Text);

impl OpenDecision {
    /// Another reason for it.
    fn revise(&mut self, rationale: &str) {
        rationale.clone_into(&mut self.0.rationale);
    }

    /// It stands from here on.
    fn lock(self) -> LockedDecision {
        LockedDecision(self.0)
    }
}

impl Decision {
    const fn text(&self) -> &Text {
        match self {
            Self::Open(OpenDecision(text)) | Self::Locked(LockedDecision(text)) => text,
        }
    }

    /// Its name.
    pub const fn id(&self) -> &DecisionId {
        &self.text().id
    }

    /// What was decided.
    pub fn description(&self) -> &str {
        &self.text().description
    }

    /// Why.
    pub fn rationale(&self) -> &str {
        &self.text().rationale
    }

    /// Whether it stands.
    pub const fn is_locked(&self) -> bool {
        matches!(self, Self::Locked(_))
    }
}

/// A change was refused because the decision is locked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the decision {id} is locked and stands: {description}")]
pub struct DecisionLocked {
    /// The decision.
    pub id: DecisionId,
    /// What was decided.
    pub description: String,
}

/// The decisions of a goal, in order. None can be taken out.
///
/// ```compile_fail
/// fn delete(decisions: &mut limpid_core::goal::Decisions) {
///     decisions.0.clear();
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decisions(Vec<Decision>);

impl Decisions {
    /// All of them, in the order in which they were made.
    pub fn iter(&self) -> std::slice::Iter<'_, Decision> {
        self.0.iter()
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those that stand.
    pub fn locked(&self) -> impl Iterator<Item = &Decision> {
        self.iter().filter(|decision| decision.is_locked())
    }

    /// One by its name.
    pub fn get(&self, id: &DecisionId) -> Option<&Decision> {
        self.iter().find(|decision| decision.id() == id)
    }

    /// Adds an open decision.
    pub(super) fn record(&mut self, id: DecisionId, description: &str, rationale: &str) {
        let text = Text { id, description: description.to_owned(), rationale: rationale.to_owned() };
        self.0.push(Decision::Open(OpenDecision(text)));
    }

    /// Gives an open decision another reason. False: there is no such decision.
    pub(super) fn revise(&mut self, id: &DecisionId, rationale: &str) -> Result<bool, DecisionLocked> {
        match self.0.iter_mut().find(|decision| decision.id() == id) {
            None => Ok(false),
            Some(Decision::Open(open)) => {
                open.revise(rationale);
                Ok(true)
            }
            Some(locked) => Err(refusal(locked)),
        }
    }

    /// Makes a decision stand; one that stands already stays so. False: there is no such decision.
    pub(super) fn lock(&mut self, id: &DecisionId) -> bool {
        let Some(place) = self.0.iter_mut().find(|decision| decision.id() == id) else { return false };
        if let Decision::Open(open) = place {
            *place = Decision::Locked(open.clone().lock());
        }
        true
    }

    /// Takes over what was locked in a later state of the same decisions.
    pub(super) fn keep_locked(&mut self, later: &Self) -> bool {
        let before = self.clone();
        for locked in later.locked() {
            match self.0.iter_mut().find(|own| own.id() == locked.id()) {
                Some(own) => own.clone_from(locked),
                None => self.0.push(locked.clone()),
            }
        }
        *self != before
    }
}

/// The refusal to change a decision.
pub(super) fn refusal(decision: &Decision) -> DecisionLocked {
    DecisionLocked { id: decision.id().clone(), description: decision.description().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    // OLLM-073
    #[test]
    fn a_locked_decision_is_not_revised() {
        let mut decisions = Decisions::default();
        let id = DecisionId::new("d1");
        decisions.record(id.clone(), "Use tea", "calm");
        assert_eq!(decisions.revise(&id, "cheap"), Ok(true));
        assert!(decisions.lock(&id));
        let before = decisions.clone();
        assert_eq!(decisions.revise(&id, "none").unwrap_err().description, "Use tea");
        assert!(decisions.lock(&id) && decisions == before);
        assert_eq!(decisions.get(&id).map(Decision::rationale), Some("cheap"));
    }
}
