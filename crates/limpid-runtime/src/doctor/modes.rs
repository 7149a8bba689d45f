//! Whether modes change: the seed's "Mode EventKind Not Working". It is tried, by an agent over the owner's files
//! and settings whose store is thrown away afterwards.

use std::path::PathBuf;
use std::sync::Arc;

use limpid_config::hex;
use limpid_context::window_state_of;
use limpid_core::ConversationId;
use limpid_services::directory::ConversationChoice;
use limpid_services::error::AgentError;
use limpid_services::events::{Event, EventKind};
use limpid_services::profiles::Reader;
use limpid_store::{Conversation, SqliteOptions, SqliteStore};
use tokio::sync::broadcast::Receiver;

use crate::agent::{Agent, AgentOptions};
use crate::doctor::check::Finding;

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
pub(crate) async fn switching(options: &AgentOptions, agent: &Agent) -> Finding {
    let plain = |error: AgentError| (error.to_string(), "");
    let state = agent.modes().state(&ConversationChoice::Last).await.map_err(plain)?;
    let own = agent.directory().find(&ConversationChoice::Last).await.map_err(plain)?;
    if !state.modes.contains(&state.mode) {
        let why = format!("the mode is {}, and there are: {}", state.mode, state.modes.join(", "));
        return Err((
            format!("fails at “mode set”: {why}"),
            "Choose one of them: limpid mode set NAME, or `mode` under [agent] in limpid.toml.",
        ));
    }
    if agent.models().choose(own.as_ref().and_then(|own| own.model.as_deref())).await.is_err() {
        return Ok("not tried, since there is no model to make prompts for".to_owned());
    }
    let trial = Trial::new(options, own.as_ref()).map_err(plain)?;
    let tried = trial.switches(&state.modes).await.map_err(plain)?;
    if let Some(failure) = tried.iter().find_map(Switch::failure) {
        return Err((failure, "Mend that mode's files; what is wrong with them: limpid prompt check."));
    }
    let held = state.focus.map(|focus| format!("; focus keeps {} for {} more", state.mode, focus.left()));
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
        let id = self.agent.directory().find_or_create(&ConversationChoice::New).await?.id;
        let mut events = self.agent.subscribe();
        let first = self.agent.modes().state(&ConversationChoice::Id(id.clone())).await?.mode;
        let mut switches = Vec::new();
        for mode in modes.iter().filter(|mode| **mode != first).chain([&first]) {
            switches.push(self.switch(&id, mode, &mut events).await?);
        }
        self.agent.conversations().wait_idle(&id).await;
        Ok(switches)
    }

    async fn switch(
        &self,
        id: &ConversationId,
        mode: &str,
        events: &mut Receiver<Event>,
    ) -> Result<Switch, AgentError> {
        let directory = self.agent.directory();
        let before = window_state_of(Some(&directory.existing(id).await?));
        let switched = self.agent.conversations().set_mode(id, mode).await;
        let now = directory.existing(id).await?;
        let after = window_state_of(Some(&now));
        let profile = self.agent.profiles().profile(&self.profile, Reader::Owner)?;
        let tier = after.tier().unwrap_or(limpid_core::Tier::ALL[2]);
        let seen = Seen {
            set: now.mode,
            template: profile.mode(mode, tier).map(drop).map_err(|error| error.to_string()),
            switched: switched.map(drop).map_err(|error| error.to_string()),
            made_for: after.mode().map(str::to_owned),
            another_prompt: before.system_hash() != after.system_hash(),
            told: std::iter::from_fn(|| events.try_recv().ok()).map(|event| event.change).collect(),
        };
        Ok(seen.judged(mode))
    }
}

/// What is there after a switch was asked for.
struct Seen {
    /// The mode that the conversation keeps.
    set: Option<String>,
    template: Result<(), String>,
    switched: Result<(), String>,
    /// The mode that the system prompt was last made for.
    made_for: Option<String>,
    /// Whether the system prompt reads otherwise than before.
    another_prompt: bool,
    told: Vec<EventKind>,
}

