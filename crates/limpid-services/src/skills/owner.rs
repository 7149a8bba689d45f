//! What people and programs do with skills.

use std::path::Path;

use limpid_prompt::count::Estimate;
use limpid_prompt::inputs::SkillsInput;
use limpid_prompt::registry::{Occasion, PromptRegistry, PromptSource, RegisteredPrompt, select};
use limpid_prompt::skill::parse;
use limpid_prompt::{Inputs, RenderRequest};
use limpid_store::{SkillEvent, SkillEventId};

use crate::error::AgentError;
use crate::events::{Difference, EventKind};
use crate::profiles::Reader;
use crate::skills::change::{Removed, SkillWriter};
use crate::skills::folder::{Folder, ReviewFile, no_file_of_it};
use crate::skills::listed::{ListedSkill, SkillStatus};
use crate::skills::service::Skills;

/// A skill in full, for whoever decides whether to allow it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillReview {
    /// The skill and how it stands.
    pub skill: ListedSkill,
    /// The hash of its files, in hexadecimal digits; absent when it is no folder.
    pub hash: Option<String>,
    /// Its files in full, SKILL.md first.
    pub files: Vec<ReviewFile>,
}

impl SkillReview {
    /// What whoever decides has to know of the files besides SKILL.md, executable or not: an interpreter runs those that are not.
    pub fn told_of_files(&self) -> Option<&'static str> {
        (self.files.len() > 1).then_some(
            "Its other files can run as programs without asking, unless a stranger's text was read or a rule of yours asks. They \
             can read your folders and change the workspace.",
        )
    }
}

/// What a check of a skill that is not installed found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedSkill {
    /// Its name; absent when it is no skill.
    pub name: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// Its files besides SKILL.md.
    pub files: Vec<String>,
    /// Why it is no skill, or is refused when it is installed.
    pub problem: Option<String>,
}

impl Skills {
    /// A skill with its files in full.
    ///
    /// # Errors
    /// When there is no such skill, or it cannot be read.
    pub async fn review(&self, name: &str) -> Result<SkillReview, AgentError> {
        let list = self.list().await?;
        let none = || AgentError::NotFound {
            what: "skill",
            name: name.to_owned(),
            advice: "`limpid skill list` lists them".to_owned(),
        };
        let named = |skill: &ListedSkill| skill.name.eq_ignore_ascii_case(name);
        let used = list.iter().find(|skill| named(skill) && skill.status == SkillStatus::Ready);
        let skill = used.or_else(|| list.iter().find(|skill| named(skill))).cloned().ok_or_else(none)?;
        if !skill.location.ends_with("SKILL.md") {
            let text = skill.prompt.as_ref().map(|prompt| prompt.content().to_owned()).unwrap_or_default();
            let files = vec![ReviewFile::of_text(&skill.location, &text)];
            return Ok(SkillReview { skill, hash: None, files });
        }
        let folder = self.folder_of(&skill)?;
        Ok(SkillReview { skill, hash: Some(folder.hash()), files: folder.review() })
    }

    /// The text of a skill as a profile's prompt holds it, and nothing else of that prompt.
    ///
    /// # Errors
    /// When there is no such skill or profile, or the skill is none.
    pub async fn rendered_alone(&self, name: &str, profile: &str) -> Result<String, AgentError> {
        let known = self.review(name).await?.skill;
        let broken =
            || AgentError::Invalid(format!("`{name}`: {}", known.reason.as_deref().unwrap_or("it is no skill")));
        let prompt = known.prompt.as_ref().ok_or_else(broken)?;
        let called = format!("/{name}");
        let skills = select([prompt], Occasion { message: &called, ..Occasion::default() });
        let inputs = Inputs { skills: SkillsInput { index: Vec::new(), ..skills }, ..Inputs::default() };
        let profile = self.profiles.profile(profile, Reader::Owner)?;
        let counter = Estimate::default();
        let request = RenderRequest { path: "chat-remote", inputs: &inputs, counter: &counter, count_tokens: false };
        let rendered = profile.render(request).map_err(|error| AgentError::Prompt(error.to_string()))?;
        let origin = format!("skill:{}", prompt.skill.name);
        let parts = rendered.messages().iter().flat_map(limpid_prompt::PromptMessage::parts);
        let own: Vec<&str> = parts.filter(|part| part.origin() == origin).map(limpid_prompt::Part::text).collect();
        Ok(own.join("\n"))
    }

