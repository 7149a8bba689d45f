//! The recording server from the command line.
#![allow(clippy::print_stdout, reason = "a program for people and scripts")]
#![allow(clippy::disallowed_methods, reason = "the files of a test are its own")]

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use limpid_testkit::{Recorder, Script};

/// Parts for tests, usable by hand.
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Listen on the loopback, answer by a script, and print each request as a line of JSON.
    Record {
        /// The port; 0 takes any free one. The first line printed says which.
        #[arg(long, default_value_t = 0)]
        port: u16,
        /// The script; without one every request is answered with "ok".
        #[arg(long)]
        script: Option<PathBuf>,
    },
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Command::Record { port, script } = Cli::parse().command;
    match record(port, script).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            use std::io::Write;
            // Where even that cannot be written nobody is left to be told.
            let _ = writeln!(std::io::stderr(), "limpid-testkit: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn record(port: u16, script: Option<PathBuf>) -> Result<(), Box<dyn std::error::Error>> {
    let script = match script {
        Some(path) => Script::load(&path)?,
        None => Script::parse("[[reply]]\ntext = \"ok\"\n")?,
    };
    let recorder = Recorder::start_at(port, script).await?;
    println!("{}", recorder.url());
    for number in 1.. {
        recorder.wait_for(number).await;
        if let Some(request) = recorder.requests().get(number - 1) {
            println!("{}", request.to_json());
        }
    }
    Ok(())
}
