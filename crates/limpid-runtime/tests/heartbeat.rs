//! The heartbeat on a clock that the test moves: when it runs, when a model is asked, what the owner hears of it.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod kit;

use std::time::Duration;

use jiff::{Span, Timestamp, ToSpan};
use kit::{Bench, FixedClock, all, last};
use limpid_core::heartbeat::Why;
use limpid_core::inbox::Source;
use limpid_core::task::TaskKind;
use limpid_core::{ConversationId, Message, Role, TurnId};
use limpid_prompt::{Estimate, TokenCounter as _};
use limpid_runtime::tasks::{TaskRequest, When};
use limpid_runtime::{Agent, Beat, Change, Clock, Config, HeartbeatChange};
use limpid_store::{
    Acquired, ConversationKind, DeliveryOrigin, HeartbeatOutcome, HeartbeatRun, NewItem, NewMessage, NewTurn,
    RequestFilter, TurnOutcome, TurnWrite,
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
        let next = agent.run_due().await.unwrap().map(|ms| Timestamp::from_millisecond(ms).unwrap());
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
    let runs = agent.heartbeat_log(1000).await.unwrap().rows;
    runs.iter().rev().map(|run| run.outcome.to_string()).collect()
}

async fn newest(agent: &Agent) -> HeartbeatRun {
    agent.heartbeat_log(1).await.unwrap().rows.remove(0)
}

/// What the owner was told, oldest first.
async fn told(agent: &Agent) -> Vec<String> {
    agent.deliver_waiting().await.unwrap();
    let deliveries = agent.store().deliveries(1000).await.unwrap().rows;
    deliveries.into_iter().rev().map(|delivery| delivery.new.text).collect()
}

fn sms(key: &str, text: &str, clock: &FixedClock) -> NewItem {
    NewItem {
        source: Source::Sms,
        account: String::new(),
        key: Some(key.to_owned()),
        uid: None,
        message_id: None,
        sender: "+491701234".to_owned(),
        title: String::new(),
        text: text.to_owned(),
        posted_ms: clock.now().as_millisecond(),
        now_ms: clock.now().as_millisecond(),
    }
}

async fn waiting(agent: &Agent) -> usize {
    agent.store().pending(Source::Sms).await.unwrap().rows.len()
}

// LES-030 LES-039 MEA-03 PICO-074
#[tokio::test]
async fn without_news_a_day_asks_no_model() {
    let lists = ["", " \n", "# List\n\n## Later\n", "<!-- - Tell me -->\n---\n", "- [x] Tell me\n"];
    for list in lists {
        let bench = bench(QUIET, "").await;
        bench.write("workspace/HEARTBEAT.md", list);
        let agent = bench.agent();
        pass(&bench, &agent, 24.hours()).await;
        assert_eq!(bench.server.calls().len(), 0, "{list}");
        let runs = outcomes(&agent).await;
        assert!(runs.len() >= 27 && runs.iter().all(|run| run == "unchanged"), "{runs:?}");
    }
}

// KAI-066 LES-034 LES-035 LES-036
#[tokio::test]
async fn a_model_is_asked_when_something_is_new_and_only_its_report_is_heard() {
    let bench = bench(&format!("{QUIET}{REPORT}"), "").await;
    bench.write("workspace/HEARTBEAT.md", LIST);
    let agent = bench.agent();
    pass(&bench, &agent, 29.minutes()).await;
    assert_eq!(bench.server.calls().len(), 0, "a start causes no run");
    pass(&bench, &agent, 3.hours()).await;
    assert_eq!(bench.server.calls().len(), 1, "quiet once, and nothing new since");
    let request = bench.server.calls()[0].text();
    assert!(request.contains("Time: 2026-03-28 13:30 +01:00 (Europe/Berlin), Saturday"), "{request}");
    assert!(request.contains("- Tell me when the disk is full"), "{request}");
    assert!(told(&agent).await.is_empty());
    assert_eq!(outcomes(&agent).await[..2], ["quiet", "unchanged"]);

    bench.write("workspace/HEARTBEAT.md", &LIST.replace("disk", "old disk"));
    pass(&bench, &agent, 10.minutes()).await;
    assert_eq!(bench.server.calls().len(), 2);
    assert_eq!(told(&agent).await, ["The disk is full."]);
    let conversation = agent.store().conversation(&ConversationId::new("heartbeat")).await.unwrap().unwrap();
    assert_eq!((conversation.kind, conversation.unread), (ConversationKind::Heartbeat, 1));
    let run = newest(&agent).await;
    assert_eq!((run.input_tokens, run.output_tokens, run.requests), (700, 30, 1));
    // The transcript of the run can be read, and stands in no list.
    let transcript = agent.store().messages(run.conversation.as_ref().unwrap(), None).await.unwrap().rows;
    assert_eq!(transcript.len(), 3);
    let listed = agent.store().conversations(50).await.unwrap().rows;
    assert_eq!(listed.len(), 1);
}

