//! Links that a turn reserved to open: all of those in a result, as soon as it is there.
//!
//! The model has no say in which of them or in their order, so of what it has read the addresses that are asked for say nothing.
//! Whether and when it makes the call with the result is its own.

use std::sync::Arc;
use std::time::Duration;

use limpid_core::policy::{links_among_private, links_in};
use limpid_core::{CallId, Labelled, Sentence, ToolCall, Trust, sentence};
use limpid_services::tools::{
    CallContext, Decision, Reservation, ToolContext, TurnToolExecutor, WindowFacts, address_of, is_of_public,
};
use limpid_turn::{PlannedCall, ToolOutcome};

/// Links of one result that are opened; of a result with more of them, none is.
const MOST: usize = 10;

/// The right to open the links of one result.
pub(super) struct OpenedLinks {
    pub(super) reservation: Reservation,
    /// What the call with that result was judged by.
    pub(super) judged: CallContext,
    pub(super) now_ms: i64,
    /// How long a link may take, when its tool has no time of its own.
    pub(super) timeout: Duration,
}

impl OpenedLinks {
    /// Puts the pages behind the result of a call.
    pub(super) async fn open(
        mut self,
        tools: &Arc<TurnToolExecutor>,
        context: &ToolContext,
        id: &CallId,
        read: ToolOutcome,
    ) -> ToolOutcome {
        let read_by = self.reservation.result.as_ref().map(|later| later.tool.as_str());
        let is_public = read_by.is_some_and(|tool| tools.is_public(tool)) && is_of_public(read.text());
        let links = if is_public { links_in(read.text()) } else { links_among_private(read.text()) };
        let trust = context.trust.join(read.trust());
        let mut said = Sentence::from(read.said);
        if links.len() > MOST {
            said = sentence!("{}\n\nOf its {} links none was opened: {} are the most.", said, links.len(), MOST);
            return ToolOutcome::done(said, || tools.new_tag());
        }
        for (number, link) in links.into_iter().enumerate() {
            let call = ToolCall {
                id: CallId::new(format!("{id}.{}", number + 1)),
                name: self.reservation.tool.clone(),
                arguments: self.reservation.filled(&link).to_string(),
            };
            let page = self.page(tools, ToolContext { trust, ..context.clone() }, (&call, &link)).await;
            said = sentence!("{}\n\n{}:\n{}", said, Labelled::new(link, trust), page);
        }
        ToolOutcome::done(said, || tools.new_tag())
    }

    /// What one link leads to, or why it was not opened.
    async fn page(
        &mut self,
        tools: &Arc<TurnToolExecutor>,
        context: ToolContext,
        (call, link): (&ToolCall, &str),
    ) -> Sentence {
        let timeout = tools.timeout_of(&call.name).unwrap_or(self.timeout);
        let planned = PlannedCall { call: call.clone(), timeout, approved: None };
        match tools.decide(&planned, &self.judged_for(link, context.trust), self.now_ms).await {
            Decision::Run(permit) => {
                if let Some(address) = permit.fetches() {
                    self.judged.note_fetch(address);
                }
                match tokio::time::timeout(timeout, tools.run(context, *permit)).await {
                    Ok(outcome) => outcome.said.into(),
                    Err(_) => "it took too long and was stopped".into(),
                }
            }
            Decision::Refused(why) => why,
            Decision::Ask(why) => sentence!("not opened: {}", Labelled::new(why.reason, Trust::Outside)),
        }
    }

    /// What a link is judged by: the right names it.
    fn judged_for(&self, link: &str, trust: Trust) -> CallContext {
        let window = WindowFacts { link: address_of(link), ..WindowFacts::unknown() };
        CallContext { trust, window, reserved: false, ..self.judged.clone() }
    }
}
