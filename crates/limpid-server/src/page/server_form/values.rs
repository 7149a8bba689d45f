//! What a browser sends for the fields of a form, as values of their kinds, and in words what is wanted.

use std::fmt::Display;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use limpid_runtime::form::{Choice, Field, FieldKind, Given, TextForm};

use crate::page::forms::typed;

/// A day and a time as browsers write it.
const LOCAL: &str = "%Y-%m-%dT%H:%M:%S";

/// What was sent for a field; nothing where it is left out.
///
/// # Errors
/// A sentence for the owner: what is wanted instead.
pub(super) fn read(field: &Field, sent: &[&str], zone: &TimeZone) -> Result<Option<Given>, String> {
    let sent: Vec<&str> = sent.iter().map(|value| value.trim()).filter(|value| !value.is_empty()).collect();
    if sent.is_empty() {
        // No choice at all may be what somebody chose who was shown a proposal; where it has to be said it is said.
        let none = Given::Many(Vec::new());
        return match field.required {
            false => Ok(None),
            true if field.kind.holds(&none) => Ok(Some(none)),
            true => Err("This has to be filled in.".to_owned()),
        };
    }
    let given = value(field, &sent, zone).filter(|given| field.kind.holds(given));
    given.map(Some).ok_or_else(|| format!("This does not fit. {}", wanted(&field.kind, zone)))
}

fn value(field: &Field, sent: &[&str], zone: &TimeZone) -> Option<Given> {
    let chosen = |choices: &[Choice], at: &str| Some(choices.get(at.parse::<usize>().ok()?)?.value.clone());
    if let FieldKind::Many(choices, ..) = &field.kind {
        let mut values: Vec<String> = Vec::new();
        for at in sent {
            let value = chosen(choices, at)?;
            if !values.contains(&value) {
                values.push(value);
            }
        }
        return Some(Given::Many(values));
    }
    let [sent] = sent else { return None };
    match &field.kind {
        FieldKind::Text(_, _, Some(TextForm::DateTime)) => {
            let at: DateTime = sent.parse().ok()?;
            let proposed = field.default.as_ref().map(ToString::to_string);
            // What was proposed goes back as it came, although a browser shows it in the owner's zone and without parts of a second.
            match proposed
                .filter(|proposed| local(proposed, zone).parse().is_ok_and(|proposed: DateTime| proposed == at))
            {
                Some(proposed) => Some(Given::Text(proposed)),
                None => Some(Given::Text(at.to_zoned(zone.clone()).ok()?.timestamp().to_string())),
            }
        }
        FieldKind::Text(..) => Some(Given::Text(typed(sent))),
        FieldKind::Whole(..) => sent.parse().ok().map(Given::Whole),
        FieldKind::Number(..) => sent.parse().ok().map(Given::Number),
        FieldKind::YesNo => match *sent {
            "yes" => Some(Given::YesNo(true)),
            "no" => Some(Given::YesNo(false)),
            _ => None,
        },
        FieldKind::One(choices) => chosen(choices, sent).map(Given::Text),
        FieldKind::Many(..) => None,
    }
}

/// A moment as a browser shows it, in the owner's zone; empty where it is none.
pub(super) fn local(moment: &str, zone: &TimeZone) -> String {
    let moment: Option<Timestamp> = moment.parse().ok();
    moment.map(|moment| moment.to_zoned(zone.clone()).strftime(LOCAL).to_string()).unwrap_or_default()
}

/// What a field wants, as a sentence.
pub(super) fn wanted(kind: &FieldKind, zone: &TimeZone) -> String {
    match kind {
        FieldKind::Text(least, most, form) => {
            let what = match form {
                None => "Text".to_owned(),
                Some(TextForm::Email) => "A mail address".to_owned(),
                Some(TextForm::Uri) => "An address such as https://example.com".to_owned(),
                Some(TextForm::Date) => "A day such as 2026-07-28".to_owned(),
                Some(TextForm::DateTime) => match zone.iana_name() {
                    Some(name) => format!("A day and a time ({name})"),
                    None => "A day and a time".to_owned(),
                },
            };
            let limits = limits(Some(least).filter(|least| **least > 0), most.as_ref());
            if limits.is_empty() { format!("{what}.") } else { format!("{what}{limits} characters.") }
        }
        FieldKind::Whole(least, most) => format!("A whole number{}.", limits(least.as_ref(), most.as_ref())),
        FieldKind::Number(least, most) => format!("A number{}.", limits(least.as_ref(), most.as_ref())),
        FieldKind::YesNo => "Yes or no.".to_owned(),
        FieldKind::One(choices) => format!("One of {}.", choices.len()),
        FieldKind::Many(choices, least, most) => {
            let limits = limits(Some(least).filter(|least| **least > 0), most.as_ref());
            format!("Any of {}{limits}.", choices.len())
        }
    }
}

fn limits<T: Display>(least: Option<&T>, most: Option<&T>) -> String {
    match (least, most) {
        (None, None) => String::new(),
        (Some(least), None) => format!(", at least {least}"),
        (None, Some(most)) => format!(", at most {most}"),
        (Some(least), Some(most)) => format!(", {least} to {most}"),
    }
}
