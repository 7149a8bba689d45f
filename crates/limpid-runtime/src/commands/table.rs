//! The table of slash commands, and how one is found in it.

use crate::commands::slash_command::SlashCommand;

/// The commands, in the order in which `/help` lists them.
#[derive(Clone, Copy)]
pub(crate) struct Table(pub(super) &'static [&'static dyn SlashCommand]);

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

impl Table {
    /// Every command, as a list shows it.
    pub(crate) fn list(self) -> impl Iterator<Item = SlashInfo> {
        self.0.iter().map(|command| SlashInfo {
            name: command.name(),
            aliases: command.aliases(),
            arguments: command.arguments(),
            help: command.help(),
        })
    }

    /// The command of a name, or of one of its other names.
    pub(super) fn find(self, name: &str) -> Option<&'static dyn SlashCommand> {
        let is_called = |known: &str| known.eq_ignore_ascii_case(name);
        let is_it = |command: &&&'static dyn SlashCommand| {
            is_called(command.name()) || command.aliases().iter().any(|alias| is_called(alias))
        };
        self.0.iter().find(is_it).copied()
    }
}
