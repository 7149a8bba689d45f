//! What is kept of sessions with their conversations: the folders that the editor named, and whether it lists them.

use std::path::PathBuf;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{ListSessionsRequest, ListSessionsResponse, SessionId, SessionInfo};
use jiff::Timestamp;
use limpid_core::ConversationId;
use limpid_runtime::{Agent, AgentError};
use limpid_store::{Conversation, ConversationKind, NewSetting, StoreError};
use serde::{Deserialize, Serialize};

use crate::errors::{of_agent, refused};
use crate::texts::listed;

/// The setting of a conversation that holds it.
const SETTING: &str = "editor";

/// Sessions of one page of a list.
const PAGE: usize = 50;

/// Conversations that are looked through for a list, the newest.
const LISTED: u32 = 2000;

/// What is kept of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct SessionRecord {
    /// The folder that is worked in.
    pub(crate) cwd: PathBuf,
    /// Other folders.
    pub(crate) folders: Vec<PathBuf>,
}

/// What the setting says; `null` once the session was deleted.
type KeptRecord = Option<SessionRecord>;

/// The chat of an id, when it was not deleted as a session.
///
/// # Errors
/// When there is none, or the store cannot be read.
pub(crate) async fn find(agent: &Agent, id: &SessionId) -> Result<Conversation, Error> {
    let missing = || refused(&format!("there is no session `{id}`; session/list lists them"));
    let id = ConversationId::new(id.to_string());
    let found = agent.store().conversation(&id).await.map_err(of_store)?;
    let found = found.filter(|found| found.kind == ConversationKind::Chat).ok_or_else(missing)?;
    match kept(agent, &id).await? {
        Some(None) => Err(missing()),
        _ => Ok(found),
    }
}

/// Keeps what an editor named for a session.
///
/// # Errors
/// When the store cannot be written.
pub(crate) async fn keep(agent: &Agent, id: &ConversationId, known: &SessionRecord) -> Result<(), Error> {
    if kept(agent, id).await? == Some(Some(known.clone())) { Ok(()) } else { write(agent, id, Some(known)).await }
}

/// Takes a session out of lists.
///
/// # Errors
/// When there is none, or the store cannot be written.
pub(crate) async fn delete(agent: &Agent, id: &ConversationId) -> Result<(), Error> {
    find(agent, &SessionId::new(id.as_str().to_owned())).await?;
    write(agent, id, None).await
}

async fn write(agent: &Agent, id: &ConversationId, known: Option<&SessionRecord>) -> Result<(), Error> {
    // Plain data always serialises.
    let value = serde_json::to_string(&known).unwrap_or_default();
    let event = NewSetting { name: SETTING.to_owned(), value: Some(value), trigger: "manual".to_owned() };
    let written = agent.store().set_in_conversation(id, Vec::new(), vec![event], agent.now_ms()).await;
    written.map(drop).map_err(of_store)
}

async fn kept(agent: &Agent, id: &ConversationId) -> Result<Option<KeptRecord>, Error> {
    let newest = agent.store().setting_events(Some(id), SETTING, 1).await.map_err(of_store)?.rows;
    let value = newest.into_iter().next().and_then(|event| event.value);
    // What cannot be read is as if nothing was kept: the conversation is there all the same.
    Ok(value.and_then(|value| serde_json::from_str(&value).ok()))
}

/// Chats as sessions, the newest first: those of editors with their folders, those of the terminal with the workspace.
///
/// # Errors
/// When the cursor is none of this list, or the store cannot be read.
pub(crate) async fn list(agent: &Agent, request: &ListSessionsRequest) -> Result<ListSessionsResponse, Error> {
    let from: usize = match &request.cursor {
        Some(cursor) => cursor.parse().map_err(|_| refused("Unknown cursor. List again without one."))?,
        None => 0,
    };
    let mut sessions = Vec::new();
    let mut next = None;
    let rows = agent.store().conversations(LISTED).await.map_err(of_store)?.rows;
    for (at, found) in rows.into_iter().enumerate().skip(from) {
        if found.kind != ConversationKind::Chat || found.messages == 0 {
            continue;
        }
        let SessionRecord { cwd, folders } = match kept(agent, &found.id).await? {
            Some(Some(known)) => known,
            Some(None) => continue,
            None => SessionRecord { cwd: agent.home().workspace(), folders: Vec::new() },
        };
        if request.cwd.as_ref().is_some_and(|wanted| *wanted != cwd) {
            continue;
        }
        if sessions.len() == PAGE {
            next = Some(at.to_string());
            break;
        }
        let info = SessionInfo::new(found.id.as_str().to_owned(), cwd).additional_directories(folders);
        sessions.push(listed(info, &found.title).updated_at(moment(found.updated_ms)));
    }
    Ok(ListSessionsResponse::new(sessions).next_cursor(next))
}

/// A moment as the protocol writes it.
pub(crate) fn moment(at_ms: i64) -> Option<String> {
    Timestamp::from_millisecond(at_ms).ok().map(|at| at.to_string())
}

fn of_store(error: StoreError) -> Error {
    of_agent(&AgentError::from(error))
}
