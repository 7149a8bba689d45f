use super::*;

fn home() -> (tempfile::TempDir, Home) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::new(folder.path());
    (folder, home)
}

fn states(home: &Home) -> Vec<(String, OwnState)> {
    status(home).unwrap().into_iter().map(|row| (row.path, row.state)).collect()
}

const FILE: &str = "kai/sections/honesty.md";

// KOSHI-003 PRO-007
#[test]
fn a_file_is_copied_out_once_and_put_back_with_the_owners_text_kept() {
    let (_folder, home) = home();
    let file = copy_out(&home, FILE).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), shipped_text(FILE).unwrap());
    assert_eq!(states(&home), [(FILE.to_owned(), OwnState::Same)]);

    fs::write(&file, "mine").unwrap();
    assert_eq!(copy_out(&home, FILE).unwrap(), file);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    assert_eq!(states(&home), [(FILE.to_owned(), OwnState::Changed)]);

    let kept = reset(&home, FILE).unwrap();
    assert_eq!(fs::read_to_string(kept).unwrap(), "mine");
    assert!(!file.exists());
    assert!(reset(&home, FILE).is_err());
}

// KOSHI-004
#[test]
fn an_upgrade_keeps_the_owners_file_and_puts_the_new_text_beside_it() {
    let (_folder, home) = home();
    let file = copy_out(&home, FILE).unwrap();
    fs::write(&file, "mine").unwrap();
    fs::write(beside(&file, "shipped"), "what an older program shipped").unwrap();
    assert_eq!(states(&home), [(FILE.to_owned(), OwnState::ShippedIsNewer)]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    assert_eq!(fs::read_to_string(beside(&file, "new")).unwrap(), shipped_text(FILE).unwrap());
}

// PRO-007
#[test]
fn an_own_profile_starts_from_another_and_may_not_take_its_name() {
    let (_folder, home) = home();
    let shipped = Profiles::shipped();
    start_profile(&home, &shipped, "mine", "koshi").unwrap();
    let files =
        limpid_prompt::fs::read_profiles(&home.profiles(), limpid_prompt::Layer::Home, &regular_file::read).unwrap();
    let profiles = Profiles::with_home(files);
    let mine = profiles.get("mine").unwrap();
    assert_eq!((mine.title(), mine.bases().collect::<Vec<_>>()), ("mine", vec!["koshi"]));
    for (name, from) in [("mine", "koshi"), ("Mine", "koshi"), ("../x", "koshi"), ("", "koshi"), ("new", "nobody")] {
        assert!(start_profile(&home, &profiles, name, from).is_err(), "{name} from {from}");
    }
}

/// An edit of an own profile's section is a file of that profile, however far away its text comes from.
// PRO-007 KOSHI-003
#[test]
fn an_edit_lands_in_the_profile_that_was_named() {
    let (_folder, home) = home();
    let load = || {
        Profiles::with_home(
            limpid_prompt::fs::read_profiles(&home.profiles(), limpid_prompt::Layer::Home, &regular_file::read)
                .unwrap(),
        )
    };
    start_profile(&home, &load(), "mine", "kai").unwrap();
    start_profile(&home, &load(), "further", "mine").unwrap();

    let path = own_file_of_section(load().get("further").unwrap(), "honesty").unwrap();
    assert_eq!(path, "further/sections/honesty.md");
    let file = copy_out(&home, &path).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), shipped_text(FILE).unwrap());
    fs::write(&file, fs::read_to_string(&file).unwrap() + "\nSay what you did not check.\n").unwrap();

    let after = load();
    assert!(!home.profiles().join("kai").exists());
    assert_eq!(file_of_section(after.get("mine").unwrap(), "honesty").unwrap(), FILE);
    assert_eq!(file_of_section(after.get("further").unwrap(), "honesty").unwrap(), path);
    let changed: Vec<_> = states(&home).into_iter().filter(|(_, state)| *state == OwnState::Changed).collect();
    assert_eq!(changed, [(path.clone(), OwnState::Changed)]);
    reset(&home, &path).unwrap();
    assert_eq!(file_of_section(load().get("further").unwrap(), "honesty").unwrap(), FILE);
}

// SEC-044
#[test]
fn a_path_out_of_the_folder_is_refused() {
    let (folder, home) = home();
    fs::write(folder.path().join("limpid.toml"), "").unwrap();
    assert!(reset(&home, "../limpid.toml").is_err());
    assert!(copy_out(&home, "../nothing.md").is_err());
}
