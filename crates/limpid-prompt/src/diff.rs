//! What differs between two prompts, and how far a provider can reuse the first for the second.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::prompt::PromptMessage;

/// What became of the sections from one prompt to another, and where their common beginning ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PromptDiff {
    /// Sections that differ, in the order in which the newer prompt has them; those that went come last.
    pub sections: Vec<SectionChange>,
    /// The beginning that both prompts share.
    pub prefix: SharedPrefix,
}

/// One section that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SectionChange {
    /// The section's id.
    pub section: String,
    /// How it differs.
    pub change: Change,
    /// Bytes that it had.
    pub before: usize,
    /// Bytes that it has.
    pub after: usize,
}

/// How a section differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Both prompts have it, with another text.
    Changed,
    /// Only the newer prompt has it.
    Appeared,
    /// Only the older prompt has it.
    Went,
}

/// The beginning that two prompts share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SharedPrefix {
    /// Messages that are the same, from the first on.
    pub messages: usize,
    /// Bytes of message text that are the same, from the first on, those of the first differing message included.
    pub bytes: usize,
    /// The section at which the older prompt's text is left, when it is left before its end.
    pub broken_by: Option<String>,
}

/// A message as a comparison sees it; a stored request can be compared like a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedMessage<'a> {
    /// Who speaks.
    pub role: &'a str,
    /// Exactly what goes over the wire.
    pub text: &'a str,
    /// What goes with the text: calls and state, or the call that is answered.
    pub calls: String,
    /// Section and text of each part, in order.
    pub parts: Vec<(&'a str, &'a str)>,
}

/// What differs from the messages of an older prompt to those of a newer one.
pub fn compare(older: &[ComparedMessage<'_>], newer: &[ComparedMessage<'_>]) -> PromptDiff {
    let (old, new) = (texts(older), texts(newer));
    let mut sections = Vec::new();
    for section in order(newer) {
        let after = &new[section];
        let (change, before) = match old.get(section) {
            Some(before) if before == after => continue,
            Some(before) => (Change::Changed, before.len()),
            None => (Change::Appeared, 0),
        };
        sections.push(SectionChange { section: section.to_owned(), change, before, after: after.len() });
    }
    for section in order(older).into_iter().filter(|section| !new.contains_key(section)) {
        let before = old[section].len();
        sections.push(SectionChange { section: section.to_owned(), change: Change::Went, before, after: 0 });
    }
    PromptDiff { sections, prefix: prefix(older, newer) }
}

/// A rendered message as a comparison sees it.
pub fn compared(message: &PromptMessage) -> ComparedMessage<'_> {
    let mut calls = message.call_id.clone().unwrap_or_default();
    for call in &message.calls {
        calls.extend(["\0", &call.id, "\0", &call.name, "\0", &call.arguments]);
    }
    message.state.iter().for_each(|state| calls.extend(["\0", state.json()]));
    ComparedMessage {
        role: message.role().as_str(),
        text: &message.text,
        calls,
        parts: message.parts.iter().map(|part| (part.section.as_str(), part.text.as_str())).collect(),
    }
}

/// Each section's text, its parts in one.
fn texts<'a>(messages: &[ComparedMessage<'a>]) -> BTreeMap<&'a str, String> {
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    for (section, text) in messages.iter().flat_map(|message| &message.parts) {
        texts.entry(section).or_default().push_str(text);
    }
    texts
}

/// The sections in the order of their first part.
fn order<'a>(messages: &[ComparedMessage<'a>]) -> Vec<&'a str> {
    let mut order = Vec::new();
    for (section, _) in messages.iter().flat_map(|message| &message.parts) {
        if !order.contains(section) {
            order.push(section);
        }
    }
    order
}

