//! A provider that fails, breaks off or says nothing: a clear error, a documented exit code, and the message is kept.

use crate::kit::World;

/// Asks a server that answers like this, once; returns what the person reads.
async fn ask(reply: &str) -> String {
    let world = World::new(&format!("[[reply]]\n{reply}\n")).await;
    world.write("limpid.toml", "[limits]\ntries = 1\nsilence_seconds = 1\n");
    let run = world.run(&["chat", "Remember the milk."]).await;
    assert_eq!(run.code, 4, "{}", run.err);
    let said = world.conversation().await;
    assert_eq!(said[0], ("user".to_owned(), "Remember the milk.".to_owned()), "nothing is lost");
    format!("out: {}\n{}", run.out, run.err).replace(&world.recorder.url(), "http://[server]")
}

// SEC-042 SUR-011
#[tokio::test]
async fn html() {
    let reply = r#"raw = "<!doctype html><title>Sign in</title>"
content_type = "text/html""#;
    insta::assert_snapshot!(ask(reply).await);
}

// SEC-042 SUR-011
#[tokio::test]
async fn half_json() {
    insta::assert_snapshot!(ask(r#"raw = 'data: {"choices":[{"delta":{"content":"Hal'"#).await);
}

// SEC-042 SUR-011
#[tokio::test]
async fn nothing() {
    insta::assert_snapshot!(ask(r#"raw = """#).await);
}

// SEC-042 SUR-011
#[tokio::test]
async fn a_cut_stream() {
    insta::assert_snapshot!(ask("text = [\"Milk \", \"is white.\"]\ncut = 300").await);
}

// MOD-104
#[tokio::test]
async fn an_answer_that_broke_off_is_shown_as_such() {
    let world = World::new("[[reply]]\ntext = [\"Milk \", \"is\"]\nfinish = \"error\"\n").await;
    assert_eq!(world.run(&["chat", "What is milk?"]).await.code, 4);
    let shown = world.run(&["conversation", "show", "last"]).await.out;
    assert!(shown.contains("> Milk is\n\n> (incomplete: server: "), "{shown}");
    let exported = world.run(&["conversation", "show", "last", "--json"]).await.out;
    assert!(exported.contains("\"incomplete\": \"server: "), "{exported}");
}

// SEC-042 SUR-011
#[tokio::test]
async fn silence() {
    insta::assert_snapshot!(ask(r#"hang = "start""#).await);
}

// SEC-042 SUR-011
#[tokio::test]
async fn silence_in_the_middle() {
    insta::assert_snapshot!(ask("text = \"Milk is\"\nhang = \"end\"").await);
}

// SEC-042 SUR-011
#[tokio::test]
async fn a_wrong_key() {
    let reply = r#"status = 401
body = '{"error":{"message":"Incorrect API key provided: sk-test-0123456789."}}'"#;
    let told = ask(reply).await;
    assert!(!told.contains("sk-test-0123456789"), "a key is never shown: {told}");
    insta::assert_snapshot!(told);
}

// SEC-042 SUR-011
#[tokio::test]
async fn too_many_requests() {
    let reply = r#"status = 429
body = '{"error":{"message":"slow down"}}'"#;
    insta::assert_snapshot!(ask(reply).await);
}

// SEC-042 SUR-011
#[tokio::test]
async fn a_fault_of_the_server() {
    insta::assert_snapshot!(ask("status = 500\nbody = 'upstream is down'").await);
}

// SEC-042 SUR-011
#[tokio::test]
async fn a_server_that_is_not_there() {
    let mut world = World::new("[[reply]]\ntext = \"ok\"\n").await;
    world.unset("OPENAI_BASE_URL");
    // Port 1 of the loopback: nobody listens there.
    world.set("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    world.write("limpid.toml", "[limits]\ntries = 1\n");
    let run = world.run(&["chat", "--model", "openai/any", "Remember the milk."]).await;
    assert_eq!(run.code, 4);
    assert_eq!(world.conversation().await[0].1, "Remember the milk.");
    insta::assert_snapshot!(run.err);
}

// SEC-042 KAI-110
#[tokio::test]
async fn a_passing_fault_is_tried_again() {
    let world = World::new("[[reply]]\nstatus = 503\n\n[[reply]]\ntext = \"Here.\"\n").await;
    let run = world.run(&["chat", "hi"]).await;
    assert_eq!((run.code, run.out.as_str()), (0, "Here.\n"));
    assert_eq!(world.recorder.calls().len(), 2);
    insta::assert_snapshot!(run.err);
}
