//! Strangers' words that no tool returned: what prompts tell of accounts, failures, results, notices, summaries, goals, tasks,
//! messages and skills. Each source has a canary of its own, and all are in one home.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use limpid_channels::mail::Mailbox;
use limpid_core::task::{MissedPolicy, Standing, TaskKind, Trigger};
use limpid_core::{Labelled, Skill, Trust};
use limpid_prompt::registry::{PromptSource, RegisteredPrompt};
use limpid_runtime::inbox::IngestKind;
use limpid_runtime::{Agent, AgentOptions, ChatRequest, Clock as _, ConversationChoice, PreviewRequest};
use limpid_store::{DeliveryOrigin, NewDelivery, NewTask};
use serde_json::json;

use super::{Caller, everything, outside_of_boundaries};
use crate::kit::mailbox::FakeMailbox;
use crate::kit::post::add;
use crate::kit::{all, last};

/// What every canary begins with.
const CANARY: &str = "canary7731";

fn canary(source: &str) -> String {
    format!("{CANARY}-{source}")
}

fn task(what: &str, trigger: &Trigger) -> NewTask {
    NewTask {
        key: None,
        description: canary(what),
        prompt: canary(what),
        kind: TaskKind::Agent,
        trigger: trigger.clone(),
        zone: "Europe/Berlin".to_owned(),
        missed: MissedPolicy::usual(TaskKind::Agent),
        base: None,
        conversation: None,
        trust: Trust::Outside,
        typed: false,
    }
}

/// A home with a canary in every source.
async fn filled(caller: &Caller, mailbox: &Arc<FakeMailbox>) -> Agent {
    let servers = Some(Arc::clone(mailbox) as Arc<dyn Mailbox>);
    let agent = Agent::open(AgentOptions { mailbox: servers, ..caller.bench.options() }).unwrap();
    let now = caller.bench.clock.now();
    add(&agent, "me@example.com").await;
    agent.mail().fetch("me@example.com").await.unwrap();
    *mailbox.broken.lock().unwrap() = Some(canary("account"));
    let _ = agent.mail().fetch("me@example.com").await;
    // A result of a run, and a failure in a provider's words.
    let once = Trigger::after_seconds(60, now).unwrap();
    agent.store().keep_task(task("run", &once), Standing::begin(&once, now), 1).await.unwrap();
    caller.bench.clock.forward(jiff::Span::new().minutes(2));
    *caller.says.lock().unwrap() =
        json!({ "status": 400, "body": format!("{{\"error\":{{\"message\":\"{}\"}}}}", canary("provider")) });
    agent.jobs().run_due().await.unwrap();
    *caller.says.lock().unwrap() = json!({ "text": "Done." });
    // A goal of a turn that read a stranger's text, and a digest of that.
    let handed_in = Some(Labelled::outside(canary("handed-in")));
    let request = ChatRequest { handed_in, can_answer: true, ..last("read that") };
    caller.go_on(&agent, "create_goal", json!({ "description": canary("goal") }), request).await;
    for number in 0..20 {
        all(agent.chat(last(&format!("{number} {}", "word ".repeat(300)))).await.unwrap()).await;
    }
    *caller.says.lock().unwrap() = json!({ "text": format!("They talk of {}.", canary("summary")) });
    let report = agent.conversations().compact(&ConversationChoice::Last).await.unwrap();
    assert!(report.failure.is_none(), "{report:?}");
    *caller.says.lock().unwrap() = json!({ "text": "Done." });
    let chat = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
    let notice = NewDelivery {
        key: "k".to_owned(),
        conversation: chat,
        origin: DeliveryOrigin::Task,
        title: canary("notice-title"),
        text: canary("notice"),
        trust: Trust::Outside,
        draft: None,
        now_ms: 1,
    };
    agent.store().enqueue(notice).await.unwrap();
    agent.conversations().deliver_waiting().await.unwrap();
    // What waits, and what came in.
    let daily = Trigger::cron("0 9 * * *", "Europe/Berlin").unwrap();
    agent.store().keep_task(task("task", &daily), Standing::begin(&daily, now), 1).await.unwrap();
    let beat = Trigger::Heartbeat;
    agent.store().keep_task(task("addition", &beat), Standing::begin(&beat, now), 1).await.unwrap();
    for (kind, what) in [(IngestKind::Sms, "sms"), (IngestKind::Notification, "notification")] {
        let object = json!({ "from": canary(what), "text": canary(what) }).to_string();
        agent.inbox().ingest(kind, object.as_bytes(), None).await.unwrap();
    }
    let skill = Skill::new(canary("skill").parse().unwrap(), canary("skill"), canary("skill"));
    let server = PromptSource::Mcp { server: "desk".to_owned() };
    agent.skills().register(RegisteredPrompt::new(skill, server, "registered", 0)).unwrap();
    agent.conversations().use_skills(&ConversationChoice::Last, vec![canary("skill")]).await.unwrap();
    // What came of the run is told in a chat of its own.
    agent.conversations().deliver_waiting().await.unwrap();
    agent
}

// SEC-052
#[tokio::test]
async fn every_source_of_strangers_words_stands_in_a_boundary_in_every_prompt() {
    let caller = Caller::new(&everything("http://127.0.0.1:9")).await;
    let mailbox = Arc::new(FakeMailbox::new());
    let agent = filled(&caller, &mailbox).await;
    let told = agent.store().deliveries(100).await.unwrap().rows;
    let told = told.into_iter().map(|delivery| ConversationChoice::Id(delivery.new.conversation));
    let chats: Vec<ConversationChoice> = told.chain([ConversationChoice::Last]).collect();
    let mut met: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for profile in ["limpid", "kai", "koshi", "picoclaw", "ollm"] {
        let paths = || [None, Some("heartbeat".to_owned())];
        for (path, chat) in chats.iter().flat_map(|chat| paths().map(|path| (path, chat))) {
            let request = PreviewRequest {
                conversation: chat.clone(),
                text: "hi".to_owned(),
                profile: Some(profile.to_owned()),
                path: path.clone(),
                ..PreviewRequest::default()
            };
            let Ok(preview) = agent.preview(request).await else { continue };
            for message in preview.prompt.messages() {
                let place = format!("{profile} {path:?} {:?}", message.role());
                for word in message.text().split(|letter: char| !letter.is_alphanumeric() && letter != '-') {
                    if let Some(source) = word.strip_prefix(&format!("{CANARY}-")) {
                        met.entry(source.to_owned()).or_default().insert(format!("{}", message.role()));
                    }
                }
                let left = outside_of_boundaries(message.text());
                assert!(!left.contains(CANARY), "{place}: {left}");
            }
        }
    }
    insta::assert_debug_snapshot!(met);
}
