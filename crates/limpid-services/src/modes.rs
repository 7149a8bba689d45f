//! Modes of conversations: which one is on, suggestions, focus, history.

use std::sync::Arc;

use limpid_config::{Config, Live};
use limpid_core::ConversationId;
use limpid_core::mode::{FOCUS_MINUTES, Focused, HISTORY, Pace, Suggestion, Trigger, suggest};
use limpid_store::{Conversation, ConversationKind, Inbound, NewSetting, SettingEvent, Store, StoreError};
use serde::{Deserialize, Serialize};

use crate::directory::{ConversationChoice, Directory};
use crate::error::AgentError;
use crate::heartbeat;
use crate::host::Host;
use crate::profiles::{ProfileRegistry, Reader};
use crate::spending::{Spender, spender_of};

/// The mode of runs that nobody talks to.
const USUAL: &str = "assistant";

const MODE: &str = "mode";
const FOCUS: &str = "focus";
const SUGGESTED: &str = "mode-suggested";

/// The mode of a conversation and what holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeState {
    /// The mode.
    pub mode: String,
    /// Every mode that there is.
    pub modes: Vec<String>,
    /// The focus that refuses switches, if one is on.
    pub focus: Option<Focused>,
}

/// A switch of modes that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeSwitch {
    /// The mode before.
    pub from: String,
    /// The mode after.
    pub to: String,
    /// What switched it: `auto`, `manual`, `tool` or `explicit`.
    pub trigger: String,
    /// How sure the suggestion was, in percent, when it was one.
    pub confidence: Option<u8>,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
}

/// What is done about a focus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FocusChange {
    /// It begins, for so many minutes (1 to 240); none: 25.
    On(Option<u32>),
    /// It lasts longer, by 1 to 120 minutes.
    Extend(u32),
    /// It ends.
    Off,
}

/// A switch as the log keeps it.
#[derive(Serialize, Deserialize)]
struct SwitchRow {
    from: String,
    to: String,
    confidence: Option<u8>,
}

/// Modes of conversations: which one is on, whether it may be switched, and which one a message sounds like. It answers;
/// the conversation switches.
#[derive(Clone)]
pub struct Modes {
    store: Arc<dyn Store>,
    config: Live<Config>,
    host: Host,
    profiles: Arc<ProfileRegistry>,
    directory: Directory,
}

impl Modes {
    /// The modes of a store's conversations.
    pub fn new(
        store: Arc<dyn Store>,
        config: Live<Config>,
        host: Host,
        profiles: Arc<ProfileRegistry>,
        directory: Directory,
    ) -> Self {
        Self { store, config, host, profiles, directory }
    }

    /// The mode of a conversation and what holds it.
    ///
    /// # Errors
    /// When the conversation does not exist, or the store or the profile cannot be read.
    pub async fn state(&self, conversation: &ConversationChoice) -> Result<ModeState, AgentError> {
        let found = self.directory.find(conversation).await?;
        let profile = found.as_ref().map_or(&self.config.agent.profile, |found| &found.profile);
        let mode = found.as_ref().map_or(self.config.agent.mode.as_str(), |found| self.of(found));
        let focus = match &found {
            Some(found) => self.pace(&found.id).await?.focus(self.host.now_ms()),
            None => None,
        };
        Ok(ModeState { mode: mode.to_owned(), modes: self.all(profile)?, focus })
    }

    /// Begins, extends or ends the focus of a conversation; returns what is on afterwards.
    ///
    /// # Errors
    /// When the minutes are too many, or there is no focus to extend.
    pub async fn focus(&self, id: &ConversationId, change: FocusChange) -> Result<Option<Focused>, AgentError> {
        let now_ms = self.host.now_ms();
        let pace = self.pace(id).await?;
        let until = match change {
            FocusChange::On(minutes) => Pace::focus_until(now_ms, minutes.unwrap_or(FOCUS_MINUTES)).map(Some),
            FocusChange::Extend(minutes) => pace.extended(now_ms, minutes).map(Some),
            FocusChange::Off => Ok(None),
        };
        let until = until.map_err(|error| AgentError::Invalid(error.to_string()))?;
        let event = manual(FOCUS, until.map(|until| until.to_string()));
        self.store.set_in_conversation(id, Vec::new(), vec![event], now_ms).await?;
        Ok(Pace { focus_until_ms: until, ..pace }.focus(now_ms))
    }

