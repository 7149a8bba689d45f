//! What can be chosen in a session: its mode, its model, how much that reasons, and its commands.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, ConfigOptionUpdate, CurrentModeUpdate,
    SessionConfigOption, SessionConfigOptionCategory, SessionConfigOptionValue, SessionConfigSelectOption, SessionMode,
    SessionModeState, SessionUpdate, SetSessionConfigOptionResponse, SetSessionModeResponse, UnstructuredCommandInput,
};
use limpid_core::Effort;
use limpid_runtime::commands::commands;
use limpid_runtime::{ChatRequest, ModeState};

use crate::errors::{of_agent, refused};
use crate::plan;
use crate::session::Session;
use crate::texts;

/// Commands that begin or end a conversation, which an editor does itself.
const EDITOR_COMMANDS: [&str; 2] = ["new", "exit"];

const MODE: &str = "mode";
const MODEL: &str = "model";
const EFFORT: &str = "effort";

/// Whether a text is a command that an editor carries out itself.
pub(crate) fn is_elsewhere(text: &str) -> bool {
    let word = text.split_whitespace().next().and_then(|word| word.strip_prefix('/'));
    word.is_some_and(|word| elsewhere().any(|name| name.eq_ignore_ascii_case(word)))
}

fn elsewhere() -> impl Iterator<Item = &'static str> {
    commands()
        .filter(|command| EDITOR_COMMANDS.contains(&command.name))
        .flat_map(limpid_runtime::commands::SlashInfo::names)
}

impl Session {
    /// The modes, and the settings.
    ///
    /// # Errors
    /// When the profile or the store cannot be read.
    pub(crate) async fn choices(&self) -> Result<(SessionModeState, Vec<SessionConfigOption>), Error> {
        let ModeState { mode, modes, .. } = self.mode().await?;
        if !modes.contains(&mode) {
            return Err(refused(&format!("Unknown mode `{mode}`. Modes: {}.", modes.join(", "))));
        }
        if let Some(model) = self.new_chat().model.as_deref().filter(|_| !self.is_stored()) {
            self.agent.models().choose(Some(model)).await.map_err(|error| of_agent(&error))?;
        }
        let modes: Vec<SessionMode> = modes.iter().map(|mode| SessionMode::new(mode.clone(), mode.clone())).collect();
        Ok((SessionModeState::new(mode, modes), self.options().await?))
    }

    async fn mode(&self) -> Result<ModeState, Error> {
        let mut state = self.agent.modes().state(&self.choice()).await.map_err(|error| of_agent(&error))?;
        if !self.is_stored()
            && let Some(mode) = &self.new_chat().mode
        {
            state.mode.clone_from(mode);
        }
        Ok(state)
    }

    async fn options(&self) -> Result<Vec<SessionConfigOption>, Error> {
        let ModeState { mode, modes, .. } = self.mode().await?;
        let found = self.agent.directory().find(&self.choice()).await.map_err(|error| of_agent(&error))?;
        let (of_chat, config) = (self.new_chat(), self.agent.config());
        let (model, effort) = match &found {
            Some(found) => (found.model.clone(), found.effort),
            None => (of_chat.model.clone(), of_chat.effort),
        };
        let mut models: Vec<String> = Vec::new();
        let current = match model.or_else(|| config.model.clone()) {
            Some(model) => Some(model),
            // Which one is taken is found out when it is asked.
            None => self.agent.models().choose(None).await.ok().map(|chosen| chosen.info().name()),
        };
        let known = self.agent.complete(&self.choice(), "/model ").await.into_iter().map(|known| known.word);
        for model in current.iter().cloned().chain(known) {
            if !models.contains(&model) {
                models.push(model);
            }
        }
        let option = |id: &'static str, name: &'static str, current: String, values: Vec<String>| {
            let values: Vec<SessionConfigSelectOption> = values.iter().map(|value| texts::value(value)).collect();
            SessionConfigOption::select(id, name, current, values)
        };
        let effort = effort.unwrap_or(config.effort).as_str().to_owned();
        let efforts = Effort::ALL.iter().map(|effort| effort.as_str().to_owned()).collect();
        let mode = option(MODE, "Mode", mode, modes).category(SessionConfigOptionCategory::Mode);
        let model =
            current.map(|current| option(MODEL, "Model", current, models).category(SessionConfigOptionCategory::Model));
        let effort = option(EFFORT, "Effort", effort, efforts).category(SessionConfigOptionCategory::ThoughtLevel);
        Ok(std::iter::once(mode).chain(model).chain([effort]).collect())
    }

