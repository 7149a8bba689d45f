//! Writing a home folder: the configuration, and the agent's soul and safety rules to edit (SUR-003, KOSHI-003).
//! Nothing that is there is overwritten.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use limpid_core::memory::MemoryPolicy;
use limpid_prompt::Profile;
use limpid_prompt::profile::{Behaviour, DEFAULT_PROFILE, shipped_template};

use crate::config::{AgentConfig, Config};
use crate::error::AgentError;
use crate::home::Home;
use crate::profile_files::shipped_text;
use crate::prompts::Prompts;

/// What the person was asked; empty: not said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// What the agent calls them.
    pub name: String,
    /// The model: `provider/model`.
    pub model: String,
    /// Their time zone.
    pub zone: String,
    /// The profile.
    pub profile: String,
}

/// What became of the files of a home folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Files that were made.
    pub made: Vec<PathBuf>,
    /// Files that were there and stay as they are.
    pub kept: Vec<PathBuf>,
}

impl Written {
    fn add(&mut self, other: Self) {
        self.made.extend(other.made);
        self.kept.extend(other.kept);
    }
}

/// Makes the home folder with `limpid.toml` and the files that the profile's prompts read: `soul.md`, `safety.md`, and
/// those of the workspace that there is a template for.
///
/// # Errors
/// When a folder or file cannot be written.
pub fn write_home(home: &Home, answers: &Answers) -> Result<Written, AgentError> {
    let mut written = Written::default();
    make_folder(home.path())?;
    make_folder(&home.workspace())?;
    let text = configuration(answers);
    put(&home.config(), &text, &mut written)?;
    let config = Config::parse(&text, "limpid.toml").map_err(|error| AgentError::Invalid(error.to_string()))?;
    match profile_of(home, &config.agent) {
        Ok(profile) => write_what_is_read(home, &config, &profile, &mut written)?,
        // A profile that does not exist yet starts with the files of the default one.
        Err(_) => written.add(write_identity(home, &config)?),
    }
    Ok(written)
}

/// Writes the files that prompts of a profile read.
fn write_what_is_read(
    home: &Home,
    config: &Config,
    profile: &Profile,
    written: &mut Written,
) -> Result<(), AgentError> {
    for (section, path) in identity(home) {
        if profile.reads(section) {
            put(&path, &shipped_body(home, &config.agent, section), written)?;
        }
    }
    let workspace = home.workspace();
    let mut templates: Vec<(&str, PathBuf)> =
        profile.file_order().iter().map(|name| (name.as_str(), workspace.join(name))).collect();
    if profile.behaviour().memory == MemoryPolicy::Files {
        templates.push(("MEMORY.md", workspace.join("memory/MEMORY.md")));
    }
    if profile.behaviour().heartbeat.create_checklist {
        templates.push(("HEARTBEAT.md", workspace.join("HEARTBEAT.md")));
    }
    for (name, path) in templates {
        let Some(template) = shipped_template(name) else { continue };
        path.parent().map(make_folder).transpose()?;
        put(&path, template, written)?;
    }
    Ok(())
}

fn profile_of(home: &Home, agent: &AgentConfig) -> Result<Arc<Profile>, AgentError> {
    Prompts::new(home.clone()).load_one(&agent.profile)?.profile(&agent.profile)
}

