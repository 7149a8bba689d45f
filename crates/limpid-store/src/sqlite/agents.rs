//! Agents that turns hand work to.

use async_trait::async_trait;
use limpid_core::agent::{MOST_DEPTH, MOST_IN_TREE, same_task};
use limpid_core::by_side::by_side;
use limpid_core::{
    AgentId, AgentLimits, AgentRefusal, AgentState, CallId, ConversationId, MessageId, PlannedId, Purse, Trust, TurnId,
};
use rusqlite::{OptionalExtension, Row, ToSql, named_params};

use super::conversation_row::{self, missing};
use super::failure::{Outcome, is_orphan};
use super::row::{self, Read, Unreadable, count, get, parsed, sha256, stored, word};
use super::{SqliteStore, Tx, inbound};
use crate::{
    AcceptedAgent, AgentEnd, AgentEnded, AgentFilter, Agents, Base, ConversationKind, InboundId, Listed, NewInbound,
    NewSubAgent, StoreError, SubAgent,
};

const DAY_MS: i64 = 24 * 3_600_000;

/// The conversation that an agent works in.
const PLACE: &str = "coalesce(works_in, own)";

#[async_trait]
impl Agents for SqliteStore {
    async fn accept_agent(&self, new: NewSubAgent, limits: AgentLimits) -> Result<AcceptedAgent, StoreError> {
        self.write(move |tx| accept(tx, &new, limits)).await
    }

    async fn agent(&self, id: AgentId) -> Result<Option<SubAgent>, StoreError> {
        self.read(move |tx| find(tx, "id", &id.0)).await
    }

    async fn base_of(&self, turn: &TurnId) -> Result<Base, StoreError> {
        let turn = turn.clone();
        self.read(move |tx| base_of(tx, &turn)).await
    }

    async fn agent_in(&self, conversation: &ConversationId) -> Result<Option<SubAgent>, StoreError> {
        let id = conversation.to_string();
        self.read(move |tx| find(tx, PLACE, &id)).await
    }

    async fn is_owners_work(&self, conversation: &ConversationId) -> Result<bool, StoreError> {
        let id = conversation.to_string();
        self.read(move |tx| {
            let mut statement = tx.sql.prepare_cached(&format!(
                "SELECT EXISTS (SELECT 1 FROM agent WHERE owner = ?1 AND {PLACE} = ?2 AND by_strangers = 0)"
            ))?;
            Ok(statement.query_row((tx.owner, &id), |row| row.get(0))?)
        })
        .await
    }

