//! Tasks that are planned before agents do them.

use async_trait::async_trait;
use limpid_core::{AgentId, AgentState, CallId, ConversationId, Labelled, PlannedId, Trust, TurnId};

use crate::{Listed, StoreError};

/// Tasks that are planned before agents do them: each waits for others that were planned before it, so none wait for each other.
#[async_trait]
pub trait AgentPlans: Send + Sync {
    /// Keeps the tasks of a plan, all or none. A call that was made before, as after a crash, finds those that it planned.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when the conversation or the turn does not exist; [`StoreError::Invalid`] when a task needs one
    /// that does not stand before it.
    async fn keep_plan(&self, plan: NewPlan) -> Result<Vec<PlannedTask>, StoreError>;

    /// The tasks of the newest plans and of those under way, by their numbers: of a conversation, or of all. Plans of strangers take the
    /// place of none of the owner's.
    async fn planned_tasks(&self, chat: Option<&ConversationId>) -> Result<Listed<PlannedTask>, StoreError>;

    /// These tasks are to be started, once more where they were; the turn is the one that wants it, and `base` the folder in which relative
    /// paths begin there. What led to that is a part of
    /// their labels from then on.
    ///
    /// # Errors
    /// When the store cannot be written.
    async fn want_planned(
        &self,
        ids: &[PlannedId],
        turn: &TurnId,
        base: Option<&str>,
        led_by: Trust,
    ) -> Result<(), StoreError>;

    /// A limit of the message that wanted a task holds it back. It has not failed, and gets an agent when it is wanted once more.
    ///
    /// # Errors
    /// When the store cannot be written.
    async fn hold_planned(&self, id: PlannedId, why: &Labelled<String>) -> Result<(), StoreError>;

    /// The newest try of a task gets no agent. Whoever wrote why has a part in the task from then on: lists of tasks show it.
    ///
    /// # Errors
    /// When the store cannot be written.
    async fn refuse_planned(&self, id: PlannedId, why: &Labelled<String>) -> Result<(), StoreError>;
}

/// Tasks to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPlan {
    /// The conversation whose agents are to do them.
    pub chat: ConversationId,
    /// The turn that plans them.
    pub turn: TurnId,
    /// The call of that turn.
    pub call: CallId,
    /// The tasks; each needs earlier ones only.
    pub tasks: Vec<NewPlannedTask>,
    /// Who wrote them: that also says whose they are.
    pub trust: Trust,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}

/// A task to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPlannedTask {
    /// A short name.
    pub name: String,
    /// What is to be done.
    pub task: String,
    /// The skill that its agent follows, by name.
    pub skill: Option<String>,
    /// What its agent needs to know besides.
    pub context: Option<String>,
    /// The places in the plan of those that it needs.
    pub needs: Vec<usize>,
}

/// A planned task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTask {
    /// Its number.
    pub id: PlannedId,
    /// The conversation whose agents are to do it.
    pub chat: ConversationId,
    /// A short name.
    pub name: String,
    /// What is to be done.
    pub task: String,
    /// The skill that its agent follows, by name.
    pub skill: Option<String>,
    /// What its agent needs to know besides.
    pub context: Option<String>,
    /// Who wrote it, and who had a part in it that it was to be started, or in why it was not: the label of what is
    /// read. Whose it is says `by_strangers`.
    pub trust: Trust,
    /// Whether a stranger's text had a part in planning it. It stays so, whoever has it started.
    pub by_strangers: bool,
    /// Those that it needs.
    pub needs: Vec<PlannedId>,
    /// How often it was to be started.
    pub tries: u32,
    /// The turn that wanted that last.
    pub wanted: Option<TurnId>,
    /// The folder in which relative paths began there; absent: the workspace.
    pub base: Option<String>,
    /// Why its newest try gets no agent.
    pub refusal: Option<String>,
    /// Whether that is only a limit of the message that wanted it: then it has not failed, and waits to be wanted once more.
    pub is_held: bool,
    /// When it was planned, in milliseconds since 1970.
    pub made_ms: i64,
    /// The agent of its newest try, and how that stands.
    pub agent: Option<(AgentId, AgentState)>,
}

impl PlannedTask {
    /// The call by which its newest try is started, which is the same whoever starts it.
    pub fn call(&self) -> CallId {
        CallId::new(format!("planned {} {}", self.id, self.tries))
    }
}
