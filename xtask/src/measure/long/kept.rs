//! What must hold of what is stored, and of its likeness to what was sent.

use std::collections::{BTreeMap, HashSet};

use limpid_core::goal::{GoalStatus, Goals};
use limpid_core::{ConversationId, Digest, MessageId, Role, WindowView};
use limpid_prompt::count::{TokenCounter, WindowEstimate};
use limpid_prompt::{Prompt, PromptMessage};
use limpid_runtime::{Agent, ConversationChoice, PreviewRequest};
use limpid_store::{StoredMessage, WindowEvent};

use super::Case;
use super::check::total;
use super::model::{GOAL, LOCKED};
use super::world::{GOAL_TURN, mark, names_a_file};

/// Percent of what is available that a conversation has at most after a compaction.
const AFTERWARDS: u64 = 60;

/// Turns after which the whole store is compared.
const EVERY: u32 = 50;

/// What the store held after the last turn.
pub(super) struct Kept {
    case: Case,
    view: WindowView,
    /// The newest change of the window that was seen.
    seen: i64,
    /// What stood in the whole store when it was compared last.
    messages: Vec<u64>,
    /// Everything that the next request is made from, in words.
    state: Option<String>,
    /// Files that the goal has.
    files: usize,
}

/// What was found after a turn.
#[derive(Default)]
pub(super) struct Found {
    pub(super) compactions: usize,
    pub(super) rollovers: usize,
    pub(super) wrong: Vec<String>,
}

impl Kept {
    pub(super) fn new(case: Case) -> Self {
        Self { case, view: WindowView::default(), seen: 0, messages: Vec::new(), state: None, files: 0 }
    }

    /// Checks the store after a turn. `last` is what was sent last in it, `said` what the person has said so far.
    pub(super) async fn turn(
        &mut self,
        agent: &Agent,
        turn: u32,
        last: Option<&Prompt>,
        said: &[u64],
    ) -> Result<Found, String> {
        let mut found = Found::default();
        let Some(conversation) =
            agent.directory().find(&ConversationChoice::Last).await.map_err(|error| fault(&error))?
        else {
            return Ok(found);
        };
        let store = agent.store();
        let view = store.window(&conversation.id).await.map_err(|error| fault(&error))?;
        let events = store.window_events(&conversation.id, 20).await.map_err(|error| fault(&error))?.rows;
        let fresh: Vec<&WindowEvent> = events.iter().filter(|event| event.id > self.seen).collect();
        self.digests(&view, &mut found.wrong);
        self.compactions(agent, &fresh, &mut found).await?;
        self.sent_is_stored(agent, &conversation.id, &fresh, last, &mut found.wrong).await?;
        // Behind a stranger's text no line of an answer moves the goal.
        let trust = store.trust_until(&conversation.id, MessageId(i64::MAX)).await.map_err(|error| fault(&error))?;
        self.files += usize::from(names_a_file(turn) && !trust.is_foreign());
        goal(agent, turn, self.files, &mut found.wrong).await?;
        if !fresh.is_empty() || turn.is_multiple_of(EVERY) {
            self.recount(agent, &mut found.wrong).await?;
        }
        if turn.is_multiple_of(EVERY) || turn + 1 == self.case.turns {
            let all = store.messages(&conversation.id, None).await.map_err(|error| fault(&error))?.rows;
            self.whole(&all, said, &mut found.wrong);
        }
        self.seen = events.first().map_or(self.seen, |event| event.id.max(self.seen));
        self.view = view;
        Ok(found)
    }

    /// Every message is there once, in its order, each with one answer, and none was changed since.
    fn whole(&mut self, all: &[StoredMessage], said: &[u64], wrong: &mut Vec<String>) {
        let is_of = |role: Role| move |row: &&StoredMessage| row.message.role == role;
        let typed = |row: &StoredMessage| mark(row.typed.as_deref().unwrap_or(&row.message.text));
        let stored: Vec<u64> = all.iter().filter(is_of(Role::User)).map(typed).collect();
        if stored != said {
            wrong.push(format!("the person said {} messages, {} others are stored", said.len(), stored.len()));
        }
        let answers = all.iter().filter(is_of(Role::Assistant)).filter(|row| row.message.calls.is_empty()).count();
        if answers != said.len() {
            wrong.push(format!("{answers} answers to {} messages are stored", said.len()));
        }
        let now: Vec<u64> = all.iter().map(|row| mark(&format!("{} {:?}", row.id, row.message))).collect();
        if !now.starts_with(&self.messages) {
            wrong.push("what was stored has changed".to_owned());
        }
        self.messages = now;
    }

    /// Takes note of everything that the next request is made from.
    pub(super) async fn hold(&mut self, agent: &Agent) -> Result<(), String> {
        self.state = Some(state(agent).await?);
        Ok(())
    }

