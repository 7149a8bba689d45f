//! What Anthropic's prompt cache reads and writes for a list of requests, by the rules of its documentation: a mark
//! (`cache_control`) keeps everything up to its block; at a mark, what was kept is looked for there and at up to 20 blocks
//! before it; tools come first, then system, then messages; at most four marks are taken.

use std::collections::{BTreeMap, BTreeSet};

use limpid_core::Usage;
use serde_json::Value;

/// Blocks before a mark at which earlier entries are looked for.
const LOOKBACK: usize = 20;

/// Marks that a request may have.
const MOST_MARKS: usize = 4;

/// What the cache did for one request, in blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cached {
    /// Blocks that were read from the cache.
    pub read: usize,
    /// Blocks at the beginning that are those of an earlier request.
    pub repeated: usize,
    /// Blocks of the request.
    pub blocks: usize,
}

/// What the cache does for these requests, one after another.
///
/// # Panics
/// When a request has more marks than the provider takes.
pub fn anthropic(bodies: &[Value]) -> Vec<Cached> {
    let mut kept: BTreeSet<Vec<String>> = BTreeSet::new();
    let mut earlier: Vec<Vec<String>> = Vec::new();
    let mut seen = Vec::new();
    for body in bodies {
        let (blocks, marks) = blocks(body);
        assert!(marks.len() <= MOST_MARKS, "A maximum of 4 blocks with cache_control may be provided");
        let near = |mark: usize| (mark.saturating_sub(LOOKBACK)..=mark).rev().find(|at| kept.contains(&blocks[..*at]));
        let read = marks.iter().filter_map(|mark| near(*mark)).max().unwrap_or(0);
        let same = |other: &Vec<String>| other.iter().zip(&blocks).take_while(|(one, other)| one == other).count();
        let repeated = earlier.iter().map(same).max().unwrap_or(0);
        seen.push(Cached { read, repeated, blocks: blocks.len() });
        kept.extend(marks.iter().map(|mark| blocks[..*mark].to_vec()));
        earlier.push(blocks);
    }
    seen
}

/// How long an entry is kept after it was last read, in milliseconds: without a word, and for an hour.
const LIFE_MS: [i64; 2] = [5 * 60 * 1000, 60 * 60 * 1000];

/// What is charged for requests that are sent at these times, in milliseconds; four bytes are a token. Entries with a longer
/// life stand before those with a shorter one, and what is written up to the last of them is charged as theirs.
///
/// # Panics
/// When a longer life stands behind a shorter one, which the provider refuses.
pub fn anthropic_usage(requests: &[(i64, Value)]) -> Vec<Usage> {
    let mut kept: BTreeMap<Vec<String>, (i64, i64)> = BTreeMap::new();
    let mut charged = Vec::new();
    for (now, body) in requests {
        let (blocks, marks) = blocks(body);
        let lives: Vec<i64> = lives(body).into_iter().map(|hour| LIFE_MS[usize::from(hour)]).collect();
        assert!(lives.is_sorted_by(|one, next| one >= next), "a ttl='1h' block must not come after a ttl='5m' block");
        kept.retain(|_, (until, _)| *until > *now);
        let near =
            |mark: usize| (mark.saturating_sub(LOOKBACK)..=mark).rev().find(|at| kept.contains_key(&blocks[..*at]));
        let read = marks.iter().filter_map(|mark| near(*mark)).max().unwrap_or(0);
        for (prefix, (until, life)) in &mut kept {
            if blocks[..read].starts_with(prefix) {
                *until = now + *life;
            }
        }
        for (mark, life) in marks.iter().zip(&lives) {
            kept.entry(blocks[..*mark].to_vec()).or_insert((now + life, *life));
        }
        let of = |range: std::ops::Range<usize>| blocks[range].iter().map(|block| block.len() as u64 / 4).sum::<u64>();
        let last = marks.last().map_or(read, |mark| read.max(*mark));
        let hours = marks.iter().zip(&lives).filter(|(_, life)| **life == LIFE_MS[1]).map(|(mark, _)| *mark);
        let hour = hours.max().unwrap_or(0).max(read);
        charged.push(Usage {
            input: of(0..blocks.len()),
            cached: of(0..read),
            cache_written: of(read..last),
            cache_written_hour: of(read..hour),
            ..Usage::default()
        });
    }
    charged
}

/// Whether each mark of a request asks for an hour, in the order of the blocks.
fn lives(body: &Value) -> Vec<bool> {
    let text = format!("{}{}{}", body["tools"], body["system"], body["messages"]);
    let marks = text.split("\"cache_control\":").skip(1);
    marks.map(|rest| rest.split('}').next().is_some_and(|mark| mark.contains("\"ttl\":\"1h\""))).collect()
}

/// The blocks of a request in the order in which they are cached, and how many blocks each mark keeps.
fn blocks(body: &Value) -> (Vec<String>, Vec<usize>) {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let messages = list(&body["messages"]);
    let said = messages.iter().flat_map(|message| {
        let role = message["role"].clone();
        list(&message["content"]).into_iter().map(move |block| (role.clone(), block))
    });
    let fixed = list(&body["tools"]).into_iter().chain(list(&body["system"])).map(|block| (Value::Null, block));
    let (mut blocks, mut marks) = (Vec::new(), Vec::new());
    for (role, mut block) in fixed.chain(said) {
        let mark = block.as_object_mut().and_then(|block| block.shift_remove("cache_control"));
        blocks.push(format!("{role}{block}"));
        marks.extend(mark.map(|_| blocks.len()));
    }
    (blocks, marks)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn body(texts: usize, marks: &[usize]) -> Value {
        let block = |at: usize| match marks.contains(&at) {
            true => json!({"type": "text", "text": at, "cache_control": {"type": "ephemeral"}}),
            false => json!({"type": "text", "text": at}),
        };
        json!({"messages": [{"role": "user", "content": (1..=texts).map(block).collect::<Vec<_>>()}]})
    }

    // MOD-051
    #[test]
    fn a_mark_finds_what_is_at_most_20_blocks_before_it() {
        let read = |bodies: &[Value]| anthropic(bodies).last().unwrap().read;
        assert_eq!(read(&[body(5, &[5]), body(25, &[25])]), 5);
        assert_eq!(read(&[body(5, &[5]), body(26, &[26])]), 0);
        assert_eq!(read(&[body(5, &[5]), body(26, &[5, 26])]), 5);
        assert_eq!(read(&[body(5, &[]), body(6, &[6])]), 0);
    }
}