fn prefix(older: &[ComparedMessage<'_>], newer: &[ComparedMessage<'_>]) -> SharedPrefix {
    let same = |(old, new): &(&ComparedMessage<'_>, &ComparedMessage<'_>)| {
        (old.role, old.text, &old.calls) == (new.role, new.text, &new.calls)
    };
    let messages = older.iter().zip(newer).take_while(same).count();
    let mut bytes = newer[..messages].iter().map(|message| message.text.len()).sum();
    let Some(old) = older.get(messages) else { return SharedPrefix { messages, bytes, broken_by: None } };
    let mut at = 0;
    let new = newer.get(messages);
    if let Some(new) = new.filter(|new| new.role == old.role) {
        at = old.text.bytes().zip(new.text.bytes()).take_while(|(a, b)| a == b).count();
        bytes += at;
    }
    let left = section_at(old, at);
    let met = new.and_then(|new| section_at(new, at));
    // A section that the older prompt does not have at all was put in between; else the older one's was changed or went.
    let put_in = met.filter(|met| !order(older).contains(met));
    SharedPrefix { messages, bytes, broken_by: put_in.or(left).or(met).map(str::to_owned) }
}

/// The section whose part stands at or after a byte of a message's text; the last one behind the end.
fn section_at<'a>(message: &ComparedMessage<'a>, byte: usize) -> Option<&'a str> {
    let mut start = 0;
    for (section, text) in &message.parts {
        let found = message.text.get(start..).and_then(|rest| rest.find(text)).map_or(start, |at| start + at);
        start = found + text.len();
        if byte < start {
            return Some(section);
        }
    }
    message.parts.last().map(|(section, _)| *section)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Parts<'a> = &'a [(&'a str, &'a str)];

    fn message<'a>(role: &'a str, text: &'a str, parts: Parts<'a>) -> ComparedMessage<'a> {
        ComparedMessage { role, text, calls: String::new(), parts: parts.to_vec() }
    }

    fn change(section: &str, change: Change, before: usize, after: usize) -> SectionChange {
        SectionChange { section: section.to_owned(), change, before, after }
    }

    // PRO-032
    #[test]
    fn sections_that_changed_appeared_and_went_are_told_apart() {
        let old =
            [message("system", "soul\n\ngoal\n\nnotes", &[("soul", "soul"), ("goal", "goal"), ("notes", "notes")])];
        let new = [message("system", "soul\n\nplan\n\nnote", &[("soul", "soul"), ("plan", "plan"), ("notes", "note")])];
        let diff = compare(&old, &new);
        assert_eq!(
            diff.sections,
            [
                change("plan", Change::Appeared, 0, 4),
                change("notes", Change::Changed, 5, 4),
                change("goal", Change::Went, 4, 0),
            ]
        );
        assert_eq!(diff.prefix, SharedPrefix { messages: 0, bytes: 6, broken_by: Some("plan".to_owned()) });
    }

    // PRO-044 LES-027
    #[test]
    fn a_prefix_that_shrank_names_its_cause() {
        let history = message("user", "hi", &[("history", "hi")]);
        let old = [message("system", "Calm.\n\nRules", &[("soul", "Calm."), ("rules", "Rules")]), history.clone()];
        let new = [message("system", "Wild.\n\nRules", &[("soul", "Wild."), ("rules", "Rules")]), history];
        assert_eq!(compare(&old, &new).prefix.broken_by.as_deref(), Some("soul"));
    }

    // PRO-041 PRO-044
    #[test]
    fn a_prompt_that_only_grew_is_not_broken() {
        let old = [message("system", "Calm.", &[("soul", "Calm.")]), message("user", "hi", &[("user-message", "hi")])];
        let mut new = old.to_vec();
        new[1].parts = vec![("history", "hi")];
        new.push(message("assistant", "Hello", &[("history", "Hello")]));
        let prefix = compare(&old, &new).prefix;
        assert_eq!(prefix, SharedPrefix { messages: 2, bytes: 7, broken_by: None });
    }

    // PRO-032
    #[test]
    fn a_prompt_does_not_differ_from_itself() {
        let old = [message("system", "Calm.", &[("soul", "Calm.")])];
        let same = SharedPrefix { messages: 1, bytes: 5, broken_by: None };
        assert_eq!(compare(&old, &old), PromptDiff { sections: vec![], prefix: same });
    }
}
