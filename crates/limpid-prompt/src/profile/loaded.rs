//! A profile that was loaded.

use std::collections::BTreeMap;
use std::sync::Arc;

use limpid_core::policy::ModeRules;
use limpid_core::{DEFAULT_PROFILE, Tier};

use super::behaviour::{self, Behaviour, BehaviourValue};
use super::mode::{Mode, ModeForm};
use super::owners_texts::{OwnersText, owners_texts};
use super::path::{Path, tier};
use super::tool_text::{ToolGroup, ToolText};
use super::unknown_name::UnknownName;
use crate::inputs::Inputs;
use crate::problem::File;
use crate::section::Section;
use crate::source::SourceRef;
use crate::template::Name;

const LAST_MODE: &str = "developer";
const LAST_TIER: usize = 2;

/// A profile that was loaded: every name in it is known, every text compiled, so that rendering cannot fail on it.
#[derive(Clone, Debug)]
pub struct Profile {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) about: String,
    /// Nearest first.
    pub(crate) bases: Vec<String>,
    pub(crate) paths: BTreeMap<String, Path>,
    pub(crate) sections: BTreeMap<String, Arc<Section>>,
    pub(crate) modes: BTreeMap<String, Mode>,
    pub(crate) policies: BTreeMap<String, ModeRules>,
    pub(crate) tools: BTreeMap<String, ToolText>,
    pub(crate) words: BTreeMap<String, Vec<String>>,
    pub(crate) groups: Vec<ToolGroup>,
    pub(crate) tool_order: Vec<String>,
    pub(crate) file_order: Vec<String>,
    pub(crate) behaviour: Behaviour,
    pub(crate) behaviour_sources: BTreeMap<&'static str, SourceRef>,
    /// The files that it was made of, those of its bases included.
    pub(crate) files: BTreeMap<String, Arc<File>>,
    /// Those of them that do not ship, with those of the profile that lends what it lacks.
    pub(crate) owners_files: Vec<Arc<File>>,
    /// What its manifests list that does not ship.
    pub(crate) owners_words: Vec<String>,
}

impl Profile {
    /// Its name: that of its folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its title for people.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What it is, in one sentence.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// The profiles that it gets its files from: itself, its bases, nearest first, and the one that lends every profile
    /// what it lacks.
    pub fn lineage(&self) -> impl Iterator<Item = &str> {
        let lends = Some(DEFAULT_PROFILE).filter(|name| self.name != *name && self.bases().all(|base| base != *name));
        std::iter::once(self.name()).chain(self.bases()).chain(lends)
    }

    /// The profiles that it builds on, nearest first.
    pub fn bases(&self) -> impl Iterator<Item = &str> {
        self.bases.iter().map(String::as_str)
    }

    /// What it makes the program do.
    pub fn behaviour(&self) -> &Behaviour {
        &self.behaviour
    }

    /// Every key of its behaviour with its value and the line that sets it.
    pub fn behaviour_values(&self) -> Vec<BehaviourValue> {
        behaviour::values(&self.behaviour, &self.behaviour_sources)
    }

    /// A path by name; one that the profile does not define is the `limpid` profile's.
    pub fn path(&self, name: &str) -> Result<&Path, UnknownName> {
        self.paths.get(name).ok_or_else(|| UnknownName::new("path", name, self.paths.keys()))
    }

    /// The tier that a path has with these inputs: the path's own, else the inputs', else that of the model's window,
    /// else the third.
    ///
    /// # Errors
    /// When there is no such path.
    pub fn tier(&self, path: &str, inputs: &Inputs) -> Result<Tier, UnknownName> {
        Ok(tier(self.path(path)?, inputs))
    }

