//! Reading the ledger: what was sent, what it cost, what changed, and sending it again (PRO-044, PRO-052, PRO-055).

use limpid_core::{RequestId, ToolCall};
use limpid_prompt::diff::{ComparedMessage, PromptDiff, compare};
use limpid_store::{
    CostBy, CostQuery, CostRow, Pruned, Request, RequestFilter, RequestMessage, RequestSummary, Retention,
};

use crate::agent::Agent;
use crate::error::AgentError;

const MS_PER_DAY: i64 = 86_400_000;

impl Agent {
    /// Requests that were sent, newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn requests(&self, filter: RequestFilter) -> Result<Vec<RequestSummary>, AgentError> {
        Ok(self.inner.store.requests(filter).await?.rows)
    }

    /// One request, byte for byte; the beginning of its id is enough when no other begins so.
    ///
    /// # Errors
    /// When no request or more than one has such an id.
    pub async fn request(&self, id: &str) -> Result<Request, AgentError> {
        let missing = || AgentError::NotFound {
            what: "request",
            name: id.to_owned(),
            advice: "`limpid prompt log` lists them".to_owned(),
        };
        if let Some(request) = self.inner.store.request(&RequestId::new(id)).await? {
            return Ok(request);
        }
        let filter = RequestFilter { id_prefix: Some(id.to_owned()), limit: 2, ..RequestFilter::default() };
        let found = self.inner.store.requests(filter).await?.rows;
        match found.as_slice() {
            [only] if !id.is_empty() => self.inner.store.request(&only.id).await?.ok_or_else(missing),
            [] => Err(missing()),
            _ => Err(AgentError::Invalid(format!("more than one request begins with `{id}`; write more of its id"))),
        }
    }

    /// What differs from one request to another.
    ///
    /// # Errors
    /// As [`Agent::request`].
    pub async fn request_diff(&self, older: &str, newer: &str) -> Result<PromptDiff, AgentError> {
        let (older, newer) = (self.request(older).await?, self.request(newer).await?);
        Ok(compare(&compared(&older.messages), &compared(&newer.messages)))
    }

    /// Tokens and money by path, model, day (in the owner's zone) or conversation.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn costs(
        &self,
        by: CostBy,
        since_ms: Option<i64>,
        until_ms: Option<i64>,
    ) -> Result<Vec<CostRow>, AgentError> {
        let offset = self.inner.zone().to_offset(self.inner.clock.now());
        let query = CostQuery { by, since_ms, until_ms, utc_offset_min: offset.seconds() / 60 };
        Ok(self.inner.store.costs(query).await?)
    }

    /// Deletes the requests that are older or more than the owner keeps.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn prune_ledger(&self) -> Result<Pruned, AgentError> {
        let keep = &self.inner.config.ledger;
        let retention = Retention {
            before_ms: Some(self.inner.now_ms() - i64::from(keep.keep_days) * MS_PER_DAY),
            max_bytes: Some(keep.keep_megabytes.saturating_mul(1_000_000)),
        };
        Ok(self.inner.store.prune_requests(retention).await?)
    }
}

/// Stored messages as a comparison sees them.
pub fn compared(messages: &[RequestMessage]) -> Vec<ComparedMessage<'_>> {
    messages.iter().map(compared_message).collect()
}

fn compared_message(message: &RequestMessage) -> ComparedMessage<'_> {
    let mut calls = message.call_id.as_ref().map(ToString::to_string).unwrap_or_default();
    for ToolCall { id, name, arguments } in &message.calls {
        calls.extend(["\0", id.as_str(), "\0", name, "\0", arguments]);
    }
    ComparedMessage {
        role: message.role.as_str(),
        text: &message.text,
        calls,
        parts: message.parts.iter().map(|part| (part.section.as_str(), part.text.as_str())).collect(),
    }
}