// LES-034
#[tokio::test]
async fn a_model_that_tells_stories_is_asked_once_for_its_decision_and_then_has_failed() {
    let story = "[[reply]]\ntext = \"All is calm today.\"\n";
    let bench = bench(&format!("{story}[[reply]]\ntext = '{{\"action\":\"quiet\"}}'\n{story}{story}"), "").await;
    bench.write("workspace/HEARTBEAT.md", LIST);
    let agent = bench.agent();
    assert!(matches!(agent.run_heartbeat().await.unwrap(), Beat::Ran(_)));
    let calls = bench.server.calls();
    assert_eq!(calls.len(), 2);
    assert!(calls[1].text().contains("\"json_schema\"") && calls[1].text().contains("heartbeat_decision"));
    assert!(matches!(agent.run_heartbeat().await.unwrap(), Beat::Ran(_)));
    assert_eq!(bench.server.calls().len(), 4);
    assert_eq!(outcomes(&agent).await, ["quiet", "failed"]);
    assert!(newest(&agent).await.detail.starts_with("garbage: the model did not decide"));
    assert!(told(&agent).await.is_empty());
}

// KAI-064 KAI-065 KAI-125 PICO-075
#[tokio::test]
async fn a_text_with_the_word_is_silence_in_kai_and_a_remainder_is_meant_the_second_time() {
    let says = |count: usize| format!("[[reply]]\ntext = \"HEARTBEAT_OK {}\"\n", "x".repeat(count));
    let script = [says(41), says(41), says(40)].concat();
    let bench = bench(&script, "[agent]\nprofile = \"kai\"\n[inbox]\nsms = true\n").await;
    let agent = bench.agent();
    agent.store().insert_items(vec![sms("a", "Call me", &bench.clock)]).await.unwrap();
    let Beat::Ran(first) = agent.run_heartbeat().await.unwrap() else { panic!() };
    assert_eq!((first.outcome.as_str(), first.detail.len()), ("quiet with remainder", 41));
    assert_eq!((told(&agent).await.len(), waiting(&agent).await), (0, 1));
    let Beat::Ran(second) = agent.run_heartbeat().await.unwrap() else { panic!() };
    assert_eq!((second.outcome.as_str(), waiting(&agent).await), ("told", 0));
    assert_eq!(told(&agent).await, ["x".repeat(41)]);
    agent.store().insert_items(vec![sms("b", "Call me", &bench.clock)]).await.unwrap();
    let Beat::Ran(third) = agent.run_heartbeat().await.unwrap() else { panic!() };
    assert_eq!((third.outcome.as_str(), waiting(&agent).await), ("quiet", 0));
    assert_eq!(told(&agent).await.len(), 1);
}

// KAI-060 KAI-124
#[tokio::test]
async fn without_a_model_nothing_is_tried_logged_or_taken_in() {
    let mut bench = bench(QUIET, "").await;
    bench.config = Config::parse("model = \"nobody/nothing\"\n[inbox]\nsms = true\n", "limpid.toml").unwrap();
    let agent = bench.agent();
    let items = ["a", "b", "c"].map(|key| sms(key, "Hello", &bench.clock));
    agent.store().insert_items(items.into()).await.unwrap();
    pass(&bench, &agent, 40.minutes()).await;
    assert_eq!((outcomes(&agent).await.len(), waiting(&agent).await), (0, 3));
    let status = agent.heartbeat_status().await.unwrap();
    assert_eq!(status.waits.as_deref(), Some("no model is set and none was found"));
    assert_eq!((status.failures, status.succeeded_ms), (0, None));
}