    /// Says what a start of the program has changed.
    pub(super) async fn started(&mut self, agent: &Agent) -> Result<Vec<String>, String> {
        let Some(before) = self.state.take() else { return Ok(Vec::new()) };
        let now = state(agent).await?;
        Ok(if now == before { Vec::new() } else { vec![format!("a start changed {before} to {now}")] })
    }

    /// Digests have names of their own, ranges that never meet, counts that are true, and never grow.
    fn digests(&self, view: &WindowView, wrong: &mut Vec<String>) {
        let ids: HashSet<String> = view.digests.iter().map(Digest::id).collect();
        if ids.len() != view.digests.len() {
            wrong.push("two digests have one id".to_owned());
        }
        // The store holds one conversation, whose messages are numbered without a gap.
        let follows = |pair: &[Digest]| pair[0].last.0 + 1 == pair[1].first.0;
        if !view.digests.windows(2).all(follows) || view.digests.first().is_some_and(|first| first.first.0 != 1) {
            wrong.push(format!("ranges of digests meet or leave a gap: {ids:?}"));
        }
        if view.digests.last().map(|digest| digest.last) != view.through {
            wrong.push(format!("digests end with {:?}, and {:?} is hidden", view.digests.last(), view.through));
        }
        let before: BTreeMap<String, u32> =
            self.view.digests.iter().map(|digest| (digest.id(), digest.tokens)).collect();
        let counter = WindowEstimate::default();
        for digest in &view.digests {
            let tokens = counter.count(&digest.text);
            if tokens != digest.tokens as usize {
                wrong.push(format!("{} is {tokens} tokens, not {}", digest.id(), digest.tokens));
            }
            // The one summary of a profile that keeps one takes in more each time.
            if before.get(&digest.id()).is_some_and(|before| digest.tokens > *before) {
                wrong.push(format!("{} has grown", digest.id()));
            }
        }
    }

    /// At most one compaction an answer, after it was whole, and with room afterwards.
    async fn compactions(&self, agent: &Agent, fresh: &[&WindowEvent], found: &mut Found) -> Result<(), String> {
        let compactions: Vec<&&WindowEvent> = fresh.iter().filter(|event| event.new.kind == "compaction").collect();
        found.compactions = compactions.len();
        found.rollovers = fresh.iter().filter(|event| event.new.kind == "rollover").count();
        let newest: HashSet<_> = compactions.iter().map(|event| event.new.newest).collect();
        if newest.len() != compactions.len() {
            found.wrong.push("two compactions after one answer".to_owned());
        }
        if let Some(last) = fresh.first().filter(|event| event.new.kind == "compaction" && event.new.failure.is_none())
        {
            let report =
                agent.conversations().context(&ConversationChoice::Last).await.map_err(|error| fault(&error))?;
            let available = report.size.available();
            if last.new.after * 100 > available as u64 * AFTERWARDS {
                found.wrong.push(format!("{} of {available} tokens after a compaction", last.new.after));
            }
        }
        Ok(())
    }

    /// The size is the count of the next request, but for a thousandth: the estimate of a window
    /// rounds each part by itself, and the size adds other parts up than the request has.
    async fn recount(&self, agent: &Agent, wrong: &mut Vec<String>) -> Result<(), String> {
        let size = agent.conversations().context(&ConversationChoice::Last).await.map_err(|error| fault(&error))?.size;
        let request = PreviewRequest { conversation: ConversationChoice::Last, ..PreviewRequest::default() };
        let counted = total(&agent.preview(request).await.map_err(|error| fault(&error))?.prompt);
        if size.total().abs_diff(counted) * 1000 > counted {
            wrong.push(format!("the size has {} tokens, the request {counted}: {size:?}", size.total()));
        }
        Ok(())
    }

