//! What must hold after every turn, by recount from what was sent and from what is stored.

use std::collections::HashSet;

use limpid_core::{Role, UsableWindow, WindowSize};
use limpid_prompt::Prompt;
use limpid_prompt::count::{Estimate, TokenCounter};
use limpid_runtime::{AgentEvent, ConversationChoice, Outcome as End};

use super::world::{REQUEST, World};
use super::{Case, Outcome};

/// Percent of what is available that a conversation has at most after a compaction (OLLM-122).
const AFTERWARDS: u64 = 60;

/// Calls of a model that one compaction makes at most (OLLM-095).
const CALLS: usize = 3;

/// Turns after which the whole store is compared.
const EVERY: u32 = 50;

/// What was checked so far.
pub(super) struct Checked {
    case: Case,
    pub(super) outcome: Outcome,
    /// Compactions that were seen.
    seen: i64,
    messages: usize,
}

impl Checked {
    pub(super) fn new(case: Case) -> Self {
        Self { case, outcome: Outcome::default(), seen: 0, messages: 0 }
    }

    /// Checks everything after a turn.
    pub(super) async fn turn(&mut self, world: &mut World, turn: u32, last: &AgentEvent) -> Result<(), String> {
        self.outcome.turns += 1;
        match last {
            AgentEvent::Done { outcome: End::Answered { .. }, .. } => {}
            AgentEvent::Done { outcome: End::Failed { message, .. }, .. } if turn == 0 => {
                self.outcome.too_small = Some(message.clone());
                return Ok(());
            }
            other => self.wrong(turn, &format!("not answered: {other:?}")),
        }
        let sent = world.model.take_sent();
        let (summaries, chats): (Vec<_>, Vec<_>) =
            sent.iter().partition(|prompt| matches!(prompt.path(), "summarize" | "merge-summaries"));
        for prompt in sent.iter() {
            self.size(turn, prompt);
        }
        for prompt in &chats {
            self.shape(turn, prompt);
        }
        if summaries.len() > CALLS {
            self.wrong(turn, &format!("{} calls for summaries between two answers", summaries.len()));
        }
        self.view(world, turn).await
    }

    fn size(&mut self, turn: u32, prompt: &Prompt) {
        let usable = UsableWindow::default_for(WindowSize(self.case.window)).0 as usize;
        let room = match prompt.path() {
            "summarize" | "merge-summaries" => usable,
            _ => usable - (usable / 4).min(4096),
        };
        let total = total(prompt);
        self.outcome.largest = self.outcome.largest.max(total * 100 / room);
        if total > room {
            self.wrong(turn, &format!("{} of {total} tokens where {room} fit", prompt.path()));
        }
    }

    fn shape(&mut self, turn: u32, prompt: &Prompt) {
        let messages = prompt.messages();
        let system: Vec<usize> = (0..messages.len()).filter(|&at| messages[at].role() == Role::System).collect();
        if system != [0] {
            self.wrong(turn, &format!("system messages at {system:?}"));
        }
        let whole: String = messages.iter().map(limpid_prompt::PromptMessage::text).collect::<Vec<_>>().join("\n");
        if !whole.contains(REQUEST) {
            self.wrong(turn, "the request that began the work is lost");
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

    async fn view(&mut self, world: &World, turn: u32) -> Result<(), String> {
        let fault = |error: limpid_runtime::AgentError| error.to_string();
        let found = world.agent.find_conversation(&ConversationChoice::Last).await.map_err(fault)?;
        let Some(conversation) = found else { return Ok(()) };
        let store = world.agent.store();
        let read = |error: limpid_store::StoreError| error.to_string();
        let view = store.window(&conversation.id).await.map_err(read)?;
        let ids: HashSet<String> = view.digests.iter().map(limpid_core::Digest::id).collect();
        if ids.len() != view.digests.len() {
            self.wrong(turn, "two digests have one id");
        }
        if view.digests.windows(2).any(|pair| pair[0].last >= pair[1].first) {
            self.wrong(turn, "ranges of digests meet");
        }
        let counter = Estimate::default();
        for digest in &view.digests {
            if counter.count(&digest.text) != digest.tokens as usize {
                self.wrong(
                    turn,
                    &format!("{} is {} tokens, not {}", digest.id(), counter.count(&digest.text), digest.tokens),
                );
            }
        }
        let events = store.window_events(&conversation.id, 20).await.map_err(read)?.rows;
        let fresh: Vec<_> =
            events.iter().filter(|event| event.id > self.seen && event.new.kind == "compaction").collect();
        let newest: HashSet<_> = fresh.iter().map(|event| event.new.newest).collect();
        if newest.len() != fresh.len() {
            self.wrong(turn, "two compactions after one answer");
        }
        if let Some(last) = fresh.first().filter(|event| event.new.failure.is_none()) {
            let available = world.agent.context(&ConversationChoice::Last).await.map_err(fault)?.ledger.available();
            if last.new.after * 100 > available as u64 * AFTERWARDS {
                self.wrong(turn, &format!("{} of {available} tokens after a compaction", last.new.after));
            }
        }
        self.outcome.compactions += fresh.len() as u64;
        self.seen = events.first().map_or(self.seen, |event| event.id.max(self.seen));
        if turn.is_multiple_of(EVERY) || turn + 1 == self.case.turns {
            let all = store.messages(&conversation.id, None).await.map_err(read)?.rows;
            let asked = all.iter().filter(|row| row.message.role == Role::User).count();
            if asked != turn as usize + 1 || all.len() < self.messages {
                self.wrong(turn, &format!("{asked} messages of the person's are stored"));
            }
            self.messages = all.len();
        }
        Ok(())
    }

    fn wrong(&mut self, turn: u32, what: &str) {
        let Case { window, summariser, profile, .. } = self.case;
        let what: String = what.chars().take(300).collect();
        self.outcome.violations.push(format!("{window} {profile} {summariser:?}, turn {turn}: {what}"));
    }
}

/// Tokens of a prompt, counted from nothing.
fn total(prompt: &Prompt) -> usize {
    let counter = Estimate::default();
    let message = |message: &limpid_prompt::PromptMessage| {
        let calls = message.calls().iter().map(|call| counter.count(&call.name) + counter.count(&call.arguments));
        counter.count(message.text()) + calls.sum::<usize>()
    };
    let messages: usize = prompt.messages().iter().map(message).sum();
    messages + prompt.tools().iter().map(|tool| counter.count(&tool.declaration())).sum::<usize>()
}