    async fn agents(&self, filter: AgentFilter) -> Result<Listed<SubAgent>, StoreError> {
        self.read(move |tx| {
            // The newest of each side, so that no number of strangers' agents hides one of the owner's.
            let of_side = "SELECT * FROM (SELECT * FROM agent WHERE owner = :owner AND by_strangers = SIDE
                             AND (:chat IS NULL OR chat = :chat) AND (NOT :open OR ended_ms IS NULL)
                             AND (:conversation IS NULL OR conversation = :conversation) ORDER BY id DESC LIMIT :limit)";
            let [ours, theirs] = ["0", "1"].map(|side| of_side.replace("SIDE", side));
            let both = format!("SELECT * FROM ({ours} UNION ALL {theirs}) ORDER BY id DESC");
            let mut statement = tx.sql.prepare_cached(&both)?;
            let limit = if filter.limit == 0 { -1 } else { i64::from(filter.limit) };
            let params = named_params! {
                ":owner": tx.owner, ":chat": filter.chat.as_ref().map(ConversationId::as_str),
                ":conversation": filter.conversation.as_ref().map(ConversationId::as_str), ":open": filter.open,
                ":limit": limit,
            };
            let mut listed = row::list(&mut statement, params, "agent", "id", agent)?;
            let most = if filter.limit == 0 { usize::MAX } else { filter.limit as usize };
            listed.rows = by_side(listed.rows, most, |agent| agent.new.by_strangers);
            Ok(listed)
        })
        .await
    }

    async fn begin_agent(&self, id: AgentId, now_ms: i64) -> Result<bool, StoreError> {
        self.write(move |tx| {
            let begun = tx
                .sql
                .prepare_cached(
                    "UPDATE agent SET state = 'running', began_ms = :now
                     WHERE owner = :owner AND id = :id AND state = 'queued'",
                )?
                .execute(named_params! { ":owner": tx.owner, ":id": id.0, ":now": now_ms })?;
            Ok(begun == 1)
        })
        .await
    }

    async fn tell_agent(&self, new: NewInbound) -> Result<Option<AgentId>, StoreError> {
        self.write(move |tx| {
            let found = find(tx, PLACE, &new.conversation.as_str())?.filter(|agent| !agent.state.is_over());
            let Some(agent) = found else { return Ok(None) };
            inbound::accept(tx, &new)?;
            Ok(Some(agent.id))
        })
        .await
    }

    async fn end_agent(&self, end: AgentEnd) -> Result<AgentEnded, StoreError> {
        self.write(move |tx| self::end(tx, &end)).await
    }

    async fn answers_agents(&self, turn: &TurnId) -> Result<bool, StoreError> {
        let turn = turn.clone();
        self.read(move |tx| {
            let mut statement = tx
                .sql
                .prepare_cached("SELECT count(*), count(agent) FROM inbound WHERE owner = :owner AND turn = :turn")?;
            let params = named_params! { ":owner": tx.owner, ":turn": turn.as_str() };
            let (all, of_agents): (i64, i64) = statement.query_row(params, |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(all > 0 && all == of_agents)
        })
        .await
    }

    async fn tokens_of_tree(&self, root: &TurnId, purse: Purse) -> Result<u64, StoreError> {
        let root = root.clone();
        self.read(move |tx| tokens(tx, &root, purse)).await
    }
}

/// What a new agent is below.
struct Above {
    parent: Option<AgentId>,
    root: TurnId,
    chat: ConversationId,
    depth: u8,
    in_background: bool,
    /// The tokens that the tree may use, where it has agents.
    tokens: Option<u64>,
}

fn accept(tx: &Tx<'_>, new: &NewSubAgent, limits: AgentLimits) -> Outcome<AcceptedAgent> {
    if let Some(known) = of_turn(tx, new, "call", &new.call.as_str())? {
        return Ok(AcceptedAgent::Known(Box::new(known)));
    }
    let own = find(tx, PLACE, &new.conversation.as_str())?;
    if own.as_ref().is_some_and(|own| own.state.is_over()) {
        return Ok(AcceptedAgent::Refused(AgentRefusal::Over));
    }
    let above = above(tx, new, own)?;
    let before = match new.continues {
        Some(id) => Some(find(tx, "id", &id.0)?.ok_or_else(|| unknown(id))?),
        None => None,
    };
    let shared = before.as_ref().map(SubAgent::works_in);
    if let Some(place) = &shared
        && find(tx, PLACE, &place.as_str())?.is_none_or(|newest| !newest.state.is_over())
    {
        return Ok(AcceptedAgent::Refused(AgentRefusal::StillWorks));
    }
    // Tasks of a plan may say the same: each is started by its number. A stranger's text that says the same keeps nothing of the owner's.
    let hash = match (new.planned, new.by_strangers) {
        (Some(_), _) => sha256(&format!("{} {}", new.call, same_task(&new.task))),
        (None, true) => sha256(&format!("strangers {}", same_task(&new.task))),
        (None, false) => sha256(&same_task(&new.task)),
    };
    let tokens_left = above.tokens.unwrap_or(limits.tokens);
    let (side, purse) = (new.by_strangers, Purse::of(new.by_strangers, new.trust));
    let refused = if above.depth > MOST_DEPTH {
        Some(AgentRefusal::Depth)
    } else if let Some(same) = of_turn(tx, new, "task_hash", &hash)? {
        Some(AgentRefusal::SameTask(same.id))
    } else if number(tx, side, "root = ?3", above.root.as_str())? >= MOST_IN_TREE {
        Some(AgentRefusal::Tree)
    } else if let Some(most) = limits.a_day
        && since(tx, side, &new.conversation, new.now_ms - DAY_MS)? >= most
    {
        Some(AgentRefusal::Day(most))
    } else if tokens(tx, &above.root, purse)? >= tokens_left {
        Some(AgentRefusal::Tokens(tokens_left))
    } else if number(tx, side, "conversation = ?3 AND ended_ms IS NULL", new.conversation.as_str())? >= limits.live {
        Some(AgentRefusal::Live(limits.live))
    } else {
        None
    };
    match refused {
        Some(refusal) => Ok(AcceptedAgent::Refused(refusal)),
        None => insert(tx, new, (&above, shared.as_ref()), &hash, tokens_left).map(Box::new).map(AcceptedAgent::Fresh),
    }
}

