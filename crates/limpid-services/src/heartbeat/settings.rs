//! What the owner sets, and the form in which it is kept.

use limpid_core::heartbeat::Settings;
use limpid_store::{HeartbeatRow, Store};
use serde::{Deserialize, Serialize};

use crate::error::AgentError;
use crate::heartbeat::{HeartbeatOpening, HeartbeatSettings, default_opening};

/// What is to be different; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeartbeatChange {
    /// Whether it runs.
    pub enabled: Option<bool>,
    /// Minutes from a good run to the next, 5 or more; 0 for the usual 30.
    pub interval_minutes: Option<u32>,
    /// The first hour of the day in which it runs, 0 to 23.
    pub start_hour: Option<u8>,
    /// The hour before which it runs last, 0 to 24.
    pub end_hour: Option<u8>,
    /// A model of its own, or (`Some(None)`) none.
    pub model: Option<Option<String>>,
    /// The owner's own opening; empty, or the very words of the profile: the profile's.
    pub prompt: Option<String>,
}

/// The settings as they are stored: one JSON document.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Stored {
    enabled: bool,
    interval_minutes: u32,
    active_hours_start: u8,
    active_hours_end: u8,
    model: Option<String>,
    prompt: String,
}

impl Default for Stored {
    fn default() -> Self {
        Self::from(Settings::default())
    }
}

impl From<Settings> for Stored {
    fn from(settings: Settings) -> Self {
        let Settings { enabled, interval_minutes, start_hour, end_hour, model, prompt } = settings;
        Self { enabled, interval_minutes, active_hours_start: start_hour, active_hours_end: end_hour, model, prompt }
    }
}

impl From<Stored> for Settings {
    fn from(stored: Stored) -> Self {
        Self {
            enabled: stored.enabled,
            interval_minutes: stored.interval_minutes,
            start_hour: stored.active_hours_start,
            end_hour: stored.active_hours_end,
            model: stored.model,
            prompt: stored.prompt,
        }
    }
}

/// The settings of a row; what cannot be read or used is as if it were not set.
pub fn settings_of(row: &HeartbeatRow) -> Settings {
    let stored = row.settings.as_deref().and_then(|text| serde_json::from_str::<Stored>(text).ok());
    stored.and_then(|stored| Settings::from(stored).checked().ok()).unwrap_or_default()
}

impl HeartbeatSettings {
    /// The settings as they are now.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn read(&self) -> Result<Settings, AgentError> {
        read_settings(&*self.store).await
    }

    /// What a heartbeat's prompt opens with.
    ///
    /// # Errors
    /// When the store or the profile cannot be read.
    pub async fn opening(&self) -> Result<HeartbeatOpening, AgentError> {
        let custom = Some(self.read().await?.prompt).filter(|text| !text.is_empty());
        Ok(HeartbeatOpening { custom, default: default_opening(&*self.profile()?)? })
    }

    /// Changes the settings of the heartbeat, all or none. When that switches it on, its interval counts from here. No
    /// tool can do this.
    ///
    /// # Errors
    /// When a value is not allowed, there is no such model, or the store cannot be written.
    pub async fn change(&self, change: HeartbeatChange) -> Result<Settings, AgentError> {
        let before = settings_of(&self.store.heartbeat().await?);
        let mut after = changed(before.clone(), change).checked().map_err(AgentError::Invalid)?;
        if after.prompt != before.prompt && !after.prompt.is_empty() {
            match default_opening(&*self.profile()?)?.as_deref() {
                // The profile's own words are no change: they follow the profile.
                Some(default) if default == after.prompt.trim() => after.prompt.clear(),
                Some(_) => {}
                None => {
                    let profile = self.profile()?;
                    let name = profile.name();
                    return Err(AgentError::Invalid(format!(
                        "the heartbeat of profile \"{name}\" has no opening, so the text would never be used; write \
                         what it should do into HEARTBEAT.md of the workspace"
                    )));
                }
            }
        }
        if let Some(model) = after.model.as_deref().filter(|_| after.model != before.model) {
            self.models.choose(Some(model)).await?;
        }
        if after == before {
            return Ok(after);
        }
        let switched_on = after.enabled && !before.enabled;
        let text = serde_json::to_string(&Stored::from(after.clone()));
        let text = text.map_err(|error| AgentError::Invalid(error.to_string()))?;
        self.store.set_heartbeat(&text, switched_on, self.host.now_ms()).await?;
        self.set_timer().await?;
        self.waker.wake();
        Ok(after)
    }
}

/// The settings as they are now.
///
/// # Errors
/// When the store cannot be read.
pub async fn read_settings(store: &dyn Store) -> Result<Settings, AgentError> {
    Ok(settings_of(&store.heartbeat().await?))
}

fn changed(settings: Settings, change: HeartbeatChange) -> Settings {
    Settings {
        enabled: change.enabled.unwrap_or(settings.enabled),
        interval_minutes: change.interval_minutes.unwrap_or(settings.interval_minutes),
        start_hour: change.start_hour.unwrap_or(settings.start_hour),
        end_hour: change.end_hour.unwrap_or(settings.end_hour),
        model: change.model.unwrap_or(settings.model),
        prompt: change.prompt.unwrap_or(settings.prompt),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // KAI-053
    #[test]
    fn the_settings_are_one_json_document() {
        let text = serde_json::to_string(&Stored::default()).unwrap();
        let expected = concat!(
            r#"{"enabled":true,"intervalMinutes":30,"activeHoursStart":8,"activeHoursEnd":22,"#,
            r#""model":null,"prompt":""}"#
        );
        assert_eq!(text, expected);
        let row = |text: &str| HeartbeatRow { settings: Some(text.to_owned()), ..HeartbeatRow::default() };
        assert_eq!(settings_of(&row("{\"enabled\":false}")), Settings { enabled: false, ..Settings::default() });
        for broken in ["", "{", "{\"intervalMinutes\":1}", "[]"] {
            assert_eq!(settings_of(&row(broken)), Settings::default(), "{broken}");
        }
    }
}
