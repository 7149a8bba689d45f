//! The screens of skills: what there is, and one in full for whoever decides whether to allow it.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Form, Router};
use limpid_prompt::shown::{shown, shown_line};
use limpid_runtime::skills::ReviewFile;
use limpid_runtime::{ListedSkill, SkillStatus};
use limpid_store::SkillEvent;
use serde::Deserialize;

use super::forms::{SOURCE, back};
use super::meter::thousands;
use super::shell::Shell;
use super::state::Page;
use super::trouble::{Trouble, screen as screen_of};

/// A skill in the list.
struct Row {
    name: String,
    /// Its name as it stands in an address.
    at: String,
    about: String,
    /// Whether somebody else wrote what it says.
    is_foreign: bool,
    source: &'static str,
    status: &'static str,
    /// How the word of its status looks.
    look: &'static str,
    why: Option<String>,
}

/// A file of a skill.
struct File {
    path: String,
    about: String,
    text: Option<String>,
}

/// Something that was done to a skill.
struct Event {
    what: &'static str,
    by: String,
    hash: String,
    at: String,
}

#[derive(Template)]
#[template(path = "skills.html")]
struct SkillsScreen {
    shell: Shell,
    rows: Vec<Row>,
    /// One that was just removed: its name, and as it stands in an address.
    gone: Option<(String, String)>,
}

#[derive(Template)]
#[template(path = "skill_one.html")]
struct OneScreen {
    shell: Shell,
    row: Row,
    location: String,
    hash: Option<String>,
    files: Vec<File>,
    told_of_files: Option<&'static str>,
    tools: String,
    can_enable: bool,
    can_disable: bool,
    can_remove: bool,
    history: Vec<Event>,
}

/// What is asked for.
#[derive(Deserialize)]
struct Asked {
    gone: Option<String>,
}

/// Where a skill is taken from.
#[derive(Deserialize)]
struct Place {
    path: String,
}

/// The very bytes that were shown.
#[derive(Deserialize)]
struct Seen {
    hash: Option<String>,
}

/// Its routes.
pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new()
        .route("/skills", get(screen).post(install))
        .route("/skills/{name}", get(one))
        .route("/skills/{name}/enable", post(enable))
        .route("/skills/{name}/disable", post(disable))
        .route("/skills/{name}/remove", post(remove))
        .route("/skills/{name}/undo", post(undo))
}

async fn screen(
    State(page): State<Arc<Page>>,
    Query(Asked { gone }): Query<Asked>,
    headers: HeaderMap,
) -> Result<Response, Trouble> {
    let skills = page.agent.skills().list().await?;
    let gone = gone.filter(|gone| skills.iter().all(|skill| !skill.name.eq_ignore_ascii_case(gone)));
    let screen = SkillsScreen {
        shell: Shell::new(&page, &headers, "Skills · Limpid", "activity").await?,
        rows: skills.iter().map(row).collect(),
        gone: gone.map(|gone| (shown_line(&gone), address(&gone))),
    };
    Ok(Html(screen.render()?).into_response())
}

/// `GET /skills/{name}`: all of it.
async fn one(State(page): State<Arc<Page>>, Path(name): Path<String>, headers: HeaderMap) -> Result<Response, Trouble> {
    let review = match page.agent.skills().review(&name).await {
        Ok(review) => review,
        Err(error) => return screen_of(&page, &headers, "No such skill", error.into()).await,
    };
    let events = page.agent.store().skill_events(Some(&review.skill.name.to_lowercase())).await?.rows;
    let status = review.skill.status;
    let is_file = review.hash.is_some();
    let tools = review.skill.prompt.as_ref().map(|prompt| prompt.skill.tools.join(", "));
    let screen = OneScreen {
        shell: Shell::new(&page, &headers, "A skill · Limpid", "activity").await?,
        location: shown_line(&review.skill.location),
        told_of_files: review.told_of_files(),
        files: review.files.iter().map(file).collect(),
        hash: review.hash,
        tools: tools.as_deref().map(shown_line).unwrap_or_default(),
        can_enable: is_file && matches!(status, SkillStatus::Awaiting | SkillStatus::Changed | SkillStatus::Disabled),
        can_disable: is_file && status == SkillStatus::Ready,
        can_remove: is_file && review.skill.source_name() != "builtin",
        history: events.iter().rev().map(|done| event(&page, done)).collect(),
        row: row(&review.skill),
    };
    Ok(Html(screen.render()?).into_response())
}

