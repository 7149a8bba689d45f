//! `profile.toml` as it is written, and what stands for itself in it; message lists are resolved later.

mod raw;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use limpid_core::Tier;
use toml::Spanned;

use crate::problem::{Fault, File, Problem};

use super::behaviour::{self, Given};
use super::budget::{GroupBudget, Limit, Overflow, Unit};
use super::tool_text::ToolGroup;
use raw::{Raw, RawGroup, RawLimit, RawMessage, RawOverflow, RawPath};

/// A manifest that was read. Of a profile with a base it holds what the base gives where the profile is silent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Manifest {
    pub(crate) title: Option<String>,
    pub(crate) about: Option<String>,
    pub(crate) base: Option<Spanned<String>>,
    pub(crate) budgets: BTreeMap<String, Arc<GroupBudget>>,
    pub(crate) words: BTreeMap<String, Vec<String>>,
    pub(crate) groups: Option<Vec<ToolGroup>>,
    pub(crate) tool_order: Option<Vec<String>>,
    pub(crate) file_order: Option<Vec<String>>,
    /// Tools that no path offers which does not name them: other names of tools that it offers.
    pub(crate) without: Option<Vec<String>>,
    /// The only tools that the profile's paths offer, except for a path with a list of its own.
    pub(crate) only: Option<Vec<String>>,
    pub(crate) behaviour: BTreeMap<&'static str, Given>,
    pub(crate) paths: BTreeMap<String, PathDraft>,
    /// Names of paths that budgets speak of.
    pub(crate) budget_paths: Vec<(Arc<File>, Spanned<String>)>,
}

impl Manifest {
    /// Fills in what this manifest does not say.
    pub(crate) fn inherit(&mut self, base: &Self) {
        fn fill<K: Clone + Ord, T: Clone>(own: &mut BTreeMap<K, T>, base: &BTreeMap<K, T>) {
            for (name, value) in base {
                own.entry(name.clone()).or_insert_with(|| value.clone());
            }
        }
        fill(&mut self.budgets, &base.budgets);
        fill(&mut self.words, &base.words);
        fill(&mut self.paths, &base.paths);
        fill(&mut self.behaviour, &base.behaviour);
        self.only = self.only.take().or_else(|| base.only.clone());
        self.inherit_lists(base);
    }

    /// Fills in how texts list tools and files, and which tools are left out.
    pub(crate) fn inherit_lists(&mut self, base: &Self) {
        let (groups, tools, files) = (&mut self.groups, &mut self.tool_order, &mut self.file_order);
        *groups = groups.take().or_else(|| base.groups.clone());
        *tools = tools.take().or_else(|| base.tool_order.clone());
        *files = files.take().or_else(|| base.file_order.clone());
        self.without = self.without.take().or_else(|| base.without.clone());
    }
}

/// A path as it is written.
#[derive(Clone, Debug)]
pub(crate) struct PathDraft {
    pub(crate) file: Arc<File>,
    pub(crate) at: Range<usize>,
    pub(crate) title: Option<String>,
    pub(crate) about: String,
    pub(crate) tier: Option<Tier>,
    pub(crate) public: bool,
    pub(crate) budget: Option<Limit>,
    pub(crate) local_tools: Option<Vec<String>>,
    pub(crate) steps: Vec<(Range<usize>, StepDraft)>,
}

impl PathDraft {
    /// Whether it has a list of tools of its own.
    pub(crate) fn lists_tools(&self) -> bool {
        self.steps.iter().any(|(_, step)| matches!(step, StepDraft::Tools(_)))
    }
}

/// An entry of a message list as it is written.
#[derive(Clone, Debug)]
pub(crate) enum StepDraft {
    Tools(Vec<String>),
    Message(MessageDraft),
    Splice(SpliceDraft),
}

#[derive(Clone, Debug)]
pub(crate) struct MessageDraft {
    pub(crate) when: Option<Spanned<String>>,
    pub(crate) role: Spanned<String>,
    pub(crate) join: Option<String>,
    pub(crate) end: Option<String>,
    pub(crate) sections: Vec<Spanned<String>>,
    pub(crate) budget: Option<(Limit, Vec<Spanned<String>>)>,
}

#[derive(Clone, Debug)]
pub(crate) struct SpliceDraft {
    pub(crate) when: Option<Spanned<String>>,
    pub(crate) path: Spanned<String>,
    pub(crate) only: Option<Spanned<String>>,
    pub(crate) except: Vec<Spanned<String>>,
}

/// Reads a manifest; everything that is wrong with it is told.
pub(crate) fn read(profile: &str, file: &Arc<File>, problems: &mut Vec<Problem>) -> Option<Manifest> {
    let raw: Raw = match toml::from_str(&file.text) {
        Ok(raw) => raw,
        Err(error) => {
            let at = error.span().unwrap_or(0..0);
            let message = error.message().lines().next().unwrap_or_default().to_owned();
            problems.push(file.error(Fault::new(at, message, "docs/profiles.md shows every key of profile.toml")));
            return None;
        }
    };
    let behaviour = behaviour::read(file, problems);
    let mut reader = Reader { file, problems };
    let groups = raw.groups.map(|groups| reader.groups(groups));
    let mut manifest = Manifest {
        title: raw.title,
        about: raw.about,
        base: raw.base,
        words: raw.words,
        groups,
        tool_order: raw.order.tools,
        file_order: raw.order.files,
        without: raw.tools.without,
        only: raw.tools.only,
        behaviour,
        ..Manifest::default()
    };
    for (name, budget) in raw.budget {
        let paths = budget.get_ref().paths.iter().flatten().cloned();
        manifest.budget_paths.extend(paths.map(|path| (Arc::clone(file), path)));
        if let Some(group) = reader.group(profile, &name, budget) {
            manifest.budgets.insert(name, Arc::new(group));
        }
    }
    for (name, path) in raw.path {
        let path = reader.path(path);
        manifest.paths.insert(name, path);
    }
    Some(manifest)
}

