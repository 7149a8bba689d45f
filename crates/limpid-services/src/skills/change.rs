//! Changes of skills: each is an event with the version before and after it, which is what an undo needs. Versions stand
//! in `data/skills/`, each in a folder that is called by its hash.

use std::path::{Path, PathBuf};

use limpid_config::RandomIds;
use limpid_core::{SEEN_DIGITS, is_seen_hash};
use limpid_prompt::inputs::SkillSource;
use limpid_prompt::registry::RegisteredPrompt;
use limpid_prompt::skill::{Draft, create, parse, update};
use limpid_store::{NewSkillEvent, SkillEvent, SkillEventId, SkillEventKind, SkillVersion};

use crate::error::AgentError;
use crate::skills::alone::{alone, of_shelf, shelf_of};
use crate::skills::folder::{Folder, SKILL_FILE};
use crate::skills::known::{ReadSkill, hold_back, link_target_is_unaccepted, note_known, read_skill};
use crate::skills::listed::{ListedSkill, SkillStatus, place_name};
use crate::skills::place::SkillPlace;
use crate::skills::service::Skills;
use crate::skills::states::{SkillStates, folder_name};

/// Who changes a skill, and when.
#[derive(Clone, Copy, Debug)]
pub struct SkillWriter<'a> {
    /// `command line`, `turn:<id>`.
    pub source: &'a str,
    /// The time, in milliseconds since 1970.
    pub now_ms: i64,
}

/// A skill that was taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Its name.
    pub name: String,
    /// The event that brings it back when it is undone.
    pub event: SkillEventId,
}

impl Skills {
    /// Writes a new skill into the global folder; it can be used at once. The same skill again changes nothing.
    pub(super) async fn create(&self, name: &str, draft: &Draft, by: SkillWriter<'_>) -> Result<(), AgentError> {
        let _alone = alone(self, SkillSource::Global).await?;
        let text = create(name, draft).map_err(invalid)?;
        if let Some(known) = self.standing(name, by.now_ms).await? {
            if self.folder_of(&known)?.text().as_deref() == Some(&text) {
                return Ok(());
            }
            return Err(AgentError::Invalid(format!(
                "there is a skill `{name}`; change it with update_skill, or take another name"
            )));
        }
        let folder = Folder::of_text(&text);
        self.check_free(name)?;
        self.put(&folder, &self.place(&self.home.skills(), name)?)?;
        let after = self.global(&folder, name, (false, true))?;
        self.record(name, SkillEventKind::Created, None, Some(after), by).await?;
        Ok(())
    }

    /// Changes a skill where it stands; of a built-in one the owner gets a copy that stands in its place.
    pub(super) async fn update(&self, name: &str, draft: &Draft, by: SkillWriter<'_>) -> Result<(), AgentError> {
        let shelf = self.known(name, by.now_ms).await?.shelf;
        let _alone = alone(self, shelf).await?;
        let known = of_shelf(self.known(name, by.now_ms).await?, shelf)?;
        if known.status == SkillStatus::Broken {
            return Err(unreadable(&known.name));
        }
        let skill = self.read(&known, name).await?;
        let text = skill.folder.text().unwrap_or_default();
        let changed = update(&text, &known.name, draft).map_err(|error| match parse(&text, &known.name) {
            // What is wrong is the call's.
            Ok(_) => invalid(error),
            Err(_) => unreadable(&known.name),
        })?;
        if changed == text {
            return Ok(());
        }
        let before = self.version(&known, &skill, by).await?;
        if before.installed && known.status != SkillStatus::Ready {
            return Err(unreadable(name));
        }
        let folder = skill.folder.with_text(&changed);
        let (before, after) = if known.shelf == SkillSource::Builtin {
            self.check_free(&known.name)?;
            self.put(&folder, &self.place(&self.home.skills(), &known.name)?)?;
            (None, self.global(&folder, &known.name, (false, true))?)
        } else {
            self.put(&folder, &self.place_of(&known)?)?;
            let hash = self.keep(&folder)?;
            (Some(before.clone()), SkillVersion { hash, ..before })
        };
        self.record(&known.name, SkillEventKind::Updated, before, Some(after), by).await?;
        Ok(())
    }

