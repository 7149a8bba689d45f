//! Whole turns, and which of them leave the window.

use std::ops::Range;

use limpid_core::{Entry, Message, Role};

use super::Count;

/// Tokens that the boundary around foreign text may cost.
const BOUNDARY: usize = 32;

/// The turns of a stretch of messages: each begins with a message of the person's, so no call is parted from its result.
/// What stands before the first such message belongs to the first turn.
pub fn turns(entries: &[Entry]) -> Vec<Range<usize>> {
    let mut starts: Vec<usize> = (0..entries.len()).filter(|&at| entries[at].message.role == Role::User).collect();
    if entries.is_empty() {
        return Vec::new();
    }
    match starts.first_mut() {
        Some(first) => *first = 0,
        None => starts.push(0),
    }
    let ends = starts.iter().skip(1).copied().chain([entries.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// The tokens of a message with its calls and the boundary that foreign text gets.
pub fn size(message: &Message, count: Count<'_>) -> usize {
    let calls = message.calls.iter().map(|call| count(&call.name) + count(&call.arguments));
    let state = message.state.iter().map(|state| count(&state.json));
    let foreign = message.trust.is_foreign() && message.role != Role::Assistant;
    count(&message.text) + calls.chain(state).sum::<usize>() + if foreign { BOUNDARY } else { 0 }
}

/// The tokens of messages.
pub fn sizes(entries: &[Entry], count: Count<'_>) -> usize {
    entries.iter().map(|entry| size(&entry.message, count)).sum()
}

/// Where the kept turns begin: as many of the newest as `room` tokens hold, at least one, and at least `messages`
/// messages. Zero when nothing can leave.
pub fn cut(entries: &[Entry], room: usize, messages: usize, count: Count<'_>) -> usize {
    let mut kept = 0;
    let mut start = entries.len();
    for (n, turn) in turns(entries).into_iter().rev().enumerate() {
        kept += sizes(&entries[turn.clone()], count);
        let has_enough = n > 0 && entries.len() - start >= messages;
        if has_enough && kept > room {
            break;
        }
        start = turn.start;
    }
    start
}

/// Where a stretch parts into two halves at a turn's border; none when it is one turn.
pub fn middle(entries: &[Entry]) -> Option<usize> {
    let half = entries.len() / 2;
    turns(entries).into_iter().skip(1).map(|turn| turn.start).min_by_key(|start| start.abs_diff(half))
}

#[cfg(test)]
mod tests {
    use limpid_core::{CallId, MessageId, ToolCall, Trust};

    use super::*;

    pub(crate) fn talk(roles: &str) -> Vec<Entry> {
        let message = |(n, role): (usize, char)| {
            let text = format!("message number {n} of this talk");
            let message = match role {
                'u' => Message::new(Role::User, text, Trust::Owner),
                'c' => Message {
                    calls: vec![ToolCall { id: CallId::new("x"), name: "exec".into(), arguments: "{}".into() }],
                    ..Message::new(Role::Assistant, "", Trust::Owner)
                },
                't' => Message { call_id: Some(CallId::new("x")), ..Message::new(Role::Tool, text, Trust::Owner) },
                _ => Message::new(Role::Assistant, text, Trust::Owner),
            };
            Entry { id: MessageId(n as i64 + 1), message }
        };
        roles.chars().enumerate().map(message).collect()
    }

    // OLLM-091 PICO-044
    #[test]
    fn a_turn_is_never_split() {
        let entries = talk("uauctaua");
        assert_eq!(turns(&entries), [0..2, 2..6, 6..8]);
        let count = |text: &str| text.len();
        for room in 0..400 {
            let at = cut(&entries, room, 0, &count);
            assert!([0, 2, 6].contains(&at), "cut at {at} for {room}");
            assert!(at == 6 || sizes(&entries[at..], &count) <= room);
        }
        assert_eq!(cut(&entries, 0, 4, &count), 2, "at least four messages, back to the person's message before");
        assert_eq!(size(&entries[3].message, &count), "exec{}".len(), "a call has a size");
        assert_eq!(middle(&entries), Some(2));
        assert_eq!(middle(&talk("uauauauaua")), Some(4), "the border nearest to the middle");
        assert_eq!(middle(&entries[..2]), None, "one turn has no middle");
        assert_eq!(cut(&entries[..2], 0, 0, &count), 0, "the newest turn stays");
    }
}
