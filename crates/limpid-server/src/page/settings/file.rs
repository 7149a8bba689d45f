//! What `limpid.toml` says, setting by setting, and how it is changed. The settings are the list from which their reference is made.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Form, Json, Router};
use limpid_config::{Config, Setting, SettingKind};
use limpid_prompt::shown::{shown, shown_line};
use limpid_runtime::ConversationChoice;
use limpid_runtime::profiles::{PromptFileText, Reader};
use limpid_runtime::settings::needs_restart;
use limpid_runtime::settings_file::SettingsText;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::state::Page;
use super::super::trouble::Trouble;

/// Which sections stand together, under which name. Whatever is in none is in the last.
const GROUPS: [(&str, &str, &[&str]); 8] = [
    ("general", "General", &["", "agent", "owner", "chat", "trust", "modes", "prompt", "prompts"]),
    ("heartbeat", "Heartbeat and tasks", &["heartbeat", "scheduling"]),
    ("memory", "Memory", &["memory"]),
    ("models", "Models", &["path", "provider", "catalogue", "local", "window"]),
    ("tools", "Tools", &["tools", "agents", "exec", "files", "policy", "search", "web", "location", "mcp"]),
    ("limits", "Limits", &["limits", "ledger"]),
    ("inbox", "Inbox and notices", &["inbox", "mail", "notify"]),
    ("more", "This page and more", &[]),
];

/// Settings whose value is the name of a model.
const MODELS: [&str; 2] = ["model", "heartbeat.model"];

/// Settings that stand together.
pub(super) struct Group {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) rows: Vec<Row>,
}

/// A setting as the screen shows it.
#[derive(Template)]
#[template(path = "parts/setting.html")]
pub(super) struct Row {
    id: String,
    key: String,
    label: String,
    what: String,
    control: Control,
    /// The value as one types it: the file's or the default.
    words: String,
    /// Where it comes from.
    from: String,
    is_set: bool,
    /// What it is when nothing is said.
    default: String,
    waits: bool,
    by_hand: Option<String>,
    /// Why it may not do what one expects of it.
    note: Option<String>,
}

/// What a setting is changed with.
enum Control {
    Switch(bool),
    /// The words, and whether none of them is a choice.
    Choice(Vec<String>, bool),
    Whole(String, String),
    Number,
    Text(bool),
    Long,
    List,
    Tables(String),
}

/// The names of what there is in this home, for settings whose value is one of them.
struct Known {
    profiles: Vec<String>,
    modes: Vec<String>,
    /// The file of the owner's that says who the agent is, in the place of the shipped text, which says the name that is set.
    own_soul: Option<String>,
}

impl Known {
    async fn of(page: &Page) -> Self {
        let files = page.agent.prompt_files().list(&page.agent.config().agent.profile).unwrap_or_default();
        let soul = files.into_iter().find(|(file, _)| file.identity() == Some("soul"));
        let own_soul =
            soul.filter(|(_, said)| said.as_ref().is_ok_and(PromptFileText::is_own)).map(|(file, _)| file.path);
        Self { profiles: named(page, "/profile ").await, modes: modes(page), own_soul }
    }

    fn of_key(&self, key: &str) -> Option<&[String]> {
        match key {
            "agent.profile" => Some(&self.profiles),
            "agent.mode" | "scheduling.mode" => Some(&self.modes),
            _ => None,
        }
    }
}

/// The modes of the usual profile. Behind `/mode` stand other words too.
fn modes(page: &Page) -> Vec<String> {
    page.agent.modes().all(&page.agent.config().agent.profile).unwrap_or_default()
}

/// What can be chosen behind a command.
async fn named(page: &Page, command: &str) -> Vec<String> {
    page.agent.complete(&ConversationChoice::New, command).await.into_iter().map(|known| known.word).collect()
}

/// What somebody set.
#[derive(Deserialize)]
struct Change {
    key: String,
    /// None: what it is when nothing is said.
    words: Option<String>,
}

/// Its routes.
pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new().route("/settings/value", post(change)).route("/settings/undo", post(undo))
}

/// `POST /settings/value`
async fn change(State(page): State<Arc<Page>>, Form(Change { key, words }): Form<Change>) -> Result<Response, Trouble> {
    check(&page, &key, words.as_deref().unwrap_or_default()).await?;
    page.agent.settings_file().set(&key, words.as_deref())?;
    row_now(&page, &key).await
}

