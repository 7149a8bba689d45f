//! The heartbeat and its runs.

use limpid_core::heartbeat::{Pause, State};
use limpid_core::inbox::Source;
use limpid_core::state::Span;
use limpid_core::{ConversationId, RequestId, Role, Trust};

use super::Bench;
use super::sample::{
    begin, calling, conversation, conversation_id, inbound, lease, message, provider_state, request, result,
};
use crate::{
    ConversationKind, DeliveryOrigin, HeartbeatCalls, HeartbeatEnd, HeartbeatOutcome, HeartbeatRow, HeartbeatRun,
    IdleLooks, ItemId, NewConversation, NewDelivery, NewItem, NewMessage, Retention, RunningHeartbeat, Store,
    TurnOutcome, TurnWrite,
};

/// The end of a run is written whole: log, state, message, items, timer; a second end of the same run changes nothing.
// KAI-073 LES-045
pub async fn the_end_of_a_run_is_one_and_comes_once(bench: &Bench) {
    let store = bench.store.as_ref();
    store.create_conversation(conversation("h", 0)).await.unwrap();
    let items = store.insert_items(vec![mail("a"), mail("b")]).await.unwrap();
    assert!(store.begin_heartbeat(&running("k")).await.unwrap());
    assert_eq!(store.heartbeat().await.unwrap().running, Some(running("k")));
    let state =
        State { attempted_ms: Some(9), succeeded_ms: Some(9), paused: Some((Pause::Provider, 9)), ..State::default() };
    let end = HeartbeatEnd {
        run: run("k", HeartbeatOutcome::Told),
        state: state.clone(),
        quiet_mark: Some("q".to_owned()),
        remainder_mark: Some("r".to_owned()),
        deliveries: vec![report("k", "h")],
        consumed: vec![items[0].id],
        dropped: Vec::new(),
        timer: Some(("heartbeat".to_owned(), 77)),
        asked: vec!["m".to_owned()],
        alone: vec![("m".to_owned(), true)],
    };
    assert!(store.end_heartbeat(end.clone()).await.unwrap());
    let after = store.heartbeat().await.unwrap();
    let expected = HeartbeatRow {
        state,
        quiet_mark: Some("q".to_owned()),
        remainder_mark: Some("r".to_owned()),
        ..HeartbeatRow::default()
    };
    assert_eq!(after, expected);
    assert_eq!(store.heartbeat_runs(9).await.unwrap().rows, [run("k", HeartbeatOutcome::Told)]);
    assert_eq!(store.pending_deliveries(None).await.unwrap().rows.len(), 1);
    assert_eq!(waiting(store).await, [items[1].id]);
    assert_eq!(store.next_timer_ms().await.unwrap(), Some(77));
    assert_eq!(store.heartbeat_asked().await.unwrap()["m"], run("k", HeartbeatOutcome::Told).began_ms);
    assert!(store.heartbeat_alone().await.unwrap().contains("m"));
    let again = HeartbeatEnd { consumed: vec![items[1].id], quiet_mark: None, ..end };
    assert!(!store.end_heartbeat(again).await.unwrap());
    assert_eq!((store.heartbeat().await.unwrap(), waiting(store).await), (expected, vec![items[1].id]));
    let clean = HeartbeatEnd { alone: vec![("m".to_owned(), false)], ..quiet_end("later", &conversation_id("h")) };
    assert!(store.end_heartbeat(clean).await.unwrap());
    assert!(store.heartbeat_alone().await.unwrap().is_empty());
    assert!(bench.other.heartbeat_runs(9).await.unwrap().rows.is_empty(), "it is its owner's");
}

/// The end of a run that found nothing to say.
pub(super) fn quiet_end(key: &str, conversation: &ConversationId) -> HeartbeatEnd {
    HeartbeatEnd {
        run: HeartbeatRun { conversation: Some(conversation.clone()), ..run(key, HeartbeatOutcome::Quiet) },
        state: State::default(),
        quiet_mark: None,
        remainder_mark: None,
        deliveries: Vec::new(),
        consumed: Vec::new(),
        dropped: Vec::new(),
        asked: Vec::new(),
        alone: Vec::new(),
        timer: None,
    }
}

