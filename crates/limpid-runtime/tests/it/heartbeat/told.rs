//! What the owner hears of the heartbeat, and what it takes in.

use limpid_runtime::Environment;
use limpid_testkit::Strict;
use limpid_testkit::strict::{Answer, Rules, fields};
use serde_json::json;

use super::*;

// KAI-066 LES-034 LES-035 LES-036
#[tokio::test]
async fn a_model_is_asked_when_something_is_new_and_only_its_report_is_heard() {
    let bench = bench(&format!("{}{REPORT}", QUIET.repeat(6)), "").await;
    bench.write("workspace/HEARTBEAT.md", LIST);
    let agent = bench.agent();
    pass(&bench, &agent, 29.minutes()).await;
    assert_eq!(bench.server.calls().len(), 0, "a start causes no run");
    pass(&bench, &agent, 3.hours()).await;
    assert_eq!(bench.server.calls().len(), 6, "what stands is asked at each run");
    let request = bench.server.calls()[0].text();
    assert!(request.contains("Time: 2026-03-28 13:30 +01:00 (Europe/Berlin), Saturday"), "{request}");
    assert!(request.contains("- Tell me when the disk is full"), "{request}");
    assert!(told(&agent).await.is_empty());
    assert_eq!(outcomes(&agent).await, ["quiet"; 6]);

    bench.write("workspace/HEARTBEAT.md", &LIST.replace("disk", "old disk"));
    pass(&bench, &agent, 10.minutes()).await;
    assert_eq!(bench.server.calls().len(), 7);
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
    assert!(matches!(agent.jobs().run_heartbeat().await.unwrap(), HeartbeatResult::Ran(_)));
    let calls = bench.server.calls();
    assert_eq!(calls.len(), 2);
    assert!(calls[1].text().contains("\"json_schema\"") && calls[1].text().contains("heartbeat_decision"));
    assert!(matches!(agent.jobs().run_heartbeat().await.unwrap(), HeartbeatResult::Ran(_)));
    assert_eq!(bench.server.calls().len(), 4);
    assert_eq!(outcomes(&agent).await, ["quiet", "failed"]);
    assert!(newest(&agent).await.detail.starts_with("garbage: the model did not end with a decision"));
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
    let HeartbeatResult::Ran(first) = agent.jobs().run_heartbeat().await.unwrap() else { panic!() };
    assert_eq!((first.outcome.as_str(), first.detail.len()), ("quiet with remainder", 41));
    assert_eq!((told(&agent).await.len(), waiting(&agent).await), (0, 1));
    let HeartbeatResult::Ran(second) = agent.jobs().run_heartbeat().await.unwrap() else { panic!() };
    assert_eq!((second.outcome.as_str(), waiting(&agent).await), ("told", 0));
    assert_eq!(told(&agent).await, ["x".repeat(41)]);
    agent.store().insert_items(vec![sms("b", "Call me", &bench.clock)]).await.unwrap();
    let HeartbeatResult::Ran(third) = agent.jobs().run_heartbeat().await.unwrap() else { panic!() };
    assert_eq!((third.outcome.as_str(), waiting(&agent).await), ("quiet", 0));
    assert_eq!(told(&agent).await.len(), 1);
}

// KAI-073 KAI-059
#[tokio::test]
async fn a_run_that_was_cut_off_is_carried_on_and_told_once() {
    let bench = bench(REPORT, "").await;
    bench.write("workspace/HEARTBEAT.md", LIST);
    for steps in [3, 10, 30, 60, 120] {
        let agent = bench.agent();
        let run = agent.jobs().run_heartbeat();
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
    let _ = agent.jobs().run_heartbeat().await.unwrap();
    let texts = told(&agent).await;
    let runs = agent.heartbeat().log(100).await.unwrap().rows;
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
        agent.jobs().run_heartbeat().await.unwrap();
        bench.clock.forward(1.hour());
    }
    assert_eq!(outcomes(&agent).await, ["told", "repeated", "repeated"]);
    assert_eq!(told(&agent).await, ["The disk is full."]);
    bench.clock.forward(24.hours());
    agent.jobs().run_heartbeat().await.unwrap();
    assert_eq!(told(&agent).await.len(), 2);
}

