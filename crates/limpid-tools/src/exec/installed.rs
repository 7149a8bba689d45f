//! What people put into folders of the system. Programs see these folders whole, and nobody looked through what lies there: it may be a
//! stranger's, or the owner's.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::confinement::Place;
use super::sandbox::SYSTEM;

/// Where the system's programs are.
pub(super) const SYSTEM_PATH: [&str; 4] = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin"];

/// Folders of the system for what is none of it. Of these the first holds nothing else.
const FREE: [&str; 3] = ["/opt", "/usr/local", "/usr/src"];

/// Those that hold nothing else: of these a program sees what it uses.
const WHOLE: [&str; 3] = ["/opt", "/usr/local/src", "/usr/src"];

/// Folders in which people put something among what is the system's, and how deep it is looked for.
const PEOPLES: [(&str, usize); 3] = [("/usr/local", 2), ("/usr", 1), ("/etc", 1)];

/// What administrators install there is theirs, whoever owns it: programs, and what belongs to these.
const INSTALLED: [&str; 8] = [
    "/usr/local/bin",
    "/usr/local/sbin",
    "/usr/local/lib",
    "/usr/local/lib64",
    "/usr/local/libexec",
    "/usr/local/share",
    "/usr/local/include",
    "/usr/local/etc",
];

/// The first number of a person; those before are the system's own.
const PERSON: u32 = 1000;

/// The number of nobody.
const NOBODY: u32 = 65534;

/// What a program sees of it.
pub(super) struct Installed {
    /// What it doesn't see, though it lies in a folder of the system.
    pub(super) hidden: Vec<PathBuf>,
    /// What it doesn't see where the system can hide it.
    pub(super) covered: Vec<PathBuf>,
    /// What it sees of the first of these folders, all others of which are hidden.
    pub(super) read: Vec<Place>,
}

/// What a program sees of what people put into folders of the system, where the call uses these folders and files of it. One that reads the
/// owner's places sees what people own among what is the system's, where nothing can hide it.
pub(super) fn installed(used: &[PathBuf], reads_high: bool) -> Installed {
    let (mut hidden, mut covered, mut read) = (Vec::new(), Vec::new(), Vec::new());
    for folder in WHOLE.map(Path::new) {
        let is_there = folder.symlink_metadata().is_ok_and(|about| about.is_dir());
        if !is_there || used.iter().any(|used| folder.starts_with(used)) {
            continue;
        }
        // Landlock leaves out the first by itself; the others lie in what every program needs.
        if folder == Path::new(WHOLE[0]) {
            hidden.push(folder.to_owned());
        } else {
            covered.push(folder.to_owned());
        }
        read.extend(used.iter().filter(|used| used.starts_with(folder)).filter_map(|used| Place::of(used)));
    }
    let used: Vec<PathBuf> = used.iter().cloned().chain(INSTALLED.map(PathBuf::from)).collect();
    let mut others = Vec::new();
    for (folder, depth) in PEOPLES {
        of_people(Path::new(folder), depth, false, &used, &mut others);
    }
    others.retain(|other| !covered.iter().any(|whole| other.starts_with(whole)));
    if reads_high {
        covered.append(&mut others);
    } else {
        hidden.append(&mut others);
    }
    Installed { hidden, covered, read }
}

/// Whether things that have nothing to do with each other lie in a folder of the system: it is nothing's own.
fn is_shared(folder: &Path) -> bool {
    let mut shared = FREE.into_iter().chain(WHOLE).chain(PEOPLES.map(|(folder, _)| folder));
    shared.any(|shared| Path::new(shared).starts_with(folder))
}

/// What a call sees that names something there: the folder, or that of the file.
pub(super) fn seen_of_named(named: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let around = |path: &Path| path.parent().filter(|around| !is_shared(around)).unwrap_or(path).to_owned();
    named.iter().map(|path| if path.is_dir() { path.clone() } else { around(path) }).collect()
}

/// The folder of a package whose programs lie in a folder: what they load lies beside it. Those of the system are in no package. None
/// where the programs lie beside things of any kind.
pub(super) fn package_of(programs: &Path) -> Option<PathBuf> {
    let is_bin = programs.file_name().is_some_and(|name| name == "bin" || name == "sbin");
    let is_system = SYSTEM_PATH.iter().any(|folder| programs == Path::new(folder));
    let package = programs.parent().filter(|around| is_bin && !is_system && !is_shared(around));
    Some(package.unwrap_or(programs)).filter(|package| !is_shared(package)).map(Path::to_owned)
}

/// Whether an entry of a folder of the system is a person's, by the number of its owner.
fn is_a_persons(path: &Path, owner: u32) -> bool {
    let is_free = FREE.iter().any(|folder| path.starts_with(folder));
    owner >= PERSON && owner != NOBODY || is_free && owner != 0
}

/// Adds what people own in a folder and is not used, so many folders deep, and all that lies beside what is used in a folder of theirs.
fn of_people(folder: &Path, depth: usize, is_theirs: bool, used: &[PathBuf], hidden: &mut Vec<PathBuf>) {
    if used.iter().any(|used| folder.starts_with(used)) {
        return;
    }
    for path in folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path()) {
        // What a link leads to is judged where it lies.
        let Some(about) = path.symlink_metadata().ok().filter(|about| !about.is_symlink()) else { continue };
        let is_theirs = is_theirs || is_a_persons(&path, about.uid());
        if used.iter().any(|used| path.starts_with(used)) {
            continue;
        }
        if used.iter().any(|used| used.starts_with(&path)) {
            of_people(&path, depth.saturating_sub(1), is_theirs, used, hidden);
        } else if is_theirs {
            hidden.push(path);
        } else if depth > 0 && about.is_dir() {
            of_people(&path, depth - 1, false, used, hidden);
        }
    }
}

