//! The names of one program: the owner's rules that hold calls back know it by each of them.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use limpid_core::policy::{Argument, ArgumentPattern};
use serde_json::Value;

use super::command::Command;
use super::installed::SYSTEM_PATH;

/// Programs that are another one under each of their names: a rule about `cargo` is none about `rustc`, although both may be links to
/// `rustup`.
const MANY_IN_ONE: [&str; 4] = ["busybox", "coreutils", "rustup", "toybox"];

impl Command {
    /// The command as rules are compared with it, with its program spelled as a rule's pattern for commands spells it; nothing where
    /// that pattern names another program. `text` is the command as the call has it, where its first word is the program.
    pub(super) fn spelled_as(
        &self,
        pattern: &ArgumentPattern,
        text: Option<&str>,
        (path, workspace): (&[PathBuf], &Path),
    ) -> Vec<Value> {
        let words = self.judged_words(path);
        let with = |name: &str| -> Vec<String> {
            std::iter::once(name.to_owned()).chain(words.iter().skip(1).cloned()).collect()
        };
        match pattern {
            ArgumentPattern::List(items) => {
                let Some(ArgumentPattern::Text(first)) = items.first() else { return Vec::new() };
                self.names_as(first, (path, workspace)).iter().map(|name| Value::from(with(name))).collect()
            }
            ArgumentPattern::Text(rule) => {
                let first = rule.split_whitespace().next().unwrap_or_default();
                let rest = text.and_then(|text| text.trim().split_once(char::is_whitespace)).map(|(_, rest)| rest);
                let as_text = |name: &String| {
                    let as_said = rest.map(|rest| format!("{name} {rest}"));
                    std::iter::once(with(name).join(" ")).chain(as_said).map(Value::from)
                };
                self.names_as(first, (path, workspace)).iter().flat_map(as_text).collect()
            }
            ArgumentPattern::Fields(_) => Vec::new(),
        }
    }

    /// The names by which a rule's word means the program: the word itself where it leads to that very file, as the word of a call would
    /// from the folder of the call or from the workspace; of a word with a `*` each name and path of the file in the folders of programs that is like it.
    pub(super) fn names_as(&self, word: &str, (path, workspace): (&[PathBuf], &Path)) -> Vec<String> {
        let runs = self.script.as_ref().unwrap_or(&self.program);
        if matches!(word, "*" | "**") || is_many_in_one(runs) {
            return Vec::new();
        }
        let system = || path.iter().cloned().chain(SYSTEM_PATH.map(PathBuf::from));
        if !word.contains('*') {
            let is_its = match word.contains('/') {
                true => [self.folder.as_path(), workspace].iter().any(|base| is_same_file(&base.join(word), runs)),
                false => system().any(|folder| is_same_file(&folder.join(word), runs)),
            };
            return is_its.then(|| word.to_owned()).into_iter().collect();
        }
        let entries = system().filter_map(|folder| folder.read_dir().ok()).flatten().filter_map(Result::ok);
        let named = entries.filter(|entry| is_same_file(&entry.path(), runs));
        let names = |entry: std::fs::DirEntry| {
            [entry.file_name().to_string_lossy().into_owned(), entry.path().display().to_string()]
        };
        let pattern = ArgumentPattern::Text(word.to_owned());
        named.flat_map(names).filter(|name| pattern.concerns(&Argument::Text(name.clone()))).collect()
    }
}

/// Whether two paths lead to one file: over links, or because the file has several names.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let file = |path: &Path| path.metadata().ok().map(|about| (about.dev(), about.ino()));
    file(one).is_some_and(|one| Some(one) == file(other))
}

fn is_many_in_one(program: &Path) -> bool {
    MANY_IN_ONE.iter().any(|name| is_same_file(&program.with_file_name(name), program))
}
