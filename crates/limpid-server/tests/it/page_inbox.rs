//! What came in, at the page.

use limpid_runtime::inbox::IngestKind;
use reqwest::StatusCode;

use crate::kit::{PageBench, QUIET};

// SUR-024
#[tokio::test]
async fn queues_and_how_far_they_were_read_are_shown_and_an_item_is_put_aside() {
    let closed = PageBench::new(QUIET, "").await;
    assert!(closed.html("/inbox").await.contains("Nothing is connected yet."));

    let bench = PageBench::new(QUIET, "[inbox]\nsms = true\n").await;
    let screen = bench.html("/inbox").await;
    assert!(screen.contains("No new items.") && screen.contains("0 of 100"), "{screen}");
    for text in ["Call <script>me</script> back", "Bread is out"] {
        let body = serde_json::json!({ "from": "Eve </span><b>", "text": text }).to_string();
        bench.agent.inbox().ingest(IngestKind::Sms, body.as_bytes(), None).await.unwrap();
    }
    let screen = bench.html("/inbox").await;
    let row = screen.split_once("Text messages").unwrap().1.split_once("</tr>").unwrap().0;
    assert!(row.contains("nothing yet") && row.contains("handed in") && row.contains("2 of 100"), "{row}");
    assert!(screen.contains("<span class=\"foreign\">Call &#60;script&#62;me"), "{screen}");
    assert!(!screen.contains("<script>me") && !screen.contains("Eve </span><b>"), "{screen}");
    let found = bench.html("/inbox?q=bread").await;
    assert!(found.contains("Bread is out") && !found.contains("Call &#60;"), "{found}");
    assert!(bench.html("/inbox?q=boat").await.contains("No item has the words"));

    bench.leads("/inbox/1/done", &[]).await;
    let screen = bench.html("/inbox").await;
    assert!(
        !screen.contains("Call &#60;") && screen.contains("Bread is out") && screen.contains("1 of 100"),
        "{screen}"
    );
    assert!(bench.html("/inbox?all=true").await.contains("Call &#60;"));
    // A heartbeat has read up to the other one.
    bench.agent.store().consume(&[limpid_store::ItemId(2)], 0).await.unwrap();
    let screen = bench.html("/inbox").await;
    assert!(screen.contains("data-label=\"Read up to \">11 Apr, 12:00<"), "{screen}");
    assert_eq!(bench.post("/inbox/9/done", &[]).send().await.unwrap().status(), StatusCode::NOT_FOUND);
    let unknown = bench.post("/inbox/check", &[("address", "nobody@example.org")]).send().await.unwrap();
    assert_ne!(unknown.status(), StatusCode::SEE_OTHER);
}
