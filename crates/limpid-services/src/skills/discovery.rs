//! The folders and files where skills are looked for, in the order of precedence: workspace, global folder, prompt
//! files, `limpid.toml`. Nothing else is read, the current directory least of all.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use limpid_config::{Home, PromptEntry, ReadText, read_marking};
use limpid_core::io_cause;
use limpid_prompt::inputs::SkillSource;
use limpid_prompt::registry::{PromptSource, RegisteredPrompt};
use limpid_prompt::skill::parse;

use crate::command_word::as_word;
use crate::error::AgentError;
use crate::skills::folder::{SKILL_FILE, others_in};
use crate::tools::{Place, UnacceptedFiles};

/// Something that is meant to be a skill.
pub(crate) struct Found {
    /// The name of its folder, file or entry.
    pub(crate) name: String,
    pub(crate) shelf: SkillSource,
    pub(crate) location: String,
    /// Its folder, when it is one.
    pub(crate) folder: Option<PathBuf>,
    /// The SHA-256 of the bytes that `read` was made from; empty when there are none.
    pub(crate) sha256: String,
    /// What it says, or why it is no skill.
    pub(crate) read: Result<RegisteredPrompt, String>,
    /// Whether a part of it waits for the owner.
    pub(crate) is_held_back: bool,
}

/// What waits for the owner; none where no program writes.
pub(crate) type HeldBack<'a> = Option<&'a UnacceptedFiles>;

/// Everything that the owner keeps. A folder that cannot be listed stands among it by itself, with the reason.
pub(crate) fn all(home: &Home, entries: &[PromptEntry], held_back: HeldBack<'_>, now_ms: i64) -> Vec<Found> {
    let mut found = Vec::new();
    for (root, shelf) in [(home.workspace_skills(), SkillSource::Workspace), (home.skills(), SkillSource::Global)] {
        let listed = folders(&root, shelf, held_back, now_ms);
        found.extend(listed.unwrap_or_else(|error| vec![unlisted(&root, shelf, &error)]));
    }
    let prompts = home.prompts();
    let listed = files(&prompts, held_back, now_ms);
    found.extend(listed.unwrap_or_else(|error| vec![unlisted(&prompts, SkillSource::Global, &error)]));
    found.extend(entries.iter().map(|entry| of_entry(entry, now_ms)));
    found
}

/// The skill whose folder a file lies in, which has every link followed; none for what lies in no folder of skills.
pub(crate) fn around(home: &Home, file: &Path, held_back: HeldBack<'_>, now_ms: i64) -> Option<Found> {
    let shelves = [(home.workspace_skills(), SkillSource::Workspace), (home.skills(), SkillSource::Global)];
    shelves.into_iter().find_map(|(root, shelf)| {
        // One whose names cannot be listed has no skills that can be used.
        let names = names(&root).unwrap_or_default();
        // A folder of skills may be a link to the folder itself.
        let is_around = |name: &String| {
            let folder = root.join(name);
            // Whatever a link of a program's in the workspace leads to elsewhere is no skill's.
            let leads_out = shelf == SkillSource::Workspace && !stands_inside(&root, &folder);
            !leads_out && folder.canonicalize().is_ok_and(|folder| file.starts_with(folder))
        };
        let name = names.into_iter().find(is_around)?;
        Some(one(&root.join(&name), &name, shelf, held_back, now_ms))
    })
}

/// The owner's skills in the global folder, which programs see.
///
/// # Errors
/// When it cannot be listed: then nobody knows which of them a program must not see.
pub(crate) fn global(home: &Home) -> Result<Vec<Found>, AgentError> {
    let root = home.skills();
    // No program writes there, and what a link leads to in a granted folder programs read at its own place anyway.
    folders(&root, SkillSource::Global, None, 0).map_err(AgentError::file(root))
}

/// The skills in a folder: each a folder with a SKILL.md. One that cannot be read costs itself only.
fn folders(root: &Path, shelf: SkillSource, held_back: HeldBack<'_>, now_ms: i64) -> io::Result<Vec<Found>> {
    let mut found = Vec::new();
    for name in names(root)? {
        let folder = root.join(&name);
        if !folder.is_dir() {
            continue;
        }
        // What stands in the workspace may be the model's doing; a link there would lead to files of anybody's.
        if shelf == SkillSource::Workspace && !leads_inside(root, &folder) {
            let location = folder.join(SKILL_FILE).display().to_string();
            let read = Err("it leads out of the workspace".to_owned());
            let (folder, sha256) = (Some(folder), String::new());
            found.push(Found { name, shelf, location, folder, sha256, read, is_held_back: false });
        } else {
            found.push(one(&folder, &name, shelf, held_back, now_ms));
        }
    }
    Ok(found)
}

/// Bytes of the longest file of instructions, some sixty thousand tokens.
const LONGEST: u64 = 256 * 1024;

