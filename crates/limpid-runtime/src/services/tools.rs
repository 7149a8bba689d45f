//! The tools that the model may call, and the one place where one runs.
//!
//! A tool is a small file: its name, its arguments as a Rust type, and what it does. What the model is told about it
//! stands in the profile's `tools/*.md`.

pub(crate) mod builtin;
pub(crate) mod file_history;
pub(crate) mod policy;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use limpid_config::{Config, Environment, Home, Ids, hex};
use limpid_core::ToolCall;
use limpid_core::policy::Verdict;
use limpid_prompt::inputs::{ArgumentSchema, ToolInput};
use limpid_store::Store;
use limpid_tools::{GetLocalTime, check_arguments};
use limpid_turn::{PlannedCall, ToolOutcome, Why};
use serde_json::Value;

pub(crate) use crate::context::tool_selection::find_tools::{FIND_TOOLS, FindTools};
pub use crate::conversation::turn::read_result_tool::ReadResult;
pub(crate) use crate::services::goals::tools::{CREATE_GOAL, GROUP as GOAL_TOOLS};
pub(crate) use crate::services::heartbeat::decision_tool::HEARTBEAT_DECISION;
pub use crate::services::memory::tools::query::MemoryQuery;
pub(crate) use crate::services::memory::tools::query::recall;
pub use crate::services::memory::tools::store::MemoryStoreTool;
pub(crate) use crate::services::tasks::GROUP as SCHEDULING_TOOLS;
pub(crate) use crate::services::tools::builtin::exec::{Running, running};
pub(crate) use crate::services::tools::builtin::web::engine;
pub use limpid_tools::{Passage, PathArgument, ShownItems, Tool, ToolContext, ToolText, read_arguments, schema_of};

use crate::services::deliveries::message_tool;
use crate::services::events::EventBus;
use crate::services::mail::MailDesk;
use crate::services::memory::semantic::Semantics;
use crate::services::memory::writer::{By, Keeper};
use crate::services::skills::Skills;
use crate::services::tasks::Tasks;
use crate::services::tools::file_history::FileHistory;
use crate::services::tools::policy::{CallContext, CallDescription, CallFacts, FileLabelGuard, ToolPolicy};

/// What Limpid's own tools are made from.
pub(crate) struct ToolParts<'a> {
    pub(crate) store: &'a Arc<dyn Store>,
    pub(crate) keeper: &'a Keeper,
    pub(crate) home: &'a Home,
    pub(crate) config: &'a Config,
    pub(crate) environment: &'a Environment,
    pub(crate) bus: &'a EventBus,
    /// The binary that makes the sandbox of programs.
    pub(crate) helper: Option<&'a Path>,
    pub(crate) skills: &'a Arc<Skills>,
    pub(crate) mail: &'a Arc<MailDesk>,
    pub(crate) tasks: &'a Tasks,
    pub(crate) semantics: Option<&'a Arc<Semantics>>,
    /// One for all versions of the tools: it knows what was recorded.
    pub(crate) files: &'a Arc<FileHistory>,
}

/// Limpid's own tools in the order in which they are declared; a new one goes to the end of its group.
fn own(parts: &ToolParts<'_>) -> Vec<Arc<dyn Tool>> {
    let mut tools = crate::services::memory::tools::tools(parts);
    tools.push(Arc::new(GetLocalTime));
    tools.extend(builtin::files::tools(parts));
    tools.extend(builtin::exec::tools(parts));
    tools.push(Arc::new(ReadResult::new(Arc::clone(parts.store), parts.config.limits.result_chars)));
    tools.extend(builtin::web::tools(parts));
    tools.extend(crate::services::goals::tools::tools(parts));
    tools.extend(builtin::history::tools(parts));
    tools.extend(crate::services::skills::tools::tools(parts.skills));
    tools.extend(builtin::hardware::tools());
    tools.extend(crate::services::tasks::tools(parts));
    tools.extend(crate::services::heartbeat::decision_tool::tools());
    tools.extend(crate::services::inbox::tools(parts.store, parts.config, parts.environment));
    tools.extend(crate::services::mail::tools::tools(parts));
    tools.push(message_tool(Arc::clone(parts.store)));
    tools
}

/// Every tool there is, in the order in which they are declared.
#[derive(Clone)]
pub struct ToolCatalog {
    tools: Vec<Arc<dyn Tool>>,
    files: Arc<FileHistory>,
    /// The schema of each, once it was asked for: a tool's schema never changes.
    schemas: Arc<OnceLock<Vec<ArgumentSchema>>>,
}

impl ToolCatalog {
    /// Limpid's own tools, then those of whoever uses it as a library; a name that is taken is not taken twice.
    pub(crate) fn new(parts: &ToolParts<'_>, more: &[Arc<dyn Tool>]) -> Self {
        let mut tools = own(parts);
        for tool in more {
            if !tools.iter().any(|known| known.name() == tool.name()) {
                tools.push(Arc::clone(tool));
            }
        }
        Self { tools, files: Arc::clone(parts.files), schemas: Arc::default() }
    }

