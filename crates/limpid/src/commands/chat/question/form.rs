//! A form of a stranger's, answered at a terminal: a yes or no to all of it, then a line for each field.

use std::time::Duration;

use limpid_runtime::form::{Field, FormAnswer, Given, Wanted};
use limpid_runtime::{FormQuestion, question};

use super::{read, read_after};
use crate::failure::Failure;
use crate::output;

/// What came of a line.
#[derive(Clone)]
enum Line {
    /// It is a value, or leaves the field out.
    Value(Option<Given>),
    /// There are no more lines.
    End,
}

/// Waits for the answer to a form that was shown, and gives it. Returns whether the turn goes on: the person may rather stop it.
///
/// # Errors
/// When the terminal cannot be read.
pub(in super::super) async fn answer(asked: &FormQuestion) -> Result<bool, Failure> {
    if !asked.is_open() {
        return Ok(true);
    }
    let Some(answer) = ask(asked).await? else {
        asked.answer(FormAnswer::Left);
        return Ok(false);
    };
    if !asked.answer(answer) {
        output::tell("It did not wait for your answer any more; nothing was sent.");
    }
    Ok(true)
}

/// The answer; none when the person would rather stop the turn.
async fn ask(asked: &FormQuestion) -> Result<Option<FormAnswer>, Failure> {
    let yes = |line: &str| match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Some(true),
        "n" | "no" => Some(false),
        _ => {
            output::tell("Answer y or n.");
            None
        }
    };
    match read("y or n", false, yes).await? {
        None => return Ok(None),
        Some(false) => return Ok(Some(FormAnswer::No)),
        Some(true) => {}
    }
    let fields: &[Field] = match &asked.form().wants {
        Wanted::Fields(fields) => fields,
        Wanted::Visit { .. } => &[],
    };
    let mut values = Vec::new();
    for (number, field) in (1..).zip(fields) {
        output::tell_as_laid_out(&question::field_frame(field, (number, fields.len()), output::width()));
        let known = field.clone();
        let meaning = move |line: &str| match known.read(line) {
            Ok(value) => Some(Line::Value(value)),
            Err(why) => {
                output::tell(&why);
                None
            }
        };
        match read_after(Duration::ZERO, "answer", Line::End, meaning).await? {
            None => return Ok(None),
            Some(Line::End) => return Ok(Some(FormAnswer::Left)),
            Some(Line::Value(value)) => values.extend(value.map(|value| (field.name.clone(), value))),
        }
    }
    Ok(Some(FormAnswer::Given(values)))
}
