//! Names in expressions: of the section, of the entry's item, of `[words]`, of the inputs.

use minijinja::machinery::{Span, ast};

use super::Compiler;
use crate::problem::nearest;
use crate::template::names::{self, Kind};
use crate::template::{Expr, Name, Root, Slot};

impl Compiler<'_, '_> {
    pub(super) fn name(&mut self, expr: &ast::Expr<'_>) -> (Expr, Kind) {
        let Some(path) = path(expr) else {
            return self.refuse(expr.span(), "only names have fields", "name a field with a dot: `time.date`");
        };
        let first = path[0].as_str();
        if path.len() == 1
            && let Some(at) = self.context.slots.iter().position(|slot| slot == first)
        {
            return (Expr::Slot(Slot::List(at)), Kind::Text);
        }
        if self.context.mode && path.len() == 1 && first == "template" {
            return (Expr::Slot(Slot::Mode), Kind::Text);
        }
        if first == "words" {
            return self.words(&path, expr.span());
        }
        if let Some(found) = self.item_name(&path, expr.span()) {
            return found;
        }
        match self.context.names.find(&path) {
            Ok(kind) => (Expr::Name(Name { path, root: Root::Scope }), kind),
            Err(fix) => {
                let fix = self.own_fix(first).unwrap_or(fix);
                self.refuse(expr.span(), &format!("unknown name `{}`", path.join(".")), &fix)
            }
        }
    }

    /// A name of the item that an entry writes, if it is one.
    pub(super) fn item_name(&mut self, path: &[String], span: Span) -> Option<(Expr, Kind)> {
        let item = self.context.item?;
        let name = || Expr::Name(Name { path: path.to_vec(), root: Root::Item });
        let first = path[0].as_str();
        if first == "n" && path.len() == 1 {
            return Some((name(), Kind::Number));
        }
        match item {
            Kind::Record(fields) if fields.contains_key(first) => Some(match names::find(fields, path) {
                Ok(kind) => (name(), kind),
                Err(fix) => self.refuse(span, &format!("unknown name `{}`", path.join(".")), &fix),
            }),
            Kind::Record(_) => None,
            // The shape of a payload is its own; what no input is called is taken for one of its fields.
            Kind::Any if first == "item" || !self.context.names.has(first) => Some((name(), Kind::Any)),
            Kind::Any => None,
            plain => (first == "item").then(|| (name(), plain.clone())),
        }
    }

    /// What to do about a name that is like one of the entry's or the section's own.
    pub(super) fn own_fix(&self, name: &str) -> Option<String> {
        let fields = match self.context.item {
            Some(Kind::Record(fields)) => Some(fields.keys().map(String::as_str)),
            _ => None,
        };
        let own = self.context.slots.iter().map(String::as_str).chain(fields.into_iter().flatten());
        nearest(name, own).map(|close| format!("did you mean `{close}`?"))
    }

    pub(super) fn words(&mut self, path: &[String], span: Span) -> (Expr, Kind) {
        if let [_, list] = path
            && let Some(words) = self.context.words.get(list)
        {
            let words = words.iter().cloned().map(Expr::Text).collect();
            return (Expr::List(words), Kind::List(Kind::Text.into()));
        }
        let known = self.context.words.keys().map(String::as_str);
        let fix = match path.get(1).and_then(|list| nearest(list, known)) {
            Some(close) => format!("did you mean `words.{close}`?"),
            None => "add the list to `[words]` of profile.toml".to_owned(),
        };
        self.refuse(span, &format!("unknown name `{}`", path.join(".")), &fix)
    }
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
