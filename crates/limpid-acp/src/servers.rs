//! Servers of tools that an editor names. None is started or connected to before the owner has said yes to its command line, and
//! as with every server, a model reads only what the owner has looked at: they are asked here, once for each text.

use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::v1::schema::PermissionOptionKind;
use futures_util::future::join_all;
use limpid_runtime::mcp::{ToolReview, ToolState};
use limpid_runtime::question::{behind_margin, wrapped_field};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::editor_server::{EditorServer, Stage};
use crate::permission::ask_plainly;
use crate::session::Session;

/// Columns of a text that is shown.
const WIDTH: usize = 100;

/// How long a prompt waits for servers that have not answered yet. They are looked at again at the next one.
const PATIENCE: Duration = Duration::from_secs(2);

/// The pause after a server could not be connected to. It doubles with each failure in a row.
const FIRST_PAUSE: Duration = Duration::from_secs(5);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// Connects to the servers that the owner has said yes to in an earlier session, where such a yes lasts.
pub(crate) fn start_known(session: &Arc<Session>) {
    let listed = session.agent.mcp().list();
    let is_looked_at = |tool: ToolState| matches!(tool, ToolState::Ready | ToolState::Changed);
    for (at, server) in session.servers.iter().enumerate().filter(|(_, server)| server.lasts) {
        let mut tools = listed.iter().filter(|row| row.name == server.name).flat_map(|row| &row.tools);
        if tools.any(|tool| is_looked_at(tool.state)) {
            connect(session, at, 0);
        }
    }
}

/// Connects to a server that the owner has said yes to, in the background.
fn connect(session: &Arc<Session>, at: usize, failures: u32) {
    session.agent.mcp().let_go(&session.servers[at].name);
    session.servers[at].stage.send_replace(Stage::Connecting);
    let session = Arc::clone(session);
    let tasks = session.tasks.clone();
    tasks.spawn(async move {
        let server = &session.servers[at];
        let probed = tokio::select! {
            probed = session.agent.mcp().probe(&server.name) => probed,
            () = session.closed().cancelled() => return,
        };
        let stage = match probed {
            Ok(_) => Stage::Connected,
            Err(error) => {
                session.notice(&format!("Could not connect to the MCP server {}: {error}", server.called));
                let pause = FIRST_PAUSE.saturating_mul(1 << failures.min(10)).min(LONGEST_PAUSE);
                Stage::Failed { times: failures + 1, again: Instant::now() + pause }
            }
        };
        server.stage.send_replace(stage);
    });
}

/// Asks about servers that may not be started yet, and about tools that the owner has not looked at. A server that does not answer
/// keeps nothing from going on.
pub(crate) async fn review(session: &Arc<Session>, stop: &CancellationToken) {
    for (at, server) in session.servers.iter().enumerate() {
        match server.stage() {
            Stage::New if may_start(session, server, stop).await => connect(session, at, 0),
            Stage::New if stop.is_cancelled() => return,
            Stage::New => {
                session.notice(&format!("The MCP server {} is not used in this session.", server.called));
                server.stage.send_replace(Stage::Settled);
            }
            Stage::Failed { times, again } if again <= Instant::now() => connect(session, at, times),
            _ => {}
        }
    }
    let connected = session.servers.iter().map(|server| async {
        let mut stage = server.stage.subscribe();
        // The sender is there as long as the session.
        let _ = stage.wait_for(|stage| !matches!(stage, Stage::Connecting)).await;
    });
    tokio::select! {
        _ = tokio::time::timeout(PATIENCE, join_all(connected)) => {}
        () = stop.cancelled() => return,
    }
    for server in &session.servers {
        if matches!(server.stage(), Stage::Connected) {
            review_tools(session, server, stop).await;
        }
        if stop.is_cancelled() {
            return;
        }
    }
}

async fn may_start(session: &Session, server: &EditorServer, stop: &CancellationToken) -> bool {
    let (how_long, kind) = match server.lasts {
        true => ("now and later", PermissionOptionKind::AllowAlways),
        false => ("for this session", PermissionOptionKind::AllowOnce),
    };
    let title = format!("May the MCP server {} be started, {how_long}?", server.called);
    ask_plainly(session, (&server.name, &title), &[target(server)], ("Start it", kind), stop).await
}

async fn review_tools(session: &Session, server: &EditorServer, stop: &CancellationToken) {
    match session.agent.mcp().waiting(&server.name, None) {
        Ok(waiting) if waiting.is_empty() => {}
        Ok(waiting) => {
            if !may_use(session, server, &waiting, stop).await {
                if stop.is_cancelled() {
                    return;
                }
                let called = &server.called;
                let what = match waiting.len() {
                    1 => format!("The new tool of the MCP server {called} is not used in this session."),
                    several => {
                        format!("The {several} new tools of the MCP server {called} are not used in this session.")
                    }
                };
                session.notice(&what);
            }
        }
        Err(error) => session.notice(&error.to_string()),
    }
    server.stage.send_replace(Stage::Settled);
}

async fn may_use(session: &Session, server: &EditorServer, waiting: &[ToolReview], stop: &CancellationToken) -> bool {
    let tools = if waiting.len() == 1 { "1 tool".to_owned() } else { format!("{} tools", waiting.len()) };
    let title = format!("May the agent use {tools} of the MCP server {}, as described here?", server.called);
    let pages: Vec<String> = waiting.iter().map(|review| behind(&format!("{}\n{}", review.name, review.now))).collect();
    let yes = ("Use them as shown", PermissionOptionKind::AllowAlways);
    if !ask_plainly(session, (&server.name, &title), &pages, yes, stop).await {
        return false;
    }
    if let Err(error) = session.agent.mcp().enable(&server.name, waiting) {
        session.notice(&error.to_string());
        return false;
    }
    session.agent.renew_tools();
    if waiting.iter().any(ToolReview::ends_yeses) {
        session.notice(ToolReview::ENDS_YESES);
    }
    true
}

/// What would be started, behind a margin, and below it where an address leads.
fn target(server: &EditorServer) -> String {
    let host = server.host.iter().flat_map(|host| wrapped_field("  host    ", host, WIDTH, usize::MAX));
    std::iter::once(behind(&server.target)).chain(host).collect::<Vec<_>>().join("\n")
}

/// Every word of a text, behind a margin.
fn behind(text: &str) -> String {
    text.lines().flat_map(|line| behind_margin(line, WIDTH, usize::MAX).0).collect::<Vec<_>>().join("\n")
}
