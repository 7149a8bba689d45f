//! Profiles as they stand now: the shipped ones with the owner's files in place. The owner's files are read at every
//! turn and compiled again only when one of them changed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use limpid_config::Home;
use limpid_core::DEFAULT_PROFILE;
use limpid_prompt::count::Estimate;
use limpid_prompt::inputs::Inputs;
use limpid_prompt::problem::{Problem, Severity};
use limpid_prompt::profile::{Path, ProfileError};
use limpid_prompt::{Layer, Profile, Profiles, RenderError, RenderRequest, SourceFile, SourceRef};

use crate::error::AgentError;
use crate::profiles::kept;
use crate::profiles::prompt_file::PromptFile;

/// The path that tells an agent to come to its end, a research worker too.
pub const REPORT_NOW: &str = "report-now";

/// The profiles of a home folder.
#[derive(Debug)]
pub struct ProfileRegistry {
    home: Home,
    /// A file of the home whose text is tried in place of what it says.
    tried: Option<(PromptFile, String)>,
    known: Mutex<Known>,
}

/// What was loaded, and the owner's files that it was made from.
#[derive(Debug, Default)]
struct Known {
    files: Arc<Vec<SourceFile>>,
    /// What stands in for those of them that cannot be used.
    kept: Vec<SourceFile>,
    all: Option<Arc<Profiles>>,
    /// One profile each: a turn needs no other, and a start should not wait for them.
    one: BTreeMap<String, Arc<Profiles>>,
}

/// A profile with what it stands on, and the owner's files that it was made from.
#[derive(Clone, Debug)]
pub struct LoadedProfile {
    /// The owner's files.
    pub files: Arc<Vec<SourceFile>>,
    profiles: Arc<Profiles>,
    /// Paths of the owner's files that are left out.
    without: Vec<String>,
    /// Why another profile stands in its place, if one does.
    instead: Option<String>,
}

/// Who reads what a profile says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader<'p> {
    /// The owner, and what works for them without a prompt.
    Owner,
    /// The models of prompts of this path, and so whoever they tell: a page that is read on a public path may learn every word. What
    /// such a model is told besides is made of the same texts, whatever path that is on.
    Prompts(&'p str),
}

impl ProfileRegistry {
    /// The profiles of a home.
    pub fn new(home: Home) -> Self {
        Self { home, tried: None, known: Mutex::default() }
    }

    /// The same profiles with another text for one file. Nothing is written.
    pub fn trying(&self, file: PromptFile, text: String) -> Self {
        Self { home: self.home.clone(), tried: Some((file, text)), known: Mutex::default() }
    }

    /// The text that is tried for a file of the home, by its path there.
    pub fn tried(&self, path: &str) -> Option<&str> {
        self.tried.as_ref().filter(|(file, _)| file.path == path).map(|(_, text)| text.as_str())
    }

    /// Every profile as the files stand now, with what is wrong with them.
    ///
    /// # Errors
    /// When the owner's files cannot be read.
    pub fn all(&self) -> Result<Arc<Profiles>, AgentError> {
        let mut known = self.known()?;
        if let Some(all) = &known.all {
            return Ok(Arc::clone(all));
        }
        let all = Arc::new(Profiles::with_home(known.sources()));
        self.keep(&known, &all);
        Ok(Arc::clone(known.all.insert(all)))
    }

    /// One profile as the files stand now, as far as its reader may know it.
    ///
    /// # Errors
    /// When there is none of that name, or the owner's files cannot be read.
    pub fn profile(&self, name: &str, reader: Reader<'_>) -> Result<Arc<Profile>, AgentError> {
        Ok(self.load(name, reader)?.1)
    }

    /// The same with what it is made of.
    ///
    /// # Errors
    /// When there is none of that name, or the owner's files cannot be read.
    pub fn load(&self, name: &str, reader: Reader<'_>) -> Result<(LoadedProfile, Arc<Profile>), AgentError> {
        let loaded = self.whole(name)?;
        let profile = loaded.profile(name)?;
        match reader {
            Reader::Prompts(path) if profile.path(path).is_ok_and(|path| path.public) => self.public(name, path),
            Reader::Owner | Reader::Prompts(_) => Ok((loaded, profile)),
        }
    }

    /// A profile with every file of the owner's.
    fn whole(&self, name: &str) -> Result<LoadedProfile, AgentError> {
        let mut known = self.known()?;
        let files = Arc::clone(&known.files);
        if let Some(profiles) = known.one.get(name) {
            return Ok(LoadedProfile { files, profiles: Arc::clone(profiles), without: Vec::new(), instead: None });
        }
        let profiles = Arc::new(Profiles::one_with_home(name, known.sources()));
        self.keep(&known, &profiles);
        known.one.insert(name.to_owned(), Arc::clone(&profiles));
        Ok(LoadedProfile { files, profiles, without: Vec::new(), instead: None })
    }

    /// A profile whose every word a stranger may learn, the same or the usual one in its place: it may be broken without the owner's
    /// private texts.
    fn public(&self, name: &str, path: &str) -> Result<(LoadedProfile, Arc<Profile>), AgentError> {
        self.public_of(name, path).or_else(|error| {
            let (mut loaded, profile) = self.public_of(DEFAULT_PROFILE, path)?;
            loaded.instead = Some(format!(
                "the profile `{name}` cannot be used without your private texts ({error}); `{DEFAULT_PROFILE}` is used"
            ));
            Ok((loaded, profile))
        })
    }

