//! Models that say what texts mean, behind one trait, whoever serves them.

use std::path::Path;
use std::sync::Arc;

use futures_util::future::{BoxFuture, FutureExt, ready};
use limpid_core::FailureClass;
use limpid_core::recall::Embedding;

use crate::model::ModelError;
use crate::provider::{ResolveError, Settings, endpoint, split_name};
use crate::remote::RemoteEmbedder;
use crate::script::Script;

/// A model that says where texts point.
pub trait Embedder: Send + Sync {
    /// `provider/model`: embeddings of the same name can be compared.
    fn name(&self) -> &str;

    /// Where these texts point, one answer a text, in their order. None of a text that has no direction.
    ///
    /// # Errors
    /// When the model cannot be asked; [`FailureClass::TooLarge`], [`FailureClass::Overflow`] or
    /// [`FailureClass::Malformed`] when it may be for one of the texts.
    fn embed(&self, texts: Vec<String>) -> BoxFuture<'static, Result<Vec<Option<Embedding>>, ModelError>>;
}

/// Makes the embedder that `provider/model` names; nothing is sent yet. `scripted/FILE` is one that goes by the words that
/// the file says mean the same.
///
/// # Errors
/// When the provider is not known, needs a key that is not set, or serves no embeddings.
pub fn resolve_embedder(name: &str, settings: &Settings) -> Result<Arc<dyn Embedder>, ResolveError> {
    let (provider, model) = split_name(name)?;
    if provider == "scripted" {
        return Ok(Arc::new(ScriptedEmbedder::new(name, Script::load(Path::new(model))?)));
    }
    Ok(Arc::new(RemoteEmbedder::new(provider, model, endpoint(provider, model, settings)?)?))
}

/// An embedder that counts words, those that mean the same by its script as one: for tests and demonstrations.
#[derive(Clone, Debug)]
pub struct ScriptedEmbedder {
    name: String,
    script: Arc<Script>,
}

/// Directions that a scripted embedder knows; words share one by chance, rarely.
const DIRECTIONS: u64 = 512;

impl ScriptedEmbedder {
    /// An embedder by a name.
    pub fn new(name: &str, script: Script) -> Self {
        Self { name: name.to_owned(), script: Arc::new(script) }
    }

    /// The numbers of a text, before they become an [`Embedding`].
    pub fn numbers(&self, text: &str) -> Vec<f32> {
        let mut numbers = vec![0.0; DIRECTIONS as usize];
        let lower = text.to_lowercase();
        for word in lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let alike = self.script.alike.iter().find(|words| words.iter().any(|known| known == word));
            let word = alike.and_then(|words| words.first()).map_or(word, String::as_str);
            numbers[direction(word)] += 1.0;
        }
        numbers
    }
}

impl Embedder for ScriptedEmbedder {
    fn name(&self) -> &str {
        &self.name
    }

    fn embed(&self, texts: Vec<String>) -> BoxFuture<'static, Result<Vec<Option<Embedding>>, ModelError>> {
        let refused = self.script.reply.iter().find(|reply| {
            reply.is_error() && reply.when.as_deref().is_none_or(|when| texts.iter().any(|text| text.contains(when)))
        });
        let answer = match refused {
            Some(reply) => Err(ModelError::new(FailureClass::Malformed, reply.body.clone())),
            None => Ok(texts.iter().map(|text| Embedding::new(&self.numbers(text))).collect()),
        };
        ready(answer).boxed()
    }
}

/// The direction of a word (FNV-1a, the same everywhere).
fn direction(word: &str) -> usize {
    let mixed = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    (word.bytes().fold(0xcbf2_9ce4_8422_2325, mixed) % DIRECTIONS) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    // KOSHI-029
    #[tokio::test]
    async fn words_of_one_meaning_point_in_one_direction() {
        let script = Script::parse("alike = [[\"sister\", \"family\"]]\n").unwrap();
        let embedder = ScriptedEmbedder::new("scripted/x", script);
        let texts = ["My sister called", "my family called", "the tap drips", "?"].map(str::to_owned).to_vec();
        let seen = embedder.embed(texts).await.unwrap();
        let cosine = |a: usize, b: usize| seen[a].as_ref().unwrap().cosine(seen[b].as_ref().unwrap());
        assert!(cosine(0, 1) > 0.99);
        assert!(cosine(0, 2) < 0.01);
        assert_eq!(seen[3], None);
    }

    // KOSHI-029
    #[test]
    fn who_serves_no_embeddings_says_so() {
        let keys = ["anthropic", "openai"].map(|name| (name.to_owned(), crate::ApiKey::new("k"))).into();
        let settings = Settings { keys, ..Settings::default() };
        let said = |name: &str| resolve_embedder(name, &settings).map(|known| known.name().to_owned());
        assert_eq!(said("openai/text-embedding-3-small").unwrap(), "openai/text-embedding-3-small");
        assert_eq!(said("ollama/nomic-embed-text").unwrap(), "ollama/nomic-embed-text");
        let errors = ["anthropic/claude", "nobody/x", "x"].map(|name| said(name).unwrap_err().to_string());
        insta::assert_snapshot!(errors.join("\n"));
    }
}
