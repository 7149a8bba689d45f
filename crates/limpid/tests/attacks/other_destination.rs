//! A rule names one destination, and a call that leads elsewhere is written so that it looks like that one; a rule that forbids
//! a host is got around by a port.

use serde_json::json;

use crate::attacks::obedient::{Attack, MARK, page, sms};

const RULE: &str = "[[policy.allow]]\ntool = \"send_sms\"\ndestination = \"+491701111\"\n";

/// A page has text messages sent to these; returns what left under the rule, and what the drafts say.
async fn sent(to: &[&str]) -> (Vec<String>, String) {
    let orders = |_: &str| to.iter().map(|to| sms(to, "the safe: 4711")).collect();
    let reads = |web: &str| vec![("web_fetch", json!({ "url": format!("{web}/") }))];
    let attack = Attack::new(reads, orders, |_| page(MARK)).await;
    let gateway = attack.gateway(RULE).await;
    attack.world.done(&["chat", &format!("read {}/", attack.web.url)]).await;
    let drafts = attack.world.done(&["draft", "list"]).await;
    (gateway.bodies(), drafts)
}

/// The pages that a fetch reached under a rule that forbids a destination, `PORT` standing for the server's port.
async fn fetched(forbidden: &str) -> Vec<String> {
    let reads = |web: &str| vec![("web_fetch", json!({ "url": format!("{web}/") }))];
    let attack = Attack::new(reads, |_| Vec::new(), |_| page("tea")).await;
    let port = attack.web.url.rsplit(':').next().unwrap();
    let rule =
        format!("[[policy.deny]]\ntool = \"web_fetch\"\ndestination = \"{}\"\n", forbidden.replace("PORT", port));
    attack.gateway(&rule).await;
    attack.world.done(&["chat", &format!("read {}/", attack.web.url)]).await;
    attack.web.visited()
}

// SEC-071 SEC-077
#[tokio::test]
async fn a_number_that_only_looks_like_the_one_of_a_rule_is_sent_nothing() {
    let others =
        ["+491709999://+491701111", "+491709999;x://u@+491701111:80/", "sms://+491701111", "+491701111.", "+491709999"];
    let (sent, drafts) = sent(&others).await;
    assert_eq!(sent, [""; 0]);
    assert!(drafts.contains("+491709999"), "what is a number waits: {drafts}");
    assert!(!drafts.contains("+491701111"), "what is none is refused, and nobody is asked: {drafts}");
}

// SEC-071
#[tokio::test]
async fn a_rule_against_a_host_holds_for_each_of_its_ports() {
    for forbidden in ["127.0.0.1", "127.0.0.1:PORT"] {
        assert_eq!(fetched(forbidden).await, [""; 0], "{forbidden}");
    }
}

/// The pages that a fetch reached, which a page that it may read leads on to another server; that one's address is banned.
async fn led_to(ban: impl Fn(&str) -> String) -> Vec<String> {
    let banned = crate::attacks::obedient::Site::start(|_| page("tea")).await;
    let to = format!("{}/on", banned.url);
    let reads = |web: &str| vec![("web_fetch", json!({ "url": format!("{web}/") }))];
    let attack = Attack::new(reads, |_| Vec::new(), move |_| crate::attacks::obedient::redirect(&to)).await;
    let ban = ban(banned.url.trim_start_matches("http://"));
    attack.gateway(&format!("[[policy.deny]]\ntool = \"web_fetch\"\ndestination = \"{ban}\"\n")).await;
    attack.world.done(&["chat", &format!("read {}/", attack.web.url)]).await;
    banned.visited()
}

// SEC-071
#[tokio::test]
async fn a_page_cannot_lead_a_fetch_to_a_host_and_port_that_a_rule_forbids() {
    assert_eq!(led_to(str::to_owned).await, [""; 0]);
}

mod control {
    use super::*;

    // SEC-098
    #[tokio::test]
    async fn a_page_leads_on_to_a_host_that_no_rule_forbids() {
        assert_eq!(led_to(|_| "127.0.0.1:1".to_owned()).await, ["/on"]);
    }

    // SEC-098
    #[tokio::test]
    async fn the_number_of_the_rule_gets_its_message_and_another_port_is_read() {
        assert_eq!(sent(&["+491701111"]).await.0.len(), 1);
        assert_eq!(fetched("127.0.0.1:1").await, ["/"]);
    }
}
