//! The mode of heartbeats and tasks: assistant, whatever mode the owner talks in, unless they want another for runs.

use crate::kit::Bench;
use limpid_core::Tier;
use limpid_core::task::TaskKind;
use limpid_runtime::tasks::{TaskRequest, When};
use limpid_runtime::{Agent, Config, PreviewRequest};

const REPLIES: &str = "[[reply]]\ntext = \"HEARTBEAT_OK\"\n[[reply]]\ntext = \"Watered.\"\n";

/// The modes whose template stands in each request: of the heartbeat, then of a task.
async fn modes(config: &str) -> Vec<Vec<String>> {
    let mut bench = Bench::new(REPLIES).await;
    let base = "model = \"openai/scripted\"\n[agent]\nprofile = \"ollm\"\nmode = \"developer\"\n";
    bench.config = Config::parse(&format!("{base}{config}"), "limpid.toml").unwrap();
    let agent = bench.agent();
    let shown = [preview(&agent, "heartbeat").await, preview(&agent, "task").await];
    agent.jobs().run_heartbeat().await.unwrap();
    let task = TaskRequest {
        key: None,
        description: "Water".to_owned(),
        prompt: "Water the plants.".to_owned(),
        kind: TaskKind::Agent,
        when: When::In(60),
        zone: None,
        missed: None,
        conversation: None,
    };
    agent.tasks().add(task).await.unwrap();
    agent.jobs().run_task("1").await.unwrap();
    let sent: Vec<String> = bench.server.calls().iter().map(limpid_testkit::Recorded::system).collect();
    assert_eq!(sent, shown, "what is shown of a run is what it sends");
    let profile = agent.profiles().all().unwrap().get("ollm").cloned().unwrap();
    let first_line = |mode: &str| {
        let form = profile.mode(mode, Tier::ALL[2]).unwrap().unwrap().form.source.clone();
        let path = form.path.strip_prefix("ollm/").unwrap().to_owned();
        let text = limpid_runtime::profiles::shipped_text(&format!("ollm/{path}")).unwrap();
        text.lines().next().unwrap().to_owned()
    };
    let all = ["assistant", "developer", "planning", "debugger"];
    let of = |text: &String| -> Vec<String> {
        all.iter().filter(|mode| text.contains(&first_line(mode))).map(|mode| (*mode).to_owned()).collect()
    };
    sent.iter().map(of).collect()
}

async fn preview(agent: &Agent, path: &str) -> String {
    let request = PreviewRequest {
        path: Some(path.to_owned()),
        text: "Water the plants.".to_owned(),
        ..PreviewRequest::default()
    };
    agent.preview(request).await.unwrap().prompt.messages()[0].text().to_owned()
}

// OLLM-034 OLLM-010
#[tokio::test]
async fn runs_are_in_assistant_mode_unless_the_owner_sets_another_for_them() {
    assert_eq!(modes("").await, [["assistant"], ["assistant"]]);
    let set = "[heartbeat]\nmode = \"planning\"\n[scheduling]\nmode = \"debugger\"\n";
    assert_eq!(modes(set).await, [["planning"], ["debugger"]]);
}
