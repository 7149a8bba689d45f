//! The history of skills, and what conversations use.

use async_trait::async_trait;
use limpid_core::ConversationId;
use rusqlite::{OptionalExtension, Row, named_params};
use serde::{Deserialize, Serialize};

use super::conversation_row::missing;
use super::failure::{Outcome, is_orphan};
use super::instructing::raise;
use super::row::{self, Read, Unreadable, get, parsed};
use super::{SqliteStore, Tx};
use crate::{
    Listed, NewRaisedLabel, NewSkillEvent, RaisingAct, SkillEvent, SkillEventId, SkillEventKind, SkillVersion, Skills,
    StoreError,
};

#[async_trait]
impl Skills for SqliteStore {
    async fn record_skill(&self, new: NewSkillEvent) -> Result<SkillEvent, StoreError> {
        self.write(move |tx| record(tx, new)).await
    }

    async fn skill_events(&self, skill: Option<&str>) -> Result<Listed<SkillEvent>, StoreError> {
        let skill = skill.map(str::to_owned);
        self.search(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT * FROM skill_event WHERE owner = :owner AND (:skill IS NULL OR skill = :skill) ORDER BY id",
            )?;
            row::list(&mut statement, named_params! { ":owner": tx.owner, ":skill": skill }, "skill_event", "id", event)
        })
        .await
    }

    async fn skill_states(&self) -> Result<Listed<SkillEvent>, StoreError> {
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(STATES)?;
            row::list(&mut statement, named_params! { ":owner": tx.owner }, "skill_event", "id", event)
        })
        .await
    }

    async fn chosen_skills(&self, conversation: &ConversationId) -> Result<Vec<String>, StoreError> {
        let conversation = conversation.clone();
        self.read(move |tx| names(tx, &conversation, Column::Chosen)).await
    }

    async fn choose_skills(
        &self,
        conversation: &ConversationId,
        skills: Vec<String>,
    ) -> Result<Vec<String>, StoreError> {
        let conversation = conversation.clone();
        self.write(move |tx| swap(tx, &conversation, Column::Chosen, &skills)).await
    }

    async fn note_active_skills(
        &self,
        conversation: &ConversationId,
        skills: Vec<String>,
    ) -> Result<Vec<String>, StoreError> {
        let conversation = conversation.clone();
        let id = conversation.clone();
        let before = self.read(move |tx| names(tx, &id, Column::Active)).await?;
        // Most turns change nothing, and a turn should not wait for a write that says so.
        if before == skills {
            return Ok(before);
        }
        self.write(move |tx| swap(tx, &conversation, Column::Active, &skills)).await
    }
}

/// A version that cannot be read belongs to no folder, and is told as such.
const STATES: &str = "
    WITH at AS (
      SELECT id, skill, CASE WHEN json_valid(coalesce(after, before)) THEN coalesce(after, before) END AS version
      FROM skill_event WHERE owner = :owner
    ), stood AS (
      SELECT id, skill, version ->> 'place' AS place, version ->> 'folder' AS folder, version ->> 'installed' AS installed FROM at
    )
    SELECT * FROM skill_event WHERE id IN (
      SELECT max(id) FROM stood GROUP BY skill, place, folder
      UNION SELECT max(id) FROM stood WHERE installed GROUP BY skill, place, folder
    ) ORDER BY id";

fn record(tx: &Tx<'_>, new: NewSkillEvent) -> Outcome<SkillEvent> {
    if let Some(after) = new.after.as_ref().filter(|_| new.kind == SkillEventKind::Enabled) {
        // What was shown is kept under its hash among the versions.
        let (subject, shown, source) = (new.skill.clone(), after.hash.clone(), new.source.clone());
        raise(tx, &NewRaisedLabel { act: RaisingAct::Skill, subject, shown, source, now_ms: new.now_ms }, None)?;
    }
    tx.sql
        .prepare_cached(
            "INSERT INTO skill_event (owner, skill, kind, before, after, source, at_ms)
             VALUES (:owner, :skill, :kind, :before, :after, :source, :now)",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":skill": new.skill, ":kind": new.kind.as_str(),
            ":before": to_json(new.before.as_ref())?, ":after": to_json(new.after.as_ref())?,
            ":source": new.source, ":now": new.now_ms,
        })?;
    Ok(SkillEvent {
        id: SkillEventId(tx.sql.last_insert_rowid()),
        skill: new.skill,
        kind: new.kind,
        before: new.before,
        after: new.after,
        source: new.source,
        at_ms: new.now_ms,
    })
}

