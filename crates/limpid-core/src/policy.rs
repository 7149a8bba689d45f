//! May this call run? One pure function answers it for everybody who asks: what is declared to the model, what the
//! prompt's text names, and what is carried out.
//!
//! Two questions are asked. [`allowed`] says whether a tool exists at all in a mode; what it refuses is neither declared
//! nor run. [`judge`] says of one call, with its arguments, whether it runs, is refused, or waits for the owner.
//!
//! # Layout
//! - [`mode`]: what a mode lets the agent do, and how a rule names tools.
//! - [`addresses`]: whole addresses in texts.
//! - [`argument`]: arguments of a call and patterns of them.
//! - [`capability_url`]: addresses that are keys.
//! - [`destination`]: where a call leads, and which rules are about that.
//! - [`effect`]: what a call would change, and the table of what runs and what waits.
//! - [`hosts`]: hosts, how one is written, and whether one is meant.
//! - [`owners_words`]: words of the owner's that a text repeats.
//! - [`rules`]: what the owner wrote down.
//! - [`typed`]: whether a name stands in what the owner typed.
//! - [`typed_addresses`]: which addresses that they typed are fetched next.
//! - [`verdict`]: the judgement of one call.

pub mod addresses;
pub mod argument;
pub mod capability_url;
pub mod destination;
pub mod effect;
pub mod hosts;
pub mod mode;
pub mod owners_words;
pub mod rules;
pub mod typed;
pub mod typed_addresses;
pub mod verdict;

pub use addresses::{links_among_private, links_in, rights_to_fetch, written_addresses};
pub use argument::{Argument, ArgumentPattern};
pub use capability_url::{is_capability_url, keys_in};
pub use destination::Destination;
pub use effect::{AddressOrigin, Effect, FileChange, PrivatePlace, Row, Window};
pub use hosts::host_matches;
pub use mode::{AFTER_SERVER, BadPattern, ModeRules, ToolFacts, ToolPattern, Writes, allowed};
pub use owners_words::OwnersWords;
pub use rules::{Bans, Grant, OwnerRules, Rule};
pub use typed::names_whole;
pub use typed_addresses::TypedAddresses;
pub use verdict::{
    Call, Followed, NOT_OF_THE_WEB, PathFacts, RefusedBy, Setting, Verdict, judge, lasting_yes, question_of,
};