/// `POST /skills`: takes one from a folder of this machine. It is used once it was looked at and allowed.
async fn install(
    State(page): State<Arc<Page>>,
    headers: HeaderMap,
    Form(Place { path }): Form<Place>,
) -> Result<Response, Trouble> {
    let installed = page.agent.skills().install(std::path::Path::new(path.trim()), SOURCE).await;
    back(&page, &headers, installed, |review| format!("/skills/{}", address(&review.skill.name))).await
}

/// `POST /skills/{name}/enable`: allows the very bytes that were shown.
async fn enable(
    State(page): State<Arc<Page>>,
    Path(name): Path<String>,
    headers: HeaderMap,
    Form(Seen { hash }): Form<Seen>,
) -> Result<Response, Trouble> {
    let hash = hash.unwrap_or_default();
    let done = page.agent.skills().enable(&name, true, Some(&hash), SOURCE).await;
    back(&page, &headers, done, |()| format!("/skills/{}", address(&name))).await
}

async fn disable(
    State(page): State<Arc<Page>>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Trouble> {
    let done = page.agent.skills().enable(&name, false, None, SOURCE).await;
    back(&page, &headers, done, |()| format!("/skills/{}", address(&name))).await
}

async fn remove(
    State(page): State<Arc<Page>>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Trouble> {
    let done = page.agent.skills().remove(&name, SOURCE).await;
    back(&page, &headers, done, |removed| format!("/skills?gone={}", address(&removed.name))).await
}

/// `POST /skills/{name}/undo`: what it was before the last change.
async fn undo(
    State(page): State<Arc<Page>>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Trouble> {
    let done = page.agent.skills().undo(&name, None, SOURCE).await;
    back(&page, &headers, done, |undone| match undone.after {
        Some(_) => format!("/skills/{}", address(&name)),
        None => "/skills".to_owned(),
    })
    .await
}

fn row(skill: &ListedSkill) -> Row {
    let says = skill.prompt.as_ref();
    let (status, look) = match skill.status {
        SkillStatus::Ready => ("in use", "good"),
        SkillStatus::Awaiting => ("waits for your review", "wait"),
        SkillStatus::Changed => ("changed since you allowed it", "wait"),
        SkillStatus::Unaccepted => ("changed by a program", "wait"),
        SkillStatus::Disabled => ("off", ""),
        SkillStatus::Shadowed => ("another has its name", ""),
        SkillStatus::Broken => ("is no skill", "fail"),
    };
    Row {
        name: shown_line(&skill.name),
        at: address(&skill.name),
        about: says.and_then(|says| says.description()).map(shown_line).unwrap_or_default(),
        is_foreign: skill.status != SkillStatus::Ready || says.is_some_and(|says| says.trust().is_foreign()),
        source: skill.source_name(),
        status,
        look,
        // The status says as much of one that waits.
        why: skill.reason.as_deref().filter(|_| skill.status != SkillStatus::Awaiting).map(shown_line),
    }
}

fn file(file: &ReviewFile) -> File {
    let mut about = vec![format!("{} bytes", thousands(file.bytes))];
    about.extend(file.runs.then(|| "executable".to_owned()));
    about.extend(match (&file.text, file.is_text) {
        (None, _) => Some(format!("binary, SHA-256 {}", file.hash)),
        (Some(_), false) => Some("no text; what cannot be shown is written out".to_owned()),
        (Some(_), true) => None,
    });
    File {
        path: shown_line(&file.path),
        about: about.join(", "),
        text: file.text.as_deref().map(|text| shown(text).into_owned()),
    }
}

fn event(page: &Page, event: &SkillEvent) -> Event {
    let hash = event.after.as_ref().and_then(|version| version.hash.get(..12)).unwrap_or_default();
    Event {
        what: event.kind.as_str(),
        by: shown_line(&event.source),
        hash: hash.to_owned(),
        at: page.moment(event.at_ms),
    }
}

/// A name as it stands in an address.
fn address(name: &str) -> String {
    let letter = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    name.bytes().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_part_of_an_address() {
        assert_eq!(address("a-b_C1"), "a-b_C1");
        assert_eq!(address("../ä?#"), "%2E%2E%2F%C3%A4%3F%23");
    }
}
