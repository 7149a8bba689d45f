//! Message lists with their splices carried out.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::problem::{Fault, Problem, nearest};
use crate::section::Section;
use crate::template::Gate;
use crate::template::compile::Context;
use crate::template::names::Names;

use super::budget::Budget;
use super::manifest::{MessageDraft, PathDraft, SpliceDraft, StepDraft};
use super::path::{MessageSpec, Path, Step};
use crate::inputs::RoleName;

/// A profile whose sections are compiled and whose message lists are as they are written.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) name: String,
    pub(crate) words: BTreeMap<String, Vec<String>>,
    pub(crate) paths: BTreeMap<String, PathDraft>,
    /// The compiled sections; none where something is wrong with the files, which is told elsewhere.
    pub(crate) sections: BTreeMap<String, Option<Arc<Section>>>,
}

/// Carries out the splices of one profile's paths; what it does not define is `fallback`'s.
pub(crate) struct Resolver<'d> {
    pub(crate) names: &'d Names,
    pub(crate) own: &'d Draft,
    pub(crate) fallback: Option<&'d Draft>,
    /// Steps that were written out so far.
    pub(crate) written: Cell<usize>,
}

/// Steps of all paths of a profile together: splices of splices grow by powers.
const MOST_STEPS: usize = 10_000;

impl<'d> Resolver<'d> {
    /// Every path of the profile, its own and those that it does not define.
    pub(crate) fn paths(&self, problems: &mut Vec<Problem>) -> BTreeMap<String, Path> {
        let paths =
            self.known().filter_map(|name| Some((name.to_owned(), self.path(name, &mut Vec::new(), problems)?)));
        paths.collect()
    }

    /// The names of all of them.
    fn known(&self) -> impl Iterator<Item = &'d str> {
        let own = &self.own.paths;
        let fallback =
            self.fallback.iter().flat_map(|draft| draft.paths.keys()).filter(|name| !own.contains_key(*name));
        own.keys().chain(fallback).map(String::as_str)
    }

    fn find(&self, name: &str) -> Option<(&'d Draft, &'d PathDraft)> {
        let of = |draft: &'d Draft| Some((draft, draft.paths.get(name)?));
        of(self.own).or_else(|| of(self.fallback?))
    }

    fn path(&self, name: &str, open: &mut Vec<String>, problems: &mut Vec<Problem>) -> Option<Path> {
        let (owner, draft) = self.find(name)?;
        // What is wrong with a spliced path, or with one of the fallback's, is told when that path itself is resolved.
        let told = owner.name == self.own.name && open.is_empty();
        let mut walk = Walk { resolver: self, owner, draft, told, problems };
        open.push(name.to_owned());
        let (tools, local_tools, steps) = walk.steps(open);
        open.pop();
        Some(Path {
            name: name.to_owned(),
            title: draft
                .title
                .clone()
                .or_else(|| self.fallback?.paths.get(name)?.title.clone())
                .unwrap_or_else(|| name.to_owned()),
            about: draft.about.clone(),
            profile: owner.name.clone(),
            source: draft.file.lines(draft.at.clone()),
            tools,
            local_tools: draft.local_tools.clone().or(local_tools),
            without: Vec::new(),
            only: None,
            tier: draft.tier,
            public: draft.public,
            steps,
            budget: draft.budget,
        })
    }
}

/// One path on its way.
struct Walk<'w, 'd> {
    resolver: &'w Resolver<'d>,
    owner: &'d Draft,
    draft: &'d PathDraft,
    told: bool,
    problems: &'w mut Vec<Problem>,
}

impl Walk<'_, '_> {
    fn error(&mut self, at: Range<usize>, message: impl Into<String>, fix: impl Into<String>) {
        if self.told {
            self.problems.push(self.draft.file.error(Fault::new(at, message, fix)));
        }
    }

    /// The tools that are declared, those of a model on this machine, and the messages.
    fn steps(&mut self, open: &mut Vec<String>) -> (Option<Vec<String>>, Option<Vec<String>>, Vec<Step>) {
        let (mut own_tools, mut spliced_tools, mut local_tools, mut steps) = (None, None, None, Vec::new());
        for (at, step) in &self.draft.steps {
            let written = self.resolver.written.replace(self.resolver.written.get() + 1);
            if written >= MOST_STEPS {
                // It is told once, of whichever path comes to it.
                if written == MOST_STEPS {
                    let message =
                        format!("the paths have more than {MOST_STEPS} messages when their splices are carried out");
                    self.problems.push(self.draft.file.error(Fault::new(at.clone(), message, "splice fewer paths")));
                }
                break;
            }
            match step {
                StepDraft::Tools(tools) => own_tools = Some(tools.clone()),
                StepDraft::Message(message) => steps.extend(self.message(message).map(Step::Message)),
                StepDraft::Splice(splice) if splice.path.get_ref() == "history" => {
                    let when = self.gate(splice.when.as_ref());
                    if steps.iter().any(|step| matches!(step, Step::History { .. })) && when.is_none() {
                        self.error(at.clone(), "the history stands twice", "splice it once");
                    }
                    steps.push(Step::History { when });
                }
                StepDraft::Splice(splice) => {
                    let Some((whole, spliced)) = self.splice(splice, open) else { continue };
                    if let Some(path) = whole {
                        spliced_tools = spliced_tools.or(path.tools);
                        local_tools = local_tools.or(path.local_tools);
                    }
                    steps.extend(spliced);
                }
            }
        }
        // A path with a list of its own means every model.
        let local_tools = if own_tools.is_some() { None } else { local_tools };
        (own_tools.or(spliced_tools), local_tools, steps)
    }

