use limpid_core::ConversationId;
use limpid_runtime::events::Difference;

use super::*;

/// What somebody wrote.
const CANARY: &str = "zorbl@example.com";

fn now() -> Timestamp {
    "2026-04-11T07:00:01.5Z".parse().unwrap()
}

fn serve_events(name: &str, why: &str) -> Vec<ServeEvent> {
    let (kind, name, at) = ("task".to_owned(), name.to_owned(), now().as_millisecond() - 1_500);
    vec![
        ServeEvent::Ready,
        ServeEvent::Began { kind: kind.clone(), name: name.clone(), slot_ms: at },
        ServeEvent::Done { kind: kind.clone(), name: name.clone(), next_ms: Some(at + 86_400_000) },
        ServeEvent::Done { kind: kind.clone(), name: name.clone(), next_ms: None },
        ServeEvent::Failed { kind, name, why: why.to_owned(), again_ms: at + 60_000 },
        ServeEvent::Notice { what: "something to know", text: format!("something to know: {why}") },
        ServeEvent::Trouble { what: "something is wrong", text: format!("something is wrong: {why}") },
        ServeEvent::Stopping,
    ]
}

/// Every change, with a text in each place that holds one.
fn changes(text: &str) -> Vec<EventKind> {
    let text = text.to_owned();
    let names = Difference { added: vec![text.clone()], removed: Vec::new() };
    let word = str::to_owned;
    vec![
        EventKind::SystemPromptUpdated {
            mode: text.clone(),
            tier: 3,
            tokens: 40,
            hash: text.clone(),
            reason: text.clone(),
            trims: vec![text.clone()],
        },
        EventKind::ModeChanged { from: text.clone(), to: text.clone(), trigger: word("tool") },
        EventKind::ActiveSkillsUpdated(names.clone()),
        EventKind::ActiveToolsUpdated(names.clone()),
        EventKind::ActiveMcpUpdated(names),
        EventKind::PromptTierChanged { old: 3, new: 2, reason: text.clone() },
        EventKind::GoalUpdated { goal: text.clone(), what: text.clone() },
        EventKind::ContextWarning { used: 710, available: 1000, advice: text.clone() },
        EventKind::CompactionStarted { before: 900 },
        EventKind::CompactionFinished { before: 900, after: 300, steps: vec![text.clone()] },
        EventKind::CompactionFailed { again: false, reason: text.clone() },
        EventKind::Delivered { origin: word("reminder"), title: text.clone(), text: text.clone(), delivery: 1 },
        EventKind::AgentEnded { agent: 4, label: text.clone(), state: word("done") },
        EventKind::TaskRan { task: 2, outcome: word("failed"), detail: text.clone() },
        EventKind::HeartbeatDecided { run: text.clone(), outcome: word("quiet"), detail: text.clone() },
        EventKind::DraftUpdated { draft: 1, tool: text.clone(), state: word("open") },
        EventKind::ItemArrived { source: word("mail"), id: 7 },
        EventKind::SemanticSearchFailed { model: text.clone(), reason: text.clone() },
        EventKind::NotificationFailed { by: word("ntfy"), reason: text },
    ]
}

fn change_lines(text: &str) -> Vec<LogLine> {
    let conversation = Some(ConversationId::new("c1"));
    let events = changes(text).into_iter().map(|change| Event { conversation: conversation.clone(), change });
    events.filter_map(|event| LogLine::change(&event)).collect()
}

#[test]
fn a_line_says_when_what_happened_in_the_owners_zone() {
    let zone = limpid_core::zone::named("Europe/Berlin").unwrap();
    let lines = serve_events("t1", "no model").into_iter();
    let lines: Vec<String> = lines.map(|event| LogLine::serve(&event, &zone).at(now(), LogForm::Text, &zone)).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_run_of_a_task_that_ends_well_is_one_line_for_a_person() {
    let lines = serve_events("1", "no model").iter().map(|event| LogLine::serve(event, &TimeZone::UTC)).collect();
    let shown = |lines: Vec<LogLine>| -> Vec<String> {
        lines.into_iter().filter(|line| !line.for_programs).map(|line| line.event).collect()
    };
    assert_eq!(shown(lines), ["ready", "done", "done", "run-failed", "notice", "trouble", "stopping"]);
    let ran = |outcome: &str| {
        let change = EventKind::TaskRan { task: 1, outcome: outcome.to_owned(), detail: String::new() };
        shown(LogLine::change(&Event { conversation: None, change }).into_iter().collect())
    };
    assert_eq!((ran("done"), ran("failed").len()), (Vec::new(), 1));
}

// SUR-036
#[test]
fn a_line_for_programs_is_an_object_with_nothing_that_anybody_wrote() {
    let zone = TimeZone::UTC;
    let address = "127.0.0.1:7716".parse().unwrap();
    let failure = Failure::new(crate::failure::ExitStatus::Store, CANARY);
    let mut lines: Vec<LogLine> =
        serve_events(CANARY, CANARY).iter().map(|event| LogLine::serve(event, &zone)).collect();
    lines.extend(serve_events("12", CANARY).iter().take(2).map(|event| LogLine::serve(event, &zone)));
    lines.extend(change_lines(CANARY));
    lines.extend([
        LogLine::page_shown(CANARY, address),
        LogLine::page_closed(address, CANARY),
        LogLine::no_page(CANARY),
        LogLine::door(&DoorNews::Opened(address)),
        LogLine::door(&DoorNews::Closed(address)),
        LogLine::door(&DoorNews::Stuck(CANARY.to_owned())),
        LogLine::no_traces(CANARY),
        LogLine::did(CANARY.to_owned(), 1, 0, Some(1_000)),
        LogLine::failed(&failure),
    ]);
    let lines: Vec<String> = lines.iter().map(|line| line.at(now(), LogForm::Json, &zone)).collect();
    for line in &lines {
        let value: Value = serde_json::from_str(line).unwrap();
        let keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["time", "level", "message", "fields"], "{line}");
        assert!(!line.contains(CANARY) && !line.contains('\n'), "{line}");
    }
    insta::assert_snapshot!(lines.join("\n"));
}
