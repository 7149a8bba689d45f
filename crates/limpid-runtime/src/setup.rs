//! Writing a home folder: the configuration, and the agent's soul and safety rules to edit.
//! Nothing that is there is overwritten.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use limpid_config::{AgentConfig, Config, Home};
use limpid_core::memory::MemoryPolicy;
use limpid_prompt::Profile;
use limpid_prompt::profile::{Behaviour, DEFAULT_PROFILE, shipped_template};
use limpid_services::error::AgentError;
use limpid_services::profiles::{Identity, ProfileRegistry, Reader, identity_files, identity_text, write_base};

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
        Err(_) => write_identity(home, &config, &mut written)?,
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
    let agent_name = config.agent.name.as_ref().unwrap_or(&profile.behaviour().agent_name);
    let shown = Identity { home, profile, agent_name };
    for (section, path) in identity_files(home) {
        if profile.reads(section) {
            put_copy(&path, &shown.profile_text(section), written)?;
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
    ProfileRegistry::new(home.clone()).profile(&agent.profile, Reader::Owner)
}

/// The file in which the owner edits a section of the profile that is set: `soul.md` and `safety.md` of the home, with
/// the profile's text until it is changed, or the profile's own file where the owner changed that one. None for every
/// other section.
///
/// # Errors
/// When there is no such profile, or a file cannot be read or written.
pub fn identity_file(home: &Home, config: &Config, section: &str) -> Result<Option<PathBuf>, AgentError> {
    let Some((_, file)) = identity_files(home).into_iter().find(|(name, _)| *name == section) else { return Ok(None) };
    make_folder(home.path())?;
    let profile = profile_of(home, &config.agent)?;
    let agent_name = config.agent.name.as_ref().unwrap_or(&profile.behaviour().agent_name);
    Ok(Some(Identity { home, profile: &profile, agent_name }.file_to_edit(section, file)?))
}

/// Copies out the soul and the safety rules of the default profile, for a profile that does not exist yet.
fn write_identity(home: &Home, config: &Config, written: &mut Written) -> Result<(), AgentError> {
    let usual = Behaviour::default().agent_name;
    let agent_name = config.agent.name.as_ref().unwrap_or(&usual);
    for (section, path) in identity_files(home) {
        put_copy(&path, &identity_text([DEFAULT_PROFILE], section, agent_name), written)?;
    }
    Ok(())
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
    // Nobody but the owner reads what is in here.
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(AgentError::file(folder))
}

/// Writes a copy of what ships, with what it was copied from beside it, where there is no file yet.
fn put_copy(path: &Path, text: &str, written: &mut Written) -> Result<(), AgentError> {
    put(path, text, written)?;
    if written.made.last().is_some_and(|made| made == path) { write_base(path, text) } else { Ok(()) }
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
mod identity_tests;

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
