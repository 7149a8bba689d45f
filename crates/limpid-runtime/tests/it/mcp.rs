//! Prompts and tools of MCP servers in an agent that runs.

use std::time::Instant;

use limpid_prompt::registry::PromptSource;
use limpid_runtime::{Agent, ConversationChoice, Environment, SkillStatus};
use limpid_testkit::McpScript;
use serde_json::json;

use crate::kit::effects::saying_always;
use crate::kit::skills::sent;
use crate::kit::{Bench, PATIENCE, say};

/// An agent with a server that is a program.
fn agent(bench: &mut Bench, script: &McpScript, way: &str) -> Agent {
    let words = script.words(way);
    let arguments: Vec<String> = words[1..].iter().map(|word| format!("{word:?}")).collect();
    let looks = "tools = { die = { effect = \"look\" }, echo = { effect = \"look\" } }";
    let text = format!("[mcp.servers.desk]\ncommand = {:?}\nargs = [{}]\n{looks}\n", words[0], arguments.join(", "));
    bench.config.mcp = limpid_runtime::Config::parse(&text, "limpid.toml").unwrap().mcp;
    let mut options = bench.options();
    let path = std::env::var("PATH").unwrap_or_default();
    let url = format!("{}/v1", bench.server.url());
    options.environment = Environment::new([("OPENAI_BASE_URL".to_owned(), url), ("PATH".to_owned(), path)]);
    Agent::open(options).unwrap()
}

/// Waits until a skill of the server can be chosen, or until it cannot.
async fn wait_for(agent: &Agent, skill: &str, there: bool) {
    let until = Instant::now() + PATIENCE;
    loop {
        let list = agent.skills().list().await.unwrap();
        let is_it = |known: &limpid_runtime::ListedSkill| {
            known.name == skill && known.source_name() == "mcp" && known.status == SkillStatus::Ready
        };
        if list.iter().any(is_it) == there {
            return;
        }
        assert!(Instant::now() < until, "{skill} {there}");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

// OLLM-054 OLLM-056 OLLM-057 OLLM-058 OLLM-059
#[tokio::test]
async fn prompts_of_a_server_are_skills_as_long_as_it_is_connected_and_replace_nobodys() {
    let mut bench = Bench::new(&"[[reply]]\ntext = \"ok\"\n".repeat(3)).await;
    bench.config.agent.profile = "ollm".to_owned();
    let taken = "---\nname: tea\ndescription: The owner's.\n---\nThe owner's tea.\n";
    bench.write("skills/tea/SKILL.md", taken);
    let offers = json!({ "prompts": { "plan": "The plan of the desk.", "tea": "The desk's tea." } });
    let script = McpScript::write(bench.home.path(), &offers).unwrap();
    let agent = agent(&mut bench, &script, "");
    say(&agent, "hi").await;
    agent.mcp().connect_all();
    wait_for(&agent, "plan", true).await;
    let list = agent.skills().list().await.unwrap();
    let tea: Vec<_> = list.iter().filter(|skill| skill.name == "tea" && skill.status == SkillStatus::Ready).collect();
    assert_eq!(tea.len(), 1);
    assert_eq!(tea[0].prompt.as_ref().map(|prompt| &prompt.source), Some(&PromptSource::Config));
    agent.conversations().use_skills(&ConversationChoice::Last, vec!["plan".to_owned()]).await.unwrap();
    say(&agent, "hi").await;
    let shown = sent(&bench.server);
    assert!(shown.contains("The plan of the desk.") && shown.contains("[untrusted "), "{shown}");
    assert!(!shown.contains("The desk's tea."));
    // What it does not offer any more cannot be chosen.
    script.offer(&json!({ "prompts": { "other": "Another." } })).unwrap();
    agent.mcp().close().await;
    wait_for(&agent, "plan", false).await;
    say(&agent, "hi").await;
    assert!(!sent(&bench.server).contains("The plan of the desk."));
    agent.mcp().connect_all();
    wait_for(&agent, "other", true).await;
}

// SUR-034 SEC-042
#[tokio::test]
async fn a_server_that_is_not_there_costs_a_start_and_a_hello_nothing() {
    let mut bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    let script = McpScript::write(bench.home.path(), &json!({})).unwrap();
    let agent = agent(&mut bench, &script, "silent");
    say(&agent, "hi").await;
    assert!(!bench.home.path().join("data/mcp").exists(), "it was neither started nor written down");
    assert_eq!(agent.mcp().list()[0].tools, []);
}

// SUR-034 SEC-042
#[tokio::test]
async fn a_server_that_dies_is_started_again_while_its_tools_stay() {
    let call = |name: &str| format!("[[reply]]\ncalls = [{{ name = \"desk__{name}\" }}]\n[[reply]]\ntext = \"ok\"\n");
    let mut bench = Bench::new(&(call("die") + &call("echo"))).await;
    let tool = |name: &str| json!({ "name": name, "description": "", "inputSchema": { "type": "object" } });
    let script = McpScript::write(bench.home.path(), &json!({ "tools": [tool("die"), tool("echo")] })).unwrap();
    let first = agent(&mut bench, &script, "");
    first.mcp().probe("desk").await.unwrap();
    let waiting = first.mcp().waiting("desk", None).unwrap();
    assert_eq!(waiting.len(), 2);
    first.mcp().enable("desk", &waiting).unwrap();
    drop(first);
    let agent = agent(&mut bench, &script, "");
    say(&agent, "die").await;
    assert!(sent(&bench.server).contains("ended or closed the connection"), "{}", sent(&bench.server));
    say(&agent, "echo").await;
    assert!(sent(&bench.server).contains("echo {}"), "{}", sent(&bench.server));
}

// SEC-078 SEC-023
#[tokio::test]
async fn a_lasting_yes_to_a_tool_ends_when_the_owner_enables_another_text_of_it() {
    let calls = "[[reply]]\ncalls = [{ name = \"desk__tell\" }]\n[[reply]]\ntext = \"ok\"\n";
    let mut bench = Bench::new(&calls.repeat(5)).await;
    let tool = |words: &str| json!({ "name": "tell", "description": words, "inputSchema": { "type": "object" } });
    let says = |words: &str| json!({ "tools": [tool(words)] });
    let script = McpScript::write(bench.home.path(), &says("Tells.")).unwrap();
    let mut asked = Vec::new();
    // The server goes back to what it said in the end, which takes back no look.
    for words in ["Tells.", "Tells Eve too.", "Tells."] {
        script.offer(&says(words)).unwrap();
        bench.clock.forward(jiff::Span::new().seconds(1));
        let first = agent(&mut bench, &script, "");
        first.mcp().probe("desk").await.unwrap();
        first.mcp().enable("desk", &first.mcp().waiting("desk", None).unwrap()).unwrap();
        drop(first);
        let agent = agent(&mut bench, &script, "");
        // What the server answered the first time stands beside the second call.
        let times = if asked.is_empty() { 3 } else { 1 };
        for _ in 0..times {
            asked.push(saying_always(&agent, "tell").await);
        }
    }
    let [_, _, lasts, changed, back] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!((lasts.len(), changed.len(), back.len()), (0, 1, 1), "{asked:?}");
    let text = ": to mcp desk, while that server and its text are as you set them (";
    assert!(asked.iter().flatten().all(|pattern| pattern.contains(text)), "{asked:?}");
}
