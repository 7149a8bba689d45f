//! The system prompt that was sent last, and why the next one is different.

use limpid_core::{Role, Tier};
use limpid_prompt::count::TokenCounter;
use limpid_prompt::prompt::hash_of;
use limpid_prompt::{Prompt, Subject};
use serde::{Deserialize, Serialize};

/// A system prompt without its text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LastPrompt {
    pub(super) hash: String,
    profile: String,
    pub(super) mode: String,
    pub(super) tier: u8,
    /// The hash of each section.
    sections: Vec<(String, String)>,
    /// What a change of each of these sections is called.
    #[serde(default)]
    reasons: Vec<String>,
}

/// A prompt that was made, with what a [`LastPrompt`] keeps of it.
pub(crate) struct NewPrompt<'a> {
    pub(crate) prompt: &'a Prompt,
    pub(crate) mode: &'a str,
    /// The tier that it was made in: the path's own or the frame's.
    pub(crate) tier: Tier,
    /// What budgets cut, a line each.
    pub(crate) trims: Vec<String>,
    pub(crate) counter: &'a dyn TokenCounter,
}

impl LastPrompt {
    pub(super) fn of(made: &NewPrompt<'_>) -> Self {
        let messages = made.prompt.messages().iter().filter(|message| message.role() == Role::System);
        let (mut sections, mut reasons) = (Vec::new(), Vec::new());
        for message in messages {
            let parts = message.parts().chunk_by(|a, b| a.section() == b.section());
            for parts in parts {
                let hash = hash_of(parts.iter().map(|part| part.text().as_bytes()));
                let Some(first) = parts.first() else { continue };
                sections.push((first.section().to_owned(), hash));
                reasons.push(reason_of(first.subject()).to_owned());
            }
        }
        Self {
            hash: made.prompt.system_hash(),
            profile: made.prompt.profile().to_owned(),
            mode: made.mode.to_owned(),
            tier: made.tier.number(),
            sections,
            reasons,
        }
    }

    /// Why the text is another one than before.
    pub(super) fn reason<'s>(&'s self, before: Option<&'s Self>) -> &'s str {
        let Some(before) = before else { return "first" };
        if before.profile != self.profile {
            return "profile";
        }
        if before.mode != self.mode {
            return "mode";
        }
        if before.tier != self.tier {
            return "tier";
        }
        fn differ<'s>(a: &'s LastPrompt, b: &LastPrompt) -> impl Iterator<Item = &'s str> {
            let changed = a.sections.iter().enumerate().filter(|(_, section)| !b.sections.contains(section));
            changed.filter_map(|(at, _)| a.reasons.get(at)).map(String::as_str)
        }
        let changed: Vec<&str> = differ(self, before).chain(differ(before, self)).collect();
        let order = ["goal", "skills", "tools", "memory"];
        order.into_iter().find(|reason| changed.contains(reason)).unwrap_or("files")
    }
}

/// What it is called that a section changed.
const fn reason_of(subject: Subject) -> &'static str {
    match subject {
        Subject::Goal => "goal",
        Subject::Skills => "skills",
        Subject::Tools => "tools",
        Subject::Memory => "memory",
        Subject::Instructions | Subject::Pin | Subject::Digests | Subject::Message => "files",
    }
}

impl NewPrompt<'_> {
    /// Tokens of the system prompt.
    pub(super) fn tokens(&self) -> usize {
        let system = self.prompt.messages().iter().filter(|message| message.role() == Role::System);
        system.map(|message| self.counter.count(message.text())).sum()
    }
}
