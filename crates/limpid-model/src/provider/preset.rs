//! What is known of each provider, from `presets.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::protocol::{Dialect, Protocol};

/// What is known of a provider.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// The name in `provider/model`.
    #[serde(skip)]
    pub name: String,
    /// The name for people.
    pub title: String,
    /// Where the protocol's paths begin; without one every owner has an address of their own.
    pub base_url: Option<String>,
    /// The variable that the key is usually in; none: it needs no key.
    #[serde(rename = "key")]
    pub key_variable: Option<String>,
    /// The variable that another base URL is usually in.
    #[serde(rename = "url")]
    pub base_url_variable: Option<String>,
    /// What is asked when only the key is set: the first that the provider lists.
    #[serde(default)]
    pub models: Vec<String>,
    /// The header that the key goes in, when it is not the protocol's.
    pub key_header: Option<String>,
    /// Headers of every request at the base URL.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Whether to look for a server at the base URL.
    #[serde(default)]
    pub probe: bool,
    #[serde(deserialize_with = "protocol")]
    pub(super) protocol: Protocol,
    #[serde(default, deserialize_with = "protocol_elsewhere")]
    pub(super) protocol_elsewhere: Option<Protocol>,
    pub(super) tools: Option<String>,
    pub(super) cache_marks: Option<String>,
    #[serde(default)]
    pub(super) dialect: Dialect,
}

fn protocol<'de, D: Deserializer<'de>>(from: D) -> Result<Protocol, D::Error> {
    let name = String::deserialize(from)?;
    Protocol::parse(&name).ok_or_else(|| D::Error::custom(format!("unknown protocol `{name}`")))
}

fn protocol_elsewhere<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Protocol>, D::Error> {
    protocol(from).map(Some)
}

/// Every provider that is known, by name.
pub fn presets() -> &'static BTreeMap<String, Preset> {
    static PRESETS: LazyLock<BTreeMap<String, Preset>> = LazyLock::new(|| {
        // A test reads the file, so an empty list is never seen.
        let mut presets: BTreeMap<String, Preset> = toml::from_str(include_str!("../presets.toml")).unwrap_or_default();
        for (name, preset) in &mut presets {
            preset.name.clone_from(name);
        }
        presets
    });
    &PRESETS
}
