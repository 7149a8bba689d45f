//! Every slash command.

use crate::commands::checkpoint::Checkpoint;
use crate::commands::clean::Clean;
use crate::commands::compact::Compact;
use crate::commands::context::Context;
use crate::commands::cost::Cost;
use crate::commands::effort::Effort;
use crate::commands::exit::Exit;
use crate::commands::goal::Goal;
use crate::commands::group::Group;
use crate::commands::heartbeat::Heartbeat;
use crate::commands::help::Help;
use crate::commands::memory::Memory;
use crate::commands::mode::Mode;
use crate::commands::model::Model;
use crate::commands::new::New;
use crate::commands::profile::Profile;
use crate::commands::prompt::Prompt;
use crate::commands::skills::Skills;
use crate::commands::slash_command::SlashCommand;
use crate::commands::stop::Stop;
use crate::commands::tasks::Tasks;
use crate::commands::undo::Undo;

/// Every command, in the order in which `/help` lists them.
static TABLE: &[&dyn SlashCommand] = &[
    &Help,
    &New,
    &Stop,
    &Undo,
    &Mode,
    &Goal,
    &Checkpoint,
    &Profile,
    &Model,
    &Effort,
    &Prompt,
    &Context,
    &Compact,
    &Clean,
    &Memory,
    &Group,
    &Skills,
    &Tasks,
    &Heartbeat,
    &Cost,
    &Exit,
];

/// A command as a list shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlashInfo {
    /// What stands behind the slash.
    pub name: &'static str,
    /// Other names that do the same.
    pub aliases: &'static [&'static str],
    /// What may follow; empty for nothing.
    pub arguments: &'static str,
    /// What it does, in one line.
    pub help: &'static str,
}

impl SlashInfo {
    /// Its name, then its other names.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

/// Every command, in the order in which help lists them.
pub fn commands() -> impl Iterator<Item = SlashInfo> {
    TABLE.iter().map(|command| SlashInfo {
        name: command.name(),
        aliases: command.aliases(),
        arguments: command.arguments(),
        help: command.help(),
    })
}

/// The command of a name, or of one of its other names.
pub(super) fn find(name: &str) -> Option<&'static dyn SlashCommand> {
    let is_called = |known: &str| known.eq_ignore_ascii_case(name);
    TABLE
        .iter()
        .find(|command| is_called(command.name()) || command.aliases().iter().any(|alias| is_called(alias)))
        .copied()
}

/// Whether a name is a command's, so that nothing else may take it.
pub fn is_taken(name: &str) -> bool {
    find(name).is_some()
}
