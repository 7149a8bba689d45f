//! The request log.

use limpid_core::state::Span;
use limpid_core::{
    AgentState, CallId, ConversationId, FailureClass, Money, RequestId, Role, ToolCall, Trust, TurnId, Usage,
};

use super::Bench;
use super::agents::{self, LIMITS};
use super::sample::{
    ODD, begin, begun, calling, conversation, conversation_id, inbound, lease, message, provider_state, request,
    request_message,
};
use crate::{
    AgentEnd, Audience, ConversationKind, CostBy, CostQuery, NewConversation, NewInbound, NewRequest, NewSubAgent,
    Pruned, RequestEnd, RequestFilter, RequestMessage, RequestPart, Retention, SharedPrefix, SpentRow, Store,
    StoreError, TurnOutcome, TurnWrite, Written,
};

const DAY: i64 = 86_400_000;

/// An answer that came without trouble.
pub(super) fn end(ended_ms: i64) -> RequestEnd {
    RequestEnd {
        text: "Hello.".to_owned(),
        reasoning: String::new(),
        calls: Vec::new(),
        trust: Trust::Owner,
        finish: Some("stop".to_owned()),
        model: None,
        usage: Some(Usage { input: 100, cached: 40, cache_written: 5, output: 7, reasoning: 3, ..Usage::default() }),
        cost: Some(Money(1500)),
        failure: None,
        first_ms: Some(ended_ms - 1),
        ended_ms,
    }
}

/// Everything that was sent and came back is there again, joins and odd characters included.
// PRO-052 KOSHI-005 LES-026 MOD-001
pub async fn a_request_comes_back_byte_for_byte(bench: &Bench) {
    let store = bench.store.as_ref();
    let mut system = request_message(Role::System, &[("soul", ODD), ("honesty", "x"), ("twice", "x"), ("none", "")]);
    system.text = format!(" {ODD}\n\nx--x\n ");
    let asking = calling(&["a"]).message;
    let messages = vec![
        system,
        RequestMessage {
            calls: asking.calls,
            state: vec![provider_state(ODD, Span::at(0, 0)), provider_state(ODD, Span { text: 0..0, calls: 0..1 })],
            ..request_message(Role::Assistant, &[])
        },
        RequestMessage { call_id: Some(CallId::new("a")), ..request_message(Role::Tool, &[("history", ODD)]) },
    ];
    let new = NewRequest { tools: format!("[\"{ODD}\"]"), ..request("r", 10, messages) };
    assert_eq!(store.record_request(new.clone()).await.unwrap(), SharedPrefix::default());
    let back = RequestEnd {
        calls: vec![ToolCall { id: CallId::new("b"), name: "clock".to_owned(), arguments: ODD.to_owned() }],
        reasoning: ODD.to_owned(),
        model: Some(ODD.to_owned()),
        failure: Some((FailureClass::Transport, "cut".to_owned())),
        ..end(20)
    };
    store.end_request(&new.id, back.clone()).await.unwrap();
    let read = store.request(&new.id).await.unwrap().unwrap();
    assert_eq!(read.messages, new.messages);
    assert_eq!(read.tools, new.tools);
    assert_eq!(read.summary.end, Some(back));
    assert_eq!((read.summary.body_bytes, read.summary.messages), (9, 3));
    assert_eq!(read.summary.body_hash, "f8ec8724ad2ee1371759aae0a9cbc69109a354f3664dfb03433ba8b21842ee12");
    let again = store.end_request(&new.id, end(30)).await;
    assert!(matches!(again, Err(StoreError::Invalid(_))), "{again:?}");
    let taken = store.record_request(new).await;
    assert!(matches!(taken, Err(StoreError::Exists { .. })), "{taken:?}");
    let mut stray = request_message(Role::User, &[("user-message", "hi")]);
    stray.text = "bye".to_owned();
    let refused = store.record_request(request("s", 1, vec![stray])).await;
    assert!(matches!(refused, Err(StoreError::Invalid(_))), "{refused:?}");
}

