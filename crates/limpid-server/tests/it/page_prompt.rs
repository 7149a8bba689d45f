//! What is read, at the page.

use reqwest::StatusCode;

use crate::kit::PageBench;

// SUR-022 PRO-056
#[tokio::test]
async fn the_next_prompt_and_what_was_sent_are_shown_with_their_sections_and_no_text_is_markup() {
    let bench = PageBench::new("[[reply]]\ntext = \"<script>back</script>\"\n", "").await;
    let own = bench.home.path().join("profiles/limpid/sections");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("soul.md"), "---\nstability: session\n---\nYou are <script>kind</script>.\n").unwrap();
    let next = bench.html("/prompt/next").await;
    assert!(
        next.contains("You are &#60;script&#62;kind&#60;/script&#62;.") && !next.contains("<script>kind"),
        "{next}"
    );
    assert!(next.contains("home:profiles/limpid/sections/soul.md"), "the file of a section is named");
    assert_eq!(next.matches("id=\"s-safety\"").count(), 1);
    assert!(next.contains("left out <span class=\"faint\">`soul_additions` is empty"), "and why one is not there");

    let told = bench.sent("/c/new/send", &[("text", "hi")]).await;
    let id = told["conversation"].as_str().unwrap();
    bench.pieces(id, "", |piece| piece["of"] == "reload").await;
    let thread = bench.html(&format!("/c/{id}")).await;
    let request = thread.split("href=\"/prompt/r").nth(1).unwrap().split('"').next().unwrap();
    let sent = bench.html(&format!("/prompt/r{request}")).await;
    assert!(sent.contains("&#60;script&#62;kind") && sent.contains("&#60;script&#62;back"), "{sent}");
    assert_eq!(bench.get("/prompt/r0").send().await.unwrap().status(), StatusCode::NOT_FOUND);
}