/// Looks up what a setting names as a turn would: after a wrong name no screen could show a prompt, nor this one.
async fn check(page: &Page, key: &str, words: &str) -> Result<(), Trouble> {
    for name in words.lines().map(str::trim).filter(|name| !name.is_empty()) {
        match key {
            "agent.profile" => {
                let found = page.agent.profiles().profile(name, Reader::Owner);
                found.map_err(|why| Trouble::invalid(why.to_string()))?;
            }
            "model" | "fallback" | "heartbeat.model" => {
                let found = page.agent.models().open(name);
                found.map_err(|why| Trouble::invalid(why.to_string()))?;
            }
            "agent.mode" | "scheduling.mode" => {
                let known = modes(page);
                if !known.iter().any(|known| known == name) {
                    let why = format!("There is no mode “{name}”. The modes are {}.", known.join(", "));
                    return Err(Trouble::invalid(why));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// `POST /settings/undo`: takes the last change back that was made here.
async fn undo(State(page): State<Arc<Page>>) -> Result<Response, Trouble> {
    let key = page.agent.settings_file().undo()?;
    row_now(&page, &key).await
}

/// Every setting with what it is now.
pub(super) async fn groups(page: &Page) -> Result<Vec<Group>, Trouble> {
    let known = Known::of(page).await;
    let file = page.agent.settings_file();
    let said = file.read()?;
    let name = file.name();
    let mut groups: Vec<Group> = GROUPS.iter().map(|(id, title, _)| Group { id, title, rows: Vec::new() }).collect();
    for setting in Config::settings() {
        let at = GROUPS.iter().position(|(.., sections)| sections.contains(&setting.section()));
        if let Some(group) = groups.get_mut(at.unwrap_or(GROUPS.len() - 1)) {
            let mut row = Row::new(setting, &known, &said, &name);
            row.note = row.note(page, &known).await;
            group.rows.push(row);
        }
    }
    Ok(groups)
}

/// The models that a setting may name.
pub(super) async fn models(page: &Page) -> Vec<String> {
    named(page, "/model ").await
}

/// A setting as it is now, for a screen that is open.
async fn row_now(page: &Page, key: &str) -> Result<Response, Trouble> {
    let known = Known::of(page).await;
    let file = page.agent.settings_file();
    let setting = Config::settings().into_iter().find(|setting| setting.key == key);
    let setting = setting.ok_or_else(|| Trouble::invalid("There is no such setting."))?;
    let mut row = Row::new(setting, &known, &file.read()?, &file.name());
    row.note = row.note(page, &known).await;
    let (waits, id) = (row.waits, row.id.clone());
    let html = row.render()?;
    Ok(Json(json!({ "key": key, "id": id, "html": html, "waits": waits, "undo": file.undoable() })).into_response())
}

impl Row {
    fn new(setting: Setting, known: &Known, file: &SettingsText, name: &str) -> Self {
        let said = file.said(&setting);
        let default = setting.default.as_ref().map(in_words).unwrap_or_default();
        let words = said.as_ref().map_or_else(|| default.clone(), |said| shown(&said.words).into_owned());
        let label = label_of(&setting.key);
        Self {
            id: format!("s-{}", setting.key.replace('.', "-")),
            what: setting.what.replace('`', ""),
            control: Control::new(&setting, known, &words),
            from: said.as_ref().map_or_else(|| "default".to_owned(), |said| format!("{name}:{}", said.line)),
            is_set: said.is_some(),
            waits: needs_restart(setting.section()),
            by_hand: setting.by_hand,
            key: setting.key,
            label,
            words,
            default,
            note: None,
        }
    }

    /// Why it may not do what one expects of it.
    async fn note(&self, page: &Page, known: &Known) -> Option<String> {
        match self.key.as_str() {
            "agent.name" => {
                let own = known.own_soul.as_ref()?;
                Some(format!("Your {own} is your own text, so the name in it stays as you wrote it there."))
            }
            "model" | "heartbeat.model" if !self.words.is_empty() => {
                let others = limpid_runtime::models::others_than(page.agent.models(), &self.words).await?;
                let some = others.iter().take(5).map(|name| shown_line(name)).collect::<Vec<_>>().join(", ");
                let more = if others.len() > 5 { ", and more" } else { "" };
                Some(format!("The server does not list this model. It lists {some}{more}."))
            }
            _ => None,
        }
    }

    fn has_models(&self) -> bool {
        MODELS.contains(&self.key.as_str())
    }
}

impl Control {
    fn new(setting: &Setting, known: &Known, words: &str) -> Self {
        if let Some(known) = known.of_key(&setting.key) {
            // What the file says is shown, also where there is no such one.
            let other = [words.to_owned()].into_iter().filter(|word| !word.is_empty() && !known.contains(word));
            return Self::Choice(known.iter().cloned().chain(other).collect(), setting.default.is_none());
        }
        let bound = |bound: &Option<u64>| bound.map(|bound| bound.to_string()).unwrap_or_default();
        match &setting.kind {
            SettingKind::Switch if setting.default.is_some() => Self::Switch(words == "true"),
            SettingKind::Switch => Self::Choice(vec!["true".to_owned(), "false".to_owned()], true),
            SettingKind::Word(choices) => Self::Choice(choices.clone(), setting.default.is_none()),
            SettingKind::Whole(least, most) => Self::Whole(bound(least), bound(most)),
            SettingKind::Number => Self::Number,
            SettingKind::Text { is_long: true } => Self::Long,
            SettingKind::Text { is_long: false } => Self::Text(words.contains('\n')),
            SettingKind::List => Self::List,
            SettingKind::Tables(settings) => {
                let own = settings.iter().map(|own| own.key.strip_prefix(&setting.key).unwrap_or(&own.key));
                let own: Vec<&str> = own.map(|key| key.trim_start_matches(".NAME").trim_start_matches('.')).collect();
                Self::Tables(own.join(", "))
            }
        }
    }
}

/// A default as one types it.
fn in_words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(in_words).collect::<Vec<_>>().join("\n"),
        Value::Object(_) => String::new(),
        other => other.to_string(),
    }
}

/// `limits.tool_seconds` as `Tool seconds`; a key of one word has its section with it, since there are others of that word.
fn label_of(key: &str) -> String {
    let (section, last) = key.rsplit_once('.').unwrap_or(("", key));
    let words = match last.contains('_') || section.is_empty() {
        true => last.to_owned(),
        false => format!("{section} {last}").replace('.', " "),
    };
    let words = words.replace('_', " ");
    let mut letters = words.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}", letters.as_str())
}
