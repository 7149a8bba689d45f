//! `memory index`.

use indicatif::{ProgressBar, ProgressStyle};
use limpid_runtime::{Agent, Indexed, SemanticState};
use limpid_store::IndexState;
use serde_json::json;

use crate::failure::Failure;
use crate::output;

/// Shows what search covers. With `fill` the semantic index is given what it lacks first, all of it anew if that is true.
///
/// # Errors
/// When the model of embeddings cannot be asked, or the store fails.
pub(super) async fn run(agent: &Agent, fill: Option<bool>, json: bool) -> Result<(), Failure> {
    if let Some(anew) = fill {
        self::fill(agent, anew).await?;
    }
    let (words, meanings) = (agent.memory().word_index().await?, agent.memory().semantic_state().await?);
    if json {
        return output::json("index", &as_json(words, meanings.as_ref()));
    }
    output::line(&format!("words: {} of {} memories", words.indexed, words.memories))?;
    output::line(&match meanings {
        None => "meaning: off; `model` under `[memory.semantic]` in limpid.toml switches it on".to_owned(),
        Some(SemanticState { model, covers, .. }) => format!(
            "meaning ({model}): {} of {} memories, {} of {} messages",
            covers.memories_seen, covers.memories, covers.messages_seen, covers.messages
        ),
    })
}

/// Gives the index what it lacks, with a bar at a terminal. Whoever stops it loses a batch.
async fn fill(agent: &Agent, anew: bool) -> Result<(), Failure> {
    let Some(SemanticState { covers, .. }) = agent.memory().semantic_state().await? else { return Ok(()) };
    let missing = (covers.memories + covers.messages).saturating_sub(covers.memories_seen + covers.messages_seen);
    let bar = ProgressBar::new(if anew { covers.memories + covers.messages } else { missing });
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} texts {per_sec}, {eta} left") {
        bar.set_style(style);
    }
    let indexed = agent.memory().index_meanings(anew, |indexed| bar.set_position(indexed.kept)).await;
    bar.finish_and_clear();
    let Indexed { kept, refused } = indexed?.unwrap_or_default();
    if kept > 0 {
        output::tell(&format!("{kept} texts were looked at."));
    }
    if refused > 0 {
        output::tell(&format!("{refused} of them the model refuses; their words find them."));
    }
    Ok(())
}

fn as_json(words: IndexState, meanings: Option<&SemanticState>) -> serde_json::Value {
    let meanings = meanings.map(|state| {
        json!({
            "model": state.model,
            "memories": state.covers.memories,
            "memories_indexed": state.covers.memories_seen,
            "messages": state.covers.messages,
            "messages_indexed": state.covers.messages_seen,
        })
    });
    json!({
        "words": { "memories": words.memories, "memories_indexed": words.indexed },
        "meaning": meanings,
    })
}
