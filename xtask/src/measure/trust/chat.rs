//! One suite of AgentDojo played through an agent: a conversation for each task.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use limpid_core::{CallId, UsableWindow, WindowSize};
use limpid_model::{Model, ModelCall, ModelCard};
use limpid_runtime::{
    Agent, AgentOptions, ApprovalAnswer, ChatRequest, Config, ConversationChoice, Home, Outcome, QuestionId, Tool,
    TurnEvent,
};
use limpid_testkit::{Said, Talker};
use serde_json::json;
use tempfile::TempDir;

use super::player::{Played, Player, Who};
use super::tools::tool_name;
use super::world::MARK;

/// Nothing but the suite's tools, all of them declared, and room for the longest task.
const CONFIG: &str = "\
[memory]
enabled = false
[exec]
enabled = false
[web]
fetch = false
open = false
[modes]
suggestions = false
[tools]
defer = false
[limits]
calls_with_tools = 60
";

/// Tokens of the model's window.
const WINDOW: u32 = 400_000;

/// What the owner answers to a call of their own that waits; one of a stranger's gets a no.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// No.
    Refuses,
    /// Yes.
    Agrees,
}

/// What a task came to.
pub(super) struct Chatted {
    /// What was played.
    pub played: Played,
    /// Calls of the user's own that waited.
    pub own_waits: u32,
    /// Questions about them: what waits at the same time is one.
    pub questions: u32,
    /// Calls of the stranger's that waited.
    pub injected_waits: u32,
}

/// An agent with the tools of a suite.
pub(super) struct Chat {
    agent: Agent,
    player: Arc<Player>,
    // Deleted with the agent.
    _home: TempDir,
}

impl Chat {
    /// Opens an agent in a home of its own.
    pub(super) fn open(suite: &str, tools: Vec<Arc<dyn Tool>>, player: &Arc<Player>) -> Result<Self, String> {
        let home = home()?;
        let (suite, asked) = (suite.to_owned(), Arc::clone(player));
        let model = Talker::new(card(), move |call| reply(&suite, &asked, call));
        let agent = Agent::open(AgentOptions {
            config: Config::parse(CONFIG, "limpid.toml").map_err(|error| error.to_string())?,
            model: Some(Arc::new(model) as Arc<dyn Model>),
            tools,
            ..AgentOptions::new(Home::new(home.path()))
        })
        .map_err(|error| error.to_string())?;
        Ok(Self { agent, player: Arc::clone(player), _home: home })
    }

    /// Plays the task that the player has taken up.
    pub(super) async fn play(&self, prompt: &str, owner: Owner) -> Result<Chatted, String> {
        let request = ChatRequest {
            conversation: ConversationChoice::New,
            text: prompt.to_owned(),
            can_answer: true,
            ..ChatRequest::default()
        };
        let mut turn = self.agent.chat(request).await.map_err(|error| error.to_string())?;
        let (mut own_waits, mut injected_waits, mut questions) = (0, 0, 0);
        let (mut waiting, mut running): (VecDeque<QuestionId>, Option<CallId>) = (VecDeque::new(), None);
        let outcome = loop {
            match turn.next().await {
                Some(TurnEvent::ApprovalRequested { parts, .. }) => match self.player.now() {
                    Who::User => {
                        own_waits += parts.len() as u32;
                        questions += 1;
                        waiting.extend(parts.into_iter().map(|part| part.id));
                    }
                    Who::Stranger => {
                        injected_waits += parts.len() as u32;
                        parts.iter().for_each(|part| turn.answer(&part.id, ApprovalAnswer::No));
                    }
                },
                Some(TurnEvent::ToolDone { id, .. }) if running.as_ref() == Some(&id) => running = None,
                Some(TurnEvent::Done { outcome, .. }) => break outcome,
                Some(TurnEvent::Interrupted(why)) => return Err(why),
                Some(_) => {}
                None => return Err("a turn without an end".to_owned()),
            }
            // One after the other, since a call may build on the one before it.
            while running.is_none()
                && let Some(id) = waiting.pop_front()
            {
                let answer = if owner == Owner::Agrees { ApprovalAnswer::Once } else { ApprovalAnswer::No };
                turn.answer(&id, answer);
                running = (owner == Owner::Agrees).then(|| id.call().clone());
            }
        };
        let played = self.player.played();
        if !matches!(outcome, Outcome::Answered { .. }) || played.is_cut {
            return Err(format!("the turn ended before everything was called: {outcome:?}"));
        }
        Ok(Chatted { played, own_waits, questions, injected_waits })
    }
}

/// A home of its own, in memory where there is such a folder.
pub(super) fn home() -> Result<TempDir, String> {
    let memory = Path::new("/dev/shm");
    let home = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    home.map_err(|error| error.to_string())
}

/// What is known of the model.
pub(super) fn card() -> ModelCard {
    ModelCard {
        provider: "test".to_owned(),
        id: "obedient".to_owned(),
        window: Some(WindowSize(WINDOW)),
        usable_window: Some(UsableWindow::default_for(WindowSize(WINDOW))),
        ..ModelCard::default()
    }
}

/// What the obedient model says.
fn reply(suite: &str, player: &Player, call: &ModelCall) -> Said {
    let reserve = player.reserve();
    if !reserve.is_empty() {
        let arguments = json!({ "query": "", "reserve": reserve });
        return Said::Calls(vec![("find_tools".to_owned(), arguments.to_string())]);
    }
    let sees_mark = call.prompt.messages().iter().any(|message| message.text().contains(MARK));
    match player.next(sees_mark) {
        Some(calls) => {
            Said::Calls(calls.iter().map(|call| (tool_name(suite, &call.name), call.arguments.to_string())).collect())
        }
        None => Said::Text(player.answer()),
    }
}
