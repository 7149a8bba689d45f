//! What every screen is made from.

use std::net::SocketAddr;
use std::sync::Arc;

use limpid_model::Pause;
use limpid_runtime::Agent;
use tokio_util::sync::CancellationToken;

use super::logins::Logins;
use super::talks::Talks;
use crate::door::{Door, Hosts};
use crate::questions::Numbers;

/// What every screen is made from.
pub(crate) struct Page {
    pub(crate) agent: Agent,
    pub(crate) talks: Talks,
    /// Numbers of questions, here and for programs.
    pub(crate) numbers: Numbers,
    pub(crate) pause: Arc<dyn Pause>,
    /// Tells numbers of pieces of this process from those of another one.
    pub(super) epoch: String,
    pub(super) address: SocketAddr,
    pub(super) hosts: Hosts,
    pub(super) door: Door,
    pub(super) logins: Logins,
    /// Ends what would be told for ever.
    pub(crate) ending: CancellationToken,
}

impl Page {
    /// Has every open screen show the list and the reports as they are now.
    pub(crate) fn lists_changed(&self) {
        self.talks.list_changed();
    }

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

    /// A moment as `24 Nov, 10:10`.
    pub(super) fn moment(&self, at_ms: i64) -> String {
        let at = jiff::Timestamp::from_millisecond(at_ms).unwrap_or_default().to_zoned(self.agent.zone());
        let form = if at.year() == self.agent.now().to_zoned(self.agent.zone()).year() {
            "%-d %b, %H:%M"
        } else {
            "%-d %b %Y, %H:%M"
        };
        at.strftime(form).to_string()
    }

    /// The number of a piece, as a browser says it again.
    pub(crate) fn mark(&self, number: u64) -> String {
        format!("{}-{number}", self.epoch)
    }

    /// The number that a browser says again; none when it is of another process.
    pub(crate) fn number(&self, mark: &str) -> Option<u64> {
        let (epoch, number) = mark.split_once('-')?;
        number.parse().ok().filter(|_| epoch == self.epoch)
    }

    /// Cookies are those of a host, whatever the port; two pages on one machine must not log each other out.
    pub(super) fn cookie_name(&self) -> String {
        format!("limpid-{}", self.address.port())
    }
}
