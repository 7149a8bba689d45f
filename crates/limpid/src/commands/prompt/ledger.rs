//! The request log: what was really sent, listed, shown again and sent again.

use limpid_core::{ConversationId, ProviderState, ToolCall};
use limpid_prompt::show::frames::{Framed, page};
use limpid_prompt::{Stability, StatePart};
use limpid_runtime::{Agent, ConversationChoice, ReadAgain};
use limpid_store::{Request, RequestFilter, RequestMessage, RequestPart, RequestSummary};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::cli::ShowArgs;
use crate::commands::chat::Printer;
use crate::commands::choice::choice;
use crate::commands::context::Context;
use crate::commands::conversation::state_json;
use crate::commands::listing::{in_zone, tell_broken};
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Lists requests, the newest first.
pub(super) async fn log(
    context: &Context,
    conversation: Option<&str>,
    limit: usize,
    json: bool,
) -> Result<(), Failure> {
    let agent = context.agent()?;
    let conversation = match conversation {
        Some(word) => Some(conversation_id(&agent, word).await?),
        None => None,
    };
    let limit = u32::try_from(limit).unwrap_or(u32::MAX);
    let listed = agent.store().requests(RequestFilter { conversation, limit, ..RequestFilter::default() }).await?;
    let missed = agent.requests().missed_cache(&listed.rows);
    let again = agent.requests().tools_read_again(&listed.rows);
    if json {
        let row = |row: &RequestSummary| {
            let mut about = summary_json(row);
            about["cache_missed"] = missed.contains(&row.id).into();
            if let Some(again) = again.get(&row.id) {
                let cost = again.cost.map(|cost| cost.0);
                about["tools_read_again"] = json!({"tokens": again.tokens, "cost_micro_usd": cost});
            }
            about
        };
        let rows: Vec<Value> = listed.rows.iter().map(row).collect();
        output::json("requests", &rows)?;
    } else if listed.rows.is_empty() {
        output::tell("Nothing was sent yet.");
    } else {
        let row = |row: &RequestSummary| summary_cells(&agent, row, missed.contains(&row.id), again.get(&row.id));
        let rows: Vec<Vec<String>> = listed.rows.iter().map(row).collect();
        let head = [
            "id", "sent", "model", "path", "bytes", "shared", "input", "cached", "written", "output", "cost", "outcome",
        ];
        output::line(&output::table(&head, &rows))?;
    }
    tell_broken(&listed.broken);
    Ok(())
}

/// Shows one request with all of its parts.
pub(super) async fn show(context: &Context, id: &str, args: &ShowArgs) -> Result<(), Failure> {
    let request = find(&context.agent()?, id).await?;
    if args.payload {
        return Err(Failure::new(ExitStatus::Usage, "the ledger keeps what was read, not the bytes around it").advise(
            format!("What was read: limpid prompt show {id}. The next turn's bytes: limpid prompt show --payload"),
        ));
    }
    if let Some(number) = args.message {
        let count = request.messages.len();
        let message = request.messages.get(number).ok_or_else(|| {
            Failure::new(
                ExitStatus::Usage,
                format!("there is no message {number}; this request has {count}, counted from 0"),
            )
        })?;
        return output::data(&message.text);
    }
    if args.json {
        return output::json_line(&serde_json::to_string_pretty(&to_json(&request)).unwrap_or_default());
    }
    if args.explain {
        return output::line(&explain(&request));
    }
    output::data(&text(&request))
}

/// Sends a logged request again.
pub(super) async fn replay(context: &Context, id: &str, model: Option<&str>) -> Result<(), Failure> {
    let agent = context.agent()?;
    let request = find(&agent, id).await?;
    let mut handle = agent.requests().replay(&request.summary.id, model).await?;
    let mut printer = Printer::new(&context.environment, false);
    let stop = CancellationToken::new();
    while let Some(event) = handle.next().await {
        printer.print(&event)?;
        if event.is_last() || stop.is_cancelled() {
            break;
        }
    }
    printer.end()?;
    printer.failure().map_or(Ok(()), Err)
}

