//! Requests of an editor, and who answers them. Handlers only start work: while one runs, no other message is read, a cancel
//! neither.

use std::io;
use std::sync::Arc;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, CloseSessionRequest, CloseSessionResponse, DeleteSessionRequest,
    DeleteSessionResponse, Implementation, InitializeRequest, InitializeResponse, ListSessionsRequest,
    LoadSessionRequest, LoadSessionResponse, McpCapabilities, NewSessionRequest, NewSessionResponse,
    PromptCapabilities, PromptRequest, ResumeSessionRequest, ResumeSessionResponse,
    SessionAdditionalDirectoriesCapabilities, SessionCapabilities, SessionCloseCapabilities, SessionConfigOption,
    SessionDeleteCapabilities, SessionId, SessionListCapabilities, SessionModeState, SessionResumeCapabilities,
    SetSessionConfigOptionRequest, SetSessionModeRequest,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{
    Agent, Client, Error, JsonRpcResponse, Lines, on_receive_notification, on_receive_request,
};
use futures_util::{Sink, Stream};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::grants::Named;
use crate::session::Session;
use crate::sessions::{Host, Sessions};
use crate::{known, lines, replay, servers, waiting};

/// Serves an editor until it goes, which is when its input ends or it reads no more, or `stop` is cancelled. Then every question is
/// answered no and every turn is stopped.
///
/// # Errors
/// When the streams fail.
pub async fn serve(
    host: Host,
    input: impl AsyncRead + Unpin + Send + 'static,
    output: impl AsyncWrite + Unpin + Send + 'static,
    stop: CancellationToken,
) -> Result<(), Error> {
    let sessions = Arc::new(Sessions::new(host));
    let gone = CancellationToken::new();
    let served = tokio::select! {
        served = talk(Arc::clone(&sessions), lines::incoming(input), lines::outgoing(output, gone.clone())) => served,
        () = gone.cancelled() => Ok(()),
        () = sessions.follow() => Ok(()),
        () = stop.cancelled() => Ok(()),
    };
    sessions.end().await;
    served
}

/// What an editor may ask for.
fn capabilities() -> AgentCapabilities {
    let sessions = SessionCapabilities::new()
        .list(SessionListCapabilities::new())
        .delete(SessionDeleteCapabilities::new())
        .additional_directories(SessionAdditionalDirectoriesCapabilities::new())
        .resume(SessionResumeCapabilities::new())
        .close(SessionCloseCapabilities::new());
    AgentCapabilities::new()
        .load_session(true)
        .prompt_capabilities(PromptCapabilities::new().embedded_context(true))
        .mcp_capabilities(McpCapabilities::new().http(true))
        .session_capabilities(sessions)
}

fn initialize(sessions: &Sessions, request: &InitializeRequest) -> InitializeResponse {
    let notices = request.client_capabilities.session.as_ref().is_some_and(|session| session.notices.is_some());
    sessions.set_notices(notices);
    let own = Implementation::new(sessions.host.program, env!("CARGO_PKG_VERSION"));
    InitializeResponse::new(ProtocolVersion::V1).agent_capabilities(capabilities()).agent_info(own)
}

/// Starts to work on an answer.
fn answer<T: JsonRpcResponse + Send + 'static>(
    responder: Responder<T>,
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<(), Error> {
    tokio::spawn(async move {
        // An editor that is gone gets none.
        let _ = responder.respond_with_result(work.await);
    });
    Ok(())
}

/// Handles a request by work on the sessions that is started and not waited for.
macro_rules! handled {
    ($sessions:ident, |$request:ident: $kind:ty| $work:expr) => {{
        let $sessions = Arc::clone(&$sessions);
        async move |$request: $kind, responder, _: ConnectionTo<Client>| {
            let $sessions = Arc::clone(&$sessions);
            answer(responder, async move { $work })
        }
    }};
}

/// Handles a request that opens a session by work that is started and not waited for.
macro_rules! opened {
    ($sessions:ident, $kind:ty, $open:ident) => {{
        let sessions = Arc::clone(&$sessions);
        async move |request: $kind, responder, connection| {
            tokio::spawn($open(Arc::clone(&sessions), request, responder, connection));
            Ok(())
        }
    }};
}

