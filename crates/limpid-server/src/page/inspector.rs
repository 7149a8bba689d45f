//! The screen of what is read: the prompt of the next turn, and every request that was sent. Its bar, its list and its text show
//! the same sections.

mod figures;
mod scale;
mod text;

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use limpid_core::reach::FIND_TOOLS;
use limpid_core::{ConversationId, RequestId, Usage};
use limpid_model::ExactCounter;
use limpid_prompt::shown::{shown, shown_line};
use limpid_prompt::{Estimate, Profile, Prompt};
use limpid_runtime::profiles::Reader;
use limpid_runtime::{ConversationChoice, PreviewRequest, recorded};
use limpid_store::{Request, RequestFilter, RequestSummary};
use serde::Deserialize;

use self::figures::{Figure, by_provider, figures, money, sent_figures};
use self::scale::{Row, Segment};
use self::text::{Article, Shared};
use super::diff::{Sides, sides};
use super::meter::thousands;
use super::prompt_files::file_of;
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

/// A request that was sent.
struct Past {
    id: String,
    time: String,
    path: String,
    model: String,
    ended: String,
    bytes: String,
    shared: String,
    input: String,
    cached: String,
    output: String,
    price: String,
}

/// What can be chosen, and what is.
struct Choice {
    value: String,
    name: String,
    is_chosen: bool,
}

/// A tool as it is declared.
struct Declared {
    name: String,
    file: Option<String>,
    description: String,
    schema: String,
    bytes: String,
}

/// A prompt to look at: the bar, the list and the text.
struct Looked {
    bar: Vec<Segment>,
    said: String,
    /// Where on the bar the beginning ends that the request before had.
    same: Option<String>,
    rows: Vec<Row>,
    left_out: usize,
    articles: Vec<Article>,
    tools: Vec<Declared>,
    tool_bytes: String,
}

