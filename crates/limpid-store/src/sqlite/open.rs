//! Opening the file: who may read it, how SQLite is set, and the schema's version.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use super::failure::classify;
use crate::StoreError;

/// Marks the file as Limpid's: "Lmpd".
const APPLICATION_ID: i32 = 0x4c6d_7064;

/// Every version of the schema, the first at the front. A published one is never edited; a change is a new file.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/0001_first.sql"),
    include_str!("../../migrations/0002_settings.sql"),
    include_str!("../../migrations/0003_window.sql"),
    include_str!("../../migrations/0004_promotion.sql"),
    include_str!("../../migrations/0005_goals.sql"),
    include_str!("../../migrations/0006_history.sql"),
    include_str!("../../migrations/0007_skills.sql"),
    include_str!("../../migrations/0008_drafts.sql"),
    include_str!("../../migrations/0009_deliveries.sql"),
    include_str!("../../migrations/0010_inbox.sql"),
    include_str!("../../migrations/0011_timers.sql"),
    include_str!("../../migrations/0012_draft_edits.sql"),
    include_str!("../../migrations/0013_snapshot.sql"),
    include_str!("../../migrations/0014_heartbeat.sql"),
    include_str!("../../migrations/0015_mail_mark.sql"),
    include_str!("../../migrations/0016_tasks.sql"),
    include_str!("../../migrations/0017_memory_words.sql"),
    include_str!("../../migrations/0018_file_versions.sql"),
    include_str!("../../migrations/0019_pushes.sql"),
    include_str!("../../migrations/0020_vectors.sql"),
    include_str!("../../migrations/0023_heartbeat_items.sql"),
    include_str!("../../migrations/0024_estimate_by_kind.sql"),
    include_str!("../../migrations/0025_journal.sql"),
    include_str!("../../migrations/0026_audience.sql"),
    include_str!("../../migrations/0027_message_state.sql"),
    include_str!("../../migrations/0028_effort.sql"),
    include_str!("../../migrations/0029_answered_by.sql"),
    include_str!("../../migrations/0030_file_changes.sql"),
    include_str!("../../migrations/0031_instructing_files.sql"),
    include_str!("../../migrations/0032_labels_are_raised_by_acts.sql"),
    include_str!("../../migrations/0033_typed.sql"),
    include_str!("../../migrations/0034_agents.sql"),
    include_str!("../../migrations/0036_files_are_accepted_as_they_were_seen.sql"),
    include_str!("../../migrations/0037_agent_plans.sql"),
    include_str!("../../migrations/0038_agents_go_on.sql"),
    include_str!("../../migrations/0039_read_by_strangers.sql"),
    include_str!("../../migrations/0040_archived_conversations.sql"),
    include_str!("../../migrations/0041_deleted_conversations.sql"),
    include_str!("../../migrations/0042_drafts_say_what_they_are_about.sql"),
    include_str!("../../migrations/0043_contents_that_the_owner_knows.sql"),
    include_str!("../../migrations/0044_heartbeat_parts.sql"),
    include_str!("../../migrations/0045_where_work_was_planned.sql"),
    include_str!("../../migrations/0046_where_messages_are_answered.sql"),
    include_str!("../../migrations/0047_letters_have_numbers_of_their_account.sql"),
    include_str!("../../migrations/0048_what_is_handed_in_goes_with_its_message.sql"),
    include_str!("../../migrations/0049_errors_of_mail_servers_are_short.sql"),
    include_str!("../../migrations/0050_files_are_known_by_their_place_in_the_home.sql"),
    include_str!("../../migrations/0051_changes_that_a_call_made_itself.sql"),
    include_str!("../../migrations/0052_edited_drafts_say_why_they_wait.sql"),
    include_str!("../../migrations/0053_where_the_folders_of_the_home_were.sql"),
    include_str!("../../migrations/0054_when_a_program_lost_its_process.sql"),
    include_str!("../../migrations/0055_floods_are_counted_and_put_aside_as_one.sql"),
    include_str!("../../migrations/0056_which_tasks_the_owner_typed.sql"),
    include_str!("../../migrations/0057_accepted_content_is_known_while_programs_run.sql"),
    include_str!("../../migrations/0058_programs_and_changes_of_instructions_exclude_each_other.sql"),
    include_str!("../../migrations/0059_keys_of_messages_belong_to_their_conversation.sql"),
    include_str!("../../migrations/0060_what_is_known_of_strangers_memories.sql"),
    include_str!("../../migrations/0061_agents_are_counted_by_side.sql"),
    include_str!("../../migrations/0062_moments_are_kept_by_side.sql"),
    include_str!("../../migrations/0063_deliveries_say_which_draft_they_tell_of.sql"),
    include_str!("../../migrations/0064_what_the_owner_uses_is_counted_alone.sql"),
    include_str!("../../migrations/0065_planned_tasks_stay_on_their_side.sql"),
    include_str!("../../migrations/0066_when_somebody_said_something.sql"),
];

