//! What every screen is made from.

use std::net::SocketAddr;
use std::sync::Arc;

use limpid_model::Pause;
use limpid_runtime::Agent;
use tokio_util::sync::CancellationToken;

use super::logins::Logins;
use super::talks::Talks;
use crate::door::{Door, Hosts};

/// What every screen is made from.
pub(crate) struct Page {
    pub(crate) agent: Agent,
    pub(crate) talks: Talks,
    pub(crate) pause: Arc<dyn Pause>,
    pub(super) address: SocketAddr,
    pub(super) hosts: Hosts,
    pub(super) door: Door,
    pub(super) logins: Logins,
    /// Ends what would be told for ever.
    pub(super) ending: CancellationToken,
}

impl Page {
    /// A time of today as `10:10`, another as `24 Nov`.
    pub(super) fn clock(&self, at_ms: i64) -> String {
        let zone = self.agent.zone();
        let Ok(at) = jiff::Timestamp::from_millisecond(at_ms) else { return String::new() };
        let (at, now) = (at.to_zoned(zone.clone()), self.agent.now().to_zoned(zone));
        let form = match (at.date() == now.date(), at.year() == now.year()) {
            (true, _) => "%H:%M",
            (false, true) => "%-d %b",
            (false, false) => "%-d %b %Y",
        };
        at.strftime(form).to_string()
    }

    /// Cookies are those of a host, whatever the port; two pages on one machine must not log each other out.
    pub(super) fn cookie_name(&self) -> String {
        format!("limpid-{}", self.address.port())
    }
}
