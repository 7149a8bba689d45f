//! Tools of the servers that an editor names. As with every server, a model reads only what the owner has looked at: they are
//! asked here, once for each text.

use limpid_runtime::mcp::ToolReview;
use limpid_runtime::question::behind_margin;
use tokio_util::sync::CancellationToken;

use crate::permission::ask_plainly;
use crate::session::Session;

/// Columns of a tool's text.
const WIDTH: usize = 100;

/// Connects to the servers of the session, and asks about tools that the owner has not looked at. A server that is not
/// there keeps nothing from going on.
pub(crate) async fn look_at(session: &Session, stop: &CancellationToken) {
    let _one_at_a_time = session.looking.lock().await;
    for (server, called) in &session.servers {
        if session.was_looked_at(server) {
            continue;
        }
        let probed = tokio::select! {
            probed = session.agent.mcp().probe(server) => probed,
            () = stop.cancelled() => return,
        };
        if let Err(error) = probed {
            session.notice(&format!("The MCP server `{called}` is not there: {error}"));
            continue;
        }
        let waiting = match session.agent.mcp().waiting(server, None) {
            Ok(waiting) => waiting,
            Err(error) => {
                session.notice(&error.to_string());
                continue;
            }
        };
        if !waiting.is_empty() && !may_use(session, called, server, &waiting, stop).await {
            if stop.is_cancelled() {
                return;
            }
            session.notice(&format!("Tools of `{called}` are not used in this session."));
        }
        session.looked_at(server);
    }
}

async fn may_use(
    session: &Session,
    called: &str,
    server: &str,
    waiting: &[ToolReview],
    stop: &CancellationToken,
) -> bool {
    let title = format!("May the agent use {} tools of the MCP server {called}, as described here?", waiting.len());
    let pages: Vec<String> = waiting.iter().map(page).collect();
    if !ask_plainly(session, server, &title, &pages, stop).await {
        return false;
    }
    if let Err(error) = session.agent.mcp().enable(server, waiting) {
        session.notice(&error.to_string());
        return false;
    }
    session.agent.renew_tools();
    true
}

/// Every word that a model would read of a tool.
fn page(review: &ToolReview) -> String {
    let (rows, _) = behind_margin(&review.name, WIDTH, usize::MAX);
    let lines = review.now.lines().flat_map(|line| behind_margin(line, WIDTH, usize::MAX).0);
    rows.into_iter().chain(lines).collect::<Vec<_>>().join("\n")
}
