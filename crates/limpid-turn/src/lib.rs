//! The turn machine: a value that takes events and returns effects.
//!
//! A turn begins when a person's message was accepted and ends with an answer, a failure or a cancel. [`Turn`] decides
//! what happens next and touches nothing: it has no clock, no I/O and no randomness. Whoever drives it carries out the
//! effects, writes each event into a journal before giving it to the machine, and brings a turn that a crash
//! interrupted back by replaying them ([`Turn::resume`]).
//!
//! ```
//! use limpid_core::{Labelled, Trust};
//! use limpid_turn::{Effect, Event, Reply, Turn, TurnStart};
//!
//! let (mut turn, effects) = Turn::start(TurnStart::default());
//! assert_eq!(effects, [Effect::CallModel { round: 1, tools: false }]);
//! let effects = turn.on(Event::Reply(Labelled::new(Reply::text("Hello!"), Trust::Owner)));
//! assert!(matches!(&effects[1], Effect::Deliver { text } if text == "Hello!"));
//! ```
//!
//! # Layout
//! - [`turn`]: the machine.
//! - [`event`]: what it is told.
//! - [`effect`]: what it asks for.
//! - [`arguments`]: the arguments of a call in the form that is shown, hashed and run.
//! - [`decision`]: the call that ends a turn which must decide.
//! - [`result`]: the text of a tool's result, with its limits.
//! - [`screen`]: an answer that has to be a screen and is none.
//! - [`window`]: what leaves a conversation that is longer than its window, and what stands for it.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "the files of a test are its own"))]

pub mod arguments;
mod call_limit;
pub mod decision;
pub mod effect;
pub mod event;
pub mod result;
pub mod screen;
pub mod turn;
pub mod window;

pub use effect::{Approval, Effect, HeldCall, Outcome, PlannedCall};
pub use event::{Event, Finish, Reply, ToolOutcome, Why};
pub use turn::{Limits, OfferedTool, Turn, TurnStart};
