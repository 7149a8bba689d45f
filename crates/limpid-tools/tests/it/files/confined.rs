//! Which paths lead nowhere: out of the granted folders, over a link, into the home.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use limpid_core::Trust;
use limpid_tools::files::{Grants, Root, tools};
use serde_json::json;

use super::Bench;

// SEC-020 PICO-081 LES-137
#[tokio::test]
async fn no_way_leads_out_and_nothing_is_touched() {
    let bench = Bench::new();
    symlink(bench.path("secret"), bench.path("workspace/absolute")).unwrap();
    symlink("../secret", bench.path("workspace/relative")).unwrap();
    symlink(bench.folder.path(), bench.path("workspace/folder")).unwrap();
    symlink("..", bench.path("workspace/up")).unwrap();
    let ways = ["../secret", "absolute", "relative", "folder/secret", "up/secret", "/etc/passwd"]
        .map(str::to_owned)
        .into_iter()
        .chain([bench.path("secret").display().to_string()]);
    for way in ways {
        for (name, arguments) in [
            ("read_file", json!({ "path": way })),
            ("write_file", json!({ "path": way, "content": "x" })),
            ("append_file", json!({ "path": way, "content": "x" })),
            ("edit_file", json!({ "path": way, "old_text": "the", "new_text": "a" })),
            ("list_dir", json!({ "path": way })),
        ] {
            let refused = bench.call(name, arguments).await.unwrap_err();
            assert!(refused.contains("outside of the granted folders"), "{name} {way}: {refused}");
        }
    }
    let refused = bench.call("write_file", json!({ "path": "up/new.md", "content": "x" })).await.unwrap_err();
    assert!(refused.contains("outside"), "{refused}");
    assert_eq!(fs::read_to_string(bench.path("secret")).unwrap(), "the secret");
    assert_eq!(bench.names(""), ["secret", "shared", "skills", "workspace"]);
}

// SEC-020
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_is_swapped_for_a_link_meanwhile_leads_nowhere() {
    let bench = Bench::new();
    fs::create_dir(bench.path("outside")).unwrap();
    fs::write(bench.path("outside/a.md"), "the secret").unwrap();
    fs::create_dir(bench.path("workspace/real")).unwrap();
    fs::write(bench.path("workspace/real/a.md"), "mine").unwrap();
    let [way, next] = ["workspace/way", "workspace/next"].map(|name| bench.path(name));
    let targets = [bench.path("outside"), PathBuf::from("real")];
    symlink("real", &way).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let swapping = std::thread::spawn(move || {
        for n in 0.. {
            if stopped.load(Ordering::SeqCst) {
                return;
            }
            symlink(&targets[n % 2], &next).unwrap();
            fs::rename(&next, &way).unwrap();
        }
    });
    // Until both ways were met often enough.
    let (mut within, mut refused) = (0, 0);
    while within < 50 || refused < 50 {
        match bench.call("read_file", json!({ "path": "way/a.md" })).await {
            Ok(read) => {
                assert_eq!(read.text, "mine");
                within += 1;
            }
            Err(_) => refused += 1,
        }
        let _ = bench.call("write_file", json!({ "path": "way/new.md", "content": "x" })).await;
    }
    stop.store(true, Ordering::SeqCst);
    swapping.join().unwrap();
    assert_eq!(bench.names("outside"), ["a.md"]);
}

// SEC-020
#[tokio::test]
async fn a_pipe_is_refused_and_nobody_waits_for_it() {
    let bench = Bench::new();
    let made = std::process::Command::new("mkfifo").arg(bench.path("workspace/pipe")).status().unwrap();
    assert!(made.success());
    for (name, arguments) in
        [("read_file", json!({ "path": "pipe" })), ("append_file", json!({ "path": "pipe", "content": "x" }))]
    {
        bench.call(name, arguments).await.unwrap_err();
    }
}

/// What reading a file gives whose words are the owner's alone.
async fn read(grants: &Arc<Grants>, path: &std::path::Path) -> String {
    let bench = Bench { folder: tempfile::tempdir().unwrap(), tools: tools(grants, None) };
    match bench.call("read_file", json!({ "path": path.display().to_string() })).await {
        Ok(told) => told.text,
        Err(why) => why,
    }
}

// SEC-088
#[tokio::test]
async fn a_granted_folder_is_the_one_that_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["granted", "late", "elsewhere"] {
        fs::create_dir(path(name)).unwrap();
        fs::write(path(name).join("a.md"), format!("of {name}")).unwrap();
    }
    fs::rename(path("late"), path("not-yet")).unwrap();
    let root = |name: &str| Root { folder: path(name), write: true, trust: Trust::File };
    let grants = Grants::new(path("workspace"), path("locks")).with_granted(root("granted")).with_granted(root("late"));
    let grants = Arc::new(grants);
    assert!(read(&grants, &path("granted/a.md")).await.contains("of granted"));
    fs::rename(path("not-yet"), path("late")).unwrap();
    assert!(read(&grants, &path("late/a.md")).await.contains("of late"), "a grant may be made later");
    for name in ["granted", "late"] {
        fs::rename(path(name), path(&format!("{name}-moved"))).unwrap();
        symlink(path("elsewhere"), path(name)).unwrap();
        let told = read(&grants, &path(name).join("a.md")).await;
        assert!(told.contains("` is a link; the owner has to grant the folder that it leads to"), "{told}");
        fs::remove_file(path(name)).unwrap();
        fs::rename(path("elsewhere"), path(name)).unwrap();
        let told = read(&grants, &path(name).join("a.md")).await;
        assert!(told.contains("another folder is in the place of the one that the owner granted"), "{told}");
        fs::rename(path(name), path("elsewhere")).unwrap();
    }
}

