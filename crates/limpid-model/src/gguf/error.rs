//! Why a file cannot be loaded.

/// Why a file is no model that can be loaded.
#[derive(Debug, thiserror::Error)]
pub enum GgufError {
    /// The file could not be read.
    #[error("it cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// The file begins with other bytes than a GGUF file.
    #[error("it is no GGUF file: it begins with {0}; fetch a model in the GGUF format")]
    Magic(String),
    /// The format's version is not known.
    #[error("its GGUF version is {0}, and only 2 and 3 can be read; convert the model again with current tools")]
    Version(u32),
    /// The file is shorter than it says.
    #[error("it is cut off: {what} needs {needs} bytes and the file has {has}; fetch it again")]
    Truncated {
        /// What is missing.
        what: String,
        /// Where that would end.
        needs: u64,
        /// Where the file ends.
        has: u64,
    },
    /// The header contradicts itself.
    #[error("it is damaged: {0}; fetch it again")]
    Malformed(String),
}
