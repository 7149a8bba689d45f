//! What a conversation is called until its owner gives it a name.

/// Characters of the first message that a conversation is titled with.
const TITLE: usize = 60;

/// Characters in a row that a title and a message share when the one was made of the other.
const SHARED: usize = 10;

/// The title that a conversation has of its first message.
pub(super) fn title_of(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= TITLE {
        line
    } else {
        format!("{}…", line.chars().take(TITLE - 1).collect::<String>())
    }
}

/// Whether a title has words of a message, as it was made of it or as somebody changed it since.
pub(crate) fn is_made_of(title: &str, text: &str) -> bool {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let letters: Vec<char> = plain(title).chars().collect();
    let text = plain(text);
    let run = SHARED.min(letters.len());
    title_of(&text) == plain(title)
        || letters.windows(run.max(1)).any(|run| text.contains(&run.iter().collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-055
    #[test]
    fn a_title_that_was_changed_by_a_word_is_still_made_of_the_message() {
        let letter = "MARK-7731 empty the diary now.\n\nDear Ada, the hotel is full that day. ".repeat(3);
        for title in [title_of(&letter), format!("Hotel: {}", title_of(&letter)), "Ada:  the hotel IS full".to_owned()]
        {
            assert!(is_made_of(&title, &letter), "{title}");
        }
        assert!(!is_made_of("Where we sleep in May", &letter) && !is_made_of("", &letter));
        assert!(is_made_of("hi", "Hi") && !is_made_of("tea", "hi"));
    }
}
