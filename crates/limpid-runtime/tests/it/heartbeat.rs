//! The heartbeat on a clock that the test moves: when it runs, when a model is asked, what the owner hears of it.

mod apart;
mod cut_off;
mod divided;
mod due;
mod led;
mod read;
mod told;

use std::time::Duration;

use crate::kit::{Bench, FixedClock, all, last};
use jiff::{Span, Timestamp, ToSpan};
use limpid_core::heartbeat::Why;
use limpid_core::inbox::Source;
use limpid_core::task::TaskKind;
use limpid_core::{ConversationId, Message, Role, TurnId};
use limpid_prompt::{Estimate, TokenCounter as _};
use limpid_runtime::tasks::{TaskRequest, When};
use limpid_runtime::{Agent, Clock, Config, EventKind, HeartbeatChange, HeartbeatResult};
use limpid_store::{
    Acquired, Audience, ConversationKind, DeliveryOrigin, HeartbeatOutcome, HeartbeatRun, NewConversation, NewItem,
    NewMessage, NewTurn, RequestFilter, TurnOutcome, TurnWrite,
};

const QUIET: &str = r#"
[[reply]]
calls = [{ id = "d", name = "heartbeat_decision", arguments = { action = "quiet" } }]
usage = { input = 700, output = 12 }
"#;

const REPORT: &str = r#"
[[reply]]
calls = [{ id = "d", name = "heartbeat_decision", arguments = { action = "report", key = "Disk", text = "The disk is full. HEARTBEAT_OK" } }]
usage = { input = 700, output = 30 }
"#;

const LIST: &str = "# List\n\n- Tell me when the disk is full\n";

/// A bench with the owner at noon, whose agent has these lines in its configuration.
async fn bench(script: &str, config: &str) -> Bench {
    let mut bench = Bench::new(script).await;
    let usual = "model = \"openai/scripted\"\n[owner]\nzone = \"Europe/Berlin\"\n";
    bench.config = Config::parse(&format!("{usual}{config}"), "limpid.toml").unwrap();
    bench
}

/// Lets time pass: whenever something is due, it is done.
async fn pass(bench: &Bench, agent: &Agent, span: Span) {
    let end = bench.clock.now().checked_add(span).unwrap();
    loop {
        let next = agent.jobs().run_due().await.unwrap().map(|ms| Timestamp::from_millisecond(ms).unwrap());
        let now = bench.clock.now();
        let next = next.filter(|next| *next > now).unwrap_or(now.checked_add(1.minute()).unwrap());
        if next > end {
            bench.clock.forward(end.since(now).unwrap());
            return;
        }
        bench.clock.forward(next.since(now).unwrap());
    }
}

/// The runs, oldest first: `unchanged`, `told`, …
async fn outcomes(agent: &Agent) -> Vec<String> {
    let runs = agent.heartbeat().log(1000).await.unwrap().rows;
    runs.iter().rev().map(|run| run.outcome.to_string()).collect()
}

async fn newest(agent: &Agent) -> HeartbeatRun {
    agent.heartbeat().log(1).await.unwrap().rows.remove(0)
}

/// What the owner was told, oldest first.
async fn told(agent: &Agent) -> Vec<String> {
    agent.conversations().deliver_waiting().await.unwrap();
    let deliveries = agent.store().deliveries(1000).await.unwrap().rows;
    deliveries.into_iter().rev().map(|delivery| delivery.new.text).collect()
}

fn sms(key: &str, text: &str, clock: &FixedClock) -> NewItem {
    NewItem { key: Some(key.to_owned()), ..crate::kit::sms(text, clock) }
}

async fn waiting(agent: &Agent) -> usize {
    agent.store().pending(Source::Sms).await.unwrap().rows.len()
}