/// The files of the home that are sections of prompts.
fn identity(home: &Home) -> [(&'static str, PathBuf); 2] {
    [("soul", home.soul()), ("safety", home.safety())]
}

/// Copies out the shipped soul and safety rules of the profile that is set, to be edited.
///
/// # Errors
/// When a file cannot be written.
pub fn write_identity(home: &Home, config: &Config) -> Result<Written, AgentError> {
    let mut written = Written::default();
    make_folder(home.path())?;
    for (section, path) in identity(home) {
        put(&path, &shipped_body(home, &config.agent, section), &mut written)?;
    }
    Ok(written)
}

/// The text of a section that the profile has from what ships, without its front matter. What the text takes from the
/// settings is filled in, because the owner's file is taken as it is.
fn shipped_body(home: &Home, agent: &AgentConfig, section: &str) -> String {
    // A profile that does not exist yet starts with the texts of the default one.
    let (lineage, usual_name) = profile_of(home, agent).map_or_else(
        |_| (vec![DEFAULT_PROFILE.to_owned()], Behaviour::default().agent_name),
        |profile| (profile.lineage().map(str::to_owned).collect(), profile.behaviour().agent_name.clone()),
    );
    let text =
        lineage.iter().find_map(|name| shipped_text(&format!("{name}/sections/{section}.md"))).unwrap_or_default();
    let body = limpid_prompt::workspace::split_front_matter(&text).1;
    body.replace("{{ agent_name }}", agent.name.as_ref().unwrap_or(&usual_name))
}

fn configuration(answers: &Answers) -> String {
    let quoted = |text: &str| toml::Value::from(text).to_string();
    let line = |key: &str, value: &str, example: &str| match value.trim() {
        "" => format!("# {key} = {}\n", quoted(example)),
        value => format!("{key} = {}\n", quoted(value)),
    };
    let profile = if answers.profile.trim().is_empty() { DEFAULT_PROFILE } else { &answers.profile };
    [
        "# What Limpid does on this machine. Every key may be left out.\n\n".to_owned(),
        "# The model that answers; without it, whatever is found: a key, a local server, a fetched model.\n".to_owned(),
        line("model", &answers.model, "openai/gpt-6-luna"),
        "\n[agent]\n".to_owned(),
        line("profile", profile, DEFAULT_PROFILE),
        "\n[owner]\n".to_owned(),
        line("name", &answers.name, "Ada"),
        line("zone", &answers.zone, "Europe/Berlin"),
    ]
    .concat()
}

fn make_folder(folder: &Path) -> Result<(), AgentError> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    // Nobody but the owner reads what is in here (SEC-033).
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(AgentError::file(folder))
}

/// Writes a file that is not there yet.
fn put(path: &Path, text: &str, written: &mut Written) -> Result<(), AgentError> {
    match std::fs::File::create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => written.kept.push(path.to_owned()),
        other => {
            other.and_then(|mut file| file.write_all(text.as_bytes())).map_err(AgentError::file(path))?;
            written.made.push(path.to_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    // SUR-003 KOSHI-003
    #[test]
    fn a_home_is_written_once_and_never_over_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().join("home"));
        let answers = Answers { name: "Ada \"A\"".into(), zone: "Europe/Berlin".into(), ..Answers::default() };
        let first = write_home(&home, &answers).unwrap();
        assert_eq!(first.made, [home.config(), home.soul(), home.safety()]);
        let config = std::fs::read_to_string(home.config()).unwrap();
        let soul = std::fs::read_to_string(home.soul()).unwrap();
        insta::assert_snapshot!(format!("{config}\n--- soul.md\n{soul}"));
        assert_eq!(Config::parse(&config, "limpid.toml").unwrap().owner.name.as_deref(), Some("Ada \"A\""));

        std::fs::write(home.soul(), "Mine.").unwrap();
        let second = write_home(&home, &Answers::default()).unwrap();
        assert_eq!((second.made.len(), second.kept.len()), (0, 3));
        assert_eq!(std::fs::read_to_string(home.soul()).unwrap(), "Mine.");
        assert_eq!(std::fs::read_to_string(home.config()).unwrap(), config);
    }

    // SUR-003
    #[test]
    fn the_files_are_those_that_the_profile_reads() {
        let made = |profile: &str| {
            let folder = tempfile::tempdir().unwrap();
            let home = Home::new(folder.path());
            let answers = Answers { profile: profile.to_owned(), ..Answers::default() };
            let written = write_home(&home, &answers).unwrap();
            let names = written.made.iter().map(|path| path.strip_prefix(folder.path()).unwrap().display().to_string());
            names.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(made("limpid"), "limpid.toml soul.md safety.md");
        assert_eq!(made("koshi"), "limpid.toml soul.md safety.md");
        assert_eq!(made("picoclaw"), "limpid.toml workspace/USER.md workspace/memory/MEMORY.md workspace/HEARTBEAT.md");
    }
}
