//! What the policies of turns are made from.

use std::sync::Arc;

use limpid_config::{Config, Home, Live};
use limpid_core::policy::{ModeRules, OwnerRules};
use limpid_prompt::Profile;
use limpid_prompt::profile::ModeRulesApply;

use crate::tools::builtin::grants;
use crate::tools::policy::ToolPolicy;
use crate::tools::policy::paths::PathResolver;
use crate::tools::policy::quoted::QuotedFiles;
use crate::tools::policy::scope::AgentScope;
use crate::tools::policy::usual_rules::with_usual_forms;

/// What the policies of turns are made from: the owner's rules, and the folders that calls may touch.
#[derive(Clone)]
pub struct PolicyRules {
    home: Home,
    config: Live<Config>,
    rules: Live<Arc<OwnerRules>>,
}

impl PolicyRules {
    /// What the owner wrote down about calls, for policies over this home.
    pub fn new(home: Home, config: Live<Config>, rules: Live<Arc<OwnerRules>>) -> Self {
        Self { home, config, rules }
    }

    /// The policy of a turn; `mode` is the mode that is on, `set` whether the person set it, `scope` what an agent is limited
    /// to.
    pub fn for_turn(
        &self,
        profile: &Profile,
        path: &str,
        (mode, set): (&str, bool),
        scope: Option<AgentScope>,
    ) -> ToolPolicy {
        let behaviour = profile.behaviour();
        let rules = (set || behaviour.mode_rules == ModeRulesApply::Always)
            .then(|| profile.mode_rules(mode).cloned().unwrap_or_else(|| ModeRules::of(mode)));
        ToolPolicy {
            mode: rules,
            local_only: behaviour.small_model_tools.iter().any(|few| few == path),
            rules: with_usual_forms(&self.rules),
            paths: self.paths(),
            folders: self.config.files.clone(),
            leaves_code: self.leaves_code(),
            is_research: profile.path(path).is_ok_and(|path| path.public),
            for_strangers: false,
            for_group: false,
            scope,
            copies: self.home.approved_copies(),
        }
    }

    /// The policy of calls outside of any turn: the owner's rules alone.
    pub fn without_mode(&self) -> ToolPolicy {
        let paths = self.paths();
        let copies = self.home.approved_copies();
        ToolPolicy {
            mode: None,
            local_only: false,
            rules: with_usual_forms(&self.rules),
            paths,
            folders: self.config.files.clone(),
            leaves_code: self.leaves_code(),
            is_research: false,
            for_strangers: false,
            for_group: false,
            scope: None,
            copies,
        }
    }

    fn leaves_code(&self) -> bool {
        let mut listed = self.config.exec.folders.iter().filter(|one| !one.programs.is_empty()).peekable();
        if listed.peek().is_none() {
            return false;
        }
        let grants = grants(&self.home, &self.config.files);
        listed.any(|one| grants.is_strangers(&one.folder))
    }

    /// The same for every policy: a file that any profile of the home quotes may be read in the next chat.
    fn paths(&self) -> PathResolver {
        let files = &self.config.files;
        let resolver = PathResolver::quoting(&self.home, QuotedFiles::read(&self.home), files);
        resolver.with_base(files.base.as_deref()).with_rules(&self.rules)
    }
}
