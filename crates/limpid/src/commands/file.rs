//! `file`.

use limpid_runtime::{Agent, FileOffer, UnacceptedFile, as_word};
use limpid_store::{Author, FileContent, FileVersion, FileVersionId, Listed};
use serde_json::{Value, json};

use super::context::Context;
use super::listing::{in_zone, tell_broken};
use crate::cli::FileCommand;
use crate::confirm::Approval;
use crate::failure::Failure;
use crate::output;

/// Where the owner says it, for whoever reads the history.
const SOURCE: &str = "command line";

/// What the sources of changes begin with that turns made.
const OF_TURNS: &str = "turn:";

/// Carries out `file …`; no model is asked.
///
/// # Errors
/// When there is no such change, when what the file held is kept no longer, or when the file cannot be written.
pub async fn run(context: &Context, command: &FileCommand) -> Result<(), Failure> {
    let agent = &context.agent()?;
    match command {
        FileCommand::Accept { path, hash } => {
            let offer = agent.file_history().offer(path).await?;
            accept(agent, &offer, hash.as_deref(), context.environment.stdin_is_terminal).await?;
        }
        FileCommand::List { waiting: true, json, .. } => {
            agent.file_history().settle().await?;
            list_waiting(agent, &agent.file_history().unaccepted().await?.list(), *json)?;
        }
        FileCommand::List { path, json, .. } => {
            let Listed { rows, broken } = agent.file_history().versions(path.as_deref()).await?;
            list(agent, &rows, *json)?;
            tell_broken(&broken);
        }
        FileCommand::Undo { change } => {
            let version = agent.file_history().undo(FileVersionId(*change), SOURCE).await?;
            let done = if version.after.is_some() { "is as it was" } else { "is gone, as it was before" };
            output::tell(&output::named(&[("Undone: ", &version.path)], &format!(" {done}.")));
            tell_waiting(agent, |file| file == version.path).await?;
        }
    }
    Ok(())
}

/// Says which of the files that were brought back hold what the owner never accepted.
pub(super) async fn tell_waiting(agent: &Agent, is_back: impl Fn(&str) -> bool) -> Result<(), Failure> {
    let waiting = agent.file_history().unaccepted().await?.list();
    waiting.iter().filter(|file| is_back(&file.name)).for_each(|file| output::tell_further_in(&file.notice()));
    Ok(())
}

/// Shows a file that is to be the owner's, asks, and takes it over.
async fn accept(agent: &Agent, offer: &FileOffer, seen: Option<&str>, can_ask: bool) -> Result<(), Failure> {
    let (from, to) = (&offer.from, &offer.to);
    // The question holds no name, which could begin a row just before the answer; it stands above.
    let place = if offer.moves() { ", under that name in the workspace" } else { "" };
    let told = match offer.moves() && offer.instructs {
        true => "Prompts can include its text there, and the agent follows it. ",
        false => "",
    };
    let shown = Approval {
        hash: &offer.hash().to_string(),
        name: from,
        command: &format!("limpid file accept {}", as_word(&offer.from)),
        question: &match offer.is_gone {
            true => "Accept that it is gone?".to_owned(),
            false => format!("{told}Make it yours{place}?"),
        },
        refused: "Nothing was accepted",
    };
    if !shown.ask(seen, can_ask, || show(offer))? {
        return Ok(());
    }
    agent.file_history().accept(offer, SOURCE).await?;
    let done = if offer.is_gone { "waits no more" } else { "is yours now" };
    output::tell(&match offer.moves() {
        true => output::named(&[("", from), (&format!(" {done}: "), to)], " in the workspace."),
        false => output::named(&[("", from)], &format!(" {done}.")),
    });
    Ok(())
}

/// The whole text behind a margin, or what it changes. A stranger's codes are written out wherever it goes.
fn show(offer: &FileOffer) -> Result<(), Failure> {
    let (from, to) = (("", offer.from.as_str()), offer.to.as_str());
    output::line(&match (offer.moves(), &offer.there) {
        (true, Some(_)) => output::named(&[from, (" would change ", to)], " in the workspace:"),
        (true, None) => output::named(&[from, (" would become ", to)], " in the workspace:"),
        (false, _) if offer.is_gone => output::named(&[from], " was removed:"),
        (false, Some(_)) => output::named(&[from], " was changed:"),
        (false, None) => output::named(&[from], " is new:"),
    })?;
    offer.lines().iter().try_for_each(|line| output::line(&output::behind_margin(line)))
}

fn list_waiting(agent: &Agent, files: &[UnacceptedFile], json: bool) -> Result<(), Failure> {
    if json {
        let row = |UnacceptedFile { name, cause, at_ms, .. }: &UnacceptedFile| json!({ "path": name, "cause": cause, "at_ms": at_ms });
        return output::json("files", &files.iter().map(row).collect::<Vec<_>>());
    }
    if files.is_empty() {
        let lies_outside = std::fs::read_dir(agent.home().outside()).is_ok_and(|mut entries| entries.next().is_some());
        let more =
            if lies_outside { " Files in outside/ can be made yours with `limpid file accept PATH`." } else { "" };
        output::tell(&format!("Nothing waits.{more}"));
        return Ok(());
    }
    let row = |file: &UnacceptedFile| vec![file.name.clone(), in_zone(file.at_ms, &agent.zone()), file.cause.clone()];
    output::line(&output::table(&["file", "since", "changed by"], &files.iter().map(row).collect::<Vec<_>>()))
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
            from(version),
        ]
    };
    let rows: Vec<Vec<String>> = versions.iter().map(row).collect();
    output::line(&output::table(&["change", "when", "what", "file", "by", "in"], &rows))
}

/// Where a change was made, where that is not a turn of a conversation, whose number says nothing to anybody.
fn from(version: &FileVersion) -> String {
    let is_turn = version.source.starts_with(OF_TURNS);
    if is_turn { String::new() } else { version.source.clone() }
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
