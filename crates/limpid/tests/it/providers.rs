//! Providers as limpid.toml describes them, and what they say of their models.

use std::fs;

use limpid_testkit::{Recorded, Recorder, Reply, Script};
use serde_json::{Value, json};

use crate::kit::World;

/// A reply in the protocol of the address that was asked; none elsewhere.
fn spoken(request: &Recorded, text: &str) -> Option<Reply> {
    request.wire()?;
    Script::parse(&format!("[[reply]]\ntext = {}\n", Value::from(text))).unwrap().reply.pop()
}

fn lists(models: &Value) -> Reply {
    let content_type = Some("application/json".to_owned());
    Reply { raw: Some(models.to_string()), content_type, ..Reply::default() }
}

/// A server whose list is this, and which answers every call.
async fn server(list: Value) -> Recorder {
    Recorder::serving(move |request| {
        if request.method == "GET" && request.path.contains("/models") {
            return Some(lists(&list));
        }
        spoken(request, "ok")
    })
    .await
    .unwrap()
}

/// A world without keys of its own.
async fn world() -> World {
    let mut world = World::new("[[reply]]\ntext = \"unused\"\n").await;
    world.unset("OPENAI_BASE_URL");
    world.unset("OPENAI_API_KEY");
    world
}

fn asked(server: &Recorder) -> usize {
    server.requests().iter().filter(|request| request.method == "GET").count()
}

// MOD-123
#[tokio::test]
async fn an_unknown_model_has_a_window_in_its_first_turn_and_the_answer_is_kept() {
    let world = world().await;
    let server = server(json!({"data": [{"id": "made-up-9", "max_model_len": 54_321}]})).await;
    world.write("limpid.toml", &format!("[provider.house]\nbase_url = \"{}/v1\"\n", server.url()));
    let run = world.run(&["chat", "--model", "house/made-up-9", "hi"]).await;
    assert_eq!((run.code, run.out.as_str()), (0, "ok\n"), "{}", run.err);
    assert!(!run.err.contains("window") && run.err.contains("no price is known for house/made-up-9"), "{}", run.err);
    assert_eq!(asked(&server), 1);
    world.done(&["chat", "--model", "house/made-up-9", "hi"]).await;
    assert_eq!(asked(&server), 1, "the answer of a moment ago is kept");
    let kept = fs::read_to_string(world.home.path().join("data/providers/house.json")).unwrap();
    assert!(kept.contains("54321"), "{kept}");
    // A kept answer that is broken is asked for again and hinders nobody.
    world.write("data/providers/house.json", "{\"asked_ms\":");
    world.done(&["chat", "--model", "house/made-up-9", "hi"]).await;
    assert_eq!(asked(&server), 2);
}

// SUR-002
#[tokio::test]
async fn a_server_that_wants_a_key_says_with_it_what_it_has() {
    let mut world = world().await;
    world.set("HOUSE_KEY", "sk-house-12345678");
    let server = Recorder::serving(|request| match request.header("authorization") {
        Some("Bearer sk-house-12345678") if request.method == "GET" => Some(lists(&json!({"data": [{"id": "large"}]}))),
        Some("Bearer sk-house-12345678") => spoken(request, "ok"),
        _ => Some(Reply { status: Some(401), ..Reply::default() }),
    })
    .await
    .unwrap();
    let house = format!("[provider.house]\nbase_url = \"{}/v1\"\napi_key_env = \"HOUSE_KEY\"\n", server.url());
    world.write("limpid.toml", &house);
    let run = world.run(&["chat", "hi"]).await;
    assert_eq!((run.code, run.out.as_str()), (0, "ok\n"), "{}", run.err);
    assert_eq!(server.calls()[0].json()["model"], "large");
}

// MOD-123
#[tokio::test]
async fn a_provider_without_a_list_is_used_all_the_same() {
    let world = world().await;
    let server = Recorder::serving(|request| spoken(request, "ok")).await.unwrap();
    world.write("limpid.toml", &format!("[provider.house]\nbase_url = \"{}/v1\"\n", server.url()));
    let run = world.run(&["chat", "--model", "house/made-up-9", "hi"]).await;
    assert!(run.code == 0 && run.err.contains("no window and no price are known for house/made-up-9"), "{}", run.err);
    world.done(&["chat", "--model", "house/made-up-9", "hi"]).await;
    assert_eq!(asked(&server), 1, "that there is none is kept as well");
}

