//! Promotions: rows of their own, so that an undo takes out exactly what was added.

use async_trait::async_trait;
use limpid_core::memory::PROMOTION_HITS;
use limpid_core::{Trust, is_seen_hash};
use rusqlite::{Row, named_params};

use super::failure::{Failure, Outcome};
use super::instructing::raise;
use super::memory_table::{self, expect, remove, restore};
use super::row::{self, Read, Unreadable, get, parsed};
use super::{SqliteStore, Tx, memory_events};
use crate::{
    Listed, MemoryEventKind, MemoryRef, NewPromotion, NewRaisedLabel, Promotion, PromotionId, PromotionState,
    Promotions, RaisingAct, StoreError,
};

#[async_trait]
impl Promotions for SqliteStore {
    async fn promote_memory(&self, which: &MemoryRef, new: NewPromotion) -> Result<Promotion, StoreError> {
        let which = which.clone();
        self.write(move |tx| {
            let id = insert(tx, &which, &new)?;
            carry_out(tx, &find(tx, id)?, new.now_ms)
        })
        .await
    }

    async fn propose_promotion(&self, which: &MemoryRef, new: NewPromotion) -> Result<Promotion, StoreError> {
        let which = which.clone();
        self.write(move |tx| {
            let id = match pending(tx, &which, &new.addition)? {
                Some(known) => known,
                None => insert(tx, &which, &new)?,
            };
            find(tx, id)
        })
        .await
    }

    async fn approve_promotion(&self, id: PromotionId, seen: &str, now_ms: i64) -> Result<Promotion, StoreError> {
        let seen = seen.to_owned();
        self.write(move |tx| {
            let proposal = shown(tx, id, &seen)?;
            let raised = NewRaisedLabel {
                act: RaisingAct::Memory,
                subject: proposal.memory.id.to_string(),
                shown: proposal.addition.clone(),
                source: format!("promotion {}", id.0),
                now_ms,
            };
            raise(tx, &raised, None)?;
            carry_out(tx, &proposal, now_ms)
        })
        .await
    }

    async fn reword_promotion(&self, id: PromotionId, seen: &str, new: NewPromotion) -> Result<Promotion, StoreError> {
        let seen = seen.to_owned();
        self.write(move |tx| {
            let proposal = shown(tx, id, &seen)?;
            let own = insert(tx, &proposal.memory.id.into(), &new)?;
            decide(tx, id, PromotionState::Refused, new.now_ms)?;
            carry_out(tx, &find(tx, own)?, new.now_ms)
        })
        .await
    }

    async fn refuse_promotion(&self, id: PromotionId, now_ms: i64) -> Result<Promotion, StoreError> {
        self.write(move |tx| {
            in_state(&find(tx, id)?, PromotionState::Pending)?;
            decide(tx, id, PromotionState::Refused, now_ms)?;
            find(tx, id)
        })
        .await
    }

    async fn undo_promotion(&self, id: PromotionId, now_ms: i64) -> Result<Promotion, StoreError> {
        self.write(move |tx| {
            let promotion = find(tx, id)?;
            in_state(&promotion, PromotionState::Standing)?;
            let restored = restore(tx, &promotion.memory, now_ms)?;
            memory_events::record(tx, MemoryEventKind::Undone, None, Some(&restored), None, now_ms)?;
            decide(tx, id, PromotionState::Undone, now_ms)?;
            find(tx, id)
        })
        .await
    }

    async fn promotions(&self, state: Option<PromotionState>) -> Result<Listed<Promotion>, StoreError> {
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "SELECT * FROM promotion WHERE owner = :owner AND (:state IS NULL OR state = :state)
                 ORDER BY coalesce(decided_ms, proposed_ms), id",
            )?;
            let params = named_params! { ":owner": tx.owner, ":state": state.map(PromotionState::as_str) };
            let mut listed = row::list(&mut statement, params, "promotion", "id", promotion)?;
            for promotion in &mut listed.rows {
                match renew(tx, promotion) {
                    // A memory that cannot be read hides no other proposal; its own cannot be carried out.
                    Err(Failure::Store(_)) => {}
                    renewed => renewed?,
                }
            }
            Ok(listed)
        })
        .await
    }
}

/// Takes the text of a memory's promotion out of the soul, if it stands there.
pub(super) fn take_out(tx: &Tx<'_>, memory: i64, now_ms: i64) -> Outcome<()> {
    tx.sql
        .prepare_cached(
            "UPDATE promotion SET state = 'undone', decided_ms = :now
             WHERE owner = :owner AND memory = :memory AND state = 'standing'",
        )?
        .execute(named_params! { ":owner": tx.owner, ":memory": memory, ":now": now_ms })?;
    Ok(())
}