// LES-038
#[tokio::test]
async fn three_refusals_pause_it_with_one_notice_until_a_message_comes() {
    let refused = "[[reply]]\nstatus = 401\nbody = '{\"error\":{\"message\":\"bad key\"}}'\n";
    let hello = "[[reply]]\ntext = \"Hello.\"\n";
    let bench = bench(&format!("{}{hello}{QUIET}", refused.repeat(3)), "").await;
    bench.write("workspace/HEARTBEAT.md", LIST);
    let agent = bench.agent();
    pass(&bench, &agent, 8.hours()).await;
    assert_eq!(bench.server.calls().len(), 3);
    let texts = told(&agent).await;
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert!(texts[0].contains("refused three times"), "{texts:?}");
    let paused = agent.heartbeat_status().await.unwrap();
    assert!(paused.waits.unwrap().contains("refused three times"));
    all(agent.chat(last("hello?")).await.unwrap()).await;
    let after = bench.server.calls().len();
    pass(&bench, &agent, 2.minutes()).await;
    assert!(bench.server.calls().len() > after, "the next slot runs");
}

// KAI-072 KAI-135 LES-031 LES-045
#[tokio::test]
async fn a_person_runs_it_at_any_hour_but_not_twice_at_once_and_not_when_it_is_off() {
    let bench = bench(&format!("{QUIET}{QUIET}"), "").await;
    let agent = bench.agent();
    bench.clock.forward(12.hours());
    let (one, two) = tokio::join!(agent.run_heartbeat(), agent.run_heartbeat());
    let (one, two) = (one.unwrap(), two.unwrap());
    let busy = [&one, &two].into_iter().filter(|beat| **beat == Beat::Waits(Why::Busy)).count();
    assert_eq!((busy, bench.server.calls().len()), (1, 1), "{one:?} {two:?}");

    let off = HeartbeatChange { enabled: Some(false), ..HeartbeatChange::default() };
    agent.change_heartbeat(off).await.unwrap();
    assert_eq!(agent.run_heartbeat().await.unwrap(), Beat::Waits(Why::Off));
    drop(agent);
    // Off stays off over a restart.
    bench.write("workspace/HEARTBEAT.md", LIST);
    let agent = bench.agent();
    pass(&bench, &agent, 24.hours()).await;
    let status = agent.heartbeat_status().await.unwrap();
    assert_eq!((status.waits.as_deref(), status.next_ms), (Some("it is switched off"), None));
    assert_eq!(bench.server.calls().len(), 1);
    // Its interval counts from the switch-on.
    let on = HeartbeatChange { enabled: Some(true), ..HeartbeatChange::default() };
    agent.change_heartbeat(on).await.unwrap();
    let status = agent.heartbeat_status().await.unwrap();
    assert_eq!(status.next_ms, Some(bench.clock.now().as_millisecond() + 30 * 60_000));
}

// KAI-073 KAI-059
#[tokio::test]
async fn a_run_that_was_cut_off_is_carried_on_and_told_once() {
    let bench = bench(REPORT, "").await;
    bench.write("workspace/HEARTBEAT.md", LIST);
    for steps in [3, 10, 30, 60, 120] {
        let agent = bench.agent();
        let run = agent.run_heartbeat();
        tokio::pin!(run);
        for _ in 0..steps {
            let polled = tokio::time::timeout(Duration::from_micros(200), &mut run).await;
            if polled.is_ok() {
                break;
            }
        }
    }
    bench.clock.forward(16.minutes());
    let agent = bench.agent();
    let _ = agent.run_heartbeat().await.unwrap();
    let texts = told(&agent).await;
    let runs = agent.heartbeat_log(100).await.unwrap().rows;
    let reports = runs.iter().filter(|run| run.outcome.as_str() == "told").count();
    assert_eq!((texts.len(), reports), (1, 1), "{runs:?}");
    assert!(agent.store().heartbeat().await.unwrap().running.is_none());
}

