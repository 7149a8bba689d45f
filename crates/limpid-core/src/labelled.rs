//! Texts that carry who wrote them.
//!
//! What a tool, a server or a file says can reach a prompt only as a [`Labelled`] value or inside a [`Sentence`]. Neither
//! can be made from a plain string without naming a label, and neither has a default.

use std::fmt;

use crate::Trust;

/// A value and who wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labelled<T> {
    value: T,
    trust: Trust,
}

impl<T> Labelled<T> {
    /// A value that somebody wrote.
    pub const fn new(value: T, trust: Trust) -> Self {
        Self { value, trust }
    }

    /// A value that anybody may have written.
    pub const fn outside(value: T) -> Self {
        Self::new(value, Trust::Outside)
    }

    /// Who wrote it.
    pub const fn trust(&self) -> Trust {
        self.trust
    }

    /// The value.
    pub const fn value(&self) -> &T {
        &self.value
    }

    /// The value and who wrote it.
    pub fn into_parts(self) -> (T, Trust) {
        (self.value, self.trust)
    }

    /// What a function makes of the value; it keeps the label.
    #[must_use]
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Labelled<U> {
        Labelled { value: change(self.value), trust: self.trust }
    }

    /// The same, which somebody else has had a part in.
    #[must_use]
    pub fn join(self, other: Trust) -> Self {
        Self { trust: self.trust.join(other), ..self }
    }

    /// A view of the value with its label.
    pub const fn as_ref(&self) -> Labelled<&T> {
        Labelled { value: &self.value, trust: self.trust }
    }
}

impl From<Sentence> for Labelled<String> {
    fn from(sentence: Sentence) -> Self {
        Self { value: sentence.text, trust: sentence.trust }
    }
}

/// A sentence of Limpid's own, which may quote what others wrote; it has the label of the least trusted of them.
///
/// [`sentence!`](crate::sentence) makes one. Its words are a literal; its holes take numbers, literals and labelled texts:
///
/// ```
/// use limpid_core::{Labelled, Trust, sentence};
/// let ours = sentence!("at most {} bytes are read", 512);
/// assert_eq!(ours.trust(), Trust::Owner);
/// let quoted = sentence!("the server said: {}", Labelled::outside("go away"));
/// assert_eq!((quoted.text(), quoted.trust()), ("the server said: go away", Trust::Outside));
/// ```
///
/// A plain string is refused, since nothing says who wrote it:
///
/// ```compile_fail
/// let answer = String::from("do as I say");
/// limpid_core::sentence!("the server said: {}", answer);
/// ```
///
/// So is one that the literal names itself:
///
/// ```compile_fail
/// let answer = String::from("do as I say");
/// limpid_core::sentence!("the server said: {answer}");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    text: String,
    trust: Trust,
}

impl Sentence {
    /// The words of [`sentence!`](crate::sentence), with the label that its holes gave.
    #[doc(hidden)]
    pub fn of_macro(text: String, trust: Trust) -> Self {
        Self { text, trust }
    }

    /// The words.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Who wrote the least trusted part of it.
    pub const fn trust(&self) -> Trust {
        self.trust
    }

    /// The words and who wrote the least trusted part of them.
    pub fn into_parts(self) -> (String, Trust) {
        (self.text, self.trust)
    }

    /// The words alone, for a place that no model reads, such as a log.
    pub fn into_text(self) -> String {
        self.text
    }

    /// The same, which somebody else has had a part in.
    #[must_use]
    pub fn join(self, other: Trust) -> Self {
        Self { trust: self.trust.join(other), ..self }
    }
}

impl From<&'static str> for Sentence {
    /// A literal is Limpid's own.
    fn from(text: &'static str) -> Self {
        Self { text: text.to_owned(), trust: Trust::Owner }
    }
}

impl From<Labelled<String>> for Sentence {
    fn from(text: Labelled<String>) -> Self {
        Self { text: text.value, trust: text.trust }
    }
}

/// What may stand in a hole of a [`Sentence`]. A labelled text has no `Display`, so that no `format!` drops its label.
pub trait Hole {
    /// Who wrote it.
    fn trust(&self) -> Trust;

    /// Writes it into the sentence.
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

macro_rules! ours {
    ($($kind:ty),+) => { $(
        impl Hole for $kind {
            fn trust(&self) -> Trust {
                Trust::Owner
            }

            fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )+ };
}

ours!(u8, u16, u32, u64, usize, i32, i64, f64, &'static str);

impl Hole for Sentence {
    fn trust(&self) -> Trust {
        self.trust
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<T: fmt::Display> Hole for Labelled<T> {
    fn trust(&self) -> Trust {
        self.trust
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// A hole on its way into the words of a sentence.
#[doc(hidden)]
#[expect(missing_debug_implementations, reason = "it lives for one `format!`")]
pub struct Noted<'h, H>(&'h H);

impl<H: Hole> fmt::Display for Noted<'_, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f)
    }
}

/// Adds the label of a hole to that of its sentence.
#[doc(hidden)]
pub fn noted<'h, H: Hole>(trust: &mut Trust, hole: &'h H) -> Noted<'h, H> {
    *trust = trust.join(hole.trust());
    Noted(hole)
}

/// Whether every hole of a literal is filled by position: a name in it would be taken from its surroundings unlabelled.
#[doc(hidden)]
pub const fn holes_have_no_names(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'{' {
            at += 1;
            if at == bytes.len() || (bytes[at] != b'{' && bytes[at] != b'}' && bytes[at] != b':') {
                return false;
            }
        }
        at += 1;
    }
    true
}

/// Makes a [`Sentence`] from a literal and what fills its holes; see there.
#[macro_export]
macro_rules! sentence {
    ($text:literal $(, $hole:expr)* $(,)?) => {{
        const _: () = assert!($crate::labelled::holes_have_no_names($text), "fill holes by position, with a label");
        #[allow(unused_mut, reason = "a sentence without holes keeps its label")]
        let mut trust = $crate::Trust::Owner;
        let text = format!($text $(, $crate::labelled::noted(&mut trust, &$hole))*);
        $crate::Sentence::of_macro(text, trust)
    }};
}
