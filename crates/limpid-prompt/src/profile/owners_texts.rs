//! Which words of a path's prompts are the owner's own: those of their files, unless such a file says that anybody may read it.

use std::collections::{BTreeMap, BTreeSet};

use super::embedded::{shipped_names, shipped_text};
use super::loaded::Profile;
use super::manifest::Manifest;
use super::path::{Path, Step};
use super::shelf::{FileKind, MANIFEST, kind};
use super::tool_text::ToolText;
use crate::front_matter::says_public;
use crate::inputs::Inputs;
use crate::problem::File;

/// A text of the owner's own that prompts of a path show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnersText<'p> {
    /// All of it, with its front matter.
    pub text: &'p str,
    /// What ships in whose place it stands, if something does.
    pub shipped: Option<&'static str>,
}

/// The texts of the owner's own that prompts of a path show.
pub(super) fn owners_texts<'p>(profile: &'p Profile, path: &str, inputs: &Inputs) -> Vec<OwnersText<'p>> {
    let Ok(path) = profile.path(path) else { return Vec::new() };
    let sections: BTreeSet<&str> = path.sections().map(|section| section.id.as_str()).collect();
    let has_mode = path.sections().any(|section| section.is_mode());
    let mode = profile.mode_in_place_of(&inputs.mode);
    let offers =
        |name: &str| path.offers(name, inputs.model.local) && inputs.tools.iter().any(|tool| tool.name == name);
    let is_shown = |file: &File| match kind(inner_path(file)) {
        FileKind::Section(id) | FileKind::SectionTier(id, _) => sections.contains(id.as_str()),
        FileKind::Mode(name, _) => has_mode && name == mode,
        FileKind::Tool(name) => offers(&name),
        FileKind::Manifest | FileKind::ModePolicy(_) | FileKind::Other => false,
    };
    let files = profile.owners_files.iter().filter(|file| is_shown(file) && !says_public(&file.text));
    let changed = files.filter(|file| !says_what_ships(file));
    let texts = changed.map(|file| OwnersText { text: &file.text, shipped: shipped_text(&file.path) });
    texts.chain(words_of_manifests(profile, path)).collect()
}

/// What manifests of the owner's say in prompts of a path. A public one is used only while nothing stands between its sections, and
/// no section of it lists words or groups.
fn words_of_manifests<'p>(profile: &'p Profile, path: &'p Path) -> impl Iterator<Item = OwnersText<'p>> {
    let has_own = !path.public && profile.owners_files.iter().any(|file| inner_path(file) == MANIFEST);
    let between = path.steps.iter().filter(move |_| has_own).flat_map(|step| match step {
        Step::Message(message) => vec![message.join.as_str(), message.end.as_str()],
        Step::History { .. } => Vec::new(),
    });
    let between = between.filter(|text| is_owners(text));
    let listed = profile.owners_words.iter().filter(move |_| has_own).map(String::as_str);
    between.chain(listed).map(|text| OwnersText { text, shipped: None })
}

/// The lists of words and the groups of manifests, as far as they do not ship and are not just names of tools.
pub(super) fn owners_words<'m>(
    words: impl Iterator<Item = &'m BTreeMap<String, Vec<String>>>,
    lists: &'m Manifest,
    tools: &BTreeMap<String, ToolText>,
) -> Vec<String> {
    let groups = lists.groups.iter().flatten();
    let groups = groups.flat_map(|group| std::iter::once(&group.title).chain(&group.names));
    let said = words.flat_map(|lists| lists.values().flatten()).chain(groups);
    said.filter(|text| !tools.contains_key(*text) && is_owners(text)).cloned().collect()
}

/// Whether a text of a manifest is words, and stands in none that ships.
fn is_owners(text: &str) -> bool {
    let ships = |name: &str| shipped_text(&format!("{name}/{MANIFEST}")).is_some_and(|shipped| shipped.contains(text));
    text.contains(char::is_alphanumeric) && !shipped_names().any(ships)
}

