//! Drafts with their steps, and labels of files.

use async_trait::async_trait;
use limpid_core::{CallId, ConversationId, DraftState, Trust, TurnId};
use rusqlite::{OptionalExtension, Row, named_params};

use super::failure::Outcome;
use super::row::{self, Read, get, parsed, word};
use super::{SqliteStore, Tx};
use crate::{Draft, DraftEvent, DraftId, Drafts, LabelledFile, Listed, NewDraft, StoreError};

/// A draft beside its newest step.
const DRAFTS: &str = "SELECT draft.*, step.state, step.detail, step.at_ms FROM draft
    JOIN draft_event AS step ON step.id = (SELECT max(id) FROM draft_event WHERE draft = draft.id)";

#[async_trait]
impl Drafts for SqliteStore {
    async fn keep_draft(&self, new: NewDraft) -> Result<Draft, StoreError> {
        self.write(move |tx| keep(tx, &new)).await
    }

    async fn draft(&self, id: DraftId) -> Result<Option<Draft>, StoreError> {
        self.read(move |tx| find(tx, id)).await
    }

    async fn drafts(&self, states: &[DraftState]) -> Result<Listed<Draft>, StoreError> {
        let states = states.to_vec();
        self.read(move |tx| {
            let mut statement =
                tx.sql.prepare_cached(&format!("{DRAFTS} WHERE draft.owner = :owner ORDER BY draft.id"))?;
            let mut listed = row::list(&mut statement, named_params! { ":owner": tx.owner }, "draft", "id", draft)?;
            listed.rows.retain(|draft| states.contains(&draft.state));
            Ok(listed)
        })
        .await
    }

    async fn move_draft(&self, id: DraftId, next: DraftState, detail: &str, now_ms: i64) -> Result<Draft, StoreError> {
        let detail = detail.to_owned();
        self.write(move |tx| {
            let draft = find(tx, id)?.ok_or_else(|| missing(id))?;
            if !draft.state.leads_to(next) {
                let reason = format!("draft {} is {}, so it cannot become {next}", id.0, draft.state);
                return Err(StoreError::Invalid(reason).into());
            }
            step(tx, id, next, &detail, now_ms)?;
            find(tx, id)?.ok_or_else(|| missing(id).into())
        })
        .await
    }

    async fn draft_events(&self, id: DraftId) -> Result<Listed<DraftEvent>, StoreError> {
        self.read(move |tx| {
            let mut statement = tx
                .sql
                .prepare_cached("SELECT * FROM draft_event WHERE owner = :owner AND draft = :draft ORDER BY id")?;
            let params = named_params! { ":owner": tx.owner, ":draft": id.0 };
            row::list(&mut statement, params, "draft_event", "id", event)
        })
        .await
    }

    async fn label_file(&self, path: &str, hash: &str, trust: Trust, now_ms: i64) -> Result<(), StoreError> {
        let (path, hash) = (path.to_owned(), hash.to_owned());
        self.write(move |tx| {
            tx.sql
                .prepare_cached("INSERT INTO file_label (owner, path, hash, trust, at_ms) VALUES (?, ?, ?, ?, ?)")?
                .execute((tx.owner, path, hash, trust.as_str(), now_ms))?;
            Ok(())
        })
        .await
    }

    async fn file_label(&self, hash: &str) -> Result<Option<Trust>, StoreError> {
        let hash = hash.to_owned();
        self.read(move |tx| {
            let mut statement = tx
                .sql
                .prepare_cached("SELECT trust FROM file_label WHERE owner = ? AND hash = ? ORDER BY id DESC LIMIT 1")?;
            let label: Option<String> = statement.query_row((tx.owner, &hash), |row| row.get(0)).optional()?;
            // A label that cannot be read is the least trusting one.
            Ok(label.map(|label| label.parse().unwrap_or(Trust::Outside)))
        })
        .await
    }

