//! What an approval of a call is bound to besides its words: the bytes of the files that it names, of the program that it starts,
//! of the folders that the program starts in or that its words name, with what their links lead to, and of what it sees around them;
//! and what the question says of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use limpid_config::regular_file::{Opened, paths_in};
use limpid_core::policy::{FileChange, OwnersWords};
use limpid_tools::snapshot::{Snapshot, hash_of};
use limpid_turn::Approval;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::tools::policy::facts::CallFacts;
use crate::tools::{Started, Tool};

/// Entries of a folder that are bound.
const FOLDER_FILES: usize = 2000;

/// Bytes of them in all.
const FOLDER_BYTES: u64 = 64 << 20;

/// Bytes of the program and of the files that a call names, in all.
const NAMED_BYTES: u64 = 256 << 20;

/// How long a yes holds that is not bound to everything.
const UNBOUND_MS: i64 = 5 * 60 * 1000;

/// Digits of each part's hash in the text; the hash of all is whole.
const SHORT: usize = 16;

/// The part that is the call itself.
const CALL: &str = "the call, its place or its settings";

/// The part that says where a call leads that looked like one to the public web before.
const OWN_NETWORK: &str = "that it leads to your own network";

/// The part that is what a number or a key in its arguments stands for.
const ABOUT: &str = "what it is about";

/// The part that is what a question says that it can do.
const WARNING: &str = "what it can see, change and reach";

/// The part that says that others read the conversation.
const OTHERS: &str = "that others read this conversation";

/// The part that says that a yes does not let it run.
const REFUSED: &str = "what keeps it from running";

/// The part that is what it tells of the owner's; the words stand behind it.
const TOLD: &str = "what it tells of yours";

/// The part that is what a change of the files would be that it writes.
const CHANGE: &str = "what kind of files it changes";

/// Parts that are named when they have changed.
const NAMED: usize = 5;

/// Letters of the name of a file that is repeated.
const PLAIN_NAME: usize = 40;

/// What an approval of a call is bound to.
#[derive(Debug)]
pub(crate) struct Pins {
    /// A hash of everything in the first line, then each part by its own, to say later which one has changed.
    pub(crate) text: String,
    /// The files as they were looked at, for a call that starts a program.
    pub(crate) snapshot: Option<Snapshot>,
    /// Whether everything is in it; a folder or a file may be too large.
    is_whole: bool,
}

impl Pins {
    /// Looks at everything that an approval of a call is bound to, on a thread where that may take its time. With a folder for
    /// them, the program and the files that its words name are copied as they are looked at.
    pub(crate) async fn look(
        tool: &Arc<dyn Tool>,
        arguments: &Value,
        facts: &CallFacts,
        copies: Option<PathBuf>,
    ) -> Self {
        let (tool, arguments, facts) = (Arc::clone(tool), arguments.clone(), facts.clone());
        let looked = tokio::task::spawn_blocking(move || look(&*tool, &arguments, &facts, copies));
        // What could not be looked at is bound to nothing that a question could have shown.
        let nothing = || Self { text: String::new(), snapshot: None, is_whole: false };
        looked.await.unwrap_or_else(|_| nothing())
    }

    /// Whether a yes is one to this. Where not everything is bound, it holds for a few minutes.
    pub(crate) fn is_approved(&self, yes: &Approval, now_ms: i64) -> bool {
        let is_new = (0..=UNBOUND_MS).contains(&now_ms.saturating_sub(yes.at_ms));
        !self.text.is_empty() && yes.bound_to == self.text && (self.is_whole || is_new)
    }

    /// Whether a yes is one to this but for whether a name leads to the owner's own network, which nobody has looked up.
    pub(crate) fn fits_wherever_it_leads(&self, yes: &Approval) -> bool {
        let besides = |text: &str| {
            let mut parts = parts_of(text);
            parts.remove(OWN_NETWORK);
            parts
        };
        !self.text.is_empty() && besides(&yes.bound_to) == besides(&self.text)
    }

