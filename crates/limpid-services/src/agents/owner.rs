//! What the owner sees of agents, and stopping them.

use limpid_config::process;
use limpid_core::{AgentId, AgentState, CallId, Labelled, Sentence, Trust, pasted, sentence};
use limpid_store::{
    AcceptedAgent, AgentEnded, AgentFilter, Base, Listed, NewInbound, NewSubAgent, StoreError, SubAgent,
};
use limpid_tools::{ToolContext, echoed};

use crate::agents::refusal::words;
use crate::agents::request::short;
use crate::agents::service::Agents;
use crate::error::AgentError;
use crate::tools::trouble;

/// What came of saying something to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// It works, and hears it when its present step is over.
    Hears(AgentId),
    /// It had ended, and a new one goes on with its work, in the same conversation.
    GoesOn {
        /// The one that had ended.
        before: AgentId,
        /// The one that goes on.
        now: AgentId,
    },
}

/// Shows an agent whose process is gone as interrupted, also before the next start of the program writes that down.
fn as_it_is(agent: &mut SubAgent) {
    if !agent.state.is_over() && process::is_dead(&agent.new.holder) {
        agent.state = AgentState::Interrupted;
    }
}

/// A folder of the owner's, as they are told of it.
fn base_in_words(base: Base) -> String {
    match base {
        Base::Folder(folder) => format!("in an editor, in {folder}"),
        Base::Workspace | Base::Anywhere => "at a terminal or the page".to_owned(),
    }
}

impl Agents {
    /// Whether an agent that is told something does work that the owner began. Their yes to one message for it, after which it goes on
    /// because of a stranger's text, is none to the next one.
    pub(super) async fn tells_owners(&self, id: AgentId) -> bool {
        // Where nobody can say, the owner is asked.
        let Ok(told) = self.store().agent(id).await else { return true };
        let Some(told) = told else { return false };
        self.store().is_owners_work(&told.works_in()).await.unwrap_or(true)
    }