// LES-042
#[tokio::test]
async fn the_same_matter_is_told_once_in_a_day() {
    let bench = bench(REPORT, "").await;
    bench.write("workspace/HEARTBEAT.md", LIST);
    let agent = bench.agent();
    for _ in 0..3 {
        agent.run_heartbeat().await.unwrap();
        bench.clock.forward(1.hour());
    }
    assert_eq!(outcomes(&agent).await, ["told", "repeated", "repeated"]);
    assert_eq!(told(&agent).await, ["The disk is full."]);
    bench.clock.forward(24.hours());
    agent.run_heartbeat().await.unwrap();
    assert_eq!(told(&agent).await.len(), 2);
}

// KAI-054 LES-043
#[tokio::test]
async fn a_heartbeat_cannot_schedule_itself() {
    let script = format!(
        "[[reply]]\ncalls = [{{ id = \"s\", name = \"schedule_task\", arguments = {{ description = \"again\" }} }}]\n{QUIET}"
    );
    let bench = bench(&script, "").await;
    bench.write("workspace/HEARTBEAT.md", LIST);
    let agent = bench.agent();
    let before = agent.heartbeat_status().await.unwrap().settings;
    agent.run_heartbeat().await.unwrap();
    let calls = bench.server.calls();
    assert!(!calls[0].text().contains("schedule_task"));
    assert!(calls[1].text().contains("there is no tool `schedule_task`"));
    assert_eq!(agent.heartbeat_status().await.unwrap().settings, before);
}

// PICO-070 PICO-071
#[tokio::test]
async fn picoclaw_makes_its_list_and_asks_nobody() {
    let bench = bench("[[reply]]\ntext = \"heartbeat_ok.\"\n", "[agent]\nprofile = \"picoclaw\"\n").await;
    let agent = bench.agent();
    pass(&bench, &agent, 2.hours()).await;
    let path = bench.home.path().join("workspace/HEARTBEAT.md");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("# Heartbeat Check List\n") && text.ends_with("below this line:\n"));
    assert_eq!(bench.server.calls().len(), 0);
    std::fs::write(&path, format!("{text}- Look at the disk\n")).unwrap();
    pass(&bench, &agent, 31.minutes()).await;
    assert_eq!(bench.server.calls().len(), 1);
    assert_eq!(newest(&agent).await.outcome.as_str(), "quiet");
}

// What a profile's prompt leaves out is never taken in, so it must not count as news either.
#[tokio::test]
async fn what_the_prompt_does_not_show_is_no_news() {
    let config = "[agent]\nprofile = \"picoclaw\"\n[inbox]\nsms = true\n";
    let bench = bench("[[reply]]\ntext = \"HEARTBEAT_OK\"\n", config).await;
    let agent = bench.agent();
    agent.store().insert_items(vec![sms("s", "Hello", &bench.clock)]).await.unwrap();
    pass(&bench, &agent, 12.hours()).await;
    assert_eq!((bench.server.calls().len(), waiting(&agent).await), (0, 1));
}

// LES-033 PICO-077
#[tokio::test]
async fn the_fiftieth_run_reads_as_much_as_the_first() {
    let bench = bench(QUIET, "").await;
    bench.write("workspace/HEARTBEAT.md", LIST);
    let agent = bench.agent();
    for _ in 0..50 {
        agent.run_heartbeat().await.unwrap();
    }
    let sizes: Vec<usize> = bench.server.calls().iter().map(|call| call.text().len()).collect();
    assert_eq!((sizes.len(), sizes[0]), (50, sizes[49]));
}

