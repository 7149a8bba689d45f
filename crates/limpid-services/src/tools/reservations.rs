//! Rights that the model reserves while it has read nothing foreign: to send, with the whole call and how often, and to open
//! the links of a result that is not there yet. What a stranger writes later can change no part of a send, and chooses
//! nothing among links, since all of them are opened, by themselves, as soon as the result is there.

use std::collections::BTreeSet;

use limpid_core::policy::{Effect, names_whole};
use limpid_core::{CallId, Sentence, sentence};
use limpid_tools::{Tool, check_arguments, echoed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Calls that one reservation covers at most.
const MOST_TIMES: u32 = 20;

/// Stands for a result that is not there yet while a reservation is checked.
const LATER: &str = "(the result of a later call)";

/// Stands for a link in such a result.
const LINK: &str = "https://example.com/";

/// A call that may run later without a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reservation {
    /// The tool that sends or fetches.
    pub tool: String,
    /// All arguments of the call.
    pub arguments: Map<String, Value>,
    /// How often it may run; once when it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// The argument that is the whole result of a later call or, of a fetch, each link in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "LaterResult")]
    pub result: Option<LaterResult>,
}

/// An argument that comes out of the result of a later call.
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
    /// The arguments of the call, with this text where a result or a link belongs.
    pub fn filled(&self, result: &str) -> Value {
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
        let is_fixed = |later: &LaterResult| {
            if is_fixed(find(&later.tool)?, &Value::Object(later.arguments.clone())) {
                return Ok(());
            }
            Err(sentence!(
                "the result of this call of `{}` can change until then: only a page, a search, a message or a file of the workspace \
                 can be reserved",
                echoed(later.tool.clone())
            ))
        };
        let sender = find(&self.tool)?;
        if self.fetches(sender) {
            if typed.is_empty() {
                return Err("nobody has typed in this conversation, so no links are reserved".into());
            }
            return self.check_links(sender, is_fixed);
        }
        let arguments = self.filled(LATER);
        if !sends(&sender.effect(&arguments)) {
            return Err(sentence!(
                "`{}` sends nothing with these arguments, so nothing is reserved",
                echoed(sender.name().to_owned())
            ));
        }
        check_arguments(&sender.schema(), &arguments).map_err(|why| Sentence::from(echoed(why)))?;
        sender.check(&arguments)?;
        if !(1..=MOST_TIMES).contains(&self.times.unwrap_or(1)) {
            return Err(sentence!("`times` is a number from 1 to {}", MOST_TIMES));
        }
        let Some(to) = sender.destination(&arguments) else {
            return Err(sentence!("this call of `{}` does not say where it leads", echoed(sender.name().to_owned())));
        };
        if let Some(unknown) = to.recipients().iter().find(|name| !typed.iter().any(|text| names_whole(text, name))) {
            return Err(sentence!("the person did not type `{}` in this conversation", echoed(unknown.clone())));
        }
        self.result.as_ref().map_or(Ok(()), is_fixed)
    }

    /// Whether it opens links.
    pub(crate) fn fetches(&self, tool: &dyn Tool) -> bool {
        matches!(tool.effect(&self.filled(LINK)), Effect::Fetch(_))
    }

    /// The same for what opens links.
    fn check_links(
        &self,
        tool: &dyn Tool,
        is_fixed: impl Fn(&LaterResult) -> Result<(), Sentence>,
    ) -> Result<(), Sentence> {
        let Some(later) = &self.result else {
            return Err(sentence!(
                "`{}` fetches, and an address that is known is fetched now, before others' text is read; `result` reserves \
                 the links of a later result",
                echoed(tool.name().to_owned())
            ));
        };
        if self.times.is_some_and(|times| times != 1) {
            return Err("links are opened once, so `times` is left out".into());
        }
        let arguments = self.filled(LINK);
        check_arguments(&tool.schema(), &arguments).map_err(|why| Sentence::from(echoed(why)))?;
        tool.check(&arguments)?;
        is_fixed(later)
    }
}

/// What is reserved in one turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reservations {
    held: Vec<Held>,
    /// The calls that made them.
    made_by: BTreeSet<CallId>,
}

#[derive(Clone, Debug, PartialEq)]
struct Held {
    reservation: Reservation,
    left: u32,
}

impl Reservations {
    /// Adds some, and which call made them where that is known.
    pub fn add(&mut self, by: Option<CallId>, reservations: impl IntoIterator<Item = Reservation>) {
        let held =
            reservations.into_iter().map(|reservation| Held { left: reservation.times.unwrap_or(1), reservation });
        self.held.extend(held);
        self.made_by.extend(by);
    }

    /// Whether a call has made some already.
    pub fn were_made_by(&self, call: &CallId) -> bool {
        self.made_by.contains(call)
    }

    /// The place of the one that covers a call, if one does. `result` finds the whole result of a call that was made in this
    /// turn, by its tool and its arguments.
    pub fn covering(
        &self,
        tool: &str,
        arguments: &Value,
        result: impl Fn(&str, &Value) -> Option<String>,
    ) -> Option<usize> {
        self.held.iter().position(|Held { reservation, left }| {
            let whole = match &reservation.result {
                None => Some(String::new()),
                Some(later) => result(&later.tool, &Value::Object(later.arguments.clone())),
            };
            *left > 0 && reservation.tool == tool && whole.is_some_and(|whole| *arguments == reservation.filled(&whole))
        })
    }

    /// The right to open the links of the result of a call, with its place. `fetches` says of one whether it opens links.
    pub fn opened_with(
        &self,
        tool: &str,
        arguments: &Value,
        fetches: impl Fn(&Reservation) -> bool,
    ) -> Option<(usize, &Reservation)> {
        let is_of = |later: &LaterResult| later.tool == tool && *arguments == Value::Object(later.arguments.clone());
        let is_open = |held: &Held| {
            held.left > 0 && held.reservation.result.as_ref().is_some_and(is_of) && fetches(&held.reservation)
        };
        let at = self.held.iter().position(is_open)?;
        Some((at, &self.held[at].reservation))
    }

    /// Takes one use of the right at a place.
    pub fn spend(&mut self, at: usize) {
        if let Some(held) = self.held.get_mut(at) {
            held.left = held.left.saturating_sub(1);
        }
    }

    /// All of them, used up or not.
    pub fn iter(&self) -> impl Iterator<Item = &Reservation> {
        self.held.iter().map(|held| &held.reservation)
    }

    /// How many there are, used up or not.
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }
}

/// Whether something leaves for others.
fn sends(effect: &Effect) -> bool {
    matches!(effect, Effect::Send | Effect::Pay)
}

#[cfg(test)]
mod tests;
