//! `/context`.

use async_trait::async_trait;
use limpid_conversation::ChangeOutcome;
use limpid_core::WindowSize;
use limpid_services::directory::ConversationChoice;
use limpid_services::error::AgentError;

use crate::commands::slash_command::{CommandContext, SlashCommand, SlashReply};
use crate::preview::PreviewRequest;

/// Shows how full the window is, chooses its size, or goes back to a kept moment.
pub(crate) struct Context;

#[async_trait]
impl SlashCommand for Context {
    fn name(&self) -> &'static str {
        "context"
    }

    fn arguments(&self) -> &'static str {
        "[size TOKENS | size default | restore N]"
    }

    fn help(&self) -> &'static str {
        "Show how full the window is, choose its size, or go back to a kept moment"
    }

    async fn words(&self, _context: &CommandContext<'_>, before: &[&str]) -> Result<Vec<String>, AgentError> {
        let words: &[&str] = match before {
            [] => &["size", "restore"],
            ["size"] => &["2K", "4K", "8K", "16K", "32K", "64K", "128K", "default"],
            _ => &[],
        };
        Ok(words.iter().map(|word| (*word).to_owned()).collect())
    }

    async fn run(&self, context: &CommandContext<'_>, arguments: &str) -> Result<SlashReply, AgentError> {
        match arguments.split_whitespace().collect::<Vec<_>>().as_slice() {
            [] => show(context).await,
            ["size", "default"] => resize(context, None).await,
            ["size", size] => resize(context, Some(read_size(size)?)).await,
            ["restore", moment] => restore(context, moment).await,
            _ => Err(AgentError::Invalid(format!("/context takes {}", self.arguments()))),
        }
    }
}

async fn show(context: &CommandContext<'_>) -> Result<SlashReply, AgentError> {
    let known = context.conversation.as_ref().map(|conversation| conversation.id.clone());
    let conversation = known.map_or(ConversationChoice::New, ConversationChoice::Id);
    let tiers = context.agent.conversations().tiers(&conversation).await?;
    let request = PreviewRequest { conversation, ..PreviewRequest::default() };
    let prompt = context.agent.preview(request).await?.prompt;
    let used = prompt.totals().map_or(0, |totals| totals.total);
    let messages = context.conversation.as_ref().map_or(0, |conversation| conversation.messages);
    let head = format!("{messages} messages; the next prompt has {used} tokens.\n{tiers}");
    let Some(conversation) = context.conversation.as_ref() else { return Ok(context.says(head)) };
    let report = context.agent.conversations().context(&ConversationChoice::Id(conversation.id.clone())).await?;
    Ok(context.says(format!("{head}\n{report}")))
}

/// Goes back to a kept moment.
pub(crate) async fn restore(context: &CommandContext<'_>, moment: &str) -> Result<SlashReply, AgentError> {
    let Some(conversation) = context.conversation.as_ref() else {
        return Ok(context.says("There is no conversation yet."));
    };
    let wrong = |_| AgentError::Invalid(format!("`{moment}` is no number; `/context` lists kept moments"));
    let choice = ConversationChoice::Id(conversation.id.clone());
    let report = context.agent.conversations().restore_snapshot(&choice, moment.parse().map_err(wrong)?).await?;
    Ok(context.says(report.to_string()).after(conversation, &["window"]))
}

async fn resize(context: &CommandContext<'_>, size: Option<WindowSize>) -> Result<SlashReply, AgentError> {
    let conversation = context.found_or_new().await?;
    let to = size.map_or("the model's own".to_owned(), |size| format!("{} tokens", size.0));
    let text = match context.agent.conversations().set_window(&conversation.id, size).await? {
        ChangeOutcome::Applied(_) => format!("The window is {to} from the next message on."),
        ChangeOutcome::Deferred => format!("An answer is under way; the window is {to} when that has ended."),
        ChangeOutcome::Unchanged => format!("The window is {to} already."),
    };
    let tiers = context.agent.conversations().tiers(&ConversationChoice::Id(conversation.id.clone())).await?;
    Ok(context.says(format!("{text}\n{tiers}")).after(&conversation, &["window"]))
}

/// Reads `16K` or `16384`.
fn read_size(word: &str) -> Result<WindowSize, AgentError> {
    let wrong = || AgentError::Invalid(format!("`{word}` is no size of a window; write 16K or 16384"));
    let (digits, unit) = match word.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1024),
        None => (word, 1),
    };
    let number: u32 = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(unit).map(WindowSize).ok_or_else(wrong)
}
