//! How the program fails: one kind of error at the edge, with what to do, and the exit code that scripts read.

use std::fmt;

/// Why the program ended, as its exit code says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// It did what was asked.
    Done,
    /// Something went wrong that no other code names.
    Failed,
    /// The command line was wrong.
    Usage,
    /// A file of the owner's is wrong: limpid.toml, a profile, a section, an inputs file.
    Files,
    /// A model could not be had, or its provider failed.
    Model,
    /// The database could not be used.
    Store,
    /// A check or a test found something.
    Findings,
    /// It was interrupted.
    Interrupted,
}

impl ExitStatus {
    /// Every status, by its code.
    pub const ALL: [Self; 8] = [
        Self::Done,
        Self::Failed,
        Self::Usage,
        Self::Files,
        Self::Model,
        Self::Store,
        Self::Findings,
        Self::Interrupted,
    ];

    /// The exit code.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Files => 3,
            Self::Model => 4,
            Self::Store => 5,
            Self::Findings => 6,
            Self::Interrupted => 130,
        }
    }

    /// What the code means, for the table in `docs/cli.md`.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Done => "It did what was asked.",
            Self::Failed => "Something went wrong that no other code names.",
            Self::Usage => {
                "The command line was wrong: an unknown command or option, an id that does not exist, no `--hash` where `file accept` or `memory approve` can ask nobody."
            }
            Self::Files => "A file of yours is wrong: limpid.toml, a profile, a section, an inputs file.",
            Self::Model => "No model could be had, or its provider failed.",
            Self::Store => "The database is locked, damaged, newer than the program, or cannot be written.",
            Self::Findings => "A check or a test found something.",
            Self::Interrupted => "It was interrupted.",
        }
    }
}

/// A failure as a person reads it: what was wrong and where, and what to do about it.
#[derive(Debug)]
pub struct Failure {
    /// The exit code that it leads to.
    pub status: ExitStatus,
    /// What was wrong, and where.
    pub what: String,
    /// What to do.
    pub advice: Option<String>,
    /// Whether whoever started the program was told of it already.
    pub is_told: bool,
}

impl Failure {
    /// A failure without advice.
    pub fn new(status: ExitStatus, what: impl fmt::Display) -> Self {
        Self { status, what: what.to_string(), advice: None, is_told: false }
    }

    /// The same failure with what to do about it.
    #[must_use]
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// The same failure, which only its exit code still has to tell of.
    #[must_use]
    pub fn told(self) -> Self {
        Self { is_told: true, ..self }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.what)?;
        if let Some(advice) = &self.advice {
            write!(f, "\n\n  {advice}")?;
        }
        Ok(())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::new(ExitStatus::Failed, error)
    }
}

impl From<limpid_prompt::profile::ProfileError> for Failure {
    fn from(error: limpid_prompt::profile::ProfileError) -> Self {
        let status = match error {
            limpid_prompt::profile::ProfileError::Unknown(_) => ExitStatus::Usage,
            limpid_prompt::profile::ProfileError::Broken(..) => ExitStatus::Files,
        };
        Self::new(status, error)
    }
}

impl From<limpid_runtime::AgentError> for Failure {
    fn from(error: limpid_runtime::AgentError) -> Self {
        use limpid_runtime::AgentError;
        let status = match &error {
            AgentError::Store(limpid_store::StoreError::NotFound { .. } | limpid_store::StoreError::Invalid(_)) => {
                ExitStatus::Usage
            }
            AgentError::Store(_) => ExitStatus::Store,
            AgentError::Model(_) => ExitStatus::Model,
            AgentError::Prompt(_) => ExitStatus::Files,
            AgentError::File(_) => ExitStatus::Files,
            AgentError::NotFound { .. } | AgentError::Invalid(_) | AgentError::Goal(_) => ExitStatus::Usage,
        };
        Self::new(status, error)
    }
}

impl From<limpid_store::StoreError> for Failure {
    fn from(error: limpid_store::StoreError) -> Self {
        let status = match &error {
            limpid_store::StoreError::NotFound { .. } | limpid_store::StoreError::Invalid(_) => ExitStatus::Usage,
            _ => ExitStatus::Store,
        };
        Self::new(status, error)
    }
}
