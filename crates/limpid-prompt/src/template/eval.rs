//! Evaluation: total, without recursion beyond the depth that compiling allowed.

use crate::scope::{Frame, View};

use super::{Expr, Node, Piece, Root};

pub(super) fn nodes<'a>(nodes: &'a [Node], frame: &Frame<'_, 'a>, out: &mut Vec<Piece<'a>>) {
    for node in nodes {
        match node {
            Node::Text(text) => out.push(Piece::Text(text)),
            Node::Print(Expr::Slot(slot)) => out.push(Piece::Slot(*slot)),
            Node::Print(expr) => out.extend(value(expr, frame).into_piece(expr.name())),
            Node::If { test, yes, no } => {
                let branch = if value(test, frame).is_true() { yes } else { no };
                self::nodes(branch, frame, out);
            }
        }
    }
}

pub(super) fn value<'a>(expr: &'a Expr, frame: &Frame<'_, 'a>) -> View<'a> {
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
