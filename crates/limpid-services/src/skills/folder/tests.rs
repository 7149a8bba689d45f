use std::os::unix::fs::{PermissionsExt as _, symlink};

use limpid_config::{FilesConfig, Home, RandomIds};

use super::*;

/// The folder of a name among the skills of a home.
fn place(home: &Path, shelf: &str, name: &str) -> Result<SkillPlace, AgentError> {
    SkillPlace::new((&Home::new(home.to_owned()), &FilesConfig::default()), &home.join(shelf), name)
}

fn plain(bytes: &[u8]) -> File {
    File { bytes: bytes.to_vec(), runs: false }
}

// SEC-040
#[test]
fn many_who_write_the_same_folder_do_not_disturb_each_other() {
    let home = tempfile::tempdir().unwrap();
    let skill = Folder::of_text("# Tea\n");
    for round in 0..20 {
        let path = home.path().join("skills").join(round.to_string());
        let place = place(home.path(), "skills", &round.to_string()).unwrap();
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..8).map(|_| scope.spawn(|| skill.write(&place, &RandomIds))).collect();
            writers.into_iter().for_each(|writer| writer.join().unwrap().unwrap());
        });
        assert_eq!(std::fs::read_to_string(path.join("SKILL.md")).unwrap(), "# Tea\n");
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 1);
    }
}

// SEC-024
#[test]
fn a_hash_is_of_every_path_and_byte() {
    let folder = |files: &[(&str, &str)]| {
        let row = |(path, text): &(&str, &str)| ((*path).to_owned(), plain(text.as_bytes()));
        Folder { files: files.iter().map(row).collect() }.hash()
    };
    let one = folder(&[("SKILL.md", "a"), ("b", "c")]);
    assert_eq!(one, folder(&[("b", "c"), ("SKILL.md", "a")]));
    for other in [
        folder(&[("SKILL.md", "a")]),
        folder(&[("SKILL.md", "a"), ("b", "d")]),
        folder(&[("SKILL.md", "a"), ("c", "c")]),
        folder(&[("SKILL.md", "ab"), ("", "c")]),
    ] {
        assert_ne!(one, other);
    }
    // What may be run is another skill; where nothing may, the hash is that of earlier versions.
    let file = File { runs: true, ..plain(b"a") };
    let runs = Folder { files: [("SKILL.md".to_owned(), file)].into() };
    assert_ne!(runs.hash(), folder(&[("SKILL.md", "a")]));
    assert_eq!(folder(&[("SKILL.md", "a")]), "cd3c30bb46e588ded036ffaa28abc4ec898cb23749e7fa7c0b2dee8024862a1d");
}

// SEC-024
#[test]
fn a_reviewer_reads_every_text_and_script_and_knows_the_rest_by_its_hash() {
    let files = [
        ("a.sh", plain(b"#!/bin/sh\necho hi # \0\nrm -r ~\n")),
        ("b.otf", plain(b"\xff\x1b[2J")),
        ("c", File { bytes: b"\x7fELF\xff".to_vec(), runs: true }),
        ("d.sh", plain(b"rm -r ~ #\0")),
        ("SKILL.md", plain("# Té\n".as_bytes())),
    ];
    let review = Folder { files: files.map(|(path, file)| (path.to_owned(), file)).into() }.review();
    let seen: Vec<(&str, bool, bool, Option<&str>)> =
        review.iter().map(|file| (file.path.as_str(), file.is_text, file.runs, file.text.as_deref())).collect();
    let expected = [
        ("SKILL.md", true, false, Some("# Té\n")),
        ("a.sh", false, false, Some("#!/bin/sh\necho hi # \\x00\nrm -r ~\n")),
        ("b.otf", false, false, None),
        ("c", false, true, None),
        ("d.sh", false, false, Some("rm -r ~ #\\x00")),
    ];
    assert_eq!(seen, expected);
    let font = &review[2];
    assert_eq!((font.bytes, font.hash.as_str()), (5, hex(&Sha256::digest(b"\xff\x1b[2J")).as_str()));
}

// SEC-024
#[test]
fn a_skill_from_elsewhere_has_no_file_that_a_language_loads_and_nobody_can_read() {
    let home = tempfile::tempdir().unwrap();
    let from = home.path().join("from");
    let put = |name: &str, bytes: &[u8]| {
        std::fs::create_dir_all(from.join(name).parent().unwrap()).unwrap();
        std::fs::write(from.join(name), bytes).unwrap();
    };
    put("SKILL.md", b"# Tea\n");
    put("scripts/words.py", b"words = []\n");
    put("scripts/__pycache__/words.cpython-311.pyc", b"\xa7\r\r\n\0");
    put("logo.png", b"\x89PNG\r\n\x1a\n\0");
    put("latin1.txt", b"caf\xe9 and tea\n");
    let folder = Folder::read_from_elsewhere(&from).unwrap();
    assert_eq!(folder.others(), ["latin1.txt", "logo.png", "scripts/words.py"]);
    assert_eq!(folder.unseen(), None);
    // What stands there is read whole, so that nothing beside a source goes unseen.
    assert_eq!(Folder::read(&from).unwrap().unseen(), Some("scripts/__pycache__/words.cpython-311.pyc"));
    for name in ["scripts/words.pyc", "scripts/words.so", "tools.zip", "run.sh"] {
        put(name, b"#!/bin/sh\n\0\xff");
        let error = Folder::read_from_elsewhere(&from).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("take it out") && error.contains("png, jpg"), "{error}");
        std::fs::remove_file(from.join(name)).unwrap();
    }
}

