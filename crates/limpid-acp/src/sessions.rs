//! The sessions that an editor has open.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::SessionId;
use agent_client_protocol::{Client, Error};
use limpid_core::ConversationId;
use limpid_runtime::{Agent, AgentOptions};

use crate::editor_server::forget_unused;
use crate::errors::{failed, of_agent, refused};
use crate::grants::{Granted, Named, grant};
use crate::known::{self, SessionRecord};
use crate::new_chat::NewChat;
use crate::servers;
use crate::session::Session;
use crate::waiting::{self, Waiting};

/// How long work may take to end once the editor is gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sessions that are held open. Each has an agent of its own; of more, the one that was used the longest ago is opened again when it
/// is used.
const HELD: usize = 16;

/// What sessions are made from.
pub struct Host {
    /// The agent whose store and models every session uses. It runs no turns.
    pub agent: Agent,
    /// What the agent of a session is opened with; `config`, `store` and `models` are those of the session.
    pub options: AgentOptions,
    /// The name of the program, as editors show it.
    pub program: &'static str,
    /// What a new conversation begins with.
    pub new_chat: NewChat,
}

/// The sessions that an editor has open.
pub(crate) struct Sessions {
    pub(crate) host: Host,
    open: Mutex<HashMap<SessionId, Held>>,
    /// Sessions that the editor has open and that are not held.
    parked: Mutex<HashMap<SessionId, Parked>>,
    /// Prompts for those that are opened again.
    pub(crate) waiting: Waiting,
    /// Held while a session is opened again, so that it is opened once.
    reopening: tokio::sync::Mutex<()>,
    /// How often a session was used: the larger number is the later use.
    uses: AtomicU64,
    takes_notices: AtomicBool,
    is_ended: AtomicBool,
}

/// A session that is held open.
struct Held {
    session: Arc<Session>,
    named: Named,
    /// The folders that were granted by that, without links.
    folders: Vec<PathBuf>,
    used: u64,
    /// The change of the owner's settings that the session goes by.
    settings: u64,
}

/// What opens a session again.
#[derive(Clone)]
struct Parked {
    named: Named,
    folders: Vec<PathBuf>,
    connection: ConnectionTo<Client>,
    is_stored: bool,
}

/// Which session is opened.
enum Which<'a> {
    New,
    /// That of a conversation.
    Known(&'a SessionId),
    /// One that was open in these folders; something may have been said in it.
    Parked(&'a SessionId, bool, &'a [PathBuf]),
}

impl Sessions {
    pub(crate) fn new(host: Host) -> Self {
        let (takes_notices, is_ended) = (AtomicBool::new(false), AtomicBool::new(false));
        Self {
            host,
            open: Mutex::default(),
            parked: Mutex::default(),
            waiting: Waiting::default(),
            reopening: tokio::sync::Mutex::default(),
            uses: AtomicU64::new(0),
            takes_notices,
            is_ended,
        }
    }

    /// Notes whether the editor has a place for notices.
    pub(crate) fn set_notices(&self, has: bool) {
        self.takes_notices.store(has, Ordering::Relaxed);
    }

    /// Opens a new session, or the one of a conversation.
    ///
    /// # Errors
    /// When a folder or a server cannot be one of a session, there is no such conversation, or the agent cannot be opened.
    pub(crate) async fn open(
        &self,
        id: Option<&SessionId>,
        named: Named,
        connection: ConnectionTo<Client>,
    ) -> Result<Arc<Session>, Error> {
        self.open_one(id.map_or(Which::New, Which::Known), named, connection).await
    }

