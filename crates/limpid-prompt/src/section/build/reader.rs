//! Reading the front matter of one section.

use std::ops::Range;
use std::sync::Arc;

use serde_saphyr::Spanned;

use super::{SectionFiles, Shop};
use crate::problem::{Fault, File, Problem, nearest};
use crate::profile::GroupBudget;
use crate::section::front::{self, Drop, Front, List};
use crate::section::{DropOrder, EntryList, Form, Section, Subject, Take, Trim};
use crate::template::compile::Context;
use crate::template::names::Kind;
use crate::template::{Filter, Gate, Name, Slot};

/// The lists of a section by the names that its body prints; none for one that is not whole.
fn rows(front: &mut Front) -> Vec<(String, Option<List>)> {
    let mut rows = Vec::new();
    if let Some(of) = front.entries.take() {
        let entry = front.entry.take();
        let (join, first, last) = (front.join.take(), front.first.take(), front.last.take());
        rows.push(("entries".to_owned(), entry.map(|entry| List { of, entry, join, first, last })));
    }
    let lists = front.lists.take().map(|lists| lists.value.0).unwrap_or_default();
    rows.extend(lists.into_iter().map(|(name, list)| (name, Some(list))));
    rows
}

/// Reads the front matter of one file.
pub(super) struct Reader<'r, 'p> {
    pub(super) shop: &'r Shop<'p>,
    pub(super) file: &'r Arc<File>,
    pub(super) front: Range<usize>,
}

impl Reader<'_, '_> {
    pub(super) fn section(
        &self,
        id: &str,
        mut front: Front,
        body: Range<usize>,
        files: &SectionFiles,
        problems: &mut Vec<Problem>,
    ) -> Section {
        self.check_keys(&front, problems);
        let needs_entries = front.entries.is_some();
        let rows = rows(&mut front);
        let slots: Vec<String> = rows.iter().map(|(name, _)| name.clone()).collect();
        let lists = rows.into_iter().filter_map(|(name, list)| self.list(name, list?, problems)).collect();
        let when = front.when.as_ref().and_then(|when| self.gate(when, problems));
        let from = front.from.as_ref().and_then(|from| self.from(from, problems));
        let (from, from_filters) = from.unzip();
        let from_filters = from_filters.unwrap_or_default();
        let budget = front.budget.as_ref().and_then(|budget| self.budget(budget, problems));
        let drop = front.drop.as_ref().map_or(DropOrder::Never, |drop| self.drop(drop, problems));
        let trim = front.trim.as_ref().map(|trim| match trim.value {
            front::Trim::Entries => Trim::Entries,
            front::Trim::Paragraphs => Trim::Paragraphs,
        });
        let keep = front.keep.as_ref().map_or(usize::from(trim == Some(Trim::Paragraphs)), |keep| keep.value);
        let form = self.body(id, body, &slots, files, problems);
        let mut section = self.shop.of_parts(id, front, form, &SectionFiles::default(), problems);
        section.forms.tiers = self.shop.tiers(&slots, files, problems);
        let mut section =
            Section { when, lists, needs_entries, budget, drop, trim, keep, from, from_filters, ..section };
        section.subject = Subject::of(&section);
        self.check_printed(&section, problems);
        section
    }

    /// The body's form; none when the section has forms by tier and no body of its own.
    fn body(
        &self,
        id: &str,
        body: Range<usize>,
        slots: &[String],
        files: &SectionFiles,
        problems: &mut Vec<Problem>,
    ) -> Option<Form> {
        let mode = id == "mode";
        if self.file.text[body.clone()].trim().is_empty() {
            if !mode && files.tiers.iter().all(Option::is_none) {
                let fix = "write its text below the front matter; to leave it empty on purpose write {# nothing #}";
                problems.push(self.file.error(Fault::new(0..3, "the section has no text", fix)));
            }
            return None;
        }
        self.shop.compile(self.file, body, slots, mode, problems)
    }

