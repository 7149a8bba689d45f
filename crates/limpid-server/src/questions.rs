//! Calls and forms that wait for the owner's answer. Each time that one is asked about the question has another number, and an answer names the
//! number, so a yes is to what was seen: a call that has changed since is another question.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use limpid_core::{CallId, ConversationId};
use limpid_runtime::form::FormAnswer;
use limpid_runtime::{ApprovalAnswer, FormQuestion, QuestionId, QuestionPart};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;

/// Numbers that nothing of this process has had, nor, by all odds, anything of one before it: what was seen before a restart is
/// answered by no number of now.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    next: Arc<AtomicU64>,
    waiting: Arc<Mutex<BTreeMap<u64, Waits>>>,
    /// Tells whoever shows how many wait.
    changed: Arc<watch::Sender<u64>>,
}

/// Something that waits for the owner's answer, at the page or for a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waits {
    pub(crate) conversation: ConversationId,
    pub(crate) what: Asks,
}

/// Who asks the owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// The model, whether it may call this tool with these arguments.
    Call { tool: String, arguments: String },
    /// The MCP server of this name.
    Server(String),
}

impl Numbers {
    /// Numbers that begin at a place that was drawn, as eight hexadecimal digits. All of them are whole numbers in JavaScript.
    pub(crate) fn beginning(epoch: &str) -> Self {
        let drawn = u64::from_str_radix(epoch, 16).unwrap_or_default() & u64::from(u32::MAX);
        Self { next: Arc::new(AtomicU64::new(drawn << 20)), waiting: Arc::default(), changed: Arc::default() }
    }

    /// The next one.
    pub(crate) fn next(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// All that waits, the oldest first.
    pub(crate) fn waiting(&self) -> Vec<Waits> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Hears that something else waits than before.
    pub(crate) fn listen(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<u64, Waits>)) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let before = waiting.len();
        change(&mut waiting);
        let is_other = waiting.len() != before;
        drop(waiting);
        // What is asked again in other words is the same as far as anybody counts.
        if is_other {
            self.changed.send_modify(|times| *times = times.wrapping_add(1));
        }
    }
}

/// The questions of a conversation.
pub(crate) struct Questions {
    conversation: ConversationId,
    waiting: BTreeMap<u64, Question>,
    forms: BTreeMap<u64, (FormQuestion, FormEnd)>,
    numbers: Numbers,
}

/// What came of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FormEnd {
    /// Nothing: it waits, or whoever asked did not wait any longer.
    Open,
    /// It was filled in and sent.
    Sent,
    /// The owner said no.
    Refused,
}

/// A call that waits, and who is to be told the answer.
pub(crate) struct Question {
    pub(crate) part: QuestionPart,
    pub(crate) can_clean: bool,
    pub(crate) told: UnboundedSender<(QuestionId, ApprovalAnswer)>,
}

impl Questions {
    /// None yet.
    pub(crate) fn new(conversation: &ConversationId, numbers: Numbers) -> Self {
        Self { conversation: conversation.clone(), waiting: BTreeMap::new(), forms: BTreeMap::new(), numbers }
    }

    /// A call waits; the number by which it is answered. What was asked about the same call before is no question any more.
    pub(crate) fn ask(&mut self, question: Question) -> u64 {
        let same = self.waiting.iter().filter(|(_, other)| other.part.id.call() == question.part.id.call());
        self.forget(&same.map(|(number, _)| *number).collect::<Vec<_>>());
        let QuestionPart { name, arguments, .. } = &question.part;
        let number = self.wait(Asks::Call { tool: name.clone(), arguments: arguments.clone() });
        self.waiting.insert(number, question);
        number
    }

    /// Answers a question. Says whether it waited and the answer was one that was offered.
    pub(crate) fn answer(&mut self, number: u64, answer: ApprovalAnswer) -> bool {
        let Some(question) = self.waiting.get(&number) else { return false };
        let offered = match answer {
            ApprovalAnswer::Once | ApprovalAnswer::No => true,
            ApprovalAnswer::Always => question.part.pattern.is_some(),
            ApprovalAnswer::CleanFirst => question.can_clean,
        };
        if !offered {
            return false;
        }
        let told = question.told.send((question.part.id.clone(), answer)).is_ok();
        self.forget(&[number]);
        told
    }

    /// Whether a question about this call waits.
    pub(crate) fn is_asked(&self, call: &CallId) -> bool {
        self.waiting.values().any(|question| question.part.id.call() == call)
    }