    /// What a question says when not everything is bound.
    pub(crate) fn unbound(&self) -> Option<&'static str> {
        let said = "a folder or a file of it is too large for your yes to be bound to every byte, so the yes holds for five minutes";
        (!self.is_whole).then_some(said)
    }
}

/// Whether two texts of [`Pins`] are of one call at one place with the same settings, and differ in bytes alone. Of one that an
/// earlier version kept nothing is known.
pub(crate) fn is_same_call(before: &str, now: &str) -> bool {
    let call = |text: &str| text.lines().find(|line| line.starts_with(CALL)).map(str::to_owned);
    call(before).is_none_or(|before| call(now) == Some(before))
}

/// Whether whoever is asked is told that a yes does not let the call run, by what an approval of it is bound to.
pub fn is_refused(text: &str) -> bool {
    parts_of(text).contains_key(REFUSED)
}

/// What a call tells of the owner's by a text of [`Pins`]: nobody can look at its turn's window any more.
pub(crate) fn told_in(text: &str) -> OwnersWords {
    let line = text.lines().find_map(|line| line.strip_prefix(TOLD)?.strip_prefix('\t')?.rsplit_once('\t'));
    line.map(|(words, _)| OwnersWords::of_line(words)).unwrap_or_default()
}

/// What has changed between two texts of [`Pins`], in words.
pub(crate) fn changes(before: &str, now: &str) -> String {
    let (old, new) = (parts_of(before), parts_of(now));
    if before == now {
        return String::new();
    }
    if old.is_empty() {
        return "what it is bound to has changed".to_owned();
    }
    let mut said: Vec<String> = Vec::new();
    for (part, hash) in &new {
        match old.get(part) {
            None => said.push(format!("{} is new", one_word(part))),
            Some(other) if other != hash => said.push(format!("{} has changed", one_word(part))),
            Some(_) => {}
        }
    }
    said.extend(old.keys().filter(|part| !new.contains_key(*part)).map(|part| format!("{} is gone", one_word(part))));
    said.dedup();
    let more = said.len().saturating_sub(NAMED);
    said.truncate(NAMED);
    let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
    said.join(", ") + &rest
}

/// The parts of a text of [`Pins`], each by its line without the hash, so that no two are one.
fn parts_of(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().skip(1).filter_map(|line| line.rsplit_once('\t'));
    let part = |part: &str| if part.starts_with(TOLD) { TOLD.to_owned() } else { part.to_owned() };
    lines.map(|(name, hash)| (part(name), hash.to_owned())).collect()
}

/// A part as it stands among words of ours. A stranger may have chosen the name of a file, so nothing of it but letters, digits and
/// the signs of a path is shown.
fn one_word(part: &str) -> String {
    let part = part.split('\t').next().unwrap_or_default();
    let plain = |letter: char| if letter.is_alphanumeric() || "/._-".contains(letter) { letter } else { '_' };
    match part.strip_prefix('`').and_then(|name| name.strip_suffix('`')) {
        Some(name) => format!("`{}`", name.chars().map(plain).collect::<String>()),
        None => part.to_owned(),
    }
}