    /// Switches the mode; while an answer streams, when that has ended.
    ///
    /// # Errors
    /// When there is no such mode, or it may not be switched now.
    pub(crate) async fn set_mode(&self, to: &str) -> Result<SetSessionModeResponse, Error> {
        self.conversation().await?;
        self.agent.conversations().set_mode(&self.id, to).await.map_err(|error| of_agent(&error))?;
        Ok(SetSessionModeResponse::new())
    }

    /// Changes a setting.
    ///
    /// # Errors
    /// When there is no such setting or value.
    pub(crate) async fn set_option(
        &self,
        id: &str,
        value: &SessionConfigOptionValue,
    ) -> Result<SetSessionConfigOptionResponse, Error> {
        let value = value.as_value_id().ok_or_else(|| refused("the setting takes one of its values"))?.to_string();
        if id == MODE {
            self.set_mode(&value).await?;
            return Ok(SetSessionConfigOptionResponse::new(self.options().await?));
        }
        let request = match id {
            MODEL => ChatRequest { model: Some(value), ..ChatRequest::default() },
            EFFORT => {
                let unknown = || {
                    let all = Effort::ALL.map(Effort::as_str).join(", ");
                    refused(&format!("Unknown effort `{value}`. Efforts: {all}."))
                };
                let effort = Effort::parse(&value).ok_or_else(unknown)?;
                ChatRequest { effort: Some(effort), ..ChatRequest::default() }
            }
            _ => return Err(refused(&format!("Unknown setting `{id}`. Settings: mode, model, effort."))),
        };
        let conversation = self.conversation().await?;
        let changed = self.agent.conversations().conversation_for(&ChatRequest { conversation, ..request }).await;
        changed.map_err(|error| of_agent(&error))?;
        Ok(SetSessionConfigOptionResponse::new(self.options().await?))
    }

    /// Tells the mode that is on.
    pub(crate) async fn tell_current_mode(&self) {
        if let Ok(state) = self.mode().await {
            self.tell_mode(&state.mode).await;
        }
    }

    /// Tells the mode that is on from here on.
    pub(crate) async fn tell_mode(&self, mode: &str) {
        self.send(SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new(mode.to_owned())));
        self.tell_options().await;
    }

    /// Tells the settings as they are now.
    pub(crate) async fn tell_options(&self) {
        if let Ok(options) = self.options().await {
            self.send(SessionUpdate::ConfigOptionUpdate(ConfigOptionUpdate::new(options)));
        }
    }

    /// Tells which commands there are: those of every surface, and skills.
    pub(crate) async fn tell_commands(&self) {
        let own: Vec<_> = commands().collect();
        let hidden: Vec<&str> = elsewhere().collect();
        let known = self.agent.complete(&self.choice(), "/").await;
        let command = |known: limpid_runtime::Completion| {
            let name = known.word.strip_prefix('/')?.to_owned();
            if hidden.contains(&name.as_str()) {
                return None;
            }
            let about = own.iter().find(|command| command.name == name);
            // Another name of a command need not be listed; a skill takes any words.
            if about.is_none() && own.iter().any(|command| command.aliases.contains(&name.as_str())) {
                return None;
            }
            let hint = about.map_or("[TEXT]", |command| command.arguments);
            let input =
                (!hint.is_empty()).then(|| AvailableCommandInput::Unstructured(UnstructuredCommandInput::new(hint)));
            Some(texts::command(name, &known.help).input(input))
        };
        let list: Vec<AvailableCommand> = known.into_iter().filter_map(command).collect();
        self.send(SessionUpdate::AvailableCommandsUpdate(AvailableCommandsUpdate::new(list)));
    }

    /// Tells what stands in a session that was there before: commands, title, plan.
    pub(crate) async fn tell_standing(&self) {
        self.tell_commands().await;
        // The rest is told all the same.
        let _ = self.tell_title().await;
        if plan::is_there(self).await {
            plan::tell(self).await;
        }
    }
}
