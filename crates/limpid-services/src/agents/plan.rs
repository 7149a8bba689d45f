//! Tasks that are planned before agents do them: kept all together, started by whoever leads the conversation, each as soon as
//! those that it needs are done.

use std::collections::{BTreeMap, BTreeSet};

use limpid_core::agent::MOST_IN_TREE;
use limpid_core::agent::plan::{PlannedFacts, PlannedState, order, states};
use limpid_core::{AgentRefusal, AgentState, ConversationId, Labelled, PlannedId, Sentence, sentence};
use limpid_store::{AcceptedAgent, NewPlan, NewPlannedTask, NewSubAgent, PlannedTask, Store};
use limpid_tools::{ToolContext, echoed};

use crate::agents::refusal::{held, words};
use crate::agents::request::{found, given, short, tools_of};
use crate::agents::service::Agents;
use crate::error::AgentError;
use crate::tools::trouble;

/// Characters of the name of a planned task.
const LONGEST_NAME: usize = 60;

/// The prompt path of agents that do planned tasks.
const PATH: &str = "worker";

/// A task of a plan, as a model writes it.
pub(super) struct PlanRequest {
    pub(super) name: String,
    pub(super) task: String,
    pub(super) skill: Option<String>,
    pub(super) context: Option<String>,
    /// The names of those that it needs.
    pub(super) after: Vec<String>,
}

/// A planned task with how it stands.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The task.
    pub task: PlannedTask,
    /// How it stands.
    pub state: PlannedState,
    /// Those that block it.
    pub blocked_by: Vec<PlannedId>,
}

/// Planned tasks by their numbers, those of a conversation or all, each with how it stands.
///
/// # Errors
/// When the store cannot be read.
pub async fn planned(store: &dyn Store, chat: Option<&ConversationId>) -> Result<Vec<Planned>, AgentError> {
    let tasks = store.planned_tasks(chat).await?.rows;
    let facts = tasks.iter().map(|task| PlannedFacts {
        id: task.id,
        needs: &task.needs,
        is_started: task.tries > 0,
        is_refused: task.refusal.is_some() && !task.is_held,
        agent: task.agent.map(|(_, state)| state),
    });
    let mut states = states(facts);
    let state = |task: PlannedTask| {
        let (state, blocked_by) = states.remove(&task.id).unwrap_or((PlannedState::Planned, Vec::new()));
        Planned { task, state, blocked_by }
    };
    Ok(tasks.into_iter().map(state).collect())
}