    /// A form waits; the number by which it is answered.
    pub(crate) fn ask_form(&mut self, form: FormQuestion) -> u64 {
        let number = self.wait(Asks::Server(form.form().from.clone()));
        self.forms.insert(number, (form, FormEnd::Open));
        number
    }

    /// The form of a number, if it still waits.
    pub(crate) fn form(&self, number: u64) -> Option<FormQuestion> {
        let (form, end) = self.forms.get(&number)?;
        (*end == FormEnd::Open && form.is_open()).then(|| form.clone())
    }

    /// Answers a form. Says whether the answer was still waited for.
    pub(crate) fn answer_form(&mut self, number: u64, answer: FormAnswer) -> bool {
        let Some((form, end)) = self.forms.get_mut(&number) else { return false };
        let sent = if matches!(answer, FormAnswer::Given(_)) { FormEnd::Sent } else { FormEnd::Refused };
        let told = form.answer(answer);
        if told {
            *end = sent;
            self.numbers.change(|waiting| drop(waiting.remove(&number)));
        }
        told
    }

    /// Forgets a form, and says what came of it.
    pub(crate) fn end_form(&mut self, number: u64) -> FormEnd {
        self.numbers.change(|waiting| drop(waiting.remove(&number)));
        self.forms.remove(&number).map_or(FormEnd::Open, |(_, end)| end)
    }

    /// These are no questions any more.
    pub(crate) fn forget(&mut self, numbers: &[u64]) {
        self.waiting.retain(|number, _| !numbers.contains(number));
        self.forms.retain(|number, _| !numbers.contains(number));
        self.numbers.change(|waiting| waiting.retain(|number, _| !numbers.contains(number)));
    }

    /// Nothing is asked any more.
    pub(crate) fn clear(&mut self) {
        let numbers: Vec<u64> = self.waiting.keys().chain(self.forms.keys()).copied().collect();
        self.forget(&numbers);
    }

    fn wait(&self, what: Asks) -> u64 {
        let number = self.numbers.next();
        let waits = Waits { conversation: self.conversation.clone(), what };
        self.numbers.change(|waiting| drop(waiting.insert(number, waits)));
        number
    }
}

impl Drop for Questions {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    // SEC-011 SEC-077
    #[test]
    fn an_answer_is_to_the_question_that_was_seen_and_to_no_later_one_about_the_same_call() {
        let (told, mut heard) = unbounded_channel();
        let part = |arguments: &str| QuestionPart {
            id: QuestionId::new(CallId::new("c")),
            name: "write_file".to_owned(),
            arguments: arguments.to_owned(),
            about: None,
            folder: String::new(),
            destination: None,
            reason: String::new(),
            pattern: None,
            whole: true,
        };
        let question = |arguments: &str| Question { part: part(arguments), can_clean: false, told: told.clone() };
        let numbers = Numbers::beginning("00000001");
        let chat = ConversationId::new("chat");
        let mut questions = Questions::new(&chat, numbers.clone());
        let seen = questions.ask(question("one"));
        let two = question("two");
        let asked = two.part.id.clone();
        let changed = questions.ask(two);
        assert!(!questions.answer(seen, ApprovalAnswer::Once), "the call has changed");
        assert!(!questions.answer(changed, ApprovalAnswer::Always), "it was not offered");
        let what = Asks::Call { tool: "write_file".to_owned(), arguments: "two".to_owned() };
        let waits = Waits { conversation: chat.clone(), what };
        assert_eq!(numbers.waiting(), [waits], "it is one question, and waits");
        assert!(questions.is_asked(&CallId::new("c")));
        assert!(questions.answer(changed, ApprovalAnswer::Once));
        assert!(!questions.answer(changed, ApprovalAnswer::Once), "it is answered once");
        assert_eq!(numbers.waiting(), []);
        assert_eq!(heard.try_recv().unwrap(), (asked, ApprovalAnswer::Once), "the answer names the question");
        assert!(!questions.is_asked(&CallId::new("c")));
        assert!(heard.try_recv().is_err());
        // Neither one that is made anew nor another process has a number of those.
        let mut forgotten = Questions::new(&chat, numbers.clone());
        assert!(forgotten.ask(question("three")) > changed);
        drop(forgotten);
        assert_eq!(numbers.waiting(), []);
        let mut restarted = Questions::new(&chat, Numbers::beginning("00000002"));
        let later = restarted.ask(question("four"));
        assert!(!restarted.answer(seen, ApprovalAnswer::Once) && later != changed);
    }
}
