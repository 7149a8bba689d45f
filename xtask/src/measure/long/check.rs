//! What must hold after every turn: of what was sent, by recount from nothing. What is stored is looked at by `kept`.

use std::hash::{DefaultHasher, Hash, Hasher};

use limpid_core::{Role, UsableWindow, WindowSize};
use limpid_model::ModelCall;
use limpid_prompt::count::{TokenCounter, WindowEstimate};
use limpid_prompt::{Prompt, PromptMessage};
use limpid_runtime::{Agent, Outcome as End, TurnEvent};

use super::kept::Kept;
use super::model::{GOAL, LOCKED, is_summary};
use super::world::{GOAL_REQUEST, GOAL_TURN, REQUEST, Turn, World};
use super::{Case, Outcome};

/// Calls of a model that one compaction makes at most.
const CALLS: usize = 3;

/// Milliseconds that a new message waits at most.
const WAIT: u64 = 90_000;

/// What was checked so far.
pub(super) struct Checked {
    case: Case,
    pub(super) outcome: Outcome,
    pub(super) kept: Kept,
    /// Where the program's files are; a prompt may name it, and it is another in every play.
    home: String,
    /// Stands for everything that was sent, in its order.
    sent: DefaultHasher,
}

impl Checked {
    pub(super) fn new(case: Case, home: String) -> Self {
        Self { case, home, outcome: Outcome::default(), kept: Kept::new(case), sent: DefaultHasher::new() }
    }

    /// Checks everything after a turn.
    pub(super) async fn turn(&mut self, world: &World, agent: &Agent, turn: u32, ended: &Turn) -> Result<(), String> {
        self.outcome.turns += 1;
        match &ended.last {
            TurnEvent::Done { outcome: End::Answered { .. }, .. } => {}
            TurnEvent::Done { outcome: End::Failed { message, .. }, .. } if turn == 0 => {
                self.outcome.too_small = Some(message.clone());
                return Ok(());
            }
            other => self.wrong(turn, &format!("not answered: {other:?}")),
        }
        let calls = world.model.take_calls();
        let (summaries, chats): (Vec<&ModelCall>, Vec<&ModelCall>) =
            calls.iter().partition(|call| is_summary(call.prompt.path()));
        for call in &calls {
            self.note(&call.prompt);
            self.size(turn, call);
        }
        for call in &chats {
            self.shape(turn, &call.prompt);
            self.holds(turn, &call.prompt);
        }
        if ended.waited > WAIT {
            self.wrong(turn, &format!("{} ms were waited for summaries", ended.waited));
        }
        let last = chats.last().map(|call| &*call.prompt);
        let found = self.kept.turn(agent, turn, last, &world.said).await?;
        // A program that was killed in a compaction does it again before the next turn.
        let compactions = found.compactions.max(1) + usize::from(ended.is_killed);
        if summaries.len() > CALLS * compactions + found.rollovers {
            self.wrong(turn, &format!("{} calls for summaries in {compactions} compactions", summaries.len()));
        }
        if ended.is_killed && found.compactions > 0 {
            self.wrong(turn, "a compaction that was killed has changed something");
        }
        self.outcome.compactions += found.compactions as u64;
        self.outcome.rollovers += found.rollovers as u64;
        found.wrong.iter().for_each(|what| self.wrong(turn, what));
        Ok(())
    }

    /// Checks that a start of the program has changed nothing.
    pub(super) async fn started(&mut self, agent: &Agent, turn: u32) -> Result<(), String> {
        for what in self.kept.started(agent).await? {
            self.wrong(turn, &what);
        }
        Ok(())
    }

    /// Stands for everything that was sent.
    pub(super) fn sent(&self) -> u64 {
        self.sent.finish()
    }

    fn note(&mut self, prompt: &Prompt) {
        prompt.path().hash(&mut self.sent);
        for message in prompt.messages() {
            let text = message.text().replace(&self.home, "~");
            (message.role().as_str(), text, message.call_id()).hash(&mut self.sent);
            message.calls().iter().for_each(|call| (&call.id, &call.name, &call.arguments).hash(&mut self.sent));
        }
        prompt.tools().iter().for_each(|tool| tool.declaration().replace(&self.home, "~").hash(&mut self.sent));
    }

    /// A request leaves room for its reply, and the reply may have just that.
    fn size(&mut self, turn: u32, call: &ModelCall) {
        let usable = UsableWindow::default_for(WindowSize(self.case.window)).0 as usize;
        let reply = call.sampling.max_output.map_or(usable, |most| most as usize);
        let total = total(&call.prompt);
        let path = call.prompt.path();
        if !is_summary(path) {
            let reserve = (usable / 4).min(4096);
            self.outcome.largest = self.outcome.largest.max(total * 100 / (usable - reserve));
            if reply != reserve {
                self.wrong(turn, &format!("a reply may have {reply} tokens where {reserve} are kept for it"));
            }
        }
        if total + reply > usable {
            self.wrong(turn, &format!("{path} of {total} tokens and a reply of {reply} where {usable} fit"));
        }
    }

    /// One system message, first; calls and results in pairs.
    fn shape(&mut self, turn: u32, prompt: &Prompt) {
        let messages = prompt.messages();
        let system: Vec<usize> = (0..messages.len()).filter(|&at| messages[at].role() == Role::System).collect();
        if system != [0] {
            self.wrong(turn, &format!("system messages at {system:?}"));
        }
        let mut open: Vec<&str> = Vec::new();
        for message in messages {
            match message.call_id() {
                Some(id) if open.contains(&id) => open.retain(|call| *call != id),
                Some(id) => self.wrong(turn, &format!("the result {id} has no call")),
                None if !open.is_empty() => self.wrong(turn, &format!("calls without results: {open:?}")),
                None => {}
            }
            open.extend(message.calls().iter().map(|call| call.id.as_str()));
        }
    }

    /// The message that began the work, the goal and its locked decision are there.
    fn holds(&mut self, turn: u32, prompt: &Prompt) {
        let whole = prompt.messages().iter().map(PromptMessage::text).collect::<Vec<_>>().join("\n");
        let needed = match turn {
            0..GOAL_TURN => &[REQUEST][..],
            GOAL_TURN => &[GOAL_REQUEST],
            _ => &[GOAL_REQUEST, GOAL, LOCKED],
        };
        for text in needed.iter().filter(|text| !whole.contains(**text)) {
            self.wrong(turn, &format!("lost in a request: {text}"));
        }
    }

    fn wrong(&mut self, turn: u32, what: &str) {
        let Case { window, summariser, profile, .. } = self.case;
        let what: String = what.chars().take(300).collect();
        self.outcome.violations.push(format!("{window} {profile} {summariser:?}, turn {turn}: {what}"));
    }
}

/// Tokens of a prompt, counted from nothing.
pub(super) fn total(prompt: &Prompt) -> usize {
    let counter = WindowEstimate::default();
    let message = |message: &PromptMessage| {
        let calls = message.calls().iter().map(|call| counter.count(&call.name) + counter.count(&call.arguments));
        counter.count(message.text()) + calls.sum::<usize>()
    };
    let messages: usize = prompt.messages().iter().map(message).sum();
    messages + prompt.tools().iter().map(|tool| counter.count(&tool.declaration())).sum::<usize>()
}