// SEC-024
#[test]
fn a_check_names_the_file_that_an_install_refuses() {
    let home = tempfile::tempdir().unwrap();
    let from = home.path().join("tea");
    std::fs::create_dir_all(from.join("__pycache__")).unwrap();
    std::fs::write(from.join("SKILL.md"), "---\nname: tea\ndescription: Boils water.\n---\nBoil it.\n").unwrap();
    // An install leaves it out.
    std::fs::write(from.join("__pycache__/words.cpython-311.pyc"), b"\xa7\r\r\n\0").unwrap();
    std::fs::write(from.join("logo.png"), b"\x89PNG\r\n\x1a\n\0").unwrap();
    let checked = crate::skills::check_skill(&from).unwrap();
    assert_eq!((checked.problem, checked.files), (None, vec!["logo.png".to_owned()]));
    std::fs::write(from.join("words.so"), b"\x7fELF\0").unwrap();
    let problem = crate::skills::check_skill(&from).unwrap().problem.unwrap();
    assert!(problem.starts_with("words.so: an install refuses it: nobody could read it"), "{problem}");
    assert!(Folder::read_from_elsewhere(&from).is_err());
}

// SEC-024
#[test]
fn what_is_written_is_what_was_read_and_links_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let (from, to) = (home.path().join("from"), home.path().join("skills/to"));
    std::fs::create_dir_all(from.join("scripts")).unwrap();
    std::fs::write(from.join("SKILL.md"), "text").unwrap();
    std::fs::write(from.join("scripts/run.sh"), "echo").unwrap();
    std::fs::set_permissions(from.join("scripts/run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(from.join(".hidden"), "x").unwrap();
    let folder = Folder::read(&from).unwrap();
    std::fs::create_dir_all(&to).unwrap();
    std::fs::write(to.join("old.md"), "gone").unwrap();
    folder.write(&place(home.path(), "skills", "to").unwrap(), &RandomIds).unwrap();
    assert_eq!(Folder::read(&to).unwrap(), folder);
    // A script still runs, for the owner alone.
    let mode = |file: &str| std::fs::metadata(to.join(file)).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode("scripts/run.sh"), mode("SKILL.md")], [0o700, 0o600]);
    assert_eq!(folder.others(), ["scripts/run.sh"]);
    assert!(!to.join("old.md").exists() && !to.join(".hidden").exists());
    symlink("/etc/passwd", from.join("link")).unwrap();
    let error = Folder::read(&from).unwrap_err().to_string();
    assert!(error.ends_with("link: a skill may not hold links"), "{error}");
    let linked = home.path().join("skills/linked");
    symlink(&to, &linked).unwrap();
    place(home.path(), "skills", "linked").unwrap().remove().unwrap();
    assert!(to.join("SKILL.md").exists() && !linked.exists());
}

// SEC-062
#[test]
fn a_skill_is_written_and_taken_out_over_no_link_of_a_programs() {
    let home = tempfile::tempdir().unwrap();
    let (skills, own) = (home.path().join("workspace/skills"), home.path().join("own"));
    std::fs::create_dir_all(&skills).unwrap();
    std::fs::create_dir_all(own.join("tea")).unwrap();
    std::fs::write(own.join("tea/diary.txt"), "mine").unwrap();
    let tea = Folder::of_text("# Tea\n");
    let is_kept = || std::fs::read_dir(own.join("tea")).unwrap().count() == 1 && own.join("tea/diary.txt").exists();

    // In the place of the skill: it is not written, and what is taken out is the link.
    symlink(own.join("tea"), skills.join("tea")).unwrap();
    let linked = place(home.path(), "workspace/skills", "tea").unwrap();
    let error = tea.write(&linked, &RandomIds).unwrap_err().to_string();
    assert!(error.contains("change it where it lies"), "{error}");
    assert!(Folder::read_at(&linked).is_err() && Folder::read_within(&skills, &skills.join("tea")).is_err());
    linked.remove().unwrap();
    assert!(is_kept() && !skills.join("tea").is_symlink());

    // In the place of a folder of the skill's.
    std::fs::create_dir(skills.join("tea")).unwrap();
    symlink(own.join("tea"), skills.join("tea/scripts")).unwrap();
    linked.remove().unwrap();
    assert!(is_kept() && !skills.join("tea").exists());

    // In the place of the folder of all skills, before and after the place was looked for.
    std::fs::remove_dir(&skills).unwrap();
    symlink(&own, &skills).unwrap();
    assert!(tea.write(&linked, &RandomIds).is_err() && linked.remove().is_err());
    let error = place(home.path(), "workspace/skills", "tea").unwrap_err().to_string();
    assert!(error.contains("remove the link") && is_kept(), "{error}");

    // A link of the owner's in their home holds, and one within the workspace is read.
    symlink(&own, home.path().join("skills")).unwrap();
    tea.write(&place(home.path(), "skills", "green").unwrap(), &RandomIds).unwrap();
    assert_eq!(Folder::read(&own.join("green")).unwrap(), tea);
    symlink("green", own.join("mine")).unwrap();
    assert_eq!(Folder::read_within(&own, &own.join("mine")).unwrap(), tea);
}
