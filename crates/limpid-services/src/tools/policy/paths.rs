//! Where a path of a call leads, and what lies there.

use std::path::{Component, MAIN_SEPARATOR_STR, Path, PathBuf};

use limpid_config::Home;
use limpid_core::policy::{FileChange, PathFacts};

use crate::tools::PathArgument;
use crate::tools::builtin::OUTSIDE;

/// Links that are followed for one path; more than that leads nowhere.
const LINKS: usize = 40;

/// Files that are looked at for another name of one.
const LOOKED_AT: usize = 50_000;

/// Names that are tried for one new file.
const NAMES: u32 = 1000;

/// Folders of the workspace that prompts and skills are read from.
const INSTRUCTING: [&str; 4] = ["memory", "skills", "prompts", "profiles"];

/// Says where paths lead, by the folders that matter to the policy.
#[derive(Clone, Debug)]
pub(crate) struct PathResolver {
    home: PathBuf,
    workspace: PathBuf,
    /// The folder for what strangers wrote.
    outside: PathBuf,
    /// Files of the workspace that prompts quote.
    prompt_files: Vec<PathBuf>,
    /// The folders that programs may write, the workspace first.
    writable: Vec<PathBuf>,
}

impl PathResolver {
    /// `granted` are the folders besides the workspace that may be changed.
    pub(crate) fn new(home: &Home, prompt_files: Vec<PathBuf>, granted: &[PathBuf]) -> Self {
        let workspace = real(&home.workspace());
        let writable = std::iter::once(workspace.clone()).chain(granted.iter().map(|folder| real(folder))).collect();
        Self { home: real(home.path()), workspace, outside: real(&home.outside()), prompt_files, writable }
    }

    /// Makes the workspace and the folder for what strangers wrote when there is none yet: what is bound to a folder is
    /// bound to one that is there, and is the same when it is looked at again. Where it cannot be made nothing can be done
    /// in it either.
    pub(crate) fn create_folders(&self) {
        for own in [&self.workspace, &self.outside] {
            let _ = std::fs::create_dir_all(own);
        }
    }

    /// The workspace with every link followed, and which folder that is: another one at the same place is another.
    pub(crate) fn workspace(&self) -> String {
        format!("{}{}", self.workspace.display(), identity(&self.workspace))
    }

