//! Screens that a model writes as trees: what a fence of `kai-ui` holds, what pressing one of its buttons says, and how it is
//! printed. What is drawn is made from the tree alone, so nothing that a model writes is markup, code or an address to load.
//!
//! # Layout
//! - `json`: JSON as models write it; `read`: a tree from it, with its bounds.
//! - `node`, `input`, `action`: what a tree is made of.
//! - `fences`: where the trees of an answer are.
//! - `plain`: a tree in a terminal.

mod action;
mod fences;
mod input;
mod json;
mod node;
mod plain;
mod read;

pub use action::{Action, Callback, WebLink, short_address};
pub use fences::{Fences, Part, parts};
pub use input::{Choice, Input, InputForm};
pub use node::{Kind, Level, Node, Panel, TextStyle};
pub use plain::plain;

use action::pairs;
use json::Value;
use read::Reader;

/// Bytes of a fence.
const FENCE: usize = 64 * 1024;

/// Bytes of a message that is looked at for what it has sent.
const MESSAGE: usize = 16 * 1024;

/// A screen, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    root: Node,
}

/// Why something is no screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTree {
    /// There is no fence.
    #[error("{}", self.as_str())]
    NoFence,
    /// It is too long.
    #[error("{}", self.as_str())]
    TooLong,
    /// There is no object in it.
    #[error("{}", self.as_str())]
    NoObject,
    /// None of its objects is a component.
    #[error("{}", self.as_str())]
    NoComponent,
}

impl NoTree {
    /// Every reason.
    pub const ALL: &'static [Self] = &[Self::NoFence, Self::TooLong, Self::NoObject, Self::NoComponent];

    /// What is wrong.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoFence => "it has no kai-ui fence",
            Self::TooLong => "the fence has more than 64 KiB",
            Self::NoObject => "the fence holds no JSON object",
            Self::NoComponent => "no object in the fence has the `type` of a known component",
        }
    }
}

impl Tree {
    /// Reads what stands in a fence; its callbacks are numbered behind those that the answer had before.
    ///
    /// # Errors
    /// When nothing in it can be drawn.
    ///
    /// ```
    /// use limpid_core::ui::Tree;
    /// let tree = Tree::read(r#"{"type": "button", "label": "Yes", "action": {"type": "callback", "event": "yes"}"#, 0).unwrap();
    /// assert_eq!(tree.message(1, |_| None).as_deref(), Some("Pressed: yes"));
    /// ```
    pub fn read(text: &str, callbacks: usize) -> Result<Self, NoTree> {
        if text.len() > FENCE {
            return Err(NoTree::TooLong);
        }
        let objects = json::objects(text);
        if objects.is_empty() {
            return Err(NoTree::NoObject);
        }
        let mut reader = Reader::after(callbacks);
        let mut nodes: Vec<Node> = objects.iter().filter_map(|object: &Value| reader.node(object)).collect();
        let root = match nodes.len() {
            0 => return Err(NoTree::NoComponent),
            1 => nodes.remove(0),
            _ => Node { id: String::new(), kind: Kind::Column(nodes) },
        };
        Ok(Self { root })
    }

    /// The outermost component.
    pub const fn root(&self) -> &Node {
        &self.root
    }

    /// What can be said by pressing, in the order of its numbers.
    pub fn callbacks(&self) -> Vec<&Callback> {
        let mut callbacks = Vec::new();
        self.root.walk(&mut |node| callbacks.extend(node.callback()));
        callbacks
    }

    /// The message that pressing this number is, with what a person has filled in; none where the tree has no such callback.
    pub fn message(&self, number: usize, given: impl Fn(&str) -> Option<Vec<String>>) -> Option<String> {
        let callback = self.callback(number)?;
        let value = |name: &String| {
            let mut input = self.input(name)?.clone();
            if let Some(given) = given(name) {
                input.fill(&given);
            }
            Some((name.clone(), input.words()))
        };
        let collected: Vec<_> = callback.collect.iter().filter_map(value).collect();
        Some(callback.message(&collected))
    }

    /// The message of a press as it is typed: its number was said, and this stands behind it, such as `day: Tomorrow`.
    pub fn typed(&self, number: usize, behind: &str) -> Option<String> {
        let callback = self.callback(number)?;
        let names: Vec<&str> = callback.collect.iter().map(String::as_str).collect();
        let typed = pairs(behind.trim(), &names);
        if !behind.trim().is_empty() && typed.is_empty() {
            return None;
        }
        let mut tree = self.clone();
        for (name, value) in typed {
            tree.change(name, |input| input.read(value));
        }
        tree.message(number, |_| None)
    }

    /// The tree with what a message has sent of it, and which number was pressed; none when the message is of no press of it.
    pub fn sent(&self, message: &str) -> Option<(Self, usize)> {
        if message.len() > MESSAGE {
            return None;
        }
        self.callbacks().into_iter().find_map(|callback| {
            let mut tree = self.clone();
            if let Some(said) = message.strip_prefix("Responded with: ") {
                let names: Vec<&str> = callback.collect.iter().map(String::as_str).collect();
                let data = Callback { collect: Vec::new(), ..callback.clone() }.message(&[]);
                let said = match callback.data.is_empty() {
                    true => said,
                    false => {
                        let said = said.strip_prefix(data.strip_prefix("Responded with: ")?)?;
                        said.strip_prefix(", ").unwrap_or(said)
                    }
                };
                for (name, value) in pairs(said, &names) {
                    tree.change(name, |input| input.read(value));
                }
            }
            // Only what the press would say again was said by it.
            (tree.message(callback.number, |_| None)? == message).then_some((tree, callback.number))
        })
    }

    fn callback(&self, number: usize) -> Option<&Callback> {
        self.callbacks().into_iter().find(|callback| callback.number == number)
    }

    /// The first input of a name.
    fn input(&self, name: &str) -> Option<&Input> {
        let mut found = None;
        self.root.walk(&mut |node| {
            if let Kind::Input(input) = &node.kind
                && found.is_none()
                && node.id == name
            {
                found = Some(input);
            }
        });
        found
    }

    fn change(&mut self, name: &str, change: impl Fn(&mut Input)) {
        let mut is_done = false;
        self.root.walk_mut(&mut |node| {
            if let Kind::Input(input) = &mut node.kind
                && !is_done
                && node.id == name
            {
                change(input);
                is_done = true;
            }
        });
    }
}

/// Whether an answer is a screen.
///
/// # Errors
/// Why it is none.
pub fn check(text: &str) -> Result<(), NoTree> {
    let mut wrong = NoTree::NoFence;
    for part in parts(text) {
        match part {
            Part::Tree(_) => return Ok(()),
            Part::Broken(_, why) => wrong = why,
            Part::Text(_) => {}
        }
    }
    Err(wrong)
}

/// The trees of an answer.
pub fn trees(text: &str) -> Vec<Tree> {
    let tree = |part| match part {
        Part::Tree(tree) => Some(tree),
        Part::Text(_) | Part::Broken(..) => None,
    };
    parts(text).into_iter().filter_map(tree).collect()
}

#[cfg(test)]
mod tests;
