//! `inbox`.

use limpid_core::inbox::{Source, preview};
use limpid_prompt::boundary::is_invisible;
use limpid_runtime::Agent;
use limpid_runtime::inbox::{IngestError, IngestKind};
use limpid_store::{InboxItem, ItemFilter, ItemId};
use serde_json::{Value, json};

use super::listing::{in_zone, tell_broken};
use crate::cli::{InboxCommand, KindWord, SourceWord};
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Carries out `inbox …`; no model is asked.
///
/// # Errors
/// When there is no such item, a source is off, or the store fails.
pub async fn run(agent: &Agent, command: &InboxCommand) -> Result<(), Failure> {
    match command {
        InboxCommand::Mail(command) => super::mail::run(agent, command).await,
        InboxCommand::List { source, all, search, limit, json } => {
            let source = source.map(|word| match word {
                SourceWord::Mail => Source::Mail,
                SourceWord::Sms => Source::Sms,
                SourceWord::Notification => Source::Notification,
            });
            let (query, limit) = (search.clone(), *limit);
            list(agent, ItemFilter { source, unseen: !all, query, limit, ..ItemFilter::default() }, *json).await
        }
        InboxCommand::Show { id, json } => show(agent, ItemId(*id), *json).await,
        InboxCommand::Done { ids, json } => {
            let ids: Vec<ItemId> = ids.iter().copied().map(ItemId).collect();
            for id in &ids {
                agent.inbox().item(*id).await?;
            }
            let done = agent.inbox().done(&ids).await?;
            if *json {
                return output::json("done", &done);
            }
            output::tell(&format!("{done} of {} were new and are put aside.", ids.len()));
            Ok(())
        }
        InboxCommand::Add { .. } => add(agent, command).await,
        InboxCommand::Token { new, json } => {
            let token = agent.inbox().make_token(*new)?;
            if *json {
                return output::json("token", &token);
            }
            output::line(&token)?;
            output::tell("Keep it now; it is not shown again. Send it as `Authorization: Bearer TOKEN`.");
            Ok(())
        }
    }
}

async fn list(agent: &Agent, filter: ItemFilter, json: bool) -> Result<(), Failure> {
    let unseen = filter.unseen;
    let listed = agent.inbox().list(filter).await?;
    if json {
        let rows: Vec<Value> = listed.rows.iter().map(whole).collect();
        output::json("items", &rows)?;
    } else if listed.rows.is_empty() {
        output::tell(if unseen { "Nothing new." } else { "Nothing came in." });
    } else {
        let zone = agent.zone();
        let row = |item: &InboxItem| {
            let new = &item.new;
            let head = if new.title.is_empty() { &new.text } else { &new.title };
            vec![
                item.id.0.to_string(),
                new.source.to_string(),
                in_zone(new.posted_ms, &zone),
                preview(&visible(&new.sender)),
                preview(&visible(head)),
            ]
        };
        let rows: Vec<Vec<String>> = listed.rows.iter().map(row).collect();
        output::line(&output::table(&["item", "source", "at", "from", "what"], &rows))?;
    }
    tell_broken(&listed.broken);
    Ok(())
}

async fn show(agent: &Agent, id: ItemId, json: bool) -> Result<(), Failure> {
    let item = agent.inbox().item(id).await?;
    if json {
        return output::json("item", &whole(&item));
    }
    let zone = agent.zone();
    let new = &item.new;
    let fields = [("from", &new.sender), ("title", &new.title), ("account", &new.account)];
    let mut lines = vec![format!("{} at {}", new.source, in_zone(new.posted_ms, &zone))];
    let named = |(name, text): (&str, &String)| output::beside(&format!("{name} "), name.len() + 1, &visible(text));
    lines.extend(fields.into_iter().filter(|(_, text)| !text.is_empty()).map(named));
    lines.extend(item.shown_ms.map(|at| format!("seen {}", in_zone(at, &zone))));
    lines.extend([String::new(), output::behind_margin(&visible(&new.text))]);
    output::line(&visible(&lines.join("\n")))
}

/// A stranger's text without what would steer the terminal instead of standing in it.
fn visible(text: &str) -> String {
    text.chars().filter(|c| !is_invisible(*c)).collect()
}

async fn add(agent: &Agent, command: &InboxCommand) -> Result<(), Failure> {
    let InboxCommand::Add { kind, text, from, title, key, json } = command else { return Ok(()) };
    let kind = match kind {
        KindWord::Mail => IngestKind::Mail,
        KindWord::Sms => IngestKind::Sms,
        KindWord::Notification => IngestKind::Notification,
        KindWord::Custom => IngestKind::Custom,
    };
    let object = json!({ "from": from, "title": title, "text": text, "key": key });
    let kept = agent.inbox().ingest(kind, object.to_string().as_bytes(), None).await.map_err(|error| match error {
        IngestError::Agent(error) => Failure::from(error),
        error => Failure::new(ExitStatus::Usage, error.to_string()),
    })?;
    if *json {
        return output::json("item", &json!({ "id": kept.id.0, "stored": kept.fresh }));
    }
    let said = if kept.fresh { "is kept" } else { "was there already" };
    output::tell(&format!("Item {} {said}.", kept.id.0));
    Ok(())
}

fn whole(item: &InboxItem) -> Value {
    let new = &item.new;
    json!({
        "id": item.id.0, "source": new.source.as_str(), "account": new.account, "key": new.key,
        "uid": new.uid.map(|uid| uid.uid), "message_id": new.message_id, "from": new.sender, "title": new.title,
        "text": new.text, "posted_ms": new.posted_ms, "arrived_ms": new.now_ms, "waits": item.waits,
        "shown_ms": item.shown_ms, "consumed_ms": item.consumed_ms,
    })
}
