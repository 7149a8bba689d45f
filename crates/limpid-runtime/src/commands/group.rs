//! `/group`.

use async_trait::async_trait;
use limpid_conversation::ChangeOutcome;
use limpid_services::error::AgentError;
use limpid_store::Audience;

use crate::commands::slash_command::{CommandContext, SlashCommand, SlashReply};

/// What is said of a conversation that others read since they read the one that it comes from: nobody said so in it.
pub const OTHERS_READ: &str = "Others can read this conversation too; `/group off` ends that.";

/// Says that others read the conversation too, so that what is remembered of the owner stays out of it.
pub(crate) struct Group;

#[async_trait]
impl SlashCommand for Group {
    fn name(&self) -> &'static str {
        "group"
    }

    fn arguments(&self) -> &'static str {
        "on|off"
    }

    fn help(&self) -> &'static str {
        "Say that others read this conversation too: memories and notes stay out of it"
    }

    async fn words(&self, _context: &CommandContext<'_>, before: &[&str]) -> Result<Vec<String>, AgentError> {
        Ok(if before.is_empty() { vec!["on".to_owned(), "off".to_owned()] } else { Vec::new() })
    }

    async fn run(&self, context: &CommandContext<'_>, arguments: &str) -> Result<SlashReply, AgentError> {
        let nothing = || AgentError::Invalid("there is no conversation yet; say something first".to_owned());
        let conversation = context.conversation.as_ref().ok_or_else(nothing)?;
        let audience = match arguments {
            "on" => Audience::Group,
            "off" => Audience::Owner,
            other => return Err(AgentError::Invalid(format!("write /group on or /group off, not `{other}`"))),
        };
        if conversation.audience == Audience::Strangers {
            let why = "answers here go to whoever asks a program of yours, so nothing of yours is in it; that cannot be changed";
            return Err(AgentError::Invalid(why.to_owned()));
        }
        let text = match context.agent.conversations().set_audience(&conversation.id, audience).await? {
            ChangeOutcome::Deferred => "An answer is under way; it is done when that has ended.",
            ChangeOutcome::Unchanged if audience == Audience::Group => "Others read this conversation already.",
            ChangeOutcome::Unchanged => "This conversation is between the two of you already.",
            ChangeOutcome::Applied(_) if audience == Audience::Group => {
                "From the next message on, memories and notes stay out of this conversation, and after a stranger's text each \
                 look at what is yours waits for you. What was said here before stays; `/new` begins a conversation without it, \
                 which others read too."
            }
            ChangeOutcome::Applied(_) => "From the next message on, this conversation is between the two of you.",
        };
        Ok(context.says(text).after(conversation, &["group"]))
    }
}
