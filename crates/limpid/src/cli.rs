//! What can be said on the command line. From these definitions come the parser, the help, the completions, the man
//! page and `docs/cli.md`.

mod agent;
mod api;
mod conversation;
mod draft;
mod file;
mod goal;
mod heartbeat;
mod inbox;
mod mail;
mod mcp;
mod memory;
mod model;
mod notify;
mod profile;
mod prompt;
mod service;
mod skill;
mod talk;
mod task;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use agent::AgentCommand;
pub use api::{ApiCommand, RoleWord};
pub use conversation::{ConversationCommand, ExportFormat};
pub use draft::DraftCommand;
pub use file::FileCommand;
pub use goal::{GoalArgs, GoalCommand, PriorityWord, StatusWord, StepCommand};
pub use heartbeat::{HeartbeatCommand, HeartbeatSet};
pub use inbox::{InboxCommand, KindWord, SourceWord};
pub use mail::{MailAddArgs, MailCommand};
pub use mcp::{McpAddArgs, McpCommand, McpServeArgs};
pub use memory::MemoryCommand;
pub use model::ModelCommand;
pub use notify::NotifyCommand;
pub use profile::{ModeCommand, ProfileCommand};
pub use prompt::{PromptCommand, PromptListArgs, ShowArgs};
pub use service::ServiceCommand;
pub use skill::SkillCommand;
pub use talk::{AcpArgs, ChatArgs, CostArgs, CostBy, InitArgs, MineArgs, TalkArgs};
pub use task::{AddArgs, EditArgs, TaskCommand, TaskKindWord, WhenArgs, ZoneArgs};

/// A personal agent whose every prompt is a file you can read, edit, test, diff and price
///
/// Without a command it opens the chat in the terminal.
#[derive(Debug, Parser)]
#[command(name = "limpid", version, max_term_width = 100)]
pub struct Cli {
    /// What holds for every command.
    #[command(flatten)]
    pub global: GlobalArgs,

    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What holds for every command.
#[derive(Clone, Debug, Args)]
pub struct GlobalArgs {
    /// The folder that holds everything Limpid keeps [default: ~/.limpid]
    #[arg(long, global = true, value_name = "DIR", env = "LIMPID_HOME", hide_env_values = true)]
    pub home: Option<PathBuf>,

    /// Print data to a pipe or file as it is, with codes in it that a terminal would follow
    #[arg(long, global = true)]
    pub raw: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Talk to the agent: once with a message, on and on without one
    Chat(ChatArgs),
    /// Write the home folder: limpid.toml, soul.md, safety.md
    Init(InitArgs),
    /// Check home, database, model, providers, clock and zone; one line each
    Doctor(DoctorArgs),
    /// See, edit, compare, check and test what the model reads
    #[command(subcommand)]
    Prompt(PromptCommand),
    /// List, show, make and check styles of agent
    #[command(subcommand)]
    Profile(ProfileCommand),
    /// List and show modes, switch between them, keep one for a while
    #[command(subcommand)]
    Mode(ModeCommand),
    /// List, fetch, test and remove models
    #[command(subcommand)]
    Model(ModelCommand),
    /// List, search, edit and undo what the agent remembers
    #[command(subcommand)]
    Memory(MemoryCommand),
    /// Show, make, pause, resume and end the goals of a conversation
    #[command(subcommand)]
    Goal(GoalCommand),
    /// List, show, check, install, allow and take out skills
    #[command(subcommand)]
    Skill(SkillCommand),
    /// List, add, try and allow servers of the Model Context Protocol, whose tools the agent borrows
    #[command(subcommand)]
    Mcp(McpCommand),
    /// List, show and export conversations
    #[command(subcommand)]
    Conversation(ConversationCommand),
    /// List, show, edit, approve and refuse calls that wait for you
    #[command(subcommand)]
    Draft(DraftCommand),
    /// List, show and stop agents that work was handed to
    #[command(subcommand)]
    Agent(AgentCommand),
    /// List and undo what the agent changed in files; make a stranger's file your own
    #[command(subcommand)]
    File(FileCommand),
    /// Work until interrupted: show the page, do what is due, carry on what was cut off; the log goes to standard error
    Serve(ServeArgs),
    /// Make, list, change and run what is to be done later
    #[command(subcommand)]
    Task(TaskCommand),
    /// Have the system keep `limpid serve` running
    #[command(subcommand)]
    Service(ServiceCommand),
    /// List, show and put aside what came in; hand something in; make the token for it
    #[command(subcommand)]
    Inbox(InboxCommand),
    /// Make, list and take away tokens of programs that ask over HTTP
    #[command(subcommand)]
    Api(ApiCommand),
    /// List and try the ways in which you are told something; add and take out browsers
    #[command(subcommand)]
    Notify(NotifyCommand),
    /// Manage the heartbeat, which checks for new messages on a schedule
    ///
    /// A run asks a model when something came in, and for standing items: additions (`limpid task add TEXT --heartbeat`),
    /// unfinished lines of HEARTBEAT.md in the workspace, and your own opening (`heartbeat set --prompt`). Standing items
    /// are asked at every run that is due, unless `recheck` under [heartbeat] in limpid.toml says "2h", "daily" or "on
    /// change". An item may name its own rhythm in parentheses at its end: "Look at the backup (daily)". `heartbeat status`
    /// says what a day costs. At most 48 runs a day ask a model about your own items, and 48 more about incoming
    /// messages alone; `runs_a_day` under [heartbeat] changes both.
    #[command(subcommand)]
    Heartbeat(HeartbeatCommand),
    /// Let an editor that speaks the Agent Client Protocol use the agent, over standard input and output
    ///
    /// The editor starts this program and speaks to it; docs/acp.md says how it is set up.
    Acp(AcpArgs),
    /// Sum up tokens and money from the ledger
    Cost(CostArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
}

/// Options of `doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `serve`.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Do what is due now, and end
    #[arg(long)]
    pub once: bool,
    /// Print a link that logs a browser in at the page of the `limpid serve` that runs, and end
    ///
    /// The link is good once, for an hour. A link that was printed before is good no more.
    #[arg(long, conflicts_with = "once")]
    pub link: bool,
    /// Log every browser out at the page, and end
    #[arg(long, conflicts_with_all = ["once", "link"])]
    pub log_out: bool,
}

/// Options of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}
