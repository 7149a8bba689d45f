//! Reading the request log.

use async_trait::async_trait;
use limpid_core::{ConversationId, FailureClass, Money, RequestId, TurnId, Usage};
use rusqlite::{Row, named_params};

use super::failure::Outcome;
use super::row::{self, Read, calls, count, count_or_none, get, hex, kinds, parsed, word};
use super::{SqliteStore, Tx, chain, prune, requests, spent};
use crate::{
    CostBy, CostQuery, CostRow, Listed, NewRequest, Pruned, Request, RequestEnd, RequestFilter, RequestLog,
    RequestSummary, Retention, SharedPrefix, SpentRow, StoreError,
};

#[async_trait]
impl RequestLog for SqliteStore {
    async fn record_request(&self, new: NewRequest) -> Result<SharedPrefix, StoreError> {
        self.write(move |tx| match &new.turn {
            Some(turn) => {
                let reason = format!("request {} belongs to turn {turn}, which must write it itself", new.id);
                Err(StoreError::Invalid(reason).into())
            }
            None => requests::record(tx, &new),
        })
        .await
    }

    async fn end_request(&self, id: &RequestId, end: RequestEnd) -> Result<(), StoreError> {
        let id = id.clone();
        self.write(move |tx| requests::end(tx, &id, None, &end)).await
    }

    async fn request(&self, id: &RequestId) -> Result<Option<Request>, StoreError> {
        let id = id.clone();
        self.read(move |tx| request(tx, &id)).await
    }

    async fn requests(&self, filter: RequestFilter) -> Result<Listed<RequestSummary>, StoreError> {
        let newest = filter.clone();
        match self.read(move |tx| list_newest(tx, &newest)).await? {
            Some(listed) => Ok(listed),
            None => self.search(move |tx| list(tx, &filter, None)).await,
        }
    }

    async fn sent_times(
        &self,
        path: &str,
        conversation: Option<&ConversationId>,
        limit: u32,
    ) -> Result<Vec<i64>, StoreError> {
        let path = path.to_owned();
        if let Some(conversation) = conversation.cloned() {
            return self.read(move |tx| times_in(tx, &path, &conversation, limit)).await;
        }
        let of_all = path.clone();
        match self.read(move |tx| newest_times(tx, &path, limit)).await? {
            Some(times) => Ok(times),
            None => self.search(move |tx| times(tx, &of_all, limit, -1)).await,
        }
    }

    async fn costs(&self, query: CostQuery) -> Result<Vec<CostRow>, StoreError> {
        self.search(move |tx| costs(tx, &query)).await
    }

    async fn spent(&self, since_ms: i64, turn: Option<&TurnId>) -> Result<Vec<SpentRow>, StoreError> {
        let turn = turn.cloned();
        self.read(move |tx| spent::spent(tx, since_ms, turn.as_ref())).await
    }

    async fn begun_by_strangers(&self, turn: &TurnId) -> Result<bool, StoreError> {
        let turn = turn.clone();
        self.read(move |tx| spent::begun_by_strangers(tx, &turn)).await
    }

    async fn prune_requests(&self, retention: Retention) -> Result<Pruned, StoreError> {
        self.write(move |tx| prune::prune(tx, retention)).await
    }
}

fn request(tx: &Tx<'_>, id: &RequestId) -> Outcome<Option<Request>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT r.*, t.body AS tools_text FROM request r LEFT JOIN text t ON t.owner = r.owner AND t.hash = r.tools
         WHERE r.owner = :owner AND r.id = :id
           AND NOT EXISTS (SELECT 1 FROM conversation c WHERE c.owner = r.owner AND c.id = r.conversation AND c.gone)",
    )?;
    let params = named_params! { ":owner": tx.owner, ":id": id.as_str() };
    let found = row::one(&mut statement, params, "request", id.as_str(), |row| {
        Ok((summary(row)?, get::<String>(row, "tools_text")?, get::<Option<i64>>(row, "tip")?))
    })?;
    let Some((summary, tools, tip)) = found else { return Ok(None) };
    let messages = chain::read(tx, id, tip)?;
    Ok(Some(Request { summary, tools, messages }))
}

