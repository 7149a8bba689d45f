//! Which files conversations know, and for how long.

use super::*;

// LES-125
#[test]
fn a_file_that_changed_is_told_of_once_with_its_difference_and_only_to_whom_had_read_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.md");
    let real = Followed::new(&path);
    let (one, other) = (ConversationId::new("one"), ConversationId::new("other"));
    let files = ReadFiles::default();
    std::fs::write(&path, "tea\ngreen\n").unwrap();
    let check = |who: &ConversationId| files.check(who, &real, Trust::Owner);
    let told = |unknown: Option<Unknown>| match unknown {
        Some(Unknown::Changed(told)) => told,
        other => panic!("{other:?}"),
    };
    files.note(&one, &real, look(&path).unwrap(), Trust::Owner);
    assert_eq!(check(&one), None);
    std::fs::write(&path, "tea\nblack\n").unwrap();
    assert_eq!(check(&other), None);
    assert!(told(check(&one)).contains("-green\n+black"));
    assert_eq!(check(&one), None);
    std::fs::remove_file(&path).unwrap();
    assert!(told(check(&one)).contains("it is gone"));
    assert_eq!(check(&one), None);
}

// LES-125 SEC-093
#[test]
fn what_a_stranger_has_read_or_written_pushes_out_nothing_that_another_chat_knows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.md");
    let real = Followed::new(&path);
    let (chat, other) = (ConversationId::new("chat"), ConversationId::new("other"));
    let files = ReadFiles::default();
    let flood = |trust: Trust| {
        for at in 0..MOST + 10 {
            let note = Followed::new(&folder.path().join(format!("n{at}.md")));
            files.note(&other, &note, FileContent::text("note"), trust);
        }
    };
    std::fs::write(&path, "three years\n").unwrap();
    files.note(&chat, &real, look(&path).unwrap(), Trust::Owner);
    // A look that a stranger's text led to takes the place of none that it did not.
    files.note(&chat, &real, look(&path).unwrap(), Trust::Outside);
    std::fs::write(&path, "three years, and call Ada\n").unwrap();
    flood(Trust::Outside);
    assert!(matches!(files.check(&chat, &real, Trust::Owner), Some(Unknown::Changed(_))));
    flood(Trust::Owner);
    assert_eq!(files.check(&other, &real, Trust::Owner), None, "who never read it is told nothing");
    assert!(!files.is_known(&chat, &real));
    assert_eq!(files.check(&chat, &real, Trust::Owner), Some(Unknown::Forgotten));
    assert_eq!(files.check(&chat, &real, Trust::Owner), None, "it is told once");
    flood(Trust::Owner);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(files.check(&chat, &real, Trust::Owner), None, "a new file takes nothing away");
}

// LES-125
#[test]
fn where_too_many_files_were_forgotten_each_that_is_not_known_is_to_be_read_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.md");
    std::fs::write(&path, "tea\n").unwrap();
    let (chat, real) = (ConversationId::new("chat"), Followed::new(&path));
    let files = ReadFiles::default();
    files.0.lock().unwrap().forgotten = (0..MOST_FORGOTTEN as u64).collect();
    let note = |name: usize| {
        files.note(&chat, &Followed::new(Path::new(&format!("/{name}"))), FileContent::text("tea"), Trust::Owner);
    };
    (0..MOST).for_each(note);
    assert_eq!(files.check(&chat, &real, Trust::Owner), None);
    (MOST..MOST + 2).for_each(note);
    assert_eq!(files.check(&chat, &real, Trust::Owner), Some(Unknown::Forgotten));
    assert!(files.0.lock().unwrap().forgotten.len() < MOST);
}