/// What stands far behind the newest requests is listed as well.
// KOSHI-005
pub async fn a_long_ledger_is_listed_to_its_end(bench: &Bench) {
    let store = bench.store.as_ref();
    let rare = |new: NewRequest| NewRequest { model: "rare-1".to_owned(), ..new };
    store.record_request(rare(request("first", 1, Vec::new()))).await.unwrap();
    for n in 2..=250 {
        store.record_request(request(&format!("r{n}"), n, Vec::new())).await.unwrap();
    }
    store.record_request(rare(request("last", 251, Vec::new()))).await.unwrap();
    let list = async |filter: RequestFilter| {
        let rows = store.requests(filter).await.unwrap().rows;
        rows.into_iter().map(|row| row.id.as_str().to_owned()).collect::<Vec<_>>()
    };
    let of = |model: &str, limit| RequestFilter { model: Some(model.to_owned()), limit, ..RequestFilter::default() };
    assert_eq!(list(of("rare-1", 9)).await, ["last", "first"]);
    assert_eq!(list(of("rare-1", 1)).await, ["last"]);
    assert_eq!(list(of("big-1", 2)).await, ["r250", "r249"]);
    let all = list(RequestFilter { limit: u32::MAX, ..RequestFilter::default() }).await;
    assert_eq!((all.len(), all[250].as_str()), (251, "first"));
}

/// When requests of a path were sent is known without reading them, however far behind they stand.
// MEA-08
pub async fn when_requests_were_sent_is_listed(bench: &Bench) {
    let store = bench.store.as_ref();
    let rare = |id: &str, n| NewRequest { path: "task".to_owned(), ..request(id, n, Vec::new()) };
    store.create_conversation(conversation("c", 0)).await.unwrap();
    store.record_request(rare("first", 1)).await.unwrap();
    for n in 2..=250 {
        store.record_request(request(&format!("r{n}"), n, Vec::new())).await.unwrap();
    }
    let own = NewRequest { conversation: Some(conversation_id("c")), ..rare("own", 251) };
    store.record_request(own).await.unwrap();
    store.record_request(rare("last", 252)).await.unwrap();
    let path = request("r", 1, Vec::new()).path;
    assert_eq!(store.sent_times("task", None, 9).await.unwrap(), [252, 251, 1]);
    assert_eq!(store.sent_times("task", None, 2).await.unwrap(), [252, 251]);
    assert_eq!(store.sent_times(&path, None, 2).await.unwrap(), [250, 249]);
    assert_eq!(store.sent_times("task", Some(&conversation_id("c")), 9).await.unwrap(), [251]);
    assert_eq!(store.sent_times("none", None, 9).await.unwrap(), [0; 0]);
}

/// A label stays with its part, its message and its answer.
// SEC-001
pub async fn every_trust_label_comes_back(bench: &Bench) {
    let store = bench.store.as_ref();
    for trust in Trust::ALL {
        let id = RequestId::new(trust.as_str());
        let mut one = request_message(Role::User, &[("mail", "the same text")]);
        one.parts[0].trust = trust;
        store.record_request(request(id.as_str(), 1, vec![one])).await.unwrap();
        store.end_request(&id, RequestEnd { trust, ..end(2) }).await.unwrap();
        let read = store.request(&id).await.unwrap().unwrap();
        assert_eq!(read.messages[0].parts[0].trust, trust);
        assert_eq!(read.summary.end.unwrap().trust, trust);
    }
}

