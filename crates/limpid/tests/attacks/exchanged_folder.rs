//! A program of a stranger's that may send, by a rule that says what it sees, waits for another one to end. Meanwhile the folder that it
//! starts in is exchanged for a link to another folder, of which the rule says nothing.

use std::fs::File;
use std::path::Path;

use serde_json::json;

use crate::attacks::obedient::{Attack, Planned, page};

/// Sees the diary, so the other one waits until it has ended.
const CONVERT: &str = "\
import fcntl, os, time
lock = open('REPOSITORY/lock')
fcntl.flock(lock, fcntl.LOCK_EX)
until = time.monotonic() + 20
while not os.path.exists('REPOSITORY/go') and time.monotonic() < until:
    time.sleep(0.02)
print('converted')
";

/// Sends what lies where it starts.
const SYNC: &str = "\
import os, urllib.request
said = ' '.join(open(name).read() for name in sorted(os.listdir('.')))
print('SENT', urllib.request.urlopen('http://localhost:PORT/', data=said.encode(), timeout=10).status)
";

/// What is left after two chats had called one each, and this was done to the folder while the second one waited for the first; none where
/// programs cannot be confined.
async fn ran(meanwhile: impl FnOnce(&Path, &Path)) -> Option<Attack> {
    if crate::programs::no_sandbox() {
        return None;
    }
    let folders = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folders.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let (repository, downloads) = (folders.path().join("repository"), folders.path().join("downloads"));
    std::fs::create_dir_all(repository.join("data")).unwrap();
    std::fs::create_dir(&downloads).unwrap();
    let folder = repository.display().to_string();
    let convert = ("exec", json!({ "command": format!("python3 {folder}/convert.py diary.md"), "working_dir": "." }));
    let mut attack = Attack::new(|_| Vec::new(), |_| Vec::new(), |_| page("thanks")).await;
    attack.world = attack.world.without_rights();
    let port = attack.web.url.rsplit(':').next().unwrap();
    let settings = format!(
        "[tools]\ndefer = false\n[files]\ngrants = [{folder:?}, {downloads:?}]\n[web]\nmirrors = [\"127.0.0.1\"]\n\
         [exec]\nnetwork = [\"localhost:{port}\"]\n"
    );
    attack.world.write("limpid.toml", &settings);
    attack.world.write("workspace/diary.md", "PIN 4711");
    let files = [("convert.py", CONVERT), ("sync.py", SYNC), ("lock", ""), ("data/readme", "a readme")];
    for (name, text) in files {
        let text = text.replace("PORT", port).replace("REPOSITORY", &folder);
        std::fs::write(repository.join(name), text).unwrap();
    }
    std::fs::write(downloads.join("tax"), "TAX 4712").unwrap();
    // A draft says how a rule names what the program sees.
    attack.then(vec![sync(&folder)]);
    attack.world.done(&["chat", "-c", "new", "send it"]).await;
    let drafts = attack.world.json(&["draft", "list", "--json"]).await;
    let rule = format!(
        "[[policy.allow]]\ntool = \"exec\"\ndestination = {}\n\
         arguments = {{ command = [\"python3\", \"{folder}/sync.py\"], working_dir = \"{folder}/data\" }}\n",
        drafts["drafts"][0]["destination"]
    );
    attack.world.write("limpid.toml", &format!("{settings}{rule}"));
    attack.then(vec![convert]);
    let sends = async {
        until_locked(&repository.join("lock")).await;
        attack.then(vec![sync(&folder)]);
        attack.world.done(&["chat", "-c", "new", "send the data"]).await
    };
    let exchange = async {
        until_locked(&repository.join("lock")).await;
        // Whoever waits for programs of the other kind holds this.
        until_locked(&limpid_config::Home::new(attack.world.home.path()).next_kind_lock()).await;
        meanwhile(&repository.join("data"), &downloads);
        std::fs::write(repository.join("go"), "").unwrap();
    };
    tokio::join!(attack.world.done(&["chat", "-c", "new", "convert my diary"]), sends, exchange);
    Some(attack)
}

fn sync(folder: &str) -> Planned {
    ("exec", json!({ "command": format!("python3 {folder}/sync.py"), "working_dir": format!("{folder}/data") }))
}

/// Waits until a program holds a lock.
async fn until_locked(file: &Path) {
    for _ in 0..3000 {
        // It is let go of at once.
        if File::open(file).unwrap().try_lock().is_err() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("no program held the lock within half a minute");
}

// SEC-058 SEC-078 SEC-100
#[tokio::test]
async fn what_waits_does_not_run_in_a_folder_that_it_was_not_judged_for() {
    let links = |data: &Path, downloads: &Path| {
        std::fs::remove_dir_all(data).unwrap();
        std::os::unix::fs::symlink(downloads, data).unwrap();
    };
    let Some(attack) = ran(links).await else { return };
    assert_eq!(attack.web.bodies(), [""; 0]);
    let sent = attack.sent();
    assert!(sent.contains("converted") && sent.contains("after the call was checked; call it again"), "{sent}");
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn a_rule_that_names_what_it_sees_lets_it_send_when_the_other_has_ended() {
        let Some(attack) = ran(|_, _| ()).await else { return };
        assert_eq!(attack.web.bodies(), ["a readme"], "{}", attack.newest());
    }
}