// KAI-066 KAI-071
#[tokio::test]
async fn any_other_answer_is_a_report_and_a_blank_one_a_failure() {
    let says = |text: &str| format!("[[reply]]\ntext = {text:?}\n");
    let refused = "[[reply]]\nstatus = 401\nbody = '{\"error\":{\"message\":\"bad key\"}}'\n";
    let script = [&says("heartbeat_ok, but the disk is full."), &says(" \n"), refused, &says("HEARTBEAT_OK").repeat(3)];
    let bench = bench(&script.map(str::to_owned).concat(), "[agent]\nprofile = \"kai\"\n").await;
    let agent = bench.agent();
    let mut failed = Vec::new();
    for _ in 0..6 {
        let Beat::Ran(run) = agent.run_heartbeat().await.unwrap() else { panic!() };
        failed.push(run.outcome == HeartbeatOutcome::Failed);
        bench.clock.forward(1.minute());
    }
    assert_eq!(failed, [false, true, true, false, false, false]);
    assert_eq!(told(&agent).await, [", but the disk is full."]);
    let log = agent.heartbeat_log(5).await.unwrap().rows;
    let told: Vec<(&str, &str)> = log.iter().map(|run| (run.outcome.as_str(), run.detail.as_str())).collect();
    assert_eq!(told[..3], [("quiet", ""); 3], "the newest first");
    assert!(told[3].1.starts_with("key: ") && told[4].1.starts_with("garbage: "), "{told:?}");
    let ended: Vec<i64> = log.iter().map(|run| run.ended_ms).collect();
    assert!(ended.windows(2).all(|pair| pair[0] - pair[1] == 60_000), "{ended:?}");
    // What is unread stays so over a restart, until it is read or dismissed.
    drop(agent);
    let agent = bench.agent();
    assert_eq!(agent.unread().await.unwrap().rows.len(), 1);
    let read = agent.read_reports().await.unwrap();
    assert_eq!((read.len(), agent.dismiss_reports().await.unwrap()), (1, 0));
    assert!(agent.unread().await.unwrap().rows.is_empty());
}

// LES-044
#[tokio::test]
async fn a_hundred_quiet_runs_leave_a_long_chat_and_its_events_as_they_were() {
    let bench = bench(&format!("[[reply]]\ntext = \"Hello.\"\n{QUIET}"), "").await;
    bench.write("workspace/HEARTBEAT.md", LIST);
    let agent = bench.agent();
    let mut handle = agent.chat(last("hi")).await.unwrap();
    let chat = handle.conversation().clone();
    while handle.next().await.is_some_and(|event| !event.is_last()) {}
    agent.settled(&chat).await;
    let store = agent.store();
    let Acquired::Lease(lease) = store.acquire(&chat, "test", agent.now_ms(), 60_000).await.unwrap() else { panic!() };
    let turn = NewTurn {
        id: TurnId::new("long"),
        path: "chat-remote".to_owned(),
        inbound: Vec::new(),
        now_ms: agent.now_ms(),
    };
    let said = |n: usize| {
        let role = if n.is_multiple_of(2) { Role::User } else { Role::Assistant };
        NewMessage::new(Message::new(role, format!("Message {n}.")))
    };
    let writes = vec![
        TurnWrite::Messages((0..7_998).map(said).collect()),
        TurnWrite::End(TurnOutcome::Answered, "stop".to_owned()),
    ];
    store.begin_turn(&lease, turn, writes).await.unwrap();
    store.release(&chat, lease.fence).await.unwrap();
    let rows = async || {
        let messages = agent.store().messages(&chat, None).await.unwrap().rows;
        (agent.store().conversations(50).await.unwrap().rows, messages)
    };
    let before = rows().await;
    assert_eq!(before.1.len(), 8_000);
    let mut events = agent.subscribe();
    for _ in 0..100 {
        let Beat::Ran(run) = agent.run_heartbeat().await.unwrap() else { panic!() };
        assert_eq!((run.outcome.as_str(), run.requests), ("quiet", 1));
    }
    agent.deliver_waiting().await.unwrap();
    assert_eq!(rows().await, before);
    while let Ok(event) = events.try_recv() {
        assert!(matches!(event.change, Change::HeartbeatDecided { .. }), "no chat is told of anything: {event:?}");
        assert_eq!(event.conversation, None);
    }
    let largest = bench.server.calls()[1..].iter().map(|call| call.text().len()).max().unwrap();
    assert!(largest < 6_000, "{largest} bytes: nothing of the chat is in a run");
}

// LES-032
#[tokio::test]
async fn what_a_run_sends_when_nothing_is_new_is_below_1000_tokens() {
    let bench = bench(QUIET, "[inbox]\nsms = true\nnotifications = true\n").await;
    let agent = bench.agent();
    let Beat::Ran(run) = agent.run_heartbeat().await.unwrap() else { panic!() };
    let filter = RequestFilter { conversation: run.conversation, ..RequestFilter::default() };
    let requests = agent.store().requests(filter).await.unwrap().rows;
    let sent = bench.server.calls()[0].json();
    // Text and schemas as they went out, which is more than what they say.
    let parts = [&sent["messages"], &sent["tools"]].map(|part| Estimate::default().count(&part.to_string()));
    assert!(parts.iter().sum::<usize>() < 1_000, "{parts:?} {:?}", requests[0].estimate);
}

