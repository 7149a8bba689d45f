//! `mode`.

use jiff::tz::TimeZone;
use limpid_core::{ConversationId, Tier};
use limpid_prompt::Profile;
use limpid_runtime::{Agent, ChangeOutcome, ConversationChoice, FocusChange, ModeState, ModeSwitch};
use serde_json::{Value, json};

use super::choice::choice;
use super::context::Context;
use super::listing::in_zone;
use crate::cli::ModeCommand;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Carries out `mode …`.
///
/// # Errors
/// When the profile, the mode or the conversation does not exist, or a focus refuses the switch.
pub async fn run(context: &Context, command: &ModeCommand) -> Result<(), Failure> {
    match command {
        ModeCommand::List { profile, json } => {
            let profile = context.profile(profile.as_deref())?;
            let names: Vec<&str> = profile.modes().collect();
            if *json { output::json("modes", &names) } else { output::line(&names.join("\n")) }
        }
        ModeCommand::Show { name: Some(name), profile, .. } => templates(&*context.profile(profile.as_deref())?, name),
        ModeCommand::Show { name: None, conversation, json, .. } => {
            let agent = context.agent()?;
            let state = agent.modes().state(&chosen(conversation.as_deref())).await?;
            if *json { output::json("mode", &state_json(&state)) } else { output::line(&state.mode) }
        }
        ModeCommand::Set { name, conversation } => {
            let agent = context.agent()?;
            let id = agent.directory().find_or_create(&chosen(conversation.as_deref())).await?.id;
            output::tell(&match agent.conversations().set_mode(&id, name).await? {
                ChangeOutcome::Applied(from) => format!("The mode of {id} is {name}; it was {from}."),
                ChangeOutcome::Unchanged => format!("The mode of {id} is {name} already."),
                ChangeOutcome::Deferred => {
                    format!("An answer is under way; the mode of {id} is {name} when that has ended.")
                }
            });
            Ok(())
        }
        ModeCommand::History { conversation, json } => {
            let agent = context.agent()?;
            let id = known(&agent, conversation.as_deref()).await?;
            history(&agent.modes().history(&id).await?, &agent.zone(), *json)
        }
        ModeCommand::Focus { minutes, extend, off, conversation } => {
            let agent = context.agent()?;
            let id = known(&agent, conversation.as_deref()).await?;
            let change = match (off, extend) {
                (true, _) => FocusChange::Off,
                (false, Some(more)) => FocusChange::Extend(*more),
                (false, None) => FocusChange::On(*minutes),
            };
            output::tell(&match agent.modes().focus(&id, change).await? {
                Some(focus) => format!("The mode of {id} stays for {}.", focus.left()),
                None => format!("The mode of {id} may be switched."),
            });
            Ok(())
        }
    }
}

fn chosen(word: Option<&str>) -> ConversationChoice {
    choice(word, &ConversationChoice::Last)
}

async fn known(agent: &Agent, word: Option<&str>) -> Result<ConversationId, Failure> {
    let none =
        || Failure::new(ExitStatus::Usage, "there is no conversation yet").advise("Begin one: limpid chat \"hello\"");
    Ok(agent.directory().find(&chosen(word)).await?.ok_or_else(none)?.id)
}

fn state_json(state: &ModeState) -> Value {
    json!({"mode": state.mode, "modes": state.modes, "focus_minutes": state.focus.map(|focus| focus.minutes)})
}

fn history(switches: &[ModeSwitch], zone: &TimeZone, json: bool) -> Result<(), Failure> {
    if json {
        let row = |switch: &ModeSwitch| {
            json!({
                "at_ms": switch.at_ms, "from": switch.from, "to": switch.to, "trigger": switch.trigger,
                "confidence": switch.confidence,
            })
        };
        return output::json("switches", &switches.iter().map(row).collect::<Vec<Value>>());
    }
    if switches.is_empty() {
        output::tell("The mode was never switched here.");
        return Ok(());
    }
    let row = |switch: &ModeSwitch| {
        vec![in_zone(switch.at_ms, zone), switch.from.clone(), switch.to.clone(), switch.trigger.clone()]
    };
    output::line(&output::table(&["at", "from", "to", "by"], &switches.iter().map(row).collect::<Vec<_>>()))
}

fn templates(profile: &Profile, name: &str) -> Result<(), Failure> {
    for tier in Tier::ALL {
        let found = profile
            .mode(name, tier)
            .map_err(|error| Failure::new(ExitStatus::Usage, error))?
            .ok_or_else(|| Failure::new(ExitStatus::Usage, format!("the profile `{}` has no modes", profile.name())))?;
        let own = if found.tried.is_empty() { "" } else { " (no file of its own)" };
        output::line(&format!("tier {tier}: {}{own}", found.form.source))?;
    }
    output::tell(&format!("A template's text: limpid profile show {} modes/{name}/tier3.md", profile.name()));
    Ok(())
}