/// Whether a path lies in a folder of the system, all of which every program sees.
pub(super) fn is_in_system(path: &Path) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder) && path != Path::new(folder))
}

/// Whether a path without links leads to what people put into folders of the system, and nobody looked through: the programs of `/usr/local`
/// alone are whatever administrators had to install.
pub(super) fn is_installed_by_people(path: &Path) -> bool {
    let is_program = SYSTEM_PATH.iter().any(|folder| path.starts_with(folder));
    let is_free = FREE.iter().any(|folder| path.starts_with(folder));
    let is_of_people = |path: &Path| path.symlink_metadata().is_ok_and(|about| about.uid() != 0);
    !is_program && (is_free || path.ancestors().take_while(|part| is_in_system(part)).any(is_of_people))
}

/// Whether a path has such things somewhere in it.
pub(super) fn is_around_what_people_installed(path: &Path) -> bool {
    FREE.iter().any(|folder| Path::new(folder).starts_with(path))
}

/// Whether a path lies there, and is not the system's own: where administrators put what they like, or of another owner than the system.
pub(super) fn is_put_into_system(path: &Path) -> bool {
    let is_others = || path.symlink_metadata().is_ok_and(|about| about.uid() != 0);
    let is_free = FREE.iter().any(|folder| path.starts_with(folder) && path != Path::new(folder));
    path == Path::new(FREE[0]) || is_in_system(path) && (is_free || is_others())
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-058
    #[test]
    fn what_somebody_put_into_the_system_is_none_of_it() {
        let table = [
            ("/opt", true),
            ("/opt/app/repo", true),
            ("/usr/local/src/repo", true),
            ("/usr/src/x", true),
            ("/usr/local", false),
            ("/usr/share", false),
            ("/home", false),
            ("/etc", false),
        ];
        for (path, expected) in table {
            assert_eq!(is_put_into_system(Path::new(path)), expected, "{path}");
        }
        for (path, expected) in [
            ("/opt", true),
            ("/opt/a/README.md", true),
            ("/usr/local/src", true),
            ("/usr/local/bin/node", false),
            ("/usr/bin/env", false),
        ] {
            assert_eq!(is_installed_by_people(Path::new(path)), expected, "{path}");
        }
        assert!(
            is_around_what_people_installed(Path::new("/usr")) && !is_around_what_people_installed(Path::new("/etc"))
        );
        assert!(is_in_system(Path::new("/usr/share/app/.limpid")) && !is_in_system(Path::new("/optional/.limpid")));
    }

    // SEC-058
    #[test]
    fn beside_what_is_used_nothing_of_other_people_is_seen() {
        if !rustix::process::geteuid().is_root() {
            use std::io::Write as _;
            let _ = writeln!(std::io::stderr(), "SKIPPED: only root can give files to others");
            return;
        }
        let there = tempfile::tempdir().unwrap();
        let put = |name: &str, uid: u32| {
            let path = there.path().join(name);
            std::fs::create_dir_all(&path).unwrap();
            std::os::unix::fs::chown(&path, Some(uid), None).unwrap();
        };
        for (name, uid) in
            [("own", 0), ("own/theirs", 1007), ("theirs", 1007), ("theirs/a", 1007), ("theirs/b", 1007), ("daemon", 7)]
        {
            put(name, uid);
        }
        std::fs::write(there.path().join("file"), "").unwrap();
        std::os::unix::fs::chown(there.path().join("file"), Some(1007), None).unwrap();
        std::os::unix::fs::symlink("theirs", there.path().join("link")).unwrap();
        std::os::unix::fs::lchown(there.path().join("link"), Some(1007), None).unwrap();
        let hidden = |used: &[&str]| {
            let used: Vec<PathBuf> = used.iter().map(|name| there.path().join(name)).collect();
            let mut hidden = Vec::new();
            of_people(there.path(), 1, false, &used, &mut hidden);
            let mut names: Vec<String> =
                hidden.iter().map(|path| path.strip_prefix(there.path()).unwrap().display().to_string()).collect();
            names.sort();
            names
        };
        assert_eq!(hidden(&[]), ["file", "own/theirs", "theirs"]);
        assert_eq!(hidden(&["theirs/a", "file"]), ["own/theirs", "theirs/b"]);
        assert_eq!(hidden(&["theirs", "own", "file"]), [""; 0]);
    }

    // SEC-058
    #[test]
    fn no_package_is_a_folder_with_things_of_any_kind() {
        let table = [
            ("/opt/node/bin", Some("/opt/node")),
            ("/home/me/tool/sbin", Some("/home/me/tool")),
            ("/usr/local/bin", Some("/usr/local/bin")),
            ("/usr/local/sbin", Some("/usr/local/sbin")),
            ("/usr/local/src/bin", Some("/usr/local/src/bin")),
            ("/usr/src/bin", Some("/usr/src/bin")),
            ("/opt/bin", Some("/opt/bin")),
            ("/sbin", Some("/sbin")),
            ("/etc/bin", Some("/etc/bin")),
            ("/opt", None),
            ("/usr/local/src", None),
            ("/", None),
        ];
        for (programs, package) in table {
            assert_eq!(package_of(Path::new(programs)).as_deref(), package.map(Path::new), "{programs}");
        }
        let named = BTreeSet::from(["/opt/missing-file", "/usr/local/src/missing-file"].map(PathBuf::from));
        assert_eq!(seen_of_named(&named), named, "a file beside things of any kind is seen alone");
    }
}
