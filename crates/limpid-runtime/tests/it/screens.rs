//! Who gets screens in answers, and who is refused.

use std::sync::Arc;

use limpid_core::ToolProtocol;
use limpid_model::script::Script;
use limpid_model::{Model, ModelCard, ScriptedModel};
use limpid_runtime::ui::can_be_interactive;
use limpid_runtime::{Agent, AgentOptions, ChatRequest, PreviewRequest};

use crate::kit::{Bench, all, new_chat};

const CONFIG: &str = "[agent]\nprofile = \"kai\"\n[chat]\nui_mode = \"dynamic\"\n";

/// An agent with a model of which this is known.
async fn agent(card: ModelCard) -> (Bench, Agent) {
    let mut bench = Bench::new("[[reply]]\ntext = \"ok\"\n").await;
    bench.config = limpid_runtime::Config::parse(CONFIG, "limpid.toml").unwrap();
    let script =
        Script::parse("[[reply]]\ntext = \"ok\"\n[[reply]]\ntext = \"ok\"\n[[reply]]\ntext = \"ok\"\n").unwrap();
    let model: Arc<dyn Model> = Arc::new(ScriptedModel::with_card(card, script));
    let agent = Agent::open(AgentOptions { model: Some(model), ..bench.options() }).unwrap();
    (bench, agent)
}

fn card(local: bool, tools: ToolProtocol) -> ModelCard {
    ModelCard { provider: "scripted".to_owned(), id: "small".to_owned(), local, tools, ..ModelCard::default() }
}

async fn system(agent: &Agent, path: Option<&str>) -> String {
    let request = PreviewRequest { path: path.map(str::to_owned), ..PreviewRequest::default() };
    let preview = agent.preview(request).await.unwrap();
    preview.prompt.messages().iter().map(|message| message.text().to_owned()).collect::<Vec<_>>().join("\n")
}

// KAI-108
#[tokio::test]
async fn a_local_model_and_one_without_tools_are_refused_interactive_mode_and_asked_for_no_screens() {
    for (card, why) in [
        (card(true, ToolProtocol::Native), Some("runs on this machine")),
        (card(false, ToolProtocol::None), Some("cannot call tools")),
        (card(false, ToolProtocol::Native), None),
    ] {
        let (_bench, agent) = agent(card).await;
        assert_eq!(can_be_interactive(&agent).await, why.is_none(), "{why:?}");
        let asked = agent.chat(ChatRequest { interactive: true, ..new_chat("begin") }).await;
        let Some(why) = why else {
            let handle = asked.unwrap();
            assert!(!system(&agent, Some("heartbeat")).await.contains("## Dynamic UI"), "a run has no screens");
            assert!(system(&agent, None).await.contains("## Dynamic UI"));
            all(handle).await;
            continue;
        };
        assert!(asked.err().unwrap().to_string().contains(why));
        assert!(agent.store().conversations(9).await.unwrap().rows.is_empty());
        assert!(!system(&agent, None).await.contains("kai-ui"), "{why}");
    }
}
