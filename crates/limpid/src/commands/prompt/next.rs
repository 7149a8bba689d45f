//! The prompt of the next turn, without sending it (PRO-050).

use limpid_prompt::Prompt;
use limpid_runtime::{ConversationChoice, PreviewRequest};

use crate::cli::ShowArgs;
use crate::commands::chat::choice;
use crate::commands::context::Context;
use crate::failure::Failure;

/// What the next turn would send.
pub(super) async fn prompt(context: &Context, args: &ShowArgs) -> Result<Prompt, Failure> {
    let agent = context.agent()?;
    let request = PreviewRequest {
        conversation: choice(args.conversation.as_deref(), &ConversationChoice::New),
        text: args.say.clone().unwrap_or_default(),
        profile: args.profile.clone(),
        mode: args.mode.clone(),
        model: args.model.clone(),
        path: args.what.clone(),
    };
    Ok(agent.prompt_preview(request).await?)
}
