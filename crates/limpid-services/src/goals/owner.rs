//! What the owner does with goals; every surface calls this.

use limpid_core::GoalId;
use limpid_core::goal::{
    Checkpoint, CheckpointStatus, Goal, GoalError, GoalManager, GoalRecord, Goals as GoalList, Priority,
};
use limpid_store::Conversation;

use crate::directory::ConversationChoice;
use crate::error::AgentError;
use crate::goals::Goals;
use crate::profiles::Reader;

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
    pub warnings: Vec<String>,
}

impl Goals {
    /// The conversations that have or had goals, the one that was changed last first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn conversations(&self, limit: u32) -> Result<Vec<Conversation>, AgentError> {
        let mut found = Vec::new();
        for id in self.store.goal_conversations(limit).await? {
            found.push(self.directory.existing(&id).await?);
        }
        Ok(found)
    }

    /// The goals of a conversation; none when there is no conversation yet.
    ///
    /// # Errors
    /// When there is no conversation of that id, or the store cannot be read.
    pub async fn list(&self, choice: &ConversationChoice) -> Result<GoalList, AgentError> {
        match self.directory.find(choice).await? {
            Some(conversation) => Ok(self.load(&conversation.id).await?.goals),
            None => Ok(GoalList::default()),
        }
    }

    /// What happened to the goals of a conversation.
    ///
    /// # Errors
    /// When there is no conversation of that id, or the store cannot be read.
    pub async fn history(&self, choice: &ConversationChoice) -> Result<GoalHistory, AgentError> {
        let Some(conversation) = self.directory.find(choice).await? else { return Ok(GoalHistory::default()) };
        let records = self.store.goal_log(&conversation.id).await?.records;
        let warnings = self.load(&conversation.id).await?.warnings;
        Ok(GoalHistory { records, warnings })
    }

    /// Makes a goal; the active one pauses. Where there is no conversation yet, one begins with it.
    ///
    /// # Errors
    /// When there is no conversation of that id, or the description is blank, too long or does not fit the prompt.
    pub async fn create(
        &self,
        choice: &ConversationChoice,
        description: &str,
        priority: Priority,
    ) -> Result<GoalChange, AgentError> {
        let conversation = match self.directory.find(choice).await? {
            Some(conversation) => conversation,
            None => {
                // A conversation that could not answer is not made.
                self.profiles.profile(&self.config.agent.profile, Reader::Owner)?;
                self.models.choose(None).await?;
                self.directory.find_or_create(choice).await?
            }
        };
        let choice = ConversationChoice::Id(conversation.id);
        self.change_by_owner(&choice, |manager| manager.create_goal(description, priority)).await
    }

    /// Has a goal wait; without a name the active one.
    ///
    /// # Errors
    /// When there is no such conversation or goal, or it is completed.
    pub async fn pause(&self, choice: &ConversationChoice, name: Option<&str>) -> Result<GoalChange, AgentError> {
        self.change_by_owner(choice, |manager| {
            let goal = goal_of(manager, name)?;
            manager.pause_goal(&goal).map(|()| goal)
        })
        .await
    }

    /// Goes on with a goal, by its id or its text; without a name, with the one that was made last of those that wait.
    ///
    /// # Errors
    /// When there is no such conversation or goal, or it does not fit the prompt.
    pub async fn resume(&self, choice: &ConversationChoice, name: Option<&str>) -> Result<GoalChange, AgentError> {
        self.change_by_owner(choice, |manager| {
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
    pub async fn complete(
        &self,
        choice: &ConversationChoice,
        name: Option<&str>,
        summary: &str,
    ) -> Result<GoalChange, AgentError> {
        self.change_by_owner(choice, |manager| {
            let goal = goal_of(manager, name)?;
            manager.complete_goal(&goal, summary).map(|()| goal)
        })
        .await
    }

    /// Takes the shown goal out of the prompt; an active one pauses.
    ///
    /// # Errors
    /// When there is no such conversation, or no goal is shown.
    pub async fn clear(&self, choice: &ConversationChoice) -> Result<GoalChange, AgentError> {
        self.change_by_owner(choice, |manager| {
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
        self.change_by_owner(choice, |manager| {
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
        self.change_by_owner(choice, |manager| {
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
        self.change_by_owner(choice, |manager| {
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
        self.change_by_owner(choice, |manager| {
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
        let goals = self.list(choice).await?;
        Ok(goals.shown().map(|goal| goal.checkpoints().to_vec()).unwrap_or_default())
    }

    async fn change_by_owner(
        &self,
        choice: &ConversationChoice,
        act: impl Fn(&mut GoalManager<'_>) -> Result<GoalId, GoalError>,
    ) -> Result<GoalChange, AgentError> {
        let conversation = self.directory.find(choice).await?.ok_or_else(no_conversation)?;
        let id = conversation.id.clone();
        let cause = self.owner(self.next_tier.of(conversation).await);
        let act = |manager: &mut GoalManager<'_>| act(manager);
        let changed = self.change(&id, cause, act).await?;
        let goal = changed.goals.goal(&changed.value).cloned().ok_or(GoalError::NoGoal)?;
        Ok(GoalChange { goal, what: changed.append.records.iter().map(|record| record.event.name()).collect() })
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
