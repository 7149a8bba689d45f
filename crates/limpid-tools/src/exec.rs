//! `exec`: runs a program in a sandbox.
//!
//! # Layout
//! - [`words`]: a command as words, without a shell.
//! - [`command`]: which program these words run, in which folder, and which ones are refused.
//! - `same_program`: under which names rules know that program.
//! - [`view`]: which places a call sees, and whether it has the network; `named`: what decides that of its words; `looks`: where these
//!   lead.
//! - `of_call`: the tool for one call, with its command looked up once.
//! - [`confinement`]: what a program may touch and use, as one value.
//! - `programs`: how programs are run, as the owner has set it.
//! - [`places`]: the folders of that value, resolved once; `given`: which of those that hold programs; [`toolchains`]: what of some of
//!   them is kept back.
//! - `outside`: what a stranger's program sees of the folder for what strangers wrote.
//! - `remade`: whether what a program must not see is still what it was when it began.
//! - `stand_in`: the folder that a program writes which sees nothing of `outside/`.
//! - [`calls`]: the system calls that a program may make.
//! - [`sandbox`]: what the hidden sub-commands of the binary do with that value: one watches over the program and ends
//!   everything that it started, the others restrict themselves and start it.
//! - [`processes`] and [`disk`]: what a program uses.
//! - [`run`]: starts the first of them and collects what the program says.
//! - this file: the tool itself, and its two names.

pub mod calls;
pub mod command;
pub mod confinement;
mod disk;
mod given;
mod installed;
mod kept;
mod looks;
mod named;
mod named_places;
mod of_call;
mod outside;
mod path_words;
pub mod places;
mod processes;
mod programs;
mod remade;
pub mod run;
mod same_program;
pub mod sandbox;
mod stand_in;
mod toolchains;
pub mod view;
pub mod words;

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use command::Command;
use limpid_core::policy::{ArgumentPattern, Destination, Effect};
use limpid_core::{Labelled, Sentence, ToolClass, Trust};
use of_call::OfCall;
use places::Kind;
pub use programs::{FolderRules, Programs};
use run::{LAST_SECONDS, Manner};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{Found, PathArgument, Started, Stop, StrangersProgram, Tool, ToolContext, schema_of};

/// Runs a program; one implementation under the name that a profile knows it by.
#[derive(Clone, Debug)]
pub struct Exec {
    name: &'static str,
    programs: Arc<Programs>,
    /// The one call that it is for, if it is.
    of_call: Option<Arc<OfCall>>,
}

impl Exec {
    /// The tool as picoclaw and Limpid call it.
    pub fn new(programs: Arc<Programs>) -> Self {
        Self { name: "exec", programs, of_call: None }
    }

    /// The tool as Kai calls it.
    pub fn as_shell_command(programs: Arc<Programs>) -> Self {
        Self { name: "execute_shell_command", programs, of_call: None }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    command: String,
    working_dir: Option<String>,
}

#[async_trait]
impl Tool for Exec {
    fn name(&self) -> &'static str {
        self.name
    }

    fn group(&self) -> &'static str {
        "programs"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Execute
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Run
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    fn for_call(&self, arguments: &Value) -> Option<Arc<dyn Tool>> {
        Some(Arc::new(self.of_call(arguments)))
    }

    fn leads_to(&self, arguments: &Value) -> Option<Found> {
        self.what_was_found(arguments)
    }

    fn check(&self, arguments: &Value) -> Result<(), Sentence> {
        self.parsed(arguments).map(drop)
    }

