//! An open connection to a server.

use std::collections::HashMap;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Once;
use std::time::Duration;

use limpid_core::causes;
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use rmcp::model::{
    CallToolRequestParams, GetPromptRequestParams, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
    ServerCapabilities, ServerNotification, SubscriptionFilter,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, Peer, RoleClient, RunningService, ServiceError,
};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::{InsufficientScopeError, StreamableHttpClientTransportConfig};
use rmcp::transport::{AuthClient, StreamableHttpClientTransport};
use serde_json::{Map, Value};

use crate::answer::{self, Answer};
use crate::asks::{Asking, OpenCalls};
use crate::guard::Guarded;
use crate::handler::{Change, Changed, Handler};
use crate::login::KeptLogin;
use crate::offered::{Listed, MOST_PAGES, OfferedPrompt, OfferedResource, OfferedTool, take};
use crate::process::{self, Running, Said};
use crate::server::{Address, Program, Revision, Server};
use crate::trouble::McpError;

/// Bytes of one message of a server; a longer one is not read.
const MESSAGE: usize = 8 * 1024 * 1024;

/// How often a server may ask for something before it answers. What it asks the owner is put to them where they are there, and what
/// it wants back is sent back.
const ROUNDS: usize = 8;

/// How long a program whose connection has closed may take to write its last words.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How a connection is made.
#[derive(Clone, Debug)]
pub struct How {
    /// The binary whose hidden sub-command ends a program with everything that it started; absent: its group is ended here.
    pub helper: Option<PathBuf>,
    /// How a connection to this server began the last time.
    pub revision: Option<Revision>,
    /// How long each question may take, the first ones too.
    pub time: Duration,
    /// Who is told when lists of the server change.
    pub changed: Changed,
    /// What a login at the server gave, for an address.
    pub login: Option<KeptLogin>,
}

/// An open connection. It closes when it is dropped.
pub struct Connection {
    service: RunningService<RoleClient, Handler>,
    time: Duration,
    /// The program, if it is one: it ends after the connection has closed.
    program: Option<(Said, Running)>,
}

impl Connection {
    /// Connects to a server.
    ///
    /// # Errors
    /// When it cannot be started or reached, or speaks no revision that is known here.
    pub async fn open(server: &Server, how: &How) -> Result<Self, McpError> {
        match server {
            Server::Program(program) => match (Self::to_program(program, how).await, how.revision) {
                // One that starts slowly gets the question of the newer revision only after it was given up, and then takes no
                // handshake.
                (Err(McpError::NoConnection(why)), None) => {
                    let how = How { revision: Some(Revision::Discovery), ..how.clone() };
                    Self::to_program(program, &how).await.map_err(|_| McpError::NoConnection(why))
                }
                (other, _) => other,
            },
            Server::Address(address) => match (Self::to_address(address, how).await, how.revision) {
                // Some servers of an older revision answer the first question with something that is no answer.
                (Err(McpError::NoConnection(_)), None) => {
                    let how = How { revision: Some(Revision::Handshake), ..how.clone() };
                    Self::to_address(address, &how).await
                }
                (other, _) => other,
            },
        }
    }

    async fn to_program(program: &Program, how: &How) -> Result<Self, McpError> {
        let started = process::start(program, how.helper.as_deref())
            .map_err(|error| McpError::Unreachable(format!("{}: {error}", program.command)))?;
        let (said, mut running) = (started.said, started.running);
        let transport = AsyncRwTransport::new(started.output, started.input).with_max_line_length(MESSAGE);
        match begin(transport, how).await {
            Ok(service) => Ok(Self { service, time: how.time, program: Some((said, running)) }),
            Err(McpError::NoConnection(why)) => {
                // Why it ended is what it said itself.
                let has_ended = tokio::time::timeout(LAST_WORDS, running.ended()).await.is_ok();
                if has_ended {
                    // Something that it started may hold the stream open.
                    let _ = tokio::time::timeout(LAST_WORDS, running.heard()).await;
                }
                let words = said.text();
                Err(if has_ended && !words.trim().is_empty() {
                    McpError::Gone(words)
                } else {
                    McpError::NoConnection(why)
                })
            }
            Err(other) => Err(other),
        }
    }

    async fn to_address(address: &Address, how: &How) -> Result<Self, McpError> {
        let mut headers = HashMap::new();
        for (name, value) in &address.headers {
            let wrong = |what: &str| McpError::Unreachable(format!("the header `{name}` {what}"));
            let name_of = HeaderName::try_from(name.as_str()).map_err(|_| wrong("has a name that cannot be"))?;
            let mut value = HeaderValue::try_from(value.as_str()).map_err(|_| wrong("has a value that cannot be"))?;
            value.set_sensitive(true);
            headers.insert(name_of, value);
        }
        let mut config = StreamableHttpClientTransportConfig::with_uri(address.url.as_str())
            .custom_headers(headers)
            .max_sse_event_size(MESSAGE);
        config.allow_stateless = true;
        let manager = match &how.login {
            Some(login) => login.manager(&address.url).await?,
            None => None,
        };
        let service = match manager {
            Some(manager) => {
                let client = AuthClient::new(client()?, manager);
                begin(StreamableHttpClientTransport::with_client(client, config), how).await?
            }
            None => begin(StreamableHttpClientTransport::with_client(client()?, config), how).await?,
        };
        Ok(Self { service, time: how.time, program: None })
    }

