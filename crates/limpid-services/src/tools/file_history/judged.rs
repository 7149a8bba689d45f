//! A file that a call was judged to write, and why it is not written: while the call waited, a program may have exchanged the file, or a
//! folder above it, for a link.

use std::path::PathBuf;

use limpid_config::FileError;
use limpid_core::policy::PathFacts;
use limpid_core::{Sentence, io_cause, sentence};
use limpid_tools::echoed;

use crate::error::AgentError;

/// A file that a call writes.
pub(super) struct WrittenFile {
    /// How the call has named it.
    pub(super) called: String,
    /// Its place, with every link followed when the call was judged.
    pub(super) place: PathBuf,
}

/// Why a call may not write, for the model.
pub(super) fn led_elsewhere(path: &PathFacts) -> Sentence {
    let name = echoed(path.written.clone());
    sentence!("`{}` leads elsewhere than when this call was judged; nothing was written; call it again", name)
}

/// An error names the file as links lead to it, which whoever made them has named; the model is told its own name of it.
pub(super) fn not_kept(written: String, error: &AgentError) -> Sentence {
    let why = match error {
        AgentError::File(FileError::Io { source, .. }) => io_cause(source),
        _ => "the history of files cannot be written".to_owned(),
    };
    sentence!("what `{}` holds could not be kept, so nothing was changed: {}", echoed(written), echoed(why))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use limpid_core::Trust;
    use limpid_core::policy::Followed;

    use super::*;
    use crate::tools::file_history::Reading;
    use crate::tools::file_history::bench::Bench;
    use crate::tools::policy::real;

    /// A project with a plan, a diary beside it, and links that lead out: in the place of the plan, and of its folder.
    fn bench() -> (Bench, PathFacts) {
        let bench = Bench::new();
        let workspace = real(&bench.home.workspace());
        for (folder, text) in [("workspace/docs", "tea\n"), ("private", "PIN 4711\n")] {
            std::fs::create_dir_all(bench.home.path().join(folder)).unwrap();
            std::fs::write(bench.home.path().join(folder).join("plan.txt"), text).unwrap();
        }
        symlink("../../private/plan.txt", workspace.join("docs/laid.txt")).unwrap();
        symlink("../private", workspace.join("laid")).unwrap();
        let path = PathFacts { write: true, ..bench.path("docs/plan.txt") };
        (bench, path)
    }

    /// What a program does meanwhile: `there` is exchanged for the link, twice as if nothing had been.
    fn exchange(bench: &Bench, there: &str, link: &str) {
        let at = |name: &str| bench.home.workspace().join(name);
        for (from, to) in [(there, "aside"), (link, there), ("aside", link)] {
            std::fs::rename(at(from), at(to)).unwrap();
        }
    }

    fn kept(bench: &Bench) -> usize {
        std::fs::read_dir(bench.home.kept_files()).map_or(0, Iterator::count)
    }

    const LAID: [(&str, &str); 2] = [("docs/plan.txt", "docs/laid.txt"), ("docs", "laid")];

    // SEC-058 SEC-063 SEC-088
    #[tokio::test]
    async fn nothing_is_kept_of_what_was_exchanged_for_a_link_after_the_call_was_judged() {
        for (there, link) in LAID {
            let (bench, path) = bench();
            let by = bench.history.memory.owner("test");
            let begin = async || {
                let (name, place) = ("docs/plan.txt", path.real.as_path());
                bench.history.begin(name, Some(place), (Some("write_file"), None), &by).await
            };
            assert!(!bench.history.leads_elsewhere(&path).await);
            exchange(&bench, there, link);
            assert!(bench.history.leads_elsewhere(&path).await, "{there}");
            assert!(begin().await.is_err() && bench.history.journal.content("docs/plan.txt").await.is_err(), "{there}");
            assert_eq!(kept(&bench), 0, "{there}");
            assert!(bench.history.versions(None).await.unwrap().rows.is_empty(), "{there}");
            exchange(&bench, there, link);
            let content = begin().await.unwrap().content.unwrap();
            assert_eq!(bench.history.journal.bytes("docs/plan.txt", &content).await.unwrap(), b"tea\n");
        }
    }

    // SEC-058 SEC-088
    #[tokio::test]
    async fn what_leads_elsewhere_than_it_was_judged_is_a_strangers() {
        for (there, link) in LAID {
            let (bench, path) = bench();
            let label = async || Reading::begin(&bench.history, vec![&path], false).await.end().await;
            assert_eq!(label().await, Trust::Owner);
            exchange(&bench, there, link);
            assert_eq!(label().await, Trust::Outside, "{there}");
        }
    }

    /// The owner's links among what prompts quote lead where tools may read, and not to what nobody granted.
    // SEC-058 SEC-061
    #[tokio::test]
    async fn of_links_the_owners_alone_are_followed_and_only_to_what_tools_may_read() {
        let (bench, _) = bench();
        let at = |name: &str| bench.home.workspace().join(name);
        symlink("docs/plan.txt", at("AGENTS.md")).unwrap();
        symlink("../private/plan.txt", at("MEMORY.md")).unwrap();
        symlink("docs/plan.txt", at("plan.txt")).unwrap();
        let content = async |name: &str| bench.history.journal.content(name).await;
        assert_eq!(content("AGENTS.md").await.unwrap().and_then(|content| content.text).as_deref(), Some("tea\n"));
        for name in ["MEMORY.md", "plan.txt"] {
            assert!(content(name).await.is_err(), "{name}");
        }
        let leads_elsewhere = bench.history.leads_elsewhere(&bench.path("plan.txt")).await;
        assert!(!leads_elsewhere, "a link that was there is none that was laid");
        let judged = PathFacts { real: Followed::new(Path::new("/none")), ..bench.path("plan.txt") };
        let refused = led_elsewhere(&judged);
        assert!(refused.text().starts_with("`plan.txt` leads elsewhere than when"), "{refused:?}");
    }
}
