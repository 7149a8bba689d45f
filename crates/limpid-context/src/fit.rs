//! The gate before every request: what does not fit is made smaller, without a model, or refused with its sizes. Nothing
//! is written here: whoever works on the conversation writes what is shown less from then on.

use limpid_core::{Entry, FailureClass, Labelled, Message, MessageId, UsableWindow, WindowView};
use limpid_model::ModelError;
use limpid_prompt::RenderError;
use limpid_prompt::count::WindowEstimate;
use limpid_prompt::inputs::Inputs;
use limpid_services::error::AgentError;
use limpid_turn::window::{Action, Ask, ContextSize, Fill, Fit, FitAction, Note, fit, note_of};

use crate::convert;
use crate::history::{History, running};
use crate::measure::{Measure, Measured};
use crate::new_texts::NewTexts;

/// Messages of the running turn, and the numbers of those that are stored.
#[derive(Clone, Copy, Default)]
pub struct Running<'a> {
    /// The messages, oldest first.
    pub messages: &'a [Message],
    /// The numbers of those that are stored.
    pub ids: &'a [MessageId],
}

/// A request that is to fit.
#[derive(Clone, Copy)]
pub struct Fitting<'a> {
    /// Renders and measures.
    pub measure: &'a Measure,
    /// The running turn.
    pub now: Running<'a>,
    /// Whether the model's window is known; what does not fit a window that is guessed is sent all the same.
    pub is_known: bool,
    /// Whether the owner lets a conversation show less than was said.
    pub may_shrink: bool,
    /// What a model wrote as the note of a rollover; none: one is made without a model.
    pub note: Option<&'a Labelled<String>>,
}

/// A request that fits.
pub struct Fitted {
    /// The request and its size.
    pub measured: Measured,
    /// The view that shows less, where it had to.
    pub smaller: Option<SmallerView>,
    /// What a model may be asked for, so that the view keeps more; then the request is fitted once more.
    pub wants_note: Option<Box<NoteRequest>>,
    /// What the owner should know.
    pub notices: Vec<String>,
}

impl Fitted {
    /// The request as it stands.
    pub(crate) fn whole(measured: Measured) -> Self {
        Self { measured, smaller: None, wants_note: None, notices: Vec::new() }
    }
}

/// A view that shows less than the one before it, and what it took.
pub struct SmallerView {
    /// What the conversation shows from then on.
    pub view: WindowView,
    /// Whether everything before the newest request was taken out.
    pub is_rollover: bool,
    /// Tokens of the conversation before.
    pub before: usize,
    /// Tokens of the conversation after.
    pub after: usize,
    /// What was done, a line each.
    pub steps: Vec<String>,
    /// The newest message that it was made for.
    pub newest: Option<MessageId>,
    /// The view before it, and the newest message that was stored before the running turn.
    pub was: (WindowView, Option<MessageId>),
}

/// A question to a model for the note of a rollover, with what is fitted again once there is one.
pub struct NoteRequest {
    /// What is asked for.
    pub ask: Ask,
    /// Tokens of what the note stands for.
    pub source: usize,
    /// The history and the inputs before anything was taken out.
    pub whole: (History, Inputs),
}

impl NoteRequest {
    /// Fits the request once more with the note that a model wrote; none where that changes nothing or does not fit.
    pub fn answered(self, fitting: Fitting<'_>, note: &Labelled<String>) -> Option<(Fitted, History, Inputs)> {
        let (mut history, mut inputs) = self.whole;
        let fitting = Fitting { note: Some(note), ..fitting };
        let measured = as_it_stands(fitting.measure, fitting.now, &history, &mut inputs).ok()?;
        let fitted = fit_to_window(fitting, &mut history, &mut inputs, measured).ok()?;
        fitted.smaller.is_some().then_some((fitted, history, inputs))
    }
}

/// Renders and measures a request as history and running turn stand.
pub fn as_it_stands(
    measure: &Measure,
    now: Running<'_>,
    history: &History,
    inputs: &mut Inputs,
) -> Result<Measured, RenderError> {
    show(now, history, inputs);
    measure.measured(inputs)
}

/// Makes a request fit, which has this size [as it stands](as_it_stands): changes the view, if it must, and puts what it
/// shows into the inputs. Where that is not enough, the messages that the request answers are shown as head and tail.
///
/// The calibrated estimate comes first, then the one without what was learned: that may shorten a request and refuses none,
/// since only a request that is sent corrects it.
pub fn fit_to_window(
    fitting: Fitting<'_>,
    history: &mut History,
    inputs: &mut Inputs,
    measured: Measured,
) -> Result<Fitted, AgentError> {
    if measured.size.fill(&fitting.measure.settings) < Fill::Emergency {
        return Ok(Fitted::whole(measured));
    }
    let whole = (history.clone(), inputs.clone());
    let mut fitted = with_new_texts(fitting, history, inputs, Some(measured));
    if matches!(fitted, Err(AgentError::Model(_))) && fitting.measure.counter.is_calibrated() {
        (*history, *inputs) = whole.clone();
        let mut measure = fitting.measure.clone();
        measure.counter = WindowEstimate::default();
        fitted = with_new_texts(Fitting { measure: &measure, ..fitting }, history, inputs, None);
    }
    let (mut fitted, question) = fitted?;
    fitted.wants_note = question.map(|(ask, source)| Box::new(NoteRequest { ask, source, whole }));
    Ok(fitted)
}