/// Looks that found nothing are counted and push nothing out of the log; the next logged run begins the count anew.
// KAI-071 LES-045
pub async fn idle_looks_are_counted_and_not_logged(bench: &Bench) {
    let store = bench.store.as_ref();
    let end = |key: &str, outcome, ended_ms| HeartbeatEnd {
        run: HeartbeatRun { ended_ms, ..run(key, outcome) },
        ..quiet_end(key, &conversation_id("h"))
    };
    assert!(store.end_heartbeat(end("quiet", HeartbeatOutcome::Quiet, 1)).await.unwrap());
    for at in 2..9 {
        assert!(store.end_heartbeat(end(&at.to_string(), HeartbeatOutcome::Unchanged, at)).await.unwrap());
    }
    let idle = store.heartbeat().await.unwrap().idle;
    assert_eq!(idle, IdleLooks { count: 7, since_ms: Some(2), last_ms: Some(8) });
    assert_eq!(store.heartbeat_runs(9).await.unwrap().rows.len(), 1);
    assert!(store.end_heartbeat(end("failed", HeartbeatOutcome::Failed, 9)).await.unwrap());
    assert_eq!(store.heartbeat().await.unwrap().idle, IdleLooks::default());
    // A month later the old ones are gone, but for the newest.
    let month = 31 * 24 * 3_600_000;
    for at in 0..30 {
        store.end_heartbeat(end(&format!("later{at}"), HeartbeatOutcome::Quiet, month + at)).await.unwrap();
    }
    let kept = store.heartbeat_runs(99).await.unwrap().rows;
    assert_eq!((kept.len(), kept.last().unwrap().key.as_str()), (30, "later0"));
}

/// The transcript of a run goes with its row of the log, unless the run reported something; logged requests stay as
/// long as the log keeps them.
// KAI-071 LES-045
pub async fn transcripts_go_with_the_log(bench: &Bench) {
    let store = bench.store.as_ref();
    let end = |key: &str, outcome, ended_ms| HeartbeatEnd {
        run: HeartbeatRun { ended_ms, conversation: Some(conversation_id(key)), ..run(key, outcome) },
        ..quiet_end(key, &conversation_id("h"))
    };
    let outcomes = [("quiet", HeartbeatOutcome::Quiet), ("told", HeartbeatOutcome::Told)];
    for (key, outcome) in outcomes {
        let run = NewConversation { kind: ConversationKind::Run, ..conversation(key, 0) };
        store.create_conversation(run).await.unwrap();
        let lease = lease(store, key, 0).await;
        let asked = store.accept(inbound(key, Some(key), "look")).await.unwrap().inbound.id;
        let turn = begin(store, &lease, &format!("t-{key}"), &[asked]).await;
        let asks = NewMessage { inbound: Some(asked), ..message(Role::User, "look") };
        let mut thinking = calling(&["a"]);
        thinking.message.state = vec![provider_state("{}", Span::at(0, 0))];
        let said = TurnWrite::Messages(vec![asks, thinking, result("a"), message(Role::Assistant, "harbour")]);
        let sent = TurnWrite::Request(Box::new(request(&format!("r-{key}"), 1, Vec::new())));
        let over = TurnWrite::End(TurnOutcome::Answered, String::new());
        store.commit(&lease, &turn, vec![said, sent, over], 2).await.unwrap();
        assert!(store.end_heartbeat(end(key, outcome, 1)).await.unwrap());
    }
    let transcript = async |key: &str| store.messages(&conversation_id(key), None).await.unwrap().rows.len();
    assert_eq!([transcript("quiet").await, transcript("told").await], [4, 4]);
    let month = 31 * 24 * 3_600_000;
    for at in 0..25 {
        store.end_heartbeat(end(&format!("later{at}"), HeartbeatOutcome::Told, month + at)).await.unwrap();
    }
    assert_eq!(store.heartbeat_runs(99).await.unwrap().rows.len(), 25);
    assert_eq!([transcript("quiet").await, transcript("told").await], [0, 4]);
    let found = async |key: &str| {
        store.search_messages(&conversation_id(key), &["harbour".to_owned()], None, 9).await.unwrap().messages.len()
    };
    assert_eq!(found("quiet").await, 0);
    assert_ne!(found("told").await, 0);
    // Its cost is known as long as the request log has its request, and then nothing of it is left.
    assert!(store.request(&RequestId::new("r-quiet")).await.unwrap().is_some());
    assert!(store.conversation(&conversation_id("quiet")).await.unwrap().is_some());
    // A turn that holds nothing and has just ended is none that was forgotten: an agent may be kept for it.
    let held = NewConversation { kind: ConversationKind::Run, ..conversation("clients", 1) };
    store.create_conversation(held).await.unwrap();
    let lease = lease(store, "clients", 1).await;
    let turn = begin(store, &lease, "t-clients", &[]).await;
    let over = TurnWrite::End(TurnOutcome::Answered, String::new());
    store.commit(&lease, &turn, vec![over], 2).await.unwrap();
    store.release(&lease.conversation, lease.fence).await.unwrap();
    let all = Retention { before_ms: Some(month), max_bytes: None };
    store.prune_requests(all).await.unwrap();
    assert!(store.turn(&turn).await.unwrap().is_some());
    assert_eq!(store.conversation(&conversation_id("quiet")).await.unwrap(), None);
    assert!(store.conversation(&conversation_id("told")).await.unwrap().is_some());
}

