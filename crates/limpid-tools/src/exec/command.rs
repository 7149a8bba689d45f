//! Which program a command runs and in which folder. What is judged is the program itself and its parsed arguments,
//! never the text of the command.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use limpid_core::Trust;

use super::confinement::Place;
use super::installed::SYSTEM_PATH;
use super::looks::{Looks, MayBePath};
use super::named_places::Named;
use super::programs::Programs;
use super::words::split;

/// Programs that read commands, and so would be a shell by another name.
const SHELLS: [&str; 15] = [
    "sh", "ash", "bash", "busybox", "csh", "dash", "elvish", "fish", "ksh", "mksh", "nu", "pwsh", "tcsh", "xonsh",
    "zsh",
];

/// Programs that run another one: what is judged would not be what runs. The last ones change whose rights it has.
const WRAPPERS: [&str; 21] = [
    "chroot", "chrt", "env", "flock", "ionice", "nice", "nohup", "nsenter", "parallel", "script", "setarch", "setsid",
    "stdbuf", "strace", "taskset", "time", "timeout", "unshare", "watch", "xargs", "sudo",
];

/// Bytes of the longest command. A text for a shell is one word, and the system starts no program with one of more than
/// 128 KiB, the zero at its end included.
const LONGEST: usize = 128 * 1024 - 1;

/// A program with its arguments and its folder, looked up and permitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program, whole and without links.
    pub program: PathBuf,
    /// The name that it is called by, and its arguments.
    pub words: Vec<String>,
    /// The folder that it runs in, without links.
    pub folder: PathBuf,
    /// The script of a skill that the program is the shell for, whole and without links. It is judged in the shell's
    /// place: this is the same as running the script itself, whose first line names its shell.
    pub script: Option<PathBuf>,
    /// What its arguments may name.
    pub(super) paths: Vec<MayBePath>,
    /// The program and the script as paths, where the command says them as these.
    pub(super) called: Vec<MayBePath>,
    /// The links on the way to the folder and to a program that is called by its name, each where it lies.
    pub(super) found_over: Vec<PathBuf>,
    /// The folder and the program as the very ones that were found.
    pub(super) found: [Place; 2],
    /// The places that it names. All that is said of a call follows from these, so they are looked up once.
    pub(super) named: Named,
    /// Whether the owner lets it run unasked in somebody else's folder.
    pub(super) is_listed: bool,
}

impl Command {
    /// Reads a command. With a shell granted the whole text is the shell's.
    ///
    /// # Errors
    /// A sentence for the model: a command that is too long, unbalanced quotes, a program that is not there or is
    /// refused, a folder that is not granted, more words or links than are looked at.
    pub fn parse(command: &str, folder: Option<&str>, programs: &Programs) -> Result<Self, String> {
        // Before anything looks at it: each part of it may be a path.
        if command.len() > LONGEST {
            let long = command.len();
            return Err(format!("`command` has {long} bytes; at most {LONGEST} are run. Put what is long into a file"));
        }
        let mut looks = Looks::new();
        let asked = folder.filter(|folder| !folder.trim().is_empty());
        let (folder, mut found_over) = working_folder(asked, programs, &mut looks)?;
        let mut words =
            if programs.shell { vec!["sh".to_owned(), "-c".to_owned(), command.to_owned()] } else { split(command)? };
        let name = words.first().filter(|_| !command.trim().is_empty()).ok_or("`command` must not be blank")?;
        let mut called = Vec::new();
        let (program, way) = find_by(name, &folder, &programs.folders_of_programs(), &mut looks)?;
        if name.contains('/') {
            called.push(way);
        } else {
            found_over.extend(way.links);
        }
        let of_skill =
            if programs.shell { None } else { script_of(&words, &program, &folder, (programs, &mut looks))? };
        if !programs.shell && of_skill.is_none() {
            permitted(name, &program)?;
        }
        let script = of_skill.as_ref().map(|(script, _)| script.clone());
        called.extend(of_skill.map(|(_, way)| way));
        // The very file that is judged, whatever a link says by the time that the shell opens it.
        if let (Some(script), Some(word)) = (&script, words.get_mut(1)) {
            *word = script.display().to_string();
        }
        let paths = looks.at_words(words.get(1..).unwrap_or_default(), &folder)?;
        let place = |path: &Path| Place::of(path).ok_or_else(|| format!("`{}` has just been moved", path.display()));
        let (found, named) = ([place(&folder)?, place(&program)?], Named::default());
        let mut command =
            Self { program, folder, words, script, paths, called, found_over, found, named, is_listed: false };
        command.named = programs.find_named(&command);
        command.is_listed = programs.runs_unasked(&command);
        Ok(command)
    }

    /// The words as rules are compared with them. The first is the name that the program has in the system's folders,
    /// whatever path or link it was called by; a program that has none there is its whole path.
    pub(super) fn judged_words(&self, path: &[PathBuf]) -> Vec<String> {
        if let Some(script) = &self.script {
            return std::iter::once(script.display().to_string()).chain(self.words.iter().skip(2).cloned()).collect();
        }
        let called = self.words.first().map(Path::new);
        let names = called.into_iter().chain([self.program.as_path()]).filter_map(Path::file_name);
        let mut names = names.map(|name| name.to_string_lossy().into_owned());
        let is_its = |name: &String| find(name, Path::new("/"), path).is_ok_and(|found| found == self.program);
        let name = names.find(is_its).unwrap_or_else(|| self.program.display().to_string());
        std::iter::once(name).chain(self.words.iter().skip(1).cloned()).collect()
    }