    /// Agents, newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn list(&self, filter: AgentFilter) -> Result<Listed<SubAgent>, AgentError> {
        let mut listed = self.store().agents(filter).await?;
        listed.rows.iter_mut().for_each(as_it_is);
        Ok(listed)
    }

    /// One agent.
    ///
    /// # Errors
    /// When there is none of that number, or the store cannot be read.
    pub async fn get(&self, id: AgentId) -> Result<SubAgent, AgentError> {
        let mut agent = self.find(id).await?;
        as_it_is(&mut agent);
        Ok(agent)
    }

    /// Stops an agent and those that it started. Says which had not ended before, itself first.
    ///
    /// # Errors
    /// When there is none of that number, or the store fails.
    pub async fn cancel(&self, id: AgentId) -> Result<Vec<AgentId>, AgentError> {
        let agent = self.find(id).await?;
        let filter = AgentFilter { chat: Some(agent.chat.clone()), open: true, ..AgentFilter::default() };
        let mut open = self.store().agents(filter).await?.rows;
        // Oldest first, so that each comes behind whoever started it.
        open.reverse();
        let mut tree = vec![id];
        let mut stopped = Vec::new();
        for agent in open {
            if agent.id != id && !agent.parent.is_some_and(|parent| tree.contains(&parent)) {
                continue;
            }
            tree.push(agent.id);
            if self.end_early(&agent, AgentState::Cancelled, "it was stopped".to_owned()).await? == AgentEnded::Now {
                stopped.push(agent.id);
            }
            if let Some(runs) = self.runs().get() {
                runs.stop(&agent);
            }
        }
        Ok(stopped)
    }

    /// Says something to an agent for its owner. One that has ended goes on, as an agent that their chat starts. What is longer than a
    /// short paste was copied from somewhere, and counts as somebody else's unless all pastes are the owner's.
    ///
    /// # Errors
    /// When there is none of that number, a limit stands against it, or the store fails.
    pub async fn tell(&self, id: AgentId, message: &str) -> Result<Told, AgentError> {
        let agent = self.find(id).await?;
        let call = CallId::new(self.host().new_id("told"));
        let by = (agent.chat.clone(), agent.root.clone(), call);
        let is_own = self.pastes_are_mine() || !pasted::is_long(message);
        let trust = if is_own { Trust::Owner } else { Trust::Outside };
        let told = self.say(&agent, by, Labelled::new(message.to_owned(), trust)).await;
        told.map_err(|why| AgentError::Invalid(why.into_text()))
    }

    /// The same for a turn, whose agents alone it reaches.
    pub(super) async fn tell_by(&self, by: &ToolContext, id: AgentId, message: String) -> Result<Told, Sentence> {
        let agent = self.store().agent(id).await.map_err(trouble)?;
        let Some(agent) = agent.filter(|agent| agent.new.conversation == by.conversation) else {
            return Err(sentence!("there is no agent {} of yours; `list_agents` lists them", id.0));
        };
        let message = Labelled::new(message, by.trust.of_strangers());
        self.say(&agent, (by.conversation.clone(), by.turn.clone(), by.call.clone()), message).await
    }

    /// Refuses to have an agent go on that worked in another folder: here the paths that its conversation speaks of are other files.
    async fn may_go_on_here(&self, agent: &SubAgent) -> Result<(), Sentence> {
        let base = self.store().base_of(&agent.new.turn).await.map_err(trouble)?;
        if base.is_at(&self.base().into()) {
            return Ok(());
        }
        Err(sentence!(
            "agent {} worked in another folder than this one; say it where that is open: {}",
            agent.id.0,
            echoed(base_in_words(base))
        ))
    }

    async fn say(
        &self,
        agent: &SubAgent,
        (conversation, turn, call): (limpid_core::ConversationId, limpid_core::TurnId, CallId),
        message: Labelled<String>,
    ) -> Result<Told, Sentence> {
        // What it is told could be the owner's, and it carries what it knows to the web: its task alone was looked at.
        if agent.is_research() {
            return Err("a research worker hears nothing besides its task; send out another one".into());
        }
        let (text, trust) = message.into_parts();
        if text.trim().is_empty() {
            return Err("the message is empty; say what the agent is to know or to do".into());
        }
        let text = self.redactor().clean(text);
        let now_ms = self.host().now_ms();
        // Whoever works in its conversation by now; whoever is gone hears nothing.
        let at_work = async || self.store().agent_in(&agent.works_in()).await.map_err(trouble);
        let mut newest = at_work().await?.unwrap_or_else(|| agent.clone());
        if !newest.state.is_over() && process::is_dead(&newest.new.holder) {
            self.interrupt(&newest).await.map_err(trouble)?;
        }
        // The store says whether one works that hears it; it writes the end of that one only if it has heard this.
        let key = Some(format!("{} {call}", newest.works_in()));
        let new = NewInbound {
            conversation: newest.works_in(),
            key,
            text: text.clone(),
            trust,
            typed: false,
            base: Base::Anywhere,
            now_ms,
        };
        match self.store().tell_agent(new).await {
            Ok(Some(id)) => {
                if let Some(runs) = self.runs().get() {
                    runs.hear(&newest);
                }
                return Ok(Told::Hears(id));
            }
            Ok(None) => newest = at_work().await?.unwrap_or(newest),
            Err(StoreError::NotFound { .. }) => {
                return Err(sentence!("agent {} begins at this moment; say it again", newest.id.0));
            }
            Err(error) => return Err(trouble(error)),
        }
        self.may_go_on_here(&newest).await?;
        let new = NewSubAgent {
            conversation,
            turn,
            call,
            waited_for: false,
            label: short(&text),
            task: text,
            context: None,
            planned: None,
            continues: Some(newest.id),
            trust: trust.join(newest.trust),
            by_strangers: trust.is_foreign(),
            holder: self.host().holder().to_owned(),
            now_ms,
            ..newest.new.clone()
        };
        match self.ask_store(new).await.map_err(trouble)? {
            AcceptedAgent::Fresh(now) => {
                let told = Told::GoesOn { before: newest.id, now: now.id };
                if let Some(runs) = self.runs().get() {
                    runs.start(*now);
                }
                Ok(told)
            }
            AcceptedAgent::Known(now) => Ok(Told::GoesOn { before: newest.id, now: now.id }),
            AcceptedAgent::Refused(refusal) => Err(words(refusal)),
        }
    }
}
