//! Files that a language loads unasked, left in the workspace, and a program of the owner's own turn that starts there. And a
//! program that tries to leave its sandbox.

use serde_json::json;

use crate::attacks::obedient::{Attack, page};

/// Runs when anything loads it: leaves a file behind.
const CANARY: &str = "open('loaded', 'w').write('x')\n";

/// What a program reads, takes and reaches if nothing holds it; it prints what it could do.
const BREAKS_OUT: &str = "\
import os, socket
def tried(name, what):
    try:
        what()
        print('DID', name)
    except OSError:
        pass
tried('read', lambda: open('../secret.md').read())
tried('look', lambda: open('/proc/1/environ').read())
tried('leave', lambda: open('/tmp/../../left', 'w'))
tried('own', lambda: os.chown('out.py', 0, 0))
tried('connect', lambda: socket.create_connection(('127.0.0.1', PORT), 2))
print('tried')
";

/// A clean turn that runs a command in a workspace with these files; none where programs cannot be confined.
async fn ran(command: &str, files: &[(&str, String)]) -> Option<Attack> {
    use limpid_runtime::sandbox::{Missing, support};
    use std::io::Write as _;

    if let Some(missing) = support().err().filter(|missing| *missing != Missing::Root) {
        let _ = writeln!(std::io::stderr(), "SKIPPED: programs cannot be confined here: {}", missing.why());
        return None;
    }
    let run = json!({ "command": command });
    let mut attack = Attack::new(|_| vec![("exec", run)], |_| Vec::new(), |_| page("tea")).await;
    attack.world = attack.world.without_rights();
    attack.world.write("secret.md", "the secret");
    let port = attack.web.url.rsplit(':').next().unwrap();
    files.iter().for_each(|(name, text)| attack.world.write(&format!("workspace/{name}"), &text.replace("PORT", port)));
    attack.world.done(&["chat", "run it"]).await;
    Some(attack)
}

// SEC-059 SEC-086
#[tokio::test]
async fn nothing_that_was_left_in_the_workspace_is_loaded_unasked() {
    let planted = ["sitecustomize.py", "usercustomize.py", "json.py", "encodings/__init__.py", ".pythonrc.py"];
    let files = planted.map(|name| (name, CANARY.to_owned()));
    let Some(attack) = ran("python3 -c \"import json; print('ran', json.dumps([1]))\"", &files).await else { return };
    assert!(attack.sent().contains("ran [1]"), "{}", attack.sent());
    assert!(!attack.world.home.path().join("workspace/loaded").exists());
}

// SEC-079 SEC-080
#[tokio::test]
async fn a_program_does_not_get_out_of_its_sandbox() {
    let Some(attack) = ran("python3 out.py", &[("out.py", BREAKS_OUT.to_owned())]).await else { return };
    assert!(attack.sent().contains("tried") && !attack.sent().contains("DID"), "{}", attack.sent());
    assert_eq!(attack.web.visited(), Vec::<String>::new());
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn a_program_works_with_the_files_of_the_workspace() {
        let works = "open('sum.txt', 'w').write(str(sum(map(int, open('numbers.txt')))))\nprint('worked')\n";
        let files = [("sum.py", works.to_owned()), ("numbers.txt", "1\n2\n".to_owned())];
        let Some(attack) = ran("python3 sum.py", &files).await else { return };
        let sum = std::fs::read_to_string(attack.world.home.path().join("workspace/sum.txt"));
        assert_eq!(sum.ok().as_deref(), Some("3"), "{}", attack.sent());
    }
}
