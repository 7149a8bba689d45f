//! What is set at the page is what the service reads, and what was spent is what the store has.

use std::sync::Arc;

use limpid_core::{Money, RequestId, Trust, Usage};
use limpid_model::RealPause;
use limpid_runtime::{Agent, AgentOptions, Config, Home};
use limpid_server::PageServer;
use limpid_store::{NewRequest, RequestEnd};
use reqwest::{Client, StatusCode};
use tempfile::TempDir;

use crate::kit::{PageBench, QUIET};

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

/// A request that was sent and answered, and what it cost if that is known.
async fn spend(bench: &PageBench, id: &str, at: &str, (path, model): (&str, &str), cost: Option<u64>) {
    let sent_ms = at.parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let new = NewRequest {
        id: RequestId::new(id),
        conversation: None,
        turn: None,
        round: 1,
        provider: "openai".to_owned(),
        model: model.to_owned(),
        protocol: "openai-chat".to_owned(),
        target: "https://api.openai.com".to_owned(),
        profile: "limpid".to_owned(),
        path: path.to_owned(),
        revision: "r".to_owned(),
        sampling: "{}".to_owned(),
        tools: "[]".to_owned(),
        body: "{}".to_owned(),
        messages: Vec::new(),
        estimate: None,
        estimate_by_kind: std::collections::BTreeMap::new(),
        holder: None,
        sent_ms,
    };
    let end = RequestEnd {
        text: "Hello.".to_owned(),
        reasoning: String::new(),
        calls: Vec::new(),
        trust: Trust::Owner,
        finish: Some("stop".to_owned()),
        model: None,
        usage: Some(Usage { input: 1000, cached: 750, output: 20, ..Usage::default() }),
        cost: cost.map(Money),
        failure: None,
        first_ms: Some(sent_ms),
        ended_ms: sent_ms,
    };
    bench.agent.store().record_request(new).await.unwrap();
    bench.agent.store().end_request(&RequestId::new(id), end).await.unwrap();
}

/// The table of a chart, as its cells.
fn table(html: &str, id: &str) -> Vec<String> {
    let section =
        html.split(&format!("aria-labelledby=\"{id}-h\"")).nth(1).unwrap().split("</section>").next().unwrap();
    cells(section)
}

/// The table of a section, as its cells.
fn rows(html: &str, title: &str) -> Vec<String> {
    cells(html.split(&format!("<section aria-label=\"{title}\"")).nth(1).unwrap().split("</section>").next().unwrap())
}

fn cells(section: &str) -> Vec<String> {
    let body = section.split("<tbody>").nth(1).unwrap_or_default().split("</tbody>").next().unwrap();
    let plain = body.replace("</tr>", "\n").replace("</th>", " | ").replace("</td>", " | ");
    let mut text = String::new();
    let mut is_tag = false;
    for letter in plain.chars() {
        match letter {
            '<' => is_tag = true,
            '>' => is_tag = false,
            _ if !is_tag => text.push(letter),
            _ => {}
        }
    }
    text.lines().map(|line| line.trim_end_matches(" | ").to_owned()).filter(|line| !line.is_empty()).collect()
}