// MOD-105
#[tokio::test]
async fn a_model_that_is_switched_off_names_those_that_the_provider_lists() {
    let world = world().await;
    let server = Recorder::serving(|request| {
        if request.method == "GET" {
            return Some(lists(&json!({"data": [{"id": "claude-sonnet-5-5"}, {"id": "claude-opus-5-5"}]})));
        }
        let said = json!({"type": "error", "error": {"type": "not_found_error", "message": "model: claude-3-opus"}});
        Some(Reply { status: Some(404), raw: Some(said.to_string()), ..Reply::default() })
    })
    .await
    .unwrap();
    world.write("limpid.toml", &format!("[provider.anthropic]\nbase_url = \"{}/v1\"\n", server.url()));
    let run = world.run(&["chat", "--model", "anthropic/claude-3-opus", "hi"]).await;
    assert_eq!(run.code, 4);
    assert!(run.err.contains("it lists: anthropic/claude-sonnet-5-5, anthropic/claude-opus-5-5."), "{}", run.err);
}

// MOD-124
#[tokio::test]
async fn the_default_is_the_first_that_the_provider_lists_and_never_one_that_ended() {
    let mut world = world().await;
    let server = server(json!({"data": [{"id": "zzz"}, {"id": "deepseek-v4-pro"}, {"id": "deepseek-v4-flash"}]})).await;
    world.set("DEEPSEEK_BASE_URL", &format!("{}/v1", server.url()));
    let answers = async || world.json(&["model", "list", "--json"]).await["answers"].clone();
    let best = answers().await;
    assert!(best == "deepseek/deepseek-v4-pro" || best == "deepseek/deepseek-v4-flash", "{best}");
    let name = best.as_str().unwrap();
    world.write("models.toml", &format!("[[model]]\nnames = [\"{name}\"]\nretires = \"2020-01-01\"\n"));
    let next = answers().await;
    assert!(next != best && next.as_str().unwrap().starts_with("deepseek/deepseek-v4"), "{next}");
    world.write("models.toml", "[[model]]\nnames = [\"deepseek/deepseek*\"]\nretires = \"2020-01-01\"\n");
    assert_eq!(answers().await, "deepseek/zzz", "what is listed and sold is better than what has ended");
}

// MOD-125
#[tokio::test]
async fn azure_bedrock_vertex_and_compatible_servers_work_by_configuration_alone() {
    let cases = [
        (
            "azure",
            "/openai/v1",
            "query = { api-version = \"v1\" }\napi_key_env = \"THE_KEY\"\n",
            "/openai/v1/responses?api-version=v1",
            ("api-key", "key-0123456789"),
        ),
        (
            "bedrock",
            "/v1",
            "api_key_env = \"THE_KEY\"\n",
            "/v1/chat/completions",
            ("authorization", "Bearer key-0123456789"),
        ),
        (
            "vertex",
            "/v1/projects/p/locations/l/publishers/google",
            "protocol = \"gemini\"\nkey_header = \"Authorization\"\napi_key_command = [\"sh\", \"-c\", \"echo token-$((40 + 2))-of-a-command\"]\n",
            "/v1/projects/p/locations/l/publishers/google/models/m:streamGenerateContent?alt=sse",
            ("authorization", "Bearer token-42-of-a-command"),
        ),
        (
            "house-claude",
            "/anthropic/v1",
            "protocol = \"anthropic\"\napi_key_env = \"THE_KEY\"\nheaders = { anthropic-beta = \"some-beta\" }\n",
            "/anthropic/v1/messages",
            ("anthropic-beta", "some-beta"),
        ),
        (
            "house-gpt",
            "/v1",
            "protocol = \"openai-responses\"\napi_key_env = \"THE_KEY\"\nextra = { service_tier = \"flex\" }\n",
            "/v1/responses",
            ("authorization", "Bearer key-0123456789"),
        ),
    ];
    for (provider, base, settings, path, (header, value)) in cases {
        let mut world = world().await;
        world.set("THE_KEY", "key-0123456789");
        let server = server(json!({"data": []})).await;
        world
            .write("limpid.toml", &format!("[provider.{provider}]\nbase_url = \"{}{base}\"\n{settings}", server.url()));
        let run = world.run(&["chat", "--model", &format!("{provider}/m"), "hi"]).await;
        assert_eq!((run.code, run.out.as_str()), (0, "ok\n"), "{provider}: {}", run.err);
        let call = server.requests().into_iter().find(|request| request.wire().is_some()).unwrap();
        assert_eq!((call.path.as_str(), call.header(header)), (path, Some(value)), "{provider}");
        if provider == "house-gpt" {
            assert_eq!(call.json()["service_tier"], "flex");
        }
        nowhere(&world, &["key-0123456789", "token-42-of-a-command"]);
    }
}

