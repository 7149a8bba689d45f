//! `/skills`.

use async_trait::async_trait;
use limpid_prompt::shown::shown_line;
use limpid_services::directory::ConversationChoice;
use limpid_services::error::AgentError;
use limpid_services::skills::SkillStatus;

use crate::commands::slash_command::{CommandContext, SlashCommand, SlashReply};

/// Shows the skills, or chooses those that every turn of the conversation has.
pub(crate) struct Skills;

#[async_trait]
impl SlashCommand for Skills {
    fn name(&self) -> &'static str {
        "skills"
    }

    fn arguments(&self) -> &'static str {
        "[NAME... | none]"
    }

    fn help(&self) -> &'static str {
        "List the skills, or choose those that every turn here has"
    }

    async fn words(&self, context: &CommandContext<'_>, before: &[&str]) -> Result<Vec<String>, AgentError> {
        let skills = context.agent.called_skills().await?.into_iter().map(|(name, _)| name);
        Ok(skills.chain(["none".to_owned()]).filter(|name| !before.contains(&name.as_str())).collect())
    }

    async fn run(&self, context: &CommandContext<'_>, arguments: &str) -> Result<SlashReply, AgentError> {
        if arguments.is_empty() {
            return Ok(context.says(list(context).await?));
        }
        let conversation = context.change(limpid_conversation::ChatRequest::default()).await?;
        let names = arguments.split_whitespace().filter(|name| *name != "none").map(str::to_owned).collect();
        let choice = ConversationChoice::Id(conversation.id.clone());
        let chosen = context.agent.conversations().use_skills(&choice, names).await?;
        let mut lines = match chosen.active.as_slice() {
            [] => vec!["No skill is in every turn.".to_owned()],
            active => vec![format!("In every turn from here on: {}", active.join(", "))],
        };
        lines.extend(chosen.left_out.iter().map(|(name, reason)| format!("Left out: {name}: {}", shown_line(reason))));
        Ok(context.says(lines.join("\n")).after(&conversation, &["skills"]))
    }
}

/// A line for each skill, with why it is not used when it is not.
async fn list(context: &CommandContext<'_>) -> Result<String, AgentError> {
    let line = |skill: limpid_services::skills::ListedSkill| match (skill.status, &skill.reason) {
        (SkillStatus::Ready, _) => {
            let about = skill.prompt.as_ref().and_then(|prompt| prompt.description()).unwrap_or_default();
            format!("/{}  {}", skill.name, shown_line(about))
        }
        (status, reason) => {
            let why = shown_line(reason.as_deref().unwrap_or_default());
            format!("{} ({}): {why}", shown_line(&skill.name), status.as_str())
        }
    };
    Ok(context.agent.skills().list().await?.into_iter().map(line).collect::<Vec<_>>().join("\n"))
}
