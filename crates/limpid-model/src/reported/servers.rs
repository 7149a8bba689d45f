//! Servers that say more elsewhere than in their list: Ollama, llama.cpp and LM Studio.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{Question, id_of};
use crate::catalogue::tokens;
use crate::protocol::{MOST_UNASKED, Protocol};
use crate::remote::Listing;

/// Models of an Ollama server that are asked about.
const MOST_SHOWN: usize = 32;

/// The smallest window that is worth a conversation; less memory than that needs is left to the server to judge.
const LEAST_WINDOW: u32 = 4096;

/// Adds to the rows of a list what the server says elsewhere. What it does not answer stays unknown.
pub(super) async fn more(listing: &Listing, protocol: Protocol, question: &Question<'_>, rows: &mut Vec<Value>) {
    if protocol == Protocol::Ollama {
        ollama(listing, question, rows).await;
    } else if rows.iter().any(|row| row["owned_by"] == "llamacpp") {
        llama_cpp(listing, question, rows).await;
    } else if question.provider == "lmstudio"
        && let Ok(listed) = listing.get_root("/api/v0/models").await
        && let Some(models) = listed["data"].as_array()
    {
        rows.clone_from(models);
    }
}

/// Asks about each model, the wanted one first.
async fn ollama(listing: &Listing, question: &Question<'_>, rows: &mut [Value]) {
    let wanted = |row: &Value| id_of(row).is_some_and(|id| is_same(id, question.model));
    rows.sort_by_key(|row| !wanted(row));
    let asked = rows.iter_mut().take(MOST_SHOWN).map(async |row| {
        let Some(name) = id_of(row) else { return };
        if let Ok(shown) = listing.post("/api/show", &json!({ "model": name })).await {
            row["context_length"] = ollama_window(&shown, row["size"].as_u64(), question.memory).into();
            row["capabilities"] = shown["capabilities"].clone();
            row["vision"] = shown["capabilities"].as_array().map(|all| all.iter().any(|word| word == "vision")).into();
        }
    });
    join_all(asked).await;
    // A name without a tag means the newest.
    if let Some(row) = rows.iter_mut().find(|row| id_of(row).is_some_and(|id| is_same(id, question.model))) {
        row["id"] = question.model.into();
    }
}

fn is_same(listed: &str, wanted: &str) -> bool {
    listed == wanted || listed.strip_suffix(":latest") == Some(wanted)
}

/// The window that is asked for: the least of what the model has, what memory allows, and what is enough.
fn ollama_window(shown: &Value, weights: Option<u64>, memory: Option<u64>) -> Option<u32> {
    let about = shown["model_info"].as_object()?;
    let kind = about.get("general.architecture").and_then(Value::as_str).unwrap_or_default();
    let said = |name: &str| about.get(&format!("{kind}.{name}"));
    let mut window = tokens(said("context_length"))?.min(MOST_UNASKED);
    let number = |name: &str| said(name).and_then(Value::as_u64);
    let heads = number("attention.head_count").filter(|heads| *heads > 0);
    let wide = number("attention.key_length").or_else(|| Some(number("embedding_length")? / heads?));
    let kept = number("attention.head_count_kv").or(heads);
    if let (Some(memory), Some(layers), Some(wide), Some(kept)) = (memory, number("block_count"), wide, kept) {
        // Keys and values of two bytes each.
        let each = layers.saturating_mul(kept).saturating_mul(wide).saturating_mul(4).max(1);
        let room = memory.saturating_sub(weights.unwrap_or_default()) / each;
        while window > LEAST_WINDOW && u64::from(window) > room {
            window /= 2;
        }
    }
    Some(window)
}

/// One model answers whatever name is asked for; a slot's window is that of a conversation.
async fn llama_cpp(listing: &Listing, question: &Question<'_>, rows: &mut Vec<Value>) {
    if let Ok(props) = listing.get_root("/props").await
        && let [row] = rows.as_mut_slice()
    {
        if let Some(slot) = tokens(props["default_generation_settings"].get("n_ctx")) {
            row["meta"]["n_ctx"] = slot.into();
        }
        if let Some(read) = props["modalities"].as_object() {
            let kinds = [("image", "vision"), ("audio", "audio")];
            let more = kinds.into_iter().filter(|(_, theirs)| read.get(*theirs) == Some(&Value::Bool(true)));
            let kinds: Vec<&str> = ["text"].into_iter().chain(more.map(|(kind, _)| kind)).collect();
            row["architecture"]["input_modalities"] = kinds.into();
        }
        row["chat_template_caps"] = props["chat_template_caps"].clone();
    }
    if let [row] = rows.as_slice()
        && id_of(row) != Some(question.model)
    {
        let mut same = row.clone();
        same["id"] = question.model.into();
        rows.push(same);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(window: u32) -> Value {
        json!({ "model_info": {
            "general.architecture": "llama", "llama.context_length": window, "llama.block_count": 32,
            "llama.attention.head_count": 32, "llama.attention.head_count_kv": 8, "llama.embedding_length": 4096,
        } })
    }

    // MOD-150
    #[test]
    fn the_window_of_an_ollama_model_is_the_least_of_its_own_memory_and_what_is_enough() {
        assert_eq!(ollama_window(&shown(8192), None, None), Some(8192));
        assert_eq!(ollama_window(&shown(131_072), None, None), Some(32_768));
        // 128 KiB for each token: 1 GiB is room for 8,192.
        let room = |memory| ollama_window(&shown(131_072), Some(5 << 30), Some(memory));
        assert_eq!([room(6 << 30), room(64 << 30), room(1 << 30)], [Some(8192), Some(32_768), Some(4096)]);
        assert_eq!(ollama_window(&json!({}), None, None), None);
    }
}
