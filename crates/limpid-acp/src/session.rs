//! One session: a conversation, the agent that works in it, and what it does at the moment.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::SessionId;
use agent_client_protocol::{Client, Error};
use limpid_core::{ConversationId, TurnId};
use limpid_prompt::shown::Drawn;
use limpid_runtime::{Agent, ChatRequest, ConversationChoice, Event, EventKind, OpenClient};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OnceCell, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::editor_server::EditorServer;
use crate::errors::of_agent;
use crate::known::{self, SessionRecord};
use crate::new_chat::NewChat;
use crate::plan;
use crate::updates::Streams;

/// One session.
pub(crate) struct Session {
    pub(crate) id: ConversationId,
    pub(crate) agent: Agent,
    pub(crate) connection: ConnectionTo<Client>,
    pub(crate) takes_notices: bool,
    /// The servers that the editor named.
    pub(crate) servers: Vec<EditorServer>,
    /// Folders that its tools may touch, without links.
    roots: Vec<PathBuf>,
    named: SessionRecord,
    new_chat: NewChat,
    /// Whether the conversation is in the store: one in which nothing was said is not.
    stored: OnceCell<()>,
    /// Prompts that are being answered, by what stops each.
    running: Mutex<Vec<CancellationToken>>,
    /// Ends when the prompt before has reached the agent.
    newest: Mutex<Option<oneshot::Receiver<()>>>,
    /// Turns whose answers were shown: several prompts may be answered by one.
    turns: Mutex<HashSet<TurnId>>,
    /// What the session has cost, in millionths of a dollar.
    cost: AtomicU64,
    title: Mutex<Drawn>,
    pub(crate) streams: Mutex<Streams>,
    pub(crate) tasks: TaskTracker,
    closed: CancellationToken,
    open: Mutex<Option<OpenClient>>,
}

impl Session {
    pub(crate) fn new(
        (id, is_stored): (ConversationId, bool),
        agent: Agent,
        connection: ConnectionTo<Client>,
        named: SessionRecord,
        (folders, servers): (Vec<PathBuf>, Vec<EditorServer>),
        (new_chat, takes_notices): (NewChat, bool),
    ) -> Self {
        let own = [agent.home().workspace(), agent.home().outside()];
        let roots = own.into_iter().map(|own| own.canonicalize().unwrap_or(own)).chain(folders).collect();
        Self {
            id,
            agent,
            connection,
            takes_notices,
            servers,
            roots,
            named,
            new_chat,
            stored: OnceCell::new_with(is_stored.then_some(())),
            running: Mutex::default(),
            newest: Mutex::default(),
            turns: Mutex::default(),
            cost: AtomicU64::new(0),
            title: Mutex::default(),
            streams: Mutex::default(),
            tasks: TaskTracker::new(),
            closed: CancellationToken::new(),
            open: Mutex::default(),
        }
    }

    /// The id that the editor knows it by.
    pub(crate) fn session_id(&self) -> SessionId {
        SessionId::new(self.id.as_str().to_owned())
    }

