//! What a stranger wants the owner to say in the middle of a call: fields with kinds, or an address to visit. The answer goes to
//! whoever asked and nowhere else.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use crate::TurnId;

/// A question of a stranger's. Every text in it but the name is theirs.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// The owner's name for whoever asks.
    pub from: String,
    /// What they say.
    pub text: String,
    /// What they want.
    pub wants: Wanted,
}

/// What a form wants of the owner.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// Values.
    Fields(Vec<Field>),
    /// That the owner opens an address. Nobody opens it for them.
    Visit {
        /// The address.
        url: String,
        /// The host in it.
        host: String,
    },
}

/// A value that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// What the answer calls it.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is.
    pub description: String,
    /// What it may be.
    pub kind: FieldKind,
    /// What it is when the owner says nothing.
    pub default: Option<Given>,
    /// Whether the answer has to have it.
    pub required: bool,
}

/// What a value may be.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldKind {
    /// A text of so many characters.
    Text(usize, Option<usize>, Option<TextForm>),
    /// A whole number between these.
    Whole(Option<i64>, Option<i64>),
    /// A number between these.
    Number(Option<f64>, Option<f64>),
    /// Yes or no.
    YesNo,
    /// One of these.
    One(Vec<Choice>),
    /// So many of these.
    Many(Vec<Choice>, usize, Option<usize>),
}

/// What a text has to look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextForm {
    /// `name@host`
    Email,
    /// `scheme:rest`
    Uri,
    /// `2026-07-28`
    Date,
    /// `2026-07-28T12:00:00Z`
    DateTime,
}

/// Something to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What the answer says.
    pub value: String,
    /// Its name for people.
    pub title: String,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// A text, or what was chosen.
    Text(String),
    /// A whole number.
    Whole(i64),
    /// A number.
    Number(f64),
    /// Yes or no.
    YesNo(bool),
    /// What was chosen.
    Many(Vec<String>),
}

/// The owner's answer to a form.
#[derive(Clone, Debug, PartialEq)]
pub enum FormAnswer {
    /// These values by the names of their fields; none for a visit that they agree to.
    Given(Vec<(String, Given)>),
    /// They said no, or nobody could be asked.
    No,
    /// They said neither.
    Left,
}

impl Form {
    /// The answer of whoever says yes and nothing else; none where a value has to be typed.
    pub fn by_default(&self) -> Option<FormAnswer> {
        let Wanted::Fields(fields) = &self.wants else { return Some(FormAnswer::Given(Vec::new())) };
        if fields.iter().any(|field| field.required && field.default.is_none()) {
            return None;
        }
        let given = fields.iter().filter_map(|field| Some((field.name.clone(), field.default.clone()?)));
        Some(FormAnswer::Given(given.collect()))
    }
}

impl Field {
    /// What a typed line means; nothing where the field is left out.
    ///
    /// # Errors
    /// A sentence for the owner: what is wanted instead.
    pub fn read(&self, line: &str) -> Result<Option<Given>, String> {
        let line = line.trim();
        if line.is_empty() {
            return match &self.default {
                Some(default) => Ok(Some(default.clone())),
                None if self.required => Err(format!("this has to be said: {}", self.kind)),
                None => Ok(None),
            };
        }
        let given = self.kind.parse(line).filter(|given| self.kind.holds(given));
        given.map(Some).ok_or_else(|| format!("that is not what is wanted: {}", self.kind))
    }
}

impl FieldKind {
    /// Whether a value is one of these.
    pub fn holds(&self, given: &Given) -> bool {
        let known = |choices: &[Choice], value: &String| choices.iter().any(|choice| choice.value == *value);
        match (self, given) {
            (Self::Text(least, most, form), Given::Text(text)) => {
                let length = text.chars().count();
                length >= *least && most.is_none_or(|most| length <= most) && form.is_none_or(|form| form.holds(text))
            }
            (Self::Whole(least, most), Given::Whole(number)) => {
                least.is_none_or(|least| *number >= least) && most.is_none_or(|most| *number <= most)
            }
            (Self::Number(least, most), Given::Number(number)) => {
                number.is_finite()
                    && least.is_none_or(|least| *number >= least)
                    && most.is_none_or(|most| *number <= most)
            }
            (Self::YesNo, Given::YesNo(_)) => true,
            (Self::One(choices), Given::Text(value)) => known(choices, value),
            (Self::Many(choices, least, most), Given::Many(values)) => {
                values.len() >= *least
                    && most.is_none_or(|most| values.len() <= most)
                    && values.iter().all(|value| known(choices, value))
            }
            _ => false,
        }
    }

