//! Calls that wait for the owner: the question, its answer, and what is done when nobody can be asked.

use std::sync::Arc;

use limpid_core::draft::{MOST_DRAFTS, MOST_OF_BACKGROUND_RUN};
use limpid_core::policy::{Grant, named_hosts};
use limpid_core::{CallId, Message, Role, Trust};
use limpid_prompt::Inputs;
use limpid_store::{Draft, DraftRoom, RequestFilter};
use limpid_turn::{Effect, Event, HeldCall, ToolOutcome};

use crate::context::convert;
use crate::conversation::event::{Answer, TurnEvent};
use crate::conversation::turn::running::Driver;
use crate::services::drafts::{in_short, led_by, new_draft};
use crate::services::error::AgentError;
use crate::services::spending::{Spender, spender_of};
use crate::services::tools::policy::{CallContext, CallDescription};

impl Driver<'_> {
    /// What the policy needs to know besides the call.
    pub(crate) async fn moment(&self) -> Result<CallContext, AgentError> {
        let trust = self.trust();
        let grants = self.worker.inner.drafts.grants(&self.worker.conversation).await?;
        Ok(CallContext { trust, grants, named_hosts: self.named_hosts(trust).await? })
    }

    /// Hosts that the owner's own messages named; they matter in a tainted turn only.
    async fn named_hosts(&self, trust: Trust) -> Result<Vec<String>, AgentError> {
        if !trust.is_foreign() {
            return Ok(Vec::new());
        }
        let stored = self.hosts.get_or_try_init(|| self.stored_hosts()).await?;
        let steering = self.machine.in_flight().iter().filter(|message| message.role == Role::User);
        let steering = steering.filter(|message| !message.trust.is_foreign()).map(|message| message.text.as_str());
        Ok(stored.iter().cloned().chain(steering.flat_map(named_hosts)).collect())
    }

    /// Those of the stored messages. The whole conversation is read, so a turn asks once; what comes in while it runs is
    /// among its steering messages.
    async fn stored_hosts(&self) -> Result<Vec<String>, AgentError> {
        let listed = self.worker.inner.store.messages(&self.worker.conversation, None).await?.rows;
        let owners = listed.iter().filter(|row| row.message.role == Role::User && !row.message.trust.is_foreign());
        // As they were typed: what the prompt added to them may hold anybody's text.
        Ok(owners.flat_map(|row| named_hosts(row.typed.as_deref().unwrap_or(&row.message.text))).collect())
    }

    /// Whether a question is open.
    pub(crate) fn is_asking(&self) -> bool {
        !self.held().is_empty()
    }

    /// Asks the owner about calls, when somebody is there to answer.
    pub(crate) async fn ask_owner(&mut self, calls: Vec<HeldCall>) -> Result<Vec<Effect>, AgentError> {
        let mut effects = Vec::new();
        for held in calls {
            if self.worker.listeners.can_answer() {
                self.question(&held);
            } else {
                effects.extend(self.put_off(held).await?);
            }
        }
        Ok(effects)
    }

    /// Takes the owner's answer; one to no open question changes nothing.
    pub(crate) async fn answered_by_owner(&mut self, call: &CallId, answer: Answer) -> Result<Vec<Effect>, AgentError> {
        let Some(held) = self.held().into_iter().find(|held| held.call.id == *call) else { return Ok(Vec::new()) };
        if answer == Answer::Always
            && let Some(CallDescription { pattern, .. }) = self.tools.describe(&held.call)
        {
            let grant = Grant { tool: held.call.name, pattern };
            self.worker.inner.drafts.grant(&self.worker.conversation, grant).await?;
        }
        let approved = answer != Answer::No;
        self.apply(Event::Decided { id: call.clone(), approved }, None, Vec::new()).await
    }

    /// Whoever could have answered is gone.
    pub(crate) async fn ask_nobody(&mut self) -> Result<Vec<Effect>, AgentError> {
        let mut effects = Vec::new();
        for held in self.held() {
            effects.extend(self.put_off(held).await?);
        }
        Ok(effects)
    }

    fn held(&self) -> Vec<HeldCall> {
        let held = self.machine.pending().into_iter().filter_map(|effect| match effect {
            Effect::AskOwner { calls } => Some(calls),
            _ => None,
        });
        held.flatten().collect()
    }

    fn question(&self, held: &HeldCall) {
        let Some(described) = self.tools.describe(&held.call) else { return };
        self.worker.listeners.send(&TurnEvent::ApprovalRequested {
            id: held.call.id.clone(),
            name: held.call.name.clone(),
            arguments: held.call.arguments.clone(),
            destination: described.destination,
            folder: described.folder,
            reason: held.why.reason.clone(),
            pattern: described.pattern,
        });
    }

    /// Nobody can be asked: the call is kept as a draft, and the model is told so.
    async fn put_off(&mut self, held: HeldCall) -> Result<Vec<Effect>, AgentError> {
        let Some(described) = self.tools.describe(&held.call) else { return Ok(Vec::new()) };
        let inner = Arc::clone(&self.worker.inner);
        let led_by = self.led_by().await?;
        let trust = self.moment().await?.trust;
        let place = (&self.worker.conversation, &self.id);
        let new = new_draft(place, &held, described, (led_by, trust), inner.host.now_ms());
        let outcome = match inner.drafts.keep(new, self.draft_room()).await? {
            Some(draft) => {
                self.tell_of_draft(&draft).await?;
                let (id, why) = (draft.id.0, &held.why.reason);
                let text = format!("not done yet: kept as draft {id}, which the owner approves or refuses ({why})");
                ToolOutcome::Done { text, trust: Trust::Owner, boundary: None }
            }
            None => ToolOutcome::Failed {
                error: "not done and not kept: too many drafts wait for the owner already; they have to answer some"
                    .to_owned(),
            },
        };
        self.tool_done(Event::ToolDone { id: held.call.id, outcome }, Vec::new()).await
    }

    /// Which text led to what the model calls: everything that it has read is in the newest request of the turn.
    async fn led_by(&self) -> Result<String, AgentError> {
        let store = &self.worker.inner.store;
        let newest = RequestFilter { turn: Some(self.id.clone()), limit: 1, ..RequestFilter::default() };
        let mut sent = Vec::new();
        for summary in store.requests(newest).await?.rows {
            sent.extend(store.request(&summary.id).await?.into_iter().flat_map(|request| request.messages));
        }
        let Inputs { history, user_message, user_trust, .. } = &self.inputs;
        let asked = Message { trust: Trust::from(*user_trust), ..Message::new(Role::User, user_message.clone()) };
        let running = std::iter::once(&asked).chain(self.machine.in_flight()).map(convert::in_flight);
        let messages: Vec<_> = history.iter().cloned().chain(running).collect();
        Ok(led_by(&messages, &sent))
    }

    fn draft_room(&self) -> DraftRoom {
        let of_turn = match spender_of(&self.path) {
            Spender::Background => MOST_OF_BACKGROUND_RUN,
            Spender::Asked => MOST_DRAFTS,
        };
        DraftRoom { open: MOST_DRAFTS, of_turn }
    }

    /// Whoever listens in a chat is told at once; nobody else is lost sight of.
    async fn tell_of_draft(&self, draft: &Draft) -> Result<(), AgentError> {
        let (inner, id) = (&self.worker.inner, draft.id.0);
        let text = format!("Draft {id} waits for you: limpid draft show {id}, then approve or refuse.");
        if self.worker.listeners.is_heard() && spender_of(&self.path) == Spender::Asked {
            self.worker.listeners.send(&TurnEvent::Notice(text));
            return Ok(());
        }
        let text = format!("{text} It would be {}: {}.", in_short(&draft.new), draft.new.why);
        inner.drafts.tell(draft, draft.state, text).await
    }
}
