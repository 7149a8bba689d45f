//! What a person fills in.

use crate::line::one_line;

/// Characters of a text that a person writes.
const TEXT: usize = 2_000;

/// Something to fill in.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// What it asks for; empty where its options say it.
    pub label: String,
    /// What it takes, and what stands in it.
    pub form: InputForm,
}

/// What an input takes, and what stands in it.
#[derive(Clone, Debug, PartialEq)]
pub enum InputForm {
    /// A line of text.
    Text(String),
    /// Yes or no, by a box.
    Checkbox(bool),
    /// Yes or no, by a switch.
    Switch(bool),
    /// One of several, from a list; the place of the one that is chosen.
    Select(Vec<Choice>, usize),
    /// One of several that are all seen.
    Radio(Vec<Choice>, Option<usize>),
    /// Any of several; for each whether it is chosen.
    Chips(Vec<(Choice, bool)>),
    /// A number: the least, the greatest, the step, the one that is set.
    Slider([f64; 4]),
}

/// What can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What the message says of it.
    pub value: String,
    /// What a person reads.
    pub label: String,
}

impl Input {
    /// What stands in it, in the words of the message.
    pub fn words(&self) -> String {
        let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
        let at = |options: &[Choice], at: usize| options.get(at).map(|option| option.value.clone()).unwrap_or_default();
        match &self.form {
            InputForm::Text(text) => text.clone(),
            InputForm::Checkbox(is) | InputForm::Switch(is) => yes(*is),
            InputForm::Select(options, chosen) => at(options, *chosen),
            InputForm::Radio(options, chosen) => chosen.map(|chosen| at(options, chosen)).unwrap_or_default(),
            InputForm::Chips(options) => {
                let chosen =
                    options.iter().filter(|(_, is_chosen)| *is_chosen).map(|(option, _)| option.value.as_str());
                chosen.collect::<Vec<_>>().join(", ")
            }
            InputForm::Slider([_, _, _, value]) => value.to_string(),
        }
    }

    /// Takes what a person has filled in. What does not fit changes nothing.
    pub fn fill(&mut self, given: &[String]) {
        let first = given.first().map(|text| one_line(text.trim()).into_owned());
        let first = first.as_deref();
        let is = |given: Option<&str>| match given {
            Some("yes" | "true" | "on") => Some(true),
            Some("no" | "false" | "off") | None => Some(false),
            Some(_) => None,
        };
        match &mut self.form {
            InputForm::Text(text) => *text = first.unwrap_or_default().chars().take(TEXT).collect(),
            InputForm::Checkbox(value) | InputForm::Switch(value) => *value = is(first).unwrap_or(*value),
            InputForm::Select(options, chosen) => *chosen = place(options, first).unwrap_or(*chosen),
            InputForm::Radio(options, chosen) => *chosen = place(options, first).or(*chosen),
            InputForm::Chips(options) => {
                let given = |option: &Choice| given.iter().any(|given| option.is(given));
                options.iter_mut().for_each(|(option, is_chosen)| *is_chosen = given(option));
            }
            InputForm::Slider([min, max, _, value]) => {
                let number = first.and_then(|text| text.parse::<f64>().ok()).filter(|number| number.is_finite());
                *value = number.unwrap_or(*value).clamp(*min, *max);
            }
        }
    }

    /// Takes what the words of a message say.
    pub(super) fn read(&mut self, words: &str) {
        match &mut self.form {
            // A value may hold a comma itself.
            InputForm::Chips(options) => {
                let within = format!(", {words}, ");
                for (option, is_chosen) in options {
                    let is_in = |text: &str| within.contains(&format!(", {text}, "));
                    *is_chosen = is_in(&option.value) || is_in(&option.label);
                }
            }
            _ => self.fill(&[words.to_owned()]),
        }
    }
}

impl Choice {
    fn is(&self, given: &str) -> bool {
        self.value == given || self.label == given
    }
}

fn place(options: &[Choice], given: Option<&str>) -> Option<usize> {
    let given = given?;
    options
        .iter()
        .position(|option| option.value == given)
        .or_else(|| options.iter().position(|option| option.is(given)))
}
