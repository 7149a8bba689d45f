//! One answer outside of any turn: a request sent again, a model that is tested.

use std::sync::Arc;

use futures_util::StreamExt;
use limpid_core::{ConversationId, FailureClass, RequestId};
use limpid_model::{Model, ModelCall, ModelError, ModelEvent, ReplyForm, Sampling, ToolUse};
use limpid_prompt::Prompt;
use limpid_store::NewRequest;
use limpid_turn::Outcome;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use super::{Answer, new_request, trust_of};
use crate::agent::Inner;
use crate::error::AgentError;
use crate::event::AgentEvent;
use crate::spending::refusal;
use crate::world::hex;

/// A question outside of any turn.
pub(crate) struct Once<'a> {
    pub(crate) model: &'a dyn Model,
    pub(crate) prompt: Prompt,
    pub(crate) sampling: Sampling,
    /// The conversation that it is asked for, if any.
    pub(crate) conversation: Option<ConversationId>,
    pub(crate) cancel: CancellationToken,
}

impl Inner {
    /// Asks a model once, with the ledger before and after, and streams what it says.
    pub(crate) async fn answer_once(
        &self,
        once: Once<'_>,
        events: &UnboundedSender<AgentEvent>,
    ) -> Result<AgentEvent, AgentError> {
        let Once { model, prompt, sampling, conversation, cancel } = once;
        let spender = self.spender_in(conversation.as_ref(), prompt.path()).await?;
        if let Some(reached) = self.limit_reached(spender, Some(prompt.path()), None).await? {
            return Err(refusal(&reached).into());
        }
        let card = model.info();
        let (trust, tally) = (trust_of(&prompt), prompt.tally());
        let call = ModelCall {
            prompt: Arc::new(prompt),
            sampling,
            reply: ReplyForm::Text,
            tools: ToolUse::Auto,
            conversation: None,
        };
        let prepared = model.prepare(&call)?;
        let id = RequestId::new(format!("r{}", hex(&*self.ids)));
        let request = NewRequest { conversation, ..new_request(self, &id, card, prepared.clone(), 1) };
        self.store.record_request(request).await?;
        let started = AgentEvent::Started {
            turn: None,
            model: card.name(),
            profile: call.prompt.profile().to_owned(),
            path: call.prompt.path().to_owned(),
        };
        let _ = events.send(started);

        let mut answer = Answer::new(&self.redactor);
        let mut failure = None;
        let mut stream = model.send(prepared, cancel);
        while let Some(event) = stream.next().await {
            match event {
                Ok(event) => {
                    let is_over = matches!(event, ModelEvent::End(_));
                    for seen in answer.hear(event, self.now_ms()) {
                        let _ = events.send(seen);
                    }
                    if is_over {
                        break;
                    }
                }
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
        }
        for seen in answer.hear_rest(self.now_ms()) {
            let _ = events.send(seen);
        }
        if failure.is_none() && !answer.is_over() {
            failure = Some(ModelError::new(FailureClass::Garbage, "the answer broke off; ask again"));
        }
        let (finish, text) = (answer.reply.finish, answer.reply.text.clone());
        let end = answer.into_end(card, trust, failure.as_ref(), self.now_ms());
        self.observed.add(&card.id, tally, end.usage);
        if let Some(usage) = end.usage {
            let _ = events.send(AgentEvent::Usage { usage, cost: end.cost });
        }
        self.store.end_request(&id, end).await?;
        Ok(match failure {
            Some(error) => {
                let outcome = Outcome::Failed { class: error.class, message: error.message };
                AgentEvent::Done { outcome, answer: None }
            }
            None => AgentEvent::Done { outcome: Outcome::Answered { finish }, answer: Some(text) },
        })
    }
}
