//! What is read, at the page.

use reqwest::StatusCode;

use crate::kit::PageBench;

// SUR-022 PRO-056
#[tokio::test]
async fn the_next_prompt_and_what_was_sent_are_shown_with_their_sections_and_no_text_is_markup() {
    let bench = PageBench::new("[[reply]]\ntext = \"<script>back</script>\"\n[[reply]]\ntext = \"Again.\"\n", "").await;
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
    let left_out = next.split("<span class=\"name\">soul-additions</span>").nth(1).unwrap();
    let left_out = left_out.split("</li>").next().unwrap();
    assert!(left_out.contains(">left out<") && left_out.contains("<code>soul_additions</code> is empty"), "{left_out}");
    assert!(next.contains("data-st=\"session\" data-for=\"safety\"><title>safety: "), "each section is on the bar");

    let told = bench.sent("/c/new/send", &[("text", "hi")]).await;
    let id = told["conversation"].as_str().unwrap();
    let pieces = bench.pieces(id, "", |piece| piece["of"] == "reload").await;
    let thread = bench.html(&format!("/c/{id}")).await;
    let request = thread.split("href=\"/prompt/r").nth(1).unwrap().split('"').next().unwrap();
    let sent = bench.html(&format!("/prompt/r{request}")).await;
    assert!(sent.contains("&#60;script&#62;kind") && sent.contains("&#60;script&#62;back"), "{sent}");
    bench.sent(&format!("/c/{id}/send"), &[("text", "and again")]).await;
    let mark = pieces.last().unwrap()["mark"].as_str().unwrap();
    bench.pieces(id, mark, |piece| piece["of"] == "reload").await;
    let next = bench.html(&format!("/prompt/next?c={id}")).await;
    assert!(next.contains("Unchanged since the last request up to here"), "{next}");
    assert!(next.contains("Messages 1 to 4") && next.contains("Unchanged since the last request"), "{next}");
    for screen in [&next, &sent] {
        let mut ids: Vec<&str> = screen.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all, "no id stands twice: {ids:?}");
    }
    assert_eq!(bench.get("/prompt/r0").send().await.unwrap().status(), StatusCode::NOT_FOUND);
}
