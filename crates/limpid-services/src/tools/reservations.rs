//! Rights to send that the model reserves while it has read nothing foreign: the whole call, and how often. What a stranger
//! writes later can change no part of one.

use limpid_core::policy::{Effect, names_whole};
use limpid_core::{Sentence, sentence};
use limpid_tools::{Tool, check_arguments, echoed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Calls that one reservation covers at most.
const MOST_TIMES: u32 = 20;

/// Stands for a result that is not there yet while a reservation is checked.
const LATER: &str = "(the result of a later call)";

/// A call that may run later without a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reservation {
    /// The tool that sends.
    pub tool: String,
    /// All arguments of the call.
    pub arguments: Map<String, Value>,
    /// How often it may run; once when it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// The argument that is the whole result of a later call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "LaterResult")]
    pub result: Option<LaterResult>,
}

/// An argument that is the whole result of a later call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LaterResult {
    /// The argument.
    pub argument: String,
    /// The tool that is called later.
    pub tool: String,
    /// All arguments of that call.
    pub arguments: Map<String, Value>,
}

impl Reservation {
    /// The arguments of the call, with this text where a result belongs.
    fn filled(&self, result: &str) -> Value {
        let mut arguments = self.arguments.clone();
        if let Some(later) = &self.result {
            arguments.insert(later.argument.clone(), Value::from(result));
        }
        Value::Object(arguments)
    }

    /// Says what keeps this from being reserved. `typed` are the messages that the owner typed in the conversation; `tool`
    /// finds a tool by its name; `is_fixed` says of a call that nothing the turn may do unasked changes its result.
    ///
    /// # Errors
    /// That sentence, for the model.
    pub(crate) fn check<'a>(
        &self,
        typed: &[String],
        tool: impl Fn(&str) -> Option<&'a dyn Tool>,
        is_fixed: impl Fn(&dyn Tool, &Value) -> bool,
    ) -> Result<(), Sentence> {
        let find = |name: &str| tool(name).ok_or_else(|| sentence!("there is no tool `{}`", echoed(name.to_owned())));
        let (sender, arguments) = (find(&self.tool)?, self.filled(LATER));
        if !sends(&sender.effect(&arguments)) {
            return Err(sentence!("`{}` sends nothing with these arguments, so nothing is reserved", sender.name()));
        }
        check_arguments(&sender.schema(), &arguments).map_err(|why| Sentence::from(echoed(why)))?;
        sender.check(&arguments)?;
        if !(1..=MOST_TIMES).contains(&self.times.unwrap_or(1)) {
            return Err(sentence!("`times` is a number from 1 to {}", MOST_TIMES));
        }
        let Some(to) = sender.destination(&arguments) else {
            return Err(sentence!("this call of `{}` does not say where it leads", sender.name()));
        };
        if let Some(unknown) = to.recipients().iter().find(|name| !typed.iter().any(|text| names_whole(text, name))) {
            return Err(sentence!("the person did not type `{}` in this conversation", echoed(unknown.clone())));
        }
        let Some(later) = &self.result else { return Ok(()) };
        if is_fixed(find(&later.tool)?, &Value::Object(later.arguments.clone())) {
            return Ok(());
        }
        Err(sentence!(
            "the result of this call of `{}` can change until then: only a page, a search or a file of the workspace can be \
             reserved whole",
            echoed(later.tool.clone())
        ))
    }
}

/// What is reserved in one turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reservations(Vec<Held>);

#[derive(Clone, Debug, PartialEq)]
struct Held {
    reservation: Reservation,
    left: u32,
}

impl Reservations {
    /// Adds some.
    pub fn add(&mut self, reservations: impl IntoIterator<Item = Reservation>) {
        let held =
            reservations.into_iter().map(|reservation| Held { left: reservation.times.unwrap_or(1), reservation });
        self.0.extend(held);
    }

    /// The place of the one that covers a call, if one does. `result` finds the whole result of a call that was made in this
    /// turn, by its tool and its arguments.
    pub fn covering(
        &self,
        tool: &str,
        arguments: &Value,
        result: impl Fn(&str, &Value) -> Option<String>,
    ) -> Option<usize> {
        self.0.iter().position(|Held { reservation, left }| {
            let whole = match &reservation.result {
                None => Some(String::new()),
                Some(later) => result(&later.tool, &Value::Object(later.arguments.clone())),
            };
            *left > 0 && reservation.tool == tool && whole.is_some_and(|whole| *arguments == reservation.filled(&whole))
        })
    }

    /// Takes one use of the right at a place.
    pub fn spend(&mut self, at: usize) {
        if let Some(held) = self.0.get_mut(at) {
            held.left = held.left.saturating_sub(1);
        }
    }

    /// How many there are, used up or not.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Whether something leaves for others.
fn sends(effect: &Effect) -> bool {
    matches!(effect, Effect::Send | Effect::Pay)
}

#[cfg(test)]
mod tests;
