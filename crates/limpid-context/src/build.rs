//! How a prompt is made: what it shows is read, then it is rendered once and measured. The first request of a turn is made
//! here; later ones by [`fit_to_window`] with what the turn has read. For a fallback model the same inputs are rendered once
//! more.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use limpid_core::{Labelled, Tier};
use limpid_model::ModelCard;
use limpid_prompt::count::WindowEstimate;
use limpid_prompt::{Prompt, RenderError};
use limpid_services::error::AgentError;
use limpid_services::events::EventKind;
use limpid_services::tools::window_trust;
use limpid_turn::window::ContextSize;

use crate::deps::ContextDeps;
use crate::fit::{Fitted, Fitting, NoteRequest, Running, SmallerView, as_it_stands, fit_to_window};
use crate::gather::{Gathered, gather};
use crate::measure::Measure;
use crate::notices::cut_notice;
use crate::occasion::{Fit, Occasion};
use crate::render::render_with_budgets;
use crate::window_state::{NewPrompt, Offered, tier_of};

/// A prompt, rendered once, with everything that it was made from.
pub struct BuiltContext {
    /// What the prompt was made from.
    pub gathered: Gathered,
    /// The model with the window of the conversation.
    pub card: ModelCard,
    /// Its parts are counted by `estimate`.
    pub prompt: Arc<Prompt>,
    /// Its size in tokens.
    pub size: ContextSize,
    /// Measures further requests of the conversation.
    pub measure: Measure,
    /// Counts tokens as the model does.
    pub estimate: WindowEstimate,
    /// The tier that it was made in: the path's own or the conversation's.
    pub tier: Tier,
    /// The view that shows less, where the window demands it; it holds once it is written.
    pub smaller: Option<SmallerView>,
    /// What a model may be asked for first.
    pub wants_note: Option<Box<NoteRequest>>,
    /// What the person should know of the model's window.
    pub notice: Option<String>,
    /// What another model or window has changed.
    changes: Vec<EventKind>,
    may_shrink: bool,
}

/// Reads everything anew and makes the prompt of the next request. Nothing is written and no model is asked.
pub fn build<'a>(deps: &'a ContextDeps, occasion: Occasion<'a>) -> BoxFuture<'a, Result<BuiltContext, AgentError>> {
    async move {
        let mut window = occasion.window.clone();
        let Offered { card, changes, notice } = window.fit(occasion.card, occasion.now.as_millisecond());
        let mut gathered = gather(deps, &occasion, &card, &window).await?;
        let Gathered { inputs, history, profile, path, notices, loaded, .. } = &mut gathered;
        history.unanswered = occasion.unanswered.to_vec();
        if let Some(tag) = occasion.boundary {
            // The message is stored with the tag that it is sent with, so that it is shown the same from then on.
            tag.clone_into(&mut inputs.boundary);
        }
        let mut measure = Measure::new(profile, path, inputs, history, WindowEstimate::default(), &card);
        // What was learned of a model's tokens depends on who wrote what the prompt shows.
        history.show(inputs);
        let estimate = deps.counts.estimate(&card, window_trust(inputs, &[])).await?;
        measure.counter = estimate.clone();
        let may_shrink = deps.config.window.is_on();
        let mut measured = as_it_stands(&measure, Running::default(), history, inputs);
        if let Err(RenderError::Overfull(_)) = &measured {
            // A text of the owner's may be too large; then another stands in for it.
            *profile = deps.profiles.fitting(loaded, Arc::clone(profile), (path, &measure.inputs), notices)?;
            measure.profile = Arc::clone(profile);
            measured = as_it_stands(&measure, Running::default(), history, inputs);
        }
        let measured = measured?;
        let fitted = match occasion.fit {
            Fit::AsIs => Fitted::whole(measured),
            Fit::ToWindow => {
                let fitting = first_fitting(&measure, &card, may_shrink);
                fit_to_window(fitting, history, inputs, measured)?
            }
        };
        let tier = tier_of(&gathered.profile, &gathered.path, &gathered.inputs);
        let mut built = BuiltContext {
            gathered,
            prompt: Arc::new(fitted.measured.prompt.counted_by(&estimate)),
            size: fitted.measured.size,
            smaller: fitted.smaller,
            wants_note: fitted.wants_note,
            measure,
            estimate,
            tier,
            card,
            changes,
            notice,
            may_shrink,
        };
        built.gathered.notices.extend(fitted.notices);
        Ok(built)
    }
    .boxed()
}

impl BuiltContext {
    /// Makes the prompt once more with what a model wrote as the note of a rollover. Where that does not fit, the prompt
    /// stays as it is.
    pub fn with_note(&mut self, note: &Labelled<String>) {
        let Some(request) = self.wants_note.take() else { return };
        let fitting = first_fitting(&self.measure, &self.card, self.may_shrink);
        let Some((fitted, history, inputs)) = request.answered(fitting, note) else { return };
        (self.gathered.history, self.gathered.inputs) = (history, inputs);
        self.prompt = Arc::new(fitted.measured.prompt.counted_by(&self.estimate));
        (self.size, self.smaller) = (fitted.measured.size, fitted.smaller);
    }

    /// The prompt with the use of each budget, for somebody who looks at it.
    pub fn with_budgets(&self) -> Result<Prompt, AgentError> {
        let Gathered { profile, path, inputs, .. } = &self.gathered;
        Ok(render_with_budgets(profile, path, inputs)?.counted_by(&self.estimate))
    }

    /// What budgets cut of the prompt, a line each.
    pub fn trims(&self) -> Vec<String> {
        self.prompt.cuts().map(cut_notice).collect()
    }

    /// Takes note of the prompt as the newest of its conversation, and says what is different from the one before.
    pub fn take_note(&mut self) -> Vec<EventKind> {
        let trims = self.trims();
        let Self { gathered, prompt, estimate, tier, .. } = self;
        let made = NewPrompt { prompt, mode: &gathered.inputs.mode, tier: *tier, trims, counter: estimate };
        let mut changes = std::mem::take(&mut self.changes);
        changes.extend(gathered.session.window_state.made(&made));
        changes
    }
}

/// How the first request of a turn is fitted.
fn first_fitting<'a>(measure: &'a Measure, card: &ModelCard, may_shrink: bool) -> Fitting<'a> {
    Fitting { measure, now: Running::default(), is_known: card.usable_window.is_some(), may_shrink, note: None }
}