    fn list(&self, name: String, list: List, problems: &mut Vec<Problem>) -> Option<EntryList> {
        let take = match (&list.first, &list.last) {
            (Some(first), None) => Take::First(first.value),
            (None, Some(last)) => Take::Last(last.value),
            (None, None) => Take::All,
            (Some(_), Some(last)) => {
                problems.push(self.at(last, "", "`first` and `last` exclude each other", "keep one of them"));
                return None;
            }
        };
        let context = Context::new(self.shop.names, self.shop.words);
        let (of, item) = match context.name(&list.of.value) {
            Ok((of, Kind::List(item))) => (of, (*item).clone()),
            Ok((of, Kind::Any)) => (of, Kind::Any),
            Ok(_) => {
                let message = format!("`{}` is no list", list.of.value);
                problems.push(self.at(&list.of, &list.of.value, message, "name a list of `limpid prompt schema`"));
                return None;
            }
            Err(faults) => {
                self.faults(&list.of, faults, problems);
                return None;
            }
        };
        let entry = Context { item: Some(&item), ..context }.template(&list.entry.value);
        let entry = entry.map_err(|faults| self.faults(&list.entry, faults, problems)).ok()?;
        Some(EntryList { name, of, entry, join: list.join.unwrap_or_else(|| "\n".to_owned()), take })
    }

    fn gate(&self, when: &Spanned<String>, problems: &mut Vec<Problem>) -> Option<Gate> {
        let gate = Context::new(self.shop.names, self.shop.words).gate(&when.value);
        let gate = gate.map_err(|faults| self.faults(when, faults, problems)).ok()?;
        if gate.expr.constant() == Some(false) {
            let message = "the section can never be reached: its gate is always false";
            problems.push(self.at(when, &when.value, message, "name the input that it depends on"));
        }
        Some(gate)
    }

    /// The input that stands in place of the body, and what it goes through: `soul | trim`.
    fn from(&self, from: &Spanned<String>, problems: &mut Vec<Problem>) -> Option<(Name, Vec<Filter>)> {
        let mut parts = from.value.split('|').map(str::trim);
        let input = parts.next().unwrap_or_default();
        let mut filters = Vec::new();
        for name in parts {
            match Filter::plain(name) {
                Some(filter) if filter.keeps_text() => filters.push(filter),
                _ => {
                    let message = format!("`{name}` is no filter for `from`");
                    problems.push(self.at(from, name, message, "use one that makes a text of a text, such as `trim`"));
                }
            }
        }
        match Context::new(self.shop.names, self.shop.words).name(input) {
            Ok((name, Kind::Text | Kind::Any)) => Some((name, filters)),
            Ok(_) => {
                let message = format!("`{input}` is no text");
                problems.push(self.at(from, input, message, "`from` names an input that is a text"));
                None
            }
            Err(faults) => {
                self.faults(from, faults, problems);
                None
            }
        }
    }

    fn budget(&self, budget: &Spanned<String>, problems: &mut Vec<Problem>) -> Option<Arc<GroupBudget>> {
        if let Some(group) = self.shop.budgets.get(&budget.value) {
            return Some(Arc::clone(group));
        }
        let message = format!("unknown budget `{}`", budget.value);
        let fix = match nearest(&budget.value, self.shop.budgets.keys().map(String::as_str)) {
            Some(close) => format!("did you mean `{close}`?"),
            None => format!("add `[budget.{}]` to profile.toml", budget.value),
        };
        problems.push(self.at(budget, &budget.value, message, fix));
        None
    }

    fn drop(&self, drop: &Spanned<Drop>, problems: &mut Vec<Problem>) -> DropOrder {
        match drop.value {
            Drop::Word(_) => DropOrder::Never,
            Drop::At(number @ 1..=9) => DropOrder::At(number),
            Drop::At(number) => {
                let fix = "write `never` or a number from 1 to 9; higher goes first";
                problems.push(self.at(drop, "", format!("{number} is no drop order"), fix));
                DropOrder::Never
            }
        }
    }

