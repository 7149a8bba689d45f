//! Whether a yes to a server of an editor can outlast the session. What a program reads that starts from a folder of somebody else's
//! becomes another one with every change there, and no look at its words says what that is. So a yes lasts only where every path in the
//! words leads to a place that no project lies in, and where nothing is computed.

use std::path::{Path, PathBuf};

use limpid_config::McpServerConfig;

/// Signs that a word may have besides letters and digits; with every other one it may be a program for a shell or an interpreter.
const SIGNS: &str = "-_./:@=+, ";

/// Behind these signs a path may begin within a word.
const BEFORE_PATHS: [char; 5] = ['=', ':', ',', '@', ' '];

/// Folders of the system, which only an administrator changes.
const SYSTEM: [&str; 9] = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/nix/store", "/Applications", "/System"];

/// What tells that a folder is somebody's project.
const REPOSITORY: [&str; 5] = [".git", ".hg", ".jj", ".svn", ".bzr"];

/// The places that a word may lead to, and those that it may not. All are without links.
#[derive(Debug)]
pub(crate) struct Places {
    /// The folders of the session that nobody says are the owner's.
    pub(crate) foreign: Vec<PathBuf>,
    /// The folders that the owner says are theirs.
    pub(crate) trusted: Vec<PathBuf>,
    /// The owner's own folder, in whose hidden folders programs of theirs are installed.
    pub(crate) user: Option<PathBuf>,
}

/// Whether a yes to a server lasts.
pub(crate) fn may_last(server: &McpServerConfig, places: &Places) -> bool {
    if server.command.is_none() || places.foreign.is_empty() {
        return true;
    }
    let mut words = server.command.iter().chain(&server.args).chain(server.env.values());
    words.all(|word| is_plain(word) && places.allow(word))
}

fn is_plain(word: &str) -> bool {
    word.chars().all(|letter| letter.is_alphanumeric() || SIGNS.contains(letter))
}

impl Places {
    /// Whether every path that a word can be read as leads to a place of the owner's or the system's.
    fn allow(&self, word: &str) -> bool {
        if is_address(word) || is_package(word) {
            return true;
        }
        // Where a path begins behind the letters of an option is for its program to say.
        let word = match word.strip_prefix('-').map(|option| option.split_once('=')) {
            Some(Some((name, value))) if !name.contains('/') => value,
            Some(_) if word.contains('/') => return false,
            _ => word,
        };
        let parts = || word.split(BEFORE_PATHS).filter(|part| part.contains('/') || matches!(*part, "." | ".."));
        let is_whole = self.is_safe(word);
        parts().next().is_none() || is_whole || parts().all(|part| self.is_safe(part))
    }

    /// Whether a path leads to a place that no project lies in.
    fn is_safe(&self, path: &str) -> bool {
        // From which folder a relative one begins, and what a name of the running program's leads to, is not known here.
        let Some(real) = Path::new(path).is_absolute().then(|| Path::new(path).canonicalize().ok()).flatten() else {
            return false;
        };
        let meets = |folder: &PathBuf| real.starts_with(folder) || folder.starts_with(&real);
        if self.foreign.iter().any(meets) || real.starts_with("/proc") {
            return false;
        }
        if self.trusted.iter().any(|own| real.starts_with(own)) || SYSTEM.iter().any(|folder| real.starts_with(folder))
        {
            return true;
        }
        let installed = self.user.as_ref().and_then(|user| real.strip_prefix(user).ok());
        let is_hidden = installed.is_some_and(|path| path.to_string_lossy().starts_with('.'));
        let is_project = |folder: &Path| REPOSITORY.iter().any(|name| folder.join(name).exists());
        is_hidden && !real.ancestors().any(is_project)
    }
}

/// Whether a word is an address, of which no path of this computer is a part.
fn is_address(word: &str) -> bool {
    word.split_once("://").is_some_and(|(scheme, _)| {
        scheme != "file" && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '+')
    })
}

