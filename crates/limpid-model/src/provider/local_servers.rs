//! Model servers on this machine.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::Value;

use super::address::with_scheme;
use super::preset::presets;
use crate::protocol::{Adapter as _, Protocol};
use crate::remote::{Timeouts, client};
use crate::reported::id_of;

/// How long a server on this machine may take to answer a probe.
const PROBE: Duration = Duration::from_millis(300);

/// A model server that was found on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// The provider's name, for `provider/model`.
    pub provider: String,
    /// Where it is.
    pub base_url: String,
    /// The models that it lists.
    pub models: Vec<String>,
}

/// Looks for model servers at the usual addresses on this machine, at most 300 ms.
pub async fn find_local_servers() -> Vec<LocalServer> {
    let usual = presets().values().filter(|preset| preset.probe);
    let places: Vec<(String, String)> =
        usual.filter_map(|preset| Some((preset.name.clone(), preset.base_url.clone()?))).collect();
    find_servers_at(&places).await
}

/// Looks for model servers at these places, each a provider and a base URL, for at most 300 ms.
pub async fn find_servers_at(places: &[(String, String)]) -> Vec<LocalServer> {
    let probes = places.iter().map(|(provider, base_url)| async move {
        let models = tokio::time::timeout(PROBE, list(provider, base_url)).await.ok()??;
        Some(LocalServer { provider: provider.clone(), base_url: base_url.clone(), models })
    });
    join_all(probes).await.into_iter().flatten().collect()
}

/// The models that a server lists; none when it is no model server.
async fn list(provider: &str, base_url: &str) -> Option<Vec<String>> {
    let protocol = presets().get(provider).map_or(Protocol::OpenaiChat, |preset| preset.protocol);
    let url = format!("{}{}", with_scheme(base_url).trim_end_matches('/'), protocol.list_path());
    let url = reqwest::Url::parse(&url).ok()?;
    let client = client(&url, Timeouts::default()).ok()?;
    let reply = client.get(url).send().await.ok()?;
    if reply.content_length().is_some_and(|size| size > 1024 * 1024) {
        return None;
    }
    let listed: Value = reply.json().await.ok()?;
    let rows = listed["data"].as_array().or_else(|| listed["models"].as_array())?;
    Some(rows.iter().filter_map(id_of).map(str::to_owned).collect())
}