    fn path_field(&self) -> &'static str {
        "working_dir"
    }

    fn paths(&self, arguments: &Value) -> Vec<PathArgument> {
        let folder = arguments.get("working_dir").and_then(Value::as_str);
        let folder = folder.filter(|folder| !folder.trim().is_empty()).unwrap_or(".");
        vec![PathArgument { path: self.programs.grants.judged(folder), write: true, adds: false }]
    }

    fn with_whole_path(&self, arguments: &Value) -> Option<Value> {
        self.programs.grants.with_whole_path(arguments, "working_dir", Some("."))
    }

    /// The program that would run, or the script of a skill that a shell would, for whoever is asked. Of one that may be a
    /// stranger's and has the network, the hosts too.
    fn destination(&self, arguments: &Value) -> Option<Destination> {
        let command = self.parsed(arguments).ok()?;
        let program = command.script.as_ref().unwrap_or(&command.program).display().to_string();
        Some(self.destination_as(&command, program))
    }

    fn destinations_as(&self, arguments: &Value, rule: &str) -> Vec<Destination> {
        let Ok(command) = self.parsed(arguments) else { return Vec::new() };
        let programs = rule.split_once(" to ").map_or(rule, |(programs, _)| programs);
        let named = programs.split(", ").filter(|program| !program.contains('*'));
        let folders = self.programs.folders_of_programs();
        let names = named.flat_map(|program| command.names_as(program, (&folders, self.workspace())));
        names.map(|name| self.destination_as(&command, name)).collect()
    }

    fn strangers_program(&self, trust: Trust, approved: bool, arguments: &Value) -> Option<StrangersProgram> {
        self.programs.view(trust, approved, &self.parsed(arguments).ok()?).strangers_program()
    }

    fn sends_outside(&self, trust: Trust, approved: bool, arguments: &Value) -> bool {
        let Ok(command) = self.parsed(arguments) else { return false };
        let kind = self.programs.view(trust, approved, &command).strangers_program();
        command.named.outside.any && kind == Some(StrangersProgram::Sends)
    }

    /// The program and the folder with every link followed, and which folder that is. Their bytes are bound by `starts`.
    fn bound_to(&self, arguments: &Value) -> Vec<String> {
        let Ok(command) = self.parsed(arguments) else { return Vec::new() };
        let low = self.programs.low_folders_named(&command);
        // These are the same in every view that a question is asked about.
        let view = self.programs.view(Trust::Outside, true, &command);
        let seen = self.programs.seen_besides(view, &command);
        let Command { program, folder, script, .. } = command;
        let paths = [&program, &folder].into_iter().chain(&script).map(|path| path.display().to_string());
        // "Your folders" in a question are those that there were when it was asked.
        let granted = self.programs.grants.roots().map(|root| format!("{} {}", root.trust, root.folder.display()));
        let hosts = self.programs.network.names.iter().cloned();
        let own = self.programs.network.own_and_others().0.into_iter().map(|host| format!("own {host}"));
        paths.chain([place(&folder)]).chain(hosts).chain(own).chain(low).chain(seen).chain(granted).collect()
    }

    fn starts(&self, arguments: &Value) -> Option<Started> {
        let command = self.parsed(arguments).ok()?;
        let (files, mut folders) = self.programs.named_paths(&command);
        // What it sees is what a yes is bound to: tools look for files in the folders around the one that they start in.
        // Where that is not known nothing is run, so a yes is bound to nothing.
        let outside = outside::in_outside(&self.programs, &command).ok()?;
        let files_in = outside.as_ref().and_then(|outside| outside.files.clone());
        folders.extend(outside.into_iter().flat_map(|outside| outside.folders));
        // A script of a stranger's loads what lies anywhere in its folder.
        folders.extend(command.named.low_folders);
        Some(Started { program: command.program, files, folder: command.folder, folders, files_in })
    }

    fn writes_in(&self) -> Vec<PathBuf> {
        let of_owner = self.programs.folders().filter(|(_, kind)| *kind == Kind::High { write: true });
        of_owner.map(|([_, real], _)| real.to_owned()).collect()
    }

    fn warning(&self, trust: Trust, arguments: &Value) -> Option<String> {
        self.programs.told_of(trust, &self.parsed(arguments).ok()?)
    }

    fn runs_unasked(&self, arguments: &Value) -> bool {
        self.parsed(arguments).is_ok_and(|command| command.is_listed)
    }

    /// The command as its words and the folder as the one that it is: `{ command = ["git", "log"] }` in a rule is this
    /// very command, and nothing that only looks like it.
    fn judged(&self, arguments: &Value) -> Value {
        let Ok(command) = self.parsed(arguments) else { return arguments.clone() };
        self.judged_with(&command, command.judged_words(&self.programs.folders_of_programs()).into())
    }

    fn spelled_as(&self, arguments: &Value, rule: &ArgumentPattern) -> Vec<Value> {
        let ArgumentPattern::Fields(fields) = rule else { return Vec::new() };
        let Some((_, pattern)) = fields.iter().find(|(name, _)| name == "command") else { return Vec::new() };
        let Ok(command) = self.parsed(arguments) else { return Vec::new() };
        // A text for a shell begins with a program that the shell runs.
        let text = arguments.get("command").and_then(Value::as_str).filter(|_| !self.programs.shell);
        let spelled = command.spelled_as(pattern, text, (&self.programs.folders_of_programs(), self.workspace()));
        spelled.into_iter().map(|words| self.judged_with(&command, words)).collect()
    }

    fn timeout(&self) -> Option<Duration> {
        Some(Duration::from_secs(self.programs.most_seconds() + LAST_SECONDS))
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        self.run_until(context, arguments, Box::pin(std::future::pending())).await
    }

    async fn run_until(
        &self,
        context: &ToolContext,
        arguments: Value,
        stop: Stop,
    ) -> Result<Labelled<String>, Sentence> {
        let command = self.parsed(&arguments)?;
        let frozen = context.snapshot.as_ref().map(|snapshot| snapshot.files().to_vec()).unwrap_or_default();
        let runs = command.script.as_ref().unwrap_or(&command.program);
        if context.approved && !frozen.iter().any(|(path, _)| path == runs) {
            return Err("the program was replaced after it was approved; call it again".into());
        }
        let view = self.programs.view(context.trust, context.approved, &command);
        // It was judged as one that sees, as one that sends or as none, and others were kept from running beside it.
        if view.strangers_program() != context.program {
            return Err("what it names changed after the call was checked; call it again".into());
        }
        let trust = context.trust.join(self.programs.trust(view, &command));
        // What may be a stranger's has no effect of the owner's, so it makes way.
        let stop = if context.program.is_some() && !context.approved { stop } else { Box::pin(std::future::pending()) };
        let (read_only, approved) = (context.read_only, context.approved);
        let manner = Manner { view, read_only, approved, frozen, unused_skills: context.unused_skills.clone() };
        let said = run::run(&self.programs, &command, manner, stop).await;
        said.map(|said| said.join(trust)).map_err(|why| Labelled::new(why, trust).into())
    }
}

impl Exec {
    /// Where the words of rules lead, besides the system's folders of programs.
    fn workspace(&self) -> &Path {
        &self.programs.grants.workspace().folder
    }

    /// The arguments as rules are compared with them, with the command as these words.
    fn judged_with(&self, command: &Command, words: Value) -> Value {
        let mut judged = Map::from_iter([("command".to_owned(), words)]);
        if let Some(folder) = command.judged_folder(self.workspace()) {
            judged.insert("working_dir".to_owned(), folder.into());
        }
        Value::Object(judged)
    }

    /// Where a command leads whose program is called this.
    fn destination_as(&self, command: &Command, program: String) -> Destination {
        match self.programs.sends_to(command) {
            Some(hosts) => {
                let sees = self.programs.could_send(command);
                Destination::Program { program, hosts: hosts.iter().cloned().collect(), sees }
            }
            None => Destination::Place(program),
        }
    }
}

/// Tells a file or folder from another one that was put in its place.
fn place(path: &Path) -> String {
    path.metadata().map(|about| format!("{}:{}", about.dev(), about.ino())).unwrap_or_default()
}
