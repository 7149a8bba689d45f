//! Profiles as they stand now: the shipped ones with the owner's files in place. The owner's files are read at every
//! turn and compiled again only when one of them changed (KOSHI-003).

use std::sync::{Arc, Mutex, PoisonError};

use limpid_prompt::fs::read_profiles;
use limpid_prompt::problem::{Problem, Severity};
use limpid_prompt::profile::ProfileError;
use limpid_prompt::{Layer, Profile, Profiles, SourceFile};

use crate::error::AgentError;
use crate::home::Home;

/// The profiles of a home folder.
#[derive(Debug)]
pub(crate) struct Prompts {
    home: Home,
    loaded: Mutex<Option<Loaded>>,
}

/// Profiles and the owner's files that they were made from.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub(crate) files: Arc<Vec<SourceFile>>,
    pub(crate) profiles: Arc<Profiles>,
}

impl Prompts {
    pub(crate) fn new(home: Home) -> Self {
        Self { home, loaded: Mutex::new(None) }
    }

    /// The profiles as the files stand now.
    pub(crate) fn load(&self) -> Result<Loaded, AgentError> {
        let folder = self.home.profiles();
        let files = read_profiles(&folder, Layer::Home).map_err(AgentError::file(&folder))?;
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = loaded.as_ref().filter(|known| *known.files == files) {
            return Ok(known.clone());
        }
        let profiles = Profiles::with_home(files.clone());
        let fresh = Loaded { files: Arc::new(files), profiles: Arc::new(profiles) };
        Ok(loaded.insert(fresh).clone())
    }
}

impl Loaded {
    /// One profile.
    pub(crate) fn profile(&self, name: &str) -> Result<Arc<Profile>, AgentError> {
        self.profiles.get(name).cloned().map_err(|error| match error {
            ProfileError::Unknown(unknown) => AgentError::Invalid(unknown.to_string()),
            ProfileError::Broken(..) => AgentError::Prompt(error.to_string()),
        })
    }

    /// What the owner should know of the files that a profile is made of: each of theirs that is wrong and not in use,
    /// and what stands in for it (OLLM-052).
    pub(crate) fn notices(&self, profile: &Profile) -> impl Iterator<Item = String> {
        let folders = [Some(profile.name()), profile.base(), Some("limpid")];
        let set_aside = move |problem: &&Problem| {
            let wrong = problem.severity == Severity::Error && problem.layer == Layer::Home;
            wrong && folders.contains(&problem.path.split('/').next())
        };
        self.profiles.problems().iter().filter(set_aside).map(ToString::to_string)
    }
}
