//! Templates: what a body, an entry or a gate may contain, compiled once and evaluated without a chance to fail.
//!
//! The grammar is a small part of Jinja: `{{ expression }}`, `{% if %}` with `elif` and `else`, comments. Loops,
//! includes, assignments, calls and arithmetic do not exist. minijinja parses; [`compile`] takes over what is allowed
//! and checks every name and filter; [`eval`] walks the result over a [`Frame`](crate::scope::Frame). Data is only
//! ever copied to the output, so a template is expanded once, whatever the data looks like.

pub(crate) mod compile;
mod eval;
mod filter;
pub(crate) mod names;

pub(crate) use filter::Filter;

use std::fmt;

use crate::scope::{Foreign, Frame, Plain};

/// A compiled text.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    pub(crate) nodes: Vec<Node>,
}

impl Template {
    /// What the text comes to, without line breaks of the template's own at its end. Foreign text stays apart
    /// from the profile's own.
    pub fn render<'a>(&'a self, frame: &Frame<'_, 'a>) -> Vec<Piece<'a>> {
        let mut out = Vec::with_capacity(self.nodes.len());
        eval::nodes(&self.nodes, frame, &mut out);
        while let Some(Piece::Text(text)) = out.last_mut() {
            *text = text.trim_end_matches('\n');
            if !text.is_empty() {
                break;
            }
            out.pop();
        }
        out
    }
}

/// One stretch of a rendered text.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece<'a> {
    /// Text of the profile.
    Text(&'a str),
    /// Data of someone whom the owner trusts, and the name that printed it.
    Data(Plain<'a>, Option<&'a Name>),
    /// Text of a stranger, for which a boundary must be drawn, and the name that printed it.
    Foreign(Foreign<'a>, Option<&'a Name>),
    /// The place of a list, by its number in the section, or of the mode's template.
    Slot(Slot),
}

/// What a section puts into its body besides text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The section's list with that number.
    List(usize),
    /// The mode's template.
    Mode,
}

/// A compiled condition.
#[derive(Clone, PartialEq)]
pub struct Gate {
    pub(crate) source: String,
    pub(crate) expr: Expr,
}

impl Gate {
    /// Whether the condition holds.
    pub fn is_true(&self, frame: &Frame<'_, '_>) -> bool {
        eval::value(&self.expr, frame).is_true()
    }
}

impl Gate {
    /// The gate that holds when both do.
    pub(crate) fn both(own: Option<Self>, other: Option<&Self>) -> Option<Self> {
        match (own, other) {
            (Some(own), Some(other)) => Some(Self {
                source: format!("({}) and ({})", own.source, other.source),
                expr: Expr::And(own.expr.into(), other.expr.clone().into()),
            }),
            (own, other) => own.or_else(|| other.cloned()),
        }
    }
}

impl fmt::Display for Gate {
    /// The condition as it was written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gate").field(&self.source).finish()
    }
}

/// A name that was checked: a path of fields, from the item of an entry or from everything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub(crate) path: Vec<String>,
    pub(crate) root: Root,
}

/// Where a name starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    /// The item of an entry.
    Item,
    /// The inputs and what is derived from them.
    Scope,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path.join("."))
    }
}

impl Expr {
    /// The name whose value the expression prints, when it prints one.
    fn name(&self) -> Option<&Name> {
        match self {
            Self::Name(name) => Some(name),
            Self::Filter(_, inner) => inner.name(),
            Self::And(_, right) => right.name(),
            Self::Or(left, _) => left.name(),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Text(String),
    Print(Expr),
    If { test: Expr, yes: Vec<Node>, no: Vec<Node> },
}

impl Expr {
    /// Whether the expression is true or false whatever the data; none when it depends on some.
    pub(crate) fn constant(&self) -> Option<bool> {
        match self {
            Self::Bool(flag) => Some(*flag),
            Self::Int(number) => Some(*number != 0),
            Self::Text(text) => Some(!text.is_empty()),
            Self::List(items) => Some(!items.is_empty()),
            Self::Not(inner) => inner.constant().map(|flag| !flag),
            Self::And(left, right) => match (left.constant(), right.constant()) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Self::Or(left, right) => match (left.constant(), right.constant()) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expr {
    Bool(bool),
    Int(i64),
    Text(String),
    /// A literal list, or a list of `[words]`.
    List(Vec<Expr>),
    Name(Name),
    Slot(Slot),
    Not(Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Same(Box<Expr>, Box<Expr>),
    In(Box<Expr>, Box<Expr>),
    Filter(Filter, Box<Expr>),
}

#[cfg(test)]
mod tests;
