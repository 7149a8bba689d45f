//! Who is let in at the page.

use limpid_runtime::{Config, Environment};
use limpid_server::PageServer;
use reqwest::StatusCode;
use reqwest::header::{HOST, ORIGIN};

use crate::kit::{PageBench, cookie_of, host_of};

const OK: &str = "[[reply]]\ntext = \"ok\"\n";

// SEC-030
#[tokio::test]
async fn a_link_logs_one_browser_in_and_once() {
    let bench = PageBench::outside(OK, "").await;
    assert_eq!(bench.get("/").send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
    let first = bench.client.get(&bench.link).send().await.unwrap();
    assert_eq!(first.status(), StatusCode::OK);
    let cookie = cookie_of(&first);
    let again = bench.client.get(&bench.link).send().await.unwrap();
    assert_eq!(again.status(), StatusCode::UNAUTHORIZED);
    let inside = |cookie: String| {
        let request = bench.client.get(format!("{}/c/new", bench.url)).header("cookie", cookie);
        async move { request.send().await.unwrap().status() }
    };
    assert_eq!(inside(cookie.clone()).await, StatusCode::OK);
    assert_eq!(inside(format!("{cookie}0")).await, StatusCode::UNAUTHORIZED);
    // What is kept opens nothing by itself.
    let kept = std::fs::read_to_string(bench.home.path().join("data/page.sessions")).unwrap();
    assert!(!kept.contains(cookie.split_once('=').unwrap().1), "{kept}");
}

// SEC-030
#[tokio::test]
async fn whoever_is_logged_in_is_led_to_the_page_by_a_link_that_was_used() {
    let bench = PageBench::new(OK, "").await;
    let path = bench.link.split_once("/login").unwrap().1;
    for path in [format!("/login{path}"), "/login".to_owned()] {
        let response = bench.get(&path).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert!(!response.headers().contains_key("set-cookie"), "{path}");
        let screen = response.text().await.unwrap();
        assert!(screen.contains("You are logged in") && screen.contains("url=/\""), "{screen}");
        assert!(!screen.contains("used before"), "{screen}");
    }
    // Nobody else gets in by it.
    assert_eq!(bench.client.get(&bench.link).send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
}

// SEC-030
#[tokio::test]
async fn a_new_link_takes_the_place_of_the_one_before_and_who_guesses_waits() {
    let bench = PageBench::outside(OK, "").await;
    let address = bench.url.strip_prefix("http://").unwrap().parse().unwrap();
    let new = limpid_server::login_link(&bench.agent, address).unwrap();
    for _ in 0..10 {
        assert_eq!(bench.client.get(&bench.link).send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
    }
    let late = bench.client.get(&bench.link).send().await.unwrap();
    assert_eq!((late.status(), late.headers().contains_key("retry-after")), (StatusCode::TOO_MANY_REQUESTS, true));
    assert_eq!(
        bench.client.get(&new).send().await.unwrap().status(),
        StatusCode::OK,
        "the right link opens at any time"
    );
}

// SEC-030
#[tokio::test]
async fn what_changes_something_comes_from_the_page_itself() {
    let bench = PageBench::new(OK, "").await;
    let post = |origin: Option<&str>| {
        let request = bench.post("/c/new/send", &[("text", "hi")]).build().unwrap();
        let mut request = request;
        request.headers_mut().remove(ORIGIN);
        if let Some(origin) = origin {
            request.headers_mut().insert(ORIGIN, origin.parse().unwrap());
        }
        bench.client.execute(request)
    };
    assert_eq!(post(None).await.unwrap().status(), StatusCode::FORBIDDEN);
    assert_eq!(post(Some("http://evil.example")).await.unwrap().status(), StatusCode::MISDIRECTED_REQUEST);
    assert_eq!(post(Some("null")).await.unwrap().status(), StatusCode::MISDIRECTED_REQUEST);
    // Other servers of this machine, whose pages a browser takes for the same site.
    for origin in ["http://127.0.0.1", "http://localhost:1", "https://localhost", "chrome-extension://127.0.0.1"] {
        assert_eq!(post(Some(origin)).await.unwrap().status(), StatusCode::MISDIRECTED_REQUEST, "{origin}");
    }
    let from = |site: &str| bench.post("/c/new/send", &[("text", "hi")]).header("sec-fetch-site", site).send();
    assert_eq!(from("same-site").await.unwrap().status(), StatusCode::FORBIDDEN);
    let other = bench.get("/c/new").header(HOST, "evil.example").send().await.unwrap();
    assert_eq!(other.status(), StatusCode::MISDIRECTED_REQUEST);
    assert_eq!(bench.agent.store().conversations(10).await.unwrap().rows.len(), 0);
    assert_eq!(post(Some(&bench.url)).await.unwrap().status(), StatusCode::OK);
    assert_eq!(from("same-origin").await.unwrap().status(), StatusCode::OK);
}

// SEC-030
#[tokio::test]
async fn the_link_is_of_a_name_whose_cookies_no_other_server_of_this_machine_gets() {
    let bench = PageBench::outside(OK, "hosts = [\"agent.example\"]\n").await;
    // No other server knows the name, so none can lead a browser to it.
    let name = host_of(&bench.link);
    assert!(name.starts_with("limpid-") && name.ends_with(".localhost") && name.len() == 37, "{name}");
    assert_ne!(name, host_of(&PageBench::outside(OK, "").await.link));
    let address = bench.url.strip_prefix("http://").unwrap().parse().unwrap();
    let set = |host: Option<&str>| {
        let link = limpid_server::login_link(&bench.agent, address).unwrap();
        let request = bench.client.get(link);
        let request =
            host.map_or_else(|| request.try_clone().unwrap(), |host| request.try_clone().unwrap().header(HOST, host));
        async move { request.send().await.unwrap().headers()["set-cookie"].to_str().unwrap().to_owned() }
    };
    let cookie = set(None).await;
    assert!(!cookie.contains("Domain") && !cookie.contains("Secure"), "{cookie}");
    assert!(set(Some("agent.example")).await.ends_with("; Secure"), "behind a server with TLS");
}

// SEC-030
#[tokio::test]
async fn a_browser_that_was_logged_out_hears_nothing_more() {
    let bench = PageBench::new("[[reply]]\ntext = \"One.\"\nhang = \"end\"\n[[reply]]\ntext = \"Two.\"\n", "").await;
    let told = bench.sent("/c/new/send", &[("text", "first")]).await;
    let id = told["conversation"].as_str().unwrap().to_owned();
    let mut stream = bench.get(&format!("/c/{id}/events")).send().await.unwrap();
    assert!(stream.chunk().await.unwrap().is_some());
    // Another process of this home logs everybody out.
    limpid_server::log_out_all(&bench.agent).unwrap();
    assert_eq!(bench.get("/c/new").send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
    bench.agent.conversations().cancel(&limpid_core::ConversationId::new(id));
    let mut more = Vec::new();
    while let Ok(Some(bytes)) = stream.chunk().await {
        more.extend(bytes);
    }
    let more = String::from_utf8(more).unwrap();
    assert!(!more.contains("reload"), "what came of the turn is told to nobody: {more}");
}

// SEC-030 SUR-029
#[tokio::test]
async fn a_screen_takes_nothing_from_elsewhere_and_nobody_keeps_it() {
    let bench = PageBench::new(OK, "").await;
    let response = bench.get("/c/new").send().await.unwrap();
    let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(
        header("content-security-policy"),
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    );
    let others = ["cache-control", "x-content-type-options", "x-dns-prefetch-control"].map(header);
    assert_eq!(others, ["no-store", "nosniff", "off"]);
    let html = response.text().await.unwrap();
    assert!(!html.contains(" style=") && !html.contains(" onclick=") && !html.contains("//cdn"), "{html}");
    assert!(html.len() < 50_000, "{} bytes", html.len());
}

// SEC-030
#[tokio::test]
async fn an_address_that_others_reach_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let agent = limpid_runtime::Agent::open(limpid_runtime::AgentOptions {
        config: Config::parse("[page]\nlisten = \"0.0.0.0:0\"\n", "limpid.toml").unwrap(),
        environment: Environment::new([]),
        ..limpid_runtime::AgentOptions::new(limpid_runtime::Home::new(home.path()))
    })
    .unwrap();
    let refused = PageServer::bind(&agent, std::sync::Arc::new(limpid_model::RealPause)).await;
    let why = refused.err().unwrap().to_string();
    assert!(why.contains("would not be encrypted") && why.contains("under [page]"), "{why}");
}

/// Browsers ask for a name under `localhost` at `::1` first: what listens there must be the page, or nobody is led there.
// SEC-030
#[tokio::test]
async fn whoever_listens_at_the_other_loopback_address_is_told_nothing() {
    let Ok(other) = std::net::TcpListener::bind("[::1]:0") else {
        return eprintln!("skipped: this machine has no `::1`, so nobody else listens there");
    };
    let port = other.local_addr().unwrap().port();
    let taken = PageBench::outside_at(OK, "", port).await;
    assert!(taken.link.starts_with(&format!("http://127.0.0.1:{port}/")), "{}", taken.link);
    let bench = PageBench::outside(OK, "").await;
    let beside = bench.url.replace("127.0.0.1", "[::1]");
    let health = bench.client.get(format!("{beside}/health")).send().await.unwrap();
    assert_eq!(health.status(), StatusCode::OK, "the page itself");
}