// LES-040
#[tokio::test]
async fn an_address_says_whether_a_model_is_asked() {
    let answers = [("204", 0), ("304", 0), ("200", 1)];
    for (status, calls) in answers {
        let bench = bench(QUIET, "").await;
        bench.write("workspace/HEARTBEAT.md", LIST);
        let check = kit::answering(status).await;
        let mut options = bench.options();
        options.config.heartbeat.check_url = Some(check);
        let agent = Agent::open(options).unwrap();
        pass(&bench, &agent, 31.minutes()).await;
        assert_eq!(bench.server.calls().len(), calls, "{status}");
        assert_eq!(outcomes(&agent).await, [if calls == 0 { "unchanged" } else { "quiet" }]);
    }
    let bench = bench(QUIET, "").await;
    for wrong in ["http://127.0.0.1:1/news".to_owned(), kit::answering("500").await] {
        let mut options = bench.options();
        options.config.heartbeat.check_url = Some(wrong);
        let refused = Agent::open(options).unwrap().run_heartbeat().await.unwrap_err().to_string();
        assert!(refused.starts_with("check_url of [heartbeat]: "), "{refused}");
    }
    assert!(bench.server.calls().is_empty());
}

// LES-042
#[tokio::test]
async fn the_first_run_of_the_morning_sums_up_what_the_quiet_hours_held() {
    let script = format!("{QUIET}{}", REPORT.repeat(4));
    let bench = bench(&script, "[inbox]\nsms = true\n").await;
    let agent = bench.agent();
    agent.store().insert_items(vec![sms("a", "Noon", &bench.clock)]).await.unwrap();
    // From one in the afternoon to the next morning at five past eight.
    let asked = |at: usize| bench.server.calls()[at].text();
    pass(&bench, &agent, 11.hours()).await;
    assert_eq!(bench.server.calls().len(), 1);
    assert!(!asked(0).contains("First run since"));
    agent.store().insert_items(vec![sms("b", "Midnight", &bench.clock)]).await.unwrap();
    agent.add_task(reminder("The oven is on")).await.unwrap();
    pass(&bench, &agent, 6.hours()).await;
    assert_eq!(bench.server.calls().len(), 1, "the hours are quiet");
    pass(&bench, &agent, 2.hours()).await;
    let morning = asked(1);
    assert!(morning.contains("## First run since 22:00"), "{morning}");
    assert!(morning.contains("- reminder, Oven: The oven is on") && morning.contains("Midnight"), "{morning}");
    assert_eq!(newest_told(&agent).await, "The disk is full.");
    // Later runs are like any, and the next morning is told although it says the same.
    agent.store().insert_items(vec![sms("c", "Morning", &bench.clock)]).await.unwrap();
    pass(&bench, &agent, 2.hours()).await;
    assert!(!asked(2).contains("First run since"));
    agent.store().insert_items(vec![sms("d", "Night", &bench.clock)]).await.unwrap();
    bench.clock.forward(13.hours());
    pass(&bench, &agent, 9.hours()).await;
    assert!(asked(3).contains("## First run since 22:00"), "{}", asked(3));
    let told = outcomes(&agent).await.into_iter().filter(|outcome| outcome != "unchanged").collect::<Vec<_>>();
    assert_eq!(told, ["quiet", "told", "repeated", "told"]);
}

async fn newest_told(agent: &Agent) -> String {
    told(agent).await.pop().unwrap()
}

fn reminder(prompt: &str) -> TaskRequest {
    TaskRequest {
        key: None,
        description: "Oven".to_owned(),
        prompt: prompt.to_owned(),
        kind: TaskKind::Reminder,
        when: When::In(60),
        zone: None,
        missed: None,
        conversation: None,
    }
}

