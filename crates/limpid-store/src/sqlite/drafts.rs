//! Drafts with their steps, and labels of files.

use async_trait::async_trait;
use limpid_core::{CallId, ConversationId, DraftState, TurnId};
use rusqlite::{OptionalExtension, Row, named_params};

use super::failure::Outcome;
use super::row::{self, Read, get, parsed, word};
use super::{SqliteStore, Tx};
use crate::{Draft, DraftEdit, DraftEvent, DraftId, DraftRoom, Drafts, Listed, NewDraft, StoreError};

/// A draft beside its newest step and its newest edit.
const DRAFTS: &str = "SELECT draft.*, step.state, step.detail, step.at_ms, edit.hash AS edited,
        edit.arguments AS edited_arguments, edit.folder AS edited_folder, edit.destination AS edited_destination,
        edit.about AS edited_about, edit.why AS edited_why
    FROM draft
    JOIN draft_event AS step ON step.id = (SELECT max(id) FROM draft_event WHERE draft = draft.id)
    LEFT JOIN draft_edit AS edit ON edit.id = (SELECT max(id) FROM draft_edit WHERE draft = draft.id)";

#[async_trait]
impl Drafts for SqliteStore {
    async fn keep_draft(&self, new: NewDraft, room: DraftRoom) -> Result<Option<Draft>, StoreError> {
        self.write(move |tx| keep(tx, &new, room)).await
    }

    async fn change_draft(&self, id: DraftId, edit: DraftEdit, now_ms: i64) -> Result<Draft, StoreError> {
        self.write(move |tx| change(tx, id, &edit, now_ms)).await
    }

    async fn keep_approval(&self, id: DraftId, hash: &str, detail: &str, now_ms: i64) -> Result<Draft, StoreError> {
        let (hash, detail) = (hash.to_owned(), detail.to_owned());
        self.write(move |tx| {
            if found(tx, id)?.new.hash != hash {
                let reason = format!("draft {} is not what was looked at; look again", id.0);
                return Err(StoreError::Invalid(reason).into());
            }
            advance(tx, id, DraftState::Approved, &detail, now_ms)
        })
        .await
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

    async fn has_refused_draft(&self, conversation: &ConversationId, tool: &str) -> Result<bool, StoreError> {
        let (conversation, tool) = (conversation.clone(), tool.to_owned());
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT 1 FROM draft d JOIN draft_event e ON e.owner = d.owner AND e.draft = d.id AND e.state = :refused
                 WHERE d.owner = :owner AND d.conversation = :conversation AND d.tool = :tool",
            )?;
            let refused = DraftState::Refused.as_str();
            let params = named_params! {
                ":owner": tx.owner, ":conversation": conversation.as_str(), ":tool": tool, ":refused": refused,
            };
            Ok(statement.exists(params)?)
        })
        .await
    }

    async fn move_draft(&self, id: DraftId, next: DraftState, detail: &str, now_ms: i64) -> Result<Draft, StoreError> {
        let detail = detail.to_owned();
        self.write(move |tx| advance(tx, id, next, &detail, now_ms)).await
    }

    async fn move_draft_as_seen(
        &self,
        seen: &Draft,
        next: DraftState,
        detail: &str,
        now_ms: i64,
    ) -> Result<Option<Draft>, StoreError> {
        let (seen, detail) = (seen.clone(), detail.to_owned());
        self.write(move |tx| {
            let step = |draft: &Draft| (draft.state, draft.changed_ms, draft.detail.clone());
            if step(&found(tx, seen.id)?) != step(&seen) {
                return Ok(None);
            }
            advance(tx, seen.id, next, &detail, now_ms).map(Some)
        })
        .await
    }

    async fn annotate_draft(&self, id: DraftId, detail: &str, now_ms: i64) -> Result<Draft, StoreError> {
        let detail = detail.to_owned();
        self.write(move |tx| {
            step(tx, id, found(tx, id)?.state, &detail, now_ms)?;
            found(tx, id)
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
}

fn keep(tx: &Tx<'_>, new: &NewDraft, room: DraftRoom) -> Outcome<Option<Draft>> {
    let known = tx
        .sql
        .prepare_cached("SELECT id FROM draft WHERE owner = ? AND turn = ? AND call = ?")?
        .query_row((tx.owner, new.turn.as_str(), new.call.as_str()), |row| row.get(0))
        .optional()?;
    if let Some(id) = known {
        return find(tx, DraftId(id));
    }
    if !has_room(tx, new, room)? {
        return Ok(None);
    }
    insert(tx, new).map(Some)
}

fn has_room(tx: &Tx<'_>, new: &NewDraft, room: DraftRoom) -> Outcome<bool> {
    // A chat's draft is typed for, unless an agent made it that works on in the background. A label that cannot be read is a stranger's.
    let (open, of_turn, of_chat, of_background, is_background): (i64, i64, i64, i64, bool) = tx
        .sql
        .prepare_cached(
            "WITH chat_of (own, chat) AS (SELECT own, chat FROM agent WHERE owner = :owner),
             of_background (id) AS (
                SELECT place.id FROM conversation place
                LEFT JOIN agent ON agent.owner = :owner AND agent.own = place.id
                LEFT JOIN conversation chat ON chat.owner = :owner AND chat.id = agent.chat
                WHERE place.owner = :owner
                  AND (coalesce(chat.kind, place.kind) <> 'chat' OR coalesce(agent.in_background, 0)))
             SELECT coalesce(sum(step.state IN ('open', 'approved', 'sending')), 0), coalesce(sum(draft.turn = :turn), 0),
                    coalesce(sum(step.state IN ('open', 'approved', 'sending')
                        AND coalesce((SELECT chat FROM chat_of WHERE own = draft.conversation), draft.conversation)
                          = coalesce((SELECT chat FROM chat_of WHERE own = :conversation), :conversation)), 0),
                    coalesce(sum(step.state IN ('open', 'approved', 'sending')
                        AND draft.conversation IN (SELECT id FROM of_background)), 0),
                    :conversation IN (SELECT id FROM of_background)
             FROM draft
             JOIN draft_event AS step ON step.id = (SELECT max(id) FROM draft_event WHERE draft = draft.id)
             WHERE draft.owner = :owner AND (draft.trust NOT IN ('owner', 'file')) = :of_strangers",
        )?
        .query_row(
            named_params! {
                ":owner": tx.owner, ":turn": new.turn.as_str(), ":conversation": new.conversation.as_str(),
                ":of_strangers": new.trust.is_foreign(),
            },
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)),
        )?;
    let (in_all, of_one) = room.of_background;
    let has_background = of_background < i64::from(in_all) && of_chat < i64::from(of_one);
    Ok((!is_background || has_background)
        && open < i64::from(room.open)
        && of_turn < i64::from(room.of_turn)
        && room.of_chat.is_none_or(|most| of_chat < i64::from(most)))
}

