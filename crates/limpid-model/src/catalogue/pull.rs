//! What fetching a model is told, tells, and fails with.

use std::path::PathBuf;
use std::time::Duration;

use crate::gguf::GgufError;
use crate::key::ApiKey;

/// What fetching needs to know of the world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchSettings {
    /// The hub's address, without a path.
    pub hub: String,
    /// The token of the owner's account at the hub, which it is sent to and nobody else.
    pub token: Option<ApiKey>,
    /// The Python that fetches packages.
    pub python: PathBuf,
    /// How long the hub may take to answer at all.
    pub patience: Duration,
    /// How long a transfer may stand still.
    pub idle: Duration,
}

impl Default for FetchSettings {
    fn default() -> Self {
        Self {
            hub: "https://huggingface.co".into(),
            token: None,
            python: "python3".into(),
            patience: Duration::from_secs(5),
            idle: Duration::from_secs(30),
        }
    }
}

/// How far a fetch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes that are there, those of an earlier try included.
    pub bytes: u64,
    /// Bytes in all, when they are known.
    pub total: Option<u64>,
}

/// A model that was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Its name behind `local/`.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
}

/// What is told while the model is fetched that suits a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// How far a transfer is.
    At(Progress),
    /// Another model is fetched from here on.
    Instead(Instead),
}

/// A model that could not be had, and the one in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instead {
    /// Its name behind `local/`.
    pub wanted: String,
    /// The name of the other one.
    pub taken: String,
    /// Why it could not be had.
    pub reason: String,
}

/// A model that was not fetched: why, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum PullError {
    /// The catalogue does not name it.
    #[error("the catalogue has no model `{name}`; it has {known}")]
    Unknown {
        /// The name.
        name: String,
        /// The names that it has.
        known: String,
    },
    /// It is not there.
    #[error("there is no model `{name}`; `limpid model list` shows what is there")]
    Missing {
        /// The name.
        name: String,
    },
    /// The hub or the package index cannot be reached, or has not got it.
    #[error("{place} cannot be reached: {why}; check the network, or put a GGUF file into the models folder by hand")]
    Unreachable {
        /// The hub's or the index's name.
        place: String,
        /// What happened.
        why: String,
    },
    /// The hub gives it only to those who have accepted its licence.
    #[error("{hub}/{repository} answered {status}: {}", advice(hub, repository, *has_token))]
    Gated {
        /// The hub's address.
        hub: String,
        /// Owner and name of the repository.
        repository: String,
        /// The status: 401 or 403.
        status: u16,
        /// Whether a token was sent.
        has_token: bool,
    },
    /// The hub has no such model.
    #[error("{repository}: {why}")]
    NotOnHub {
        /// Owner and name of the repository.
        repository: String,
        /// What is missing, and what there is.
        why: String,
    },
    /// Another model has its name.
    #[error(
        "there is already a model local/{name} from elsewhere; `limpid model remove {name}` makes room for this one"
    )]
    Taken {
        /// The name.
        name: String,
    },
    /// The transfer broke off.
    #[error("the transfer broke off after {bytes} bytes: {why}; fetch again, it goes on from there")]
    BrokeOff {
        /// Bytes that are there.
        bytes: u64,
        /// What happened.
        why: String,
    },
    /// It was interrupted; what was fetched is kept.
    #[error("interrupted; fetch again, what came of the file is kept")]
    Interrupted,
    /// Another program is fetching the same model.
    #[error("another program is fetching this model; wait for it")]
    Busy,
    /// What came is not what the catalogue says.
    #[error("{} is not what the catalogue says: {what}; fetch it again", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// What differs.
        what: String,
    },
    /// What is there is no model.
    #[error("{} is damaged: {source}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: GgufError,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: std::io::Error,
    },
}

/// What to do about a model that the hub does not give to everybody.
fn advice(hub: &str, repository: &str, has_token: bool) -> String {
    let licence = format!("accept the model's licence at {hub}/{repository}");
    match has_token {
        true => format!("{licence} with the account of HF_TOKEN, and check that the token may read it"),
        false => format!("if the model is gated or private, {licence} and set HF_TOKEN to a token of that account"),
    }
}