    /// A profile with those texts of the owner's alone that say at their top that anybody may read them.
    fn public_of(&self, name: &str, path: &str) -> Result<(LoadedProfile, Arc<Profile>), AgentError> {
        let mut known = self.known()?;
        let private: BTreeSet<String> =
            known.sources().filter(|file| !file.is_public()).map(|file| file.path).collect();
        let loaded = known.load_without(name, private.into_iter().collect());
        let profile = loaded.profile(name)?;
        // A manifest is read whatever it says at its top.
        match [path, REPORT_NOW].into_iter().find(|path| !profile.path(path).is_ok_and(Path::is_wordless)) {
            None => Ok((loaded, profile)),
            Some(path) => Err(AgentError::Prompt(format!("words stand between the sections of `{path}`"))),
        }
    }

    /// Keeps the texts that can be used for the day on which they cannot. A disk that refuses them costs no answer: what is
    /// lost is a copy, and the next load tries again.
    fn keep(&self, known: &Known, profiles: &Profiles) {
        if self.tried.is_some() {
            return;
        }
        let _ = kept::keep(&self.home, &known.files, &known.kept, profiles);
    }

    /// A profile whose texts fit a path's budgets. Where texts of the owner's that must stay are too large by themselves,
    /// the next ones in the order of lookup stand in for them, and the owner is told the sizes.
    ///
    /// # Errors
    /// When the owner's files cannot be read.
    pub fn fitting(
        &self,
        loaded: &LoadedProfile,
        profile: Arc<Profile>,
        (path, inputs): (&str, &Inputs),
        notices: &mut Vec<String>,
    ) -> Result<Arc<Profile>, AgentError> {
        if loaded.files.is_empty() {
            return Ok(profile);
        }
        let (mut profile, mut without) = (profile, loaded.without.clone());
        loop {
            let request = RenderRequest { path, inputs, counter: &Estimate::default(), count_tokens: false };
            // Every other error is told where the prompt is made.
            let Err(RenderError::Overfull(overfull)) = profile.render(request) else { return Ok(profile) };
            let owners = |source: &&SourceRef| source.layer != Layer::Shipped;
            let Some(file) = overfull.sizes.iter().filter_map(|size| size.source.as_ref()).find(owners) else {
                return Ok(profile);
            };
            let notice = format!("profiles/{} is not used: {overfull}", file.path);
            without.push(file.path.clone());
            let other = self.known()?.load_without(profile.name(), without.clone()).profile(profile.name())?;
            // A mode that exists by this file alone has no other text: that it is too large is told where it is made.
            if !other.modes().any(|mode| mode == inputs.mode) && profile.modes().any(|mode| mode == inputs.mode) {
                return Ok(profile);
            }
            notices.push(notice);
            profile = other;
        }
    }

    /// What is known of the files as they stand now; nothing when one of them changed.
    fn known(&self) -> Result<MutexGuard<'_, Known>, AgentError> {
        let mut files = kept::own(&self.home)?;
        if let Some((path, text)) =
            self.tried.as_ref().and_then(|(file, text)| Some((file.path.strip_prefix("profiles/")?, text)))
        {
            files.retain(|file| file.path != path);
            files.push(SourceFile::home(path, text.as_bytes()));
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let unread = known.all.is_none() && known.one.is_empty();
        if unread || *known.files != files {
            let kept = kept::kept(&self.home)?;
            *known = Known { files: Arc::new(files), kept, ..Known::default() };
        }
        Ok(known)
    }
}

impl Known {
    /// The owner's files, and what stands in for those of them that cannot be used.
    fn sources(&self) -> impl Iterator<Item = SourceFile> {
        self.files.iter().chain(&self.kept).cloned()
    }

    /// One profile without some of the owner's files: where they stood, the next ones in the order of lookup do.
    fn load_without(&mut self, name: &str, without: Vec<String>) -> LoadedProfile {
        let files: Vec<SourceFile> = self.files.iter().filter(|file| !without.contains(&file.path)).cloned().collect();
        let sources: Vec<_> = self.sources().filter(|file| !without.contains(&file.path)).collect();
        let make = || Arc::new(Profiles::one_with_home(name, sources));
        let profiles = self.one.entry(format!("{name} without {}", without.join(" "))).or_insert_with(make);
        LoadedProfile { files: Arc::new(files), profiles: Arc::clone(profiles), without, instead: None }
    }
}

impl LoadedProfile {
    fn profile(&self, name: &str) -> Result<Arc<Profile>, AgentError> {
        self.profiles.get(name).cloned().map_err(|error| match error {
            ProfileError::Unknown(unknown) => AgentError::Invalid(unknown.to_string()),
            ProfileError::Broken(..) => AgentError::Prompt(error.to_string()),
        })
    }

    /// What the owner should know of the files that a profile is made of: that another profile stands in its place, each of theirs that
    /// is wrong and not in use, and what stands in for it.
    pub fn notices(&self, profile: &Profile) -> impl Iterator<Item = String> {
        let folders: Vec<String> = profile.lineage().map(str::to_owned).collect();
        let set_aside = move |problem: &&Problem| {
            let wrong = problem.severity == Severity::Error && problem.layer == Layer::Home;
            wrong && folders.iter().any(|folder| problem.path.split('/').next() == Some(folder))
        };
        self.instead
            .clone()
            .into_iter()
            .chain(self.profiles.problems().iter().filter(set_aside).map(ToString::to_string))
    }
}
