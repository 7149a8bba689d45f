//! `[heartbeat]`.

use limpid_core::heartbeat::Quiet;
use serde::Deserialize;

/// The heartbeat, as far as it is no setting that changes from day to day (`limpid heartbeat set` changes those).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HeartbeatConfig {
    /// A model of its own: `provider/model`. Absent, or when it cannot be had: the one that is set for all (KAI-061).
    pub model: Option<String>,
    /// Its mode. Absent: assistant (OLLM-034).
    pub mode: Option<String>,
    /// When a text means silence. Absent: as the profile has it (KAI-064).
    pub quiet: Option<QuietRule>,
    /// Runs a day that may ask a model.
    pub runs_a_day: u32,
    /// A program with its arguments that says whether a model is asked: with exit code 0 it is, else not (LES-040).
    pub check: Vec<String>,
    /// An address that says the same: with status 200 a model is asked, with 204 or 304 it is not. With a program besides,
    /// both must say yes.
    pub check_url: Option<String>,
}

impl Default for HeartbeatConfig {
    fn default() -> Self {
        Self { model: None, mode: None, quiet: None, runs_a_day: 48, check: Vec::new(), check_url: None }
    }
}

/// When a text means silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuietRule {
    /// When HEARTBEAT_OK stands alone in it.
    Alone,
    /// When it holds HEARTBEAT_OK anywhere.
    Contains,
}

impl HeartbeatConfig {
    /// The rule that holds with a profile; `base` is the profile that lends it its files.
    pub(crate) fn rule(&self, name: &str, base: Option<&str>) -> Quiet {
        match self.quiet {
            Some(QuietRule::Alone) => Quiet::Alone,
            Some(QuietRule::Contains) => Quiet::Contains,
            None if name == "kai" || base == Some("kai") => Quiet::Contains,
            None => Quiet::Alone,
        }
    }
}
