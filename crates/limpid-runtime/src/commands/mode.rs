//! `/mode`.

use async_trait::async_trait;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use limpid_conversation::ChangeOutcome;
use limpid_services::directory::ConversationChoice;
use limpid_services::error::AgentError;
use limpid_services::modes::{FocusChange, ModeState, ModeSwitch};

use crate::commands::slash_command::{CommandContext, SlashCommand, SlashReply};

/// Shows the mode, switches to another, keeps it for a while.
pub(crate) struct Mode;

#[async_trait]
impl SlashCommand for Mode {
    fn name(&self) -> &'static str {
        "mode"
    }

    fn arguments(&self) -> &'static str {
        "[NAME | focus [MINUTES] | focus extend MINUTES | focus off | history]"
    }

    fn help(&self) -> &'static str {
        "Show the mode, switch to another, or keep this one for a while"
    }

    async fn words(&self, context: &CommandContext<'_>, before: &[&str]) -> Result<Vec<String>, AgentError> {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        Ok(match before {
            [] => [state(context).await?.modes, words(&["focus", "history"])].concat(),
            ["focus"] => words(&["extend", "off"]),
            _ => Vec::new(),
        })
    }

    async fn run(&self, context: &CommandContext<'_>, arguments: &str) -> Result<SlashReply, AgentError> {
        match arguments.split_whitespace().collect::<Vec<_>>().as_slice() {
            [] => Ok(context.says(shown(&state(context).await?))),
            ["history"] => history(context).await,
            ["focus", change @ ..] => focus(context, change).await,
            [name] => switch(context, name).await,
            _ => Err(AgentError::Invalid(format!("/mode takes {}", self.arguments()))),
        }
    }
}

async fn state(context: &CommandContext<'_>) -> Result<ModeState, AgentError> {
    let known = context.conversation.as_ref().map(|conversation| conversation.id.clone());
    context.agent.modes().state(&known.map_or(ConversationChoice::New, ConversationChoice::Id)).await
}

fn shown(state: &ModeState) -> String {
    let focus = state.focus.map(|focus| format!(" It stays for {} more.", focus.left()));
    format!("The mode is {}.{} There are: {}.", state.mode, focus.unwrap_or_default(), state.modes.join(", "))
}

async fn switch(context: &CommandContext<'_>, to: &str) -> Result<SlashReply, AgentError> {
    let conversation = context.found_or_new().await?;
    let (text, changed): (String, &[&str]) = match context.agent.conversations().set_mode(&conversation.id, to).await? {
        ChangeOutcome::Applied(from) => {
            (format!("The mode is {to} from the next message on; it was {from}."), &["mode"])
        }
        ChangeOutcome::Deferred => {
            (format!("An answer is under way; the mode is {to} when that has ended."), &["mode"])
        }
        ChangeOutcome::Unchanged => (format!("The mode is {to} already."), &[]),
    };
    Ok(context.says(text).after(&conversation, changed))
}

async fn focus(context: &CommandContext<'_>, change: &[&str]) -> Result<SlashReply, AgentError> {
    let minutes = |word: &str| -> Result<u32, AgentError> {
        word.parse().map_err(|_| AgentError::Invalid(format!("`{word}` is no number of minutes; write /mode focus 25")))
    };
    let change = match change {
        [] => FocusChange::On(None),
        ["off"] => FocusChange::Off,
        ["extend", more] => FocusChange::Extend(minutes(more)?),
        [word] => FocusChange::On(Some(minutes(word)?)),
        _ => return Err(AgentError::Invalid("write /mode focus 25, /mode focus extend 10 or /mode focus off".into())),
    };
    let conversation = context.found_or_new().await?;
    let text = match context.agent.modes().focus(&conversation.id, change).await? {
        Some(focus) => format!("The mode stays for {}; end it with /mode focus off.", focus.left()),
        None => "The mode may be switched again.".to_owned(),
    };
    Ok(context.says(text).after(&conversation, &["focus"]))
}

async fn history(context: &CommandContext<'_>) -> Result<SlashReply, AgentError> {
    let switches = match &context.conversation {
        Some(conversation) => context.agent.modes().history(&conversation.id).await?,
        None => Vec::new(),
    };
    let zone = context.agent.zone();
    let lines: Vec<String> = switches.iter().map(|switch| line(switch, &zone)).collect();
    Ok(context.says(if lines.is_empty() { "The mode was never switched here.".to_owned() } else { lines.join("\n") }))
}

fn line(switch: &ModeSwitch, zone: &TimeZone) -> String {
    let at = Timestamp::from_millisecond(switch.at_ms).map(|at| at.to_zoned(zone.clone()));
    let at = at.map(|at| at.strftime("%Y-%m-%d %H:%M").to_string()).unwrap_or_default();
    let sure = switch.confidence.map(|percent| format!(", {percent} % sure")).unwrap_or_default();
    format!("{at}  {} → {} ({}{sure})", switch.from, switch.to, switch.trigger)
}
