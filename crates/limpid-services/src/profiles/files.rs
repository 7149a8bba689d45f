//! The owner's files of profiles: copied out, started anew, put back, compared with what ships. Nothing here overwrites a file that the owner changed; a copy that nobody changed follows what ships.
//!
//! Beside a copy stands a hidden file with the shipped text that it was copied from (`.soul.md.shipped`). When the
//! program brings a newer text, that one is written beside it too (`.soul.md.new`); the owner's file stays.

use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use limpid_config::{Home, MAX_FILE, regular_file};
use limpid_prompt::{Profile, Profiles};

use crate::error::AgentError;

/// A file of the owner's that stands in place of a shipped one, and how the two compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnFile {
    /// Its path inside the folder of profiles: `kai/sections/soul.md`; `soul.md` and `safety.md` stand in the home.
    pub path: String,
    /// Where it is.
    pub file: PathBuf,
    /// How it compares.
    pub state: OwnState,
    /// The owner's text.
    pub own: String,
    /// The text that holds without it: what ships, or what the base of an own profile lends.
    pub shipped: Option<String>,
}

/// How a file of the owner's compares with what ships.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnState {
    /// Nothing ships under that path.
    Added,
    /// It says what ships.
    Same,
    /// The owner changed it.
    Changed,
    /// What ships has changed since it was copied; the new text is beside it.
    ShippedIsNewer,
}

impl OwnState {
    /// The state's name, as listings and `--json` write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Same => "same",
            Self::Changed => "changed",
            Self::ShippedIsNewer => "shipped-is-newer",
        }
    }
}

impl fmt::Display for OwnState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text that ships under a path of the folder of profiles.
pub fn shipped_text(path: &str) -> Option<String> {
    limpid_prompt::profile::shipped_text(path).map(str::to_owned)
}

/// Every file of the owner's in the folder of profiles, with how it compares, by path.
///
/// A newer shipped text is written beside a file that the owner changed, once, and into a copy that nobody changed.
///
/// # Errors
/// When a file cannot be read, or the newer text cannot be written.
pub fn status(home: &Home) -> Result<Vec<OwnFile>, AgentError> {
    let root = home.profiles();
    let files = limpid_prompt::fs::read_profiles(&root, limpid_prompt::Layer::Home, &regular_file::read)
        .map_err(AgentError::file(&root))?;
    let mut rows = Vec::new();
    for found in files
        .into_iter()
        .filter(|found| !found.path.split('/').any(|name| name.starts_with('.') || name.ends_with('~')))
    {
        let file = root.join(&found.path);
        let own = String::from_utf8_lossy(&found.bytes).into_owned();
        let shipped = lent_text(home, &found.path);
        let state = compare(&file, &own, shipped.as_deref()).map_err(AgentError::file(&file))?;
        // A copy that followed says what ships.
        let own = shipped.clone().filter(|_| state == OwnState::Same).unwrap_or(own);
        rows.push(OwnFile { path: found.path, file, state, own, shipped });
    }
    Ok(rows)
}

fn compare(file: &Path, own: &str, shipped: Option<&str>) -> io::Result<OwnState> {
    let Some(shipped) = shipped else { return Ok(OwnState::Added) };
    if own == shipped {
        return Ok(OwnState::Same);
    }
    let base = match regular_file::read_text(&beside(file, "shipped"), MAX_FILE) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        other => Some(other?),
    };
    if base.as_deref() == Some(own) {
        // Nobody has edited the copy, so it follows what ships.
        fs::write(file, shipped)?;
        fs::write(beside(file, "shipped"), shipped)?;
        return Ok(OwnState::Same);
    }
    if base.is_some_and(|base| base != shipped) {
        let newer = beside(file, "new");
        if regular_file::read_text(&newer, MAX_FILE).ok().as_deref() != Some(shipped) {
            fs::write(newer, shipped)?;
        }
        return Ok(OwnState::ShippedIsNewer);
    }
    Ok(OwnState::Changed)
}

/// The text that holds under a path of the folder of profiles without the owner's file there: what ships, else what the
/// nearest base lends. A manifest is lent by nobody.
pub(crate) fn lent_text(home: &Home, path: &str) -> Option<String> {
    if let Some(text) = shipped_text(path) {
        return Some(text);
    }
    let (name, rest) = path.split_once('/').filter(|(_, rest)| *rest != MANIFEST && !climbs(path))?;
    let mut seen = vec![name.to_owned()];
    loop {
        let base = base_of(home, seen.last()?).filter(|base| is_name(base) && !seen.contains(base))?;
        let lent = format!("{base}/{rest}");
        if let Some(text) =
            regular_file::read_text(&home.profiles().join(&lent), MAX_FILE).ok().or_else(|| shipped_text(&lent))
        {
            return Some(text);
        }
        seen.push(base);
    }
}

/// The base that a profile's manifest names; a manifest that cannot be read is reported where the profile is loaded.
fn base_of(home: &Home, name: &str) -> Option<String> {
    let path = format!("{name}/{MANIFEST}");
    let manifest =
        regular_file::read_text(&home.profiles().join(&path), MAX_FILE).ok().or_else(|| shipped_text(&path))?;
    Some(manifest.parse::<toml::Table>().ok()?.get("base")?.as_str()?.to_owned())
}