    /// The last hundred switches of a conversation, newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn history(&self, id: &ConversationId) -> Result<Vec<ModeSwitch>, AgentError> {
        let listed = self.store.setting_events(Some(id), MODE, HISTORY).await?;
        Ok(listed.rows.iter().filter_map(switch).collect())
    }

    /// The mode of a conversation.
    pub fn of<'a>(&'a self, conversation: &'a Conversation) -> &'a str {
        mode_of(&self.config, conversation)
    }

    /// The mode that the owner wants runs of a path to have, if any.
    pub fn of_runs(&self, path: &str) -> Option<&str> {
        let wanted = match path == heartbeat::PATH {
            true => &self.config.heartbeat.mode,
            false => &self.config.scheduling.mode,
        };
        wanted.as_deref()
    }

    /// The mode of the next conversation or run on a path.
    pub fn of_next(&self, path: &str) -> &str {
        let kind = kind_of(path);
        let wanted = if kind == ConversationKind::Run { self.of_runs(path) } else { None };
        wanted.unwrap_or_else(|| usual_mode(&self.config, kind))
    }

    /// Refuses a mode that does not exist and any switch while there is focus.
    ///
    /// # Errors
    /// [`AgentError::Invalid`] with the reason, or when store or profile cannot be read.
    pub async fn may_switch(&self, conversation: &Conversation, to: &str) -> Result<(), AgentError> {
        let modes = self.all(&conversation.profile)?;
        if !modes.iter().any(|mode| mode == to) {
            return Err(AgentError::Invalid(format!("unknown mode `{to}`; there are: {}", modes.join(", "))));
        }
        if self.of(conversation) == to {
            return Ok(());
        }
        let pace = self.pace(&conversation.id).await?;
        pace.may_switch(self.host.now_ms()).map_err(|focused| AgentError::Invalid(focused.to_string()))
    }

    /// The mode that a message sounds like, when the owner wants to hear of it and has not heard lately.
    ///
    /// # Errors
    /// When store or profile cannot be read.
    pub async fn suggest(
        &self,
        conversation: &Conversation,
        newest: &Inbound,
    ) -> Result<Option<Suggestion>, AgentError> {
        let config = &self.config.modes;
        if newest.trust.is_foreign() || !(config.suggestions || config.auto) {
            return Ok(None);
        }
        let profile = self.profiles.profile(&conversation.profile, Reader::Owner)?;
        let modes: Vec<&str> = profile.modes().collect();
        let Some(suggestion) = suggest(self.of(conversation), &modes, &newest.text) else { return Ok(None) };
        let may = self.pace(&conversation.id).await?.may_suggest(self.host.now_ms());
        Ok(may.then_some(suggestion))
    }

    /// Writes down that a mode was suggested; returns what the person is told.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn record_suggestion(&self, id: &ConversationId, suggestion: &Suggestion) -> Result<String, AgentError> {
        let event = NewSetting {
            name: SUGGESTED.to_owned(),
            value: Some(suggestion.target.clone()),
            trigger: suggestion.trigger().as_str().to_owned(),
        };
        self.store.set_in_conversation(id, Vec::new(), vec![event], self.host.now_ms()).await?;
        let Suggestion { target, reason, confidence } = suggestion;
        Ok(format!("this sounds like {target} ({reason}; {confidence} % sure): switch with /mode {target}"))
    }

    /// The modes that there are under a profile.
    ///
    /// # Errors
    /// When the profile cannot be read.
    pub fn all(&self, profile: &str) -> Result<Vec<String>, AgentError> {
        Ok(self.profiles.profile(profile, Reader::Owner)?.modes().map(str::to_owned).collect())
    }

    /// What happened of late in a conversation's modes.
    async fn pace(&self, id: &ConversationId) -> Result<Pace, AgentError> {
        let settings = self.store.settings(Some(id)).await?.rows;
        let of = |name: &str| settings.iter().find(|event| event.name == name);
        Ok(Pace {
            switched_ms: of(MODE).map(|event| event.at_ms),
            suggested_ms: of(SUGGESTED).map(|event| event.at_ms),
            focus_until_ms: of(FOCUS).and_then(|event| event.value.as_deref()?.parse().ok()),
        })
    }
}

/// The mode of a conversation.
pub fn mode_of<'a>(config: &'a Config, conversation: &'a Conversation) -> &'a str {
    conversation.mode.as_deref().unwrap_or_else(|| usual_mode(config, conversation.kind))
}

/// A conversation with the mode that holds in it now: an agent that a turn handed work to has that of the chat that it works for,
/// also where another one was on when it began, so that it may never do what its chat may not.
///
/// # Errors
/// When the store cannot be read.
pub async fn with_mode_of_chat(
    store: &dyn Store,
    config: &Config,
    own: Conversation,
) -> Result<Conversation, StoreError> {
    if own.kind != ConversationKind::Run {
        return Ok(own);
    }
    // A research worker has the mode that runs have: it sees nothing of its chat's.
    let Some(agent) = store.agent_in(&own.id).await?.filter(|agent| !agent.is_research()) else { return Ok(own) };
    let Some(chat) = store.conversation(&agent.chat).await? else { return Ok(own) };
    let mode = mode_of(config, &chat);
    let mode = is_set(Some(&chat), mode).then(|| mode.to_owned());
    Ok(Conversation { mode, ..own })
}

/// The mode of conversations in which nobody has set one.
fn usual_mode(config: &Config, kind: ConversationKind) -> &str {
    match kind {
        ConversationKind::Chat | ConversationKind::Interactive => &config.agent.mode,
        ConversationKind::Heartbeat | ConversationKind::Task | ConversationKind::Run => USUAL,
    }
}

/// The kind of a conversation that a path is rendered for when there is none yet.
pub fn kind_of(path: &str) -> ConversationKind {
    if spender_of(path) == Spender::Background { ConversationKind::Run } else { ConversationKind::Chat }
}

/// Whether somebody has set the mode that is on, here or in limpid.toml, so that its policy holds in every profile.
pub fn is_set(conversation: Option<&Conversation>, mode: &str) -> bool {
    mode != USUAL || conversation.is_some_and(|conversation| conversation.mode.is_some())
}

/// Something that the person set.
pub fn manual(name: &str, value: Option<String>) -> NewSetting {
    NewSetting { name: name.to_owned(), value, trigger: Trigger::Manual.as_str().to_owned() }
}

/// A switch as the log keeps it.
pub fn switch_event(from: &str, to: &str, trigger: Trigger, confidence: Option<u8>) -> NewSetting {
    let row = SwitchRow { from: from.to_owned(), to: to.to_owned(), confidence };
    // Plain data always serialises.
    let value = serde_json::to_string(&row).unwrap_or_default();
    NewSetting { name: MODE.to_owned(), value: Some(value), trigger: trigger.as_str().to_owned() }
}

fn switch(event: &SettingEvent) -> Option<ModeSwitch> {
    let SwitchRow { from, to, confidence } = serde_json::from_str(event.value.as_deref()?).ok()?;
    Some(ModeSwitch { from, to, trigger: event.trigger.clone(), confidence, at_ms: event.at_ms })
}
