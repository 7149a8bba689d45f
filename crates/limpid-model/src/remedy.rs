//! What a provider refused, as far as a request can do without it.

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
