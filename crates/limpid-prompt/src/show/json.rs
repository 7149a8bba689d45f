//! A prompt as JSON.

use serde::{Serialize, Serializer};

use crate::prompt::{BudgetUse, Prompt, PromptMessage, SectionReport};

/// The form of `prompt show --json`, field by field.
#[derive(Serialize)]
struct PromptJson<'a> {
    profile: &'a str,
    path: &'a str,
    revision: &'a str,
    messages: &'a [PromptMessage],
    report: &'a [SectionReport],
    tools: ToolsJson,
    tokens: TokensJson<'a>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    template: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<WindowJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    budgets: Vec<BudgetJson<'a>>,
}

#[derive(Serialize)]
struct WindowJson {
    tokens: u32,
    usable: u32,
    percent: Option<f64>,
}

#[derive(Serialize)]
struct BudgetJson<'a> {
    of: &'a str,
    used: usize,
    limit: usize,
    unit: &'static str,
    window_percent: Option<f64>,
}

#[derive(Serialize)]
struct ToolsJson {
    count: usize,
    /// Declared, and read only when a result names them.
    #[serde(skip_serializing_if = "Option::is_none")]
    unread: Option<usize>,
    bytes: usize,
    tokens: Option<usize>,
}

#[derive(Serialize)]
struct TokensJson<'a> {
    total: Option<usize>,
    counter: &'a str,
}

impl Serialize for Prompt {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let totals = self.totals();
        PromptJson {
            profile: self.profile(),
            path: self.path(),
            revision: self.revision(),
            messages: self.messages(),
            report: self.report(),
            tools: ToolsJson {
                count: self.tools().len(),
                unread: Some(self.waiting().len()).filter(|unread| *unread > 0),
                bytes: self.tool_bytes(),
                tokens: totals.map(|totals| totals.tools),
            },
            tokens: TokensJson { total: totals.map(|totals| totals.total), counter: self.counter() },
            template: self.template(),
            window: self.window().map(|window| WindowJson {
                tokens: window.tokens,
                usable: window.usable,
                percent: totals.map(|totals| window.percent(totals.total)),
            }),
            budgets: self.budgets().iter().map(|budget| budget_json(self, budget)).collect(),
        }
        .serialize(serializer)
    }
}

fn budget_json<'a>(prompt: &Prompt, budget: &'a BudgetUse) -> BudgetJson<'a> {
    let BudgetUse { what, used, limit, unit, .. } = budget;
    let window_percent = prompt.window_percent(budget);
    BudgetJson { of: what, used: *used, limit: *limit, unit: unit.as_str(), window_percent }
}
