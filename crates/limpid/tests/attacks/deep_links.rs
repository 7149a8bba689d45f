//! A package leaves a deep folder with many links to itself in a skill of the owner's, so that whoever follows each link's
//! whole path has no time for anything else. The owner had a program load the package.

use std::time::Duration;

use crate::attacks::obedient::Attack;
use crate::attacks::package;

/// Makes a deep folder with links to itself, unless it is there.
const BUILDS: &str = "\
import os, sys
os.makedirs('FOLDER', exist_ok=True)
os.chdir('FOLDER')
if os.path.isdir('a'):
    print('it is there')
    sys.exit()
for level in range(300):
    os.mkdir('a')
    os.chdir('a')
for link in range(4000):
    os.symlink('.', 'l%d' % link)
print('it was built')
";

const TEA: &str = "---\nname: tea\ndescription: Knows every oolong.\n---\nPour it.\n";

/// How long a message may wait for its answer: many times what it takes, and a part of what it would take to follow all
/// these links by their whole paths.
const ANSWERED: Duration = Duration::from_secs(20);

/// A home whose owner has a package loaded, says hello in another chat, and has the package loaded once more; and what the
/// model was sent with the hello. None where programs cannot be confined.
async fn built(folder: &str) -> Option<(Attack, String)> {
    let files = [("skills/tea/SKILL.md", TEA), ("build.py", &BUILDS.replace("FOLDER", folder))];
    let attack = package::home(&files).await?;
    package::load(&attack).await;
    let world = &attack.world;
    let hello = tokio::time::timeout(ANSWERED, world.done(&["chat", "-c", "new", "hello"])).await;
    assert!(hello.is_ok(), "nobody answered");
    let hello = attack.newest();
    attack.then(vec![package::build()]);
    world.done(&["chat", "-c", "new", "build it"]).await;
    Some((attack, hello))
}

// SEC-061 SEC-093
#[tokio::test]
async fn a_deep_folder_of_links_in_a_skill_keeps_nobody_waiting() {
    let Some((attack, hello)) = built("skills/tea").await else { return };
    assert!(!hello.contains("Knows every oolong."), "{hello}");
    let refused = attack.newest();
    assert!(refused.contains("levels deep") && !refused.contains("it is there"), "{refused}");
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn a_deep_folder_of_links_that_nothing_is_made_from_keeps_no_skill_and_no_program_back() {
        let Some((attack, hello)) = built("build").await else { return };
        assert!(hello.contains("Knows every oolong."), "{hello}");
        assert!(attack.newest().contains("it is there"), "{}", attack.newest());
    }
}