// KAI-074
#[tokio::test]
async fn the_opening_is_the_profiles_until_the_owner_writes_another() {
    for (profile, default) in [
        ("limpid", Some("You run alone, between talks with your owner, to look at what stands below.")),
        (
            "kai",
            Some(
                "Look through your memories and tasks.\nIf nothing needs attention, answer HEARTBEAT_OK.\nIf something does, deal with it and report what you did.",
            ),
        ),
        ("picoclaw", None),
    ] {
        let bench = bench(QUIET, &format!("[agent]\nprofile = \"{profile}\"\n")).await;
        let agent = bench.agent();
        let opening = agent.heartbeat_opening().await.unwrap();
        assert_eq!((opening.custom.as_deref(), opening.text()), (None, default), "{profile}");
        let Some(default) = default else { continue };
        let set = async |text: &str| {
            let prompt = Some(text.to_owned());
            agent.change_heartbeat(HeartbeatChange { prompt, ..HeartbeatChange::default() }).await.unwrap();
            let changes = agent.store().setting_events(None, "heartbeat", 10).await.unwrap().rows.len();
            (agent.heartbeat_opening().await.unwrap().custom, changes)
        };
        assert_eq!(set(&format!(" {default}\n")).await, (None, 0), "the default is no change");
        assert_eq!(set("Look at the disk.").await, (Some("Look at the disk.".to_owned()), 1));
        assert_eq!(set("Look at the disk.").await.1, 1, "nor are the same words");
        assert_eq!(agent.heartbeat_opening().await.unwrap().text(), Some("Look at the disk."));
        assert_eq!(set("").await, (None, 2));
    }
}

// LES-040
#[tokio::test]
async fn the_owners_check_has_the_last_word_and_its_model_is_asked() {
    let bench = bench(QUIET, "[heartbeat]\nmodel = \"openai/cheap\"\ncheck = [\"false\"]\n").await;
    bench.write("workspace/HEARTBEAT.md", LIST);
    let agent = bench.agent();
    pass(&bench, &agent, 3.hours()).await;
    assert_eq!(bench.server.calls().len(), 0);
    assert_eq!(newest(&agent).await.detail, "the check said no");
    drop(agent);
    let mut options = bench.options();
    options.config.heartbeat.check = vec!["true".to_owned()];
    let agent = Agent::open(options).unwrap();
    pass(&bench, &agent, 61.minutes()).await;
    let calls = bench.server.calls();
    assert_eq!(calls.len(), 2, "also when nothing is new");
    assert!(calls[0].text().contains("\"model\":\"cheap\""));
}

// KAI-137 KAI-040
#[tokio::test]
async fn the_last_three_reports_are_shown_oldest_first() {
    let report = |n: u32| {
        format!(
            "[[reply]]\ncalls = [{{ id = \"d\", name = \"heartbeat_decision\", arguments = {{ action = \"report\", key = \"k{n}\", text = \"Report {n}\" }} }}]\n"
        )
    };
    let bench = bench(&(1..=5).map(report).collect::<String>(), "").await;
    bench.write("workspace/HEARTBEAT.md", LIST);
    let agent = bench.agent();
    for _ in 0..5 {
        agent.run_heartbeat().await.unwrap();
    }
    assert_eq!(told(&agent).await.len(), 5);
    let deliveries = agent.store().deliveries(10).await.unwrap().rows;
    assert!(deliveries.iter().all(|delivery| delivery.new.origin == DeliveryOrigin::Heartbeat));
    let request = bench.server.calls()[4].text();
    assert!(request.contains("1. Report 2\\n2. Report 3\\n3. Report 4") && !request.contains("Report 1"), "{request}");
}

// LES-041
#[tokio::test]
async fn the_run_knows_the_owners_time_and_weekday() {
    let zones = [
        ("Europe/Berlin", "Time: 2026-03-28 13:00 +01:00 (Europe/Berlin), Saturday"),
        ("Pacific/Auckland", "Time: 2026-03-29 01:00 +13:00 (Pacific/Auckland), Sunday"),
        ("America/Los_Angeles", "Time: 2026-03-28 05:00 -07:00 (America/Los_Angeles), Saturday"),
    ];
    for (zone, expected) in zones {
        let mut bench = Bench::new(QUIET).await;
        bench.config.owner.zone = Some(jiff::tz::TimeZone::get(zone).unwrap());
        bench.agent().run_heartbeat().await.unwrap();
        let request = bench.server.calls()[0].text();
        assert!(request.contains(expected), "{request}");
    }
}