// SEC-093 SEC-042
#[test]
fn only_what_a_tool_reads_is_looked_at_before_a_call_reads_it() {
    let disk = tempfile::tempdir().unwrap();
    let at = |name: &str| disk.path().join(name);
    std::fs::create_dir_all(at("workspace/folder")).unwrap();
    std::fs::write(at("workspace/a.md"), "tea\n").unwrap();
    std::fs::write(at("workspace/long.txt"), "tea\n".repeat(100_000)).unwrap();
    std::fs::File::create(at("workspace/film.mp4")).unwrap().set_len(9 * 1024 * 1024).unwrap();
    std::fs::write(at("diary.md"), "dear diary\n").unwrap();
    let grants = Grants::new(at("workspace"), at("locks"));
    let seen = |path: &Path| look_before_read(&grants, path);
    for name in ["workspace/a.md", "workspace/long.txt"] {
        assert_eq!(seen(&at(name)), look(&at(name)), "{name}: as it is looked at afterwards");
    }
    assert!(seen(&at("workspace/long.txt")).is_some_and(|content| content.text.is_none()));
    for name in ["workspace/film.mp4", "workspace/folder", "workspace/none.md", "diary.md"] {
        assert_eq!(seen(&at(name)), None, "{name}");
    }
    assert_eq!(seen(Path::new("/proc/self/pagemap")), None);
    #[cfg(unix)]
    {
        let _socket = std::os::unix::net::UnixListener::bind(at("workspace/socket")).unwrap();
        assert_eq!(seen(&at("workspace/socket")), None);
    }
}

// SEC-058 SEC-088 LES-125
#[cfg(unix)]
#[test]
fn of_what_a_link_leads_to_that_was_laid_since_nobody_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    for (folder, text) in [("site/docs", "tea\n"), ("private", "PIN 4711\n")] {
        std::fs::create_dir_all(at(folder)).unwrap();
        std::fs::write(at(folder).join("plan.md"), text).unwrap();
    }
    let (chat, real) = (ConversationId::new("chat"), Followed::new(&at("site/docs/plan.md")));
    for (there, target) in [("site/docs/plan.md", "private/plan.md"), ("site/docs", "private")] {
        let files = ReadFiles::default();
        files.note(&chat, &real, look(real.as_path()).unwrap(), Trust::Owner);
        std::fs::rename(at(there), at("aside")).unwrap();
        std::os::unix::fs::symlink(at(target), at(there)).unwrap();
        assert_eq!(files.check(&chat, &real, Trust::Owner), Some(Unknown::Unreadable), "{there}");
        assert!(look(real.as_path()).is_none() && !files.is_known(&chat, &real), "{there}");
        let grants = Grants::new(at("site"), at("locks"));
        assert_eq!(look_before_read(&grants, real.as_path()), None, "{there}");
        // It goes on to be known as it was.
        std::fs::remove_file(at(there)).unwrap();
        std::fs::rename(at("aside"), at(there)).unwrap();
        assert_eq!(files.check(&chat, &real, Trust::Owner), None, "{there}");
        assert!(look_before_read(&grants, real.as_path()).is_some(), "{there}");
    }
}

// LES-125
#[test]
fn few_files_are_remembered_and_few_lines_shown() {
    let files = ReadFiles::default();
    let real = Followed::new(Path::new("/a"));
    for at in 0..MOST + 10 {
        files.note(&ConversationId::new(at.to_string()), &real, FileContent::text("tea"), Trust::Owner);
    }
    assert_eq!(files.0.lock().unwrap().files.len(), MOST);
    let large = FileContent::text("é".repeat(100_000));
    for at in 0..MOST {
        files.note(&ConversationId::new(at.to_string()), &real, large.clone(), Trust::Owner);
    }
    let known = files.0.lock().unwrap();
    let texts: usize = known.files.values().filter_map(|version| version.content.text.as_ref().map(String::len)).sum();
    assert!(texts <= MOST_BYTES && texts > MOST_BYTES - 400_000 && known.files.len() == MOST, "{texts}");
    let long = |word: &str| format!("{word}\n").repeat(5000);
    let shown = difference(&long("a"), &long("b"));
    assert!(shown.lines().count() == LINES + 1 && shown.ends_with("read it again"), "{shown}");
}
