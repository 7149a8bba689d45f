//! The screen of what is read: the prompt of the next turn, and every request that was sent.

use std::collections::HashSet;
use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use limpid_core::{ConversationId, Money, RequestId, Role};
use limpid_prompt::shown::{shown, shown_line};
use limpid_prompt::{Outcome, Prompt};
use limpid_runtime::{ConversationChoice, PreviewRequest};
use limpid_store::{Request, RequestFilter, RequestSummary};
use serde::Deserialize;

use super::meter::{kind_of, thousands};
use super::shell::Shell;
use super::state::Page;
use super::trouble::Trouble;

/// Past requests that are listed.
const LISTED: u32 = 50;

/// Which prompt is asked for.
#[derive(Deserialize)]
pub(super) struct Asked {
    /// The conversation; none: a new one.
    c: Option<String>,
    path: Option<String>,
}

/// Text of one section in one message.
struct Passage {
    /// What links lead to: the first passage of its section has one.
    anchor: Option<String>,
    section: String,
    kind: &'static str,
    origin: String,
    tokens: Option<String>,
    text: String,
}

/// A message of a prompt.
struct MessageRow {
    role: &'static str,
    passages: Vec<Passage>,
    calls: Vec<String>,
}

/// What became of a section.
struct SectionRow {
    section: String,
    kind: &'static str,
    tokens: String,
    outcome: &'static str,
    reason: String,
}

/// A number and what it means.
struct Figure {
    name: &'static str,
    value: String,
    more: String,
}

/// A request that was sent.
struct Past {
    id: String,
    time: String,
    path: String,
    model: String,
    size: String,
}

#[derive(Template)]
#[template(path = "inspector.html")]
struct InspectorScreen {
    shell: Shell,
    title: String,
    lead: String,
    figures: Vec<Figure>,
    sections: Vec<SectionRow>,
    messages: Vec<MessageRow>,
    tools: Vec<(String, String)>,
    answer: Option<String>,
    past: Vec<Past>,
}

/// Its routes.
pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new().route("/prompt/next", get(next)).route("/prompt/{request}", get(past))
}