// KAI-061
#[tokio::test]
async fn a_model_of_its_own_that_is_gone_is_stood_in_for() {
    let bench = bench(&QUIET.repeat(2), "[heartbeat]\nmodel = \"nobody/nothing\"\n").await;
    let agent = bench.agent();
    agent.run_heartbeat().await.unwrap();
    let model = Some(Some("openai/cheap".to_owned()));
    agent.change_heartbeat(HeartbeatChange { model, ..HeartbeatChange::default() }).await.unwrap();
    agent.run_heartbeat().await.unwrap();
    let models = bench.server.calls().iter().map(|call| call.json()["model"].clone()).collect::<Vec<_>>();
    assert_eq!(models, ["scripted", "cheap"]);
    let unknown = Some(Some("nobody/nothing".to_owned()));
    let refused = agent.change_heartbeat(HeartbeatChange { model: unknown, ..HeartbeatChange::default() }).await;
    assert!(refused.is_err());
}

// KAI-058 KAI-072
#[tokio::test]
async fn with_scheduling_switched_off_it_runs_neither_by_itself_nor_by_hand() {
    let bench = bench(QUIET, "[scheduling]\nenabled = false\n").await;
    bench.write("workspace/HEARTBEAT.md", LIST);
    let agent = bench.agent();
    pass(&bench, &agent, 24.hours()).await;
    assert_eq!(agent.run_heartbeat().await.unwrap(), Beat::Waits(Why::NoScheduling));
    assert_eq!((bench.server.calls().len(), outcomes(&agent).await.len()), (0, 0));
    let status = agent.heartbeat_status().await.unwrap();
    assert_eq!((status.settings.enabled, status.next_ms), (true, None));
    assert!(status.waits.unwrap().contains("[scheduling] in limpid.toml"));
    drop(agent);
    let mut options = bench.options();
    options.config.scheduling.enabled = true;
    let agent = Agent::open(options).unwrap();
    pass(&bench, &agent, 31.minutes()).await;
    assert_eq!(bench.server.calls().len(), 1);
}

// KAI-058 KAI-072
#[tokio::test]
async fn it_waits_while_a_model_is_tested() {
    let bench = bench("[[reply]]\nhang = \"start\"\n", "").await;
    bench.write("workspace/HEARTBEAT.md", LIST);
    let agent = bench.agent();
    let answering = agent.test_model(None).await.unwrap();
    while bench.server.calls().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(agent.run_heartbeat().await.unwrap(), Beat::Waits(Why::Busy));
    drop(answering);
}

// KAI-058 KAI-072
#[tokio::test]
async fn it_waits_while_another_call_of_a_model_is_in_progress() {
    let bench = bench("[[reply]]\nhang = \"start\"\n", "").await;
    bench.write("workspace/HEARTBEAT.md", LIST);
    let agent = bench.agent();
    let mut talk = agent.chat(last("hi")).await.unwrap();
    while bench.server.calls().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(agent.run_heartbeat().await.unwrap(), Beat::Waits(Why::Busy));
    talk.cancel();
    while talk.next().await.is_some() {}
    assert_eq!(outcomes(&agent).await.len(), 0);
}

// KAI-126
#[tokio::test]
async fn only_what_was_shown_is_taken_in() {
    let quiet = "[[reply]]\ntext = \"HEARTBEAT_OK\"\n";
    let bench = bench(quiet, "[agent]\nprofile = \"kai\"\n[inbox]\nnotifications = true\n").await;
    let agent = bench.agent();
    let mut items = vec![sms("s", "Hello", &bench.clock)];
    for n in 0..25_i64 {
        let posted_ms = bench.clock.now().as_millisecond() + n * 1000;
        let note = sms(&format!("n{n}"), "Card used", &bench.clock);
        items.push(NewItem { source: Source::Notification, posted_ms, ..note });
    }
    agent.store().insert_items(items).await.unwrap();
    agent.run_heartbeat().await.unwrap();
    let left = agent.store().pending(Source::Notification).await.unwrap().rows;
    let keys: Vec<_> = left.into_iter().filter_map(|item| item.new.key).collect();
    assert_eq!(keys, ["n0", "n1", "n2", "n3", "n4"]);
    assert_eq!(waiting(&agent).await, 1, "text messages are off");
}
