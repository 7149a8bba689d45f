//! The owner's soul and safety rules: `soul.md` and `safety.md` of the home.
//!
//! They are the owner's own words, so every profile that shows a soul or safety rules shows them, with two exceptions. A
//! profile whose own section file the owner changed shows that one. And a copy that nobody has changed yet says nothing
//! of the owner's: it holds for the profile that it was copied from, and other profiles keep their own.

use std::path::{Path, PathBuf};

use limpid_config::{Home, ReadText, read_marking, read_text};
use limpid_core::Tier;
use limpid_prompt::profile::{shipped_names, shipped_text};
use limpid_prompt::{Layer, Profile};

use crate::services::error::AgentError;
use crate::services::profiles::files::{beside, copy_out, lent_text, own_file_of_section, write_copy};

/// The sections that stand in the home, with their files.
pub(crate) fn files(home: &Home) -> [(&'static str, PathBuf); 2] {
    [("soul", home.soul()), ("safety", home.safety())]
}

/// The profile that is asked about, and what the agent is called there.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'a> {
    pub(crate) home: &'a Home,
    pub(crate) profile: &'a Profile,
    pub(crate) agent_name: &'a str,
}

impl Shown<'_> {
    /// The owner's text for a section of this profile; none where the profile's own holds.
    pub(crate) fn own_text(self, section: &str, file: &Path) -> Result<Option<ReadText>, AgentError> {
        let Some(read) = read_marking(file)? else { return Ok(None) };
        let holds = !self.has_changed_section(section)
            && (!is_untouched(file, section, &read.text, self.agent_name) || read.text == self.profile_text(section));
        Ok(holds.then_some(read))
    }

    /// The file in which the owner edits a section, made from the text that this profile has.
    pub(crate) fn file_to_edit(self, section: &str, file: PathBuf) -> Result<PathBuf, AgentError> {
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
    pub(crate) fn profile_text(self, section: &str) -> String {
        body(self.profile.lineage(), section, self.agent_name)
    }

    /// Whether the owner changed a file of this profile, or of one that it builds on, that holds the section.
    fn has_changed_section(self, section: &str) -> bool {
        let source = || Some(&self.profile.section(section)?.forms.get(Tier::ALL[2])?.source);
        let Some(source) = source() else { return false };
        let own = || std::fs::read_to_string(self.home.profiles().join(&source.path)).ok();
        match source.layer {
            Layer::Shipped => false,
            Layer::Home => own() != lent_text(self.home, &source.path),
            Layer::Kept => true,
        }
    }
}

/// What ships as the text of a section in the nearest of these profiles.
pub(crate) fn body<'a>(lineage: impl IntoIterator<Item = &'a str>, section: &str, agent_name: &str) -> String {
    let mut texts = lineage.into_iter().filter_map(|name| shipped_text(&format!("{name}/sections/{section}.md")));
    limpid_prompt::workspace::split_front_matter(texts.next().unwrap_or_default())
        .1
        .replace("{{ agent_name }}", agent_name)
}

/// Whether a file of the home still says what it was copied from. Beside a copy stands what it was copied from; for a
/// copy that an older program made, that is what any profile ships.
pub(crate) fn is_untouched(file: &Path, section: &str, text: &str, agent_name: &str) -> bool {
    if let Ok(Some(copied)) = read_text(&beside(file, "shipped")) {
        return copied == text;
    }
    !text.is_empty() && shipped_names().any(|name| body([name], section, agent_name) == text)
}

#[cfg(test)]
mod tests {
    use limpid_config::Config;
    use limpid_prompt::Profiles;

    use super::*;
    use crate::services::profiles::files::start_profile;
    use crate::setup::{Answers, identity_file, write_home};

    struct House {
        home: Home,
        _folder: tempfile::TempDir,
    }

    impl House {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let home = Home::new(folder.path());
            write_home(&home, &Answers::default()).unwrap();
            start_profile(&home, &Profiles::shipped(), "mine", "kai").unwrap();
            Self { home, _folder: folder }
        }

        /// The owner's soul that each profile shows; its own counts as none.
        fn shown(&self) -> [Option<String>; 4] {
            let files = limpid_prompt::fs::read_profiles(&self.home.profiles(), Layer::Home).unwrap();
            let profiles = Profiles::with_home(files);
            ["limpid", "koshi", "kai", "mine"].map(|name| {
                let profile = profiles.get(name).unwrap();
                let shown = Shown { home: &self.home, profile, agent_name: &profile.behaviour().agent_name };
                shown.own_text("soul", &self.home.soul()).unwrap().map(|read| read.text)
            })
        }

        /// The file in which a profile's soul is edited when it is the one that is set.
        fn edited(&self, profile: &str) -> PathBuf {
            let config = Config::parse(&format!("[agent]\nprofile = \"{profile}\"\n"), "limpid.toml").unwrap();
            identity_file(&self.home, &config, "soul").unwrap().unwrap()
        }
    }

    // KOSHI-003 PRO-007
    #[test]
    fn a_copy_that_nobody_changed_is_the_soul_of_one_profile_and_the_owners_words_are_that_of_all() {
        let house = House::new();
        let home = &house.home;
        let copy = read_text(&home.soul()).unwrap();
        assert_eq!(house.shown(), [copy, None, None, None]);
        std::fs::write(home.soul(), "Mine.").unwrap();
        assert_eq!(house.shown(), std::array::from_fn(|_| Some("Mine.".to_owned())));
        std::fs::write(home.soul(), "").unwrap();
        assert_eq!(house.shown(), std::array::from_fn(|_| Some(String::new())));
    }

    // KOSHI-003 PRO-007
    #[test]
    fn a_profile_with_a_changed_soul_of_its_own_shows_that_one() {
        let house = House::new();
        let home = &house.home;
        std::fs::write(home.soul(), "Mine.").unwrap();
        let own = copy_out(home, "kai/sections/soul.md").unwrap();
        let mine = || Some("Mine.".to_owned());
        assert_eq!(house.shown(), [mine(), mine(), mine(), mine()], "nobody has changed the copy");
        std::fs::write(&own, "---\ntitle: Soul\nwhy: Mine.\nfrom: soul\n---\nWarm.\n").unwrap();
        assert_eq!(house.shown(), [mine(), mine(), None, None], "what is built on it shows it too");
        assert_eq!(house.edited("kai"), own);
        assert_eq!(house.edited("limpid"), home.soul());
    }

    // KOSHI-003
    #[test]
    fn an_edit_begins_with_the_text_that_holds() {
        let house = House::new();
        let file = house.edited("mine");
        let kai = body(["kai"], "soul", "Limpid");
        assert_eq!((&file, read_text(&file).unwrap().as_deref()), (&house.home.soul(), Some(kai.as_str())));
        std::fs::write(&file, "Mine.").unwrap();
        assert_eq!((house.edited("koshi"), read_text(&file).unwrap().as_deref()), (file, Some("Mine.")));
    }

    /// Homes of older programs have no note of what a copy was copied from.
    // KOSHI-003
    #[test]
    fn a_copy_of_an_older_program_is_known_by_its_text() {
        let house = House::new();
        std::fs::remove_file(beside(&house.home.soul(), "shipped")).unwrap();
        let copy = read_text(&house.home.soul()).unwrap();
        assert_eq!(house.shown(), [copy, None, None, None]);
        std::fs::write(house.home.soul(), "").unwrap();
        assert_eq!(house.shown(), std::array::from_fn(|_| Some(String::new())));
    }
}