/// Moves a draft on, where it leads there.
fn advance(tx: &Tx<'_>, id: DraftId, next: DraftState, detail: &str, now_ms: i64) -> Outcome<Draft> {
    let draft = found(tx, id)?;
    if !draft.state.leads_to(next) {
        let reason = format!("draft {} is {}, so it cannot become {next}", id.0, draft.state);
        return Err(StoreError::Invalid(reason).into());
    }
    step(tx, id, next, detail, now_ms)?;
    found(tx, id)
}

fn change(tx: &Tx<'_>, id: DraftId, edit: &DraftEdit, now_ms: i64) -> Outcome<Draft> {
    let draft = found(tx, id)?;
    if !draft.state.may_be_edited() {
        let reason = format!("draft {} is {}, so it cannot be edited", id.0, draft.state);
        return Err(StoreError::Invalid(reason).into());
    }
    tx.sql
        .prepare_cached(
            "INSERT INTO draft_edit (owner, draft, arguments, about, hash, folder, destination, why, at_ms)
             VALUES (:owner, :draft, :arguments, :about, :hash, :folder, :destination, :why, :at)",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":draft": id.0, ":arguments": edit.arguments, ":about": edit.about, ":hash": edit.hash,
            ":folder": edit.folder, ":destination": edit.destination, ":why": edit.why, ":at": now_ms,
        })?;
    step(tx, id, DraftState::Open, &edit.detail, now_ms)?;
    found(tx, id)
}

fn insert(tx: &Tx<'_>, new: &NewDraft) -> Outcome<Draft> {
    tx.sql
        .prepare_cached(
            "INSERT INTO draft (owner, conversation, turn, call, tool, arguments, about, hash, folder, destination, why,
                                led_by, trust, made_ms, expires_ms)
             VALUES (:owner, :conversation, :turn, :call, :tool, :arguments, :about, :hash, :folder, :destination, :why,
                     :led_by, :trust, :made, :expires)",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":conversation": new.conversation.as_str(), ":turn": new.turn.as_str(),
            ":call": new.call.as_str(), ":tool": new.tool, ":arguments": new.arguments, ":about": new.about,
            ":hash": new.hash, ":folder": new.folder, ":destination": new.destination, ":why": new.why, ":led_by": new.led_by,
            ":trust": new.trust.as_str(), ":made": new.now_ms, ":expires": new.expires_ms,
        })?;
    let id = DraftId(tx.sql.last_insert_rowid());
    step(tx, id, DraftState::Open, "", new.now_ms)?;
    found(tx, id)
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

fn found(tx: &Tx<'_>, id: DraftId) -> Outcome<Draft> {
    find(tx, id)?.ok_or_else(|| missing(id).into())
}

fn missing(id: DraftId) -> StoreError {
    StoreError::NotFound { what: "draft", id: id.0.to_string() }
}

fn draft(row: &Row<'_>) -> Read<Draft> {
    let edited: Option<String> = get(row, "edited")?;
    let column = |own: &'static str, of_edit: &'static str| if edited.is_some() { of_edit } else { own };
    Ok(Draft {
        id: DraftId(get(row, "id")?),
        new: NewDraft {
            conversation: ConversationId::new(get::<String>(row, "conversation")?),
            turn: TurnId::new(get::<String>(row, "turn")?),
            call: CallId::new(get::<String>(row, "call")?),
            tool: get(row, "tool")?,
            arguments: get(row, column("arguments", "edited_arguments"))?,
            about: get(row, column("about", "edited_about"))?,
            hash: get(row, column("hash", "edited"))?,
            folder: get(row, column("folder", "edited_folder"))?,
            destination: get(row, column("destination", "edited_destination"))?,
            why: get::<Option<String>>(row, "edited_why")?.map_or_else(|| get(row, "why"), Ok)?,
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
