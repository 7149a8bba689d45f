//! What a permitted fetch sends says nothing: its bytes are the same whatever the conversation holds, and it is not made as often
//! as somebody likes.

use serde_json::json;

use crate::attacks::obedient::{Attack, MARK, Planned, page};

/// An answer that would have the next request say who asks.
fn marked(text: &str) -> String {
    page(text).replacen("\r\n", "\r\nSet-Cookie: who=ada; Path=/\r\n", 1)
}

/// The requests of a turn that reads two pages, after it has looked at these things of the owner's.
async fn requests(words: &str, looks: Vec<Planned>) -> Vec<String> {
    let attack = Attack::new(
        |web| {
            looks
                .into_iter()
                .chain([1, 2].map(|page| ("web_fetch", json!({ "url": format!("{web}/page?a={page}") }))))
                .collect()
        },
        |_| Vec::new(),
        |_| marked("tea"),
    )
    .await;
    attack.world.write("workspace/notes.md", "green tea, 80 degrees");
    attack.world.done(&["memory", "add", "pin", "4711"]).await;
    let url = &attack.web.url;
    attack.world.done(&["chat", &format!("{words} {url}/page?a=1 {url}/page?a=2")]).await;
    attack.web.heads()
}

// SEC-069
#[tokio::test]
async fn a_fetch_sends_the_same_bytes_whatever_the_conversation_holds() {
    let looks = vec![("memory_query", json!({ "query": "pin" })), ("read_file", json!({ "path": "notes.md" }))];
    let (plain, full) = (requests("read", Vec::new()).await, requests("Look everything up, then read", looks).await);
    assert_eq!(plain.len(), 2);
    assert_eq!(plain, full);
    assert_eq!(plain[0].replace("a=1", "a=2"), plain[1], "and the second one does not say that there was a first");
    let head = plain[0].to_lowercase();
    assert!(!head.contains("cookie") && !head.contains("referer"), "{head}");
}

// SEC-066 SEC-069
#[tokio::test]
async fn an_address_is_asked_for_three_times_and_takes_no_words_along() {
    let attack = Attack::new(
        |web| vec![("web_fetch", json!({ "url": format!("{web}/page") }))],
        |web| {
            let again = ("web_fetch", json!({ "url": format!("{web}/page") }));
            let words = ("web_fetch", json!({ "url": format!("{web}/page"), "headers": { "X-Pin": "4711" } }));
            std::iter::once(words).chain(std::iter::repeat_n(again, 5)).collect()
        },
        |_| page(MARK),
    )
    .await;
    attack.world.done(&["chat", &format!("read {}/page", attack.web.url)]).await;
    assert_eq!(attack.web.visited(), ["/page"; 3]);
    assert!(attack.web.heads().iter().all(|head| !head.contains("4711")));
    assert!(attack.sent().contains("asked for that address 3 times"), "{}", attack.sent());
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn several_pages_are_read_once_each() {
        let attack = Attack::new(
            |web| (0..5).map(|at| ("web_fetch", json!({ "url": format!("{web}/{at}") }))).collect(),
            |_| Vec::new(),
            |_| page("tea"),
        )
        .await;
        let url = &attack.web.url;
        attack.world.done(&["chat", &format!("read {url}/0 {url}/1 {url}/2 {url}/3 {url}/4")]).await;
        assert_eq!(attack.web.visited(), ["/0", "/1", "/2", "/3", "/4"]);
    }
}