/// Newest first. The `+` keeps SQLite from reading and sorting the whole request log through an index of the owner's.
const LIST: &str = "SELECT * FROM request
    WHERE +owner = :owner
      AND (:conversation IS NULL OR conversation = :conversation)
      AND (:turn IS NULL OR turn = :turn)
      AND (:path IS NULL OR path = :path)
      AND (:model IS NULL OR model = :model)
      AND (NOT :failed OR failure IS NOT NULL) AND (NOT :clean OR trust IN ('owner', 'file'))
      AND (:prefix IS NULL OR substr(id, 1, length(:prefix)) = :prefix)
      AND (:since IS NULL OR sent_ms >= :since)
      AND (:until IS NULL OR sent_ms < :until)
      AND seq >= coalesce(:first, -1)
      AND (conversation IS NULL OR conversation NOT IN (SELECT id FROM conversation WHERE owner = :owner AND gone))
    ORDER BY seq DESC LIMIT :limit";

/// As many requests of the request log as are looked at on the caller's own thread.
const NEWEST: i64 = 200;

/// The requests that are looked at on the caller's own thread.
struct Newest {
    /// The number of the first of them.
    looked_at: i64,
    /// Whether there are no others.
    is_all: bool,
}

fn newest(tx: &Tx<'_>) -> Outcome<Newest> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT coalesce((SELECT max(seq) FROM request), 0), coalesce((SELECT min(seq) FROM request), 0)",
    )?;
    let (last, first): (i64, i64) = statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let looked_at = last - NEWEST;
    Ok(Newest { looked_at, is_all: looked_at <= first })
}

/// The list, unless it may go on behind the newest requests of the request log.
fn list_newest(tx: &Tx<'_>, filter: &RequestFilter) -> Outcome<Option<Listed<RequestSummary>>> {
    let Newest { looked_at, is_all } = newest(tx)?;
    let listed = list(tx, filter, Some(looked_at))?;
    let rows = listed.rows.len() + listed.broken.len();
    Ok((rows >= filter.limit as usize || is_all).then_some(listed))
}

fn list(tx: &Tx<'_>, filter: &RequestFilter, first: Option<i64>) -> Outcome<Listed<RequestSummary>> {
    let mut statement = tx.sql.prepare_cached(LIST)?;
    let params = named_params! {
        ":owner": tx.owner, ":conversation": filter.conversation.as_ref().map(ConversationId::as_str),
        ":turn": filter.turn.as_ref().map(TurnId::as_str), ":path": filter.path, ":model": filter.model,
        ":failed": filter.failed, ":clean": filter.clean, ":prefix": filter.id_prefix, ":since": filter.since_ms,
        ":until": filter.until_ms, ":first": first, ":limit": filter.limit,
    };
    row::list(&mut statement, params, "request", "id", summary)
}

fn times_in(tx: &Tx<'_>, path: &str, conversation: &ConversationId, limit: u32) -> Outcome<Vec<i64>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT sent_ms FROM request WHERE owner = ? AND conversation = ? AND path = ? ORDER BY seq DESC LIMIT ?",
    )?;
    let times = statement.query_map((tx.owner, conversation.as_str(), path, limit), |row| row.get(0))?;
    Ok(times.collect::<Result<_, _>>()?)
}

/// The times, unless they may go on behind the newest requests of the request log.
fn newest_times(tx: &Tx<'_>, path: &str, limit: u32) -> Outcome<Option<Vec<i64>>> {
    let Newest { looked_at, is_all } = newest(tx)?;
    let times = times(tx, path, limit, looked_at)?;
    Ok((times.len() >= limit as usize || is_all).then_some(times))
}

fn times(tx: &Tx<'_>, path: &str, limit: u32, first: i64) -> Outcome<Vec<i64>> {
    let mut statement = tx.sql.prepare_cached(
        "SELECT sent_ms FROM request WHERE +owner = ? AND path = ? AND seq >= ? ORDER BY seq DESC LIMIT ?",
    )?;
    let times = statement.query_map((tx.owner, path, first, limit), |row| row.get(0))?;
    Ok(times.collect::<Result<_, _>>()?)
}

/// What agents cost belongs to the chat that their tree began in.
const OF_CHAT: &str =
    "coalesce((SELECT chat FROM agent WHERE owner = request.owner AND own = request.conversation), conversation, '')";