    /// Keys that mean nothing without another one.
    fn check_keys(&self, front: &Front, problems: &mut Vec<Problem>) {
        let no_list = front.entries.is_none() && front.lists.is_none();
        if let (Some(entries), None) = (&front.entries, &front.entry) {
            problems.push(self.at(
                entries,
                "",
                "`entries` needs an `entry`",
                "say how one of them is written: entry: \"- {{ … }}\"",
            ));
        }
        if let (None, Some(entry)) = (&front.entries, &front.entry) {
            problems.push(self.at(entry, "", "`entry` needs `entries`", "name the list: entries: …"));
        }
        for take in [&front.first, &front.last].into_iter().flatten().filter(|_| front.entries.is_none()) {
            problems.push(self.at(
                take,
                "",
                "`first` and `last` need `entries`",
                "put them beside `entries` or into a list of `lists`",
            ));
        }
        if let Some(budget) = front.budget.as_ref().filter(|_| no_list) {
            problems.push(self.at(
                budget,
                "",
                "`budget` needs a list whose entries it cuts",
                "add `entries` or `lists`, or use `drop` and `trim`",
            ));
        }
        if let Some(trim) = front.trim.as_ref().filter(|trim| trim.value == front::Trim::Entries && no_list) {
            problems.push(self.at(trim, "", "`trim: entries` needs a list", "write `trim: paragraphs`"));
        }
        if let Some(keep) = front.keep.as_ref().filter(|_| front.trim.is_none()) {
            problems.push(self.at(
                keep,
                "",
                "`keep` needs `trim`",
                "say what is trimmed: `trim: entries` or `trim: paragraphs`",
            ));
        }
    }

    /// A list that no form of the section prints.
    fn check_printed(&self, section: &Section, problems: &mut Vec<Problem>) {
        let forms: Vec<&Form> = section.forms.tiers.iter().chain([&section.forms.body]).flatten().collect();
        if forms.is_empty() {
            return;
        }
        for (at, list) in section.lists.iter().enumerate() {
            if !forms.iter().any(|form| form.template.prints(Slot::List(at))) {
                let message = format!("the text never prints `{{{{ {} }}}}`", list.name);
                let fix = "write it where the entries are to stand, or remove the list";
                problems.push(self.file.error(Fault::new(self.find(0, &list.name), message, fix)));
            }
        }
    }

    /// Faults in a value of the front matter.
    fn faults<T: AsRef<str>>(&self, value: &Spanned<T>, faults: Vec<Fault>, problems: &mut Vec<Problem>) {
        for fault in faults {
            let text = value.value.as_ref();
            let snippet = text.get(fault.at.clone()).unwrap_or(text);
            problems.push(self.at(value, snippet, fault.message, fault.fix));
        }
    }

    /// A problem at a snippet of a value, or at the whole line when the file writes it otherwise.
    fn at<T>(&self, value: &Spanned<T>, snippet: &str, message: impl Into<String>, fix: impl Into<String>) -> Problem {
        let yaml = &self.file.text[self.front.clone()];
        let at = value.referenced;
        let start = front::offset(yaml, at.line() as usize, at.column() as usize);
        self.file.error(Fault::new(self.find(start, snippet), message, fix))
    }

    /// Where a snippet stands in the front matter, from a byte of it on; else what is left of that byte's line.
    fn find(&self, start: usize, snippet: &str) -> Range<usize> {
        let rest = &self.file.text[self.front.start + start..self.front.end];
        let base = self.front.start + start;
        let line = base..base + rest.find('\n').unwrap_or(rest.len());
        let snippet = snippet.lines().next().unwrap_or_default();
        if snippet.is_empty() {
            return line;
        }
        let found = [snippet.to_owned(), snippet.replace('"', "\\\"")].into_iter().find_map(|snippet| {
            let at = base + rest.find(&snippet)?;
            Some(at..at + snippet.len())
        });
        found.unwrap_or(line)
    }
}