/// When the message cannot be kept, nothing of the end is.
// KAI-073
pub async fn an_end_that_cannot_be_told_is_none(bench: &Bench) {
    let store = bench.store.as_ref();
    let items = store.insert_items(vec![mail("a")]).await.unwrap();
    store.begin_heartbeat(&running("k")).await.unwrap();
    let end = HeartbeatEnd {
        run: run("k", HeartbeatOutcome::Told),
        state: State { succeeded_ms: Some(9), ..State::default() },
        quiet_mark: None,
        remainder_mark: None,
        deliveries: vec![report("k", "nowhere")],
        consumed: vec![items[0].id],
        dropped: Vec::new(),
        timer: Some(("heartbeat".to_owned(), 77)),
        asked: vec!["m".to_owned()],
        alone: vec![("m".to_owned(), true)],
    };
    assert!(store.end_heartbeat(end).await.is_err());
    let after = store.heartbeat().await.unwrap();
    assert_eq!((after.running, after.state.succeeded_ms), (Some(running("k")), None));
    assert!(store.heartbeat_runs(9).await.unwrap().rows.is_empty());
    assert_eq!((waiting(store).await, store.next_timer_ms().await.unwrap()), (vec![items[0].id], None));
}

/// One run is under way at a time; one whose holder is gone is taken over once.
// KAI-135
pub async fn runs_do_not_overlap(bench: &Bench) {
    let store = bench.store.as_ref();
    assert!(store.begin_heartbeat(&running("a")).await.unwrap());
    assert!(!store.begin_heartbeat(&running("b")).await.unwrap());
    assert!(store.take_heartbeat(&running("a"), "you").await.unwrap());
    assert!(!store.take_heartbeat(&running("a"), "they").await.unwrap());
    let held = store.heartbeat().await.unwrap().running.unwrap();
    assert_eq!((held.key.as_str(), held.holder.as_str()), ("a", "you"));
}

/// The interval counts from the switch-on; a start sets it only when there was none.
// KAI-053 KAI-059 LES-031
pub async fn a_switch_on_is_remembered(bench: &Bench) {
    let store = bench.store.as_ref();
    store.start_heartbeat(5).await.unwrap();
    store.start_heartbeat(6).await.unwrap();
    assert_eq!(store.heartbeat().await.unwrap().state.switched_on_ms, Some(5));
    store.set_heartbeat("{\"enabled\":false}", false, 7).await.unwrap();
    let off = store.heartbeat().await.unwrap();
    assert_eq!((off.settings.as_deref(), off.state.switched_on_ms), (Some("{\"enabled\":false}"), Some(5)));
    store.set_heartbeat("{}", true, 8).await.unwrap();
    store.start_heartbeat(9).await.unwrap();
    assert_eq!(store.heartbeat().await.unwrap().state.switched_on_ms, Some(8));
    store.heartbeat_waits(Some(("why", Some(3)))).await.unwrap();
    assert_eq!(store.heartbeat().await.unwrap().waits, Some(("why".to_owned(), Some(3))));
    assert_eq!(store.owner_acted_ms().await.unwrap(), Some(8));
}

