//! Modes of conversations: switching, suggestions, focus, history.

use limpid_config::Config;
use limpid_core::ConversationId;
use limpid_core::mode::{FOCUS_MINUTES, Focused, HISTORY, Pace, Suggestion, Trigger, suggest};
use limpid_store::{Conversation, ConversationChange, ConversationKind, Inbound, NewSetting, SettingEvent};
use serde::{Deserialize, Serialize};

use crate::agent::{Agent, Inner};
use crate::context::PrefixCache;
use crate::conversation::settings::{ChangeOutcome, rebuild};
use crate::services::directory::ConversationChoice;
use crate::services::error::AgentError;
use crate::services::events::EventKind;
use crate::services::spending::{Spender, spender_of};

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

impl Agent {
    /// The mode of a conversation.
    ///
    /// # Errors
    /// When the conversation does not exist, or the store or the profile cannot be read.
    pub async fn mode(&self, conversation: &ConversationChoice) -> Result<ModeState, AgentError> {
        let inner = &self.inner;
        let found = inner.directory.find(conversation).await?;
        let profile = found.as_ref().map_or(&inner.config.agent.profile, |found| &found.profile);
        let mode = found.as_ref().map_or(inner.config.agent.mode.as_str(), |found| inner.mode_of(found));
        let focus = match &found {
            Some(found) => inner.pace(&found.id).await?.focus(inner.host.now_ms()),
            None => None,
        };
        Ok(ModeState { mode: mode.to_owned(), modes: inner.modes(profile)?, focus })
    }

    /// The conversation that something is to be set in, made when there is none.
    ///
    /// # Errors
    /// When there is none of that id, or the store cannot be written.
    pub async fn conversation_for_settings(&self, choice: &ConversationChoice) -> Result<ConversationId, AgentError> {
        Ok(self.inner.directory.find_or_create(choice).await?.id)
    }

    /// Begins, extends or ends the focus of a conversation; returns what is on afterwards.
    ///
    /// # Errors
    /// When the minutes are too many, or there is no focus to extend.
    pub async fn focus(&self, id: &ConversationId, change: FocusChange) -> Result<Option<Focused>, AgentError> {
        let (inner, now_ms) = (&self.inner, self.now_ms());
        let pace = inner.pace(id).await?;
        let until = match change {
            FocusChange::On(minutes) => Pace::focus_until(now_ms, minutes.unwrap_or(FOCUS_MINUTES)).map(Some),
            FocusChange::Extend(minutes) => pace.extended(now_ms, minutes).map(Some),
            FocusChange::Off => Ok(None),
        };
        let until = until.map_err(|error| AgentError::Invalid(error.to_string()))?;
        let event = manual(FOCUS, until.map(|until| until.to_string()));
        inner.store.set_in_conversation(id, Vec::new(), vec![event], now_ms).await?;
        Ok(Pace { focus_until_ms: until, ..pace }.focus(now_ms))
    }

    /// The last hundred switches of a conversation, newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn mode_history(&self, id: &ConversationId) -> Result<Vec<ModeSwitch>, AgentError> {
        let listed = self.inner.store.setting_events(Some(id), MODE, HISTORY).await?;
        Ok(listed.rows.iter().filter_map(switch).collect())
    }
}

impl Inner {
    /// The mode of a conversation.
    pub(crate) fn mode_of<'a>(&'a self, conversation: &'a Conversation) -> &'a str {
        mode_of(&self.config, conversation)
    }

    /// The mode that the owner wants runs of a path to have, if any.
    pub(crate) fn mode_of_runs(&self, path: &str) -> Option<&str> {
        let wanted = if path == crate::services::heartbeat::PATH {
            &self.config.heartbeat.mode
        } else {
            &self.config.scheduling.mode
        };
        wanted.as_deref()
    }

    /// The mode of the next conversation or run on a path.
    pub(crate) fn mode_of_next(&self, path: &str) -> &str {
        let kind = kind_of(path);
        let wanted = if kind == ConversationKind::Run { self.mode_of_runs(path) } else { None };
        wanted.unwrap_or_else(|| usual_mode(&self.config, kind))
    }

    /// The modes that there are under a profile.
    fn modes(&self, profile: &str) -> Result<Vec<String>, AgentError> {
        Ok(self.profiles.profile(profile)?.modes().map(str::to_owned).collect())
    }

    /// Refuses a mode that does not exist and any switch while there is focus.
    pub(crate) async fn may_switch(&self, conversation: &Conversation, to: &str) -> Result<(), AgentError> {
        let modes = self.modes(&conversation.profile)?;
        if !modes.iter().any(|mode| mode == to) {
            return Err(AgentError::Invalid(format!("unknown mode `{to}`; there are: {}", modes.join(", "))));
        }
        if self.mode_of(conversation) == to {
            return Ok(());
        }
        let pace = self.pace(&conversation.id).await?;
        pace.may_switch(self.host.now_ms()).map_err(|focused| AgentError::Invalid(focused.to_string()))
    }