fn look(tool: &dyn Tool, arguments: &Value, facts: &CallFacts, copies: Option<PathBuf>) -> Pins {
    let mut parts = Parts { parts: BTreeMap::new(), is_whole: true };
    parts.bind("the tool", tool.version().as_bytes());
    parts.bind(CALL, facts.hash.as_bytes());
    if facts.own_network {
        parts.bind(OWN_NETWORK, &[]);
    }
    // Whoever was asked alone may have others read it before they answer.
    if facts.others_read {
        parts.bind(OTHERS, &[]);
    }
    // A rule may go, and what was not there may come: a yes was told that it lets nothing run.
    if facts.is_refused {
        parts.bind(REFUSED, &[]);
    }
    if let Some(about) = &facts.about {
        parts.bind(ABOUT, about.as_bytes());
    }
    // A yes is one to what was said: whatever is granted later and comes to a program too is asked about anew.
    if let Some(warning) = &facts.warning {
        parts.bind(WARNING, warning.as_bytes());
    }
    if !facts.told.is_empty() {
        parts.parts.insert(Part::Told(facts.told.clone()), Sha256::digest(&facts.told).into());
    }
    // What a profile quotes is told to the agent, and another profile may quote more. Settings may make a stranger's folder the owner's,
    // and what is written there counts as theirs then.
    let written = facts.paths.iter().filter(|path| path.write).map(|path| (path.change, path.of_strangers));
    let written: Vec<(FileChange, bool)> = written.collect();
    if !written.is_empty() {
        parts.bind(CHANGE, format!("{written:?}").as_bytes());
    }
    let mut left = NAMED_BYTES;
    let started = tool.starts(arguments);
    for path in facts.paths.iter().map(|path| path.real.as_path()) {
        parts.bind_file(path, &mut left, None);
    }
    // Without a folder for copies the call does not run: its program would not be the one that was approved.
    let mut snapshot = copies.filter(|_| started.is_some()).and_then(|folder| Snapshot::new(folder).ok());
    if let Some(Started { program, files, folder, folders, files_in }) = &started {
        for path in std::iter::once(program).chain(files) {
            parts.bind_file(path, &mut left, snapshot.as_mut());
        }
        let led_to = files_in.as_deref().map(|folder| parts.bind_files_in(folder)).unwrap_or_default();
        parts.bind_folders(std::iter::once(folder).chain(folders).chain(&led_to));
    }
    let Parts { parts, is_whole } = parts;
    let mut all = Sha256::new();
    let lines: String = parts
        .iter()
        .map(|(part, hash)| {
            let (key, name) = part.key_and_name();
            all.update((key.len() as u64).to_le_bytes());
            all.update(&key);
            all.update(hash);
            format!("\n{name}\t{}", hex(&hash[..SHORT / 2]))
        })
        .collect();
    all.update([u8::from(is_whole)]);
    Pins { text: hex(&all.finalize()) + &lines, snapshot, is_whole }
}

/// What is bound. A file is bound by its path, whatever is told of it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// Something of the call, in words of ours.
    Own(&'static str),
    /// What it tells of the owner's.
    Told(String),
    /// A file, a link or a folder.
    Path(PathBuf),
}

impl Part {
    /// The bytes by which it is bound, and its name in the text: words for whoever is told of a change, and for a path a hash of it.
    fn key_and_name(&self) -> (Vec<u8>, String) {
        match self {
            Self::Own(words) => (words.as_bytes().to_vec(), (*words).to_owned()),
            Self::Told(words) => (TOLD.as_bytes().to_vec(), format!("{TOLD}\t{words}")),
            Self::Path(path) => {
                let bytes = path.as_os_str().as_encoded_bytes();
                let short = hex(&Sha256::digest(bytes)[..SHORT / 2]);
                (bytes.to_vec(), format!("{}\t{short}", named(path)))
            }
        }
    }
}

/// Everything that is bound.
struct Parts {
    parts: BTreeMap<Part, [u8; 32]>,
    is_whole: bool,
}

impl Parts {
    fn bind(&mut self, words: &'static str, bytes: &[u8]) {
        self.parts.insert(Part::Own(words), Sha256::digest(bytes).into());
    }

    fn bind_path(&mut self, path: &Path, bytes: &[u8]) {
        self.parts.insert(Part::Path(path.to_owned()), Sha256::digest(bytes).into());
    }

    /// Binds the bytes of a regular file; of anything else, that it is none.
    fn bind_file(&mut self, path: &Path, left: &mut u64, snapshot: Option<&mut Snapshot>) {
        let read = Opened::at_no_link(path).and_then(|file| match snapshot {
            Some(snapshot) => snapshot.keep(path, file, *left),
            None => hash_of(file, *left, None),
        });
        match read {
            Ok(Some((hash, size))) => {
                *left -= size;
                self.parts.insert(Part::Path(path.to_owned()), hash);
            }
            Ok(None) => self.leave_out(path),
            Err(error) => self.bind_path(path, format!("none: {:?}", error.kind()).as_bytes()),
        }
    }

