//! What a provider refused, as far as a request can do without it.

use std::collections::{BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use limpid_core::Effort;
use limpid_prompt::{PromptMessage, StatePart};

use crate::abilities::{Abilities, EffortForm, ForcedTools};
use crate::model::{ModelCall, ModelCard, ReplyForm, ToolUse};
use crate::protocol::Dialect;
use crate::wire::WireCall;

mod read;

pub(crate) use read::read;

/// A field of a request that a request can do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// Randomness.
    Temperature,
    /// Nucleus of the distribution.
    TopP,
    /// Seed of the draw.
    Seed,
    /// The limit of the reply as `max_tokens`; it has its other name then.
    MaxTokens,
    /// The limit of the reply as `max_completion_tokens`; it has its other name then.
    MaxCompletionTokens,
    /// Any word on whether tools are called.
    ToolChoice,
    /// Whether several tools are called at once.
    ParallelToolCalls,
    /// A schema for the reply.
    ResponseFormat,
    /// Whether tokens are counted in the stream.
    StreamOptions,
    /// How much the model reasons.
    Reasoning,
    /// A name for the conversation.
    PromptCacheKey,
    /// Marks of what is to be cached.
    CacheControl,
    /// That arguments follow their schema exactly.
    Strict,
    /// Tools that are read only once they were found.
    ToolSearch,
}

impl Field {
    /// Every field.
    pub const ALL: [Self; 14] = [
        Self::Temperature,
        Self::TopP,
        Self::Seed,
        Self::MaxTokens,
        Self::MaxCompletionTokens,
        Self::ToolChoice,
        Self::ParallelToolCalls,
        Self::ResponseFormat,
        Self::StreamOptions,
        Self::Reasoning,
        Self::PromptCacheKey,
        Self::CacheControl,
        Self::Strict,
        Self::ToolSearch,
    ];

    /// The name, as `models.toml` writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Temperature => "temperature",
            Self::TopP => "top_p",
            Self::Seed => "seed",
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
            Self::ToolChoice => "tool_choice",
            Self::ParallelToolCalls => "parallel_tool_calls",
            Self::ResponseFormat => "response_format",
            Self::StreamOptions => "stream_options",
            Self::Reasoning => "reasoning",
            Self::PromptCacheKey => "prompt_cache_key",
            Self::CacheControl => "cache_control",
            Self::Strict => "strict",
            Self::ToolSearch => "tool_search",
        }
    }

    /// Reads a name; nothing else is accepted.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|field| field.as_str() == word)
    }
}

/// How a request that was refused can be asked again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Without this field, or with what takes its place.
    Without(Field),
    /// For a reply of at most so many tokens.
    ShorterReply(u32),
    /// Without a tool whose schema is refused, or with a schema that is less strict.
    WithoutTool(ToolMark),
    /// With tools, but without reasoning.
    WithoutReasoningBesideTools,
    /// Without the ids of what earlier answers came with, which its provider does not keep.
    WithoutIds,
    /// Without the state of earlier answers that it had.
    WithoutState,
}

/// How a provider names a tool that it refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolMark {
    /// By its name.
    Name(String),
    /// By its place among the declared ones.
    Place(usize),
}

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

/// Whether a model is one of OpenAI's that reason, whoever serves it: `gpt-5` and later, `o1` and later. They refuse
/// `max_tokens`.
pub(crate) fn is_openai_reasoning(model: &str) -> bool {
    let is_o = || own_name(model).strip_prefix('o').and_then(|rest| number(rest).map(|_| ())).is_some();
    gpt_version(model).is_some_and(|(major, _)| major >= 5) || is_o()
}

/// Whether a model, asked over Chat Completions, takes tools only with `reasoning_effort: "none"`: OpenAI's from `gpt-5.2`
/// on that have this level. Without the field they reason, and refuse the tools.
pub(crate) fn takes_tools_unreasoned(card: &ModelCard) -> bool {
    let is_level = card.abilities.effort_form.is_none_or(|form| form == EffortForm::Level);
    is_level && may_be_unreasoned(card) && gpt_version(&card.id).is_some_and(|version| version >= (5, 2))
}

/// Whether a model has the level without reasoning, as far as its levels are known.
pub(crate) fn may_be_unreasoned(card: &ModelCard) -> bool {
    card.abilities.effort.as_ref().is_none_or(|levels| levels.contains(&Effort::Off))
}

/// The name of a model without those of who serves it, in small letters.
fn own_name(model: &str) -> String {
    model.rsplit('/').next().unwrap_or_default().to_ascii_lowercase()
}

/// The number with which a text begins, and what follows it.
fn number(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    Some((digits.parse().ok()?, rest))
}

/// Both numbers of `gpt-5.6`.
fn gpt_version(model: &str) -> Option<(u32, u32)> {
    let name = own_name(model);
    let (major, rest) = number(name.strip_prefix("gpt-")?)?;
    let minor = rest.strip_prefix('.').and_then(number).map_or(0, |(minor, _)| minor);
    Some((major, minor))
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
