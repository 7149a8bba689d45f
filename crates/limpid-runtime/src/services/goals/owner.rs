//! What the owner does with goals; every surface calls this.

use limpid_core::goal::{
    Checkpoint, CheckpointStatus, Goal, GoalAuthor, GoalError, GoalManager, GoalRecord, Goals, Priority,
};
use limpid_core::{ConversationId, GoalId, Tier, Trust};
use limpid_prompt::Inputs;
use limpid_store::Conversation;

use crate::agent::{Agent, Inner};
use crate::context::convert;
use crate::context::window_state_of;
use crate::conversation::conversations::ChatRequest;
use crate::services::directory::ConversationChoice;
use crate::services::error::AgentError;
use crate::services::goals::Cause;

/// What a change came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalChange {
    /// The goal that it was about.
    pub goal: Goal,
    /// What happened, by the names of the log; empty when everything was so before.
    pub what: Vec<&'static str>,
}

/// What happened to the goals of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoalHistory {
    /// The log, oldest first.
    pub records: Vec<GoalRecord>,
    /// What could not be read, or did not fit.
    pub troubles: Vec<String>,
}

impl Agent {
    /// The goals of a conversation; none when there is no conversation yet.
    ///
    /// # Errors
    /// When there is no conversation of that id, or the store cannot be read.
    pub async fn goals(&self, choice: &ConversationChoice) -> Result<Goals, AgentError> {
        match self.find_conversation(choice).await? {
            Some(conversation) => Ok(self.inner.goal_book().goals(&conversation.id).await?.goals),
            None => Ok(Goals::default()),
        }
    }

    /// What happened to the goals of a conversation.
    ///
    /// # Errors
    /// When there is no conversation of that id, or the store cannot be read.
    pub async fn goal_history(&self, choice: &ConversationChoice) -> Result<GoalHistory, AgentError> {
        let Some(conversation) = self.find_conversation(choice).await? else { return Ok(GoalHistory::default()) };
        let records = self.inner.store.goal_log(&conversation.id).await?.records;
        let troubles = self.inner.goal_book().goals(&conversation.id).await?.troubles;
        Ok(GoalHistory { records, troubles })
    }

    /// Makes a goal; the active one pauses. Where there is no conversation yet, one begins with it.
    ///
    /// # Errors
    /// When there is no conversation of that id, or the description is blank, too long or does not fit the prompt.
    pub async fn create_goal(
        &self,
        choice: &ConversationChoice,
        description: &str,
        priority: Priority,
    ) -> Result<GoalChange, AgentError> {
        let request = ChatRequest { conversation: choice.clone(), ..ChatRequest::default() };
        let conversation = match self.find_conversation(choice).await? {
            Some(conversation) => conversation,
            None => self.inner.conversation_for(&request).await?,
        };
        let choice = ConversationChoice::Id(conversation.id);
        self.change_goal(&choice, |manager| manager.create_goal(description, priority)).await
    }

    /// Has a goal wait; without a name the active one.
    ///
    /// # Errors
    /// When there is no such conversation or goal, or it is completed.
    pub async fn pause_goal(&self, choice: &ConversationChoice, name: Option<&str>) -> Result<GoalChange, AgentError> {
        self.change_goal(choice, |manager| {
            let goal = goal_of(manager, name)?;
            manager.pause_goal(&goal).map(|()| goal)
        })
        .await
    }

    /// Goes on with a goal, by its id or its text; without a name, with the one that was made last of those that wait.
    ///
    /// # Errors
    /// When there is no such conversation or goal, or it does not fit the prompt.
    pub async fn resume_goal(&self, choice: &ConversationChoice, name: Option<&str>) -> Result<GoalChange, AgentError> {
        self.change_goal(choice, |manager| {
            let goal = match name {
                Some(name) => manager.find_goal(name)?,
                None => manager.waiting()?,
            };
            manager.resume_goal(&goal).map(|()| goal)
        })
        .await
    }

    /// Ends a goal; without a name the shown one.
    ///
    /// # Errors
    /// When there is no such conversation or goal.
    pub async fn complete_goal(
        &self,
        choice: &ConversationChoice,
        name: Option<&str>,
        summary: &str,
    ) -> Result<GoalChange, AgentError> {
        self.change_goal(choice, |manager| {
            let goal = goal_of(manager, name)?;
            manager.complete_goal(&goal, summary).map(|()| goal)
        })
        .await
    }

    /// Takes the shown goal out of the prompt; an active one pauses.
    ///
    /// # Errors
    /// When there is no such conversation, or no goal is shown.
    pub async fn clear_goal(&self, choice: &ConversationChoice) -> Result<GoalChange, AgentError> {
        self.change_goal(choice, |manager| {
            let goal = manager.shown()?;
            manager.clear().map(|()| goal)
        })
        .await
    }

