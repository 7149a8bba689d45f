//! A gateway that nobody here wrote before a strict provider: what it loses shows as the provider's own refusal.
//!
//! `LIMPID_TEST_LITELLM` names a Python that has `litellm[proxy]` (`. scripts/parts-real` sets it); without it the test says that it
//! did nothing.

#![allow(clippy::print_stderr, reason = "a test, and one that does nothing must be seen")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::state::converse;
use crate::support::{card, endpoint};
use limpid_core::ToolProtocol;
use limpid_model::protocol::Protocol;
use limpid_model::{Endpoint, ModelCard, RemoteModel};
use limpid_testkit::Strict;
use limpid_testkit::strict::{Answer, Rules};
use serde_json::{Value, json};

/// A running proxy; it ends when this is dropped.
struct Proxy {
    process: Child,
    address: String,
}

impl Proxy {
    /// Starts one before a provider; none when it is not installed.
    fn start(behind: &str) -> Option<Self> {
        let Some(python) = std::env::var_os("LIMPID_TEST_LITELLM").filter(|python| !python.is_empty()) else {
            eprintln!("SKIPPED a test of a real LiteLLM proxy: LIMPID_TEST_LITELLM is not set");
            return None;
        };
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/litellm-proxy.py");
        let mut process = Command::new(python)
            .args([script, behind, "m-1"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut address).unwrap();
        assert!(address.starts_with("http://"), "the proxy says {address:?}");
        Some(Self { process, address: address.trim().to_owned() })
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn thought_and_call(n: usize) -> Vec<Value> {
    vec![
        json!({"type": "thinking", "thinking": format!("Step {n}."), "signature": format!("sig{n}")}),
        json!({"type": "tool_use", "id": format!("toolu_{n}"), "name": "look_up", "input": {"query": "tea"}}),
    ]
}

// MOD-013
#[tokio::test(flavor = "multi_thread")]
async fn a_tool_loop_through_a_gateway_keeps_the_thinking_of_the_provider_behind_it() {
    let end = vec![
        json!({"type": "thinking", "thinking": "Done.", "signature": "sig4"}),
        json!({"type": "text", "text": "Tea."}),
    ];
    let answers = [thought_and_call(1), thought_and_call(2), thought_and_call(3), end.clone(), end];
    let server = Strict::start(Rules::Anthropic, answers.into_iter().map(Answer::Content).collect()).await.unwrap();
    let Some(proxy) = Proxy::start(&server.url()) else { return };
    let endpoint =
        Endpoint { protocol: Protocol::OpenaiChat, ..endpoint("openai", &format!("{}/v1", proxy.address), 30_000) };
    let model = ModelCard { thinking: true, ..card("openai", ToolProtocol::Native) };
    let model = RemoteModel::new(model, endpoint).unwrap();
    converse(&server, &model, 5).await;
    assert_eq!(server.refused(), [""; 0]);
    let body = server.bodies().pop().unwrap();
    for n in 1..=4 {
        assert_eq!(body.to_string().matches(&format!("\"signature\":\"sig{n}\"")).count(), 1, "{body}");
    }
}