async fn talk(
    sessions: Arc<Sessions>,
    input: impl Stream<Item = io::Result<String>> + Send + 'static,
    output: impl Sink<String, Error = io::Error> + Send + 'static,
) -> Result<(), Error> {
    let (greeted, prompted, cancelled) = (Arc::clone(&sessions), Arc::clone(&sessions), Arc::clone(&sessions));
    let builder = Agent
        .v1()
        .name(env!("CARGO_PKG_NAME"))
        .on_receive_request(
            async move |request: InitializeRequest, responder: Responder<_>, _| {
                responder.respond(initialize(&greeted, &request))
            },
            on_receive_request!(),
        )
        .on_receive_request(opened!(sessions, NewSessionRequest, new), on_receive_request!())
        .on_receive_request(opened!(sessions, LoadSessionRequest, load), on_receive_request!())
        .on_receive_request(opened!(sessions, ResumeSessionRequest, resume), on_receive_request!())
        .on_receive_request(
            async move |request: PromptRequest, responder: Responder<_>, _| {
                // Here and now it becomes something that the next message can cancel.
                waiting::take(&prompted, request, responder);
                Ok(())
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |request: CancelNotification, _| {
                waiting::cancel(&cancelled, &request.session_id);
                Ok(())
            },
            on_receive_notification!(),
        );
    let builder = builder
        .on_receive_request(
            handled!(sessions, |request: ListSessionsRequest| known::list(&sessions.host.agent, &request).await),
            on_receive_request!(),
        )
        .on_receive_request(
            handled!(sessions, |request: CloseSessionRequest| {
                sessions.close(&request.session_id).await.map(|()| CloseSessionResponse::new())
            }),
            on_receive_request!(),
        )
        .on_receive_request(
            handled!(sessions, |request: DeleteSessionRequest| {
                sessions.delete(&request.session_id).await.map(|()| DeleteSessionResponse::new())
            }),
            on_receive_request!(),
        )
        .on_receive_request(
            handled!(sessions, |request: SetSessionModeRequest| {
                sessions.get(&request.session_id).await?.set_mode(&request.mode_id.0).await
            }),
            on_receive_request!(),
        )
        .on_receive_request(
            handled!(sessions, |request: SetSessionConfigOptionRequest| {
                sessions.get(&request.session_id).await?.set_option(&request.config_id.0, &request.value).await
            }),
            on_receive_request!(),
        );
    builder.connect_to(Lines::new(output, input)).await
}

/// A session that was opened, with its modes and settings.
type Opened = (Arc<Session>, SessionModeState, Vec<SessionConfigOption>);

/// Opens a session. One whose opening fails half-way is closed.
async fn open(
    sessions: &Sessions,
    id: Option<SessionId>,
    named: Named,
    connection: ConnectionTo<Client>,
    replays: bool,
) -> Result<Opened, Error> {
    let session = sessions.open(id.as_ref(), named, connection).await?;
    let told = async {
        if replays {
            replay::tell_all(&session).await?;
        }
        session.choices().await
    };
    match told.await {
        Ok((modes, options)) => {
            servers::start_known(&session);
            Ok((session, modes, options))
        }
        Err(error) => {
            sessions.discard(&session).await;
            Err(error)
        }
    }
}

async fn new(
    sessions: Arc<Sessions>,
    request: NewSessionRequest,
    responder: Responder<NewSessionResponse>,
    connection: ConnectionTo<Client>,
) {
    match open(&sessions, None, request.into(), connection, false).await {
        Ok((session, modes, options)) => {
            let response = NewSessionResponse::new(session.session_id()).modes(modes).config_options(options);
            let _ = responder.respond(response);
            session.tell_commands().await;
        }
        Err(error) => drop(responder.respond_with_error(error)),
    }
}

async fn load(
    sessions: Arc<Sessions>,
    request: LoadSessionRequest,
    responder: Responder<LoadSessionResponse>,
    connection: ConnectionTo<Client>,
) {
    match open(&sessions, Some(request.session_id.clone()), request.into(), connection, true).await {
        Ok((session, modes, options)) => {
            let _ = responder.respond(LoadSessionResponse::new().modes(modes).config_options(options));
            session.tell_standing().await;
        }
        Err(error) => drop(responder.respond_with_error(error)),
    }
}

async fn resume(
    sessions: Arc<Sessions>,
    request: ResumeSessionRequest,
    responder: Responder<ResumeSessionResponse>,
    connection: ConnectionTo<Client>,
) {
    match open(&sessions, Some(request.session_id.clone()), request.into(), connection, false).await {
        Ok((session, modes, options)) => {
            let _ = responder.respond(ResumeSessionResponse::new().modes(modes).config_options(options));
            session.tell_standing().await;
        }
        Err(error) => drop(responder.respond_with_error(error)),
    }
}
