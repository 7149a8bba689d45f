//! What the store and the files hold in the end, read without the store's own code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use limpid_core::notice;
use limpid_runtime::Home;
use rusqlite::{Connection, Row};

use super::REPEATED;
use super::model::{FRESH, TOLD};
use super::world::effects_file;

/// What a letter's call is named, before its key.
const LETTER: &str = "call-compose_email-";

/// What was done and what is known of it.
#[derive(Default)]
pub(super) struct Record {
    /// Turns in whose question a message stands, by its key.
    pub(super) asked: BTreeMap<String, Vec<String>>,
    /// Turns that were answered.
    pub(super) answered: BTreeSet<String>,
    /// State and detail of the drafts, by their keys.
    pub(super) drafts: BTreeMap<String, Vec<(String, String)>>,
    /// How often each text that nobody waited for was put into a conversation.
    pub(super) delivered: BTreeMap<String, u64>,
    /// The same by what a push says of them.
    pub(super) shown: BTreeMap<String, u64>,
    /// How often each run of the task that repeats was put into its conversation.
    pub(super) repeated: BTreeMap<String, u64>,
    /// What heartbeats reported.
    pub(super) reports: Vec<String>,
    /// How often each thing that came in is kept, by its key.
    pub(super) items: BTreeMap<String, u64>,
    /// How often each thing that came in was reported, by its key.
    pub(super) told: BTreeMap<String, u64>,
    /// How often each effect was had, by its key.
    pub(super) effects: BTreeMap<String, u64>,
    /// Pushes of which nobody knows whether they left, by what they say.
    pub(super) unknown_pushes: BTreeMap<String, u64>,
    /// What the store holds as accepted, as the process tells it.
    pub(super) stored: BTreeSet<String>,
    results: BTreeMap<String, String>,
}

impl Record {
    /// Reads it.
    pub(super) fn read(home: &Path) -> Result<Self, String> {
        let mut record = Self::default();
        for key in effects(home)? {
            *record.effects.entry(key).or_default() += 1;
        }
        let read = || -> rusqlite::Result<Self> {
            let sql = Connection::open(Home::new(home).database())?;
            record.read_turns(&sql)?;
            record.read_deliveries(&sql)?;
            record.read_the_rest(&sql)?;
            Ok(record)
        };
        read().map_err(|error| format!("the store: {error}"))
    }

    /// The result of a call; empty when there is none.
    pub(super) fn result(&self, call: &str) -> &str {
        self.results.get(call).map_or("", String::as_str)
    }

    fn read_turns(&mut self, sql: &Connection) -> rusqlite::Result<()> {
        each(sql, "SELECT id FROM turn WHERE outcome = 'answered'", |row| {
            self.answered.insert(row.get(0)?);
            Ok(())
        })?;
        let inbound = "SELECT coalesce(inbound.key, ''), message.turn FROM inbound
                       LEFT JOIN message ON message.owner = inbound.owner
                         AND message.conversation = inbound.conversation AND message.role = 'user'
                         AND (message.text = inbound.text OR message.text LIKE inbound.text || ' %'
                              OR message.text LIKE inbound.text || char(10) || '%')
                       WHERE inbound.conversation LIKE 'chat-%'";
        each(sql, inbound, |row| {
            let (key, turn): (String, Option<String>) = (row.get(0)?, row.get(1)?);
            self.stored.insert(format!("message {key}"));
            self.asked.entry(key).or_default().extend(turn);
            Ok(())
        })?;
        each(sql, "SELECT call_id, text FROM message WHERE call_id IS NOT NULL", |row| {
            self.results.insert(row.get(0)?, row.get(1)?);
            Ok(())
        })?;
        let drafts = "SELECT call, step.state, step.detail FROM draft
                      JOIN draft_event AS step ON step.id = (SELECT max(id) FROM draft_event WHERE draft = draft.id)";
        each(sql, drafts, |row| {
            let call: String = row.get(0)?;
            let key = call.trim_start_matches(LETTER).to_owned();
            self.stored.insert(format!("draft {key}"));
            self.drafts.entry(key).or_default().push((row.get(1)?, row.get(2)?));
            Ok(())
        })
    }

    fn read_deliveries(&mut self, sql: &Connection) -> rusqlite::Result<()> {
        let said = "SELECT message.text FROM message JOIN turn ON turn.id = message.turn
                    WHERE turn.path = 'delivery' AND role = 'assistant'";
        each(sql, said, |row| {
            let text: String = row.get(0)?;
            for key in text.split_whitespace().filter_map(|word| word.strip_prefix(TOLD)) {
                *self.told.entry(key.to_owned()).or_default() += 1;
            }
            if let Some(body) = notice::body(&text) {
                *self.shown.entry(body).or_default() += 1;
            }
            *self.delivered.entry(text).or_default() += 1;
            Ok(())
        })?;
        let pushes = "SELECT message.text FROM push JOIN delivery ON delivery.id = push.delivery
                      JOIN message ON message.turn = delivery.turn AND role = 'assistant'
                      WHERE push.outcome = 'unknown'";
        each(sql, pushes, |row| {
            if let Some(body) = notice::body(&row.get::<_, String>(0)?) {
                *self.unknown_pushes.entry(body).or_default() += 1;
            }
            Ok(())
        })?;
        // One that waits began after the last look at what is left to do: the task comes again as long as the process lives.
        let repeated = "SELECT delivery.key, (SELECT count(*) FROM message
                            WHERE message.turn = delivery.turn AND role = 'assistant')
                        FROM delivery WHERE settled_ms IS NOT NULL AND delivery.key LIKE
                            'task/' || (SELECT id FROM task WHERE task.key = ?1) || '/%'";
        let mut statement = sql.prepare(repeated)?;
        let mut rows = statement.query([REPEATED])?;
        while let Some(row) = rows.next()? {
            self.repeated.insert(row.get(0)?, u64::from(row.get::<_, u32>(1)?));
        }
        Ok(())
    }

    fn read_the_rest(&mut self, sql: &Connection) -> rusqlite::Result<()> {
        each(sql, "SELECT report FROM heartbeat_run WHERE outcome = 'told'", |row| {
            self.reports.push(row.get(0)?);
            Ok(())
        })?;
        each(sql, "SELECT source, title || ' ' || text FROM inbox_item", |row| {
            let (source, text): (String, String) = (row.get(0)?, row.get(1)?);
            let kind = if source == "mail" { "mail" } else { "item" };
            for key in text.split_whitespace().filter_map(|word| word.strip_prefix(FRESH)) {
                self.stored.insert(format!("{kind} {key}"));
                *self.items.entry(key.to_owned()).or_default() += 1;
            }
            Ok(())
        })?;
        each(sql, "SELECT CASE kind WHEN 'agent' THEN 'task' ELSE kind END, key FROM task", |row| {
            let (kind, key): (String, String) = (row.get(0)?, row.get(1)?);
            if key != REPEATED {
                self.stored.insert(format!("{kind} {key}"));
            }
            Ok(())
        })
    }
}

fn each(sql: &Connection, query: &str, mut take: impl FnMut(&Row<'_>) -> rusqlite::Result<()>) -> rusqlite::Result<()> {
    let mut statement = sql.prepare(query)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        take(row)?;
    }
    Ok(())
}

/// Every effect that a tool or a command had, by its key.
fn effects(home: &Path) -> Result<Vec<String>, String> {
    match fs::read_to_string(effects_file(home)) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error.to_string()),
    }
}
