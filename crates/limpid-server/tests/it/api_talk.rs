//! Conversations, drafts and numbers, as programs ask for them.

use std::collections::HashSet;

use reqwest::StatusCode;
use serde_json::{Value, json};

use limpid_core::ConversationId;
use limpid_server::ApiRole;

use crate::api_kit::{ApiBench, Told, answer, events, token};

fn is_done(event: &Value) -> bool {
    event["type"] == "done"
}

fn types(told: &[Told]) -> Vec<&str> {
    told.iter().map(|(_, event)| event["type"].as_str().unwrap()).collect()
}

// SUR-030
#[tokio::test]
async fn whoever_comes_back_is_told_the_rest() {
    let script =
        "[[reply]]\ntext = [\"Hello \", \"you.\"]\nusage = { input = 9, output = 2 }\n[[reply]]\ntext = \"Again.\"\n";
    let bench = ApiBench::new(script, "").await;
    let (status, made) = bench.ask("/v1/conversations", &json!({})).await;
    assert_eq!(status, StatusCode::CREATED);
    let id = made["id"].as_str().unwrap();
    let (status, taken) = bench.ask(&format!("/v1/conversations/{id}/messages"), &json!({ "text": "hi" })).await;
    assert_eq!((status, &taken["conversation"]), (StatusCode::ACCEPTED, &json!(id)));
    let after = taken["after"].as_str().unwrap();
    let path = format!("/v1/conversations/{id}/events");
    let all = events(bench.get(&format!("{path}?after={after}")), is_done).await;
    let said = all.iter().filter(|(_, event)| event["type"] == "text");
    let said: String = said.filter_map(|(_, event)| event["text"].as_str()).collect();
    assert_eq!(said, "Hello you.");
    assert!(types(&all).starts_with(&["started"]) && types(&all).contains(&"usage"), "{all:?}");
    let (_, done) = all.last().unwrap();
    assert_eq!((&done["outcome"], &done["answer"]), (&json!("answered"), &json!("Hello you.")));
    // Who has seen some is told the rest, by either way of saying so.
    let (first, _) = &all[1];
    for ask in [bench.get(&path).header("last-event-id", first), bench.get(&format!("{path}?after={first}"))] {
        assert_eq!(events(ask, is_done).await, all[2..]);
    }
    // A mark of another server, or of what was never told, is none.
    for mark in ["00000000-1", "nonsense", &format!("{}-900", first.split('-').next().unwrap())] {
        let told = events(bench.get(&path).header("last-event-id", mark), |_| true).await;
        assert_eq!(types(&told), ["reset"], "{mark}");
    }
    let (_, listed) = bench.look(&format!("/v1/conversations/{id}/messages")).await;
    let by: Vec<&str> = listed["messages"].as_array().unwrap().iter().map(|one| one["by"].as_str().unwrap()).collect();
    assert_eq!(by, ["owner", "model"]);
    let (_, listed) = bench.look(&format!("/v1/requests?conversation={id}")).await;
    let request = listed["requests"][0]["id"].as_str().unwrap();
    let (_, whole) = bench.look(&format!("/v1/requests/{request}")).await;
    assert!(whole["messages"].as_array().unwrap().len() >= 2 && whole["answer"] == "Hello you.", "{whole}");
}