/// Where in which tree an agent is. What the end of an agent leads to belongs to that agent's tree, so that a model that goes
/// on starting agents comes to an end.
fn above(tx: &Tx<'_>, new: &NewSubAgent, own: Option<SubAgent>) -> Outcome<Above> {
    if let Some(own) = own {
        return Ok(Above {
            parent: Some(own.id),
            root: own.root,
            chat: own.chat,
            depth: own.depth + 1,
            in_background: own.in_background,
            tokens: Some(own.tokens),
        });
    }
    let conversation = conversation_row::find(tx, &new.conversation)?.ok_or_else(|| missing(&new.conversation))?;
    let in_background = matches!(conversation.kind, ConversationKind::Run | ConversationKind::Task);
    let led_by = tx
        .sql
        .prepare_cached(
            "SELECT a.root, a.tokens FROM inbound i JOIN agent a ON a.id = i.agent
             WHERE i.owner = :owner AND i.turn = :turn
               AND NOT EXISTS (SELECT 1 FROM inbound WHERE owner = :owner AND turn = :turn AND agent IS NULL)
             ORDER BY i.id DESC LIMIT 1",
        )?
        .query_row(named_params! { ":owner": tx.owner, ":turn": new.turn.as_str() }, |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
        })
        .optional()?;
    let (root, tokens) = match led_by {
        Some((root, tokens)) => (TurnId::new(root), Some(tokens.unsigned_abs())),
        None => (new.turn.clone(), None),
    };
    Ok(Above { parent: None, root, chat: new.conversation.clone(), depth: 1, in_background, tokens })
}

