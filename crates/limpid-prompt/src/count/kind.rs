//! Kinds of text that tokenizers treat differently.

use super::is_latin;

/// Characters after which a long line is looked at anew.
const STRETCH: usize = 400;

/// Letters and digits in one run that no word has: keys, hashes, base64.
const NOISE_MIXED: usize = 16;
const NOISE: usize = 40;

/// A kind of text, by what a tokenizer makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextKind {
    /// Lines of plain Latin letters, such as English.
    Words,
    /// Lines of Latin letters with marks: Polish, Hungarian, Turkish.
    Accented,
    /// Letters of other alphabets: Cyrillic, Arabic, Devanagari.
    Letters,
    /// Chinese, Japanese and Korean writing.
    Ideographs,
    /// Emoji and other symbols.
    Pictures,
    /// Lines full of punctuation: JSON, code.
    Marks,
    /// Lines full of digits: CSV, logs.
    Numbers,
    /// Lines of hexadecimal digits, base64, keys.
    Noise,
}

impl TextKind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::Words,
        Self::Accented,
        Self::Letters,
        Self::Ideographs,
        Self::Pictures,
        Self::Marks,
        Self::Numbers,
        Self::Noise,
    ];

    /// The kind's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Accented => "accented",
            Self::Letters => "letters",
            Self::Ideographs => "ideographs",
            Self::Pictures => "pictures",
            Self::Marks => "marks",
            Self::Numbers => "numbers",
            Self::Noise => "noise",
        }
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Tokens for each of the plain estimate, in hundredths, before anything was reported: a judgement, and on the high side,
    /// since a request that is counted too small is refused by its provider.
    pub const fn expected(self) -> u32 {
        match self {
            Self::Words | Self::Letters => 100,
            Self::Marks => 115,
            Self::Ideographs => 120,
            Self::Accented => 160,
            Self::Numbers => 190,
            Self::Pictures => 220,
            Self::Noise => 260,
        }
    }
}

/// How much of each kind a text has: quarters of a token of the plain estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally([u64; 8]);

impl Tally {
    /// The tally of a text. Lines are looked at one by one; letters of other scripts count by themselves.
    pub fn of(text: &str) -> Self {
        let mut tally = Self::default();
        let mut line = Line::default();
        for c in text.chars() {
            match u8::try_from(c) {
                Ok(byte) if byte.is_ascii() => line.take_ascii(ASCII[usize::from(byte)]),
                _ => line.take(c, &mut tally),
            }
            if c == '\n' || c == ' ' && line.seen >= STRETCH {
                std::mem::take(&mut line).close(&mut tally);
            }
        }
        line.close(&mut tally);
        tally
    }

    /// A tally of plain tokens by kind.
    pub fn from_tokens(tokens: impl IntoIterator<Item = (TextKind, u64)>) -> Self {
        let mut tally = Self::default();
        for (kind, tokens) in tokens {
            tally.0[kind as usize] = tally.0[kind as usize].saturating_add(tokens.saturating_mul(4));
        }
        tally
    }

    /// The plain tokens of each kind that there is any of.
    pub fn tokens(&self) -> impl Iterator<Item = (TextKind, u64)> {
        TextKind::ALL
            .into_iter()
            .map(|kind| (kind, self.0[kind as usize].div_ceil(4)))
            .filter(|(_, tokens)| *tokens > 0)
    }

    /// Puts another text's tally on top.
    pub fn add(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own = own.saturating_add(other);
        }
    }

    /// The tokens by factors in hundredths, one for each kind.
    pub(super) fn weighed(&self, factors: &[u32; 8]) -> u64 {
        let sum = self
            .0
            .iter()
            .zip(factors)
            .fold(0_u64, |sum, (own, factor)| sum.saturating_add(own.saturating_mul(u64::from(*factor))));
        sum.div_ceil(400)
    }

    pub(super) const fn quarters(&self) -> &[u64; 8] {
        &self.0
    }
}

/// What an ASCII character counts as in its line. The first ones may belong to a key or a hash.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Class {
    Letter,
    Digit,
    /// `+` and `=`, which base64 has.
    Joint,
    Space,
    Punctuation,
}

/// The class of each ASCII character: every text is counted, several times in a turn.
const ASCII: [Class; 128] = {
    let mut classes = [Class::Punctuation; 128];
    let mut byte = 0;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b'0'..=b'9' => Class::Digit,
            b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
            b'+' | b'=' => Class::Joint,
            b' ' | b'\n' | b'\t' | b'\r' => Class::Space,
            _ => Class::Punctuation,
        };
        byte += 1;
    }
    classes
};

/// What a line is made of so far.
#[derive(Default)]
struct Line {
    seen: usize,
    /// Characters of ASCII by [`Class`].
    ascii: [u64; 5],
    /// Letters of Latin script beyond ASCII.
    marked: u64,
    /// What else of Latin script is beyond ASCII.
    other: u64,
    noise: u64,
    /// The run of letters and digits under way.
    run: u64,
    run_digits: u64,
}

impl Line {
    fn take_ascii(&mut self, class: Class) {
        self.seen += 1;
        self.ascii[class as usize] += 1;
        if class as u8 <= Class::Joint as u8 {
            self.run += 1;
            self.run_digits += u64::from(class as u8 == Class::Digit as u8);
        } else {
            self.end_run();
        }
    }

    /// Takes a character beyond ASCII.
    fn take(&mut self, c: char, tally: &mut Tally) {
        self.seen += 1;
        self.end_run();
        if !is_latin(c) {
            tally.0[script(c) as usize] += 4;
        } else if c.is_alphabetic() {
            self.marked += 1;
        } else {
            self.other += 1;
        }
    }

    fn end_run(&mut self) {
        let is_mixed = self.run_digits > 0 && self.run_digits < self.run;
        let least = if is_mixed { NOISE_MIXED } else { NOISE };
        if self.run >= least as u64 && self.run_digits < self.run {
            self.noise += self.run;
        }
        (self.run, self.run_digits) = (0, 0);
    }

    fn close(mut self, tally: &mut Tally) {
        self.end_run();
        let [letters, digits, joints, spaces, punctuation] = self.ascii;
        let solid = letters + digits + joints + punctuation + self.marked + self.other;
        let kind = if self.noise * 2 > solid {
            TextKind::Noise
        } else if digits * 4 > solid {
            TextKind::Numbers
        } else if (joints + punctuation + self.other) * 5 > solid {
            TextKind::Marks
        } else if self.marked * 50 > letters + self.marked {
            TextKind::Accented
        } else {
            TextKind::Words
        };
        tally.0[kind as usize] += solid + spaces;
    }
}

/// The kind of a character of no Latin script.
fn script(c: char) -> TextKind {
    match c {
        '\u{1100}'..='\u{11ff}'
        | '\u{2e80}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff00}'..='\u{ffef}'
        | '\u{20000}'..='\u{3ffff}' => TextKind::Ideographs,
        '\u{250}'..='\u{1dff}'
        | '\u{1f00}'..='\u{1fff}'
        | '\u{a000}'..='\u{abff}'
        | '\u{fb00}'..='\u{fdff}'
        | '\u{fe70}'..='\u{feff}' => TextKind::Letters,
        _ if c.is_alphabetic() => TextKind::Letters,
        _ => TextKind::Pictures,
    }
}

#[cfg(test)]
mod tests;
