//! `/mode`.

use async_trait::async_trait;

use super::{Scene, SlashCommand, SlashReply};
use crate::chat::ChatRequest;
use crate::error::AgentError;

/// Shows the mode, or switches to another (OLLM-029).
pub(super) struct Mode;

#[async_trait]
impl SlashCommand for Mode {
    fn name(&self) -> &'static str {
        "mode"
    }

    fn arguments(&self) -> &'static str {
        "[NAME]"
    }

    fn help(&self) -> &'static str {
        "Show the mode, or switch to another"
    }

    async fn words(&self, scene: &Scene<'_>, before: &[&str]) -> Result<Vec<String>, AgentError> {
        if before.is_empty() { modes(scene) } else { Ok(Vec::new()) }
    }

    async fn run(&self, scene: &Scene<'_>, arguments: &str) -> Result<SlashReply, AgentError> {
        if arguments.is_empty() {
            let mode = scene.conversation.as_ref().and_then(|conversation| conversation.mode.as_deref());
            let mode = mode.unwrap_or(&scene.inner().config.agent.mode);
            return Ok(scene.says(format!("The mode is {mode}. There are: {}.", modes(scene)?.join(", "))));
        }
        let request = ChatRequest { mode: Some(arguments.to_owned()), ..ChatRequest::default() };
        let changed = scene.change(request).await?;
        Ok(scene.says(format!("The mode is {arguments} from the next message on.")).after(&changed, &["mode"]))
    }
}

fn modes(scene: &Scene<'_>) -> Result<Vec<String>, AgentError> {
    let inner = scene.inner();
    let profile = scene.conversation.as_ref().map(|conversation| conversation.profile.as_str());
    let name = profile.unwrap_or(&inner.config.agent.profile);
    let profile = inner.prompts.load_one(name)?.profile(name)?;
    Ok(profile.modes().map(str::to_owned).collect())
}
