//! Which places of this computer no project lies in, and which file a command starts.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use limpid_config::regular_file;

/// Folders that only an administrator changes.
const SYSTEM: [&str; 15] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/opt",
    "/nix/store",
    "/etc/alternatives",
    "/etc/profiles",
    "/run/current-system",
    "/snap",
    "/var/lib/flatpak",
    "/home/linuxbrew",
    "/Applications",
    "/System",
];

/// What tells that a folder is somebody's project.
const REPOSITORY: [&str; 5] = [".git", ".hg", ".jj", ".svn", ".bzr"];

/// Links that are followed on the way to a file.
const LINKS: usize = 40;

/// Bytes of a script that its interpreter stands in.
const FIRST_LINE: u64 = 256;

/// The places that a word may lead to, and those that it may not.
#[derive(Debug)]
pub(crate) struct Places {
    /// The folders of the session that nobody says are the owner's, without links.
    pub(crate) foreign: Vec<PathBuf>,
    /// What is Limpid's own, without links: texts of strangers lie there.
    pub(crate) limpids: Vec<PathBuf>,
    /// The folders that the owner says are theirs, without links.
    pub(crate) trusted: Vec<PathBuf>,
    /// The folders that settings or the session name, without links. The nearest one says whose a place is.
    pub(crate) granted: Vec<PathBuf>,
    /// The owner's own folder, in whose hidden folders programs of theirs are installed.
    pub(crate) user: Option<PathBuf>,
    /// The folders that programs are looked up in, as a server gets them.
    pub(crate) path: String,
}

/// A program in a safe place.
pub(super) struct Program {
    /// What it is called where it is started, and what the file behind links is called. Without numbers of versions.
    pub(super) names: [String; 2],
}

impl Places {
    /// The program that a command starts with such a `PATH`; none where a project may change which one, or what it is.
    pub(super) fn program(&self, command: &str, path: &str) -> Option<Program> {
        let file = self.found(command, path)?;
        let real = self.real(&file)?;
        self.is_run_safely(&real, path).then(|| Program { names: [program_name(&file), program_name(&real)] })
    }

    /// The file that a command stands for. A project that can write a folder that is searched before it can lay another one there.
    fn found(&self, command: &str, path: &str) -> Option<PathBuf> {
        if command.contains(['/', '\\']) {
            return Some(PathBuf::from(command));
        }
        for folder in std::env::split_paths(path) {
            self.real(&folder)?;
            let file = folder.join(command);
            if is_program(&file) {
                return Some(file);
            }
        }
        None
    }

    /// Whether the interpreter that a script names is as safe as the script.
    fn is_run_safely(&self, script: &Path, path: &str) -> bool {
        let mut first = Vec::new();
        let read = regular_file::open(script).and_then(|file| file.take(FIRST_LINE).read_to_end(&mut first));
        if read.is_err() {
            return false;
        }
        let text = String::from_utf8_lossy(&first);
        let Some(line) = text.lines().next().and_then(|line| line.strip_prefix("#!")) else {
            return true;
        };
        let mut words = line.split_whitespace();
        let interpreter = words.next().unwrap_or_default();
        if program_name(Path::new(interpreter)) != "env" {
            return self.is_safe(interpreter);
        }
        let named = words.find(|word| !word.starts_with('-') && !word.contains('='));
        let file = named.and_then(|name| self.found(name, path));
        file.and_then(|file| self.real(&file)).is_some()
    }

    /// Whether a path leads to something in a place that no project lies in. Where nothing is, another reading of a word may count.
    pub(super) fn is_safe(&self, path: &str) -> bool {
        self.real(Path::new(path)).is_some_and(|real| real.exists())
    }

    /// Whether every part of a list of paths, or the one that a text is, is safe.
    pub(super) fn are_safe(&self, paths: &str) -> bool {
        self.is_safe(paths) || paths.split(':').all(|path| self.is_safe(path))
    }

