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
