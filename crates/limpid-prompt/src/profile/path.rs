//! A path: the list of messages of one way of talking to a model.

use std::sync::Arc;

use limpid_core::{Tier, WindowSize};

use crate::inputs::{Inputs, RoleName};
use crate::section::Section;
use crate::source::SourceRef;
use crate::template::Gate;

use super::budget::{Budget, Limit};

/// One way of talking to a model. Splices of other paths are already carried out.
#[derive(Clone, Debug)]
pub struct Path {
    /// Its name: `chat-remote`, `heartbeat`, …
    pub name: String,
    /// What it is for, in the one to four words of a list: its own, else that of the profile in whose place this one comes, else
    /// its name.
    pub title: String,
    /// What it is for, in one sentence.
    pub about: String,
    /// The profile whose `profile.toml` defines it.
    pub profile: String,
    /// Where it is defined.
    pub source: SourceRef,
    /// Which tools are declared: names and `prefix*` patterns. None: every tool but those of [`Path::without`]. Empty:
    /// none.
    pub tools: Option<Vec<String>>,
    /// Which tools are declared to a model on this machine, in place of [`Path::tools`]; none: the same.
    pub local_tools: Option<Vec<String>>,
    /// Tools that are not declared although no list leaves them out: other names of tools that are.
    pub without: Vec<String>,
    /// The only tools that may be declared, whatever the other lists say; none: no such limit.
    pub only: Option<Vec<String>>,
    /// The tier of this path, whatever the window.
    pub tier: Option<Tier>,
    /// Whether its prompts show nothing of the owner's: a research worker reads the web, and could carry it away.
    pub public: bool,
    /// The messages, in order.
    pub steps: Vec<Step>,
    /// The budget of the whole prompt with its tool schemas.
    pub budget: Option<Limit>,
}

impl Path {
    /// Whether a tool is offered on this path, to a model on this machine or to one of a provider.
    pub fn offers(&self, tool: &str, local: bool) -> bool {
        let fits = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, tool));
        let tools = self.local_tools.as_ref().filter(|_| local).or(self.tools.as_ref());
        match (&self.only, tools) {
            (Some(only), Some(tools)) => fits(only) && fits(tools),
            (Some(only), None) => fits(only),
            (None, Some(tools)) => fits(tools),
            (None, None) => !fits(&self.without),
        }
    }

    /// Whether it says nothing itself: what stands between sections is no words.
    pub fn is_wordless(&self) -> bool {
        let has_words = |text: &str| text.contains(char::is_alphanumeric);
        self.steps.iter().all(|step| match step {
            Step::Message(message) => !has_words(&message.join) && !has_words(&message.end),
            Step::History { .. } => true,
        })
    }

    /// The sections of every message, in order.
    pub fn sections(&self) -> impl Iterator<Item = &Arc<Section>> {
        self.steps.iter().flat_map(|step| match step {
            Step::Message(message) => message.sections.as_slice(),
            Step::History { .. } => &[],
        })
    }
}

/// One entry of a path's message list.
#[derive(Clone, Debug)]
pub enum Step {
    /// A message made of sections.
    Message(MessageSpec),
    /// The earlier messages of the conversation, as they were sent.
    History {
        /// The condition under which they are there; none: always.
        when: Option<Gate>,
    },
}

/// A message made of sections.
#[derive(Clone, Debug)]
pub struct MessageSpec {
    /// The condition under which it is there; none: always.
    pub when: Option<Gate>,
    /// Who speaks.
    pub role: RoleName,
    /// What stands between two sections that have text.
    pub join: String,
    /// What stands after the last one.
    pub end: String,
    /// Its sections, in order.
    pub sections: Vec<Arc<Section>>,
    /// What it may take.
    pub budget: Option<Budget>,
    /// The paths that it was spliced from; budgets of groups that bind there bind here too.
    pub spliced: Vec<String>,
}

/// The tier of a path: the path's own, else the inputs', else that of the model's window, else the third.
pub fn tier(path: &Path, inputs: &Inputs) -> Tier {
    path.tier
        .or_else(|| inputs.tier.and_then(Tier::new))
        .or_else(|| inputs.model.window.map(|window| Tier::of(WindowSize(window))))
        .unwrap_or(Tier::ALL[2])
}

/// Whether a name fits a pattern: the name itself, or `prefix*`.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |prefix| name.starts_with(prefix))
}
