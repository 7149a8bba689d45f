//! What the owner allowed for the rest of a conversation.

use limpid_core::ConversationId;
use limpid_core::policy::Grant;
use limpid_store::NewSetting;
use serde::{Deserialize, Serialize};

use crate::drafts::Drafts;
use crate::error::AgentError;

/// The name of the setting that holds what the owner allowed for a conversation.
const GRANT: &str = "grant";

/// Grants of one conversation that count; older ones are asked about again.
const GRANTS: u32 = 200;

impl Drafts {
    /// What the owner allowed for the rest of a conversation.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn grants(&self, conversation: &ConversationId) -> Result<Vec<Grant>, AgentError> {
        let listed = self.0.store.setting_events(Some(conversation), GRANT, GRANTS).await?;
        let grant = |text: &str| serde_json::from_str::<GrantRow>(text).ok();
        let rows = listed.rows.iter().filter_map(|event| grant(event.value.as_deref()?));
        Ok(rows.map(|row| Grant { tool: row.tool, pattern: row.pattern }).collect())
    }

    /// Allows calls of one pattern for the rest of a conversation.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn grant(&self, conversation: &ConversationId, grant: Grant) -> Result<(), AgentError> {
        let row = GrantRow { tool: grant.tool, pattern: grant.pattern };
        // Plain data with text keys always serialises.
        let value = serde_json::to_string(&row).unwrap_or_default();
        let setting = NewSetting { name: GRANT.to_owned(), value: Some(value), trigger: "manual".to_owned() };
        self.0.store.set_in_conversation(conversation, Vec::new(), vec![setting], self.0.host.now_ms()).await?;
        Ok(())
    }
}

#[derive(Serialize, Deserialize)]
struct GrantRow {
    tool: String,
    pattern: String,
}
