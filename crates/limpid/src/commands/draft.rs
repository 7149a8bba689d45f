//! `draft`.

mod call;
mod rows;

use limpid_config::{MAX_FILE, regular_file};
use limpid_core::DraftState;
use limpid_prompt::shown::sets_editor;
use limpid_runtime::Agent;
use limpid_store::{Draft, DraftEvent, DraftId};
use serde_json::{Value, json};

use self::rows::Rows;
use super::context::Context;
use super::listing::{in_zone, tell_broken};
use crate::cli::DraftCommand;
use crate::confirm::confirmed;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Carries out `draft …`.
///
/// # Errors
/// When there is no such draft, when it does not wait any more, or when it was approved and not carried out.
pub async fn run(context: &Context, command: &DraftCommand) -> Result<(), Failure> {
    let agent = &context.agent()?;
    match command {
        DraftCommand::List { all, json } => list(agent, *all, *json).await,
        DraftCommand::Show { id, json } => show(agent, DraftId(*id), *json).await,
        DraftCommand::Edit { id, arguments, json } => {
            let arguments = match arguments {
                Some(arguments) => arguments.clone(),
                None => edited(context, &agent.drafts().get(DraftId(*id)).await?.0)?,
            };
            told(agent, &agent.drafts().edit(DraftId(*id), &arguments).await?, *json)
        }
        DraftCommand::Approve { id, hash, json } => {
            check_waits(agent, DraftId(*id)).await?;
            let seen = match hash {
                Some(hash) => hash.clone(),
                None => match looked_at(context, agent, DraftId(*id)).await? {
                    Some(seen) => seen,
                    None => return Ok(()),
                },
            };
            let draft = agent.drafts().approve(DraftId(*id), Some(&seen)).await?;
            told(agent, &draft, *json)?;
            was_carried_out(&draft, *json)
        }
        DraftCommand::Refuse { id, json } => told(agent, &agent.drafts().refuse(DraftId(*id)).await?, *json),
    }
}

/// Fails where a draft that was approved was not carried out. A person has been told why, and whoever reads JSON is now.
fn was_carried_out(draft: &Draft, json: bool) -> Result<(), Failure> {
    let id = draft.id.0;
    let (what, advice) = match draft.state {
        DraftState::Sent => return Ok(()),
        DraftState::Open => ("was not carried out, and waits again", "Look at it, then approve it as it is now"),
        _ => ("was not carried out", "See what came of it"),
    };
    let why = Rows::new().behind_margin(&draft.detail).text();
    if json && !why.is_empty() {
        output::tell_as_laid_out(&why);
    }
    Err(Failure::new(ExitStatus::Failed, format!("draft {id} {what}"))
        .advise(format!("{advice}: limpid draft show {id}")))
}

/// Says of a draft that has ended how and when it did: there is nothing to approve any more.
async fn check_waits(agent: &Agent, id: DraftId) -> Result<(), Failure> {
    let (draft, _) = agent.drafts().get(id).await?;
    match draft.state {
        DraftState::Open | DraftState::Approved | DraftState::Sending => Ok(()),
        DraftState::Sent | DraftState::Failed | DraftState::Refused | DraftState::Expired => {
            let words = agent.drafts().in_words(&draft);
            let ended = words.split(':').next().unwrap_or(words);
            let at = in_zone(draft.changed_ms, &agent.zone());
            Err(Failure::new(ExitStatus::Usage, format!("draft {} {ended} already, at {at}", id.0))
                .advise(format!("See what came of it: limpid draft show {}", id.0)))
        }
    }
}

/// Shows the whole call and, at a terminal, asks. Returns the hash of what was shown, if it may run.
async fn looked_at(context: &Context, agent: &Agent, id: DraftId) -> Result<Option<String>, Failure> {
    let (draft, _) = agent.drafts().get(id).await?;
    let new = &draft.new;
    output::tell_as_laid_out(&Rows::new().call(&draft).text());
    if !context.environment.stdin_is_terminal || draft.state != DraftState::Open {
        return Ok(Some(new.hash.clone()));
    }
    let is_yes = confirmed("Carry it out?", false)?;
    if !is_yes {
        output::tell("Nothing was approved; it waits as before.");
    }
    Ok(is_yes.then(|| new.hash.clone()))
}

/// The arguments as the person's editor leaves them.
fn edited(context: &Context, draft: &Draft) -> Result<String, Failure> {
    let failed = |error: std::io::Error| Failure::new(ExitStatus::Failed, error);
    let arguments = serde_json::from_str::<Value>(&draft.new.arguments)
        .and_then(|arguments| serde_json::to_string_pretty(&arguments))
        .unwrap_or_else(|_| draft.new.arguments.clone());
    // No editor takes a text for JSON by this name, and fetches the schema that it names.
    let file = context.home.path().join("data").join(format!("draft-{}.txt", draft.id.0));
    std::fs::write(&file, for_editor(arguments)).map_err(failed)?;
    super::prompt::edit_file(context, &file)?;
    let edited = regular_file::read_text(&file, MAX_FILE).map_err(failed)?;
    std::fs::remove_file(&file).map_err(failed)?;
    Ok(edited)
}