fn insert(tx: &Tx<'_>, which: &MemoryRef, new: &NewPromotion) -> Outcome<PromotionId> {
    let memory = proven(tx, which)?;
    tx.sql
        .prepare_cached(
            "INSERT INTO promotion (owner, memory, before, addition, state, trust, source, proposed_ms)
             VALUES (:owner, :memory, :before, :addition, 'pending', :trust, :source, :now)",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":memory": memory.id.0, ":before": memory_events::to_json(Some(&memory))?,
            ":addition": new.addition, ":trust": new.trust.as_str(), ":source": new.source, ":now": new.now_ms,
        })?;
    Ok(PromotionId(tx.sql.last_insert_rowid()))
}

/// The memory goes, as it is by then, and the addition stands.
fn carry_out(tx: &Tx<'_>, proposal: &Promotion, now_ms: i64) -> Outcome<Promotion> {
    let memory = proven(tx, &proposal.memory.id.into())?;
    remove(tx, memory.id)?;
    memory_events::record(tx, MemoryEventKind::Promoted, Some(&memory), None, None, now_ms)?;
    tx.sql.prepare_cached("UPDATE promotion SET before = :before WHERE owner = :owner AND id = :id")?.execute(
        named_params! {
            ":owner": tx.owner, ":id": proposal.id.0, ":before": memory_events::to_json(Some(&memory))?,
        },
    )?;
    decide(tx, proposal.id, PromotionState::Standing, now_ms)?;
    find(tx, proposal.id)
}

fn proven(tx: &Tx<'_>, which: &MemoryRef) -> Outcome<limpid_core::Memory> {
    let memory = expect(tx, which)?;
    if memory.hits < PROMOTION_HITS {
        // A stranger may have chosen the key, and the number is ours.
        let (id, hits) = (memory.id, memory.hits);
        let reason = format!("memory {id} has {hits} of the {PROMOTION_HITS} hits that a promotion takes");
        return Err(StoreError::Invalid(reason).into());
    }
    Ok(memory)
}

fn pending(tx: &Tx<'_>, which: &MemoryRef, addition: &str) -> Outcome<Option<PromotionId>> {
    let memory = expect(tx, which)?;
    let mut statement = tx.sql.prepare_cached(
        "SELECT * FROM promotion WHERE owner = :owner AND memory = :memory AND state = 'pending'
           AND addition = :addition",
    )?;
    let params = named_params! { ":owner": tx.owner, ":memory": memory.id.0, ":addition": addition };
    Ok(row::one(&mut statement, params, "promotion", addition, promotion)?.map(|known| known.id))
}

fn in_state(promotion: &Promotion, state: PromotionState) -> Outcome<()> {
    if promotion.state == state {
        return Ok(());
    }
    let (id, is, wanted) = (promotion.id.0, promotion.state.as_str(), state.as_str());
    Err(StoreError::Invalid(format!("promotion {id} is {is}, not {wanted}")).into())
}

/// A proposal of which a person saw just this.
fn shown(tx: &Tx<'_>, id: PromotionId, seen: &str) -> Outcome<Promotion> {
    let proposal = find(tx, id)?;
    in_state(&proposal, PromotionState::Pending)?;
    if is_seen_hash(seen, &proposal.hash()) {
        return Ok(proposal);
    }
    let reason = format!("promotion {} is not what was shown: look at it again, then decide", id.0);
    Err(StoreError::Invalid(reason).into())
}

/// Gives a proposal that waits its memory as it is now, which is what would go.
fn renew(tx: &Tx<'_>, promotion: &mut Promotion) -> Outcome<()> {
    if promotion.state == PromotionState::Pending
        && let Some(memory) = memory_table::find(tx, &promotion.memory.id.into())?
    {
        promotion.memory = memory;
    }
    Ok(())
}

fn decide(tx: &Tx<'_>, id: PromotionId, state: PromotionState, now_ms: i64) -> Outcome<()> {
    tx.sql
        .prepare_cached("UPDATE promotion SET state = :state, decided_ms = :now WHERE owner = :owner AND id = :id")?
        .execute(named_params! { ":owner": tx.owner, ":id": id.0, ":state": state.as_str(), ":now": now_ms })?;
    Ok(())
}

fn find(tx: &Tx<'_>, id: PromotionId) -> Outcome<Promotion> {
    let mut statement = tx.sql.prepare_cached("SELECT * FROM promotion WHERE owner = ? AND id = ?")?;
    let name = id.0.to_string();
    let found = row::one(&mut statement, (tx.owner, id.0), "promotion", &name, promotion)?;
    let mut found = found.ok_or(StoreError::NotFound { what: "promotion", id: name })?;
    renew(tx, &mut found)?;
    Ok(found)
}

fn promotion(row: &Row<'_>) -> Read<Promotion> {
    Ok(Promotion {
        id: PromotionId(get(row, "id")?),
        memory: memory_events::from_json(row, "before")?
            .ok_or_else(|| Unreadable("before: there is no memory".to_owned()))?,
        addition: get(row, "addition")?,
        state: parsed(row, "state", PromotionState::parse)?,
        trust: parsed(row, "trust", |word| word.parse::<Trust>().ok())?,
        source: get(row, "source")?,
        proposed_ms: get(row, "proposed_ms")?,
        decided_ms: get(row, "decided_ms")?,
    })
}