fn insert(
    tx: &Tx<'_>,
    new: &NewSubAgent,
    (above, shared): (&Above, Option<&ConversationId>),
    hash: &[u8; 32],
    tokens: u64,
) -> Outcome<SubAgent> {
    let inserted = tx
        .sql
        .prepare_cached(
            "INSERT INTO agent (id, owner, own, conversation, turn, call, parent, root, chat, depth, in_background, path,
                                waited_for, label, task, task_hash, skill, context, tools, tokens, trust, by_strangers, state,
                                holder, made_ms, planned, continues, works_in, named, message_before, request_before)
             VALUES (:id, :owner, :own, :conversation, :turn, :call, :parent, :root, :chat, :depth, :in_background, :path,
                     :waited_for, :label, :task, :hash, :skill, :context, :tools, :tokens, :trust, :by_strangers, 'queued',
                     :holder, :now, :planned, :continues, :shared, :named,
                     (SELECT max(id) FROM message WHERE owner = :owner AND conversation = :shared),
                     (SELECT max(seq) FROM request WHERE owner = :owner AND conversation = :shared))",
        )?
        .execute(named_params! {
            ":id": next_id(tx)?.0, ":owner": tx.owner, ":own": next_id(tx)?.conversation().as_str(),
            ":conversation": new.conversation.as_str(), ":turn": new.turn.as_str(), ":call": new.call.as_str(),
            ":parent": above.parent.map(|parent| parent.0), ":root": above.root.as_str(),
            ":chat": above.chat.as_str(), ":depth": above.depth, ":in_background": above.in_background,
            ":path": new.path, ":waited_for": new.waited_for, ":label": new.label, ":task": new.task, ":hash": hash,
            ":skill": new.skill, ":context": new.context, ":tools": names(new.tools.as_deref()),
            ":tokens": stored(tokens), ":trust": new.trust.as_str(), ":by_strangers": new.by_strangers,
            ":holder": new.holder, ":now": new.now_ms, ":planned": new.planned.map(|planned| planned.0),
            ":continues": new.continues.map(|before| before.0), ":shared": shared.map(ConversationId::as_str),
            ":named": new.named,
        });
    match inserted {
        Err(error) if is_orphan(&error) => {
            return Err(StoreError::NotFound { what: "turn", id: new.turn.to_string() }.into());
        }
        inserted => inserted?,
    };
    let id = AgentId(tx.sql.last_insert_rowid());
    find(tx, "id", &id.0)?.ok_or_else(|| unknown(id).into())
}

/// The number of the next agent: numbers are never used twice.
fn next_id(tx: &Tx<'_>) -> Outcome<AgentId> {
    let mut statement =
        tx.sql.prepare_cached("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'agent'), 0) + 1")?;
    Ok(AgentId(statement.query_row([], |row| row.get(0))?))
}

fn end(tx: &Tx<'_>, end: &AgentEnd) -> Outcome<AgentEnded> {
    if !end.state.is_over() {
        return Err(StoreError::Invalid(format!("an agent does not end {}", end.state)).into());
    }
    let found = find(tx, "id", &end.id.0)?.ok_or_else(|| unknown(end.id))?;
    if found.state.is_over() {
        return Ok(AgentEnded::Before);
    }
    if let Some(newest) = newest_waiting(tx, &found.works_in())?.filter(|newest| *newest > end.told_until) {
        return Ok(AgentEnded::IsTold(newest));
    }
    if end.answered_by.is_some() && newest_turn(tx, &found.works_in())? != end.answered_by {
        return Ok(AgentEnded::WorksOn);
    }
    let trust = found.trust.join(end.trust);
    let told = if found.new.waited_for { None } else { Some(tell(tx, &found, end, trust)?) };
    tx.sql
        .prepare_cached(
            "UPDATE agent SET state = :state, ended_ms = :now, result = :result, trust = :trust, reason = :reason,
                              report = :report, told = :told
             WHERE owner = :owner AND id = :id",
        )?
        .execute(named_params! {
            ":owner": tx.owner, ":id": end.id.0, ":state": end.state.as_str(), ":now": end.now_ms,
            ":result": end.result, ":trust": trust.as_str(), ":reason": end.reason, ":report": end.report,
            ":told": told.map(|told| told.0),
        })?;
    Ok(AgentEnded::Now)
}

/// The newest turn of a conversation.
fn newest_turn(tx: &Tx<'_>, conversation: &ConversationId) -> Outcome<Option<TurnId>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT id FROM turn WHERE owner = :owner AND conversation = :conversation ORDER BY seq DESC LIMIT 1",
    )?;
    let params = named_params! { ":owner": tx.owner, ":conversation": conversation.as_str() };
    Ok(statement.query_row(params, |row| row.get::<_, String>(0)).optional()?.map(TurnId::new))
}

/// The newest message of a conversation that no turn has taken.
fn newest_waiting(tx: &Tx<'_>, conversation: &ConversationId) -> Outcome<Option<InboundId>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT max(id) FROM inbound WHERE owner = :owner AND conversation = :conversation AND turn IS NULL",
    )?;
    let params = named_params! { ":owner": tx.owner, ":conversation": conversation.as_str() };
    Ok(statement.query_row(params, |row| row.get::<_, Option<i64>>(0))?.map(InboundId))
}

