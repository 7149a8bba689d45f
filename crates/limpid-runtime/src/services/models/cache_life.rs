//! How long providers are asked to keep what they have read: what the owner set for a path, or what the gaps between
//! requests suggest.

use limpid_config::CacheSetting;
use limpid_core::{CacheLife, ConversationId};
use limpid_store::{RequestFilter, RequestSummary};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::agent::Inner;
use crate::services::error::AgentError;

/// Requests whose gaps are looked at.
const MEASURED: u32 = 100;

impl Inner {
    /// How long what a path sends next is to be kept; it is taken once a turn. A conversation that has not been measured yet
    /// is taken to be like the others of its path: runs of tasks and heartbeats have a conversation each.
    pub(crate) async fn cache_life(
        &self,
        path: &str,
        conversation: Option<&ConversationId>,
    ) -> Result<CacheLife, AgentError> {
        match self.config.path.get(path).map(|path| path.cache).unwrap_or_default() {
            CacheSetting::Fixed(life) => Ok(life),
            CacheSetting::Auto => {
                let of_path =
                    RequestFilter { path: Some(path.to_owned()), limit: MEASURED, ..RequestFilter::default() };
                let own = RequestFilter { conversation: conversation.cloned(), ..of_path.clone() };
                let mut rows = self.store.requests(own).await?.rows;
                if rows.len() < 2 {
                    rows = self.store.requests(of_path).await?.rows;
                }
                Ok(CacheLife::for_gaps(gaps(&rows, self.host.now_ms())))
            }
        }
    }
}

/// The gaps between requests, of which the newest comes first, and the one that ends now.
fn gaps(rows: &[RequestSummary], now_ms: i64) -> impl Iterator<Item = i64> {
    let sent = rows.iter().map(|row| row.sent_ms);
    std::iter::once(now_ms).chain(sent.clone()).zip(sent).map(|(later, earlier)| later - earlier)
}

/// Writes it as settings do.
pub(crate) fn write<S: Serializer>(life: &CacheLife, to: S) -> Result<S::Ok, S::Error> {
    life.as_str().serialize(to)
}

/// Reads it; what a newer version wrote is the default.
pub(crate) fn read<'de, D: Deserializer<'de>>(from: D) -> Result<CacheLife, D::Error> {
    Ok(CacheLife::parse(&String::deserialize(from)?).unwrap_or_default())
}
