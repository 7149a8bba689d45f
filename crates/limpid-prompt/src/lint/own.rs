//! What is looked at: the texts of a profile that are its own.

use std::ops::Range;
use std::sync::Arc;

use crate::problem::{Fault, File, Problem};
use crate::profile::Profile;
use crate::section::Form;

/// A profile, of which only its own files are looked at: those of a base are its base's to lint.
#[derive(Clone, Copy)]
pub(super) struct Own<'p> {
    pub(super) profile: &'p Profile,
}

impl<'p> Own<'p> {
    /// The files that are the profile's own.
    pub(super) fn files(self) -> impl Iterator<Item = &'p Arc<File>> {
        self.profile.files.values().filter(move |file| self.has(&file.path))
    }

    /// Whether the file at a path is.
    pub(super) fn has(self, path: &str) -> bool {
        path.split('/').next() == Some(self.profile.name())
    }

    /// A form's file and the bytes of its text; none when the file is not the profile's own.
    pub(super) fn body(self, form: &Form) -> Option<(&'p Arc<File>, Range<usize>)> {
        if !self.has(&form.source.path) {
            return None;
        }
        let file = self.profile.files.values().find(|file| file.path == form.source.path)?;
        let line = |number: u32| {
            let before = file.text.split_inclusive('\n').take(number as usize).map(str::len);
            before.sum::<usize>()
        };
        Some((file, line(form.source.first - 1)..line(form.source.last)))
    }

    /// The forms of every section and mode, the profile's own only, with a name for each.
    pub(super) fn forms(self) -> impl Iterator<Item = (String, usize, &'p Form)> {
        let sections = self.profile.sections().flat_map(|section| {
            let tiers = section.forms.tiers.iter().enumerate();
            let body = section.forms.body.iter().map(|form| (ANY_TIER, form));
            let forms = tiers.filter_map(|(tier, form)| Some((tier, form.as_ref()?))).chain(body);
            forms.map(|(tier, form)| (section.id.clone(), tier, form))
        });
        let modes = self.profile.modes.values().flat_map(|mode| {
            let tiers = mode.tiers.iter().enumerate().filter_map(|(tier, form)| Some((tier, form.as_ref()?)));
            tiers.map(|(tier, form)| (format!("mode {}", mode.name), tier, form))
        });
        sections.chain(modes).filter(move |(_, _, form)| self.has(&form.source.path))
    }
}

/// The place of a text that is no tier's own.
pub(super) const ANY_TIER: usize = 5;

/// Adds a finding.
pub(super) fn warn(problems: &mut Vec<Problem>, file: &File, at: Range<usize>, message: impl Into<String>, fix: &str) {
    problems.push(file.warning(Fault::new(at, message, fix)));
}
