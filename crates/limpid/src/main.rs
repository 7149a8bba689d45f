//! The binary: reads the command line, runs the command, and ends with its exit code.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "the files of a test are its own"))]

use std::process::ExitCode;

use clap::Parser as _;
use limpid::cli::Cli;
use limpid::failure::{ExitStatus, Failure};
use limpid::{commands, output};

fn main() -> ExitCode {
    // Whatever parses what strangers wrote has nothing else, above all no threads of ours.
    if let Some(code) = limpid_runtime::worker::main(std::env::args_os()) {
        return ExitCode::from(code);
    }
    // Whoever stands between the agent and a server only hands on, and ends the server.
    if let Some(code) = limpid_runtime::mcp::keeper::main(std::env::args_os()) {
        return ExitCode::from(code);
    }
    // The sandbox of programs restricts the thread that asks for it, so it comes before any other thread.
    #[cfg(target_os = "linux")]
    if let Some(code) = limpid_runtime::sandbox::main(std::env::args_os()) {
        return ExitCode::from(code);
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // It repeats words that somebody else may have chosen.
        Err(wrong) if wrong.use_stderr() => {
            output::tell_as_laid_out(wrong.render().to_string().trim_end());
            return ExitCode::from(ExitStatus::Usage.code());
        }
        Err(help) => help.exit(),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return end(Err(Failure::from(error))),
    };
    let ended = runtime.block_on(commands::run(cli));
    // A thread that still waits for a line or a model must not keep the program alive.
    runtime.shutdown_background();
    end(ended)
}

fn end(ended: Result<(), Failure>) -> ExitCode {
    match ended {
        Ok(()) => ExitCode::from(ExitStatus::Done.code()),
        Err(failure) => {
            if !failure.is_told {
                output::tell_further_in(&output::failed(&failure));
            }
            ExitCode::from(failure.status.code())
        }
    }
}
