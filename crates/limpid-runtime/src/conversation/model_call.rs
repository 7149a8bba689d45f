//! The one place that calls a model: the ledger holds a request before it leaves and what came back after.

pub(crate) mod limit;
pub(crate) mod once;
pub(crate) mod recipe;
pub(crate) mod record;
pub(crate) mod redaction;

use std::collections::hash_map::Entry;
use std::sync::Arc;

use futures_util::StreamExt;
use limpid_core::{FailureClass, RequestId, Trust};
use limpid_model::chain::{Chain, ChainEvent, MakeAsk};
use limpid_model::{ModelCard, ModelError, ModelEvent, Prepared, ReplyForm, ToolUse};
use limpid_prompt::Prompt;
use limpid_prompt::count::Tally;
use limpid_store::TurnWrite;
use limpid_turn::window::ContextSize;
use limpid_turn::{Effect, Event};
use tokio_util::sync::CancellationToken;

pub(crate) use crate::conversation::model_call::limit::{most_possible, reply_limit};
pub(crate) use crate::conversation::model_call::once::Once;
pub(crate) use crate::conversation::model_call::recipe::Recipe;
pub(crate) use crate::conversation::model_call::record::as_sent;
use crate::conversation::model_call::record::{Answer, Maker, new_request, trust_of};

use crate::context::shown_goal;
use crate::context::sure_tokens;
use crate::conversation::actor::Command;
use crate::conversation::event::TurnEvent;
use crate::conversation::turn::running::Driver;
use crate::services::error::AgentError;
use crate::services::spending::spender_of;

/// What a model is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    /// A message; it may call tools.
    Message,
    /// The last message of the turn: a text, or the call that ends it.
    End,
    /// The arguments of the call that ends the turn, as a JSON document.
    Decision,
}

/// A request that the ledger holds.
struct Sent {
    id: RequestId,
    card: ModelCard,
    trust: Trust,
    /// What it is made of, by kind of text.
    tally: Tally,
    /// Tokens that its reply may have, and those that it could have at most.
    limit: Option<u32>,
    possible: Option<u32>,
}

impl Sent {
    /// Whether a reply to it could be longer than it was allowed to be.
    fn can_be_longer(&self) -> bool {
        self.possible > self.limit
    }
}

/// A prompt that is rendered and fits.
#[derive(Clone)]
pub(crate) struct Rendered {
    /// The model that it is for.
    pub(crate) model: String,
    pub(crate) prompt: Arc<Prompt>,
    pub(crate) size: ContextSize,
}

