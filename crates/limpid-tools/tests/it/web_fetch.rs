//! Pages over a real socket, and the addresses that nobody is led to.

use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::kit::{Server, Told, context, kept, page, to, told};
use async_trait::async_trait;
use limpid_core::Trust;
use limpid_core::message::{FROM_CAPABILITY_URL, FROM_OWN_NETWORK};
use limpid_core::policy::{NOT_OF_THE_WEB, PrivatePlace};
use limpid_formats::Parser;
use limpid_tools::web::network::Network;
use limpid_tools::web::{Addresses, Lookup, Web};
use limpid_tools::{Tool, ToolContext, WebFetch};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// Answers in turn, as the server of a name that changes its mind would; the last answer stays.
struct Rebinding(Mutex<VecDeque<&'static str>>);

impl Rebinding {
    fn new(answers: &[&'static str]) -> Arc<Self> {
        Arc::new(Self(Mutex::new(answers.iter().copied().collect())))
    }
}

#[async_trait]
impl Lookup for Rebinding {
    async fn lookup(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        let mut answers = self.0.lock().unwrap();
        let answer = if answers.len() > 1 { answers.pop_front() } else { answers.front().copied() };
        let addresses = answer.unwrap().split(' ').map(str::parse);
        addresses.collect::<Result<_, _>>().map_err(|_| io::Error::other("there is no server of that name"))
    }

    fn own_networks(&self) -> Vec<Network> {
        vec![Network::around("127.0.0.3".parse().unwrap(), 32)]
    }
}

/// A web in which the first address of loopback counts as public.
fn web(answers: &[&'static str]) -> Web {
    Web::with_lookup(Addresses::PublicAnd(vec!["127.0.0.1".parse().unwrap()]), Rebinding::new(answers))
}

async fn fetch(web: &Web, trust: Trust, arguments: serde_json::Value) -> Result<Told, String> {
    told(WebFetch::new(web.clone(), Parser::in_this_process()).run(&context(trust), arguments).await)
}

async fn text(url: &str) -> String {
    fetch(&web(&["127.0.0.1"]), Trust::Owner, json!({ "url": url })).await.unwrap().text
}

const ARTICLE: &str = r#"<!doctype html><html><head><title>Tea &amp; rain</title><style>p { color: red }</style>
<script>track("me")</script></head><body><nav><a href="/home">Home</a></nav>
<h1>On tea</h1><p>Steep it at <b>80</b>&nbsp;degrees. See <a href="https://tea.test/green">green tea</a>.</p>
<ul><li>one</li><li>two</li></ul><table><tr><th>Kind</th><th>Minutes</th></tr><tr><td>green</td><td>2</td></tr></table>
<pre>let it = steep();</pre></body></html>"#;

// PICO-094
#[tokio::test]
async fn pages_come_back_as_text_of_strangers() {
    let server = Server::start("127.0.0.1", 0, |path| match path {
        "/article" => page("200 OK", "text/html; charset=utf-8", ARTICLE),
        "/latin" => page("200 OK", "text/html", b"<html><meta charset=\"iso-8859-1\"><p>caf\xe9</p></html>"),
        "/json" => page("200 OK", "application/json", r#"{"b":[1,2],"a":"x"}"#),
        "/plain" => page("200 OK", "text/plain", "one\n\n\ntwo"),
        "/image" => page("200 OK", "image/png", [0x89, b'P', b'N', b'G', 0, 1, 2]),
        "/unnamed" => page("200 OK", "application/octet-stream", [0, 1, 2]),
        _ => page("404 Not Found", "text/html", "<p>gone</p>"),
    })
    .await;
    let all = ["/article", "/latin", "/json", "/plain", "/image", "/unnamed"];
    let mut shown = String::new();
    for path in all {
        shown.push_str(&format!("== {path}\n{}\n", text(&server.named("site.test", path)).await));
    }
    insta::assert_snapshot!(shown);
    let web = web(&["127.0.0.1"]);
    let found = fetch(&web, Trust::Owner, json!({ "url": server.named("site.test", "/json") })).await.unwrap();
    assert_eq!(found.trust, Trust::Outside);
    let missing = fetch(&web, Trust::Owner, json!({ "url": server.named("site.test", "/nothing") })).await;
    assert_eq!(missing.unwrap_err(), "site.test answered 404 Not Found");
}

// PICO-094 SEC-022
#[tokio::test]
async fn size_characters_and_redirects_have_limits() {
    let server = Server::start("127.0.0.1", 0, |path| match path.split_once("/hop/") {
        Some((_, "0")) => page("200 OK", "text/plain", "there"),
        Some((_, hops)) => to(&format!("/hop/{}", hops.parse::<u32>().unwrap() - 1)),
        None => page("200 OK", "text/plain", "é".repeat(1_500_000)),
    })
    .await;
    assert_eq!(text(&server.named("site.test", "/hop/5")).await, "there");
    let web = web(&["127.0.0.1"]);
    let ask = async |arguments| fetch(&web, Trust::Owner, arguments).await;
    let error = ask(json!({ "url": server.named("site.test", "/hop/6") })).await.unwrap_err();
    assert_eq!(error, "it leads on and on; 5 redirects were followed");

    let large = ask(json!({ "url": server.named("site.test", "/"), "maxChars": 100 })).await.unwrap().text;
    let two_megabytes = 2 * 1024 * 1024 / 2;
    assert_eq!(
        large,
        format!(
            "{}\n… 100 of {two_megabytes} characters\n… the page is longer than what is read of one",
            "é".repeat(100)
        )
    );
    for wrong in [99, 50_001] {
        let error = ask(json!({ "url": server.named("site.test", "/"), "maxChars": wrong })).await.unwrap_err();
        assert_eq!(error, "`maxChars` is 100 to 50000");
    }
}

// SEC-022 PICO-094
#[tokio::test]
async fn addresses_that_are_not_public_are_refused_before_anything_is_sent() {
    let server = Server::start("127.0.0.1", 0, |_| page("200 OK", "text/plain", "secret")).await;
    let port = server.address.port();
    let public = Web::with_lookup(Addresses::Public, Rebinding::new(&["127.0.0.1"]));
    let hosts = [
        "127.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "0.0.0.0",
        "site.test",
        "localhost",
        "169.254.169.254",
        "[fd00:ec2::254]",
        "[64:ff9b::7f00:1]",
    ];
    for host in hosts {
        let error = fetch(&public, Trust::Owner, json!({ "url": format!("http://{host}:{port}/") })).await.unwrap_err();
        assert!(error.contains("is not an address of the public web"), "{host}: {error}");
    }
    // One that may not be among several that may.
    let mixed = web(&["127.0.0.1 10.0.0.1"]);
    let error = fetch(&mixed, Trust::Owner, json!({ "url": server.named("site.test", "/") })).await.unwrap_err();
    assert!(error.contains("10.0.0.1 is not"), "{error}");
    assert_eq!(server.connections(), 0);
    for wrong in ["ftp://site.test/", "file:///etc/passwd", "site.test", "http://me:pw@site.test/", ""] {
        let error = fetch(&public, Trust::Owner, json!({ "url": wrong })).await.unwrap_err();
        assert!(error.contains("address"), "{wrong}: {error}");
    }
}

// SEC-022
#[tokio::test]
async fn a_name_that_changes_its_address_leads_nowhere() {
    // The same port on an address that is not allowed: whoever connects to it was led astray.
    let server = Server::start("127.0.0.1", 0, |path| match path {
        "/start" => to("/inside"),
        "/literal" => to("http://127.0.0.2/inside"),
        "/mapped" => to("http://[::ffff:127.0.0.2]/inside"),
        _ => kept(&page("200 OK", "text/plain", "the first server")),
    })
    .await;
    let inside = Server::start("127.0.0.2", server.address.port(), |_| page("200 OK", "text/plain", "secret")).await;

    let url = server.named("site.test", "/start");
    let error = fetch(&web(&["127.0.0.1", "127.0.0.2"]), Trust::Owner, json!({ "url": url })).await.unwrap_err();
    assert_eq!(error, NOT_OF_THE_WEB);
    assert_eq!(server.connections(), 1, "the first hop was made");

    // The address that was checked is the one that is connected to: there is no second look.
    let once = web(&["127.0.0.1", "127.0.0.2"]);
    let found = fetch(&once, Trust::Owner, json!({ "url": server.named("site.test", "/x") })).await.unwrap();
    assert_eq!(found.text, "the first server");
    // Another request of the same client looks again, and does not use what is still open.
    let error = fetch(&once, Trust::Owner, json!({ "url": server.named("site.test", "/x") })).await.unwrap_err();
    assert!(error.contains("127.0.0.2"), "{error}");

    for path in ["/literal", "/mapped"] {
        let url = server.named("site.test", path);
        let error = fetch(&web(&["127.0.0.1"]), Trust::Owner, json!({ "url": url })).await.unwrap_err();
        assert!(error.contains("127.0.0.2 is not an address of the public web"), "{path}: {error}");
    }
    assert_eq!(inside.connections(), 0);
}

/// Fetches from the server at the port of a variable; run by the test below, in an environment with a proxy.
#[tokio::test]
#[ignore = "a part of the next test"]
#[allow(clippy::disallowed_methods, reason = "its parent tells it the port in its environment")]
async fn one_page_in_an_environment_with_a_proxy() {
    let port = std::env::var("LIMPID_TEST_PORT").unwrap();
    assert_eq!(text(&format!("http://site.test:{port}/")).await, "the server itself");
}

// SEC-022
#[tokio::test]
async fn a_proxy_of_the_environment_is_not_used_since_it_would_look_names_up_itself() {
    let server = Server::start("127.0.0.1", 0, |_| page("200 OK", "text/plain", "the server itself")).await;
    let proxy = Server::start("127.0.0.1", 0, |_| page("200 OK", "text/plain", "somebody else")).await;
    let words = ["--exact", "web_fetch::one_page_in_an_environment_with_a_proxy", "--ignored"];
    let mut child = tokio::process::Command::new(std::env::current_exe().unwrap());
    child.args(words).env("LIMPID_TEST_PORT", server.address.port().to_string());
    for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
        child.env(name, proxy.url(""));
    }
    let done = child.output().await.unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    assert_eq!((server.connections(), proxy.connections()), (1, 0));
}

// SEC-022 PICO-094
#[tokio::test]
async fn an_answer_that_does_not_come_or_does_not_end_is_given_up_in_time() {
    let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = server.local_addr().unwrap().port();
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((mut stream, _)) = server.accept().await {
            // The first gets nothing at all, the second the beginning of a page.
            if !open.is_empty() {
                let _ = stream.read(&mut [0; 1024]).await;
                let begun = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nIt was";
                stream.write_all(begun).await.unwrap();
            }
            open.push(stream);
        }
    });
    let web = web(&["127.0.0.1"]).within(Duration::from_millis(100));
    for _ in 0..2 {
        let url = format!("http://site.test:{port}/");
        let asked = fetch(&web, Trust::Owner, json!({ "url": url }));
        let error = tokio::time::timeout(Duration::from_secs(60), asked).await.unwrap().unwrap_err();
        assert!(error.starts_with("no whole answer within "), "{error}");
    }
    assert_eq!(limpid_tools::web::TIME, Duration::from_secs(60));
    let tool = WebFetch::new(Web::new(Addresses::Public), Parser::in_this_process());
    assert!(
        tool.timeout().is_some_and(|time| time > limpid_tools::web::TIME),
        "the tool waits for the answer's own end"
    );
}

// PICO-094
#[tokio::test]
async fn without_a_limit_twenty_thousand_characters_come_and_with_one_up_to_fifty_thousand() {
    let server = Server::start("127.0.0.1", 0, |_| page("200 OK", "text/plain", "x".repeat(60_000))).await;
    let url = server.named("site.test", "/");
    let ask = async |arguments| fetch(&web(&["127.0.0.1"]), Trust::Owner, arguments).await.unwrap().text;
    let cut = |most: usize| format!("{}\n… {most} of 60000 characters", "x".repeat(most));
    assert_eq!(ask(json!({ "url": url })).await, cut(20_000));
    let most = ask(json!({ "url": url, "maxChars": 50_000 })).await;
    assert_eq!(most, cut(50_000));
    let tool = WebFetch::new(Web::new(Addresses::Public), Parser::in_this_process());
    let room = tool.result_chars().unwrap();
    assert!(room >= most.chars().count(), "the model gets the text itself: {room}");
}

// SEC-022
#[tokio::test]
async fn after_a_strangers_text_nobody_leads_to_another_host() {
    let server = Server::start("127.0.0.1", 0, |path| match path {
        "/away" => to("http://other.test/?secret=1"),
        "/port" => to("http://site.test:1/?secret=1"),
        "/here" => to("/there"),
        _ => page("200 OK", "text/plain", "there"),
    })
    .await;
    let web = web(&["127.0.0.1"]);
    let here = fetch(&web, Trust::Outside, json!({ "url": server.named("site.test", "/here") })).await.unwrap();
    assert_eq!(here.text, "there");
    let away = fetch(&web, Trust::Outside, json!({ "url": server.named("site.test", "/away") })).await.unwrap_err();
    assert_eq!(away, "it leads to another host; ask for http://other.test/?secret=1 itself if you need it");
    let port = fetch(&web, Trust::Outside, json!({ "url": server.named("site.test", "/port") })).await.unwrap_err();
    assert_eq!(port, "it leads to another host; ask for http://site.test:1/?secret=1 itself if you need it");
}

// SEC-071 SEC-078
#[test]
fn rules_learn_where_a_call_goes() {
    let tool = WebFetch::new(Web::new(Addresses::Public), Parser::in_this_process());
    let destination = |url: &str| tool.destination(&json!({ "url": url })).map(|to| to.to_string());
    assert_eq!(destination("https://Example.org/a?b").as_deref(), Some("example.org"));
    assert_eq!(destination("https://example.org:8080/").as_deref(), Some("example.org:8080"));
    assert_eq!(destination("http://example.org/").as_deref(), Some("http://example.org"));
    assert_eq!(destination("HTTP://example.org:8080/").as_deref(), Some("http://example.org:8080"));
    assert_eq!(destination("nonsense"), None);
}

/// A web in which the first address of loopback is the owner's own network and the second one is a mirror.
fn web_of_own(answers: &[&'static str]) -> Web {
    let mirrors = Addresses::PublicAnd(vec!["127.0.0.2".parse().unwrap()]);
    Web::with_lookup(mirrors, Rebinding::new(answers)).with_own(vec!["127.0.0.1".parse().unwrap()])
}

// SEC-022 SEC-100
#[tokio::test]
async fn the_owners_own_network_is_reached_by_a_call_that_was_judged_so_and_its_result_says_where_it_is_from() {
    let server = Server::start("127.0.0.1", 0, |path| match path {
        "/admin" => page("200 OK", "text/plain", "the password"),
        _ => page("404 Not Found", "text/plain", "no"),
    })
    .await;
    let (by_number, by_name) = (format!("http://{}/admin", server.address), server.named("router.test", "/admin"));
    let tool = WebFetch::new(web_of_own(&["127.0.0.1"]), Parser::in_this_process());
    assert!(
        tool.names_own_network(&json!({ "url": by_number })) && !tool.names_own_network(&json!({ "url": by_name }))
    );
    for url in [&by_number, &by_name] {
        assert!(tool.leads_to_own_network(&json!({ "url": url })).await, "{url}");
        let refused = told(tool.run(&context(Trust::Owner), json!({ "url": url })).await).unwrap_err();
        assert!(
            refused.contains("127.0.0.1 is not an address of the public web, so nothing was sent to it"),
            "{refused}"
        );
        assert!(!refused.contains(FROM_OWN_NETWORK));
        let judged = ToolContext { private_place: Some(PrivatePlace::OwnNetwork), ..context(Trust::Owner) };
        let said = told(tool.run(&judged, json!({ "url": url })).await).unwrap();
        assert_eq!(said.text, format!("{FROM_OWN_NETWORK}\nthe password"));
        let missing = url.replace("admin", "none");
        let failed = told(tool.run(&judged, json!({ "url": missing })).await).unwrap_err();
        assert!(failed.starts_with(FROM_OWN_NETWORK) && failed.ends_with("answered 404 Not Found"), "{failed}");
    }
}

// SEC-022 SEC-068 SEC-100
#[tokio::test]
async fn a_redirect_of_another_server_leads_to_nothing_of_the_owners() {
    let inner = Server::start("127.0.0.1", 0, |_| page("200 OK", "text/plain", "the door is open")).await;
    let open = format!("http://{}/open", inner.address);
    let outer = Server::start("127.0.0.2", 0, move |_| to(&open)).await;
    let url = format!("http://{}/hotels", outer.address);
    let tool = WebFetch::new(web_of_own(&["127.0.0.2"]), Parser::in_this_process());
    assert!(!tool.leads_to_own_network(&json!({ "url": url })).await);
    for private_place in [None, Some(PrivatePlace::CapabilityUrl), Some(PrivatePlace::OwnNetwork)] {
        let judged = ToolContext { private_place, ..context(Trust::Owner) };
        let refused = told(tool.run(&judged, json!({ "url": url })).await).unwrap_err();
        assert!(refused.contains("127.0.0.1 is not an address of the public web"), "{refused}");
    }
}

// SEC-100
#[tokio::test]
async fn a_result_from_an_address_that_is_a_key_says_so_wherever_a_short_one_led() {
    let key = "/private-8f14e45fceea167a5a36dedd4bea2543";
    let server = Server::start("127.0.0.2", 0, move |path| match path {
        "/short" => to(key),
        "/longer" => to(&format!("{key}?next")),
        path if path.ends_with("?next") => to("/view/12"),
        _ => page("200 OK", "text/plain", "the dentist at nine"),
    })
    .await;
    let (url, short) = (format!("http://{}{key}", server.address), format!("http://{}/short", server.address));
    let tool = WebFetch::new(web_of_own(&["127.0.0.2"]), Parser::in_this_process());
    let read = async |url: &str, private_place, may_lead_to_key| {
        let context = ToolContext { private_place, may_lead_to_key, ..context(Trust::Outside) };
        told(tool.run(&context, json!({ "url": url })).await).unwrap().text
    };
    let marked = format!("{FROM_CAPABILITY_URL}\nthe dentist at nine");
    assert_eq!(read(&url, Some(PrivatePlace::CapabilityUrl), false).await, marked);
    assert_eq!(read(&short, None, true).await, marked);
    assert_eq!(read(&short.replace("/short", "/longer"), None, true).await, marked, "it led over one");
    // A stranger's page names it, so it is no key.
    assert_eq!(read(&url, None, false).await, "the dentist at nine");
}

// SEC-100
#[tokio::test]
async fn what_failed_behind_an_address_that_is_a_key_says_so_too() {
    let key = "/private-8f14e45fceea167a5a36dedd4bea2543";
    let server = Server::start("127.0.0.2", 0, move |path| match path {
        "/gone" | "/broken" | "/silent" | "/round" | "/away" | "/nowhere" => to(&format!("{key}?{}", &path[1..])),
        "/to-password" => to("http://ada:hunter-22x@site.test/"),
        "/view-broken" => b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\nIt was".to_vec(),
        // Nothing says that it is over, so whoever asked waits.
        "/view-silent" => b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nIt was".to_vec(),
        path => match path.split_once('?') {
            Some((_, "round")) => to(path),
            Some((_, "away")) => to("http://other.test/"),
            Some((_, "nowhere")) => to("ftp://site.test/"),
            Some((_, view)) => to(&format!("/view-{view}")),
            None => page("404 Not Found", "text/plain", "no"),
        },
    })
    .await;
    let web = web_of_own(&["127.0.0.2"]);
    let failed = async |path: &str, may_lead_to_key| {
        let web = if path == "/silent" { web.clone().within(Duration::from_secs(1)) } else { web.clone() };
        let tool = WebFetch::new(web, Parser::in_this_process());
        let context = ToolContext { may_lead_to_key, ..context(Trust::Outside) };
        let url = format!("http://{}{path}", server.address);
        told(tool.run(&context, json!({ "url": url })).await).unwrap_err()
    };
    for path in ["/gone", "/broken", "/silent", "/round", "/away", "/nowhere", "/to-password"] {
        let why = failed(path, true).await;
        assert!(why.starts_with(FROM_CAPABILITY_URL), "{path}: {why}");
        let why = failed(path, false).await;
        assert!(!why.contains(FROM_CAPABILITY_URL), "{path}: {why}");
    }
    let why = failed("/missing", true).await;
    assert_eq!(why, "127.0.0.2 answered 404 Not Found", "no key was on the way");
}

/// Whoever reads why a link was not followed could carry its key on.
// SEC-100 SEC-101
#[tokio::test]
async fn why_a_secret_link_was_not_followed_says_no_key() {
    let key = "private-8f14e45fceea167a5a36dedd4bea2543";
    let server = Server::start("127.0.0.2", 0, move |path| match path {
        "/host" => to(&format!("http://other.test/{key}")),
        "/scheme" => to(&format!("ftp://site.test/{key}")),
        _ => to("http://other.test/view/12"),
    })
    .await;
    let tool = WebFetch::new(web_of_own(&["127.0.0.2"]), Parser::in_this_process());
    let why = async |path: &str, may_lead_to_key| {
        let context = ToolContext { may_lead_to_key, ..context(Trust::Outside) };
        let url = format!("http://{}{path}", server.address);
        told(tool.run(&context, json!({ "url": url })).await).unwrap_err()
    };
    for path in ["/host", "/scheme"] {
        for may_lead_to_key in [true, false] {
            let why = why(path, may_lead_to_key).await;
            assert!(why.contains("it leads over a secret link") && !why.contains("8f14"), "{path}: {why}");
        }
    }
    let why = why("/view", true).await;
    assert!(why.contains("ask for http://other.test/view/12 itself"), "what is no secret link is named: {why}");
}

// SEC-067 SEC-069
#[test]
fn what_would_ask_for_nothing_is_refused_before_it_gets_the_right_to_run() {
    let tool = WebFetch::new(Web::new(Addresses::Public), Parser::in_this_process());
    let url = "http://site.test/";
    for chars in [json!(1), json!(99), json!(50_001), json!(100.0), json!("100"), json!(-1)] {
        assert!(tool.check(&json!({ "url": url, "maxChars": chars })).is_err(), "{chars}");
    }
    for wrong in ["ftp://site.test/", "site.test", "http://me:pw@site.test/", ""] {
        assert!(tool.check(&json!({ "url": wrong })).is_err(), "{wrong}");
    }
    assert!(tool.check(&json!({ "url": url, "x": 1 })).is_err());
    for right in [json!({ "url": url }), json!({ "url": url, "maxChars": 100 })] {
        assert!(tool.check(&right).is_ok(), "{right}");
    }
}

// SEC-067 SEC-069
#[tokio::test]
async fn what_stands_behind_the_address_keeps_no_request_from_leaving() {
    let server = Server::start("127.0.0.1", 0, |_| page("200 OK", "text/plain", "there")).await;
    let address = server.named("site.test", "/x");
    assert_eq!(text(&format!(" {address}#{} ", "x".repeat(100_000))).await, "there");
    assert!(server.requests()[0].starts_with("GET /x HTTP"), "{:?}", server.requests());
}

/// Who chose the name must not learn which ones there are in the owner's own network.
// SEC-022 SEC-101
#[tokio::test]
async fn after_a_strangers_text_a_name_that_is_not_there_is_not_told_from_one_of_the_owners_network() {
    let read = async |answer: &'static str, trust| {
        let web = Web::with_lookup(Addresses::Public, Rebinding::new(&[answer]));
        fetch(&web, trust, json!({ "url": "http://nas.test/" })).await.unwrap_err()
    };
    for answer in ["192.168.1.9", "127.0.0.3", "none"] {
        assert_eq!(read(answer, Trust::Outside).await, NOT_OF_THE_WEB, "{answer}");
    }
    // Neither is a number.
    let mirrors = Addresses::PublicAnd(vec!["127.0.0.1".parse().unwrap()]);
    let web = Web::with_lookup(mirrors, Rebinding::new(&["none"])).with_own(vec!["127.0.0.1".parse().unwrap()]);
    for number in ["192.168.1.9", "127.0.0.3", "127.0.0.1", "[fd00::1]"] {
        let told = fetch(&web, Trust::Outside, json!({ "url": format!("http://{number}/") })).await.unwrap_err();
        assert_eq!(told, NOT_OF_THE_WEB, "{number}");
    }
    // A redirect is the stranger's choice, also in a turn that has read nothing yet.
    let server = Server::start("127.0.0.1", 0, |_| to("http://nas.test/")).await;
    for answer in ["192.168.1.9", "none"] {
        let web = Web::with_lookup(Addresses::PublicAnd(vec!["127.0.0.1".parse().unwrap()]), Rebinding::new(&[answer]));
        assert_eq!(fetch(&web, Trust::Owner, json!({ "url": server.url("/") })).await.unwrap_err(), NOT_OF_THE_WEB);
    }
    assert!(read("192.168.1.9", Trust::Owner).await.contains("192.168.1.9 is not an address of the public web"));
    let told = read("none", Trust::Owner).await;
    assert!(told.contains("the host nas.test was not found: there is no server of that name"), "{told}");
    assert!(!told.contains("client error"), "{told}");
}