/// Absent is not zero.
// LES-016
pub async fn an_unknown_cost_stays_unknown(bench: &Bench) {
    let store = bench.store.as_ref();
    let free = RequestEnd { cost: Some(Money(0)), ..end(2) };
    let unknown = RequestEnd { cost: None, usage: None, ..end(2) };
    for (id, end) in [("free", free), ("unknown", unknown)] {
        store.record_request(request(id, 1, Vec::new())).await.unwrap();
        store.end_request(&RequestId::new(id), end.clone()).await.unwrap();
        assert_eq!(store.request(&RequestId::new(id)).await.unwrap().unwrap().summary.end, Some(end));
    }
    let sums = store.costs(CostQuery::default()).await.unwrap();
    assert_eq!((sums[0].requests, sums[0].unknown_cost, sums[0].unknown_usage, sums[0].cost), (2, 1, 1, Money(0)));
}

/// The one before is the newest of the same conversation and path; what was moved into the history is shared too.
// PRO-044 LES-027
pub async fn a_request_knows_what_it_shares_with_the_one_before(bench: &Bench) {
    let store = bench.store.as_ref();
    let (lease, turn) = begun(store, "c", "t").await;
    let system = |soul: &str| request_message(Role::System, &[("soul", soul), ("honesty", "Invent nothing.")]);
    let first = vec![system("Kind."), request_message(Role::User, &[("user-message", "hi"), ("tail", "[context]")])];
    let mut second = first.clone();
    second[1].parts = vec![RequestPart {
        section: "history".to_owned(),
        origin: "message:1".to_owned(),
        text: second[1].text.clone(),
        ..second[1].parts[0].clone()
    }];
    second.push(request_message(Role::Assistant, &[("history", "Hello.")]));
    let mut edited = second.clone();
    edited[0] = system("Kin.");
    let send = |id: &'static str, path: &str, messages: Vec<RequestMessage>| {
        let new = NewRequest { path: path.to_owned(), ..request(id, 1, messages) };
        let (lease, turn) = (lease.clone(), turn.clone());
        async move {
            let written = store.commit(&lease, &turn, vec![TurnWrite::Request(Box::new(new))], 1).await.unwrap();
            let [Written::Request(shared)] = written.as_slice() else { panic!("{written:?}") };
            let read = store.request(&RequestId::new(id)).await.unwrap().unwrap();
            assert_eq!(read.summary.shared, *shared);
            assert_eq!(read.summary.turn, Some(turn));
            (shared.messages, shared.bytes, shared.changed.clone())
        }
    };
    assert_eq!(send("1", "chat-remote", first).await, (0, 0, None));
    assert_eq!(send("s", "summarize", vec![system("Short.")]).await, (0, 0, None));
    assert_eq!(send("2", "chat-remote", second.clone()).await, (2, 35, None));
    assert_eq!(send("3", "chat-remote", edited).await, (0, 3, Some("soul".to_owned())));
    assert_eq!(send("4", "chat-remote", second).await, (0, 3, Some("soul".to_owned())));
}

/// A request whose process ended is in the request log, without an end.
pub async fn a_request_that_never_ended_is_shown_as_such(bench: &Bench) {
    bench.store.record_request(request("r", 1, Vec::new())).await.unwrap();
    let listed = bench.store.requests(RequestFilter::default()).await.unwrap();
    assert_eq!(listed.rows[0].end, None);
    let missing = bench.store.end_request(&RequestId::new("x"), end(1)).await;
    assert!(matches!(missing, Err(StoreError::NotFound { .. })), "{missing:?}");
}

