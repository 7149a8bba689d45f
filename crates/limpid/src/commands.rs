//! What each command does: it asks the agent or the prompt engine, and prints.

pub mod acp;
pub mod agent;
pub mod api;
mod changes;
pub mod chat;
mod choice;
pub mod context;
pub mod conversation;
pub mod cost;
pub mod doctor;
pub mod draft;
pub mod file;
pub mod first_model;
pub mod goal;
pub mod heartbeat;
pub mod inbox;
pub mod init;
mod listen;
mod listing;
mod log;
pub mod mail;
pub mod mcp;
pub mod memory;
pub mod mode;
pub mod model;
pub mod notify;
mod own_words;
pub mod profile;
pub mod prompt;
pub mod serve;
pub mod service;
pub mod skill;
pub mod task;
mod unread;

use std::io;

use clap::CommandFactory as _;

use crate::cli::{ChatArgs, Cli, Command, CompletionsArgs, TalkArgs};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output;
use context::Context;

/// Carries out what the command line says.
///
/// # Errors
/// Whatever the command fails with.
pub async fn run(cli: Cli) -> Result<(), Failure> {
    if cli.global.raw {
        output::go_raw()?;
    }
    if let Some(Command::Completions(args)) = &cli.command {
        return completions(args);
    }
    let context = Context::new(Environment::read(cli.global.home.clone())?)?;
    let ended = carry_out(&context, &cli).await;
    context.close().await;
    // What the command changed besides what it says itself.
    let said = topics(cli.command.as_ref());
    for event in context.changes() {
        if !said.contains(&event.change.topic())
            && let Some(words) = changes::words(&event.change)
        {
            output::tell_further_in(&words);
        }
    }
    ended
}

/// What a command speaks of itself, so that no event need say it again.
fn topics(command: Option<&Command>) -> &'static [&'static str] {
    match command {
        Some(Command::Mode(_)) => &["mode"],
        Some(Command::Goal(_)) => &["goal"],
        Some(Command::Skill(_)) => &["skills"],
        Some(Command::Mcp(_)) => &["servers", "skills"],
        Some(Command::Conversation(_)) => &["window", "goal", "mode"],
        Some(Command::Draft(_)) => &["draft"],
        Some(Command::Agent(_)) => &["agent"],
        Some(Command::Inbox(_)) => &["inbox"],
        Some(Command::Task(_)) => &["task"],
        Some(Command::Heartbeat(_)) => &["heartbeat", "delivery"],
        _ => &[],
    }
}

async fn carry_out(context: &Context, cli: &Cli) -> Result<(), Failure> {
    match &cli.command {
        None => chat::run(context, &open_chat(context)).await,
        Some(Command::Chat(args)) => chat::run(context, args).await,
        Some(Command::Init(args)) => init::run(context, args).await,
        Some(Command::Doctor(args)) => doctor::run(context, args.json).await,
        Some(Command::Prompt(command)) => prompt::run(context, command).await,
        Some(Command::Profile(command)) => profile::run(context, command),
        Some(Command::Mode(command)) => mode::run(context, command).await,
        Some(Command::Model(command)) => model::run(context, command).await,
        Some(Command::Memory(command)) => memory::run(context, command).await,
        Some(Command::Goal(command)) => goal::run(&context.agent()?, command).await,
        Some(Command::Skill(command)) => skill::run(context, command).await,
        Some(Command::Mcp(command)) => mcp::run(context, command).await,
        Some(Command::Notify(command)) => notify::run(&context.agent()?, command).await,
        Some(Command::Inbox(command)) => inbox::run(&context.agent()?, command).await,
        Some(Command::Api(command)) => api::run(&context.agent()?, command),
        Some(Command::Draft(command)) => draft::run(context, command).await,
        Some(Command::Agent(command)) => agent::run(&context.agent()?, command).await,
        Some(Command::File(command)) => file::run(context, command).await,
        Some(Command::Conversation(command)) => conversation::run(&context.agent()?, command).await,
        Some(Command::Heartbeat(command)) => heartbeat::run(&context.agent()?, command).await,
        Some(Command::Serve(args)) if args.link => serve::print_link(context),
        Some(Command::Serve(args)) if args.log_out => serve::log_out(context),
        Some(Command::Serve(args)) => serve::run(context, args.once).await,
        Some(Command::Task(command)) => task::run(&context.agent()?, command).await,
        Some(Command::Service(command)) => service::run(context, command),
        Some(Command::Acp(args)) => acp::run(context, args).await,
        Some(Command::Cost(args)) => cost::run(&context.agent()?, args).await,
        Some(Command::Completions(_)) => Ok(()),
    }
}

/// What `limpid chat` would get without words; the variable counts here as it does there.
fn open_chat(context: &Context) -> ChatArgs {
    let model = context.environment.variable("LIMPID_MODEL").map(str::to_owned);
    ChatArgs { talk: TalkArgs { model, ..TalkArgs::default() }, ..ChatArgs::default() }
}

fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut page = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "limpid", &mut page);
    output::data(&String::from_utf8(page).map_err(io::Error::other)?)
}
