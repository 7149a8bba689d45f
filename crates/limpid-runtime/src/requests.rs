//! Sending a logged request again, asking a model outside of any turn, and what the request log keeps.

pub(crate) mod missed;

use std::sync::Arc;

use limpid_context::{ContextDeps, tokens};
use limpid_conversation::Conversations;
use limpid_conversation::OneOffRequest;
use limpid_conversation::TurnEvent;
use limpid_conversation::VisibleEvents;
use limpid_conversation::{reply_limit, sampling};
use limpid_core::{CacheLife, RequestId, ToolProtocol};
use limpid_model::{Model, ModelCall, ModelCard, Reasoning, ReplyForm, Sampling, ToolUse};
use limpid_prompt::Prompt;
use limpid_prompt::count::Estimate;
use limpid_services::directory::ConversationChoice;
use limpid_services::error::AgentError;
use limpid_services::models::EffortChoice;
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::preview::{PreviewRequest, Previewer};
use crate::recorded::recorded;

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
                Ok(last) => last.into_parts().0,
                Err(error) => TurnEvent::Interrupted(error.to_string()),
            };
            let _ = sender.send(last);
        });
        Answering { events: VisibleEvents::new(events), _stop: stop }
    }
}
