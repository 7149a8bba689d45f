//! What a prompt is read from.

use std::sync::Arc;

use limpid_config::{Config, Home, Live, Redactor};
use limpid_services::goals::Goals;
use limpid_services::host::Host;
use limpid_services::models::ModelRegistry;
use limpid_services::profiles::ProfileRegistry;
use limpid_services::skills::Skills;
use limpid_services::tools::{PolicyRules, ToolCatalog};
use limpid_store::Store;

use crate::calibration::TokenCalibration;

/// What the sources of a prompt read from. Made once; a clone is a few counts.
#[derive(Clone)]
pub struct ContextDeps {
    /// The home folder.
    pub home: Home,
    /// The settings.
    pub config: Live<Config>,
    /// Clock, ids, zone and process.
    pub host: Host,
    /// What the owner allows.
    pub policy: PolicyRules,
    /// The profiles.
    pub profiles: Arc<ProfileRegistry>,
    /// The models.
    pub models: Arc<ModelRegistry>,
    /// Removes known secrets.
    pub redactor: Redactor,
    /// Where everything is stored.
    pub store: Arc<dyn Store>,
    /// The goals.
    pub goals: Goals,
    /// The skills.
    pub skills: Arc<Skills>,
    /// Every tool.
    pub tools: Live<ToolCatalog>,
    /// What is known of how models count tokens.
    pub counts: Arc<TokenCalibration>,
}
