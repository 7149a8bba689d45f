//! Replies by a script.

use std::sync::Mutex;

use limpid_model::ScriptedEmbedder;
use limpid_model::script::{Player, Reply, Script};
use serde_json::json;

use super::recorded::Recorded;
use crate::lock::lock;
use crate::wire::Wire;

/// A script: what its model says, and what its embeddings are.
pub(super) struct Scripted {
    player: Mutex<Player>,
    embedder: ScriptedEmbedder,
    script: Script,
}

impl Scripted {
    pub(super) fn new(script: Script) -> Self {
        let embedder = ScriptedEmbedder::new("scripted", script.clone());
        Self { player: Mutex::new(script.clone().player()), embedder, script }
    }

    pub(super) fn reply(&self, request: &Recorded, wire: Option<Wire>) -> Option<Reply> {
        if is_embedding(&request.path) {
            return Some(self.embeddings(request));
        }
        wire.and_then(|_| lock(&self.player).next(&request.text()))
    }

    /// The embeddings of the texts that are asked for, or the first error of the script that fits, however often.
    fn embeddings(&self, request: &Recorded) -> Reply {
        let body = request.text();
        let fits = |reply: &&Reply| reply.is_error() && reply.when.as_deref().is_none_or(|when| body.contains(when));
        if let Some(error) = self.script.reply.iter().find(fits) {
            return error.clone();
        }
        let asked = request.json();
        let texts = asked["input"].as_array().into_iter().flatten().map(|text| text.as_str().unwrap_or_default());
        let rows = texts.enumerate().map(|(at, text)| json!({"index": at, "embedding": self.embedder.numbers(text)}));
        let answer = json!({"object": "list", "data": rows.collect::<Vec<_>>()});
        Reply { raw: Some(answer.to_string()), content_type: Some("application/json".to_owned()), ..Reply::default() }
    }
}

fn is_embedding(path: &str) -> bool {
    path.split('?').next().is_some_and(|path| path.ends_with("/embeddings"))
}
