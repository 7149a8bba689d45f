//! `[page]`: the page that `limpid serve` shows in a browser.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use schemars::JsonSchema;
use serde::Deserialize;

/// Whether there is a page, and where.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PageConfig {
    /// Whether `limpid serve` shows it.
    pub on: bool,
    /// Where it is shown.
    pub listen: SocketAddr,
    /// Names under which other machines reach it, besides its address.
    pub hosts: Vec<String>,
    /// Whether it may listen on an address that other machines reach, without encryption of its own.
    pub public: bool,
}

impl Default for PageConfig {
    fn default() -> Self {
        Self {
            on: true,
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7716),
            hosts: Vec::new(),
            public: false,
        }
    }
}