/// Every filter alone, newest first.
pub async fn requests_are_listed_by_what_is_asked(bench: &Bench) {
    let store = bench.store.as_ref();
    let (lease, turn) = begun(store, "c", "t").await;
    let of_turn = TurnWrite::Request(Box::new(request("in-turn", 10, Vec::new())));
    store.commit(&lease, &turn, vec![of_turn], 1).await.unwrap();
    let failed = RequestEnd { failure: Some((FailureClass::Rate, "slow down".to_owned())), ..end(21) };
    store.record_request(NewRequest { path: "task".to_owned(), ..request("task-1", 20, Vec::new()) }).await.unwrap();
    store.end_request(&RequestId::new("task-1"), failed).await.unwrap();
    store.record_request(NewRequest { model: "small".to_owned(), ..request("task_2", 30, Vec::new()) }).await.unwrap();
    let base = RequestFilter::default;
    store.end_request(&RequestId::new("task_2"), RequestEnd { trust: Trust::Outside, ..end(31) }).await.unwrap();
    let cases = [
        (base(), vec!["task_2", "task-1", "in-turn"]),
        (RequestFilter { limit: 1, ..base() }, vec!["task_2"]),
        (RequestFilter { conversation: Some(conversation_id("c")), ..base() }, vec!["in-turn"]),
        (RequestFilter { turn: Some(turn), ..base() }, vec!["in-turn"]),
        (RequestFilter { path: Some("task".to_owned()), ..base() }, vec!["task-1"]),
        (RequestFilter { model: Some("small".to_owned()), ..base() }, vec!["task_2"]),
        (RequestFilter { failed: true, ..base() }, vec!["task-1"]),
        (RequestFilter { clean: true, ..base() }, vec!["task-1"]),
        (RequestFilter { id_prefix: Some("task_".to_owned()), ..base() }, vec!["task_2"]),
        (RequestFilter { since_ms: Some(20), until_ms: Some(30), ..base() }, vec!["task-1"]),
    ];
    for (filter, expected) in cases {
        let listed = store.requests(filter.clone()).await.unwrap();
        let ids: Vec<&str> = listed.rows.iter().map(|row| row.id.as_str()).collect();
        assert_eq!(ids, expected, "{filter:?}");
    }
}

/// Sums by each of the four, within a time, with days as the owner has them.
// PRO-055 LES-026 SUR-025
pub async fn costs_are_summed(bench: &Bench) {
    let store = bench.store.as_ref();
    let (lease, turn) = begun(store, "c", "t").await;
    let of_turn = TurnWrite::Request(Box::new(request("a", DAY - 1, Vec::new())));
    let ended = TurnWrite::RequestEnd(RequestId::new("a"), Box::new(end(DAY)));
    store.commit(&lease, &turn, vec![of_turn, ended], 1).await.unwrap();
    for (id, path) in [("b", "heartbeat"), ("c", "chat-remote")] {
        store.record_request(NewRequest { path: path.to_owned(), ..request(id, DAY, Vec::new()) }).await.unwrap();
        store.end_request(&RequestId::new(id), end(DAY + 1)).await.unwrap();
    }
    let sums = |by, utc_offset_min, since_ms| async move {
        let rows = store.costs(CostQuery { by, utc_offset_min, since_ms, until_ms: None }).await.unwrap();
        rows.into_iter().map(|row| format!("{} {} {} {}", row.group, row.requests, row.usage.input, row.cost)).collect()
    };
    let rows: Vec<String> = sums(CostBy::Path, 0, None).await;
    assert_eq!(rows, ["chat-remote 2 200 $0.003000", "heartbeat 1 100 $0.001500"]);
    let rows: Vec<String> = sums(CostBy::Model, 0, None).await;
    assert_eq!(rows, ["openai/big-1 3 300 $0.004500"]);
    let rows: Vec<String> = sums(CostBy::Conversation, 0, None).await;
    assert_eq!(rows, [" 2 200 $0.003000", "c 1 100 $0.001500"]);
    let rows: Vec<String> = sums(CostBy::Day, 0, None).await;
    assert_eq!(rows, ["1970-01-01 1 100 $0.001500", "1970-01-02 2 200 $0.003000"]);
    let rows: Vec<String> = sums(CostBy::DayAndPath, 0, None).await;
    let both = [
        "1970-01-01 chat-remote 1 100 $0.001500",
        "1970-01-02 chat-remote 1 100 $0.001500",
        "1970-01-02 heartbeat 1 100 $0.001500",
    ];
    assert_eq!(rows, both);
    let rows: Vec<String> = sums(CostBy::Day, 60, None).await;
    assert_eq!(rows, ["1970-01-02 3 300 $0.004500"]);
    let rows: Vec<String> = sums(CostBy::Day, 0, Some(DAY)).await;
    assert_eq!(rows, ["1970-01-02 2 200 $0.003000"]);
}

