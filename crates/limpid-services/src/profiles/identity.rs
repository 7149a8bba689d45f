//! The owner's soul and safety rules: `soul.md` and `safety.md` of the home.
//!
//! They are the owner's own words, so every profile that shows a soul or safety rules shows them, with two exceptions. A
//! profile whose own section file the owner changed shows that one. And a copy that nobody has changed yet says nothing
//! of the owner's: it holds for the profile that it was copied from, and other profiles keep their own.

use std::path::{Path, PathBuf};

use limpid_config::{Home, MAX_FILE, ReadText, read_marking, read_text, regular_file};
use limpid_core::Tier;
use limpid_prompt::profile::{shipped_names, shipped_text};
use limpid_prompt::{Layer, Profile};

use crate::error::AgentError;
use crate::profiles::files::{OwnFile, OwnState, beside, copy_out, lent_text, own_file_of_section, write_copy};

/// The sections that are files of the home, with these.
pub fn identity_files(home: &Home) -> [(&'static str, PathBuf); 2] {
    [("soul", home.soul()), ("safety", home.safety())]
}

/// The profile that is asked about, and what the agent is called there.
#[derive(Clone, Copy)]
pub struct Identity<'a> {
    /// The home with the owner's files.
    pub home: &'a Home,
    /// The profile.
    pub profile: &'a Profile,
    /// What the agent is called.
    pub agent_name: &'a str,
}

impl Identity<'_> {
    /// The owner's text for a section of this profile; none where the profile's own holds.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn own_text(self, section: &str, file: &Path) -> Result<Option<ReadText>, AgentError> {
        let Some(read) = read_marking(file)? else { return Ok(None) };
        let holds = !self.has_changed_section(section)
            && (!is_untouched(file, section, &read.text, self.agent_name) || read.text == self.profile_text(section));
        Ok(holds.then_some(read))
    }

    /// The owner's files of the home, with how they compare with what this profile has.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn own_files(self) -> Result<Vec<OwnFile>, AgentError> {
        let mut files = Vec::new();
        for (section, file) in identity_files(self.home) {
            let Some(own) = read_text(&file)? else { continue };
            let shipped = self.profile_text(section);
            let is_same = own == shipped || is_untouched(&file, section, &own, self.agent_name);
            let state = if is_same { OwnState::Same } else { OwnState::Changed };
            files.push(OwnFile { path: format!("{section}.md"), file, state, own, shipped: Some(shipped) });
        }
        Ok(files)
    }

    /// The file in which the owner edits a section, made from the text that this profile has.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub fn file_to_edit(self, section: &str, file: PathBuf) -> Result<PathBuf, AgentError> {
        if self.has_changed_section(section)
            && let Some(path) = own_file_of_section(self.profile, section)
        {
            return copy_out(self.home, &path);
        }
        let text = self.profile_text(section);
        match read_text(&file)? {
            Some(own) if own == text || !is_untouched(&file, section, &own, self.agent_name) => {}
            _ => write_copy(&file, &text)?,
        }
        Ok(file)
    }

    /// The text of a section that this profile has, without its front matter. What the text takes from the settings is
    /// filled in, because the owner's file is taken as it is.
    pub fn profile_text(self, section: &str) -> String {
        identity_text(self.profile.lineage(), section, self.agent_name)
    }

    /// Whether the owner changed a file of this profile, or of one that it builds on, that holds the section.
    pub(super) fn has_changed_section(self, section: &str) -> bool {
        let source = || Some(&self.profile.section(section)?.forms.get(Tier::ALL[2])?.source);
        let Some(source) = source() else { return false };
        let own = || regular_file::read_text(&self.home.profiles().join(&source.path), MAX_FILE).ok();
        match source.layer {
            Layer::Shipped => false,
            Layer::Home => own() != lent_text(self.home, &source.path),
            Layer::Kept => true,
        }
    }
}

/// What ships as the text of a section in the nearest of these profiles.
pub fn identity_text<'a>(lineage: impl IntoIterator<Item = &'a str>, section: &str, agent_name: &str) -> String {
    let mut texts = lineage.into_iter().filter_map(|name| shipped_text(&format!("{name}/sections/{section}.md")));
    limpid_prompt::workspace::split_front_matter(texts.next().unwrap_or_default())
        .1
        .replace("{{ agent_name }}", agent_name)
}

/// Whether a file of the home still says what it was copied from. Beside a copy stands what it was copied from; for a
/// copy that an older program made, that is what any profile ships.
pub fn is_untouched(file: &Path, section: &str, text: &str, agent_name: &str) -> bool {
    if let Ok(Some(copied)) = read_text(&beside(file, "shipped")) {
        return copied == text;
    }
    !text.is_empty() && shipped_names().any(|name| identity_text([name], section, agent_name) == text)
}
