//! What people and programs do with skills.

use std::path::Path;

use limpid_prompt::count::Estimate;
use limpid_prompt::inputs::SkillsInput;
use limpid_prompt::registry::{Occasion, PromptRegistry, PromptSource, RegisteredPrompt, select};
use limpid_prompt::skill::parse;
use limpid_prompt::{Inputs, RenderRequest};
use limpid_store::{SkillEvent, SkillEventId};

use crate::agent::{Agent, Inner};
use crate::context::selected_skills;
use crate::services::directory::ConversationChoice;
use crate::services::error::AgentError;
use crate::services::events::{Difference, EventKind};
use crate::services::skills::change::{By, Removed};
use crate::services::skills::folder::{Folder, ReviewFile};
use crate::services::skills::{ListedSkill, SkillStatus};

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

/// What a check of a skill that is not installed found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedSkill {
    /// Its name; absent when it is no skill.
    pub name: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// Its files besides SKILL.md.
    pub files: Vec<String>,
    /// Why it is no skill.
    pub problem: Option<String>,
}

/// What choosing skills came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// The skills that every turn of the conversation has, in order.
    pub active: Vec<String>,
    /// Chosen ones that are not used, with the reason.
    pub left_out: Vec<(String, String)>,
}

impl Agent {
    /// Every skill that was found, used or not: by source, then by name.
    ///
    /// # Errors
    /// When a folder or the store cannot be read.
    pub async fn skills(&self) -> Result<Vec<ListedSkill>, AgentError> {
        self.inner.skills.list(self.now_ms()).await
    }

    /// A skill with its files in full.
    ///
    /// # Errors
    /// When there is no such skill, or it cannot be read.
    pub async fn skill(&self, name: &str) -> Result<SkillReview, AgentError> {
        let list = self.skills().await?;
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
        let folder = self.inner.skills.folder_of(&skill)?;
        Ok(SkillReview { skill, hash: Some(folder.hash()), files: folder.review() })
    }

    /// The text of a skill as a profile's prompt holds it, and nothing else of that prompt.
    ///
    /// # Errors
    /// When there is no such skill or profile, or the skill is none.
    pub async fn skill_alone(&self, name: &str, profile: &str) -> Result<String, AgentError> {
        let known = self.skill(name).await?.skill;
        let broken =
            || AgentError::Invalid(format!("`{name}`: {}", known.reason.as_deref().unwrap_or("it is no skill")));
        let prompt = known.prompt.as_ref().ok_or_else(broken)?;
        let called = format!("/{name}");
        let skills = select([prompt], Occasion { message: &called, ..Occasion::default() });
        let inputs = Inputs { skills: SkillsInput { index: Vec::new(), ..skills }, ..Inputs::default() };
        let profile = self.inner.profiles.profile(profile)?;
        let counter = Estimate::default();
        let request = RenderRequest { path: "chat-remote", inputs: &inputs, counter: &counter, count_tokens: false };
        let rendered = profile.render(request).map_err(|error| AgentError::Prompt(error.to_string()))?;
        let origin = format!("skill:{}", prompt.skill.name);
        let parts = rendered.messages().iter().flat_map(limpid_prompt::PromptMessage::parts);
        let own: Vec<&str> = parts.filter(|part| part.origin() == origin).map(limpid_prompt::Part::text).collect();
        Ok(own.join("\n"))
    }

