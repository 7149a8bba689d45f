//! Names in expressions: of the section, of the entry's item, of `[words]`, of the inputs.

use minijinja::machinery::ast;

use super::{Context, range};
use crate::problem::{Fault, nearest};
use crate::template::names::{self, Kind};
use crate::template::{Expr, Name, Root, Slot};

/// What a name stands for where a text may use it.
pub(super) fn resolve(context: Context<'_>, expr: &ast::Expr<'_>) -> Result<(Expr, Kind), Fault> {
    let span = expr.span();
    let Some(path) = path(expr) else {
        return Err(Fault::new(range(span), "only names have fields", "name a field with a dot: `time.date`"));
    };
    let first = path[0].as_str();
    if path.len() == 1
        && let Some(at) = context.slots.iter().position(|slot| slot == first)
    {
        return Ok((Expr::Slot(Slot::List(at)), Kind::Text));
    }
    if context.mode && path.len() == 1 && first == "template" {
        return Ok((Expr::Slot(Slot::Mode), Kind::Text));
    }
    let found = if first == "words" {
        words(context, &path)
    } else if let Some(found) = item_name(context, &path) {
        found
    } else {
        let found = context.names.find(&path).map_err(|fix| own_fix(context, first).unwrap_or(fix));
        found.map(|kind| (Expr::Name(Name { path: path.clone(), root: Root::Scope }), kind))
    };
    found.map_err(|fix| Fault::new(range(span), format!("unknown name `{}`", path.join(".")), fix))
}

/// A name of the item that an entry writes, if it is one; what to do when the item has no such field.
fn item_name(context: Context<'_>, path: &[String]) -> Option<Result<(Expr, Kind), String>> {
    let item = context.item?;
    let name = || Expr::Name(Name { path: path.to_vec(), root: Root::Item });
    let first = path[0].as_str();
    if first == "n" && path.len() == 1 {
        return Some(Ok((name(), Kind::Number)));
    }
    match item {
        Kind::Record(fields) if fields.contains_key(first) => {
            Some(names::find(fields, path).map(|kind| (name(), kind)))
        }
        Kind::Record(_) => None,
        // The shape of a payload is its own; what no input is called is taken for one of its fields.
        Kind::Any if first == "item" || !context.names.has(first) => Some(Ok((name(), Kind::Any))),
        Kind::Any => None,
        plain => (first == "item").then(|| Ok((name(), plain.clone()))),
    }
}

/// What to do about a name that is like one of the entry's or the section's own.
fn own_fix(context: Context<'_>, name: &str) -> Option<String> {
    let fields = match context.item {
        Some(Kind::Record(fields)) => Some(fields.keys().map(String::as_str)),
        _ => None,
    };
    let own = context.slots.iter().map(String::as_str).chain(fields.into_iter().flatten());
    nearest(name, own).map(|close| format!("did you mean `{close}`?"))
}

/// A list of `[words]`; what to do when there is none.
fn words(context: Context<'_>, path: &[String]) -> Result<(Expr, Kind), String> {
    if let [_, list] = path
        && let Some(words) = context.words.get(list)
    {
        let words = words.iter().cloned().map(Expr::Text).collect();
        return Ok((Expr::List(words), Kind::List(Kind::Text.into())));
    }
    let known = context.words.keys().map(String::as_str);
    Err(match path.get(1).and_then(|list| nearest(list, known)) {
        Some(close) => format!("did you mean `words.{close}`?"),
        None => "add the list to `[words]` of profile.toml".to_owned(),
    })
}

/// The names of a path `a.b.c`; none when it starts at something else.
fn path(expr: &ast::Expr<'_>) -> Option<Vec<String>> {
    match expr {
        ast::Expr::Var(name) => Some(vec![name.id.to_owned()]),
        ast::Expr::GetAttr(field) => {
            let mut path = path(&field.expr)?;
            path.push(field.name.to_owned());
            Some(path)
        }
        _ => None,
    }
}
