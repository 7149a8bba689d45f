//! The files that prompts are made from: found, read, tried without being written, and changed by their owner. A file is called by
//! a name that is no path, so whoever asks can reach no other file.

use std::path::PathBuf;
use std::sync::Arc;

use limpid_config::{Config, Home};
use limpid_context::ContextDeps;
use limpid_prompt::Profile;
use limpid_prompt::problem::{Problem, Severity};
use limpid_services::error::AgentError;
use limpid_services::profiles::{
    Identity, OwnFile, PromptFile, PromptFileText, Reader, base_of_copy, copy_out, own_file_of_section,
    own_file_of_tool, prompt_files, status,
};
use limpid_services::tools::{FileHistory, PromptFileChange, SavedFile};
use limpid_store::{FileVersion, FileVersionId, Listed};

use crate::preview::{Preview, PreviewRequest, Previewer};
use crate::setup::identity_file;

/// Bytes of such a file that are taken at most.
pub const MOST: usize = 256 * 1024;

/// What a prompt would be with another text for one of its files.
#[derive(Debug)]
pub struct Trial {
    /// What is wrong with the text: errors, and what works but hardly as it was meant.
    pub problems: Vec<Problem>,
    /// The prompt; none where none can be made.
    pub preview: Option<Preview>,
    /// Why no prompt can be made with it, or none that has it.
    pub unfit: Option<String>,
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveEnd {
    /// It was made.
    Saved(FileVersionId),
    /// The file says that already.
    Same,
    /// Somebody changed the file meanwhile, so nothing was written; what it says now.
    Newer(String),
    /// No prompt could be made with the text, so nothing was written.
    Wrong(String),
}

/// The prompt files of an agent.
pub struct PromptFiles {
    context: ContextDeps,
    previewer: Arc<Previewer>,
    history: Arc<FileHistory>,
}

impl Trial {
    /// Why the text is not to be saved, in one text.
    pub fn refusal(&self) -> Option<String> {
        let errors = self.problems.iter().filter(|problem| problem.severity == Severity::Error);
        let errors: Vec<String> = errors.map(ToString::to_string).collect();
        if errors.is_empty() { self.unfit.clone() } else { Some(errors.join("\n\n")) }
    }
}

impl PromptFiles {
    /// Those of an agent.
    pub(crate) fn new(context: ContextDeps, previewer: Arc<Previewer>, history: Arc<FileHistory>) -> Self {
        Self { context, previewer, history }
    }

    /// Those of a profile, each with what it says; a file that cannot be read has the reason in its place.
    ///
    /// # Errors
    /// When there is no such profile, or its folder cannot be read.
    #[expect(clippy::type_complexity, reason = "a list with what is known of each")]
    pub fn list(&self, profile: &str) -> Result<Vec<(PromptFile, Result<PromptFileText, AgentError>)>, AgentError> {
        let profile = self.context.profiles.profile(profile, Reader::Owner)?;
        let files = prompt_files(&self.context.home, &profile)?;
        Ok(files.into_iter().map(|file| (file.clone(), self.identity(&profile).text_of(&file))).collect())
    }

    /// A file by its name, with the profile that it is of: the one that is set, or the first that has it.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn find(&self, id: &str) -> Result<(PromptFile, Arc<Profile>), AgentError> {
        let set = self.context.profiles.profile(&self.context.config.agent.profile, Reader::Owner).ok();
        let all = self.context.profiles.all()?;
        for profile in set.iter().chain(all.iter()) {
            let mut files = prompt_files(&self.context.home, profile)?.into_iter();
            if let Some(file) = files.find(|file| file.id() == id) {
                return Ok((file, Arc::clone(profile)));
            }
        }
        let advice = "the page lists those that there are under Prompt".to_owned();
        Err(AgentError::NotFound { what: "prompt file", name: id.to_owned(), advice })
    }

    /// The name of the file in which a section of a profile is edited whose text came from `origin`; none for what is no file's.
    pub fn of_section(&self, profile: &Profile, section: &str, origin: &str) -> Option<String> {
        self.identity(profile).file_of(section, origin).map(|file| file.id())
    }