// SUR-025
#[tokio::test]
async fn money_and_tokens_stand_by_the_owners_day_and_what_is_unknown_is_not_nothing() {
    // It is noon of 11 April in UTC, and two in the afternoon there.
    let config = "[owner]\nzone = \"Europe/Berlin\"\n[limits]\ndollars_per_day = 0.5\ntokens_per_run = 9000\n";
    let bench = PageBench::new(QUIET, config).await;
    let chat = ("chat-remote", "gpt-5");
    spend(&bench, "a", "2026-04-09T22:30:00Z", chat, Some(400_000)).await;
    spend(&bench, "b", "2026-04-10T21:59:00Z", ("heartbeat", "gpt-5"), Some(20_000)).await;
    spend(&bench, "c", "2026-04-10T22:01:00Z", chat, Some(125_000)).await;
    let html = bench.html("/cost").await;
    let lead = "Yesterday: $0.420, 2 requests (Chat: $0.400, Heartbeat: $0.020). Today so far: $0.125, 1 request.";
    assert!(html.contains(lead), "{html}");
    assert_eq!(table(&html, "money"), ["11 Apr | $0.125 | $0 | $0.125", "10 Apr | $0.400 | $0.020 | $0.420"]);
    assert_eq!(
        table(&html, "tokens"),
        ["11 Apr | 250 | 750 | 20 | 1,020 in all", "10 Apr | 500 | 1,500 | 40 | 2,040 in all"]
    );
    assert_eq!(table(&html, "cache"), ["11 Apr | 75 % | 75 %", "10 Apr | 75 % | 75 %"]);
    assert!(!html.contains("price unknown"), "{html}");
    for part in
        ["$0.125 of $0.50", "9,000 tokens each", "No limit", "role=\"group\"", "From the bottom: Chat, Heartbeat."]
    {
        assert!(html.contains(part), "{part}: {html}");
    }
    spend(&bench, "d", "2026-04-11T10:00:00Z", ("chat-remote", "secret-1"), None).await;
    let html = bench.html("/cost?days=7").await;
    assert!(html.contains("Today so far: $0.125, 2 requests, 1 without a known price."), "{html}");
    // The count of requests and of tokens holds it, so only the money is said to leave it out.
    assert!(html.contains("The money here leaves out 1 request to openai/secret-1: no price was known"), "{html}");
    assert!(html.contains("Requests and known tokens here include it."), "{html}");
    assert_eq!(rows(&html, "By purpose")[0].split(" | ").nth(2), Some("3"), "{html}");
    let lines = "[[model]]\nnames = [&#34;openai/secret-1&#34;]\nprice = { input = 0.25, output = 2.0 }";
    assert!(
        html.contains(&bench.agent.home().model_profiles().display().to_string()) && html.contains(lines),
        "{html}"
    );
}

// SUR-025
#[tokio::test]
async fn where_no_price_is_known_no_sum_of_money_is_shown() {
    let bench = PageBench::new(QUIET, "[owner]\nzone = \"Europe/Berlin\"\n").await;
    let chat = ("chat-remote", "secret-1");
    spend(&bench, "a", "2026-04-11T09:00:00Z", chat, None).await;
    // What failed at once is known to have cost nothing.
    spend(&bench, "b", "2026-04-11T09:30:00Z", chat, Some(0)).await;
    let html = bench.html("/cost").await;
    assert!(html.contains("<dt>Today</dt><dd>unknown</dd>"), "{html}");
    assert!(html.contains("Today so far: 2,040 tokens, 2 requests, 1 without a known price."), "{html}");
    assert_eq!(rows(&html, "By model"), ["openai/secret-1 | unknown | 2 | 2,000 | 1,500 | 40"]);
    assert!(!html.contains("and more") && !html.contains("and 1 unknown"), "{html}");
}

// SUR-025
#[tokio::test]
async fn one_day_stands_by_purpose_and_by_model() {
    let bench = PageBench::new(QUIET, "[owner]\nzone = \"Europe/Berlin\"\n").await;
    let chat = ("chat-remote", "gpt-5");
    spend(&bench, "a", "2026-04-09T21:30:00Z", chat, Some(900_000)).await;
    spend(&bench, "b", "2026-04-09T22:30:00Z", chat, Some(400_000)).await;
    spend(&bench, "c", "2026-04-10T21:59:00Z", ("heartbeat", "gpt-5-mini"), Some(20_000)).await;
    spend(&bench, "d", "2026-04-10T22:01:00Z", chat, Some(125_000)).await;
    let html = bench.html("/cost").await;
    assert!(html.contains("href=\"/cost?day=2026-04-10\">Yesterday</a>"), "{html}");
    let html = bench.html("/cost?day=2026-04-10").await;
    let lead = "Friday, 10 April: $0.420, 2 requests (Chat: $0.400, Heartbeat: $0.020).";
    assert!(html.contains(lead) && html.contains("aria-current=\"true\">Yesterday</a>"), "{html}");
    assert_eq!(
        rows(&html, "By purpose"),
        ["Chat | $0.400 | 1 | 1,000 | 750 | 20", "Heartbeat | $0.020 | 1 | 1,000 | 750 | 20"]
    );
    assert_eq!(
        rows(&html, "By model"),
        ["openai/gpt-5 | $0.400 | 1 | 1,000 | 750 | 20", "openai/gpt-5-mini | $0.020 | 1 | 1,000 | 750 | 20"]
    );
    for (day, beside) in [("2026-04-10", ["day=2026-04-09", "day=2026-04-11"]), ("2026-04-11", ["day=2026-04-10", ""])]
    {
        let html = bench.html(&format!("/cost?day={day}")).await;
        let links = html.split("aria-label=\"Days beside\"").nth(1).unwrap().split("</nav>").next().unwrap();
        assert!(beside.iter().all(|link| links.contains(link)) && !links.contains("2026-04-12"), "{links}");
    }
    let html = bench.html("/cost?day=2026-04-01").await;
    assert!(html.contains("Wednesday, 1 April: no requests."), "{html}");
    assert_eq!(bench.get("/cost?day=tomorrow").send().await.unwrap().status(), StatusCode::UNPROCESSABLE_ENTITY);
}

