//! Texts that leave for a program which draws Markdown: nothing in them is fetched because somebody looks at it. A picture of a stranger's
//! server would be asked for with what its address says.
//!
//! Which program draws them is unknown, so there is no list of what is dangerous. Pictures become links, an element of HTML becomes text
//! unless it is a harmless one without attributes, and a block of code keeps its language only where that is shown as text. Blocks of code
//! stay byte for byte, as long as every program takes them for such.

mod harmless;

use self::harmless::{begins_element, is_shown_as_text, may_be_harmless};

pub(super) use self::harmless::unloaded_json;

/// Bytes of a line beyond which it neither begins nor ends a block of code.
const LONGEST: usize = 200;

/// A text that comes in pieces.
#[derive(Clone, Debug)]
pub(super) struct Unloaded {
    /// What came last and is not decided yet: the beginning of a line, or of an element.
    held: String,
    place: Place,
    before: char,
    /// Whether the line before is empty, or there is none.
    is_after_gap: bool,
    /// Whether this line may go on with one that was finished.
    may_go_on: bool,
    /// Whether nothing came yet, or nothing since a pause.
    is_first_line: bool,
    /// Whether the line before is a rule of `-`, which begins a block of settings to some where words follow at once.
    is_after_rule: bool,
    /// Whether blocks of code are as they look. Where programs may take one for something else, nothing behind it counts as one.
    is_plain: bool,
}

/// Where in a text the next letter is.
#[derive(Clone, Debug)]
enum Place {
    /// At the beginning of a line, before its words.
    Margin,
    /// In a line that begins with a fence.
    Fence,
    Words,
    /// In a block of code: its fence, its line so far, and how it began.
    Block {
        fence: String,
        line: String,
        begun: Begun,
    },
}

/// How a block of code began, by which some programs draw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begun {
    /// Nothing is there yet.
    Not,
    /// With blanks.
    Blank,
    /// With an `@`, behind which it goes on.
    At,
    /// With something else, or further on.
    Words,
}

impl Default for Unloaded {
    fn default() -> Self {
        Self {
            held: String::new(),
            place: Place::Margin,
            before: '\n',
            is_after_gap: true,
            may_go_on: false,
            is_first_line: true,
            is_after_rule: false,
            is_plain: true,
        }
    }
}

impl Unloaded {
    /// One to which nothing is a block of code.
    pub(super) fn without_blocks() -> Self {
        Self { is_plain: false, ..Self::default() }
    }

    /// A text that is there at once.
    pub(super) fn whole(mut self, text: &str) -> String {
        let out = self.push(text);
        out + &self.finish()
    }

    /// The next piece.
    pub(super) fn push(&mut self, piece: &str) -> String {
        let mut out = String::with_capacity(piece.len() + 8);
        for letter in piece.chars() {
            self.is_plain &= !std::mem::take(&mut self.is_after_rule) || letter == '\n';
            match (&self.place, letter) {
                (Place::Block { .. }, _) => self.in_block(letter, &mut out),
                (Place::Margin, '\n') => {
                    let is_gap = self.held.is_empty() && !self.may_go_on;
                    let rule = rule(&self.held);
                    // What looks like a block of code within such settings is none.
                    self.is_plain &= rule != Some('+') && !(rule.is_some() && self.is_first_line);
                    out.push_str(&std::mem::take(&mut self.held));
                    self.end_line(is_gap, &mut out);
                    self.is_after_rule = rule.is_some();
                }
                (Place::Fence, '\n') => self.end_fence(&mut out),
                (Place::Words, '\n') => {
                    self.release_element(None, &mut out);
                    self.end_line(false, &mut out);
                }
                (Place::Margin, _) => self.in_margin(letter, &mut out),
                (Place::Fence, _) if self.held.len() < LONGEST => self.held.push(letter),
                (Place::Fence, _) => {
                    self.release_fence(&mut out);
                    self.inline(letter, &mut out);
                }
                (Place::Words, _) => self.inline(letter, &mut out),
            }
        }
        out
    }

