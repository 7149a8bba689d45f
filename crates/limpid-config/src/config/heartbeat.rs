//! `[heartbeat]`.

use limpid_core::heartbeat::{Quiet, Recheck};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::by_hand;
use super::word::{word, words};

/// The heartbeat, as far as it is no setting that changes from day to day (`limpid heartbeat set` changes those).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HeartbeatConfig {
    /// Its own model, `provider/model`; else the general one.
    pub model: Option<String>,
    /// Its mode. Default: assistant.
    pub mode: Option<String>,
    /// When a text means silence. Default: as the profile has it.
    #[serde(deserialize_with = "quiet")]
    #[schemars(schema_with = "quiets")]
    pub quiet: Option<Quiet>,
    /// How often standing additions, unfinished lines of HEARTBEAT.md and your own opening are asked, unless an item says so.
    #[serde(deserialize_with = "recheck")]
    #[schemars(with = "String", extend("default" = Recheck::default().to_string()))]
    pub recheck: Recheck,
    /// Runs a day that may ask a model, and as many more for incoming messages.
    pub runs_a_day: u32,
    /// Command run before each heartbeat, with its arguments. A model is called only if it exits with 0.
    #[schemars(extend("x-by-hand" = by_hand::PROGRAMS))]
    pub check: Vec<String>,
    /// Address asked before each heartbeat: 200 calls a model, 204 or 304 does not. With `check` as well, both must say yes.
    #[schemars(extend("x-by-hand" = by_hand::ADDRESSES))]
    pub check_url: Option<String>,
}

impl Default for HeartbeatConfig {
    fn default() -> Self {
        Self {
            model: None,
            mode: None,
            quiet: None,
            recheck: Recheck::EveryRun,
            runs_a_day: 48,
            check: Vec::new(),
            check_url: None,
        }
    }
}

fn recheck<'de, D: Deserializer<'de>>(source: D) -> Result<Recheck, D::Error> {
    let text = String::deserialize(source)?;
    Recheck::parse(&text).ok_or_else(|| {
        D::Error::custom(format!("unknown rhythm \"{text}\"; write \"every run\", \"2h\", \"daily\" or \"on change\""))
    })
}

impl HeartbeatConfig {
    /// The rule that holds with a profile whose own is this.
    pub fn rule(&self, of_profile: Quiet) -> Quiet {
        self.quiet.unwrap_or(of_profile)
    }
}

fn quiets(_: &mut SchemaGenerator) -> Schema {
    words(&Quiet::ALL, Quiet::as_str)
}

fn quiet<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Quiet>, D::Error> {
    word(deserializer, &Quiet::ALL, Quiet::as_str).map(Some)
}
