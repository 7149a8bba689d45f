//! The calls of a model that a compaction makes: at most three, each within its time.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use limpid_context::{History, Measure, NoteRequest, convert};
use limpid_core::{ConversationId, FailureClass, Labelled, Message};
use limpid_model::{ModelCall, ModelCard, ModelError, Reasoning, ReplyForm, Sampling, ToolUse};
use limpid_prompt::RenderRequest;
use limpid_prompt::count::Estimate;
use limpid_prompt::inputs::{HistoryMessage, Inputs, Quoted, SummarizeInput};
use limpid_services::error::AgentError;
use limpid_services::models::cache_life::cache_life;
use limpid_services::models::{EffortChoice, Models};
use limpid_store::Lease;
use limpid_turn::Outcome;
use limpid_turn::window::check::check;
use limpid_turn::window::{Ask, Compaction as Rules, Made, Next, Task};
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use crate::compaction::scene::was_tried;
use crate::compaction::work::{Compaction, CompactionDone};
use crate::deps::ConversationDeps;
use crate::event::TurnEvent;
use crate::model_call::most_possible;
use crate::one_off::OneOffRequest;

/// What is said of a summary that was stopped.
const STOPPED: &str = "it was stopped";

/// How long one call for a summary may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Tokens that the reply to a question may have at least: some eight sentences, where the window leaves as much.
const LEAST_OUTPUT: usize = 256;

/// Tokens that a model which reasons may spend on a summary at most.
const MOST_OUTPUT: usize = 32_768;

/// The paths of profiles that ask for summaries; what a profile lacks of them is the default one's.
const SUMMARIZE: &str = "summarize";
const MERGE: &str = "merge-summaries";
const SNAPSHOT: &str = "state-snapshot";

/// Asks models for what is written about one conversation.
pub(crate) struct Summarizer {
    deps: Arc<ConversationDeps>,
    models: Models,
    conversation: ConversationId,
    measure: Measure,
    cancel: CancellationToken,
}

/// A question for the note of a rollover.
pub(crate) struct NoteQuestion {
    models: Models,
    measure: Measure,
    ask: Ask,
    /// Tokens of what the note stands for.
    source: usize,
    /// What the conversation shows before the rollover.
    history: History,
}

impl NoteQuestion {
    /// The question of a request that does not fit.
    pub(crate) fn new(models: &Models, measure: &Measure, request: &NoteRequest) -> Self {
        Self {
            models: models.clone(),
            measure: measure.clone(),
            ask: request.ask.clone(),
            source: request.source,
            history: request.whole.0.clone(),
        }
    }

    /// Asks it; none when a model was asked for a summary since the newest answer: nobody waits longer than for one
    /// compaction.
    pub(crate) async fn ask(
        self,
        deps: &Arc<ConversationDeps>,
        lease: &Lease,
    ) -> Result<Option<Compaction>, AgentError> {
        if was_tried(deps, lease, &self.history).await? {
            return Ok(None);
        }
        let (deps, conversation) = (Arc::clone(deps), lease.conversation.clone());
        Ok(Some(Compaction::new(|cancel| {
            async move {
                let summarizer = Summarizer::new(&deps, &conversation, (&self.models, &self.measure), &cancel);
                CompactionDone::Note(summarizer.note(&self.ask, self.source).await)
            }
            .boxed()
        })))
    }
}

impl Summarizer {
    pub(crate) fn new(
        deps: &Arc<ConversationDeps>,
        conversation: &ConversationId,
        (models, measure): (&Models, &Measure),
        cancel: &CancellationToken,
    ) -> Self {
        Self {
            deps: Arc::clone(deps),
            models: models.clone(),
            conversation: conversation.clone(),
            measure: measure.clone(),
            cancel: cancel.clone(),
        }
    }

