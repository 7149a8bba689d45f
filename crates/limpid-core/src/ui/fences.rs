//! Where the screens of an answer are: fences of `kai-ui`, also while the answer grows.

use super::{NoTree, Tree};

/// The name of such a fence.
const NAME: &str = "kai-ui";

/// A part of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text, whole lines but at the end.
    Text(String),
    /// A screen.
    Tree(Tree),
    /// What was meant as one and is none, and why; it ends where the fence would.
    Broken(String, NoTree),
}

/// Takes an answer apart while it grows.
#[derive(Clone, Debug, Default)]
pub struct Fences {
    /// The line that is not whole yet, where it may begin or end a fence.
    line: String,
    /// Whether the rest of this line is given out as it comes.
    is_plain: bool,
    open: Option<Open>,
    /// Callbacks so far.
    callbacks: usize,
}

/// A fence that is open.
#[derive(Clone, Debug)]
struct Open {
    mark: char,
    length: usize,
    /// What stands in it; none where it is code of any other kind.
    inside: Option<String>,
}

/// The parts of a whole answer.
pub fn parts(text: &str) -> Vec<Part> {
    let mut fences = Fences::default();
    let mut parts = fences.push(text);
    for part in fences.finish() {
        match (parts.last_mut(), part) {
            (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
            (_, part) => parts.push(part),
        }
    }
    parts
}

impl Fences {
    /// Takes more of the answer. Gives out what cannot belong to a screen any more, and screens that are whole.
    pub fn push(&mut self, text: &str) -> Vec<Part> {
        let mut parts = Vec::new();
        for piece in text.split_inclusive('\n') {
            if self.is_plain {
                self.is_plain = !piece.ends_with('\n');
                add(&mut parts, piece);
                continue;
            }
            self.line.push_str(piece);
            if piece.ends_with('\n') {
                let line = std::mem::take(&mut self.line);
                self.line_ends(&line, &mut parts);
            } else if !self.is_inside() && !may_be_fence(&self.line) {
                add(&mut parts, &std::mem::take(&mut self.line));
                self.is_plain = true;
            }
        }
        parts
    }

    /// The answer has ended; a screen that is open ends with it.
    pub fn finish(&mut self) -> Vec<Part> {
        let mut parts = Vec::new();
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.line_ends(&line, &mut parts);
        }
        if let Some(inside) = self.open.take().and_then(|open| open.inside) {
            self.close(inside, &mut parts);
        }
        *self = Self::default();
        parts
    }

    /// Whether a screen is being written.
    pub fn is_inside(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.inside.is_some())
    }

    fn line_ends(&mut self, line: &str, parts: &mut Vec<Part>) {
        let fence = fence(line);
        let Some(open) = &mut self.open else {
            let Some((mark, length, name)) = fence else { return add(parts, line) };
            let is_screen = name.split_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case(NAME));
            self.open = Some(Open { mark, length, inside: is_screen.then(String::new) });
            if !is_screen {
                add(parts, line);
            }
            return;
        };
        let closes =
            fence.is_some_and(|(mark, length, name)| mark == open.mark && length >= open.length && name.is_empty());
        match &mut open.inside {
            Some(inside) if !closes => inside.push_str(line),
            Some(inside) => {
                let inside = std::mem::take(inside);
                self.open = None;
                self.close(inside, parts);
            }
            None => {
                if closes {
                    self.open = None;
                }
                add(parts, line);
            }
        }
    }

    fn close(&mut self, inside: String, parts: &mut Vec<Part>) {
        parts.push(match Tree::read(&inside, self.callbacks) {
            Ok(tree) => {
                self.callbacks += tree.callbacks().len();
                Part::Tree(tree)
            }
            Err(why) => Part::Broken(inside, why),
        });
    }
}

fn add(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        Some(Part::Text(before)) => before.push_str(text),
        _ => parts.push(Part::Text(text.to_owned())),
    }
}

/// The mark of a line that begins or ends a fence, how often it stands there, and what follows.
fn fence(line: &str) -> Option<(char, usize, &str)> {
    let inner = line.trim_start_matches(' ');
    let mark = inner.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let name = inner.trim_start_matches(mark);
    let length = inner.len() - name.len();
    let is_fence = line.len() - inner.len() < 4 && length >= 3 && !(mark == '`' && name.contains('`'));
    is_fence.then(|| (mark, length, name.trim()))
}

/// Whether a line that has only begun may become one that begins or ends a fence.
fn may_be_fence(line: &str) -> bool {
    let inner = line.trim_start_matches(' ');
    if line.len() - inner.len() > 3 {
        return false;
    }
    match inner.chars().next() {
        None => true,
        Some(mark @ ('`' | '~')) => {
            let name = inner.trim_start_matches(mark);
            name.is_empty() || inner.len() - name.len() >= 3
        }
        Some(_) => false,
    }
}