/// Accepts, for the conversation that started an agent, what the agent said and what is known of its end.
fn tell(tx: &Tx<'_>, agent: &SubAgent, end: &AgentEnd, trust: Trust) -> Outcome<InboundId> {
    let base = base_of(tx, &agent.new.turn)?;
    let message = |part: &str, text: &str, trust: Trust| NewInbound {
        conversation: agent.new.conversation.clone(),
        key: Some(format!("agent/{}{part}", agent.id)),
        text: text.to_owned(),
        trust,
        typed: false,
        base: base.clone(),
        now_ms: end.now_ms,
    };
    let words = format!("{}{}", end.above, end.result);
    if !words.trim().is_empty() {
        let words = inbound::accept(tx, &message(" result", &words, trust))?;
        of_agent(tx, words.inbound.id, agent.id)?;
    }
    let notice = inbound::accept(tx, &message("", &end.notice, Trust::File))?;
    of_agent(tx, notice.inbound.id, agent.id)?;
    Ok(notice.inbound.id)
}

/// Where the messages that a turn answers were said: what an agent of it came to is answered there.
fn base_of(tx: &Tx<'_>, turn: &TurnId) -> Outcome<Base> {
    let mut statement = tx
        .sql
        .prepare_cached("SELECT * FROM inbound WHERE owner = :owner AND turn = :turn ORDER BY id DESC LIMIT 1")?;
    let params = named_params! { ":owner": tx.owner, ":turn": turn.as_str() };
    let newest = row::one(&mut statement, params, "accepted message", turn.as_str(), inbound::read)?;
    Ok(newest.map_or(Base::Anywhere, |inbound| inbound.base))
}

fn of_agent(tx: &Tx<'_>, inbound: InboundId, agent: AgentId) -> Outcome<()> {
    tx.sql
        .prepare_cached("UPDATE inbound SET agent = ?3 WHERE owner = ?1 AND id = ?2")?
        .execute((tx.owner, inbound.0, agent.0))?;
    Ok(())
}

/// Tokens of the requests of a tree's agents that come out of a purse; what a provider did not count is estimated. The label of a request
/// is that of all that was read by then.
fn tokens(tx: &Tx<'_>, root: &TurnId, purse: Purse) -> Outcome<u64> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT total(coalesce(r.input, r.estimate, 0)) + total(coalesce(r.output, 0))
         FROM agent a JOIN request r ON r.owner = a.owner AND r.conversation = coalesce(a.works_in, a.own)
         WHERE a.owner = :owner AND a.root = :root AND r.seq > coalesce(a.request_before, 0)
           AND :purse = CASE WHEN a.by_strangers THEN 'strangers'
                             WHEN coalesce(r.trust, a.trust) IN ('guest', 'outside') THEN 'tainted' ELSE 'clean' END
           -- What whoever went on with its work used is counted there.
           AND r.seq <= coalesce((SELECT min(coalesce(b.request_before, 0)) FROM agent b
                                  WHERE b.owner = a.owner AND coalesce(b.works_in, b.own) = coalesce(a.works_in, a.own)
                                    AND b.id > a.id), r.seq)",
    )?;
    let params = named_params! { ":owner": tx.owner, ":root": root.as_str(), ":purse": purse.as_str() };
    Ok(statement.query_row(params, |row| row.get::<_, f64>(0))? as u64)
}

/// How many agents of a side there are for which something holds.
fn number(tx: &Tx<'_>, by_strangers: bool, holds: &str, value: &str) -> Outcome<u32> {
    let count = format!("SELECT count(*) FROM agent WHERE owner = ?1 AND by_strangers = ?2 AND {holds}");
    Ok(tx.sql.prepare_cached(&count)?.query_row((tx.owner, by_strangers, value), |row| row.get(0))?)
}

