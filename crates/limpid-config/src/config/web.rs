//! `[search]`, `[web]` and `[location]`: what the agent may ask of the network.

use std::net::IpAddr;

use super::by_hand;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The engine that searches the web. Without one there is no `web_search`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SearchConfig {
    /// The engine.
    pub engine: Option<Engine>,
    /// Where it is. SearXNG needs it; the others have an address of their own.
    #[schemars(extend("x-by-hand" = by_hand::KEYS))]
    pub url: Option<String>,
    /// The environment variable that holds Brave's key. Default: `BRAVE_API_KEY`.
    #[schemars(extend("x-by-hand" = by_hand::KEYS))]
    pub key_env: Option<String>,
}

/// An engine that searches the web.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// A SearXNG server.
    Searxng,
    /// Brave Search by its API.
    Brave,
    /// DuckDuckGo by its page without scripts.
    DuckDuckGo,
}

/// Pages of the web.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WebConfig {
    /// Whether `web_fetch` is there.
    pub fetch: bool,
    /// Whether `open_url` is there.
    pub open: bool,
    /// Addresses of your own network that may be fetched from all the same, also public ones of networks that this machine is in. What stands there is private, like your files; after
    /// a stranger's text was read, one is fetched from unasked only when you typed the whole address.
    #[schemars(extend("x-by-hand" = by_hand::ADDRESSES))]
    pub also: Vec<IpAddr>,
    /// Addresses of your own network whose pages anybody may know, such as a mirror of an encyclopedia. They count as the
    /// public web.
    #[schemars(extend("x-by-hand" = by_hand::ADDRESSES))]
    pub mirrors: Vec<IpAddr>,
}

impl Default for WebConfig {
    fn default() -> Self {
        Self { fetch: true, open: true, also: Vec::new(), mirrors: Vec::new() }
    }
}

/// Where this machine is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LocationConfig {
    /// The address of a service that answers with a JSON object. Without one there is no `get_location_from_ip`.
    #[schemars(extend("x-by-hand" = by_hand::ADDRESSES))]
    pub service: Option<String>,
}
