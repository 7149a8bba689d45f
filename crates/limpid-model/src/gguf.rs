//! Reads the header of a GGUF file, and checks it, without loading the model.
//!
//! The engine behind it trusts its input; a file that is cut off, damaged or no GGUF at all is therefore refused here. Nothing is believed before it is compared with the length of the file.

use std::collections::BTreeMap;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

use limpid_config::regular_file;

mod error;
mod reader;
mod tensor;
mod value;

pub use error::GgufError;
use reader::Reader;
pub use value::MetaValue;

const ALIGNMENT: u64 = 32;

/// What the header of a GGUF file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Gguf {
    /// The format's version, 2 or 3.
    pub version: u32,
    /// The settings of the model; long lists are left out.
    pub metadata: BTreeMap<String, MetaValue>,
    /// How many tensors there are.
    pub tensors: u64,
    /// Bytes of the whole file.
    pub file_bytes: u64,
    /// Bytes that the weights take.
    pub weight_bytes: u64,
    /// The text of the token that begins a document, when the file names one.
    pub bos_token: Option<String>,
    /// The text of the token that ends a document, when the file names one.
    pub eos_token: Option<String>,
}

impl Gguf {
    /// Reads and checks the header of the file at `path`.
    ///
    /// # Errors
    /// When the file cannot be read, is no GGUF file, is cut off or contradicts itself.
    pub fn open(path: &Path) -> Result<Self, GgufError> {
        Self::read(BufReader::with_capacity(1 << 16, regular_file::open(path)?))
    }

    /// Reads and checks a header.
    ///
    /// # Errors
    /// As [`Gguf::open`].
    pub fn read<R: Read + Seek>(source: R) -> Result<Self, GgufError> {
        let mut reader = Reader::new(source)?;
        let version = read_start(&mut reader)?;
        let tensors = reader.count("the number of tensors", 24)?;
        let settings = reader.count("the number of settings", 13)?;

        let mut metadata = BTreeMap::new();
        let mut vocabulary = None;
        for _ in 0..settings {
            let key = reader.text("a setting's name")?;
            if key == "tokenizer.ggml.tokens" {
                vocabulary = Some(reader.position());
            }
            let value = value::read(&mut reader, &key)?;
            if metadata.insert(key.clone(), value).is_some() {
                return Err(GgufError::Malformed(format!("the setting `{key}` stands in it twice")));
            }
        }
        let weight_bytes = tensor::check(&mut reader, tensors, alignment(&metadata)?)?;

        let mut gguf = Self {
            version,
            metadata,
            tensors,
            file_bytes: reader.length(),
            weight_bytes,
            bos_token: None,
            eos_token: None,
        };
        if let Some(at) = vocabulary {
            let ids = [gguf.number("tokenizer.ggml.bos_token_id"), gguf.number("tokenizer.ggml.eos_token_id")];
            let [bos, eos] = read_tokens(&mut reader, at, ids)?;
            (gguf.bos_token, gguf.eos_token) = (bos, eos);
        }
        Ok(gguf)
    }

    /// The architecture's name: `llama`, `qwen3`, …
    pub fn architecture(&self) -> Option<&str> {
        self.text("general.architecture")
    }

    /// The model's own name.
    pub fn name(&self) -> Option<&str> {
        self.text("general.name")
    }

    /// The Jinja template that turns messages into the text that the model reads.
    pub fn chat_template(&self) -> Option<&str> {
        self.text("tokenizer.chat_template")
    }

    /// The window that the model was made for, in tokens.
    pub fn context_length(&self) -> Option<u32> {
        self.arch_number("context_length")?.try_into().ok()
    }

