//! A program of the owner's.

use async_trait::async_trait;
use limpid_core::Sentence;
use limpid_tools::Outlet;
use serde_json::json;

use crate::notifications::notice::{Notice, Notifier};

/// A program that reads each notice as a JSON object.
pub(crate) struct Program(Outlet);

impl Program {
    /// Takes the program and its arguments.
    pub(crate) fn new(words: &[String]) -> Self {
        Self(Outlet::Program(words.to_vec()))
    }
}

#[async_trait]
impl Notifier for Program {
    fn name(&self) -> &'static str {
        "command"
    }

    async fn notify(&self, notice: &Notice) -> Result<(), String> {
        self.0
            .hand_over(&json!({ "id": notice.id, "title": notice.title.as_str(), "body": notice.body.as_str(), "link": notice.link }))
            .await
            .map_err(Sentence::into_text)
    }
}
