//! `file`.

use limpid_runtime::Agent;
use limpid_store::{Author, FileContent, FileVersion, FileVersionId, Listed};
use serde_json::{Value, json};

use super::listing::{in_zone, tell_broken};
use crate::cli::FileCommand;
use crate::failure::Failure;
use crate::output;

/// Where the owner says it, for whoever reads the history.
const SOURCE: &str = "command line";

/// Carries out `file …`; no model is asked.
///
/// # Errors
/// When there is no such change, when what the file held is kept no longer, or when the file cannot be written.
pub async fn run(agent: &Agent, command: &FileCommand) -> Result<(), Failure> {
    match command {
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
