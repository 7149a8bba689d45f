use std::io::Cursor;

use proptest::prelude::*;

use super::*;

/// Writes a GGUF file by hand.
#[derive(Clone, Default)]
pub(crate) struct Builder {
    settings: Vec<u8>,
    setting_count: u64,
    tensors: Vec<u8>,
    tensor_count: u64,
    data: usize,
}

impl Builder {
    /// A model of two layers with one tensor of 64 half-precision numbers.
    pub(crate) fn small() -> Self {
        Self { data: 128, ..Self::default() }
            .text("general.architecture", "llama")
            .number("llama.block_count", 2)
            .number("llama.context_length", 2048)
            .number("llama.embedding_length", 64)
            .number("llama.attention.head_count", 4)
            .number("llama.attention.head_count_kv", 2)
            .text("tokenizer.chat_template", "{{ messages }}")
            .texts("tokenizer.ggml.tokens", &["a", "<s>", "</s>"])
            .number("tokenizer.ggml.bos_token_id", 1)
            .number("tokenizer.ggml.eos_token_id", 2)
            .tensor("output", 64, 1, 0)
    }

    fn setting(mut self, key: &str, kind: u32, value: &[u8]) -> Self {
        self.settings.extend(text(key));
        self.settings.extend(kind.to_le_bytes());
        self.settings.extend(value);
        self.setting_count += 1;
        self
    }

    fn text(self, key: &str, value: &str) -> Self {
        self.setting(key, 8, &text(value))
    }

    fn number(self, key: &str, value: u32) -> Self {
        self.setting(key, 4, &value.to_le_bytes())
    }

    fn texts(self, key: &str, values: &[&str]) -> Self {
        let mut bytes = 8u32.to_le_bytes().to_vec();
        bytes.extend((values.len() as u64).to_le_bytes());
        values.iter().for_each(|value| bytes.extend(text(value)));
        self.setting(key, 9, &bytes)
    }

    fn tensor(mut self, name: &str, numbers: u64, kind: u32, offset: u64) -> Self {
        self.tensors.extend(text(name));
        self.tensors.extend(1u32.to_le_bytes());
        self.tensors.extend(numbers.to_le_bytes());
        self.tensors.extend(kind.to_le_bytes());
        self.tensors.extend(offset.to_le_bytes());
        self.tensor_count += 1;
        self
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(3u32.to_le_bytes());
        bytes.extend(self.tensor_count.to_le_bytes());
        bytes.extend(self.setting_count.to_le_bytes());
        bytes.extend(&self.settings);
        bytes.extend(&self.tensors);
        bytes.resize(bytes.len().next_multiple_of(32) + self.data, 0);
        bytes
    }
}

fn text(value: &str) -> Vec<u8> {
    let mut bytes = (value.len() as u64).to_le_bytes().to_vec();
    bytes.extend(value.as_bytes());
    bytes
}

fn error(bytes: Vec<u8>) -> String {
    Gguf::read(Cursor::new(bytes)).expect_err("the file is wrong").to_string()
}

#[test]
fn a_header_tells_the_architecture_the_template_the_window_and_the_cache() {
    let gguf = Gguf::read(Cursor::new(Builder::small().bytes())).unwrap();
    assert_eq!(gguf.architecture(), Some("llama"));
    assert_eq!(gguf.chat_template(), Some("{{ messages }}"));
    assert_eq!((gguf.bos_token.as_deref(), gguf.eos_token.as_deref()), (Some("<s>"), Some("</s>")));
    assert_eq!(gguf.context_length(), Some(2048));
    assert_eq!(gguf.vocabulary(), Some(3));
    // Two layers of two heads of 16 numbers, keys and values, two bytes each.
    assert_eq!(gguf.cache_bytes_per_token(), Some(2 * 2 * 16 * 2 * 2));
    assert_eq!(gguf.weight_bytes, 128);
}

// SEC-042
#[test]
fn a_file_that_is_no_gguf_is_refused_by_what_it_begins_with() {
    assert_eq!(
        error(b"<!DOCTYPE html>".to_vec()),
        "it is no GGUF file: it begins with `<!DO`; fetch a model in the GGUF format"
    );
    assert_eq!(
        error(b"GG".to_vec()),
        "it is no GGUF file: it begins with 2 bytes and then ends; fetch a model in the GGUF format"
    );
    let mut old = Builder::small().bytes();
    old[4] = 1;
    assert!(error(old).starts_with("its GGUF version is 1"));
}

// SEC-042
#[test]
fn a_file_that_is_cut_off_anywhere_is_refused() {
    let whole = Builder::small().bytes();
    for length in 4..whole.len() {
        let text = error(whole[..length].to_vec());
        assert!(text.starts_with("it is cut off"), "{length}: {text}");
    }
    let text = error(whole[..whole.len() - 1].to_vec());
    assert_eq!(
        text,
        format!(
            "it is cut off: the tensor `output` needs {} bytes and the file has {}; fetch it again",
            whole.len(),
            whole.len() - 1
        )
    );
}

// SEC-042
#[test]
fn contradictions_are_refused() {
    let cases = [
        (Builder::small().text("general.architecture", "x"), "stands in it twice"),
        (Builder::small().number("general.alignment", 48), "not a power of two"),
        (Builder::small().setting("x", 99, &[]), "unknown kind 99"),
        (Builder::small().tensor("odd", 1, 0, 7), "odd place 7"),
        (Builder::small().tensor("vast", u64::MAX, 0, 0), "impossibly large"),
        (Builder::small().tensor("far", 1 << 40, 0, 0), "it is cut off: the tensor `far`"),
    ];
    for (builder, expected) in cases {
        let text = error(builder.bytes());
        assert!(text.contains(expected), "{text}");
    }
}

// SEC-042
#[test]
fn a_folder_and_a_missing_file_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Gguf::open(folder.path()).is_err());
    assert!(Gguf::open(&folder.path().join("none.gguf")).is_err());
}

proptest! {
    // SEC-044
    #[test]
    fn any_bytes_give_a_header_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..512)) {
        let _ = Gguf::read(Cursor::new(&bytes));
        let with_magic: Vec<u8> = b"GGUF\x03\0\0\0".iter().copied().chain(bytes).collect();
        let _ = Gguf::read(Cursor::new(with_magic));
    }

    // SEC-044
    #[test]
    fn a_header_with_flipped_bytes_gives_a_header_or_an_error(
        flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = Builder::small().bytes();
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(gguf) = Gguf::read(Cursor::new(bytes)) {
            let _ = (gguf.cache_bytes_per_token(), gguf.context_length(), gguf.chat_template());
        }
    }
}