// SUR-030 SEC-077
#[tokio::test]
async fn a_question_is_answered_and_a_draft_approved_as_it_was_seen() {
    let call = |file: &str| {
        format!(
            "[[reply]]\ncalls = [{{ name = \"write_file\", arguments = {{ path = \"{file}\", content = \"x\" }} }}]\n[[reply]]\ntext = \"Done.\"\n"
        )
    };
    let config = "[tools]\ndefer = false\n[policy]\nask = [{ tool = \"write_file\" }]\n";
    let bench = ApiBench::new(&(call("one.md") + &call("two.md")), config).await;
    let (_, taken) = bench.ask("/v1/conversations/new/messages", &json!({ "text": "Write it down" })).await;
    let id = taken["conversation"].as_str().unwrap();
    let after = taken["after"].as_str().unwrap();
    let listen = || bench.get(&format!("/v1/conversations/{id}/events?after={after}"));
    let told = events(listen(), |event| event["type"] == "question").await;
    let part = &told.last().unwrap().1["parts"][0];
    assert!(part["arguments"].as_str().unwrap().contains("one.md"), "{part}");
    let question = part["question"].as_u64().unwrap();
    let say = |answer: &'static str| answer_of(&bench, id, question, answer);
    assert_eq!(say("clean").await, StatusCode::NOT_FOUND, "it was not offered");
    assert_eq!(say("yes").await, StatusCode::BAD_REQUEST);
    assert_eq!(answer_of(&bench, id, question + 1, "once").await, StatusCode::NOT_FOUND, "another question");
    assert_eq!(say("once").await, StatusCode::NO_CONTENT);
    assert_eq!(say("once").await, StatusCode::NOT_FOUND, "a question is answered once");
    let told = events(listen(), is_done).await;
    assert!(types(&told).contains(&"answered"), "{told:?}");
    assert!(bench.page.home.path().join("workspace/one.md").exists());
    // Where nobody can answer there is a draft.
    assert_eq!(answer(bench.complete(&[("user", "And the other")], &json!({}))).await.0, StatusCode::OK);
    let (_, drafts) = bench.look("/v1/drafts").await;
    let draft = &drafts["drafts"][0];
    let (number, hash) = (draft["id"].as_i64().unwrap(), draft["hash"].as_str().unwrap());
    let path = format!("/v1/drafts/{number}/approve");
    let wrong: String = hash.chars().rev().collect();
    for wrong in [wrong.as_str(), "", "0"] {
        assert_eq!(bench.ask(&path, &json!({ "hash": wrong })).await.0, StatusCode::BAD_REQUEST);
    }
    assert!(!bench.page.home.path().join("workspace/two.md").exists());
    assert_eq!(bench.ask(&path, &json!({ "hash": hash })).await.1["state"], "sent");
    assert!(bench.page.home.path().join("workspace/two.md").exists());
    assert_eq!(bench.ask(&path, &json!({ "hash": hash })).await.0, StatusCode::BAD_REQUEST);
    assert_eq!(bench.ask("/v1/drafts/900/refuse", &json!({})).await.0, StatusCode::NOT_FOUND);
}

// SUR-030 SEC-077
#[tokio::test]
async fn a_question_and_a_draft_say_what_a_number_stands_for() {
    let script =
        "[[reply]]\ncalls = [{ name = \"memory_forget\", arguments = { key = 1 } }]\n[[reply]]\ntext = \"Done.\"\n";
    let config = "[tools]\ndefer = false\n[policy]\nask = [{ tool = \"memory_forget\" }]\n";
    let bench = ApiBench::new(&script.repeat(2), config).await;
    let memory = bench.page.agent.memory();
    memory.remember("allergy", "no nuts", limpid_core::Category::General, "test").await.unwrap();
    let (_, taken) = bench.ask("/v1/conversations/new/messages", &json!({ "text": "Tidy up" })).await;
    let id = taken["conversation"].as_str().unwrap();
    let after = taken["after"].as_str().unwrap();
    let listen = || bench.get(&format!("/v1/conversations/{id}/events?after={after}"));
    let told = events(listen(), |event| event["type"] == "question").await;
    let part = &told.last().unwrap().1["parts"][0];
    assert_eq!(part["about"], "memory 1, allergy: no nuts");
    let question = part["question"].as_u64().unwrap();
    assert_eq!(answer_of(&bench, id, question, "no").await, StatusCode::NO_CONTENT);
    events(listen(), is_done).await;
    assert_eq!(answer(bench.complete(&[("user", "Tidy up")], &json!({}))).await.0, StatusCode::OK);
    let (_, drafts) = bench.look("/v1/drafts").await;
    assert_eq!(drafts["drafts"][0]["about"], "memory 1, allergy: no nuts");
}

async fn answer_of(bench: &ApiBench, id: &str, question: u64, answer: &str) -> StatusCode {
    let body = json!({ "question": question, "answer": answer });
    bench.post(&format!("/v1/conversations/{id}/answers"), &body).send().await.unwrap().status()
}

// SUR-030
#[tokio::test]
async fn a_turn_is_stopped_and_a_command_is_carried_out() {
    let bench = ApiBench::new("[[reply]]\ntext = \"Once upon\"\nhang = \"end\"\n", "").await;
    let (_, taken) = bench.ask("/v1/conversations/new/messages", &json!({ "text": "tell" })).await;
    let (id, after) = (taken["conversation"].as_str().unwrap(), taken["after"].as_str().unwrap());
    let listen = || bench.get(&format!("/v1/conversations/{id}/events?after={after}"));
    events(listen(), |event| event["type"] == "text").await;
    assert_eq!(bench.ask(&format!("/v1/conversations/{id}/stop"), &json!({})).await.1, json!({ "stopped": true }));
    let told = events(listen(), is_done).await;
    assert_eq!(told.last().unwrap().1["outcome"], "cancelled");
    let (_, reply) = bench.ask(&format!("/v1/conversations/{id}/messages"), &json!({ "text": "/help" })).await;
    assert!(reply["reply"].as_str().unwrap().contains("/model"), "{reply}");
}

