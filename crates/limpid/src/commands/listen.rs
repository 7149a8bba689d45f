//! What `serve` has beside the agent: the page, the door for what other machines hand in, and lines about what went wrong.

use std::sync::Arc;

use limpid_model::RealPause;
use limpid_runtime::{Agent, Event};
use limpid_server::PageServer;
use tokio::sync::broadcast::Receiver;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::changes;
use super::log::{Log, LogLine};

/// What runs beside the agent until it is stopped.
pub(super) struct Beside {
    stop: CancellationToken,
    running: Vec<JoinHandle<()>>,
}

impl Beside {
    /// Starts it. What cannot be opened is told, and the agent serves without it.
    pub(super) fn start(agent: &Agent, log: &Arc<Log>) -> Self {
        let mut beside = Self::telling(agent, log);
        beside.running.push(tokio::spawn(show_page(agent.clone(), Arc::clone(log), beside.stop.clone())));
        let (agent, log, stop) = (agent.clone(), Arc::clone(log), beside.stop.clone());
        beside.running.push(tokio::spawn(async move {
            let tell = move |news| log.write(&LogLine::door(&news));
            limpid_server::keep_open(&agent, tell, stop.cancelled_owned()).await;
        }));
        beside
    }

    /// Only tells what came of things.
    pub(super) fn telling(agent: &Agent, log: &Arc<Log>) -> Self {
        let stop = CancellationToken::new();
        let telling = tokio::spawn(tell(agent.subscribe(), Arc::clone(log), stop.clone()));
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
async fn show_page(agent: Agent, log: Arc<Log>, stop: CancellationToken) {
    match PageServer::bind(&agent, Arc::new(RealPause)).await {
        Ok(None) => {}
        Ok(Some(page)) => {
            log.write(&match page.login_link() {
                Ok(link) => LogLine::page_shown(&link, page.address()),
                Err(why) => LogLine::page_closed(page.address(), &why.to_string()),
            });
            page.run(stop.cancelled_owned()).await;
        }
        Err(why) => log.write(&LogLine::no_page(&why.to_string())),
    }
}

/// Tells of whatever changed, as the chat does.
async fn tell(mut events: Receiver<Event>, log: Arc<Log>, stop: CancellationToken) {
    loop {
        let event = tokio::select! {
            biased;
            event = changes::next(&mut events) => event,
            // What was sent before is told.
            () = stop.cancelled() => return,
        };
        LogLine::change(&event).iter().for_each(|line| log.write(line));
    }
}
