//! The tool for one call. Where the words of a command lead is looked up once, so that what is judged is one command, and not a part of one
//! and a part of another that was put in its place meanwhile; and it is told whether they still lead there.

use std::ffi::OsString;
use std::sync::Arc;

use limpid_core::Sentence;
use serde_json::Value;

use super::command::Command;
use super::{Arguments, Exec};
use crate::{Found, echoed, read_arguments};

/// A call with its command, or why that cannot run.
#[derive(Clone, Debug)]
pub(super) struct OfCall {
    arguments: Value,
    command: Result<Command, Sentence>,
}

impl Exec {
    /// The same tool for this very call.
    pub(super) fn of_call(&self, arguments: &Value) -> Self {
        let command = self.parse(arguments);
        Self { of_call: Some(Arc::new(OfCall { arguments: arguments.clone(), command })), ..self.clone() }
    }

    /// The command that arguments stand for, as it was found for this call; an error for the model when it could not run.
    pub(super) fn parsed(&self, arguments: &Value) -> Result<Command, Sentence> {
        match self.of_call.as_deref().filter(|of_call| of_call.arguments == *arguments) {
            Some(of_call) => of_call.command.clone(),
            None => self.parse(arguments),
        }
    }

    fn parse(&self, arguments: &Value) -> Result<Command, Sentence> {
        let Arguments { command, working_dir } = read_arguments(arguments.clone())?;
        Command::parse(&command, working_dir.as_deref(), &self.programs).map_err(|why| echoed(why).into())
    }

    /// All that decides what the command sees, reaches and runs. What its words name besides may come and go: programs of one turn make
    /// files for each other.
    pub(super) fn what_was_found(&self, arguments: &Value) -> Option<Found> {
        self.of_call.as_ref()?;
        let command = self.parsed(arguments).ok()?;
        let Command { found, script, named, is_listed, folder, .. } = &command;
        // A place of the owner's that is named as well decides only about what may be a stranger's.
        let may_be_strangers = *is_listed || named.low;
        let facts = [
            ("listed", *is_listed),
            ("low", named.low),
            ("high", may_be_strangers && named.high),
            ("starts high", may_be_strangers && named.starts_high),
            ("outside", named.outside.any),
            ("whole outside", named.outside.whole),
        ];
        let facts = facts.into_iter().filter(|(_, is)| *is).map(|(what, _)| (what, OsString::new()));
        let found = ["folder", "program"].into_iter().zip(found).flat_map(|(what, place)| {
            let number = format!("{}:{}", place.device, place.inode);
            [(what, place.path.clone().into_os_string()), (what, OsString::from(number))]
        });
        let low = named.low_folders.iter().map(|path| ("low folder", path));
        let installed = named.installed.iter().map(|path| ("installed", path));
        let outside = named.outside.folders.iter().map(|path| ("folder of outside", path));
        let paths = script.iter().map(|path| ("script", path)).chain(low).chain(installed).chain(outside);
        let paths = paths.map(|(what, path)| (what, path.clone().into_os_string()));
        let seen = self.programs.could_send(&command).into_iter().map(|seen| ("could send", OsString::from(seen)));
        Some(Found { folder: folder.clone(), all: facts.chain(found).chain(paths).chain(seen).collect() })
    }
}
