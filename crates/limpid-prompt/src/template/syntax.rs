//! What a compiled text is made of.

use std::fmt;

use super::filter::Filter;

/// A compiled text.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    pub(crate) nodes: Vec<Node>,
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
    pub(crate) fn name(&self) -> Option<&Name> {
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
