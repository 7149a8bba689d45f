//! The process around the services, as values.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use limpid_config::{Clock, Config, Ids, Live, hex};

/// Clock, ids, the owner's zone, and the name under which this process holds leases. It does nothing by itself.
#[derive(Clone)]
pub struct Host {
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    config: Live<Config>,
    system_zone: TimeZone,
    holder: Arc<str>,
}

impl Host {
    /// A process that holds its leases as `holder`. Where the owner has set no zone, `system_zone` is theirs.
    pub fn new(
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
        config: Live<Config>,
        system_zone: TimeZone,
        holder: &str,
    ) -> Self {
        Self { clock, ids, config, system_zone, holder: holder.into() }
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The time, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.clock.now().as_millisecond()
    }

    /// The owner's zone, as it is set now.
    pub fn zone(&self) -> TimeZone {
        self.config.owner.zone.clone().unwrap_or_else(|| self.system_zone.clone())
    }

    /// A name that nothing has yet: the prefix and 16 hexadecimal digits.
    pub fn new_id(&self, prefix: &str) -> String {
        format!("{prefix}{}", hex(&*self.ids))
    }

    /// A tag that nobody can guess: 16 hexadecimal digits.
    pub fn tag(&self) -> String {
        hex(&*self.ids)
    }

    /// Who holds this process's leases.
    pub fn holder(&self) -> &str {
        &self.holder
    }

    /// The clock, for a part that needs nothing else.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Where names and tags come from, for a part that needs nothing else.
    pub fn ids(&self) -> &Arc<dyn Ids> {
        &self.ids
    }
}
