//! Forms that MCP servers put to the owner in the middle of a call. Fields are named by their place: no name, no markup and no link of
//! the server's is in the page but as text.

mod values;

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use axum::{Form as Sent, Json, Router, routing};
use jiff::tz::TimeZone;
use limpid_core::ConversationId;
use limpid_prompt::shown::{shown, shown_line};
use limpid_runtime::form::{Choice, Field, FieldKind, Form, FormAnswer, Given, TextForm, Wanted};
use serde_json::json;

use self::values::{local, read, wanted};
use super::parts::note;
use super::state::Page;
use super::trouble::Trouble;
use crate::questions::FormEnd;

/// Characters of a proposed text that fit into a field on a phone; a longer one is shown whole above it.
const FITS: usize = 30;

/// A text that may have more characters than this gets several lines.
const LINE: usize = 100;

/// What is said when nobody waits for an answer.
const OVER: &str = "The server does not wait for this answer any more. Nothing was sent.";

/// A form as it is shown.
#[derive(Template)]
#[template(path = "parts/server_form.html")]
struct Card {
    number: u64,
    from: String,
    text: String,
    fields: Vec<FieldView>,
    /// The address and its host, where the owner is to visit one.
    visit: Option<(String, String)>,
}

struct FieldView {
    at: usize,
    title: String,
    description: String,
    control: Control,
    /// The proposed text, where the field may be too small for it.
    proposed: Option<String>,
    /// What is wanted, in words of ours.
    hint: String,
    required: bool,
}

enum Control {
    /// An input of this type, with a value and the least and most that it takes.
    Line {
        kind: &'static str,
        value: String,
        least: String,
        most: String,
    },
    /// A text of several lines.
    Text {
        value: String,
    },
    /// Choices with whether each is chosen; one of them, or several.
    Choices {
        choices: Vec<(String, bool)>,
        many: bool,
    },
    YesNo(Option<bool>),
}

pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new().route("/c/{id}/form", routing::post(answer))
}

/// A form that waits, by the number with which it is answered.
pub(super) fn card(form: &Form, number: u64, zone: &TimeZone) -> String {
    let (fields, visit) = match &form.wants {
        Wanted::Fields(fields) => {
            (fields.iter().enumerate().map(|(at, field)| FieldView::new(at, field, zone)).collect(), None)
        }
        Wanted::Visit { url, host } => (Vec::new(), Some((shown_line(url), shown_line(host)))),
    };
    let card = Card { number, from: shown_line(&form.from), text: shown(&form.text).into_owned(), fields, visit };
    // Writing to memory does not fail.
    card.render().unwrap_or_default()
}

/// What came of a form.
pub(super) fn ended(from: &str, end: FormEnd) -> String {
    let from = shown_line(from);
    note(&match end {
        FormEnd::Open => format!("The MCP server {from} stopped waiting for your answer. Nothing was sent."),
        FormEnd::Sent => format!("Your answer was sent to the MCP server {from}."),
        FormEnd::Refused => format!("You refused to answer the MCP server {from}."),
    })
}

/// `POST /c/{id}/form`: `form` is the number, `does` is `send` or `refuse`, `f0`, `f1`, … are the values. What is not accepted comes back
/// by the places of the fields, and the form waits on.
async fn answer(
    State(page): State<Arc<Page>>,
    Path(id): Path<String>,
    Sent(sent): Sent<Vec<(String, String)>>,
) -> Result<Response, Trouble> {
    let all = |name: &str| -> Vec<&str> {
        sent.iter().filter(|(known, _)| known == name).map(|(_, value)| value.as_str()).collect()
    };
    let number = all("form").first().and_then(|number| number.parse().ok());
    let number: u64 = number.ok_or_else(|| Trouble::invalid("The number of the form is missing."))?;
    let talk = page.talks.of(&ConversationId::new(id));
    let asked = talk.form(number).ok_or_else(|| Trouble::invalid(OVER))?;
    let answer = match (all("does").as_slice(), &asked.form().wants) {
        (["refuse"], _) => FormAnswer::No,
        (["send"], Wanted::Visit { .. }) => FormAnswer::Given(Vec::new()),
        (["send"], Wanted::Fields(fields)) => match filled(fields, &page.agent.zone(), |at| all(&format!("f{at}"))) {
            Ok(values) => FormAnswer::Given(values),
            Err(wrong) => return Ok(Json(json!({ "wrong": wrong })).into_response()),
        },
        _ => return Err(Trouble::invalid("A form is answered with send or refuse.")),
    };
    match talk.answer_form(number, answer) {
        true => Ok(Json(json!({})).into_response()),
        false => Err(Trouble::invalid(OVER)),
    }
}

