//! `acp`: the agent for editors, over standard input and output.

use limpid_acp::{Host, NewChat, serve};
use tokio_util::sync::CancellationToken;

use super::context::Context;
use crate::cli::AcpArgs;
use crate::failure::{ExitStatus, Failure};

/// Carries out `acp`: serves an editor until it closes standard input.
///
/// # Errors
/// When the agent cannot be opened, or the streams fail.
pub async fn run(context: &Context, args: &AcpArgs) -> Result<(), Failure> {
    let agent = context.agent()?;
    // Nobody reads what this process would tell of its own.
    drop(context.take_changes(&agent));
    let followed = agent.clone();
    tokio::spawn(async move { followed.jobs().follow(|_| {}).await });
    let AcpArgs { profile, mode, model, effort } = args.clone();
    let host = Host {
        agent,
        options: context.options(),
        program: env!("CARGO_PKG_NAME"),
        new_chat: NewChat { profile, mode, model, effort },
    };
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    tokio::spawn(async move {
        interrupted().await;
        stopping.cancel();
    });
    let served = serve(host, tokio::io::stdin(), tokio::io::stdout(), stop).await;
    served.map_err(|error| Failure::new(ExitStatus::Failed, format!("the connection to the editor failed: {error}")))
}

/// Waits for Ctrl-C, or for the signal by which an editor ends its programs.
async fn interrupted() {
    #[cfg(unix)]
    {
        let ended = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate());
        if let Ok(mut ended) = ended {
            tokio::select! {
                _ = ended.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
