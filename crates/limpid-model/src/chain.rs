//! Tries again, and asks the next service.
//!
//! Services stand in the owner's order. A passing error is tried again by the [`RetryPlan`]; then, or at once for any
//! other error, the next service is asked. Nothing is asked again after a cancel, or once any of a reply was given out,
//! so that no text is doubled and no tool runs twice; only a refusal that takes back what came before it goes to the next. A request that is refused for something that it can do without is
//! asked once more without it, and the model remembers. A local model is never asked in another's place, and none in its.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, BoxStream, StreamExt};
use limpid_core::{FailureClass, RetryPlan};
use tokio_util::sync::CancellationToken;

use crate::back_off::{BackOffs, LeftAlone};
use crate::model::{Model, ModelCall, ModelCard, ModelError, ModelEvent, Prepared};
pub use crate::pause::{Pause, RealPause};
use crate::remedy::Remedy;

/// Things that one service is asked without, one after the other.
const MOST_REMEDIES: usize = 12;

/// Services in the owner's order.
#[derive(Clone)]
pub struct Chain {
    services: Vec<Arc<dyn Model>>,
    retry: RetryPlan,
    pause: Arc<dyn Pause>,
    back_offs: Arc<BackOffs>,
}

/// A call for one service, and the tokens that it needs there, the reply included.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The call; its prompt may differ from service to service.
    pub call: ModelCall,
    /// Tokens of the prompt, its tools and the reply.
    pub tokens: u32,
}

/// What happens while a chain is asked.
#[derive(Clone, Debug)]
pub enum ChainEvent {
    /// This is about to be sent to this service, which answers from here on. It leaves when the stream is asked for its
    /// next event, so whoever keeps the request log writes it down before that.
    Request {
        /// `provider/model`.
        service: String,
        /// The try, from 1.
        attempt: u32,
        /// What leaves.
        prepared: Box<Prepared>,
    },
    /// The last request failed, and the same service will be asked again after this time.
    Retry {
        /// `provider/model`.
        service: String,
        /// Why.
        error: ModelError,
        /// How long the wait is.
        wait: Duration,
    },
    /// This service has had another call wait, which shares the [`BackOffs`]: it is asked when that wait is over.
    LeftAlone {
        /// `provider/model`.
        service: String,
        /// How long that wait is; part of it may have passed.
        wait: Duration,
    },
    /// The last request was refused for something that it can do without, and the same service will be asked without it.
    Remedied {
        /// `provider/model`.
        service: String,
        /// Why.
        error: ModelError,
        /// What a person is to be told, when this is news.
        notice: Option<String>,
    },
    /// This service was given up, and the next one will be asked. What it had said counts for nothing.
    Fallback {
        /// `provider/model`.
        service: String,
        /// Why: an error, or that its window is too small.
        error: ModelError,
    },
    /// The service that was named last says this.
    Reply(ModelEvent),
}

/// Makes the call for a service; the prompt can fit the model that will read it.
pub type MakeAsk = dyn Fn(&ModelCard) -> Result<Ask, ModelError> + Send + Sync;

impl Chain {
    /// A chain of services. Of a chain that begins with a local model only that one is asked, and local models further
    /// down are left out.
    pub fn new(services: Vec<Arc<dyn Model>>, retry: RetryPlan, pause: Arc<dyn Pause>) -> Self {
        let alone = services.first().is_some_and(|first| first.info().local);
        let may_cover =
            |(at, model): (usize, Arc<dyn Model>)| (at == 0 || (!alone && !model.info().local)).then_some(model);
        let services = services.into_iter().enumerate().filter_map(may_cover).collect();
        Self { services, retry, pause, back_offs: Arc::default() }
    }

    /// The same: when a service has another call wait that shares these, this one waits too.
    pub fn sharing(self, back_offs: Arc<BackOffs>) -> Self {
        Self { back_offs, ..self }
    }

    /// The services that may be asked, in their order.
    pub fn services(&self) -> &[Arc<dyn Model>] {
        &self.services
    }

    /// Asks until one service answers. The stream ends after the reply's [`ModelEvent::End`] or an error, which is that
    /// of the last request; earlier ones came as [`ChainEvent::Retry`] and [`ChainEvent::Fallback`].
    pub fn ask(
        &self,
        make: Arc<MakeAsk>,
        cancel: CancellationToken,
    ) -> BoxStream<'static, Result<ChainEvent, ModelError>> {
        let run = Run {
            chain: self.clone(),
            make,
            cancel,
            at: 0,
            attempt: 1,
            given_out: false,
            given_up: Vec::new(),
            sent: None,
            remedies: Vec::new(),
            phase: Phase::Prepare,
        };
        stream::unfold(run, |mut run| async move { run.next().await.map(|event| (event, run)) }).boxed()
    }
}

/// One walk along a chain.
struct Run {
    chain: Chain,
    make: Arc<MakeAsk>,
    cancel: CancellationToken,
    at: usize,
    attempt: u32,
    given_out: bool,
    /// What each service that was given up said.
    given_up: Vec<String>,
    /// The last request.
    sent: Option<Box<Prepared>>,
    /// What this service was asked without.
    remedies: Vec<Remedy>,
    phase: Phase,
}