    async fn open_one(
        &self,
        which: Which<'_>,
        named: Named,
        connection: ConnectionTo<Client>,
    ) -> Result<Arc<Session>, Error> {
        let base = &self.host.agent;
        let known = match which {
            Which::Known(id) | Which::Parked(id, true, _) => Some(known::find(base, id).await?),
            Which::New | Which::Parked(_, false, _) => None,
        };
        let settings = self.settings();
        let Granted { mut config, folders, servers } =
            grant(base.config(), base.home(), &self.host.options.environment, &named).map_err(|why| refused(&why))?;
        // A link that was laid meanwhile leads nowhere.
        if matches!(which, Which::Parked(_, _, before) if *before != folders) {
            return Err(refused(
                "a folder of this session leads elsewhere by now; open the session again to work there",
            ));
        }
        if let Some(profile) = self.host.new_chat.profile.clone().filter(|_| known.is_none()) {
            config.agent.profile = profile;
        }
        let options = AgentOptions {
            config,
            store: Some(Arc::clone(base.store())),
            models: Some(base.shared_models()),
            ..self.host.options.clone()
        };
        let (home, now_ms) = (base.home().clone(), base.now_ms());
        // It reads files of the home.
        let opened = tokio::task::spawn_blocking(move || {
            forget_unused(&home, now_ms);
            Agent::open(options)
        });
        let opened = opened.await;
        let agent = opened.map_err(|error| failed(&error.to_string()))?.map_err(|error| of_agent(&error))?;
        for server in &servers {
            agent.mcp().hold(&server.name);
        }
        let id = match (&known, which) {
            (Some(known), _) => known.id.clone(),
            (None, Which::Parked(id, ..)) => ConversationId::new(id.to_string()),
            (None, _) => agent.directory().new_id(),
        };
        let granted = folders.clone();
        let session = Session::new(
            (id, known.is_some()),
            agent,
            connection,
            SessionRecord { cwd: named.cwd.clone(), folders: named.folders.clone() },
            (folders, servers),
            (self.host.new_chat.clone(), self.takes_notices.load(Ordering::Relaxed)),
        );
        let session = Arc::new(session);
        if let Err(error) = session.begin().await {
            session.close().await;
            return Err(error);
        }
        let used = self.uses.fetch_add(1, Ordering::Relaxed);
        let held = Held { session: Arc::clone(&session), named, folders: granted, used, settings };
        self.parked().remove(&session.session_id());
        let former = self.lock().insert(session.session_id(), held);
        if let Some(former) = former {
            former.session.close().await;
        }
        self.park_one(&session).await;
        if self.is_ended.load(Ordering::SeqCst) {
            // The editor went away meanwhile.
            session.close().await;
        }
        Ok(session)
    }

    /// Lets the session go that was used the longest ago, when too many are held. One that works is kept.
    async fn park_one(&self, newest: &Arc<Session>) {
        let oldest = {
            let mut open = self.lock();
            let idle = open.iter().filter(|(_, held)| held.session.is_idle() && !Arc::ptr_eq(&held.session, newest));
            let oldest = idle.min_by_key(|(_, held)| held.used).map(|(id, _)| id.clone());
            let Some(id) = oldest.filter(|_| open.len() > HELD) else { return };
            let Some(Held { session, named, folders, .. }) = open.remove(&id) else { return };
            let (connection, is_stored) = (session.connection.clone(), session.is_stored());
            self.parked().insert(id, Parked { named, folders, connection, is_stored });
            session
        };
        oldest.close().await;
    }

    /// A session that is held open, which is used by that. It goes by the owner's settings as they are now; none when it cannot under
    /// these.
    pub(crate) fn held(&self, id: &SessionId) -> Option<Arc<Session>> {
        self.lock().get_mut(id)?.used = self.uses.fetch_add(1, Ordering::Relaxed);
        self.renewed(id)
    }

    /// Has every session go by the owner's settings whenever these change: an agent's end begins a turn that no editor asked for.
    pub(crate) async fn follow(&self) {
        let mut changes = self.host.agent.settings_changes();
        while changes.changed().await.is_ok() {
            let open: Vec<SessionId> = self.lock().keys().cloned().collect();
            open.iter().for_each(|id| drop(self.renewed(id)));
        }
    }

