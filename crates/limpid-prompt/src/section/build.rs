//! Making a checked section of its files.

mod reader;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::problem::{Fault, File, Problem};
use crate::profile::GroupBudget;
use crate::template::compile::Context;
use crate::template::names::Names;
use crate::template::{Expr, Node, Slot, Template};

use super::definition::{DropOrder, Section};
use super::form::{Form, Forms};
use super::front::{self, Front};
use super::subject::Subject;
use reader::Reader;

/// What every section of a profile is checked against.
pub(crate) struct Shop<'p> {
    pub(crate) names: &'p Names,
    pub(crate) words: &'p BTreeMap<String, Vec<String>>,
    pub(crate) budgets: &'p BTreeMap<String, Arc<GroupBudget>>,
}

/// The files of one section.
#[derive(Clone, Debug, Default)]
pub(crate) struct SectionFiles {
    pub(crate) main: Option<Arc<File>>,
    pub(crate) tiers: [Option<Arc<File>>; 5],
}

impl Shop<'_> {
    /// A section, when nothing is wrong with its files.
    pub(crate) fn section(&self, id: &str, files: &SectionFiles, problems: &mut Vec<Problem>) -> Option<Section> {
        let before = problems.len();
        let section = match &files.main {
            Some(file) => self.of_main(id, file, files, problems)?,
            None => self.of_parts(id, Front::default(), None, files, problems),
        };
        (problems.len() == before).then_some(section)
    }

    /// A text without front matter that sees no lists: a mode's template.
    pub(crate) fn form(&self, file: &Arc<File>, problems: &mut Vec<Problem>) -> Option<Form> {
        let body = body_of(file, problems)?;
        self.compile(file, body, &[], false, problems)
    }

    /// A part of a file as a text that sees no lists: a tool's description.
    pub(crate) fn text(&self, file: &Arc<File>, body: Range<usize>, problems: &mut Vec<Problem>) -> Option<Template> {
        Some(self.compile(file, body, &[], false, problems)?.template)
    }

    fn of_main(
        &self,
        id: &str,
        file: &Arc<File>,
        files: &SectionFiles,
        problems: &mut Vec<Problem>,
    ) -> Option<Section> {
        let halves = front::split(&file.text).map_err(|fault| problems.push(file.error(fault))).ok()?;
        let front = match halves.front.clone() {
            Some(range) => front::read(&file.text, range).map_err(|fault| problems.push(file.error(fault))).ok()?,
            None => Front::default(),
        };
        let reader = Reader { shop: self, file, front: halves.front.unwrap_or(0..0) };
        Some(reader.section(id, front, halves.body, files, problems))
    }

    fn of_parts(
        &self,
        id: &str,
        front: Front,
        body: Option<Form>,
        files: &SectionFiles,
        problems: &mut Vec<Problem>,
    ) -> Section {
        let mut section = Section {
            id: id.to_owned(),
            title: front.title.unwrap_or_else(|| title(id)),
            why: front.why.unwrap_or_default(),
            when: None,
            stability: front.stability,
            lists: Vec::new(),
            needs_entries: false,
            budget: None,
            drop: DropOrder::Never,
            trim: None,
            keep: 0,
            from: None,
            from_filters: Vec::new(),
            forms: Forms { tiers: Default::default(), body },
            subject: Subject::default(),
            shadows: None,
        };
        section.forms.tiers = self.tiers(&[], files, problems);
        section
    }

    fn tiers(&self, slots: &[String], files: &SectionFiles, problems: &mut Vec<Problem>) -> [Option<Form>; 5] {
        files.tiers.each_ref().map(|file| {
            let file = file.as_ref()?;
            let body = body_of(file, problems)?;
            self.compile(file, body, slots, false, problems)
        })
    }

    fn compile(
        &self,
        file: &Arc<File>,
        body: Range<usize>,
        slots: &[String],
        mode: bool,
        problems: &mut Vec<Problem>,
    ) -> Option<Form> {
        let context = Context { slots, mode, ..Context::new(self.names, self.words) };
        match context.template(&file.text[body.clone()]) {
            Ok(template) => Some(Form { source: file.lines(body), template }),
            Err(faults) => {
                let shift =
                    |fault: Fault| Fault { at: fault.at.start + body.start..fault.at.end + body.start, ..fault };
                problems.extend(faults.into_iter().map(|fault| file.error(shift(fault))));
                None
            }
        }
    }
}

/// The body of a file that may not have front matter.
fn body_of(file: &Arc<File>, problems: &mut Vec<Problem>) -> Option<Range<usize>> {
    match front::split(&file.text) {
        Ok(halves) => {
            if let Some(front) = halves.front {
                let fix = "move it to `sections/<id>.md`; files of tiers are text alone";
                problems.push(file.error(Fault::new(front, "front matter does not stand here", fix)));
                return None;
            }
            Some(halves.body)
        }
        Err(fault) => {
            problems.push(file.error(fault));
            None
        }
    }
}

/// `memories-general` as a title: `Memories general`.
fn title(id: &str) -> String {
    let mut letters = id.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect()).replace('-', " ")
}

impl Template {
    /// Whether a slot stands in it anywhere.
    pub(crate) fn prints(&self, slot: Slot) -> bool {
        fn any(nodes: &[Node], slot: Slot) -> bool {
            nodes.iter().any(|node| match node {
                Node::Text(_) => false,
                Node::Print(expr) => *expr == Expr::Slot(slot),
                Node::If { yes, no, .. } => any(yes, slot) || any(no, slot),
            })
        }
        any(&self.nodes, slot)
    }
}
