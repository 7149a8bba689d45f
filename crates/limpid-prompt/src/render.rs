//! Rendering: from a profile, a path and inputs to the messages of a request, and the report of every section.
//!
//! The steps, each in a file of its own: a [`goal`] is made to fit, every section becomes a [`draft`], the [`limits`] cut what is too much, what is
//! left is [`lay`](laid) out with the origin of every byte, [`history`] is spliced in, and [`rows`] says what became of
//! each section. Rendering reads its arguments and nothing else.

mod body;
mod budget_use;
mod draft;
mod error;
mod goal;
mod history;
mod laid;
mod limits;
mod loading;
mod marks;
mod origin;
mod planned;
mod prefix;
mod rows;
mod tag;
mod tools;

use limpid_core::{Tier, UsableWindow, WindowSize};
use sha2::{Digest, Sha256};

pub use crate::profile::tier;
pub use error::{Overfull, RenderError};
pub(crate) use history::{IN_FLIGHT, PAST};
pub(crate) use loading::Tools;
pub use prefix::prefix;
pub use tools::callable_tools;

use crate::count::FixedCounter;
use crate::inputs::{Inputs, ModelInfo, ToolProtocolName};
use crate::profile::{Path, Profile, Step};
use crate::prompt::{Prompt, PromptMessage, WindowUse};
use crate::scope::{Frame, Scope};
use crate::section::Stability;
use draft::Draft;
use laid::Layer;
use planned::Planned;

/// What to render.
#[derive(Clone, Copy)]
pub struct RenderRequest<'a> {
    /// The path's name: `chat-remote`, `heartbeat`, …
    pub path: &'a str,
    /// The data.
    pub inputs: &'a Inputs,
    /// Counts tokens for budgets and for the report. What a calibrated estimate makes of the prompt is asked of the
    /// finished prompt ([`Prompt::counted_by`]).
    pub counter: &'a dyn FixedCounter,
    /// Whether parts, sections and the whole are counted; budgets count what they need either way.
    pub count_tokens: bool,
}

impl Profile {
    /// Renders a path. The same request gives the same bytes, whenever and wherever it is made.
    ///
    /// # Errors
    /// An unknown path or mode, or parts that may not be cut and are over a budget by themselves.
    pub fn render(&self, request: RenderRequest<'_>) -> Result<Prompt, RenderError> {
        let path = self.path(request.path).map_err(RenderError::UnknownPath)?;
        Renderer { request, path, tier: tier(path, request.inputs) }.render(self)
    }
}

/// The window that is really used, when one is known.
fn usable_window(model: &ModelInfo) -> Option<UsableWindow> {
    let default = || model.window.map(|window| UsableWindow::default_for(WindowSize(window)));
    model.usable_window.map(UsableWindow).or_else(default)
}

/// The window as people know it, when one is known.
fn window(model: &ModelInfo) -> Option<WindowUse> {
    let usable = usable_window(model)?.0;
    Some(WindowUse { tokens: model.window.unwrap_or(usable), usable })
}

/// One rendering under way.
struct Renderer<'a> {
    request: RenderRequest<'a>,
    path: &'a Path,
    tier: Tier,
}

impl Renderer<'_> {
    fn render(&self, profile: &Profile) -> Result<Prompt, RenderError> {
        let inputs = self.request.inputs;
        let tag = tag::of_run(inputs);
        let goals = goal::Fitted::new(inputs, self.tier);
        let scope = Scope::new(inputs, profile, self.path, self.tier, &tag).with_goals(goals.goal(), goals.stored());
        let mut planned = self.plan(&scope)?;
        let mut past = self.past(&scope);
        let mut ahead = history::in_flight(inputs);
        let Tools { offered, waiting } = Tools::of(&scope, [&mut past, &mut ahead]);
        let declared = if inputs.model.tool_protocol == ToolProtocolName::Native { offered.as_slice() } else { &[] };
        let limits = limits::Limits {
            path: self.path,
            tier: self.tier,
            window: usable_window(&inputs.model),
            counter: self.request.counter,
            around: [&past, &ahead],
            tools: declared,
        };
        limits.apply(&mut planned)?;
        let budgets = if self.request.count_tokens { limits.uses(&planned) } else { Vec::new() };

        let laid: Vec<Layer<'_>> = planned.iter().map(Planned::lay).collect();
        let mut report = rows::of_sections(&planned, &laid);
        report.extend(rows::of_unused_files(&planned, &scope));
        report.extend(rows::of_tools(&scope));
        report.extend(rows::of_unused_skills(&planned, inputs));
        let mut messages = Vec::with_capacity(planned.len() + past.len() + ahead.len());
        let mut past = Some(past);
        let mut history = None;
        let mut listed = planned.iter().zip(laid);
        for step in &self.path.steps {
            match step {
                Step::Message(_) => messages.extend(listed.next().and_then(|(message, laid)| message.finish(laid))),
                Step::History { .. } => {
                    let start = messages.len();
                    messages.extend(past.take().into_iter().flatten());
                    history = Some(start..messages.len());
                }
            }
        }
        messages.extend(ahead);
        let in_flight = inputs.in_flight.len();
        let layout = marks::Layout { history, in_flight, kept_as_sent: profile.behaviour().stable_prefix };
        marks::set(&mut messages, &layout);
        let mut prompt = Prompt {
            profile: profile.name().to_owned(),
            path: self.request.path.to_owned(),
            revision: revision(&messages),
            messages: Vec::new(),
            report,
            budgets,
            declared: inputs.model.tool_protocol == ToolProtocolName::Native,
            offered,
            waiting,
            counter: self.request.counter.name().to_owned(),
            totals: None,
            template: Vec::new(),
            window: window(&inputs.model),
            system_target: profile.behaviour().system_target,
        };
        prefix::leave_out_state(&mut messages, &prompt, inputs.model.state.bound);
        prompt.messages = messages;
        Ok(if self.request.count_tokens { prompt.counted_by(self.request.counter) } else { prompt })
    }

    /// Every message of the list with a draft of each of its sections.
    fn plan<'s>(&'s self, scope: &'s Scope<'s>) -> Result<Vec<Planned<'s>>, RenderError> {
        let messages = self.path.steps.iter().filter_map(|step| match step {
            Step::Message(spec) => Some(spec),
            Step::History { .. } => None,
        });
        messages
            .map(|spec| {
                let closed = spec.when.as_ref().filter(|gate| !gate.is_true(&Frame::new(scope)));
                // Drafts are large, and collecting results does not know how many come.
                let mut drafts = Vec::with_capacity(spec.sections.len());
                for section in &spec.sections {
                    drafts.push(Draft::new(section, scope, closed)?);
                }
                Ok(Planned { spec, drafts, closed: closed.is_some() })
            })
            .collect()
    }

    fn past(&self, scope: &Scope<'_>) -> Vec<PromptMessage> {
        let open = self.path.steps.iter().any(|step| match step {
            Step::History { when } => when.as_ref().is_none_or(|gate| gate.is_true(&Frame::new(scope))),
            Step::Message(_) => false,
        });
        if open { history::past(self.request.inputs) } else { Vec::new() }
    }
}

/// The hash of everything that only a changed file can change.
fn revision(messages: &[PromptMessage]) -> String {
    let mut hash = Sha256::new();
    for part in messages.iter().flat_map(|message| &message.parts) {
        if part.stability == Stability::Fixed {
            for text in [&part.section, &part.text] {
                hash.update((text.len() as u64).to_le_bytes());
                hash.update(text);
            }
        }
    }
    tag::hex(&hash.finalize()[..8])
}
