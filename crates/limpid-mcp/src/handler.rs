//! What a server may ask of us, and tell: that its lists have changed. It may put a question to the owner; sampling, roots and
//! logging are not offered.

use std::fmt;
use std::sync::Arc;

use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationCapability,
    FormElicitationCapability, Implementation, ProtocolVersion, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use rmcp::{ClientHandler, ErrorData};

use crate::asks::OpenCalls;

/// What of a server has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Its tools.
    Tools,
    /// Its prompts.
    Prompts,
    /// Its resources.
    Resources,
}

/// Who is told of changes.
#[derive(Clone)]
pub struct Changed(Arc<dyn Fn(Change) + Send + Sync>);

impl Changed {
    /// Tells this function. It must not take long.
    pub fn new(tell: impl Fn(Change) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    /// Tells it.
    pub(crate) fn tell(&self, change: Change) {
        (self.0)(change);
    }
}

impl Default for Changed {
    fn default() -> Self {
        Self::new(|_| {})
    }
}

impl fmt::Debug for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Changed")
    }
}

/// The client as a server sees it.
pub(crate) struct Handler {
    pub(crate) changed: Changed,
    /// The calls that it may put a question in.
    pub(crate) calls: OpenCalls,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        let mut can = ClientCapabilities::default();
        let mut asks = ElicitationCapability::new();
        asks.form = Some(FormElicitationCapability::new());
        asks.url = Some(UrlElicitationCapability::new());
        can.elicitation = Some(asks);
        // The newest revision that has a handshake: whoever speaks a newer one is not asked in this way.
        ClientConfig::new(can, own).with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        wanted: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.calls.ask(wanted, context.ct.cancelled()).await)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.tell(Change::Tools);
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.tell(Change::Prompts);
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.tell(Change::Resources);
    }
}
