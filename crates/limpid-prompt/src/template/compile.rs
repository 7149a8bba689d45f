//! Compiling: takes over from minijinja's syntax tree what texts may contain, and checks every name and filter.

use std::collections::BTreeMap;
use std::ops::Range;

use minijinja::machinery::ast::{self, BinOpKind, CallArg, CompareOpKind, UnaryOpKind};
use minijinja::machinery::{Span, parse, parse_expr};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::ValueKind;

use crate::problem::{Fault, nearest};

use super::names::{self, Kind, Names};
use super::{Expr, Filter, Gate, Name, Node, Root, Slot, Template};

/// What the names of a text may stand for.
#[derive(Clone, Copy)]
pub(crate) struct Context<'c> {
    /// The inputs and what is derived from them.
    pub(crate) names: &'c Names,
    /// The lists of `[words]`.
    pub(crate) words: &'c BTreeMap<String, Vec<String>>,
    /// The item of an entry.
    pub(crate) item: Option<&'c Kind>,
    /// The section's lists, by their names in the body.
    pub(crate) slots: &'c [String],
    /// Whether the text is the section of the mode's template.
    pub(crate) mode: bool,
}

impl<'c> Context<'c> {
    /// For a text that sees neither an item nor lists.
    pub(crate) fn new(names: &'c Names, words: &'c BTreeMap<String, Vec<String>>) -> Self {
        Self { names, words, item: None, slots: &[], mode: false }
    }

    /// Compiles a body or an entry. Every fault is found, not only the first.
    pub(crate) fn template(self, source: &str) -> Result<Template, Vec<Fault>> {
        let mut compiler = Compiler { context: self, source, faults: Vec::new() };
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        let parsed =
            syntax.and_then(|syntax| parse(source, "text", syntax)).map_err(|error| vec![fault(source, &error)])?;
        compiler.refuse_raw();
        let nodes = match &parsed {
            ast::Stmt::Template(template) => compiler.nodes(&template.children),
            _ => Vec::new(),
        };
        compiler.finish(Template { nodes })
    }

    /// Compiles a condition.
    pub(crate) fn gate(self, source: &str) -> Result<Gate, Vec<Fault>> {
        let mut compiler = Compiler { context: self, source, faults: Vec::new() };
        let parsed = parse_expr(source).map_err(|error| vec![fault(source, &error)])?;
        let (expr, _) = compiler.expr(&parsed);
        compiler.finish(Gate { source: source.to_owned(), expr })
    }

    /// Checks a name that stands alone (`entries`, `of`, `from`), and says what it stands for.
    pub(crate) fn name(self, source: &str) -> Result<(Name, Kind), Vec<Fault>> {
        let path: Vec<String> = source.split('.').map(str::to_owned).collect();
        match self.names.find(&path) {
            Ok(kind) => Ok((Name { path, root: Root::Scope }, kind)),
            Err(fix) => Err(vec![Fault::new(0..source.len(), format!("unknown name `{source}`"), fix)]),
        }
    }
}

/// What minijinja could not read.
fn fault(source: &str, error: &minijinja::Error) -> Fault {
    let line = error.line().unwrap_or(1).saturating_sub(1);
    let start: usize = source.split_inclusive('\n').take(line).map(str::len).sum();
    let end = source[start.min(source.len())..].find('\n').map_or(source.len(), |at| start + at);
    let message = error.detail().map_or_else(|| error.to_string(), str::to_owned);
    Fault::new(start..end, message, "close every `{{`, `{%` and `{#`, end every `if` with `{% endif %}`")
}

struct Compiler<'c, 's> {
    context: Context<'c>,
    source: &'s str,
    faults: Vec<Fault>,
}

impl Compiler<'_, '_> {
    fn finish<T>(self, value: T) -> Result<T, Vec<Fault>> {
        if self.faults.is_empty() { Ok(value) } else { Err(self.faults) }
    }

    fn fault(&mut self, span: Span, message: impl Into<String>, fix: impl Into<String>) {
        self.faults.push(Fault::new(range(span), message, fix));
    }