/// A request by its id or the beginning of it, or the newest one of a revision.
pub(super) async fn find(agent: &Agent, id: &str) -> Result<Request, Failure> {
    let filter = RequestFilter { id_prefix: Some(id.to_owned()), limit: 2, ..RequestFilter::default() };
    let mut found = agent.store().requests(filter).await?.rows;
    if found.is_empty() {
        let all = agent.store().requests(RequestFilter { limit: u32::MAX, ..RequestFilter::default() }).await?;
        found.extend(all.rows.into_iter().find(|row| row.revision == id));
    }
    let unknown = || {
        Failure::new(ExitStatus::Usage, format!("there is no path, request or revision `{id}`"))
            .advise("Paths: limpid profile show NAME. Requests: limpid prompt log")
    };
    match found.as_slice() {
        [one] => agent.store().request(&one.id).await?.ok_or_else(unknown),
        [] => Err(unknown()),
        _ => Err(Failure::new(ExitStatus::Usage, format!("several requests begin with `{id}`; give more of it"))),
    }
}

async fn conversation_id(agent: &Agent, word: &str) -> Result<ConversationId, Failure> {
    let found = agent.directory().find(&choice(Some(word), &ConversationChoice::Last)).await?;
    found.map(|found| found.id).ok_or_else(|| Failure::new(ExitStatus::Usage, "there is no conversation yet"))
}

fn summary_cells(agent: &Agent, row: &RequestSummary, cache_missed: bool, again: Option<&ReadAgain>) -> Vec<String> {
    let end = row.end.as_ref();
    let usage = end.and_then(|end| end.usage);
    let tokens =
        |pick: fn(limpid_core::Usage) -> u64| usage.map_or_else(|| "?".to_owned(), |usage| pick(usage).to_string());
    let outcome = match end {
        None => "no answer".to_owned(),
        Some(end) => {
            end.failure.as_ref().map_or_else(|| end.finish.clone().unwrap_or_default(), |(class, _)| class.to_string())
        }
    };
    let shared = match &row.shared.changed {
        Some(changed) => format!("{} until {changed}", row.shared.bytes),
        None => row.shared.bytes.to_string(),
    };
    let again = again.map_or_else(String::new, |again| {
        let cost = again.cost.map_or_else(|| "cost unknown".to_owned(), |cost| cost.to_string());
        format!(", new tools: {} tokens read again, {cost}", again.tokens)
    });
    vec![
        row.id.to_string(),
        in_zone(row.sent_ms, &agent.zone()),
        match end.and_then(|end| end.model.as_ref()) {
            Some(answered) => format!("{}/{}, answered by {answered}", row.provider, row.model),
            None => format!("{}/{}", row.provider, row.model),
        },
        format!("{}:{}", row.profile, row.path),
        row.message_bytes.to_string(),
        shared,
        tokens(|usage| usage.input),
        tokens(|usage| usage.cached),
        tokens(|usage| usage.cache_written),
        tokens(|usage| usage.output),
        end.and_then(|end| end.cost).map_or_else(|| "unknown".to_owned(), |cost| cost.to_string()),
        format!("{outcome}{}{again}", if cache_missed { ", cache missed" } else { "" }),
    ]
}