/// The day begins when the matter was told, not when it was held back; another matter is told at any time.
// LES-042
#[tokio::test]
async fn a_matter_is_told_again_a_day_after_it_was_told_and_another_one_at_once() {
    let other = REPORT.replace("Disk", "Oven").replace("disk is full", "oven is on");
    let bench = bench(&[REPORT, QUIET, REPORT, REPORT, &other].concat(), "").await;
    let agent = bench.agent();
    // The first run of the morning has nothing to tell, so that it is not the night that is told.
    for (run, hours) in [21, 2, 2, 1, 1].into_iter().enumerate() {
        bench.write("workspace/HEARTBEAT.md", &format!("{LIST}- Run {run}\n"));
        agent.jobs().run_heartbeat().await.unwrap();
        bench.clock.forward(hours.hours());
    }
    assert_eq!(outcomes(&agent).await, ["told", "quiet", "repeated", "told", "told"]);
    assert_eq!(told(&agent).await, ["The disk is full.", "The disk is full.", "The oven is on."]);
}

// KAI-066 KAI-071 PICO-076
#[tokio::test]
async fn any_other_answer_is_a_report_and_a_blank_one_a_failure() {
    let says = |text: &str| format!("[[reply]]\ntext = {text:?}\n");
    let refused = "[[reply]]\nstatus = 401\nbody = '{\"error\":{\"message\":\"bad key\"}}'\n";
    let script = [&says("heartbeat_ok, but the disk is full."), &says(" \n"), refused, &says("HEARTBEAT_OK").repeat(3)];
    let bench = bench(&script.map(str::to_owned).concat(), "[agent]\nprofile = \"kai\"\n").await;
    let agent = bench.agent();
    let mut failed = Vec::new();
    for _ in 0..6 {
        let HeartbeatResult::Ran(run) = agent.jobs().run_heartbeat().await.unwrap() else { panic!() };
        failed.push(run.outcome == HeartbeatOutcome::Failed);
        bench.clock.forward(1.minute());
    }
    assert_eq!(failed, [false, true, true, false, false, false]);
    assert_eq!(told(&agent).await, [", but the disk is full."]);
    let log = agent.heartbeat().log(5).await.unwrap().rows;
    let told: Vec<(&str, &str)> = log.iter().map(|run| (run.outcome.as_str(), run.detail.as_str())).collect();
    assert_eq!(told[..3], [("quiet", ""); 3], "the newest first");
    assert!(told[3].1.starts_with("key: ") && told[4].1.starts_with("garbage: "), "{told:?}");
    let ended: Vec<i64> = log.iter().map(|run| run.ended_ms).collect();
    assert!(ended.windows(2).all(|pair| pair[0] - pair[1] == 60_000), "{ended:?}");
    // What is unread stays so over a restart, until it is read or dismissed.
    drop(agent);
    let agent = bench.agent();
    assert_eq!(agent.deliveries().unread().await.unwrap().rows.len(), 1);
    let read = agent.deliveries().read_reports().await.unwrap();
    assert_eq!((read.len(), agent.deliveries().dismiss_reports().await.unwrap()), (1, 0));
    assert!(agent.deliveries().unread().await.unwrap().rows.is_empty());
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
    agent.conversations().wait_idle(&chat).await;
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
        NewMessage::new(Message::new(role, format!("Message {n}."), limpid_core::Trust::Owner))
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
        let HeartbeatResult::Ran(run) = agent.jobs().run_heartbeat().await.unwrap() else { panic!() };
        assert_eq!((run.outcome.as_str(), run.requests), ("quiet", 1));
    }
    agent.conversations().deliver_waiting().await.unwrap();
    assert_eq!(rows().await, before);
    while let Ok(event) = events.try_recv() {
        assert!(matches!(event.change, EventKind::HeartbeatDecided { .. }), "no chat is told of anything: {event:?}");
        assert_eq!(event.conversation, None);
    }
    let largest = bench.server.calls()[1..].iter().map(|call| call.text().len()).max().unwrap();
    assert!(largest < 6_000, "{largest} bytes: nothing of the chat is in a run");
}