    /// minijinja resolves `raw` blocks while it reads, so they leave no trace in the tree.
    fn refuse_raw(&mut self) {
        let blocks: Vec<usize> = self.source.match_indices("{%").map(|(at, _)| at).collect();
        for at in blocks {
            let word = self.source[at + 2..].trim_start_matches(['-', '+']).trim_start();
            if word.starts_with("raw") {
                let fix = "print braces as text: {{ \"{{\" }}";
                self.faults.push(Fault::new(at..at + 2, "`raw` blocks do not exist here", fix));
            }
        }
    }

    fn nodes(&mut self, statements: &[ast::Stmt<'_>]) -> Vec<Node> {
        statements.iter().filter_map(|statement| self.node(statement)).collect()
    }

    fn node(&mut self, statement: &ast::Stmt<'_>) -> Option<Node> {
        let (word, span) = match statement {
            ast::Stmt::EmitRaw(raw) => return Some(Node::Text(raw.raw.to_owned())),
            ast::Stmt::EmitExpr(emit) => {
                let (expr, kind) = self.expr(&emit.expr);
                self.check_printable(&kind, emit.expr.span());
                return Some(Node::Print(expr));
            }
            ast::Stmt::IfCond(branch) => {
                let (test, _) = self.expr(&branch.expr);
                let (yes, no) = (self.nodes(&branch.true_body), self.nodes(&branch.false_body));
                return Some(Node::If { test, yes, no });
            }
            ast::Stmt::Template(template) => ("template", template.span()),
            ast::Stmt::ForLoop(block) => ("for", block.span()),
            ast::Stmt::WithBlock(block) => ("with", block.span()),
            ast::Stmt::Set(block) => ("set", block.span()),
            ast::Stmt::SetBlock(block) => ("set", block.span()),
            ast::Stmt::AutoEscape(block) => ("autoescape", block.span()),
            ast::Stmt::FilterBlock(block) => ("filter", block.span()),
            ast::Stmt::Do(block) => ("do", block.span()),
            #[allow(
                unreachable_patterns,
                reason = "minijinja's optional statements, when another crate switches them on"
            )]
            _ => ("this", Span::default()),
        };
        let fix = "texts know `{{ name }}` and `{% if %}`; lists are printed through `entries` or `lists`";
        self.fault(first_line(self.source, span), format!("`{word}` blocks do not exist here"), fix);
        None
    }

    fn check_printable(&mut self, kind: &Kind, span: Span) {
        match kind {
            Kind::List(item) if matches!(**item, Kind::Record(_)) => {
                let fix = "write `entries: <name>` and `entry: …` into the front matter, and `{{ entries }}` here";
                self.fault(span, "a list is printed entry by entry", fix);
            }
            Kind::Record(fields) => {
                self.fault(
                    span,
                    "this has fields and no text of its own",
                    format!("print one of {}", names::list(fields)),
                );
            }
            _ => {}
        }
    }

    /// An expression and the kind of its value. After a fault the value is anything, so that one fault is told once.
    fn expr(&mut self, expr: &ast::Expr<'_>) -> (Expr, Kind) {
        match expr {
            ast::Expr::Var(_) | ast::Expr::GetAttr(_) => self.name(expr),
            ast::Expr::Const(constant) => self.constant(&constant.value, constant.span()),
            ast::Expr::List(list) => {
                let items = list.items.iter().map(|item| self.expr(item).0).collect();
                (Expr::List(items), Kind::List(Kind::Any.into()))
            }
            ast::Expr::UnaryOp(op) => match op.op {
                UnaryOpKind::Not => (Expr::Not(self.expr(&op.expr).0.into()), Kind::Flag),
                UnaryOpKind::Neg => self.negative(&op.expr, op.span()),
            },
            ast::Expr::BinOp(op) => self.binary(op),
            ast::Expr::Compare(compare) => self.compare(compare),
            ast::Expr::Filter(filter) => self.filter(filter),
            ast::Expr::Test(test) => {
                let fix = "drop the test: an absent name is false by itself";
                self.refuse(test.span(), "`is` tests do not exist here", fix)
            }
            ast::Expr::IfExpr(inline) => {
                self.refuse(inline.span(), "an inline `if` does not exist here", "write `{% if … %}…{% endif %}`")
            }
            ast::Expr::Call(call) => {
                self.refuse(call.span(), "nothing can be called here", "use a filter: `{{ name | filter }}`")
            }
            ast::Expr::Slice(slice) => self.refuse(
                slice.span(),
                "slices do not exist here",
                "use `first` or `last` of the front matter, or `| cut(n)`",
            ),
            ast::Expr::GetItem(item) => {
                self.refuse(item.span(), "`[ ]` does not exist here", "name a field with a dot: `time.date`")
            }
            ast::Expr::Tuple(tuple) => {
                self.refuse(tuple.span(), "tuples do not exist here", "write a list: `in [\"a\", \"b\"]`")
            }
            ast::Expr::Map(map) => self.refuse(map.span(), "maps do not exist here", "use the names of the inputs"),
        }
    }

    fn refuse(&mut self, span: Span, message: &str, fix: &str) -> (Expr, Kind) {
        self.fault(span, message, fix);
        (Expr::Bool(false), Kind::Any)
    }

    fn name(&mut self, expr: &ast::Expr<'_>) -> (Expr, Kind) {
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
    fn item_name(&mut self, path: &[String], span: Span) -> Option<(Expr, Kind)> {
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
    fn own_fix(&self, name: &str) -> Option<String> {
        let fields = match self.context.item {
            Some(Kind::Record(fields)) => Some(fields.keys().map(String::as_str)),
            _ => None,
        };
        let own = self.context.slots.iter().map(String::as_str).chain(fields.into_iter().flatten());
        nearest(name, own).map(|close| format!("did you mean `{close}`?"))
    }

    fn words(&mut self, path: &[String], span: Span) -> (Expr, Kind) {
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

    fn constant(&mut self, value: &minijinja::Value, span: Span) -> (Expr, Kind) {
        if let Some(text) = value.as_str() {
            return (Expr::Text(text.to_owned()), Kind::Text);
        }
        match value.kind() {
            ValueKind::Bool => (Expr::Bool(value.is_true()), Kind::Flag),
            ValueKind::Number => match i64::try_from(value.clone()) {
                Ok(number) if value.is_integer() => (Expr::Int(number), Kind::Number),
                _ => self.refuse(span, "only whole numbers exist here", "write a whole number"),
            },
            _ => self.refuse(span, "this value does not exist here", "use a text, a whole number, true or false"),
        }
    }

    fn negative(&mut self, inner: &ast::Expr<'_>, span: Span) -> (Expr, Kind) {
        match self.expr(inner) {
            (Expr::Int(number), kind) => (Expr::Int(-number), kind),
            _ => self.refuse(span, "there is no arithmetic here", "write the number itself"),
        }
    }

    fn binary(&mut self, op: &ast::Spanned<ast::BinOp<'_>>) -> (Expr, Kind) {
        let (left, left_kind) = self.expr(&op.left);
        let (right, right_kind) = self.expr(&op.right);
        let (left, right) = (Box::new(left), Box::new(right));
        let kind = if left_kind == right_kind { left_kind } else { Kind::Any };
        match op.op {
            BinOpKind::ScAnd => (Expr::And(left, right), kind),
            BinOpKind::ScOr => (Expr::Or(left, right), kind),
            BinOpKind::Eq => (Expr::Same(left, right), Kind::Flag),
            BinOpKind::Ne => (Expr::Not(Expr::Same(left, right).into()), Kind::Flag),
            BinOpKind::In => (Expr::In(left, right), Kind::Flag),
            BinOpKind::Lt | BinOpKind::Lte | BinOpKind::Gt | BinOpKind::Gte => self.no_order(op.span()),
            BinOpKind::Concat => {
                self.refuse(op.span(), "`~` does not exist here", "write the texts one after the other")
            }
            _ => self.refuse(op.span(), "there is no arithmetic here", "leave it to the data"),
        }
    }

    fn compare(&mut self, compare: &ast::Spanned<ast::Compare<'_>>) -> (Expr, Kind) {
        let [op] = compare.ops.as_slice() else {
            return self.refuse(compare.span(), "comparisons cannot be chained here", "join two of them with `and`");
        };
        let left = Box::new(self.expr(&compare.expr).0);
        let right = Box::new(self.expr(&op.expr).0);
        let expr = match op.op {
            CompareOpKind::Eq => Expr::Same(left, right),
            CompareOpKind::Ne => Expr::Not(Expr::Same(left, right).into()),
            CompareOpKind::In => Expr::In(left, right),
            CompareOpKind::NotIn => Expr::Not(Expr::In(left, right).into()),
            _ => return self.no_order(compare.span()),
        };
        (expr, Kind::Flag)
    }

    fn no_order(&mut self, span: Span) -> (Expr, Kind) {
        self.refuse(span, "`<` and `>` do not exist here", "compare with `==`, `!=` or `in [ … ]`")
    }

    fn filter(&mut self, filter: &ast::Spanned<ast::Filter<'_>>) -> (Expr, Kind) {
        let Some(inner) = &filter.expr else {
            return self.refuse(filter.span(), "this filter stands on nothing", "write `{{ name | filter }}`");
        };
        let (inner_expr, kind) = self.expr(inner);
        if matches!(inner_expr, Expr::Slot(_)) {
            return self.refuse(filter.span(), "a section's own list takes no filter", "filter inside its `entry`");
        }
        let Some(found) = self.filter_named(filter) else { return (Expr::Bool(false), Kind::Any) };
        let is_list = matches!(kind, Kind::List(_));
        let result = match &found {
            Filter::Count => Kind::Number,
            Filter::Commas | Filter::Bullets => Kind::Text,
            _ if is_list => kind.clone(),
            _ => Kind::Text,
        };
        if found != Filter::Count {
            self.check_printable(&kind, inner.span());
            return (Expr::Filter(found, inner_expr.into()), if self.is_records(&kind) { Kind::Any } else { result });
        }
        (Expr::Filter(found, inner_expr.into()), result)
    }

    fn is_records(&self, kind: &Kind) -> bool {
        matches!(kind, Kind::Record(_)) || matches!(kind, Kind::List(item) if matches!(**item, Kind::Record(_)))
    }

    fn filter_named(&mut self, filter: &ast::Spanned<ast::Filter<'_>>) -> Option<Filter> {
        let (text, number) = self.argument(filter)?;
        let plain = match filter.name {
            "indent" => return self.with_argument(filter, number.map(Filter::Indent), "indent(2)"),
            "cut" => return self.with_argument(filter, number.map(Filter::Cut), "cut(80)"),
            "default" => return self.with_argument(filter, text.map(Filter::Default), "default(\"none\")"),
            "guard" => return self.with_argument(filter, text.map(Filter::Guard), "guard(\"[context]\")"),
            name => Filter::plain(name),
        };
        let Some(plain) = plain else {
            let fix = match nearest(filter.name, Filter::NAMES) {
                Some(close) => format!("did you mean `{close}`?"),
                None => format!("the filters are {}", Filter::NAMES.join(", ")),
            };
            self.fault(filter.span(), format!("unknown filter `{}`", filter.name), fix);
            return None;
        };
        if !filter.args.is_empty() {
            self.fault(
                filter.span(),
                format!("`{}` takes no argument", filter.name),
                format!("write `| {}`", filter.name),
            );
            return None;
        }
        Some(plain)
    }

    fn with_argument(
        &mut self,
        filter: &ast::Spanned<ast::Filter<'_>>,
        found: Option<Filter>,
        example: &str,
    ) -> Option<Filter> {
        if found.is_none() {
            self.fault(filter.span(), format!("`{}` takes one argument", filter.name), format!("write `| {example}`"));
        }
        found
    }

    /// The one argument of a filter, as a text and as a number; none after a fault.
    fn argument(&mut self, filter: &ast::Spanned<ast::Filter<'_>>) -> Option<(Option<String>, Option<usize>)> {
        match filter.args.as_slice() {
            [] => Some((None, None)),
            [CallArg::Pos(ast::Expr::Const(constant))] => {
                let text = constant.value.as_str().map(str::to_owned);
                let number = if text.is_none() { usize::try_from(constant.value.clone()).ok() } else { None };
                Some((text, number))
            }
            _ => {
                self.fault(
                    filter.span(),
                    format!("`{}` takes one argument that is a text or a number", filter.name),
                    "write it out: `| cut(80)`",
                );
                None
            }
        }
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

fn range(span: Span) -> Range<usize> {
    span.start_offset as usize..span.end_offset as usize
}

/// A span that ends with its first line: blocks reach over many.
fn first_line(source: &str, mut span: Span) -> Span {
    let start = (span.start_offset as usize).min(source.len());
    let length = source.get(start..).and_then(|rest| rest.find('\n')).unwrap_or(source.len() - start);
    span.end_offset = span.end_offset.min(span.start_offset + u32::try_from(length).unwrap_or(u32::MAX));
    span
}
