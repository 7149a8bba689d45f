//! Finding memories by the words of a text and by its meaning.

use limpid_core::Memory;
use limpid_core::recall::{query_words, rank};
use limpid_store::{Store, StoreError};

use crate::memory::SemanticIndex;

/// Memories that are ranked: of those that hold a word, the ones whose words are worth most.
const CANDIDATES: u32 = 100;

/// What a query found.
pub struct Recalled {
    /// The words that were searched.
    pub words: Vec<String>,
    /// How many memories there are.
    pub of: u64,
    /// Those that hold any of the words or mean the like: the owner's before strangers', and of each the best first.
    pub memories: Vec<Memory>,
    /// How many more do, but cannot be read.
    pub broken: usize,
}

/// Finds memories by the words of a text and by its meaning, for the model and for the owner alike.
///
/// # Errors
/// When the store cannot be read.
pub async fn recall(
    store: &dyn Store,
    semantics: Option<&SemanticIndex>,
    text: &str,
    now_ms: i64,
) -> Result<Recalled, StoreError> {
    let words = query_words(text);
    let meaning = match semantics {
        Some(semantics) if !words.is_empty() => semantics.meaning(text, now_ms).await,
        _ => None,
    };
    let found = store.candidates(&words, meaning.as_ref(), CANDIDATES).await?;
    let (theirs, ours): (Vec<Memory>, Vec<Memory>) =
        found.memories.into_iter().partition(|memory| memory.trust.is_foreign());
    let mut ranked = rank(&found.corpus, ours, &found.likeness, now_ms);
    ranked.extend(rank(&found.whole, theirs, &found.likeness, now_ms));
    let memories = ranked.into_iter().map(|hit| hit.memory).collect();
    Ok(Recalled { words, of: found.whole.documents, memories, broken: found.broken.len() })
}
