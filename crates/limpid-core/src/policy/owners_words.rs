//! The words that a window shows of the owner's, and which of them a text repeats.

mod words;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use percent_encoding::percent_decode_str;

pub use self::words::{Word, words};
use super::argument::Argument;
use super::capability_url::plain;

/// Letters in a row of a key that are told as the whole would be: with a few such parts somebody has it.
const PART_OF_KEY: usize = 8;

/// What stands before a part of a key in a line; no word has it.
const MARK_OF_PART: char = '=';

/// Words of the owner's and parts of the keys of their addresses, as they are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnersWords {
    words: BTreeSet<String>,
    /// Runs of letters, by their length: those of so many, and whole keys that are shorter.
    parts: BTreeMap<usize, HashSet<Vec<char>>>,
}

impl OwnersWords {
    /// The words of texts that are the owner's, without those that `is_common` says of that everybody uses them.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>, is_common: impl Fn(&str) -> bool) -> Self {
        Self::default().with(texts, is_common)
    }

    /// The same with words of other texts, of which others may be common.
    #[must_use]
    pub fn with<'t>(mut self, texts: impl IntoIterator<Item = &'t str>, is_common: impl Fn(&str) -> bool) -> Self {
        let keys = texts.into_iter().flat_map(words).map(|word| word.key);
        self.words.extend(keys.filter(|key| !is_common(key)));
        self
    }

    /// The same with keys of addresses ([`keys_in`](super::keys_in)). To type one gives it to nobody but the server that it is of.
    #[must_use]
    pub fn with_keys(self, keys: impl IntoIterator<Item = String>) -> Self {
        let mut parts = BTreeMap::<usize, HashSet<_>>::new();
        for key in keys {
            let letters: Vec<char> = key.chars().collect();
            let length = letters.len().min(PART_OF_KEY);
            if length > 0 {
                parts.entry(length).or_default().extend(letters.windows(length).map(<[char]>::to_vec));
            }
        }
        Self { parts, ..self }
    }

    /// Whether arguments say a key, or a good part of one, whatever stands between its letters. A key and arguments may both be a
    /// stranger's and long, so each letter is looked at once.
    ///
    /// ```
    /// use limpid_core::policy::{Argument, OwnersWords, keys_in};
    /// let own = OwnersWords::default().with_keys(keys_in("https://calendar.test/8f14e45fceea167a5a36dedd4bea2543/ics"));
    /// assert!(own.says_key(&Argument::Text("8F14E45F ceea167a 5a36dedd.4bea2543".to_owned())));
    /// assert!(own.says_key(&Argument::Text("fceea167".to_owned())));
    /// assert!(!own.says_key(&Argument::Text("https://calendar.test/".to_owned())));
    /// ```
    pub fn says_key(&self, arguments: &Argument) -> bool {
        if self.parts.is_empty() {
            return false;
        }
        let said = letters(arguments);
        self.parts.iter().any(|(length, parts)| said.windows(*length).any(|run| parts.contains(run)))
    }

    /// As much of it as arguments tell: a call that waits can be judged by that once the window is gone.
    #[must_use]
    pub fn told_by(&self, arguments: &Argument) -> Self {
        let told = texts(arguments).into_iter().flat_map(words).map(|word| word.key);
        let words = told.filter(|key| self.words.contains(key)).collect();
        let said = if self.parts.is_empty() { Vec::new() } else { letters(arguments) };
        let told = |(length, parts): (&usize, &HashSet<Vec<char>>)| {
            let runs = said.windows(*length).filter(|run| parts.contains(*run));
            let runs: HashSet<Vec<char>> = runs.map(<[char]>::to_vec).collect();
            (!runs.is_empty()).then_some((*length, runs))
        };
        Self { words, parts: self.parts.iter().filter_map(told).collect() }
    }

    /// All of it in one line, which [`OwnersWords::of_line`] reads; nothing where there is nothing.
    ///
    /// ```
    /// use limpid_core::policy::{Argument, OwnersWords};
    /// let own = OwnersWords::of(["Ada lives in Pankow; the PIN is 4711."], |word| word == "the");
    /// let told = own.told_by(&Argument::Text("Hotels in Pankow".to_owned()));
    /// assert_eq!(told.line(), "pankow");
    /// assert_eq!(OwnersWords::of_line("pankow"), told);
    /// ```
    pub fn line(&self) -> String {
        let parts: BTreeSet<String> = self.parts.values().flatten().map(|run| run.iter().collect()).collect();
        let parts = parts.into_iter().map(|part| format!("{MARK_OF_PART}{part}"));
        self.words.iter().cloned().chain(parts).collect::<Vec<_>>().join(" ")
    }

    /// What a line says ([`OwnersWords::line`]).
    pub fn of_line(line: &str) -> Self {
        let mut own = Self::default();
        for said in line.split_whitespace() {
            if let Some(part) = said.strip_prefix(MARK_OF_PART) {
                let run: Vec<char> = part.chars().collect();
                own.parts.entry(run.len()).or_default().insert(run);
            } else {
                own.words.insert(said.to_owned());
            }
        }
        own
    }

    /// Those that arguments repeat, as they stand there and in their order, each once.
    ///
    /// ```
    /// use limpid_core::policy::{Argument, OwnersWords};
    /// let own = OwnersWords::of(["Ada lives in Pankow, at 12 Elm Street; the PIN is 4711."], |word| word == "the");
    /// let task = Argument::Text("Find the clinic near Elm Street, PANKOW.".to_owned());
    /// assert_eq!(own.repeated_in(&task), ["Elm", "Street", "PANKOW"]);
    /// ```
    pub fn repeated_in(&self, arguments: &Argument) -> Vec<String> {
        let (mut repeated, mut found) = (Vec::new(), BTreeSet::new());
        for word in texts(arguments).into_iter().flat_map(words) {
            let is_known = repeated.last().is_some_and(|last| *last == word.written);
            if self.words.contains(&word.key) && found.insert(word.key) && !is_known {
                repeated.push(word.written);
            }
        }
        repeated
    }
}