    /// The workspace's folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.workspace
    }

    /// The folders that programs may write.
    pub(crate) fn writable(&self) -> &[PathBuf] {
        &self.writable
    }

    /// Where a path leads.
    pub(crate) fn resolve(&self, argument: PathArgument) -> PathFacts {
        let real = real(&self.workspace.join(&argument.path));
        PathFacts {
            in_workspace: real.starts_with(&self.workspace),
            is_low: real.starts_with(&self.outside),
            instructs: self.instructs(&real),
            real: real.display().to_string(),
            change: self.change(&real, argument.adds),
            written: argument.path,
            write: argument.write,
        }
    }

    /// What a change of the file at a place would be.
    fn change(&self, real: &Path, adds: bool) -> FileChange {
        if self.instructs(real) {
            FileChange::Instructing
        } else if real.starts_with(&self.outside) && (adds || real.symlink_metadata().is_err()) && links(real).is_none()
        {
            FileChange::OwnLow
        } else if real.symlink_metadata().is_err() {
            FileChange::New
        } else {
            FileChange::Other
        }
    }

    /// Where a tainted turn makes a new file instead of where it wanted to: under the same name in the folder for what
    /// strangers wrote. What is there is left alone, unless the call adds to it. None for what may stay where it is, and for
    /// a place that no tool may write.
    pub(crate) fn low_path(&self, argument: PathArgument) -> Option<String> {
        let adds = argument.adds;
        let facts = self.resolve(argument);
        if !facts.write || facts.is_low || facts.change != FileChange::New {
            return None;
        }
        let real = Path::new(&facts.real);
        let root = self.writable.iter().find(|root| real.starts_with(root))?;
        let way = real.strip_prefix(root).ok()?;
        let (stem, ending) = (way.file_stem()?.to_string_lossy(), way.extension());
        let ending = ending.map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
        let name = |n: u32| if n == 1 { format!("{stem}{ending}") } else { format!("{stem}-{n}{ending}") };
        let free = |way: &PathBuf| {
            let there = self.outside.join(way);
            there.symlink_metadata().is_err() || (adds && there.is_file())
        };
        let way = (1..NAMES).map(|n| way.with_file_name(name(n))).find(free)?;
        Some(Path::new(OUTSIDE).join(way).display().to_string())
    }

    /// Whether prompts, skills or policies are read from a place, or from the file there by another name.
    fn instructs(&self, real: &Path) -> bool {
        self.is_instructing_place(real) || links(real).is_some_and(|file| self.has_instructing_name(file))
    }

    /// Whether a file has a name from which prompts, skills or policies are read. Where too many are to be looked at, it may.
    fn has_instructing_name(&self, file: FileId) -> bool {
        let (mut left, mut open) = (LOOKED_AT, vec![self.home.clone()]);
        while let Some(folder) = open.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let (path, Ok(about)) = (entry.path(), entry.metadata()) else { continue };
                left -= 1;
                if left == 0 {
                    return true;
                }
                if about.is_dir() && path != self.outside {
                    open.push(path);
                } else if links(&path) == Some(file) && self.is_instructing_place(&path) {
                    return true;
                }
            }
        }
        false
    }

    /// Whether prompts, skills or policies are read from a place. Case does not count, since some disks ignore it.
    fn is_instructing_place(&self, real: &Path) -> bool {
        let Ok(inside) = lower(real).strip_prefix(lower(&self.workspace)).map(Path::to_owned) else {
            // The rest of the home, but for what strangers wrote, holds settings, profiles, skills and the database.
            return lower(real).starts_with(lower(&self.home)) && !real.starts_with(&self.outside);
        };
        let first = inside.components().next();
        INSTRUCTING.iter().any(|folder| first.is_some_and(|first| first.as_os_str() == *folder))
            || self.prompt_files.iter().any(|file| lower(file) == inside)
    }
}

/// A path with every `..` and every link in it followed; what does not exist is where it would be made.
pub(crate) fn real(path: &Path) -> PathBuf {
    let mut left = LINKS;
    follow(PathBuf::from("/"), path, &mut left)
}

fn follow(mut at: PathBuf, path: &Path, left: &mut usize) -> PathBuf {
    for part in path.components() {
        match part {
            Component::Prefix(prefix) => at = PathBuf::from(prefix.as_os_str()),
            Component::RootDir => at.push(MAIN_SEPARATOR_STR),
            Component::CurDir => {}
            Component::ParentDir => drop(at.pop()),
            Component::Normal(name) => {
                let next = at.join(name);
                at = match std::fs::read_link(&next) {
                    Ok(target) if *left > 0 => {
                        *left -= 1;
                        follow(at, &target, left)
                    }
                    _ => next,
                };
            }
        }
    }
    at
}

fn lower(path: &Path) -> PathBuf {
    PathBuf::from(path.to_string_lossy().to_lowercase())
}

/// A file by its device and its number there.
type FileId = (u64, u64);

/// Which file is at a path, if that file has more than one name.
#[cfg(unix)]
fn links(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    let about = path.symlink_metadata().ok().filter(|about| about.is_file() && about.nlink() > 1)?;
    Some((about.dev(), about.ino()))
}

#[cfg(not(unix))]
fn links(_path: &Path) -> Option<FileId> {
    None
}

#[cfg(unix)]
fn identity(folder: &Path) -> String {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(folder).map(|folder| format!(" {}:{}", folder.dev(), folder.ino())).unwrap_or_default()
}