// SUR-025
#[tokio::test]
async fn heartbeats_stand_by_day_with_what_they_cost() {
    let script = "[[reply]]\ntext = \"HEARTBEAT_OK\"\n[[reply]]\ntext = \"HEARTBEAT_OK\"\n";
    let bench = PageBench::new(script, "").await;
    bench.agent.jobs().run_heartbeat().await.unwrap();
    let html = bench.html("/cost").await;
    let rows = table(&html, "beats");
    assert!(rows.len() == 1 && rows[0].starts_with("11 Apr | 1 | 0 | "), "{rows:?}");
    assert!(html.contains("1 run, which called a model"), "{html}");
}

// SUR-026
#[tokio::test]
async fn a_setting_is_written_back_with_its_comments_and_taken_back_to_the_byte() {
    let bench = PageBench::new(QUIET, "").await;
    let file = bench.agent.home().config();
    let text = "# Mine.\n[limits] # Jonas pays the rest\ntries = 4 # in all\n\n[provider.openai]\nheaders = { key = \"sk-hidden\" }\n";
    std::fs::write(&file, text).unwrap();
    let said = || std::fs::read_to_string(&file).unwrap();
    let html = bench.html("/settings").await;
    assert!(html.contains("<code>limpid.toml:3</code>") && !html.contains("sk-hidden"), "{html}");
    for setting in Config::settings() {
        assert!(html.contains(&format!("data-key=\"{}\"", setting.key)), "{}", setting.key);
    }
    let set = async |key: &str, words: &str| bench.sent("/settings/value", &[("key", key), ("words", words)]).await;
    let saved = set("limits.tries", "2").await;
    assert_eq!((saved["undo"].as_str(), saved["waits"].as_bool()), (Some("limits.tries"), Some(false)));
    assert_eq!(said(), text.replace("tries = 4", "tries = 2"));
    assert!(bench.html("/settings").await.contains("Last change: <code>limits.tries</code>"));
    assert_eq!(bench.sent("/settings/undo", &[]).await["key"], "limits.tries");
    assert_eq!(said(), text);
    // A second time there is nothing to take back; and what somebody else wrote since is not overwritten.
    assert_eq!(bench.post("/settings/undo", &[]).send().await.unwrap().status(), StatusCode::UNPROCESSABLE_ENTITY);
    set("memory.instructions", "Keep little.").await;
    std::fs::write(&file, "# Another.\n").unwrap();
    assert_eq!(bench.post("/settings/undo", &[]).send().await.unwrap().status(), StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(said(), "# Another.\n");
    assert_eq!(set("local.threads", "3").await["waits"], true);
    assert_eq!(said(), "# Another.\n\n[local]\nthreads = 3\n");
}

// SUR-026
#[tokio::test]
async fn what_cannot_be_and_what_opens_the_machine_is_refused_and_the_file_stays() {
    let bench = PageBench::new(QUIET, "").await;
    let file = bench.agent.home().config();
    let text = "# Mine.\nmodel = \"a/b\"\n";
    std::fs::write(&file, text).unwrap();
    let wrong = [
        ("limits.tries", "many", "expected a whole number"),
        ("limits.tries", "-1", "expected a whole number"),
        ("chat.ui_mode", "loud", "unknown variant `loud`"),
        ("owner.zone", "Europe/Berln", "\"Europe/Berln\" isn't a time zone"),
        ("path", "[exec]\nshell = true", "write tables of `path` alone"),
        ("exec.shell", "true", "is changed in limpid.toml alone"),
        ("files.grants", "/", "is changed in limpid.toml alone"),
        ("policy.allow", "[[policy.allow]]\ntool = \"*\"", "is changed in limpid.toml alone"),
        ("mcp.servers", "[mcp.servers.a]\ncommand = \"sh\"", "is changed in limpid.toml alone"),
        ("notify.command", "sh", "is changed in limpid.toml alone"),
        ("heartbeat.check", "sh", "is changed in limpid.toml alone"),
        ("provider", "[provider.a]\nbase_url = \"http://x\"", "is changed in limpid.toml alone"),
        ("page.public", "true", "is changed in limpid.toml alone"),
        ("no.such", "1", "there is no setting"),
        // After these no screen could show a prompt.
        ("agent.profile", "nonsense", "unknown profile"),
        ("agent.mode", "xyz", "There is no mode"),
        ("agent.mode", "focus", "There is no mode"),
        ("model", "gpt-5", "names no provider"),
        ("fallback", "openai/scripted\nno-such/model", "is no known provider"),
        ("heartbeat.model", "x", "names no provider"),
    ];
    for (key, words, why) in wrong {
        let answer = bench.post("/settings/value", &[("key", key), ("words", words)]).send().await.unwrap();
        let (status, said) = (answer.status(), answer.text().await.unwrap());
        assert!(status.is_client_error() && said.contains(why), "{key}: {status} {said}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
    // The words are those that the command line has for the same fault, first, and without the lines of the file.
    let answer = bench.post("/settings/value", &[("key", "owner.zone"), ("words", "Berlin")]).send().await.unwrap();
    let words = "\"Berlin\" isn't a time zone; write an IANA name such as Europe/Berlin";
    assert_eq!(answer.text().await.unwrap(), format!("{words}. {} was not changed.", file.display()));
    let there = "[owner]\nzone = \"Berlin\"\n";
    assert_eq!(Config::parse(there, "limpid.toml").unwrap_err().message(), words);
    // Another site's page changes nothing.
    let foreign = bench.client.post(format!("{}/settings/value", bench.url)).header("origin", "http://evil.example");
    let foreign = foreign.header("content-type", "application/x-www-form-urlencoded").body("key=model&words=x/y");
    assert!(foreign.send().await.unwrap().status().is_client_error());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
}

// SUR-026
#[tokio::test]
async fn the_owners_memory_instructions_reach_the_prompt() {
    let own = "[agent]\nprofile = \"kai\"\n[memory]\ninstructions = \"Keep the names of ships alone.\"\n";
    for (config, is_there) in [("[agent]\nprofile = \"kai\"\n", false), (own, true)] {
        let bench = PageBench::new(QUIET, config).await;
        assert_eq!(bench.html("/prompt/next").await.contains("Keep the names of ships alone."), is_there);
    }
}

// SUR-025
#[tokio::test]
async fn what_was_spent_has_a_screen_without_any_data() {
    let bench = Bench::new().await;
    for days in ["", "?days=7", "?days=90"] {
        let (status, html) = bench.get(&format!("/cost{days}")).await;
        assert_eq!(status, StatusCode::OK, "{html}");
        assert!(html.contains("No requests in these days."), "{html}");
    }
    assert_eq!(bench.get("/cost?days=8").await.0, StatusCode::UNPROCESSABLE_ENTITY);
}

// SUR-023
#[tokio::test]
async fn a_heartbeat_that_a_question_keeps_from_running_says_so_with_the_way_there() {
    let script =
        "[[reply]]\ncalls = [{ name = \"write_file\", arguments = { path = \"notes.md\", content = \"x\" } }]\n";
    let bench = PageBench::new(script, "[tools]\ndefer = false\n[policy]\nask = [{ tool = \"write_file\" }]\n").await;
    bench.sent("/settings/heartbeat", &[("enabled", "true")]).await;
    let told = bench.sent("/c/new/send", &[("text", "Write it down")]).await;
    let id = told["conversation"].as_str().unwrap();
    bench.pieces(id, "", |piece| piece["html"].as_str().unwrap_or_default().contains("data-call")).await;
    let answer = bench.post("/settings/heartbeat/run", &[]).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let told: serde_json::Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
    let words = "The heartbeat was not run: a question waits for your answer in “Write it down”.";
    assert_eq!((told["error"].as_str().unwrap(), told["at"].as_str().unwrap()), (words, format!("/c/{id}").as_str()));
}