    /// Begins: what changes in the conversation is told from here on, and what was cut off in it is carried on.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub(crate) async fn begin(self: &Arc<Self>) -> Result<(), Error> {
        // Where it cannot be said that a client is open, what other processes deliver is read later.
        let open = self.agent.notifications().open_client().await.ok();
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = open;
        self.tasks.spawn(watch(Arc::clone(self), self.agent.subscribe()));
        if self.is_stored() {
            known::keep(&self.agent, &self.id, &self.named).await?;
            self.agent.conversations().wake(&self.id);
        }
        Ok(())
    }

    /// The conversation, or the next new one as long as nothing was said.
    pub(crate) fn choice(&self) -> ConversationChoice {
        if self.is_stored() { ConversationChoice::Id(self.id.clone()) } else { ConversationChoice::New }
    }

    /// Whether the conversation is in the store.
    pub(crate) fn is_stored(&self) -> bool {
        self.stored.initialized()
    }

    /// The conversation, made if it is not there.
    ///
    /// # Errors
    /// When profile, mode or model do not exist, or the store cannot be written.
    pub(crate) async fn conversation(&self) -> Result<ConversationChoice, Error> {
        self.stored.get_or_try_init(|| self.create()).await?;
        Ok(ConversationChoice::Id(self.id.clone()))
    }

    /// Makes the conversation. It can be repeated when a part of it has failed.
    async fn create(&self) -> Result<(), Error> {
        let NewChat { profile, mode, model, effort } = self.new_chat.clone();
        let profile = profile.unwrap_or_else(|| self.agent.config().agent.profile.clone());
        // Most often this fails, when no model is there, and then nothing is to be written.
        self.agent.models().choose(model.as_deref()).await.map_err(|error| of_agent(&error))?;
        let found = self.agent.store().conversation(&self.id).await.map_err(|error| of_agent(&error.into()))?;
        if found.is_none() {
            let made = self.agent.directory().create_chat_as(self.id.clone(), profile.clone(), None, None).await;
            made.map_err(|error| of_agent(&error))?;
        }
        known::keep(&self.agent, &self.id, &self.named).await?;
        let conversation = ConversationChoice::Id(self.id.clone());
        let request =
            ChatRequest { conversation, profile: Some(profile), mode, model, effort, ..ChatRequest::default() };
        self.agent.conversations().conversation_for(&request).await.map_err(|error| of_agent(&error))?;
        Ok(())
    }

    /// What a new conversation begins with.
    pub(crate) fn new_chat(&self) -> &NewChat {
        &self.new_chat
    }

    /// A prompt begins; what is returned is cancelled when it is to stop. Cancels that come from here on stop it.
    pub(crate) fn start(&self) -> CancellationToken {
        let stop = self.closed.child_token();
        let mut running = self.running();
        running.retain(|other| !other.is_cancelled());
        running.push(stop.clone());
        stop
    }

    /// A place in the order of prompts: what ends when those before have reached the agent, and what is dropped when this one has.
    pub(crate) fn queue(&self) -> (Option<oneshot::Receiver<()>>, oneshot::Sender<()>) {
        let (done, after) = oneshot::channel();
        let before = self.newest.lock().unwrap_or_else(PoisonError::into_inner).replace(after);
        (before, done)
    }

    /// Cancelled when the session is closed.
    pub(crate) fn closed(&self) -> &CancellationToken {
        &self.closed
    }

    /// Whether it is answering nothing.
    pub(crate) fn is_idle(&self) -> bool {
        self.running().iter().all(CancellationToken::is_cancelled)
    }

    /// Stops every prompt.
    pub(crate) fn cancel(&self) {
        for stop in std::mem::take(&mut *self.running()) {
            stop.cancel();
        }
    }

    /// Whether the answer of a turn is still to be shown. It is so once.
    pub(crate) fn shows(&self, turn: &TurnId) -> bool {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner).insert(turn.clone())
    }

    /// Adds to what the session has cost, and returns all of it.
    pub(crate) fn spend(&self, micro_usd: u64) -> u64 {
        self.cost.fetch_add(micro_usd, Ordering::Relaxed) + micro_usd
    }

    /// Whether the editor is gone.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.connection.is_incoming_closed() || self.connection.termination().is_some()
    }

    /// Whether a place is in a folder that the session's tools may touch.
    pub(crate) fn holds(&self, place: &Path) -> bool {
        self.roots.iter().any(|root| place.starts_with(root))
    }

    /// Stops what goes on and waits for its end. Its servers end.
    pub(crate) async fn close(&self) {
        self.closed.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        if self.is_stored() {
            self.agent.conversations().cancel(&self.id);
            self.agent.conversations().wait_idle(&self.id).await;
        }
        self.agent.mcp().close().await;
        self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Tells the title when it is another.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(crate) async fn tell_title(&self) -> Result<(), Error> {
        let found = self.agent.directory().existing(&self.id).await.map_err(|error| of_agent(&error))?;
        let title = Drawn::line(&found.title);
        {
            let mut told = self.title.lock().unwrap_or_else(PoisonError::into_inner);
            if *told == title {
                return Ok(());
            }
            told.clone_from(&title);
        }
        let updated = known::moment(found.updated_ms);
        self.titled(title, updated);
        Ok(())
    }

    fn running(&self) -> MutexGuard<'_, Vec<CancellationToken>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells what changes in the conversation besides its turns.
async fn watch(session: Arc<Session>, mut changes: Receiver<Event>) {
    loop {
        let change = tokio::select! {
            () = session.closed.cancelled() => return,
            change = changes.recv() => change,
        };
        let event = match change {
            Ok(event) => event,
            // Whoever was too slow goes on with what there is.
            Err(RecvError::Lagged(_)) => {
                session.tell_current_mode().await;
                session.tell_standing().await;
                continue;
            }
            Err(RecvError::Closed) => return,
        };
        if event.conversation.as_ref() != Some(&session.id) {
            continue;
        }
        match event.change {
            EventKind::ModeChanged { to, .. } => session.tell_mode(&to).await,
            EventKind::GoalUpdated { .. } => plan::tell(&session).await,
            EventKind::ActiveSkillsUpdated(_) => session.tell_commands().await,
            EventKind::Delivered { origin, text, delivery, .. } => {
                session.answer(&format!("[{origin}] {}\n", text.trim()));
                // It is told again where that cannot be written down.
                let _ = session.agent.deliveries().mark_delivery_read(delivery).await;
            }
            EventKind::CompactionFailed { again: false, reason } => {
                session.notice(&format!("The conversation was not compacted: {reason}"));
            }
            _ => {}
        }
    }
}
