//! What was accepted beside what is stored and done.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use limpid_core::{ConversationId, DraftState, Role, ToolCall, Trust};
use limpid_store::{NewInbound, Store, StoredMessage, TurnOutcome};

use super::world::{CHATS, effects, open_store};

/// What a call says of which nobody knows whether it was carried out.
const UNKNOWN: &str = "outcome unknown";

/// Counts by kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    /// Things that the process said were accepted.
    pub(super) accepted: BTreeMap<&'static str, u64>,
    /// Neither done nor reported as of unknown outcome.
    pub(super) lost: BTreeMap<&'static str, u64>,
    /// Done more than once.
    pub(super) doubled: BTreeMap<&'static str, u64>,
    /// Reported as of unknown outcome, and done at most once.
    pub(super) unknown: BTreeMap<&'static str, u64>,
    /// What was lost or doubled, by name.
    pub(super) found: Vec<String>,
}

/// What became of one thing.
enum Fate {
    Once,
    Lost,
    Doubled,
    Unknown,
}

const KINDS: [&str; 4] = ["message", "reminder", "heartbeat", "draft"];

/// Compares what was told with what is there.
pub(super) async fn compare(home: &Path, told: &[String]) -> Result<Sums, String> {
    let store = open_store(home)?;
    let done = Done::read(home, &*store).await?;
    let mut sums = Sums::default();
    for map in [&mut sums.accepted, &mut sums.lost, &mut sums.doubled, &mut sums.unknown] {
        map.extend(KINDS.map(|kind| (kind, 0)));
    }
    // A draft is told again when the process dies before it is approved.
    let told: BTreeSet<&str> = told.iter().map(String::as_str).collect();
    for line in told {
        let Some((word, key)) = line.split_once(' ') else { return Err(format!("an odd line: {line}")) };
        let Some(kind) = KINDS.into_iter().find(|kind| *kind == word) else {
            return Err(format!("an odd line: {line}"));
        };
        let fate = match kind {
            "message" => done.message(&*store, key).await?,
            "draft" => done.draft(key),
            _ => done.delivery(key),
        };
        let count = |map: &mut BTreeMap<&'static str, u64>| *map.entry(kind).or_default() += 1;
        count(&mut sums.accepted);
        match fate {
            Fate::Once => {}
            Fate::Lost => {
                sums.found.push(format!("lost: {line}"));
                count(&mut sums.lost);
            }
            Fate::Doubled => {
                sums.found.push(format!("doubled: {line}"));
                count(&mut sums.doubled);
            }
            Fate::Unknown => count(&mut sums.unknown),
        }
    }
    Ok(sums)
}

/// Everything that is stored and done.
struct Done {
    messages: Vec<StoredMessage>,
    effects: BTreeMap<String, u64>,
    drafts: Vec<(String, DraftState, String)>,
}

impl Done {
    async fn read(home: &Path, store: &dyn Store) -> Result<Self, String> {
        let mut messages = Vec::new();
        for chat in CHATS {
            let listed = store.messages(&ConversationId::new(chat), None).await.map_err(|error| error.to_string())?;
            if !listed.broken.is_empty() {
                return Err(format!("broken records: {:?}", listed.broken));
            }
            messages.extend(listed.rows);
        }
        let mut counts = BTreeMap::new();
        for key in effects(home)? {
            *counts.entry(key).or_default() += 1;
        }
        let drafts = store.drafts(&DraftState::ALL).await.map_err(|error| error.to_string())?.rows;
        let drafts = drafts
            .into_iter()
            .map(|draft| (draft.new.destination.clone().unwrap_or_default(), draft.state, draft.detail));
        Ok(Self { messages, effects: counts, drafts: drafts.collect() })
    }

    /// A message stands in its chat once and its turn has ended; delivered again, it is known; its tool ran once, or the
    /// model was told that nobody knows.
    async fn message(&self, store: &dyn Store, key: &str) -> Result<Fate, String> {
        let again = NewInbound {
            conversation: ConversationId::new(CHATS[0]),
            key: Some(key.to_owned()),
            text: String::new(),
            trust: Trust::Owner,
            now_ms: 0,
        };
        if store.accept(again).await.map_err(|error| error.to_string())?.fresh {
            return Ok(Fate::Lost);
        }
        let asked: Vec<&StoredMessage> = self
            .messages
            .iter()
            .filter(|row| row.message.role == Role::User && row.message.text.split_whitespace().nth(1) == Some(key))
            .collect();
        let [asked] = asked.as_slice() else {
            return Ok(if asked.is_empty() { Fate::Lost } else { Fate::Doubled });
        };
        let turn = store.turn(&asked.turn).await.map_err(|error| error.to_string())?;
        if turn.and_then(|turn| turn.end).is_none_or(|end| end.outcome != TurnOutcome::Answered) {
            return Ok(Fate::Lost);
        }
        if !key.starts_with('m') {
            return Ok(Fate::Once);
        }
        Ok(fate(self.effects.get(key).copied().unwrap_or_default(), self.is_unknown(key)))
    }

    /// Whether the model was told that nobody knows what came of the call for a key.
    fn is_unknown(&self, key: &str) -> bool {
        let calls = self.messages.iter().flat_map(|row| &row.message.calls);
        let of_key = |call: &&ToolCall| call.arguments.contains(&format!("{key:?}"));
        let ids: Vec<_> = calls.filter(of_key).map(|call| &call.id).collect();
        let results =
            self.messages.iter().filter(|row| row.message.call_id.as_ref().is_some_and(|id| ids.contains(&id)));
        results.into_iter().any(|row| row.message.text.contains(UNKNOWN))
    }

    fn delivery(&self, key: &str) -> Fate {
        let said = |row: &&StoredMessage| row.message.role == Role::Assistant && row.message.text == key;
        fate(self.messages.iter().filter(said).count() as u64, false)
    }

    /// A draft was sent once, or has failed and says so.
    fn draft(&self, key: &str) -> Fate {
        let mut own = self.drafts.iter().filter(|(to, ..)| to == key);
        let (Some((_, state, _)), None) = (own.next(), own.next()) else { return Fate::Lost };
        fate(self.effects.get(key).copied().unwrap_or_default(), *state == DraftState::Failed)
    }
}

fn fate(times: u64, is_reported: bool) -> Fate {
    match (times, is_reported) {
        (2.., _) => Fate::Doubled,
        (_, true) => Fate::Unknown,
        (1, false) => Fate::Once,
        (0, false) => Fate::Lost,
    }
}