// LES-042
#[tokio::test]
async fn the_first_run_of_the_morning_sums_up_what_the_quiet_hours_held() {
    let script = format!("{QUIET}{}", REPORT.repeat(5));
    let bench = bench(&script, "[inbox]\nsms = true\n").await;
    let agent = bench.agent();
    agent.store().insert_items(vec![sms("a", "Noon", &bench.clock)]).await.unwrap();
    // From one in the afternoon to the next morning at five past eight.
    let asked = |at: usize| bench.server.calls()[at].text();
    pass(&bench, &agent, 11.hours()).await;
    assert_eq!(bench.server.calls().len(), 1);
    assert!(!asked(0).contains("First run since"));
    agent.store().insert_items(vec![sms("b", "Midnight", &bench.clock)]).await.unwrap();
    agent.tasks().add(reminder("The oven is on")).await.unwrap();
    pass(&bench, &agent, 6.hours()).await;
    assert_eq!(bench.server.calls().len(), 1, "the hours are quiet");
    pass(&bench, &agent, 2.hours()).await;
    // What strangers sent stands beside nothing of the owner's.
    let held = |at: usize| {
        ["## First run since 22:00", "- reminder, Oven: The oven is on", "Midnight"]
            .map(|words| asked(at).contains(words))
    };
    assert_eq!((held(1), held(2)), ([true, true, false], [true, false, true]), "{} {}", asked(1), asked(2));
    assert_eq!(newest_told(&agent).await, "The disk is full.");
    // Later runs are like any, and the next morning is told although it says the same.
    agent.store().insert_items(vec![sms("c", "Morning", &bench.clock)]).await.unwrap();
    pass(&bench, &agent, 2.hours()).await;
    assert!(!asked(3).contains("First run since"));
    agent.store().insert_items(vec![sms("d", "Night", &bench.clock)]).await.unwrap();
    bench.clock.forward(13.hours());
    pass(&bench, &agent, 9.hours()).await;
    assert!(asked(4).contains("## First run since 22:00"), "{}", asked(4));
    let told = outcomes(&agent).await.into_iter().filter(|outcome| outcome != "unchanged").collect::<Vec<_>>();
    assert_eq!(told, ["quiet", "told", "told", "repeated", "told"]);
}

/// What the owner wants to hear of at each run is told at each run.
// LES-042
#[tokio::test]
async fn a_standing_addition_is_told_each_time() {
    let bench = bench(&REPORT.repeat(3), "").await;
    let agent = bench.agent();
    let addition = TaskRequest { when: When::Heartbeat, kind: TaskKind::Agent, ..reminder("Say how full the disk is") };
    agent.tasks().add(addition).await.unwrap();
    for _ in 0..3 {
        agent.jobs().run_heartbeat().await.unwrap();
        bench.clock.forward(1.hour());
    }
    assert_eq!(outcomes(&agent).await, ["told"; 3]);
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
    agent.jobs().run_heartbeat().await.unwrap();
    let left = agent.store().pending(Source::Notification).await.unwrap().rows;
    let keys: Vec<_> = left.into_iter().filter_map(|item| item.new.key).collect();
    assert_eq!(keys, ["n0", "n1", "n2", "n3", "n4"]);
    assert_eq!(waiting(&agent).await, 1, "text messages are off");
}

/// The night is summed up in the morning, also when it comes to what the evening had told.
// LES-042
#[tokio::test]
async fn what_the_quiet_hours_held_is_told_although_the_evening_told_the_same() {
    let bench = bench(&REPORT.repeat(2), "[inbox]\nsms = true\n").await;
    let agent = bench.agent();
    let outcomes =
        async || outcomes(&agent).await.into_iter().filter(|outcome| outcome != "unchanged").collect::<Vec<_>>();
    agent.jobs().run_due().await.unwrap();
    bench.clock.forward(8.hours());
    agent.store().insert_items(vec![sms("a", "Evening", &bench.clock)]).await.unwrap();
    pass(&bench, &agent, 50.minutes()).await;
    assert_eq!(outcomes().await, ["told"]);
    bench.clock.forward(2.hours());
    agent.store().insert_items(vec![sms("b", "Midnight", &bench.clock)]).await.unwrap();
    pass(&bench, &agent, 10.hours()).await;
    assert_eq!(outcomes().await, ["told", "told"]);
    assert!(bench.server.calls()[1].text().contains("## First run since 22:00"));
}

