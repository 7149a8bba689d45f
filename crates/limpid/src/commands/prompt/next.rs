//! The prompt of the next turn, without sending it.

use limpid_core::Usage;
use limpid_prompt::problem::Severity;
use limpid_prompt::shown::{shown_json, shown_line};
use limpid_prompt::{OfferedTool, Profile, Prompt};
use limpid_runtime::{ConversationChoice, Preview, PreviewRequest};

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
    let profiles = context.profiles()?;
    let broken = profiles.problems().iter().filter(|problem| problem.severity == Severity::Error);
    broken.for_each(|problem| output::tell(&problem.to_string()));
    next.notices.iter().for_each(|notice| output::tell_further_in(notice));
    if !args.explain || args.json || args.message.is_some() {
        return Ok(());
    }
    if !next.prompt.tools().is_empty() {
        let profile = context.profile(Some(next.prompt.profile()))?;
        output::line(&format!("\n{}", tools(&next.prompt, &profile)))?;
    }
    output::line(&cost(&next))?;
    match next.since {
        Some(since) => output::line(&since.to_string()),
        None => Ok(()),
    }
}

/// The declared tools with their sizes and the files that describe them.
fn tools(prompt: &Prompt, profile: &Profile) -> String {
    let row = |tool: &OfferedTool| {
        let origin = profile.tool(tool.name()).map(|text| text.source.to_string()).unwrap_or_default();
        vec![shown_line(tool.name()), tool.declaration().len().to_string(), origin]
    };
    let rows: Vec<Vec<String>> = prompt.tools().iter().map(row).collect();
    output::table(&["tool", "bytes", "origin"], &rows)
}

/// What it costs to have the prompt read.
fn cost(next: &Preview) -> String {
    let (Some(totals), Some(price)) = (next.prompt.totals(), &next.price) else {
        return "Price: unknown for this model; set it in models.toml of the home.".to_owned();
    };
    let money = price.of(Usage { input: totals.total as u64, ..Usage::default() });
    format!("Price: {money} to read it, if nothing is cached.")
}