/// The letters that arguments say, whatever stands between them.
fn letters(arguments: &Argument) -> Vec<char> {
    let letters = |text: &str| plain(&percent_decode_str(text).decode_utf8_lossy()).chars().collect::<Vec<_>>();
    texts(arguments).into_iter().flat_map(letters).collect()
}

fn texts(argument: &Argument) -> Vec<&str> {
    match argument {
        Argument::Text(text) => vec![text],
        Argument::List(items) => items.iter().flat_map(texts).collect(),
        Argument::Fields(fields) => fields.iter().flat_map(|(_, value)| texts(value)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn repeated(own: &str, task: &str) -> Vec<String> {
        OwnersWords::of([own], |word| word == "ich").repeated_in(&Argument::Text(task.to_owned()))
    }

    // SEC-101
    #[test]
    fn words_are_found_in_every_script_and_short_ones_say_nothing() {
        let own = "Ich wohne in Köln, Tür 12, Konto 0815. 我住在柏林。";
        assert_eq!(repeated(own, "Ärzte in KÖLN; 0815 und 12"), ["KÖLN", "0815"]);
        assert_eq!(repeated(own, "柏林的天气"), ["柏林"]);
        assert_eq!(repeated(own, "ich in wo"), [""; 0]);
        let nested =
            Argument::Fields(vec![("a".to_owned(), Argument::List(vec![Argument::Text("köln köln".to_owned())]))]);
        assert_eq!(OwnersWords::of([own], |_| false).repeated_in(&nested), ["köln"]);
    }

    // SEC-101
    #[test]
    fn a_word_is_the_same_however_its_letters_are_composed_and_whatever_stands_beside_it() {
        assert_eq!(repeated("Ada wohnt in Ko\u{308}ln", "Hotels in Köln"), ["Köln"]);
        assert_eq!(repeated("Hauptstraße", "HAUPTSTRASSE 4"), ["HAUPTSTRASSE"]);
        assert_eq!(repeated("密码是4711,住在Pankow区", "PIN 4711 near Pankow"), ["Pankow", "4711"]);
        assert_eq!(repeated("ＰＩＮ４７１１", "pin 4711"), ["pin", "4711"]);
        assert_eq!(repeated("Pankow2026", "pankow"), ["pankow"]);
    }

    // SEC-101
    #[test]
    fn a_word_is_the_same_where_it_was_parted_or_holds_what_nobody_sees() {
        for own in
            ["Dia-\nbetes", "Dia\u{ad}betes", "Dia\u{200b}be\u{2060}tes", "**Dia**betes", "Dia\u{2010} \n  betes"]
        {
            assert_eq!(repeated(own, "clinics for diabetes"), ["diabetes"], "{own:?}");
        }
        assert_eq!(repeated("self-hosted", "a self-\nhosted one"), ["self", "hosted"]);
        assert_eq!(repeated("12\u{2011}34\u{2011}56", "call 123456"), ["123456"]);
        assert_eq!(repeated("\u{664}\u{667}\u{661}\u{661}", "PIN 4711"), ["4711"]);
    }

    // SEC-093 SEC-101
    #[test]
    fn a_run_of_marks_of_blanks_or_of_digits_is_gone_through_once() {
        for one in ["*", " ", "`~", "\n", "1", "1 ", "-\n", "a-\n", "a", "我"] {
            let long = format!("Pankow{}Elm", one.repeat(100_000));
            assert!(words(&long).iter().any(|word| word.key.contains("elm")), "{one:?}");
        }
        assert_eq!(repeated("a *** b, **bold** and ``xan``dry", "bold xandry"), ["bold", "xandry"]);
    }

    // SEC-100
    #[test]
    fn eight_letters_in_a_row_of_a_key_say_it_whether_or_not_there_is_a_digit_among_them() {
        let key = "1bximvs0xra5nfmdkvbdbzjgmuuqptlbs74ogve2upms";
        let own = OwnersWords::default().with_keys([key.to_owned(), "abcde7".to_owned()]);
        let says = |text: &str| own.says_key(&Argument::Text(text.to_owned()));
        assert!(says("nFMdKvBdBZjgmUUqptlbs") && says("what is nfmd kvbd?") && says("abc de7"));
        assert!(!says("nfmdkvb, and abcde"));
    }

    // SEC-100 SEC-101
    #[test]
    fn what_a_call_tells_is_kept_in_a_line_and_says_the_same_of_it_later() {
        let own = OwnersWords::of(["Ada wohnt in Köln, Tür 0815; 我住在柏林。"], |word| word == "wohnt");
        let own = own.with_keys(["8f14e45fceea167a".to_owned(), "abcde7".to_owned()]);
        let said = Argument::Text("wohnt Ada in KÖLN, 0815, 柏林? fcee-a167 abcde".to_owned());
        let told = own.told_by(&said);
        assert_eq!(OwnersWords::of_line(&told.line()), told);
        assert_eq!((told.repeated_in(&said), told.says_key(&said)), (own.repeated_in(&said), true));
        assert!(!told.says_key(&Argument::Text("8f14e45f".to_owned())), "of a key no more than was said");
        assert_eq!(own.told_by(&Argument::Text("Hotels".to_owned())).line(), "");
    }

    // SEC-093 SEC-100
    #[test]
    fn a_long_key_and_long_arguments_are_gone_through_once() {
        let own = OwnersWords::default().with_keys(["a1".repeat(100_000)]);
        assert!(!own.says_key(&Argument::Text("b1".repeat(100_000))));
    }

    // SEC-101
    #[test]
    fn korean_words_have_two_syllables_and_particles_stand_on_them() {
        assert_eq!(repeated("저는 서울에 살고 당뇨병이 있어요.", "서울 당뇨 병원"), ["서울", "당뇨"]);
    }

    // SEC-101
    #[test]
    fn numbers_are_the_same_however_their_digits_are_grouped() {
        assert_eq!(repeated("Tel. (030) 123 45-67", "call 0301234567 today"), ["0301234567"]);
        assert_eq!(repeated("DE89370400440532013000", "IBAN DE89 3704 0044 0532 0130 00").len(), 1);
        assert_eq!(repeated("PIN: 4711", "its code is 47-11"), ["47-11"]);
        assert_eq!(repeated("Seen on 2026-12-24", "until 2026-12-31 or 2024"), ["2026"]);
        assert_eq!(repeated("rows 1, 2, 3 of 10", "1 or 10 of 3"), [""; 0]);
    }

    // SEC-101
    #[test]
    fn names_and_abbreviations_of_two_letters_count_where_they_are_written_as_such() {
        assert_eq!(
            repeated("Ada has MS and lives in B7; her friend is Bo.", "doctors for MS near B7, says Bo"),
            ["MS", "B7", "Bo"]
        );
        assert_eq!(repeated("it is so", "so it is"), [""; 0]);
    }

    fn keys(text: &str) -> Vec<String> {
        words(text).into_iter().map(|word| word.key).collect()
    }

    proptest! {
        // SEC-101
        #[test]
        fn however_letters_are_composed_the_words_are_the_same(text in "\\PC{0,60}") {
            use unicode_normalization::UnicodeNormalization as _;
            prop_assert_eq!(keys(&text), keys(&text.nfd().collect::<String>()));
            let own = OwnersWords::of([&*text], |_| false);
            let found = own.repeated_in(&Argument::Text(text.nfd().collect()));
            prop_assert_eq!(found.is_empty(), keys(&text).is_empty());
        }

        // SEC-101
        #[test]
        fn however_digits_are_grouped_the_number_is_the_same(
            digits in "[0-9]{4,24}",
            one in proptest::collection::vec("[-./ ]{0,2}", 24),
            other in proptest::collection::vec("[-./ ]{0,2}", 24),
        ) {
            let grouped = |signs: &[String]| digits.chars().zip(signs).map(|(digit, sign)| format!("{digit}{sign}")).collect::<String>();
            let own = format!("its number is {}.", grouped(&one));
            let is_found = !repeated(&own, &grouped(&other)).is_empty();
            prop_assert!(is_found);
        }
    }
}
