//! `conversation context`, `compact`, `keep` and `restore`.

use limpid_runtime::{Agent, CompactionReport, ConversationChoice};
use serde_json::{Value, json};

use super::super::choice::choice;
use crate::failure::{ExitStatus, Failure};
use crate::output;

pub(super) async fn context(agent: &Agent, id: &str, json: bool) -> Result<(), Failure> {
    let report = agent.conversations().context(&chosen(id)).await?;
    if !json {
        output::text(&report.to_string())?;
        for attempt in &report.attempts {
            let new = &attempt.new;
            let end = match &new.failure {
                None => format!("done, {} tokens became {}", new.before, new.after),
                Some(reason) => format!("failed: {reason}"),
            };
            output::line(&output::beside(&format!("{} ", new.kind), 2, &end))?;
        }
        return Ok(());
    }
    let sizes: serde_json::Map<String, Value> =
        report.size.parts().into_iter().map(|(name, tokens)| (name.replace(' ', "_"), tokens.into())).collect();
    let digests: Vec<Value> = report
        .view
        .digests
        .iter()
        .map(|digest| {
            json!({
                "id": digest.id(), "level": digest.level.as_str(), "first": digest.first.0, "last": digest.last.0,
                "tokens": digest.tokens, "text": digest.text,
            })
        })
        .collect();
    let attempts: Vec<Value> = report
        .attempts
        .iter()
        .map(|attempt| {
            let new = &attempt.new;
            json!({
                "kind": new.kind, "failure": new.failure, "before": new.before, "after": new.after, "steps": new.steps,
                "at_ms": attempt.at_ms,
            })
        })
        .collect();
    let moments: Vec<Value> = report
        .snapshots
        .iter()
        .map(|kept| {
            json!({
                "id": kept.id, "reason": kept.kept.reason, "automatic": kept.kept.automatic,
                "newest": kept.kept.newest.map(|id| id.0), "at_ms": kept.at_ms,
            })
        })
        .collect();
    let whole = json!({
        "conversation": report.conversation.id.as_str(), "model": report.model, "usable": report.size.usable.0,
        "available": report.size.available(), "percent": report.size.percent(), "sizes": sizes,
        "messages_shown": report.shown, "pin": report.view.pin.as_ref().map(|pin| pin.message.0), "digests": digests,
        "attempts": attempts, "moments": moments,
    });
    output::json("context", &whole)
}

pub(super) async fn compact(agent: &Agent, id: &str, undo: bool, json: bool) -> Result<(), Failure> {
    let choice = chosen(id);
    let report = if undo {
        agent.conversations().undo_compaction(&choice).await?
    } else {
        agent.conversations().compact(&choice).await?
    };
    tell(&report, json)
}

pub(super) async fn keep(agent: &Agent, id: &str, reason: &str) -> Result<(), Failure> {
    let kept = agent.conversations().save_snapshot(&chosen(id), reason).await?;
    output::line(&format!("This moment is kept as {}.", kept.id))
}

pub(super) async fn restore(agent: &Agent, id: &str, moment: i64, json: bool) -> Result<(), Failure> {
    tell(&agent.conversations().restore_snapshot(&chosen(id), moment).await?, json)
}

fn chosen(id: &str) -> ConversationChoice {
    choice(Some(id), &ConversationChoice::Last)
}

fn tell(report: &CompactionReport, json: bool) -> Result<(), Failure> {
    let CompactionReport { before, after, steps, failure } = report;
    if json {
        output::json("compaction", &json!({"before": before, "after": after, "steps": steps, "failure": failure}))?;
    } else if failure.is_none() {
        output::text(&report.to_string())?;
    }
    match failure {
        None => Ok(()),
        Some(reason) => Err(Failure::new(ExitStatus::Failed, reason.clone())),
    }
}