/// A file and how long to wait for it.
#[derive(Clone, Debug)]
pub(super) struct Database {
    pub(super) path: PathBuf,
    pub(super) busy_timeout: Duration,
}

impl Database {
    /// Opens the file for writing, or makes it, and brings its schema up to date.
    pub(super) fn create(&self) -> Result<Connection, StoreError> {
        make_private(&self.path)?;
        self.prepare().map_err(|failure| failure.into_error(&self.path))
    }

    /// Opens the file, whose schema is up to date, for reading.
    pub(super) fn reader(&self, busy_timeout: Duration) -> Result<Connection, StoreError> {
        let open = || {
            let connection = Connection::open(&self.path)?;
            connection.busy_timeout(busy_timeout)?;
            connection.pragma_update(None, "query_only", true)?;
            keep_statements(&connection)?;
            Ok(connection)
        };
        open().map_err(|error| classify(&error, &self.path))
    }

    fn prepare(&self) -> Result<Connection, super::failure::Failure> {
        let mut connection = Connection::open(&self.path)?;
        connection.busy_timeout(self.busy_timeout)?;
        // Before anything is changed: whose file it is, and of which version.
        self.version(&connection)?;
        if connection.is_readonly("main")? {
            return Err(StoreError::ReadOnly { path: self.path.clone() }.into());
        }
        write_ahead(&mut connection)?;
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        // What is free is written over: the journal of a turn goes at its end, before its conversation may be deleted for good.
        connection.pragma_update(None, "secure_delete", true)?;
        // What a savepoint remembers stays out of the file system.
        connection.pragma_update(None, "temp_store", "memory")?;
        connection.pragma_update(None, "journal_size_limit", 16 * 1024 * 1024)?;
        self.migrate(&mut connection)?;
        keep_statements(&connection)?;
        Ok(connection)
    }

    fn migrate(&self, connection: &mut Connection) -> Result<(), super::failure::Failure> {
        if self.version(connection)? == MIGRATIONS.len() {
            return Ok(());
        }
        let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have done it while this one waited for the lock.
        for migration in MIGRATIONS.iter().skip(self.version(&tx)?) {
            tx.execute_batch(migration)?;
        }
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        tx.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
        Ok(tx.commit()?)
    }

    /// The schema's version; 0 for an empty file.
    fn version(&self, connection: &Connection) -> Result<usize, super::failure::Failure> {
        let path = || self.path.clone();
        let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
        let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        if application != APPLICATION_ID && (application != 0 || found != 0 || tables != 0) {
            return Err(StoreError::Foreign { path: path() }.into());
        }
        let known = MIGRATIONS.len() as i64;
        match usize::try_from(found) {
            Ok(version) if found <= known => Ok(version),
            Ok(_) => Err(StoreError::Newer { path: path(), found, known }.into()),
            Err(_) => Err(StoreError::Corrupt { path: path(), detail: format!("schema version {found}") }.into()),
        }
    }
}

/// Switches to the write-ahead log. A process that makes the same new file holds it meanwhile, and SQLite does not wait
/// for that by itself: a transaction does.
fn write_ahead(connection: &mut Connection) -> rusqlite::Result<()> {
    for _ in 0..TRIES {
        match connection.pragma_update(None, "journal_mode", "wal") {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?.rollback()?;
            }
            switched => return switched,
        }
    }
    connection.pragma_update(None, "journal_mode", "wal")
}

/// How often the switch to the write-ahead log is tried while others make the same file.
const TRIES: u32 = 50;

/// Lets every statement be compiled once a connection: room for all of them, and plans that do not hang on the values
/// bound to them (else a statement on a table with a partial index is compiled anew each time that it runs).
fn keep_statements(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(256);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

/// Makes the file with mode 0600 in a folder of mode 0700; what is there already keeps its mode. SQLite
/// gives its side files the mode of the file.
pub(super) fn make_private(path: &Path) -> Result<(), StoreError> {
    let mut folders = fs::DirBuilder::new();
    folders.recursive(true);
    let mut file = fs::OpenOptions::new();
    file.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        folders.mode(0o700);
        file.mode(0o600);
    }
    let made = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folders.create(folder),
        _ => Ok(()),
    };
    #[expect(clippy::disallowed_methods, reason = "it is made here, and fails where something is")]
    let made = made.and_then(|()| file.open(path));
    match made {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_file() => Ok(()),
        Err(error) => Err(match error.kind() {
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => StoreError::ReadOnly { path: path.into() },
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreError::DiskFull { path: path.into() },
            _ => StoreError::Unreachable { path: path.into(), detail: error.to_string() },
        }),
    }
}

#[cfg(test)]
mod tests;
