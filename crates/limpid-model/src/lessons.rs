//! What a model is known not to take, and how a call is sent to it accordingly.

use std::collections::{BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use limpid_core::Effort;
use limpid_prompt::{PromptMessage, StatePart};

use crate::abilities::{Abilities, ForcedTools};
use crate::model::{ModelCall, ReplyForm, ToolUse};
use crate::openai_names::is_openai_reasoning;
use crate::protocol::Dialect;
use crate::remedy::{Field, Remedy};
use crate::wire::WireCall;

/// What a model is known not to take: what its profile says, and what its provider has said since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lessons {
    fields: BTreeSet<Field>,
    /// No tool can be forced.
    unforced: bool,
    /// It does not reason in a call that offers tools.
    tools_unreasoned: bool,
    /// Tokens that a reply may have at most.
    most: Option<u32>,
    /// Tools that are declared without the strict form of their schemas, by their names here.
    loose: BTreeSet<String>,
    /// Tools that are left out, by their names here.
    left_out: BTreeSet<String>,
    /// State goes back without the ids that it came with.
    without_ids: bool,
    /// State that was refused, as hashes.
    state: HashSet<u64>,
}

impl Lessons {
    /// What a profile says.
    pub(crate) fn of(abilities: &Abilities) -> Self {
        Self {
            fields: abilities.refuses.iter().flatten().copied().collect(),
            unforced: abilities.forced_tools == Some(ForcedTools::Never),
            tools_unreasoned: abilities.tools_unreasoned == Some(true),
            most: abilities.max_output,
            loose: BTreeSet::new(),
            left_out: BTreeSet::new(),
            without_ids: false,
            state: HashSet::new(),
        }
    }

    /// The same, and what the refusal of a call teaches.
    pub(crate) fn and(&self, remedy: &Remedy, refused: &ModelCall) -> Self {
        let mut lessons = self.clone();
        match remedy {
            Remedy::Without(Field::ToolChoice) if matches!(refused.tools, ToolUse::Must(_)) => lessons.unforced = true,
            Remedy::Without(field) => {
                // The limit has one of two names, so what was said last counts.
                let other = match field {
                    Field::MaxTokens => Some(Field::MaxCompletionTokens),
                    Field::MaxCompletionTokens => Some(Field::MaxTokens),
                    _ => None,
                };
                other.map(|other| lessons.fields.remove(&other));
                lessons.fields.insert(*field);
            }
            Remedy::ShorterReply(most) => lessons.most = Some(*most),
            // Which tool it is, is known only where the tools were declared.
            Remedy::WithoutTool(_) => {}
            Remedy::WithoutReasoningBesideTools => lessons.tools_unreasoned = true,
            Remedy::WithoutIds => lessons.without_ids = true,
            Remedy::WithoutState => {
                let state = refused.prompt.messages().iter().flat_map(PromptMessage::state);
                lessons.state.extend(state.map(|state| hash(&StatePart::input(state).json)));
            }
        }
        lessons
    }

    /// The same, and that the schema of this tool was refused: its strict form, or any.
    pub(crate) fn and_tool(&self, name: &str, strict: bool) -> Self {
        let mut lessons = self.clone();
        if strict {
            lessons.loose.insert(name.to_owned())
        } else {
            lessons.left_out.insert(name.to_owned())
        };
        lessons
    }

    /// Tools that are left out, by their names here.
    pub(crate) fn left_out(&self) -> &BTreeSet<String> {
        &self.left_out
    }

    /// Whether a tool is declared without the strict form of its schema.
    pub(crate) fn is_loose(&self, tool: &str) -> bool {
        self.loose.contains(tool)
    }

    /// Whether a field must not be sent.
    pub(crate) fn refuses(&self, field: Field) -> bool {
        self.fields.contains(&field)
    }

