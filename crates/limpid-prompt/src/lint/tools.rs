//! Tools that texts name: whether they exist, and whether they are offered where the text stands.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::problem::{File, Problem, nearest};
use crate::profile::Path;
use crate::section::{Form, Section};
use crate::template::{Expr, Node};

use super::own::{Own, warn};

/// A tool's name in a text.
struct Mention<'t> {
    name: &'t str,
    /// Whether the text is there only when the tool is offered.
    guarded: bool,
    /// Whether a condition asks for the tool.
    asked: bool,
}

/// Names that no tool has, and texts that speak of a tool where it is not offered.
pub(super) fn unknown_or_not_offered(own: Own<'_>, problems: &mut Vec<Problem>) {
    let known = known_tools(own);
    for section in own.profile.sections() {
        let gate: BTreeSet<&str> = section.when.iter().flat_map(|gate| asked(&gate.expr)).collect();
        let forms = section.forms.tiers.iter().chain([&section.forms.body]).flatten();
        for form in forms {
            form_tools(own, section, form, &gate, &known, problems);
        }
    }
    companions(own, &known, problems);
}

/// The tools that files of tools bring along (`with`).
fn companions(own: Own<'_>, known: &BTreeSet<&str>, problems: &mut Vec<Problem>) {
    for tool in own.profile.tools.values() {
        let Some(file) = own.files().find(|file| file.path == tool.source.path) else { continue };
        for name in tool.with.iter().filter(|name| !known.contains(name.as_str())) {
            let at = file.text.find(name.as_str()).unwrap_or_default();
            unknown(problems, file, at..at + name.len(), name, known);
        }
    }
}

/// Every tool that any file of the profile speaks of by its name.
fn known_tools(own: Own<'_>) -> BTreeSet<&str> {
    let described = own.profile.tools.keys().map(String::as_str);
    let grouped = own.profile.groups().iter().flat_map(|group| group.names.iter().map(String::as_str));
    let ordered = own.profile.tool_order().iter().map(String::as_str);
    let offered =
        own.profile.paths().flat_map(|path| path.tools.iter().chain(&path.local_tools).flatten()).map(String::as_str);
    described.chain(grouped).chain(ordered).chain(offered.filter(|name| !name.ends_with('*'))).collect()
}

fn form_tools(
    own: Own<'_>,
    section: &Section,
    form: &Form,
    gate: &BTreeSet<&str>,
    known: &BTreeSet<&str>,
    problems: &mut Vec<Problem>,
) {
    let Some((file, body)) = own.body(form) else { return };
    let mut mentions: Vec<Mention<'_>> = gate.iter().map(|name| Mention { name, guarded: true, asked: true }).collect();
    collect(&form.template.nodes, &mut gate.iter().copied().collect(), &mut mentions);
    let mut told = BTreeSet::new();
    for mention in mentions {
        let place = || {
            let at = file.text[body.clone()].find(mention.name).map_or(0, |at| body.start + at);
            at..at + if at == 0 { 0 } else { mention.name.len() }
        };
        if !known.contains(mention.name) {
            let is_meant = mention.asked || nearest(mention.name, known.iter().copied()).is_some();
            if is_meant && told.insert(mention.name) {
                unknown(problems, file, place(), mention.name, known);
            }
        } else if !mention.guarded
            && let Some(path) = paths_with(own, section).find(|path| !path.offers(mention.name, false))
            && told.insert(mention.name)
        {
            let message = format!("`{}` is not offered on path {}", mention.name, path.name);
            let fix = format!("write {{% if tool.{} %}} around it, or offer the tool there", mention.name);
            warn(problems, file, place(), message, &fix);
        }
    }
}

fn paths_with<'p>(own: Own<'p>, section: &Section) -> impl Iterator<Item = &'p Path> {
    let paths = own.profile.paths().filter(move |path| path.profile == own.profile.name());
    paths.filter(|path| path.sections().any(|other| other.id == section.id))
}

/// Warns of a name that no tool has.
fn unknown(problems: &mut Vec<Problem>, file: &File, at: Range<usize>, name: &str, known: &BTreeSet<&str>) {
    let fix = match nearest(name, known.iter().copied()) {
        Some(close) => format!("did you mean `{close}`?"),
        None => format!("describe it in `tools/{name}.md`, or correct its name"),
    };
    warn(problems, file, at, format!("there is no tool `{name}`"), &fix);
}

/// The tools that a text names, with those that its conditions ask for.
fn collect<'t>(nodes: &'t [Node], guards: &mut BTreeSet<&'t str>, found: &mut Vec<Mention<'t>>) {
    for node in nodes {
        match node {
            Node::Print(_) => {}
            Node::Text(text) => {
                let mentions = words(text).map(|name| Mention { name, guarded: guards.contains(name), asked: false });
                found.extend(mentions);
            }
            Node::If { test, yes, no } => {
                let names = asked(test);
                found.extend(names.iter().map(|name| Mention { name, guarded: true, asked: true }));
                let new: Vec<&str> = names.into_iter().filter(|name| guards.insert(name)).collect();
                collect(yes, guards, found);
                for name in new {
                    guards.remove(name);
                }
                collect(no, guards, found);
            }
        }
    }
}

/// Words that are written like a tool's name: small letters with underscores between.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let word = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    text.split(move |letter| !word(letter)).filter(|word| word.trim_matches('_').contains('_'))
}

/// The tools whose being offered an expression asks for.
fn asked(expr: &Expr) -> Vec<&str> {
    match expr {
        Expr::Name(name) => match name.path.as_slice() {
            [first, tool] if first == "tool" => vec![tool],
            _ => Vec::new(),
        },
        Expr::Not(inner) | Expr::Filter(_, inner) => asked(inner),
        Expr::And(left, right) | Expr::Or(left, right) | Expr::Same(left, right) | Expr::In(left, right) => {
            [asked(left), asked(right)].concat()
        }
        Expr::List(items) => items.iter().flat_map(asked).collect(),
        Expr::Bool(_) | Expr::Int(_) | Expr::Text(_) | Expr::Slot(_) => Vec::new(),
    }
}
