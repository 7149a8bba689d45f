//! `[chat]`: chats at the terminal and at the page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Chats at the terminal and at the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChatConfig {
    /// Whether lines by which the model changes the goal are left out; the history keeps them.
    pub hide_markers: bool,
    /// Don't ask for the model's reasoning, which is otherwise shown before an answer.
    pub hide_reasoning: bool,
    /// Whether answers of profiles that teach it may hold forms, choices and tables to draw.
    pub ui_mode: UiSetting,
}

/// Whether answers may hold what is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum UiSetting {
    /// Text only, but for interactive conversations.
    #[default]
    None,
    /// Where a form or a table serves better than prose.
    Dynamic,
}
