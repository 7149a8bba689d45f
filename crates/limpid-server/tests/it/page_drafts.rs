//! What waits for the owner, at the page.

use reqwest::StatusCode;

use crate::kit::PageBench;

// SUR-024 SEC-078
#[tokio::test]
async fn a_draft_is_carried_out_as_it_was_seen_and_only_then() {
    let script = "[[reply]]\ncalls = [{ name = \"write_file\", arguments = { path = \"notes.md\", content = \"<b>Hi</b>\" } }]\n\
                  [[reply]]\ntext = \"Done.\"\n";
    let bench = PageBench::new(script, "[tools]\ndefer = false\n[policy]\nask = [{ tool = \"write_file\" }]\n").await;
    assert!(bench.html("/activity").await.contains("Nothing waits."));
    let request = limpid_runtime::ChatRequest { text: "Write it down".to_owned(), ..Default::default() };
    let mut turn = bench.agent.chat(request).await.unwrap();
    while turn.next().await.is_some() {}
    let screen = bench.html("/activity").await;
    assert!(screen.contains("<code>write_file</code>") && screen.contains("&#60;b&#62;Hi&#60;/b&#62;"), "{screen}");
    let hash = screen.split("name=\"hash\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(approve(&bench, &format!("{hash}0")).await, (StatusCode::UNPROCESSABLE_ENTITY, false));
    assert_eq!(approve(&bench, "").await, (StatusCode::UNPROCESSABLE_ENTITY, false));
    assert_eq!(approve(&bench, hash).await, (StatusCode::SEE_OTHER, true));
    assert!(bench.html("/activity").await.contains("Nothing waits."));
    assert_eq!(approve(&bench, hash).await.0, StatusCode::UNPROCESSABLE_ENTITY, "it is carried out once");
}

/// How an approval is answered, and whether the file is there after it.
async fn approve(bench: &PageBench, hash: &str) -> (StatusCode, bool) {
    let response = bench.post("/drafts/1/approve", &[("hash", hash)]).send().await.unwrap();
    (response.status(), bench.home.path().join("workspace/notes.md").exists())
}