/// What was spent by path, of a day or of a turn; what has not ended counts by its estimate.
// SEC-043 LES-015
pub async fn what_was_spent_is_told_by_path_and_turn(bench: &Bench) {
    let store = bench.store.as_ref();
    let (lease, turn) = begun(store, "c", "t").await;
    let of_turn = TurnWrite::Request(Box::new(request("a", DAY, Vec::new())));
    let ended = TurnWrite::RequestEnd(RequestId::new("a"), Box::new(end(DAY)));
    store.commit(&lease, &turn, vec![of_turn, ended], 1).await.unwrap();
    let task = NewConversation { kind: ConversationKind::Task, ..conversation("k", 1) };
    store.create_conversation(task).await.unwrap();
    let of_task = NewRequest { conversation: Some(ConversationId::new("k")), ..request("b", DAY, Vec::new()) };
    store.record_request(of_task).await.unwrap();
    store.record_request(request("old", DAY - 1, Vec::new())).await.unwrap();
    let spent = async |since, turn| {
        let rows = store.spent(since, turn).await.unwrap();
        assert!(rows.iter().all(|row| !row.by_strangers));
        let row = |row: SpentRow| format!("{} {} {} {}", row.path, row.in_background, row.tokens, row.money);
        rows.into_iter().map(row).collect::<Vec<_>>()
    };
    let used = end(DAY).usage.unwrap();
    let own = format!("chat-remote false {} {}", used.input + used.output, end(DAY).cost.unwrap());
    assert_eq!(spent(DAY, None).await, [own.clone(), "chat-remote true 20 $0.000000".to_owned()]);
    assert_eq!(spent(i64::MIN, Some(&turn)).await, [own]);
    assert!(bench.other.spent(0, None).await.unwrap().is_empty());
}

/// What a stranger's text began is told apart: the look at what came in, a task that such a text led to, a guest's message.
// SEC-102
pub async fn what_strangers_began_is_told_apart(bench: &Bench) {
    let store = bench.store.as_ref();
    let begun_by = async |id: &str, kind, audience, trust| {
        store.create_conversation(NewConversation { kind, audience, ..conversation(id, 0) }).await.unwrap();
        let lease = lease(store, id, 0).await;
        let asked = store.accept(NewInbound { trust, ..inbound(id, Some(id), "look") }).await.unwrap().inbound.id;
        let turn = begin(store, &lease, &format!("t-{id}"), &[asked]).await;
        let sent = TurnWrite::Request(Box::new(request(id, 1, Vec::new())));
        store.commit(&lease, &turn, vec![sent], 1).await.unwrap();
        let of_turn = store.spent(0, Some(&turn)).await.unwrap();
        assert_eq!(of_turn.len(), 1);
        assert_eq!(store.begun_by_strangers(&turn).await.unwrap(), of_turn[0].by_strangers, "{id}");
        of_turn[0].by_strangers
    };
    let (run, chat) = (ConversationKind::Run, ConversationKind::Chat);
    for (id, kind, audience, trust, is_strangers) in [
        ("run-heartbeat-1-news", run, Audience::Owner, Trust::Owner, true),
        ("run-heartbeat-1-probe", run, Audience::Owner, Trust::Owner, true),
        ("run-heartbeat-1-standing", run, Audience::Owner, Trust::Owner, false),
        ("run-task-1-1", run, Audience::Owner, Trust::Outside, true),
        ("run-task-2-1", run, Audience::Owner, Trust::Owner, false),
        ("guests", chat, Audience::Strangers, Trust::Guest, true),
        ("owners", chat, Audience::Owner, Trust::Outside, false),
    ] {
        assert_eq!(begun_by(id, kind, audience, trust).await, is_strangers, "{id}");
    }
    assert!(!store.begun_by_strangers(&TurnId::new("nobody")).await.unwrap());
}

