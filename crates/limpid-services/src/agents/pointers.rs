//! `[agent_result:ID]` in what an agent is given: pointers travel through whoever hands on work, results do not.

use limpid_core::AgentId;

/// How a pointer begins.
const BEGINS: &str = "[agent_result:";

/// Bytes between that and its end: the longest number, and blanks around it. Without a limit a text of nothing but beginnings is
/// searched to its end at each of them.
const NUMBER: usize = 40;

/// One part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part<'t> {
    /// Words.
    Text(&'t str),
    /// Stands for the result of an agent.
    Result(AgentId),
}

/// The parts of a text, in order. What looks like a pointer and has no number is words.
pub(super) fn parts(mut text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(BEGINS).map(|at| from + at) {
        let Some((number, behind)) = number(&text[at + BEGINS.len()..]) else {
            from = at + BEGINS.len();
            continue;
        };
        if at > 0 {
            parts.push(Part::Text(&text[..at]));
        }
        parts.push(Part::Result(AgentId(number)));
        (text, from) = (behind, 0);
    }
    if !text.is_empty() {
        parts.push(Part::Text(text));
    }
    parts
}

/// The number that a text begins with, and what stands behind the end of its pointer.
fn number(text: &str) -> Option<(i64, &str)> {
    let end = text.bytes().take(NUMBER + 1).position(|byte| byte == b']')?;
    Some((text[..end].trim().parse().ok()?, &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-093
    #[test]
    fn a_text_of_beginnings_is_read_once() {
        for text in [BEGINS.repeat(100_000), format!("{}]", BEGINS.repeat(100_000))] {
            let began = std::time::Instant::now();
            assert_eq!(parts(&text), [Part::Text(&text)]);
            assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
        }
        let far = format!("[agent_result:{}7]", " ".repeat(NUMBER));
        assert_eq!(parts(&far), [Part::Text(&far)]);
        let longest = format!("[agent_result: {} ]", i64::MAX);
        assert_eq!(parts(&longest), [Part::Result(AgentId(i64::MAX))]);
    }

    // KOSHI-041
    #[test]
    fn a_pointer_has_a_number_and_everything_else_is_words() {
        let result = |id| Part::Result(AgentId(id));
        assert_eq!(parts("a [agent_result:7] b"), [Part::Text("a "), result(7), Part::Text(" b")]);
        assert_eq!(parts("[agent_result:1][agent_result: 22 ]"), [result(1), result(22)]);
        for words in ["", "no pointer", "[agent_result:x] é", "[agent_result:1", "[agent_result:]"] {
            let all: String = parts(words)
                .into_iter()
                .map(|part| match part {
                    Part::Text(text) => text,
                    Part::Result(_) => panic!("{words}"),
                })
                .collect();
            assert_eq!(all, words);
        }
        assert_eq!(parts("[agent_result:x[agent_result:3]"), [Part::Text("[agent_result:x"), result(3)]);
    }
}
