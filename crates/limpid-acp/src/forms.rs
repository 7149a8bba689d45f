//! Forms of outside servers, put through the editor. It knows questions with options only, so a form is one of them where it can
//! be: a choice, a yes or no, an address to visit, or values that are all there already. What has to be typed is for the terminal.

use agent_client_protocol::v1::schema::{PermissionOption, PermissionOptionKind};
use limpid_prompt::shown::{Drawn, shown_line};
use limpid_runtime::form::{Field, FieldKind, Form, FormAnswer, Given, Wanted};
use limpid_runtime::question::{field_frame, form_frame};
use tokio_util::sync::CancellationToken;

use crate::permission::{WIDTH, choose};
use crate::session::Session;
use crate::texts::option;

/// Choices that are options; more of them are too many to read.
const OPTIONS: usize = 20;

/// Puts a form and waits for its answer.
pub(crate) async fn ask_form(session: &Session, form: &Form, stop: &CancellationToken) -> FormAnswer {
    let answers = answers(form);
    if answers.is_empty() {
        let from = shown_line(&form.from);
        session.notice(&format!(
            "The MCP server {from} wants values to be typed, for which an editor has no place: it was told no. In `limpid chat` you \
             can type them."
        ));
        return FormAnswer::No;
    }
    let mut pages = vec![form_frame(form, WIDTH)];
    if let Wanted::Fields(fields) = &form.wants {
        pages.extend((1..).zip(fields).map(|(number, field)| field_frame(field, (number, fields.len()), WIDTH)));
    }
    let mut options: Vec<PermissionOption> = (1..)
        .zip(&answers)
        .map(|(number, (name, _))| option(&format!("{number}"), Drawn::line(name), PermissionOptionKind::AllowOnce))
        .collect();
    options.push(option("no", Drawn::line("Decline"), PermissionOptionKind::RejectOnce));
    let title = format!("The MCP server {} wants you to say something", form.from);
    let chosen = choose(session, (&format!("form {}", form.from), &title), &pages, options, stop).await;
    match chosen.as_deref() {
        None => FormAnswer::Left,
        Some(chosen) => {
            let at = chosen.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            at.and_then(|at| answers.into_iter().nth(at)).map_or(FormAnswer::No, |(_, answer)| answer)
        }
    }
}

/// The answers that are options, with their names; none where something has to be typed.
fn answers(form: &Form) -> Vec<(String, FormAnswer)> {
    if let Wanted::Fields(fields) = &form.wants
        && let [field] = &fields[..]
    {
        let given = |given| FormAnswer::Given(vec![(field.name.clone(), given)]);
        match field {
            Field { kind: FieldKind::YesNo, .. } => {
                return [("Yes", true), ("It is a no", false)]
                    .map(|(name, yes)| (name.to_owned(), given(Given::YesNo(yes))))
                    .into();
            }
            Field { kind: FieldKind::One(choices), .. } if choices.len() <= OPTIONS => {
                let answer = |value: &String| given(Given::Text(value.clone()));
                // By its number in the text above, where it stands behind the margin: what a server calls a choice may look like one
                // of our own.
                let numbered = (1..).zip(choices);
                return numbered.map(|(number, choice)| (format!("Answer {number}"), answer(&choice.value))).collect();
            }
            _ => {}
        }
    }
    let name = match form.wants {
        Wanted::Visit { .. } => "Yes, I open it myself",
        Wanted::Fields(_) => "Send the values shown",
    };
    form.by_default().map(|answer| (name.to_owned(), answer)).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use limpid_runtime::form::Choice;

    use super::*;

    fn form(fields: Vec<(FieldKind, Option<Given>)>) -> Form {
        let field = |(kind, default)| Field {
            name: "f".to_owned(),
            title: None,
            description: String::new(),
            kind,
            default,
            required: true,
        };
        let wants = Wanted::Fields(fields.into_iter().map(field).collect());
        Form { from: "desk".to_owned(), text: String::new(), wants }
    }

    // SUR-034
    #[test]
    fn a_form_is_a_question_with_options_where_nothing_has_to_be_typed() {
        let names = |form: &Form| -> Vec<String> { answers(form).into_iter().map(|(name, _)| name).collect() };
        let choice = |title: &str| Choice { value: title.to_lowercase(), title: title.to_owned() };
        let one = form(vec![(FieldKind::One(vec![choice("Red"), choice("Blue")]), None)]);
        assert_eq!(names(&one), ["Answer 1", "Answer 2"]);
        let blue = FormAnswer::Given(vec![("f".to_owned(), Given::Text("blue".to_owned()))]);
        assert_eq!(answers(&one)[1].1, blue);
        assert_eq!(names(&form(vec![(FieldKind::YesNo, None)])), ["Yes", "It is a no"]);
        let whole = || (FieldKind::Whole(None, None), Some(Given::Whole(5)));
        assert_eq!(names(&form(vec![whole(), whole()])), ["Send the values shown"]);
        assert_eq!(names(&form(vec![whole(), (FieldKind::Text(0, None, None), None)])), [""; 0]);
        let visit = Wanted::Visit { url: "https://a.example/".to_owned(), host: "a.example".to_owned() };
        assert_eq!(names(&Form { wants: visit, ..one }), ["Yes, I open it myself"]);
    }
}