    /// What a file says.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn text(&self, file: &PromptFile, profile: &Profile) -> Result<PromptFileText, AgentError> {
        self.identity(profile).text_of(file)
    }

    /// What a prompt would be with another text for a file.
    ///
    /// # Errors
    /// When the text is too large, or the owner's files cannot be read.
    pub async fn trial(&self, file: &PromptFile, text: &str, prompt: PreviewRequest) -> Result<Trial, AgentError> {
        if text.len() > MOST {
            let size = text.len();
            return Err(AgentError::Invalid(format!("the text has {size} bytes; a prompt file has at most {MOST}")));
        }
        let problems = self.problems(file, text)?;
        Ok(match self.previewer.trying(prompt.clone(), file.clone(), text.to_owned()).await {
            Ok(preview) => {
                let unused = format!("{} is not used", file.path);
                let unfit = preview.notices.iter().find(|notice| notice.starts_with(&unused)).cloned();
                Trial { problems, preview: Some(preview), unfit }
            }
            Err(error) => {
                // Where there is no prompt without the text either, it is not to blame.
                let unfit = self.previewer.preview(prompt).await.is_ok().then(|| error.to_string());
                Trial { problems, preview: None, unfit }
            }
        })
    }

    /// Writes a text that was tried. `seen` is the text that its writer began with.
    ///
    /// # Errors
    /// When the text is too large, or the file cannot be read or written.
    pub async fn save(
        &self,
        (file, profile): (&PromptFile, &Profile),
        (seen, text): (impl Fn(&str) -> bool, &str),
        prompt: PreviewRequest,
        source: &str,
    ) -> Result<SaveEnd, AgentError> {
        if let Some(why) = self.trial(file, text, prompt).await?.refusal() {
            return Ok(SaveEnd::Wrong(why));
        }
        let now = self.text(file, profile)?;
        if !seen(&now.text) {
            return Ok(SaveEnd::Newer(now.text));
        }
        let copy = if now.there.as_ref() == Some(&now.text) { None } else { now.lent };
        let change = PromptFileChange {
            path: file.path.clone(),
            there: now.there,
            copy: copy.map(|copied| (base_of_copy(file), copied)),
            text: text.to_owned(),
        };
        Ok(match self.history.save(change, source).await? {
            SavedFile::Saved(id) => SaveEnd::Saved(id),
            SavedFile::Same => SaveEnd::Same,
            SavedFile::Newer(now) => SaveEnd::Newer(now.unwrap_or_default()),
        })
    }

    /// What was changed in a file, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn versions(&self, file: &PromptFile) -> Result<Listed<FileVersion>, AgentError> {
        self.history.prompt_file_versions(&file.path).await
    }

    /// Makes a file what it was before one of its changes.
    ///
    /// # Errors
    /// When it has no such change, or cannot be written.
    pub async fn undo(&self, file: &PromptFile, change: FileVersionId, source: &str) -> Result<(), AgentError> {
        if !self.versions(file).await?.rows.iter().any(|version| version.id == change) {
            let advice = "the page of the file lists its changes".to_owned();
            return Err(AgentError::NotFound { what: "change of this file", name: change.0.to_string(), advice });
        }
        self.history.undo(change, source).await.map(drop)
    }

    /// What is wrong with a text, and with other files because of it.
    fn problems(&self, file: &PromptFile, text: &str) -> Result<Vec<Problem>, AgentError> {
        let Some(path) = file.path.strip_prefix("profiles/") else { return Ok(Vec::new()) };
        let before = self.context.profiles.all()?;
        let tried = self.context.profiles.trying(file.clone(), text.to_owned()).all()?;
        let is_new = |problem: &&Problem| {
            problem.path == path || (problem.severity == Severity::Error && !before.problems().contains(problem))
        };
        Ok(tried.problems().iter().filter(is_new).cloned().collect())
    }

    fn identity<'a>(&'a self, profile: &'a Profile) -> Identity<'a> {
        identity(&self.context.home, &self.context.config, profile)
    }
}

fn identity<'a>(home: &'a Home, config: &'a Config, profile: &'a Profile) -> Identity<'a> {
    let agent_name = config.agent.name.as_ref().unwrap_or(&profile.behaviour().agent_name);
    Identity { home, profile, agent_name }
}

/// The owner's files that stand in place of shipped ones, with how they compare with these: soul and safety rules, and those of profiles.
///
/// # Errors
/// When one cannot be read.
pub fn own_files((home, config): (&Home, &Config), profile: &Profile) -> Result<Vec<OwnFile>, AgentError> {
    let mut files = identity(home, config, profile).own_files()?;
    files.extend(status(home)?);
    Ok(files)
}

/// The file in which the owner edits a section or the text of a tool, made from the text that holds when there is none yet: of the
/// profile that is set, or of another one. With a `/` in it, `section` is a file of the profile's folder.
///
/// # Errors
/// When there is no such section or file, or it cannot be written.
pub fn file_to_edit(
    (home, config): (&Home, &Config),
    profile: &Profile,
    section: &str,
    is_set: bool,
) -> Result<Option<PathBuf>, AgentError> {
    if is_set && let Some(file) = identity_file(home, config, section)? {
        return Ok(Some(file));
    }
    let path = match section.contains('/') {
        true => Some(format!("{}/{section}", profile.name())),
        false => own_file_of_section(profile, section).or_else(|| own_file_of_tool(profile, section)),
    };
    path.map(|path| copy_out(home, &path)).transpose()
}
