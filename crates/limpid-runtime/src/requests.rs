//! Sending a logged request again, asking a model outside of any turn, and what the request log keeps.

pub(crate) mod missed;

use std::sync::Arc;

use limpid_context::{ContextDeps, tokens};
use limpid_conversation::Conversations;
use limpid_conversation::OneOffRequest;
use limpid_conversation::TurnEvent;
use limpid_conversation::VisibleEvents;
use limpid_conversation::{reply_limit, sampling};
use limpid_core::{CacheLife, RequestId, ToolProtocol, ToolSpec};
use limpid_model::{Model, ModelCall, ModelCard, Reasoning, ReplyForm, Sampling, ToolUse};
use limpid_prompt::count::Estimate;
use limpid_prompt::recorded::{MessageRecord, PartRecord, PromptRecord};
use limpid_prompt::{Loading, Prompt, Stability};
use limpid_services::directory::ConversationChoice;
use limpid_services::error::AgentError;
use limpid_services::models::EffortChoice;
use limpid_store::{Request, RequestMessage, RequestPart};
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::preview::{PreviewRequest, Previewer};

/// What is said to a model that is tested: the least that asks for an answer.
const TEST_MESSAGE: &str = "hi";

/// The events of an answer outside of any turn; dropping it stops the answer.
#[derive(Debug)]
pub struct Answering {
    events: VisibleEvents,
    _stop: DropGuard,
}

impl Answering {
    /// The next event; none after the last one.
    pub async fn next(&mut self) -> Option<TurnEvent> {
        self.events.next().await
    }
}

/// Requests that were sent, and answers outside of any turn.
pub struct Requests {
    conversations: Conversations,
    previewer: Arc<Previewer>,
}

impl Requests {
    /// Those of an agent.
    pub(crate) fn new(conversations: Conversations, previewer: Arc<Previewer>) -> Self {
        Self { conversations, previewer }
    }

    /// Sends a logged request again, to the same model or another. Nothing is stored but the new request, and
    /// no tool is run.
    ///
    /// # Errors
    /// When there is no such request or model.
    pub async fn replay(&self, id: &RequestId, model: Option<&str>) -> Result<Answering, AgentError> {
        let context = self.context();
        let missing = || AgentError::NotFound {
            what: "request",
            name: id.to_string(),
            advice: "`limpid prompt log` lists them".to_owned(),
        };
        let mut request = context.store.request(id).await?.ok_or_else(missing)?;
        let same = format!("{}/{}", request.summary.provider, request.summary.model);
        let model = context.models.open(model.unwrap_or(&same))?;
        for message in &mut request.messages {
            message.state.retain(|state| model.info().reads(&state.protocol, &state.model));
        }
        let prompt = recorded(&request, model.info().tools == ToolProtocol::Native);
        Ok(self.answer(model, prompt, sampling(&context.config)))
    }

    /// Asks a model for a short answer, as a new conversation would.
    ///
    /// # Errors
    /// When there is no such model, or its prompt cannot be rendered.
    pub async fn test_model(&self, model: Option<&str>) -> Result<Answering, AgentError> {
        let context = self.context();
        let model = context.models.choose(model).await?;
        let request = PreviewRequest {
            conversation: ConversationChoice::New,
            text: TEST_MESSAGE.to_owned(),
            model: Some(model.info().name()),
            ..PreviewRequest::default()
        };
        let prompt = self.previewer.preview(request).await?.prompt;
        Ok(self.answer(model, prompt, sampling(&context.config)))
    }

    fn context(&self) -> &ContextDeps {
        &self.conversations.deps().context
    }

    fn answer(&self, model: Arc<dyn Model>, prompt: Prompt, sampling: Sampling) -> Answering {
        let (sender, events) = unbounded_channel();
        let cancel = CancellationToken::new();
        let (conversations, stop) = (self.conversations.clone(), cancel.clone().drop_guard());
        tokio::spawn(async move {
            let (card, deps) = (model.info(), conversations.deps());
            let effort = EffortChoice::of(&deps.context.config, None, prompt.path()).of_model(card);
            let max_output = match sampling.max_output {
                Some(own) => reply_limit(card, effort, tokens(&prompt, &Estimate::default()), Some(own)),
                None => None,
            };
            let prompt = Arc::new(prompt);
            let call = ModelCall {
                prompt: Arc::clone(&prompt),
                sampling: Sampling { max_output, ..sampling },
                reasoning: Reasoning { effort, shown: false },
                reply: ReplyForm::Text,
                tools: ToolUse::Auto,
                conversation: None,
                cache: CacheLife::default(),
            };
            let call = Arc::new(move |_: &ModelCard| Ok(call.clone()));
            let request = OneOffRequest { models: vec![model], prompt, call, conversation: None, cancel };
            let last = match request.answer(deps, &sender).await {
                Ok(last) => last,
                Err(error) => TurnEvent::Interrupted(error.to_string()),
            };
            let _ = sender.send(last);
        });
        Answering { events: VisibleEvents::new(events), _stop: stop }
    }
}

/// A logged request as a prompt.
pub(crate) fn recorded(request: &Request, declared: bool) -> Prompt {
    Prompt::from_record(PromptRecord {
        profile: request.summary.profile.clone(),
        path: request.summary.path.clone(),
        revision: request.summary.revision.clone(),
        messages: request.messages.iter().map(message_record).collect(),
        tools: tools(&request.tools),
        declared,
    })
}

fn message_record(message: &RequestMessage) -> MessageRecord {
    MessageRecord {
        role: message.role,
        text: message.text.clone(),
        parts: message.parts.iter().map(part_record).collect(),
        calls: message.calls.clone(),
        state: message.state.clone(),
        call_id: message.call_id.clone(),
    }
}

fn part_record(part: &RequestPart) -> PartRecord {
    let stability = match part.stability.as_str() {
        "fixed" => Stability::Fixed,
        "session" => Stability::Session,
        _ => Stability::Turn,
    };
    PartRecord {
        section: part.section.clone(),
        origin: part.origin.clone(),
        text: part.text.clone(),
        stability,
        trust: part.trust,
    }
}

/// The tools of a request, as [`limpid_context::convert::offered_tools`] wrote them.
fn tools(text: &str) -> Vec<(ToolSpec, Loading)> {
    let rows: Vec<serde_json::Value> = serde_json::from_str(text).unwrap_or_default();
    let field = |row: &serde_json::Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let loading = |row: &serde_json::Value| row["loading"].as_str().and_then(Loading::parse).unwrap_or_default();
    let spec = |row: &serde_json::Value| ToolSpec {
        name: field(row, "name"),
        group: String::new(),
        description: field(row, "description"),
        schema: row["schema"].to_string(),
    };
    rows.iter().map(|row| (spec(row), loading(row))).collect()
}