    /// The files that prompts quote, as tools change them.
    pub(crate) fn files(&self) -> &FileHistory {
        &self.files
    }

    /// A tool by name.
    pub fn tool(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

    /// The names of those that are there now.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().filter(|tool| tool.is_available()).map(|tool| tool.name())
    }

    /// Destinations that no argument chooses: the owner's settings name them, so the owner allowed them.
    pub(crate) fn fixed_destinations(&self) -> impl Iterator<Item = String> {
        self.tools.iter().filter_map(|tool| tool.destination(&Value::Null))
    }

    /// The tools as prompts are made from them: those that the policy offers.
    pub(crate) fn inputs(&self, policy: &ToolPolicy) -> Vec<ToolInput> {
        let schemas = self.schemas.get_or_init(|| self.tools.iter().map(|tool| tool.schema().into()).collect());
        let input = |(tool, schema): (&Arc<dyn Tool>, &ArgumentSchema)| ToolInput {
            name: tool.name().to_owned(),
            group: tool.group().to_owned(),
            schema: schema.clone(),
            ..ToolInput::default()
        };
        let offered =
            self.tools.iter().zip(schemas).filter(|(tool, _)| tool.is_available() && policy.declares(&***tool));
        offered.map(input).collect()
    }
}

/// The tools of one turn: they know who may call which, and how often each was called.
pub(crate) struct TurnToolExecutor {
    tools: ToolCatalog,
    store: Arc<dyn Store>,
    policy: ToolPolicy,
    ids: Arc<dyn Ids>,
    finder: Option<Arc<FindTools>>,
    calls: Mutex<HashMap<String, u32>>,
}

impl TurnToolExecutor {
    /// `finder` finds the tools that do not travel; `before` are the names of calls that this turn has already made.
    pub(crate) fn new<'a>(
        (tools, store): (ToolCatalog, Arc<dyn Store>),
        policy: ToolPolicy,
        ids: Arc<dyn Ids>,
        finder: Option<FindTools>,
        before: impl Iterator<Item = &'a str>,
    ) -> Self {
        let mut calls = HashMap::new();
        for name in before {
            *calls.entry(name.to_owned()).or_default() += 1;
        }
        Self { tools, store, policy, ids, finder: finder.map(Arc::new), calls: Mutex::new(calls) }
    }

    /// Whether a call of unknown fate may be made again.
    pub(crate) fn is_repeatable(&self, name: &str) -> bool {
        self.tool(name).is_some_and(|tool| tool.is_repeatable())
    }

    /// What finds the tools that do not travel.
    pub(crate) fn finder(&self) -> Option<&FindTools> {
        self.finder.as_deref()
    }

    fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        match &self.finder {
            Some(finder) if name == FIND_TOOLS => Some(Arc::clone(finder) as Arc<dyn Tool>),
            _ => self.tools.tool(name).map(Arc::clone),
        }
    }

    /// Says whether a call may run now. A right to run comes from here alone, so nothing runs that the policy did not see.
    pub(crate) async fn decide(&self, planned: &PlannedCall, context: &CallContext) -> Decision {
        let call = &planned.call;
        let Some(tool) = self.tool(&call.name) else {
            return Decision::Refused(format!("there is no tool `{}`", call.name));
        };
        if let Some(finder) = &self.finder
            && finder.hides(&call.name).await
        {
            return Decision::Refused(format!("`{}` is not here yet; get it with {FIND_TOOLS} first", call.name));
        }
        let arguments: Value = match serde_json::from_str(&call.arguments) {
            Ok(arguments) => arguments,
            Err(error) => return Decision::Refused(error.to_string()),
        };
        // The owner is not asked about what cannot run.
        if let Err(error) = check_arguments(&tool.schema(), &arguments).and_then(|()| tool.check(&arguments)) {
            return Decision::Refused(error);
        }
        let facts = self.policy.facts(&*tool, &arguments);
        match self.policy.verdict(&*tool, &facts, context) {
            Verdict::Refused { reason } => Decision::Refused(reason),
            // A yes holds for what was asked about and nothing else.
            Verdict::NeedsApproval { reason } if planned.approved.as_ref() != Some(&facts.hash) => {
                Decision::Ask(Why { reason, bound_to: facts.hash })
            }
            Verdict::Allowed | Verdict::NeedsApproval { .. } => {
                let approved = planned.approved.as_ref() == Some(&facts.hash);
                Decision::Run(Box::new(Permit { tool, call: call.clone(), arguments, facts, approved }))
            }
        }
    }

    /// What the owner is told of a call that waits for them; nothing of one that can be none.
    pub(crate) fn describe(&self, call: &ToolCall) -> Option<CallDescription> {
        let arguments = serde_json::from_str(&call.arguments).ok()?;
        Some(self.policy.describe(&*self.tool(&call.name)?, &arguments))
    }

    /// Whether nothing in the workspace may change.
    pub(crate) fn is_read_only(&self) -> bool {
        self.policy.is_read_only()
    }

    /// Runs one call. This is the only place where a tool runs; a tool that panics has failed, no more.
    pub(crate) async fn run(&self, context: ToolContext, permit: Permit) -> ToolOutcome {
        match self.try_run(context, permit).await {
            Ok(ToolText { text, trust }) => {
                let boundary = trust.is_foreign().then(|| hex(&*self.ids));
                ToolOutcome::Done { text, trust, boundary }
            }
            Err(error) => ToolOutcome::Failed { error },
        }
    }

    async fn try_run(&self, context: ToolContext, permit: Permit) -> Result<ToolText, String> {
        let Permit { tool, call, arguments, facts, approved } = permit;
        let context = ToolContext { approved, ..context };
        if let Some((limit, refusal)) = tool.calls_a_message()
            && self.count(&call.name) > limit
        {
            return Err(refusal.to_owned());
        }
        let by = By::turn(&context);
        let before = self.tools.files().before(&facts).await;
        let labels = FileLabelGuard::begin(Arc::clone(&self.store), &facts, context.trust, approved).await;
        // A task of its own keeps a panic from reaching the turn.
        let task = tokio::spawn(async move { tool.run(&context, arguments).await });
        let _stop = StopWithUs(task.abort_handle());
        let done = task.await.unwrap_or_else(|_| Err(format!("`{}` broke off; its outcome is unknown", call.name)));
        // Also after a failure: it may have written before.
        let kept = self.tools.files().after(before, &by).await;
        let read = labels.end(by.now_ms).await;
        let done = done.map(|ToolText { text, trust }| ToolText { text, trust: trust.join(read) })?;
        kept.map_err(|error| {
            format!("{}\nIt is done, but what the file said before was not kept: {error}", done.text)
        })?;
        Ok(done)
    }

    fn count(&self, name: &str) -> u32 {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let count = calls.entry(name.to_owned()).or_default();
        *count += 1;
        *count
    }
}

