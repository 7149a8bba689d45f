//! `api`.

use limpid_runtime::Agent;
use limpid_server::{ApiRole, ApiToken, ApiTokens};
use serde_json::{Value, json};

use super::listing::in_zone;
use crate::cli::{ApiCommand, RoleWord};
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Carries out `api …`; no model is asked.
///
/// # Errors
/// When a name is wrong or not there, or a file cannot be read or written.
pub fn run(agent: &Agent, command: &ApiCommand) -> Result<(), Failure> {
    let tokens = ApiTokens::new(agent.home());
    match command {
        ApiCommand::Token { name, role, new, json } => {
            let role = match role {
                RoleWord::Owner => ApiRole::Owner,
                RoleWord::Program => ApiRole::Program,
                RoleWord::Metrics => ApiRole::Metrics,
            };
            let token = tokens.make(name, role, (&agent.new_secret(), agent.now_ms()), *new)?;
            if *json {
                return output::json("token", &token);
            }
            output::line(&token)?;
            output::tell("Keep it now; it is not shown again. Send it as `Authorization: Bearer TOKEN`.");
            let page = &agent.config().page;
            match page.on {
                true => output::tell(&format!("While `limpid serve` runs, programs ask http://{}/v1", page.listen)),
                false => output::tell("The page is off, and programs ask at its address: set `on = true` under [page]"),
            }
            Ok(())
        }
        ApiCommand::List { json } => list(agent, &tokens.list()?, *json),
        ApiCommand::Revoke { name } => match tokens.revoke(name)? {
            true => {
                output::tell(&format!("The token of `{name}` opens nothing any more."));
                Ok(())
            }
            false => {
                let missing = Failure::new(ExitStatus::Usage, format!("there is no program `{name}`"));
                Err(missing.advise("`limpid api list` lists them"))
            }
        },
    }
}

fn list(agent: &Agent, tokens: &[ApiToken], json: bool) -> Result<(), Failure> {
    if json {
        let rows: Vec<Value> = tokens
            .iter()
            .map(|token| json!({ "name": token.name, "as": token.role, "made_ms": token.made_ms }))
            .collect();
        return output::json("programs", &rows);
    }
    if tokens.is_empty() {
        output::tell("No program may ask. One may from here on: limpid api token NAME");
        return Ok(());
    }
    let zone = agent.zone();
    let word = |role| match role {
        ApiRole::Owner => "owner",
        ApiRole::Program => "program",
        ApiRole::Metrics => "metrics",
    };
    let row = |token: &ApiToken| vec![token.name.clone(), word(token.role).to_owned(), in_zone(token.made_ms, &zone)];
    let rows: Vec<Vec<String>> = tokens.iter().map(row).collect();
    output::line(&output::table(&["program", "as", "since"], &rows))
}