    /// How this connection began.
    pub fn revision(&self) -> Revision {
        let has_handshake = self.service.peer_info().is_none_or(|info| info.protocol_version.has_initialize());
        if has_handshake { Revision::Handshake } else { Revision::Discovery }
    }

    /// Whether it is closed: the server ended, or hung up.
    pub fn is_closed(&self) -> bool {
        self.service.peer().is_transport_closed()
    }

    /// The tools of the server.
    ///
    /// # Errors
    /// When it does not answer, or not with tools.
    pub async fn tools(&self) -> Result<Listed<OfferedTool>, McpError> {
        if self.capabilities().tools.is_none() {
            return Ok(Listed::default());
        }
        let mut listed = Listed::default();
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let page = self.answered(self.time, self.service.list_tools(Some(page(cursor)))).await?;
            cursor = page.next_cursor;
            if !take(&mut listed, page.tools) || cursor.is_none() {
                break;
            }
        }
        Ok(listed)
    }

    /// The prompts of the server.
    ///
    /// # Errors
    /// When it does not answer, or not with prompts.
    pub async fn prompts(&self) -> Result<Listed<OfferedPrompt>, McpError> {
        if self.capabilities().prompts.is_none() {
            return Ok(Listed::default());
        }
        let mut listed = Listed::default();
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let page = self.answered(self.time, self.service.list_prompts(Some(page(cursor)))).await?;
            cursor = page.next_cursor;
            if !take(&mut listed, page.prompts) || cursor.is_none() {
                break;
            }
        }
        Ok(listed)
    }

    /// The resources of the server.
    ///
    /// # Errors
    /// When it does not answer, or not with resources.
    pub async fn resources(&self) -> Result<Listed<OfferedResource>, McpError> {
        if self.capabilities().resources.is_none() {
            return Ok(Listed::default());
        }
        let mut listed = Listed::default();
        let mut cursor = None;
        for _ in 0..MOST_PAGES {
            let page = self.answered(self.time, self.service.list_resources(Some(page(cursor)))).await?;
            cursor = page.next_cursor;
            if !take(&mut listed, page.resources) || cursor.is_none() {
                break;
            }
        }
        Ok(listed)
    }

    /// Calls a tool by the server's own name for it. Its time stands still while the owner is asked what the server wants to know;
    /// without `asking` they are not, and it is told no.
    ///
    /// # Errors
    /// When there is no answer, or the server refuses.
    pub async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        asking: Option<Asking>,
    ) -> Result<Answer, McpError> {
        let call = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let calling = self.service.call_tool_with_mrtr_max_rounds(call, ROUNDS);
        let entered = self.service.service().calls.enter(asking);
        let answered = entered.within(self.time, calling).await.ok_or(McpError::Silent(self.time))?;
        Ok(answer::of_call(&answered.map_err(|error| self.why(error))?))
    }

    /// The text of a prompt.
    ///
    /// # Errors
    /// When there is no answer, or the server refuses.
    pub async fn prompt(&self, name: &str) -> Result<String, McpError> {
        let asking = self.service.get_prompt_with_mrtr_max_rounds(GetPromptRequestParams::new(name), ROUNDS);
        Ok(answer::of_prompt(&self.answered(self.time, asking).await?))
    }

    /// The text of a resource.
    ///
    /// # Errors
    /// When there is no answer, or the server refuses.
    pub async fn resource(&self, uri: &str) -> Result<String, McpError> {
        let asking = self.service.read_resource_with_mrtr_max_rounds(ReadResourceRequestParams::new(uri), ROUNDS);
        Ok(answer::of_resource(&self.answered(self.time, asking).await?))
    }

    /// Closes it and waits until the server has had its time to end.
    pub async fn close(mut self) {
        let _ = self.service.close_with_timeout(self.time).await;
        if let Some((_, running)) = &mut self.program {
            let _ = tokio::time::timeout(self.time, running.ended()).await;
        }
    }

    fn capabilities(&self) -> ServerCapabilities {
        self.service.peer_info().map(|info| info.capabilities.clone()).unwrap_or_default()
    }

    /// What a question leads to, within its time.
    async fn answered<T>(
        &self,
        time: Duration,
        question: impl Future<Output = Result<T, ServiceError>>,
    ) -> Result<T, McpError> {
        let answered = tokio::time::timeout(time, question).await.map_err(|_| McpError::Silent(time))?;
        answered.map_err(|error| self.why(error))
    }

    fn why(&self, error: ServiceError) -> McpError {
        match error {
            ServiceError::McpError(error) => McpError::Refused(error.message.into_owned()),
            ServiceError::TransportClosed | ServiceError::Cancelled { .. } => McpError::Gone(self.said()),
            error if error.is_authorization_required() => McpError::NeedsLogin,
            ServiceError::TransportSend(error) => {
                lacks_scopes(&error).unwrap_or_else(|| McpError::Unreachable(causes(&error)))
            }
            ServiceError::Timeout { timeout } => McpError::Silent(timeout),
            ServiceError::InputRequiredRoundsExceeded { .. } => McpError::WantsInput("it does not say what".to_owned()),
            _ => McpError::Unreadable,
        }
    }

    fn said(&self) -> String {
        self.program.as_ref().map(|(said, _)| said.text()).unwrap_or_default()
    }
}

