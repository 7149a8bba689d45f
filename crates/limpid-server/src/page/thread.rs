//! The messages of a conversation, as they are read.

use std::collections::{BTreeMap, HashMap, HashSet};

use limpid_core::goal::WithoutMarkers;
use limpid_core::quiet::without_quiet;
use limpid_core::ui::trees;
use limpid_core::{CallId, ConversationId, FailureClass, MessageId, Money, Role, Trust, TurnId, Usage};
use limpid_prompt::boundary;
use limpid_prompt::shown::{shown, shown_line};
use limpid_runtime::earlier::sayable;
use limpid_runtime::said::{Said, said};
use limpid_runtime::ui::{draws, live};
use limpid_store::{ConversationKind, RequestFilter, RequestSummary, StoredMessage};

use super::attached::{File, Words, by_button, taken_apart};
use super::earlier::folded;
use super::kept_drafts::KeptDrafts;
use super::parts::{Call, CallResult};
use super::screens::{Standing, said as drawn};
use super::state::Page;
use super::talks::Position;
use super::trouble::Trouble;

/// Messages that are shown at once; those before are a link away.
const SHOWN: usize = 200;

/// What is said of words that anybody may have written.
const OUTSIDE: &str = "treated as outside text";

/// Requests that are looked at for what answers have cost.
const REQUESTS: u32 = 400;

/// A message, or the messages of an answer.
pub(super) enum Entry {
    /// What the owner said, or handed in.
    Mine {
        id: i64,
        text: String,
        files: Vec<File>,
        time: String,
        /// Who wrote it, where that was not the owner.
        from: &'static str,
        /// Whether it can be said again in other words.
        can_be_edited: bool,
    },
    /// What an agent said at its end.
    Agent { id: i64, time: String, number: String, result: String, words: String },
    /// What was answered.
    Answer {
        id: i64,
        time: String,
        /// Where its words are as they were written; none where it says nothing.
        words: Option<String>,
        blocks: Vec<Block>,
        read: Option<Read>,
    },
    /// What is not sent any more.
    TakenOut { messages: usize, html: String },
    /// Why a message has no answer.
    Unanswered(String),
    /// The newest answer is not whole: this message can be sent again as it is.
    Again { id: i64 },
    /// Messages before this are sent as a summary. It is read in the next prompt of this conversation.
    Summarised { conversation: String },
}

/// A part of an answer.
pub(super) enum Block {
    Said(String),
    /// What others wrote, in words of the program's.
    Quoted(String),
    Called(Call),
    Note(String),
    /// A draft, with the way to it.
    Kept(String),
}

/// What an answer has read and cost.
pub(super) struct Read {
    pub(super) requests: usize,
    pub(super) usage: Usage,
    pub(super) cost: Option<Money>,
    /// The last request.
    pub(super) last: String,
}

/// What is shown of a conversation.
pub(super) struct Thread {
    pub(super) entries: Vec<Entry>,
    /// Messages before those.
    pub(super) earlier: usize,
    /// Why the last turn failed, where no entry says so.
    pub(super) failed: Option<String>,
    /// Whether the last entries say that the newest answer is not whole.
    is_broken: bool,
    /// The piece after which a browser goes on.
    pub(super) after: String,
}

/// The messages of a conversation but for those of turns that are shown while they run.
pub(super) async fn read_thread(page: &Page, id: &ConversationId, all: bool) -> Result<Thread, Trouble> {
    let talk = page.talks.of(id);
    // A turn that begins or ends between the look at it and at the store would be shown twice or not at all.
    let mut position = talk.position();
    for _ in 0..4 {
        let thread = stored(page, id, all, &position).await?;
        let now = talk.position();
        if now.turns == position.turns {
            return Ok(Thread { failed: talk.failed().filter(|_| !thread.is_broken), ..thread });
        }
        position = now;
    }
    stored(page, id, all, &position).await
}