/// `GET /prompt/next?c=ID&path=PATH`
async fn next(
    State(page): State<Arc<Page>>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Result<Response, Trouble> {
    let id = asked.c.filter(|id| !id.is_empty()).map(ConversationId::new);
    let conversation = id.clone().map_or(ConversationChoice::New, ConversationChoice::Id);
    let request = PreviewRequest { conversation, path: asked.path, ..PreviewRequest::default() };
    let preview = page.agent.preview(request).await?;
    let prompt = &preview.prompt;
    let lead = match preview.payload {
        Some(payload) => format!("Everything that a model reads in the next turn. It goes to {}.", payload.target),
        None => "Everything that a model reads in the next turn. There is no model yet that it could go to.".to_owned(),
    };
    let mut figures = figures(prompt);
    if let Some(since) = &preview.since {
        figures.push(Figure {
            name: "Same as last time",
            value: format!("{} bytes", thousands(since.diff.prefix.bytes)),
            more: format!("{} messages, from the start", since.diff.prefix.messages),
        });
    }
    let screen = InspectorScreen {
        shell: Shell::new(&page, &headers, "The next prompt · Limpid", "prompt").await?,
        title: "The next prompt".to_owned(),
        lead: shown_line(&lead),
        figures,
        sections: sections(prompt),
        messages: anchored(prompt.messages().iter().map(message).collect()),
        tools: prompt
            .tools()
            .iter()
            .map(|tool| (shown_line(tool.name()), shown(&tool.declaration()).into_owned()))
            .collect(),
        answer: None,
        past: sent_before(&page, id).await?,
    };
    Ok(Html(screen.render()?).into_response())
}

/// `GET /prompt/{request}`
async fn past(State(page): State<Arc<Page>>, Path(id): Path<String>, headers: HeaderMap) -> Result<Response, Trouble> {
    let Some(request) = page.agent.store().request(&RequestId::new(id)).await? else {
        return super::trouble::missing(State(page), headers).await;
    };
    let summary = &request.summary;
    let title = format!("Request of {}", page.clock(summary.sent_ms));
    let lead = format!("What {}/{} was sent, word for word, to {}.", summary.provider, summary.model, summary.target);
    let screen = InspectorScreen {
        shell: Shell::new(&page, &headers, &format!("{title} · Limpid"), "prompt").await?,
        title,
        lead: shown_line(&lead),
        figures: sent_figures(summary),
        sections: Vec::new(),
        messages: sent_messages(&request),
        tools: vec![("tools".to_owned(), shown(&request.tools).into_owned())],
        answer: summary.end.as_ref().map(|end| shown(&end.text).into_owned()),
        past: sent_before(&page, summary.conversation.clone()).await?,
    };
    Ok(Html(screen.render()?).into_response())
}

/// The newest requests: those of a conversation, or all.
async fn sent_before(page: &Page, conversation: Option<ConversationId>) -> Result<Vec<Past>, Trouble> {
    let filter = RequestFilter { conversation, limit: LISTED, ..RequestFilter::default() };
    let rows = page.agent.store().requests(filter).await?.rows;
    let past = rows.iter().map(|row| Past {
        id: row.id.to_string(),
        time: page.clock(row.sent_ms),
        path: row.path.clone(),
        model: shown_line(&format!("{}/{}", row.provider, row.model)),
        size: format!("{} bytes", thousands(row.body_bytes as usize)),
    });
    Ok(past.collect())
}

fn figures(prompt: &Prompt) -> Vec<Figure> {
    let totals = prompt.totals();
    let bytes = |system: bool| -> usize {
        let messages = prompt.messages().iter().filter(|message| !system || message.role() == Role::System);
        messages.map(|message| message.text().len()).sum()
    };
    let window = prompt.window();
    let share = totals.zip(window).map(|(totals, window)| {
        format!(
            "{} % of a window of {}; counted by {}",
            window.percent(totals.total),
            thousands(window.tokens as usize),
            prompt.counter()
        )
    });
    vec![
        Figure {
            name: "Tokens",
            value: totals.map_or("not counted".to_owned(), |totals| thousands(totals.total)),
            more: share.unwrap_or_else(|| format!("counted by {}", prompt.counter())),
        },
        Figure {
            name: "Text",
            value: format!("{} bytes", thousands(bytes(false))),
            more: format!("{} of them system text", thousands(bytes(true))),
        },
        Figure {
            name: "Tools",
            value: prompt.tools().len().to_string(),
            more: format!("{} tokens", totals.map_or(0, |totals| totals.tools)),
        },
    ]
}

fn sent_figures(summary: &RequestSummary) -> Vec<Figure> {
    let end = summary.end.as_ref();
    let usage = end.and_then(|end| end.usage);
    let counted = |number: Option<u64>| number.map_or("unknown".to_owned(), |number| thousands(number as usize));
    let cost: Option<Money> = end.and_then(|end| end.cost);
    vec![
        Figure {
            name: "Tokens read",
            value: counted(usage.map(|usage| usage.input)),
            more: format!("{} from cache, says the provider", counted(usage.map(|usage| usage.cached))),
        },
        Figure { name: "Tokens written", value: counted(usage.map(|usage| usage.output)), more: String::new() },
        Figure {
            name: "Body",
            value: format!("{} bytes", thousands(summary.body_bytes as usize)),
            more: format!("{} messages", summary.messages),
        },
        Figure {
            name: "Price",
            value: cost.map_or("unknown".to_owned(), |cost| cost.to_string()),
            more: String::new(),
        },
    ]
}

fn sections(prompt: &Prompt) -> Vec<SectionRow> {
    let kinds = |section: &str| {
        let mut messages = prompt.messages().iter();
        let found = messages.find_map(|message| {
            let part = message.parts().iter().find(|part| part.section() == section)?;
            Some(kind_of(message.role(), section, part.stability().as_str()))
        });
        found.unwrap_or("none")
    };
    let row = |row: &limpid_prompt::SectionReport| SectionRow {
        section: row.section.clone(),
        kind: kinds(&row.section),
        tokens: row.tokens.filter(|_| row.bytes > 0).map_or(String::new(), thousands),
        outcome: match row.outcome {
            Outcome::Included => "",
            Outcome::Skipped => "left out",
            Outcome::Trimmed => "trimmed",
            Outcome::Dropped => "dropped",
            Outcome::Shadowed => "shadowed",
        },
        reason: shown_line(row.reason.as_deref().unwrap_or_default()),
    };
    prompt.report().iter().map(row).collect()
}

fn message(message: &limpid_prompt::PromptMessage) -> MessageRow {
    let passage = |part: &limpid_prompt::Part| Passage {
        anchor: None,
        section: shown_line(part.section()),
        kind: kind_of(message.role(), part.section(), part.stability().as_str()),
        origin: shown_line(part.origin()),
        tokens: part.tokens().map(thousands),
        text: shown(part.text()).into_owned(),
    };
    MessageRow {
        role: message.role().as_str(),
        passages: message.parts().iter().map(passage).collect(),
        calls: message
            .calls()
            .iter()
            .map(|call| shown(&format!("{} {}", call.name, call.arguments)).into_owned())
            .collect(),
    }
}

fn sent_messages(request: &Request) -> Vec<MessageRow> {
    let passage = |role: Role, part: &limpid_store::RequestPart| {
        let stability = match part.stability.as_str() {
            "fixed" => "fixed",
            "session" => "session",
            _ => "turn",
        };
        Passage {
            anchor: None,
            section: shown_line(&part.section),
            kind: kind_of(role, &part.section, stability),
            origin: shown_line(&part.origin),
            tokens: part.tokens.map(|tokens| thousands(tokens as usize)),
            text: shown(&part.text).into_owned(),
        }
    };
    let rows = request.messages.iter().map(|message| MessageRow {
        role: message.role.as_str(),
        passages: message.parts.iter().map(|part| passage(message.role, part)).collect(),
        calls: message
            .calls
            .iter()
            .map(|call| shown(&format!("{} {}", call.name, call.arguments)).into_owned())
            .collect(),
    });
    anchored(rows.collect())
}

/// Messages in which the first passage of each section can be led to.
fn anchored(mut messages: Vec<MessageRow>) -> Vec<MessageRow> {
    let mut seen = HashSet::new();
    for passage in messages.iter_mut().flat_map(|message| &mut message.passages) {
        passage.anchor = seen.insert(passage.section.clone()).then(|| format!("s-{}", passage.section));
    }
    messages
}
