//! `prompt`: what the model reads, before it is sent and after.

mod compare;
mod edit;
mod inputs_file;
mod ledger;
mod list;
mod next;
mod print;
mod test;

use limpid_model::tokens::ExactCounter;
use limpid_prompt::inputs::{Inputs, Quoted, TrustName};
use limpid_prompt::{Prompt, RenderError, RenderRequest};

pub(super) use edit::edit_file;
use inputs_file::read_inputs;
use print::print;

use super::context::Context;
use crate::cli::{ProfileCommand, PromptCommand, ShowArgs};
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Carries out `prompt …`.
///
/// # Errors
/// When a path, profile, conversation or request does not exist, a file is wrong, or a check finds something.
pub async fn run(context: &Context, command: &PromptCommand) -> Result<(), Failure> {
    match command {
        PromptCommand::Show(args) => show(context, args).await,
        PromptCommand::Edit { section, profile, path } => edit::run(context, section, profile.as_deref(), *path).await,
        PromptCommand::Diff { a, b, inputs, json } => compare::run(context, [a, b], inputs.as_deref(), *json).await,
        PromptCommand::Log { conversation, limit, json } => {
            ledger::log(context, conversation.as_deref(), *limit, *json).await
        }
        PromptCommand::List(args) => list::run(&context.agent()?, args).await,
        PromptCommand::Replay { id, model } => ledger::replay(context, id, model.as_deref()).await,
        PromptCommand::Check { profile, json } => {
            super::profile::run(context, &ProfileCommand::Check { name: profile.clone(), json: *json })
        }
        PromptCommand::Test { profile, accept } => test::run(context, profile.as_deref(), *accept),
        PromptCommand::Schema => {
            let schema = limpid_prompt::inputs::schema();
            output::json_line(&serde_json::to_string_pretty(&schema).unwrap_or_default())
        }
        PromptCommand::Status { json } => edit::status(context, *json),
    }
}

async fn show(context: &Context, args: &ShowArgs) -> Result<(), Failure> {
    if let Some(file) = &args.inputs {
        let inputs = read_inputs(file)?;
        return print(&render(context, args, &inputs)?, args);
    }
    let profile = context.profile(args.profile.as_deref())?;
    match args.what.as_deref() {
        Some(id) if profile.path(id).is_err() => ledger::show(context, id, args).await,
        _ => next::show(context, args).await,
    }
}

/// Renders a path with inputs from a file.
fn render(context: &Context, args: &ShowArgs, inputs: &Inputs) -> Result<Prompt, Failure> {
    let profile = context.profile(args.profile.as_deref())?;
    let mut inputs = inputs.clone();
    if let Some(text) = &args.say {
        inputs.user = Some(Quoted::new(text, TrustName::Owner));
    }
    if let Some(mode) = &args.mode {
        inputs.mode.clone_from(mode);
    }
    let usual = if inputs.model.local { "chat-local" } else { "chat-remote" };
    let path = args.what.as_deref().unwrap_or(usual);
    let counter = ExactCounter::O200K;
    let request = RenderRequest { path, inputs: &inputs, counter: &counter, count_tokens: true };
    profile.render(request).map_err(|error| {
        let status = match error {
            RenderError::UnknownPath(_) | RenderError::UnknownMode(_) => ExitStatus::Usage,
            RenderError::Overfull(_) => ExitStatus::Files,
        };
        Failure::new(status, error)
    })
}
