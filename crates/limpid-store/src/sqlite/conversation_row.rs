//! A row of the table of conversations, found and read.

use limpid_core::{ConversationId, Effort};
use rusqlite::{Row, named_params};

use super::Tx;
use super::failure::Outcome;
use super::row::{self, Read, count, get, parsed};
use crate::{Audience, Conversation, ConversationKind, StoreError};

/// One conversation.
pub(super) fn find(tx: &Tx<'_>, id: &ConversationId) -> Outcome<Option<Conversation>> {
    let mut statement =
        tx.sql.prepare_cached("SELECT * FROM conversation WHERE owner = :owner AND id = :id AND NOT gone")?;
    let params = named_params! { ":owner": tx.owner, ":id": id.as_str() };
    row::one(&mut statement, params, "conversation", id.as_str(), conversation)
}

/// The error for a conversation that is not there.
pub(super) fn missing(id: &ConversationId) -> StoreError {
    StoreError::NotFound { what: "conversation", id: id.to_string() }
}

/// Refuses a conversation whose answers leave for whoever asks: words from elsewhere may hold what is the owner's, whoever wrote them.
pub(super) fn check_no_strangers(tx: &Tx<'_>, id: &ConversationId) -> Outcome<()> {
    match find(tx, id)? {
        Some(own) if own.audience == Audience::Strangers => {
            Err(StoreError::ForStrangers { conversation: id.clone() }.into())
        }
        _ => Ok(()),
    }
}

/// Reads a conversation's row.
pub(super) fn conversation(row: &Row<'_>) -> Read<Conversation> {
    Ok(Conversation {
        id: ConversationId::new(get::<String>(row, "id")?),
        kind: parsed(row, "kind", ConversationKind::parse)?,
        title: get(row, "title")?,
        profile: get(row, "profile")?,
        mode: get(row, "mode")?,
        model: get(row, "model")?,
        audience: audience(row)?,
        window_tokens: get(row, "window_tokens")?,
        // A level that is not known is none: the conversation goes on as settings say.
        effort: get::<Option<String>>(row, "effort")?.and_then(|word| Effort::parse(&word)),
        session: get(row, "session")?,
        messages: count(row, "messages")?,
        unread: count(row, "unread")?,
        is_archived: get::<i64>(row, "archived")? != 0,
        created_ms: get(row, "created_ms")?,
        updated_ms: get(row, "updated_ms")?,
    })
}

/// Who reads a conversation. A word that is not known, or not even text, is no reason to lose the conversation: it is
/// read by others.
fn audience(row: &Row<'_>) -> Read<Audience> {
    if get::<i64>(row, "strangers")? != 0 {
        return Ok(Audience::Strangers);
    }
    let word = row.get_ref("audience")?;
    Ok(word.as_str().map_or(Audience::Group, Audience::read))
}