    /// Bytes that the keys and values of one token take in memory, at two bytes a number; none when the header does
    /// not say enough.
    pub fn cache_bytes_per_token(&self) -> Option<u64> {
        let layers = self.arch_number("block_count")?;
        let heads = self.arch_number("attention.head_count");
        let head_size =
            |key: &str| self.arch_number(key).or_else(|| self.arch_number("embedding_length")?.checked_div(heads?));
        let size = head_size("attention.key_length")?.checked_add(head_size("attention.value_length")?)?;
        let cached_heads = match self.arch("attention.head_count_kv") {
            Some(MetaValue::List(list)) => {
                list.iter().try_fold(0u64, |sum, &n| sum.checked_add(u64::try_from(n).ok()?))?
            }
            Some(MetaValue::Number(n)) => u64::try_from(*n).ok()?.checked_mul(layers)?,
            _ => heads?.checked_mul(layers)?,
        };
        cached_heads.checked_mul(size)?.checked_mul(2)
    }

    /// How many tokens the vocabulary has.
    pub fn vocabulary(&self) -> Option<u64> {
        match self.metadata.get("tokenizer.ggml.tokens") {
            Some(MetaValue::Long(count)) => Some(*count),
            _ => None,
        }
    }

    fn arch(&self, key: &str) -> Option<&MetaValue> {
        self.metadata.get(&format!("{}.{key}", self.architecture()?))
    }

    fn arch_number(&self, key: &str) -> Option<u64> {
        match self.arch(key)? {
            MetaValue::Number(number) => u64::try_from(*number).ok(),
            MetaValue::List(list) => list.iter().max().and_then(|&most| u64::try_from(most).ok()),
            _ => None,
        }
    }

    fn number(&self, key: &str) -> Option<u64> {
        match self.metadata.get(key)? {
            MetaValue::Number(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    fn text(&self, key: &str) -> Option<&str> {
        match self.metadata.get(key)? {
            MetaValue::Text(text) => Some(text),
            _ => None,
        }
    }
}

fn read_start<R: Read + Seek>(reader: &mut Reader<R>) -> Result<u32, GgufError> {
    let mut magic = [0; 4];
    if reader.length() < 4 {
        return Err(GgufError::Magic(format!("{} bytes and then ends", reader.length())));
    }
    reader.fill(&mut magic, "the first four bytes")?;
    if &magic != b"GGUF" {
        return Err(GgufError::Magic(format!("`{}`", magic.escape_ascii())));
    }
    match reader.u32("the version")? {
        version @ 2..=3 => Ok(version),
        version => Err(GgufError::Version(version)),
    }
}

fn alignment(metadata: &BTreeMap<String, MetaValue>) -> Result<u64, GgufError> {
    match metadata.get("general.alignment") {
        None => Ok(ALIGNMENT),
        Some(MetaValue::Number(n)) => match u64::try_from(*n) {
            Ok(alignment) if alignment.is_power_of_two() && alignment <= 1 << 20 => Ok(alignment),
            _ => Err(GgufError::Malformed(format!("`general.alignment` is {n}, not a power of two"))),
        },
        Some(_) => Err(GgufError::Malformed("`general.alignment` is no number".into())),
    }
}

/// The texts of some tokens of the vocabulary whose list begins at `at`.
fn read_tokens<R: Read + Seek, const N: usize>(
    reader: &mut Reader<R>,
    at: u64,
    ids: [Option<u64>; N],
) -> Result<[Option<String>; N], GgufError> {
    let mut texts = [const { None }; N];
    reader.seek(at)?;
    if (reader.u32("a setting's kind")?, reader.u32("a list's kind")?) != (9, 8) {
        return Ok(texts);
    }
    let count = reader.count("the vocabulary", 8)?;
    for id in 0..count {
        if ids.iter().flatten().all(|wanted| id > *wanted) {
            break;
        }
        if !ids.contains(&Some(id)) {
            reader.skip_text("a token")?;
            continue;
        }
        let text = reader.text("a token")?;
        for (wanted, place) in ids.iter().zip(&mut texts) {
            if *wanted == Some(id) {
                *place = Some(text.clone());
            }
        }
    }
    Ok(texts)
}

#[cfg(test)]
pub(crate) mod tests;