    /// What is held back still, at the end of a text.
    pub(super) fn finish(&mut self) -> String {
        let mut out = String::new();
        match &self.place {
            Place::Margin => out.push_str(&std::mem::take(&mut self.held)),
            Place::Fence => {
                self.is_plain &= self.release_fence(&mut out).is_none();
                self.release_element(None, &mut out);
            }
            Place::Words if self.held == "<" => out.push_str(&(std::mem::take(&mut self.held) + " ")),
            Place::Words => self.release_element(None, &mut out),
            Place::Block { .. } => self.is_plain = false,
        }
        self.may_go_on |= self.before != '\n' || !out.is_empty();
        (self.place, self.is_after_gap, self.is_first_line) = (Place::Margin, false, true);
        out
    }

    /// The same before something else. What comes next may be a text of its own to some programs, and go on with this one to others.
    pub(super) fn pause(&mut self) -> String {
        // What has a fence begun gets no language from what comes next.
        let fence = self.held.find(['`', '~']).map_or("", |at| &self.held[at..]);
        let is_begun = !fence.is_empty() && !fence.trim_start_matches(['`', '~']).contains('`');
        let mut out = self.finish();
        if is_begun {
            out.push('\n');
            (self.before, self.may_go_on) = ('\n', false);
        }
        out
    }

    /// A letter before the words of a line: blanks, marks of lists and quotes, and what may become a fence.
    fn in_margin(&mut self, letter: char, out: &mut String) {
        let is_in_run = self.held.ends_with(['`', '~']);
        match letter {
            '`' | '~' if !is_in_run || self.held.ends_with(letter) => {
                self.held.push(letter);
                if self.held.chars().rev().take_while(|other| *other == letter).count() == 3 {
                    self.place = Place::Fence;
                }
            }
            ' ' | '\t' | '>' | '*' | '+' | '-' | '.' | ')' | ':' | '|' | '#' | '0'..='9' if !is_in_run => {
                // To some a box begins so, which a line within a block of code ends, or a page that runs.
                if letter == ':' && self.held.ends_with("::") {
                    self.held.push(' ');
                    self.is_plain = false;
                }
                self.held.push(letter);
            }
            _ => {
                // So it is with notes and diagrams of others.
                let begins_line = self.held.chars().all(|letter| matches!(letter, ' ' | '\t' | '>'));
                self.is_plain &= !(matches!(letter, '%' | ';') && begins_line);
                self.place = Place::Words;
                let blank = (letter.is_alphabetic() && self.held.ends_with("::")).then_some(' ');
                for held in std::mem::take(&mut self.held).chars().chain(blank).chain([letter]) {
                    self.inline(held, out);
                }
            }
        }
    }

    /// The end of a line that begins with a fence.
    fn end_fence(&mut self, out: &mut String) {
        let fence = self.release_fence(out);
        self.release_element(None, out);
        self.end_line(false, out);
        if let Some(fence) = fence {
            self.place = Place::Block { fence, line: String::new(), begun: Begun::Not };
        }
    }

    /// Gives out a line that begins with a fence. Returns the fence where a block of code begins to every program.
    fn release_fence(&mut self, out: &mut String) -> Option<String> {
        let line = std::mem::take(&mut self.held);
        let (margin, rest) = line.split_at(line.find(['`', '~']).unwrap_or(0));
        let sign = rest.chars().next().unwrap_or('`');
        let info = rest.trim_start_matches(sign);
        let fence = &rest[..rest.len() - info.len()];
        self.place = Place::Words;
        let is_code_in_line = sign == '`' && info.contains('`');
        let is_usual = |letter: char| letter.is_ascii_alphanumeric() || " _+#.,:=-{}\"/".contains(letter);
        let is_clear = margin.is_empty() && !self.may_go_on && line.len() < LONGEST && info.chars().all(is_usual);
        // With up to three blanks before it, it ends a block to some and begins one to others.
        self.is_plain &= is_clear || is_code_in_line || margin.contains(|letter| letter != ' ') || margin.len() > 3;
        let is_block = is_clear && self.is_plain;
        if is_block && !self.is_after_gap {
            // A paragraph, a table or an element before it has ended then.
            out.push('\n');
        }
        out.push_str(margin);
        out.push_str(fence);
        let language = info.split_whitespace().next().unwrap_or_default();
        let is_drawn = !is_code_in_line && !language.is_empty() && !is_shown_as_text(language);
        if is_drawn {
            out.push_str("text ");
        }
        self.before = sign;
        for letter in if is_drawn { info.trim_start() } else { info }.chars() {
            self.inline(letter, out);
        }
        is_block.then(|| fence.to_owned())
    }