async fn stored(page: &Page, id: &ConversationId, all: bool, position: &Position) -> Result<Thread, Trouble> {
    let mut rows = page.agent.store().messages(id, None).await?.rows;
    rows.retain(|row| !position.turns.contains(&row.turn));
    let own = page.agent.store().conversation(id).await?;
    let kind = own.as_ref().map(|own| own.kind).unwrap_or_default();
    let is_interactive = kind == ConversationKind::Interactive;
    let out = page.agent.store().hidden_turns(id).await?;
    if is_interactive {
        rows.retain(|row| !out.contains(&row.turn));
    }
    let draws = own.is_some_and(|own| draws(page.agent.config(), own.kind, own.audience));
    // Nothing can be pressed while an answer is under way.
    let live = if position.turns.is_empty() { live(&page.agent, id).await?.map(|live| live.message) } else { None };
    let broken = page.agent.conversations().incomplete(&rows).await?;
    let filter = RequestFilter { conversation: Some(id.clone()), limit: REQUESTS, ..RequestFilter::default() };
    let requests = page.agent.store().requests(filter).await?.rows;
    let earlier = if all { 0 } else { rows.len().saturating_sub(SHOWN) };
    let typed: HashSet<String> = page.agent.store().typed(id).await?.into_iter().collect();
    let through = page.agent.store().window(id).await?.through;
    let editable = sayable(&rows, &typed, &out, through);
    let spent = spent(&requests);
    let drafts = KeptDrafts::of(page, id).await?;
    let reader = Reader {
        page,
        conversation: id,
        broken: &broken,
        typed: &typed,
        out: &out,
        editable,
        through,
        spent,
        drafts,
        draws,
        live,
    };
    let is_broken = rows.last().is_some_and(|row| broken.contains_key(&row.id));
    let mut entries = folded(reader.entries(&rows, earlier))?;
    if is_interactive {
        // A screen takes the place of the one before.
        let newest = entries.iter().rposition(|entry| matches!(entry, Entry::Answer { .. }));
        entries.drain(..newest.unwrap_or_default());
    }
    let earlier = if is_interactive { 0 } else { earlier };
    Ok(Thread { entries, earlier, failed: None, is_broken, after: page.mark(position.after) })
}

/// What the requests of each turn have read and cost.
fn spent(requests: &[RequestSummary]) -> HashMap<TurnId, Read> {
    let mut spent: HashMap<TurnId, Read> = HashMap::new();
    for request in requests {
        let Some(turn) = &request.turn else { continue };
        let end = request.end.as_ref();
        let usage = end.and_then(|end| end.usage).unwrap_or_default();
        let read = spent.entry(turn.clone()).or_insert_with(|| Read {
            requests: 0,
            usage: Usage::default(),
            cost: Some(Money(0)),
            last: request.id.to_string(),
        });
        read.requests += 1;
        read.usage.input += usage.input;
        read.usage.cached += usage.cached;
        read.usage.output += usage.output;
        read.cost = read.cost.zip(end.and_then(|end| end.cost)).map(|(sum, cost)| Money(sum.0 + cost.0));
    }
    spent
}

struct Reader<'a> {
    page: &'a Page,
    conversation: &'a ConversationId,
    broken: &'a BTreeMap<MessageId, String>,
    /// What the owner has typed in the conversation.
    typed: &'a HashSet<String>,
    /// Turns that are not sent any more.
    out: &'a [TurnId],
    /// What the owner can say again.
    editable: HashSet<MessageId>,
    /// The last message that a summary stands for.
    through: Option<MessageId>,
    spent: HashMap<TurnId, Read>,
    /// The drafts that it tells of.
    drafts: KeptDrafts,
    /// Whether screens are drawn.
    draws: bool,
    /// The answer whose screens can be pressed.
    live: Option<MessageId>,
}

