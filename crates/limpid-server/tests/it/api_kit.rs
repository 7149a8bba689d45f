//! A program with a token, and the page's server that it asks.

use limpid_server::{ApiRole, ApiTokens};
use reqwest::header::AUTHORIZATION;
use reqwest::{RequestBuilder, StatusCode};
use serde_json::{Value, json};

use crate::kit::PageBench;

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
