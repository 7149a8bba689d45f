//! Access tokens that were fetched.

use std::collections::HashMap;
use std::sync::Arc;

use limpid_channels::mail::Secret;
use tokio::sync::Mutex;

/// The access tokens that this process has fetched, by account.
pub(crate) type Tokens = Arc<Mutex<HashMap<String, Fetched>>>;

/// What was fetched for an account.
pub(crate) struct Fetched {
    pub(super) token: Secret,
    pub(super) until_ms: i64,
    /// What takes the place of the refresh token from here on.
    pub(super) renewed: Option<Secret>,
}
