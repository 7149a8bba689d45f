//! `notify`.

use std::io::Read as _;

use limpid_runtime::Agent;
use serde_json::{Value, json};

use crate::cli::NotifyCommand;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Carries out `notify …`.
///
/// # Errors
/// When something could not be told, or there is no such browser.
pub async fn run(agent: &Agent, command: &NotifyCommand) -> Result<(), Failure> {
    match command {
        NotifyCommand::List { json } => list(agent, *json),
        NotifyCommand::Test => test(agent).await,
        NotifyCommand::Key => output::line(&agent.notifications().push_key()?),
        NotifyCommand::Subscribe => {
            let mut json = String::new();
            std::io::stdin().read_to_string(&mut json)?;
            let browser = agent.notifications().add_browser(&json)?;
            output::tell(&format!("{} is told by way of {}.", browser.id, browser.service));
            Ok(())
        }
        NotifyCommand::Unsubscribe { browser } => {
            agent.notifications().remove_browser(browser)?;
            output::tell(&format!("{browser} is told nothing any more."));
            Ok(())
        }
    }
}

fn list(agent: &Agent, json: bool) -> Result<(), Failure> {
    let ways = agent.notifications().ways();
    let browsers = agent.notifications().browsers()?;
    if json {
        let browsers: Vec<Value> =
            browsers.iter().map(|browser| json!({ "id": browser.id, "service": browser.service })).collect();
        return output::json("notify", &json!({ "ways": ways, "browsers": browsers }));
    }
    if ways.is_empty() {
        output::tell(
            "You are told nowhere. [notify] in limpid.toml sets how; `limpid notify subscribe` adds a browser.",
        );
        return Ok(());
    }
    let other = ways.iter().filter(|way| browsers.is_empty() || **way != "web push");
    let mut rows: Vec<Vec<String>> = other.map(|way| vec![(*way).to_owned(), String::new(), String::new()]).collect();
    rows.extend(browsers.into_iter().map(|browser| vec!["web push".to_owned(), browser.id, browser.service]));
    output::line(&output::table(&["way", "browser", "service"], &rows))
}

async fn test(agent: &Agent) -> Result<(), Failure> {
    let told = agent.notifications().test().await;
    if told.is_empty() {
        return Err(Failure::new(ExitStatus::Usage, "no way is set up; [notify] in limpid.toml sets how you are told"));
    }
    for (way, result) in &told {
        match result {
            Ok(()) => output::line(&format!("OK  {way}"))?,
            Err(why) => output::line(&output::beside(&format!("!!  {way}: "), 4, &why.to_string()))?,
        }
    }
    match told.iter().filter(|(_, result)| result.is_err()).count() {
        0 => Ok(()),
        wrong => Err(Failure::new(ExitStatus::Findings, format!("{wrong} of {} did not tell it", told.len()))),
    }
}