    /// Takes a skill from a folder, or a SKILL.md; nothing of it runs, and it is used only when it was allowed.
    pub(super) async fn install_from(&self, from: &Path, by: SkillWriter<'_>) -> Result<String, AgentError> {
        let _changing = self.changing.lock().await;
        let folder = Folder::read_from_elsewhere(from)?;
        let missing = || AgentError::Invalid(format!("{}: there is no file {SKILL_FILE} in it", from.display()));
        let text = folder.text().ok_or_else(missing)?;
        let own_name = from.canonicalize().ok().and_then(|real| Some(real.file_name()?.to_string_lossy().into_owned()));
        let skill = parse(&text, &own_name.unwrap_or_default())
            .map_err(|error| AgentError::Invalid(format!("{}: {error}", from.join(SKILL_FILE).display())))?;
        let name = skill.name.to_string();
        if let Some(known) = self.standing(&name, by.now_ms).await? {
            return Err(AgentError::Invalid(format!(
                "there is a skill `{name}` at {}; `limpid skill remove {name}` takes it out",
                known.location
            )));
        }
        self.check_free(&name)?;
        // It stands among the versions until it is allowed.
        let after = self.global(&folder, &name, (true, false))?;
        self.record(&name, SkillEventKind::Installed, None, Some(after), by).await?;
        Ok(name)
    }

    /// Allows a skill, or puts it aside. One that was installed is allowed with the very bytes that were shown.
    pub(super) async fn set_enabled(
        &self,
        name: &str,
        on: bool,
        hash: Option<&str>,
        by: SkillWriter<'_>,
    ) -> Result<(), AgentError> {
        // To put one aside changes no file: no program keeps the owner from that.
        let _alone = if on { Some(alone(self, SkillSource::Global).await?) } else { None };
        let _changing = if on { None } else { Some(self.changing.lock().await) };
        // Of several, the one is allowed that is not yet.
        let order = |skill: &ListedSkill| match skill.status {
            SkillStatus::Disabled | SkillStatus::Awaiting | SkillStatus::Changed if on => Some(0),
            _ => Some(1 + used_first(skill)),
        };
        let known = self.find(name, by.now_ms, order).await?.ok_or_else(|| no_skill(name))?;
        let (folder, before) = if on {
            let skill = self.read(&known, name).await?;
            let before = self.version(&known, &skill, by).await?;
            (skill.folder, before)
        } else {
            let folder = self.folder_of(&known)?;
            let before = self.version_put_aside(&known, &folder).await?;
            (folder, before)
        };
        if let Some(file) = folder.unseen().filter(|_| on && before.installed) {
            return Err(AgentError::Invalid(format!(
                "the skill `{name}` has a file that nobody can read and a program may load: {file}; take the skill out with \
                 `limpid skill remove {name}`, and install it again without that file"
            )));
        }
        let now = folder.hash();
        let pinned = self.pinned(&known).await?;
        let shown = hash.or(pinned.as_deref()).unwrap_or(&now);
        if on && !is_seen_hash(shown, &now) {
            return Err(AgentError::Invalid(format!(
                "the skill `{name}` has other bytes than those that were shown; look at it with `limpid skill show {name}`, \
                 then allow what you saw: `limpid skill enable {name} --hash {}`",
                now.get(..SEEN_DIGITS).unwrap_or(&now)
            )));
        }
        if before.enabled == on {
            return Ok(());
        }
        if on && known.status == SkillStatus::Awaiting {
            self.put(&folder, &self.place(&self.home.skills(), &known.name)?)?;
        }
        // What is put aside keeps its pin, so that bytes which nobody saw are not allowed by allowing it again.
        let hash = if on { now } else { pinned.unwrap_or(now) };
        let after = SkillVersion { hash, enabled: on, ..before.clone() };
        let kind = if on { SkillEventKind::Enabled } else { SkillEventKind::Disabled };
        self.record(&known.name, kind, Some(before), Some(after), by).await?;
        Ok(())
    }

    /// Takes a skill out; an undo brings it back.
    pub(super) async fn take_out(&self, name: &str, by: SkillWriter<'_>) -> Result<Removed, AgentError> {
        let standing = async || match self.standing(name, by.now_ms).await? {
            Some(known) => Ok(known),
            None => self.known(name, by.now_ms).await,
        };
        let shelf = standing().await?.shelf;
        let _alone = alone(self, shelf).await?;
        let known = of_shelf(standing().await?, shelf)?;
        if known.shelf == SkillSource::Builtin {
            return Err(AgentError::Invalid(format!(
                "the skill `{name}` is built in; `limpid skill disable {name}` puts it aside"
            )));
        }
        let skill = self.read(&known, name).await?;
        let before = self.version_taken_away(&known, &skill, by).await?;
        self.take_away(&known)?;
        let event = self.record(&known.name, SkillEventKind::Removed, Some(before), None, by).await?;
        Ok(Removed { name: known.name, event: event.id })
    }

