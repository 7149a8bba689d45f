//! The tree that a screen is drawn from.

use super::action::{Action, Callback, WebLink};
use super::input::Input;

/// A component.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What the model calls it, for actions that name it; empty: nothing.
    pub id: String,
    /// What it is.
    pub kind: Kind,
}

/// What a component is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Components one below the other.
    Column(Vec<Node>),
    /// Components beside each other.
    Row(Vec<Node>),
    /// Components that belong together.
    Box(Vec<Node>),
    /// The same, with a frame and perhaps a title.
    Card(String, Vec<Node>),
    /// A line between components.
    Divider,
    /// Words.
    Text(String, TextStyle),
    /// A picture: it is never loaded, only linked.
    Image(String, Option<WebLink>),
    /// A sign, by its name.
    Icon(String),
    /// Code and its language.
    Code(String, String),
    /// What somebody said, and who.
    Quote(String, String),
    /// A word that stands out.
    Badge(String),
    /// A number with its name and how it has changed.
    Stat(String, String, String),
    /// A person, and a picture of them.
    Avatar(String, Option<WebLink>),
    /// Entries, with numbers or without.
    List(Vec<Node>, bool),
    /// The names of columns, and rows of cells.
    Table(Vec<String>, Vec<Vec<String>>),
    /// Something to know, and how much it matters.
    Alert(String, Level),
    /// How much of something is done, from 0 to 1.
    Progress(f64, String),
    /// Seconds that run down, what for, and what can be done then.
    Countdown(u32, String, Option<Action>),
    /// Panels of which one is shown.
    Tabs(Vec<Panel>),
    /// Panels that open and close.
    Accordion(Vec<Panel>),
    /// A button and what it does; none: nothing.
    Button(String, Option<Action>),
    /// Something to fill in.
    Input(Input),
}

/// What words are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextStyle {
    /// The name of the whole.
    Title,
    /// The name of a part.
    Heading,
    /// Running text.
    #[default]
    Body,
    /// A remark.
    Caption,
}

/// How much something matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Good to know.
    #[default]
    Info,
    /// It went well.
    Success,
    /// Something to look at.
    Warning,
    /// It went wrong.
    Error,
}

/// A panel of several.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Its name.
    pub label: String,
    /// What is in it.
    pub children: Vec<Node>,
}

impl Level {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Success => "success",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl Node {
    /// This component and those in it, as they are read.
    pub fn walk<'a>(&'a self, see: &mut dyn FnMut(&'a Node)) {
        see(self);
        match &self.kind {
            Kind::Column(children)
            | Kind::Row(children)
            | Kind::Box(children)
            | Kind::Card(_, children)
            | Kind::List(children, _) => children.iter().for_each(|child| child.walk(see)),
            Kind::Tabs(panels) | Kind::Accordion(panels) => {
                panels.iter().flat_map(|panel| &panel.children).for_each(|child| child.walk(see));
            }
            _ => {}
        }
    }

    pub(super) fn walk_mut(&mut self, change: &mut dyn FnMut(&mut Node)) {
        change(self);
        match &mut self.kind {
            Kind::Column(children)
            | Kind::Row(children)
            | Kind::Box(children)
            | Kind::Card(_, children)
            | Kind::List(children, _) => children.iter_mut().for_each(|child| child.walk_mut(change)),
            Kind::Tabs(panels) | Kind::Accordion(panels) => {
                panels.iter_mut().flat_map(|panel| &mut panel.children).for_each(|child| child.walk_mut(change));
            }
            _ => {}
        }
    }

    pub(super) fn callback(&self) -> Option<&Callback> {
        match &self.kind {
            Kind::Button(_, Some(Action::Callback(callback)))
            | Kind::Countdown(_, _, Some(Action::Callback(callback))) => Some(callback),
            _ => None,
        }
    }
}
