//! `prompt diff`: two profiles, paths, revisions or requests side by side.

use std::path::Path;

use limpid_model::tokens::ExactCounter;
use limpid_prompt::diff::PromptDiff;
use limpid_prompt::inputs::Inputs;
use limpid_prompt::scenario::EXAMPLE_INPUTS;
use limpid_prompt::{Prompt, RenderRequest};
use limpid_runtime::compare::WholeTexts;
use limpid_runtime::{line_diff, recorded};

use super::inputs_file::read_inputs;
use super::ledger;
use crate::commands::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Compares two things, each a profile, a path, a `profile:path`, a request's id or a revision.
pub(super) async fn run(context: &Context, names: [&str; 2], inputs: Option<&Path>, json: bool) -> Result<(), Failure> {
    let given = match inputs {
        Some(file) => read_inputs(file)?,
        None => Inputs::from_json(EXAMPLE_INPUTS).map_err(|error| Failure::new(ExitStatus::Failed, error))?,
    };
    let (older, newer) = (side(context, names[0], &given).await?, side(context, names[1], &given).await?);
    let diff = older.prompt.diff(&newer.prompt);
    if json {
        return output::json("diff", &diff);
    }
    if inputs.is_none() && (older.is_rendered || newer.is_rendered) {
        output::tell(
            "Profiles and paths are filled with an example; your soul, safety rules and memories are not in it. \
             Use --inputs FILE to fill them with other data.",
        );
    }
    print(names, &older.prompt, &newer.prompt, &diff)
}

/// One of the two that are compared.
struct Side {
    prompt: Prompt,
    /// Whether it was made from inputs, and not sent as it is.
    is_rendered: bool,
}

async fn side(context: &Context, name: &str, inputs: &Inputs) -> Result<Side, Failure> {
    let rendered = |prompt| Side { prompt, is_rendered: true };
    let (profile, path) = name.split_once(':').map_or((name, None), |(profile, path)| (profile, Some(path)));
    let usual = if inputs.model.local { "chat-local" } else { "chat-remote" };
    if let Ok(profile) = context.profiles()?.get(profile) {
        let path = path.unwrap_or(usual);
        let counter = ExactCounter::O200K;
        let request = RenderRequest { path, inputs, counter: &counter, count_tokens: false };
        return profile.render(request).map(rendered).map_err(|error| Failure::new(ExitStatus::Usage, error));
    }
    if let Ok(prompt) = context.profile(None)?.render(RenderRequest {
        path: name,
        inputs,
        counter: &limpid_prompt::Estimate::default(),
        count_tokens: false,
    }) {
        return Ok(rendered(prompt));
    }
    let sent = ledger::find(&context.agent()?, name).await?;
    Ok(Side { prompt: recorded(&sent, true), is_rendered: false })
}

fn print(names: [&str; 2], older: &Prompt, newer: &Prompt, diff: &PromptDiff) -> Result<(), Failure> {
    let rows: Vec<Vec<String>> = diff
        .sections
        .iter()
        .map(|change| {
            vec![
                change.section.clone(),
                format!("{:?}", change.change).to_lowercase(),
                change.before.to_string(),
                change.after.to_string(),
            ]
        })
        .collect();
    if rows.is_empty() {
        output::line("The texts are the same.")?;
    } else {
        output::line(&output::table(&["section", "change", "before", "after"], &rows))?;
    }
    let end = diff.prefix.broken_by.as_ref().map_or_else(String::new, |section| format!(", up to `{section}`"));
    output::line(&format!(
        "Shared from the start: {} messages, {} bytes{end}.",
        diff.prefix.messages, diff.prefix.bytes
    ))?;
    let WholeTexts { notice, old, new } = WholeTexts::of(older, newer);
    if let Some(notice) = notice {
        output::line(&notice)?;
    }
    let text = line_diff(old.as_str(), new.as_str());
    output::data(&text.unified_diff().header(names[0], names[1]).to_string())
}