impl Driver<'_> {
    /// Asks the models in their order until one answers, and gives the machine what came of it.
    pub(crate) async fn ask(&mut self, round: u32, demand: Demand) -> Result<Vec<Effect>, AgentError> {
        loop {
            let first = self.first.take();
            if first.is_none() {
                self.look_at_goal().await?;
            }
            let inner = Arc::clone(&self.worker.inner);
            match inner.spending.check_and_tell(spender_of(&self.path), Some(&self.path), Some(&self.id)).await {
                Ok(()) => {}
                Err(AgentError::Model(error)) => return self.failed(None, Answer::default(), error).await,
                Err(error) => return Err(error),
            }
            let rendered = match first {
                Some(first) => first,
                None => match self.next_request().await {
                    Ok(rendered) => rendered,
                    Err(AgentError::Model(error)) => return self.failed(None, Answer::default(), error).await,
                    Err(error) => return Err(error),
                },
            };
            let size = rendered.size.total();
            let recipe = self.recipe(demand, rendered).await?;
            if let Some(effects) = self.ask_chain(round, recipe, size).await? {
                return Ok(effects);
            }
        }
    }

    /// Asks the models in their order; none when the request was too large for its provider and a smaller one is next.
    async fn ask_chain(&mut self, round: u32, recipe: Recipe, size: usize) -> Result<Option<Vec<Effect>>, AgentError> {
        let chain = Chain::new(self.models.clone(), *self.worker.inner.retry, Arc::clone(&self.worker.inner.pause));
        let make: Arc<MakeAsk> = Arc::new(move |card: &ModelCard| recipe.ask(card));
        let cancel = CancellationToken::new();
        // Whatever ends this call stops the request.
        let _stop = cancel.clone().drop_guard();
        let mut events = chain.ask(make, cancel.clone());
        let mut sent: Option<Sent> = None;
        let mut answer = Answer::new(&self.worker.inner.redactor);
        if self.was_stopped() {
            return self.cancel(sent, answer).await.map(Some);
        }
        loop {
            let event = tokio::select! {
                event = events.next() => event,
                Some(command) = self.worker.commands.recv() => {
                    match command {
                        Command::Cancel(message) => {
                            if self.is_meant(message) {
                                return self.cancel(sent, answer).await.map(Some);
                            }
                        }
                        Command::Message { inbound, sender, .. } => {
                            self.worker.listeners.add(sender);
                            self.steer(inbound).await?;
                        }
                        Command::Settle(settle) => self.worker.put_off(settle),
                        Command::Answer { .. } | Command::Wake => {}
                    }
                    continue;
                }
            };
            match event {
                Some(Ok(ChainEvent::Request { service, prepared, .. })) => {
                    let prompt = Arc::clone(&prepared.call.prompt);
                    let made = self.record(&service, *prepared, round).await?;
                    answer = Answer::by(&self.worker.inner.redactor, Maker::of(&made.card, &prompt));
                    sent = Some(made);
                }
                Some(Ok(ChainEvent::Retry { service, error, .. } | ChainEvent::Fallback { service, error })) => {
                    self.close(&mut sent, std::mem::take(&mut answer), Some(&error)).await?;
                    let reason = error.message;
                    self.worker.listeners.send(&TurnEvent::Retrying { reason, model: service });
                }
                Some(Ok(ChainEvent::Remedied { error, notice, .. })) => {
                    self.close(&mut sent, std::mem::take(&mut answer), Some(&error)).await?;
                    notice.into_iter().for_each(|notice| self.worker.listeners.send(&TurnEvent::Notice(notice)));
                }
                Some(Ok(ChainEvent::Reply(event))) => {
                    let is_over = matches!(event, ModelEvent::End(_));
                    self.hear(event, &mut answer);
                    if !is_over {
                        continue;
                    }
                    let Some(error) = answer.nothing_said() else {
                        return self.answered(sent, answer).await.map(Some);
                    };
                    if self.raised || !sent.as_ref().is_some_and(Sent::can_be_longer) {
                        return self.failed(sent, answer, error).await.map(Some);
                    }
                    self.raised = true;
                    let service = sent.as_ref().map(|sent| sent.card.name()).unwrap_or_default();
                    self.close(&mut sent, std::mem::take(&mut answer), Some(&error)).await?;
                    self.worker.listeners.send(&TurnEvent::Retrying { reason: error.message, model: service });
                    return Ok(None);
                }
                Some(Err(error)) => {
                    let is_theirs = sent.is_some() && error.class == FailureClass::Overflow;
                    if is_theirs && self.overflowed(size) {
                        self.close(&mut sent, answer, Some(&error)).await?;
                        return Ok(None);
                    }
                    return self.failed(sent, answer, error).await.map(Some);
                }
                None => {
                    let error = ModelError::new(FailureClass::Garbage, "the answer broke off; ask again");
                    return self.failed(sent, answer, error).await.map(Some);
                }
            }
        }
    }

    /// Where the beginning is rendered for each call, it shows the goal as it stands; elsewhere it stays for
    /// the whole turn, and the results of the tools tell what has changed.
    async fn look_at_goal(&mut self) -> Result<(), AgentError> {
        if !self.profile.behaviour().stable_prefix {
            self.inputs.goal = shown_goal(&self.worker.inner.context, &self.worker.conversation).await?;
        }
        Ok(())
    }

    /// What renders the prompt of the next call.
    async fn recipe(&mut self, demand: Demand, rendered: Rendered) -> Result<Recipe, AgentError> {
        let inner = Arc::clone(&self.worker.inner);
        for model in &self.models {
            let name = model.info().name();
            if let Entry::Vacant(free) = self.counters.entry(name) {
                free.insert(inner.context.counts.estimate(model.info()).await?);
            }
        }
        let (tools, reply) = self.form_of(demand);
        Ok(Recipe {
            profile: Arc::clone(&self.profile),
            path: self.path.clone(),
            inputs: self.inputs.clone(),
            counters: self.counters.clone(),
            sampling: inner.sampling(),
            effort: self.effort,
            raised: self.raised,
            hide_reasoning: inner.config.chat.hide_reasoning,
            tools,
            reply,
            rendered,
            conversation: Some(self.worker.conversation.to_string()),
            cache: self.cache,
        })
    }

    /// How a demand is put to a provider. Where a tool ends the turn, a call of it is forced as soon as nothing else can
    /// be called.
    fn form_of(&self, demand: Demand) -> (ToolUse, ReplyForm) {
        let Some(name) = self.machine.decision() else {
            let tools = if demand == Demand::Message { ToolUse::Auto } else { ToolUse::Never };
            return (tools, ReplyForm::Text);
        };
        let alone = self.inputs.tools.iter().all(|tool| tool.name == name);
        match demand {
            Demand::Message if !alone => (ToolUse::Auto, ReplyForm::Text),
            Demand::Message | Demand::End => (ToolUse::Must(name.to_owned()), ReplyForm::Text),
            Demand::Decision => {
                let tool = self.inputs.tools.iter().find(|tool| tool.name == name);
                let schema = tool.map(|tool| (*tool.schema).clone()).unwrap_or_default();
                (ToolUse::Never, ReplyForm::Json { name: name.to_owned(), schema: schema.into() })
            }
        }
    }

    /// Writes a request into the ledger; it leaves after this.
    async fn record(&mut self, service: &str, prepared: Prepared, round: u32) -> Result<Sent, AgentError> {
        let model = self.models.iter().find(|model| model.info().name() == service);
        let Some(card) = model.map(|model| model.info().clone()) else {
            return Err(AgentError::Invalid(format!("the model {service} is not one of this turn's")));
        };
        let id = RequestId::new(self.worker.inner.host.new_id("r"));
        let (trust, tally) = (trust_of(&prepared.call.prompt), prepared.call.prompt.tally());
        self.read = self.read.join(trust);
        let limit = prepared.call.sampling.max_output;
        let counter = self.counters.get(service).cloned().unwrap_or_default();
        let possible = most_possible(&card, sure_tokens(&prepared.call.prompt, &counter));
        let request = new_request(&self.worker.inner, &id, &card, prepared, round);
        self.commit(vec![TurnWrite::Request(Box::new(request))]).await?;
        Ok(Sent { id, card, trust, tally, limit, possible })
    }

    fn hear(&self, event: ModelEvent, answer: &mut Answer) {
        let seen = answer.hear(event, self.worker.inner.host.now_ms());
        seen.iter().for_each(|seen| self.worker.listeners.send(seen));
    }

    /// Nothing more comes of this answer.
    fn hear_rest(&self, answer: &mut Answer) {
        let seen = answer.hear_rest(self.worker.inner.host.now_ms());
        seen.iter().for_each(|seen| self.worker.listeners.send(seen));
    }

    async fn answered(&mut self, sent: Option<Sent>, answer: Answer) -> Result<Vec<Effect>, AgentError> {
        let reply = answer.reply.clone();
        let end = self.end_of_request(sent, answer, None);
        self.apply(Event::Reply(reply), None, end).await
    }

    async fn failed(
        &mut self,
        sent: Option<Sent>,
        mut answer: Answer,
        error: ModelError,
    ) -> Result<Vec<Effect>, AgentError> {
        self.hear_rest(&mut answer);
        let text = answer.reply.text.clone();
        let end = self.end_of_request(sent, answer, Some(&error));
        if !text.is_empty() && !error.discards {
            // Whoever listened has read it.
            self.apply(Event::Chunk { text }, None, Vec::new()).await?;
        }
        self.apply(Event::ModelFailed { class: error.class, message: error.message }, None, end).await
    }

    /// Stops the call: the text that came is kept, its calls are not.
    async fn cancel(&mut self, sent: Option<Sent>, mut answer: Answer) -> Result<Vec<Effect>, AgentError> {
        self.hear_rest(&mut answer);
        let text = answer.reply.text.clone();
        let error = ModelError::new(FailureClass::Cancelled, "stopped by the user");
        answer.reply.calls.clear();
        let end = self.end_of_request(sent, answer, Some(&error));
        self.apply(Event::Chunk { text }, None, end).await?;
        self.apply(Event::Cancel, None, Vec::new()).await
    }

    /// Writes what came of a request that is given up.
    async fn close(
        &mut self,
        sent: &mut Option<Sent>,
        answer: Answer,
        error: Option<&ModelError>,
    ) -> Result<(), AgentError> {
        let end = self.end_of_request(sent.take(), answer, error);
        if !end.is_empty() {
            self.commit(end).await?;
        }
        Ok(())
    }

    /// The end of a request for the ledger; it is the one whose reply the next messages are.
    fn end_of_request(&mut self, sent: Option<Sent>, answer: Answer, error: Option<&ModelError>) -> Vec<TurnWrite> {
        let Some(Sent { id, card, trust, tally, .. }) = sent else { return Vec::new() };
        let end = answer.into_end(&card, trust, error, self.worker.inner.host.now_ms());
        self.worker.inner.context.counts.add(&card.id, tally, end.usage);
        if let Some(usage) = end.usage {
            self.worker.listeners.send(&TurnEvent::Usage { usage, cost: end.cost });
        }
        self.request = Some(id.clone());
        vec![TurnWrite::RequestEnd(id, Box::new(end))]
    }
}
