//! Searches at a service after a stranger's text: words of the owner's that they did not type wait for their yes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use jiff::ToSpan as _;
use limpid_core::policy::{Destination, Effect};
use limpid_core::{Labelled, Sentence, ToolClass};
use limpid_runtime::{
    Agent, ApprovalAnswer, ChatRequest, ConversationChoice, PathArgument, Tool, ToolContext, TurnEvent,
};
use serde_json::{Map, Value, json};

use crate::kit::effects::EffectTool;
use crate::kit::{Bench, last, say, to_newest};

const DIARY: &str = "Doctor Adams at nine, ward 4711.";

const READ: &str = r#"{ name = "read_file", arguments = { path = "diary.md" } }"#;
const PAGE: &str = r#"{ name = "read_page" }"#;
const HOURS: &str = r#"{ name = "look_on_web", arguments = { query = "opening hours" } }"#;
const DOCTOR: &str = r#"{ name = "look_on_web", arguments = { query = "adams 4711" } }"#;

/// A search service that keeps what it was asked. The program does not survive that a call is judged, once it is told so.
#[derive(Default)]
struct Service {
    asked: Mutex<Vec<String>>,
    is_fatal: AtomicBool,
}

#[async_trait::async_trait]
impl Tool for Service {
    fn name(&self) -> &'static str {
        "look_on_web"
    }

    fn group(&self) -> &'static str {
        "test"
    }

    fn class(&self) -> ToolClass {
        ToolClass::Read
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Search
    }

    fn destination(&self, _: &Value) -> Option<Destination> {
        Some(Destination::host("search.example"))
    }

    fn schema(&self) -> Map<String, Value> {
        let schema = json!({ "type": "object", "properties": { "query": { "type": "string" } } });
        schema.as_object().cloned().unwrap()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn paths(&self, _: &Value) -> Vec<PathArgument> {
        assert!(!self.is_fatal.swap(false, Ordering::SeqCst), "as a power cut does");
        Vec::new()
    }

    async fn run(&self, _: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        self.asked.lock().unwrap().push(arguments["query"].as_str().unwrap_or_default().to_owned());
        Ok(Labelled::outside("No results.".to_owned()))
    }
}

/// Replies of which each makes these calls, and then says that it is done.
fn script(turns: &[&[&str]]) -> String {
    let reply = |call: &&str| format!("[[reply]]\ncalls = [{call}]\n");
    turns
        .iter()
        .map(|calls| format!("{}[[reply]]\ntext = \"Done.\"\n", calls.iter().map(reply).collect::<String>()))
        .collect()
}

async fn bench(turns: &[&[&str]]) -> Bench {
    let mut bench = Bench::new(&script(turns)).await;
    bench.config.agent.profile = "kai".into();
    bench.write("workspace/diary.md", DIARY);
    bench
}

fn agent(bench: &Bench, service: &Arc<Service>) -> Agent {
    let mut options = bench.options();
    options.tools = vec![EffectTool::outside("read_page"), Arc::clone(service) as Arc<dyn Tool>];
    Agent::open(options).unwrap()
}

/// What the owner is asked in a turn, each with what "always" would cover; they say no.
async fn asked(agent: &Agent, text: &str) -> Vec<(String, Option<String>)> {
    let mut handle = agent.chat(ChatRequest { can_answer: true, ..to_newest(agent, text).await }).await.unwrap();
    let mut questions = Vec::new();
    while let Some(event) = handle.next().await {
        if let TurnEvent::ApprovalRequested { parts, .. } = &event {
            for part in parts {
                questions.push((part.reason.clone(), part.pattern.clone()));
                handle.answer(&part.id, ApprovalAnswer::No);
            }
        }
        if event.is_last() {
            break;
        }
    }
    questions
}

