//! What a conversation is called until its owner gives it a name.

/// Characters of the first message that a conversation is titled with.
const TITLE: usize = 60;

/// The title that a conversation has of its first message.
pub(super) fn title_of(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= TITLE {
        line
    } else {
        format!("{}…", line.chars().take(TITLE - 1).collect::<String>())
    }
}
