//! Whether a yes to a server of an editor can outlast the session. What a program reads that starts from a folder of somebody else's
//! becomes another one with every change there, and no look at its words says what that is. So a yes lasts only for words in which
//! nothing leads to such a folder and nothing is computed.

use std::path::{Path, PathBuf};

use limpid_config::McpServerConfig;

/// Signs that a word may have besides letters and digits; with every other one it may be a program for a shell or an interpreter.
const SIGNS: &str = "-_./:@=+, ";

/// Behind these signs a path may begin within a word.
const BEFORE_PATHS: [char; 5] = ['=', ':', ',', '@', ' '];

/// Whether a yes to a server lasts; `foreign` are the folders of the session that nobody says are the owner's, without links.
pub(crate) fn may_last(server: &McpServerConfig, foreign: &[PathBuf]) -> bool {
    if server.command.is_none() || foreign.is_empty() {
        return true;
    }
    let mut words = server.command.iter().chain(&server.args).chain(server.env.values());
    words.all(|word| is_plain(word) && !leads_into(word, foreign))
}

fn is_plain(word: &str) -> bool {
    word.chars().all(|letter| letter.is_alphanumeric() || SIGNS.contains(letter))
}

/// Whether a path in a word leads into one of the folders, or to what holds one.
fn leads_into(word: &str, foreign: &[PathBuf]) -> bool {
    let behind_letter = word.strip_prefix('-').and_then(|option| option.get(1..));
    let parts =
        std::iter::once(word).chain(behind_letter).chain(word.split(BEFORE_PATHS)).filter(|part| !part.is_empty());
    let meets = |path: &Path, folder: &Path| path.starts_with(folder) || (path.is_dir() && folder.starts_with(path));
    parts.into_iter().any(|part| {
        let paths = foreign.iter().filter_map(|folder| folder.join(part).canonicalize().ok());
        paths.into_iter().any(|path| foreign.iter().any(|folder| meets(&path, folder)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-023 SEC-075
    #[test]
    fn a_yes_lasts_only_where_no_word_can_lead_to_a_strangers_program() {
        let home = tempfile::tempdir().unwrap();
        let real = home.path().canonicalize().unwrap();
        let project = real.join("code/project");
        std::fs::create_dir_all(project.join("tools")).unwrap();
        std::fs::create_dir(real.join("own")).unwrap();
        std::fs::write(project.join("tools/serve.py"), "").unwrap();
        std::fs::write(real.join("own/serve.py"), "").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&project, real.join("own/link")).unwrap();
        let lasts = |words: &str, value: &str| {
            let words = words.replace("HOME", &real.display().to_string()).replace("PROJECT", "code/project");
            let mut words = words.split('|').map(str::to_owned);
            let value = value.replace("HOME", &real.display().to_string());
            let server = McpServerConfig {
                command: words.next(),
                args: words.collect(),
                env: std::iter::once(("X".to_owned(), value)).collect(),
                ..McpServerConfig::default()
            };
            may_last(&server, std::slice::from_ref(&project))
        };
        for words in ["npx|-y|@scope/server", "python3|HOME/own/serve.py|--level=3", "uvx|server==1.2", "desk"] {
            assert!(lasts(words, "/there/x"), "{words}");
        }
        for words in [
            "python3|HOME/PROJECT/tools/serve.py",
            "python3|HOME/PROJECT/tools",
            "python3|tools/serve.py",
            "uv|--directory|HOME/PROJECT/tools|run|serve.py",
            "uv|--directory=HOME/PROJECT/tools|run|serve.py",
            "make|-CHOME/PROJECT|serve",
            "python3|-m|code.project.tools.serve|HOME",
            "sh|-c|exec python3 HOME/PROJECT/tools/serve.py",
            "sh|-c|cd $(echo Y29kZQ) && exec python3 serve.py",
            "sh|-c|cd ~/code/*/tools",
            "python3|HOME/own/link/tools/serve.py",
        ] {
            assert!(!lasts(words, ""), "{words}");
        }
        assert!(!lasts("python3|-m|serve", "HOME/code/project/tools") && !lasts("desk", "/a:HOME/code"));
        assert!(!lasts("git", "core.fsmonitor=sh -c 'id'"));
    }
}
