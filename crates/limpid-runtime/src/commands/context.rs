//! `/context`.

use async_trait::async_trait;
use limpid_conversation::ChangeOutcome;
use limpid_core::WindowSize;
use limpid_services::directory::ConversationChoice;
use limpid_services::error::AgentError;

use crate::commands::{Scene, SlashCommand, SlashReply};
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

    async fn words(&self, _scene: &Scene<'_>, before: &[&str]) -> Result<Vec<String>, AgentError> {
        let words: &[&str] = match before {
            [] => &["size", "restore"],
            ["size"] => &["2K", "4K", "8K", "16K", "32K", "64K", "128K", "default"],
            _ => &[],
        };
        Ok(words.iter().map(|word| (*word).to_owned()).collect())
    }

    async fn run(&self, scene: &Scene<'_>, arguments: &str) -> Result<SlashReply, AgentError> {
        match arguments.split_whitespace().collect::<Vec<_>>().as_slice() {
            [] => show(scene).await,
            ["size", "default"] => resize(scene, None).await,
            ["size", size] => resize(scene, Some(read_size(size)?)).await,
            ["restore", moment] => restore(scene, moment).await,
            _ => Err(AgentError::Invalid(format!("/context takes {}", self.arguments()))),
        }
    }
}

async fn show(scene: &Scene<'_>) -> Result<SlashReply, AgentError> {
    let known = scene.conversation.as_ref().map(|conversation| conversation.id.clone());
    let conversation = known.map_or(ConversationChoice::New, ConversationChoice::Id);
    let tiers = scene.agent.conversations().tiers(&conversation).await?;
    let request = PreviewRequest { conversation, ..PreviewRequest::default() };
    let prompt = scene.agent.preview(request).await?.prompt;
    let used = prompt.totals().map_or(0, |totals| totals.total);
    let messages = scene.conversation.as_ref().map_or(0, |conversation| conversation.messages);
    let head = format!("{messages} messages; the next prompt has {used} tokens.\n{tiers}");
    let Some(conversation) = scene.conversation.as_ref() else { return Ok(scene.says(head)) };
    let report = scene.agent.conversations().context(&ConversationChoice::Id(conversation.id.clone())).await?;
    Ok(scene.says(format!("{head}\n{report}")))
}

/// Goes back to a kept moment.
pub(crate) async fn restore(scene: &Scene<'_>, moment: &str) -> Result<SlashReply, AgentError> {
    let Some(conversation) = scene.conversation.as_ref() else {
        return Ok(scene.says("There is no conversation yet."));
    };
    let wrong = |_| AgentError::Invalid(format!("`{moment}` is no number; `/context` lists kept moments"));
    let choice = ConversationChoice::Id(conversation.id.clone());
    let report = scene.agent.conversations().restore_snapshot(&choice, moment.parse().map_err(wrong)?).await?;
    Ok(scene.says(report.to_string()).after(conversation, &["window"]))
}

async fn resize(scene: &Scene<'_>, size: Option<WindowSize>) -> Result<SlashReply, AgentError> {
    let conversation = scene.found_or_new().await?;
    let to = size.map_or("the model's own".to_owned(), |size| format!("{} tokens", size.0));
    let text = match scene.agent.conversations().set_window(&conversation.id, size).await? {
        ChangeOutcome::Applied(_) => format!("The window is {to} from the next message on."),
        ChangeOutcome::Deferred => format!("An answer is under way; the window is {to} when that has ended."),
        ChangeOutcome::Unchanged => format!("The window is {to} already."),
    };
    let tiers = scene.agent.conversations().tiers(&ConversationChoice::Id(conversation.id.clone())).await?;
    Ok(scene.says(format!("{text}\n{tiers}")).after(&conversation, &["window"]))
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