impl Agents {
    /// The tasks of the newest plans by their numbers, of a conversation or of all, each with how it stands.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn planned(&self, chat: Option<&ConversationId>) -> Result<Vec<Planned>, AgentError> {
        planned(self.store(), chat).await
    }

    /// Keeps the tasks of a plan, all or none.
    pub(super) async fn plan(&self, by: &ToolContext, tasks: Vec<PlanRequest>) -> Result<Vec<PlannedTask>, Sentence> {
        if tasks.is_empty() || tasks.len() > MOST_IN_TREE as usize {
            return Err(sentence!("`tasks` holds {} tasks; plan between 1 and {}", tasks.len(), MOST_IN_TREE));
        }
        let places: BTreeMap<String, usize> =
            tasks.iter().enumerate().map(|(at, task)| (task.name.trim().to_lowercase(), at)).collect();
        if places.len() < tasks.len() || places.contains_key("") {
            return Err("each task needs a `name` of its own".into());
        }
        let mut needs = Vec::new();
        for task in &tasks {
            if task.name.chars().count() > LONGEST_NAME {
                return Err(sentence!(
                    "the name `{}` has more than {} characters; put what is to be done into `task`",
                    echoed(short(&task.name)),
                    LONGEST_NAME
                ));
            }
            if task.task.trim().is_empty() {
                return Err(sentence!("the task `{}` is empty; say what is to be done", echoed(task.name.clone())));
            }
            if let Some(skill) = &task.skill {
                found(self, skill).await?;
            }
            let place = |name: &String| match places.get(&name.trim().to_lowercase()) {
                Some(place) => Ok(*place),
                None => Err(sentence!("no task of this plan is named `{}`", echoed(name.clone()))),
            };
            needs.push(task.after.iter().map(place).collect::<Result<Vec<usize>, Sentence>>()?);
        }
        let Some(order) = order(&needs) else {
            return Err("some of these tasks wait for each other; take one of these `after` away".into());
        };
        let at: BTreeMap<usize, usize> = order.iter().enumerate().map(|(at, place)| (*place, at)).collect();
        let above = self.store().agent_in(&by.conversation).await.map_err(trouble)?;
        let clean = |text: &String| self.redactor().clean(text.clone());
        let task = |place: &usize| {
            let task = &tasks[*place];
            NewPlannedTask {
                name: clean(&task.name),
                task: clean(&task.task),
                skill: given(task.skill.clone()),
                context: given(task.context.clone()).as_ref().map(clean),
                needs: needs[*place].iter().filter_map(|need| at.get(need).copied()).collect(),
            }
        };
        let plan = NewPlan {
            chat: above.map_or_else(|| by.conversation.clone(), |above| above.chat),
            turn: by.turn.clone(),
            call: by.call.clone(),
            tasks: order.iter().map(task).collect(),
            trust: by.trust.of_strangers(),
            now_ms: by.now_ms(),
        };
        self.store().keep_plan(plan).await.map_err(trouble)
    }

    /// Starts a planned task, and first those that it needs and nobody has started.
    pub(super) async fn start_planned(&self, by: &ToolContext, id: PlannedId) -> Result<Vec<Planned>, Sentence> {
        let planned = by_number(self.planned(Some(&by.conversation)).await.map_err(trouble)?);
        let Some(target) = planned.get(&id) else {
            return Err(sentence!("there is no planned task {}; `list_agents` lists them", id.0));
        };
        match target.state {
            PlannedState::Blocked => {
                let by = target.blocked_by.first().map_or(id.0, |by| by.0);
                return Err(sentence!(
                    "task {} waits for task {}, which came to nothing; start that again first",
                    id.0,
                    by
                ));
            }
            PlannedState::Done => return Err(sentence!("task {} is done; `list_agents` names its agent", id.0)),
            _ if !is_new(target, &held_back(&planned)) => {}
            _ => {
                let wanted = wanted(&planned, id);
                let (base, led_by) = (self.base(), by.trust.of_strangers());
                self.store().want_planned(&wanted, &by.turn, base.as_deref(), led_by).await.map_err(trouble)?;
            }
        }
        self.start_queued(&by.conversation).await.map_err(trouble)?;
        self.planned(Some(&by.conversation)).await.map_err(trouble)
    }

    /// What whoever is asked about the start of a planned task is told: each task that starts with it, those first that it needs, with
    /// all that its agent is given.
    pub(super) async fn start_in_words(&self, id: PlannedId, chat: &ConversationId) -> Option<String> {
        let planned = by_number(self.planned(Some(chat)).await.ok()?);
        let mut tasks = wanted(&planned, id);
        tasks.sort_unstable();
        let target = planned.get(&id)?;
        let tasks = if is_new(target, &held_back(&planned)) { tasks } else { vec![id] };
        let told: Vec<String> =
            tasks.iter().filter_map(|id| planned.get(id)).map(|one| in_words(one, &planned)).collect();
        let numbers: Vec<String> = tasks.iter().map(ToString::to_string).collect();
        // Which ones these are stands before words that others may have written.
        let all = (tasks.len() > 1).then(|| format!("this starts the tasks {}; ", numbers.join(", ")));
        Some(all.unwrap_or_default() + &told.join("; "))
    }

    /// Whether the start of a planned task would use up one that no stranger had a part in planning.
    pub(super) async fn start_uses_owners(&self, id: PlannedId, chat: &ConversationId) -> bool {
        // Where nobody can say, the owner is asked.
        let Ok(planned) = self.planned(Some(chat)).await.map(by_number) else { return true };
        // One that is under way may have failed by the time the call runs; only one that is done stays so.
        if planned.get(&id).is_none_or(|target| target.state == PlannedState::Done) {
            return false;
        }
        let wanted = wanted(&planned, id);
        wanted.iter().filter_map(|id| planned.get(id)).any(|one| !one.task.by_strangers)
    }

    /// Starts the agents of the planned tasks of a conversation that wait for nothing but their turn, as many as may work. What a limit
    /// stands against has not failed.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn start_queued(&self, chat: &ConversationId) -> Result<(), AgentError> {
        // Each side has places of its own, so one that waits for a place stands in the way of no other.
        let mut later = BTreeSet::new();
        loop {
            let planned = self.planned(Some(chat)).await?;
            // What was wanted in another folder waits for a process that works there.
            let here = self.base();
            let may_start = |task: &PlannedTask| task.base == here && !task.is_held && !later.contains(&task.id);
            let is_next = |one: &&Planned| one.state == PlannedState::Queued && may_start(&one.task);
            let Some(next) = planned.iter().find(is_next) else { return Ok(()) };
            let why = match self.agent_of_plan(&next.task, &planned).await {
                Ok(new) => match self.ask_store(new).await? {
                    AcceptedAgent::Fresh(agent) => {
                        if let Some(runs) = self.runs().get() {
                            runs.start(*agent);
                        }
                        continue;
                    }
                    AcceptedAgent::Known(_) => continue,
                    AcceptedAgent::Refused(AgentRefusal::Live(_)) => {
                        later.insert(next.task.id);
                        continue;
                    }
                    AcceptedAgent::Refused(refusal) => match held(refusal) {
                        Some(why) => {
                            self.store().hold_planned(next.task.id, &why.into()).await?;
                            continue;
                        }
                        None => words(refusal),
                    },
                },
                Err(why) => why,
            };
            self.store().refuse_planned(next.task.id, &why.into()).await?;
        }
    }

    /// The agent that does a planned task: with the results of those that it needs.
    async fn agent_of_plan(&self, task: &PlannedTask, planned: &[Planned]) -> Result<NewSubAgent, Sentence> {
        let mut trust = task.trust;
        let mut context: Vec<String> = task.context.iter().cloned().collect();
        for need in planned.iter().filter(|one| task.needs.contains(&one.task.id)) {
            let Some((agent, AgentState::Done)) = need.task.agent else { continue };
            let (result, label) = self.result_in(&task.chat, agent).await?.into_parts();
            trust = trust.join(label).join(need.task.trust);
            context.push(format!("{}:\n{result}", need.task.name));
        }
        let skill = match &task.skill {
            Some(name) => Some(found(self, name).await?),
            None => None,
        };
        let Some(turn) = task.wanted.clone() else { return Err("nobody has started it".into()) };
        Ok(NewSubAgent {
            conversation: task.chat.clone(),
            turn,
            call: task.call(),
            path: PATH.to_owned(),
            waited_for: false,
            label: task.name.clone(),
            task: task.task.clone(),
            tools: tools_of(None, skill.as_ref()),
            skill: skill.map(|skill| skill.name),
            context: (!context.is_empty()).then(|| context.join("\n\n")),
            planned: Some(task.id),
            continues: None,
            named: None,
            trust,
            // What those that it needs have read is told to it, and did not start it.
            by_strangers: task.by_strangers,
            holder: self.host().holder().to_owned(),
            now_ms: self.host().now_ms(),
        })
    }
}

