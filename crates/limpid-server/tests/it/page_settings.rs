//! What is set at the page is what the service reads, and what was spent is what the store has.

use std::sync::Arc;

use limpid_model::RealPause;
use limpid_runtime::{Agent, AgentOptions, Config, Home};
use limpid_server::PageServer;
use reqwest::{Client, StatusCode};
use tempfile::TempDir;

struct Bench {
    _home: TempDir,
    agent: Agent,
    url: String,
    cookie: String,
    client: Client,
}

impl Bench {
    async fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let config = Config::parse("[page]\nlisten = \"127.0.0.1:0\"\n", "limpid.toml").unwrap();
        let agent = Agent::open(AgentOptions { config, ..AgentOptions::new(Home::new(home.path())) }).unwrap();
        let server = PageServer::bind(&agent, Arc::new(RealPause)).await.unwrap().unwrap();
        let url = format!("http://{}", server.address());
        let (link, address) = (server.login_link().unwrap(), server.address());
        tokio::spawn(server.run(std::future::pending()));
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().resolve(crate::kit::host_of(&link), address).build().unwrap();
        let answer = client.get(link).send().await.unwrap();
        let cookie = answer.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
        Self { _home: home, agent, url, cookie, client }
    }

    async fn get(&self, path: &str) -> (StatusCode, String) {
        let asked = self.client.get(format!("{}{path}", self.url)).header("cookie", &self.cookie);
        let answer = asked.send().await.unwrap();
        (answer.status(), answer.text().await.unwrap())
    }

    async fn set(&self, form: &str) -> (StatusCode, String) {
        let asked = self.client.post(format!("{}/settings/heartbeat", self.url)).header("cookie", &self.cookie);
        let asked = asked.header("origin", &self.url).header("content-type", "application/x-www-form-urlencoded");
        let answer = asked.body(form.to_owned()).send().await.unwrap();
        (answer.status(), answer.text().await.unwrap())
    }
}

// SUR-023 KAI-063 KAI-074
#[tokio::test]
async fn what_is_set_at_the_page_is_what_the_heartbeat_goes_by() {
    let bench = Bench::new().await;
    let good = ["interval=45", "start=7", "end=21", "enabled=false"];
    for form in good {
        assert_eq!(bench.set(form).await.0, StatusCode::OK, "{form}");
    }
    let set = bench.agent.jobs().heartbeat_status().await.unwrap().settings;
    assert_eq!((set.interval_minutes, set.start_hour, set.end_hour, set.enabled), (45, 7, 21, false));
    let long = format!("prompt={}", "x".repeat(4001));
    for form in ["interval=3", "interval=soon", "start=24", "end=25", "enabled=perhaps", &long] {
        let (status, why) = bench.set(form).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{form}");
        assert!(why.contains(' '), "{form}: {why}");
    }
    assert_eq!(bench.agent.jobs().heartbeat_status().await.unwrap().settings, set);
    let (status, html) = bench.get("/settings").await;
    assert_eq!(status, StatusCode::OK);
    assert!(html.contains("7:00 – 21:00") && html.contains(">45m<"), "{html}");
}

// SUR-025
#[tokio::test]
async fn what_was_spent_has_a_screen_without_any_data() {
    let bench = Bench::new().await;
    for days in ["", "?days=7", "?days=90"] {
        let (status, html) = bench.get(&format!("/cost{days}")).await;
        assert_eq!(status, StatusCode::OK, "{html}");
        assert!(html.contains("Nothing was sent in this time."), "{html}");
    }
    assert_eq!(bench.get("/cost?days=8").await.0, StatusCode::UNPROCESSABLE_ENTITY);
}
