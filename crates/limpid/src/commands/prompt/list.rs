//! `prompt list`: what can be chosen as a skill, from wherever it was registered.

use limpid_prompt::registry::RegisteredPrompt;
use limpid_runtime::{Agent, SkillStatus};
use serde_json::{Value, json};

use crate::cli::PromptListArgs;
use crate::failure::Failure;
use crate::output;

/// Lists prompts by where they come from and by tag. Servers are connected to when theirs are wanted.
///
/// # Errors
/// When a folder or the store cannot be read.
pub(super) async fn run(agent: &Agent, args: &PromptListArgs) -> Result<(), Failure> {
    let wants = |source: &str| args.source.as_deref().is_none_or(|wanted| wanted == source);
    if wants("mcp") {
        for problem in agent.mcp().register_prompts().await {
            // A server worded the names in it.
            output::tell(&output::shown_line(&problem));
        }
    }
    let ready = agent.skills().list().await?.into_iter().filter(|skill| skill.status == SkillStatus::Ready);
    let mut prompts: Vec<RegisteredPrompt> = ready.filter_map(|skill| skill.prompt).collect();
    prompts.retain(|prompt| wants(prompt.source.as_str()));
    prompts.retain(|prompt| args.tag.iter().all(|tag| prompt.tags().contains(tag)));
    agent.mcp().close().await;
    if args.json {
        return output::json("prompts", &prompts.iter().map(shape).collect::<Vec<_>>());
    }
    if prompts.is_empty() {
        output::tell("No prompt is like that.");
        return Ok(());
    }
    let line = |prompt: &RegisteredPrompt| {
        let source = match prompt.server_name() {
            Some(server) => format!("mcp {server}"),
            None => prompt.source.as_str().to_owned(),
        };
        vec![prompt.id(), source, prompt.tags().join(", "), prompt.description().unwrap_or_default().to_owned()]
    };
    let lines: Vec<Vec<String>> = prompts.iter().map(line).collect();
    output::line(&output::table(&["prompt", "source", "tags", "what it is for"], &lines))
}

fn shape(prompt: &RegisteredPrompt) -> Value {
    json!({
        "id": prompt.id(), "name": prompt.name(), "description": prompt.description(), "source": prompt.source.as_str(),
        "server": prompt.server_name(), "tags": prompt.tags(), "required_tools": prompt.required_tools(),
        "registered_at_ms": prompt.registered_at_ms,
    })
}
