//! A hold on the turn that answers a message.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::Stream;
use limpid_core::ConversationId;
use limpid_services::directory::ConversationChoice;
use limpid_services::error::AgentError;
use limpid_store::InboundId;

use crate::actors::Command;
use crate::conversations::Conversations;
use crate::conversations::request::ChatRequest;
use crate::event::{ApprovalAnswer, QuestionPart, TurnEvent};
use crate::question_id::QuestionId;
use crate::visible_events::VisibleEvents;

/// A message that was accepted: its events, and a hold on the turn that answers it.
///
/// Dropping it does not stop the turn.
pub struct TurnHandle {
    pub(super) conversations: Conversations,
    pub(super) conversation: ConversationId,
    pub(super) message: InboundId,
    pub(super) events: VisibleEvents,
}

impl TurnHandle {
    /// The conversation.
    pub fn conversation(&self) -> &ConversationId {
        &self.conversation
    }

    /// The next event; none after the last one.
    pub async fn next(&mut self) -> Option<TurnEvent> {
        self.events.next().await
    }

    /// Stops the turn: what was said so far is kept. Where none has begun, the message is taken back.
    pub fn cancel(&self) {
        self.conversations.actors.tell(&self.conversation, Command::Cancel(Some(self.message)));
    }

    /// Answers the part of a question that is about a call; an answer to a question that is not open any more changes nothing.
    pub fn answer(&self, question: &QuestionId, answer: ApprovalAnswer) {
        let (conversation, question) = question.answered_in(&self.conversation);
        self.conversations.actors.tell(&conversation, Command::Answer { question, answer });
    }

    /// Answers the parts of a question, each with the answer at its place.
    pub fn answer_all(&self, parts: &[QuestionPart], answers: &[ApprovalAnswer]) {
        for (part, answer) in parts.iter().zip(answers) {
            self.answer(&part.id, *answer);
        }
    }

    /// Says something more while the turn runs; it is answered by this turn or by the next one.
    ///
    /// # Errors
    /// As [`Conversations::chat`].
    pub async fn steer(&self, text: impl Into<String>) -> Result<Self, AgentError> {
        let conversation = ConversationChoice::Id(self.conversation.clone());
        self.conversations.chat(ChatRequest { conversation, text: text.into(), ..ChatRequest::default() }).await
    }
}

impl std::fmt::Debug for TurnHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TurnHandle").field("conversation", &self.conversation).finish_non_exhaustive()
    }
}

impl Stream for TurnHandle {
    type Item = TurnEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<TurnEvent>> {
        self.events.poll(context)
    }
}
