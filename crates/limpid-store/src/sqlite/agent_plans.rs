//! Tasks that are planned before agents do them.

use async_trait::async_trait;
use limpid_core::{AgentId, AgentState, ConversationId, Labelled, PlannedId, Trust, TurnId};
use rusqlite::{Row, named_params};

use super::failure::{Outcome, is_orphan};
use super::row::{self, Read, Unreadable, get, word};
use super::{SqliteStore, Tx};
use crate::{AgentPlans, Listed, NewPlan, PlannedTask, StoreError};

/// Plans that are older than the newest tasks. Plans of strangers are counted separately, so they take the place of none of the owner's.
macro_rules! passed {
    () => {
        "(WITH whole AS (
        SELECT turn, call, max(id) AS newest_id, count(*) AS tasks, min(by_strangers) AS by_strangers
        FROM planned_task WHERE owner = :owner AND (:chat IS NULL OR chat = :chat) GROUP BY turn, call),
      counted AS (
        SELECT turn, call, sum(tasks) OVER (PARTITION BY by_strangers ORDER BY newest_id DESC) - tasks AS newer FROM whole)
      SELECT turn, call FROM counted WHERE newer >= :newest)"
    };
}

/// The tasks with what they need and the agent of their newest try. Whole plans: the newest, and each with a task that runs or is
/// queued. A task that waits for others is always in such a plan.
const SELECT: &str = concat!(
    "SELECT p.*, a.id AS agent, a.state AS agent_state,
    (SELECT json_group_array(n.needs) FROM planned_need n WHERE n.task = p.id) AS needs
  FROM planned_task p
  LEFT JOIN agent a ON a.planned = p.id AND a.call = 'planned ' || p.id || ' ' || p.tries
  WHERE p.owner = :owner AND (:chat IS NULL OR p.chat = :chat) AND (:turn IS NULL OR (p.turn = :turn AND p.call = :call))
    AND (:turn IS NOT NULL OR (p.turn, p.call) NOT IN ",
    passed!(),
    " OR EXISTS (
      SELECT 1 FROM planned_task q LEFT JOIN agent b ON b.planned = q.id AND b.call = 'planned ' || q.id || ' ' || q.tries
      WHERE q.owner = p.owner AND q.turn = p.turn AND q.call = p.call AND q.tries > 0
        AND iif(b.id IS NOT NULL, b.ended_ms IS NULL, q.refusal IS NULL AND NOT EXISTS (
          SELECT 1 FROM planned_need n JOIN planned_task m ON m.id = n.needs
          LEFT JOIN agent c ON c.planned = m.id AND c.call = 'planned ' || m.id || ' ' || m.tries
          WHERE n.task = q.id AND c.state IS NOT 'done'))))
  ORDER BY p.id"
);

/// So many of the newest planned tasks of a conversation are read, and the others of their plans; and as many of strangers' plans.
const NEWEST_OF_CHAT: i64 = 160;

/// The same, of all conversations together.
const NEWEST: i64 = 2000;

/// Plans of a conversation of which nothing was ever started, and that are no longer read.
const NEVER_STARTED: &str = concat!(
    "SELECT p.id FROM planned_task p WHERE p.owner = :owner AND p.chat = :chat
  AND NOT EXISTS (SELECT 1 FROM planned_task q WHERE q.owner = p.owner AND q.turn = p.turn AND q.call = p.call
                  AND (q.tries > 0 OR EXISTS (SELECT 1 FROM agent a WHERE a.planned = q.id)))
  AND (p.turn, p.call) IN ",
    passed!()
);

/// The labels, the most trusted first, as migrations compare them.
const LABELS: &str = "owner file guest outside";

#[async_trait]
impl AgentPlans for SqliteStore {
    async fn keep_plan(&self, plan: NewPlan) -> Result<Vec<PlannedTask>, StoreError> {
        self.write(move |tx| keep(tx, &plan)).await
    }

    async fn planned_tasks(&self, chat: Option<&ConversationId>) -> Result<Listed<PlannedTask>, StoreError> {
        let chat = chat.map(ToString::to_string);
        self.read(move |tx| select(tx, chat.as_deref(), None)).await
    }

    async fn want_planned(
        &self,
        ids: &[PlannedId],
        turn: &TurnId,
        base: Option<&str>,
        led_by: Trust,
    ) -> Result<(), StoreError> {
        let (ids, turn, base) = (ids.to_vec(), turn.clone(), base.map(str::to_owned));
        self.write(move |tx| {
            let mut statement = tx.sql.prepare_cached(
                "UPDATE planned_task SET tries = tries + 1, wanted = :turn, base = :base, refusal = NULL, held = 0,
                        trust = iif(instr(:labels, :led_by) > instr(:labels, trust), :led_by, trust)
                 WHERE owner = :owner AND id = :id",
            )?;
            for id in &ids {
                statement.execute(named_params! {
                    ":owner": tx.owner, ":id": id.0, ":turn": turn.as_str(), ":base": base, ":labels": LABELS,
                    ":led_by": led_by.as_str(),
                })?;
            }
            Ok(())
        })
        .await
    }

