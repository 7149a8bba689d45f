//! What a call asks of a new agent, made complete: pointers are replaced by what they stand for, and the skill is looked up.

use std::collections::BTreeSet;

use limpid_core::{AgentId, ConversationId, Sentence, Trust, sentence};
use limpid_store::{NewSubAgent, SubAgent};
use limpid_tools::{Concerned, ToolContext, echoed};
use serde_json::Value;

use crate::agents::pointers::{Part, parts};
use crate::agents::service::Agents;
use crate::skills::{ListedSkill, SkillStatus, no_such_skill};
use crate::tools::trouble;

/// Characters of a task that it is called by when it has no name.
const LABEL: usize = 60;

/// What a call asks of a new agent.
pub(super) struct AgentRequest {
    /// The prompt path that it takes.
    pub(super) path: &'static str,
    pub(super) waited_for: bool,
    pub(super) label: Option<String>,
    pub(super) task: String,
    pub(super) skill: Option<String>,
    pub(super) context: Option<String>,
    /// The agent of the settings that is to do it.
    pub(super) named: Option<String>,
}

impl AgentRequest {
    /// The agent that it asks for.
    pub(super) async fn complete(self, agents: &Agents, by: &ToolContext) -> Result<NewSubAgent, Sentence> {
        if self.task.trim().is_empty() {
            return Err("`task` is empty; say what the agent is to do, with all that it needs to know".into());
        }
        let above = agents.store().agent_in(&by.conversation).await.map_err(trouble)?;
        let chat = above.as_ref().map_or(&by.conversation, |above| &above.chat);
        let mut trust = by.trust.of_strangers();
        let task = filled(agents, chat, &self.task, &mut trust).await?;
        let context = match given(self.context) {
            Some(context) => Some(filled(agents, chat, &context, &mut trust).await?),
            None => None,
        };
        let named = match given(self.named) {
            Some(name) => Some(target(agents, above.as_ref(), name.trim())?),
            None => None,
        };
        let skill = match given(self.skill).or_else(|| agents.named_skill(named.as_deref()?)) {
            Some(name) => Some(found(agents, &name).await?),
            None => None,
        };
        let label = given(self.label).unwrap_or_else(|| short(&self.task));
        let clean = |text: String| agents.redactor().clean(text);
        Ok(NewSubAgent {
            conversation: by.conversation.clone(),
            turn: by.turn.clone(),
            call: by.call.clone(),
            path: self.path.to_owned(),
            waited_for: self.waited_for,
            label: clean(short(&label)),
            task: clean(task),
            tools: tools_of(
                above.and_then(|above| above.new.tools).or_else(|| by.tools_of_agents.clone()),
                skill.as_ref(),
            ),
            skill: skill.map(|skill| skill.name),
            context: context.map(clean),
            planned: None,
            continues: None,
            named,
            trust,
            by_strangers: by.trust.is_foreign(),
            holder: agents.host().holder().to_owned(),
            now_ms: by.now_ms(),
        })
    }
}

/// The name of an agent of the settings that work may be given to.
fn target(agents: &Agents, above: Option<&SubAgent>, name: &str) -> Result<String, Sentence> {
    let (allowed, own) = agents.is_allowed(name);
    if above.and_then(|above| above.new.named.as_deref()).or(own.as_deref()) == Some(name) {
        return Err("that is you; do it yourself, or leave `agent_id` out".into());
    }
    match allowed {
        None => {
            Err(sentence!("there is no agent `{}` to give a task to; leave `agent_id` out", echoed(name.to_owned())))
        }
        Some(false) => {
            Err(sentence!("the settings do not allow agent `{}`; leave `agent_id` out", echoed(name.to_owned())))
        }
        Some(true) => Ok(name.to_owned()),
    }
}

/// The only tools of an agent: those of its skill, and never one that whoever starts it may not give it.
pub(super) fn tools_of(most: Option<Vec<String>>, skill: Option<&ListedSkill>) -> Option<Vec<String>> {
    let of_skill = skill.and_then(|skill| skill.prompt.as_ref()).map(|prompt| &prompt.skill.tools);
    let of_skill = of_skill.filter(|tools| !tools.is_empty()).cloned();
    match (of_skill, most) {
        (Some(own), Some(most)) => Some(own.into_iter().filter(|name| most.contains(name)).collect()),
        (own, most) => own.or(most),
    }
}

/// A text with the results that its pointers stand for.
async fn filled(agents: &Agents, chat: &ConversationId, text: &str, trust: &mut Trust) -> Result<String, Sentence> {
    let mut whole = String::new();
    for part in parts(text) {
        match part {
            Part::Text(text) => whole.push_str(text),
            Part::Result(id) => {
                let result = agents.result_in(chat, id).await?;
                let (text, label) = result.into_parts();
                *trust = trust.join(label);
                whole.push_str(&text);
            }
        }
    }
    Ok(whole)
}

pub(super) async fn found(agents: &Agents, name: &str) -> Result<ListedSkill, Sentence> {
    let list = agents.skills().list().await.map_err(trouble)?;
    let is_ready = |skill: &&ListedSkill| skill.status == SkillStatus::Ready && skill.prompt.is_some();
    let name = name.trim().trim_start_matches('/');
    let found = list.iter().filter(is_ready).find(|skill| skill.name.eq_ignore_ascii_case(name));
    found.cloned().ok_or_else(|| no_such_skill(name, &list))
}

pub(super) fn given(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

/// What whoever is asked about a call is told of the agent that it names by a number.
pub(super) fn in_words(agent: &SubAgent) -> String {
    format!("agent {}, {}: {}", agent.id.0, agent.new.label, agent.new.task)
}

/// The same of an agent of the chat that a conversation is, or works for; none where there is no such one.
pub(super) async fn in_words_there(agents: &Agents, id: AgentId, conversation: &ConversationId) -> Option<String> {
    let above = agents.store().agent_in(conversation).await.ok()?;
    let chat = above.map_or_else(|| conversation.clone(), |above| above.chat);
    let agent = agents.store().agent(id).await.ok()??;
    (agent.chat == chat).then(|| in_words(&agent))
}

/// What whoever is asked about a call that starts an agent is told of the results that stand in its words as pointers.
pub(super) async fn results_in_words(
    agents: &Agents,
    arguments: &Value,
    conversation: Option<&ConversationId>,
) -> Concerned {
    let texts = ["task", "context"].into_iter().filter_map(|field| arguments[field].as_str());
    let pointed = texts.flat_map(parts).filter_map(|part| match part {
        Part::Result(id) => Some(id.0),
        Part::Text(_) => None,
    });
    let mut told = Vec::new();
    for id in pointed.collect::<BTreeSet<i64>>() {
        let agent = match conversation {
            Some(conversation) => in_words_there(agents, AgentId(id), conversation).await,
            None => None,
        };
        told.push(match agent {
            Some(agent) => format!("it is given the result of {agent}"),
            None => format!("there is no agent {id} here"),
        });
    }
    if told.is_empty() { Concerned::InArguments } else { Concerned::Words(told.join("; ")) }
}

/// The beginning of a text in one line.
pub(super) fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LABEL {
        line
    } else {
        format!("{}…", line.chars().take(LABEL - 1).collect::<String>())
    }
}