    fn renewed(&self, id: &SessionId) -> Option<Arc<Session>> {
        let mut open = self.lock();
        let held = open.get_mut(id)?;
        let settings = self.settings();
        if std::mem::replace(&mut held.settings, settings) == settings || self.renew(held) {
            return Some(Arc::clone(&held.session));
        }
        let Held { session, named, folders, .. } = open.remove(id)?;
        let (connection, is_stored) = (session.connection.clone(), session.is_stored());
        self.parked().insert(id.clone(), Parked { named, folders, connection, is_stored });
        // Whoever asked for it learns why it is not open when it is opened again.
        tokio::spawn(async move { session.close().await });
        None
    }

    /// The newest change of the owner's settings.
    fn settings(&self) -> u64 {
        *self.host.agent.settings_changes().borrow()
    }

    /// Has a session go by the owner's settings as they are now. Returns whether it can.
    fn renew(&self, held: &Held) -> bool {
        let base = &self.host.agent;
        let granted = grant(base.config(), base.home(), &self.host.options.environment, &held.named);
        let Some(Granted { mut config, .. }) = granted.ok().filter(|granted| granted.folders == held.folders) else {
            return false;
        };
        let agent = &held.session.agent;
        config.agent.profile.clone_from(&agent.config().agent.profile);
        agent.use_settings(config);
        true
    }

    /// A session that the editor has open.
    ///
    /// # Errors
    /// When none of that id is, or it cannot be opened again.
    pub(crate) async fn get(&self, id: &SessionId) -> Result<Arc<Session>, Error> {
        if let Some(session) = self.held(id) {
            return Ok(session);
        }
        let _alone = self.reopening.lock().await;
        if let Some(session) = self.held(id) {
            return Ok(session);
        }
        let parked = self.parked().get(id).cloned();
        let none = || refused(&format!("no session `{id}` is open; open one by session/new or session/load"));
        let Parked { named, folders, connection, is_stored } = parked.ok_or_else(none)?;
        let session = self.open_one(Which::Parked(id, is_stored, &folders), named, connection).await?;
        servers::start_known(&session);
        Ok(session)
    }

    /// Closes a session: what it does is stopped. Nothing is lost.
    ///
    /// # Errors
    /// When none of that id is open.
    pub(crate) async fn close(&self, id: &SessionId) -> Result<(), Error> {
        waiting::close(self, id);
        let (parked, held) = (self.parked().remove(id), self.lock().remove(id));
        match held {
            Some(Held { session, .. }) => session.close().await,
            None if parked.is_some() => {}
            None => return Err(refused(&format!("no session `{id}` is open"))),
        }
        Ok(())
    }

    /// Closes a session whose opening has failed.
    pub(crate) async fn discard(&self, session: &Arc<Session>) {
        let id = session.session_id();
        {
            let mut open = self.lock();
            if open.get(&id).is_some_and(|there| Arc::ptr_eq(&there.session, session)) {
                open.remove(&id);
            }
        }
        session.close().await;
    }

    /// Takes a conversation out of the list of sessions. What was said stays in the store, as it does of every conversation.
    ///
    /// # Errors
    /// When there is no such conversation, or the store cannot be written.
    pub(crate) async fn delete(&self, id: &SessionId) -> Result<(), Error> {
        waiting::close(self, id);
        let (parked, held) = (self.parked().remove(id), self.lock().remove(id));
        let is_stored = match held {
            Some(Held { session, .. }) => {
                session.close().await;
                session.is_stored()
            }
            None => parked.is_none_or(|parked| parked.is_stored),
        };
        if is_stored { known::delete(&self.host.agent, &ConversationId::new(id.to_string())).await } else { Ok(()) }
    }

    /// The editor is gone: every question is answered no, every turn is stopped, and what can end in time ends.
    pub(crate) async fn end(&self) {
        self.is_ended.store(true, Ordering::SeqCst);
        let open: Vec<Held> = std::mem::take(&mut *self.lock()).into_values().collect();
        let closing = open.iter().map(|held| held.session.close());
        let _ = tokio::time::timeout(PATIENCE, futures_util::future::join_all(closing)).await;
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Held>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn parked(&self) -> MutexGuard<'_, HashMap<SessionId, Parked>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