#[cfg(not(unix))]
fn identity(_folder: &Path) -> String {
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bench() -> (tempfile::TempDir, PathResolver) {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join("workspace/docs")).unwrap();
        let resolver = PathResolver::new(&Home::new(home.path()), vec!["AGENTS.md".into()], &[]);
        (home, resolver)
    }

    fn look(resolver: &PathResolver, path: &str) -> PathFacts {
        resolver.resolve(PathArgument { path: path.to_owned(), write: true, adds: false })
    }

    // OLLM-037
    #[test]
    fn a_path_is_where_it_leads() {
        let (home, resolver) = bench();
        let shown = |path: &str| {
            let facts = look(&resolver, path);
            let root = home.path().canonicalize().unwrap().display().to_string();
            (facts.real.replace(&root, "~"), facts.in_workspace)
        };
        assert_eq!(shown("docs/../src/app.ts"), ("~/workspace/src/app.ts".into(), true));
        assert_eq!(shown("../soul.md"), ("~/soul.md".into(), false));
        assert_eq!(shown("/etc/x.md"), ("/etc/x.md".into(), false));
        assert_eq!(shown("/../../etc/x.md").0, "/etc/x.md");
    }

    // OLLM-037 SEC-020
    #[cfg(unix)]
    #[test]
    fn links_are_followed_wherever_they_stand() {
        use std::os::unix::fs::symlink;
        let (home, resolver) = bench();
        let workspace = home.path().join("workspace");
        symlink("/etc", workspace.join("docs/out")).unwrap();
        symlink("../../soul.md", workspace.join("docs/plan.md")).unwrap();
        symlink("loop", workspace.join("loop")).unwrap();
        assert_eq!(look(&resolver, "docs/out/x.md").real, "/etc/x.md");
        let dangling = look(&resolver, "docs/plan.md");
        assert!(dangling.real.ends_with("/soul.md") && dangling.instructs && !dangling.in_workspace, "{dangling:?}");
        assert!(look(&resolver, "docs/out/../x.md").real.ends_with("/x.md"));
        assert_eq!(look(&resolver, "docs/out/../x.md").real, "/x.md", "`..` is the parent of where a link leads");
        look(&resolver, "loop/x");
    }

    // SEC-002
    #[test]
    fn what_prompts_are_made_from_is_known_by_its_place() {
        let (_home, resolver) = bench();
        let within = ["AGENTS.md", "agents.MD", "memory/MEMORY.md", "memory/202603/20260328.md", "skills/x/SKILL.md"];
        let lent = ["prompts/x.md", "Prompts/x.md", "profiles/limpid/sections/soul.md"];
        let home = ["../limpid.toml", "../soul.md", "../prompts/x.md", "../profiles/x", "../skills/x/SKILL.md"];
        for path in within.into_iter().chain(lent).chain(home) {
            assert!(look(&resolver, path).instructs, "{path}");
        }
        for path in ["docs/AGENTS.md", "notes.md", "src/memory.rs", "/tmp/skills/x"] {
            assert!(!look(&resolver, path).instructs, "{path}");
        }
    }

    // SEC-062
    #[cfg(unix)]
    #[test]
    fn a_file_is_known_by_every_name_that_it_has() {
        let (home, resolver) = bench();
        let at = |name: &str| home.path().join(name);
        std::fs::create_dir_all(at("workspace/memory")).unwrap();
        std::fs::create_dir_all(at("outside")).unwrap();
        for file in ["workspace/AGENTS.md", "workspace/memory/MEMORY.md", "limpid.toml", "workspace/docs/own.txt"] {
            std::fs::write(at(file), "text").unwrap();
        }
        let hard = |from: &str, to: &str| std::fs::hard_link(at(from), at(to)).unwrap();
        hard("workspace/AGENTS.md", "workspace/docs/a.txt");
        hard("workspace/memory/MEMORY.md", "outside/b.txt");
        hard("limpid.toml", "workspace/c.txt");
        hard("workspace/docs/own.txt", "outside/own.txt");
        let changes =
            |path: &str, adds| resolver.resolve(PathArgument { path: path.to_owned(), write: true, adds }).change;
        for path in ["docs/a.txt", "docs/../docs/a.txt", "../outside/b.txt", "c.txt", "AGENTS.md"] {
            assert_eq!(changes(path, false), FileChange::Instructing, "{path}");
            assert_eq!(changes(path, true), FileChange::Instructing, "{path}");
        }
        assert_eq!(changes("docs/own.txt", false), FileChange::Other);
        assert_eq!(changes("../outside/own.txt", true), FileChange::Other, "it is the owner's file as well");
    }
}
