//! The process that is killed: it serves as `limpid serve` does, and somebody talks to it, gives it tasks and approves
//! its drafts. It tells each thing that was accepted.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use limpid_core::task::{TaskKind, TaskStatus};
use limpid_core::{ConversationId, DraftState};
use limpid_model::RealPause;
use limpid_runtime::tasks::{TaskRequest, When};
use limpid_runtime::{Agent, AgentError, ChatRequest, ConversationChoice, ServeEvent};
use limpid_server::Server;
use limpid_store::{Audience, ConversationKind, NewConversation, StoreError};
use tokio::task::JoinSet;

use super::super::program::block_on;
use super::told::{ToldMail, tell};
use super::world::{ADDRESS, CHATS, NUMBERS_OF_A_PROCESS, chat, effects_file, mail_servers, open_agent};
use super::{REPEATED, cuts};

/// How often it is looked whether something is to be done.
const OFTEN: Duration = Duration::from_millis(3);

/// How long somebody waits between two tasks.
const BETWEEN_TASKS: Duration = Duration::from_millis(25);

/// Seconds until a task is due, on the fast clock.
const SOON: i64 = 20;

/// How long carrying on what was interrupted may take.
const PATIENCE: Duration = Duration::from_secs(900);

/// Works until it is killed; without a first number it carries on what was interrupted and ends.
pub(crate) fn run(home: &Path, first: Option<u64>) -> Result<(), String> {
    for cut in cuts::read(home)? {
        tell("cut", &cut);
    }
    block_on(async {
        let agent = open_agent(home, ToldMail(mail_servers()?))?;
        serve(&agent).await?;
        match first {
            Some(first) => work(&agent, home, first).await,
            None => {
                let done = tokio::time::timeout(PATIENCE, carry_on(&agent)).await;
                done.map_err(|_| "something is never done".to_owned())?
            }
        }
    })
}

/// Does what `limpid serve` does.
async fn serve(agent: &Agent) -> Result<(), String> {
    let server = Server::bind(agent, Arc::new(RealPause))
        .await
        .map_err(|error| error.to_string())?
        .ok_or("nothing can be handed in")?;
    tokio::spawn(server.run(std::future::pending()));
    let agent = agent.clone();
    let log = |event: &ServeEvent| {
        if *event == ServeEvent::Ready {
            tell("it", "serves");
        }
    };
    tokio::spawn(async move { agent.jobs().serve(log, std::future::pending()).await });
    Ok(())
}

async fn work(agent: &Agent, home: &Path, first: u64) -> Result<(), String> {
    let mut working = JoinSet::new();
    // A heartbeat waits while somebody talks, so every second process is one that nobody talks to.
    if (first / NUMBERS_OF_A_PROCESS).is_multiple_of(2) {
        for number in 0..CHATS {
            working.spawn(talk(agent.clone(), chat(first, number), first + number * 100_000));
        }
    }
    working.spawn(plan(agent.clone(), format!("echo KEY >> {}", effects_file(home).display()), first + 500_000));
    working.spawn(approve(agent.clone()));
    match working.join_next().await {
        Some(Ok(Err(error))) => Err(error),
        other => Err(format!("nobody works any more: {other:?}")),
    }
}

/// Says one thing after the other in a chat.
async fn talk(agent: Agent, chat: String, first: u64) -> Result<(), String> {
    let has_mail = !agent.mail().list().await.map_err(said)?.is_empty();
    let chat = open_chat(&agent, chat).await.map_err(|error| error.to_string())?;
    for number in first.. {
        let is_letter = has_mail && number % 3 == 0;
        let (what, key) = if is_letter { ("letter", format!("d{number}")) } else { ("note", format!("m{number}")) };
        let request = ChatRequest {
            conversation: ConversationChoice::Id(chat.clone()),
            text: format!("{what} {key}"),
            key: Some(key.clone()),
            ..ChatRequest::default()
        };
        let mut handle = agent.chat(request).await.map_err(said)?;
        tell("message", &key);
        while handle.next().await.is_some_and(|event| !event.is_last()) {}
    }
    Ok(())
}

