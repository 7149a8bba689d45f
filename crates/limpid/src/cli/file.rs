//! `file`.

use clap::Subcommand;

/// What to do with files that the agent changed.
#[derive(Debug, Subcommand)]
pub enum FileCommand {
    /// List the changes that tools made in files, oldest first, or the files that wait for you
    ///
    /// `outside/` is a folder in the home: what the agent writes after it read a stranger's text goes there, apart from your workspace.
    List {
        /// Only of one file, as tools call it: `docs/plan.md` in the workspace, `outside/notes.md`, or an absolute path
        path: Option<String>,
        /// Only files that a program changed, or a stranger may have written, and that are not used before you accept them
        #[arg(long, conflicts_with = "path")]
        waiting: bool,
        /// Print JSON, with what files that prompts quote said before and after
        #[arg(long)]
        json: bool,
    },
    /// Make a file your own that a stranger may have written, or that a program changed and that instructs the agent
    ///
    /// The whole text is shown, or what it changes, and you are asked. A file of `outside/`, the folder for what the agent writes after
    /// it read a stranger's text, moves into the workspace; one that waits is used from then on. Without a terminal nothing is accepted and the command fails; `--hash` says that you looked at it before.
    Accept {
        /// The file, as tools call it: `outside/notes.md` goes to `notes.md` in the workspace; `AGENTS.md` stays there
        path: String,
        /// Ask nothing if it still is what you looked at: the hash that was shown, or its first 32 digits or more
        #[arg(long, value_name = "HASH")]
        hash: Option<String>,
    },
    /// Make a file what it was before a change; that is a change itself, which can be undone
    ///
    /// What a file held is kept for 30 days, and 200 MB of it in all. What prompts quote, such as MEMORY.md, is kept for ever.
    /// What a program changes in other files is not kept.
    Undo {
        /// The number of the change
        change: i64,
    },
}
