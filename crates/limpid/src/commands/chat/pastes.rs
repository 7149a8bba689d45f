//! Long pastes: what a person has copied may be anybody's text, so it goes along as such unless they say that it is theirs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use limpid_core::Labelled;
use limpid_core::pasted::{is_long, rows};

use super::said::Said;

/// The long pastes of a chat.
#[derive(Clone, Debug, Default)]
pub(super) struct Pastes(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// Whether every paste is the owner's own, by `[trust] paste`.
    all_mine: bool,
    pastes: Vec<Paste>,
    /// What the owner says is their own, of the line that is being written.
    mine: Vec<String>,
}

#[derive(Debug)]
struct Paste {
    text: String,
    /// Whether the line that it was pasted into has not been sent.
    is_fresh: bool,
}

impl Pastes {
    pub(super) fn new(all_mine: bool) -> Self {
        Self(Arc::new(Mutex::new(State { all_mine, ..State::default() })))
    }

    /// Takes note of a paste. Returns what the person is to be told of a long one.
    pub(super) fn add(&self, text: &str) -> Option<String> {
        let lines = rows(text);
        let mut state = self.lock();
        if !is_long(text) {
            return None;
        }
        if state.all_mine {
            state.mine.push(text.to_owned());
            return None;
        }
        state.pastes.push(Paste { text: text.trim_end_matches('\n').to_owned(), is_fresh: true });
        Some(format!("Pasted {lines} lines. They count as somebody else's text; Alt-M says that they are yours."))
    }

    /// What was pasted into the line that is being written is the owner's own. Returns what the person is told.
    pub(super) fn are_mine(&self) -> Option<&'static str> {
        let mut state = self.lock();
        let pastes = std::mem::take(&mut state.pastes).into_iter();
        let (mine, others): (Vec<Paste>, Vec<Paste>) = pastes.partition(|paste| paste.is_fresh);
        state.pastes = others;
        let is_any = !mine.is_empty();
        state.mine.extend(mine.into_iter().map(|paste| paste.text));
        is_any.then_some("What you have pasted counts as yours.")
    }

    /// What is typed of a line, and what is pasted. A paste that was changed afterwards cannot be told from the rest, so
    /// the whole line counts as pasted while it is longer than a short paste.
    pub(super) fn split(&self, line: String) -> Said {
        let mut state = self.lock();
        let (mut typed, mut pasted, mut is_changed) = (line, Vec::new(), false);
        // Those of this line first, and longer ones before those that they contain.
        state.pastes.sort_by_key(|paste| (!paste.is_fresh, std::cmp::Reverse(paste.text.len())));
        for paste in &mut state.pastes {
            match typed.find(&paste.text) {
                Some(at) => {
                    typed.replace_range(at..at + paste.text.len(), "");
                    pasted.push(paste.text.clone());
                }
                None => is_changed |= paste.is_fresh,
            }
            paste.is_fresh = false;
        }
        if is_changed && is_long(&typed) {
            pasted.push(std::mem::take(&mut typed));
        }
        let handed_in = (!pasted.is_empty()).then(|| Labelled::outside(pasted.join("\n\n")));
        let text = if handed_in.is_some() { typed.trim().to_owned() } else { typed };
        let mine = std::mem::take(&mut state.mine);
        let made_mine = (!mine.is_empty()).then(|| mine.join("\n\n"));
        Said { text, handed_in, made_mine }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use limpid_core::Trust;

    use super::*;

    const LONG: &str = "one\ntwo\nthree\nfour";

    fn split(pastes: &Pastes, line: &str) -> (String, Option<String>) {
        let said = pastes.split(String::from(line));
        let handed_in = said.handed_in.map(Labelled::into_parts);
        assert!(handed_in.iter().all(|(_, trust)| *trust == Trust::Outside));
        (said.text, handed_in.map(|(text, _)| text))
    }

    // SEC-053
    #[test]
    fn more_than_three_pasted_lines_are_somebody_elses_until_a_key_says_otherwise() {
        let pastes = Pastes::default();
        assert_eq!(pastes.add("one\ntwo\nthree\n"), None);
        assert_eq!(split(&pastes, "one\ntwo\nthree\n"), ("one\ntwo\nthree\n".to_owned(), None));
        assert!(pastes.add(&format!("{LONG}\n")).is_some_and(|told| told.contains("4 lines")));
        assert_eq!(pastes.add(&"w".repeat(240)), None);
        let copied = "a page that was copied ".repeat(20);
        assert!(pastes.add(&copied).is_some_and(|told| told.contains("6 lines")), "one line that fills six");
        assert_eq!(split(&pastes, &copied), (String::new(), Some(copied.clone())));
        let both = ("Sum up:".to_owned(), Some(LONG.to_owned()));
        assert_eq!(split(&pastes, &format!("Sum up: {LONG}\n")), both);
        assert_eq!(split(&pastes, &format!("Sum up: {LONG}")), both, "a line from the history");
        assert_eq!(pastes.are_mine(), None, "that line was sent");
        // One that holds an older one is still told whole.
        let longer = format!("{LONG}\nfive\nsix\nseven");
        pastes.add(&longer);
        assert_eq!(split(&pastes, &longer), (String::new(), Some(longer.clone())));
        pastes.add("a\nb\nc\nd");
        assert!(pastes.are_mine().is_some());
        let said = pastes.split(String::from("a\nb\nc\nd"));
        assert_eq!((said.text.as_str(), said.made_mine.as_deref()), ("a\nb\nc\nd", Some("a\nb\nc\nd")));
        assert!(said.handed_in.is_none());
    }

    // SEC-053
    #[test]
    fn a_paste_that_was_changed_makes_the_whole_line_somebody_elses() {
        let pastes = Pastes::default();
        pastes.add(LONG);
        assert_eq!(
            split(&pastes, "Hi one\n2\nthree\nfour"),
            (String::new(), Some("Hi one\n2\nthree\nfour".to_owned()))
        );
        pastes.add("a\nb\nc\nd");
        assert_eq!(split(&pastes, "never mind"), ("never mind".to_owned(), None));
    }

    // SEC-053
    #[test]
    fn every_paste_is_the_owners_where_they_have_set_that() {
        let pastes = Pastes::new(true);
        assert_eq!(pastes.add(LONG), None);
        assert_eq!(split(&pastes, LONG), (LONG.to_owned(), None));
    }
}