/// An app may number its messages in each conversation anew; a message that it sends again is taken once.
// SUR-030 LES-144 LES-145
#[tokio::test]
async fn a_key_is_of_its_conversation_and_begins_one_by_what_it_says() {
    let bench = ApiBench::new(&"[[reply]]\ntext = \"ok\"\n".repeat(6), "").await;
    let say = async |place: &str, text: &str, key: &str| {
        let body = json!({ "text": text, "key": key });
        let (status, taken) = bench.ask(&format!("/v1/conversations/{place}/messages"), &body).await;
        assert_eq!(status, StatusCode::ACCEPTED, "{taken}");
        let id = taken["conversation"].as_str().unwrap().to_owned();
        bench.page.agent.conversations().wait_idle(&ConversationId::new(&id)).await;
        id
    };
    let one = say("new", "hello a", "1").await;
    let two = say("new", "hello b", "1").await;
    assert_ne!(one, two, "another message began another conversation");
    assert_eq!(say("new", "hello a", "1").await, one, "the same message means the same conversation");
    for (id, text) in [(&one, "my PIN is 0815"), (&two, "what is on today"), (&two, "what is on today")] {
        assert_eq!(&say(id, text, "2").await, id);
    }
    for (id, first, second) in [(&one, "hello a", "my PIN is 0815"), (&two, "hello b", "what is on today")] {
        let (_, listed) = bench.look(&format!("/v1/conversations/{id}/messages")).await;
        let listed = listed["messages"].as_array().unwrap();
        let said: Vec<&str> = listed.iter().map(|one| one["text"].as_str().unwrap()).collect();
        assert_eq!(said, [first, "ok", second, "ok"]);
    }
    assert_eq!(bench.page.agent.store().conversations(10).await.unwrap().rows.len(), 2);
}

// SUR-036
#[tokio::test]
async fn numbers_are_told_to_whoever_may_read_them_and_nothing_else() {
    let mut bench =
        ApiBench::new("[[reply]]\ntext = \"ok\"\nusage = { input = 120, cached = 100, output = 9 }\n", "").await;
    assert_eq!(answer(bench.complete(&[("user", "hi")], &json!({}))).await.0, StatusCode::OK);
    let outside = bench.page.client.get(format!("{}/metrics", bench.page.url)).send().await.unwrap();
    assert_eq!(outside.status(), StatusCode::UNAUTHORIZED);
    bench.token = token(&bench.page, "numbers", ApiRole::Metrics);
    let response = bench.get("/metrics").send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    let text = response.text().await.unwrap();
    for line in [
        "limpid_path_tokens_total{path=\"chat-remote\",kind=\"input\"} 120",
        "limpid_path_tokens_total{path=\"chat-remote\",kind=\"cached\"} 100",
        "limpid_model_requests_total{model=\"openai/scripted\"} 1",
        "limpid_drafts_waiting 0",
    ] {
        assert!(text.lines().any(|known| known == line), "{line}: {text}");
    }
    assert_eq!(bench.look("/v1/conversations").await.0, StatusCode::FORBIDDEN);
}

// SUR-030
#[tokio::test]
async fn the_document_says_what_there_is_and_nothing_of_the_owners() {
    let bench =
        ApiBench::with("[[reply]]\ntext = \"ok\"\n", "[owner]\nname = \"Ada Lovelace\"\n", ApiRole::Program).await;
    let text = bench.get("/v1/openapi.json").send().await.unwrap().text().await.unwrap();
    assert_eq!(text, limpid_server::openapi());
    assert!(!text.contains("Lovelace") && !text.contains(&bench.page.home.path().display().to_string()), "{text}");
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["openapi"], "3.1.0");
    let operations =
        document["paths"].as_object().unwrap().values().flat_map(|path| path.as_object().unwrap().values());
    let names: Vec<&str> = operations.map(|operation| operation["operationId"].as_str().unwrap()).collect();
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len(), "{names:?}");
    // Whatever it names is opened by a token only.
    for (path, operations) in document["paths"].as_object().unwrap() {
        if path.starts_with("/v1/inbox/") {
            continue;
        }
        for method in operations.as_object().unwrap().keys() {
            let method = reqwest::Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let asked = bench.page.client.request(method, format!("{}{}", bench.page.url, path.replace("{id}", "1")));
            assert_eq!(asked.send().await.unwrap().status(), StatusCode::UNAUTHORIZED, "{path}");
        }
    }
    let paths: Vec<&String> = document["paths"].as_object().unwrap().keys().collect();
    insta::assert_debug_snapshot!(paths);
}
