//! A program with a token, and the page's server that it asks.

use std::time::Duration;

use futures_util::StreamExt as _;
use limpid_server::{ApiRole, ApiTokens};
use reqwest::header::AUTHORIZATION;
use reqwest::{RequestBuilder, StatusCode};
use serde_json::{Value, json};

use crate::kit::PageBench;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server, and a program that may ask.
pub(crate) struct ApiBench {
    pub(crate) page: PageBench,
    pub(crate) token: String,
}

impl ApiBench {
    /// A server whose agent's model answers by a script; `config` is more of limpid.toml. The owner sits at the program.
    pub(crate) async fn new(script: &str, config: &str) -> Self {
        Self::with(script, config, ApiRole::Owner).await
    }

    /// The same, for a program of a role.
    pub(crate) async fn with(script: &str, config: &str, role: ApiRole) -> Self {
        let page = PageBench::outside(script, config).await;
        let token = token(&page, "test", role);
        Self { page, token }
    }

    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.page.client.get(format!("{}{path}", self.page.url)).header(AUTHORIZATION, format!("Bearer {}", self.token))
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> RequestBuilder {
        let request = self.page.client.post(format!("{}{path}", self.page.url));
        request.header(AUTHORIZATION, format!("Bearer {}", self.token)).json(body)
    }

    /// What is asked, and what came back.
    pub(crate) async fn ask(&self, path: &str, body: &Value) -> (StatusCode, Value) {
        answer(self.post(path, body)).await
    }

    /// The same for what is only looked at.
    pub(crate) async fn look(&self, path: &str) -> (StatusCode, Value) {
        answer(self.get(path)).await
    }

    /// A chat completion of messages, each as who says it and what, with more fields.
    pub(crate) fn complete(&self, messages: &[(&str, &str)], more: &Value) -> RequestBuilder {
        let messages: Vec<Value> =
            messages.iter().map(|(role, text)| json!({ "role": role, "content": text })).collect();
        let mut body = json!({ "model": "agent", "messages": messages });
        for (name, value) in more.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        self.post("/v1/chat/completions", &body)
    }
}

/// An event: its id and what it says.
pub(crate) type Told = (String, Value);

/// Events of a conversation, until one is the last; `ask` is how they are asked for.
pub(crate) async fn events(ask: RequestBuilder, is_last: impl Fn(&Value) -> bool) -> Vec<Told> {
    let response = ask.send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let mut stream = response.bytes_stream();
    let (mut text, mut told) = (String::new(), Vec::new());
    let reading = async {
        while let Some(more) = stream.next().await {
            text.push_str(std::str::from_utf8(&more.unwrap()).unwrap());
            while let Some((event, rest)) = text.split_once("\n\n") {
                let line = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
                if let (Some(id), Some(data)) = (line("id: "), line("data: ")) {
                    told.push((id.to_owned(), serde_json::from_str(data).unwrap()));
                }
                text = rest.to_owned();
                if told.last().is_some_and(|(_, event)| is_last(event)) {
                    return;
                }
            }
        }
    };
    tokio::time::timeout(PATIENCE, reading).await.expect("the last event comes");
    told
}

/// The token of a program.
pub(crate) fn token(page: &PageBench, name: &str, role: ApiRole) -> String {
    let tokens = ApiTokens::new(page.agent.home());
    tokens.make(name, role, (&page.agent.new_secret(), 0), false).unwrap()
}

/// The status and the JSON of an answer.
pub(crate) async fn answer(request: RequestBuilder) -> (StatusCode, Value) {
    let response = request.send().await.unwrap();
    let status = response.status();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or_else(|_| panic!("{status}: {text}")))
}
