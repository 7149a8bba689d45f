//! The tag of a run's boundaries.

use limpid_core::Trust;

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
    let labelled = inputs
        .heartbeat
        .previous
        .iter()
        .map(|report| (report.text.as_str(), report.trust))
        .chain(inputs.skills.active.iter().map(|skill| (skill.body.as_str(), skill.trust)))
        .chain(inputs.delegate.skill.iter().map(|skill| (skill.body.as_str(), skill.trust)))
        .chain(inputs.digests.iter().map(|digest| (digest.text.as_str(), digest.trust)))
        .chain(inputs.pin.iter().map(|pin| (pin.text.as_str(), pin.trust)))
        .chain(inputs.summarize.messages.iter().map(|message| (message.content.as_str(), message.trust)))
        .chain(summaries(inputs).map(|text| (text, inputs.summary_trust)))
        .chain([(inputs.user_message.as_str(), inputs.user_trust)]);
    let labelled = labelled.filter(|(_, trust)| is_foreign(*trust)).map(|(text, _)| text);
    mail.chain(sms).chain(posts).map(OutsideText::raw).chain(labelled)
}

fn summaries(inputs: &Inputs) -> impl Iterator<Item = &str> {
    let texts = [&inputs.summary, &inputs.summarize.existing, &inputs.summarize.first, &inputs.summarize.second];
    texts.into_iter().filter_map(Option::as_deref)
}

fn is_foreign(trust: TrustName) -> bool {
    Trust::from(trust).is_foreign()
}
