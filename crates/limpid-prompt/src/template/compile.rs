//! Compiling: takes over from minijinja's syntax tree what texts may contain, and checks every name and filter.

mod expr;
mod filter;
mod name;

use std::collections::BTreeMap;
use std::ops::Range;

use minijinja::machinery::{Span, Token, ast, parse, parse_expr, tokenize};
use minijinja::syntax::SyntaxConfig;

use crate::problem::Fault;

use super::names::{self, Kind, Names};
use super::syntax::{Gate, Name, Node, Root, Template};

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
        let syntax = syntax.map_err(|error| vec![fault(source, &error)])?;
        short(tokenize(source, false, syntax.clone()))?;
        let parsed = parse(source, "text", syntax).map_err(|error| vec![fault(source, &error)])?;
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
        short(tokenize(source, true, SyntaxConfig::default()))?;
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

/// Words and signs of one condition or one pair of braces.
const MOST_WORDS: usize = 500;

/// Refuses what is too long between two braces: whatever reads it goes down one call for each `not` and each filter.
fn short<'s>(tokens: impl Iterator<Item = Result<(Token<'s>, Span), minijinja::Error>>) -> Result<(), Vec<Fault>> {
    let mut words = 0;
    // What cannot be read is told by whoever parses it.
    for (token, span) in tokens.map_while(Result::ok) {
        words = match token {
            Token::TemplateData(_) | Token::VariableStart | Token::BlockStart => 0,
            _ => words + 1,
        };
        if words > MOST_WORDS {
            let message = format!("this has more than {MOST_WORDS} words and signs");
            return Err(vec![Fault::new(
                range(span),
                message,
                "take several shorter conditions, or a list of `[words]`",
            )]);
        }
    }
    Ok(())
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
