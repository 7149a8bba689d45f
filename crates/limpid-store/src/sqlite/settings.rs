//! The log of settings.

use async_trait::async_trait;
use limpid_core::ConversationId;
use rusqlite::{Row, named_params};

use super::failure::Outcome;
use super::row::{self, Read, get};
use super::{SqliteStore, Tx, conversations};
use crate::{
    Audience, Conversation, ConversationChange, ConversationKind, Listed, NewSetting, SettingEvent, Settings,
    StoreError,
};

#[async_trait]
impl Settings for SqliteStore {
    async fn set_in_conversation(
        &self,
        id: &ConversationId,
        changes: Vec<ConversationChange>,
        events: Vec<NewSetting>,
        now_ms: i64,
    ) -> Result<Conversation, StoreError> {
        let id = id.clone();
        self.write(move |tx| {
            let changed = conversations::change(tx, &id, &changes, now_ms)?;
            append(tx, Some(&id), &events, now_ms)?;
            Ok(changed)
        })
        .await
    }

    async fn set_for_all(&self, events: Vec<NewSetting>, now_ms: i64) -> Result<(), StoreError> {
        self.write(move |tx| append(tx, None, &events, now_ms)).await
    }

    async fn settings(&self, id: Option<&ConversationId>) -> Result<Listed<SettingEvent>, StoreError> {
        let id = id.cloned();
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT * FROM setting_event WHERE id IN (
                   SELECT max(id) FROM setting_event
                   WHERE owner = :owner AND conversation IS :conversation GROUP BY name)
                 ORDER BY name",
            )?;
            let id = id.as_ref().map(ConversationId::as_str);
            let params = named_params! { ":owner": tx.owner, ":conversation": id };
            row::list(&mut statement, params, "setting_event", "id", event)
        })
        .await
    }

    async fn setting_events(
        &self,
        id: Option<&ConversationId>,
        name: &str,
        limit: u32,
    ) -> Result<Listed<SettingEvent>, StoreError> {
        let (id, name) = (id.cloned(), name.to_owned());
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT * FROM setting_event WHERE owner = :owner AND conversation IS :conversation AND name = :name
                 ORDER BY id DESC LIMIT :limit",
            )?;
            let id = id.as_ref().map(ConversationId::as_str);
            let params = named_params! { ":owner": tx.owner, ":conversation": id, ":name": name, ":limit": limit };
            row::list(&mut statement, params, "setting_event", "id", event)
        })
        .await
    }

    async fn others_read_any(&self, name: &str, any: &str) -> Result<bool, StoreError> {
        let (name, any) = (name.to_owned(), any.to_owned());
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT EXISTS (
                   SELECT 1 FROM conversation AS own
                   WHERE own.owner = :owner AND own.audience = :group AND own.kind <> :run AND NOT own.gone AND (
                     (SELECT value FROM setting_event WHERE owner = :owner AND conversation = own.id AND name = :name
                      ORDER BY id DESC LIMIT 1) IS NOT NULL
                     OR own.kind = :chat AND NOT EXISTS (
                       SELECT 1 FROM setting_event
                       WHERE owner = :owner AND conversation = own.id AND substr(name, 1, length(:any)) = :any)))",
            )?;
            let (run, chat) = (ConversationKind::Run.as_str(), ConversationKind::Chat.as_str());
            let params = named_params! {
                ":owner": tx.owner, ":group": Audience::Group.as_str(), ":run": run, ":chat": chat, ":name": name, ":any": any,
            };
            Ok(statement.query_row(params, |row| row.get(0))?)
        })
        .await
    }
}

pub(super) fn append(tx: &Tx<'_>, id: Option<&ConversationId>, events: &[NewSetting], now_ms: i64) -> Outcome<()> {
    let mut statement = tx.sql.prepare_cached(
        "INSERT INTO setting_event (owner, conversation, name, value, trigger, at_ms)
         VALUES (:owner, :conversation, :name, :value, :trigger, :now)",
    )?;
    for event in events {
        statement.execute(named_params! {
            ":owner": tx.owner, ":conversation": id.map(ConversationId::as_str), ":name": event.name,
            ":value": event.value, ":trigger": event.trigger, ":now": now_ms,
        })?;
    }
    Ok(())
}

fn event(row: &Row<'_>) -> Read<SettingEvent> {
    Ok(SettingEvent {
        id: get(row, "id")?,
        name: get(row, "name")?,
        value: get(row, "value")?,
        trigger: get(row, "trigger")?,
        at_ms: get(row, "at_ms")?,
    })
}
