//! Which profile shows the owner's soul, and in which file it is edited.

use limpid_config::read_text;
use limpid_prompt::{Layer, Profiles};
use limpid_services::profiles::{copy_out, start_profile};

use super::*;

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
        let files =
            limpid_prompt::fs::read_profiles(&self.home.profiles(), Layer::Home, &|path, _| std::fs::read(path))
                .unwrap();
        let profiles = Profiles::with_home(files);
        ["limpid", "koshi", "kai", "mine"].map(|name| {
            let profile = profiles.get(name).unwrap();
            let shown = Identity { home: &self.home, profile, agent_name: &profile.behaviour().agent_name };
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
    let kai = identity_text(["kai"], "soul", "Limpid");
    assert_eq!((&file, read_text(&file).unwrap().as_deref()), (&house.home.soul(), Some(kai.as_str())));
    std::fs::write(&file, "Mine.").unwrap();
    assert_eq!((house.edited("koshi"), read_text(&file).unwrap().as_deref()), (file, Some("Mine.")));
}

/// Homes of older programs have no note of what a copy was copied from.
// KOSHI-003
#[test]
fn a_copy_of_an_older_program_is_known_by_its_text() {
    let house = House::new();
    std::fs::remove_file(house.home.soul().with_file_name(".soul.md.shipped")).unwrap();
    let copy = read_text(&house.home.soul()).unwrap();
    assert_eq!(house.shown(), [copy, None, None, None]);
    std::fs::write(house.home.soul(), "").unwrap();
    assert_eq!(house.shown(), std::array::from_fn(|_| Some(String::new())));
}