    /// A path without links. None where it leads, or a link on its way lies, in a place that a project may lie in: what the link leads to
    /// would be the project's to say. From which folder a relative path begins is not known here.
    fn real(&self, path: &Path) -> Option<PathBuf> {
        if !path.is_absolute() {
            return None;
        }
        let parts =
            |path: &Path| path.components().rev().map(|part| PathBuf::from(part.as_os_str())).collect::<Vec<_>>();
        let (mut real, mut rest, mut links) = (PathBuf::new(), parts(path), 0);
        while let Some(part) = rest.pop() {
            if part.as_os_str() == ".." {
                real.pop();
                continue;
            }
            let place = real.join(&part);
            match place.read_link() {
                Ok(target) => {
                    links += 1;
                    if links > LINKS || !self.is_link_safe(&place) {
                        return None;
                    }
                    rest.extend(parts(&target));
                }
                Err(_) => real = place,
            }
        }
        self.is_place_safe(&real).then_some(real)
    }

    /// Whether no project lays a link: directly below the root, on the way to the owner's folder, or in a safe place.
    fn is_link_safe(&self, link: &Path) -> bool {
        let is_at_root = link.parent().is_some_and(|folder| folder.parent().is_none());
        let is_users = self.user.as_ref().is_some_and(|user| user.starts_with(link));
        is_at_root || is_users || self.is_place_safe(link)
    }

    fn is_place_safe(&self, real: &Path) -> bool {
        let meets = |folder: &PathBuf| real.starts_with(folder) || folder.starts_with(real);
        if self.foreign.iter().chain(&self.limpids).any(meets) {
            return false;
        }
        if self.is_strangers(real) {
            return false;
        }
        if self.trusted.iter().any(|own| real.starts_with(own)) {
            return true;
        }
        if self.foreign.iter().any(|folder| self.is_of_project(folder, real)) {
            return false;
        }
        let in_user = self.real_user().and_then(|user| real.strip_prefix(user).ok().map(Path::to_owned));
        match in_user {
            Some(path) => path.to_string_lossy().starts_with('.'),
            None => SYSTEM.iter().any(|folder| real.starts_with(folder)),
        }
    }

    /// Whether a place lies in a repository that a session's folder is a part of. The owner's own folder may be one, of settings.
    fn is_of_project(&self, folder: &Path, real: &Path) -> bool {
        let user = self.real_user();
        let is_project = |above: &&Path| {
            let holds_user = user.as_ref().is_some_and(|user| user.starts_with(above));
            !holds_user && REPOSITORY.iter().any(|name| above.join(name).exists())
        };
        folder.ancestors().filter(is_project).any(|project| real.starts_with(project))
    }

    fn real_user(&self) -> Option<PathBuf> {
        self.user.as_ref().and_then(|user| user.canonicalize().ok())
    }

    /// Whether the nearest folder around a place that settings or the session name is somebody else's.
    pub(crate) fn is_strangers(&self, real: &Path) -> bool {
        let holds = |folder: &&PathBuf| real.starts_with(folder);
        let nearest = |list: &[PathBuf]| list.iter().filter(holds).map(|folder| folder.components().count()).max();
        nearest(&self.granted) > nearest(&self.trusted)
    }

    /// Whether a word names one of Limpid's own folders, which texts of strangers change without a question, or a folder of somebody
    /// else's.
    pub(super) fn names_strangers(&self, word: &str) -> bool {
        let leads = |path: &str| Path::new(path).canonicalize().ok();
        let ways = word.split(['=', ':', ',', ' ']).chain([word]).filter_map(leads).collect::<Vec<_>>();
        self.limpids
            .iter()
            .any(|own| word.contains(own.to_string_lossy().as_ref()) || ways.iter().any(|path| path.starts_with(own)))
            || ways.iter().any(|path| self.is_strangers(path))
    }
}

/// A program's name in small letters, without the number of its version or the ending of a file that runs.
fn program_name(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = [".exe", ".cmd", ".bat"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
    name.trim_end_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-')).to_owned()
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}
