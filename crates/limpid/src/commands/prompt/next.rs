//! The prompt of the next turn, without sending it.

use limpid_prompt::shown::shown_json;
use limpid_runtime::{ConversationChoice, PreviewRequest};

use super::print::print;
use crate::cli::ShowArgs;
use crate::commands::choice::choice;
use crate::commands::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Shows what the next turn would send.
pub(super) async fn show(context: &Context, args: &ShowArgs) -> Result<(), Failure> {
    let agent = context.agent()?;
    let request = PreviewRequest {
        conversation: choice(args.conversation.as_deref(), &ConversationChoice::New),
        text: args.say.clone().unwrap_or_default(),
        profile: args.profile.clone(),
        mode: args.mode.clone(),
        model: args.model.clone(),
        path: args.what.clone(),
    };
    let next = agent.preview(request).await?;
    if args.payload {
        let none = || {
            Failure::new(ExitStatus::Usage, "there is no model that it could go to")
                .advise("Name one: --model PROVIDER/MODEL")
        };
        let payload = next.payload.ok_or_else(none)?;
        output::tell(&format!("to {}", payload.target));
        // A body of JSON stays the same value; what a local model reads is text.
        return if payload.target.starts_with("local:") {
            output::data(&payload.body)
        } else {
            output::data(&shown_json(&payload.body))
        };
    }
    print(&next.prompt, args)?;
    match next.since.filter(|_| args.explain) {
        Some(since) => output::line(&since.to_string()),
        None => Ok(()),
    }
}