/// A commit to a repository of which only a folder is named, or a package that ran in it, makes a folder above that one a link.
// SEC-020 SEC-088
#[tokio::test]
async fn no_link_above_a_granted_folder_that_somebody_else_could_lay_leads_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["home/workspace", "private/notes", "theirs", "site"] {
        fs::create_dir_all(path(name)).unwrap();
    }
    fs::write(path("private/notes/a.md"), "the secret").unwrap();
    for link in ["theirs/app", "site/app"] {
        symlink("../private", path(link)).unwrap();
    }
    symlink("private", path("mine")).unwrap();
    let root = |name: &str| Root { folder: path(name), write: true, trust: Trust::File };
    let granted = |name: &str| {
        let grants = Grants::new(path("home/workspace"), path("home/data/locks")).apart_from(path("home"));
        Arc::new(grants.with_granted(root("site")).with_granted(root(name)))
    };
    for name in ["theirs/app/notes", "site/app/notes"] {
        let told = read(&granted(name), &path(name).join("a.md")).await;
        assert!(told.contains("lies behind a link that somebody else could have laid"), "{name}: {told}");
    }
    // By its own name the folder is in no grant, whatever leads there.
    let told = read(&granted("theirs/app/notes"), &path("private/notes/a.md")).await;
    assert!(told.contains("outside of the granted folders"), "{told}");
    // The owner lays links beside Limpid's home.
    assert!(read(&granted("mine/notes"), &path("mine/notes/a.md")).await.contains("the secret"));
}

// SEC-088
#[tokio::test]
async fn no_grant_gives_the_home_away() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, text) in [("home/keys.toml", "the key"), ("home/workspace/a.md", "of the workspace"), ("b.md", "beside")]
    {
        fs::create_dir_all(path(name).parent().unwrap()).unwrap();
        fs::write(path(name), text).unwrap();
    }
    symlink(path("home"), path("link")).unwrap();
    let root = |folder: PathBuf| Root { folder, write: true, trust: Trust::File };
    let grants = Grants::new(path("home/workspace"), path("home/locks")).apart_from(path("home"));
    let grants = grants.with_granted(root(folder.path().to_owned())).with_granted(root(path("link")));
    let grants = Arc::new(grants);
    for (name, expected) in [
        ("b.md", "beside"),
        ("home/workspace/a.md", "of the workspace"),
        ("home/keys.toml", "outside of the granted folders"),
        ("link/keys.toml", "outside of the granted folders"),
        ("link/workspace/a.md", "is a link"),
        ("home/new/none.md", "outside of the granted folders"),
    ] {
        let told = read(&grants, &path(name)).await;
        assert!(told.contains(expected), "{name}: {told}");
    }
}

// SEC-060 SEC-062
#[test]
fn what_is_written_to_its_own_place_goes_over_no_link() {
    use limpid_tools::files::{Links, put, restore};

    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join("workspace").join(name);
    fs::create_dir_all(at("own")).unwrap();
    for name in ["own/a.md", "b.md"] {
        fs::write(at(name), "own").unwrap();
    }
    symlink("own", at("docs")).unwrap();
    symlink("b.md", at("plan.md")).unwrap();
    let grants = Grants::new(folder.path().join("workspace"), folder.path().join("locks"));
    for write in [put, restore] {
        assert!(write(&grants, "docs/a.md", Some(b"x"), Links::Refused).is_err());
        assert!(write(&grants, "docs/a.md", None, Links::Refused).is_err());
        // A link is not written through, but gives way to a file.
        write(&grants, "plan.md", Some(b"x"), Links::Refused).unwrap();
        write(&grants, "new/er/c.md", Some(b"x"), Links::Refused).unwrap();
        let said = ["own/a.md", "b.md", "plan.md", "new/er/c.md"].map(|name| fs::read_to_string(at(name)).unwrap());
        assert_eq!(said, ["own", "own", "x", "x"]);
        write(&grants, "docs/a.md", Some(b"own"), Links::Followed).unwrap();
        write(&grants, "new/er/c.md", None, Links::Refused).unwrap();
        assert!(!at("new/er/c.md").exists());
    }
}

/// A stranger's program that runs later in such a folder would know by the times what was read.
// SEC-058
#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_was_read_or_listed_looks_as_it_did_before() {
    use std::time::{Duration, SystemTime};
    let bench = Bench::new();
    let (letters, letter) = (bench.path("shared/letters"), bench.path("shared/letters/a.md"));
    fs::create_dir(&letters).unwrap();
    fs::write(&letter, "Dear all\n").unwrap();
    // Older than the last change, so that any other read changes it.
    let (accessed, changed) = (SystemTime::UNIX_EPOCH, SystemTime::UNIX_EPOCH + Duration::from_secs(9));
    let times = fs::FileTimes::new().set_accessed(accessed).set_modified(changed);
    for path in [&letter, &letters] {
        fs::File::open(path).unwrap().set_times(times).unwrap();
    }
    for (tool, path) in [("list_dir", &letters), ("read_file", &letter)] {
        let told = bench.call(tool, json!({ "path": path.display().to_string() })).await;
        assert!(told.is_ok(), "{tool}: {told:?}");
    }
    for path in [&letter, &letters] {
        assert_eq!(fs::metadata(path).unwrap().accessed().unwrap(), accessed, "{}", path.display());
    }
}
