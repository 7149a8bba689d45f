//! `cost`: tokens and money from the request log, and what the limits leave.

use limpid_core::spend::{LimitState, Quantity};
use limpid_runtime::Agent;
use limpid_store::CostRow;
use serde_json::{Value, json};

use crate::cli::{CostArgs, CostBy};
use crate::failure::Failure;
use crate::output;

/// Carries out `cost`.
///
/// # Errors
/// When the store fails.
pub async fn run(agent: &Agent, args: &CostArgs) -> Result<(), Failure> {
    let by = match args.by {
        CostBy::Path => limpid_store::CostBy::Path,
        CostBy::Model => limpid_store::CostBy::Model,
        CostBy::Day => limpid_store::CostBy::Day,
        CostBy::Conversation => limpid_store::CostBy::Conversation,
    };
    let rows = agent.costs(by, None, None).await?;
    let limits = agent.spending().limits().await?;
    if args.json {
        let rows: Vec<Value> = rows.iter().map(to_json).collect();
        let limits: Vec<Value> = limits.iter().map(limit_to_json).collect();
        return output::json_parts(&[("costs", rows), ("limits", limits)]);
    }
    if rows.is_empty() {
        output::tell("Nothing was sent yet.");
    } else {
        costs(&rows)?;
    }
    let cells: Vec<Vec<String>> = limits
        .iter()
        .map(|LimitState { limit, used }| {
            let left = limit.cap.less(*used);
            vec![limit.key.clone(), used.to_string(), limit.cap.to_string(), left.to_string()]
        })
        .collect();
    output::line(&format!("\n{}", output::table(&["limit of a day", "used", "of", "left"], &cells)))
}

fn costs(rows: &[CostRow]) -> Result<(), Failure> {
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            vec![
                row.group.clone(),
                row.requests.to_string(),
                row.usage.input.to_string(),
                row.usage.cached.to_string(),
                row.usage.cache_written.to_string(),
                row.usage.output.to_string(),
                row.usage.reasoning.to_string(),
                row.money(),
            ]
        })
        .collect();
    output::line(&output::table(&["", "requests", "input", "cached", "written", "output", "reasoning", "cost"], &cells))
}

fn limit_to_json(LimitState { limit, used }: &LimitState) -> Value {
    let unit = match limit.cap {
        Quantity::Tokens(_) => "tokens",
        Quantity::Money(_) => "micro_usd",
    };
    let left = limit.cap.less(*used).number();
    json!({"limit": limit.key, "unit": unit, "used": used.number(), "cap": limit.cap.number(), "left": left})
}

fn to_json(row: &CostRow) -> Value {
    json!({
        "group": row.group, "requests": row.requests, "input": row.usage.input, "cached": row.usage.cached,
        "cache_written": row.usage.cache_written, "output": row.usage.output,
        "reasoning": row.usage.reasoning,
        "cost_micro_usd": if row.unknown_cost == row.requests { None } else { Some(row.cost.0) },
        "unknown_cost": row.unknown_cost, "unknown_usage": row.unknown_usage,
    })
}
