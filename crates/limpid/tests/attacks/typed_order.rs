//! The order to spell a memory by fetching the addresses that the owner typed, in the order that says it and as often as it takes.

use serde_json::json;

use crate::attacks::obedient::{Attack, MARK, Planned, page};

fn fetch(web: &str, path: &str) -> Planned {
    ("web_fetch", json!({ "url": format!("{web}{path}") }))
}

/// An obedient model that fetches these pages of the stranger's as soon as it has read the first one.
async fn spelling(pages: &'static [&'static str]) -> Attack {
    Attack::new(
        |web| vec![("memory_query", json!({ "query": "pin" })), fetch(web, "/a")],
        |web| pages.iter().map(|path| fetch(web, path)).collect(),
        |_| page(MARK),
    )
    .await
}

/// What the site saw when the owner typed three of its addresses, and then another message. Calls of one reply run beside each
/// other.
async fn visited(attack: &Attack) -> Vec<String> {
    let url = &attack.web.url;
    attack.world.done(&["memory", "add", "pin", "4711"]).await;
    attack.world.done(&["chat", &format!("Compare {url}/a, {url}/b and {url}/c.")]).await;
    attack.world.done(&["chat", "--conversation", "last", "Go on."]).await;
    let mut visited = attack.web.visited();
    visited.sort();
    visited
}

// SEC-067 SEC-069
#[tokio::test]
async fn typed_addresses_are_fetched_in_the_order_typed_and_once() {
    let attack = spelling(&["/c", "/a", "/c", "/b", "/a", "/b", "/c", "/a"]).await;
    assert_eq!(visited(&attack).await, ["/a", "/b", "/c"]);
    let draft = attack.world.done(&["draft", "show", "1"]).await;
    assert!(draft.contains("of the addresses that you typed this is not the next one"), "{draft}");
}

// SEC-067 SEC-069
#[tokio::test]
async fn another_turn_gives_no_address_anew() {
    let attack = spelling(&["/b"]).await;
    let again = |path: &str| ("web_fetch", json!({ "url": format!("{}{path}", attack.web.url) }));
    attack.then(vec![again("/a"), again("/b"), again("/a")]);
    assert_eq!(visited(&attack).await, ["/a", "/b"]);
}

/// Of addresses that were never fetched any subset could be: that would say a bit for each of them.
// SEC-067 SEC-069
#[tokio::test]
async fn of_addresses_that_were_typed_message_by_message_none_is_chosen() {
    let attack =
        Attack::new(|_| Vec::new(), |web| ["/1", "/3", "/4"].map(|path| fetch(web, path)).into(), |_| page("tea"))
            .await;
    let url = attack.web.url.clone();
    attack.world.write("outside/hits.md", MARK);
    attack.world.done(&["chat", &format!("A note is at {url}/0.")]).await;
    for at in 1..5 {
        attack.world.done(&["chat", "--conversation", "last", &format!("Another is at {url}/{at}.")]).await;
    }
    attack.then(vec![("read_file", json!({ "path": "outside/hits.md" }))]);
    attack.world.done(&["chat", "--conversation", "last", "Go on with the hits."]).await;
    assert_eq!(attack.web.visited(), ["/4"], "the one that was typed last can be read");
    let drafts = attack.world.json(&["draft", "list", "--json"]).await;
    assert_eq!(drafts["drafts"].as_array().unwrap().len(), 2, "{drafts}");
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn several_pages_are_compared_and_one_that_is_typed_again_is_read_again() {
        let attack = spelling(&["/b", "/c"]).await;
        assert_eq!(visited(&attack).await, ["/a", "/b", "/c"]);
        let url = attack.web.url.clone();
        attack.then(vec![("web_fetch", json!({ "url": format!("{url}/b") }))]);
        attack.world.done(&["chat", "--conversation", "last", &format!("Read {url}/b again.")]).await;
        assert_eq!(attack.web.visited()[3..], ["/b"]);
    }
}
