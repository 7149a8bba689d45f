//! Making a profile of its files: the parts by themselves, then what holds them together.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use limpid_core::policy::ModeRules;

use super::behaviour;
use super::file_set::FileSet;
use super::loaded::Profile;
use super::manifest::{Manifest, PathDraft, StepDraft};
use super::mode::Mode;
use super::owners_texts::owners_words;
use super::path::Path;
use super::policy::policies;
use super::resolve::{Draft, Resolver};
use super::shelf::{FileKind, MANIFEST, kind};
use super::tool_text::ToolText;
use crate::front_matter::says_public;
use crate::problem::{Fault, File, Problem};
use crate::section::Section;
use crate::section::build::{SectionFiles, Shop};
use crate::section::front::{self, ToolFront};
use crate::source::Layer;
use crate::template::names::Names;

/// The parts of a profile, each compiled by itself.
pub(super) struct Made {
    draft: Draft,
    modes: BTreeMap<String, Mode>,
    policies: BTreeMap<String, ModeRules>,
    tools: BTreeMap<String, ToolText>,
    lists: Manifest,
    /// The files that do not ship.
    owners: Vec<Arc<File>>,
}

impl Made {
    pub(super) fn of(name: &str, set: &FileSet, names: &Names, problems: &mut Vec<Problem>) -> Self {
        let mut all = Vec::new();
        let shop = Shop { names, words: &set.manifest.words, budgets: &set.manifest.budgets };
        let sections = sections(set, &shop, &mut all);
        let modes = modes(set, &shop, &mut all);
        let policies = policies(set, &mut all);
        let tools = tools(set, &shop, &mut all);
        for file in set.files.iter().filter(|(path, _)| kind(path) == FileKind::Other).map(|(_, file)| file) {
            let fix = "docs/profiles.md shows what a profile's folder holds; remove it, or correct its name";
            all.push(file.warning(Fault::new(0..0, "this file is never used", fix)));
        }
        // A file of a base is told about when the base is loaded.
        let prefix = format!("{name}/");
        problems.extend(all.into_iter().filter(|problem| problem.path.starts_with(&prefix)));
        let lists = Manifest {
            groups: set.manifest.groups.clone(),
            tool_order: set.manifest.tool_order.clone(),
            file_order: set.manifest.file_order.clone(),
            without: set.manifest.without.clone(),
            ..Manifest::default()
        };
        let (words, paths) = (set.manifest.words.clone(), set.manifest.paths.clone());
        let owners = set.files.values().filter(|file| file.layer != Layer::Shipped).cloned().collect();
        Self { draft: Draft { name: name.to_owned(), words, paths, sections }, modes, policies, tools, lists, owners }
    }

    pub(super) fn profile(
        &self,
        name: &str,
        set: &FileSet,
        fallback: Option<&Self>,
        names: &Names,
        problems: &mut Vec<Problem>,
    ) -> Profile {
        let drafts = (&self.draft, fallback.map(|made| &made.draft));
        let resolver = Resolver { names, own: drafts.0, fallback: drafts.1, written: Cell::default() };
        let mut found = Vec::new();
        let mut paths = resolver.paths(&mut found);
        for (file, path) in set.manifest.budget_paths.iter().filter(|(_, path)| !paths.contains_key(path.get_ref())) {
            let message = format!("unknown path `{}`", path.get_ref());
            found.push(file.error(Fault::new(path.span(), message, "name a path of this profile or of `limpid`")));
        }
        found.extend(self.strays(set));
        found.extend(not_public(set, &paths));
        let known_modes = if self.modes.is_empty() { fallback.map(|made| &made.modes) } else { Some(&self.modes) };
        let known_modes: Vec<&str> = known_modes.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        let known_paths: Vec<&str> = paths.keys().map(String::as_str).collect();
        let (behaviour, behaviour_sources) =
            behaviour::resolve(&set.manifest.behaviour, name, (&known_paths, &known_modes), &mut found);
        let prefix = format!("{name}/");
        problems.extend(found.into_iter().filter(|problem| problem.path.starts_with(&prefix)));

        let mut lists = self.lists.clone();
        let mut modes = self.modes.clone();
        let mut policies = self.policies.clone();
        let mut tools = self.tools.clone();
        if let Some(fallback) = fallback {
            lists.inherit_lists(&fallback.lists);
            if modes.is_empty() {
                modes = fallback.modes.clone();
                policies = fallback.policies.clone();
            }
            for (name, text) in &fallback.tools {
                tools.entry(name.clone()).or_insert_with(|| text.clone());
            }
        }
        let all_made = || std::iter::once(self).chain(fallback);
        let owners_files: Vec<Arc<File>> = all_made().flat_map(|made| &made.owners).cloned().collect();
        let said = || owners_words(all_made().map(|made| &made.draft.words), &lists, &tools);
        let owners_words = if owners_files.is_empty() { Vec::new() } else { said() };
        let without = lists.without.unwrap_or_default();
        for path in paths.values_mut() {
            if path.tools.is_none() {
                path.without.clone_from(&without);
            }
            if !set.manifest.paths.get(&path.name).is_some_and(PathDraft::lists_tools) {
                path.only.clone_from(&set.manifest.only);
            }
        }
        Profile {
            name: name.to_owned(),
            title: set.manifest.title.clone().unwrap_or_else(|| name.to_owned()),
            about: set.manifest.about.clone().unwrap_or_default(),
            bases: set.bases.iter().rev().cloned().collect(),
            behaviour,
            behaviour_sources,
            paths,
            sections: self
                .draft
                .sections
                .iter()
                .filter_map(|(id, section)| Some((id.clone(), section.clone()?)))
                .collect(),
            modes,
            policies,
            tools,
            words: self.draft.words.clone(),
            groups: lists.groups.unwrap_or_default(),
            tool_order: lists.tool_order.unwrap_or_default(),
            file_order: lists.file_order.unwrap_or_default(),
            files: set.files.clone(),
            owners_files,
            owners_words,
        }
    }

