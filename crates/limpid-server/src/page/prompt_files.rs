//! The files that prompts are made from: looked at, tried while they are typed, saved, and taken back.

mod editor;
mod trial;

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use axum::{Form, Json, Router};
use limpid_core::ConversationId;
use limpid_prompt::Profile;
use limpid_prompt::prompt::hash_of;
use limpid_prompt::shown::{shown, shown_line};
use limpid_runtime::profiles::PromptFile;
use limpid_runtime::{ConversationChoice, PreviewRequest, SaveEnd};
use limpid_store::{FileVersion, FileVersionId};
use serde::Deserialize;
use serde_json::json;

use self::editor::Editor;
use super::diff::{Line, lines};
use super::meter::thousands;
use super::shell::Shell;
use super::state::Page;
use super::trouble::{Trouble, missing};

/// Where the owner changes something here, for whoever reads the history.
const SOURCE: &str = "page";

/// Changes of a file that are listed.
const LISTED: usize = 50;

/// Which prompt a text is looked at in, and which text.
#[derive(Clone, Default, Deserialize)]
struct Asked {
    c: Option<String>,
    path: Option<String>,
    /// A text to begin with: `shipped`, or that before a change.
    from: Option<String>,
}

/// A text that is tried or saved.
#[derive(Deserialize)]
struct Written {
    text: String,
    /// The hash of the text that its writer began with.
    #[serde(default)]
    base: String,
    c: Option<String>,
    path: Option<String>,
}

/// A change to be taken back.
#[derive(Deserialize)]
struct TakenBack {
    change: i64,
}

/// A file in the list.
struct FileRow {
    id: String,
    name: String,
    state: &'static str,
    bytes: String,
}

/// A change of a file.
struct ChangeRow {
    id: i64,
    time: String,
    source: String,
    sizes: String,
    is_undone: bool,
    lines: Vec<Line>,
}

#[derive(Template)]
#[template(path = "prompt_files.html")]
struct FilesScreen {
    shell: Shell,
    profile: String,
    files: Vec<FileRow>,
}

#[derive(Template)]
#[template(path = "prompt_file.html")]
struct FileScreen {
    shell: Shell,
    id: String,
    name: String,
    is_own: bool,
    editor: String,
    changes: Vec<ChangeRow>,
}

/// Its routes.
pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new()
        .route("/prompt/files", get(list))
        .route("/prompt/file/{id}", get(show).post(save))
        .route("/prompt/file/{id}/form", get(form))
        .route("/prompt/file/{id}/try", post(try_text))
        .route("/prompt/file/{id}/undo", post(undo))
}

impl Asked {
    /// The prompt in which a text is looked at.
    fn prompt(&self) -> PreviewRequest {
        let set = |value: &Option<String>| value.clone().filter(|value| !value.is_empty());
        let conversation =
            set(&self.c).map_or(ConversationChoice::New, |id| ConversationChoice::Id(ConversationId::new(id)));
        PreviewRequest { conversation, path: set(&self.path), ..PreviewRequest::default() }
    }
}

impl Written {
    fn asked(&self) -> Asked {
        Asked { c: self.c.clone(), path: self.path.clone(), from: None }
    }

    /// The text as files have it: a form that is sent without a script ends its lines otherwise.
    fn text(&self) -> String {
        self.text.replace("\r\n", "\n")
    }
}

/// The hash by which a text is known to be the one that somebody looked at.
fn mark_of(text: &str) -> String {
    hash_of([text.as_bytes()])
}

/// Whether a browser wants a screen; scripts of the page take what they get.
fn wants_screen(headers: &HeaderMap) -> bool {
    headers.get(ACCEPT).and_then(|kinds| kinds.to_str().ok()).is_some_and(|kinds| kinds.contains("text/html"))
}

/// `GET /prompt/files`: those of the profile that is set.
async fn list(State(page): State<Arc<Page>>, headers: HeaderMap) -> Result<Response, Trouble> {
    let profile = page.agent.config().agent.profile.clone();
    let files = page.agent.prompt_files().list(&profile)?.into_iter().map(|(file, text)| {
        let (state, bytes) = match &text {
            Ok(text) if text.is_own() => ("yours", thousands(text.text.len())),
            Ok(text) => ("as shipped", thousands(text.text.len())),
            Err(_) => ("cannot be read", String::new()),
        };
        FileRow { id: file.id(), name: shown_line(&file.path), state, bytes }
    });
    let screen = FilesScreen {
        shell: Shell::new(&page, &headers, "Prompt files · Limpid", "prompt").await?,
        profile: shown_line(&profile),
        files: files.collect(),
    };
    Ok(Html(screen.render()?).into_response())
}

