//! Conversations and their settings.

use async_trait::async_trait;
use limpid_core::{ConversationId, Effort, MessageId, Trust};
use rusqlite::{ToSql, named_params};

use super::conversation_row::{conversation, find, missing};
use super::failure::{Outcome, is_taken};
use super::row;
use super::{SqliteStore, Tx, deleted, found_conversations, inbound, leases, messages, turns, windows};
use crate::{
    Accepted, Acquired, Audience, Conversation, ConversationChange, ConversationKind, Conversations, Fence,
    FoundConversation, Inbound, InboundId, Lease, Listed, NewConversation, NewInbound, StoreError, StoredMessage,
    TypedOrCalled,
};

/// Conversations of strangers in a list, beside the owner's own: however many there are, they push none of these out.
pub(super) const OF_STRANGERS: u32 = 20;

#[async_trait]
impl Conversations for SqliteStore {
    async fn create_conversation(&self, new: NewConversation) -> Result<Conversation, StoreError> {
        self.write(move |tx| create(tx, &new)).await
    }

    async fn conversation(&self, id: &ConversationId) -> Result<Option<Conversation>, StoreError> {
        let id = id.clone();
        self.read(move |tx| find(tx, &id)).await
    }

    async fn last_conversation(&self, kind: ConversationKind) -> Result<Option<Conversation>, StoreError> {
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT * FROM conversation WHERE owner = :owner AND kind = :kind AND audience = 'owner' AND NOT strangers
                   AND NOT archived AND NOT gone
                 ORDER BY said_ms DESC, seq DESC LIMIT 1",
            )?;
            let params = named_params! { ":owner": tx.owner, ":kind": kind.as_str() };
            row::one(&mut statement, params, "conversation", "last", conversation)
        })
        .await
    }

    async fn conversations(&self, limit: u32) -> Result<Listed<Conversation>, StoreError> {
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT * FROM (
                    SELECT * FROM (SELECT * FROM conversation WHERE owner = :owner AND kind <> :run AND NOT strangers
                                   AND NOT archived AND NOT gone ORDER BY updated_ms DESC, seq DESC LIMIT :limit)
                    UNION ALL
                    SELECT * FROM (SELECT * FROM conversation WHERE owner = :owner AND kind <> :run AND strangers
                                   AND NOT archived AND NOT gone ORDER BY updated_ms DESC, seq DESC LIMIT min(:limit, :few)))
                 ORDER BY updated_ms DESC, seq DESC",
            )?;
            let run = ConversationKind::Run.as_str();
            let params = named_params! { ":owner": tx.owner, ":run": run, ":limit": limit, ":few": OF_STRANGERS };
            row::list(&mut statement, params, "conversation", "id", conversation)
        })
        .await
    }

    async fn archived_conversations(&self, limit: u32) -> Result<Listed<Conversation>, StoreError> {
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT * FROM conversation WHERE owner = :owner AND archived = 1 AND kind <> :run
                 ORDER BY updated_ms DESC, seq DESC LIMIT :limit",
            )?;
            let run = ConversationKind::Run.as_str();
            let params = named_params! { ":owner": tx.owner, ":run": run, ":limit": limit };
            row::list(&mut statement, params, "conversation", "id", conversation)
        })
        .await
    }

    async fn find_conversations(&self, words: &[String], limit: u32) -> Result<Listed<FoundConversation>, StoreError> {
        let words = words.to_vec();
        self.search(move |tx| found_conversations::find(tx, &words, limit)).await
    }

    async fn change_conversation(
        &self,
        id: &ConversationId,
        changes: Vec<ConversationChange>,
        now_ms: i64,
    ) -> Result<Conversation, StoreError> {
        let id = id.clone();
        self.write(move |tx| change(tx, &id, &changes, now_ms)).await
    }

    async fn delete_conversation(&self, id: &ConversationId, now_ms: i64) -> Result<(), StoreError> {
        let id = id.clone();
        self.write(move |tx| deleted::delete(tx, &id, now_ms)).await
    }

    async fn trust_until(&self, id: &ConversationId, last: MessageId) -> Result<Trust, StoreError> {
        let id = id.clone();
        self.search(move |tx| messages::trust_until(tx, &id, last)).await
    }

    async fn tool_uses(&self, newest: u32) -> Result<Vec<(String, u64)>, StoreError> {
        match self.read(move |tx| messages::tool_uses_of_few(tx, newest)).await? {
            Some(uses) => Ok(uses),
            None => self.search(move |tx| messages::tool_uses(tx, newest)).await,
        }
    }

    async fn messages(
        &self,
        id: &ConversationId,
        after: Option<MessageId>,
    ) -> Result<Listed<StoredMessage>, StoreError> {
        let (short, id) = (id.clone(), id.clone());
        match self.read(move |tx| messages::read_short(tx, &short, after)).await? {
            Some(listed) => Ok(listed),
            None => self.search(move |tx| messages::read(tx, &id, after)).await,
        }
    }

    async fn has_own_result(&self, id: &ConversationId, tool: &str, result: &str) -> Result<bool, StoreError> {
        let (id, tool, result) = (id.clone(), tool.to_owned(), result.to_owned());
        self.read(move |tx| messages::has_own_result(tx, &id, &tool, &result)).await
    }

    async fn accept(&self, new: NewInbound) -> Result<Accepted, StoreError> {
        self.write(move |tx| inbound::accept_said(tx, &new)).await
    }

    async fn accept_with(
        &self,
        handed_in: NewInbound,
        new: NewInbound,
    ) -> Result<(Option<Accepted>, Accepted), StoreError> {
        self.write(move |tx| inbound::accept_said_with(tx, &handed_in, &new)).await
    }

    async fn begun_by(
        &self,
        key: &str,
        text: &str,
        handed_in: Option<&str>,
        since_ms: i64,
    ) -> Result<Option<ConversationId>, StoreError> {
        let (key, text, handed_in) = (key.to_owned(), text.to_owned(), handed_in.map(str::to_owned));
        self.read(move |tx| inbound::begun_by(tx, (&key, since_ms), &text, handed_in.as_deref())).await
    }

    async fn accepted(&self, id: InboundId) -> Result<Option<Inbound>, StoreError> {
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached("SELECT * FROM inbound WHERE owner = :owner AND id = :id")?;
            let params = named_params! { ":owner": tx.owner, ":id": id.0 };
            row::one(&mut statement, params, "inbound", &id.0.to_string(), inbound::read)
        })
        .await
    }

    async fn typed(&self, id: &ConversationId) -> Result<Vec<String>, StoreError> {
        let id = id.clone();
        self.read(move |tx| inbound::typed(tx, &id)).await
    }

    async fn typed_and_called(&self, id: &ConversationId) -> Result<Vec<TypedOrCalled>, StoreError> {
        let id = id.clone();
        self.read(move |tx| {
            let view = windows::current(tx, &id)?.unwrap_or_default();
            let mut said = inbound::typed_and_called(tx, &id)?;
            // What the person went back from is not said any more; what was called stays counted.
            said.retain(|(at, said)| matches!(said, TypedOrCalled::Called(..)) || !view.hides(*at));
            Ok(said.into_iter().map(|(_, said)| said).collect())
        })
        .await
    }

    async fn waiting(&self, id: &ConversationId) -> Result<Listed<Inbound>, StoreError> {
        let id = id.clone();
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT * FROM inbound WHERE owner = :owner AND conversation = :conversation AND turn IS NULL
                 ORDER BY id",
            )?;
            let params = named_params! { ":owner": tx.owner, ":conversation": id.as_str() };
            row::list(&mut statement, params, "inbound", "id", inbound::read)
        })
        .await
    }

    async fn take_back(&self, conversation: &ConversationId, id: InboundId) -> Result<bool, StoreError> {
        let conversation = conversation.clone();
        self.write(move |tx| {
            let taken = tx
                .sql
                .prepare_cached(
                    "DELETE FROM inbound
                     WHERE owner = :owner AND conversation = :conversation AND turn IS NULL AND agent IS NULL
                     AND (id = :id OR id = (SELECT handed_in FROM inbound
                                            WHERE owner = :owner AND conversation = :conversation AND id = :id AND turn IS NULL))",
                )?
                .execute(named_params! { ":owner": tx.owner, ":conversation": conversation.as_str(), ":id": id.0 })?;
            Ok(taken > 0)
        })
        .await
    }

    async fn conversations_that_wait(&self) -> Result<Vec<ConversationId>, StoreError> {
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT DISTINCT inbound.conversation FROM inbound
                 JOIN conversation ON conversation.owner = inbound.owner AND conversation.id = inbound.conversation
                 WHERE inbound.owner = :owner AND inbound.turn IS NULL AND conversation.kind <> :run",
            )?;
            let params = named_params! { ":owner": tx.owner, ":run": ConversationKind::Run.as_str() };
            let ids = statement.query_map(params, |row| row.get::<_, String>(0))?;
            Ok(ids.map(|id| id.map(ConversationId::new)).collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn acquire(
        &self,
        id: &ConversationId,
        holder: &str,
        now_ms: i64,
        ttl_ms: i64,
    ) -> Result<Acquired, StoreError> {
        let (id, holder) = (id.clone(), holder.to_owned());
        self.write(move |tx| leases::acquire(tx, &id, &holder, now_ms, ttl_ms)).await
    }

    async fn renew(&self, lease: &Lease, now_ms: i64, ttl_ms: i64) -> Result<Lease, StoreError> {
        let lease = lease.clone();
        self.write(move |tx| leases::renew(tx, lease, now_ms, ttl_ms)).await
    }

    async fn release(&self, id: &ConversationId, fence: Fence) -> Result<(), StoreError> {
        let id = id.clone();
        self.write(move |tx| leases::release(tx, &id, fence)).await
    }

    async fn lease(&self, id: &ConversationId) -> Result<Option<Lease>, StoreError> {
        let id = id.clone();
        self.read(move |tx| leases::held(tx, &id)).await
    }
}

