//! The owner looks at a program in a folder of `outside/` and is asked about it. Between question and yes another page has files laid
//! into the folders above and beside, where tools look for modules and settings of their own accord.

use serde_json::json;

use crate::attacks::obedient::{Attack, MARK, page};

/// Runs what it finds on the way up, as tools of many languages do.
const RUN: &str = "\
import os
for path in ['../notes-conftest.md', '../notes/modules/pad.md']:
    if os.path.exists(path):
        exec(open(path).read())
print('hello')
";

const EVIL: &str = "print('evil ran')\n";

/// What the program said after the owner's yes, which came after another page had these files written; none where it is asked about
/// again, or where programs cannot be confined.
async fn said(files: &[&str]) -> Option<Result<String, String>> {
    if crate::programs::no_sandbox() {
        return None;
    }
    let run = ("exec", json!({ "command": "python3 run.py", "working_dir": "outside/tool" }));
    let look = |web: &str| vec![("web_fetch", json!({ "url": format!("{web}/") }))];
    let mut attack = Attack::new(look, |_| vec![run], |_| page(MARK)).await;
    attack.world = attack.world.without_rights();
    attack.world.write("limpid.toml", "[web]\nmirrors = [\"127.0.0.1\"]\n[tools]\ndefer = false\n");
    attack.world.write("outside/tool/run.py", RUN);
    let asks = format!("what does {}/ say?", attack.web.url);
    attack.world.done(&["chat", &asks]).await;
    let writes = files.iter().map(|path| ("write_file", json!({ "path": path, "content": EVIL })));
    attack.strangers_then(writes.collect());
    attack.then(look(&attack.web.url));
    attack.world.done(&["chat", "-c", "new", &asks]).await;
    for path in files {
        assert!(attack.world.home.path().join(path).exists(), "it was written unasked: {}", attack.newest());
    }
    let approved = attack.world.run(&["draft", "approve", "1"]).await;
    let shown = attack.world.done(&["draft", "show", "1"]).await;
    Some(if shown.contains("was carried out") || shown.contains("hello") {
        Ok(shown)
    } else {
        Err(format!("{approved:?}"))
    })
}

// SEC-058 SEC-075
#[tokio::test]
async fn what_a_program_would_look_for_above_its_folder_is_bound_or_not_there() {
    for files in [&["outside/notes-conftest.md"][..], &["outside/notes/modules/pad.md"]] {
        let Some(said) = said(files).await else { return };
        let said = said.unwrap_or_else(|asked_again| asked_again);
        assert!(!said.contains("evil ran"), "{files:?}: {said}");
    }
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn what_was_looked_at_runs_also_where_another_folder_of_outside_was_made_since() {
        for files in [&[][..], &["outside/notes/modules/pad.md"]] {
            let Some(said) = said(files).await else { return };
            assert!(said.as_ref().is_ok_and(|said| said.contains("hello")), "{said:?}");
        }
    }
}