/// What a model is asked for, and tokens of what its answer stands for.
type Question = Option<(Ask, usize)>;

/// Makes a request fit by changing the view, then by showing the messages that it answers as head and tail, the owner's
/// newest last.
fn with_new_texts(
    fitting: Fitting<'_>,
    history: &mut History,
    inputs: &mut Inputs,
    measured: Option<Measured>,
) -> Result<(Fitted, Question), AgentError> {
    let mut fitted = with_view(fitting, history, inputs, measured);
    let new = NewTexts::of(history, inputs);
    let mut measure = fitting.measure.clone();
    for (which, share) in new.steps() {
        let Err(AgentError::Model(_)) = &fitted else { break };
        if !new.shorten(which, share, &measure, history, inputs)? {
            continue;
        }
        measure.take_new(history, inputs);
        fitted = with_view(Fitting { measure: &measure, ..fitting }, history, inputs, None);
    }
    let (mut fitted, question) = fitted?;
    fitted.notices = new.notices(history, inputs, &measure);
    Ok((fitted, question))
}

/// Changes the view, if it must, so that the request fits. `measured` is the request as it stands, where that is known.
fn with_view(
    fitting: Fitting<'_>,
    history: &mut History,
    inputs: &mut Inputs,
    measured: Option<Measured>,
) -> Result<(Fitted, Question), AgentError> {
    let Fitting { measure, now, is_known, may_shrink, note } = fitting;
    let whole = match measured {
        Some(measured) => measured,
        None => as_it_stands(measure, now, history, inputs)?,
    };
    if whole.size.fill(&measure.settings) < Fill::Emergency {
        return Ok((Fitted::whole(whole), None));
    }
    // Another view begins another stretch. The message that told of a changed goal may be gone, so the beginning is
    // made anew and shows it; it is counted as such.
    let mut measure = measure.clone();
    measure.inputs.changed.stored = None;
    let measure = &measure;
    let added = now.messages.iter().zip(now.ids).map(|(message, id)| Entry { id: *id, message: message.clone() });
    let ahead: Vec<Entry> = history.stored_unanswered().cloned().chain(added).collect();
    let task = measure.task(history, &ahead)?;
    let count = |text: &str| measure.count(text);
    let recount = |view: &_| measure.recount(view, &task.entries, ahead.len());
    let written = note.map_or(Note::Mechanical, Note::Written);
    match fit(&task, ahead.len(), written, &recount, &count) {
        Fit::With(view, actions) if may_shrink => {
            let is_rollover = actions.iter().any(|action| action.what == FitAction::RolledOver);
            let asks = is_rollover && note.is_none();
            let question = if asks { note_of(&task, ahead.len(), &count) } else { None };
            let smaller = SmallerView {
                is_rollover,
                before: recount(&task.view).conversation(),
                after: recount(&view).conversation(),
                steps: actions.iter().map(shown_action).collect(),
                newest: task.entries.last().map(|entry| entry.id),
                was: (history.view.clone(), history.entries.last().map(|entry| entry.id)),
                view: view.clone(),
            };
            history.entries.retain(|entry| view.through.is_none_or(|through| entry.id > through));
            history.view = view;
            inputs.changed.stored = None;
            show(now, history, inputs);
            let measured = measure.measured(inputs)?;
            Ok((Fitted { smaller: Some(smaller), ..Fitted::whole(measured) }, question))
        }
        Fit::AsIs => Ok((Fitted::whole(whole), None)),
        Fit::With(..) | Fit::Refused(_) if whole.size.fits() => Ok((Fitted::whole(whole), None)),
        Fit::With(..) => Err(refused(measure, inputs, &whole.size, "compaction is off").into()),
        Fit::Refused(_) if !is_known => Ok((Fitted::whole(whole), None)),
        Fit::Refused(size) => Err(refused(measure, inputs, &size, "nothing more can be shortened").into()),
    }
}

/// Puts what a view shows of history and running turn into the inputs of a prompt.
fn show(now: Running<'_>, history: &History, inputs: &mut Inputs) {
    history.show(inputs);
    let shown = running(&history.view, now.messages, now.ids);
    inputs.in_flight = shown.iter().map(|entry| convert::in_flight(&entry.message)).collect();
}

fn shown_action(action: &Action) -> String {
    format!("{}: {} tokens freed", action.what.as_str(), action.freed)
}

/// The refusal of a request, with every size.
fn refused(measure: &Measure, inputs: &Inputs, size: &ContextSize, why: &str) -> ModelError {
    let list = |sizes: &[(String, usize)]| {
        sizes.iter().map(|(name, tokens)| format!("{name} {tokens}")).collect::<Vec<_>>().join(", ")
    };
    let parts = size.parts().map(|(name, tokens)| (name.to_owned(), tokens));
    let UsableWindow(usable) = size.usable;
    let message = format!(
        "the request has about {} tokens and an answer needs {}, but the model can use {usable}, and {why}: {}; the \
         largest sections are {}; begin a new conversation, compact this one (`/compact`), shorten one of these, or \
         choose a model with a larger window",
        size.total(),
        size.reserve(),
        list(&parts),
        list(&measure.largest(inputs)),
    );
    ModelError::new(FailureClass::Overflow, message)
}
