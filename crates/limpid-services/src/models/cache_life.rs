//! How long providers are asked to keep what they have read: what the owner set for a path, or what the gaps between
//! requests suggest.

use limpid_config::{CacheSetting, Config};
use limpid_core::{CacheLife, ConversationId};
use limpid_store::Store;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::AgentError;

/// Requests whose gaps are looked at.
const MEASURED: u32 = 100;

/// How long what a path sends next is to be kept; it is taken once a turn. A conversation that has not been measured yet
/// is taken to be like the others of its path: runs of tasks and heartbeats have a conversation each.
///
/// # Errors
/// When the store cannot be read.
pub async fn cache_life(
    store: &dyn Store,
    config: &Config,
    (path, conversation): (&str, Option<&ConversationId>),
    now_ms: i64,
) -> Result<CacheLife, AgentError> {
    match config.path.get(path).map(|path| path.cache).unwrap_or_default() {
        CacheSetting::Fixed(life) => Ok(life),
        CacheSetting::Auto => {
            let mut sent = match conversation {
                Some(_) => store.sent_times(path, conversation, MEASURED).await?,
                None => Vec::new(),
            };
            if sent.len() < 2 {
                sent = store.sent_times(path, None, MEASURED).await?;
            }
            Ok(CacheLife::for_gaps(gaps(&sent, now_ms)))
        }
    }
}

/// The gaps between requests, of which the newest comes first, and the one that ends now.
fn gaps(sent: &[i64], now_ms: i64) -> impl Iterator<Item = i64> {
    let sent = sent.iter().copied();
    std::iter::once(now_ms).chain(sent.clone()).zip(sent).map(|(later, earlier)| later - earlier)
}

/// Writes it as settings do.
///
/// # Errors
/// When the serializer refuses it.
pub fn write<S: Serializer>(life: &CacheLife, to: S) -> Result<S::Ok, S::Error> {
    life.as_str().serialize(to)
}

/// Reads it; what a newer version wrote is the default.
///
/// # Errors
/// When it is not text.
pub fn read<'de, D: Deserializer<'de>>(from: D) -> Result<CacheLife, D::Error> {
    Ok(CacheLife::parse(&String::deserialize(from)?).unwrap_or_default())
}