/// What comes back from an agent, and the one that goes on with the work of another, are of whatever began them.
// SEC-102
pub async fn what_an_agent_leads_to_is_of_whatever_began_it(bench: &Bench) {
    let store = bench.store.as_ref();
    for (id, trust, is_strangers, at) in [("theirs", Trust::Outside, true, 20), ("owners", Trust::Owner, false, 40)] {
        let place = format!("run-task-{id}");
        let new = NewConversation { kind: ConversationKind::Run, ..conversation(&place, 0) };
        store.create_conversation(new).await.unwrap();
        let lease = lease(store, &place, 0).await;
        let asked = store.accept(NewInbound { trust, ..inbound(&place, Some(id), "look") }).await.unwrap().inbound.id;
        let first = begin(store, &lease, &format!("1-{id}"), &[asked]).await;
        let agent = agents::fresh(store.accept_agent(agents::new(&place, first.as_str(), id), LIMITS).await.unwrap());
        store.commit(&lease, &first, vec![TurnWrite::End(TurnOutcome::Answered, String::new())], 1).await.unwrap();
        let end =
            AgentEnd { trust: Trust::Outside, result: "tea".to_owned(), ..agents::end(agent.id, AgentState::Done) };
        store.end_agent(end).await.unwrap();
        let waiting = store.waiting(&conversation_id(&place)).await.unwrap().rows;
        let waiting: Vec<_> = waiting.iter().map(|row| row.id).collect();
        let second = begin(store, &lease, &format!("2-{id}"), &waiting).await;
        assert_eq!(store.begun_by_strangers(&second).await.unwrap(), is_strangers, "{id}");

        // A stranger's text has it go on where an agent without any worked.
        let works_in = agent.works_in();
        let new = NewConversation { id: works_in.clone(), kind: ConversationKind::Run, ..conversation("", 0) };
        store.create_conversation(new).await.unwrap();
        let mut tokens = Vec::new();
        for (time, by_strangers) in [(at, false), (at + 10, true)] {
            if by_strangers {
                let continues = Some(agent.id);
                let new = NewSubAgent {
                    continues,
                    by_strangers,
                    now_ms: at + 5,
                    ..agents::new(&place, second.as_str(), "on")
                };
                agents::fresh(store.accept_agent(new, LIMITS).await.unwrap());
            }
            let conversation = Some(works_in.clone());
            let one = NewRequest { conversation, ..request(&format!("{id}-{time}"), time, Vec::new()) };
            store.record_request(one).await.unwrap();
            let sent = store.spent(time, None).await.unwrap();
            tokens.push(sent.iter().map(|row| row.by_strangers).collect::<Vec<_>>());
        }
        assert_eq!(tokens, [[false], [true]], "{id}");
    }
}

/// Age deletes requests and what only they used; messages, open turns and shared texts stay.
// PRO-052 LES-070
pub async fn old_requests_go_and_messages_stay(bench: &Bench) {
    let store = bench.store.as_ref();
    let (lease, turn) = begun(store, "c", "t").await;
    let shared = request_message(Role::System, &[("soul", "shared")]);
    let own = request_message(Role::User, &[("user-message", "only the old one has this")]);
    let old = request("old", 1, vec![shared.clone(), own]);
    let writes = vec![TurnWrite::Messages(vec![message(Role::User, "kept")]), TurnWrite::Request(Box::new(old))];
    store.commit(&lease, &turn, writes, 1).await.unwrap();
    store.record_request(request("new", 100, vec![shared.clone()])).await.unwrap();
    let retention = Retention { before_ms: Some(100), max_bytes: None };
    assert_eq!(store.prune_requests(retention).await.unwrap(), Pruned::default());
    store.commit(&lease, &turn, vec![TurnWrite::End(TurnOutcome::Answered, String::new())], 2).await.unwrap();
    let pruned = store.prune_requests(retention).await.unwrap();
    assert_eq!(pruned, Pruned { requests: 1, texts: 1, bytes: 25 });
    assert_eq!(store.request(&RequestId::new("old")).await.unwrap(), None);
    assert_eq!(store.request(&RequestId::new("new")).await.unwrap().unwrap().messages, [shared]);
    assert_eq!(store.messages(&conversation_id("c"), None).await.unwrap().rows[0].message.text, "kept");
}