async fn open_chat(agent: &Agent, id: String) -> Result<ConversationId, StoreError> {
    let new = NewConversation {
        id: ConversationId::new(id.clone()),
        kind: ConversationKind::Chat,
        title: id.clone(),
        profile: "limpid".to_owned(),
        mode: None,
        model: None,
        audience: Audience::Owner,
        now_ms: agent.now_ms(),
    };
    match agent.store().create_conversation(new).await {
        Ok(_) | Err(StoreError::Exists { .. }) => Ok(ConversationId::new(id)),
        Err(error) => Err(error),
    }
}

/// Gives tasks of every kind, which are due soon.
async fn plan(agent: Agent, command: String, first: u64) -> Result<(), String> {
    let kinds = [
        ("reminder", TaskKind::Reminder, "r", "KEY"),
        ("task", TaskKind::Agent, "a", "work KEY"),
        ("command", TaskKind::Command, "c", command.as_str()),
    ];
    // A process that is killed early has given the first ones only, so the next one begins with another.
    let begin = (first / NUMBERS_OF_A_PROCESS) as usize % kinds.len();
    for (number, (word, kind, letter, prompt)) in (first..).zip(kinds.into_iter().cycle().skip(begin)) {
        let key = format!("{letter}{number}");
        let request = task(&key, kind, prompt.replace("KEY", &key), When::In(SOON));
        agent.tasks().add(request).await.map_err(said)?;
        tell(word, &key);
        tokio::time::sleep(BETWEEN_TASKS).await;
    }
    Ok(())
}

/// Gives the task that repeats.
pub(super) async fn repeat(agent: &Agent) -> Result<(), String> {
    let request = task(REPEATED, TaskKind::Reminder, REPEATED.to_owned(), When::Every(300));
    agent.tasks().add(request).await.map(drop).map_err(said)
}

fn task(key: &str, kind: TaskKind, prompt: String, when: When) -> TaskRequest {
    TaskRequest {
        key: Some(key.to_owned()),
        description: key.to_owned(),
        prompt,
        kind,
        when,
        zone: None,
        missed: None,
        conversation: None,
    }
}

/// Approves every draft.
async fn approve(agent: Agent) -> Result<(), String> {
    loop {
        approve_all(&agent).await?;
        tokio::time::sleep(OFTEN).await;
    }
}

async fn approve_all(agent: &Agent) -> Result<(), String> {
    for draft in agent.drafts().list(false).await.map_err(said)?.rows {
        if draft.state == DraftState::Open {
            tell("draft", &draft.new.call.as_str().replace("call-compose_email-", ""));
            agent.drafts().approve(draft.id, Some(&draft.new.hash)).await.map_err(said)?;
        }
    }
    Ok(())
}

/// Waits until nothing that was accepted is left to be done.
async fn carry_on(agent: &Agent) -> Result<(), String> {
    if !agent.mail().list().await.map_err(said)?.is_empty() {
        agent.mail().fetch(ADDRESS).await.map_err(said)?;
    }
    loop {
        approve_all(agent).await?;
        if left(agent).await.map_err(said)? == 0 {
            return Ok(());
        }
        tokio::time::sleep(OFTEN).await;
    }
}

/// Things that are still to be done. What leads to another thing is counted before it, as both change in one
/// transaction: counted after it, it could have become it in between, and both be missed.
async fn left(agent: &Agent) -> Result<usize, AgentError> {
    let store = agent.store();
    let mut left = 0;
    for source in limpid_core::inbox::Source::ALL {
        left += store.pending(source).await?.rows.len();
    }
    let tasks = store.tasks(Some(TaskStatus::Pending)).await?.rows;
    left += tasks.iter().filter(|task| !task.new.trigger.repeats()).count();
    if left > 0 {
        return Ok(left);
    }
    left += store.conversations_that_wait().await?.len();
    left += store.unfinished_turns().await?.rows.len();
    left += agent.drafts().list(false).await?.rows.len();
    left += store.pending_deliveries(None).await?.rows.len();
    left += store.open_pushes().await?.rows.len();
    Ok(left)
}

#[allow(clippy::needless_pass_by_value, reason = "errors are handed over where they come from")]
fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}
