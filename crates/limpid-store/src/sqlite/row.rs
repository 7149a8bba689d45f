//! Reading rows: a value that cannot be read costs its row, never the rows beside it.

use std::collections::BTreeMap;

use std::fmt::Display;
use std::str::FromStr;

use limpid_core::{CallId, ToolCall};
use rusqlite::types::{FromSql, ValueRef};
use rusqlite::{OptionalExtension, Params, Row, Statement};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::failure::Outcome;
use crate::{Broken, Listed, StoreError};

/// Why a row cannot be read.
#[derive(Debug)]
pub(super) struct Unreadable(pub(super) String);

impl From<rusqlite::Error> for Unreadable {
    fn from(error: rusqlite::Error) -> Self {
        Self(error.to_string())
    }
}

/// A row that was read, or the reason why it could not be.
pub(super) type Read<T> = Result<T, Unreadable>;

/// One column of a row.
pub(super) fn get<T: FromSql>(row: &Row<'_>, column: &str) -> Read<T> {
    Ok(row.get(column)?)
}

/// One column that holds a count.
pub(super) fn count(row: &Row<'_>, column: &str) -> Read<u64> {
    get::<i64>(row, column)?.try_into().map_err(|_| Unreadable(format!("{column} is negative")))
}

/// One column that holds a count or nothing.
pub(super) fn count_or_none(row: &Row<'_>, column: &str) -> Read<Option<u64>> {
    match get::<Option<i64>>(row, column)? {
        Some(value) => value.try_into().map(Some).map_err(|_| Unreadable(format!("{column} is negative"))),
        None => Ok(None),
    }
}

/// One column that holds the name of something.
pub(super) fn word<T: FromStr<Err: Display>>(row: &Row<'_>, column: &str) -> Read<T> {
    get::<String>(row, column)?.parse().map_err(|error: T::Err| Unreadable(format!("{column}: {error}")))
}

/// One column that holds the name of something that `parse` knows.
pub(super) fn parsed<T>(row: &Row<'_>, column: &str, parse: impl FnOnce(&str) -> Option<T>) -> Read<T> {
    let text: String = get(row, column)?;
    parse(&text).ok_or_else(|| Unreadable(format!("{column}: `{text}` is not known")))
}

/// All rows of a query. `id` names the column that tells a broken row from others.
pub(super) fn list<T>(
    statement: &mut Statement<'_>,
    params: impl Params,
    table: &'static str,
    id: &str,
    read: impl Fn(&Row<'_>) -> Read<T>,
) -> Outcome<Listed<T>> {
    list_some(statement, params, (table, id), read, |_| true, usize::MAX)
}

/// At most so many of a query's rows, those of which `is_wanted` holds; no more rows are read than that takes.
pub(super) fn list_some<T>(
    statement: &mut Statement<'_>,
    params: impl Params,
    (table, id): (&'static str, &str),
    read: impl Fn(&Row<'_>) -> Read<T>,
    is_wanted: impl Fn(&T) -> bool,
    most: usize,
) -> Outcome<Listed<T>> {
    let mut listed = Listed { rows: Vec::new(), broken: Vec::new() };
    let mut rows = statement.query(params)?;
    while listed.rows.len() < most
        && let Some(row) = rows.next()?
    {
        match read(row) {
            Ok(value) if is_wanted(&value) => listed.rows.push(value),
            Ok(_) => {}
            Err(Unreadable(reason)) => listed.broken.push(Broken { table, id: shown(row, id), reason }),
        }
    }
    Ok(listed)
}

/// The row of a query, if there is one; a row that cannot be read is an error.
pub(super) fn one<T>(
    statement: &mut Statement<'_>,
    params: impl Params,
    what: &'static str,
    id: &str,
    read: impl Fn(&Row<'_>) -> Read<T>,
) -> Outcome<Option<T>> {
    match statement.query_row(params, |row| Ok(read(row))).optional()? {
        None => Ok(None),
        Some(Ok(value)) => Ok(Some(value)),
        Some(Err(Unreadable(reason))) => Err(StoreError::Broken { what, id: id.to_owned(), reason }.into()),
    }
}

/// A number as SQLite stores it; nothing that is counted here comes near the limit.
pub(super) fn stored(count: impl TryInto<i64>) -> i64 {
    count.try_into().unwrap_or(i64::MAX)
}

/// SHA-256 of a text.
pub(super) fn sha256(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Calls as JSON text; nothing for none.
pub(super) fn calls_to_json(calls: &[ToolCall]) -> Outcome<Option<String>> {
    if calls.is_empty() {
        return Ok(None);
    }
    let rows: Vec<CallRow<'_>> = calls
        .iter()
        .map(|call| CallRow {
            id: call.id.as_str().into(),
            name: call.name.as_str().into(),
            arguments: call.arguments.as_str().into(),
        })
        .collect();
    let json = serde_json::to_string(&rows).map_err(|error| StoreError::Invalid(error.to_string()))?;
    Ok(Some(json))
}

/// An estimate by kind of text as JSON text; nothing for none.
pub(super) fn kinds_to_json(kinds: &BTreeMap<String, u64>) -> Option<String> {
    if kinds.is_empty() { None } else { serde_json::to_string(kinds).ok() }
}

/// The estimate by kind of text in one column. One that cannot be read is missed by nothing but the calibration.
pub(super) fn kinds(row: &Row<'_>, column: &str) -> Read<BTreeMap<String, u64>> {
    let json = get::<Option<String>>(row, column)?;
    Ok(json.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default())
}

/// The calls in one column.
pub(super) fn calls(row: &Row<'_>, column: &str) -> Read<Vec<ToolCall>> {
    let Some(json) = get::<Option<String>>(row, column)? else { return Ok(Vec::new()) };
    let rows: Vec<CallRow<'_>> =
        serde_json::from_str(&json).map_err(|error| Unreadable(format!("{column}: {error}")))?;
    Ok(rows
        .into_iter()
        .map(|call| ToolCall {
            id: CallId::new(call.id),
            name: call.name.into_owned(),
            arguments: call.arguments.into_owned(),
        })
        .collect())
}

/// One call in a row.
#[derive(Serialize, Deserialize)]
struct CallRow<'a> {
    id: std::borrow::Cow<'a, str>,
    name: std::borrow::Cow<'a, str>,
    arguments: std::borrow::Cow<'a, str>,
}

fn shown(row: &Row<'_>, column: &str) -> String {
    match row.get_ref(column) {
        Ok(ValueRef::Integer(number)) => number.to_string(),
        Ok(ValueRef::Text(text)) => String::from_utf8_lossy(text).into_owned(),
        _ => "?".to_owned(),
    }
}
