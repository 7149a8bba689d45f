//! What a message, a change, a stop, an answer and a look for waiting work do in each phase of a conversation: idle, while
//! the model answers, while a tool runs or a call waits for the person, while a digest is made.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use limpid_core::{CallId, Role, ToolProtocol, UsableWindow, WindowSize};
use limpid_model::{Model, ModelCard};
use limpid_runtime::{
    Agent, AgentOptions, ApprovalAnswer, ChatRequest, Config, ConversationChoice, QuestionId, Tool, TurnEvent,
    TurnHandle,
};
use limpid_store::RequestFilter;
use limpid_testkit::{Said, Talker};
use tokio::sync::{Notify, Semaphore};

use crate::kit::{Bench, Once, all, last, say};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    Answering,
    RunningTool,
    Asking,
    Compacting,
}

#[derive(Clone, Copy, Debug)]
enum Command {
    Message,
    Change,
    Cancel,
    Answer,
    Wake,
}

/// A conversation that stands in a phase until it is let go on.
struct Stage {
    _bench: Bench,
    agent: Arc<Agent>,
    once: Arc<Once>,
    go_on: Arc<Notify>,
    handle: Option<TurnHandle>,
    /// The call that waits for the person.
    asked: Option<QuestionId>,
    compaction: Option<tokio::task::JoinHandle<String>>,
}

impl Stage {
    async fn in_phase(phase: Phase) -> Self {
        let bench = Bench::new("[[reply]]\ntext = \"unused\"\n").await;
        let (go_on, reached, asked) = (Arc::new(Notify::new()), Arc::new(Semaphore::new(0)), AtomicUsize::new(0));
        let summed = AtomicUsize::new(0);
        let (goes_on, reaches) = (Arc::clone(&go_on), Arc::clone(&reached));
        let answer = move |call: &limpid_model::ModelCall| {
            let held = |text: &str| {
                reaches.add_permits(1);
                Said::Held(Arc::clone(&goes_on), text.to_owned())
            };
            if !call.prompt.path().starts_with("chat") {
                let is_first = summed.fetch_add(1, Ordering::SeqCst) == 0;
                let text = "They greeted each other.";
                return if is_first { held(text) } else { Said::Text(text.to_owned()) };
            }
            match (phase, asked.fetch_add(1, Ordering::SeqCst)) {
                (Phase::Answering, 0) => held("Held."),
                (Phase::RunningTool | Phase::Asking, 0) => Said::Calls(vec![("once".to_owned(), "{}".to_owned())]),
                (Phase::Compacting, n @ 0..3) => Said::Text(format!("Answer {n}.{}", " And so on.".repeat(400))),
                (_, n) => Said::Text(format!("Answer {n}.")),
            }
        };
        let card = ModelCard {
            provider: "test".to_owned(),
            id: "talker".to_owned(),
            window: Some(WindowSize(16_384)),
            usable_window: Some(UsableWindow::default_for(WindowSize(16_384))),
            tools: ToolProtocol::Native,
            ..ModelCard::default()
        };
        let policy = if phase == Phase::Asking { "[[policy.ask]]\ntool = \"once\"\n" } else { "" };
        let config =
            format!("[memory]\nenabled = false\n[tools]\ndefer = false\n[window]\ncompaction = \"off\"\n{policy}");
        let once = Once::new();
        let options = AgentOptions {
            model: Some(Arc::new(Talker::new(card, answer)) as Arc<dyn Model>),
            config: Config::parse(&config, "limpid.toml").unwrap(),
            tools: vec![Arc::clone(&once) as Arc<dyn Tool>],
            ..bench.options()
        };
        let agent = Arc::new(Agent::open(options).unwrap());
        let mut stage = Self { _bench: bench, agent, once, go_on, handle: None, asked: None, compaction: None };
        stage.enter(phase, &reached).await;
        stage
    }