/// Size deletes the oldest first, and no more than it must by a sixteenth.
// PRO-052
pub async fn the_ledger_keeps_to_its_size(bench: &Bench) {
    let store = bench.store.as_ref();
    for number in 0..40 {
        let text = format!("{number:0>1000}");
        let one = request_message(Role::User, &[("user-message", text.as_str())]);
        store.record_request(request(&format!("r{number}"), number, vec![one])).await.unwrap();
    }
    let retention = Retention { before_ms: None, max_bytes: Some(20_100) };
    let pruned = store.prune_requests(retention).await.unwrap();
    let left = ids(store).await;
    assert_eq!(left.len() as u64, 40 - pruned.requests);
    assert!((18..=20).contains(&left.len()), "{left:?}");
    assert_eq!(left[0], "r39");
    assert_eq!(store.prune_requests(retention).await.unwrap(), Pruned::default());
    // A turn that is under way keeps its requests, whatever the limit.
    store.create_conversation(conversation("c", 0)).await.unwrap();
    let lease = lease(store, "c", 0).await;
    let turn = begin(store, &lease, "t", &[]).await;
    store.commit(&lease, &turn, vec![TurnWrite::Request(Box::new(request("open", 50, Vec::new())))], 1).await.unwrap();
    store.prune_requests(Retention { before_ms: None, max_bytes: Some(0) }).await.unwrap();
    assert_eq!(ids(store).await, ["open"]);
}

/// However much was sent because of strangers' texts, half of the room is left to requests that have none, with what both have. Where
/// theirs hold less than half, the oldest go, whoever's they are.
// SEC-102 PRO-052
pub async fn half_of_the_ledger_is_kept_from_strangers(bench: &Bench) {
    let store = bench.store.as_ref();
    let shared = request_message(Role::System, &[("soul", "s".repeat(5000).as_str())]);
    let send = async |id: String, trust: Trust| {
        let one = request_message(Role::User, &[("user-message", format!("{id:0>1000}").as_str())]);
        store.record_request(request(&id, 1, vec![shared.clone(), one])).await.unwrap();
        store.end_request(&RequestId::new(id), RequestEnd { text: String::new(), trust, ..end(2) }).await.unwrap();
    };
    let retention = Retention { before_ms: None, max_bytes: Some(25_100) };
    let left = async || {
        store.prune_requests(retention).await.unwrap();
        let ids = ids(store).await;
        let of = |side: &str| ids.iter().filter(|id| id.starts_with(side)).count();
        (of("own"), of("page"), ids)
    };
    for number in 0..10 {
        send(format!("own{number}"), Trust::File).await;
    }
    for number in 0..60 {
        send(format!("page{number}"), if number % 2 == 0 { Trust::Outside } else { Trust::Guest }).await;
    }
    let (own, page, ids) = left().await;
    assert_eq!((own, page, ids[0].as_str()), (8, 12, "page59"), "{ids:?}");
    for number in 10..40 {
        send(format!("own{number}"), Trust::Owner).await;
    }
    let (own, page, ids) = left().await;
    assert!((17..=20).contains(&(own + page)) && page == 0, "theirs were older than the rest: {ids:?}");
}

async fn ids(store: &dyn Store) -> Vec<String> {
    let listed = store.requests(RequestFilter { limit: 100, ..RequestFilter::default() }).await.unwrap();
    listed.rows.into_iter().map(|row| row.id.to_string()).collect()
}