struct Reader<'r> {
    file: &'r Arc<File>,
    problems: &'r mut Vec<Problem>,
}

impl Reader<'_> {
    fn error(&mut self, at: Range<usize>, message: impl Into<String>, fix: impl Into<String>) {
        self.problems.push(self.file.error(Fault::new(at, message, fix)));
    }

    /// The groups in the order of the file, which TOML does not keep by itself.
    fn groups(&self, groups: BTreeMap<String, Spanned<Vec<String>>>) -> Vec<ToolGroup> {
        let mut rows: Vec<_> = groups.into_iter().collect();
        rows.sort_by_key(|(_, names)| names.span().start);
        rows.into_iter().map(|(title, names)| ToolGroup { title, names: names.into_inner() }).collect()
    }

    fn group(&mut self, profile: &str, name: &str, budget: Spanned<RawGroup>) -> Option<GroupBudget> {
        let raw = budget.into_inner();
        let (limit, _) = self.limit(raw.limit, false)?;
        let paths = raw.paths.map(|paths| paths.into_iter().map(Spanned::into_inner).collect());
        let overflow = match raw.overflow {
            RawOverflow::StopAll => Overflow::StopAll,
            RawOverflow::Stop => Overflow::Stop,
            RawOverflow::Skip => Overflow::Skip,
        };
        Some(GroupBudget { profile: profile.to_owned(), name: name.to_owned(), limit, overflow, paths })
    }

    fn limit(&mut self, limit: Spanned<RawLimit>, except: bool) -> Option<(Limit, Vec<Spanned<String>>)> {
        let at = limit.span();
        let raw = limit.into_inner();
        let amounts = [(Unit::Tokens, raw.tokens), (Unit::Chars, raw.chars), (Unit::Bytes, raw.bytes)];
        let mut given = amounts.into_iter().filter_map(|(unit, amount)| Some((unit, amount?)));
        let (Some((unit, amount)), None) = (given.next(), given.next()) else {
            self.error(at, "a limit counts one thing", "write one of `tokens`, `chars` or `bytes`: { tokens = 500 }");
            return None;
        };
        if raw.window_percent.is_some_and(|percent| percent > 100 || unit != Unit::Tokens) {
            self.error(
                at,
                "`window_percent` is a share of tokens, at most 100",
                "write { tokens = 8000, window_percent = 15 }",
            );
            return None;
        }
        if !except && !raw.except.is_empty() {
            self.error(at, "`except` does not stand here", "it belongs to the budget of a message");
            return None;
        }
        Some((Limit { unit, amount: amount.0, window_percent: raw.window_percent }, raw.except))
    }

    fn path(&mut self, path: Spanned<RawPath>) -> PathDraft {
        let at = path.span();
        let raw = path.into_inner();
        let tier = raw.tier.and_then(|tier| {
            let found = Tier::new(*tier.get_ref());
            if found.is_none() {
                self.error(tier.span(), format!("{} is no tier", tier.get_ref()), "write a number from 1 to 5");
            }
            found
        });
        let budget = raw.budget.and_then(|budget| self.limit(budget, false)).map(|(limit, _)| limit);
        if raw.messages.is_empty() {
            self.error(
                at.clone(),
                "the path has no messages",
                "list them: messages = [{ role = \"system\", sections = [\"soul\"] }]",
            );
        }
        let steps: Vec<_> =
            raw.messages.into_iter().filter_map(|message| Some((message.span(), self.step(message)?))).collect();
        let tools = steps.iter().filter(|(_, step)| matches!(step, StepDraft::Tools(_)));
        if let Some((at, _)) = tools.skip(1).last().cloned() {
            self.error(at, "the tools are limited twice", "write one `{ tools = [ … ] }`");
        }
        PathDraft {
            file: Arc::clone(self.file),
            at,
            title: raw.title,
            about: raw.about.unwrap_or_default(),
            tier,
            public: raw.public,
            budget,
            local_tools: raw.local_tools,
            steps,
        }
    }

    fn step(&mut self, message: Spanned<RawMessage>) -> Option<StepDraft> {
        let at = message.span();
        match message.into_inner() {
            RawMessage { tools: Some(tools), role: None, splice: None, sections: None, when: None, .. } => {
                Some(StepDraft::Tools(tools))
            }
            RawMessage {
                splice: Some(path),
                role: None,
                sections: None,
                join: None,
                end: None,
                budget: None,
                tools: None,
                only,
                except,
                when,
            } => Some(StepDraft::Splice(SpliceDraft { when, path, only, except })),
            RawMessage {
                role: Some(role),
                sections: Some(sections),
                tools: None,
                splice: None,
                only: None,
                join,
                end,
                budget,
                when,
                except,
            } if except.is_empty() => {
                let budget = match budget {
                    Some(budget) => Some(self.limit(budget, true)?),
                    None => None,
                };
                Some(StepDraft::Message(MessageDraft { when, role, join, end, sections, budget }))
            }
            _ => {
                let fix = "write { role = …, sections = [ … ] }, { splice = … } or { tools = [ … ] }";
                self.error(at, "this is no message, no splice and no list of tools", fix);
                None
            }
        }
    }
}
