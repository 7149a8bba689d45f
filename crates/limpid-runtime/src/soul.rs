//! The soul as prompts show it, and as it would be with something added.

use limpid_prompt::PromptMessage;
use limpid_services::error::AgentError;

use crate::agent::Agent;
use crate::preview::PreviewRequest;

/// The sections that are the soul: what it is, and what memories added.
const SECTIONS: [&str; 2] = ["soul", "soul-additions"];

/// The soul, line by line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Soul {
    /// Its lines; none where the profile shows none.
    pub lines: Vec<String>,
}

impl Soul {
    /// That of the next conversation.
    ///
    /// # Errors
    /// When its prompt cannot be made.
    pub async fn of(agent: &Agent) -> Result<Self, AgentError> {
        let preview = agent.preview(PreviewRequest::default()).await?;
        let parts = preview.prompt.messages().iter().flat_map(PromptMessage::parts);
        let own = parts.filter(|part| SECTIONS.contains(&part.section()));
        let lines = own.flat_map(|part| part.text().lines()).map(str::to_owned);
        Ok(Self { lines: lines.filter(|line| !line.trim().is_empty()).collect() })
    }

    /// The line that an addition becomes.
    pub fn line_of(addition: &str) -> String {
        addition.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> usize {
        self.lines.iter().map(|line| line.len() + 1).sum::<usize>().saturating_sub(1)
    }
}