    /// Makes a skill what it was before an event; without one, before the last. Undoing an undo does it again.
    pub(super) async fn undo_event(
        &self,
        name: &str,
        event: Option<SkillEventId>,
        by: SkillWriter<'_>,
    ) -> Result<SkillEvent, AgentError> {
        let named = name.to_ascii_lowercase();
        let shelf = shelf_of(&self.store.skill_events(Some(&named)).await?.rows);
        // A row of what waits is written before the files are; whoever deletes rows of files that hold what is known holds this, too.
        let _alone = alone(self, shelf).await?;
        let events = self.store.skill_events(Some(&named)).await?.rows;
        let undone = match event {
            Some(id) => events.iter().find(|known| known.id == id),
            None => events.last(),
        };
        let none = || AgentError::NotFound {
            what: "change of the skill",
            name: name.to_owned(),
            advice: "`limpid skill history` lists what was done".to_owned(),
        };
        let undone = undone.ok_or_else(none)?;
        // What stands there now, whatever it calls itself; another skill of its name is none of it.
        let known = self.undone_at(undone, by.now_ms).await?;
        let is_switch = matches!(undone.kind, SkillEventKind::Enabled | SkillEventKind::Disabled);
        let before = match &known {
            // Nothing is taken away then.
            Some(known) if is_switch => Some(self.version(known, &self.read(known, name).await?, by).await?),
            Some(known) => Some(self.version_taken_away(known, &self.read(known, name).await?, by).await?),
            None => None,
        };
        let own = known.as_ref().filter(|known| known.shelf != SkillSource::Builtin);
        match (&undone.before, own) {
            // The files stay as they are; what is allowed are the bytes that were pinned then.
            _ if is_switch => {}
            (Some(target), _) if target.place == place_name(SkillSource::Builtin) => {}
            // What nobody has allowed stands among the versions only.
            (Some(target), known) if target.installed && !target.enabled => {
                known.map_or(Ok(()), |known| self.take_away(known))?;
            }
            (Some(target), known) => {
                let version = self.fetch(&target.hash)?;
                let place = match known.filter(|known| known.status != SkillStatus::Awaiting) {
                    Some(known) => self.place_of(known)?,
                    None => {
                        let folder = target.folder.as_ref().unwrap_or(&undone.skill);
                        self.place(&self.root(&target.place), folder)?
                    }
                };
                hold_back(self, (&place, name), &version, by).await?;
                self.put(&version, &place)?;
            }
            (None, Some(known)) => self.take_away(known)?,
            (None, None) => {}
        }
        let target = undone.before.clone();
        self.record(name, SkillEventKind::Undone, before, target, by).await
    }

    /// The skill in the folder that an event was about. Older versions wrote down no folder; there it is the one of that name.
    async fn undone_at(&self, undone: &SkillEvent, now_ms: i64) -> Result<Option<ListedSkill>, AgentError> {
        let Some(about) = undone.after.as_ref().or(undone.before.as_ref()) else { return Ok(None) };
        let is_there = |skill: &ListedSkill| {
            let is_in = |folder: &String| self.stands_in(skill).is_ok_and(|name| name.eq_ignore_ascii_case(folder));
            place_name(skill.shelf) == about.place
                && skill.location.ends_with(SKILL_FILE)
                && about.folder.as_ref().map_or_else(|| skill.name.eq_ignore_ascii_case(&undone.skill), is_in)
        };
        Ok(self.list_at(now_ms).await?.into_iter().find(is_there))
    }

    /// Says that the folder of a new skill has another one in it, which calls itself something else.
    fn check_free(&self, name: &str) -> Result<(), AgentError> {
        let file = self.home.skills().join(name).join(SKILL_FILE);
        if file.symlink_metadata().is_err() {
            return Ok(());
        }
        Err(AgentError::Invalid(format!(
            "the folder `{name}` of the skills holds a skill of another name; rename that folder, or take another name"
        )))
    }

    /// The owner's skill of a name, used or not, that has a folder.
    async fn standing(&self, name: &str, now_ms: i64) -> Result<Option<ListedSkill>, AgentError> {
        let own = |skill: &ListedSkill| (skill.shelf != SkillSource::Builtin).then(|| used_first(skill));
        self.find(name, now_ms, own).await
    }