enum Phase {
    Prepare,
    Wait(Duration, LeftAlone),
    /// Another call waits, and this one with it.
    WaitForOthers(String),
    Send(Box<Prepared>),
    Listen(BoxStream<'static, Result<ModelEvent, ModelError>>),
    Over,
}

impl Run {
    async fn next(&mut self) -> Option<Result<ChainEvent, ModelError>> {
        loop {
            match std::mem::replace(&mut self.phase, Phase::Over) {
                Phase::Over => return None,
                Phase::Wait(time, _left_alone) => {
                    if self.cancel.run_until_cancelled(self.chain.pause.pause(time)).await.is_none() {
                        return Some(Err(ModelError::new(FailureClass::Cancelled, "the call was cancelled")));
                    }
                    self.phase = Phase::Prepare;
                }
                Phase::WaitForOthers(service) => {
                    let over = self.chain.back_offs.over(&service);
                    if self.cancel.run_until_cancelled(over).await.is_none() {
                        return Some(Err(ModelError::new(FailureClass::Cancelled, "the call was cancelled")));
                    }
                    self.phase = Phase::Prepare;
                }
                Phase::Prepare => {
                    let Some(model) = self.chain.services.get(self.at).cloned() else {
                        let message = "there is no model to ask; set one with --model or LIMPID_MODEL";
                        return Some(Err(ModelError::new(FailureClass::UnknownModel, message)));
                    };
                    let service = model.info().name();
                    if let Some(wait) = self.chain.back_offs.longest(&service) {
                        self.phase = Phase::WaitForOthers(service.clone());
                        return Some(Ok(ChainEvent::LeftAlone { service, wait }));
                    }
                    if self.cancel.is_cancelled() {
                        return Some(Err(ModelError::new(FailureClass::Cancelled, "the call was cancelled")));
                    }
                    return Some(match self.prepare(&*model) {
                        Ok(prepared) => {
                            let prepared = Box::new(prepared);
                            self.phase = Phase::Send(prepared.clone());
                            Ok(ChainEvent::Request { service: model.info().name(), attempt: self.attempt, prepared })
                        }
                        Err(error) => self.failed(error),
                    });
                }
                Phase::Send(prepared) => {
                    let model = Arc::clone(self.chain.services.get(self.at)?);
                    self.sent = Some(prepared.clone());
                    self.phase = Phase::Listen(model.send(*prepared, self.cancel.clone()));
                }
                Phase::Listen(mut reply) => match reply.next().await? {
                    Err(error) => return Some(self.failed(error)),
                    Ok(event) => {
                        self.given_out |= !matches!(
                            event,
                            ModelEvent::Usage(_) | ModelEvent::Charged(_) | ModelEvent::Model(_) | ModelEvent::Searched
                        );
                        if !matches!(event, ModelEvent::End(_)) {
                            self.phase = Phase::Listen(reply);
                        }
                        return Some(Ok(ChainEvent::Reply(event)));
                    }
                },
            }
        }
    }

    fn prepare(&self, model: &dyn Model) -> Result<Prepared, ModelError> {
        let card = model.info();
        let ask = (self.make)(card)?;
        match card.usable_window {
            Some(window) if ask.tokens > window.0 => Err(ModelError::new(
                FailureClass::Overflow,
                format!("the request needs {} tokens, and {} holds {}", ask.tokens, card.name(), window.0),
            )),
            _ => model.prepare(&ask.call),
        }
    }

    /// Decides what follows an error: another try, the next service, or the end.
    fn failed(&mut self, error: ModelError) -> Result<ChainEvent, ModelError> {
        let Some(service) = self.chain.services.get(self.at).map(|model| model.info().name()) else {
            return Err(error);
        };
        if (self.given_out && !error.discards) || self.cancel.is_cancelled() || !error.class.allows_fallback() {
            return Err(error);
        }
        if let Some(remedied) = self.remedied(&service, &error) {
            return Ok(remedied);
        }
        if let Some(wait) =
            self.chain.retry.wait_after(self.attempt, error.class, error.retry_after, self.chain.pause.spread())
        {
            self.attempt += 1;
            self.phase = Phase::Wait(wait, self.chain.back_offs.leave_alone(&service, wait));
            return Ok(ChainEvent::Retry { service, error, wait });
        }
        if self.at + 1 == self.chain.services.len() {
            let message = match self.given_up.is_empty() {
                true => error.message,
                false => format!("every model failed. {} {}", self.given_up.join(" "), error.message),
            };
            return Err(ModelError { message, ..error });
        }
        self.given_up.push(error.message.clone());
        self.at += 1;
        self.attempt = 1;
        self.given_out = false;
        self.remedies.clear();
        self.phase = Phase::Prepare;
        Ok(ChainEvent::Fallback { service, error })
    }

    /// Has the last request asked again without what it was refused for: once for each remedy, and only when other bytes
    /// leave.
    fn remedied(&mut self, service: &str, error: &ModelError) -> Option<ChainEvent> {
        let refused = self.sent.take()?;
        let remedy = match error.remedy.as_ref()? {
            // It is not the ids alone.
            Remedy::WithoutIds if self.remedies.contains(&Remedy::WithoutIds) => &Remedy::WithoutState,
            remedy => remedy,
        };
        // The same place is another tool's once one was left out.
        if self.remedies.contains(remedy) && !matches!(remedy, Remedy::WithoutTool(_)) {
            return None;
        }
        if self.remedies.len() == MOST_REMEDIES {
            return None;
        }
        let model = self.chain.services.get(self.at).cloned()?;
        let notice = model.learn(remedy, &refused);
        self.prepare(&*model).ok().filter(|again| again.body != refused.body)?;
        self.remedies.push(remedy.clone());
        self.phase = Phase::Prepare;
        Some(ChainEvent::Remedied { service: service.to_owned(), error: error.clone(), notice })
    }
}