    /// Says whether a folder or a SKILL.md is a skill. Nothing is written.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn check_skill(path: &Path) -> Result<CheckedSkill, AgentError> {
        let folder = Folder::read(path)?;
        let own_name = path.canonicalize().ok().and_then(|real| Some(real.file_name()?.to_string_lossy().into_owned()));
        let skill = match folder.text() {
            None => Err("there is no file SKILL.md in it".to_owned()),
            Some(text) => parse(&text, &own_name.unwrap_or_default()).map_err(|error| error.to_string()),
        };
        let files = folder.others();
        Ok(match skill {
            Ok(skill) => {
                let (name, description) = (Some(skill.name.to_string()), Some(skill.description));
                CheckedSkill { name, description, files, problem: None }
            }
            Err(problem) => CheckedSkill { name: None, description: None, files, problem: Some(problem) },
        })
    }

    /// Takes a skill from a folder. Nothing of it runs, and it is used only after [`Agent::enable_skill`].
    ///
    /// # Errors
    /// When it is no skill, one of that name is there, or the home cannot be written.
    pub async fn install_skill(&self, path: &Path, source: &str) -> Result<SkillReview, AgentError> {
        let name = self.inner.skills.install(path, self.by(source)).await?;
        self.skill(&name).await
    }

    /// Allows a skill, or puts it aside. What was installed is allowed with the bytes of `hash` (its first 8 digits or
    /// more), without one with those that it was installed with.
    ///
    /// # Errors
    /// When there is no such skill, or it has other bytes than those that were shown.
    pub async fn enable_skill(&self, name: &str, on: bool, hash: Option<&str>, source: &str) -> Result<(), AgentError> {
        self.inner.skills.enable(name, on, hash, self.by(source)).await
    }

    /// Takes a skill out; [`Agent::undo_skill`] brings it back.
    ///
    /// # Errors
    /// When there is no such skill, or it is built in.
    pub async fn remove_skill(&self, name: &str, source: &str) -> Result<Removed, AgentError> {
        self.inner.skills.remove(name, self.by(source)).await
    }

    /// Makes a skill what it was before an event; without one, before the last.
    ///
    /// # Errors
    /// When nothing was done to such a skill, or the version cannot be read.
    pub async fn undo_skill(
        &self,
        name: &str,
        event: Option<SkillEventId>,
        source: &str,
    ) -> Result<SkillEvent, AgentError> {
        self.inner.skills.undo(name, event, self.by(source)).await
    }

    /// Chooses the skills that every turn of a conversation has, in this order, in place of those chosen before. One that
    /// was chosen before and exists no longer stays chosen, and is used as soon as it does.
    ///
    /// # Errors
    /// When there is no such conversation, or no such skill; then those chosen before stay.
    pub async fn use_skills(
        &self,
        conversation: &ConversationChoice,
        names: Vec<String>,
    ) -> Result<Chosen, AgentError> {
        let inner = &self.inner;
        let none = || AgentError::Invalid("there is no conversation yet; say something first".to_owned());
        let conversation = inner.directory.find(conversation).await?.ok_or_else(none)?;
        let before = inner.store.chosen_skills(&conversation.id).await?;
        let known = inner.skills.list(inner.host.now_ms()).await?;
        let is_known = |name: &&String| {
            let mut there = known.iter().map(|skill| &skill.name).chain(&before);
            there.any(|other| other.eq_ignore_ascii_case(name))
        };
        if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
            let kept = if before.is_empty() {
                "none was chosen".to_owned()
            } else {
                format!("{} stay chosen", before.join(", "))
            };
            return Err(AgentError::Invalid(format!(
                "there is no skill `{unknown}`, so nothing was changed ({kept}); `limpid skill list` names them"
            )));
        }
        inner.store.choose_skills(&conversation.id, names.clone()).await?;
        let input = selected_skills(&inner.context, Some(&conversation.id), "").await?.input;
        let active: Vec<String> = input.active.iter().map(|skill| skill.name.clone()).collect();
        inner.announce_skills(&conversation.id, active.clone()).await?;
        let is_chosen = |name: &str| names.iter().any(|chosen| chosen.eq_ignore_ascii_case(name));
        let left_out = input.unused.into_iter().filter(|unused| is_chosen(&unused.name));
        Ok(Chosen { active, left_out: left_out.map(|unused| (unused.name, unused.reason)).collect() })
    }

    /// Registers a prompt that can be chosen as a skill from the next turn on: one that a program brings along, or one
    /// that a server offers.
    ///
    /// # Errors
    /// When its id is taken, or it says that it is the owner's, whose prompts are files.
    pub fn register_prompt(&self, prompt: RegisteredPrompt) -> Result<(), AgentError> {
        if prompt.source == PromptSource::Config {
            return Err(AgentError::Invalid(
                "prompts of the owner's are files; write one into the home folder".to_owned(),
            ));
        }
        self.with_registry(|registry| registry.register(prompt)).map_err(|taken| AgentError::Invalid(taken.to_string()))
    }

    /// Forgets what a server offered. A turn that is running keeps what it began with.
    pub fn clear_mcp_prompts(&self, server: &str) {
        self.with_registry(|registry| registry.clear_mcp(server));
    }

    /// Changes the registry, and tells which servers came and went by that.
    fn with_registry<T>(&self, change: impl FnOnce(&mut PromptRegistry) -> T) -> T {
        let mut registry = self.inner.skills.registry();
        let names = |registry: &PromptRegistry| registry.servers().into_iter().collect::<Vec<_>>();
        let before = names(&registry);
        let changed = change(&mut registry);
        let difference = Difference::between(&before, &names(&registry));
        drop(registry);
        if let Some(difference) = difference {
            self.inner.bus.send(None, EventKind::ActiveMcpUpdated(difference));
        }
        changed
    }

    fn by<'a>(&self, source: &'a str) -> By<'a> {
        By { source, now_ms: self.now_ms() }
    }
}

impl Inner {
    /// Tells which skills came and went, once a change.
    pub(crate) async fn announce_skills(
        &self,
        conversation: &limpid_core::ConversationId,
        active: Vec<String>,
    ) -> Result<(), AgentError> {
        let before = self.store.note_active_skills(conversation, active.clone()).await?;
        if let Some(difference) = Difference::between(&before, &active) {
            self.bus.send(Some(conversation), EventKind::ActiveSkillsUpdated(difference));
        }
        Ok(())
    }
}
