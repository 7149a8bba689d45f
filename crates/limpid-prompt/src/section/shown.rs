//! What a section is about, taken from the data that it shows.

use super::definition::Section;
use super::form::Form;
use super::list::EntryList;
use super::subject::Subject;
use crate::template::{Expr, Name, Node, Root};

impl Subject {
    /// The subject of a section: that of the lists that it prints, else of the texts, else of its gate.
    pub(crate) fn of(section: &Section) -> Self {
        let lists = section.lists.iter().map(|EntryList { of, .. }| of).chain(&section.from);
        let forms = || section.forms.tiers.iter().chain([&section.forms.body]).flatten();
        let printed = forms().flat_map(|form| printed(&form.template.nodes));
        let gate = section.when.iter().flat_map(|gate| names(&gate.expr));
        let first = |mut names: Vec<Self>| {
            names.sort_by_key(|subject| std::cmp::Reverse(*subject));
            names.into_iter().find(|subject| *subject != Self::Instructions)
        };
        let of = |names: Vec<&Name>| first(names.into_iter().map(Self::of_name).collect());
        of(lists.collect()).or_else(|| of(printed.collect())).or_else(|| of(gate.collect())).unwrap_or_default()
    }

    fn of_name(name: &Name) -> Self {
        if name.root == Root::Item {
            return Self::Instructions;
        }
        let field = name.path.get(1).map_or("", String::as_str);
        match (name.path.first().map_or("", String::as_str), field) {
            ("goal" | "stored_goal" | "goal_markers", _) => Self::Goal,
            ("skills", _) => Self::Skills,
            ("tools" | "more_tools" | "groups" | "tool", _) => Self::Tools,
            ("memory", _) | ("workspace", "long_term" | "long_term_lines" | "daily_notes" | "notes") => Self::Memory,
            ("pin", _) => Self::Pin,
            ("digests" | "summary" | "digests_or_summary", _) => Self::Digests,
            ("user_message", _) => Self::Message,
            _ => Self::Instructions,
        }
    }
}

impl Section {
    /// Whether its lists, its text or its gate name such an input.
    pub(crate) fn shows(&self, is_it: &dyn Fn(&Name) -> bool) -> bool {
        let lists = self.lists.iter().map(|EntryList { of, .. }| of).chain(&self.from);
        let gate = self.when.iter().flat_map(|gate| names(&gate.expr));
        let mut forms = self.forms.tiers.iter().chain([&self.forms.body]).flatten();
        lists.chain(gate).any(is_it) || forms.any(|form| form.shows(is_it))
    }
}

impl Form {
    /// Whether its text names such an input.
    pub(crate) fn shows(&self, is_it: &dyn Fn(&Name) -> bool) -> bool {
        let conditions = conditions(&self.template.nodes).into_iter().flat_map(names);
        printed(&self.template.nodes).into_iter().chain(conditions).any(is_it)
    }
}

/// The conditions in a text.
fn conditions(nodes: &[Node]) -> Vec<&Expr> {
    let mut found = Vec::new();
    for node in nodes {
        if let Node::If { test, yes, no } = node {
            found.push(test);
            found.extend(conditions(yes));
            found.extend(conditions(no));
        }
    }
    found
}

/// The names that a text prints.
fn printed(nodes: &[Node]) -> Vec<&Name> {
    let mut found = Vec::new();
    for node in nodes {
        match node {
            Node::Text(_) => {}
            Node::Print(expr) => found.extend(names(expr)),
            Node::If { yes, no, .. } => {
                found.extend(printed(yes));
                found.extend(printed(no));
            }
        }
    }
    found
}

/// The names in an expression.
fn names(expr: &Expr) -> Vec<&Name> {
    match expr {
        Expr::Name(name) => vec![name],
        Expr::Not(inner) | Expr::Filter(_, inner) => names(inner),
        Expr::And(a, b) | Expr::Or(a, b) | Expr::Same(a, b) | Expr::In(a, b) => [names(a), names(b)].concat(),
        Expr::List(items) => items.iter().flat_map(names).collect(),
        Expr::Bool(_) | Expr::Int(_) | Expr::Text(_) | Expr::Slot(_) => Vec::new(),
    }
}
