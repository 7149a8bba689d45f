//! `[inbox]`: what may be handed in from elsewhere, and how text messages are sent.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use schemars::JsonSchema;
use serde::Deserialize;

/// What may be handed in, where, and how text messages leave.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InboxConfig {
    /// Whether mail may be handed in, besides what accounts bring.
    pub mail: bool,
    /// Whether text messages may.
    pub sms: bool,
    /// Whether notifications may.
    pub notifications: bool,
    /// Where `limpid serve` takes them.
    pub listen: SocketAddr,
    /// Names under which other machines reach it, besides its address.
    pub hosts: Vec<String>,
    /// Whether it may listen on an address that other machines reach, without encryption of its own.
    pub public: bool,
    /// Items that are kept of one source in a day, mail accounts apart; who hands in more is told when it may go on.
    pub items_a_day: u32,
    /// What sends text messages. Default: none are sent.
    pub gateway: Option<GatewayConfig>,
}

impl Default for InboxConfig {
    fn default() -> Self {
        Self {
            mail: false,
            sms: false,
            notifications: false,
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7717),
            hosts: Vec::new(),
            public: false,
            items_a_day: 10_000,
            gateway: None,
        }
    }
}

impl InboxConfig {
    /// Whether anything may be handed in.
    pub fn is_open(&self) -> bool {
        self.mail || self.sms || self.notifications
    }
}

/// What sends text messages: a program, or else an address. Either takes a JSON object with `to` and `text`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GatewayConfig {
    /// A program and its arguments; it reads the object from its standard input.
    pub command: Vec<String>,
    /// An address that takes the object by POST.
    pub url: Option<String>,
    /// The environment variable that holds the token of that address. Default: none is sent.
    pub token_env: Option<String>,
}
