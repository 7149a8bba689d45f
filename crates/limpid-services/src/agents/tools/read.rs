//! Results of agents as files: `agent:7` is the output of agent 7.

use async_trait::async_trait;
use limpid_core::{AgentId, ConversationId, Labelled, Sentence, sentence};
use limpid_tools::files::NamedTexts;
use limpid_tools::{ToolContext, echoed};

use crate::agents::request::in_words_there;
use crate::agents::service::Agents;
use crate::tools::trouble;

/// How the output of an agent is named.
const BEGINS: &str = "agent:";

/// The results of agents.
pub(super) struct Results(pub(super) Agents);

#[async_trait]
impl NamedTexts for Results {
    fn name<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.trim().strip_prefix(BEGINS)
    }

    async fn text(&self, context: &ToolContext, name: &str) -> Result<Labelled<String>, Sentence> {
        let Ok(id) = name.trim().parse().map(AgentId) else {
            return Err(sentence!("`{}` is no agent's number; `list_agents` lists them", echoed(name.to_owned())));
        };
        let above = self.0.store().agent_in(&context.conversation).await.map_err(trouble)?;
        let chat = above.map_or_else(|| context.conversation.clone(), |above| above.chat);
        self.0.result_in(&chat, id).await
    }

    async fn in_words(&self, name: &str, conversation: Option<&ConversationId>) -> String {
        let found = async {
            let id = name.trim().parse().map(AgentId).ok()?;
            in_words_there(&self.0, id, conversation?).await
        };
        found.await.map_or_else(|| "there is no such agent here".to_owned(), |agent| format!("the result of {agent}"))
    }
}