    /// Sections on no path. A shipped file that the owner's own manifest leaves out is none: it cannot be removed.
    fn strays(&self, set: &FileSet) -> Vec<Problem> {
        let steps = self.draft.paths.values().flat_map(|path| &path.steps);
        let on_paths: BTreeSet<&str> = steps
            .filter_map(|(_, step)| if let StepDraft::Message(message) = step { Some(message) } else { None })
            .flat_map(|message| message.sections.iter().map(|id| id.get_ref().as_str()))
            .collect();
        let manifest_layer = set.files.get(MANIFEST).map(|file| file.layer);
        let stray = |(path, file): (&String, &Arc<File>)| {
            let FileKind::Section(id) = kind(path) else { return None };
            let mine = file.path.split('/').next() == Some(self.draft.name.as_str());
            let removable = Some(file.layer) >= manifest_layer;
            if on_paths.contains(id.as_str()) || !mine || !removable || !self.draft.sections.contains_key(&id) {
                return None;
            }
            let fix = format!("add \"{id}\" to a message of profile.toml, or remove the file");
            Some(file.error(Fault::new(0..0, format!("section `{id}` is on no path"), fix)))
        };
        set.files.iter().filter_map(stray).collect()
    }
}

/// Texts of the owner's that a public path leaves out.
fn not_public(set: &FileSet, paths: &BTreeMap<String, Path>) -> Vec<Problem> {
    let is_left_out = |(path, file): &(&String, &Arc<File>)| {
        if file.layer == Layer::Shipped || says_public(&file.text) {
            return false;
        }
        let mut public = paths.values().filter(|path| path.public);
        match kind(path) {
            FileKind::Section(id) | FileKind::SectionTier(id, _) => {
                public.any(|path| path.sections().any(|section| section.id == id))
            }
            FileKind::Tool(name) => public.any(|path| path.offers(&name, false)),
            _ => false,
        }
    };
    let message = "a research worker is not told this text: each page that it reads may learn every word of its prompt";
    let fix = "write `public: true` into its front matter, if anybody may read it";
    let told = |(_, file): (&String, &Arc<File>)| file.warning(Fault::new(0..0, message, fix));
    set.files.iter().filter(is_left_out).map(told).collect()
}

fn sections(set: &FileSet, shop: &Shop<'_>, problems: &mut Vec<Problem>) -> BTreeMap<String, Option<Arc<Section>>> {
    let mut found: BTreeMap<String, SectionFiles> = BTreeMap::new();
    for (path, file) in &set.files {
        match kind(path) {
            FileKind::Section(id) => found.entry(id).or_default().main = Some(Arc::clone(file)),
            FileKind::SectionTier(id, tier) => found.entry(id).or_default().tiers[tier] = Some(Arc::clone(file)),
            _ => {}
        }
    }
    // The reserved section is there without a file too.
    found.entry("mode".to_owned()).or_default();
    let section = |(id, files): (String, SectionFiles)| {
        let shadowed = set.shadowed.get(&format!("sections/{id}.md"));
        let made = shop.section(&id, &files, problems).map(|section| {
            let shadows = shadowed.map(|file| file.lines(0..file.text.trim_end().len()));
            Arc::new(Section { shadows, ..section })
        });
        (id, made)
    };
    found.into_iter().map(section).collect()
}

fn modes(set: &FileSet, shop: &Shop<'_>, problems: &mut Vec<Problem>) -> BTreeMap<String, Mode> {
    let named = |name: &String| (name.clone(), Mode { name: name.clone(), ..Mode::default() });
    let mut modes: BTreeMap<String, Mode> = set.modes.iter().map(named).collect();
    for (path, file) in &set.files {
        let FileKind::Mode(name, tier) = kind(path) else { continue };
        let mode = modes.entry(name.clone()).or_insert_with(|| Mode { name, ..Mode::default() });
        // `.md` stands before `.txt` in the order of paths, so it wins.
        if mode.tiers[tier].is_some() {
            let fix = "remove it: a `.md` of the same tier stands beside it";
            problems.push(file.warning(Fault::new(0..0, "this file is never used", fix)));
        } else {
            mode.tiers[tier] = shop.form(file, problems);
        }
    }
    modes
}

fn tools(set: &FileSet, shop: &Shop<'_>, problems: &mut Vec<Problem>) -> BTreeMap<String, ToolText> {
    let mut tools = BTreeMap::new();
    for (path, file) in &set.files {
        let FileKind::Tool(name) = kind(path) else { continue };
        let text = front::split(&file.text).and_then(|halves| {
            let front: ToolFront = match halves.front {
                Some(range) => front::read(&file.text, range)?,
                None => ToolFront::default(),
            };
            let description = file.text[halves.body.clone()].to_owned();
            let template = if description.contains("{{") || description.contains("{%") || description.contains("{#") {
                shop.text(file, halves.body.clone(), problems)
            } else {
                None
            };
            Ok(ToolText {
                name: name.clone(),
                description,
                template,
                parameters: front.parameters.0,
                words: front.words,
                with: front.with,
                source: file.lines(halves.body),
            })
        });
        match text {
            Ok(text) => drop(tools.insert(name, text)),
            Err(fault) => problems.push(file.error(fault)),
        }
    }
    tools
}
