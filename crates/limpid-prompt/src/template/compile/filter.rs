//! Filters in expressions: which there are, and their arguments.

use minijinja::machinery::ast::{self, CallArg};

use super::range;
use crate::problem::{Fault, nearest};
use crate::template::Filter;

/// The filter that a text asks for, with its argument.
pub(super) fn find(filter: &ast::Spanned<ast::Filter<'_>>) -> Result<Filter, Fault> {
    let fault = |message: String, fix: String| Fault::new(range(filter.span()), message, fix);
    let (text, number) = match filter.args.as_slice() {
        [] => (None, None),
        [CallArg::Pos(ast::Expr::Const(constant))] => {
            let text = constant.value.as_str().map(str::to_owned);
            let number = if text.is_none() { usize::try_from(constant.value.clone()).ok() } else { None };
            (text, number)
        }
        _ => {
            let message = format!("`{}` takes one argument that is a text or a number", filter.name);
            return Err(fault(message, "write it out: `| cut(80)`".to_owned()));
        }
    };
    let with_argument = |found: Option<Filter>, example: &str| {
        let message = || format!("`{}` takes one argument", filter.name);
        found.ok_or_else(|| fault(message(), format!("write `| {example}`")))
    };
    let plain = match filter.name {
        "indent" => return with_argument(number.map(Filter::Indent), "indent(2)"),
        "cut" => return with_argument(number.map(Filter::Cut), "cut(80)"),
        "default" => return with_argument(text.map(Filter::Default), "default(\"none\")"),
        "guard" => return with_argument(text.map(Filter::Guard), "guard(\"[context]\")"),
        name => Filter::plain(name),
    };
    match plain {
        Some(plain) if filter.args.is_empty() => Ok(plain),
        Some(_) => Err(fault(format!("`{}` takes no argument", filter.name), format!("write `| {}`", filter.name))),
        None => {
            let fix = match nearest(filter.name, Filter::NAMES) {
                Some(close) => format!("did you mean `{close}`?"),
                None => format!("the filters are {}", Filter::NAMES.join(", ")),
            };
            Err(fault(format!("unknown filter `{}`", filter.name), fix))
        }
    }
}