// SEC-078 SEC-100
#[tokio::test]
async fn a_search_that_repeats_the_owners_words_waits_and_no_other_does() {
    let bench = bench(&[&[READ], &[DOCTOR], &[PAGE, HOURS, DOCTOR]]).await;
    let service = Arc::new(Service::default());
    let agent = agent(&bench, &service);
    say(&agent, "look into it").await;
    assert_eq!(asked(&agent, "look it up").await, [], "nothing of a stranger's was read");
    let questions = asked(&agent, "and the page").await;
    let said = "text from outside was read, and its words are “adams”, “4711”, which you did not type here, and the search service learns them";
    assert_eq!(questions, [(said.to_owned(), None)]);
    assert_eq!(*service.asked.lock().unwrap(), ["adams 4711", "opening hours"]);
}

// SEC-075 SEC-100
#[tokio::test]
async fn a_search_that_waits_says_which_words_it_tells_also_once_it_is_edited() {
    let bench = bench(&[&[READ, PAGE, DOCTOR]]).await;
    let service = Arc::new(Service::default());
    let agent = agent(&bench, &service);
    say(&agent, "look into it").await;
    let kept = agent.drafts().list(false).await.unwrap().rows.remove(0);
    assert!(kept.new.why.contains("its words are “adams”, “4711”, which you did not type here"), "{}", kept.new.why);
    let edit = async |query: &str| {
        let arguments = json!({ "query": query }).to_string();
        agent.drafts().edit(kept.id, &arguments).await.unwrap().new.why
    };
    assert_eq!(edit("please, adams 4711").await, kept.new.why);
    let fewer = edit("adams and Eve").await;
    assert!(fewer.contains("its words are “adams”, which you did not type here"), "{fewer}");
    agent.drafts().approve(kept.id, None).await.unwrap();
    assert_eq!(*service.asked.lock().unwrap(), ["adams and Eve"]);
}

/// Its calls are judged before the next request shows the past again.
// SEC-041 SEC-100
#[tokio::test]
async fn a_turn_that_is_carried_on_after_a_crash_knows_the_owners_words_of_its_past() {
    let bench = bench(&[&[READ], &[PAGE, DOCTOR]]).await;
    let service = Arc::new(Service::default());
    let first = agent(&bench, &service);
    say(&first, "look into it").await;
    service.is_fatal.store(true, Ordering::SeqCst);
    let mut handle = first.chat(last("and the page")).await.unwrap();
    let conversation = handle.conversation().clone();
    while handle.next().await.is_some_and(|event| !event.is_last()) {}
    drop((handle, first));
    assert!(!service.is_fatal.load(Ordering::SeqCst), "it broke off");
    bench.clock.forward(16.minutes());
    let second = agent(&bench, &service);
    second.conversations().resume().await.unwrap();
    second.conversations().wait_idle(&conversation).await;
    assert_eq!(*service.asked.lock().unwrap(), [""; 0]);
    let drafts = second.drafts().list(false).await.unwrap().rows;
    assert_eq!(drafts.iter().map(|draft| draft.new.tool.as_str()).collect::<Vec<_>>(), ["look_on_web"]);
}

/// Where others read, a call that cannot run waits like any other after a stranger's text. Who says "always" to what a yes does not let
/// run has said it to nothing.
// SEC-065 SEC-078
#[tokio::test]
async fn a_lasting_yes_is_not_offered_for_what_a_yes_does_not_let_run() {
    let fetch = |most: u32| {
        format!(r#"{{ name = "web_fetch", arguments = {{ url = "https://a.example/x", maxChars = {most} }} }}"#)
    };
    let mut bench = bench(&[&[], &[PAGE, &fetch(1), &fetch(5000)]]).await;
    bench.config.agent.profile = "limpid".into();
    let agent = agent(&bench, &Arc::new(Service::default()));
    say(&agent, "hi").await;
    agent.command(&ConversationChoice::Last, "/group on").await.unwrap();
    let questions = asked(&agent, "and the page").await;
    let reasons: Vec<_> = questions
        .iter()
        .map(|(reason, pattern)| (reason.contains("a yes does not let it run"), pattern.is_some()))
        .collect();
    assert_eq!(reasons, [(true, false), (false, true)], "{questions:?}");
}
