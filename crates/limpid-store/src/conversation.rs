//! Conversations, their messages, what was accepted for them, and who may write to them.

use async_trait::async_trait;
use limpid_core::{ConversationId, Effort, Message, MessageId, RequestId, Trust, TurnId};

use crate::StoreError;
use crate::inbound::{Accepted, Inbound, InboundId, NewInbound, TypedOrCalled};
use crate::lease::{Acquired, Fence, Lease};

/// Conversations, messages, accepted input and leases.
#[async_trait]
pub trait Conversations: Send + Sync {
    /// Makes a conversation.
    ///
    /// # Errors
    /// [`StoreError::Exists`] when its id is taken.
    async fn create_conversation(&self, new: NewConversation) -> Result<Conversation, StoreError>;

    /// One conversation, or none of that id.
    async fn conversation(&self, id: &ConversationId) -> Result<Option<Conversation>, StoreError>;

    /// The conversation of a kind in which somebody said something last, or which was made last where nobody did, that is not archived and
    /// only the owner reads: whoever writes where others read too does not decide where the owner's next line goes, and neither does an
    /// answer or the end of an agent. Of equals, the one that was made last.
    async fn last_conversation(&self, kind: ConversationKind) -> Result<Option<Conversation>, StoreError>;

    /// The conversations that were written to last, newest first; single runs ([`ConversationKind::Run`]) and those in the archive are
    /// left out.
    async fn conversations(&self, limit: u32) -> Result<Listed<Conversation>, StoreError>;

    /// The archived conversations that were written to last, newest first.
    async fn archived_conversations(&self, limit: u32) -> Result<Listed<Conversation>, StoreError>;

    /// The conversations that people read, archived ones too, in whose title all of these words are, or in one message of which: the
    /// newest such message to which no stranger's text led, else the newest. Those written to last come first.
    async fn find_conversations(&self, words: &[String], limit: u32) -> Result<Listed<FoundConversation>, StoreError>;

    /// Changes settings of a conversation, all or none.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such conversation, or it has no such turn.
    async fn change_conversation(
        &self,
        id: &ConversationId,
        changes: Vec<ConversationChange>,
        now_ms: i64,
    ) -> Result<Conversation, StoreError>;

    /// Deletes a conversation for good, with its messages, the texts of its requests, its drafts, deliveries, goals and agents. What its
    /// requests cost stays, and so do memories, files and tasks, each with its own label; the results of its tasks go where those of
    /// others do.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such conversation, or it is a single run; [`StoreError::Invalid`] while a turn, an agent,
    /// a draft or a task is at work in it.
    async fn delete_conversation(&self, id: &ConversationId, now_ms: i64) -> Result<(), StoreError>;

    /// The messages after `after` (all without it), oldest first. Every call among them has its result: where a broken
    /// record took one of the two away, the other is left out with it and listed as broken.
    async fn messages(
        &self,
        id: &ConversationId,
        after: Option<MessageId>,
    ) -> Result<Listed<StoredMessage>, StoreError>;

    /// The label of the least trusted message of a conversation up to one, that one included.
    async fn trust_until(&self, id: &ConversationId, last: MessageId) -> Result<Trust, StoreError>;

    /// Whether this tool had this very result in a conversation, in Limpid's own words. A server may say the same.
    async fn has_own_result(&self, id: &ConversationId, tool: &str, result: &str) -> Result<bool, StoreError>;

    /// How often each tool was called in the newest messages of all conversations that no stranger's text led to, by name.
    async fn tool_uses(&self, newest: u32) -> Result<Vec<(String, u64)>, StoreError>;

    /// Keeps a message that arrived, before anything is done about it. A message whose `key` was accepted
    /// before in its conversation is returned as it was then, and is not fresh.
    async fn accept(&self, new: NewInbound) -> Result<Accepted, StoreError>;

    /// Keeps a message and what was handed in with it, which stands before it: both or neither. Nothing is handed in with a message
    /// that was accepted before.
    async fn accept_with(
        &self,
        handed_in: NewInbound,
        new: NewInbound,
    ) -> Result<(Option<Accepted>, Accepted), StoreError>;

    /// The newest conversation that a message of this key and text began, with this and nothing else handed in: the one that is meant
    /// when a message that began a conversation is delivered again. One that was accepted before `since_ms`, in milliseconds since 1970, is
    /// another one: apps number their messages anew.
    async fn begun_by(
        &self,
        key: &str,
        text: &str,
        handed_in: Option<&str>,
        since_ms: i64,
    ) -> Result<Option<ConversationId>, StoreError>;

