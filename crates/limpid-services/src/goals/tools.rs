//! The tools that change goals. Each is its arguments and what it does with the rules of goals; all of them
//! change the shown goal of the conversation that they are called in, but for those that make or resume one.

use std::marker::PhantomData;
use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::goal::{ArtifactAction, ArtifactKind, CheckpointStatus, GoalAuthor, GoalError, GoalManager, Priority};
use limpid_core::policy::Effect;
use limpid_core::{ConversationId, Labelled, Sentence, ToolClass, goal};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::goals::{Cause, Goals};
use crate::tools::{Concerned, Named, Tool, ToolContext, echoed, read_arguments, schema_of, trouble};

/// The group of the tools that change goals.
pub const GOAL_TOOLS: &str = "goals";

/// The name of the tool that sets a goal.
pub const CREATE_GOAL: &str = "create_goal";

/// The tools, in the order in which they are declared.
pub fn tools(goals: &Goals) -> Vec<Arc<dyn Tool>> {
    vec![
        GoalTool::<CreateGoal>::over(goals),
        GoalTool::<CreateCheckpoint>::over(goals),
        GoalTool::<UpdateCheckpoint>::over(goals),
        GoalTool::<CompleteGoal>::over(goals),
        GoalTool::<RecordDecision>::over(goals),
        GoalTool::<RecordArtifact>::over(goals),
        GoalTool::<SwitchGoal>::over(goals),
    ]
}

/// The arguments of a tool, and what it does.
trait Act: DeserializeOwned + JsonSchema + Send + Sync + 'static {
    const NAME: &'static str;

    /// Does it, and names what was changed.
    fn act(&self, manager: &mut GoalManager<'_>) -> Result<String, GoalError>;

    /// The goal or step that the arguments name.
    fn named(&self, _manager: &GoalManager<'_>) -> Option<Named> {
        None
    }
}

/// A tool that changes goals. Each may be called again: the same change twice is one change.
struct GoalTool<A> {
    goals: Goals,
    act: PhantomData<A>,
}

impl<A: Act> GoalTool<A> {
    fn over(goals: &Goals) -> Arc<dyn Tool> {
        Arc::new(Self { goals: goals.clone(), act: PhantomData })
    }
}

#[async_trait]
impl<A: Act> Tool for GoalTool<A> {
    fn name(&self) -> &'static str {
        A::NAME
    }

    fn group(&self) -> &'static str {
        GOAL_TOOLS
    }

    fn class(&self) -> ToolClass {
        ToolClass::Remember
    }

    fn effect(&self, _: &Value) -> Effect {
        // Also a new goal changes the owner's: it takes the place of the one that is worked on.
        Effect::ChangeOwned
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<A>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    async fn concerns(&self, arguments: &Value, conversation: Option<&ConversationId>) -> Concerned {
        // Which goal is shown, and what a step's number stands for, a conversation says alone.
        let Some(conversation) = conversation else { return Concerned::NotSaid };
        // What cannot be read is refused by its own error.
        let Ok(act) = read_arguments::<A>(arguments.clone()) else { return Concerned::InArguments };
        Concerned::found(
            self.goals.in_words(conversation, |manager| act.act(manager)).await,
            "goals that cannot be read",
        )
    }

    async fn named(&self, arguments: &Value, conversation: Option<&ConversationId>) -> Option<Named> {
        let act = read_arguments::<A>(arguments.clone()).ok()?;
        self.goals.found(conversation?, |manager| act.named(manager)).await
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let arguments: A = read_arguments(arguments)?;
        let cause = Cause {
            by: GoalAuthor::Tool,
            trust: context.trust,
            turn: Some(&context.turn),
            // A call runs when the policy lets its effect pass.
            permitted: true,
            tier: context.tier,
            now_ms: context.now_ms(),
        };
        let changed = self.goals.change(&context.conversation, cause, |manager| arguments.act(manager)).await;
        match changed {
            Ok(changed) => Ok(told(&changed.value, &changed.goals).join(context.trust)),
            // An error may list every goal and step that there is.
            Err(error) => {
                let trust = self.goals.trust(&context.conversation).await;
                Err(trouble(error).join(trust))
            }
        }
    }
}

