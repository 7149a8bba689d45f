//! The files of a profile and of what it builds on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::behaviour;
use super::manifest::{self, Manifest};
use super::shelf::{MANIFEST, Shelf};
use crate::problem::{Fault, File, Problem};

/// The files of a profile, those of its bases below them.
pub(super) struct FileSet {
    pub(super) manifest: Manifest,
    pub(super) files: BTreeMap<String, Arc<File>>,
    /// The owner's files that hide shipped ones.
    pub(super) shadowed: BTreeMap<String, Arc<File>>,
    pub(super) modes: BTreeSet<String>,
    pub(super) bases: Vec<String>,
}

impl FileSet {
    pub(super) fn of(name: &str, shelf: &Shelf, open: &mut Vec<String>, problems: &mut Vec<Problem>) -> Option<Self> {
        let folder = shelf.0.get(name)?;
        let file = folder.get(MANIFEST)?;
        let mut manifest = manifest::read(name, file, problems)?;
        // The owner's copy of a shipped manifest may be older than a key.
        if let Some(shipped) = folder.shipped.get(MANIFEST).filter(|shipped| shipped.layer != file.layer) {
            for (key, given) in behaviour::read(shipped, &mut Vec::new()) {
                manifest.behaviour.entry(key).or_insert(given);
            }
        }
        let own: BTreeMap<String, Arc<File>> =
            folder.paths().into_iter().filter_map(|path| Some((path.clone(), Arc::clone(folder.get(path)?)))).collect();
        let shadowed =
            folder.home.keys().filter_map(|path| Some((path.clone(), Arc::clone(folder.shipped.get(path)?))));
        let mut set = Self {
            files: own,
            shadowed: shadowed.collect(),
            modes: folder.modes.clone(),
            bases: Vec::new(),
            manifest: Manifest::default(),
        };
        if let Some(base) = manifest.base.clone() {
            open.push(name.to_owned());
            let below = if open.contains(base.get_ref()) {
                Err(format!("a cycle of bases: {} → {}", open.join(" → "), base.get_ref()))
            } else {
                let mut deeper = Vec::new();
                let below = Self::of(base.get_ref(), shelf, open, &mut deeper);
                let cycle = deeper.into_iter().find(|problem| problem.message.ends_with(&format!("→ {name}")));
                match (below, cycle) {
                    (_, Some(cycle)) => Err(cycle.message),
                    (Some(below), None) => Ok(below),
                    (None, None) => Err(format!("there is no profile `{}` to build on", base.get_ref())),
                }
            };
            open.pop();
            match below {
                Ok(below) => set.build_on(base.get_ref(), below, &mut manifest),
                Err(message) => {
                    let fix = "name a profile of `limpid profile list` that does not build on this one";
                    problems.push(file.error(Fault::new(base.span(), message, fix)));
                }
            }
        }
        Some(Self { manifest, ..set })
    }

    /// Every file, its path inside the profile's folder first.
    pub(super) fn files(&self) -> impl Iterator<Item = (&String, &Arc<File>)> {
        self.files.iter()
    }

    fn build_on(&mut self, name: &str, below: Self, manifest: &mut Manifest) {
        manifest.inherit(&below.manifest);
        for (path, file) in below.files {
            self.files.entry(path).or_insert(file);
        }
        self.modes.extend(below.modes);
        self.bases = below.bases;
        self.bases.push(name.to_owned());
    }
}
