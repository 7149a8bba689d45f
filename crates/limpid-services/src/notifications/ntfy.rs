//! An ntfy server: a push to every device that follows a topic.

use async_trait::async_trait;
use limpid_core::Sentence;
use limpid_tools::Outlet;
use serde_json::json;

use crate::notifications::notice::{Notice, Notifier};

/// A topic of an ntfy server. Objects go to the server itself, so that titles may hold any character.
pub(crate) struct Ntfy {
    server: Outlet,
    topic: String,
}

impl Ntfy {
    /// Takes the address of the topic: `https://ntfy.sh/my-topic`.
    pub(crate) fn new(address: &str, token: Option<&str>) -> Self {
        let address = address.trim_end_matches('/');
        let (server, topic) = address.rsplit_once('/').unwrap_or((address, ""));
        let server = Outlet::Address { url: format!("{server}/"), token: token.map(str::to_owned) };
        Self { server, topic: topic.to_owned() }
    }
}

#[async_trait]
impl Notifier for Ntfy {
    fn name(&self) -> &'static str {
        "ntfy"
    }

    async fn notify(&self, notice: &Notice) -> Result<(), String> {
        let mut object = json!({
            "topic": self.topic, "title": notice.title.as_str(), "message": notice.body.as_str(), "sequence_id": notice.id,
        });
        if let Some(link) = &notice.link {
            object["click"] = link.as_str().into();
        }
        self.server.hand_over(&object).await.map_err(Sentence::into_text)
    }
}