    /// Takes out of a call what is not taken.
    pub(crate) fn apply(&self, call: &mut WireCall<'_>) {
        call.leave_out(&self.left_out);
        if self.refuses(Field::ToolSearch) {
            call.declare_all();
        }
        let sampling = &mut call.sampling;
        sampling.temperature = sampling.temperature.filter(|_| !self.refuses(Field::Temperature));
        sampling.top_p = sampling.top_p.filter(|_| !self.refuses(Field::TopP));
        sampling.seed = sampling.seed.filter(|_| !self.refuses(Field::Seed));
        sampling.max_output = sampling.max_output.map(|limit| limit.min(self.most.unwrap_or(limit)));
        if self.refuses(Field::ToolChoice) || (self.unforced && matches!(*call.choice, ToolUse::Must(_))) {
            call.choice = std::borrow::Cow::Borrowed(&ToolUse::Auto);
        }
        if self.refuses(Field::ResponseFormat) {
            call.reply = std::borrow::Cow::Owned(ReplyForm::Text);
        }
        if self.tools_unreasoned && !call.tools.is_empty() {
            (call.reasoning.effort, call.reasoning.reasons, call.reasoning.shown) = (Effort::Off, false, false);
        }
        if self.refuses(Field::Reasoning) {
            (call.reasoning.effort, call.reasoning.shown) = (Effort::Default, false);
        }
        if self.refuses(Field::PromptCacheKey) {
            call.conversation = None;
        }
        call.state_ids = !self.without_ids;
        for message in &mut call.messages {
            message.cache_mark &= !self.refuses(Field::CacheControl);
            if !self.state.is_empty() {
                message.state.retain(|state| !self.state.contains(&hash(state.json.get())));
            }
        }
    }

    /// The dialect in which this model is asked.
    pub(crate) fn dialect(&self, dialect: Dialect, model: &str) -> Dialect {
        let by_name = dialect.completion_limit || is_openai_reasoning(model);
        let completion_limit = (by_name || self.refuses(Field::MaxTokens)) && !self.refuses(Field::MaxCompletionTokens);
        let counts_unasked = dialect.counts_unasked || self.refuses(Field::StreamOptions);
        Dialect { completion_limit, counts_unasked, ..dialect }
    }

    /// What a person is told when this was just learned of a model, with what makes it lasting in `models.toml`.
    pub(crate) fn notice(&self, name: &str, remedy: &Remedy) -> String {
        let (what, line) = match remedy {
            Remedy::WithoutTool(_) => {
                let tools: Vec<String> = self.left_out.iter().map(|tool| format!("`{tool}`")).collect();
                let (tools, which) = (tools.join(", "), if tools.len() == 1 { "it" } else { "them" });
                return format!(
                    "{name} refuses the schema of {tools} and is asked without {which} until the restart; correct the schema or \
                     remove the tool."
                );
            }
            Remedy::WithoutIds => {
                return format!(
                    "{name} does not know the reasoning of its earlier answers by its ids, so it gets it without them."
                );
            }
            Remedy::WithoutState => {
                return format!(
                    "{name} did not take back the reasoning of its earlier answers, so it was left out; the conversation \
                     goes on."
                );
            }
            Remedy::ShorterReply(most) => {
                (format!("gives replies of at most {most} tokens"), format!("max_output = {most}"))
            }
            Remedy::WithoutReasoningBesideTools => {
                ("takes tools here only while it does not reason".to_owned(), "tools_unreasoned = true".to_owned())
            }
            Remedy::Without(Field::ToolChoice) if self.unforced => {
                ("does not let a tool be forced".to_owned(), "forced_tools = \"never\"".to_owned())
            }
            Remedy::Without(field) => {
                let fields: Vec<String> = self.fields.iter().map(|field| format!("\"{}\"", field.as_str())).collect();
                (format!("refuses `{}`", field.as_str()), format!("refuses = [{}]", fields.join(", ")))
            }
        };
        format!(
            "{name} {what}, and is asked accordingly from now on. To keep it so after a restart, add this to models.toml \
             in the home folder:\n[[model]]\nnames = [\"{name}\"]\n{line}"
        )
    }
}

fn hash(json: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    json.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    // MOD-071
    #[test]
    fn the_limit_has_the_name_that_the_model_takes() {
        let new = [
            "gpt-5",
            "gpt-5-mini-2025-08-07",
            "openai/gpt-6.1-sol",
            "azure/GPT-5.2",
            "o1",
            "o3-mini",
            "o4-mini",
            "gpt-10",
        ];
        let old =
            ["gpt-4o", "gpt-4.1", "gpt-3.5-turbo", "gpt-oss-120b", "olmo-3", "openchat", "o", "llama3.2", "", "/"];
        let by_name = |model: &str| Lessons::default().dialect(Dialect::default(), model).completion_limit;
        assert_eq!(new.into_iter().filter(|model| !by_name(model)).collect::<Vec<_>>(), [""; 0]);
        assert_eq!(old.into_iter().filter(|model| by_name(model)).collect::<Vec<_>>(), [""; 0]);
        let refused = Lessons { fields: [Field::MaxCompletionTokens].into(), ..Lessons::default() };
        assert!(!refused.dialect(Dialect::default(), "gpt-5").completion_limit, "what a server says counts more");
    }
}
