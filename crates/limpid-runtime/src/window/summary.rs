//! The calls of a model that a compaction makes: at most three, each within its time (OLLM-095).

use std::sync::Arc;
use std::time::Duration;

use limpid_core::Message;
use limpid_model::Sampling;
use limpid_prompt::inputs::{HistoryMessage, Inputs, SummarizeInput};
use limpid_prompt::{Profile, RenderRequest};
use limpid_turn::Outcome;
use limpid_turn::window::{Ask, Compaction, Made, Next, Task};
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use super::compact::Scene;
use crate::agent::Inner;
use crate::ask::Once;
use crate::convert;
use crate::error::AgentError;
use crate::event::AgentEvent;

/// How long one call for a summary may take (OLLM-095).
const PATIENCE: Duration = Duration::from_secs(30);

/// The profile whose request for a summary stands in where a profile has none.
const FALLBACK_PROFILE: &str = "limpid";

impl Inner {
    /// What a compaction comes to; none when nothing can leave.
    pub(super) async fn make(&self, scene: &Scene, is_forced: bool) -> Result<Option<Made>, AgentError> {
        let sizes = &scene.sizes;
        let task = Task { is_forced, ..sizes.task(&scene.past, &[])? };
        let Some(mut compaction) = Compaction::start(task, &|text| sizes.count(text)) else { return Ok(None) };
        let profile = self.summarising(&sizes.profile)?;
        loop {
            let ask = match compaction.next(&|text| sizes.count(text)) {
                Next::Done(made) => return Ok(Some(*made)),
                Next::Ask(ask) => ask,
            };
            let instruction = self.instruction(&profile, scene, &ask)?;
            let answer = self.summary(&profile, scene, &ask).await;
            let answer = answer.as_deref().map_err(String::as_str);
            compaction.answer(answer, &instruction, &|text| sizes.count(text));
        }
    }

    /// Asks for one summary.
    async fn summary(&self, profile: &Profile, scene: &Scene, ask: &Ask) -> Result<String, String> {
        let inputs = Inputs { summarize: quoted(ask), ..asking(&scene.sizes.inputs) };
        let request =
            RenderRequest { path: path_of(ask), inputs: &inputs, counter: &scene.sizes.counter, count_tokens: true };
        let prompt = profile.render(request).map_err(|error| error.to_string())?;
        let needed = prompt.totals().map_or(0, |totals| totals.total) + ask.cap();
        let usable = scene.sizes.usable.0 as usize;
        if needed > usable {
            return Err(format!("the request for a summary needs {needed} tokens, and the window holds {usable}"));
        }
        let sampling =
            Sampling { temperature: Some(0.3), max_output: u32::try_from(ask.cap()).ok(), ..Sampling::default() };
        let (sender, _events) = unbounded_channel();
        let cancel = CancellationToken::new();
        let _stop = cancel.clone().drop_guard();
        let once = Once {
            model: &*scene.model,
            prompt,
            sampling,
            conversation: Some(scene.conversation.id.clone()),
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
            AgentEvent::Done { outcome: Outcome::Answered { .. }, answer: Some(text) } => Ok(text),
            AgentEvent::Done { outcome: Outcome::Failed { message, .. }, .. } => Err(message),
            _ => Err("the model gave no summary".to_owned()),
        }
    }

    /// The text of a question without what it quotes.
    fn instruction(&self, profile: &Profile, scene: &Scene, ask: &Ask) -> Result<String, AgentError> {
        let inputs = Inputs { summarize: SummarizeInput::default(), ..asking(&scene.sizes.inputs) };
        let request =
            RenderRequest { path: path_of(ask), inputs: &inputs, counter: &scene.sizes.counter, count_tokens: false };
        let prompt = profile.render(request).map_err(|error| AgentError::Prompt(error.to_string()))?;
        Ok(prompt.messages().iter().map(limpid_prompt::PromptMessage::text).collect::<Vec<_>>().join("\n"))
    }

    /// The profile that asks for summaries.
    fn summarising(&self, profile: &Arc<Profile>) -> Result<Arc<Profile>, AgentError> {
        if profile.path("summarize").is_ok() && profile.path("merge-summaries").is_ok() {
            return Ok(Arc::clone(profile));
        }
        self.prompts.load_one(FALLBACK_PROFILE)?.profile(FALLBACK_PROFILE)
    }
}

fn path_of(ask: &Ask) -> &'static str {
    match ask {
        Ask::Summarize { .. } => "summarize",
        Ask::Merge { .. } => "merge-summaries",
    }
}

/// Inputs of a question: what is known of goal and mode, nothing of the conversation.
fn asking(inputs: &Inputs) -> Inputs {
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
    let message =
        |message: &Message| HistoryMessage { calls: Vec::new(), call_id: None, ..convert::in_flight(message) };
    match ask {
        Ask::Summarize { existing, messages, .. } => SummarizeInput {
            existing: existing.clone(),
            messages: messages.iter().map(message).collect(),
            ..SummarizeInput::default()
        },
        Ask::Merge { first, second, .. } => {
            SummarizeInput { first: Some(first.clone()), second: Some(second.clone()), ..SummarizeInput::default() }
        }
    }
}