    /// What a compaction comes to; none when nothing can leave.
    pub(crate) async fn compact(&self, history: &History, is_forced: bool) -> Result<Option<Made>, AgentError> {
        let measure = &self.measure;
        let task = Task { is_forced, ..measure.task(history, &[])? };
        let Some(mut rules) = Rules::start(task, &|text| measure.count(text)) else { return Ok(None) };
        loop {
            let ask = match rules.next(&|text| measure.count(text)) {
                Next::Done(made) => return Ok(Some(*made)),
                Next::Ask(ask) => ask,
            };
            let instruction = instruction(measure, &ask)?;
            let answer = self.summary(&ask).await;
            let answer = answer.as_ref().map(|answer| answer.as_ref().map(String::as_str)).map_err(String::as_str);
            rules.answer(answer, &instruction, &|text| measure.count(text));
        }
    }

    /// What a model writes as the note of a rollover; none when it writes none.
    async fn note(&self, ask: &Ask, source: usize) -> Option<Labelled<String>> {
        let (answer, trust) = self.summary(ask).await.ok()?.into_parts();
        let instruction = instruction(&self.measure, ask).ok()?;
        let checked = check(&answer, &instruction, source, &|text| self.measure.count(text)).ok()?;
        Some(Labelled::new(checked, trust))
    }

    /// Asks for one summary. It has the label of everything that the model has read for it.
    async fn summary(&self, ask: &Ask) -> Result<Labelled<String>, String> {
        if self.cancel.is_cancelled() {
            return Err(STOPPED.to_owned());
        }
        let request = self.request(ask).await?;
        let (sender, _events) = unbounded_channel();
        let done = tokio::select! {
            done = request.answer(&self.deps, &sender) => done.map_err(|error| error.to_string())?,
            () = self.deps.pause.pause(PATIENCE) => {
                return Err(format!("no summary within {} s", PATIENCE.as_secs()));
            }
            () = self.cancel.cancelled() => return Err(STOPPED.to_owned()),
        };
        let (done, trust) = done.into_parts();
        match done {
            TurnEvent::Done { outcome: Outcome::Answered { .. }, answer: Some(text) } => {
                Ok(Labelled::new(text, trust.of_strangers()))
            }
            TurnEvent::Done { outcome: Outcome::Failed { class, message }, .. } => Err(format!("{class}: {message}")),
            _ => Err("the model gave no summary".to_owned()),
        }
    }

    /// The request for a summary, within the window of whichever model is asked.
    async fn request(&self, ask: &Ask) -> Result<OneOffRequest, String> {
        let measure = &self.measure;
        let inputs = Inputs { summarize: quoted(ask), ..without_conversation(&measure.inputs) };
        let counter = Estimate::default();
        let request = RenderRequest { path: path_of(ask), inputs: &inputs, counter: &counter, count_tokens: false };
        let prompt = measure.profile.render(request).map_err(|error| error.to_string())?.counted_by(&measure.counter);
        let total = prompt.totals().map_or(0, |totals| totals.total);
        let usable = measure.usable.0 as usize;
        let needed = total + ask.cap();
        if needed > usable {
            return Err(too_large(needed, usable).message);
        }
        let prompt = Arc::new(prompt);
        let deps = &self.deps;
        let cache = cache_life(deps.store(), deps.config(), (path_of(ask), None), deps.host().now_ms()).await;
        let cache = cache.map_err(|error| error.to_string())?;
        let (effort, cap) = (EffortChoice::of(self.deps.config(), None, path_of(ask)), ask.cap());
        let asked = Arc::clone(&prompt);
        let call = move |card: &ModelCard| {
            let held = card.usable_window.map_or(usable, |window| usable.min(window.0 as usize));
            if needed > held {
                return Err(too_large(needed, held));
            }
            let effort = effort.of_model(card);
            let left = most_possible(card, total).map_or(held - total, |most| (most as usize).min(held - total));
            let most = output(cap, left, card.reasons(effort));
            Ok(ModelCall {
                prompt: Arc::clone(&asked),
                sampling: Sampling {
                    temperature: temperature(card),
                    max_output: u32::try_from(most).ok(),
                    ..Sampling::default()
                },
                reasoning: Reasoning { effort, shown: false },
                reply: ReplyForm::Text,
                tools: ToolUse::Auto,
                conversation: None,
                cache,
            })
        };
        Ok(OneOffRequest {
            models: self.models.clone(),
            prompt,
            call: Arc::new(call),
            conversation: Some(self.conversation.clone()),
            cancel: self.cancel.child_token(),
        })
    }
}

