//! What a process that was killed leaves behind: it keeps nobody waiting, and nothing is asked or told twice.

use std::sync::{Arc, Mutex};

use super::*;
use crate::kit::dead_holder;
use limpid_runtime::ServeEvent;
use limpid_store::{AcceptedAgent, NewInbound, NewRequest, NewSubAgent, RunningHeartbeat};

/// A turn that its process left in the middle: its message waits, and its lease runs for a quarter of an hour.
async fn left_turn(agent: &Agent, id: &str, kind: ConversationKind) -> (limpid_store::Lease, TurnId) {
    open_turn(agent, id, kind, Audience::Owner, &dead_holder()).await
}

/// A turn in the middle, of a process with this name.
async fn open_turn(
    agent: &Agent,
    id: &str,
    kind: ConversationKind,
    audience: Audience,
    holder: &str,
) -> (limpid_store::Lease, TurnId) {
    let (store, now_ms) = (agent.store(), agent.now_ms());
    let id = ConversationId::new(id);
    let new = NewConversation {
        id: id.clone(),
        kind,
        title: String::new(),
        profile: "limpid".to_owned(),
        mode: None,
        model: None,
        audience,
        now_ms,
    };
    store.create_conversation(new).await.unwrap();
    let inbound = NewInbound {
        conversation: id.clone(),
        key: Some(id.to_string()),
        text: String::new(),
        trust: limpid_core::Trust::Owner,
        typed: false,
        base: limpid_store::Base::Workspace,
        now_ms,
    };
    let inbound = store.accept(inbound).await.unwrap().inbound.id;
    let Acquired::Lease(lease) = store.acquire(&id, holder, now_ms, 3_600_000).await.unwrap() else {
        panic!("it is free")
    };
    let turn = TurnId::new(format!("t-{id}"));
    let path = if kind == ConversationKind::Run { "heartbeat" } else { "chat-remote" };
    let new = NewTurn { id: turn.clone(), path: path.to_owned(), inbound: vec![inbound], now_ms };
    let asked = NewMessage {
        inbound: Some(inbound),
        ..NewMessage::new(Message::new(Role::User, "hi", limpid_core::Trust::Owner))
    };
    store.begin_turn(&lease, new, vec![TurnWrite::Messages(vec![asked])]).await.unwrap();
    (lease, turn)
}

/// A heartbeat whose process is gone.
async fn left_heartbeat(agent: &Agent, key: &str) {
    let began_ms = agent.now_ms();
    let running =
        RunningHeartbeat { key: key.to_owned(), part: String::new(), holder: dead_holder(), by_hand: false, began_ms };
    assert!(agent.store().begin_heartbeat(&running).await.unwrap());
}

// KAI-072 SEC-040
#[tokio::test]
async fn a_turn_and_a_test_that_a_dead_process_left_keep_no_heartbeat_waiting() {
    let bench = bench(&QUIET.repeat(2), "").await;
    bench.write("workspace/HEARTBEAT.md", LIST);
    let agent = bench.agent();
    left_turn(&agent, "c1", ConversationKind::Chat).await;
    let mut asked = agent.requests().test_model(None).await.unwrap();
    while asked.next().await.is_some() {}
    // The request of a test that never ended, by whoever sent it.
    let sent = agent.store().requests(RequestFilter::default()).await.unwrap().rows.remove(0);
    let open = |id: &str, holder: String| NewRequest {
        id: limpid_core::RequestId::new(id),
        conversation: None,
        turn: None,
        round: 1,
        provider: sent.provider.clone(),
        model: sent.model.clone(),
        protocol: sent.protocol.clone(),
        target: sent.target.clone(),
        profile: sent.profile.clone(),
        path: sent.path.clone(),
        revision: sent.revision.clone(),
        sampling: sent.sampling.clone(),
        tools: "[]".to_owned(),
        body: String::new(),
        messages: Vec::new(),
        estimate: None,
        estimate_by_kind: std::collections::BTreeMap::new(),
        holder: Some(holder),
        sent_ms: agent.now_ms(),
    };
    agent.store().record_request(open("dead", dead_holder())).await.unwrap();
    // Nor does a summary of a guest's conversation that is under way.
    let alive = "elsewhere/pid:[1]/1/1";
    open_turn(&agent, "guest", ConversationKind::Chat, Audience::Strangers, alive).await;
    let of_guest = NewRequest { conversation: Some(ConversationId::new("guest")), ..open("guest", alive.to_owned()) };
    agent.store().record_request(of_guest).await.unwrap();
    assert!(matches!(agent.jobs().run_heartbeat().await.unwrap(), HeartbeatResult::Ran(_)));
    // One whose sender may live is waited for.
    agent.store().record_request(open("alive", alive.to_owned())).await.unwrap();
    assert_eq!(agent.jobs().run_heartbeat().await.unwrap(), HeartbeatResult::Waits(Why::Busy));
}