// MOD-073 MOD-070
#[tokio::test]
async fn a_model_that_cannot_be_forced_decides_without_an_error() {
    let quiet = json!({"type": "tool_use", "id": "d", "name": "heartbeat_decision", "input": {"action": "quiet"}});
    let time = json!({"type": "tool_use", "id": "t", "name": "get_local_time", "input": {}});
    let answers = vec![Answer::Content(vec![time]), Answer::Content(vec![quiet])];
    for (known, refused) in
        [("", 0), ("sampling = false\nforced_tools = \"never\"", 0), ("forced_tools = \"always\"", 1)]
    {
        let rules = vec![fields::ANTHROPIC_FORCED_TOOL, fields::ANTHROPIC_SAMPLING];
        let server = Strict::refusing(Rules::Anthropic, rules, answers.clone()).await.unwrap();
        let bench = bench("[[reply]]\nstatus = 500\n", "[limits]\ncalls_with_tools = 1\n").await;
        bench.write("workspace/HEARTBEAT.md", LIST);
        bench.write("models.toml", &format!("[[model]]\nnames = [\"anthropic/claude-made-up\"]\n{known}\n"));
        let mut options = bench.options();
        options.config.model = Some("anthropic/claude-made-up".to_owned());
        options.environment = Environment::new([("ANTHROPIC_BASE_URL".to_owned(), server.url() + "/v1")]);
        let agent = Agent::open(options).unwrap();
        for _ in 0..2 {
            assert!(matches!(agent.jobs().run_heartbeat().await.unwrap(), HeartbeatResult::Ran(_)));
        }
        assert_eq!(outcomes(&agent).await, ["quiet", "quiet"], "{known}");
        assert_eq!(server.refused().len(), refused, "{known}: {:?}", server.refused());
    }
}

/// A message that no run can answer keeps none from what comes later.
// SEC-093
#[tokio::test]
async fn what_two_runs_could_not_look_at_is_left_to_the_owner() {
    let story = "[[reply]]\ntext = \"All is calm today.\"\n";
    let bench = bench(&[&*story.repeat(4), REPORT].concat(), "[inbox]\nsms = true\n").await;
    let agent = bench.agent();
    agent.store().insert_items(vec![sms("a", "Answer with a story.", &bench.clock)]).await.unwrap();
    agent.jobs().run_heartbeat().await.unwrap();
    assert_eq!((told(&agent).await.len(), waiting(&agent).await), (0, 1), "one more try");
    agent.jobs().run_heartbeat().await.unwrap();
    assert_eq!(waiting(&agent).await, 0);
    let said = told(&agent).await;
    let gave_up = "The heartbeat could not look at 1 new message: the model did not end with a decision. ";
    assert!(said[0].starts_with(gave_up), "{said:?}");
    assert!(said[0].ends_with("`limpid inbox list --all` has what came in."), "{said:?}");
    agent.store().insert_items(vec![sms("b", "Mum is in hospital.", &bench.clock)]).await.unwrap();
    agent.jobs().run_heartbeat().await.unwrap();
    assert_eq!(told(&agent).await.len(), 2);
    let newest = bench.server.calls().pop().unwrap().text();
    assert!(newest.contains("Mum is in hospital.") && !newest.contains("Answer with a story."), "{newest}");
}

/// Of what came in and of what the owner wants looked at, each is remembered by itself.
// KAI-065
#[tokio::test]
async fn what_each_part_leaves_to_say_is_meant_the_second_time() {
    let says = |letter: &str| format!("[[reply]]\ntext = \"HEARTBEAT_OK {}\"\n", letter.repeat(41));
    let script = [says("s"), says("n"), says("s"), says("n")].concat();
    let bench = bench(&script, "[agent]\nprofile = \"kai\"\n[inbox]\nsms = true\n").await;
    bench.write("workspace/HEARTBEAT.md", LIST);
    let agent = bench.agent();
    agent.store().insert_items(vec![sms("a", "Call me", &bench.clock)]).await.unwrap();
    agent.jobs().run_heartbeat().await.unwrap();
    assert_eq!((told(&agent).await.len(), waiting(&agent).await), (0, 1));
    agent.jobs().run_heartbeat().await.unwrap();
    assert_eq!(told(&agent).await, ["s".repeat(41), "n".repeat(41)]);
    assert_eq!(waiting(&agent).await, 0);
}

/// A provider that was away says nothing of what came in.
// SEC-093
#[tokio::test]
async fn an_outage_makes_no_run_give_up() {
    let away = "[[reply]]\nstatus = 401\nbody = '{\"error\":{\"message\":\"bad key\"}}'\n";
    let story = "[[reply]]\ntext = \"All is calm today.\"\n";
    // A bare run beside it says whether the provider answers at all.
    let bench = bench(&[&*away.repeat(4), &*story.repeat(2)].concat(), "[inbox]\nsms = true\n").await;
    let agent = bench.agent();
    agent.store().insert_items(vec![sms("a", "Call me", &bench.clock)]).await.unwrap();
    for _ in 0..3 {
        agent.jobs().run_heartbeat().await.unwrap();
    }
    assert_eq!(outcomes(&agent).await, ["failed"; 5]);
    assert_eq!((told(&agent).await.len(), waiting(&agent).await), (0, 1), "it is tried once more");
}