fn too_large(needed: usize, held: usize) -> ModelError {
    let message = format!("the request for a summary needs {needed} tokens, and the window holds {held}");
    ModelError::new(FailureClass::Overflow, message)
}

/// Tokens that the reply to a question may have: models do not keep to a number of tokens, so a summary has room to end
/// its sentence and is shortened afterwards. A model that reasons spends most of a reply before its first word and gets
/// what the window leaves.
fn output(cap: usize, left: usize, reasons: bool) -> usize {
    if reasons { left.min(MOST_OUTPUT) } else { cap.max(LEAST_OUTPUT).min(left) }
}

/// How a summary is drawn. Many remote models refuse any temperature, so none is set for them.
fn temperature(card: &ModelCard) -> Option<f32> {
    card.local.then_some(0.3)
}

fn path_of(ask: &Ask) -> &'static str {
    match ask {
        Ask::Summarize { .. } => SUMMARIZE,
        Ask::Merge { .. } => MERGE,
        Ask::Snapshot { .. } => SNAPSHOT,
    }
}

/// The text of a question without what it quotes.
fn instruction(sizes: &Measure, ask: &Ask) -> Result<String, AgentError> {
    let inputs = Inputs { summarize: SummarizeInput::default(), ..without_conversation(&sizes.inputs) };
    let counter = Estimate::default();
    let request = RenderRequest { path: path_of(ask), inputs: &inputs, counter: &counter, count_tokens: false };
    let prompt = sizes.profile.render(request).map_err(|error| AgentError::Prompt(error.to_string()))?;
    Ok(prompt.messages().iter().map(limpid_prompt::PromptMessage::text).collect::<Vec<_>>().join("\n"))
}

/// Inputs of a question: what is known of goal and mode, nothing of the conversation.
fn without_conversation(inputs: &Inputs) -> Inputs {
    Inputs {
        history: Vec::new(),
        in_flight: Vec::new(),
        digests: Vec::new(),
        pin: None,
        summary: None,
        user: None,
        tools: Vec::new(),
        ..inputs.clone()
    }
}

fn quoted(ask: &Ask) -> SummarizeInput {
    let message = |message: &Message| HistoryMessage {
        calls: Vec::new(),
        state: Vec::new(),
        call_id: None,
        ..convert::in_flight(message)
    };
    let summary = |text: &Labelled<String>| Quoted::new(text.value().as_str(), text.trust().into());
    match ask {
        Ask::Summarize { existing, messages, .. } | Ask::Snapshot { existing, messages, .. } => SummarizeInput {
            existing: existing.as_ref().map(summary),
            messages: messages.iter().map(message).collect(),
            ..SummarizeInput::default()
        },
        Ask::Merge { first, second, .. } => {
            SummarizeInput { first: Some(summary(first)), second: Some(summary(second)), ..SummarizeInput::default() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // MOD-024
    #[test]
    fn a_summary_has_room_to_end_and_a_model_that_reasons_has_what_the_window_leaves() {
        assert_eq!([30, 500].map(|cap| output(cap, 9000, false)), [256, 500]);
        assert_eq!(output(100, 180, false), 180, "never more than the window leaves");
        assert_eq!([9000, 90_000].map(|left| output(100, left, true)), [9000, 32_768]);
    }

    // MOD-070 PICO-051
    #[test]
    fn only_local_models_summarize_at_a_temperature_of_limpids() {
        let card = |local| ModelCard { local, ..ModelCard::default() };
        assert_eq!([true, false].map(|local| temperature(&card(local))), [Some(0.3), None]);
    }
}