fn event(row: &Row<'_>) -> Read<SkillEvent> {
    Ok(SkillEvent {
        id: SkillEventId(get(row, "id")?),
        skill: get(row, "skill")?,
        kind: parsed(row, "kind", SkillEventKind::parse)?,
        before: from_json(row, "before")?,
        after: from_json(row, "after")?,
        source: get(row, "source")?,
        at_ms: get(row, "at_ms")?,
    })
}

/// Which list of names of a conversation.
#[derive(Clone, Copy)]
enum Column {
    Chosen,
    Active,
}

fn names(tx: &Tx<'_>, conversation: &ConversationId, column: Column) -> Outcome<Vec<String>> {
    let sql = match column {
        Column::Chosen => "SELECT chosen FROM skill_choice WHERE owner = ? AND conversation = ?",
        Column::Active => "SELECT active FROM skill_choice WHERE owner = ? AND conversation = ?",
    };
    let found: Option<String> =
        tx.sql.prepare_cached(sql)?.query_row((tx.owner, conversation.as_str()), |row| row.get(0)).optional()?;
    // A list that cannot be read is no list; the conversation goes on without it.
    Ok(found.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

/// Writes a list of names and returns the one before.
fn swap(tx: &Tx<'_>, conversation: &ConversationId, column: Column, new: &[String]) -> Outcome<Vec<String>> {
    let before = names(tx, conversation, column)?;
    if before == new {
        return Ok(before);
    }
    let sql = match column {
        Column::Chosen => {
            "INSERT INTO skill_choice (owner, conversation, chosen) VALUES (:owner, :conversation, :names)
             ON CONFLICT DO UPDATE SET chosen = :names"
        }
        Column::Active => {
            "INSERT INTO skill_choice (owner, conversation, active) VALUES (:owner, :conversation, :names)
             ON CONFLICT DO UPDATE SET active = :names"
        }
    };
    let json = serde_json::to_string(new).map_err(|error| StoreError::Invalid(error.to_string()))?;
    let written = tx.sql.prepare_cached(sql)?.execute(named_params! {
        ":owner": tx.owner, ":conversation": conversation.as_str(), ":names": json,
    });
    match written {
        Err(error) if is_orphan(&error) => Err(missing(conversation).into()),
        written => {
            written?;
            Ok(before)
        }
    }
}

/// A version inside an event.
#[derive(Serialize, Deserialize)]
struct VersionJson {
    hash: String,
    place: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
    installed: bool,
    enabled: bool,
}

fn to_json(version: Option<&SkillVersion>) -> Outcome<Option<String>> {
    let Some(SkillVersion { hash, place, folder, installed, enabled }) = version.cloned() else { return Ok(None) };
    let text = serde_json::to_string(&VersionJson { hash, place, folder, installed, enabled })
        .map_err(|error| StoreError::Invalid(error.to_string()))?;
    Ok(Some(text))
}

fn from_json(row: &Row<'_>, column: &str) -> Read<Option<SkillVersion>> {
    let Some(text) = get::<Option<String>>(row, column)? else { return Ok(None) };
    let VersionJson { hash, place, folder, installed, enabled } =
        serde_json::from_str(&text).map_err(|error| Unreadable(format!("{column}: {error}")))?;
    Ok(Some(SkillVersion { hash, place, folder, installed, enabled }))
}