    fn message(&mut self, message: &MessageDraft) -> Option<MessageSpec> {
        let when = self.gate(message.when.as_ref());
        let role = self.role(message.role.get_ref(), message.role.span());
        let mut ids: Vec<&str> = Vec::new();
        for id in &message.sections {
            if ids.contains(&id.get_ref().as_str()) {
                self.error(
                    id.span(),
                    format!("section `{}` stands twice in one message", id.get_ref()),
                    "list it once",
                );
            }
            ids.push(id.get_ref());
        }
        let sections: Vec<_> = message.sections.iter().filter_map(|id| self.section(id)).collect();
        let budget = message.budget.as_ref().map(|(limit, except)| {
            for id in except.iter().filter(|id| !ids.contains(&id.get_ref().as_str())) {
                let message = format!("section `{}` is not in this message", id.get_ref());
                self.error(id.span(), message, "`except` names sections of the same message");
            }
            Budget { limit: *limit, except: except.iter().map(|id| id.get_ref().clone()).collect() }
        });
        Some(MessageSpec {
            when,
            role: role?,
            join: message.join.clone().unwrap_or_else(|| "\n\n".to_owned()),
            end: message.end.clone().unwrap_or_default(),
            sections,
            budget,
            spliced: Vec::new(),
        })
    }

    fn section(&mut self, id: &toml::Spanned<String>) -> Option<Arc<Section>> {
        if let Some(section) = self.owner.sections.get(id.get_ref()) {
            return section.clone();
        }
        let fix = match nearest(id.get_ref(), self.owner.sections.keys().map(String::as_str)) {
            Some(close) => format!("did you mean `{close}`?"),
            None => format!("write it into `sections/{}.md`", id.get_ref()),
        };
        self.error(id.span(), format!("unknown section `{}`", id.get_ref()), fix);
        None
    }

    fn role(&mut self, word: &str, at: Range<usize>) -> Option<RoleName> {
        let role = word.parse::<limpid_core::Role>().ok().filter(|role| *role != limpid_core::Role::Tool);
        if role.is_none() {
            self.error(at, format!("`{word}` is no role of a message"), "write system, user or assistant");
        }
        role.map(RoleName::from)
    }

    fn gate(&mut self, when: Option<&toml::Spanned<String>>) -> Option<Gate> {
        let when = when?;
        match Context::new(self.resolver.names, &self.owner.words).gate(when.get_ref()) {
            Ok(gate) => Some(gate),
            Err(faults) => {
                for fault in faults {
                    // The value stands behind its opening quote.
                    let start = when.span().start + 1;
                    self.error(start + fault.at.start..start + fault.at.end, fault.message, fault.fix);
                }
                None
            }
        }
    }

    /// The steps of a spliced path, with the path itself where all of it is spliced.
    fn splice(&mut self, splice: &SpliceDraft, open: &mut Vec<String>) -> Option<(Option<Path>, Vec<Step>)> {
        let name = splice.path.get_ref();
        if open.contains(name) {
            let mut round = open.clone();
            round.push(name.clone());
            let fault = Fault::new(
                splice.path.span(),
                format!("a cycle of splices: {}", round.join(" → ")),
                "break it at one of them",
            );
            // It is told of the path that it leads back to, wherever on the way it is found.
            if open.first() == Some(name) {
                self.problems.push(self.draft.file.error(fault));
            }
            return None;
        }
        let Some(mut path) = self.resolver.path(name, open, self.problems) else {
            let fix = match nearest(name, self.resolver.known()) {
                Some(close) => format!("did you mean `{close}`?"),
                None => "splice `history` or a path of this profile or of `limpid`".to_owned(),
            };
            self.error(splice.path.span(), format!("unknown path `{name}`"), fix);
            return None;
        };
        let only = match &splice.only {
            Some(only) => match self.role(only.get_ref(), only.span()) {
                Some(role) => Some(role),
                None => return None,
            },
            None => None,
        };
        for id in &splice.except {
            if !path.sections().any(|section| section.id == *id.get_ref()) {
                let message = format!("section `{}` is not on path `{name}`", id.get_ref());
                self.error(id.span(), message, "`except` names sections of the spliced path");
            }
        }
        let gate = self.gate(splice.when.as_ref());
        let steps = std::mem::take(&mut path.steps);
        let steps = steps.into_iter().filter_map(|step| cut(step, only, splice, gate.as_ref())).collect();
        Some((only.is_none().then_some(path), steps))
    }
}

/// A spliced step: of the wanted role, without the sections that are left out, under both gates.
fn cut(step: Step, only: Option<RoleName>, splice: &SpliceDraft, gate: Option<&Gate>) -> Option<Step> {
    match step {
        Step::History { when } if only.is_none() => Some(Step::History { when: Gate::both(when, gate) }),
        Step::History { .. } => None,
        Step::Message(message) if only.is_some_and(|role| role != message.role) => None,
        Step::Message(mut message) => {
            message.sections.retain(|section| !splice.except.iter().any(|id| *id.get_ref() == section.id));
            message.when = Gate::both(message.when, gate);
            message.spliced.push(splice.path.get_ref().clone());
            Some(Step::Message(message))
        }
    }
}
