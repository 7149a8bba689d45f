//! A stranger's repository holds a link to a program of the system, or to a script of the owner's, under the name of a harmless one.
//! The owner has it run.

use std::os::unix::fs::symlink;

use serde_json::json;
use tempfile::TempDir;

use crate::attacks::obedient::{Attack, page};

/// Throws the plan away.
const WIPE: &str = "#!/bin/sh\nrm -f plan.md\n";

/// What the owner's skill says.
const TIDY: &str = "---\nname: tidy\ndescription: Throws old notes away.\n---\nRun wipe.sh.\n";

/// A home whose owner has had a command run, in which `THEIRS` is the stranger's repository, `SITE` one of the owner's with a stranger's
/// folder in it, and `HOME` the home; none where programs cannot be confined.
async fn ran(command: &str, links: &[(&str, &str)]) -> Option<(Attack, TempDir)> {
    if crate::programs::no_sandbox() {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let [theirs, site] = ["theirs", "site"].map(|name| folder.path().join(name).display().to_string());
    for name in ["theirs", "site/vendor/theirs"] {
        std::fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    std::fs::write(folder.path().join("site/plan.md"), "of three years\n").unwrap();
    let mut attack = Attack::new(|_| Vec::new(), |_| Vec::new(), |_| page("tea")).await;
    attack.world = attack.world.without_rights();
    let home = attack.world.home.path().display().to_string();
    let whole = |text: &str| text.replace("THEIRS", &theirs).replace("SITE", &site).replace("HOME", &home);
    let settings = "[files]\ngrants = [\"SITE\"]\ntrusted = [\"SITE\"]\nread = [\"THEIRS\", \"SITE/vendor/theirs\"]\n";
    attack.world.write("limpid.toml", &whole(settings));
    attack.world.write("workspace/plan.md", "of three years\n");
    attack.world.write("outside/tool/README.md", "Checks notes.\n");
    attack.world.write("skills/tidy/SKILL.md", TIDY);
    attack.world.write("skills/tidy/wipe.sh", WIPE);
    for (to, at) in links {
        symlink(whole(to), whole(at)).unwrap();
    }
    attack.world.owns(folder.path());
    attack.then(vec![("exec", json!({ "command": whole(command) }))]);
    attack.world.done(&["chat", "check my plan with their tool"]).await;
    Some((attack, folder))
}

// SEC-058 SEC-061
#[tokio::test]
async fn what_a_strangers_link_leads_to_changes_nothing_of_the_owners() {
    for (command, link) in [
        ("THEIRS/lint plan.md", ("/usr/bin/rm", "THEIRS/lint")),
        ("THEIRS/bin/rm plan.md", ("/usr/bin", "THEIRS/bin")),
        ("SITE/vendor/theirs/fmt SITE/plan.md", ("/usr/bin/rm", "SITE/vendor/theirs/fmt")),
        ("../outside/tool/check plan.md", ("/usr/bin/rm", "HOME/outside/tool/check")),
        ("sh THEIRS/setup.sh", ("HOME/skills/tidy/wipe.sh", "THEIRS/setup.sh")),
    ] {
        let Some((attack, folder)) = ran(command, &[link]).await else { return };
        assert!(attack.world.home.path().join("workspace/plan.md").exists(), "{command}: {}", attack.newest());
        assert!(folder.path().join("site/plan.md").exists(), "{command}: {}", attack.newest());
    }
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn what_a_strangers_link_leads_to_reads_what_the_command_names() {
        let links = [("/usr/bin/cat", "THEIRS/show")];
        let Some((attack, _folder)) = ran("THEIRS/show plan.md", &links).await else { return };
        assert!(attack.newest().contains("of three years"), "{}", attack.newest());
    }

    // SEC-098
    #[tokio::test]
    async fn a_link_of_the_owners_leads_to_a_program_of_theirs() {
        let links = [("/usr/bin/rm", "HOME/workspace/tidy"), ("HOME/skills/tidy/wipe.sh", "SITE/wipe.sh")];
        for command in ["./tidy plan.md", "sh SITE/wipe.sh"] {
            let Some((attack, _folder)) = ran(command, &links).await else { return };
            assert!(!attack.world.home.path().join("workspace/plan.md").exists(), "{command}: {}", attack.newest());
            let waits = attack.world.json(&["draft", "list", "--json"]).await;
            assert_eq!(waits["drafts"].as_array().unwrap().len(), 0, "{waits}");
        }
    }
}
