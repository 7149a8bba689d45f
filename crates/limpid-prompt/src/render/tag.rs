//! The tag of a run's boundaries.

use crate::boundary;
use crate::inputs::{HistoryMessage, Inputs, OutsideText, TrustName};

/// The tag that was drawn for the run, or one made of the foreign texts of the inputs.
///
/// Messages of the conversation are not among them: each has a tag of its own, so that it stays as it was sent.
pub(super) fn of_run(inputs: &Inputs) -> String {
    boundary::tag(&inputs.boundary, foreign_texts(inputs))
}

/// The tag of one message of the conversation: its own, else the run's, else one made of its text.
pub(super) fn of_message(message: &HistoryMessage, inputs: &Inputs) -> String {
    let drawn = message.boundary.as_deref().filter(|tag| boundary::is_tag(tag)).unwrap_or(&inputs.boundary);
    boundary::tag(drawn, [message.content.as_str()])
}

pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// Every text of the inputs that a stranger wrote, in a fixed order.
fn foreign_texts(inputs: &Inputs) -> impl Iterator<Item = &str> {
    let mail = inputs.email.new.iter().flat_map(|mail| [&mail.from, &mail.subject, &mail.preview]);
    let sms = inputs.sms.new.iter().flat_map(|sms| [&sms.from, &sms.preview]);
    let posts = inputs.notifications.new.iter().flat_map(|post| [&post.app, &post.title, &post.preview]);
    let troubles = inputs.email.accounts.iter().filter_map(|account| account.last_error.as_ref());
    let labelled = news(inputs).chain(quoted(inputs)).chain(planned(inputs));
    let labelled = labelled.filter(|(_, trust)| trust.is_foreign()).map(|(text, _)| text);
    mail.chain(sms).chain(posts).chain(troubles).map(OutsideText::raw).chain(labelled)
}

fn news(inputs: &Inputs) -> impl Iterator<Item = (&str, TrustName)> {
    let previous = inputs.heartbeat.previous.iter().map(|report| (report.text.as_str(), report.trust));
    let unread = inputs.heartbeat.quiet.iter().flat_map(|quiet| &quiet.unread);
    previous.chain(unread.flat_map(|new| [(new.title.as_str(), new.trust), (new.text.as_str(), new.trust)]))
}

fn quoted(inputs: &Inputs) -> impl Iterator<Item = (&str, TrustName)> {
    let Inputs { summarize, summary, user, pin, .. } = inputs;
    let skills = inputs.skills.active.iter().chain(&inputs.delegate.skill);
    let messages = summarize.messages.iter().map(|message| (message.content.as_str(), message.trust));
    let texts = [pin, summary, &summarize.existing, &summarize.first, &summarize.second, user];
    let digests = inputs.digests.iter().map(|digest| (digest.text.as_str(), digest.trust));
    let said = texts.into_iter().flatten().map(|quoted| (quoted.text.as_str(), quoted.trust));
    skills.map(|skill| (skill.body.as_str(), skill.trust)).chain(digests).chain(messages).chain(said)
}

fn planned(inputs: &Inputs) -> impl Iterator<Item = (&str, TrustName)> {
    let tasks = inputs.scheduling.tasks.iter();
    let tasks = tasks.flat_map(|task| [(task.description.as_str(), task.trust), (task.prompt.as_str(), task.trust)]);
    let goals = inputs.goal.iter().flat_map(|goal| {
        let steps = goal.checkpoints.iter().map(|step| (step.description.as_str(), goal.trust));
        std::iter::once((goal.description.as_str(), goal.trust)).chain(steps)
    });
    let delegate = &inputs.delegate;
    let worker = std::iter::once(&delegate.task).chain(&delegate.context).map(|text| (text.as_str(), delegate.trust));
    tasks.chain(goals).chain(worker)
}