/// The owner's copy of a file of a profile, made from the text that ships or that a base lends when there is none yet.
///
/// # Errors
/// When there is no such text and the owner has no such file, or the copy cannot be written.
pub fn copy_out(home: &Home, path: &str) -> Result<PathBuf, AgentError> {
    let file = home.profiles().join(path);
    if file.is_file() && !climbs(path) {
        return Ok(file);
    }
    let Some(text) = lent_text(home, path) else {
        return Err(AgentError::Invalid(format!(
            "nothing ships as profiles/{path}; `limpid profile show NAME` lists a profile's files"
        )));
    };
    write_new(&file, &text)?;
    write_base(&file, &text)?;
    Ok(file)
}

/// Writes a copy of what ships over one that nobody changed, or where there is none.
pub(crate) fn write_copy(file: &Path, text: &str) -> Result<(), AgentError> {
    fs::write(file, text).map_err(AgentError::file(file))?;
    write_base(file, text)
}

/// Writes down what a copy was copied from.
///
/// # Errors
/// When it cannot be written.
pub fn write_base(file: &Path, text: &str) -> Result<(), AgentError> {
    let base = beside(file, "shipped");
    fs::write(&base, text).map_err(AgentError::file(&base))
}

/// The file that a section of a profile is read from, inside the folder of profiles; that of a base where the profile has
/// none of its own.
pub fn file_of_section(profile: &Profile, section: &str) -> Option<String> {
    let section = profile.section(section)?;
    let form = section.forms.get(limpid_core::Tier::ALL[2])?;
    Some(form.source.path.clone())
}

/// The file that a section of a profile is edited in: always one of the profile itself, so that an edit changes no other
/// profile.
pub fn own_file_of_section(profile: &Profile, section: &str) -> Option<String> {
    own_path(profile, &file_of_section(profile, section)?)
}

/// The same of the text of a tool.
pub fn own_file_of_tool(profile: &Profile, tool: &str) -> Option<String> {
    own_path(profile, &profile.tool(tool)?.source.path)
}

fn own_path(profile: &Profile, source: &str) -> Option<String> {
    let (_, rest) = source.split_once('/')?;
    Some(format!("{}/{rest}", profile.name()))
}

/// Starts a profile of the owner's from another one: its `profile.toml` names the other as its base, and what it does not
/// say holds as the base says it, also after an update.
///
/// # Errors
/// When the name is not made of `a-z`, `0-9` and dashes, is taken, or the other profile does not exist.
pub fn start_profile(home: &Home, profiles: &Profiles, name: &str, from: &str) -> Result<PathBuf, AgentError> {
    if !is_name(name) {
        return Err(AgentError::Invalid(format!(
            "`{name}` is no name for a profile; use a-z, 0-9 and dashes, at most 32"
        )));
    }
    if profiles.iter().any(|profile| profile.name() == name) {
        return Err(AgentError::Invalid(format!("there is a profile `{name}` already; choose another name")));
    }
    let base = profiles.get(from).map_err(|error| AgentError::Prompt(error.to_string()))?.name();
    let file = home.profiles().join(name).join(MANIFEST);
    let manifest = format!(
        "# What this file leaves out holds as the profile {base} says it: `limpid profile show {name}` prints it.\n\
         title = \"{name}\"\nabout = \"Your profile, made from {base}.\"\nbase = \"{base}\"\n"
    );
    write_new(&file, &manifest)?;
    Ok(file)
}

/// Puts the shipped text back in place of a file of the owner's, which is kept beside it with a `~` at its end.
///
/// # Errors
/// When the owner has no such file, nothing ships in its place, or it cannot be renamed.
pub fn reset(home: &Home, path: &str) -> Result<PathBuf, AgentError> {
    let file = home.profiles().join(path);
    if climbs(path) || !file.is_file() {
        return Err(AgentError::Invalid(format!(
            "you have no profiles/{path}; `limpid prompt status` lists your files"
        )));
    }
    if lent_text(home, path).is_none() {
        return Err(AgentError::Invalid(format!(
            "nothing ships as profiles/{path}; remove {} yourself",
            file.display()
        )));
    }
    let kept = file.with_file_name(format!("{}~", file.file_name().unwrap_or_default().to_string_lossy()));
    fs::rename(&file, &kept).map_err(AgentError::file(&file))?;
    for ending in ["shipped", "new"] {
        let _ = fs::remove_file(beside(&file, ending));
    }
    Ok(kept)
}

pub(super) const MANIFEST: &str = "profile.toml";

fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=32).contains(&name.len()) && name.bytes().all(plain) && name.as_bytes()[0] != b'-'
}

/// Whether a path leads out of the folder that it starts in.
fn climbs(path: &str) -> bool {
    path.split('/').any(|part| part == "..")
}

pub(crate) fn beside(file: &Path, ending: &str) -> PathBuf {
    file.with_file_name(format!(".{}.{ending}", file.file_name().unwrap_or_default().to_string_lossy()))
}

/// Writes a file that must not exist yet, with the folders above it.
fn write_new(file: &Path, text: &str) -> Result<(), AgentError> {
    let write = || {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        #[expect(clippy::disallowed_methods, reason = "it is made here, and fails where something is")]
        let mut out = fs::OpenOptions::new().write(true).create_new(true).open(file)?;
        io::Write::write_all(&mut out, text.as_bytes())
    };
    write().map_err(AgentError::file(file))
}

#[cfg(test)]
mod tests;
