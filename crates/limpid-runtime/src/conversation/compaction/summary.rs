//! The calls of a model that a compaction makes: at most three, each within its time.

use std::sync::Arc;
use std::time::Duration;

use limpid_core::{ConversationId, FailureClass, Message};
use limpid_model::{ModelCall, ModelCard, ModelError, Reasoning, ReplyForm, Sampling, ToolUse};
use limpid_prompt::RenderRequest;
use limpid_prompt::count::Estimate;
use limpid_prompt::inputs::{HistoryMessage, Inputs, SummarizeInput};
use limpid_turn::Outcome;
use limpid_turn::window::check::check;
use limpid_turn::window::{Ask, Compaction, Made, Next, Task};
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use crate::agent::Inner;
use crate::context::Measure;
use crate::context::convert;
use crate::conversation::compaction::run::Scene;
use crate::conversation::event::TurnEvent;
use crate::conversation::model_call::{Once, most_possible};
use crate::services::error::AgentError;
use crate::services::models::EffortChoice;
use crate::services::models::Models;
use crate::services::models::cache_life::cache_life;

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

/// Who is asked for a summary, and for which conversation.
#[derive(Clone, Copy)]
pub(crate) struct Asking<'a> {
    pub(crate) models: &'a Models,
    pub(crate) conversation: &'a ConversationId,
    pub(crate) sizes: &'a Measure,
}

impl Inner {
    /// What a compaction comes to; none when nothing can leave.
    pub(crate) async fn make(&self, scene: &Scene, is_forced: bool) -> Result<Option<Made>, AgentError> {
        let sizes = &scene.sizes;
        let task = Task { is_forced, ..sizes.task(&scene.past, &[])? };
        let Some(mut compaction) = Compaction::start(task, &|text| sizes.count(text)) else { return Ok(None) };
        let asking = Asking { models: &scene.models, conversation: &scene.conversation.id, sizes };
        loop {
            let ask = match compaction.next(&|text| sizes.count(text)) {
                Next::Done(made) => return Ok(Some(*made)),
                Next::Ask(ask) => ask,
            };
            let instruction = instruction(sizes, &ask)?;
            let answer = self.summary(&asking, &ask).await;
            let answer = answer.as_deref().map_err(String::as_str);
            compaction.answer(answer, &instruction, &|text| sizes.count(text));
        }
    }

    /// What a model writes as the note of a rollover; none when it writes none.
    pub(crate) async fn note(&self, asking: &Asking<'_>, ask: &Ask, source: usize) -> Option<String> {
        let answer = self.summary(asking, ask).await.ok()?;
        let instruction = instruction(asking.sizes, ask).ok()?;
        check(&answer, &instruction, source, &|text| asking.sizes.count(text)).ok()
    }

    /// Asks for one summary.
    async fn summary(&self, asking: &Asking<'_>, ask: &Ask) -> Result<String, String> {
        let sizes = asking.sizes;
        let inputs = Inputs { summarize: quoted(ask), ..without_conversation(&sizes.inputs) };
        let counter = Estimate::default();
        let request = RenderRequest { path: path_of(ask), inputs: &inputs, counter: &counter, count_tokens: false };
        let prompt = sizes.profile.render(request).map_err(|error| error.to_string())?.counted_by(&sizes.counter);
        let total = prompt.totals().map_or(0, |totals| totals.total);
        let usable = sizes.usable.0 as usize;
        let needed = total + ask.cap();
        if needed > usable {
            return Err(too_large(needed, usable).message);
        }
        let prompt = Arc::new(prompt);
        let cache = cache_life(&*self.store, &self.config, (path_of(ask), None), self.host.now_ms()).await;
        let cache = cache.map_err(|error| error.to_string())?;
        let (effort, cap) = (EffortChoice::of(&self.config, None, path_of(ask)), ask.cap());
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
        let (sender, _events) = unbounded_channel();
        let cancel = CancellationToken::new();
        let _stop = cancel.clone().drop_guard();
        let once = Once {
            models: asking.models.clone(),
            prompt,
            call: Arc::new(call),
            conversation: Some(asking.conversation.clone()),
            cancel: cancel.clone(),
        };
        let asked = self.answer_once(once, &sender);
        let done = tokio::select! {
            done = asked => done.map_err(|error| error.to_string())?,
            () = self.pause.pause(PATIENCE) => {
                return Err(format!("no summary within {} s", PATIENCE.as_secs()));
            }
        };
        match done {
            TurnEvent::Done { outcome: Outcome::Answered { .. }, answer: Some(text) } => Ok(text),
            TurnEvent::Done { outcome: Outcome::Failed { class, message }, .. } => Err(format!("{class}: {message}")),
            _ => Err("the model gave no summary".to_owned()),
        }
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
        user_message: String::new(),
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
    match ask {
        Ask::Summarize { existing, messages, .. } | Ask::Snapshot { existing, messages, .. } => SummarizeInput {
            existing: existing.clone(),
            messages: messages.iter().map(message).collect(),
            ..SummarizeInput::default()
        },
        Ask::Merge { first, second, .. } => {
            SummarizeInput { first: Some(first.clone()), second: Some(second.clone()), ..SummarizeInput::default() }
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
