//! The log of goals.

use async_trait::async_trait;
use limpid_core::by_side::by_side;
use limpid_core::goal::{ArtifactAction, ArtifactKind, CheckpointStatus, GoalAuthor, GoalEvent, GoalRecord, Priority};
use limpid_core::{CheckpointId, ConversationId, DecisionId, GoalId, TurnId};
use rusqlite::{Row, named_params};
use serde::{Deserialize, Serialize};

use super::failure::Outcome;
use super::row::{self, Read, Unreadable, get, parsed, stored, word};
use super::{SqliteStore, Tx};
use crate::{GoalAppend, GoalLog, GoalLogs, StoreError};

#[async_trait]
impl GoalLogs for SqliteStore {
    async fn goal_log(&self, conversation: &ConversationId) -> Result<GoalLog, StoreError> {
        let conversation = conversation.clone();
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT * FROM goal_event WHERE owner = :owner AND conversation = :conversation ORDER BY seq",
            )?;
            let params = named_params! { ":owner": tx.owner, ":conversation": conversation.as_str() };
            let listed = row::list(&mut statement, params, "goal_event", "seq", record)?;
            Ok(GoalLog { records: listed.rows, broken: listed.broken, last: last(tx, &conversation)? })
        })
        .await
    }

    async fn goal_conversations(&self, limit: u32) -> Result<Vec<ConversationId>, StoreError> {
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT conversation.id, conversation.strangers FROM goal_event
                 JOIN conversation ON conversation.owner = goal_event.owner AND conversation.id = goal_event.conversation
                 WHERE goal_event.owner = ? GROUP BY conversation.id
                 ORDER BY max(goal_event.at_ms) DESC, conversation.id",
            )?;
            let rows = statement.query_map([tx.owner], |row| Ok((row.get::<_, String>(0)?, row.get::<_, bool>(1)?)))?;
            let rows = by_side(rows.collect::<Result<Vec<_>, _>>()?, limit as usize, |(_, is_strangers)| *is_strangers);
            Ok(rows.into_iter().map(|(id, _)| ConversationId::new(id)).collect())
        })
        .await
    }

    async fn append_goal_log(&self, conversation: &ConversationId, more: GoalAppend) -> Result<(), StoreError> {
        let conversation = conversation.clone();
        self.write(move |tx| append(tx, &conversation, &more)).await
    }
}

/// Appends to a conversation's log, unless it has grown since it was read.
pub(super) fn append(tx: &Tx<'_>, conversation: &ConversationId, more: &GoalAppend) -> Outcome<()> {
    let known = tx
        .sql
        .prepare_cached("SELECT 1 FROM conversation WHERE owner = ? AND id = ?")?
        .exists((tx.owner, conversation.as_str()))?;
    if !known {
        return Err(StoreError::NotFound { what: "conversation", id: conversation.to_string() }.into());
    }
    if last(tx, conversation)? != more.after {
        return Err(StoreError::Conflict { what: "goal log" }.into());
    }
    let mut statement = tx.sql.prepare_cached(
        "INSERT INTO goal_event (owner, conversation, seq, goal, kind, payload, author, trust, turn, at_ms)
         VALUES (:owner, :conversation, :seq, :goal, :kind, :payload, :author, :trust, :turn, :now)",
    )?;
    for (record, seq) in more.records.iter().zip(more.after + 1..) {
        let payload = Payload::of(&record.event);
        let payload = serde_json::to_string(&payload).map_err(|error| StoreError::Invalid(error.to_string()))?;
        statement.execute(named_params! {
            ":owner": tx.owner, ":conversation": conversation.as_str(), ":seq": stored(seq),
            ":goal": record.event.goal().as_str(), ":kind": record.event.name(), ":payload": payload,
            ":author": record.by.as_str(), ":trust": record.trust.as_str(),
            ":turn": record.turn.as_ref().map(TurnId::as_str), ":now": record.at_ms,
        })?;
    }
    Ok(())
}

fn last(tx: &Tx<'_>, conversation: &ConversationId) -> Outcome<u64> {
    let last: i64 = tx
        .sql
        .prepare_cached("SELECT coalesce(max(seq), 0) FROM goal_event WHERE owner = ? AND conversation = ?")?
        .query_row((tx.owner, conversation.as_str()), |row| row.get(0))?;
    Ok(last.unsigned_abs())
}

