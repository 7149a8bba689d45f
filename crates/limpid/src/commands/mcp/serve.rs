//! `mcp serve`: the agent's tools for other programs. Standard output is the protocol's alone.

use std::net::SocketAddr;
use std::sync::Arc;

use limpid_model::RealPause;
use limpid_runtime::{Agent, Bridge};
use limpid_server::{McpOptions, McpServer};

use super::super::context::Context;
use super::super::serve::stop;
use crate::cli::McpServeArgs;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Lends until the program hangs up, or somebody ends this.
///
/// # Errors
/// When the store cannot be read, the address cannot be listened on, or what the program says first is not the protocol.
pub(super) async fn run(context: &Context, agent: Agent, args: &McpServeArgs) -> Result<(), Failure> {
    // What changes is asked for; nobody reads it here.
    drop(context.take_changes(&agent));
    let followed = agent.clone();
    tokio::spawn(async move { followed.jobs().follow(|_| {}).await });
    let bridge = Bridge::open(agent).await?;
    if let Some(address) = args.http {
        return over_http(bridge, address, args).await;
    }
    let stop = stop()?;
    tokio::select! {
        served = bridge.serve(tokio::io::stdin(), tokio::io::stdout()) => Ok(served?),
        () = stop => Ok(()),
    }
}

async fn over_http(bridge: Bridge, address: SocketAddr, args: &McpServeArgs) -> Result<(), Failure> {
    let stop = stop()?;
    let token = bridge.keep_token()?;
    let options = McpOptions { address, hosts: args.host.clone(), public: args.public };
    let server = McpServer::bind(Arc::new(bridge), options, Arc::new(RealPause)).await;
    let server = server.map_err(|error| Failure::new(ExitStatus::Usage, error))?;
    output::tell(&format!("Listening on http://{}/mcp; the token is in {}", server.address(), token.display()));
    server.run(stop).await;
    Ok(())
}
