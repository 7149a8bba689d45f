//! Drafts whose call is judged once more, outside of its turn: the question says no less than before.

use limpid_core::DraftState;
use limpid_store::{Audience, Draft};
use serde_json::json;

use crate::kit::agents::{bench as answering, calls, newest, says};
use crate::kit::effects::PageAndMail;
use crate::kit::{Bench, all, last};

const SCRIPT: &str = r#"
[[reply]]
calls = [{ id = "r", name = "read_page" }]
[[reply]]
calls = [{ id = "w", name = "write_file", arguments = { path = "RULES.md", content = "EVIL" } }]
[[reply]]
text = "Done."
"#;

/// A chat of the usual profile; another one of the home quotes the file.
// SEC-061 SEC-075
#[tokio::test]
async fn a_file_that_another_profile_quotes_is_what_the_agent_is_told_whoever_judges() {
    let bench = Bench::new(SCRIPT).await;
    let manifest =
        "base = \"picoclaw\"\ntitle = \"Mine\"\nabout = \"Mine.\"\n[order]\nfiles = [\"AGENTS.md\", \"RULES.md\"]\n";
    bench.write("profiles/mine/profile.toml", manifest);
    bench.write("workspace/RULES.md", "Be kind.\n");
    let agent = PageAndMail::new().agent(&bench);
    all(agent.chat(last("read the page")).await.unwrap()).await;
    let says_so = |draft: &Draft| assert!(draft.new.why.contains("change what the agent is told"), "{}", draft.new.why);
    let kept = agent.drafts().list(false).await.unwrap().rows.remove(0);
    says_so(&kept);
    let arguments = json!({ "path": "RULES.md", "content": "EVIL, too" }).to_string();
    says_so(&agent.drafts().edit(kept.id, &arguments).await.unwrap());
    bench.write("workspace/RULES.md", "Be kind. And brief.\n");
    let again = agent.drafts().approve(kept.id, None).await.unwrap();
    assert_eq!(again.state, DraftState::Open, "{}", again.detail);
    says_so(&again);
}

// SEC-075 SEC-101
#[tokio::test]
async fn a_task_that_waits_says_which_words_a_worker_learns_also_once_it_is_edited_or_others_read() {
    let (bench, sent) = answering("limpid", |request| {
        if newest(request).contains("Begin.") {
            calls(&[("research", json!({ "task": "Find a clinic for diabetes." }))])
        } else {
            says("Noted.")
        }
    })
    .await;
    bench.write("soul.md", "Ada has diabetes.");
    let agent = PageAndMail::new().agent(&bench);
    all(agent.chat(last("Begin.")).await.unwrap()).await;
    let kept = agent.drafts().list(false).await.unwrap().rows.remove(0);
    let told = "its task says “diabetes”, which you did not type here";
    assert!(kept.new.why.contains(told), "{}", kept.new.why);
    let arguments = json!({ "task": "Please find a clinic for diabetes." }).to_string();
    let edited = agent.drafts().edit(kept.id, &arguments).await.unwrap();
    assert_eq!(edited.new.why, kept.new.why);
    // What others read is asked about once more, and no less of it.
    agent.conversations().set_audience(&kept.new.conversation, Audience::Group).await.unwrap();
    let again = agent.drafts().approve(kept.id, None).await.unwrap();
    assert_eq!(again.state, DraftState::Open, "{}", again.detail);
    assert!(again.new.why.contains(told), "{}", again.new.why);
    agent.drafts().approve(kept.id, None).await.unwrap();
    assert!(sent.lock().unwrap().iter().any(|request| request.system().contains("research worker")), "a yes sends it");
}