/// No file of the home holds one of these words.
fn nowhere(world: &World, words: &[&str]) {
    let mut folders = vec![world.home.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(bytes) = fs::read(&path) {
                let text = String::from_utf8_lossy(&bytes);
                for word in words {
                    assert!(!text.contains(word), "{} holds a secret", path.display());
                }
            }
        }
    }
}

// MOD-125
#[tokio::test]
async fn a_key_that_a_command_prints_is_in_no_answer_that_is_kept() {
    let world = world().await;
    let server = Recorder::serving(|request| {
        // A server that repeats what it was sent.
        spoken(request, &format!("you sent {}", request.header("authorization").unwrap_or_default()))
    })
    .await
    .unwrap();
    let command = "api_key_command = [\"sh\", \"-c\", \"printf token-%s-9f3kX2mQ7vB4tL8w 42\"]";
    world.write("limpid.toml", &format!("[provider.house]\nbase_url = \"{}/v1\"\n{command}\n", server.url()));
    let run = world.run(&["chat", "--model", "house/m", "hi"]).await;
    assert_eq!((run.code, run.out.as_str()), (0, "you sent Bearer [secret key of house]\n"), "{}", run.err);
    nowhere(&world, &["token-42-9f3kX2mQ7vB4tL8w"]);
}

// MOD-125
#[tokio::test]
async fn a_command_that_prints_no_key_says_so_and_what_it_said_is_not_shown() {
    let world = world().await;
    let server = server(json!({"data": []})).await;
    let command = "api_key_command = [\"sh\", \"-c\", \"echo half-a-token; exit 7\"]";
    world.write("limpid.toml", &format!("[provider.house]\nbase_url = \"{}/v1\"\n{command}\n", server.url()));
    let run = world.run(&["chat", "--model", "house/m", "hi"]).await;
    assert_eq!(run.code, 4, "{}", run.err);
    assert!(run.err.contains("api_key_command `sh …` failed (exit status: 7)"), "{}", run.err);
    assert!(!run.err.contains("half-a-token"), "{}", run.err);
    assert!(server.requests().is_empty());
    let wrong = "[provider.house]\nbase_url = \"http://x\"\nprotocol = \"grpc\"\n";
    world.write("limpid.toml", wrong);
    let run = world.run(&["chat", "hi"]).await;
    assert!(run.code == 3 && run.err.contains("openai-responses"), "{}", run.err);
}

// SUR-002
#[tokio::test]
async fn who_asks_is_told_where_a_server_of_theirs_has_no_model_and_another_one_answers() {
    let mut world = world().await;
    world.unset("OPENAI_API_KEY");
    world.unset("OPENAI_BASE_URL");
    let server = server(json!({"data": [{"id": "large"}]})).await;
    let other = format!("[provider.other]\nbase_url = \"{}/v1\"\n", server.url());
    // No server listens on port 9 of this machine.
    world.write("limpid.toml", &format!("[provider.house]\nbase_url = \"http://ada:secret@127.0.0.1:9/v1\"\n{other}"));
    let told = "house at http://127.0.0.1:9/v1 offers no model, so other/large is used";
    let run = world.run(&["chat", "hi"]).await;
    assert!(run.code == 0 && run.err.contains(told), "{}", run.err);
    let chosen = world.run(&["chat", "--model", "other/large", "hi"]).await;
    assert!(chosen.code == 0 && !chosen.err.contains("offers no model"), "{}", chosen.err);
    world.write("limpid.toml", &other);
    let alone = world.run(&["chat", "hi"]).await;
    assert!(alone.code == 0 && !alone.err.contains("offers no model"), "{}", alone.err);
}