fn record(row: &Row<'_>) -> Read<GoalRecord> {
    let payload: String = get(row, "payload")?;
    let payload: Payload = serde_json::from_str(&payload).map_err(|error| Unreadable(format!("payload: {error}")))?;
    let (kind, goal): (String, String) = (get(row, "kind")?, get(row, "goal")?);
    let event = payload.into_event(&kind, GoalId::new(goal));
    Ok(GoalRecord {
        event: event.ok_or_else(|| Unreadable(format!("a `{kind}` lacks something, or is not known")))?,
        by: parsed(row, "author", GoalAuthor::parse)?,
        trust: word(row, "trust")?,
        turn: get::<Option<String>>(row, "turn")?.map(TurnId::new),
        at_ms: get(row, "at_ms")?,
    })
}

/// What an event holds besides its kind and its goal; each kind uses its own fields.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Payload {
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rationale: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    artifact: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    records: Option<u64>,
}

impl Payload {
    fn of(event: &GoalEvent) -> Self {
        let none = Self::default();
        match event.clone() {
            GoalEvent::Created { description, priority, .. } => {
                Self { description: Some(description), priority: word_of(priority.as_str()), ..none }
            }
            GoalEvent::Completed { summary, .. } => Self { summary, ..none },
            GoalEvent::CheckpointAdded { checkpoint, description, metadata, summary, .. } => Self {
                checkpoint: word_of(checkpoint.as_str()),
                description: Some(description),
                metadata,
                summary,
                ..none
            },
            GoalEvent::CheckpointSet { checkpoint, status, .. } => {
                Self { checkpoint: word_of(checkpoint.as_str()), status: word_of(status.as_str()), ..none }
            }
            GoalEvent::DecisionRecorded { decision, description, rationale, .. } => Self {
                decision: word_of(decision.as_str()),
                description: Some(description),
                rationale: Some(rationale),
                ..none
            },
            GoalEvent::DecisionRevised { decision, rationale, .. } => {
                Self { decision: word_of(decision.as_str()), rationale: Some(rationale), ..none }
            }
            GoalEvent::DecisionLocked { decision, .. } => Self { decision: word_of(decision.as_str()), ..none },
            GoalEvent::ArtifactRecorded { kind, path, action, .. } => {
                Self { artifact: word_of(kind.as_str()), path: Some(path), action: word_of(action.as_str()), ..none }
            }
            GoalEvent::Restored { records, .. } => Self { records: Some(records), ..none },
            GoalEvent::Paused { .. }
            | GoalEvent::Resumed { .. }
            | GoalEvent::Reopened { .. }
            | GoalEvent::Cleared { .. } => none,
        }
    }

    fn into_event(self, kind: &str, goal: GoalId) -> Option<GoalEvent> {
        let checkpoint = self.checkpoint.map(CheckpointId::new);
        let decision = self.decision.map(DecisionId::new);
        Some(match kind {
            "created" => {
                GoalEvent::Created { goal, description: self.description?, priority: Priority::parse(&self.priority?)? }
            }
            "paused" => GoalEvent::Paused { goal },
            "resumed" => GoalEvent::Resumed { goal },
            "completed" => GoalEvent::Completed { goal, summary: self.summary },
            "reopened" => GoalEvent::Reopened { goal },
            "cleared" => GoalEvent::Cleared { goal },
            "restored" => GoalEvent::Restored { goal, records: self.records? },
            "checkpoint-added" => GoalEvent::CheckpointAdded {
                goal,
                checkpoint: checkpoint?,
                description: self.description?,
                metadata: self.metadata,
                summary: self.summary,
            },
            "checkpoint-set" => GoalEvent::CheckpointSet {
                goal,
                checkpoint: checkpoint?,
                status: CheckpointStatus::parse(&self.status?)?,
            },
            "decision-recorded" => GoalEvent::DecisionRecorded {
                goal,
                decision: decision?,
                description: self.description?,
                rationale: self.rationale?,
            },
            "decision-revised" => GoalEvent::DecisionRevised { goal, decision: decision?, rationale: self.rationale? },
            "decision-locked" => GoalEvent::DecisionLocked { goal, decision: decision? },
            "artifact-recorded" => GoalEvent::ArtifactRecorded {
                goal,
                kind: ArtifactKind::parse(&self.artifact?)?,
                path: self.path?,
                action: ArtifactAction::parse(&self.action?)?,
            },
            _ => return None,
        })
    }
}

fn word_of(word: &str) -> Option<String> {
    Some(word.to_owned())
}