fn create(tx: &Tx<'_>, new: &NewConversation) -> Outcome<Conversation> {
    let inserted = tx
        .sql
        .prepare_cached(
            "INSERT INTO conversation (owner, id, kind, title, profile, mode, model, audience, strangers,
                created_ms, updated_ms, said_ms)
             VALUES (:owner, :id, :kind, :title, :profile, :mode, :model, :audience, :strangers, :now, :now, :now)",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":id": new.id.as_str(), ":kind": new.kind.as_str(), ":title": new.title,
            ":profile": new.profile, ":mode": new.mode, ":model": new.model, ":audience": new.audience.as_str(),
            ":strangers": new.audience == Audience::Strangers, ":now": new.now_ms,
        });
    match inserted {
        Err(error) if is_taken(&error) => {
            Err(StoreError::Exists { what: "conversation", id: new.id.to_string() }.into())
        }
        Err(error) => Err(error.into()),
        Ok(_) => find(tx, &new.id)?.ok_or_else(|| missing(&new.id).into()),
    }
}

/// Changes a conversation; a change stands for the latest of its kind.
pub(super) fn change(
    tx: &Tx<'_>,
    id: &ConversationId,
    changes: &[ConversationChange],
    now_ms: i64,
) -> Outcome<Conversation> {
    for change in changes {
        let (column, value): (_, &dyn ToSql) = match change {
            ConversationChange::Title(title) => ("title", title),
            ConversationChange::Archived(is_archived) => ("archived", is_archived),
            ConversationChange::Profile(profile) => ("profile", profile),
            ConversationChange::Mode(mode) => ("mode", mode),
            ConversationChange::Model(model) => ("model", model),
            ConversationChange::Audience(audience) => ("audience", &audience.as_str()),
            ConversationChange::Window(tokens) => ("window_tokens", tokens),
            ConversationChange::Effort(effort) => ("effort", &effort.map(Effort::as_str)),
            ConversationChange::Session(session) => ("session", session),
            ConversationChange::Hide(turn) => {
                turns::hide(tx, id, turn, now_ms)?;
                continue;
            }
            ConversationChange::Unhide(turn) => {
                turns::unhide(tx, id, turn)?;
                continue;
            }
        };
        let sql = format!(
            "UPDATE conversation SET {column} = :value, updated_ms = max(updated_ms, :now)
             WHERE owner = :owner AND id = :id"
        );
        tx.sql
            .prepare_cached(&sql)?
            .execute(named_params! { ":owner": tx.owner, ":id": id.as_str(), ":value": value, ":now": now_ms })?;
    }
    find(tx, id)?.ok_or_else(|| missing(id).into())
}
