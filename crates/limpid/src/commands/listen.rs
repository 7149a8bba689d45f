//! What `serve` has beside the agent: the page, the door for what other machines hand in, and lines about what went wrong.

use std::sync::Arc;

use limpid_model::RealPause;
use limpid_runtime::{Agent, Event};
use limpid_server::PageServer;
use tokio::sync::broadcast::Receiver;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::changes;
use crate::output;

/// Whoever is told a line.
pub(super) type Say = Arc<dyn Fn(&str) + Send + Sync>;

/// What runs beside the agent until it is stopped.
pub(super) struct Beside {
    stop: CancellationToken,
    running: Vec<JoinHandle<()>>,
}

impl Beside {
    /// Starts it. What cannot be opened is told, and the agent serves without it.
    pub(super) fn start(agent: &Agent, say: &Say) -> Self {
        let mut beside = Self::telling(agent, say);
        beside.running.push(tokio::spawn(show_page(agent.clone(), Arc::clone(say), beside.stop.clone())));
        let (agent, say, stop) = (agent.clone(), Arc::clone(say), beside.stop.clone());
        beside.running.push(tokio::spawn(async move {
            limpid_server::keep_open(&agent, move |words| say(&words), stop.cancelled_owned()).await;
        }));
        beside
    }

    /// Only tells what came of things.
    pub(super) fn telling(agent: &Agent, say: &Say) -> Self {
        let stop = CancellationToken::new();
        let telling = tokio::spawn(tell(agent.subscribe(), Arc::clone(say), stop.clone()));
        Self { stop, running: vec![telling] }
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

/// Shows the page until it is stopped, and tells how to get in.
async fn show_page(agent: Agent, say: Say, stop: CancellationToken) {
    match PageServer::bind(&agent, Arc::new(RealPause)).await {
        Ok(None) => {}
        Ok(Some(page)) => {
            match page.login_link() {
                Ok(link) => say(&format!("page: open {link} (good once, for an hour)")),
                Err(why) => say(&format!("page: at http://{}, but nobody can log in: {why}", page.address())),
            }
            page.run(stop.cancelled_owned()).await;
        }
        Err(why) => say(&format!("page: not shown: {why}")),
    }
}

/// Characters of one line of the log.
const MOST: usize = 400;

/// Tells of whatever changed, as the chat does.
async fn tell(mut events: Receiver<Event>, say: Say, stop: CancellationToken) {
    loop {
        let event = tokio::select! {
            biased;
            event = changes::next(&mut events) => event,
            // What was sent before is told.
            () = stop.cancelled() => return,
        };
        if let Some(words) = changes::words(&event.change) {
            // Each line of the log has its time; what is long or has lines of its own is whole in the conversation.
            say(&output::one_line(&words, MOST));
        }
    }
}