    /// Switches the mode: the tier stays, the prompt is made anew, then the events are sent.
    pub(crate) async fn switch_mode(
        &self,
        id: &ConversationId,
        to: &str,
        trigger: Trigger,
        confidence: Option<u8>,
    ) -> Result<ChangeOutcome, AgentError> {
        let conversation = self.directory.existing(id).await?;
        let from = self.mode_of(&conversation).to_owned();
        self.may_switch(&conversation, to).await?;
        if from == to {
            return Ok(ChangeOutcome::Unchanged);
        }
        let mut session = PrefixCache::of(&conversation);
        let switched = Conversation { mode: Some(to.to_owned()), ..conversation };
        let changes = rebuild(self, &switched, &mut session.frame).await?;
        let row = SwitchRow { from: from.clone(), to: to.to_owned(), confidence };
        let value = serde_json::to_string(&row).unwrap_or_default();
        let event = NewSetting { name: MODE.into(), value: Some(value), trigger: trigger.as_str().into() };
        let kept =
            vec![ConversationChange::Mode(Some(to.to_owned())), ConversationChange::Session(Some(session.to_text()))];
        self.store.set_in_conversation(id, kept, vec![event], self.host.now_ms()).await?;
        let trigger = trigger.as_str().to_owned();
        self.bus.send(Some(id), EventKind::ModeChanged { from: from.clone(), to: to.to_owned(), trigger });
        changes.into_iter().for_each(|change| self.bus.send(Some(id), change));
        Ok(ChangeOutcome::Applied(from))
    }

    /// What happened of late in a conversation's modes.
    pub(crate) async fn pace(&self, id: &ConversationId) -> Result<Pace, AgentError> {
        let settings = self.store.settings(Some(id)).await?.rows;
        let of = |name: &str| settings.iter().find(|event| event.name == name);
        Ok(Pace {
            switched_ms: of(MODE).map(|event| event.at_ms),
            suggested_ms: of(SUGGESTED).map(|event| event.at_ms),
            focus_until_ms: of(FOCUS).and_then(|event| event.value.as_deref()?.parse().ok()),
        })
    }

    /// Suggests the mode that a message sounds like, or switches to it when the owner wants that. Returns what the
    /// person is told. Nothing streams: the turn that answers the message has not begun.
    pub(crate) async fn lean(
        &self,
        conversation: &Conversation,
        newest: &Inbound,
    ) -> Result<Option<String>, AgentError> {
        let config = &self.config.modes;
        if newest.trust.is_foreign() || !(config.suggestions || config.auto) {
            return Ok(None);
        }
        let profile = self.profiles.profile(&conversation.profile)?;
        let modes: Vec<&str> = profile.modes().collect();
        let Some(suggestion) = suggest(self.mode_of(conversation), &modes, &newest.text) else { return Ok(None) };
        let now_ms = self.host.now_ms();
        if !self.pace(&conversation.id).await?.may_suggest(now_ms) {
            return Ok(None);
        }
        if config.auto {
            let trigger = suggestion.trigger();
            let settled =
                self.switch_mode(&conversation.id, &suggestion.target, trigger, Some(suggestion.confidence)).await?;
            return Ok(match settled {
                ChangeOutcome::Applied(from) => Some(followed(&suggestion, &from)),
                ChangeOutcome::Unchanged | ChangeOutcome::Deferred => None,
            });
        }
        let event = NewSetting {
            name: SUGGESTED.to_owned(),
            value: Some(suggestion.target.clone()),
            trigger: suggestion.trigger().as_str().to_owned(),
        };
        self.store.set_in_conversation(&conversation.id, Vec::new(), vec![event], now_ms).await?;
        Ok(Some(suggested(&suggestion)))
    }
}

/// The mode of a conversation.
pub fn mode_of<'a>(config: &'a Config, conversation: &'a Conversation) -> &'a str {
    conversation.mode.as_deref().unwrap_or_else(|| usual_mode(config, conversation.kind))
}

/// The mode of conversations in which nobody has set one.
fn usual_mode(config: &Config, kind: ConversationKind) -> &str {
    match kind {
        ConversationKind::Chat => &config.agent.mode,
        ConversationKind::Heartbeat | ConversationKind::Task | ConversationKind::Run => USUAL,
    }
}

/// The kind of a conversation that a path is rendered for when there is none yet.
pub(crate) fn kind_of(path: &str) -> ConversationKind {
    if spender_of(path) == Spender::Background { ConversationKind::Run } else { ConversationKind::Chat }
}

/// Whether somebody has set the mode that is on, here or in limpid.toml, so that its policy holds in every profile.
pub(crate) fn is_set(conversation: Option<&Conversation>, mode: &str) -> bool {
    mode != USUAL || conversation.is_some_and(|conversation| conversation.mode.is_some())
}

/// Something that the person set.
pub(crate) fn manual(name: &str, value: Option<String>) -> NewSetting {
    NewSetting { name: name.to_owned(), value, trigger: Trigger::Manual.as_str().to_owned() }
}

fn switch(event: &SettingEvent) -> Option<ModeSwitch> {
    let SwitchRow { from, to, confidence } = serde_json::from_str(event.value.as_deref()?).ok()?;
    Some(ModeSwitch { from, to, trigger: event.trigger.clone(), confidence, at_ms: event.at_ms })
}

fn suggested(suggestion: &Suggestion) -> String {
    let Suggestion { target, reason, confidence } = suggestion;
    format!("this sounds like {target} ({reason}; {confidence} % sure): switch with /mode {target}")
}

fn followed(suggestion: &Suggestion, from: &str) -> String {
    let Suggestion { target, reason, .. } = suggestion;
    format!("the mode is {target} for this ({reason}); back with /mode {from}")
}
