//! Work on the repository itself: `cargo xtask spec`, `docs`, `catalogue`, `check-wire`, `measure`, `order`, `fuzz`.

#![allow(clippy::disallowed_methods, reason = "it reads its own repository")]

mod catalogue;
mod check_wire;
mod docs;
mod fuzz;
mod measure;
mod order;
mod spec;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use limpid_model::catalogue::Head;

/// Spec coverage, generated documentation, measures and link order of Limpid.
#[derive(Parser)]
#[command(name = "xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Compare the ids that tests name with those of docs/spec; fails on an unknown id and on a finished one without a test
    Spec {
        /// List every id without a test
        #[arg(long)]
        missing: bool,
    },
    /// Write docs/cli.md, docs/limpid.1 and docs/prompts.md from the program's own definitions
    Docs {
        /// Write nothing; fail when a page is stale
        #[arg(long)]
        check: bool,
    },
    /// Write the shipped table of models from litellm's price file or models.dev's api.json
    Catalogue {
        /// The list
        list: PathBuf,
        /// What the list is, for the head of the table: `litellm 1.106.2`
        #[arg(long)]
        source: String,
        /// The day of the list: 2026-11-23
        #[arg(long)]
        date: String,
    },
    /// Hold what is sent and what the test server answers against the providers' own packages, a llama.cpp server and a
    /// LiteLLM proxy, as far as they are installed
    CheckWire,
    /// Take a measure of docs/spec/measures.md: prints one table and writes docs/measures/NAME.md
    Measure {
        /// Which one
        #[command(subcommand)]
        measure: measure::Measure,
        /// Print the table as JSON
        #[arg(long, global = true)]
        json: bool,
    },
    /// Write crates/limpid/link-order.txt from what the release binary runs; needs valgrind
    Order,
    /// Search for inputs that break something: mail, pages, settings, streams of models, arguments of calls
    Fuzz {
        /// One target, a folder of fuzz/corpus; all of them without one
        target: Option<String>,
        /// How long each is searched
        #[arg(long, default_value_t = 600)]
        seconds: u64,
    },
    /// The process that `measure kills` kills
    #[command(hide = true)]
    Killed {
        /// The home of its agent
        home: PathBuf,
        /// The first number that it may give to something; without one it only carries on
        #[arg(long)]
        first: Option<u64>,
    },
}

fn main() -> ExitCode {
    // The process that `measure kills` kills has mail parsed by this program.
    if let Some(code) = limpid_runtime::worker::main(std::env::args_os()) {
        return ExitCode::from(code);
    }
    // It runs commands in a sandbox, by this program.
    #[cfg(target_os = "linux")]
    if let Some(code) = limpid_runtime::sandbox::main(std::env::args_os()) {
        return ExitCode::from(code);
    }
    let outcome = match Cli::parse().task {
        Task::Spec { missing } => spec::run(&root(), missing),
        Task::Docs { check } => docs::run(&root(), check),
        Task::Catalogue { list, source, date } => catalogue::run(&root(), &list, Head { date, source }),
        Task::CheckWire => check_wire::run(&root()),
        Task::Measure { measure, json } => measure::run(&root(), measure, json),
        Task::Order => order::run(&root()),
        Task::Fuzz { target, seconds } => fuzz::run(&root(), target.as_deref(), seconds),
        Task::Killed { home, first } => measure::kills::child::run(&home, first),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            #[expect(clippy::print_stderr, reason = "this is a command-line program")]
            {
                eprintln!("{message}");
            }
            ExitCode::FAILURE
        }
    }
}

/// The checkout that this program was built from.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}