/// Whether a file is a copy that nobody has changed of one that ships, in a profile of whatever name.
fn says_what_ships(file: &File) -> bool {
    let shipped = |name: &str| shipped_text(&format!("{name}/{}", inner_path(file)));
    shipped_names().filter_map(shipped).any(|shipped| shipped.trim_end() == file.text.trim_end())
}

/// The path of a file inside the folder of its profile.
fn inner_path(file: &File) -> &str {
    file.path.split_once('/').map_or("", |(_, path)| path)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::inputs::ToolInput;
    use crate::profile::Profiles;
    use crate::source::SourceFile;

    fn profile(name: &str, files: &[(&str, &str)]) -> Arc<Profile> {
        let files = files.iter().map(|(path, text)| SourceFile::home(*path, *text));
        Arc::clone(Profiles::one_with_home(name, files).get(name).unwrap())
    }

    fn texts<'p>(profile: &'p Profile, path: &str, mode: &str) -> Vec<&'p str> {
        let tool = ToolInput { name: "exec".into(), ..ToolInput::default() };
        let inputs = Inputs { mode: mode.to_owned(), tools: vec![tool], ..Inputs::default() };
        profile.owners_texts(path, &inputs).into_iter().map(|own| own.text).collect()
    }

    // SEC-100 SEC-101
    #[test]
    fn sections_modes_and_tools_of_the_owners_are_theirs_on_the_paths_that_show_them() {
        let (section, mode, tool) = ("Ada lives in Pankow.\n", "Ada is a nurse.\n", "Ada's programs.\n");
        let files = [
            ("limpid/sections/acting.md", section),
            ("limpid/modes/developer/tier3.md", mode),
            ("limpid/tools/exec.md", tool),
        ];
        let own = profile("limpid", &files);
        assert_eq!(texts(&own, "chat-remote", "developer"), [mode, section, tool]);
        assert_eq!(texts(&own, "chat-remote", "assistant"), [section, tool]);
        assert_eq!(texts(&own, "research", "developer"), [""; 0]);
        // A profile that has no text of its own for a tool is lent that of `limpid`.
        assert!(texts(&profile("koshi", &files), "research", "").is_empty());
        assert!(texts(&profile("picoclaw", &files), "chat-remote", "").contains(&tool));
    }

    // SEC-101
    #[test]
    fn what_ships_and_what_anybody_may_read_is_not_the_owners() {
        let shipped = shipped_text("limpid/sections/acting.md").unwrap();
        for text in [shipped, "---\npublic: true\n---\nBe kind.\n"] {
            assert!(texts(&profile("limpid", &[("limpid/sections/acting.md", text)]), "chat-remote", "").is_empty());
        }
        assert!(texts(&profile("limpid", &[]), "chat-remote", "developer").is_empty());
        let copy = [("mine/profile.toml", "base = \"limpid\"\n"), ("mine/sections/acting.md", shipped)];
        assert!(texts(&profile("mine", &copy), "chat-remote", "").is_empty());
    }

    // SEC-100 SEC-101
    #[test]
    fn words_of_a_manifest_are_the_owners_where_they_do_not_ship() {
        let manifest = "base = \"limpid\"\ntitle = \"Mine\"\nabout = \"Ada's\"\n[order]\nfiles = [\"RULES.md\"]\n";
        assert!(texts(&profile("mine", &[("mine/profile.toml", manifest)]), "chat-remote", "").is_empty());
        let words =
            format!("{manifest}[words]\nclinics = [\"Pankow\", \"exec\"]\n[groups]\n\"For Ada\" = [\"exec\"]\n");
        let own = profile("mine", &[("mine/profile.toml", words.as_str())]);
        assert_eq!(texts(&own, "chat-remote", ""), ["Pankow", "For Ada"]);
        assert_eq!(texts(&own, "research", ""), [""; 0]);
        let path = "[path.note]\nabout = \"A note.\"\nmessages = [{ role = \"system\", sections = [\"soul\"], end = \"\\nAda has diabetes.\" }]\n";
        let own = profile("mine", &[("mine/profile.toml", format!("{manifest}{path}").as_str())]);
        assert_eq!(texts(&own, "note", ""), ["\nAda has diabetes."]);
    }
}