/// JSON in which no text sets the editor that opens it; it stays the same value.
fn for_editor(json: String) -> String {
    if !sets_editor(&json) {
        return json;
    }
    let (mut out, mut within, mut escaped) = (String::new(), false, false);
    for letter in json.chars() {
        match letter {
            ':' | '*' if within => out.push_str(if letter == ':' { "\\u003a" } else { "\\u002a" }),
            other => out.push(other),
        }
        within ^= letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
    }
    out
}

async fn list(agent: &Agent, all: bool, json: bool) -> Result<(), Failure> {
    let listed = agent.drafts().list(all).await?;
    if json {
        let rows: Vec<Value> = listed.rows.iter().map(head).collect();
        output::json("drafts", &rows)?;
    } else if listed.rows.is_empty() {
        output::tell("No draft waits.");
    } else {
        let rows: Vec<Vec<String>> = listed
            .rows
            .iter()
            .map(|draft| {
                vec![
                    draft.id.0.to_string(),
                    draft.state.to_string(),
                    in_zone(draft.new.expires_ms, &agent.zone()),
                    call::cell(&draft.new.tool),
                    call::line(&draft.new.arguments, draft.new.destination.as_deref()),
                    call::cell(&draft.new.why),
                ]
            })
            .collect();
        output::line(&output::table(&["draft", "state", "until", "tool", "call", "why"], &rows))?;
    }
    tell_broken(&listed.broken);
    Ok(())
}

async fn show(agent: &Agent, id: DraftId, json: bool) -> Result<(), Failure> {
    let (draft, events) = agent.drafts().get(id).await?;
    if json {
        let step =
            |event: &DraftEvent| json!({"state": event.state.as_str(), "detail": event.detail, "at_ms": event.at_ms});
        let mut value = head(&draft);
        value["events"] = events.iter().map(step).collect();
        return output::json("draft", &value);
    }
    let zone = agent.zone();
    let new = &draft.new;
    let from = format!("{} ({})", new.conversation, in_zone(new.now_ms, &zone));
    let mut rows = Rows::new()
        .call(&draft)
        .field("led by", "")
        .behind_margin(&new.led_by)
        .field("from", &from)
        .field("until", &in_zone(new.expires_ms, &zone))
        .field("hash", new.bound_hash());
    for event in &events {
        let state = format!("{} ({})", event.state, in_zone(event.at_ms, &zone));
        rows = rows.field("state", &state).behind_margin(&event.detail);
    }
    output::line(&rows.text())
}

fn told(agent: &Agent, draft: &Draft, json: bool) -> Result<(), Failure> {
    if json {
        return output::json("draft", &head(draft));
    }
    let at = in_zone(draft.changed_ms, &agent.zone());
    output::tell(&format!("Draft {} {} ({at}).", draft.id.0, agent.drafts().in_words(draft)));
    let detail = Rows::new().behind_margin(&draft.detail).text();
    if !detail.is_empty() {
        output::tell_as_laid_out(&detail);
    }
    Ok(())
}

fn head(draft: &Draft) -> Value {
    let new = &draft.new;
    // Arguments are JSON unless somebody broke the record.
    let arguments = serde_json::from_str(&new.arguments).unwrap_or_else(|_| Value::String(new.arguments.clone()));
    json!({
        "id": draft.id.0, "state": draft.state.as_str(), "detail": draft.detail, "tool": new.tool,
        "arguments": arguments, "about": new.about, "hash": new.bound_hash(), "folder": new.folder, "destination": new.destination,
        "why": new.why, "led_by": new.led_by, "trust": new.trust.as_str(),
        "conversation": new.conversation.as_str(), "turn": new.turn.as_str(), "call": new.call.as_str(),
        "made_ms": new.now_ms, "expires_ms": new.expires_ms, "changed_ms": draft.changed_ms,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-059
    #[test]
    fn a_draft_sets_no_editor_and_stays_the_same_value() {
        let plain = json!({ "address": "https://a.example/x", "at": "9:00" });
        assert_eq!(for_editor(plain.to_string()), plain.to_string());
        for words in [
            "x vim: set ft=org foldmethod=expr :",
            "-*- mode: org -*-",
            "kate: \"a\" \\\" hl x",
            "Local Variables:\nx: 1",
        ] {
            let set = json!({ "description": words, "list": [words, "\\"] });
            let written = for_editor(serde_json::to_string_pretty(&set).unwrap());
            assert!(!sets_editor(&written), "{written}");
            assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), set, "{written}");
        }
    }
}