/// Guests have no say in when the heartbeat looks, nor has a question that nobody answers.
// SEC-093 KAI-072
#[tokio::test]
async fn a_guests_turn_keeps_no_heartbeat_waiting_and_an_owners_a_quarter_of_an_hour() {
    let bench = bench(&QUIET.repeat(2), "").await;
    bench.write("workspace/HEARTBEAT.md", LIST);
    let agent = bench.agent();
    let alive = "elsewhere/pid:[1]/1/1";
    open_turn(&agent, "guest", ConversationKind::Chat, Audience::Strangers, alive).await;
    assert!(matches!(agent.jobs().run_heartbeat().await.unwrap(), HeartbeatResult::Ran(_)));
    open_turn(&agent, "chat", ConversationKind::Chat, Audience::Owner, alive).await;
    assert_eq!(agent.jobs().run_heartbeat().await.unwrap(), HeartbeatResult::Waits(Why::Busy));
    bench.clock.forward(15.minutes());
    assert!(matches!(agent.jobs().run_heartbeat().await.unwrap(), HeartbeatResult::Ran(_)));
}

/// An agent of one of the owner's chats counts as whatever had it started.
// SEC-093 SEC-102
#[tokio::test]
async fn an_agent_that_a_page_had_started_keeps_no_heartbeat_waiting() {
    for by_strangers in [true, false] {
        let bench = bench(QUIET, "").await;
        bench.write("workspace/HEARTBEAT.md", LIST);
        let agent = bench.agent();
        let alive = "elsewhere/pid:[1]/1/1";
        let (lease, turn) = open_turn(&agent, "chat", ConversationKind::Chat, Audience::Owner, alive).await;
        let new = NewSubAgent {
            conversation: ConversationId::new("chat"),
            turn: turn.clone(),
            call: limpid_core::CallId::new("c"),
            path: "worker".to_owned(),
            waited_for: false,
            label: "tea".to_owned(),
            task: "make tea".to_owned(),
            skill: None,
            context: None,
            tools: None,
            planned: None,
            continues: None,
            named: None,
            trust: limpid_core::Trust::Outside,
            by_strangers,
            holder: alive.to_owned(),
            now_ms: agent.now_ms(),
        };
        let limits = limpid_core::AgentLimits { live: 9, tokens: 1000, a_day: None };
        let AcceptedAgent::Fresh(started) = agent.store().accept_agent(new, limits).await.unwrap() else {
            panic!("it is new")
        };
        let answered = TurnWrite::End(TurnOutcome::Answered, String::new());
        agent.store().commit(&lease, &turn, vec![answered], agent.now_ms()).await.unwrap();
        open_turn(&agent, started.works_in().as_str(), ConversationKind::Run, Audience::Owner, alive).await;
        let ran = agent.jobs().run_heartbeat().await.unwrap();
        assert_eq!(matches!(ran, HeartbeatResult::Ran(_)), by_strangers, "{ran:?}");
    }
}

// KAI-073 SEC-040
#[tokio::test]
async fn a_heartbeat_that_a_dead_process_left_is_carried_on_and_its_outcome_told() {
    let bench = bench(REPORT, "").await;
    bench.write("workspace/HEARTBEAT.md", LIST);
    let agent = bench.agent();
    left_heartbeat(&agent, "heartbeat-7").await;
    let log = Arc::new(Mutex::new(Vec::new()));
    let lines = Arc::clone(&log);
    agent.jobs().serve_once(move |event: &ServeEvent| lines.lock().unwrap().push(event.clone())).await.unwrap();
    assert_eq!(outcomes(&agent).await, ["told"]);
    assert_eq!((newest(&agent).await.key.as_str(), bench.server.calls().len()), ("heartbeat-7", 1));
    assert_eq!(told(&agent).await, ["The disk is full."]);
    let ended = |event: &ServeEvent| matches!(event, ServeEvent::Done { kind, .. } if kind == "heartbeat");
    let log = log.lock().unwrap();
    assert!(log.iter().any(ended), "{log:?}");
}

// KAI-073 SEC-040
#[tokio::test]
async fn a_kill_between_the_end_of_a_turn_and_that_of_its_run_asks_and_tells_nothing_twice() {
    let bench = bench(QUIET, "").await;
    bench.write("workspace/HEARTBEAT.md", LIST);
    let agent = bench.agent();
    left_heartbeat(&agent, "heartbeat-8").await;
    let (lease, turn) = left_turn(&agent, "run-heartbeat-8", ConversationKind::Run).await;
    let call = limpid_core::ToolCall {
        id: limpid_core::CallId::new("d"),
        name: "heartbeat_decision".to_owned(),
        arguments: r#"{"action":"report","key":"disk","text":"The disk is full."}"#.to_owned(),
    };
    let asks = Message { calls: vec![call.clone()], ..Message::new(Role::Assistant, "", limpid_core::Trust::Owner) };
    let done = Message { call_id: Some(call.id), ..Message::new(Role::Tool, "noted", limpid_core::Trust::Owner) };
    let said = TurnWrite::Messages([asks, done].map(NewMessage::new).into());
    let end = TurnWrite::End(TurnOutcome::Answered, "calls".to_owned());
    agent.store().commit(&lease, &turn, vec![said, end], agent.now_ms()).await.unwrap();
    for _ in 0..2 {
        agent.jobs().serve_once(|_| {}).await.unwrap();
        assert_eq!(outcomes(&agent).await, ["told"]);
        assert_eq!(told(&agent).await, ["The disk is full."]);
        assert_eq!(bench.server.calls().len(), 0);
    }
}