    /// Binds the files directly in a folder, and returns the folders that links there lead to.
    fn bind_files_in(&mut self, folder: &Path) -> Vec<PathBuf> {
        let (mut led_to, mut left) = (Vec::new(), FOLDER_BYTES);
        // Also a call that only waits looks here, so it leaves no time of access.
        let listed = paths_in(folder, FOLDER_FILES + 1);
        let Some(listed) = listed.ok().filter(|listed| listed.len() <= FOLDER_FILES) else {
            self.leave_out(folder);
            return led_to;
        };
        let is_folder = |path: &PathBuf| path.symlink_metadata().is_ok_and(|about| about.is_dir());
        for path in listed.into_iter().filter(|path| !is_folder(path)) {
            match std::fs::read_link(&path) {
                Ok(target) => led_to.extend(self.bind_link(&path, &target, &mut left)),
                Err(_) => self.bind_file(&path, &mut left, None),
            }
        }
        led_to
    }

    /// Binds every file below folders, unless these are too many, and what links there lead to.
    fn bind_folders<'a>(&mut self, folders: impl Iterator<Item = &'a PathBuf>) {
        let (mut waiting, mut seen) = (folders.cloned().collect::<Vec<_>>(), BTreeSet::new());
        let (mut entries, mut left) = (0, FOLDER_BYTES);
        while let Some(folder) = waiting.pop() {
            if seen.iter().any(|seen: &PathBuf| folder.starts_with(seen)) {
                continue;
            }
            let Some(below) = self::entries(&folder, FOLDER_FILES.saturating_sub(entries)) else {
                self.leave_out(&folder);
                continue;
            };
            entries += below.len();
            for path in below {
                match std::fs::read_link(&path) {
                    Ok(target) => waiting.extend(self.bind_link(&path, &target, &mut left)),
                    Err(_) => self.bind_file(&path, &mut left, None),
                }
            }
            seen.insert(folder);
        }
    }

    /// Binds where a link leads to and the file there; a folder is for whoever asked.
    fn bind_link(&mut self, link: &Path, target: &Path, left: &mut u64) -> Option<PathBuf> {
        let real = link.canonicalize().ok();
        let leads_to = real.as_deref().unwrap_or(target);
        self.bind_path(link, leads_to.as_os_str().as_encoded_bytes());
        let real = real?;
        if real.is_dir() {
            return Some(real);
        }
        if !self.parts.contains_key(&Part::Path(real.clone())) {
            self.bind_file(&real, left, None);
        }
        None
    }

    fn leave_out(&mut self, path: &Path) {
        self.is_whole = false;
        self.bind_path(path, b"too large");
    }
}

/// Everything below a folder that is no folder; none when that is too much to be bound.
fn entries(folder: &Path, most: usize) -> Option<Vec<PathBuf>> {
    let (mut found, mut bytes, mut folders) = (Vec::new(), 0_u64, vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        // A folder that cannot be listed is one of which nothing is known.
        for path in paths_in(&folder, most + 1).ok()? {
            let about = path.symlink_metadata();
            if about.as_ref().is_ok_and(std::fs::Metadata::is_dir) {
                folders.push(path);
            } else {
                bytes = bytes.saturating_add(about.as_ref().map_or(0, std::fs::Metadata::len));
                found.push(path);
            }
            if found.len() + folders.len() > most || bytes > FOLDER_BYTES {
                return None;
            }
        }
    }
    Some(found)
}

/// What is told of a file that is bound. It stands in a sentence of ours, and whoever names files of a foreign project may be a stranger:
/// what could be read as words is not repeated.
fn named(path: &Path) -> String {
    let name = path.display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '/' | '.' | '_' | '-' | '+' | '@');
    let is_short = path.file_name().is_some_and(|name| name.len() <= PLAIN_NAME);
    match is_short && name.chars().all(is_plain) {
        true => format!("`{name}`"),
        false => "a file whose name is more than a plain word".to_owned(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
