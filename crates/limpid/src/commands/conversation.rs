//! `conversation`.

mod page;
mod put_away;
mod window;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use limpid_core::quiet::without_quiet;
use limpid_core::{MessageId, ProviderState, Role, Trust, io_cause};
use limpid_prompt::StatePart;
use limpid_runtime::tools::counts_as_owners;
use limpid_runtime::{Agent, ConversationChoice, marked_line};
use limpid_store::{Conversation, StoredMessage};
use serde_json::{Value, json};

use self::page::{Quotes, markdown};
use super::choice::choice;
use super::listing::{in_zone, tell_broken};
use crate::cli::{ConversationCommand, ExportFormat};
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Carries out `conversation …`.
///
/// # Errors
/// When the conversation does not exist, the store fails, or a file cannot be written.
pub async fn run(agent: &Agent, command: &ConversationCommand) -> Result<(), Failure> {
    match command {
        ConversationCommand::List { limit, archived, json } => list(agent, *limit, *archived, *json).await,
        ConversationCommand::Find { words, limit, json } => {
            put_away::find(agent, &words.join(" "), *limit, *json).await
        }
        ConversationCommand::Delete { id, yes } => put_away::delete(agent, id, *yes).await,
        ConversationCommand::Archive { id, undo } => put_away::archive(agent, id, !undo).await,
        ConversationCommand::Show { id, json } => {
            let loaded = load(agent, id).await?;
            if *json {
                output::json_line(&to_json(&loaded, false))?;
            } else {
                output::data(&markdown(agent, &loaded, Quotes::of_output()))?;
            }
            agent.deliveries().mark_read(&loaded.conversation.id).await?;
            Ok(())
        }
        ConversationCommand::Context { id, json } => window::context(agent, id, *json).await,
        ConversationCommand::Compact { id, undo, json } => window::compact(agent, id, *undo, *json).await,
        ConversationCommand::Keep { id, reason } => window::keep(agent, id, reason).await,
        ConversationCommand::Restore { moment, id, json } => window::restore(agent, id, *moment, *json).await,
        ConversationCommand::Export { id, format, reasoning, output: file } => {
            let loaded = load(agent, id).await?;
            let text = match format {
                ExportFormat::Markdown if file.is_none() => markdown(agent, &loaded, Quotes::of_output()),
                ExportFormat::Markdown => markdown(agent, &loaded, Quotes::Markdown),
                ExportFormat::Json if file.is_none() => return output::json_line(&to_json(&loaded, *reasoning)),
                ExportFormat::Json => to_json(&loaded, *reasoning) + "\n",
            };
            match file {
                None => output::data(&text),
                Some(file) => write(agent, &loaded, file, &text).await,
            }
        }
    }
}

/// Writes a conversation to a file. With words of somebody else's it goes nowhere that files count as the owner's: a later chat would read
/// these words there without their label.
async fn write(agent: &Agent, loaded: &Loaded, file: &Path, text: &str) -> Result<(), Failure> {
    let title = agent.conversations().trust_of_titles(&[&loaded.conversation]).await?;
    // Why a turn failed is what a server said.
    let failed = (!loaded.incomplete.is_empty()).then_some(Trust::Outside);
    let said = loaded.messages.iter().map(|stored| stored.message.trust_of_all());
    let mut labels = said.chain(title).chain(failed);
    if labels.any(Trust::is_foreign) && counts_as_owners(agent.home(), &agent.config().files, file) {
        let what = format!(
            "{} was not written. The conversation may hold somebody else's words, and files there count as yours, so the agent would trust them",
            file.display()
        );
        let outside = agent.home().outside();
        let advice = format!("Write it to {}, or to a folder that the agent does not read", outside.display());
        return Err(Failure::new(ExitStatus::Usage, what).advise(advice));
    }
    std::fs::write(file, text)
        .map_err(|error| Failure::new(ExitStatus::Failed, format!("{}: {}", file.display(), io_cause(&error))))
}

async fn list(agent: &Agent, limit: usize, archived: bool, json: bool) -> Result<(), Failure> {
    let limit = u32::try_from(limit).unwrap_or(u32::MAX);
    let listed = match archived {
        true => agent.store().archived_conversations(limit).await?,
        false => agent.store().conversations(limit).await?,
    };
    if json {
        let rows: Vec<Value> = listed.rows.iter().map(head).collect();
        output::json("conversations", &rows)?;
    } else if listed.rows.is_empty() {
        output::tell(if archived { "No archived conversations." } else { "No conversation yet." });
    } else {
        let titles = titles(agent, listed.rows.iter().collect()).await?;
        let row = |(row, title): (&Conversation, String)| {
            vec![
                row.id.to_string(),
                row.badge().to_owned(),
                if row.unread > 0 { row.unread.to_string() } else { String::new() },
                local(agent, row.updated_ms),
                row.messages.to_string(),
                row.profile.clone(),
                title,
            ]
        };
        let rows: Vec<Vec<String>> = listed.rows.iter().zip(titles).map(row).collect();
        output::line(&output::table(&["id", "kind", "unread", "last", "messages", "profile", "title"], &rows))?;
    }
    tell_broken(&listed.broken);
    Ok(())
}

/// Titles in a table; each says whose it is where a stranger's message began the conversation.
async fn titles(agent: &Agent, listed: Vec<&Conversation>) -> Result<Vec<String>, Failure> {
    let trust = agent.conversations().trust_of_titles(&listed).await?;
    Ok(listed.into_iter().zip(trust).map(|(own, trust)| marked_line(&own.title, trust)).collect())
}

