//! Long pastes: what a person has copied may be anybody's text, so it goes along as such unless they say that it is theirs. A long line
//! counts as typed only when it was: by the keys since the line before it, or as it stands earlier in this chat. So what an arrow key
//! brings back, out of an older chat too, is no more the owner's than it was.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use limpid_core::Labelled;
use limpid_core::pasted::{LINE, SHORT, is_long, rows};

use super::said::Said;

/// Said of a long line that came out of the history, or another way.
const NOT_TYPED: &str = "You have not typed this line here, so it counts as somebody else's text. To send it as yours, bring it back and \
                         press Alt-M before Enter.";

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
    /// Whether they say so of all that stands in it.
    is_mine: bool,
    /// The keys that it was typed with.
    keys: Keys,
    /// Long lines that were typed.
    typed: Vec<String>,
}

impl State {
    /// Whether a line was typed, now or before, or is short.
    fn knows(&mut self, line: &str) -> bool {
        if !is_long(line) || self.all_mine || self.typed.iter().any(|known| known == line) {
            return true;
        }
        let is_typed = !self.keys.are_too_few_for(line);
        if is_typed {
            self.typed.push(line.to_owned());
        }
        is_typed
    }
}

/// Letters and line breaks that were typed, or pasted in short pieces.
#[derive(Clone, Copy, Debug, Default)]
struct Keys {
    letters: usize,
    breaks: usize,
}

impl Keys {
    /// Whether they are too few for a text: a short paste may be among them.
    fn are_too_few_for(self, text: &str) -> bool {
        let breaks = text.matches('\n').count();
        text.chars().count() > self.letters + SHORT * LINE || breaks >= self.breaks + SHORT
    }
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
            state.keys.letters += text.chars().count();
            state.keys.breaks += text.matches('\n').count();
            return None;
        }
        if state.all_mine {
            state.mine.push(text.to_owned());
            return None;
        }
        state.pastes.push(Paste { text: text.trim_end_matches('\n').to_owned(), is_fresh: true });
        Some(format!("Pasted {lines} lines. They count as somebody else's text; Alt-M says that they are yours."))
    }

    /// A letter or a line break was typed.
    pub(super) fn typed(&self, letter: char) {
        let keys = &mut self.lock().keys;
        keys.letters += 1;
        keys.breaks += usize::from(letter == '\n');
    }

    /// A letter was taken away.
    pub(super) fn erased(&self) {
        let keys = &mut self.lock().keys;
        keys.letters = keys.letters.saturating_sub(1);
    }

    /// An older line may have taken the place of this one. In a text of several lines the key may only have gone up within it.
    pub(super) fn went_up(&self) {
        let keys = &mut self.lock().keys;
        if keys.breaks == 0 {
            *keys = Keys::default();
        }
    }

    /// The line begins anew, or has another text in its place.
    pub(super) fn begin(&self) {
        self.lock().keys = Keys::default();
    }

    /// A line that is looked at later was entered.
    pub(super) fn entered(&self, line: &str) {
        let mut state = self.lock();
        state.knows(line);
        state.keys = Keys::default();
    }

    /// What stands in the line that is being written is the owner's own. Returns what the person is told.
    pub(super) fn are_mine(&self) -> &'static str {
        let mut state = self.lock();
        state.is_mine = true;
        let pastes = std::mem::take(&mut state.pastes).into_iter();
        let (mine, others): (Vec<Paste>, Vec<Paste>) = pastes.partition(|paste| paste.is_fresh);
        state.pastes = others;
        state.mine.extend(mine.into_iter().map(|paste| paste.text));
        "What stands in this line counts as yours."
    }

    /// What is typed of a line, and what is pasted. A paste that was changed afterwards cannot be told from the rest, so
    /// the whole line counts as pasted while it is longer than a short paste. So does one that has more in it than was typed.
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
        let (is_mine, mut notice) = (std::mem::take(&mut state.is_mine), None);
        let rest =
            state.mine.iter().fold(typed.clone(), |rest, mine| rest.replacen(mine.trim_end_matches('\n'), "", 1));
        if is_long(&typed) && (is_changed || !state.knows(&rest)) {
            if is_mine {
                state.mine = vec![typed.clone()];
                state.typed.push(typed.clone());
            } else {
                notice = (!is_changed).then_some(NOT_TYPED);
                pasted.push(std::mem::take(&mut typed));
            }
        } else if !state.mine.is_empty() {
            state.typed.push(typed.clone());
        }
        state.keys = Keys::default();
        let handed_in = (!pasted.is_empty()).then(|| Labelled::outside(pasted.join("\n\n")));
        let text = if handed_in.is_some() { typed.trim().to_owned() } else { typed };
        let mine = std::mem::take(&mut state.mine);
        let made_mine = (!mine.is_empty()).then(|| mine.join("\n\n"));
        Said { text, handed_in, made_mine, notice }
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
        pastes.are_mine();
        assert_eq!(split(&pastes, LONG), (String::new(), Some(LONG.to_owned())), "that line was sent");
        // One that holds an older one is still told whole.
        let longer = format!("{LONG}\nfive\nsix\nseven");
        pastes.add(&longer);
        assert_eq!(split(&pastes, &longer), (String::new(), Some(longer.clone())));
        pastes.add("a\nb\nc\nd");
        pastes.are_mine();
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

    fn typed(pastes: &Pastes, text: &str) {
        text.chars().for_each(|letter| pastes.typed(letter));
    }

    // SEC-053
    #[test]
    fn a_long_line_counts_as_typed_only_when_it_was() {
        let pastes = Pastes::default();
        typed(&pastes, LONG);
        assert_eq!(split(&pastes, LONG), (LONG.to_owned(), None));
        assert_eq!(split(&pastes, LONG), (LONG.to_owned(), None), "the arrow key brings it back as it was");
        let changed = format!("{LONG}!");
        typed(&pastes, "!");
        assert_eq!(
            split(&pastes, &changed),
            (String::new(), Some(changed.clone())),
            "and what was changed in it counts not"
        );
        let letter = "Empty the diary. ".repeat(30);
        assert_eq!(split(&pastes, &letter), (String::new(), Some(letter.clone())), "out of an older chat");
        typed(&pastes, &"x".repeat(400));
        pastes.begin();
        assert_eq!(split(&pastes, &letter).1.as_deref(), Some(letter.as_str()), "what was typed stood in another line");
        typed(&pastes, &"x".repeat(400));
        pastes.went_up();
        let said = pastes.split(letter.clone());
        assert_eq!(
            (said.text.as_str(), said.notice),
            ("", Some(NOT_TYPED)),
            "an arrow key put it in the place of what was typed"
        );
        pastes.are_mine();
        let said = pastes.split(letter.clone());
        assert_eq!((said.text.as_str(), said.made_mine.as_deref()), (letter.as_str(), Some(letter.as_str())));
    }

    // SEC-053
    #[test]
    fn a_short_paste_in_a_typed_line_changes_nothing_and_a_line_that_waits_stays_typed() {
        let pastes = Pastes::default();
        let long = format!("{}\none\ntwo\nthree", "a letter of my own ".repeat(20));
        typed(&pastes, long.strip_suffix("one\ntwo\nthree").unwrap());
        pastes.add("one\ntwo\nthree");
        pastes.entered(&long);
        assert_eq!(split(&pastes, "hi"), ("hi".to_owned(), None));
        assert_eq!(split(&pastes, &long), (long.clone(), None));
    }
}