    /// Takes a skill from a folder. Nothing of it runs, and it is used only after [`Skills::enable`].
    ///
    /// # Errors
    /// When it is no skill, one of that name is there, or the home cannot be written.
    pub async fn install(&self, path: &Path, source: &str) -> Result<SkillReview, AgentError> {
        let name = self.install_from(path, self.by(source)).await?;
        self.review(&name).await
    }

    /// Allows a skill, or puts it aside. What was installed is allowed with the bytes of `hash` (its first 32 digits or
    /// more), without one with those that it was installed with.
    ///
    /// # Errors
    /// When there is no such skill, or it has other bytes than those that were shown.
    pub async fn enable(&self, name: &str, on: bool, hash: Option<&str>, source: &str) -> Result<(), AgentError> {
        self.set_enabled(name, on, hash, self.by(source)).await
    }

    /// Takes a skill out; [`Skills::undo`] brings it back.
    ///
    /// # Errors
    /// When there is no such skill, or it is built in.
    pub async fn remove(&self, name: &str, source: &str) -> Result<Removed, AgentError> {
        self.take_out(name, self.by(source)).await
    }

    /// Makes a skill what it was before an event; without one, before the last.
    ///
    /// # Errors
    /// When nothing was done to such a skill, or the version cannot be read.
    pub async fn undo(&self, name: &str, event: Option<SkillEventId>, source: &str) -> Result<SkillEvent, AgentError> {
        self.undo_event(name, event, self.by(source)).await
    }

    /// Registers a prompt that can be chosen as a skill from the next turn on: one that a program brings along, or one
    /// that a server offers.
    ///
    /// # Errors
    /// When its id is taken, or it says that it is the owner's, whose prompts are files.
    pub fn register(&self, prompt: RegisteredPrompt) -> Result<(), AgentError> {
        if prompt.source == PromptSource::Config {
            return Err(AgentError::Invalid(
                "prompts of the owner's are files; write one into the home folder".to_owned(),
            ));
        }
        self.with_registry(|registry| registry.register(prompt)).map_err(|taken| AgentError::Invalid(taken.to_string()))
    }

    /// Forgets what a server offered. A turn that is running keeps what it began with.
    pub fn forget_server(&self, server: &str) {
        self.with_registry(|registry| registry.clear_mcp(server));
    }

    /// Changes the registry, and tells which servers came and went by that.
    fn with_registry<T>(&self, change: impl FnOnce(&mut PromptRegistry) -> T) -> T {
        let mut registry = self.registry();
        let names = |registry: &PromptRegistry| registry.servers().into_iter().collect::<Vec<_>>();
        let before = names(&registry);
        let changed = change(&mut registry);
        let difference = Difference::between(&before, &names(&registry));
        drop(registry);
        if let Some(difference) = difference {
            self.events.send(None, EventKind::ActiveMcpUpdated(difference));
        }
        changed
    }

    fn by<'a>(&self, source: &'a str) -> SkillWriter<'a> {
        SkillWriter { source, now_ms: self.host.now_ms() }
    }
}

/// Says whether a folder or a SKILL.md is a skill, and whether it can be installed. Nothing is written.
///
/// # Errors
/// When it cannot be read.
pub fn check_skill(path: &Path) -> Result<CheckedSkill, AgentError> {
    let folder = Folder::read_without_compiled(path)?;
    let own_name = path.canonicalize().ok().and_then(|real| Some(real.file_name()?.to_string_lossy().into_owned()));
    let skill = match folder.text() {
        None => Err("there is no file SKILL.md in it".to_owned()),
        Some(text) => parse(&text, &own_name.unwrap_or_default()).map_err(|error| error.to_string()),
    };
    let refused = |file: &str| format!("{file}: an install refuses it: {}", no_file_of_it());
    let skill = skill.and_then(|skill| folder.unseen().map_or(Ok(skill), |file| Err(refused(file))));
    let files = folder.others();
    Ok(match skill {
        Ok(skill) => {
            let (name, description) = (Some(skill.name.to_string()), Some(skill.description));
            CheckedSkill { name, description, files, problem: None }
        }
        Err(problem) => CheckedSkill { name: None, description: None, files, problem: Some(problem) },
    })
}