    /// The skill of a name that has a folder: of those that `order` gives a number, the first by it. Whoever writes a
    /// skill names it, so one that is not used must not stand in the place of one that is.
    async fn find(
        &self,
        name: &str,
        now_ms: i64,
        order: impl Fn(&ListedSkill) -> Option<u8>,
    ) -> Result<Option<ListedSkill>, AgentError> {
        let named = |skill: &ListedSkill| skill.name.eq_ignore_ascii_case(name) && skill.location.ends_with(SKILL_FILE);
        let known = self.list_at(now_ms).await?.into_iter().filter(named);
        let known = known.filter_map(|skill| Some((order(&skill)?, skill)));
        Ok(known.min_by_key(|(order, _)| *order).map(|(_, skill)| skill))
    }

    /// The skill of a name that is used, else one that is not.
    pub(super) async fn known(&self, name: &str, now_ms: i64) -> Result<ListedSkill, AgentError> {
        self.find(name, now_ms, |skill| Some(used_first(skill))).await?.ok_or_else(|| no_skill(name))
    }

    /// What the owner is told of the skill that a call names, and its whole text.
    pub(super) async fn in_words(&self, name: &str) -> Option<(String, String)> {
        let known = self.known(name, self.host.now_ms()).await.ok()?;
        let text = self.folder_of(&known).ok()?.text()?;
        let description = known.prompt.as_ref().and_then(RegisteredPrompt::description).unwrap_or_default();
        Some((format!("skill {}, {}: {description}", known.name, known.status.as_str()), text))
    }

    /// The files of a skill as they stand. What stands in the workspace is read there alone, whatever its folder leads
    /// to by now.
    pub(super) fn folder_of(&self, known: &ListedSkill) -> Result<Folder, AgentError> {
        let path = path_of(known)?;
        match known.shelf {
            SkillSource::Workspace => Folder::read_within(&self.home.workspace_skills(), &path),
            SkillSource::Global | SkillSource::Builtin => Folder::read(&path),
        }
    }

    /// The files of a skill that is about to be changed, which no program is changing. `name` is what the call names it.
    async fn read(&self, known: &ListedSkill, name: &str) -> Result<ReadSkill, AgentError> {
        let root = path_of(known)?;
        read_skill(self, (root.as_path(), name), || self.folder_of(known)).await
    }

    /// How a skill stands, with the bytes that it has, which are kept. One that was installed is allowed only as it was
    /// pinned; without any event it is the owner's own.
    async fn version(
        &self,
        known: &ListedSkill,
        skill: &ReadSkill,
        by: SkillWriter<'_>,
    ) -> Result<SkillVersion, AgentError> {
        note_known(self, &path_of(known)?, skill, by).await?;
        self.version_of(known, &skill.folder).await
    }

    /// The same of a skill that is put aside. No program keeps the owner from that by what it shows of the files at this moment: nothing
    /// of it becomes the owner's, and one that was installed stands as it was pinned.
    async fn version_put_aside(&self, known: &ListedSkill, files: &Folder) -> Result<SkillVersion, AgentError> {
        let version = self.version_of(known, files).await?;
        Ok(match self.state(known).await?.filter(|state| state.installed) {
            Some(state) => SkillVersion { hash: state.hash, enabled: state.enabled, ..version },
            None => version,
        })
    }

    /// How a skill stands with these files, which are kept.
    async fn version_of(&self, known: &ListedSkill, files: &Folder) -> Result<SkillVersion, AgentError> {
        let (hash, place, folder) =
            (self.keep(files)?, place_name(known.shelf).to_owned(), Some(self.stands_in(known)?));
        Ok(match self.state(known).await? {
            Some(state) => {
                let enabled = state.enabled && (!state.installed || state.hash == hash);
                SkillVersion { hash, place, folder, installed: state.installed, enabled }
            }
            None => SkillVersion { hash, place, folder, installed: false, enabled: true },
        })
    }

    /// The same of a skill that is taken away. Where a link led to files that wait for the owner, it comes back as what they are:
    /// from elsewhere, and not allowed.
    async fn version_taken_away(
        &self,
        known: &ListedSkill,
        skill: &ReadSkill,
        by: SkillWriter<'_>,
    ) -> Result<SkillVersion, AgentError> {
        let version = self.version(known, skill, by).await?;
        Ok(if link_target_is_unaccepted(self, &path_of(known)?, skill) {
            SkillVersion { installed: true, enabled: false, ..version }
        } else {
            version
        })
    }

    /// How a skill stands; none when it is the owner's own.
    async fn state(&self, known: &ListedSkill) -> Result<Option<SkillVersion>, AgentError> {
        let states = SkillStates::read(&*self.store).await?;
        Ok(states.at(known.shelf, &self.stands_in(known)?, &known.name))
    }

