//! `file`.

use std::io::Write as _;

use limpid_runtime::{Agent, FileOffer};
use limpid_store::{Author, FileContent, FileVersion, FileVersionId, Listed};
use serde_json::{Value, json};

use super::context::Context;
use super::listing::{in_zone, tell_broken};
use crate::cli::FileCommand;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Where the owner says it, for whoever reads the history.
const SOURCE: &str = "command line";

/// Carries out `file …`; no model is asked.
///
/// # Errors
/// When there is no such change, when what the file held is kept no longer, or when the file cannot be written.
pub async fn run(context: &Context, command: &FileCommand) -> Result<(), Failure> {
    let agent = &context.agent()?;
    match command {
        FileCommand::Accept { path, hash } => {
            let offer = agent.file_history().offer(path)?;
            accept(agent, &offer, hash.as_deref(), context.environment.stdin_is_terminal).await?;
        }
        FileCommand::List { path, json } => {
            let Listed { rows, broken } = agent.file_history().versions(path.as_deref()).await?;
            list(agent, &rows, *json)?;
            tell_broken(&broken);
        }
        FileCommand::Undo { change } => {
            let version = agent.file_history().undo(FileVersionId(*change), SOURCE).await?;
            let done = if version.after.is_some() { "is as it was" } else { "is gone, as it was before" };
            output::tell(&format!("Undone: {} {done}.", version.path));
        }
    }
    Ok(())
}

/// Shows a file that is to be the owner's, asks, and takes it over.
async fn accept(agent: &Agent, offer: &FileOffer, seen: Option<&str>, can_ask: bool) -> Result<(), Failure> {
    let FileOffer { from, to, .. } = offer;
    let hash = offer.hash().to_string();
    match seen {
        Some(seen) if !seen.is_empty() && hash.starts_with(seen) => {}
        Some(_) => {
            let why = format!("{from} is not what you looked at");
            return Err(Failure::new(ExitStatus::Usage, why).advise(format!("Look at it: limpid file accept {from}")));
        }
        None => {
            show(offer)?;
            if !can_ask {
                output::tell(&format!(
                    "Nothing was moved. This makes it yours: limpid file accept {from} --hash {}",
                    &hash[..16]
                ));
                return Ok(());
            }
            output::tell_on(&format!("Make it yours, as {to} in the workspace? [y/N] "));
            std::io::stderr().flush()?;
            let mut answer = String::new();
            std::io::stdin().read_line(&mut answer)?;
            if !matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
                output::tell("Nothing was moved.");
                return Ok(());
            }
        }
    }
    agent.file_history().accept(offer, SOURCE).await?;
    output::tell(&format!("{from} is yours now: {to} in the workspace."));
    Ok(())
}

/// The whole text behind a margin, or what it changes.
fn show(offer: &FileOffer) -> Result<(), Failure> {
    let lines = match &offer.there {
        None => offer.text.lines().map(|line| format!("│ {line}")).collect::<Vec<_>>(),
        Some(there) => {
            let difference = similar::TextDiff::from_lines(there.as_str(), &offer.text);
            let line =
                |change: similar::Change<&str>| format!("│ {}{}", change.tag(), change.value().trim_end_matches('\n'));
            difference.iter_all_changes().map(line).collect()
        }
    };
    let what = if offer.there.is_some() { "would change" } else { "would become" };
    output::line(&format!("{} {what} {} in the workspace:", offer.from, offer.to))?;
    lines.iter().try_for_each(|line| output::line(line))
}

fn list(agent: &Agent, versions: &[FileVersion], json: bool) -> Result<(), Failure> {
    if json {
        let rows: Vec<Value> = versions.iter().map(full).collect();
        return output::json("files", &rows);
    }
    if versions.is_empty() {
        output::tell("Nothing.");
        return Ok(());
    }
    let row = |version: &FileVersion| {
        let by = match (&version.undoes, &version.tool) {
            (Some(undone), _) => format!("undoes {}", undone.0),
            (None, tool) => tool.clone().unwrap_or_default(),
        };
        vec![
            version.id.0.to_string(),
            in_zone(version.at_ms, &agent.zone()),
            what(version).to_owned(),
            version.path.clone(),
            by,
            version.source.clone(),
        ]
    };
    let rows: Vec<Vec<String>> = versions.iter().map(row).collect();
    output::line(&output::table(&["change", "when", "what", "file", "by", "in"], &rows))
}

/// What a change did to its file.
fn what(version: &FileVersion) -> &'static str {
    match (&version.before, &version.after) {
        _ if !version.ended => "broken off",
        (None, _) => "made",
        (Some(_), None) => "removed",
        (Some(_), Some(_)) => "changed",
    }
}

fn full(version: &FileVersion) -> Value {
    let content = |content: &Option<FileContent>| {
        let shown = |content: &FileContent| json!({ "sha256": content.hash.to_string(), "text": content.text });
        content.as_ref().map(shown)
    };
    json!({
        "change": version.id.0,
        "path": version.path,
        "what": what(version),
        "undoes": version.undoes.map(|id| id.0),
        "before": content(&version.before),
        "after": content(&version.after),
        "author": version.author.map(Author::as_str),
        "trust": version.trust.as_str(),
        "source": version.source,
        "conversation": version.conversation.as_ref().map(limpid_core::ConversationId::as_str),
        "tool": version.tool,
        "at_ms": version.at_ms,
    })
}
