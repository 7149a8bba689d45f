//! Conversations that are found, archived and brought back.

use limpid_core::snippet::{search_words, snippet};
use limpid_core::{ConversationId, Role};
use limpid_runtime::{Agent, ConversationChoice, marked_line};
use limpid_store::{FoundConversation, StoredMessage};
use serde_json::{Value, json};

use super::{head, local, seen, title, titles};
use crate::commands::listing::tell_broken;
use crate::confirm::confirmed;
use crate::failure::Failure;
use crate::output;

/// Carries out `conversation archive`.
pub(super) async fn archive(agent: &Agent, id: &str, is_archived: bool) -> Result<(), Failure> {
    let changed = agent.conversations().archive(&ConversationId::new(id), is_archived).await?;
    let title = title(agent, &changed).await?;
    output::tell(&match is_archived {
        true => {
            let back = format!("”. Bring it back: limpid conversation archive {id} --undo");
            output::named(&[("Archived “", &title)], &back)
        }
        false => output::named(&[("“", &title)], "” is back in the list."),
    });
    Ok(())
}

/// Carries out `conversation delete`.
pub(super) async fn delete(agent: &Agent, id: &str, yes: bool) -> Result<(), Failure> {
    let id = ConversationId::new(id);
    let Some(found) = agent.directory().find(&ConversationChoice::Id(id.clone())).await? else { return Ok(()) };
    let title = title(agent, &found).await?;
    if !yes {
        let what = format!(
            "” for good: its {} messages, the texts that were sent to models for it, its drafts and agents. \
             Memories, files, tasks and what it cost stay.",
            found.messages
        );
        output::tell(&output::named(&[("Deletes “", &title)], &what));
        if !confirmed("Delete it?", false)? {
            output::tell("Nothing was deleted.");
            return Ok(());
        }
    }
    agent.conversations().delete(&id).await?;
    output::tell(&output::named(&[("Deleted “", &title)], "”."));
    Ok(())
}

/// Carries out `conversation find`.
pub(super) async fn find(agent: &Agent, query: &str, limit: u32, json: bool) -> Result<(), Failure> {
    let words = search_words(query);
    let found = agent.store().find_conversations(&words, limit).await?;
    if json {
        let rows: Vec<Value> = found.rows.iter().map(|row| to_json(row, &words)).collect();
        output::json("conversations", &rows)?;
    } else if found.rows.is_empty() {
        output::tell("No conversation has these words.");
    } else {
        let titles = titles(agent, found.rows.iter().map(|row| &row.conversation).collect()).await?;
        let row = |(row, title): (&FoundConversation, String)| {
            let FoundConversation { conversation: own, message } = row;
            vec![
                own.id.to_string(),
                if own.is_archived { "archived".to_owned() } else { String::new() },
                local(agent, own.updated_ms),
                title,
                message.as_ref().map(|message| line(message, &words)).unwrap_or_default(),
            ]
        };
        let rows: Vec<Vec<String>> = found.rows.iter().zip(titles).map(row).collect();
        output::line(&output::table(&["id", "archived", "last", "title", "said"], &rows))?;
    }
    tell_broken(&found.broken);
    Ok(())
}

/// What was said, around the words, and whose it is where it is not the owner's.
fn line(message: &StoredMessage, words: &[String]) -> String {
    let text: String = snippet(said(message).as_ref(), words).into_iter().map(|part| part.text).collect();
    marked_line(&text, message.message.trust)
}

fn said(message: &StoredMessage) -> std::borrow::Cow<'_, str> {
    match (&message.typed, message.message.role) {
        (Some(typed), Role::User) => typed.as_str().into(),
        _ => seen(message),
    }
}

fn to_json(found: &FoundConversation, words: &[String]) -> Value {
    let mut row = head(&found.conversation);
    row["message"] = found.message.as_ref().map_or(Value::Null, |message| {
        let text: String = snippet(said(message).as_ref(), words).into_iter().map(|part| part.text).collect();
        json!({ "id": message.id.0, "role": message.message.role.as_str(), "trust": message.message.trust.as_str(), "snippet": text })
    });
    row
}
