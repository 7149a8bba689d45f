//! Writing requests: before they are sent, and when they have ended.

use limpid_core::{ConversationId, RequestId, TurnId};
use rusqlite::{OptionalExtension, named_params};

use super::Tx;
use super::chain::{self, Key};
use super::failure::{Outcome, is_orphan, is_taken};
use super::row::{calls_to_json, hex, kinds_to_json, sha256, stored};
use crate::prefix::{Sent, message_bytes, shared_prefix};
use crate::{NewRequest, RequestEnd, SharedPrefix, StoreError};

/// Records a request that is about to be sent.
pub(super) fn record(tx: &Tx<'_>, new: &NewRequest) -> Outcome<SharedPrefix> {
    let keys = chain::keys(&new.messages)?;
    let shared = shared(tx, new, &keys)?;
    let tip = chain::insert(tx, &new.messages, &keys)?;
    let tools = chain::insert_text(tx, &new.tools)?;
    let inserted = tx
        .sql
        .prepare_cached(
            "INSERT INTO request (owner, id, conversation, turn, round, provider, model, protocol, target, profile, path,
               revision, sampling, tools, body_hash, body_bytes, tip, messages, message_bytes, estimate,
               estimate_by_kind, holder, shared_messages, shared_bytes, changed, sent_ms)
             VALUES (:owner, :id, :conversation, :turn, :round, :provider, :model, :protocol, :target, :profile, :path,
               :revision, :sampling, :tools, :body_hash, :body_bytes, :tip, :messages, :message_bytes, :estimate,
               :estimate_by_kind, :holder, :shared_messages, :shared_bytes, :changed, :sent)",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":id": new.id.as_str(),
            ":conversation": new.conversation.as_ref().map(ConversationId::as_str),
            ":turn": new.turn.as_ref().map(TurnId::as_str), ":round": new.round, ":provider": new.provider,
            ":model": new.model, ":protocol": new.protocol, ":target": new.target, ":profile": new.profile,
            ":path": new.path, ":revision": new.revision, ":sampling": new.sampling, ":tools": tools,
            ":body_hash": sha256(&new.body), ":body_bytes": stored(new.body.len()), ":tip": tip,
            ":messages": stored(new.messages.len()),
            ":message_bytes": stored(new.messages.iter().map(message_bytes).sum::<u64>()),
            ":estimate": new.estimate.map(stored), ":estimate_by_kind": kinds_to_json(&new.estimate_by_kind),
            ":holder": new.holder,
            ":shared_messages": stored(shared.messages),
            ":shared_bytes": stored(shared.bytes), ":changed": shared.changed, ":sent": new.sent_ms,
        });
    match inserted {
        Err(error) if is_taken(&error) => Err(StoreError::Exists { what: "request", id: new.id.to_string() }.into()),
        Err(error) if is_orphan(&error) => {
            Err(StoreError::Invalid(format!("request {} names a conversation or turn that is not stored", new.id))
                .into())
        }
        Err(error) => Err(error.into()),
        Ok(_) => Ok(shared),
    }
}

/// Records what came back; `turn` is the turn that it must belong to, none for a request outside of any.
pub(super) fn end(tx: &Tx<'_>, id: &RequestId, turn: Option<&TurnId>, end: &RequestEnd) -> Outcome<()> {
    let changed = tx
        .sql
        .prepare_cached(
            "UPDATE request SET reply = :reply, reasoning = :reasoning, calls = :calls, trust = :trust,
               finish = :finish, input = :input, cached = :cached, cache_written = :cache_written, output = :output,
               reasoned = :reasoned, answered_by = :model,
               cost = :cost, failure = :failure, failure_message = :failure_message, first_ms = :first,
               ended_ms = :ended
             WHERE owner = :owner AND id = :id AND turn IS :turn AND ended_ms IS NULL",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":id": id.as_str(), ":turn": turn.map(TurnId::as_str), ":reply": end.text,
            ":reasoning": end.reasoning, ":calls": calls_to_json(&end.calls)?, ":trust": end.trust.as_str(),
            ":finish": end.finish, ":model": end.model, ":input": end.usage.map(|usage| stored(usage.input)),
            ":cached": end.usage.map(|usage| stored(usage.cached)),
            ":cache_written": end.usage.map(|usage| stored(usage.cache_written)),
            ":output": end.usage.map(|usage| stored(usage.output)),
            ":reasoned": end.usage.map(|usage| stored(usage.reasoning)), ":cost": end.cost.map(|cost| stored(cost.0)),
            ":failure": end.failure.as_ref().map(|(class, _)| class.as_str()),
            ":failure_message": end.failure.as_ref().map(|(_, message)| message), ":first": end.first_ms,
            ":ended": end.ended_ms,
        })?;
    if changed == 1 {
        return Ok(());
    }
    let exists: bool = tx
        .sql
        .prepare_cached("SELECT count(*) FROM request WHERE owner = ? AND id = ? AND turn IS ?")?
        .query_row((tx.owner, id.as_str(), turn.map(TurnId::as_str)), |row| row.get(0))?;
    Err(match exists {
        true => StoreError::Invalid(format!("request {id} has ended")),
        false => StoreError::NotFound { what: "request", id: id.to_string() },
    }
    .into())
}

/// What a request shares with the one before it, of the same conversation and path.
fn shared(tx: &Tx<'_>, new: &NewRequest, keys: &[Key]) -> Outcome<SharedPrefix> {
    let Some(conversation) = &new.conversation else { return Ok(SharedPrefix::default()) };
    let before: Option<(Option<i64>, Key)> = tx
        .sql
        .prepare_cached(
            "SELECT tip, tools FROM request WHERE owner = ? AND conversation = ? AND path = ? ORDER BY seq DESC LIMIT 1",
        )?
        .query_row((tx.owner, conversation.as_str(), &new.path), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((tip, tools)) = before else { return Ok(SharedPrefix::default()) };
    let (common, apart) = chain::part_ways(tx, tip, keys)?;
    let (stored_alike, rest) = new.messages.split_at(common);
    let mut shared = shared_prefix(
        Sent { tools: &hex(&tools), messages: &apart },
        Sent { tools: &hex(&sha256(&new.tools)), messages: rest },
    );
    shared.messages += common as u64;
    shared.bytes += stored_alike.iter().map(message_bytes).sum::<u64>();
    Ok(shared)
}
