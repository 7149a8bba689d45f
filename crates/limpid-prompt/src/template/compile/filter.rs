//! Filters in expressions: which there are, and their arguments.

use minijinja::machinery::ast::{self, CallArg};

use super::Compiler;
use crate::problem::nearest;
use crate::template::names::Kind;
use crate::template::{Expr, Filter};

impl Compiler<'_, '_> {
    pub(super) fn filter(&mut self, filter: &ast::Spanned<ast::Filter<'_>>) -> (Expr, Kind) {
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

    pub(super) fn is_records(&self, kind: &Kind) -> bool {
        matches!(kind, Kind::Record(_)) || matches!(kind, Kind::List(item) if matches!(**item, Kind::Record(_)))
    }

    pub(super) fn filter_named(&mut self, filter: &ast::Spanned<ast::Filter<'_>>) -> Option<Filter> {
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

    pub(super) fn with_argument(
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
    pub(super) fn argument(
        &mut self,
        filter: &ast::Spanned<ast::Filter<'_>>,
    ) -> Option<(Option<String>, Option<usize>)> {
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
