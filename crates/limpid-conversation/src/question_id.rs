//! Which question about a call it is.

use std::sync::Arc;

use limpid_core::{CallId, ConversationId};
use limpid_services::directory::is_run;

/// What stands between the conversation of an agent and the name of its call where the chat is asked: names of calls have none.
const OF: char = ' ';

/// One question about a call. Clones are one question; a call that is asked about again is another one, also by the same name, so
/// whoever answers hands back the question that was seen, and an answer to one that is not open any more changes nothing.
#[derive(Clone, Debug)]
pub struct QuestionId {
    call: CallId,
    asked: Arc<()>,
}

impl QuestionId {
    /// A new question about a call, which is no other one.
    pub fn new(call: CallId) -> Self {
        Self { call, asked: Arc::new(()) }
    }

    /// The call that it is about.
    pub fn call(&self) -> &CallId {
        &self.call
    }

    /// The same question of an agent's, as the chat is asked that it works for.
    pub(crate) fn asked_by(&self, own: &ConversationId) -> Self {
        Self { call: CallId::new(format!("{own}{OF}{}", self.call)), asked: Arc::clone(&self.asked) }
    }

    /// The conversation that asked it, where this chat was asked, and the question there.
    pub(crate) fn answered_in(&self, chat: &ConversationId) -> (ConversationId, Self) {
        match self.call.as_str().split_once(OF).map(|(own, call)| (ConversationId::new(own), CallId::new(call))) {
            Some((own, call)) if is_run(&own) => (own, Self { call, asked: Arc::clone(&self.asked) }),
            _ => (chat.clone(), self.clone()),
        }
    }
}

impl PartialEq for QuestionId {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.asked, &other.asked) && self.call == other.call
    }
}

impl Eq for QuestionId {}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-011 SEC-002
    #[test]
    fn a_question_is_itself_wherever_it_is_asked_and_no_other_one_about_the_same_call() {
        let (chat, own) = (ConversationId::new("chat"), ConversationId::new("run-7"));
        assert!(is_run(&own));
        let (seen, later) = (QuestionId::new(CallId::new("c")), QuestionId::new(CallId::new("c")));
        assert_eq!(seen, seen.clone());
        assert_ne!(seen, later);
        assert_eq!(seen.answered_in(&chat), (chat.clone(), seen.clone()));
        let in_chat = seen.asked_by(&own);
        assert!(in_chat != seen && in_chat == seen.asked_by(&own));
        assert_eq!(in_chat.answered_in(&chat), (own, seen));
    }
}