/// Whether a word is the name of a package in somebody's scope, as `@scope/server@1.2`.
fn is_package(word: &str) -> bool {
    let parts = word.strip_prefix('@').and_then(|name| name.split_once('/'));
    let is_name = |name: &str| !name.is_empty() && !name.starts_with('.') && !name.contains(['/', ':', '=', ' ', ',']);
    parts.is_some_and(|(scope, name)| is_name(scope) && is_name(name) && !scope.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Desk {
        _home: tempfile::TempDir,
        real: PathBuf,
        places: Places,
    }

    /// A project whose subfolder is open in an editor, a folder that the owner trusts, one beside it, and programs in a hidden folder.
    fn desk() -> Desk {
        let home = tempfile::tempdir().unwrap();
        let real = home.path().canonicalize().unwrap();
        let folders =
            ["project/tools", "project/.git", "project/frontend", "own", "other", ".local/bin", ".config/.git"];
        for folder in folders {
            std::fs::create_dir_all(real.join(folder)).unwrap();
        }
        for file in ["project/tools/serve.py", "own/serve.py", "other/serve.py", ".local/bin/serve", ".config/serve.py"]
        {
            std::fs::write(real.join(file), "").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(real.join("project"), real.join("own/link")).unwrap();
        let places = Places {
            foreign: vec![real.join("project/frontend")],
            trusted: vec![real.join("own")],
            user: Some(real.clone()),
        };
        Desk { _home: home, real, places }
    }

    impl Desk {
        fn lasts(&self, words: &str, value: &str) -> bool {
            let home = |text: &str| text.replace("HOME", &self.real.display().to_string());
            let mut words = words.split('|').map(home);
            let server = McpServerConfig {
                command: words.next(),
                args: words.collect(),
                env: std::iter::once(("X".to_owned(), home(value))).collect(),
                ..McpServerConfig::default()
            };
            may_last(&server, &self.places)
        }
    }

    // SEC-023 SEC-075
    #[test]
    fn a_yes_lasts_where_every_path_leads_to_no_project() {
        let desk = desk();
        for words in [
            "npx|-y|@scope/server",
            "npx|-y|@scope/server@1.2|https://mcp.example/sse",
            "uvx|--from|git+https://code.example/a/b@v1|server",
            "python3|HOME/own/serve.py|--level=3",
            "python3|--root=HOME/own|-u",
            "HOME/.local/bin/serve",
            "/usr/bin/env",
            "uvx|server==1.2",
            "desk",
        ] {
            assert!(desk.lasts(words, "/usr/bin:/bin"), "{words}");
        }
        assert!(desk.lasts("desk", "postgres://ada:x@db.example/notes"));
        let nothing_foreign = Places { foreign: Vec::new(), ..desk.places };
        assert!(Desk { places: nothing_foreign, ..desk }.lasts("sh|-c|cd tools", ""));
    }

    // SEC-023 SEC-075
    #[test]
    fn a_yes_does_not_last_where_a_word_may_lead_to_somebody_elses_program() {
        let desk = desk();
        for words in [
            // Beside the folder that is open, within it, around it, and in another one.
            "python3|HOME/project/tools/serve.py",
            "python3|HOME/project/frontend/serve.py",
            "python3|-m|project.tools.serve|HOME",
            "python3|HOME/other/serve.py",
            "python3|HOME/.config/serve.py",
            "uv|--directory|HOME/project/tools|run|serve.py",
            "uv|--directory=HOME/project/tools|run|serve.py",
            // By a way that begins elsewhere.
            "python3|tools/serve.py",
            "python3|../../project/tools/serve.py",
            "python3|..",
            "python3|@tools/../../serve.py",
            "python3|/proc/self/cwd/../../serve.py",
            "python3|HOME/own/link/tools/serve.py",
            "python3|HOME/own/../project/tools/serve.py",
            "python3|file:///there/serve.py",
            // Behind the letters of options.
            "make|-CHOME/project|serve",
            "make|-sCHOME/project/tools|serve",
            // Computed.
            "sh|-c|exec python3 HOME/project/tools/serve.py",
            "sh|-c|cd $(echo Y29kZQ) && exec python3 serve.py",
            "sh|-c|cd ~/code/*/tools",
        ] {
            assert!(!desk.lasts(words, ""), "{words}");
        }
        for value in ["HOME/project/tools", "/usr/bin:HOME/project/tools", "/not/there", "sh -c 'id'"] {
            assert!(!desk.lasts("desk", value), "{value}");
        }
    }
}
