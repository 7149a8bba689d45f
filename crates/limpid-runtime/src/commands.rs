//! Slash commands: one table for every surface.
//!
//! A line whose first word is `/name`, with nothing but letters, digits and hyphens in the name, is a command: it is
//! carried out here or refused, and never reaches a model, unless the name is that of a skill, which the message then
//! activates. Everything else is a message, such as `/etc/hosts is what?` and `and/or`. `//name` says `/name` to the
//! model.
//!
//! A command is a file in `commands/` with a `SlashCommand` in it, its `mod` and its line in the table here, and its name in
//! `COMMANDS` of `limpid-core`.

mod checkpoint;
mod clean;
mod compact;
mod context;
mod cost;
mod effort;
mod exit;
mod goal;
mod group;
mod heartbeat;
mod help;
mod line;
mod memory;
mod mode;
mod model;
mod new;
mod profile;
mod prompt;
mod skills;
mod slash_command;
mod stop;
mod table;
mod tasks;
mod undo;

use limpid_prompt::shown::shown_line;
use limpid_services::directory::ConversationChoice;
use limpid_services::error::AgentError;
use limpid_services::skills::{ListedSkill, SkillStatus};

pub use group::OTHERS_READ;
pub use slash_command::SlashReply;
pub use table::SlashInfo;

use crate::agent::Agent;
use crate::commands::line::{Line, parse, unknown};
use crate::commands::slash_command::CommandContext;
use crate::commands::table::Table;

/// Every command, in the order in which `/help` lists them.
const TABLE: Table = Table(&[
    &help::Help,
    &new::New,
    &stop::Stop,
    &undo::Undo,
    &mode::Mode,
    &goal::Goal,
    &checkpoint::Checkpoint,
    &profile::Profile,
    &model::Model,
    &effort::Effort,
    &prompt::Prompt,
    &context::Context,
    &compact::Compact,
    &clean::Clean,
    &memory::Memory,
    &group::Group,
    &skills::Skills,
    &tasks::Tasks,
    &heartbeat::Heartbeat,
    &cost::Cost,
    &exit::Exit,
]);

/// What a line that a person wrote comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// No command: this is to be said in the conversation.
    Message(String),
    /// A command that was carried out.
    Reply(SlashReply),
}

/// A word that may stand where the cursor is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The word, with its slash when it is a command.
    pub word: String,
    /// What it is on one line without control characters, when there is something to say.
    pub help: String,
}

impl Completion {
    /// A word with what it is; none if the word holds characters that must be escaped: a stranger may have named a skill or a model.
    fn new(word: String, help: &str) -> Option<Self> {
        (shown_line(&word) == word).then(|| Self { word, help: shown_line(help) })
    }
}

/// Every command, in the order in which help lists them.
pub fn commands() -> impl Iterator<Item = SlashInfo> {
    TABLE.list()
}

/// Whether a text calls a built-in command. `/NAME` of a skill is a message.
pub fn is_known_command(text: &str) -> bool {
    matches!(parse(TABLE, text), Line::Command(..))
}

/// Whether a text looks like a command: a built-in one, a skill's, or an unknown one.
pub fn is_command(text: &str) -> bool {
    matches!(parse(TABLE, text), Line::Command(..) | Line::Unknown(_))
}

impl Agent {
    /// Carries out a command, or says what of the text is a message.
    ///
    /// # Errors
    /// When the command fails, or there is no command or skill of that name.
    pub async fn command(&self, conversation: &ConversationChoice, text: &str) -> Result<Input, AgentError> {
        let (command, arguments) = match parse(TABLE, text) {
            Line::Message(text) => return Ok(Input::Message(text.to_owned())),
            Line::Unknown(name) => {
                let skills = self.called_skills().await?;
                if skills.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
                    return Ok(Input::Message(text.to_owned()));
                }
                return Err(AgentError::Invalid(unknown(TABLE, name, &skills)));
            }
            Line::Command(command, arguments) => (command, arguments),
        };
        let context = self.command_context(conversation).await?;
        let mut reply = command.run(&context, arguments).await?;
        reply.command = command.name();
        Ok(Input::Reply(reply))
    }

    /// What the last word of a line may become: commands, and what they take.
    pub async fn complete(&self, conversation: &ConversationChoice, line: &str) -> Vec<Completion> {
        let Some(rest) = line.strip_prefix('/').filter(|rest| !rest.starts_with('/')) else { return Vec::new() };
        let Some((name, rest)) = rest.split_once(char::is_whitespace) else {
            let skills = self.called_skills().await.unwrap_or_default();
            let own = commands()
                .flat_map(|command| command.names().map(move |name| (name.to_owned(), command.help.to_owned())));
            let fitting = own.chain(skills).filter(|(name, _)| name.starts_with(rest));
            return fitting.filter_map(|(name, help)| Completion::new(format!("/{name}"), &help)).collect();
        };
        let Some(command) = TABLE.find(name) else { return Vec::new() };
        let mut before: Vec<&str> = rest.split_whitespace().collect();
        let begun = if rest.ends_with(char::is_whitespace) { "" } else { before.pop().unwrap_or_default() };
        let Ok(context) = self.command_context(conversation).await else { return Vec::new() };
        let words = command.words(&context, &before).await.unwrap_or_default();
        let fitting = words.into_iter().filter(|word| word.starts_with(begun));
        fitting.filter_map(|word| Completion::new(word, "")).collect()
    }

    /// What may be called by a slash besides the commands: names and descriptions of the skills in use.
    async fn called_skills(&self) -> Result<Vec<(String, String)>, AgentError> {
        let in_use = self.skills().list().await?.into_iter().filter(|skill| skill.status == SkillStatus::Ready);
        let about = |skill: ListedSkill| {
            let about = skill.prompt.and_then(|prompt| prompt.description().map(str::to_owned));
            (skill.name, about.unwrap_or_default())
        };
        Ok(in_use.map(about).collect())
    }

    async fn command_context<'a>(&'a self, choice: &'a ConversationChoice) -> Result<CommandContext<'a>, AgentError> {
        let conversation = self.directory().find(choice).await?;
        Ok(CommandContext { agent: self, choice, conversation, table: TABLE })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // KAI-100
    #[test]
    fn no_skill_can_have_the_name_of_a_command() {
        for command in commands() {
            for name in command.names() {
                assert!(
                    name.parse::<limpid_core::SkillName>().is_err(),
                    "add \"{name}\" to COMMANDS in limpid-core/src/skill.rs"
                );
            }
        }
    }

    // SUR-015
    #[test]
    fn every_command_has_a_name_of_its_own_and_a_line_of_help() {
        let names: Vec<&str> = commands().flat_map(SlashInfo::names).collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), names.len());
        for command in commands() {
            assert!(command.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", command.name);
            assert!(!command.help.is_empty() && !command.help.contains('\n'), "{}", command.name);
        }
    }
}
