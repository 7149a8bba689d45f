//! What came in: how it is handed in, listed and put aside.

mod payload;
mod share;
mod token;
mod tools;

use std::sync::Arc;

use limpid_config::{Config, Environment, Home, Live, Redactor};
use limpid_core::inbox::Source;
use limpid_store::{Admission, InboxItem, Inserted, ItemFilter, ItemId, Listed, NewItem, Store};

pub use crate::inbox::payload::{HandedIn, MAX_BODY, Malformed};
use crate::inbox::share::{Writers, of_a_day};
pub use crate::inbox::token::TOKEN_VARIABLE;
pub(crate) use crate::inbox::tools::{fitting, list_room};
pub use crate::inbox::tools::{shown_id, tools};

use crate::error::AgentError;
use crate::events::{EventBus, EventKind};
use crate::host::Host;
use crate::timers::SchedulerWaker;

/// What somebody hands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IngestKind {
    /// A mail.
    Mail,
    /// A text message.
    Sms,
    /// A notification of a phone or a desktop.
    Notification,
    /// What a program of the owner's has to say; it is kept as a notification.
    Custom,
}

impl IngestKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Mail, Self::Sms, Self::Notification, Self::Custom];

    /// The kind's name, as it stands in an address.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mail => "mail",
            Self::Sms => "sms",
            Self::Notification => "notification",
            Self::Custom => "custom",
        }
    }

    /// Reads a kind's name; nothing else is accepted.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// The source that it is kept as.
    pub const fn source(self) -> Source {
        match self {
            Self::Mail => Source::Mail,
            Self::Sms => Source::Sms,
            Self::Notification | Self::Custom => Source::Notification,
        }
    }

    /// The switch that lets it in, as it stands in `[inbox]` of limpid.toml.
    const fn switch(self) -> &'static str {
        match self.source() {
            Source::Mail => "mail",
            Source::Sms => "sms",
            Source::Notification => "notifications",
        }
    }
}

/// Why nothing was kept of what was handed in.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// Its source is off.
    #[error("this source is off; set `{0} = true` under [inbox] in limpid.toml")]
    Off(&'static str),
    /// It is not what can be kept.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// Its sender has handed in as much as is kept of one in a day, or all senders of its source have.
    #[error(
        "this sender has handed in as much as is kept of one in a day; it may go on in {seconds} s (`items_a_day` under [inbox])"
    )]
    Full {
        /// Seconds until it may go on.
        seconds: u64,
    },
    /// The store could not keep it.
    #[error(transparent)]
    Agent(#[from] AgentError),
}

/// What an inbox is made from.
pub struct InboxOptions {
    /// The folder with the token of whoever hands something in.
    pub home: Home,
    /// Where the token may be instead.
    pub environment: Environment,
    /// Which sources are on.
    pub config: Live<Config>,
    /// Clock and randomness.
    pub host: Host,
    /// Where items are kept.
    pub store: Arc<dyn Store>,
    /// Takes secrets out of what is kept.
    pub redactor: Redactor,
    /// Where it is told what came in.
    pub events: EventBus,
    /// Whoever serves looks again when there is another token.
    pub waker: Arc<SchedulerWaker>,
}

/// What came in: mail, text messages and notifications.
#[derive(Clone)]
pub struct Inbox {
    home: Home,
    environment: Environment,
    config: Live<Config>,
    host: Host,
    store: Arc<dyn Store>,
    redactor: Redactor,
    events: EventBus,
    waker: Arc<SchedulerWaker>,
    writers: Arc<Writers>,
}

impl Inbox {
    /// The items of a store. From here on no text repeats the token that is kept in the home.
    pub fn new(options: InboxOptions) -> Self {
        let InboxOptions { home, environment, config, host, store, redactor, events, waker } = options;
        let writers = Arc::new(Writers::new());
        let inbox = Self { home, environment, config, host, store, redactor, events, waker, writers };
        inbox.learn_token();
        inbox
    }

    /// Keeps what somebody hands in: a JSON object; `key` is what the sender knows it by, when the object has none. The
    /// same key of a kind is kept once.
    ///
    /// # Errors
    /// When the source is off, the object cannot be read or has no text, or the store cannot be written. Then nothing
    /// is kept.
    pub async fn ingest(&self, kind: IngestKind, body: &[u8], key: Option<&str>) -> Result<Inserted, IngestError> {
        let config = &self.config.inbox;
        let on = match kind.source() {
            Source::Mail => config.mail,
            Source::Sms => config.sms,
            Source::Notification => config.notifications,
        };
        if !on {
            return Err(IngestError::Off(kind.switch()));
        }
        let mut handed = HandedIn::read(kind, body)?;
        handed.key = handed.key.or_else(|| key.map(str::to_owned));
        let clean = |text: String| self.redactor.clean(text);
        let now_ms = self.host.now_ms();
        let new = NewItem {
            source: kind.source(),
            account: handed.account,
            // A program's keys are its own, and mean nothing beside those of a phone.
            key: handed.key.map(|key| format!("{}:{key}", kind.as_str())),
            uid: None,
            message_id: None,
            sender: clean(handed.from),
            title: clean(handed.title),
            text: clean(handed.text),
            posted_ms: handed.at_ms.unwrap_or(now_ms),
            now_ms,
        };
        // Nobody closes it.
        let _turn = self.writers.of(kind.source()).acquire().await.ok();
        let share = of_a_day(config.items_a_day);
        let inserted = match self.store.hand_in(new, body.len() as u64, share).await.map_err(AgentError::from)? {
            Admission::Kept(inserted) => inserted,
            Admission::Full { until_ms } => {
                let left_ms = u64::try_from(until_ms.saturating_sub(now_ms)).unwrap_or_default();
                return Err(IngestError::Full { seconds: left_ms.div_ceil(1000) });
            }
        };
        if inserted.fresh {
            let source = kind.source().to_string();
            self.events.send(None, EventKind::ItemArrived { source, id: inserted.id.0 });
        }
        Ok(inserted)
    }

    /// What came in, newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn list(&self, filter: ItemFilter) -> Result<Listed<InboxItem>, AgentError> {
        Ok(self.store.items(filter).await?)
    }

    /// What of a source waits for a heartbeat, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn waiting(&self, source: Source) -> Result<Listed<InboxItem>, AgentError> {
        Ok(self.store.pending(source).await?)
    }

    /// One item that came in.
    ///
    /// # Errors
    /// When there is none of that number, or the store cannot be read.
    pub async fn item(&self, id: ItemId) -> Result<InboxItem, AgentError> {
        let item = self.store.item(id).await?;
        item.ok_or_else(|| AgentError::NotFound {
            what: "item",
            name: id.0.to_string(),
            advice: "`limpid inbox list --all` lists them".to_owned(),
        })
    }

    /// Puts items aside: nothing shows them as new again. Says how many were new.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn done(&self, ids: &[ItemId]) -> Result<usize, AgentError> {
        Ok(self.store.mark_shown(ids, self.host.now_ms()).await?)
    }
}
