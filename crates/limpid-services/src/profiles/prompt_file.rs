//! Files that prompts are made from: which there are, what surfaces call them by, and what they say, be it a text of the owner's or
//! the one that ships.

use std::collections::BTreeSet;

use limpid_config::{Home, MAX_FILE, read_text, regular_file};
use limpid_prompt::Profile;
use limpid_prompt::profile::shipped_files;
use limpid_prompt::prompt::hash_of;

use crate::error::AgentError;
use crate::profiles::files::{MANIFEST, beside, lent_text, own_file_of_section};
use crate::profiles::identity::{Identity, identity_files, is_untouched};
use crate::profiles::kept;

/// A file of the home that prompts are made from, whether it is there yet or not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PromptFile {
    /// Its path in the home: `soul.md`, `profiles/limpid/sections/acting.md`.
    pub path: String,
}

/// What such a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptFileText {
    /// The text that holds.
    pub text: String,
    /// What the owner's file says, where there is one.
    pub there: Option<String>,
    /// The text that holds without the owner's: what ships, or what a base lends.
    pub lent: Option<String>,
    /// Whether the agent's name stands in it as the setting has it now, until the owner writes the text themselves.
    pub follows_name: bool,
}

impl PromptFileText {
    /// Whether the text is the owner's own.
    pub fn is_own(&self) -> bool {
        self.lent.as_ref() != Some(&self.text)
    }
}

impl PromptFile {
    /// A name for it that is no path: only a file that is listed can be found by one.
    pub fn id(&self) -> String {
        hash_of([self.path.as_bytes()]).split_off(16)
    }

    /// The section whose text stands in the home itself.
    pub fn identity(&self) -> Option<&'static str> {
        ["soul", "safety"].into_iter().find(|section| self.path == format!("{section}.md"))
    }
}

/// Those of a profile, by path: its texts and those of its bases, each as the profile's own file, and the soul and the safety
/// rules where it shows them.
///
/// # Errors
/// When the owner's files cannot be read.
pub fn prompt_files(home: &Home, profile: &Profile) -> Result<Vec<PromptFile>, AgentError> {
    let own = kept::own(home)?;
    let shipped = shipped_files();
    let mut paths = BTreeSet::new();
    for file in shipped.iter().chain(&own) {
        let Some((folder, rest)) = file.path.split_once('/') else { continue };
        let is_lent = rest != MANIFEST && profile.bases().any(|base| base == folder);
        if is_read(rest) && (folder == profile.name() || is_lent) {
            paths.insert(format!("profiles/{}/{rest}", profile.name()));
        }
    }
    let identity = identity_files(home).into_iter().map(|(section, _)| section);
    let identity = identity.filter(|section| profile.reads(section)).map(|section| format!("{section}.md"));
    Ok(identity.chain(paths).map(|path| PromptFile { path }).collect())
}

/// Whether prompts are made from a file of a profile's folder.
fn is_read(path: &str) -> bool {
    let is_text = [".md", ".txt", ".toml"].iter().any(|ending| path.ends_with(ending));
    let is_hidden = path.split('/').any(|name| name.starts_with('.'));
    let is_there = path == MANIFEST || ["sections/", "modes/", "tools/"].iter().any(|folder| path.starts_with(folder));
    is_text && is_there && !is_hidden
}

impl Identity<'_> {
    /// What a file says for this profile.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn text_of(self, file: &PromptFile) -> Result<PromptFileText, AgentError> {
        let path = self.home.path().join(&file.path);
        if let Some(section) = file.identity() {
            let lent = self.profile_text(section);
            let there = read_text(&path)?;
            let own = there.clone().filter(|own| !is_untouched(&path, section, own, self.agent_name));
            let follows_name = own.is_none() && lent.contains(self.agent_name);
            return Ok(PromptFileText {
                text: own.unwrap_or_else(|| lent.clone()),
                there,
                lent: Some(lent),
                follows_name,
            });
        }
        let there = match regular_file::read_text(&path, MAX_FILE) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            read => Some(read.map_err(AgentError::file(&path))?),
        };
        let lent = file.path.strip_prefix("profiles/").and_then(|path| lent_text(self.home, path));
        let text = there.clone().or_else(|| lent.clone());
        let text = text.ok_or_else(|| AgentError::Invalid(format!("there is no {} any more", file.path)))?;
        Ok(PromptFileText { text, there, lent, follows_name: false })
    }

    /// The file in which the owner edits a section whose text came from `origin`; none for a text that is no file's.
    pub fn file_of(self, section: &str, origin: &str) -> Option<PromptFile> {
        let (layer, rest) = origin.split_once(':')?;
        if !["shipped", "home", "kept"].contains(&layer) {
            return None;
        }
        if let Some((name, _)) = identity_files(self.home).into_iter().find(|(name, _)| *name == section) {
            let changed =
                self.has_changed_section(section).then(|| own_file_of_section(self.profile, section)).flatten();
            let path = changed.map_or_else(|| format!("{name}.md"), |path| format!("profiles/{path}"));
            return Some(PromptFile { path });
        }
        let path = rest.strip_prefix("profiles/")?;
        let path = path.rsplit_once(':').map_or(path, |(path, _)| path);
        let (folder, rest) = path.split_once('/')?;
        // An edit changes no other profile; a path that another profile lends is that one's own.
        let is_base = self.profile.bases().any(|base| base == folder);
        let folder = if is_base { self.profile.name() } else { folder };
        Some(PromptFile { path: format!("profiles/{folder}/{rest}") })
    }
}

/// What stands beside a copy: the text that it was copied from.
pub fn base_of_copy(file: &PromptFile) -> String {
    beside(file.path.as_ref(), "shipped").to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use limpid_core::Tier;
    use limpid_prompt::Profiles;
    use limpid_prompt::profile::DEFAULT_PROFILE;

    use super::*;

    // SUR-022
    #[test]
    fn every_text_of_a_profile_is_a_file_that_can_be_found_by_its_name_alone() {
        let home = tempfile::tempdir().unwrap();
        let home = Home::new(home.path());
        let profiles = Profiles::shipped();
        for profile in profiles.iter() {
            let files = prompt_files(&home, profile).unwrap();
            let ids: BTreeSet<String> = files.iter().map(PromptFile::id).collect();
            assert_eq!(ids.len(), files.len());
            let shown = Identity { home: &home, profile, agent_name: "Ada" };
            for file in &files {
                let text = shown.text_of(file).unwrap();
                assert!(!text.is_own() && text.there.is_none(), "{}", file.path);
            }
            for section in profile.sections() {
                let Some(form) = section.forms.get(Tier::ALL[2]) else { continue };
                let file = shown.file_of(&section.id, &form.source.to_string()).unwrap();
                assert!(files.contains(&file), "{}: {}", profile.name(), file.path);
            }
        }
        let shown = Identity { home: &home, profile: profiles.get(DEFAULT_PROFILE).unwrap(), agent_name: "Ada" };
        for origin in ["memory:city", "input:user_message", "home:limpid.toml", "model:chat_template"] {
            assert_eq!(shown.file_of("acting", origin), None, "{origin}");
        }
    }
}
