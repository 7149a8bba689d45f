//! The sessions that an editor has open.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::SessionId;
use agent_client_protocol::{Client, Error};
use limpid_core::{ConversationId, Effort};
use limpid_runtime::{Agent, AgentOptions};

use crate::editor_server::forget_unused;
use crate::grants::{Granted, Named, grant};
use crate::known::{self, Known};
use crate::session::Session;
use crate::trouble::{failed, of_agent, refused};

/// How long work may take to end once the editor is gone.
const PATIENCE: Duration = Duration::from_secs(10);

/// What sessions are made from.
pub struct Host {
    /// The agent whose store and models every session uses. It runs no turns.
    pub agent: Agent,
    /// What the agent of a session is opened with; `config`, `store` and `models` are those of the session.
    pub options: AgentOptions,
    /// The name of the program, as editors show it.
    pub program: &'static str,
    /// What a new conversation begins with.
    pub talk: Talk,
}

/// What a new conversation begins with; absent: what the owner has set.
#[derive(Clone, Debug, Default)]
pub struct Talk {
    /// The profile.
    pub profile: Option<String>,
    /// The mode.
    pub mode: Option<String>,
    /// The model: `provider/id`.
    pub model: Option<String>,
    /// How much models are to reason.
    pub effort: Option<Effort>,
}

/// The sessions that an editor has open.
pub(crate) struct Sessions {
    pub(crate) host: Host,
    open: Mutex<HashMap<SessionId, Arc<Session>>>,
    takes_notices: AtomicBool,
    is_ended: AtomicBool,
}

impl Sessions {
    pub(crate) fn new(host: Host) -> Self {
        let (takes_notices, is_ended) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { host, open: Mutex::default(), takes_notices, is_ended }
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
        let base = &self.host.agent;
        let known = match id {
            Some(id) => Some(known::find(base, id).await?),
            None => None,
        };
        let Granted { mut config, folders, servers } =
            grant(base.config(), base.home(), &named).map_err(|why| refused(&why))?;
        if let Some(profile) = self.host.talk.profile.clone().filter(|_| known.is_none()) {
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
        let id = known.as_ref().map_or_else(|| agent.directory().new_id(), |known| known.id.clone());
        let session = Session::new(
            (id, known.is_some()),
            agent,
            connection,
            Known { cwd: named.cwd, folders: named.folders },
            (folders, servers),
            (self.host.talk.clone(), self.takes_notices.load(Ordering::Relaxed)),
        );
        let session = Arc::new(session);
        if let Err(error) = session.begin().await {
            session.close().await;
            return Err(error);
        }
        let former = self.lock().insert(session.session_id(), Arc::clone(&session));
        if let Some(former) = former {
            former.close().await;
        }
        if self.is_ended.load(Ordering::SeqCst) {
            // The editor went away meanwhile.
            session.close().await;
        }
        Ok(session)
    }

    /// A session that is open.
    ///
    /// # Errors
    /// When none of that id is.
    pub(crate) fn get(&self, id: &SessionId) -> Result<Arc<Session>, Error> {
        let found = self.lock().get(id).cloned();
        found.ok_or_else(|| refused(&format!("no session `{id}` is open; open one by session/new or session/load")))
    }

    /// Closes a session: what it does is stopped. Nothing is lost.
    ///
    /// # Errors
    /// When none of that id is open.
    pub(crate) async fn close(&self, id: &SessionId) -> Result<(), Error> {
        let session = self.get(id)?;
        self.lock().remove(id);
        session.close().await;
        Ok(())
    }

    /// Closes a session whose opening has failed.
    pub(crate) async fn discard(&self, session: &Arc<Session>) {
        let id = session.session_id();
        {
            let mut open = self.lock();
            if open.get(&id).is_some_and(|there| Arc::ptr_eq(there, session)) {
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
        let open = self.lock().remove(id);
        let is_stored = match &open {
            Some(session) => {
                session.close().await;
                session.is_stored()
            }
            None => true,
        };
        if is_stored { known::delete(&self.host.agent, &ConversationId::new(id.to_string())).await } else { Ok(()) }
    }

    /// The editor is gone: every question is answered no, every turn is stopped, and what can end in time ends.
    pub(crate) async fn end(&self) {
        self.is_ended.store(true, Ordering::SeqCst);
        let open: Vec<Arc<Session>> = std::mem::take(&mut *self.lock()).into_values().collect();
        let closing = open.iter().map(|session| session.close());
        let _ = tokio::time::timeout(PATIENCE, futures_util::future::join_all(closing)).await;
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Session>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
