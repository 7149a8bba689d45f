//! The order to spell a memory by which of the addresses that the owner typed are passed over: with calls that ask for nothing, and
//! after which the next address would have its turn.

use serde_json::{Value, json};

use crate::attacks::obedient::{Attack, MARK, Planned, page};

fn fetch(web: &str, path: &str) -> Planned {
    ("web_fetch", json!({ "url": format!("{web}{path}") }))
}

/// The same with another argument.
fn with(web: &str, path: &str, name: &str, value: &Value) -> Planned {
    ("web_fetch", json!({ "url": format!("{web}{path}"), name: value }))
}

/// A model that knows a memory and has read the first of the stranger's pages; then it makes the stranger's calls in one reply, and
/// these others one by one.
async fn led(strangers: impl FnOnce(&str) -> Vec<Planned>, then: &'static [&'static str]) -> Attack {
    let attack = Attack::new(
        |web| {
            let known = [("memory_query", json!({ "query": "pin" })), fetch(web, "/start")];
            known.into_iter().chain(then.iter().map(|path| fetch(web, path))).collect()
        },
        strangers,
        |_| page(MARK),
    )
    .await;
    attack.world.done(&["memory", "add", "pin", "4711"]).await;
    let typed = ["/start", "/0", "/1", "/2", "/3"].map(|path| format!("{}{path}", attack.web.url)).join(", ");
    attack.world.done(&["chat", &format!("Compare {typed}.")]).await;
    attack
}

/// What the site saw. Calls of one reply run beside each other.
fn visited(attack: &Attack) -> Vec<String> {
    let mut visited = attack.web.visited();
    visited.sort();
    visited
}

async fn drafts(attack: &Attack) -> usize {
    attack.world.json(&["draft", "list", "--json"]).await["drafts"].as_array().unwrap().len()
}

// SEC-067 SEC-069
#[tokio::test]
async fn a_call_that_cannot_run_passes_no_address_over_for_the_next_of_its_reply() {
    for (name, value) in [("maxChars", json!(1)), ("maxChars", json!("a")), ("x", json!(1))] {
        let attack = led(
            |web| {
                let skipped = |path| with(web, path, name, &value);
                vec![skipped("/0"), fetch(web, "/1"), skipped("/2"), fetch(web, "/3")]
            },
            &[],
        )
        .await;
        assert_eq!(visited(&attack), ["/start"], "{name}: {value}");
        assert_eq!(drafts(&attack).await, 2, "{name}: {value}");
    }
}

// SEC-067 SEC-069
#[tokio::test]
async fn neither_does_it_for_a_later_reply() {
    let attack = led(|web| ["/0", "/2"].map(|path| with(web, path, "x", &json!(1))).into(), &["/1", "/3"]).await;
    assert_eq!(visited(&attack), ["/start"]);
    assert_eq!(drafts(&attack).await, 2);
}

// SEC-067 SEC-069
#[tokio::test]
async fn a_call_that_waits_for_the_owner_passes_no_address_over() {
    let attack = led(|web| vec![fetch(web, "/1")], &["/0", "/2"]).await;
    assert_eq!(visited(&attack), ["/0", "/start"]);
    assert_eq!(drafts(&attack).await, 2);
}

// SEC-067 SEC-069
#[tokio::test]
async fn what_sent_nothing_in_an_earlier_turn_counts_for_nothing_and_what_did_counts() {
    let attack = led(|web| vec![fetch(web, "/0"), with(web, "/1", "x", &json!(1)), fetch(web, "/3")], &[]).await;
    assert_eq!(visited(&attack), ["/0", "/start"]);
    let url = attack.web.url.clone();
    attack.then(["/2", "/0", "/1", "/2"].map(|path| fetch(&url, path)).into());
    attack.world.done(&["chat", "--conversation", "last", "Go on."]).await;
    assert_eq!(visited(&attack), ["/0", "/1", "/2", "/start"]);
    assert_eq!(attack.web.visited()[2..], ["/1", "/2"]);
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn pages_are_compared_in_their_order_however_much_of_each_is_read() {
        let attack =
            led(|web| vec![fetch(web, "/0"), with(web, "/1", "maxChars", &json!(100)), fetch(web, "/2")], &["/3"])
                .await;
        assert_eq!(visited(&attack), ["/0", "/1", "/2", "/3", "/start"]);
        assert_eq!(drafts(&attack).await, 0);
    }
}