#[derive(Template)]
#[template(path = "inspector.html")]
struct InspectorScreen {
    shell: Shell,
    title: String,
    lead: String,
    conversations: Vec<Choice>,
    paths: Vec<Choice>,
    figures: Vec<Figure>,
    looked: Looked,
    answer: Option<String>,
    /// Whether its texts can be edited in their places.
    can_edit: bool,
    /// What it is in addresses, its conversation and its path.
    this: String,
    c: String,
    path: String,
    /// The request before it, and what is different.
    before: Option<String>,
    sides: Option<Sides>,
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
    let path = asked.path.filter(|path| !path.is_empty());
    let request = PreviewRequest { conversation, path, ..PreviewRequest::default() };
    let preview = page.agent.preview(request).await?;
    let prompt = &preview.prompt;
    let finds = prompt.tools().iter().any(|tool| tool.name() == FIND_TOOLS);
    let lead = match &preview.payload {
        Some(payload) => format!(
            "Everything the model will read with your next message{}. It goes to {}.",
            if finds { ", besides tools that the message itself asks for" } else { "" },
            payload.target
        ),
        None => "Everything a model would read with your next message. No model is connected yet.".to_owned(),
    };
    let last = match &preview.since {
        Some(since) => page.agent.store().request(&since.request).await?,
        None => None,
    };
    let shared = preview.since.as_ref().map(|since| {
        let prefix = &since.diff.prefix;
        let whole = prompt.messages().iter().take(prefix.messages).map(|message| message.text().len()).sum();
        let rest = prefix.bytes.saturating_sub(whole);
        Shared { messages: prefix.messages, rest, changed: prefix.broken_by.clone() }
    });
    let profile = page.agent.profiles().profile(prompt.profile(), Reader::Owner)?;
    let name = |id: &Request| format!("Request of {}", page.clock(id.summary.sent_ms));
    let screen = InspectorScreen {
        shell: Shell::new(&page, &headers, "The next prompt · Limpid", "prompt").await?,
        title: "The next prompt".to_owned(),
        lead: shown_line(&lead),
        conversations: conversations(&page, id.as_ref()).await?,
        paths: paths(&page, prompt)?,
        figures: figures(&preview, last.as_ref()),
        looked: look(&page, prompt, Some(&profile), shared.as_ref()),
        answer: None,
        can_edit: true,
        this: "next".to_owned(),
        c: id.as_ref().map(ToString::to_string).unwrap_or_default(),
        path: shown_line(prompt.path()),
        sides: last
            .as_ref()
            .map(|last| sides((&recorded(last, true), name(last)), (prompt, "The next turn".to_owned()))),
        before: last.map(|last| last.summary.id.to_string()),
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
    let prompt = counted(&request);
    let before = before(&page, summary).await?;
    let messages = usize::try_from(summary.shared.messages).unwrap_or_default();
    let id = summary.id.to_string();
    let profile = page.agent.profiles().profile(prompt.profile(), Reader::Owner).ok();
    let sides = before.as_ref().map(|before| {
        let name = format!("Request of {}", page.clock(before.summary.sent_ms));
        sides((&recorded(before, true), name), (&prompt, title.clone()))
    });
    let shared = before.as_ref().map(|_| Shared {
        messages,
        rest: if messages == 0 { usize::try_from(summary.shared.bytes).unwrap_or_default() } else { 0 },
        changed: summary.shared.changed.clone(),
    });
    let screen = InspectorScreen {
        shell: Shell::new(&page, &headers, &format!("{title} · Limpid"), "prompt").await?,
        title: title.clone(),
        lead: shown_line(&lead),
        conversations: Vec::new(),
        paths: Vec::new(),
        figures: sent_figures(&prompt, summary, before.is_some()),
        looked: look(&page, &prompt, profile.as_deref(), shared.as_ref()),
        answer: summary.end.as_ref().map(|end| shown(&end.text).into_owned()),
        can_edit: false,
        this: id,
        c: summary.conversation.as_ref().map(ToString::to_string).unwrap_or_default(),
        path: shown_line(&summary.path),
        sides,
        before: before.map(|before| before.summary.id.to_string()),
        past: sent_before(&page, summary.conversation.clone()).await?,
    };
    Ok(Html(screen.render()?).into_response())
}

/// A request as a prompt, counted as its model counts where that is known.
pub(super) fn counted(request: &Request) -> Prompt {
    let prompt = recorded(request, true);
    match ExactCounter::of_model(&request.summary.model) {
        Some(counter) => prompt.counted_by(&counter),
        None => prompt.counted_by(&Estimate::default()),
    }
}

fn look(page: &Page, prompt: &Prompt, profile: Option<&Profile>, shared: Option<&Shared>) -> Looked {
    let file_of = |section: &str, origin: &str| file_of(page, profile?, section, origin);
    let tools = prompt.totals().map_or(0, |totals| totals.tools);
    let articles = text::articles(prompt, shared, &file_of);
    let rows = scale::rows(prompt, &articles, tools);
    let bar = scale::bar(&articles, tools);
    let same = shared.map(|shared| scale::place(&bar, text::tokens_of(&articles, shared)));
    let declared = |tool: &limpid_prompt::OfferedTool| Declared {
        name: shown_line(tool.name()),
        file: profile.and_then(|profile| file_of("tools", &profile.tool(tool.name())?.source.to_string())),
        description: shown(tool.description()).into_owned(),
        schema: shown(tool.schema()).into_owned(),
        bytes: thousands(tool.declaration().len()),
    };
    Looked {
        said: scale::said(&bar),
        bar,
        same,
        left_out: rows.iter().filter(|row| !row.is_in).count(),
        rows,
        articles,
        tools: prompt.tools().iter().map(declared).collect(),
        tool_bytes: thousands(prompt.tool_bytes()),
    }
}

/// The request before one, of the same conversation and path.
async fn before(page: &Page, summary: &RequestSummary) -> Result<Option<Request>, Trouble> {
    let Some(conversation) = &summary.conversation else { return Ok(None) };
    let filter = RequestFilter {
        conversation: Some(conversation.clone()),
        path: Some(summary.path.clone()),
        until_ms: Some(summary.sent_ms + 1),
        limit: LISTED,
        ..RequestFilter::default()
    };
    let rows = page.agent.store().requests(filter).await?.rows;
    let behind = rows.iter().skip_while(|row| row.id != summary.id).nth(1);
    Ok(match behind {
        Some(row) => page.agent.store().request(&row.id).await?,
        None => None,
    })
}

/// The conversations whose next prompt can be looked at.
async fn conversations(page: &Page, chosen: Option<&ConversationId>) -> Result<Vec<Choice>, Trouble> {
    let new = Choice { value: String::new(), name: "A new conversation".to_owned(), is_chosen: chosen.is_none() };
    let known = page.agent.store().conversations(LISTED).await?.rows.into_iter().map(|own| Choice {
        value: own.id.to_string(),
        name: super::chat::title(&own),
        is_chosen: chosen == Some(&own.id),
    });
    Ok(std::iter::once(new).chain(known).collect())
}

/// The paths of a prompt's profile.
fn paths(page: &Page, prompt: &Prompt) -> Result<Vec<Choice>, Trouble> {
    let profile = page.agent.profiles().profile(prompt.profile(), Reader::Owner)?;
    let choice = |path: &limpid_prompt::profile::Path| Choice {
        value: path.name.clone(),
        name: shown_line(&path.title),
        is_chosen: path.name == prompt.path(),
    };
    Ok(profile.paths().map(choice).collect())
}

/// The newest requests: those of a conversation, or all.
async fn sent_before(page: &Page, conversation: Option<ConversationId>) -> Result<Vec<Past>, Trouble> {
    let filter = RequestFilter { conversation, limit: LISTED, ..RequestFilter::default() };
    let rows = page.agent.store().requests(filter).await?.rows;
    let past = rows.iter().map(|row| {
        let end = row.end.as_ref();
        let usage = |pick: fn(Usage) -> u64| by_provider(end.and_then(|end| end.usage).map(pick));
        let ended = match end {
            None => "no answer".to_owned(),
            Some(end) => match &end.failure {
                Some((class, _)) => class.to_string(),
                None if !end.calls.is_empty() => "tool call".to_owned(),
                None => end.finish.clone().unwrap_or_else(|| "answer".to_owned()),
            },
        };
        Past {
            id: row.id.to_string(),
            time: page.clock(row.sent_ms),
            path: shown_line(&row.path),
            model: shown_line(&format!("{}/{}", row.provider, row.model)),
            ended: shown_line(&ended),
            bytes: thousands(usize::try_from(row.message_bytes).unwrap_or_default()),
            shared: thousands(usize::try_from(row.shared.bytes).unwrap_or_default()),
            input: usage(|usage| usage.input),
            cached: usage(|usage| usage.cached),
            output: usage(|usage| usage.output),
            price: money(end.and_then(|end| end.cost)),
        }
    });
    Ok(past.collect())
}
