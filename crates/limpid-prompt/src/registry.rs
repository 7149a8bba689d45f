//! The prompt registry: everything that can be chosen as a skill, from wherever it was registered.
//!
//! There is one in a process. What is built in, what the owner keeps and what servers offer stand over one another: an
//! owner's prompt takes the place of a built-in one, and a server's takes nobody's. Whatever was covered is
//! there again when the cover goes.

mod select;

pub use select::{Occasion, select};

use std::collections::BTreeSet;

use limpid_core::{Skill, SkillName, Trust};

use crate::inputs::SkillSource;

/// Where a prompt was registered from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptSource {
    /// It is built into the program.
    Static,
    /// A server of the Model Context Protocol offers it.
    Mcp {
        /// The server's name.
        server: String,
    },
    /// The owner keeps it: a skill's folder, a file, an entry of `limpid.toml`.
    Config,
}

impl PromptSource {
    /// The source's name: `static`, `mcp` or `config`.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Mcp { .. } => "mcp",
            Self::Config => "config",
        }
    }
}

/// One registered prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisteredPrompt {
    /// What it says and what calls for it.
    pub skill: Skill,
    /// Where it was registered from.
    pub source: PromptSource,
    /// Which part of the index it belongs to.
    pub shelf: SkillSource,
    /// Where its text can be read: a path, or how errors name the place.
    pub location: String,
    /// Files that come with it, by path inside its folder.
    pub files: Vec<String>,
    /// Whether it was taken from elsewhere; the owner's own come first.
    pub installed: bool,
    /// When it was registered, in milliseconds since 1970.
    pub registered_at_ms: i64,
}

impl RegisteredPrompt {
    /// A prompt of the owner's or of the program's, without files.
    pub fn new(skill: Skill, source: PromptSource, location: impl Into<String>, registered_at_ms: i64) -> Self {
        let shelf = if source == PromptSource::Static { SkillSource::Builtin } else { SkillSource::Global };
        Self { skill, source, shelf, location: location.into(), files: Vec::new(), installed: false, registered_at_ms }
    }

    /// The name that it is chosen by; the same for every spelling.
    pub fn id(&self) -> String {
        self.skill.name.key()
    }

    /// Its name for people.
    pub fn name(&self) -> &str {
        self.skill.heading()
    }

    /// Its text.
    pub fn content(&self) -> &str {
        &self.skill.body
    }

    /// What it is for.
    pub fn description(&self) -> Option<&str> {
        Some(self.skill.description.as_str()).filter(|text| !text.is_empty())
    }

    /// Tools without which it is left out.
    pub fn required_tools(&self) -> &[String] {
        &self.skill.required_tools
    }

    /// Words to find it by.
    pub fn tags(&self) -> &[String] {
        &self.skill.tags
    }

    /// The server that offers it, if one does.
    pub fn server_name(&self) -> Option<&str> {
        match &self.source {
            PromptSource::Mcp { server } => Some(server),
            PromptSource::Static | PromptSource::Config => None,
        }
    }

    /// Who wrote it: what a server says is a stranger's text.
    pub const fn trust(&self) -> Trust {
        match self.source {
            PromptSource::Mcp { .. } => Trust::Outside,
            PromptSource::Static | PromptSource::Config => Trust::File,
        }
    }
}

/// Why a prompt was not registered, or is not seen: another one has its id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{by} has the id `{id}` already")]
pub struct Taken {
    /// The id.
    pub id: SkillName,
    /// What has it: `built-in`, a location, or a server.
    pub by: String,
}

/// Every prompt that can be chosen.
#[derive(Clone, Debug, Default)]
pub struct PromptRegistry {
    prompts: Vec<RegisteredPrompt>,
}

impl PromptRegistry {
    /// Registers a prompt. The same server may replace its own.
    ///
    /// # Errors
    /// When it may not have that id: the owner's prompts are in the order of precedence, so that the first wins; a server
    /// replaces nobody's.
    pub fn register(&mut self, prompt: RegisteredPrompt) -> Result<(), Taken> {
        let rival = self.prompts.iter().filter(|known| known.skill.name == prompt.skill.name).find(|known| {
            match (&prompt.source, &known.source) {
                (PromptSource::Config, PromptSource::Config) | (PromptSource::Static, PromptSource::Static) => true,
                (PromptSource::Config | PromptSource::Static, _) => false,
                (PromptSource::Mcp { .. }, theirs) => *theirs != prompt.source,
            }
        });
        if let Some(rival) = rival {
            return Err(taken(rival));
        }
        self.prompts.retain(|known| known.skill.name != prompt.skill.name || known.source != prompt.source);
        self.prompts.push(prompt);
        Ok(())
    }

    /// The prompt that an id means: the owner's before the built-in one, a server's last.
    pub fn get(&self, id: &str) -> Option<&RegisteredPrompt> {
        self.prompts.iter().filter(|prompt| prompt.skill.name.is(id)).min_by_key(|prompt| rank(&prompt.source))
    }

    /// What can be chosen, in the order of precedence.
    pub fn prompts(&self) -> impl Iterator<Item = &RegisteredPrompt> {
        self.prompts.iter().filter(|prompt| self.covering(prompt).is_none())
    }

    /// What was registered and is not seen, with what covers it.
    pub fn covered(&self) -> impl Iterator<Item = (&RegisteredPrompt, Taken)> {
        self.prompts.iter().filter_map(|prompt| Some((prompt, taken(self.covering(prompt)?))))
    }

    /// What can be chosen and bears a tag.
    pub fn by_tag<'a>(&'a self, tag: &'a str) -> impl Iterator<Item = &'a RegisteredPrompt> {
        self.prompts().filter(move |prompt| prompt.tags().iter().any(|known| known == tag))
    }

    /// What can be chosen and was registered from a source: `static`, `mcp` or `config`.
    pub fn by_source<'a>(&'a self, source: &'a str) -> impl Iterator<Item = &'a RegisteredPrompt> {
        self.prompts().filter(move |prompt| prompt.source.as_str() == source)
    }

    /// Takes out exactly what a server offered.
    pub fn clear_mcp(&mut self, server: &str) {
        self.prompts.retain(|prompt| prompt.server_name() != Some(server));
    }

    /// The servers that offer a prompt, by name.
    pub fn servers(&self) -> BTreeSet<String> {
        self.prompts.iter().filter_map(|prompt| prompt.server_name()).map(str::to_owned).collect()
    }

    /// Takes out what the owner keeps, before it is read anew.
    pub fn clear_config(&mut self) {
        self.prompts.retain(|prompt| prompt.source != PromptSource::Config);
    }

    fn covering(&self, prompt: &RegisteredPrompt) -> Option<&RegisteredPrompt> {
        self.get(prompt.skill.name.as_str()).filter(|first| first.source != prompt.source)
    }
}

const fn rank(source: &PromptSource) -> u8 {
    match source {
        PromptSource::Config => 0,
        PromptSource::Static => 1,
        PromptSource::Mcp { .. } => 2,
    }
}

fn taken(by: &RegisteredPrompt) -> Taken {
    let who = match &by.source {
        PromptSource::Static => "a built-in skill".to_owned(),
        PromptSource::Mcp { server } => format!("the server {server}"),
        PromptSource::Config => by.location.clone(),
    };
    Taken { id: by.skill.name.clone(), by: who }
}

#[cfg(test)]
mod tests;