    /// Every path, by name.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.paths.values()
    }

    /// A section of this profile by id.
    pub fn section(&self, id: &str) -> Option<&Arc<Section>> {
        self.sections.get(id)
    }

    /// Every section of this profile, by id.
    pub fn sections(&self) -> impl Iterator<Item = &Arc<Section>> {
        self.sections.values()
    }

    /// The names of its modes.
    pub fn modes(&self) -> impl Iterator<Item = &str> {
        self.modes.keys().map(String::as_str)
    }

    /// The template of a mode for a tier, and the places that were tried before it was found.
    ///
    /// None when the profile has no modes at all; an unknown mode is an error that lists the known ones.
    pub fn mode(&self, name: &str, tier: Tier) -> Result<Option<ModeForm<'_>>, UnknownName> {
        if self.modes.is_empty() {
            return Ok(None);
        }
        let mode = self.modes.get(name).ok_or_else(|| UnknownName::new("mode", name, self.modes.keys()))?;
        Ok(mode.get(tier).or_else(|| self.last_resort(mode, tier)))
    }

    /// What a mode lets the agent do, when a file of the profile says so (`modes/<mode>/policy.toml`).
    pub fn mode_rules(&self, mode: &str) -> Option<&ModeRules> {
        self.policies.get(mode)
    }

    /// What the model is told about a tool; one that the profile does not describe is described by `limpid`.
    pub fn tool(&self, name: &str) -> Option<&ToolText> {
        self.tools.get(name)
    }

    /// The tools that a mode calls for, the most wanted first: those of the word list `core_tools_<mode>`, then those of
    /// `core_tools`.
    pub fn core_tools(&self, mode: &str) -> Vec<String> {
        let list = |name: &str| self.words.get(name).cloned().unwrap_or_default();
        [list(&format!("core_tools_{mode}")), list("core_tools")].concat()
    }

    /// Whether a prompt of this profile shows a text of the inputs as it is: `soul`, `safety`.
    pub fn reads(&self, input: &str) -> bool {
        let is_it = |section: &Arc<Section>| section.from.as_ref().is_some_and(|name| name.path == [input]);
        self.paths().flat_map(Path::sections).any(is_it)
    }

    /// Whether prompts of a path quote what the workspace holds, besides naming its folder.
    pub fn quotes_workspace(&self, path: &Path) -> bool {
        self.shows_workspace(path, |field| field.is_none_or(|field| !["path", "base", "folders"].contains(&field)))
    }

    /// Whether prompts of a path say where the workspace is.
    pub fn names_workspace(&self, path: &Path) -> bool {
        self.shows_workspace(path, |field| field.is_none_or(|field| field == "path"))
    }

    /// Whether prompts of a path name the folders that files may be in besides.
    pub fn names_folders(&self, path: &Path) -> bool {
        self.shows_workspace(path, |field| field.is_none_or(|field| field == "folders"))
    }

    /// The texts of the owner's own that prompts of a path show with these inputs: sections, the mode and tools of files that do not
    /// ship, also where another tier or condition shows them, and words of their manifests. None on a path that is not there.
    pub fn owners_texts<'p>(&'p self, path: &str, inputs: &Inputs) -> Vec<OwnersText<'p>> {
        owners_texts(self, path, inputs)
    }

    /// Whether prompts of a path show a field of a record of the inputs: `workspace` and `unread`.
    pub fn shows_field(&self, path: &Path, record: &str, field: &str) -> bool {
        self.shows(
            path,
            &|name: &Name| matches!(name.path.as_slice(), [first, second, ..] if first == record && second == field),
        )
    }

    fn shows_workspace(&self, path: &Path, is_it: impl Fn(Option<&str>) -> bool) -> bool {
        self.shows(path, &|name: &Name| {
            name.path.first().is_some_and(|root| root == "workspace") && is_it(name.path.get(1).map(AsRef::as_ref))
        })
    }

    /// Whether sections of a path or the text of a mode there name such an input.
    fn shows(&self, path: &Path, is_it: &dyn Fn(&Name) -> bool) -> bool {
        let in_modes =
            || self.modes.values().flat_map(|mode| mode.tiers.iter().flatten()).any(|form| form.shows(is_it));
        path.sections().any(|section| section.shows(is_it) || (section.is_mode() && in_modes()))
    }

    /// Whether prompts of a path show a field of the inputs, or ask whether it is there.
    pub fn quotes(&self, path: &Path, field: &str) -> bool {
        let holds = |name: &Name| name.path.first().is_some_and(|root| root == field);
        path.sections().any(|section| section.shows(&holds))
    }

    /// How texts group the tools.
    pub fn groups(&self) -> &[ToolGroup] {
        &self.groups
    }

    /// The order in which texts list tools; the rest follow by name.
    pub fn tool_order(&self) -> &[String] {
        &self.tool_order
    }

    /// The workspace files that prompts quote, in order.
    pub fn file_order(&self) -> &[String] {
        &self.file_order
    }

    /// The mode whose texts stand where a mode is shown: its own, or the last resort.
    pub(super) fn mode_in_place_of<'m>(&self, mode: &'m str) -> &'m str {
        let has_text = self.modes.get(mode).is_some_and(|mode| mode.tiers.iter().any(Option::is_some));
        if has_text { mode } else { LAST_MODE }
    }

    fn last_resort(&self, mode: &Mode, tier: Tier) -> Option<ModeForm<'_>> {
        let form = self.modes.get(LAST_MODE)?.tiers[LAST_TIER].as_ref()?;
        Some(ModeForm { form, tried: mode.places(tier).map(|at| mode.file(at)).collect() })
    }
}
