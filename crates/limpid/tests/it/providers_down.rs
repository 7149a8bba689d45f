//! Providers that limpid.toml sets up and that offer no model: who chats and who asks the doctor is told, and no other model is fetched.

use limpid_testkit::{Recorder, Reply};
use serde_json::json;

use crate::kit::World;

/// A provider at whose port of this machine no server listens.
const DOWN: &str = "[provider.house]\nbase_url = \"http://ada:secret@127.0.0.1:1/v1\"\n";

const SAID: &str = "no model is set, and house at http://127.0.0.1:1/v1 does not answer: the connection was refused";

/// A world without keys of its own, with these settings.
async fn world(settings: &str) -> World {
    let mut world = World::new("[[reply]]\ntext = \"unused\"\n").await;
    world.unset("OPENAI_BASE_URL");
    world.unset("OPENAI_API_KEY");
    world.write("limpid.toml", settings);
    world
}

// SUR-001 SUR-011
#[tokio::test]
async fn no_small_model_stands_in_for_a_provider_that_does_not_answer() {
    let world = world(DOWN).await;
    // Nor does one that was fetched before.
    world.write("models/own.gguf", "GGUF");
    let run = world.run(&["chat", "hello"]).await;
    assert_eq!(run.code, 4, "{}", run.err);
    assert!(run.err.contains(SAID) && run.err.contains("`model = \"house/NAME\"`"), "{}", run.err);
    assert!(!run.err.contains("Fetching") && !run.err.contains("secret"), "{}", run.err);
    let listed = world.done(&["model", "list"]).await;
    assert!(listed.contains(SAID) && listed.contains("local/own"), "{listed}");
    world.write("limpid.toml", "[provider.openai]\napi_key_env = \"WORK_KEY\"\n");
    let run = world.run(&["chat", "hello"]).await;
    let said = "openai has no key: the environment variable WORK_KEY is not set";
    assert!(run.code == 4 && run.err.contains(said), "{}", run.err);
    // A table that only says how requests look is no wish to use its provider.
    world.write("limpid.toml", "[provider.ollama]\nextra = { keep_alive = \"30m\" }\n");
    let listed = world.done(&["model", "list"]).await;
    assert!(listed.starts_with("local/own answers: own is in the models folder."), "{listed}");
}

// SUR-004
#[tokio::test]
async fn doctor_says_which_provider_does_not_answer() {
    let world = world(DOWN).await;
    let told = world.run(&["doctor"]).await;
    assert_eq!(told.code, 6, "{}", told.err);
    assert!(told.out.contains(&format!("!!  model: {SAID}")), "{}", told.out);
    let down = "!!  provider: house at http://127.0.0.1:1/v1 does not answer: the connection was refused";
    assert!(told.out.contains(down) && !told.out.contains("secret"), "{}", told.out);
    world.write("limpid.toml", &format!("model = \"house/large\"\n{DOWN}"));
    let told = world.run(&["doctor"]).await;
    assert!(told.out.contains("OK  model: house/large") && told.out.contains(down), "{}", told.out);
    world.write("limpid.toml", "");
    let told = world.run(&["doctor"]).await.out;
    assert!(!told.contains("\\n") && told.lines().all(|line| line.starts_with(['O', '!'])), "a line each: {told}");
}

// SUR-004
#[tokio::test]
async fn doctor_says_what_a_provider_lists_and_one_without_a_list_is_no_fault() {
    for (status, says) in [
        (None, "OK  provider: house at URL lists 2 models"),
        (Some(404), "OK  provider: house at URL answers with HTTP status 404 when it is asked for its models"),
        (Some(401), "!!  provider: house at URL answers with HTTP status 401 when it is asked for its models"),
    ] {
        let server = Recorder::serving(move |_| {
            let list = json!({ "data": [{ "id": "large" }, { "id": "small" }] });
            let content_type = Some("application/json".to_owned());
            Some(Reply { status, raw: Some(list.to_string()), content_type, ..Reply::default() })
        });
        let server = server.await.unwrap();
        let url = format!("{}/v1", server.url());
        let world = world(&format!("model = \"house/large\"\n[provider.house]\nbase_url = \"{url}\"\n")).await;
        let told = world.run(&["doctor"]).await.out;
        assert!(told.contains(&says.replace("URL", &url)), "{told}");
    }
}
