//! Prompts of servers, which can be chosen as skills. Their texts are strangers', and none takes the place of another skill.

use limpid_core::skill::{MAX_DESCRIPTION, SkillName};
use limpid_core::{Skill, skill};
use limpid_mcp::{Connection, OfferedPrompt};
use limpid_prompt::registry::{PromptSource, RegisteredPrompt};

use crate::skills::Skills;

/// Prompts of one server that are registered.
const MOST: usize = 50;

/// Bytes of a prompt.
const MOST_BYTES: usize = 64 * 1024;

/// Registers what a server offers now in place of what it offered before. Returns the names of what cannot be chosen, and why.
pub(super) async fn register(
    skills: &Skills,
    server: &str,
    connection: &Connection,
    now_ms: i64,
) -> Vec<(String, String)> {
    let Ok(listed) = connection.prompts().await else { return Vec::new() };
    let mut left_out = Vec::new();
    let mut prompts = Vec::new();
    for offered in listed.items.iter().take(MOST) {
        match read(server, connection, offered, now_ms).await {
            Ok(prompt) => prompts.push(prompt),
            Err(why) => left_out.push((offered.name.clone(), why)),
        }
    }
    skills.forget_server(server);
    for prompt in prompts {
        let id = prompt.id();
        if let Err(taken) = skills.register(prompt) {
            left_out.push((id, taken.to_string()));
        }
    }
    left_out
}

async fn read(
    server: &str,
    connection: &Connection,
    offered: &OfferedPrompt,
    now_ms: i64,
) -> Result<RegisteredPrompt, String> {
    if offered.needs_arguments {
        return Err("it needs arguments, which a skill has none of".to_owned());
    }
    let name: SkillName = plain(&offered.name).parse().map_err(|bad: skill::BadName| bad.to_string())?;
    let text = connection.prompt(&offered.name).await.map_err(|error| error.sentence(server).text().to_owned())?;
    if text.trim().is_empty() || text.len() > MOST_BYTES {
        return Err(format!("its text has {} bytes, at most {MOST_BYTES} are taken", text.len()));
    }
    let about = if offered.description.trim().is_empty() { &offered.name } else { &offered.description };
    let about: String = about.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_DESCRIPTION).collect();
    let mut skill = Skill::new(name, about, text);
    skill.title.clone_from(&offered.title);
    Ok(RegisteredPrompt::new(skill, PromptSource::Mcp { server: server.to_owned() }, format!("mcp:{server}"), now_ms))
}

/// A name with single hyphens in the place of whatever no skill's name holds.
fn plain(name: &str) -> String {
    let parts = name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-")
}