impl Reader<'_> {
    /// The messages from a place on, and whether they are not sent any more.
    fn entries(mut self, rows: &[StoredMessage], first: usize) -> Vec<(bool, Entry)> {
        let results: HashMap<(&TurnId, &CallId), &StoredMessage> =
            rows.iter().filter_map(|row| Some(((&row.turn, row.message.call_id.as_ref()?), row))).collect();
        let mut entries: Vec<(bool, Entry)> = Vec::new();
        let mut open: Option<TurnId> = None;
        for (at, row) in rows.iter().enumerate().skip(first) {
            let is_out = self.out.contains(&row.turn);
            if !is_out && self.through.take_if(|through| row.id > *through).is_some() {
                self.close(&mut entries, open.take());
                entries.push((false, Entry::Summarised { conversation: self.conversation.to_string() }));
            }
            match row.message.role {
                Role::User => {
                    self.close(&mut entries, open.take());
                    entries.extend(self.mine(rows, at, row).map(|entry| (is_out, entry)));
                }
                Role::Assistant => {
                    if open.as_ref() != Some(&row.turn) {
                        self.close(&mut entries, open.replace(row.turn.clone()));
                        let time = self.page.clock(row.at_ms);
                        let answer = Entry::Answer { id: row.id.0, time, words: None, blocks: Vec::new(), read: None };
                        entries.push((is_out, answer));
                    }
                    let mut said = self.answer(row, self.standing(rows, at), &results);
                    if let Some((_, Entry::Answer { id, words, blocks, .. })) = entries.last_mut() {
                        if said.iter().any(|block| matches!(block, Block::Said(_))) {
                            *words = Some(format!("/c/{}/words/{id}", self.conversation));
                        }
                        blocks.append(&mut said);
                    }
                }
                Role::Tool | Role::System => {}
            }
            if row.message.role != Role::Assistant
                && let Some(why) = self.broken.get(&row.id)
            {
                self.close(&mut entries, open.take());
                entries.push((is_out, Entry::Unanswered(sentence(&shown(plain(why))))));
            }
        }
        self.close(&mut entries, open);
        entries.extend(self.again(rows).map(|again| (false, again)));
        entries
    }

    /// The way to send the newest message again, where its answer is not whole.
    fn again(&self, rows: &[StoredMessage]) -> Option<Entry> {
        let last = rows.last().filter(|row| self.broken.contains_key(&row.id) && !self.out.contains(&row.turn))?;
        let said = rows.iter().find(|row| row.turn == last.turn && self.editable.contains(&row.id))?;
        Some(Entry::Again { id: said.id.0 })
    }

    /// What an answer cost stands below it.
    fn close(&mut self, entries: &mut [(bool, Entry)], turn: Option<TurnId>) {
        if let (Some(turn), Some((_, Entry::Answer { read, .. }))) = (turn, entries.last_mut()) {
            *read = self.spent.remove(&turn);
        }
    }

    fn mine(&self, rows: &[StoredMessage], at: usize, row: &StoredMessage) -> Option<Entry> {
        let (id, time) = (row.id.0, self.page.clock(row.at_ms));
        let (text, from) = match said(rows, at, self.typed) {
            Said::Nothing => return None,
            Said::Agent { number, result, words } => {
                let (number, result) = (shown_line(number), shown_line(result));
                return Some(Entry::Agent { id, time, number, result, words: shown(words).into_owned() });
            }
            Said::Owner(text) | Said::HandedIn(text, Trust::Owner) if self.is_pressed(rows, at, text) => {
                (text, by_button(Trust::Owner))
            }
            Said::HandedIn(text, _) if self.is_pressed(rows, at, text) => (text, by_button(Trust::Outside)),
            Said::Owner(text) => (text, ""),
            Said::HandedIn(text, Trust::Owner | Trust::File) => (text, "from a file of yours"),
            Said::HandedIn(text, Trust::Guest) => (text, "from a guest"),
            Said::HandedIn(text, Trust::Outside) => (text, OUTSIDE),
        };
        // What the owner says is never taken apart.
        let Words { text, files, .. } = match row.message.trust.is_foreign() {
            true => taken_apart(text),
            false => Words { text: text.to_owned(), ..Words::default() },
        };
        let can_be_edited = from.is_empty() && self.editable.contains(&row.id);
        let has_words = !text.trim().is_empty();
        let is_empty = !has_words && files.is_empty();
        // A file is most often the owner's own; what it says counts as anybody's all the same.
        let from = match (from, files.len()) {
            (OUTSIDE, 1) if !has_words => "a file, treated as outside text",
            (OUTSIDE, 2..) if !has_words => "files, treated as outside text",
            (from, _) => from,
        };
        let text = shown(&text).into_owned();
        (!is_empty).then_some(Entry::Mine { id, text, files, time, from, can_be_edited })
    }

    /// How the screens of an answer stand.
    fn standing<'r>(&self, rows: &'r [StoredMessage], at: usize) -> Standing<'r> {
        let row = &rows[at];
        if !self.draws {
            return Standing::Code;
        }
        if self.live == Some(row.id) {
            return Standing::Live(row.id.0);
        }
        let next = rows.iter().skip(at + 1).position(|row| row.message.role == Role::User).map(|next| at + 1 + next);
        match next.map(|next| said(rows, next, self.typed)) {
            Some(Said::Owner(text) | Said::HandedIn(text, _)) => Standing::Answered(text),
            _ => Standing::Still,
        }
    }

    /// Whether a message is what a button of the answer before it says.
    fn is_pressed(&self, rows: &[StoredMessage], at: usize, text: &str) -> bool {
        let before = at.checked_sub(1).and_then(|before| rows.get(before));
        let before =
            before.filter(|row| self.draws && row.message.role == Role::Assistant && !self.typed.contains(text));
        before.is_some_and(|row| trees(&row.message.text).iter().any(|tree| tree.sent(text).is_some()))
    }

    fn answer(
        &self,
        row: &StoredMessage,
        standing: Standing<'_>,
        results: &HashMap<(&TurnId, &CallId), &StoredMessage>,
    ) -> Vec<Block> {
        let mut text = words(self.page, &row.message.text);
        let mut blocks = Vec::new();
        if let Some((card, more)) = self.drafts.told(row, &text) {
            blocks.push(Block::Kept(card));
            text = more.to_owned();
        }
        let quoted = boundary::last(&text).filter(|_| row.request.is_none());
        let (text, quoted) = quoted.map_or((&*text, None), |(before, quoted)| (before, Some(quoted)));
        if !text.trim().is_empty() {
            blocks.push(Block::Said(drawn(text, standing)));
        }
        blocks.extend(quoted.map(|quoted| Block::Quoted(shown(quoted).into_owned())));
        for call in &row.message.calls {
            let result = results.get(&(&row.turn, &call.id));
            let drafted = result.and_then(|_| self.drafts.called(&row.turn, &call.id));
            let result = result.map(|row| CallResult::new(&row.message.text, Some(row.message.trust)));
            blocks.push(Block::Called(Call::new(&call.name, &call.arguments, result)));
            blocks.extend(drafted.map(Block::Kept));
        }
        blocks.extend(self.broken.get(&row.id).map(|why| Block::Note(sentence(&shown(plain(why))))));
        blocks
    }
}

/// What of a model's words is shown.
pub(super) fn words(page: &Page, text: &str) -> String {
    let text = without_quiet(text);
    if !page.agent.config().chat.hide_markers {
        return text;
    }
    let mut markers = WithoutMarkers::default();
    markers.push(&text) + &markers.finish()
}

/// Why an answer failed, without the name of its kind of failure.
fn plain(why: &str) -> &str {
    let without = why.split_once(": ").filter(|(class, _)| FailureClass::parse(class).is_some());
    without.map_or(why, |(_, words)| words)
}

/// Words as a sentence of their own; a model that stands at its beginning is called as it is.
fn sentence(words: &str) -> String {
    let words = words.trim_end_matches('.');
    if words.split_whitespace().next().is_some_and(|first| first.contains('/')) {
        return format!("{words}.");
    }
    let mut letters = words.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).chain(['.']).collect()
}