    /// What was sent last is what is stored and shown, message for message.
    async fn sent_is_stored(
        &self,
        agent: &Agent,
        id: &ConversationId,
        fresh: &[&WindowEvent],
        last: Option<&Prompt>,
        wrong: &mut Vec<String>,
    ) -> Result<(), String> {
        let Some(prompt) = last else { return Ok(()) };
        let all = agent.store().messages(id, self.view.through).await.map_err(|error| fault(&error))?.rows;
        let Some(answer) = all.last().map(|row| row.id) else { return Ok(()) };
        // The view of that request: what changed after the answer was not there yet.
        let changed = fresh.iter().filter(|event| event.new.newest.is_some_and(|newest| newest < answer));
        let view = changed.filter_map(|event| event.new.view.as_ref()).next().unwrap_or(&self.view);
        let rows: Vec<&StoredMessage> = all.iter().filter(|row| row.id < answer && view.shows(row.id)).collect();
        digests_are_sent(view, prompt, wrong);
        let is_note =
            |message: &PromptMessage| message.parts().iter().any(|part| matches!(part.section(), "pin" | "digests"));
        let sent: Vec<&PromptMessage> =
            prompt.messages().iter().filter(|message| message.role() != Role::System && !is_note(message)).collect();
        if sent.len() != rows.len() {
            wrong.push(format!("{} messages were sent, {} are stored and shown", sent.len(), rows.len()));
            return Ok(());
        }
        let newest = rows.iter().rposition(|row| row.message.role == Role::User);
        for (at, (sent, row)) in sent.iter().zip(&rows).enumerate() {
            // The message that is answered may leave no room for what its turn adds; no view says so.
            let is_cut = newest == Some(at) && is_cut_from(sent.text(), &row.message.text);
            let is_whole = !is_cut && view.limit_of(row.id, row.message.role == Role::Tool).is_none();
            let is_foreign = row.message.trust.is_foreign();
            let is_same = sent.role() == row.message.role
                && sent.call_id() == row.message.call_id.as_ref().map(limpid_core::CallId::as_str)
                && (is_foreign || !is_whole || sent.text() == row.message.text);
            if !is_same {
                let (sent, stored) = (start(sent.text()), start(&row.message.text));
                wrong.push(format!("message {}: sent {sent:?}, stored {stored:?}", row.id));
            }
        }
        Ok(())
    }
}

/// Whether a text is the head and the tail of another.
fn is_cut_from(text: &str, whole: &str) -> bool {
    let parts = text.split_once("\n[… ").and_then(|(head, rest)| Some((head, rest.split_once(" …]\n")?.1)));
    parts.is_some_and(|(head, tail)| whole.starts_with(head) && whole.ends_with(tail))
}

/// Every digest that is shown was sent, once. Quotes and what boundaries do to signs are left aside.
fn digests_are_sent(view: &WindowView, prompt: &Prompt, wrong: &mut Vec<String>) {
    let bare = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let parts = prompt.messages().iter().flat_map(PromptMessage::parts);
    let notes = parts.filter(|part| matches!(part.section(), "digests" | "suffix"));
    let mut notes = notes.map(|part| bare(part.text())).collect::<Vec<_>>().join(" ");
    let mut all: Vec<String> = view.digests.iter().map(|digest| bare(&digest.text)).collect();
    // Nothing stands between two of them, and a long one may begin with the words of a short one.
    all.sort_by_key(|text| std::cmp::Reverse(text.len()));
    all.retain(|text| !text.is_empty());
    for text in &all {
        match notes.find(text) {
            Some(at) => notes.replace_range(at..at + text.len(), " "),
            None => wrong.push(format!("a digest was not sent: {:?} in {notes:?}", start(text))),
        }
    }
    for text in all.iter().filter(|text| notes.contains(*text)) {
        wrong.push(format!("a digest was sent more than once: {:?}, and again in {notes:?}", start(text)));
    }
}

/// The goal is that of its log, and nothing that a stranger or the person wrote has changed it.
async fn goal(agent: &Agent, turn: u32, files: usize, wrong: &mut Vec<String>) -> Result<(), String> {
    let goals = agent.goals().list(&ConversationChoice::Last).await.map_err(|error| fault(&error))?;
    if turn < GOAL_TURN {
        return Ok(());
    }
    let history = agent.goals().history(&ConversationChoice::Last).await.map_err(|error| fault(&error))?;
    if Goals::fold(&history.records).0 != goals || !history.warnings.is_empty() {
        wrong.push("the goal is not that of its log".to_owned());
    }
    let [goal] = goals.history() else {
        wrong.push(format!("there are {} goals", goals.history().len()));
        return Ok(());
    };
    let decisions: Vec<_> = goal.decisions().iter().map(|one| (one.description(), one.is_locked())).collect();
    if goal.description() != GOAL
        || goal.status() != GoalStatus::Active
        || decisions != [(LOCKED, true)]
        || goal.artifacts().len() != files
    {
        wrong.push(format!("the goal should have {files} files and one decision: {goal:?}"));
    }
    Ok(())
}

/// Everything that the next request of the conversation is made from.
async fn state(agent: &Agent) -> Result<String, String> {
    let choice = ConversationChoice::Last;
    let report = agent.conversations().context(&choice).await.map_err(|error| fault(&error))?;
    let goals = agent.goals().list(&choice).await.map_err(|error| fault(&error))?;
    let tiers = agent.conversations().tiers(&choice).await.map_err(|error| fault(&error))?;
    let mode = &report.conversation.mode;
    Ok(format!("{:?} {} {:?} {mode:?} {tiers} {goals:?}", report.size, report.shown, report.view))
}

fn start(text: &str) -> String {
    text.chars().take(60).collect()
}

fn fault(error: &impl ToString) -> String {
    error.to_string()
}
