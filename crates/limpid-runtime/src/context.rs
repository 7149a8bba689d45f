//! What a prompt is made from, read at one moment. Functions here read only and ask no model; the store, memories and
//! the goals that they are given could still write, until each is a service with a reading half.

pub(crate) mod build;
pub(crate) mod calibration;
pub(crate) mod convert;
pub(crate) mod fit;
pub(crate) mod gather;
pub(crate) mod headroom;
pub(crate) mod history;
pub(crate) mod measure;
pub(crate) mod new_texts;
pub(crate) mod notices;
pub(crate) mod prefix_cache;
pub(crate) mod render;
pub(crate) mod sources;
pub(crate) mod tool_selection;
pub(crate) mod window_state;

use std::sync::Arc;

use limpid_config::{Config, Home, Live, Redactor};
use limpid_store::Store;

pub(crate) use crate::context::build::{BuiltContext, Fit, build};
pub(crate) use crate::context::fit::{Fitting, NoteRequest, Running, SmallerView, as_it_stands, fit_to_window};
pub(crate) use crate::context::gather::{Gathered, Occasion};
pub use crate::context::history::clean::{CLEAN, count_put_aside};
pub(crate) use crate::context::render::render;

use crate::context::calibration::TokenCalibration;

use crate::services::goals::GoalBook;
use crate::services::host::Host;
use crate::services::models::ModelRegistry;
use crate::services::profiles::ProfileRegistry;
use crate::services::skills::Skills;
use crate::services::tools::ToolCatalog;
use crate::services::tools::policy::PolicyRules;

/// What the sources of a prompt read from. Made once; a clone is a few counts.
#[derive(Clone)]
pub(crate) struct ContextDeps {
    pub(crate) home: Home,
    pub(crate) config: Live<Config>,
    pub(crate) host: Host,
    pub(crate) policy: PolicyRules,
    pub(crate) profiles: Arc<ProfileRegistry>,
    pub(crate) models: Arc<ModelRegistry>,
    pub(crate) redactor: Redactor,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) goals: GoalBook,
    pub(crate) skills: Arc<Skills>,
    pub(crate) tools: Live<ToolCatalog>,
    pub(crate) counts: Arc<TokenCalibration>,
}