    /// The folder as rules are compared with it: none when it is the workspace, its path from there when it lies in it.
    pub(super) fn judged_folder(&self, workspace: &Path) -> Option<String> {
        let workspace = workspace.canonicalize().unwrap_or_default();
        let folder = self.folder.strip_prefix(workspace).unwrap_or(&self.folder).display().to_string();
        Some(folder).filter(|folder| !folder.is_empty())
    }
}

/// The folder, which must lie in a granted one when every link is followed, and these links.
fn working_folder(
    folder: Option<&str>,
    programs: &Programs,
    looks: &mut Looks,
) -> Result<(PathBuf, Vec<PathBuf>), String> {
    let workspace = &programs.grants.workspace().folder;
    std::fs::create_dir_all(workspace).map_err(|error| format!("the workspace cannot be made: {error}"))?;
    let asked = folder.unwrap_or(".");
    let place = programs.grants.place(asked).map_err(|why| why.text().to_owned())?;
    let path = place.root.folder.join(&place.path);
    let MayBePath { real, links, .. } = looks.way(Path::new("/"), &path)?;
    let real = real.ok_or_else(|| format!("`{asked}`, the folder to run in, does not exist"))?;
    let within =
        programs.grants.roots().filter_map(|root| programs.grants.real(root)).any(|root| real.starts_with(root));
    if !within {
        return Err(programs.grants.outside(asked).text().to_owned());
    }
    if real.is_dir() { Ok((real, links)) } else { Err(format!("`{asked}`, the folder to run in, is a file")) }
}

/// A program by its name in the system's folders, or by its path from the folder that it runs in.
pub(super) fn find(name: &str, folder: &Path, path: &[PathBuf]) -> Result<PathBuf, String> {
    find_by(name, folder, path, &mut Looks::new()).map(|(program, _)| program)
}

/// The same with the way to it.
fn find_by(name: &str, folder: &Path, path: &[PathBuf], looks: &mut Looks) -> Result<(PathBuf, MayBePath), String> {
    let candidates: Vec<PathBuf> = if name.contains('/') {
        vec![folder.join(name)]
    } else {
        path.iter().cloned().chain(SYSTEM_PATH.map(PathBuf::from)).map(|folder| folder.join(name)).collect()
    };
    let mut is_there = false;
    for candidate in candidates {
        let way = looks.way(Path::new("/"), &candidate)?;
        let Some(file) = way.real.clone().filter(|real| real.is_file()) else { continue };
        if file.metadata().is_ok_and(|about| about.permissions().mode() & 0o111 != 0) {
            return Ok((file, way));
        }
        is_there = true;
    }
    match is_there {
        true => Err(format!("`{name}` is no program: it has no permission to run")),
        false if name.contains('/') => Err(format!("there is no program `{name}`")),
        false => Err(format!(
            "there is no program `{name}` in the system's folders, nor in those that the owner named (`path` under [exec] in limpid.toml)"
        )),
    }
}

/// The script that a shell is asked to run, if it is one of a skill's: a file of the owner's in a folder that neither the
/// model nor its programs may change, with the way to it. A SKILL.md is none: the model may write its text.
fn script_of(
    words: &[String],
    program: &Path,
    folder: &Path,
    (programs, looks): (&Programs, &mut Looks),
) -> Result<Option<(PathBuf, MayBePath)>, String> {
    let shell = program.file_name().unwrap_or_default().to_string_lossy();
    let word = words.get(1).filter(|word| SHELLS.contains(&&*shell) && !word.starts_with('-'));
    let Some(word) = word else { return Ok(None) };
    let way = looks.way(folder, word.as_ref())?;
    let script = way.real.clone().filter(|script| script.is_file() && is_of_skills(script, programs));
    Ok(script.map(|script| (script, way)))
}

/// Whether a file without links on its way is such a script.
fn is_of_skills(script: &Path, programs: &Programs) -> bool {
    let is_skills = script.file_name().is_some_and(|name| !name.eq_ignore_ascii_case("SKILL.md"));
    let of_skills = programs.scripts.iter().filter_map(|folder| folder.canonicalize().ok());
    let is_skills = is_skills && of_skills.into_iter().any(|folder| script.starts_with(folder));
    let roots = programs.grants.roots().filter_map(|root| Some((programs.grants.real(root)?, root)));
    let around = roots.filter(|(folder, _)| script.starts_with(folder));
    let inner = around.max_by_key(|(folder, _)| folder.components().count());
    inner.is_some_and(|(_, root)| is_skills && !root.write && root.trust == Trust::File)
}

/// Refuses shells and wrappers, by the name that is called and by the file that it leads to.
fn permitted(name: &str, program: &Path) -> Result<(), String> {
    let names =
        [Path::new(name), program].map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned());
    if names.iter().any(|name| SHELLS.contains(&name.as_str())) {
        return Err(format!("`{name}` is a shell, and none is granted; run the program itself"));
    }
    if names.iter().any(|name| WRAPPERS.contains(&name.as_str())) {
        return Err(format!("`{name}` runs other programs and is refused; run the program itself"));
    }
    Ok(())
}

/// The variable `PATH` of programs.
pub(super) fn path_variable(path: &[PathBuf]) -> String {
    let folders = path.iter().map(|folder| folder.display().to_string());
    folders.chain(SYSTEM_PATH.map(str::to_owned)).collect::<Vec<_>>().join(":")
}