/// What becomes of a call.
pub(crate) enum Decision {
    /// It may run, now.
    Run(Box<Permit>),
    /// It does not run; the model reads why.
    Refused(String),
    /// It runs when the owner says so.
    Ask(Why),
}

/// The right to run one call as the policy saw it.
pub(crate) struct Permit {
    tool: Arc<dyn Tool>,
    call: ToolCall,
    arguments: Value,
    facts: CallFacts,
    /// Whether the owner has said yes to this very call.
    approved: bool,
}

impl Permit {
    /// The call.
    pub(crate) fn call(&self) -> &ToolCall {
        &self.call
    }

    /// The hash of what an approval of this call would be bound to.
    pub(crate) fn hash(&self) -> &str {
        &self.facts.hash
    }

    /// Whether an approval of what has this hash is one of this call.
    pub(crate) fn is_bound_to(&self, hash: &str) -> bool {
        self.facts.hash == hash
    }
}

/// Ends a task when whoever waits for it stops waiting: at a time-out or a cancel.
struct StopWithUs(tokio::task::AbortHandle);

impl Drop for StopWithUs {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use limpid_config::Live;
    use limpid_store::{SqliteOptions, SqliteStore};

    use super::*;

    // PRO-042
    #[test]
    fn the_schemas_of_the_tools_are_small_and_always_the_same() {
        let home = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> =
            Arc::new(SqliteStore::open(home.path().join("limpid.db"), SqliteOptions::default()).unwrap());
        // Everything that an owner can switch on.
        let config = "[exec]\nsandbox = \"off\"\n[search]\nengine = \"duckduckgo\"\n[location]\nservice = \"https://place.test/\"\n\
                      [inbox]\nsms = true\nnotifications = true\n[inbox.gateway]\nurl = \"https://sms.test/\"\n";
        let config = Config::parse(config, "limpid.toml").unwrap();
        let (home, environment) = (Home::new(home.path()), Environment::default());
        let profiles = Arc::new(crate::services::profiles::ProfileRegistry::new(home.clone()));
        let redactor = limpid_config::Redactor::default();
        let keeper = Keeper::new(Arc::clone(&store), redactor, profiles, Live::default());
        let skills = Arc::new(Skills::new(home.clone(), Arc::clone(&store), Live::default()));
        let mail = Arc::new(MailDesk::of_one_account(&home, &store));
        let tasks = Tasks::of_test(&store, &home);
        let parts = ToolParts {
            store: &store,
            keeper: &keeper,
            home: &home,
            config: &config,
            environment: &environment,
            bus: &EventBus::default(),
            helper: Some(Path::new("limpid")),
            skills: &skills,
            mail: &mail,
            tasks: &tasks,
            semantics: None,
            files: &Arc::new(FileHistory::new(&home, keeper.clone())),
        };
        let schemas = || ToolCatalog::new(&parts, &[]).inputs(&ToolPolicy::open(&home));
        assert_eq!(schemas(), schemas());
        for tool in schemas().into_iter().chain([FindTools::input()]) {
            insta::with_settings!({snapshot_suffix => tool.name.clone()}, {
                insta::assert_snapshot!("schema", Value::Object((*tool.schema).clone()).to_string());
            });
        }
    }
}
