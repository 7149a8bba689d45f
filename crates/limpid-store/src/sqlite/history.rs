//! Messages of a conversation that hold words of a query or are near its meaning, and what stands around them.

use std::collections::BTreeMap;

use limpid_core::ConversationId;
use limpid_core::message::QUOTES_A_STRANGER;
use limpid_core::recall::{Corpus, Meaning, Place};
use rusqlite::named_params;

use super::failure::Outcome;
use super::recall::quoted;
use super::row::list;
use super::vectors::Likenesses;
use super::{Tx, messages};
use crate::FoundMessages;

/// After a pause of so many milliseconds people sit down anew: what comes then is another session.
const PAUSE_MS: i64 = 4 * 60 * 60 * 1000;

/// Messages before and after a match that may answer it.
const AROUND: usize = 2;

/// Bytes of a word with the space behind it, near enough for an average.
const BYTES_OF_WORD: u64 = 6;

/// The messages that hold any of these words or are near the meaning, and those around them. Those of the owner's are chosen as if
/// no stranger's were there.
pub(super) fn search(
    tx: &Tx<'_>,
    id: &ConversationId,
    (words, meaning): (&[String], Option<&Meaning>),
    limit: u32,
) -> Outcome<FoundMessages> {
    let words = words.iter().filter(|word| word.contains(char::is_alphanumeric));
    let Outline { lines, mut corpus, mut whole } = outline(tx, id)?;
    let at = |id: i64| lines.binary_search_by_key(&id, |line| line.id).ok();
    let mut held = vec![0.0; lines.len()];
    for word in words {
        let holding: Vec<usize> = matching(tx, id, word)?.into_iter().filter_map(at).collect();
        let ours = holding.iter().filter(|at| !lines[**at].is_strangers).count() as u64;
        let all = holding.len() as u64;
        for at in holding {
            held[at] += if lines[at].is_strangers { whole.worth(all) } else { corpus.worth(ours) };
        }
        corpus.holding.push((word.clone(), ours));
        whole.holding.push((word.clone(), all));
    }
    let likenesses = match meaning {
        Some(meaning) => Likenesses::of_messages(tx, id, meaning)?,
        None => Likenesses::default(),
    };
    let near = likenesses.nearest(|id| at(id).is_some_and(|at| lines[at].is_strangers));
    let mut hits: Vec<usize> = near.into_iter().filter_map(at).collect();
    for of_strangers in [false, true] {
        hits.extend(promising(&lines, &held, of_strangers, limit as usize));
    }
    let mut wanted: BTreeMap<i64, &Line> = BTreeMap::new();
    for hit in hits {
        let around = lines.get(hit.saturating_sub(AROUND)..lines.len().min(hit + AROUND + 1)).unwrap_or_default();
        let around = around.iter().filter(|line| line.place.session == lines[hit].place.session);
        wanted.extend(around.map(|line| (line.id, line)));
    }
    let mut found = FoundMessages { corpus, whole, ..FoundMessages::default() };
    let mut statement = tx.sql.prepare_cached("SELECT * FROM message WHERE owner = ? AND id = ?")?;
    for (id, line) in wanted {
        let listed = list(&mut statement, (tx.owner, id), "message", "id", messages::message)?;
        found.of_strangers.extend(listed.rows.iter().filter(|_| line.is_strangers).map(|row| row.id));
        found.messages.extend(listed.rows.into_iter().map(|row| (row, line.place)));
        found.broken.extend(listed.broken);
    }
    found.likeness = likenesses.of(found.messages.iter().map(|(row, _)| row.id), |id| id.0);
    Ok(found)
}

/// The messages of one side whose words are worth most together, of equals the newest.
fn promising(lines: &[Line], held: &[f64], of_strangers: bool, limit: usize) -> Vec<usize> {
    let is_one = |at: &usize| held[*at] > 0.0 && lines[*at].is_strangers == of_strangers;
    let mut hits: Vec<usize> = (0..lines.len()).filter(is_one).collect();
    hits.sort_unstable_by(|a, b| held[*b].total_cmp(&held[*a]).then(b.cmp(a)));
    hits.truncate(limit);
    hits
}

/// A message and where it stands.
struct Line {
    id: i64,
    place: Place,
    /// Whether a stranger said it, or it may say what a stranger's text led to.
    is_strangers: bool,
}

/// Every message of a conversation in their order, and how much text there is: of the owner's and in all.
struct Outline {
    lines: Vec<Line>,
    corpus: Corpus,
    whole: Corpus,
}

fn outline(tx: &Tx<'_>, id: &ConversationId) -> Outcome<Outline> {
    // What was typed is shown without what the prompt put behind it, which may quote strangers.
    let mut statement = tx.sql.prepare_cached(
        "SELECT id, at_ms, octet_length(text), trust IN ('guest', 'outside')
                OR (role = 'user' AND typed IS NULL AND instr(text, :quotes) > 0)
         FROM message WHERE owner = :owner AND conversation = :conversation ORDER BY id",
    )?;
    let params = named_params! { ":owner": tx.owner, ":conversation": id.as_str(), ":quotes": QUOTES_A_STRANGER };
    let mut rows = statement.query(params)?;
    let mut outline = Outline { lines: Vec::new(), corpus: Corpus::default(), whole: Corpus::default() };
    let (mut place, mut last_ms) = (Place { session: 0, position: 0 }, None);
    while let Some(row) = rows.next()? {
        let at_ms: i64 = row.get(1)?;
        let paused = last_ms.is_some_and(|last: i64| at_ms.saturating_sub(last) > PAUSE_MS);
        place = Place { session: place.session + i64::from(paused), position: place.position + 1 };
        let line = Line { id: row.get(0)?, place, is_strangers: row.get(3)? };
        let (bytes, own) = (row.get::<_, i64>(2)?.unsigned_abs(), u64::from(!line.is_strangers));
        outline.corpus.documents += own;
        outline.corpus.words += own * bytes;
        outline.whole.documents += 1;
        outline.whole.words += bytes;
        outline.lines.push(line);
        last_ms = Some(at_ms);
    }
    outline.corpus.words /= BYTES_OF_WORD;
    outline.whole.words /= BYTES_OF_WORD;
    Ok(outline)
}

/// The messages that hold one word. The index cuts scripts without spaces at punctuation only: their words are looked
/// for in the text itself.
fn matching(tx: &Tx<'_>, id: &ConversationId, word: &str) -> Outcome<Vec<i64>> {
    let mut statement = if word.is_ascii() {
        tx.sql.prepare_cached(
            "SELECT message.id FROM message_fts JOIN message ON message.id = message_fts.rowid
             WHERE message_fts MATCH :word AND message.owner = :owner AND message.conversation = :conversation
             ORDER BY message.id",
        )?
    } else {
        tx.sql.prepare_cached(
            "SELECT id FROM message WHERE owner = :owner AND conversation = :conversation AND instr(text, :word) > 0
             ORDER BY id",
        )?
    };
    let word = if word.is_ascii() { quoted(word) } else { word.to_owned() };
    let params = named_params! { ":owner": tx.owner, ":conversation": id.as_str(), ":word": word };
    let ids = statement.query_map(params, |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(ids)
}