/// The title of one in a sentence, in the same way.
pub(super) async fn title(agent: &Agent, own: &Conversation) -> Result<String, Failure> {
    Ok(titles(agent, vec![own]).await?.pop().unwrap_or_default())
}

/// A conversation as it is shown.
struct Loaded {
    conversation: Conversation,
    messages: Vec<StoredMessage>,
    /// Messages that broke off, and why.
    incomplete: BTreeMap<MessageId, String>,
    /// What the owner has typed.
    typed: HashSet<String>,
}

async fn load(agent: &Agent, id: &str) -> Result<Loaded, Failure> {
    let conversation =
        agent.directory().find(&choice(Some(id), &ConversationChoice::Last)).await?.ok_or_else(|| {
            Failure::new(ExitStatus::Usage, "there is no conversation yet").advise("Begin one: limpid chat \"hello\"")
        })?;
    let listed = agent.store().messages(&conversation.id, None).await?;
    tell_broken(&listed.broken);
    let incomplete = agent.conversations().incomplete(&listed.rows).await?;
    let typed = agent.store().typed(&conversation.id).await?.into_iter().collect();
    Ok(Loaded { conversation, messages: listed.rows, incomplete, typed })
}

fn head(row: &Conversation) -> Value {
    json!({
        "id": row.id.as_str(), "kind": row.kind.as_str(), "badge": row.badge(), "title": row.title,
        "profile": row.profile, "mode": row.mode, "model": row.model, "messages": row.messages, "unread": row.unread,
        "archived": row.is_archived,
        "created_ms": row.created_ms, "updated_ms": row.updated_ms,
    })
}

fn to_json(loaded: &Loaded, reasoning: bool) -> String {
    let messages: Vec<Value> = loaded
        .messages
        .iter()
        .map(|stored| {
            let calls: Vec<Value> = stored
                .message
                .calls
                .iter()
                .map(|call| json!({"id": call.id.as_str(), "name": call.name, "arguments": call.arguments}))
                .collect();
            let state: Vec<Value> = stored.message.state.iter().map(|state| state_json(state, reasoning)).collect();
            let mut row = json!({
                "id": stored.id.0, "at_ms": stored.at_ms, "role": stored.message.role.as_str(),
                "typed": stored.typed, "text": seen(stored), "trust": stored.message.trust.as_str(),
                "calls": calls, "call_id": stored.message.call_id.as_ref().map(limpid_core::CallId::as_str),
                "request": stored.request.as_ref().map(limpid_core::RequestId::as_str),
            });
            if !state.is_empty() {
                row["state"] = state.into();
            }
            if let Some(why) = loaded.incomplete.get(&stored.id) {
                row["incomplete"] = why.as_str().into();
            }
            row
        })
        .collect();
    let whole =
        json!({"version": output::JSON_VERSION, "conversation": head(&loaded.conversation), "messages": messages});
    serde_json::to_string_pretty(&whole).unwrap_or_default()
}

/// What a provider wants back with a message: it may hold what the model thought, so it is written only when asked for.
pub(crate) fn state_json(state: &ProviderState, whole: bool) -> Value {
    let mut row = json!({
        "origin": StatePart::ORIGIN, "protocol": state.protocol, "model": state.model, "bytes": state.json.len(),
    });
    if whole {
        row["json"] = state.json.as_str().into();
    }
    row
}

/// A message as people see it: the model's own words without the protocol's.
fn seen(stored: &StoredMessage) -> Cow<'_, str> {
    match stored.message.role {
        Role::Assistant => without_quiet(&stored.message.text).into(),
        _ => stored.message.text.as_str().into(),
    }
}

fn local(agent: &Agent, at_ms: i64) -> String {
    in_zone(at_ms, &agent.zone())
}

#[cfg(test)]
mod tests {
    use limpid_core::state::Span;
    use limpid_core::{ConversationId, Message, TurnId};
    use limpid_store::{Audience, ConversationKind};

    use super::*;

    // MOD-001 MOD-004
    #[test]
    fn an_export_holds_reasoning_only_when_it_is_asked_for_and_then_byte_for_byte() {
        let json = "{\"type\":\"thinking\", \"thinking\":\"a é secret\"}";
        let state = ProviderState {
            protocol: "anthropic".to_owned(),
            model: "anthropic/big".to_owned(),
            json: json.to_owned(),
            span: Span::at(0, 0),
            after: None,
        };
        let message = StoredMessage {
            id: MessageId(1),
            turn: TurnId::new("t"),
            message: Message { state: vec![state], ..Message::new(Role::Assistant, "Noon.", Trust::Owner) },
            typed: None,
            request: None,
            at_ms: 0,
        };
        let conversation = Conversation {
            id: ConversationId::new("c"),
            kind: ConversationKind::Chat,
            title: String::new(),
            profile: "limpid".to_owned(),
            mode: None,
            model: None,
            session: None,
            audience: Audience::Owner,
            window_tokens: None,
            effort: None,
            messages: 1,
            unread: 0,
            is_archived: false,
            created_ms: 0,
            updated_ms: 0,
        };
        let loaded =
            Loaded { conversation, messages: vec![message], incomplete: BTreeMap::new(), typed: HashSet::new() };
        let exported = |reasoning| to_json(&loaded, reasoning);
        assert!(!exported(false).contains("secret") && exported(false).contains("model:reasoning"));
        let whole: Value = serde_json::from_str(&exported(true)).unwrap();
        assert_eq!(whole["messages"][0]["state"][0]["json"], json);
    }
}
