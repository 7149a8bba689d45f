//! `doctor`: one line for each thing that must work, OK or what to do.

use limpid_runtime::doctor::{Check, check};
use serde_json::{Value, json};

use super::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Carries out `doctor`.
///
/// # Errors
/// When something does not work.
pub async fn run(context: &Context, as_json: bool) -> Result<(), Failure> {
    let checks = check(&context.options()).await;
    if as_json {
        let rows: Vec<Value> = checks
            .iter()
            .map(|check| json!({"what": check.what, "ok": check.ok, "says": check.says, "advice": check.advice}))
            .collect();
        output::json("checks", &rows)?;
    } else {
        for check in &checks {
            output::line(&line(check))?;
        }
    }
    match checks.iter().filter(|check| !check.ok).count() {
        0 => Ok(()),
        wrong => Err(Failure::new(ExitStatus::Findings, format!("{wrong} of {} need attention", checks.len()))),
    }
}

fn line(check: &Check) -> String {
    let mark = if check.ok { "OK  " } else { "!!  " };
    let end = if check.says.ends_with(['.', '?', '!', ':']) { "" } else { "." };
    let advice = check.advice.as_ref().map_or_else(String::new, |advice| format!("{end} {advice}"));
    format!("{}{advice}", output::beside(&format!("{mark}{}: ", check.what), mark.len(), &check.says))
}
