//! Evaluation: total, without recursion beyond the depth that compiling allowed.

use crate::scope::{Foreign, Frame, Plain, View};
use crate::template::{Expr, Gate, Name, Node, Root, Slot, Template};

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

impl Template {
    /// What the text comes to, without line breaks of the template's own at its end. Foreign text stays apart
    /// from the profile's own.
    pub fn render<'a>(&'a self, frame: &Frame<'_, 'a>) -> Vec<Piece<'a>> {
        let mut out = Vec::with_capacity(self.nodes.len());
        walk(&self.nodes, frame, &mut out);
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

impl Gate {
    /// Whether the condition holds.
    pub fn is_true(&self, frame: &Frame<'_, '_>) -> bool {
        value(&self.expr, frame).is_true()
    }
}

/// What printing the value writes; nothing for what is absent. A list without a filter is joined by commas.
pub(crate) fn piece<'a>(value: View<'a>, name: Option<&'a Name>) -> Option<Piece<'a>> {
    match value.flat() {
        View::Text(plain) => (!plain.as_str().is_empty()).then_some(Piece::Data(plain, name)),
        View::Foreign(foreign) => Some(Piece::Foreign(foreign, name)),
        _ => None,
    }
}

fn walk<'a>(nodes: &'a [Node], frame: &Frame<'_, 'a>, out: &mut Vec<Piece<'a>>) {
    for node in nodes {
        match node {
            Node::Text(text) => out.push(Piece::Text(text)),
            Node::Print(Expr::Slot(slot)) => out.push(Piece::Slot(*slot)),
            Node::Print(expr) => out.extend(piece(value(expr, frame), expr.name())),
            Node::If { test, yes, no } => {
                let branch = if value(test, frame).is_true() { yes } else { no };
                walk(branch, frame, out);
            }
        }
    }
}

fn value<'a>(expr: &'a Expr, frame: &Frame<'_, 'a>) -> View<'a> {
    match expr {
        Expr::Bool(flag) => View::Bool(*flag),
        Expr::Int(number) => View::Int(*number),
        Expr::Text(text) => View::file(text),
        Expr::List(items) => View::List(items.iter().map(|item| value(item, frame)).collect()),
        Expr::Name(name) => match name.root {
            Root::Item => frame.item_field(&name.path),
            Root::Scope => frame.scope().lookup(&name.path),
        },
        Expr::Slot(slot) => View::Bool(frame.is_filled(*slot)),
        Expr::Not(inner) => View::Bool(!value(inner, frame).is_true()),
        Expr::And(left, right) => {
            let left = value(left, frame);
            if left.is_true() { value(right, frame) } else { left }
        }
        Expr::Or(left, right) => {
            let left = value(left, frame);
            if left.is_true() { left } else { value(right, frame) }
        }
        Expr::Same(left, right) => View::Bool(value(left, frame).same(&value(right, frame))),
        Expr::In(needle, hay) => View::Bool(value(hay, frame).holds(&value(needle, frame))),
        Expr::Filter(filter, inner) => filter.apply(value(inner, frame)),
    }
}
