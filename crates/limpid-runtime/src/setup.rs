//! Writing a home folder: the configuration, and the agent's soul and safety rules to edit (SUR-003, KOSHI-003).
//! Nothing that is there is overwritten.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use limpid_prompt::profile::DEFAULT_PROFILE;

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

/// Makes the home folder with `limpid.toml`, `soul.md` and `safety.md`.
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
    let identity = write_identity(home, &config)?;
    written.made.extend(identity.made);
    written.kept.extend(identity.kept);
    Ok(written)
}

/// Copies out the shipped soul and safety rules of the profile that is set, to be edited.
///
/// # Errors
/// When a file cannot be written.
pub fn write_identity(home: &Home, config: &Config) -> Result<Written, AgentError> {
    let mut written = Written::default();
    make_folder(home.path())?;
    for (section, path) in [("soul", home.soul()), ("safety", home.safety())] {
        put(&path, &shipped_body(home, &config.agent, section), &mut written)?;
    }
    Ok(written)
}

/// The text of a section that the profile has from what ships, without its front matter. What the text takes from the
/// settings is filled in, because the owner's file is taken as it is.
fn shipped_body(home: &Home, agent: &AgentConfig, section: &str) -> String {
    let profile = Prompts::new(home.clone()).load_one(&agent.profile).and_then(|loaded| loaded.profile(&agent.profile));
    // A profile that does not exist yet starts with the texts of the default one.
    let lineage = profile
        .map_or_else(|_| vec![DEFAULT_PROFILE.to_owned()], |profile| profile.lineage().map(str::to_owned).collect());
    let text =
        lineage.iter().find_map(|name| shipped_text(&format!("{name}/sections/{section}.md"))).unwrap_or_default();
    let body = limpid_prompt::workspace::split_front_matter(&text).1;
    body.replace("{{ agent_name }}", &agent.name)
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
        line("model", &answers.model, "openai/gpt-5-mini"),
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
}
