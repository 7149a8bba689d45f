//! What the policies of turns are made from.

use std::path::PathBuf;
use std::sync::Arc;

use limpid_config::{Config, Home, Live};
use limpid_core::policy::{ModeRules, OwnerRules};
use limpid_prompt::Profile;
use limpid_prompt::profile::ModeRulesApply;

use crate::tools::builtin::grants;
use crate::tools::policy::ToolPolicy;
use crate::tools::policy::paths::PathResolver;
use crate::tools::policy::scope::AgentScope;
use crate::tools::policy::usual_rules::with_usual_forms;

/// Files of a workspace that prompts of shipped profiles quote.
pub(crate) const QUOTED: [&str; 6] = ["AGENT.md", "AGENTS.md", "SOUL.md", "USER.md", "IDENTITY.md", "HEARTBEAT.md"];

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
            paths: self.paths(prompt_files(profile)),
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
        let paths = self.paths(QUOTED.map(PathBuf::from).into());
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

    fn paths(&self, prompt_files: Vec<PathBuf>) -> PathResolver {
        let files = &self.config.files;
        let resolver = PathResolver::new(&self.home, prompt_files, files).with_base(files.base.as_deref());
        resolver.with_rules(&self.rules)
    }
}

/// Files of the workspace that prompts quote: those of the profile, and those of profiles that may come after it.
fn prompt_files(profile: &Profile) -> Vec<PathBuf> {
    let own = profile.file_order().iter().map(String::as_str);
    own.chain(QUOTED).map(PathBuf::from).collect()
}