/// `GET /prompt/file/{id}`
async fn show(
    State(page): State<Arc<Page>>,
    Path(id): Path<String>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Result<Response, Trouble> {
    let Ok((file, profile)) = page.agent.prompt_files().find(&id) else { return missing(State(page), headers).await };
    let editor = Editor::new(&page, (&file, &profile), &asked).await?;
    screen(&page, &headers, &file, editor, StatusCode::OK).await
}

async fn screen(
    page: &Page,
    headers: &HeaderMap,
    file: &PromptFile,
    editor: Editor,
    status: StatusCode,
) -> Result<Response, Trouble> {
    let name = shown_line(&file.path);
    let screen = FileScreen {
        shell: Shell::new(page, headers, &format!("{name} · Limpid"), "prompt").await?,
        id: file.id(),
        name,
        is_own: editor.is_own,
        editor: editor.render()?,
        changes: changes(page, file).await?,
    };
    Ok((status, Html(screen.render()?)).into_response())
}

/// `GET /prompt/file/{id}/form`: the editor alone, for a screen that is open.
async fn form(
    State(page): State<Arc<Page>>,
    Path(id): Path<String>,
    Query(asked): Query<Asked>,
) -> Result<Response, Trouble> {
    let (file, profile) = page.agent.prompt_files().find(&id)?;
    let editor = Editor::new(&page, (&file, &profile), &asked).await?;
    Ok(Json(json!({ "text": editor.text, "html": editor.render()? })).into_response())
}

/// `POST /prompt/file/{id}/try`: what the prompt would be. Nothing is written.
async fn try_text(
    State(page): State<Arc<Page>>,
    Path(id): Path<String>,
    Form(written): Form<Written>,
) -> Result<Response, Trouble> {
    let (file, _) = page.agent.prompt_files().find(&id)?;
    let trial = page.agent.prompt_files().trial(&file, &written.text(), written.asked().prompt()).await?;
    Ok(Json(trial::answer(&page, &file, &trial)).into_response())
}

/// `POST /prompt/file/{id}`
async fn save(
    State(page): State<Arc<Page>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Form(written): Form<Written>,
) -> Result<Response, Trouble> {
    let files = page.agent.prompt_files();
    let (file, profile) = files.find(&id)?;
    let text = written.text();
    let seen = |now: &str| mark_of(now) == written.base;
    let asked = written.asked();
    let end = files.save((&file, &profile), (seen, &text), asked.prompt(), SOURCE).await?;
    let (status, theirs, wrong) = match end {
        SaveEnd::Saved(change) if !wants_screen(&headers) => {
            return Ok(Json(json!({ "saved": change.0 })).into_response());
        }
        SaveEnd::Same if !wants_screen(&headers) => return Ok(Json(json!({ "saved": null })).into_response()),
        SaveEnd::Saved(_) | SaveEnd::Same => {
            return Ok(Redirect::to(&format!("/prompt/file/{}", file.id())).into_response());
        }
        SaveEnd::Newer(now) => (StatusCode::CONFLICT, Some(now), None),
        SaveEnd::Wrong(why) => (StatusCode::UNPROCESSABLE_ENTITY, None, Some(why)),
    };
    let editor = Editor::new(&page, (&file, &profile), &asked).await?.refused(text, theirs, wrong);
    if wants_screen(&headers) {
        return screen(&page, &headers, &file, editor, status).await;
    }
    Ok((status, Json(json!({ "html": editor.render()? }))).into_response())
}

/// `POST /prompt/file/{id}/undo`
async fn undo(
    State(page): State<Arc<Page>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    Form(TakenBack { change }): Form<TakenBack>,
) -> Result<Response, Trouble> {
    let files = page.agent.prompt_files();
    let (file, _) = files.find(&id)?;
    let done = files.undo(&file, FileVersionId(change), SOURCE).await;
    match done {
        Err(error) if wants_screen(&headers) => {
            super::trouble::screen(&page, &headers, "Not undone", error.into()).await
        }
        Err(error) => Err(error.into()),
        Ok(()) if wants_screen(&headers) => {
            Ok(Redirect::to(&format!("/prompt/file/{}#history", file.id())).into_response())
        }
        Ok(()) => Ok(Json(json!({})).into_response()),
    }
}

/// The changes of a file, newest first.
async fn changes(page: &Page, file: &PromptFile) -> Result<Vec<ChangeRow>, Trouble> {
    let versions = page.agent.prompt_files().versions(file).await?.rows;
    let is_undone = |id: FileVersionId| versions.iter().any(|version| version.undoes == Some(id));
    let row = |version: &FileVersion| {
        let (before, after) = (version.said_before().unwrap_or_default(), version.said_after().unwrap_or_default());
        let source = match version.undoes {
            Some(undone) => format!("change {} taken back at the {}", undone.0, version.source),
            None => version.source.clone(),
        };
        ChangeRow {
            id: version.id.0,
            time: page.clock(version.at_ms),
            source: shown_line(&source),
            sizes: format!("{} to {} bytes", thousands(before.len()), thousands(after.len())),
            is_undone: is_undone(version.id),
            lines: lines(&shown(before), &shown(after)),
        }
    };
    Ok(versions.iter().rev().filter(|version| version.ended).take(LISTED).map(row).collect())
}

/// The name of the file that a section is edited in.
pub(super) fn file_of(page: &Page, profile: &Profile, section: &str, origin: &str) -> Option<String> {
    page.agent.prompt_files().of_section(profile, section, origin)
}