/// Comes to terms with a server over a transport.
async fn begin<T: Transport<RoleClient> + 'static>(
    transport: T,
    how: &How,
) -> Result<RunningService<RoleClient, Handler>, McpError> {
    let newest = || vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = match how.revision {
        Some(Revision::Handshake) => ClientLifecycleMode::Initialize,
        Some(Revision::Discovery) => ClientLifecycleMode::Discover { preferred_versions: newest() },
        None => ClientLifecycleMode::Auto {
            preferred_versions: newest(),
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        },
    };
    let handler = Handler { changed: how.changed.clone(), calls: OpenCalls::default() };
    // Of one whose revision is known the answer is waited for as any other.
    let guarded = Guarded::new(transport, how.revision.is_none());
    let opening = handler.serve_with_lifecycle(guarded, lifecycle);
    let opened = tokio::time::timeout(how.time, opening).await.map_err(|_| McpError::Silent(how.time))?;
    let service = opened.map_err(|error| of_beginning(&error))?;
    listen(service.peer().clone(), how.changed.clone());
    Ok(service)
}

fn of_beginning(error: &ClientInitializeError) -> McpError {
    match error {
        error if error.is_authorization_required() => McpError::NeedsLogin,
        ClientInitializeError::JsonRpcError(error) => McpError::NoConnection(error.message.to_string()),
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
            McpError::NoConnection("it speaks no revision of the protocol that is known here".to_owned())
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => of_beginning(fallback),
        // Without the name that the library gives its transport.
        ClientInitializeError::TransportError { error, .. } => {
            lacks_scopes(error).unwrap_or_else(|| McpError::NoConnection(causes(error.error.as_ref())))
        }
        ClientInitializeError::ConnectionClosed(_) => McpError::NoConnection("it closed the connection".to_owned()),
        _ => McpError::NoConnection("it gave an answer that cannot be read".to_owned()),
    }
}

/// Whether something came to nothing because the login lacks rights, and which.
fn lacks_scopes(error: &(dyn Error + 'static)) -> Option<McpError> {
    let mut all = std::iter::successors(Some(error), |&error| error.source());
    let lacks = all.find_map(|error| error.downcast_ref::<InsufficientScopeError>())?;
    let scopes = lacks.get_required_scope().unwrap_or_default().split_whitespace();
    Some(McpError::NeedsScopes(scopes.map(str::to_owned).collect()))
}

/// Asks a server of the newer revision to tell of its changes; one of an older revision does so unasked.
fn listen(peer: Peer<RoleClient>, changed: Changed) {
    let Some(info) = peer.peer_info().filter(|info| !info.protocol_version.has_initialize()) else { return };
    let has = |told: Option<bool>| told == Some(true);
    let tools = info.capabilities.tools.as_ref().is_some_and(|tools| has(tools.list_changed));
    let prompts = info.capabilities.prompts.as_ref().is_some_and(|prompts| has(prompts.list_changed));
    if !tools && !prompts {
        return;
    }
    let mut filter = SubscriptionFilter::default();
    filter.tools_list_changed = tools.then_some(true);
    filter.prompts_list_changed = prompts.then_some(true);
    tokio::spawn(async move {
        // It ends when the connection does.
        let Ok(mut subscription) = peer.listen(filter).await else { return };
        while let Ok(Some(notification)) = subscription.next().await {
            match notification {
                ServerNotification::ToolListChangedNotification(_) => changed.tell(Change::Tools),
                ServerNotification::PromptListChangedNotification(_) => changed.tell(Change::Prompts),
                _ => {}
            }
        }
    });
}

fn page(cursor: Option<String>) -> PaginatedRequestParams {
    PaginatedRequestParams::default().with_cursor(cursor)
}

/// Says which cryptography clients use.
pub(crate) fn install_tls() {
    static TLS: Once = Once::new();
    TLS.call_once(|| {
        // Whoever was first has installed the same one.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// The client of addresses: they are the owner's, so any may be one, and none leads elsewhere.
pub(crate) fn client() -> Result<reqwest::Client, McpError> {
    install_tls();
    reqwest::Client::builder()
        .user_agent(concat!("limpid/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        .no_proxy()
        .build()
        .map_err(|error| McpError::Unreachable(causes(&error)))
}
