//! Expressions: what they may be made of.

use minijinja::machinery::Span;
use minijinja::machinery::ast::{self, BinOpKind, CompareOpKind, UnaryOpKind};
use minijinja::value::ValueKind;

use super::{Compiler, filter, name, range};
use crate::problem::Fault;
use crate::template::names::Kind;
use crate::template::{Expr, Filter};

impl Compiler<'_, '_> {
    /// An expression and the kind of its value. After a fault the value is anything, so that one fault is told once.
    pub(super) fn expr(&mut self, expr: &ast::Expr<'_>) -> (Expr, Kind) {
        match expr {
            ast::Expr::Var(_) | ast::Expr::GetAttr(_) => {
                name::resolve(self.context, expr).unwrap_or_else(|fault| self.refused(fault))
            }
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
        self.refused(Fault::new(range(span), message, fix))
    }

    fn refused(&mut self, fault: Fault) -> (Expr, Kind) {
        self.faults.push(fault);
        (Expr::Bool(false), Kind::Any)
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

    fn filter(&mut self, filter: &ast::Spanned<ast::Filter<'_>>) -> (Expr, Kind) {
        let Some(inner) = &filter.expr else {
            return self.refuse(filter.span(), "this filter stands on nothing", "write `{{ name | filter }}`");
        };
        let (inner_expr, kind) = self.expr(inner);
        if matches!(inner_expr, Expr::Slot(_)) {
            return self.refuse(filter.span(), "a section's own list takes no filter", "filter inside its `entry`");
        }
        let found = match filter::find(filter) {
            Ok(found) => found,
            Err(fault) => return self.refused(fault),
        };
        let is_list = matches!(kind, Kind::List(_));
        let result = match &found {
            Filter::Count => Kind::Number,
            Filter::Commas | Filter::Bullets => Kind::Text,
            _ if is_list => kind.clone(),
            _ => Kind::Text,
        };
        if found != Filter::Count {
            self.check_printable(&kind, inner.span());
            return (Expr::Filter(found, inner_expr.into()), if is_records(&kind) { Kind::Any } else { result });
        }
        (Expr::Filter(found, inner_expr.into()), result)
    }

    fn no_order(&mut self, span: Span) -> (Expr, Kind) {
        self.refuse(span, "`<` and `>` do not exist here", "compare with `==`, `!=` or `in [ … ]`")
    }
}

fn is_records(kind: &Kind) -> bool {
    matches!(kind, Kind::Record(_)) || matches!(kind, Kind::List(item) if matches!(**item, Kind::Record(_)))
}
