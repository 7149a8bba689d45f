//! `init`: at most four questions, then the home folder.

use std::io::{self, Write as _};

use jiff::tz::TimeZone;
use limpid_prompt::profile::DEFAULT_PROFILE;
use limpid_runtime::CONNECT_A_MODEL;
use limpid_runtime::setup::{Answers, write_home};

use super::context::Context;
use crate::cli::InitArgs;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Carries out `init`.
///
/// # Errors
/// When an answer cannot be used or the folder cannot be written.
pub async fn run(context: &Context, args: &InitArgs) -> Result<(), Failure> {
    let ask = !args.yes && context.environment.stdin_is_terminal;
    let system = TimeZone::system();
    let zone = system.iana_name().unwrap_or("UTC").to_owned();
    let profiles = context.profiles()?;
    let known: Vec<&str> = profiles.iter().map(|profile| profile.name()).collect();
    let answers = Answers {
        name: question(ask, "What should the agent call you?", args.name.as_deref(), "")?,
        model: question(ask, "Which model (provider/model; empty: whatever is found)?", args.model.as_deref(), "")?,
        zone: question(ask, "Your time zone?", args.zone.as_deref(), &zone)?,
        profile: question(
            ask,
            &format!("Which profile ({})?", known.join(", ")),
            args.profile.as_deref(),
            DEFAULT_PROFILE,
        )?,
    };
    profiles.get(&answers.profile)?;
    limpid_core::zone::stored(&answers.zone).ok_or_else(|| {
        Failure::new(ExitStatus::Usage, format!("`{}` is not a time zone", answers.zone))
            .advise("Give an IANA name: Europe/Berlin")
    })?;
    let written = write_home(&context.home, &answers)?;
    for file in &written.made {
        output::line(&format!("wrote {}", file.display()))?;
    }
    for file in &written.kept {
        output::line(&format!("kept {}", file.display()))?;
    }
    if written.made.is_empty() {
        let model = connected(context).await;
        output::tell(&format!("Everything is already there, so nothing was changed. {model}\n"));
    }
    output::tell("Say something: limpid chat \"hello\"");
    Ok(())
}

/// Which model answers, or how to connect one.
async fn connected(context: &Context) -> String {
    if let Some(model) = &context.config.model {
        return format!("The model is {model} (`model` in limpid.toml).");
    }
    let how = format!("To connect a model: {CONNECT_A_MODEL}");
    // That a home cannot be opened says `doctor`.
    let Ok(agent) = context.agent() else { return how };
    match agent.models().detect().await {
        Some(found) => format!("The model is {} ({}).", found.model, found.because),
        None => {
            let none = agent.models().none_offered();
            none.map_or(how, |none| format!("No model answers: {}. {}", none.what, none.advice))
        }
    }
}

fn question(ask: bool, text: &str, given: Option<&str>, default: &str) -> Result<String, Failure> {
    if let Some(given) = given {
        return Ok(given.to_owned());
    }
    if !ask {
        return Ok(default.to_owned());
    }
    let shown = if default.is_empty() { String::new() } else { format!(" [{default}]") };
    output::tell_on(&format!("{text}{shown} "));
    io::stderr().flush()?;
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    let line = line.trim();
    Ok(if line.is_empty() { default.to_owned() } else { line.to_owned() })
}
