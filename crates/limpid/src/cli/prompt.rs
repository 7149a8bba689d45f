//! `prompt`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What to do with what the model reads.
#[derive(Debug, Subcommand)]
pub enum PromptCommand {
    /// Print the prompt of the next turn without sending it, or one that was sent
    Show(ShowArgs),
    /// Open your copy of a section, or of a tool's text, in $EDITOR; the shipped text is copied out first
    Edit {
        /// The section or the tool: soul, safety, or any that `prompt show --explain` names
        section: String,
        /// The profile
        #[arg(long, value_name = "NAME")]
        profile: Option<String>,
        /// Copy it out, and only say where it is
        #[arg(long)]
        path: bool,
    },
    /// Compare two profiles, paths (profile:path), requests of the ledger or revisions
    Diff {
        /// The one
        a: String,
        /// The other
        b: String,
        /// Render with these inputs
        #[arg(long, value_name = "FILE")]
        inputs: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the requests that were sent, the newest first
    Log {
        /// Only of this conversation: an id or `last`
        #[arg(long, short, value_name = "ID")]
        conversation: Option<String>,
        /// How many
        #[arg(long, default_value_t = 20, value_name = "N")]
        limit: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the prompts that can be chosen as skills: built-in ones, yours, and those of connected servers
    List(PromptListArgs),
    /// Send a request of the ledger again, to the same model or another; nothing is stored but the new request
    Replay {
        /// The request
        id: String,
        /// The model: provider/model
        #[arg(long, value_name = "MODEL")]
        model: Option<String>,
    },
    /// Find what is wrong or wasteful in the prompts
    Check {
        /// The profile; without it, all of them
        profile: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Render scenarios, those that ship and yours, and compare them with what was reviewed
    ///
    /// Each is a situation of a chat; your profile, soul.md and safety.md are as a chat would have them. No model is asked.
    /// A scenario that ships is compared with the shipped texts until you take another snapshot.
    Test {
        /// The profile; without it, the one that is set and all that have scenarios of yours
        profile: Option<String>,
        /// Take the rendered texts as the new snapshots
        #[arg(long)]
        accept: bool,
    },
    /// Print the JSON schema of the inputs
    Schema,
    /// List the files of yours that stand in place of shipped ones, with what differs
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Options of `prompt list`.
#[derive(Clone, Debug, Args)]
pub struct PromptListArgs {
    /// Only those with this tag; several narrow it further
    #[arg(long, value_name = "TAG")]
    pub tag: Vec<String>,

    /// Only those from there: static (built in), config (yours) or mcp (of servers)
    #[arg(long, value_name = "SOURCE", value_parser = ["static", "config", "mcp"])]
    pub source: Option<String>,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `prompt show`.
#[derive(Clone, Debug, Args)]
pub struct ShowArgs {
    /// A path of the profile (chat-remote, chat-local, heartbeat, …) or the id of a request [default: the chat's path]
    #[arg(value_name = "PATH|ID")]
    pub what: Option<String>,

    /// The profile
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,

    /// The mode
    #[arg(long, value_name = "NAME")]
    pub mode: Option<String>,

    /// The model: provider/model
    #[arg(long, value_name = "MODEL", env = "LIMPID_MODEL", hide_env_values = true)]
    pub model: Option<String>,

    /// The next turn of this conversation: an id or `last`
    #[arg(long, short, value_name = "ID", conflicts_with = "inputs")]
    pub conversation: Option<String>,

    /// Render these inputs (JSON, see `prompt schema`); `-` reads standard input
    #[arg(long, value_name = "FILE")]
    pub inputs: Option<PathBuf>,

    /// The message that would be sent
    #[arg(long, value_name = "TEXT")]
    pub say: Option<String>,

    /// A table of the sections: sizes, share, stability, origin, outcome
    #[arg(long, group = "form")]
    pub explain: bool,

    /// Everything as JSON
    #[arg(long, group = "form")]
    pub json: bool,

    /// The very bytes that would leave for the model
    #[arg(long, group = "form", conflicts_with_all = ["inputs", "message"])]
    pub payload: bool,

    /// The messages' texts (this is the default)
    #[arg(long, group = "form")]
    pub text: bool,

    /// Only this message, counted from 0; with --text nothing is added to it
    #[arg(long, value_name = "N")]
    pub message: Option<usize>,
}
