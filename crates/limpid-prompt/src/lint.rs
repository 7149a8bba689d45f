//! Findings about a profile that loads: what works, but hardly as it was meant.

mod modes;
mod paths;
mod texts;
mod tools;

use std::ops::Range;
use std::sync::Arc;

use crate::count::FixedCounter;
use crate::problem::{Fault, File, Problem};
use crate::profile::Profile;
use crate::section::Form;
use crate::template::names::Names;

impl Profile {
    /// What is found in the profile's own files: parts over their budget, templates that shrink as the tier grows,
    /// paragraphs that stand twice, modes that lack tiers, tools that do not exist or are not offered, invisible characters, placeholders
    /// that nobody filled, and `turn` text before text that could be kept.
    pub fn lint(&self, counter: &dyn FixedCounter) -> Vec<Problem> {
        let lint = Lint { profile: self, names: Names::new(), counter };
        let mut problems = Vec::new();
        lint.characters(&mut problems);
        lint.placeholders(&mut problems);
        lint.shrinking(&mut problems);
        lint.paragraphs(&mut problems);
        lint.missing_tiers(&mut problems);
        lint.tools(&mut problems);
        lint.prefixes(&mut problems);
        lint.budgets(&mut problems);
        problems
    }
}

struct Lint<'p> {
    profile: &'p Profile,
    names: Names,
    counter: &'p dyn FixedCounter,
}

impl<'p> Lint<'p> {
    /// The files that are the profile's own: those of a base are its base's to lint.
    fn own_files(&self) -> impl Iterator<Item = &'p Arc<File>> {
        self.profile.files.values().filter(|file| self.is_own(&file.path))
    }

    fn is_own(&self, path: &str) -> bool {
        path.split('/').next() == Some(self.profile.name())
    }

    /// A form's file and the bytes of its text; none when the file is not the profile's own.
    fn body(&self, form: &Form) -> Option<(&'p Arc<File>, Range<usize>)> {
        if !self.is_own(&form.source.path) {
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
    fn forms(&self) -> impl Iterator<Item = (String, usize, &'p Form)> {
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
        sections.chain(modes).filter(|(_, _, form)| self.is_own(&form.source.path))
    }
}

/// The place of a text that is no tier's own.
const ANY_TIER: usize = 5;

fn warn(problems: &mut Vec<Problem>, file: &File, at: Range<usize>, message: impl Into<String>, fix: &str) {
    problems.push(file.warning(Fault::new(at, message, fix)));
}