/// The skill of a folder; `name` is what it is called when it does not say.
pub(crate) fn one(folder: &Path, name: &str, shelf: SkillSource, held_back: HeldBack<'_>, now_ms: i64) -> Found {
    let file = folder.join(SKILL_FILE);
    let (name, location, own) = (name.to_owned(), file.display().to_string(), Some(folder.to_owned()));
    let whole = whole(&file).and_then(|whole| whole.ok_or_else(|| "there is no file SKILL.md in it".to_owned()));
    let (sha256, is_held_back, read) = match whole {
        Ok(whole) => {
            let read = read(&file, &whole.text, &name, shelf, now_ms);
            let is_held_back = held_back.is_some_and(|unaccepted| {
                let mut files = read.iter().flat_map(|prompt| &prompt.files);
                unaccepted.contains(&Place::of(folder, SKILL_FILE), &whole.bytes)
                    // What is gone, hidden, or cannot be listed is none of its files, and may be what these were.
                    || unaccepted.waits_below(folder)
                    || files.any(|other| unaccepted.contains_listed(&Place::of(folder, other)))
            });
            (whole.sha256(), is_held_back, read)
        }
        Err(why) => (String::new(), false, Err(why)),
    };
    Found { name, shelf, location, folder: own, sha256, read, is_held_back }
}

fn read(file: &Path, text: &str, name: &str, shelf: SkillSource, now_ms: i64) -> Result<RegisteredPrompt, String> {
    let skill = parse(text, name).map_err(|error| error.to_string())?;
    // A folder that cannot be listed still has its SKILL.md; its other files are not shown.
    let files = file.parent().map(others_in).and_then(Result::ok).unwrap_or_default();
    let prompt = RegisteredPrompt::new(skill, PromptSource::Config, file.display().to_string(), now_ms);
    Ok(RegisteredPrompt { shelf, files, ..prompt })
}

/// A file's text; none when there is no such file. Instructions with holes in them are not followed.
fn whole(file: &Path) -> Result<Option<ReadText>, String> {
    // All of them are read for each prompt.
    if file.metadata().is_ok_and(|about| about.len() > LONGEST) {
        return Err(format!(
            "it has more than {LONGEST} bytes; move what it need not always say into other files of its folder"
        ));
    }
    let read = read_marking(file).map_err(|error| error.to_string())?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    match read.as_ref().and_then(|read| read.notice(&name)) {
        Some(notice) => Err(notice),
        None => Ok(read),
    }
}

/// The Markdown files of a folder, each a prompt.
fn files(root: &Path, held_back: HeldBack<'_>, now_ms: i64) -> io::Result<Vec<Found>> {
    let mut found = Vec::new();
    for name in names(root)?.into_iter().filter(|name| name.ends_with(".md")) {
        let (file, place) = (root.join(&name), Place::of(root, &name));
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let location = file.display().to_string();
        let whole = whole(&file).map(Option::unwrap_or_default);
        let waits = |whole: &ReadText| held_back.is_some_and(|unaccepted| unaccepted.contains(&place, &whole.bytes));
        let is_held_back = whole.as_ref().is_ok_and(waits);
        let skill = whole.and_then(|whole| parse(&whole.text, &name).map_err(|error| error.to_string()));
        let read = skill.map(|skill| RegisteredPrompt::new(skill, PromptSource::Config, location.clone(), now_ms));
        let (shelf, sha256) = (SkillSource::Global, String::new());
        found.push(Found { name, shelf, location, folder: None, sha256, read, is_held_back });
    }
    Ok(found)
}

fn of_entry(entry: &PromptEntry, now_ms: i64) -> Found {
    let location = format!("[[prompts]] {} of limpid.toml", entry.id);
    let read = entry.to_skill().map_err(|error| error.to_string());
    let read = read.map(|skill| RegisteredPrompt::new(skill, PromptSource::Config, location.clone(), now_ms));
    let (name, shelf, sha256) = (entry.id.clone(), SkillSource::Global, String::new());
    Found { name, shelf, location, folder: None, sha256, read, is_held_back: false }
}

/// What stands for a folder that is there and cannot be listed: a program may have closed it, or put something else in
/// its place, and that ends no turn.
fn unlisted(root: &Path, shelf: SkillSource, error: &io::Error) -> Found {
    let name = root.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let location = root.display().to_string();
    let (cause, word) = (io_cause(error), as_word(&location));
    let read = Err(format!(
        "the folder cannot be listed: {cause}; open it with `chmod u+rx {word}`, or remove what stands in its place"
    ));
    Found { name, shelf, location, folder: None, sha256: String::new(), read, is_held_back: false }
}

/// The names in a folder that are not hidden, in order; none when there is no such folder.
fn names(root: &Path) -> io::Result<Vec<String>> {
    let entries = match std::fs::read_dir(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let names: Vec<OsString> = entries.map(|entry| entry.map(|entry| entry.file_name())).collect::<io::Result<_>>()?;
    let names = names.into_iter().filter_map(|name| name.into_string().ok());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort();
    Ok(names)
}

/// Whether a folder and its SKILL.md stand below a root, links followed.
fn leads_inside(root: &Path, folder: &Path) -> bool {
    let file = folder.join(SKILL_FILE);
    stands_inside(root, folder) && (!file.exists() || stands_inside(root, &file))
}

/// Whether a path leads below a root, and not to the root itself.
fn stands_inside(root: &Path, path: &Path) -> bool {
    let Ok(root) = root.canonicalize() else { return false };
    path.canonicalize().is_ok_and(|real| real != root && real.starts_with(&root))
}
