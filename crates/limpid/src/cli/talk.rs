//! `chat`, `init` and `cost`.

use clap::{Args, ValueEnum};
use limpid_core::Effort;

/// Options of `chat`.
#[derive(Clone, Debug, Default, Args)]
pub struct ChatArgs {
    /// What to say; words are joined by spaces. Piped input, and a message of more than three lines or as long as a letter, count as
    /// text that anybody may have written. Nothing: an open chat at a terminal
    #[arg(value_name = "MESSAGE")]
    pub message: Vec<String>,

    /// Piped input and long messages are your own words: what they ask for is done
    #[arg(long)]
    pub mine: bool,

    /// Print events as JSON, one a line
    #[arg(long)]
    pub json: bool,

    /// How to talk.
    #[command(flatten)]
    pub talk: TalkArgs,
}

/// What every way of talking to a model takes.
#[derive(Clone, Debug, Default, Args)]
pub struct TalkArgs {
    /// The conversation: an id, `last` or `new` [default: new for a message, last for an open chat]
    #[arg(long, short, value_name = "ID")]
    pub conversation: Option<String>,

    /// The profile
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,

    /// The mode: assistant, developer, planning, debugger, user, or an added one
    #[arg(long, value_name = "NAME")]
    pub mode: Option<String>,

    /// The model: provider/model
    #[arg(long, value_name = "MODEL", env = "LIMPID_MODEL", hide_env_values = true)]
    pub model: Option<String>,

    /// How much the model reasons: default, off, minimal, low, medium, high, xhigh or max; kept with the conversation
    #[arg(long, value_name = "LEVEL", value_parser = effort)]
    pub effort: Option<Effort>,
}

/// Options of `acp`.
#[derive(Clone, Debug, Default, Args)]
pub struct AcpArgs {
    /// The profile of new sessions
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,

    /// The mode of new sessions: assistant, developer, planning, debugger, user, or an added one
    #[arg(long, value_name = "NAME")]
    pub mode: Option<String>,

    /// The model of new sessions: provider/model
    #[arg(long, value_name = "MODEL", env = "LIMPID_MODEL", hide_env_values = true)]
    pub model: Option<String>,

    /// How much the model reasons in new sessions: default, off, minimal, low, medium, high, xhigh or max
    #[arg(long, value_name = "LEVEL", value_parser = effort)]
    pub effort: Option<Effort>,
}

/// Reads a level of effort.
pub(super) fn effort(word: &str) -> Result<Effort, String> {
    Effort::parse(word).ok_or_else(|| format!("use one of {}", Effort::ALL.map(Effort::as_str).join(", ")))
}

/// Options of `init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// Ask nothing; take the defaults
    #[arg(long, short)]
    pub yes: bool,

    /// What the agent calls you
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// The model: provider/model
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,

    /// Your time zone: Europe/Berlin
    #[arg(long, value_name = "ZONE")]
    pub zone: Option<String>,

    /// The profile
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
}

/// Options of `cost`.
#[derive(Debug, Args)]
pub struct CostArgs {
    /// What to sum up by
    #[arg(long, value_enum, default_value = "model")]
    pub by: CostBy,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What costs are summed up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CostBy {
    /// The way of talking to a model: chat-remote, heartbeat, …
    Path,
    /// The model
    Model,
    /// The day, in your zone
    Day,
    /// The conversation
    Conversation,
}

/// Whose words are.
#[derive(Clone, Copy, Debug, Args)]
pub struct MineArgs {
    /// Words as long as a letter are your own: what they ask for is done
    #[arg(long)]
    pub mine: bool,
}