    async fn enter(&mut self, phase: Phase, reached: &Semaphore) {
        let chat = async || self.agent.chat(ChatRequest { can_answer: true, ..last("do it") }).await.unwrap();
        match phase {
            Phase::Idle => drop(say(&self.agent, "do it").await),
            Phase::Answering => {
                self.handle = Some(chat().await);
                reached.acquire().await.unwrap().forget();
            }
            Phase::RunningTool => {
                self.handle = Some(chat().await);
                self.once.running.acquire().await.unwrap().forget();
            }
            Phase::Asking => {
                let mut handle = chat().await;
                while self.asked.is_none() {
                    if let Some(TurnEvent::ApprovalRequested { parts, .. }) = handle.next().await {
                        self.asked = Some(parts[0].id.clone());
                    }
                }
                self.handle = Some(handle);
            }
            Phase::Compacting => {
                for n in 0..3 {
                    say(&self.agent, &format!("hello {n}, {}", "and this and that, ".repeat(200))).await;
                }
                let agent = Arc::clone(&self.agent);
                self.compaction = Some(tokio::spawn(async move {
                    match agent.conversations().compact(&ConversationChoice::Last).await {
                        Ok(report) => {
                            format!("compacted{}", report.failure.map(|why| format!(" ({why})")).unwrap_or_default())
                        }
                        Err(error) => error.to_string(),
                    }
                }));
                reached.acquire().await.unwrap().forget();
            }
        }
    }

    /// What a command does at once, and what came of everything after the phase was let go on.
    async fn after(mut self, command: Command) -> String {
        let conversation = self.agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
        let (mut more, mut change) = (None, None);
        let at_once = match command {
            Command::Message => {
                more = Some(self.agent.chat(last("and more")).await.unwrap());
                String::new()
            }
            // A change waits for the end of a compaction, and is put off by a turn.
            Command::Change => {
                let (agent, id) = (Arc::clone(&self.agent), conversation.clone());
                let set = tokio::spawn(async move {
                    format!("{:?}", agent.conversations().set_mode(&id, "planning").await.unwrap())
                });
                if self.compaction.is_some() {
                    change = Some(set);
                    String::new()
                } else {
                    format!(" {};", set.await.unwrap())
                }
            }
            Command::Cancel => {
                match &self.handle {
                    Some(handle) => handle.cancel(),
                    None => drop(self.agent.conversations().cancel(&conversation)),
                }
                String::new()
            }
            Command::Answer => {
                let asked = self.asked.take().unwrap_or_else(|| QuestionId::new(CallId::new("call-1")));
                if let Some(handle) = &self.handle {
                    handle.answer(&asked, ApprovalAnswer::No);
                }
                String::new()
            }
            Command::Wake => {
                self.agent.conversations().resume().await.unwrap();
                String::new()
            }
        };
        // What was stopped must end by itself.
        if !matches!(command, Command::Cancel) {
            self.once.go_on.add_permits(1);
            self.go_on.notify_one();
        }
        if let (Some(handle), Some(asked)) = (&self.handle, &self.asked) {
            handle.answer(asked, ApprovalAnswer::Once);
        }
        let mut told = String::new();
        if let Some(compaction) = self.compaction.take() {
            told += &format!(" {};", compaction.await.unwrap());
        }
        if let Some(change) = change {
            told += &format!(" {};", change.await.unwrap());
        }
        for handle in [self.handle.take(), more].into_iter().flatten() {
            told += &format!(" {};", end(&all(handle).await));
        }
        self.agent.conversations().wait_idle(&conversation).await;
        let requests =
            self.agent.store().requests(RequestFilter { limit: 50, ..RequestFilter::default() }).await.unwrap();
        assert!(requests.rows.iter().all(|request| request.end.is_some()), "a request has no end: {requests:?}");
        let mode = self.agent.modes().state(&ConversationChoice::Last).await.unwrap().mode;
        let rows = self.agent.store().messages(&conversation, None).await.unwrap().rows;
        let said: Vec<String> = rows
            .iter()
            .filter(|row| row.message.text.len() < 1000)
            .map(|row| (row.message.role, row.typed.as_deref().unwrap_or(&row.message.text)))
            .map(|(role, text)| format!("{} {}", if role == Role::Assistant { "agent" } else { role.as_str() }, text))
            .collect();
        let said = if said.is_empty() { String::new() } else { format!("  {}\n", said.join(" | ")) };
        format!("{command:?}:{at_once}{told} mode {mode}\n{said}")
    }
}

