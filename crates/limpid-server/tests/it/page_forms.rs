//! Forms of MCP servers at the page.

use limpid_testkit::{McpScript, real_mcp_server};
use reqwest::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::kit::PageBench;

/// A page whose agent has a server; the model calls these tools of it one after the other, once for each message.
struct Asked {
    bench: PageBench,
    id: String,
}

impl Asked {
    async fn new(words: &[String], calls: &[&str]) -> Self {
        let mut script = String::new();
        let mut config = "[tools]\ndefer = false\n[owner]\nzone = \"Europe/Berlin\"\n".to_owned();
        let arguments: Vec<String> = words[1..].iter().map(|word| format!("{word:?}")).collect();
        config.push_str(&format!("[mcp.servers.desk]\ncommand = {:?}\nargs = [{}]\n", words[0], arguments.join(", ")));
        for name in calls {
            script.push_str(&format!(
                "[[reply]]\ncalls = [{{ name = \"desk__{name}\" }}]\n[[reply]]\ntext = \"Done.\"\nhang = \"end\"\n"
            ));
            config.push_str(&format!("[mcp.servers.desk.tools.{name}]\neffect = \"look\"\n"));
        }
        let home = tempfile::tempdir().unwrap();
        PageBench::look_at_servers(&home, &config, "desk").await;
        Self { bench: PageBench::of(home, &script, &config).await, id: String::new() }
    }

    /// A page with a server of the test's own, which asks this.
    async fn asking(way: &str, question: Option<Value>) -> (Self, TempDir, McpScript) {
        let folder = tempfile::tempdir().unwrap();
        let script = McpScript::write(folder.path(), &offers(question)).unwrap();
        (Self::new(&script.words(way), &["ask", "visit", "ask_and_die"]).await, folder, script)
    }

    /// Says something, and waits for the form that this leads to.
    async fn form(&mut self) -> Form {
        let to = if self.id.is_empty() { "new" } else { &self.id };
        let told = self.bench.sent(&format!("/c/{to}/send"), &[("text", "begin")]).await;
        told["conversation"].as_str().unwrap().clone_into(&mut self.id);
        self.shown().await
    }