    /// A letter of a block of code. It stays but for what some programs draw a block by; else only where the block ends matters.
    fn in_block(&mut self, letter: char, out: &mut String) {
        let Place::Block { fence, line, begun } = &mut self.place else { return };
        if *begun == Begun::Not && letter == '<' || *begun == Begun::At && letter.is_alphabetic() {
            out.push(' ');
        }
        *begun = match begun {
            Begun::Not | Begun::Blank if letter.is_whitespace() => Begun::Blank,
            Begun::Not | Begun::Blank if letter == '@' => Begun::At,
            _ => Begun::Words,
        };
        out.push(letter);
        if letter != '\n' {
            if line.len() < LONGEST {
                line.push(letter);
            }
            return;
        }
        let sign = fence.chars().next().unwrap_or('`');
        let words = line.trim_start_matches(' ');
        let rest = words.trim_start_matches(sign);
        let is_end = line.len() - words.len() <= 3
            && words.len() - rest.len() >= fence.len()
            && rest.chars().all(|letter| letter == ' ')
            && line.len() < LONGEST;
        // What ends it to some programs only.
        let is_unclear = !is_end && line.trim_start().starts_with(fence.as_str());
        if is_end || is_unclear {
            self.is_plain &= is_end;
            (self.place, self.is_after_gap, self.before) = (Place::Margin, false, '\n');
        } else {
            line.clear();
        }
    }

    fn end_line(&mut self, is_gap: bool, out: &mut String) {
        out.push('\n');
        (self.place, self.is_after_gap, self.may_go_on, self.before) = (Place::Margin, is_gap, false, '\n');
        self.is_first_line = false;
    }

    /// A letter of a line's words.
    fn inline(&mut self, letter: char, out: &mut String) {
        if !self.held.is_empty() {
            let element = format!("{}{letter}", self.held);
            if may_be_harmless(&element) {
                self.held = element;
                if letter == '>' {
                    out.push_str(&std::mem::take(&mut self.held));
                    self.before = letter;
                }
                return;
            }
            self.release_element(Some(letter), out);
        }
        if letter == '<' {
            self.held.push(letter);
            return;
        }
        if self.before == '!' && letter == '[' {
            out.push(' ');
        }
        // Formulas and definitions of links may go over several lines, and what looks like a block of code in them is none.
        self.is_plain &= !(matches!(letter, '$' | '\\') || (self.before == ']' && letter == ':'));
        out.push(letter);
        self.before = letter;
    }

    /// Gives out the beginning of an element that is not a harmless one, as text.
    fn release_element(&mut self, next: Option<char>, out: &mut String) {
        let element = std::mem::take(&mut self.held);
        let Some(rest) = element.strip_prefix('<') else { return };
        out.push('<');
        if rest.chars().next().or(next).is_some_and(begins_element) {
            out.push(' ');
        }
        out.push_str(rest);
        self.before = rest.chars().last().unwrap_or('<');
    }
}

/// The sign of a line that is nothing but three or more of it, where a block of settings may begin with such a one.
fn rule(line: &str) -> Option<char> {
    let line = line.trim();
    let sign = line.chars().next().filter(|sign| "-+".contains(*sign))?;
    (line.len() > 2 && line.chars().all(|letter| letter == sign)).then_some(sign)
}