/// How a turn ended for whoever listened.
fn end(events: &[TurnEvent]) -> String {
    match events.last() {
        Some(TurnEvent::Done { outcome, .. }) => {
            let outcome = format!("{outcome:?}");
            outcome.split([' ', '(', '{']).next().unwrap_or_default().to_owned()
        }
        other => format!("{other:?}"),
    }
}

async fn column(phase: Phase) -> String {
    let mut rows = String::new();
    for command in [Command::Message, Command::Change, Command::Cancel, Command::Answer, Command::Wake] {
        rows += &Stage::in_phase(phase).await.after(command).await;
    }
    rows
}

// ARC-011 LES-144
#[tokio::test]
async fn idle() {
    insta::assert_snapshot!(column(Phase::Idle).await, @r#"
    Message: Answered; mode assistant
      user do it | agent Answer 0. | user and more | agent Answer 1.
    Change: Applied("assistant"); mode planning
      user do it | agent Answer 0.
    Cancel: mode assistant
      user do it | agent Answer 0.
    Answer: mode assistant
      user do it | agent Answer 0.
    Wake: mode assistant
      user do it | agent Answer 0.
    "#);
}

// ARC-011 LES-141 OLLM-043
#[tokio::test]
async fn while_the_model_answers() {
    insta::assert_snapshot!(column(Phase::Answering).await, @r#"
    Message: Answered; Answered; mode assistant
      user do it | agent Held. | user and more | agent Answer 1.
    Change: Deferred; Answered; mode planning
      user do it | agent Held.
    Cancel: Cancelled; mode assistant
      user do it
    Answer: Answered; mode assistant
      user do it | agent Held.
    Wake: Answered; mode assistant
      user do it | agent Held.
    "#);
}

// ARC-011 LES-141 OLLM-043
#[tokio::test]
async fn while_a_tool_runs() {
    insta::assert_snapshot!(column(Phase::RunningTool).await, @r#"
    Message: Answered; Answered; mode assistant
      user do it | agent  | tool done | user and more | agent Answer 1.
    Change: Deferred; Answered; mode planning
      user do it | agent  | tool done | agent Answer 1.
    Cancel: Cancelled; mode assistant
      user do it | agent  | tool {"success":false,"error":"stopped by the user"}
    Answer: Answered; mode assistant
      user do it | agent  | tool done | agent Answer 1.
    Wake: Answered; mode assistant
      user do it | agent  | tool done | agent Answer 1.
    "#);
}

// ARC-011 LES-073
#[tokio::test]
async fn while_a_call_waits_for_the_person() {
    insta::assert_snapshot!(column(Phase::Asking).await, @r#"
    Message: Answered; Answered; mode assistant
      user do it | agent  | tool done | user and more | agent Answer 1.
    Change: Deferred; Answered; mode planning
      user do it | agent  | tool done | agent Answer 1.
    Cancel: Cancelled; mode assistant
      user do it | agent  | tool {"success":false,"error":"stopped by the user"}
    Answer: Answered; mode assistant
      user do it | agent  | tool {"success":false,"error":"the owner said no"} | agent Answer 1.
    Wake: Answered; mode assistant
      user do it | agent  | tool done | agent Answer 1.
    "#);
}

// ARC-011 LES-080
#[tokio::test]
async fn while_a_digest_is_made() {
    insta::assert_snapshot!(column(Phase::Compacting).await, @r#"
    Message: compacted; Answered; mode assistant
      user and more | agent Answer 3.
    Change: compacted; Applied("assistant"); mode planning
    Cancel: compacted (it was stopped); mode assistant
    Answer: compacted; mode assistant
    Wake: compacted; mode assistant
    "#);
}