    /// An accepted message as it is now, with the turn that took it.
    async fn accepted(&self, id: InboundId) -> Result<Option<Inbound>, StoreError>;

    /// Accepted messages that no turn has taken yet, oldest first.
    async fn waiting(&self, id: &ConversationId) -> Result<Listed<Inbound>, StoreError>;

    /// Takes a message back that no turn has taken, with what was handed in with it: nobody answers these. Says whether it still waited. What an agent said stays.
    async fn take_back(&self, conversation: &ConversationId, id: InboundId) -> Result<bool, StoreError>;

    /// What the owner typed in a conversation at a client of theirs, as it was typed, oldest first.
    async fn typed(&self, id: &ConversationId) -> Result<Vec<String>, StoreError>;

    /// The same, without what was taken out of the conversation, beside the calls of the model's messages, whether they ran or not, in
    /// the order in which they stand in it; what waits comes last. Calls that cannot be read count for nothing.
    async fn typed_and_called(&self, id: &ConversationId) -> Result<Vec<TypedOrCalled>, StoreError>;

    /// The conversations that people read in which accepted messages wait for a turn.
    async fn conversations_that_wait(&self) -> Result<Vec<ConversationId>, StoreError>;

    /// Takes the right to write to a conversation until `now_ms + ttl_ms`. A lease that has run out may be
    /// taken by anyone; a live one by nobody, its holder included.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] when there is no such conversation.
    async fn acquire(
        &self,
        id: &ConversationId,
        holder: &str,
        now_ms: i64,
        ttl_ms: i64,
    ) -> Result<Acquired, StoreError>;

    /// Moves the end of a lease to `now_ms + ttl_ms`.
    ///
    /// # Errors
    /// [`StoreError::StaleFence`] when somebody else has the conversation, or the lease was released.
    async fn renew(&self, lease: &Lease, now_ms: i64, ttl_ms: i64) -> Result<Lease, StoreError>;

    /// Gives a lease back; one that somebody else has taken over is left alone. Also breaks the lease of a holder that
    /// is known to be dead, with the fence that [`Acquired::Busy`] shows.
    async fn release(&self, id: &ConversationId, fence: Fence) -> Result<(), StoreError>;

    /// The newest lease of a conversation, even if it has run out; none when nobody holds it.
    async fn lease(&self, id: &ConversationId) -> Result<Option<Lease>, StoreError>;
}

/// Rows that were read, and rows that could not be: a broken record costs that record only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<T> {
    /// What could be read.
    pub rows: Vec<T>,
    /// What could not.
    pub broken: Vec<Broken>,
}

/// A record that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The table that it stands in.
    pub table: &'static str,
    /// Its key in that table.
    pub id: String,
    /// What is wrong with it.
    pub reason: String,
}

/// What a conversation is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ConversationKind {
    /// A person talks with the agent.
    #[default]
    Chat,
    /// The same, where each answer is a screen that takes the place of the one before.
    Interactive,
    /// Reports of the heartbeat.
    Heartbeat,
    /// The runs of a task.
    Task,
    /// One run that nobody waits for; it is in no list, and read by its id.
    Run,
}

impl ConversationKind {
    /// The kind's name, as it is stored and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Interactive => "interactive",
            Self::Heartbeat => "heartbeat",
            Self::Task => "task",
            Self::Run => "run",
        }
    }

    /// What a list shows beside conversations of this kind.
    pub const fn badge(self) -> &'static str {
        match self {
            Self::Chat => "",
            Self::Interactive => "Interactive",
            Self::Heartbeat => "Heartbeat",
            Self::Task => "Task",
            Self::Run => "Run",
        }
    }

    /// Reads a kind's name.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Chat, Self::Interactive, Self::Heartbeat, Self::Task, Self::Run]
            .into_iter()
            .find(|kind| kind.as_str() == word)
    }
}

/// Who reads a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Audience {
    /// The owner alone.
    Owner,
    /// Others too: nothing that is remembered of the owner may be shown there.
    Group,
    /// Anybody: answers leave for whoever asks, so there is nothing of the owner's in it, and nothing that looks at what is theirs.
    Strangers,
}