impl Seen {
    fn judged(self, mode: &str) -> Switch {
        let event = self.event(mode);
        let updated = match self.switched {
            Err(error) => Err(error),
            Ok(()) if self.made_for.as_deref() == Some(mode) => Ok(()),
            Ok(()) => Err("the prompt was not made anew".to_owned()),
        };
        // A prompt that cannot be made keeps the mode from being set, so that is what failed.
        let is_set = self.set.as_deref() == Some(mode) || updated.is_err();
        let set = if is_set { Ok(()) } else { Err("the conversation has another mode".to_owned()) };
        let steps =
            [("mode set", set), ("template found", self.template), ("prompt updated", updated), ("event sent", event)];
        Switch { mode: mode.to_owned(), steps }
    }

    /// Whether those who watch were told of the mode, and of a new prompt exactly if there is one.
    fn event(&self, mode: &str) -> Result<(), String> {
        let of_mode = self.told.iter().any(|change| matches!(change, EventKind::ModeChanged { to, .. } if to == mode));
        let of_prompt = self.told.iter().any(|change| matches!(change, EventKind::SystemPromptUpdated { .. }));
        match (of_mode, of_prompt, self.another_prompt) {
            (false, ..) => Err("`mode-changed` was not sent".to_owned()),
            (_, false, true) => Err("`system-prompt-updated` was not sent".to_owned()),
            (_, true, false) => Err("`system-prompt-updated` was sent for the prompt that was there before".to_owned()),
            _ => Ok(()),
        }
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
    fn of_mode(to: &str) -> EventKind {
        EventKind::ModeChanged { from: "assistant".to_owned(), to: to.to_owned(), trigger: "manual".to_owned() }
    }

    fn of_prompt() -> EventKind {
        EventKind::SystemPromptUpdated {
            mode: "planning".to_owned(),
            tier: 3,
            tokens: 100,
            hash: "00".to_owned(),
            reason: "mode".to_owned(),
            trims: Vec::new(),
        }
    }

    /// A switch of which everything works.
    fn working() -> Seen {
        Seen {
            set: Some("planning".to_owned()),
            template: Ok(()),
            switched: Ok(()),
            made_for: Some("planning".to_owned()),
            another_prompt: true,
            told: vec![of_mode("planning"), of_prompt()],
        }
    }

    // OLLM-113
    #[test]
    fn each_step_that_does_not_work_is_seen() {
        let none = |of: &str| Err(format!("no {of}"));
        let cases = [
            ("all works", working()),
            ("the same prompt", Seen { another_prompt: false, told: vec![of_mode("planning")], ..working() }),
            ("another mode kept", Seen { set: Some("assistant".to_owned()), ..working() }),
            ("no mode kept", Seen { set: None, ..working() }),
            ("no template", Seen { template: none("template"), ..working() }),
            ("refused", Seen { set: None, switched: none("room"), made_for: None, told: Vec::new(), ..working() }),
            ("an old prompt", Seen { made_for: Some("assistant".to_owned()), ..working() }),
            ("told nothing", Seen { told: Vec::new(), ..working() }),
            ("told of another mode", Seen { told: vec![of_mode("coding"), of_prompt()], ..working() }),
            ("not told of the prompt", Seen { told: vec![of_mode("planning")], ..working() }),
            ("told of no new prompt", Seen { another_prompt: false, ..working() }),
        ];
        let judged = cases.map(|(case, seen)| {
            let switch = seen.judged("planning");
            let steps = switch.steps.iter().map(|(step, went)| match went {
                Ok(()) => format!("  {step}: fine"),
                Err(why) => format!("  {step}: {why}"),
            });
            [case.to_owned()].into_iter().chain(steps).collect::<Vec<_>>().join("\n")
        });
        insta::assert_snapshot!(judged.join("\n"));
    }
}