/// Reports are found among many runs, what was told lately is known by its key, and runs for nothing but what came in are counted apart.
// KAI-137 LES-042 SEC-102
pub async fn reports_are_found_among_many_runs(bench: &Bench) {
    let store = bench.store.as_ref();
    for n in 0..70_i64 {
        let outcome = if n < 3 { HeartbeatOutcome::Told } else { HeartbeatOutcome::Quiet };
        let trust = if n == 2 { Trust::Outside } else { Trust::Owner };
        let (key, part) = match n {
            60 | 62 => (format!("{n}-standing"), "standing"),
            61 | 63 => (format!("{}-news", n - 1), "news"),
            64 => ("64-news".to_owned(), "news"),
            65 => ("64-probe".to_owned(), "probe"),
            66 => ("66-alone-m".to_owned(), "alone-m"),
            _ => (n.to_string(), ""),
        };
        let run = HeartbeatRun { ended_ms: n, trust, part: part.to_owned(), ..run(&key, outcome) };
        store.end_heartbeat(HeartbeatEnd { run, ..quiet_end(&key, &conversation_id("h")) }).await.unwrap();
    }
    let keys = |rows: Vec<HeartbeatRun>| rows.into_iter().map(|run| run.key).collect::<Vec<_>>();
    assert_eq!(keys(store.heartbeat_reports(3).await.unwrap().rows), ["1", "0"], "what a stranger had told is in none");
    assert_eq!(keys(store.heartbeat_runs(2).await.unwrap().rows), ["69", "68"]);
    let told = async |trust, since| store.heartbeat_told("disk", trust, since).await.unwrap();
    assert_eq!((told(Trust::Outside, 1).await, told(Trust::Outside, 2).await), (true, false));
    assert_eq!((told(Trust::Owner, 0).await, told(Trust::Owner, 1).await), (true, false), "a stranger had it told");
    let calls = store.heartbeat_calls(60).await.unwrap();
    assert_eq!(calls, HeartbeatCalls { of_owner: 6, of_news: 1 }, "two parts are one run");
}

/// Runs that read strangers' texts push none of the others out of the log, however many they are, and out of no list of it.
// SEC-102 KAI-071
pub async fn runs_of_strangers_texts_push_none_of_the_owners_out(bench: &Bench) {
    let store = bench.store.as_ref();
    let month = 31 * 24 * 3_600_000;
    let end = async |key: String, trust, ended_ms| {
        let end = quiet_end(&key, &conversation_id("h"));
        store.end_heartbeat(HeartbeatEnd { run: HeartbeatRun { trust, ended_ms, ..end.run }, ..end }).await.unwrap();
    };
    for n in 0..25 {
        end(format!("own{n}"), Trust::Owner, n).await;
    }
    for n in 0..30 {
        end(format!("theirs{n}"), Trust::Outside, month + n).await;
    }
    let keys = |rows: Vec<HeartbeatRun>| rows.into_iter().map(|run| run.key).collect::<Vec<_>>();
    let all = keys(store.heartbeat_runs(99).await.unwrap().rows);
    assert_eq!((all.len(), all[29].as_str(), all[49].as_str()), (50, "theirs0", "own5"), "the owner's newest 20 stay");
    let listed = keys(store.heartbeat_log(3).await.unwrap().rows);
    assert_eq!(listed, ["theirs29", "own24", "own23", "own22"], "one of theirs is beside the owner's");
    let between = keys(store.heartbeat_runs_between(24, month + 1).await.unwrap().rows);
    assert_eq!(between, ["theirs0", "own24"], "the end is not in it");
}

async fn waiting(store: &dyn Store) -> Vec<ItemId> {
    store.pending(Source::Mail).await.unwrap().rows.into_iter().map(|item| item.id).collect()
}

fn running(key: &str) -> RunningHeartbeat {
    RunningHeartbeat {
        key: key.to_owned(),
        part: "news".to_owned(),
        holder: "me".to_owned(),
        by_hand: false,
        began_ms: 3,
    }
}

fn run(key: &str, outcome: HeartbeatOutcome) -> HeartbeatRun {
    HeartbeatRun {
        key: key.to_owned(),
        part: String::new(),
        by_hand: false,
        began_ms: 3,
        ended_ms: 9,
        outcome,
        detail: String::new(),
        report: Some("It is full.".to_owned()),
        report_key: Some("disk".to_owned()),
        trust: Trust::Outside,
        conversation: Some(conversation_id("run-k")),
        requests: 1,
        input_tokens: 700,
        output_tokens: 20,
    }
}

fn report(key: &str, conversation: &str) -> NewDelivery {
    NewDelivery {
        key: key.to_owned(),
        conversation: conversation_id(conversation),
        origin: DeliveryOrigin::Heartbeat,
        title: "Heartbeat".to_owned(),
        text: "It is full.".to_owned(),
        trust: Trust::Outside,
        draft: None,
        now_ms: 9,
    }
}

fn mail(key: &str) -> NewItem {
    NewItem {
        source: Source::Mail,
        account: "ana@x.org".to_owned(),
        key: Some(key.to_owned()),
        uid: None,
        message_id: None,
        sender: "bob".to_owned(),
        title: "Invoice".to_owned(),
        text: "Due Friday".to_owned(),
        posted_ms: 1,
        now_ms: 1,
    }
}
