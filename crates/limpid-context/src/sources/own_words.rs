//! What the owner says of their agent in every prompt: its name, the soul, the safety rules, and instructions of the
//! settings. A chat's prompt and a scenario's have them from here.

use std::collections::BTreeMap;
use std::path::PathBuf;

use limpid_config::{Config, Home};
use limpid_prompt::Profile;
use limpid_prompt::inputs::Inputs;
use limpid_services::error::AgentError;
use limpid_services::profiles::{Identity, ProfileRegistry, identity_files};

/// Adds them as they stand in the files now. A file that cannot be read as text is told of.
///
/// # Errors
/// When a file of the owner's cannot be read.
pub fn fill(
    (home, config, profiles): (&Home, &Config, &ProfileRegistry),
    profile: &Profile,
    inputs: &mut Inputs,
    notices: &mut Vec<String>,
) -> Result<(), AgentError> {
    inputs.agent_name.clone_from(config.agent.name.as_ref().unwrap_or(&profile.behaviour().agent_name));
    let shown = Identity { home, profile, agent_name: &inputs.agent_name };
    let mut own = |(section, file): (&str, PathBuf)| {
        if let Some(tried) = profiles.tried(&format!("{section}.md")) {
            return Ok(Some(tried.to_owned()));
        }
        let read = shown.own_text(section, &file)?;
        notices.extend(read.as_ref().and_then(|read| read.notice(&format!("{section}.md"))));
        Ok::<_, AgentError>(read.map(|read| read.text))
    };
    let [soul, safety] = identity_files(home);
    let (soul, safety) = (own(soul)?, own(safety)?);
    (inputs.soul, inputs.safety) = (soul, safety);
    inputs.additional_instructions.clone_from(&config.prompt.additional_instructions);
    inputs.use_sanity_checks = config.prompt.sanity_checks;
    inputs.origins = origins();
    Ok(())
}

/// Where the texts of the owner's come from.
fn origins() -> BTreeMap<String, String> {
    let file = "limpid.toml";
    let files = [
        ("soul", "soul.md"),
        ("safety", "safety.md"),
        ("additional_instructions", file),
        ("memory.instructions", file),
    ];
    files.into_iter().map(|(field, file)| (field.to_owned(), format!("home:{file}"))).collect()
}
