//! What the owner was asked and has not answered.

use limpid_core::policy::Grant;

use crate::event::QuestionPart;
use crate::question_id::QuestionId;

/// A question that the owner was asked.
pub(super) struct OpenQuestion {
    pub(super) id: QuestionId,
    /// What a lasting yes to it covers, as it said; none where it offered none.
    pub(super) lasting: Option<Grant>,
}

impl OpenQuestion {
    /// One by what was asked.
    pub(super) fn of(part: &QuestionPart) -> Self {
        let lasting = part.pattern.clone().map(|pattern| Grant { tool: part.name.clone(), pattern });
        Self { id: part.id.clone(), lasting }
    }
}
