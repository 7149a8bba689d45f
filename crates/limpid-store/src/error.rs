//! What can go wrong in a store: each error says what it is and what to do.

use std::path::PathBuf;

use limpid_core::{CallId, ConversationId};

/// What to look at after an older database, or none, took the place of the newest: what waits for the owner is known by that alone.
pub const WAITING_COUNTS_AS_YOURS: &str =
    "files that waited for you to accept them count as yours then, so look through AGENTS.md, memory and skills first";

/// An error of a store.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// Another program keeps the database to itself.
    #[error("{}: another program has locked the database; end it or try again in a moment", .path.display())]
    Locked {
        /// The database.
        path: PathBuf,
    },
    /// The file is damaged, or no database.
    #[error(
        "{}: the database is damaged ({detail}); restore a backup over it, or move the file away to start an \
         empty one; {}",
        .path.display(), WAITING_COUNTS_AS_YOURS
    )]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// What SQLite says about it.
        detail: String,
    },
    /// The file is a database of some other program.
    #[error("{}: this is the database of another program; name another file", .path.display())]
    Foreign {
        /// The database.
        path: PathBuf,
    },
    /// A later version of the program has written the database.
    #[error(
        "{}: a newer version of Limpid has written the database (schema {found}, this version knows {known}); \
         update Limpid, or restore a backup from before the update; {}",
        .path.display(), WAITING_COUNTS_AS_YOURS
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its schema's version.
        found: i64,
        /// The version that this program knows.
        known: i64,
    },
    /// The disk or the file cannot be written.
    #[error("{}: the database cannot be written; check the file's owner and permissions and that its disk is not \
             mounted read-only", .path.display())]
    ReadOnly {
        /// The database.
        path: PathBuf,
    },
    /// The disk is full.
    #[error("{}: the disk is full, so nothing was written; make room and try again", .path.display())]
    DiskFull {
        /// The database.
        path: PathBuf,
    },
    /// The disk failed while it was read or written.
    #[error("{}: the disk failed ({detail}), so nothing was written; check the disk and try again", .path.display())]
    Disk {
        /// The database.
        path: PathBuf,
        /// What SQLite says about it.
        detail: String,
    },
    /// The file or its folder cannot be reached.
    #[error("{}: the database cannot be opened ({detail}); check that the folder exists and belongs to you", .path.display())]
    Unreachable {
        /// The database.
        path: PathBuf,
        /// What the system says about it.
        detail: String,
    },
    /// Somebody else has taken over the conversation since.
    #[error("conversation {conversation} was taken over by another process, so nothing was written; read it again")]
    StaleFence {
        /// The conversation.
        conversation: ConversationId,
    },
    /// Messages were refused because calls and results are not in pairs.
    #[error(
        "call {call} has no result, no call, or an id that this conversation has had; write calls with their results"
    )]
    Unpaired {
        /// The call.
        call: CallId,
    },
    /// There is no such record.
    #[error("there is no {what} {id}")]
    NotFound {
        /// What kind of record.
        what: &'static str,
        /// Its name.
        id: String,
    },
    /// What was to be put into a conversation would leave with its answers.
    #[error(
        "answers in conversation {conversation} go to whoever asks a program of yours, so nothing else is put into it; \
         name another conversation"
    )]
    ForStrangers {
        /// The conversation.
        conversation: ConversationId,
    },
    /// There is such a record already.
    #[error("there is a {what} {id} already")]
    Exists {
        /// What kind of record.
        what: &'static str,
        /// Its name.
        id: String,
    },
    /// Somebody else wrote in between.
    #[error("the {what} has grown since it was read, so nothing was written; read it again")]
    Conflict {
        /// What was read before.
        what: &'static str,
    },
    /// What was to be written contradicts itself or what is stored.
    #[error("{0}")]
    Invalid(String),
    /// One record cannot be read.
    #[error("{what} {id} cannot be read ({reason}); everything else can")]
    Broken {
        /// What kind of record.
        what: &'static str,
        /// Its name.
        id: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The store was closed while the operation waited.
    #[error("the store was closed before this was done")]
    Closed,
    /// Something else that the database says.
    #[error("{}: the database refused the operation ({detail}); this is a defect, please report it", .path.display())]
    Database {
        /// The database.
        path: PathBuf,
        /// What it says.
        detail: String,
    },
}
