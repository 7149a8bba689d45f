//! What `serve` has beside the agent: the door for what other machines hand in, and lines about what went wrong.

use std::sync::Arc;

use limpid_runtime::{Agent, BusEvent, Change};
use limpid_server::Server;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Whoever is told a line.
pub(super) type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// What runs beside the agent until it is stopped.
pub(super) struct Beside {
    stop: CancellationToken,
    running: Vec<JoinHandle<()>>,
}

impl Beside {
    /// Starts it. A door that cannot be opened is told, and the agent serves without it.
    pub(super) async fn start(agent: &Agent, say: &Say) -> Self {
        let stop = CancellationToken::new();
        let mut running = vec![tokio::spawn(tell(agent.subscribe(), Arc::clone(say), stop.clone()))];
        match Server::bind(agent).await {
            Ok(None) => {}
            Ok(Some(server)) => {
                say(&format!("takes what is handed in at http://{}", server.address()));
                let (stop, say) = (stop.clone(), Arc::clone(say));
                running.push(tokio::spawn(async move {
                    if let Err(error) = server.run(stop.cancelled_owned()).await {
                        say(&format!("nothing can be handed in any more: {error}"));
                    }
                }));
            }
            Err(error) => say(&format!("nothing can be handed in: {error}")),
        }
        Self { stop, running }
    }

    /// Ends it; requests that came before are answered.
    pub(super) async fn stop(self) {
        self.stop.cancel();
        for task in self.running {
            // A task that broke off has nothing left to end.
            let _ = task.await;
        }
    }
}

/// Tells of what came in, of notifications that failed (KAI-070), and of what came of tasks, heartbeats and drafts
/// (OLLM-110).
async fn tell(mut events: Receiver<BusEvent>, say: Say, stop: CancellationToken) {
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            () = stop.cancelled() => return,
        };
        match event.map(|event| event.change) {
            Ok(Change::ItemArrived { source, id }) => say(&format!("{source} came in, item {id}")),
            Ok(Change::NotificationFailed { by, reason }) => say(&format!("not told by {by}: {reason}")),
            Ok(Change::TaskRan { task, outcome, detail }) => {
                say(&with_detail(format!("task {task}: {outcome}"), &detail));
            }
            Ok(Change::HeartbeatDecided { outcome, detail, .. }) => {
                say(&with_detail(format!("heartbeat: {outcome}"), &detail));
            }
            Ok(Change::DraftUpdated { draft, tool, state }) => say(&format!("draft {draft} ({tool}) is {state}")),
            Ok(Change::SemanticSearchFailed { model, reason }) => {
                say(&format!("found by words alone, since {model} cannot be asked: {reason}"));
            }
            Ok(_) | Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

fn with_detail(what: String, detail: &str) -> String {
    if detail.is_empty() { what } else { format!("{what} ({detail})") }
}
