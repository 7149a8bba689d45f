//! How far the budgets of a path are used, once everything is cut: the numbers behind "too large".

use limpid_core::Role;

use super::history;
use super::limits::Limits;
use super::planned::Planned;
use crate::profile::Unit;
use crate::prompt::{BudgetUse, Size};

impl Limits<'_> {
    /// The budgets of the path's messages, then the path's own.
    pub(super) fn uses(&self, planned: &[Planned<'_>]) -> Vec<BudgetUse> {
        let of_messages = planned.iter().enumerate().filter_map(|(at, message)| self.of_message(at, message));
        of_messages.chain(self.of_path(planned)).collect()
    }

    fn of_message(&self, at: usize, message: &Planned<'_>) -> Option<BudgetUse> {
        let budget = message.spec.budget.as_ref().filter(|_| !message.closed)?;
        let unit = budget.limit.unit;
        let counts = |n: usize| !budget.except.contains(&message.drafts[n].section.id);
        let units = |n: usize| if counts(n) { message.drafts[n].units() } else { 0 };
        Some(BudgetUse {
            what: format!("message {at} ({}) of path {}", Role::from(message.spec.role), self.path.name),
            used: self.size(message.lay_units(units).text(), unit),
            limit: budget.limit.at(self.tier, self.window),
            unit,
            parts: largest_first(self.parts(message, unit, counts)),
            except: budget.except.clone(),
        })
    }

    fn of_path(&self, planned: &[Planned<'_>]) -> Option<BudgetUse> {
        let budget = self.path.budget?;
        let unit = budget.unit;
        let mut parts: Vec<Size> = planned.iter().flat_map(|message| self.parts(message, unit, |_| true)).collect();
        let around = self.around.iter().copied().flatten();
        let past: usize = around.map(|message| self.sent_size(message, unit)).sum();
        let tools: usize = self.tools.iter().map(|tool| self.size(&tool.declaration(), unit)).sum();
        let laid: usize = planned.iter().map(|message| self.size(message.lay().text(), unit)).sum();
        parts.extend([(history::PAST, past), ("tools", tools)].map(|(name, size)| Size::new(name, size)));
        Some(BudgetUse {
            what: format!("path {}", self.path.name),
            used: laid + past + tools,
            limit: budget.at(self.tier, self.window),
            unit,
            parts: largest_first(parts),
            except: Vec::new(),
        })
    }

    /// What each section of a message takes by itself.
    fn parts(&self, message: &Planned<'_>, unit: Unit, counts: impl Fn(usize) -> bool) -> Vec<Size> {
        let alone = |at: usize| {
            let only = |n: usize| if n == at { message.drafts[n].units() } else { 0 };
            self.size(message.lay_units(only).text(), unit)
        };
        let counted = (0..message.drafts.len()).filter(|at| counts(*at));
        counted.map(|at| Size::new(&message.drafts[at].section.id, alone(at))).collect()
    }
}

fn largest_first(mut parts: Vec<Size>) -> Vec<Size> {
    parts.retain(|part| part.size > 0);
    parts.sort_by_key(|part| std::cmp::Reverse(part.size));
    parts
}
