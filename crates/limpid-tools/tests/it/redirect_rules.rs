//! Redirects to what a rule forbids, written otherwise than the rule.

use std::net::Ipv4Addr;

use crate::kit::{Server, context, page, to, told};
use limpid_core::policy::{Argument, ArgumentPattern, OwnerRules, Rule, ToolFacts, ToolPattern};
use limpid_core::{ToolClass, Trust};
use limpid_formats::Parser;
use limpid_tools::web::{Addresses, Web};
use limpid_tools::{Tool, ToolContext, WebFetch};
use serde_json::json;

/// Whether a page leads a fetch on to `/TEA/cafe´` under a rule that forbids this address, `PORT` standing for the server's.
async fn leads_on(forbidden: &str) -> bool {
    let server = Server::start("127.0.0.1", 0, |path| match path {
        "/here" => to("/TEA/cafe%CC%81"),
        _ => page("200 OK", "text/plain", "there"),
    })
    .await;
    let address = forbidden.replace("PORT", server.address.port().to_string().as_str());
    let pattern = ArgumentPattern::Fields(vec![("url".into(), ArgumentPattern::Text(address))]);
    let tool = ToolPattern::Name("web_fetch".into());
    let rule = Rule { tool, arguments: Some(pattern), destination: None, max_bytes: None };
    let rules = OwnerRules { deny: vec![rule], ..OwnerRules::default() };
    let facts = ToolFacts { name: "web_fetch", other_names: &[], group: "web", class: ToolClass::Read };
    let bans = rules.bans(&facts, &Argument::Fields(Vec::new()));
    let web = Web::new(Addresses::PublicAnd(vec![Ipv4Addr::LOCALHOST.into()]));
    let url = server.named("127.0.0.1", "/here");
    let fetch = WebFetch::new(web, Parser::in_this_process());
    match told(fetch.run(&ToolContext { bans, ..context(Trust::Owner) }, json!({ "url": url })).await) {
        Ok(page) => page.text == "there",
        Err(error) => {
            assert!(error.contains("which the owner's rules forbid"), "{forbidden}: {error}");
            false
        }
    }
}

// SEC-071
#[tokio::test]
async fn a_rule_forbids_where_a_redirect_leads_in_whatever_letters_either_is_written() {
    let same = [
        "*/tea/café",
        "*/TEA/CAFE\u{301}",
        "http://127.0.0.1:PORT/t%45a/caf%C3%A9",
        "http://127.1.:PORT/tea//*",
        "http://127.0.0*",
        "HTTP://127.0.0.1*/tea/caf*",
        "http://127.0.0.1*cafe%CC%81",
    ];
    for forbidden in same {
        assert!(!leads_on(forbidden).await, "{forbidden}");
    }
    for other in ["*/tea/cafe", "http://127.0.0.1:1/tea/*"] {
        assert!(leads_on(other).await, "{other}");
    }
}
