//! What a prompt is made from, read at one moment. Nothing here writes, and nothing asks a model.

pub(crate) mod sources;

use std::sync::Arc;

use limpid_config::{Clock, Config, Home, Live, Redactor};
use limpid_store::Store;

use crate::keeper::Keeper;
use crate::skills::Skills;
use crate::tools::ToolBox;

/// What the sources of a prompt read from. Made once; a clone is a few counts.
#[derive(Clone)]
pub(crate) struct ContextDeps {
    pub(crate) home: Home,
    pub(crate) config: Live<Config>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) redactor: Redactor,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) keeper: Keeper,
    pub(crate) skills: Arc<Skills>,
    pub(crate) tools: Live<ToolBox>,
}
