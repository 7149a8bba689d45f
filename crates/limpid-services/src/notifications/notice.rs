//! What the owner is told, and a way to tell it.

use async_trait::async_trait;
use limpid_core::ConversationId;
use limpid_prompt::shown::Shown;
use limpid_store::DeliveryOrigin;
use sha2::{Digest as _, Sha256};

/// Bytes of a hash in the name of a matter.
const HASH: usize = 6;

/// A way to tell the owner something.
#[async_trait]
pub trait Notifier: Send + Sync {
    /// What it is called when it fails.
    fn name(&self) -> &'static str;

    /// Whether there is anybody to tell it to.
    fn is_set_up(&self) -> bool {
        true
    }

    /// Tells it once.
    ///
    /// # Errors
    /// A sentence: why it could not. No run fails for it.
    async fn notify(&self, notice: &Notice) -> Result<(), String>;
}

/// What a notice is about.
pub enum Matter<'a> {
    /// The reports of the heartbeat: a later one takes the place of the last.
    Reports,
    /// Something of its own, by the key of its delivery.
    Own(&'a str),
}

impl<'a> Matter<'a> {
    /// What a delivery is about.
    pub fn of(key: &'a str, origin: DeliveryOrigin) -> Self {
        if origin == DeliveryOrigin::Heartbeat { Self::Reports } else { Self::Own(key) }
    }

    /// What a notice of it in a conversation is called. What a stranger's text led to takes the place of nothing that the owner wanted to
    /// be told. Letters, digits, `-` and `_`, as ntfy wants.
    pub(super) fn id(&self, conversation: &ConversationId, is_foreign: bool) -> String {
        match self {
            Self::Reports if is_foreign => format!("{conversation}-others"),
            Self::Reports => conversation.to_string(),
            Self::Own(key) => {
                let hash = Sha256::digest(key);
                let digits: String = hash.iter().take(HASH).map(|byte| format!("{byte:02x}")).collect();
                format!("{conversation}-{digits}")
            }
        }
    }
}

/// What the owner is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What it is about; a later one about the same thing takes its place.
    pub id: String,
    /// Its title.
    pub title: Shown,
    /// What it says. A [`Notifier`] gets it on one short line without markup.
    pub body: Shown,
    /// Where it can be read and answered: the page of its conversation, when the owner has set where pages are.
    pub link: Option<String>,
}