    /// The name of the folder of a skill, also of one that gets it when it is allowed.
    fn stands_in(&self, known: &ListedSkill) -> Result<String, AgentError> {
        let folder = path_of(known)?;
        let is_version = folder.starts_with(self.home.skill_versions());
        Ok(if is_version { known.name.clone() } else { folder_name(&folder) })
    }

    /// The hash that a skill from elsewhere was shown or allowed with.
    async fn pinned(&self, known: &ListedSkill) -> Result<Option<String>, AgentError> {
        Ok(self.state(known).await?.filter(|state| state.installed).map(|state| state.hash))
    }

    /// A version in the global folder, which is kept.
    fn global(
        &self,
        folder: &Folder,
        name: &str,
        (installed, enabled): (bool, bool),
    ) -> Result<SkillVersion, AgentError> {
        let (hash, place) = (self.keep(folder)?, place_name(SkillSource::Global).to_owned());
        Ok(SkillVersion { hash, place, folder: Some(name.to_owned()), installed, enabled })
    }

    /// Takes a skill's folder away; versions stay.
    fn take_away(&self, known: &ListedSkill) -> Result<(), AgentError> {
        let folder = path_of(known)?;
        if folder.starts_with(self.home.skill_versions()) { Ok(()) } else { self.place_of(known)?.remove() }
    }

    /// The folder of a name in one that skills stand in, to be written.
    pub(super) fn place(&self, shelf: &Path, name: &str) -> Result<SkillPlace, AgentError> {
        SkillPlace::new((&self.home, &self.config.files), shelf, name)
    }

    /// The folder of a skill, to be written.
    fn place_of(&self, known: &ListedSkill) -> Result<SkillPlace, AgentError> {
        let folder = path_of(known)?;
        self.place(folder.parent().unwrap_or(&folder), &folder_name(&folder))
    }

    /// Writes a version. The names of files that are not whole yet are told nobody, so they are drawn here.
    pub(super) fn put(&self, folder: &Folder, place: &SkillPlace) -> Result<(), AgentError> {
        folder.write(place, &RandomIds)
    }

    fn root(&self, place: &str) -> PathBuf {
        if place == place_name(SkillSource::Workspace) { self.home.workspace_skills() } else { self.home.skills() }
    }

    fn keep(&self, folder: &Folder) -> Result<String, AgentError> {
        let hash = folder.hash();
        self.put(folder, &self.place(&self.home.skill_versions(), &hash)?)?;
        Ok(hash)
    }

    fn fetch(&self, hash: &str) -> Result<Folder, AgentError> {
        let path = self.home.skill_versions().join(hash);
        let folder = Folder::read(&path)?;
        if folder.hash() == hash {
            return Ok(folder);
        }
        Err(AgentError::Invalid(format!("{} is not what was kept there; the version is lost", path.display())))
    }

    async fn record(
        &self,
        name: &str,
        kind: SkillEventKind,
        before: Option<SkillVersion>,
        after: Option<SkillVersion>,
        by: SkillWriter<'_>,
    ) -> Result<SkillEvent, AgentError> {
        let (skill, source) = (name.to_ascii_lowercase(), by.source.to_owned());
        let event = NewSkillEvent { skill, kind, before, after, source, now_ms: by.now_ms };
        Ok(self.store.record_skill(event).await?)
    }
}

/// What is the owner's comes before what is built in, and what may be anybody's last.
const fn used_first(skill: &ListedSkill) -> u8 {
    match (skill.status, skill.shelf) {
        (SkillStatus::Unaccepted | SkillStatus::Broken, _) => 3,
        (_, SkillSource::Builtin) => 2,
        (SkillStatus::Ready, _) => 0,
        _ => 1,
    }
}

fn no_skill(name: &str) -> AgentError {
    AgentError::NotFound { what: "skill", name: name.to_owned(), advice: "`limpid skill list` lists them".to_owned() }
}

/// The folder of a skill that has one.
fn path_of(known: &ListedSkill) -> Result<PathBuf, AgentError> {
    let file = Path::new(&known.location);
    let none = || AgentError::Invalid(format!("the skill `{}` has no folder", known.name));
    file.parent().map(Path::to_owned).ok_or_else(none)
}

fn invalid(error: impl std::fmt::Display) -> AgentError {
    AgentError::Invalid(error.to_string())
}

/// What is said of a skill that nobody can use as it stands: what is wrong with it may be a stranger's words.
fn unreadable(name: &str) -> AgentError {
    AgentError::Invalid(format!(
        "the skill `{name}` cannot be used as it stands; its owner sees why: limpid skill show {name}"
    ))
}