/// Agents of a side that a conversation has started since then.
fn since(tx: &Tx<'_>, by_strangers: bool, conversation: &ConversationId, made_ms: i64) -> Outcome<u32> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT count(*) FROM agent WHERE owner = ?1 AND by_strangers = ?2 AND conversation = ?3 AND made_ms > ?4",
    )?;
    Ok(statement.query_row((tx.owner, by_strangers, conversation.as_str(), made_ms), |row| row.get(0))?)
}

fn of_turn(tx: &Tx<'_>, new: &NewSubAgent, column: &str, value: &dyn ToSql) -> Outcome<Option<SubAgent>> {
    let select = format!("SELECT * FROM agent WHERE owner = :owner AND turn = :turn AND {column} = :value");
    let mut statement = tx.sql.prepare_cached(&select)?;
    let params = named_params! { ":owner": tx.owner, ":turn": new.turn.as_str(), ":value": value };
    row::one(&mut statement, params, "agent", new.turn.as_str(), agent)
}

fn find(tx: &Tx<'_>, column: &str, value: &dyn ToSql) -> Outcome<Option<SubAgent>> {
    let mut statement = tx.sql.prepare_cached(&format!(
        "SELECT * FROM agent WHERE owner = :owner AND {column} = :value ORDER BY id DESC LIMIT 1"
    ))?;
    row::one(&mut statement, named_params! { ":owner": tx.owner, ":value": value }, "agent", column, agent)
}

fn unknown(id: AgentId) -> StoreError {
    StoreError::NotFound { what: "agent", id: id.to_string() }
}

/// Names as a row holds them.
fn names(names: Option<&[String]>) -> Option<String> {
    // A list of texts always serialises.
    names.map(|names| serde_json::to_string(names).unwrap_or_default())
}

fn agent(row: &Row<'_>) -> Read<SubAgent> {
    let tools = get::<Option<String>>(row, "tools")?.map(|names| serde_json::from_str(&names));
    let trust = word(row, "trust")?;
    Ok(SubAgent {
        id: AgentId(get(row, "id")?),
        new: NewSubAgent {
            conversation: ConversationId::new(get::<String>(row, "conversation")?),
            turn: TurnId::new(get::<String>(row, "turn")?),
            call: CallId::new(get::<String>(row, "call")?),
            path: get(row, "path")?,
            waited_for: get(row, "waited_for")?,
            label: get(row, "label")?,
            task: get(row, "task")?,
            skill: get(row, "skill")?,
            context: get(row, "context")?,
            tools: tools.transpose().map_err(|error| Unreadable(format!("tools: {error}")))?,
            planned: get::<Option<i64>>(row, "planned")?.map(PlannedId),
            continues: get::<Option<i64>>(row, "continues")?.map(AgentId),
            named: get(row, "named")?,
            trust,
            by_strangers: get(row, "by_strangers")?,
            holder: get(row, "holder")?,
            now_ms: get(row, "made_ms")?,
        },
        parent: get::<Option<i64>>(row, "parent")?.map(AgentId),
        root: TurnId::new(get::<String>(row, "root")?),
        chat: ConversationId::new(get::<String>(row, "chat")?),
        depth: get(row, "depth")?,
        in_background: get(row, "in_background")?,
        tokens: count(row, "tokens")?,
        shared: get::<Option<String>>(row, "works_in")?.map(ConversationId::new),
        message_before: get::<Option<i64>>(row, "message_before")?.map(MessageId),
        state: parsed(row, "state", AgentState::parse)?,
        began_ms: get(row, "began_ms")?,
        ended_ms: get(row, "ended_ms")?,
        result: get(row, "result")?,
        trust,
        reason: get(row, "reason")?,
        report: get(row, "report")?,
        told: get::<Option<i64>>(row, "told")?.map(InboundId),
    })
}