    async fn labelled_files(&self) -> Result<Vec<LabelledFile>, StoreError> {
        self.read(move |tx| {
            let mut statement =
                tx.sql.prepare_cached("SELECT DISTINCT path, hash, trust FROM file_label WHERE owner = ?")?;
            let files = statement.query_map([tx.owner], |row| {
                let trust: String = row.get(2)?;
                let trust = trust.parse().unwrap_or(Trust::Outside);
                Ok(LabelledFile { path: row.get(0)?, hash: row.get(1)?, trust })
            })?;
            Ok(files.collect::<Result<_, _>>()?)
        })
        .await
    }
}

fn keep(tx: &Tx<'_>, new: &NewDraft) -> Outcome<Draft> {
    let inserted = tx
        .sql
        .prepare_cached(
            "INSERT INTO draft (owner, conversation, turn, call, tool, arguments, hash, folder, destination, why,
                                led_by, trust, made_ms, expires_ms)
             VALUES (:owner, :conversation, :turn, :call, :tool, :arguments, :hash, :folder, :destination, :why,
                     :led_by, :trust, :made, :expires)
             ON CONFLICT (owner, turn, call) DO NOTHING",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":conversation": new.conversation.as_str(), ":turn": new.turn.as_str(),
            ":call": new.call.as_str(), ":tool": new.tool, ":arguments": new.arguments, ":hash": new.hash,
            ":folder": new.folder, ":destination": new.destination, ":why": new.why, ":led_by": new.led_by,
            ":trust": new.trust.as_str(), ":made": new.now_ms, ":expires": new.expires_ms,
        })?;
    let id: i64 = tx
        .sql
        .prepare_cached("SELECT id FROM draft WHERE owner = ? AND turn = ? AND call = ?")?
        .query_row((tx.owner, new.turn.as_str(), new.call.as_str()), |row| row.get(0))?;
    if inserted == 1 {
        step(tx, DraftId(id), DraftState::Open, "", new.now_ms)?;
    }
    find(tx, DraftId(id))?.ok_or_else(|| missing(DraftId(id)).into())
}

fn step(tx: &Tx<'_>, id: DraftId, state: DraftState, detail: &str, now_ms: i64) -> Outcome<()> {
    tx.sql
        .prepare_cached("INSERT INTO draft_event (owner, draft, state, detail, at_ms) VALUES (?, ?, ?, ?, ?)")?
        .execute((tx.owner, id.0, state.as_str(), detail, now_ms))?;
    Ok(())
}

fn find(tx: &Tx<'_>, id: DraftId) -> Outcome<Option<Draft>> {
    let mut statement = tx.sql.prepare_cached(&format!("{DRAFTS} WHERE draft.owner = :owner AND draft.id = :id"))?;
    let params = named_params! { ":owner": tx.owner, ":id": id.0 };
    row::one(&mut statement, params, "draft", &id.0.to_string(), draft)
}

fn missing(id: DraftId) -> StoreError {
    StoreError::NotFound { what: "draft", id: id.0.to_string() }
}

fn draft(row: &Row<'_>) -> Read<Draft> {
    Ok(Draft {
        id: DraftId(get(row, "id")?),
        new: NewDraft {
            conversation: ConversationId::new(get::<String>(row, "conversation")?),
            turn: TurnId::new(get::<String>(row, "turn")?),
            call: CallId::new(get::<String>(row, "call")?),
            tool: get(row, "tool")?,
            arguments: get(row, "arguments")?,
            hash: get(row, "hash")?,
            folder: get(row, "folder")?,
            destination: get(row, "destination")?,
            why: get(row, "why")?,
            led_by: get(row, "led_by")?,
            trust: word(row, "trust")?,
            now_ms: get(row, "made_ms")?,
            expires_ms: get(row, "expires_ms")?,
        },
        state: parsed(row, "state", DraftState::parse)?,
        detail: get(row, "detail")?,
        changed_ms: get(row, "at_ms")?,
    })
}

fn event(row: &Row<'_>) -> Read<DraftEvent> {
    Ok(DraftEvent {
        state: parsed(row, "state", DraftState::parse)?,
        detail: get(row, "detail")?,
        at_ms: get(row, "at_ms")?,
    })
}