    /// Adds a step to the shown goal.
    ///
    /// # Errors
    /// When there is no such conversation, no goal is shown, or the description is blank or too long.
    pub async fn add_checkpoint(
        &self,
        choice: &ConversationChoice,
        description: &str,
    ) -> Result<GoalChange, AgentError> {
        self.change_goal(choice, |manager| {
            let goal = manager.shown()?;
            manager.create_checkpoint(&goal, description, None, None).map(|_| goal)
        })
        .await
    }

    /// Sets how a step of the shown goal stands; the step by its id, its text or the beginning of it.
    ///
    /// # Errors
    /// When there is no such conversation or step, or no goal is shown.
    pub async fn set_checkpoint(
        &self,
        choice: &ConversationChoice,
        name: &str,
        status: CheckpointStatus,
    ) -> Result<GoalChange, AgentError> {
        self.change_goal(choice, |manager| {
            let goal = manager.shown()?;
            let step = manager.find_checkpoint(&goal, name)?;
            manager.update_checkpoint(&goal, &step, status).map(|()| goal)
        })
        .await
    }

    /// Keeps a decision of the shown goal.
    ///
    /// # Errors
    /// When no goal is shown, the text is blank or too long, or the decision is locked with another reason.
    pub async fn record_decision(
        &self,
        choice: &ConversationChoice,
        description: &str,
        rationale: &str,
    ) -> Result<GoalChange, AgentError> {
        self.change_goal(choice, |manager| {
            let goal = manager.shown()?;
            manager.record_decision(&goal, description, rationale).map(|_| goal)
        })
        .await
    }

    /// Makes a decision of the shown goal stand for good; the decision by its id, its text or the beginning
    /// of it.
    ///
    /// # Errors
    /// When there is no such conversation or decision, no goal is shown, or the prompt has no room for one more.
    pub async fn lock_decision(&self, choice: &ConversationChoice, name: &str) -> Result<GoalChange, AgentError> {
        self.change_goal(choice, |manager| {
            let goal = manager.shown()?;
            let decision = manager.find_decision(&goal, name)?;
            manager.lock_decision(&goal, &decision).map(|()| goal)
        })
        .await
    }

    /// The steps of the shown goal.
    ///
    /// # Errors
    /// When there is no conversation of that id, or the store cannot be read.
    pub async fn checkpoints(&self, choice: &ConversationChoice) -> Result<Vec<Checkpoint>, AgentError> {
        let goals = self.goals(choice).await?;
        Ok(goals.shown().map(|goal| goal.checkpoints().to_vec()).unwrap_or_default())
    }

    async fn change_goal(
        &self,
        choice: &ConversationChoice,
        act: impl Fn(&mut GoalManager<'_>) -> Result<GoalId, GoalError>,
    ) -> Result<GoalChange, AgentError> {
        let conversation = self.find_conversation(choice).await?.ok_or_else(no_conversation)?;
        let inner = &self.inner;
        let cause = Cause {
            by: GoalAuthor::Owner,
            trust: Trust::Owner,
            turn: None,
            tier: inner.tier_of(&conversation).await,
            now_ms: inner.host.now_ms(),
        };
        let act = |manager: &mut GoalManager<'_>| act(manager);
        let changed = inner.goal_book().change(&conversation.id, cause, act).await?;
        let goal = changed.goals.goal(&changed.value).cloned().ok_or(GoalError::NoGoal)?;
        Ok(GoalChange { goal, what: changed.append.records.iter().map(|record| record.event.name()).collect() })
    }
}

impl Inner {
    /// The tier of a conversation's next prompt, as far as it is known.
    pub(crate) async fn tier_of(&self, conversation: &Conversation) -> Tier {
        let model = self.models.choose(self.context.wanted_model(Some(conversation)).await.as_deref()).await;
        let card = model.ok().map(|model| model.info().clone());
        let path = if card.as_ref().is_some_and(|card| card.local) { "chat-local" } else { "chat-remote" };
        let model = card.as_ref().map(convert::model).unwrap_or_default();
        let name = conversation.profile.as_str();
        let profile = self.profiles.profile(name);
        let tier = window_state_of(Some(conversation)).tier().map(Tier::number);
        let inputs = Inputs { model, tier, ..Inputs::default() };
        let tier = profile.ok().and_then(|profile| profile.tier(path, &inputs).ok());
        tier.unwrap_or(Tier::ALL[2])
    }

    /// Whether every goal of a conversation that may come into the prompt fits another tier.
    ///
    /// # Errors
    /// [`GoalError::DoesNotFit`] with the sizes.
    pub(crate) async fn check_goal_fits(&self, conversation: &ConversationId, tier: Tier) -> Result<(), AgentError> {
        let kept = self.goal_book().goals(conversation).await?;
        Ok(kept.goals.shown().map_or(Ok(()), |goal| crate::services::goals::room(tier).check(goal))?)
    }
}

fn goal_of(manager: &GoalManager<'_>, name: Option<&str>) -> Result<GoalId, GoalError> {
    name.map_or_else(|| manager.shown(), |name| manager.find_goal(name))
}

fn no_conversation() -> AgentError {
    AgentError::Invalid(
        "there is no conversation yet, so it has no goal; begin with: limpid goal create \"...\"".to_owned(),
    )
}
