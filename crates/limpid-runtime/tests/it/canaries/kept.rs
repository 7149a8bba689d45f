//! What a stranger's text left behind: memories, tasks, goals, messages, skills, the history and its results. Each tool that
//! speaks of one is called with its name and with a wrong one.

use std::collections::BTreeSet;

use limpid_core::task::{MissedPolicy, Standing, TaskKind, Trigger};
use limpid_core::{Skill, Trust};
use limpid_prompt::registry::{PromptSource, RegisteredPrompt};
use limpid_runtime::inbox::IngestKind;
use limpid_runtime::{Agent, ChatRequest, Clock as _};
use limpid_store::NewTask;
use serde_json::{Value, json};

use super::{CANARY, Caller, everything, told};
use crate::kit::{keep_mail, last};

/// Tools that other tests of this kind call.
const ELSEWHERE: [&str; 6] =
    ["append_file", "edit_file", "get_location_from_ip", "list_dir", "read_file", "write_file"];

/// Tools that repeat nothing but what their call says: the clock, what is set up or found by it.
const REPEATS_NOTHING: [&str; 4] = ["find_tools", "get_local_time", "open_url", "setup_email"];

/// A home in which strangers' words are everywhere.
async fn filled() -> (Caller, Agent) {
    let caller = Caller::new(&everything("http://127.0.0.1:9")).await;
    let agent = caller.bench.agent();
    keep_mail(&agent, CANARY).await;
    for kind in [IngestKind::Sms, IngestKind::Notification] {
        let object = json!({ "from": CANARY, "text": CANARY }).to_string();
        agent.inbox().ingest(kind, object.as_bytes(), None).await.unwrap();
    }
    let trigger = Trigger::cron("0 9 * * *", "Europe/Berlin").unwrap();
    let task = NewTask {
        key: None,
        description: CANARY.to_owned(),
        prompt: CANARY.to_owned(),
        kind: TaskKind::Agent,
        trigger: trigger.clone(),
        zone: "Europe/Berlin".to_owned(),
        missed: MissedPolicy::usual(TaskKind::Agent),
        base: None,
        conversation: None,
        trust: Trust::Outside,
        typed: false,
    };
    agent.store().keep_task(task, Standing::begin(&trigger, caller.bench.clock.now()), 1).await.unwrap();
    let skill = Skill::new(CANARY.parse().unwrap(), CANARY, CANARY);
    let server = PromptSource::Mcp { server: "desk".to_owned() };
    agent.skills().register(RegisteredPrompt::new(skill, server, "registered", 0)).unwrap();
    // What was handed in is a part of the history.
    let handed_in = Some(limpid_core::Labelled::outside(CANARY.to_owned()));
    let request = ChatRequest { handed_in, can_answer: true, ..last("read that") };
    let goal = json!({ "description": CANARY });
    let step = json!({ "description": CANARY });
    caller.go_on_with(&agent, vec![("create_goal", goal), ("create_checkpoint", step)], request).await;
    (caller, agent)
}

// SEC-051
#[tokio::test]
async fn whatever_a_strangers_text_left_behind_is_read_in_a_boundary() {
    let (caller, agent) = filled().await;
    let calls: Vec<(&str, Value)> = vec![
        ("memory_query", json!({ "query": CANARY })),
        ("memory_store", json!({ "key": "mail", "content": "x" })),
        ("memory_learn", json!({ "key": "mail", "content": "x", "category": "LEARNING" })),
        ("memory_update", json!({ "id": "mail", "content": "x" })),
        ("memory_reinforce", json!({ "id": "mail" })),
        ("memory_demote", json!({ "id": "mail" })),
        ("promote_learning", json!({ "memory_key": "mail", "soul_addition": "x" })),
        ("memory_forget", json!({ "key": "nothing" })),
        ("memory_forget", json!({ "key": "mail" })),
        ("list_tasks", json!({})),
        ("cancel_task", json!({ "task_id": "99" })),
        ("schedule_task", json!({ "description": "x", "prompt": "x", "execute_at": "tomorrow" })),
        ("cancel_task", json!({ "task_id": "1" })),
        ("check_sms", json!({})),
        ("read_sms", json!({ "id": "i1" })),
        ("read_sms", json!({ "id": "i2" })),
        ("search_sms", json!({ "query": CANARY })),
        ("reply_sms", json!({ "id": "i1", "text": "hi" })),
        ("send_sms", json!({ "to": "nobody", "text": "hi" })),
        ("check_notifications", json!({})),
        ("read_notification", json!({ "id": "i2" })),
        ("read_notification", json!({ "id": "i1" })),
        ("search_notifications", json!({ "query": CANARY })),
        ("load_skill", json!({ "name": CANARY })),
        ("load_skill", json!({ "name": "nothing" })),
        ("update_skill", json!({ "name": "nothing", "content": "x" })),
        ("create_skill", json!({ "name": "tea", "description": "x", "content": "x" })),
        ("update_checkpoint", json!({ "checkpoint_id": "zzz", "status": "completed" })),
        ("create_checkpoint", json!({ "description": "x" })),
        ("record_decision", json!({ "description": "x" })),
        ("record_artifact", json!({ "path": "x.md", "action": "created" })),
        ("switch_goal", json!({ "goal": "zzz" })),
        ("switch_goal", json!({ "goal": "g1" })),
        ("create_goal", json!({ "description": "x" })),
        ("complete_goal", json!({ "summary": "x" })),
        ("search_history", json!({ "query": CANARY })),
        ("read_history", json!({ "from": 1, "to": 3 })),
        ("read_history", json!({ "from": 900, "to": 903 })),
        ("read_result", json!({ "id": "nothing" })),
        ("spawn_agent", json!({ "task": "tea", "skill": "nothing" })),
        ("spawn_agent", json!({ "task": "[agent_result:9] is tea" })),
        ("research", json!({ "task": "tea" })),
    ];
    // A research worker's answer, which comes from the web.
    *caller.says.lock().unwrap() = json!({ "text": CANARY });
    let mut rows = Vec::new();
    let mut called = BTreeSet::new();
    for (tool, arguments) in calls {
        called.insert(tool.to_owned());
        rows.push((format!("{tool} {arguments}"), caller.shows(&agent, tool, arguments).await));
    }
    insta::assert_snapshot!(told(&rows));
    called.extend(ELSEWHERE.into_iter().chain(REPEATS_NOTHING).map(str::to_owned));
    let missing: Vec<String> = caller.offered().difference(&called).cloned().collect();
    assert_eq!(missing, Vec::<String>::new(), "a tool that no case names");
}
