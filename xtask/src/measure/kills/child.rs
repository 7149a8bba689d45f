//! The process that is killed: it makes messages, reminders, reports and drafts, and tells each one that was accepted.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use limpid_core::{ConversationId, DraftState, Trust};
use limpid_runtime::{Agent, ChatRequest, ConversationChoice};
use limpid_store::{DeliveryOrigin, NewDelivery};
use serde_json::Value;
use tokio::task::JoinSet;

use super::super::program::block_on;
use super::world::{CHATS, NUMBERS_OF_A_PROCESS, open_agent};

/// How often drafts are looked at.
const OFTEN: Duration = Duration::from_millis(3);

/// How long carrying on what was interrupted may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// Works until it is killed; without a first number it carries on what was interrupted and ends.
pub(crate) fn run(home: &Path, first: Option<u64>) -> Result<(), String> {
    block_on(async {
        let agent = open_agent(home)?;
        tokio::spawn({
            let agent = agent.clone();
            async move { agent.serve(|_| {}, std::future::pending()).await }
        });
        match first {
            Some(first) => work(&agent, first).await,
            None => {
                let done = tokio::time::timeout(PATIENCE, carry_on(&agent)).await;
                done.map_err(|_| "something is never done".to_owned())?
            }
        }
    })
}

async fn work(agent: &Agent, first: u64) -> Result<(), String> {
    let mut working = JoinSet::new();
    for (chat, number) in CHATS.into_iter().zip((first..).step_by(100_000)) {
        working.spawn(talk(agent.clone(), chat, number));
    }
    working.spawn(report(agent.clone(), first + 500_000));
    working.spawn(approve(agent.clone()));
    match working.join_next().await {
        Some(Ok(Err(error))) => Err(error),
        other => Err(format!("nobody works any more: {other:?}")),
    }
}

/// Says one thing after the other in a chat.
async fn talk(agent: Agent, chat: &'static str, first: u64) -> Result<(), String> {
    for number in first.. {
        let (what, key) =
            if number % 3 == 0 { ("letter", format!("d{number}")) } else { ("note", format!("m{number}")) };
        let request = ChatRequest {
            conversation: ConversationChoice::Id(ConversationId::new(chat)),
            text: format!("{what} {key}"),
            key: Some(key.clone()),
            ..ChatRequest::default()
        };
        let mut handle = agent.chat(request).await.map_err(|error| error.to_string())?;
        tell("message", &key);
        while handle.next().await.is_some_and(|event| !event.is_last()) {}
    }
    Ok(())
}

/// Keeps messages that nobody waits for, and has them delivered.
async fn report(agent: Agent, first: u64) -> Result<(), String> {
    let origins = [("reminder", DeliveryOrigin::Reminder), ("heartbeat", DeliveryOrigin::Heartbeat)];
    // A process that is killed early has made the first ones only, so the next one begins with the other.
    let turn = (first / NUMBERS_OF_A_PROCESS) as usize;
    for (number, (kind, origin)) in (first..).zip(origins.into_iter().cycle().skip(turn % 2)) {
        let key = format!("r{number}");
        let new = NewDelivery {
            key: key.clone(),
            conversation: ConversationId::new(CHATS[number as usize % CHATS.len()]),
            origin,
            title: key.clone(),
            text: key.clone(),
            trust: Trust::Owner,
            now_ms: agent.now_ms(),
        };
        agent.store().enqueue(new).await.map_err(|error| error.to_string())?;
        tell(kind, &key);
        agent.deliver_waiting().await.map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Approves every draft.
async fn approve(agent: Agent) -> Result<(), String> {
    loop {
        approve_all(&agent).await?;
        tokio::time::sleep(OFTEN).await;
    }
}

async fn approve_all(agent: &Agent) -> Result<(), String> {
    let drafts = agent.drafts(false).await.map_err(|error| error.to_string())?.rows;
    for draft in drafts.into_iter().filter(|draft| draft.state == DraftState::Open) {
        let arguments: Value = serde_json::from_str(&draft.new.arguments).unwrap_or_default();
        tell("draft", arguments["to"].as_str().unwrap_or_default());
        agent.approve_draft_as_seen(draft.id, &draft.new.hash).await.map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Waits until nothing that was accepted is left to be done.
async fn carry_on(agent: &Agent) -> Result<(), String> {
    let store = agent.store();
    let failed = |error: limpid_store::StoreError| error.to_string();
    loop {
        approve_all(agent).await?;
        let mut left = store.unfinished_turns().await.map_err(failed)?.rows.len();
        left += store.pending_deliveries(None).await.map_err(failed)?.rows.len();
        for chat in CHATS {
            left += store.waiting(&ConversationId::new(chat)).await.map_err(failed)?.rows.len();
        }
        left += agent.drafts(false).await.map_err(|error| error.to_string())?.rows.len();
        if left == 0 {
            return Ok(());
        }
        tokio::time::sleep(OFTEN).await;
    }
}

fn tell(kind: &str, key: &str) {
    // One write, so that a line is whole or not there. Whoever reads may be gone.
    let _ = std::io::stdout().lock().write_all(format!("{kind} {key}\n").as_bytes());
}