impl Audience {
    /// The audience's name, as it is stored and shown; who opens a conversation to strangers stands beside it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Group | Self::Strangers => "group",
        }
    }

    /// Reads an audience's name. Anything but the owner's is a group: what cannot be read must not open the memories.
    pub fn read(word: &str) -> Self {
        if word == Self::Owner.as_str() { Self::Owner } else { Self::Group }
    }
}

impl Conversation {
    /// What a list says of what it is for, or of who reads it; empty for an ordinary chat of the owner's.
    pub const fn badge(&self) -> &'static str {
        match self.audience {
            Audience::Owner => self.kind.badge(),
            Audience::Group => "Group",
            Audience::Strangers => "Program",
        }
    }
}

/// A conversation to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewConversation {
    /// Its id, drawn by the caller.
    pub id: ConversationId,
    /// What it is for.
    pub kind: ConversationKind,
    /// Its title; empty until it has one.
    pub title: String,
    /// The profile whose prompts it uses.
    pub profile: String,
    /// The mode that is on.
    pub mode: Option<String>,
    /// The model as `provider/id`; absent: the one that is set for all.
    pub model: Option<String>,
    /// Who reads it.
    pub audience: Audience,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}

/// One conversation as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// Its id.
    pub id: ConversationId,
    /// What it is for.
    pub kind: ConversationKind,
    /// Its title; empty until it has one.
    pub title: String,
    /// The profile whose prompts it uses.
    pub profile: String,
    /// The mode that is on.
    pub mode: Option<String>,
    /// The model as `provider/id`; absent: the one that is set for all.
    pub model: Option<String>,
    /// Who reads it.
    pub audience: Audience,
    /// The window in tokens that the person chose; absent: the model's own.
    pub window_tokens: Option<u32>,
    /// How much its models are to reason; absent: as settings say.
    pub effort: Option<Effort>,
    /// What the runtime keeps from one turn to the next, in a form of its own. Losing it costs a new prefix only.
    pub session: Option<String>,
    /// Messages in it.
    pub messages: u64,
    /// Deliveries in it that the owner has not seen.
    pub unread: u64,
    /// Whether it was put away. A message or a delivery that comes later brings it back.
    pub is_archived: bool,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: i64,
    /// When it was written to last, in milliseconds since 1970.
    pub updated_ms: i64,
}

/// A conversation that a search has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundConversation {
    /// The conversation.
    pub conversation: Conversation,
    /// The newest message in which all words are; absent: they are in the title alone.
    pub message: Option<StoredMessage>,
}

/// One changed setting of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConversationChange {
    /// A title.
    Title(String),
    /// Whether it is in the archive.
    Archived(bool),
    /// A profile.
    Profile(String),
    /// A mode, or none.
    Mode(Option<String>),
    /// A model, or the one that is set for all.
    Model(Option<String>),
    /// Who reads it.
    Audience(Audience),
    /// The window in tokens that the person chose, or the model's own.
    Window(Option<u32>),
    /// How much its models are to reason, or what settings say.
    Effort(Option<Effort>),
    /// A turn is taken out of what is sent. It stays stored; see [`Turns::hidden_turns`](crate::Turns::hidden_turns).
    Hide(TurnId),
    /// A turn that was taken out is put back.
    Unhide(TurnId),
    /// What the runtime keeps; see [`Conversation::session`].
    Session(Option<String>),
}

/// A message to be appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMessage {
    /// The message; its text is as it was sent.
    pub message: Message,
    /// The text as the person typed it, where that differs from what was sent.
    pub typed: Option<String>,
    /// The accepted message that this is, which is thereby answered for.
    pub inbound: Option<InboundId>,
    /// The request whose reply this is.
    pub request: Option<RequestId>,
}

impl NewMessage {
    /// A message with nothing known but itself.
    pub fn new(message: Message) -> Self {
        Self { message, typed: None, inbound: None, request: None }
    }
}

/// One stored message; never changed, and deleted with its conversation alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMessage {
    /// Its number, which grows along the conversation.
    pub id: MessageId,
    /// The turn that wrote it.
    pub turn: TurnId,
    /// The message; its text is as it was sent.
    pub message: Message,
    /// The text as the person typed it, where that differs from what was sent.
    pub typed: Option<String>,
    /// The request whose reply this is.
    pub request: Option<RequestId>,
    /// When it was stored, in milliseconds since 1970.
    pub at_ms: i64,
}