fn summary_json(row: &RequestSummary) -> Value {
    let end = row.end.as_ref().map(|end| {
        let usage = end.usage.map(|usage| {
            json!({"input": usage.input, "cached": usage.cached, "cache_written": usage.cache_written, "output": usage.output, "reasoning": usage.reasoning})
        });
        json!({
            "text": end.text, "reasoning": end.reasoning, "finish": end.finish, "tokens": usage,
            "cost_micro_usd": end.cost.map(|cost| cost.0),
            "calls": end.calls.iter().map(|call| json!({"id": call.id.as_str(), "name": call.name, "arguments": call.arguments})).collect::<Vec<_>>(),
            "failure": end.failure.as_ref().map(|(class, message)| json!({"class": class.as_str(), "message": message})),
            "answered_by": end.model, "first_ms": end.first_ms, "ended_ms": end.ended_ms,
        })
    });
    json!({
        "id": row.id.as_str(), "conversation": row.conversation.as_ref().map(ConversationId::as_str),
        "turn": row.turn.as_ref().map(limpid_core::TurnId::as_str), "round": row.round,
        "provider": row.provider, "model": row.model, "protocol": row.protocol, "target": row.target,
        "profile": row.profile, "path": row.path, "revision": row.revision, "sampling": row.sampling,
        "messages": row.messages, "message_bytes": row.message_bytes, "body_bytes": row.body_bytes,
        "shared_prefix": {"messages": row.shared.messages, "bytes": row.shared.bytes, "changed": row.shared.changed},
        "sent_ms": row.sent_ms, "end": end,
    })
}

fn to_json(request: &Request) -> Value {
    let messages: Vec<Value> = request.messages.iter().map(message_json).collect();
    let mut whole = summary_json(&request.summary);
    whole["version"] = output::JSON_VERSION.into();
    whole["tools"] = serde_json::from_str(&request.tools).unwrap_or_else(|_| request.tools.clone().into());
    whole["messages"] = messages.into();
    whole
}

fn message_json(message: &RequestMessage) -> Value {
    let parts: Vec<Value> = message
        .parts
        .iter()
        .map(|part| {
            json!({
                "section": part.section, "origin": part.origin, "text": part.text, "bytes": part.text.len(),
                "tokens": part.tokens, "stability": part.stability, "trust": part.trust.as_str(),
            })
        })
        .collect();
    let calls: Vec<Value> = message
        .calls
        .iter()
        .map(|call| json!({"id": call.id.as_str(), "name": call.name, "arguments": call.arguments}))
        .collect();
    let mut row = json!({
        "role": message.role.as_str(), "text": message.text, "parts": parts, "calls": calls,
        "call_id": message.call_id.as_ref().map(limpid_core::CallId::as_str),
    });
    if !message.state.is_empty() {
        row["state"] = message.state.iter().map(|state| state_json(state, false)).collect();
    }
    row
}

fn explain(request: &Request) -> String {
    let rows: Vec<Vec<String>> = request
        .messages
        .iter()
        .enumerate()
        .flat_map(|(at, message)| {
            let name = format!("{at} {}", message.role);
            let part = |part: &RequestPart| {
                vec![
                    name.clone(),
                    part.section.clone(),
                    part.text.len().to_string(),
                    part.stability.clone(),
                    part.trust.to_string(),
                    part.origin.clone(),
                ]
            };
            let state = |state: &ProviderState| {
                let (section, bytes) = (StatePart::SECTION.to_owned(), state.json.len().to_string());
                let origin = format!("{} of {}", StatePart::ORIGIN, state.model);
                vec![name.clone(), section, bytes, Stability::Session.as_str().to_owned(), String::new(), origin]
            };
            message.parts.iter().map(part).chain(message.state.iter().map(state)).collect::<Vec<_>>()
        })
        .collect();
    output::table(&["message", "section", "bytes", "stability", "trust", "origin"], &rows)
}

fn text(request: &Request) -> String {
    let mut texts: Vec<Framed<'_>> = request.messages.iter().enumerate().map(framed).collect();
    if let Some(end) = &request.summary.end {
        let reply = with_calls(Framed::new("reply".to_owned(), &end.text), &end.calls);
        texts.push(match &end.failure {
            Some((class, why)) => reply.failed(class.as_str(), why),
            None => reply,
        });
    }
    page(&texts)
}

fn framed((at, message): (usize, &RequestMessage)) -> Framed<'_> {
    let head = format!("{at} {}, {} bytes", message.role, message.text.len());
    with_calls(Framed::new(head, &message.text), &message.calls)
}

fn with_calls<'a>(framed: Framed<'a>, calls: &[ToolCall]) -> Framed<'a> {
    calls.iter().fold(framed, |framed, call| framed.call(&call.name, &call.arguments))
}