/// What is wrong with a field, by its place.
type Wrong = (usize, String);

/// The values of a form, or what is wrong with fields.
fn filled<'a>(
    fields: &[Field],
    zone: &TimeZone,
    sent: impl Fn(usize) -> Vec<&'a str>,
) -> Result<Vec<(String, Given)>, Vec<Wrong>> {
    let (mut values, mut wrong) = (Vec::new(), Vec::new());
    for (at, field) in fields.iter().enumerate() {
        match read(field, &sent(at), zone) {
            Ok(value) => values.extend(value.map(|value| (field.name.clone(), value))),
            Err(why) => wrong.push((at, why)),
        }
    }
    if wrong.is_empty() { Ok(values) } else { Err(wrong) }
}

impl Card {
    /// What a field is called in the page: no other form has one of that name.
    fn id(&self, field: &FieldView) -> String {
        format!("f{}-{}", self.number, field.at)
    }

    /// Whether nothing is chosen yet.
    fn is_open(&self, choices: &[(String, bool)]) -> bool {
        choices.iter().all(|(_, is_chosen)| !is_chosen)
    }
}

impl FieldView {
    fn new(at: usize, field: &Field, zone: &TimeZone) -> Self {
        let control = Control::new(field, zone);
        let proposed = match (&control, &field.default) {
            (Control::Line { .. } | Control::Text { .. }, Some(Given::Text(text))) => Some(shown_line(text)),
            _ => None,
        };
        let name = field.title.as_deref().filter(|title| !title.trim().is_empty()).unwrap_or(&field.name);
        Self {
            at,
            title: shown_line(name),
            description: shown(&field.description).into_owned(),
            control,
            proposed: proposed.filter(|text| text.chars().count() > FITS),
            hint: wanted(&field.kind, zone),
            required: field.required,
        }
    }
}

impl Control {
    fn new(field: &Field, zone: &TimeZone) -> Self {
        let value = field.default.as_ref().map(ToString::to_string).unwrap_or_default();
        let limit = |limit: Option<String>| limit.unwrap_or_default();
        let line = |kind, value| Self::Line { kind, value, least: String::new(), most: String::new() };
        let choices = |choices: &[Choice], many| {
            let is_chosen = |value: &String| match &field.default {
                Some(Given::Text(chosen)) => chosen == value,
                Some(Given::Many(chosen)) => chosen.contains(value),
                _ => false,
            };
            let choice = |choice: &Choice| (shown_line(&choice.title), is_chosen(&choice.value));
            Self::Choices { choices: choices.iter().map(choice).collect(), many }
        };
        match &field.kind {
            FieldKind::Text(_, Some(most), None) if *most > LINE => Self::Text { value },
            FieldKind::Text(_, _, form) => match form {
                None => line("text", value),
                Some(TextForm::Email) => line("email", value),
                Some(TextForm::Uri) => line("url", value),
                Some(TextForm::Date) => line("date", value),
                Some(TextForm::DateTime) => line("datetime-local", local(&value, zone)),
            },
            FieldKind::Whole(least, most) => Self::Line {
                kind: "number",
                value,
                least: limit(least.map(|least| least.to_string())),
                most: limit(most.map(|most| most.to_string())),
            },
            FieldKind::Number(least, most) => Self::Line {
                kind: "number",
                value,
                least: limit(least.map(|least| least.to_string())),
                most: limit(most.map(|most| most.to_string())),
            },
            FieldKind::YesNo => Self::YesNo(match field.default {
                Some(Given::YesNo(yes)) => Some(yes),
                _ => None,
            }),
            FieldKind::One(all) => choices(all, false),
            FieldKind::Many(all, ..) => choices(all, true),
        }
    }
}

#[cfg(test)]
mod tests;
