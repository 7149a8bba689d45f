//! Mail, text messages and notifications that came in, and the mail accounts that are read.

use async_trait::async_trait;
use limpid_core::inbox::Source;
use limpid_core::mail::Mark;
use limpid_core::{ConversationId, TurnId};

use crate::{Listed, StoreError};

/// What came in. An item is kept as it came; what changes is whether it waits and whether it was shown.
#[async_trait]
pub trait Inbox: Send + Sync {
    /// Keeps items, all or none. One whose key or number in its account is known is not kept again. Of each
    /// source the newest [`QUEUE`](limpid_core::inbox::QUEUE) wait; older ones stop waiting and stay.
    async fn insert_items(&self, new: Vec<NewItem>) -> Result<Vec<Inserted>, StoreError>;

    /// Keeps an item that was handed in as so many bytes, while its sender has room: of what a source takes in 24 hours
    /// by this method, a sender may use half of what the others leave. One that is known is not kept again and needs no
    /// room.
    async fn hand_in(&self, new: NewItem, bytes: u64, share: DayShare) -> Result<Admission, StoreError>;

    /// Items of a source that wait for a heartbeat, oldest first: kept, not dropped, never shown.
    async fn pending(&self, source: Source) -> Result<Listed<InboxItem>, StoreError>;

    /// Items, newest first.
    async fn items(&self, filter: ItemFilter) -> Result<Listed<InboxItem>, StoreError>;

    /// One item, or none of that number.
    async fn item(&self, id: ItemId) -> Result<Option<InboxItem>, StoreError>;

    /// Says that somebody has seen these items: no list of new ones and no heartbeat shows them again.
    /// Unknown numbers are passed over. Returns how many had not been shown before.
    async fn mark_shown(&self, ids: &[ItemId], now_ms: i64) -> Result<usize, StoreError>;

    /// Items that turns of a conversation have shown to the model and that no end of a run has settled yet
    /// ([`TurnWrite::Shown`](crate::TurnWrite::Shown)), by number.
    async fn shown_items(&self, conversation: &ConversationId) -> Result<Vec<ItemId>, StoreError>;

    /// Items that stopped waiting since newer ones came, that nobody has been shown and that no heartbeat has put aside
    /// ([`HeartbeatEnd::dropped`](crate::HeartbeatEnd::dropped)), of each source that has some.
    async fn dropped_items(&self) -> Result<Vec<DroppedItems>, StoreError>;

    /// Says that a heartbeat has taken these items in: they are shown, and the watermarks of their accounts rise to the
    /// highest number among them.
    async fn consume(&self, ids: &[ItemId], now_ms: i64) -> Result<(), StoreError>;
}

/// The mail accounts that are read, and how far.
#[async_trait]
pub trait MailAccounts: Send + Sync {
    /// The accounts, by address.
    async fn mail_accounts(&self) -> Result<Listed<MailAccount>, StoreError>;

    /// Adds an account; one that is there stays as it is.
    async fn add_mail_account(&self, address: &str) -> Result<MailAccount, StoreError>;

    /// Takes an account out; what came from it stays. Returns whether it was there.
    async fn remove_mail_account(&self, address: &str) -> Result<bool, StoreError>;

    /// Writes down a poll and keeps what it found, all or nothing. With a new validity the watermark begins at 0.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such account.
    async fn record_poll(&self, address: &str, poll: Poll, found: Vec<NewItem>) -> Result<Vec<Inserted>, StoreError>;

    /// Those of these Message-IDs that items of the account have.
    async fn known_message_ids(&self, address: &str, ids: Vec<String>) -> Result<Vec<String>, StoreError>;
}

/// The number of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemId(pub i64);

/// The number of a message in a mail account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MailUid {
    /// The account's UIDVALIDITY: numbers mean something only beside it.
    pub validity: u32,
    /// The UID.
    pub uid: u32,
}

/// Something that came in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewItem {
    /// Where it came from.
    pub source: Source,
    /// The account that it came to; empty where there is only one.
    pub account: String,
    /// Whoever handed it in knows it by this key; the same key of a source and account is the same item.
    pub key: Option<String>,
    /// Its number in the account.
    pub uid: Option<MailUid>,
    /// Its Message-ID.
    pub message_id: Option<String>,
    /// Who sent it, by their own word; of a notification, the program that posted it.
    pub sender: String,
    /// Its subject or title.
    pub title: String,
    /// What it says; of mail that stands on a server, how it begins.
    pub text: String,
    /// When it was sent or posted, in milliseconds since 1970.
    pub posted_ms: i64,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}

/// What became of an item that was to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inserted {
    /// Its number.
    pub id: ItemId,
    /// Whether it was not there before.
    pub fresh: bool,
}

/// What is kept within 24 hours of all that is handed in for a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayShare {
    /// Items.
    pub items: u32,
    /// Bytes that they were handed in as.
    pub bytes: u64,
}

/// What became of an item that was handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is kept, or was before.
    Kept(Inserted),
    /// It is not: its sender has no room.
    Full {
        /// When there may be some again, in milliseconds since 1970.
        until_ms: i64,
    },
}

/// Items of a source that were too many to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DroppedItems {
    /// Their source.
    pub source: Source,
    /// How many they are.
    pub count: u32,
    /// The newest of them: whatever waits is newer.
    pub newest: ItemId,
}

/// An item as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxItem {
    /// Its number.
    pub id: ItemId,
    /// What it is.
    pub new: NewItem,
    /// Whether it waits for a heartbeat.
    pub waits: bool,
    /// When somebody first saw it, in milliseconds since 1970.
    pub shown_ms: Option<i64>,
    /// When a heartbeat took it in, in milliseconds since 1970.
    pub consumed_ms: Option<i64>,
}

/// Which items are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ItemFilter {
    /// Of one source.
    pub source: Option<Source>,
    /// Of one account.
    pub account: Option<String>,
    /// Only those that their server knows by one of these numbers. None: whatever their number.
    pub uids: Vec<u32>,
    /// Only those that nobody has seen.
    pub unseen: bool,
    /// Only those that this turn has not shown to the model yet.
    pub not_shown_in: Option<TurnId>,
    /// Only those whose sender, title or text has all words of this query; a query without words finds nothing.
    pub query: Option<String>,
    /// Only those sent or posted at this time or later, in milliseconds since 1970.
    pub since_ms: Option<i64>,
    /// At most so many, the newest. 0: all.
    pub limit: usize,
}

/// A mail account that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailAccount {
    /// Its address.
    pub address: String,
    /// How far it was polled; none before the first poll.
    pub mark: Option<Mark>,
    /// The highest UID that a heartbeat took in; 0 for none.
    pub watermark: u32,
    /// Unread messages on the server.
    pub unread: u32,
    /// When it was polled last, with or without success, in milliseconds since 1970.
    pub attempted_ms: Option<i64>,
    /// When it was last polled with success, in milliseconds since 1970.
    pub synced_ms: Option<i64>,
    /// Why the last poll failed; none when it did not.
    pub last_error: Option<String>,
}

/// One poll of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Poll {
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// What came of it.
    pub outcome: PollOutcome,
}

/// What came of a poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PollOutcome {
    /// It was read up to here.
    Read {
        /// From where the next poll goes on.
        mark: Mark,
        /// Unread messages on the server.
        unread: u32,
    },
    /// It failed, and why.
    Failed(String),
}