fn costs(tx: &Tx<'_>, query: &CostQuery) -> Outcome<Vec<CostRow>> {
    let group = match query.by {
        CostBy::Path => "path",
        CostBy::Model => "provider || '/' || coalesce(answered_by, model)",
        CostBy::Day => "strftime('%Y-%m-%d', sent_ms / 1000 + :offset * 60, 'unixepoch')",
        CostBy::DayAndPath => "strftime('%Y-%m-%d', sent_ms / 1000 + :offset * 60, 'unixepoch') || ' ' || path",
        CostBy::Conversation => OF_CHAT,
    };
    let sql = format!(
        "SELECT {group} AS \"group\", count(*) AS requests, total(input) AS input, total(cached) AS cached,
                total(cache_written) AS cache_written, total(output) AS output,
                total(reasoned) AS reasoned, total(cost) AS cost,
                sum(input IS NULL) AS unknown_usage, sum(cost IS NULL) AS unknown_cost
         FROM request
         WHERE owner = :owner AND (:since IS NULL OR sent_ms >= :since) AND (:until IS NULL OR sent_ms < :until)
           AND :offset IS NOT NULL
         GROUP BY 1 ORDER BY 1"
    );
    let mut statement = tx.sql.prepare_cached(&sql)?;
    let params = named_params! {
        ":owner": tx.owner, ":since": query.since_ms, ":until": query.until_ms, ":offset": query.utc_offset_min,
    };
    let rows = statement.query_map(params, |row| {
        // Sums of many whole numbers are taken as floats, which cannot overflow.
        let sum = |column: &str| row.get::<_, f64>(column).map(|value| value as u64);
        Ok(CostRow {
            group: row.get("group")?,
            requests: row.get::<_, i64>("requests")?.unsigned_abs(),
            usage: Usage {
                input: sum("input")?,
                cached: sum("cached")?,
                cache_written: sum("cache_written")?,
                output: sum("output")?,
                reasoning: sum("reasoned")?,
                ..Usage::default()
            },
            cost: Money(sum("cost")?),
            unknown_usage: row.get::<_, i64>("unknown_usage")?.unsigned_abs(),
            unknown_cost: row.get::<_, i64>("unknown_cost")?.unsigned_abs(),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn summary(row: &Row<'_>) -> Read<RequestSummary> {
    Ok(RequestSummary {
        id: RequestId::new(get::<String>(row, "id")?),
        conversation: get::<Option<String>>(row, "conversation")?.map(ConversationId::new),
        turn: get::<Option<String>>(row, "turn")?.map(TurnId::new),
        round: get(row, "round")?,
        provider: get(row, "provider")?,
        model: get(row, "model")?,
        protocol: get(row, "protocol")?,
        target: get(row, "target")?,
        profile: get(row, "profile")?,
        path: get(row, "path")?,
        revision: get(row, "revision")?,
        sampling: get(row, "sampling")?,
        tools_hash: hex(&get::<chain::Key>(row, "tools")?),
        body_hash: hex(&get::<chain::Key>(row, "body_hash")?),
        body_bytes: count(row, "body_bytes")?,
        messages: count(row, "messages")?,
        message_bytes: count(row, "message_bytes")?,
        estimate: count_or_none(row, "estimate")?,
        estimate_by_kind: kinds(row, "estimate_by_kind")?,
        holder: get(row, "holder")?,
        shared: SharedPrefix {
            messages: count(row, "shared_messages")?,
            bytes: count(row, "shared_bytes")?,
            changed: get(row, "changed")?,
        },
        sent_ms: get(row, "sent_ms")?,
        end: end(row)?,
    })
}

fn end(row: &Row<'_>) -> Read<Option<RequestEnd>> {
    let Some(ended_ms) = get::<Option<i64>>(row, "ended_ms")? else { return Ok(None) };
    let usage = match count_or_none(row, "input")? {
        Some(input) => Some(Usage {
            input,
            cached: count(row, "cached")?,
            cache_written: count(row, "cache_written")?,
            output: count(row, "output")?,
            // Requests of an earlier version say nothing of it.
            reasoning: count_or_none(row, "reasoned")?.unwrap_or_default(),
            // They are in what the request cost.
            ..Usage::default()
        }),
        None => None,
    };
    let failure = match get::<Option<String>>(row, "failure_message")? {
        Some(message) => Some((parsed(row, "failure", FailureClass::parse)?, message)),
        None => None,
    };
    Ok(Some(RequestEnd {
        text: get(row, "reply")?,
        reasoning: get(row, "reasoning")?,
        calls: calls(row, "calls")?,
        trust: word(row, "trust")?,
        finish: get(row, "finish")?,
        model: get(row, "answered_by")?,
        usage,
        cost: count_or_none(row, "cost")?.map(Money),
        failure,
        first_ms: get(row, "first_ms")?,
        ended_ms,
    }))
}
