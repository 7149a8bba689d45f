//! Agents at the page.

use limpid_core::AgentState;
use reqwest::StatusCode;

use crate::kit::PageBench;

impl PageBench {
    /// The screen as soon as it shows this.
    async fn when(&self, path: &str, words: &str) -> String {
        let shown = async {
            loop {
                let screen = self.html(path).await;
                if screen.contains(words) {
                    return screen;
                }
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(std::time::Duration::from_secs(30), shown).await.expect(words)
    }
}

// SUR-024
#[tokio::test]
async fn an_agent_is_seen_at_work_and_stopped_and_its_words_are_claims() {
    let script = "[[reply]]\ncalls = [{ name = \"subagent\", arguments = { task = \"Look <b>there</b>.\", label = \"look\" } }]\n\
                  [[reply]]\ntext = [\"Half of </p><i>it</i>\", \"the rest\"]\nhang = \"end\"\n\
                  [[reply]]\ntext = \"Done.\"\n";
    let bench = PageBench::new(script, "[agent]\nprofile = \"picoclaw\"\n[tools]\ndefer = false\n").await;
    assert!(bench.html("/agents").await.contains("No agents yet."));
    bench.sent("/c/new/send", &[("text", "Look at it")]).await;
    let screen = bench.when("/agents", "<span class=\"tag good\">working</span>").await;
    assert!(screen.contains(">1 running<") && screen.contains("action=\"/agents/1/cancel\""), "{screen}");
    let one = bench.html("/agents/1").await;
    assert!(one.contains("Look &#60;b&#62;there&#60;/b&#62;.") && !one.contains("<b>there"), "{one}");
    assert_eq!(bench.leads("/agents/1/cancel", &[]).await, "/agents#a1");
    let screen = bench.when("/agents", ">No agents running<").await;
    assert!(screen.contains(">stopped<") && !screen.contains("/cancel\""), "{screen}");
    let state = bench.agent.agents().get(limpid_core::AgentId(1)).await.unwrap().state;
    assert_eq!(state, AgentState::Cancelled);
    for (path, method) in [("/agents/9", "get"), ("/agents/9/cancel", "post"), ("/agents/9/tell", "post")] {
        let request = if method == "get" { bench.get(path) } else { bench.post(path, &[("text", "hi")]) };
        assert_eq!(request.send().await.unwrap().status(), StatusCode::NOT_FOUND, "{path}");
    }
}