/// What was changed, and how the goal stands, with the label of the goal.
fn told(what: &str, goals: &goal::Goals) -> Labelled<String> {
    // What was changed is a name of ours, or words of the model, which have the label of the turn.
    let Some(goal) = goals.shown() else { return echoed(what.to_owned()) };
    let progress = goal.progress();
    let text = format!(
        "{what}\ngoal {}: {} ({}, {} of {} steps done)",
        goal.id(),
        goal.description(),
        goal.status(),
        progress.completed,
        progress.total
    );
    Labelled::new(text, goal.trust())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateGoal {
    description: String,
    priority: Option<PriorityWord>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum PriorityWord {
    High,
    Medium,
    Low,
}

impl Act for CreateGoal {
    const NAME: &'static str = CREATE_GOAL;

    fn act(&self, manager: &mut GoalManager<'_>) -> Result<String, GoalError> {
        let priority = match self.priority {
            Some(PriorityWord::High) => Priority::High,
            Some(PriorityWord::Low) => Priority::Low,
            Some(PriorityWord::Medium) | None => Priority::Medium,
        };
        manager.create_goal(&self.description, priority).map(|goal| format!("set {goal}"))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateCheckpoint {
    description: String,
}

impl Act for CreateCheckpoint {
    const NAME: &'static str = "create_checkpoint";

    fn act(&self, manager: &mut GoalManager<'_>) -> Result<String, GoalError> {
        let goal = manager.shown()?;
        manager.create_checkpoint(&goal, &self.description, None, None).map(|step| format!("step {step}"))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UpdateCheckpoint {
    checkpoint_id: String,
    status: StatusWord,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum StatusWord {
    Pending,
    InProgress,
    Completed,
}

impl Act for UpdateCheckpoint {
    const NAME: &'static str = "update_checkpoint";

    fn act(&self, manager: &mut GoalManager<'_>) -> Result<String, GoalError> {
        let status = match self.status {
            StatusWord::Pending => CheckpointStatus::Pending,
            StatusWord::InProgress => CheckpointStatus::InProgress,
            StatusWord::Completed => CheckpointStatus::Completed,
        };
        let goal = manager.shown()?;
        let step = manager.find_checkpoint(&goal, &self.checkpoint_id)?;
        manager.update_checkpoint(&goal, &step, status).map(|()| format!("step {step} is {status}"))
    }

    fn named(&self, manager: &GoalManager<'_>) -> Option<Named> {
        let goal = manager.shown().ok()?;
        let id = manager.find_checkpoint(&goal, &self.checkpoint_id).ok()?;
        let step = manager.goals().goal(&goal)?.checkpoints().iter().find(|step| step.id == id)?;
        Some(Named { fields: &["checkpoint_id"], names: vec![id.to_string(), step.description.clone()] })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CompleteGoal {
    summary: String,
}

impl Act for CompleteGoal {
    const NAME: &'static str = "complete_goal";

    fn act(&self, manager: &mut GoalManager<'_>) -> Result<String, GoalError> {
        let goal = manager.shown()?;
        manager.complete_goal(&goal, &self.summary).map(|()| format!("{goal} is completed"))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RecordDecision {
    description: String,
    rationale: Option<String>,
    locked: Option<bool>,
}

impl Act for RecordDecision {
    const NAME: &'static str = "record_decision";

    fn act(&self, manager: &mut GoalManager<'_>) -> Result<String, GoalError> {
        let goal = manager.shown()?;
        let rationale = self.rationale.as_deref().unwrap_or_default();
        let decision = manager.record_decision(&goal, &self.description, rationale)?;
        match self.locked {
            Some(true) => {
                manager.lock_decision(&goal, &decision)?;
                Ok(format!("decision {decision}, locked"))
            }
            // Whoever asks for it open must learn that it stands.
            Some(false) => manager.revisable(&goal, &decision).map(|()| format!("decision {decision}, open")),
            None => Ok(format!("decision {decision}")),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RecordArtifact {
    path: String,
    action: ActionWord,
    #[serde(rename = "type")]
    kind: Option<KindWord>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ActionWord {
    Created,
    Modified,
    Deleted,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum KindWord {
    File,
    Test,
    Documentation,
}

impl Act for RecordArtifact {
    const NAME: &'static str = "record_artifact";

    fn act(&self, manager: &mut GoalManager<'_>) -> Result<String, GoalError> {
        let action = match self.action {
            ActionWord::Created => ArtifactAction::Created,
            ActionWord::Modified => ArtifactAction::Modified,
            ActionWord::Deleted => ArtifactAction::Deleted,
        };
        let kind = match self.kind {
            Some(KindWord::File) => ArtifactKind::File,
            Some(KindWord::Test) => ArtifactKind::Test,
            Some(KindWord::Documentation) => ArtifactKind::Documentation,
            None => ArtifactKind::of_path(&self.path),
        };
        let goal = manager.shown()?;
        manager.record_artifact(&goal, kind, &self.path, action).map(|()| format!("{action} {}", self.path.trim()))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SwitchGoal {
    goal: String,
}

impl Act for SwitchGoal {
    const NAME: &'static str = "switch_goal";

    fn act(&self, manager: &mut GoalManager<'_>) -> Result<String, GoalError> {
        let goal = manager.find_goal(&self.goal)?;
        manager.resume_goal(&goal).map(|()| format!("{goal} is active"))
    }

    fn named(&self, manager: &GoalManager<'_>) -> Option<Named> {
        let id = manager.find_goal(&self.goal).ok()?;
        let description = manager.goals().goal(&id)?.description().to_owned();
        Some(Named { fields: &["goal"], names: vec![id.to_string(), description] })
    }
}