    fn parse(&self, line: &str) -> Option<Given> {
        match self {
            Self::Text(..) => Some(Given::Text(line.to_owned())),
            Self::Whole(..) => line.parse().ok().map(Given::Whole),
            Self::Number(..) => line.parse().ok().map(Given::Number),
            Self::YesNo => match line.to_lowercase().as_str() {
                "y" | "yes" | "true" => Some(Given::YesNo(true)),
                "n" | "no" | "false" => Some(Given::YesNo(false)),
                _ => None,
            },
            Self::One(choices) => chosen(choices, line).map(Given::Text),
            Self::Many(choices, ..) => {
                let mut values = Vec::new();
                for word in line.split(',').map(str::trim).filter(|word| !word.is_empty()) {
                    let value = chosen(choices, word)?;
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
                Some(Given::Many(values))
            }
        }
    }
}

/// What a word chooses: by its value, its name or its number from 1.
fn chosen(choices: &[Choice], word: &str) -> Option<String> {
    let by_word = choices.iter().find(|choice| choice.value == word).or_else(|| {
        let mut named = choices.iter().filter(|choice| choice.title.eq_ignore_ascii_case(word));
        named.next().filter(|_| named.next().is_none())
    });
    let by_number = || choices.get(word.parse::<usize>().ok()?.checked_sub(1)?);
    by_word.or_else(by_number).map(|choice| choice.value.clone())
}

impl TextForm {
    fn holds(self, text: &str) -> bool {
        match self {
            Self::Email => text.split_once('@').is_some_and(|(name, host)| {
                !name.is_empty() && !host.is_empty() && !host.contains('@') && !text.contains(char::is_whitespace)
            }),
            Self::Uri => text.split_once(':').is_some_and(|(scheme, rest)| {
                scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                    && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
                    && !rest.is_empty()
                    && !text.contains(char::is_whitespace)
            }),
            Self::Date => text.parse::<jiff::civil::Date>().is_ok(),
            Self::DateTime => text.parse::<jiff::Timestamp>().is_ok(),
        }
    }
}

impl fmt::Display for FieldKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(least, most, form) => {
                f.write_str(match form {
                    None => "a text",
                    Some(TextForm::Email) => "a mail address",
                    Some(TextForm::Uri) => "an address such as https://example.com",
                    Some(TextForm::Date) => "a date such as 2026-07-28",
                    Some(TextForm::DateTime) => "a time such as 2026-07-28T12:00:00Z",
                })?;
                let least = (*least > 0).then_some(least);
                between(f, least, most.as_ref())?;
                if least.is_some() || most.is_some() { f.write_str(" characters") } else { Ok(()) }
            }
            Self::Whole(least, most) => {
                f.write_str("a whole number")?;
                between(f, least.as_ref(), most.as_ref())
            }
            Self::Number(least, most) => {
                f.write_str("a number")?;
                between(f, least.as_ref(), most.as_ref())
            }
            Self::YesNo => f.write_str("y or n"),
            Self::One(choices) => write!(f, "one of {} by its number", choices.len()),
            Self::Many(choices, least, most) => {
                write!(f, "some of {} by their numbers, with commas", choices.len())?;
                between(f, (*least > 0).then_some(least), most.as_ref())
            }
        }
    }
}

fn between<T: fmt::Display>(f: &mut fmt::Formatter<'_>, least: Option<&T>, most: Option<&T>) -> fmt::Result {
    match (least, most) {
        (None, None) => Ok(()),
        (Some(least), None) => write!(f, ", at least {least}"),
        (None, Some(most)) => write!(f, ", at most {most}"),
        (Some(least), Some(most)) => write!(f, ", {least} to {most}"),
    }
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::YesNo(yes) => f.write_str(if *yes { "yes" } else { "no" }),
            Self::Many(values) => f.write_str(&values.join(", ")),
        }
    }
}

/// An answer that comes.
pub type Asked = Pin<Box<dyn Future<Output = FormAnswer> + Send>>;

/// The way from a turn to whoever can answer a form.
#[derive(Clone)]
pub struct AskOwner {
    turn: TurnId,
    ask: Arc<dyn Fn(Form) -> Asked + Send + Sync>,
}

impl AskOwner {
    /// A way out of a turn. Where nobody can answer, `ask` says no.
    pub fn new(turn: TurnId, ask: impl Fn(Form) -> Asked + Send + Sync + 'static) -> Self {
        Self { turn, ask: Arc::new(ask) }
    }