    /// The form that is shown to whoever comes now.
    async fn shown(&self) -> Form {
        let is_form = |piece: &Value| piece["html"].as_str().unwrap_or_default().contains("data-form");
        let pieces = self.bench.pieces(&self.id, "", is_form).await;
        let mark = pieces.last().unwrap()["mark"].as_str().unwrap().to_owned();
        let html = pieces.last().unwrap()["html"].as_str().unwrap().to_owned();
        let number = html.split("data-form=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        Form { html, number, mark }
    }

    /// Answers a form: the status, and what came back.
    async fn answer(&self, form: &Form, does: &str, values: &[(&str, &str)]) -> (StatusCode, String) {
        let mut fields = vec![("form", form.number.as_str()), ("does", does)];
        fields.extend(values);
        let response = self.bench.post(&format!("/c/{}/form", self.id), &fields).send().await.unwrap();
        (response.status(), response.text().await.unwrap())
    }

    /// Waits for a note and for what the model makes of the end of the tool, and stops the answer. What the model was sent.
    async fn ends(&self, form: &Form, note: &str) -> String {
        let has = |piece: &Value, text: &str| piece["html"].as_str().unwrap_or_default().contains(text);
        self.bench.pieces(&self.id, &form.mark, |piece| has(piece, note)).await;
        self.bench.pieces(&self.id, &form.mark, |piece| has(piece, "Done.")).await;
        self.stop(form).await;
        self.bench.requests().last().unwrap().clone()
    }

    async fn stop(&self, form: &Form) {
        self.bench.sent(&format!("/c/{}/stop", self.id), &[]).await;
        self.bench.pieces(&self.id, &form.mark, |piece| piece["of"] == "reload").await;
    }
}

struct Form {
    html: String,
    number: String,
    /// The piece that shows it.
    mark: String,
}

fn offers(question: Option<Value>) -> Value {
    let tool = |name: &str| json!({ "name": name, "description": "about it", "inputSchema": { "type": "object" } });
    let questions: Value = question.map_or_else(|| json!({}), |question| json!({ "ask": question }));
    json!({ "tools": [tool("ask"), tool("visit"), tool("ask_and_die")], "questions": questions })
}

/// What the test's server asks with fields of every kind.
fn every_kind() -> Value {
    let titled = |name: &str, title: &str| json!({ "const": name, "title": title });
    let fields = json!({
        "text": { "type": "string", "minLength": 2, "maxLength": 5 },
        "mail": { "type": "string", "format": "email" },
        "when": { "type": "string", "format": "date-time" },
        "whole": { "type": "integer", "minimum": 1, "maximum": 9 },
        "number": { "type": "number" },
        "sure": { "type": "boolean" },
        "one": { "type": "string", "oneOf": [titled("r", "Red"), titled("b", "Blue")] },
        "some": { "type": "array", "minItems": 1, "items": { "type": "string", "enum": ["x", "y", "z"] } },
        "left": { "type": "string" },
    });
    let required = ["text", "mail", "when", "whole", "number", "sure", "one", "some"];
    json!({ "mode": "form", "message": "<b>Which one?</b>", "requestedSchema": {
        "type": "object", "properties": fields, "required": required } })
}

/// The place of a field in a form, by its title.
fn place(form: &Form, title: &str) -> String {
    let is_title = |at: &usize| ["<", "\n"].iter().any(|end| form.html[*at..].starts_with(&format!(">{title}{end}")));
    let at = form.html.match_indices('>').map(|(at, _)| at).find(is_title).unwrap();
    let mut parts = form.html[..at].rsplit(['"', '-']);
    let id = parts.find(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    format!("f{}", id.unwrap())
}

// SUR-020 SUR-034 SEC-077
#[tokio::test(flavor = "multi_thread")]
async fn a_form_of_a_server_is_filled_in_and_what_does_not_fit_is_said_at_its_field() {
    for way in ["", "modern"] {
        let (mut asked, _folder, _script) = Asked::asking(way, Some(every_kind())).await;
        let form = asked.form().await;
        assert!(form.html.contains("The MCP server <code>desk</code> asks you something"), "{}", form.html);
        assert!(form.html.contains("<p class=\"foreign\">&#60;b&#62;Which one?&#60;/b&#62;</p>"), "{}", form.html);
        let names = ["text", "mail", "when", "whole", "number", "sure", "one", "some"];
        let places: Vec<String> = names.iter().map(|name| place(&form, name)).collect();
        let given = |values: [&'static str; 8]| -> Vec<(&str, &str)> {
            places.iter().map(String::as_str).zip(values).collect()
        };
        let (status, told) = asked.answer(&form, "send", &given(["a", "a@", "", "10", "x", "", "2", "3"])).await;
        assert_eq!(status, StatusCode::OK);
        let told: Value = serde_json::from_str(&told).unwrap();
        let wrong: Vec<String> = told["wrong"].as_array().unwrap().iter().map(|wrong| wrong[1].to_string()).collect();
        assert_eq!(wrong.len(), 8, "{told}");
        for why in
            ["Text, 2 to 5 characters", "A mail address", "has to be filled in", "1 to 9", "A number", "One of 2"]
        {
            assert!(wrong.iter().any(|wrong| wrong.contains(why)), "{why}: {wrong:?}");
        }
        let right = given(["abc", "a@b.example", "2026-07-28T12:00", "7", "1.5", "no", "1", "2"]);
        assert_eq!(asked.answer(&form, "send", &right).await, (StatusCode::OK, "{}".to_owned()));
        let said = asked.ends(&form, "Your answer was sent to the MCP server desk.").await;
        let sent = said.replace("\\\\", "\\").replace("\\\"", "\"");
        for part in [
            "\"action\": \"accept\"",
            "\"text\": \"abc\"",
            "\"mail\": \"a@b.example\"",
            "\"when\": \"2026-07-28T10:00:00Z\"",
            "\"whole\": 7",
            "\"number\": 1.5",
            "\"sure\": false",
            "\"one\": \"b\"",
            "\"some\": [\"z\"]",
        ] {
            assert!(sent.contains(part), "{way} {part}: {sent}");
        }
        assert!(!sent.contains("\"left\""), "{sent}");
        assert!(!asked.bench.requests().iter().any(|request| request.contains("Which one?")), "no model reads it");
    }
}

// SUR-020 SUR-034 SEC-077
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_to_the_form_that_was_seen_and_counts_once() {
    let (mut asked, _folder, _script) = Asked::asking("", None).await;
    let form = asked.form().await;
    // A second tab, and one that was loaded again, see the same form.
    let screen = asked.bench.html(&format!("/c/{}", asked.id)).await;
    assert!(!screen.contains("data-form"), "the turn comes as pieces: {screen}");
    assert_eq!(asked.shown().await.html, form.html);
    let number: u64 = form.number.parse().unwrap();
    for other in [number - 1, number + 1] {
        let other = Form { html: String::new(), number: other.to_string(), mark: String::new() };
        let (status, told) = asked.answer(&other, "refuse", &[]).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{told}");
    }
    let elsewhere = [("form", form.number.as_str()), ("does", "refuse")];
    let elsewhere = asked.bench.post("/c/other/form", &elsewhere).send().await.unwrap();
    assert_eq!(elsewhere.status(), StatusCode::UNPROCESSABLE_ENTITY, "it is the form of another conversation");
    assert_eq!(asked.answer(&form, "often", &[]).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(asked.answer(&form, "refuse", &[]).await.0, StatusCode::OK);
    let (status, told) = asked.answer(&form, "send", &[("f1", "5")]).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(told.contains("Nothing was sent"), "{told}");
    let said = asked.ends(&form, "You refused to answer the MCP server desk.").await;
    assert!(said.contains("decline") && !said.contains("accept"), "{said}");
    // An address is agreed to; it is no link.
    let visit = asked.form().await;
    assert!(visit.html.contains("<p class=\"foreign\">https://pay.example/a?b=c</p>"), "{}", visit.html);
    assert!(visit.html.contains("<dt>Host</dt><dd><code>pay.example</code></dd>"), "{}", visit.html);
    assert!(!visit.html.contains("href"), "{}", visit.html);
    assert_ne!(visit.number, form.number);
    assert_eq!(asked.answer(&form, "send", &[]).await.0, StatusCode::UNPROCESSABLE_ENTITY, "it was the form before");
    assert_eq!(asked.answer(&visit, "send", &[]).await.0, StatusCode::OK);
    let said = asked.ends(&visit, "Your answer was sent to the MCP server desk.").await;
    assert!(said.contains("accept"), "{said}");
}

// SUR-020 SUR-034
#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_server_or_of_the_turn_takes_its_form_away() {
    let (mut asked, _folder, script) = Asked::asking("", None).await;
    let form = asked.form().await;
    asked.stop(&form).await;
    let (status, told) = asked.answer(&form, "send", &[("f1", "5")]).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{told}");
    let pieces = asked.bench.pieces(&asked.id, "", |piece| piece["of"] == "reload").await;
    assert!(!pieces.iter().any(|piece| piece["html"].as_str().unwrap_or_default().contains("data-form")), "{pieces:?}");

    let mut asked = Asked::new(&script.words(""), &["ask_and_die"]).await;
    let form = asked.form().await;
    let mut offers = offers(None);
    offers["ends"] = true.into();
    script.offer(&offers).unwrap();
    let said = asked.ends(&form, "The MCP server desk stopped waiting for your answer. Nothing was sent.").await;
    assert!(said.contains("closed the connection"), "{said}");
    assert_eq!(asked.answer(&form, "send", &[("f1", "5")]).await.0, StatusCode::UNPROCESSABLE_ENTITY);
}

// SUR-020 SUR-034
#[tokio::test(flavor = "multi_thread")]
async fn a_form_of_a_real_server_is_sent_as_it_was_proposed() {
    let Some(words) = real_mcp_server("everything") else { return };
    let mut asked = Asked::new(&words, &["trigger-elicitation-request"]).await;
    let form = asked.form().await;
    // What a browser sends when nothing but the name was typed.
    let name = place(&form, "String");
    let mut values = vec![(name.as_str(), "Ada")];
    for part in form.html.split('<').filter(|part| part.starts_with("input")) {
        let value = |key: &str| Some(part.split_once(&format!("{key}=\""))?.1.split('"').next().unwrap());
        let is_choice = ["radio", "checkbox"].contains(&value("type").unwrap());
        if !is_choice || part.contains(" checked") {
            values.extend(value(" name").filter(|field| *field != name).zip(value(" value")));
        }
    }
    assert_eq!(asked.answer(&form, "send", &values).await, (StatusCode::OK, "{}".to_owned()));
    let said = asked.ends(&form, "Your answer was sent to the MCP server desk.").await;
    assert!(said.contains("Ada") && said.contains("hero-1") && said.contains("42"), "{said}");
}