fn by_number(planned: Vec<Planned>) -> BTreeMap<PlannedId, Planned> {
    planned.into_iter().map(|one| (one.task.id, one)).collect()
}

/// Those that a limit of an earlier message holds back, and those that wait for them: a later message may start them.
fn held_back(planned: &BTreeMap<PlannedId, Planned>) -> BTreeSet<PlannedId> {
    let mut held = BTreeSet::new();
    // A task needs only such as have lower numbers.
    for (id, one) in planned {
        let waits = one.state == PlannedState::Waiting && one.task.needs.iter().any(|need| held.contains(need));
        if waits || one.state == PlannedState::Queued && one.task.is_held {
            held.insert(*id);
        }
    }
    held
}

/// Whether a task is to be started where somebody asks for it: nobody has, it came to nothing, or it is held back.
fn is_new(one: &Planned, held: &BTreeSet<PlannedId>) -> bool {
    matches!(one.state, PlannedState::Planned | PlannedState::Failed) || held.contains(&one.task.id)
}

/// A task and those that it needs and nobody has started, or that are held back.
fn wanted(planned: &BTreeMap<PlannedId, Planned>, id: PlannedId) -> Vec<PlannedId> {
    let held = held_back(planned);
    let mut wanted = vec![id];
    let mut at = 0;
    while let Some(one) = wanted.get(at).and_then(|id| planned.get(id)) {
        let is_new = |id: &&PlannedId| {
            let is_planned = planned.get(id).is_some_and(|one| one.state == PlannedState::Planned);
            (is_planned || held.contains(id)) && !wanted.contains(id)
        };
        let more: Vec<PlannedId> = one.task.needs.iter().filter(is_new).copied().collect();
        wanted.extend(more);
        at += 1;
    }
    wanted
}

/// What whoever is asked about the start of a task is told of it: who had a part in it, its name, and what its agent is given.
fn in_words(one: &Planned, planned: &BTreeMap<PlannedId, Planned>) -> String {
    let PlannedTask { skill, context, needs, .. } = &one.task;
    let skill = skill.as_ref().map(|skill| format!("; it follows the skill {skill}"));
    let need = |id: &PlannedId| planned.get(id).map_or_else(|| format!("task {id}"), called);
    let after: Vec<String> = needs.iter().map(need).collect();
    let after = (!after.is_empty()).then(|| format!("; it is given what these come to: {}", after.join(", ")));
    let context = context.as_ref().map(|context| format!("; it is told: {context}"));
    let rest: String = skill.into_iter().chain(after).chain(context).collect();
    called(one) + &rest
}

/// A planned task by its number, how it stands, who had a part in it, and its words.
fn called(one: &Planned) -> String {
    let PlannedTask { id, name, task, trust, .. } = &one.task;
    let by = if trust.is_foreign() { ", which a stranger had a part in" } else { "" };
    format!("task {id}, {}{by}, {name}: {task}", one.state.as_str())
}

/// What a model is told of planned tasks: each with its number, its name and how it stands.
pub(super) fn listed(planned: &[Planned]) -> Labelled<String> {
    let line = |one: &Planned| {
        let by: Vec<String> = one.blocked_by.iter().map(ToString::to_string).collect();
        let by = if by.is_empty() { String::new() } else { format!(" by {}", by.join(", ")) };
        let held = one.task.refusal.as_ref().filter(|_| one.task.is_held);
        let held = held.map(|why| format!("; {why}")).unwrap_or_default();
        format!("task {} ({}): {}{by}{held}", one.task.id, one.task.name, one.state.as_str())
    };
    let trust = planned.iter().map(|one| one.task.trust).fold(limpid_core::Trust::Owner, limpid_core::Trust::join);
    Labelled::new(planned.iter().map(line).collect::<Vec<_>>().join("\n"), trust)
}