    /// The turn.
    pub fn turn(&self) -> &TurnId {
        &self.turn
    }

    /// Puts a form. Dropping what comes back takes it away again.
    pub fn ask(&self, form: Form) -> Asked {
        (self.ask)(form)
    }
}

impl fmt::Debug for AskOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AskOwner").field("turn", &self.turn).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(kind: FieldKind, default: Option<Given>, required: bool) -> Field {
        Field { name: "f".to_owned(), title: None, description: String::new(), kind, default, required }
    }

    fn choices() -> Vec<Choice> {
        let choice = |(value, title): (&str, &str)| Choice { value: value.to_owned(), title: title.to_owned() };
        [("red", "Red"), ("7", "Seven"), ("b", "Blue")].map(choice).into()
    }

    // SUR-034
    #[test]
    fn a_typed_line_is_a_value_of_its_kind_or_none() {
        let text = |text: &str| Some(Given::Text(text.to_owned()));
        let many = |values: &[&str]| Some(Given::Many(values.iter().map(|value| (*value).to_owned()).collect()));
        let table = [
            (FieldKind::Text(2, Some(3), None), "日本", text("日本")),
            (FieldKind::Text(2, Some(3), None), "a", None),
            (FieldKind::Text(0, Some(3), None), "abcd", None),
            (FieldKind::Text(0, None, Some(TextForm::Email)), "a@b.example", text("a@b.example")),
            (FieldKind::Text(0, None, Some(TextForm::Email)), "a@", None),
            (FieldKind::Text(0, None, Some(TextForm::Uri)), "https://a.example/", text("https://a.example/")),
            (FieldKind::Text(0, None, Some(TextForm::Uri)), "a.example", None),
            (FieldKind::Text(0, None, Some(TextForm::Date)), "2026-02-29", None),
            (FieldKind::Text(0, None, Some(TextForm::Date)), "2026-02-28", text("2026-02-28")),
            (FieldKind::Text(0, None, Some(TextForm::DateTime)), "2026-02-28T10:00:00Z", text("2026-02-28T10:00:00Z")),
            (FieldKind::Text(0, None, Some(TextForm::DateTime)), "10:00", None),
            (FieldKind::Whole(Some(1), Some(9)), " 9 ", Some(Given::Whole(9))),
            (FieldKind::Whole(Some(1), Some(9)), "10", None),
            (FieldKind::Whole(None, None), "1.5", None),
            (FieldKind::Number(Some(0.0), None), "1.5", Some(Given::Number(1.5))),
            (FieldKind::Number(None, None), "inf", None),
            (FieldKind::Number(None, None), "NaN", None),
            (FieldKind::YesNo, "Yes", Some(Given::YesNo(true))),
            (FieldKind::YesNo, "maybe", None),
            (FieldKind::One(choices()), "red", text("red")),
            (FieldKind::One(choices()), "blue", text("b")),
            (FieldKind::One(choices()), "3", text("b")),
            (FieldKind::One(choices()), "7", text("7")),
            (FieldKind::One(choices()), "0", None),
            (FieldKind::One(choices()), "4", None),
            (FieldKind::Many(choices(), 1, Some(2)), "1, blue, 1", many(&["red", "b"])),
            (FieldKind::Many(choices(), 1, Some(2)), "1,2,3", None),
            (FieldKind::Many(choices(), 1, None), ",", None),
        ];
        for (kind, line, expected) in table {
            assert_eq!(field(kind.clone(), None, true).read(line).ok().flatten(), expected, "{kind:?} {line:?}");
        }
    }

    // SUR-034
    #[test]
    fn a_field_that_nothing_was_typed_for_has_its_default_or_is_left_out() {
        let kind = FieldKind::Whole(Some(1), None);
        assert_eq!(field(kind.clone(), Some(Given::Whole(5)), true).read(""), Ok(Some(Given::Whole(5))));
        assert_eq!(field(kind.clone(), None, false).read("  "), Ok(None));
        let why = field(kind.clone(), None, true).read("").unwrap_err();
        assert_eq!(why, "this has to be said: a whole number, at least 1");
        let form = |fields| Form { from: "s".to_owned(), text: String::new(), wants: Wanted::Fields(fields) };
        let given = FormAnswer::Given(vec![("f".to_owned(), Given::Whole(5))]);
        let fields = vec![field(kind.clone(), Some(Given::Whole(5)), true), field(FieldKind::YesNo, None, false)];
        assert_eq!(form(fields).by_default(), Some(given));
        assert_eq!(form(vec![field(kind, None, true)]).by_default(), None);
    }
}