    async fn hold_planned(&self, id: PlannedId, why: &Labelled<String>) -> Result<(), StoreError> {
        let why = why.clone();
        self.write(move |tx| refuse(tx, id, why, true)).await
    }

    async fn refuse_planned(&self, id: PlannedId, why: &Labelled<String>) -> Result<(), StoreError> {
        let why = why.clone();
        self.write(move |tx| refuse(tx, id, why, false)).await
    }
}

fn refuse(tx: &Tx<'_>, id: PlannedId, why: Labelled<String>, is_held: bool) -> Outcome<()> {
    let (why, trust) = why.into_parts();
    tx.sql
        .prepare_cached(
            "UPDATE planned_task SET refusal = :why, held = :held,
                    trust = iif(instr(:labels, :of_why) > instr(:labels, trust), :of_why, trust)
             WHERE owner = :owner AND id = :id",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":id": id.0, ":why": why, ":held": is_held, ":labels": LABELS,
            ":of_why": trust.of_strangers().as_str(),
        })?;
    Ok(())
}

fn keep(tx: &Tx<'_>, plan: &NewPlan) -> Outcome<Vec<PlannedTask>> {
    let of_call = || select(tx, None, Some((plan.turn.as_str(), plan.call.as_str())));
    let known = of_call()?.rows;
    if !known.is_empty() {
        return Ok(known);
    }
    let mut ids: Vec<i64> = Vec::new();
    for (place, new) in plan.tasks.iter().enumerate() {
        let inserted = tx
            .sql
            .prepare_cached(
                "INSERT INTO planned_task (owner, chat, turn, call, place, name, task, skill, context, trust, by_strangers,
                                           made_ms)
                 VALUES (:owner, :chat, :turn, :call, :place, :name, :task, :skill, :context, :trust, :by_strangers, :now)",
            )?
            .execute(named_params! {
                ":owner": tx.owner, ":chat": plan.chat.as_str(), ":turn": plan.turn.as_str(),
                ":call": plan.call.as_str(), ":place": place as i64, ":name": new.name, ":task": new.task,
                ":skill": new.skill, ":context": new.context, ":trust": plan.trust.as_str(),
                ":by_strangers": plan.trust.is_foreign(), ":now": plan.now_ms,
            });
        match inserted {
            Err(error) if is_orphan(&error) => {
                return Err(StoreError::NotFound { what: "turn", id: plan.turn.to_string() }.into());
            }
            inserted => inserted?,
        };
        let id = tx.sql.last_insert_rowid();
        for need in &new.needs {
            let Some(need) = ids.get(*need) else {
                let why = format!("the planned task `{}` needs one that does not stand before it", new.name);
                return Err(StoreError::Invalid(why).into());
            };
            tx.sql
                .prepare_cached("INSERT OR IGNORE INTO planned_need (owner, task, needs) VALUES (?1, ?2, ?3)")?
                .execute((tx.owner, id, need))?;
        }
        ids.push(id);
    }
    for forget in [
        format!("DELETE FROM planned_need WHERE task IN ({NEVER_STARTED})"),
        format!("DELETE FROM planned_task WHERE id IN ({NEVER_STARTED})"),
    ] {
        let params = named_params! { ":owner": tx.owner, ":chat": plan.chat.as_str(), ":newest": NEWEST_OF_CHAT };
        tx.sql.prepare_cached(&forget)?.execute(params)?;
    }
    Ok(of_call()?.rows)
}

fn select(tx: &Tx<'_>, chat: Option<&str>, call: Option<(&str, &str)>) -> Outcome<Listed<PlannedTask>> {
    let mut statement = tx.sql.prepare_cached(SELECT)?;
    let params = named_params! {
        ":owner": tx.owner, ":chat": chat, ":turn": call.map(|(turn, _)| turn), ":call": call.map(|(_, call)| call),
        ":newest": if chat.is_some() { NEWEST_OF_CHAT } else { NEWEST },
    };
    row::list(&mut statement, params, "planned task", "id", planned_task)
}

fn planned_task(row: &Row<'_>) -> Read<PlannedTask> {
    let needs: Vec<i64> =
        serde_json::from_str(&get::<String>(row, "needs")?).map_err(|error| Unreadable(format!("needs: {error}")))?;
    let agent = match get::<Option<i64>>(row, "agent")? {
        Some(id) => Some((AgentId(id), row::parsed(row, "agent_state", AgentState::parse)?)),
        None => None,
    };
    Ok(PlannedTask {
        id: PlannedId(get(row, "id")?),
        chat: ConversationId::new(get::<String>(row, "chat")?),
        name: get(row, "name")?,
        task: get(row, "task")?,
        skill: get(row, "skill")?,
        context: get(row, "context")?,
        trust: word(row, "trust")?,
        by_strangers: get(row, "by_strangers")?,
        needs: needs.into_iter().map(PlannedId).collect(),
        tries: get(row, "tries")?,
        wanted: get::<Option<String>>(row, "wanted")?.map(TurnId::new),
        base: get(row, "base")?,
        refusal: get(row, "refusal")?,
        is_held: get(row, "held")?,
        made_ms: get(row, "made_ms")?,
        agent,
    })
}
