//! How the skills of folders stand: by the place and the name of each folder, since a skill says itself what it is called.

use std::path::Path;

use limpid_prompt::inputs::SkillSource;
use limpid_store::{SkillEvent, SkillVersion, Store, StoreError};

use crate::skills::discovery::Found;
use crate::skills::listed::place_name;

/// How the skills of a home stand.
#[derive(Clone, Debug, Default)]
pub(crate) struct SkillStates(Vec<State>);

/// How the skill of one folder stands.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// The key of the skill when something was done to it last.
    pub(super) skill: String,
    place: String,
    /// In small letters.
    folder: String,
    /// Whether it was ever taken from elsewhere. Then it has to be looked at for good, whatever is put there later.
    was_installed: bool,
    /// The last version; it is not there any more where it was taken out.
    version: SkillVersion,
    is_there: bool,
}

impl State {
    /// The version that counts; none where what stands there is the owner's own.
    fn counted(&self) -> Option<SkillVersion> {
        let version = SkillVersion { installed: self.was_installed, ..self.version.clone() };
        match (self.is_there, self.was_installed) {
            (true, _) => Some(version),
            (false, true) => Some(SkillVersion { enabled: false, ..version }),
            (false, false) => None,
        }
    }

    /// The version of a skill from elsewhere that nobody has allowed.
    pub(super) fn awaiting(&self) -> Option<&SkillVersion> {
        Some(&self.version).filter(|version| self.is_there && version.installed && !version.enabled)
    }
}

impl SkillStates {
    /// What the store knows.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) async fn read(store: &dyn Store) -> Result<Self, StoreError> {
        Ok(Self::of(store.skill_states().await?.rows))
    }

    /// What was done, oldest first.
    pub(super) fn of(events: Vec<SkillEvent>) -> Self {
        let mut states: Vec<State> = Vec::new();
        for SkillEvent { skill, before, after, .. } in events {
            let is_there = after.is_some();
            let Some(version) = after.or(before) else { continue };
            // Older versions wrote down no folder; what they installed stands in one of the skill's name.
            let folder = version.folder.as_ref().unwrap_or(&skill).to_lowercase();
            let place = version.place.clone();
            let known = states.iter_mut().find(|state| state.place == place && state.folder == folder);
            let was_installed = version.installed || known.as_ref().is_some_and(|state| state.was_installed);
            let state = State { skill, place, folder, was_installed, version, is_there };
            match known {
                Some(known) => *known = state,
                None => states.push(state),
            }
        }
        Self(states)
    }

    /// How the skill of a folder stands; none when it is the owner's own. Where nothing is known of the folder, it may be one that was moved
    /// or of which older versions knew only the name: then it stands as one from elsewhere, or such a one, does that has its name.
    pub(super) fn at(&self, shelf: SkillSource, folder: &str, name: &str) -> Option<SkillVersion> {
        let (folder, place) = (folder.to_lowercase(), place_name(shelf));
        let here = || self.0.iter().filter(|state| state.place == place);
        let of_name = || {
            let named = here().filter(|state| state.is_there && state.skill.eq_ignore_ascii_case(name));
            named
                .filter(|state| state.was_installed || state.version.folder.is_none())
                .max_by_key(|state| state.was_installed)
        };
        here().find(|state| state.folder == folder).or_else(of_name)?.counted()
    }

    /// How a skill stands that was found; none when it is the owner's own, or has no folder.
    pub(super) fn of_found(&self, found: &Found) -> Option<SkillVersion> {
        let folder = folder_name(found.folder.as_deref()?);
        let name = found.read.as_ref().map_or(folder.clone(), |prompt| prompt.skill.name.to_string());
        self.at(found.shelf, &folder, &name)
    }

    /// Every state.
    pub(super) fn iter(&self) -> impl Iterator<Item = &State> {
        self.0.iter()
    }
}

/// The name of a skill's folder.
pub(super) fn folder_name(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use limpid_store::{SkillEventId, SkillEventKind};
    use proptest::prelude::*;

    use super::*;

    fn version(place: &str, folder: Option<&str>, (installed, enabled): (bool, bool)) -> SkillVersion {
        let folder = folder.map(str::to_owned);
        SkillVersion { hash: "aa".to_owned(), place: place.to_owned(), folder, installed, enabled }
    }

    fn event(skill: &str, before: Option<SkillVersion>, after: Option<SkillVersion>) -> SkillEvent {
        let (kind, source) = (SkillEventKind::Updated, String::new());
        SkillEvent { id: SkillEventId(1), skill: skill.to_owned(), kind, before, after, source, at_ms: 1 }
    }

    const GLOBAL: SkillSource = SkillSource::Global;

    // SEC-056
    #[test]
    fn what_is_done_to_another_skill_of_its_name_changes_nothing() {
        let put_aside = version("global", Some("hotel"), (true, false));
        let beside = |enabled| Some(version("workspace", Some("hotel"), (false, enabled)));
        for (before, after) in [(beside(true), None), (beside(true), beside(false)), (beside(false), beside(true))] {
            let states =
                SkillStates::of(vec![event("hotel", None, Some(put_aside.clone())), event("hotel", before, after)]);
            assert_eq!(states.at(GLOBAL, "hotel", "hotel"), Some(put_aside.clone()));
            assert_eq!(states.at(GLOBAL, "Hotel", "inn"), Some(put_aside.clone()), "whatever it calls itself");
        }
    }

    // SEC-056
    #[test]
    fn a_folder_of_which_nothing_is_known_is_the_owners_and_what_older_versions_wrote_down_holds() {
        let states = SkillStates::of(vec![event("tea", None, Some(version("global", None, (false, false))))]);
        assert_eq!(states.at(GLOBAL, "house", "house"), None);
        assert_eq!(states.at(SkillSource::Workspace, "tea", "tea"), None);
        assert!(!states.at(GLOBAL, "my-tea", "tea").unwrap().enabled, "it was put aside by its name");
        let states = SkillStates::of(vec![
            event("tea", None, Some(version("global", None, (false, true)))),
            event("tea", Some(version("global", None, (false, true))), None),
        ]);
        assert_eq!(states.at(GLOBAL, "tea", "tea"), None, "it was the owner's, and is again");
        let installed = version("global", Some("hotel"), (true, true));
        let mut events = vec![event("hotel", None, Some(installed.clone()))];
        assert!(SkillStates::of(events.clone()).at(GLOBAL, "moved", "hotel").unwrap().installed);
        events.push(event("hotel", Some(installed), None));
        let states = SkillStates::of(events);
        assert!(!states.at(GLOBAL, "hotel", "hotel").unwrap().enabled, "what is put there later has to be looked at");
        assert_eq!(states.at(GLOBAL, "my-hotel", "hotel"), None);
    }

    proptest! {
        // SEC-056
        #[test]
        fn a_folder_that_was_installed_stays_so_whatever_is_done_later(
            later in proptest::collection::vec(
                (prop::sample::select(&["hotel", "inn"][..]), prop::sample::select(&["global", "workspace"][..]), any::<(bool, bool, bool)>()),
                0..12,
            ),
        ) {
            let mut events = vec![event("hotel", None, Some(version("global", Some("hotel"), (true, false))))];
            events.extend(later.into_iter().map(|(skill, place, (gone, folder, enabled))| {
                let version = version(place, folder.then_some("hotel"), (false, enabled));
                if gone { event(skill, Some(version), None) } else { event(skill, None, Some(version)) }
            }));
            prop_assert!(SkillStates::of(events).at(GLOBAL, "hotel", "inn").unwrap().installed);
        }
    }
}
