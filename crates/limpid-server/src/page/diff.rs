//! What is different between two prompts, side by side: any two requests that were sent, or one and the next turn.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use limpid_core::{ConversationId, RequestId};
use limpid_prompt::Prompt;
use limpid_prompt::diff::{Change, SectionChange};
use limpid_prompt::shown::{shown, shown_line};
use limpid_runtime::compare::{DiffRow, WholeTexts, side_by_side};
use limpid_runtime::{ConversationChoice, PreviewRequest, recorded};
use limpid_store::RequestFilter;
use serde::Deserialize;

use super::meter::thousands;
use super::shell::Shell;
use super::state::Page;
use super::trouble::{Trouble, missing};

/// Requests that can be chosen.
const LISTED: u32 = 50;

/// The word for the prompt of the next turn.
const NEXT: &str = "next";

/// What is compared.
#[derive(Deserialize)]
struct Asked {
    a: Option<String>,
    b: Option<String>,
    /// The conversation of the next turn, and of the requests that can be chosen.
    c: Option<String>,
    path: Option<String>,
}

/// A line of two texts side by side.
pub(super) struct Line {
    pub(super) folded: Option<String>,
    pub(super) is_same: bool,
    pub(super) old: Option<String>,
    pub(super) new: Option<String>,
}

/// Two prompts side by side.
pub(super) struct Sides {
    pub(super) names: [String; 2],
    /// What became of each section that differs, and how far both begin alike.
    pub(super) said: String,
    pub(super) lines: Vec<Line>,
}

/// A request that can be chosen.
struct Choice {
    id: String,
    name: String,
}

#[derive(Template)]
#[template(path = "diff.html")]
struct DiffScreen {
    shell: Shell,
    a: String,
    b: String,
    c: String,
    path: String,
    choices: Vec<Choice>,
    sides: Sides,
}

/// Its routes.
pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new().route("/prompt/diff", get(show))
}

/// `GET /prompt/diff?a=ID&b=ID`: each a request, or `next`.
async fn show(
    State(page): State<Arc<Page>>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Result<Response, Trouble> {
    let b = asked.b.clone().filter(|b| !b.is_empty()).unwrap_or_else(|| NEXT.to_owned());
    let Some(a) = asked.a.clone().filter(|a| !a.is_empty()) else { return missing(State(page), headers).await };
    let (Some((old, old_name, from)), Some((new, new_name, to))) =
        (side(&page, &a, &asked).await?, side(&page, &b, &asked).await?)
    else {
        return missing(State(page), headers).await;
    };
    let c = asked.c.clone().filter(|c| !c.is_empty()).or(from).or(to);
    let conversation = c.clone().map(ConversationId::new);
    let rows = page.agent.store().requests(RequestFilter { conversation, limit: LISTED, ..RequestFilter::default() });
    let known = rows.await?.rows.into_iter().map(|row| Choice {
        name: shown_line(&format!("{} · {} · {}/{}", page.clock(row.sent_ms), row.path, row.provider, row.model)),
        id: row.id.to_string(),
    });
    let mut choices = vec![Choice { id: NEXT.to_owned(), name: "The next turn".to_owned() }];
    choices.extend(known);
    for (id, name) in [(&a, &old_name), (&b, &new_name)] {
        if !choices.iter().any(|choice| choice.id == *id) {
            choices.push(Choice { id: id.clone(), name: name.clone() });
        }
    }
    let screen = DiffScreen {
        shell: Shell::new(&page, &headers, "What changed · Limpid", "prompt").await?,
        a,
        b,
        c: c.unwrap_or_default(),
        path: asked.path.clone().unwrap_or_default(),
        choices,
        sides: sides((&old, old_name), (&new, new_name)),
    };
    Ok(Html(screen.render()?).into_response())
}

/// A prompt, what it is called, and its conversation.
async fn side(page: &Page, id: &str, asked: &Asked) -> Result<Option<(Prompt, String, Option<String>)>, Trouble> {
    if id == NEXT {
        let set = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
        let c = set(&asked.c);
        let conversation =
            c.clone().map_or(ConversationChoice::New, |id| ConversationChoice::Id(ConversationId::new(id)));
        let request = PreviewRequest { conversation, path: set(&asked.path), ..PreviewRequest::default() };
        let prompt = page.agent.preview(request).await?.prompt;
        return Ok(Some((prompt, "The next turn".to_owned(), c)));
    }
    let Some(request) = page.agent.store().request(&RequestId::new(id)).await? else { return Ok(None) };
    let name = format!("Request of {}", page.clock(request.summary.sent_ms));
    let conversation = request.summary.conversation.as_ref().map(ToString::to_string);
    Ok(Some((recorded(&request, true), name, conversation)))
}

/// Two prompts side by side, each with what it is called.
pub(super) fn sides((old, old_name): (&Prompt, String), (new, new_name): (&Prompt, String)) -> Sides {
    let diff = old.diff(new);
    let changes: Vec<String> = diff.sections.iter().map(said).collect();
    let changes = if changes.is_empty() { "No section changed".to_owned() } else { changes.join(", ") };
    let (messages, bytes) = (diff.prefix.messages, thousands(diff.prefix.bytes));
    let WholeTexts { notice, old: old_text, new: new_text } = WholeTexts::of(old, new);
    let notice = notice.map_or_else(String::new, |notice| format!(" {notice}"));
    let size = |name: String, text: &str| format!("{name} · {} bytes", thousands(text.len()));
    Sides {
        said: shown_line(&format!(
            "{changes}. {messages} messages and {bytes} bytes are the same from the start.{notice}"
        )),
        lines: lines(&shown(&old_text), &shown(&new_text)),
        names: [size(old_name, &old_text), size(new_name, &new_text)],
    }
}

fn said(SectionChange { section, change, before, after }: &SectionChange) -> String {
    match change {
        Change::Changed => format!("{section} changed ({before} to {after} bytes)"),
        Change::Appeared => format!("{section} added ({after} bytes)"),
        Change::Went => format!("{section} removed ({before} bytes)"),
    }
}

/// Two texts side by side.
pub(super) fn lines(old: &str, new: &str) -> Vec<Line> {
    let line = |row| match row {
        DiffRow::Folded(1) => {
            Line { folded: Some("1 line is the same".to_owned()), is_same: true, old: None, new: None }
        }
        DiffRow::Folded(count) => {
            let folded = Some(format!("{} lines are the same", thousands(count)));
            Line { folded, is_same: true, old: None, new: None }
        }
        DiffRow::Same(text) => Line { folded: None, is_same: true, old: Some(text.clone()), new: Some(text) },
        DiffRow::Changed { old, new } => Line { folded: None, is_same: false, old, new },
    };
    side_by_side(old, new).into_iter().map(line).collect()
}
