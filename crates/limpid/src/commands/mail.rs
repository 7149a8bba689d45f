//! `inbox mail`.

use std::io::{IsTerminal as _, Read as _};
use std::path::PathBuf;

use limpid_core::io_cause;
use limpid_runtime::Agent;
use limpid_runtime::mail::{AccountSettings, LoginKind, MailStatus, OAuthSettings, Secret, ServerSettings};
use serde_json::{Value, json};

use super::listing::in_zone;
use crate::cli::{MailAddArgs, MailCommand};
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Carries out `inbox mail …`.
///
/// # Errors
/// When there is no such account, or its servers refuse it.
pub async fn run(agent: &Agent, command: &MailCommand) -> Result<(), Failure> {
    match command {
        MailCommand::Add(args) => add(agent, args).await,
        MailCommand::List { json } => list(agent, *json).await,
        MailCommand::Test { address } => {
            agent.mail().test(address).await?;
            output::tell(&format!("{address} can be read and can send."));
            Ok(())
        }
        MailCommand::Check { address, json } => check(agent, address, *json).await,
        MailCommand::Remove { address } => {
            agent.mail().forget(address).await?;
            output::tell(&format!("{address} is gone. What came from it stays."));
            Ok(())
        }
    }
}

async fn add(agent: &Agent, args: &MailAddArgs) -> Result<(), Failure> {
    let before = agent.mail().settings(&args.address)?.unwrap_or_default();
    let given = AccountSettings {
        address: args.address.clone(),
        name: args.name.clone().or(before.name),
        user: args.user.clone().or(before.user),
        login: match (&args.oauth, args.token) {
            (Some(_), _) => LoginKind::OAuth,
            (None, true) => LoginKind::Token,
            (None, false) => LoginKind::Password,
        },
        secret_env: args.password_env.clone(),
        secret_command: args.password_command.clone(),
        ca: ca(args)?.or(before.ca),
        oauth: args.oauth.as_ref().map(|client| oauth(client, args)),
        imap: server(args.imap.as_deref(), args)?.or(before.imap),
        smtp: server(args.smtp.as_deref(), args)?.or(before.smtp),
        folder: before.folder,
        sent: before.sent,
    };
    // The person sees who will get the password before they enter it.
    let (imap, smtp) = agent.mail().servers(&given)?;
    output::tell(&format!("Reads at {imap}, sends at {smtp}."));
    let kept_elsewhere = args.password_env.is_some() || !args.password_command.is_empty();
    let secret = if kept_elsewhere { None } else { Some(ask(args)?) };
    let status = agent.mail().setup(given, secret).await?;
    match status.problem {
        Some(problem) => Err(Failure::new(ExitStatus::Failed, problem)),
        None => {
            let address = &status.address;
            output::tell(&format!("{address} is there. `limpid inbox mail test {address}` logs in."));
            Ok(())
        }
    }
}

fn server(text: Option<&str>, args: &MailAddArgs) -> Result<Option<ServerSettings>, Failure> {
    let Some(text) = text else { return Ok(None) };
    let wrong = || Failure::new(ExitStatus::Usage, format!("`{text}` is no server; write HOST or HOST:PORT"));
    let server = ServerSettings::parse(text).ok_or_else(wrong)?;
    Ok(Some(ServerSettings { security: args.security.clone(), ..server }))
}

/// The file of authorities, wherever the program is started from later.
fn ca(args: &MailAddArgs) -> Result<Option<PathBuf>, Failure> {
    let Some(file) = &args.ca else { return Ok(None) };
    let wrong = |error| Failure::new(ExitStatus::Usage, format!("{}: {}", file.display(), io_cause(&error)));
    file.canonicalize().map(Some).map_err(wrong)
}

fn oauth(client: &str, args: &MailAddArgs) -> OAuthSettings {
    OAuthSettings {
        client_id: client.to_owned(),
        token_url: args.token_url.clone(),
        client_secret_env: args.client_secret_env.clone(),
        ..OAuthSettings::default()
    }
}

/// The password: typed unseen at a terminal, else the first line of standard input.
fn ask(args: &MailAddArgs) -> Result<Secret, Failure> {
    let what = match (&args.oauth, args.token) {
        (Some(_), _) => "refresh token",
        (None, true) => "token",
        (None, false) => "password",
    };
    let text = if std::io::stdin().is_terminal() {
        rpassword::prompt_password(format!("The {what} of {}: ", args.address))?
    } else {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        text.lines().next().unwrap_or_default().to_owned()
    };
    if text.is_empty() {
        return Err(Failure::new(ExitStatus::Usage, format!("no {what} was given")));
    }
    Ok(Secret::new(text))
}

async fn list(agent: &Agent, json: bool) -> Result<(), Failure> {
    let accounts = agent.mail().list().await?;
    if json {
        let rows: Vec<Value> = accounts.iter().map(shown).collect();
        return output::json("accounts", &rows);
    }
    if accounts.is_empty() {
        output::tell("No mail account is there. `limpid inbox mail add ADDRESS` adds one.");
        return Ok(());
    }
    let rows: Vec<Vec<String>> = accounts
        .iter()
        .map(|account| {
            let row = account.row.as_ref();
            let read = row.and_then(|row| row.synced_ms).map(|at| in_zone(at, &agent.zone()));
            let wrong = account.problem.clone().or_else(|| row?.last_error.clone());
            vec![
                account.address.clone(),
                row.map(|row| row.unread.to_string()).unwrap_or_default(),
                read.unwrap_or_else(|| "never".to_owned()),
                wrong.unwrap_or_default(),
            ]
        })
        .collect();
    output::line(&output::table(&["account", "unread", "read", "wrong"], &rows))
}

async fn check(agent: &Agent, address: &str, json: bool) -> Result<(), Failure> {
    let came = agent.mail().fetch(address).await?;
    if json {
        return output::json("came", &json!(came));
    }
    output::tell(&format!("{came} new in {address}."));
    Ok(())
}

fn shown(account: &MailStatus) -> Value {
    let row = account.row.as_ref();
    json!({
        "address": account.address, "imap": account.imap, "smtp": account.smtp, "problem": account.problem,
        "unread": row.map(|row| row.unread), "watermark": row.map(|row| row.watermark),
        "attempted_ms": row.and_then(|row| row.attempted_ms), "synced_ms": row.and_then(|row| row.synced_ms),
        "last_error": row.and_then(|row| row.last_error.clone()),
    })
}
