//! Whether modes change: the seed's "Mode Change Not Working" (OLLM-113). It is tried, by an agent over the owner's files
//! and settings whose store is thrown away afterwards.

use std::path::PathBuf;
use std::sync::Arc;

use limpid_core::ConversationId;
use limpid_store::{Conversation, SqliteOptions, SqliteStore};
use tokio::sync::broadcast::Receiver;

use super::Finding;
use crate::agent::{Agent, AgentOptions};
use crate::bus::{BusEvent, Change};
use crate::chat::ConversationChoice;
use crate::error::AgentError;
use crate::sizing::frame_of;
use crate::world::hex;

/// The steps of a switch in their order, each with what went wrong; the names are those that the owner reads.
struct Switch {
    mode: String,
    steps: [(&'static str, Result<(), String>); 4],
}

impl Switch {
    /// The first step that failed.
    fn failure(&self) -> Option<String> {
        let failed = self.steps.iter().find_map(|(step, went)| Some((step, went.as_ref().err()?)));
        failed.map(|(step, why)| format!("the switch to {} fails at “{step}”: {why}", self.mode))
    }
}

/// Switches to every mode of the last conversation's profile, and names the first step that does not work.
pub(super) async fn switching(options: &AgentOptions, agent: &Agent) -> Finding {
    let plain = |error: AgentError| (error.to_string(), "");
    let state = agent.mode(&ConversationChoice::Last).await.map_err(plain)?;
    let own = agent.find_conversation(&ConversationChoice::Last).await.map_err(plain)?;
    if !state.modes.contains(&state.mode) {
        let why = format!("the mode is {}, and there are: {}", state.mode, state.modes.join(", "));
        return Err((format!("fails at “mode set”: {why}"), "Choose one of them: limpid mode set NAME."));
    }
    if agent.inner.shelf.choose(own.as_ref().and_then(|own| own.model.as_deref())).await.is_err() {
        return Ok("not tried, since there is no model to make prompts for".to_owned());
    }
    let trial = Trial::new(options, own.as_ref()).map_err(plain)?;
    let tried = trial.switches(&state.modes).await.map_err(plain)?;
    if let Some(failure) = tried.iter().find_map(Switch::failure) {
        return Err((failure, "Mend that mode's files; what is wrong with them: limpid prompt check."));
    }
    let held = state.focus.map(|focus| format!("; focus keeps {} for {} more minutes", state.mode, focus.minutes));
    Ok(format!("each switch works: {}{}", state.modes.join(", "), held.unwrap_or_default()))
}

/// An agent with a store of its own.
struct Trial {
    agent: Agent,
    profile: String,
    folder: PathBuf,
}

impl Drop for Trial {
    fn drop(&mut self) {
        // What cannot be removed is an empty store.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Trial {
    fn new(options: &AgentOptions, own: Option<&Conversation>) -> Result<Self, AgentError> {
        let folder = options.home.path().join("data").join(format!("trial-{}", hex(&*options.ids)));
        let store = SqliteStore::open(folder.join("limpid.db"), SqliteOptions::default())?;
        let mut options = AgentOptions { store: Some(Arc::new(store)), ..options.clone() };
        let profile = own.map_or_else(|| options.config.agent.profile.clone(), |own| own.profile.clone());
        options.config.agent.profile.clone_from(&profile);
        Ok(Self { agent: Agent::open(options)?, profile, folder })
    }

    /// Switches to each mode, from the one before it; the last is the one that it began with.
    async fn switches(&self, modes: &[String]) -> Result<Vec<Switch>, AgentError> {
        let id = self.agent.conversation_for_settings(&ConversationChoice::New).await?;
        let mut events = self.agent.subscribe();
        let first = self.agent.mode(&ConversationChoice::Id(id.clone())).await?.mode;
        let mut switches = Vec::new();
        for mode in modes.iter().filter(|mode| **mode != first).chain([&first]) {
            switches.push(self.switch(&id, mode, &mut events).await?);
        }
        self.agent.settled(&id).await;
        Ok(switches)
    }

    async fn switch(
        &self,
        id: &ConversationId,
        mode: &str,
        events: &mut Receiver<BusEvent>,
    ) -> Result<Switch, AgentError> {
        let inner = &self.agent.inner;
        let before = frame_of(Some(&inner.existing(id).await?));
        let switched = self.agent.set_mode(id, mode).await;
        let now = inner.existing(id).await?;
        let after = frame_of(Some(&now));
        let told: Vec<Change> = std::iter::from_fn(|| events.try_recv().ok()).map(|event| event.change).collect();
        let profile = inner.prompts.load_one(&self.profile)?.profile(&self.profile)?;
        let tier = after.tier().unwrap_or(limpid_core::Tier::ALL[2]);

        let is_set = now.mode.as_deref() == Some(mode);
        let template = profile.mode(mode, tier).map(drop).map_err(|error| error.to_string());
        let updated = match &switched {
            Err(error) => Err(error.to_string()),
            Ok(_) if after.mode() == Some(mode) => Ok(()),
            Ok(_) => Err("the prompt was not made anew".to_owned()),
        };
        let switch = told.iter().any(|change| matches!(change, Change::ModeChanged { to, .. } if to == mode));
        let prompt = told.iter().any(|change| matches!(change, Change::SystemPromptUpdated { .. }));
        let events = match (switch, prompt, before.system_hash() == after.system_hash()) {
            (false, ..) => Err("`mode-changed` was not sent"),
            (_, false, false) => Err("`system-prompt-updated` was not sent"),
            (_, true, true) => Err("`system-prompt-updated` was sent for the prompt that was there before"),
            _ => Ok(()),
        };
        // A prompt that cannot be made keeps the mode from being set, so that is what failed.
        let set = if is_set || updated.is_err() { Ok(()) } else { Err("the conversation has another mode") };
        Ok(Switch {
            mode: mode.to_owned(),
            steps: [
                ("mode set", set.map_err(str::to_owned)),
                ("template found", template),
                ("prompt updated", updated),
                ("event sent", events.map_err(str::to_owned)),
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // OLLM-113
    #[test]
    fn the_first_step_that_failed_is_named() {
        let names = ["mode set", "template found", "prompt updated", "event sent"];
        let failing = |from: usize| {
            let went = |at: usize| if at < from { Ok(()) } else { Err(format!("reason {at}")) };
            let steps = std::array::from_fn(|at| (names[at], went(at)));
            Switch { mode: "planning".to_owned(), steps }.failure()
        };
        let named: Vec<Option<String>> = (0..=4).map(failing).collect();
        let expected =
            |at: usize| (at < 4).then(|| format!("the switch to planning fails at “{}”: reason {at}", names[at]));
        assert_eq!(named, (0..=4).map(expected).collect::<Vec<_>>());
    }
}
