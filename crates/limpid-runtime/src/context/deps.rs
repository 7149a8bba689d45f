//! What a prompt is read from.

use std::sync::Arc;

use limpid_config::{Config, Home, Live, Redactor};
use limpid_store::Store;

use crate::context::calibration::TokenCalibration;
use crate::services::goals::Goals;
use crate::services::host::Host;
use crate::services::models::ModelRegistry;
use crate::services::profiles::ProfileRegistry;
use crate::services::skills::Skills;
use crate::services::tools::ToolCatalog;
use crate::services::tools::policy::PolicyRules;

/// What the sources of a prompt read from. Made once; a clone is a few counts.
#[derive(Clone)]
pub struct ContextDeps {
    pub(crate) home: Home,
    pub(crate) config: Live<Config>,
    pub(crate) host: Host,
    pub(crate) policy: PolicyRules,
    pub(crate) profiles: Arc<ProfileRegistry>,
    pub(crate) models: Arc<ModelRegistry>,
    pub(crate) redactor: Redactor,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) goals: Goals,
    pub(crate) skills: Arc<Skills>,
    pub(crate) tools: Live<ToolCatalog>,
    pub(crate) counts: Arc<TokenCalibration>,
}
