//! Limpid's own tools: which there are, and in which order.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use limpid_config::{Config, Environment, Home};
use limpid_conversation::ReadResult;
use limpid_core::reach::FIND_TOOLS;
use limpid_formats::Parser;
use limpid_prompt::profile::shipped_files;
use limpid_services::agents::Agents;
use limpid_services::deliveries::message_tool;
use limpid_services::goals::Goals;
use limpid_services::mail::MailAccounts;
use limpid_services::mcp::McpServers;
use limpid_services::memory::{MemoryWriter, SemanticIndex};
use limpid_services::skills::Skills;
use limpid_services::tasks::Tasks;
use limpid_services::tools::{exec_tools, file_tools, hardware_tools, history_tools, web_tools};
use limpid_services::{agents, goals, heartbeat, inbox, mail, memory, skills, tasks};
use limpid_store::Store;
use limpid_tools::{Tool, plain_tools};

/// What Limpid's own tools are made from.
pub(crate) struct ToolParts<'a> {
    pub(crate) store: &'a Arc<dyn Store>,
    pub(crate) memory: &'a MemoryWriter,
    pub(crate) home: &'a Home,
    pub(crate) config: &'a Config,
    pub(crate) environment: &'a Environment,
    /// The binary that makes the sandbox of programs.
    pub(crate) helper: Option<&'a Path>,
    pub(crate) parser: &'a Parser,
    pub(crate) goals: &'a Goals,
    pub(crate) skills: &'a Arc<Skills>,
    pub(crate) tasks: &'a Tasks,
    pub(crate) mail: &'a Arc<MailAccounts>,
    pub(crate) semantics: Option<&'a Arc<SemanticIndex>>,
    pub(crate) agents: &'a Agents,
}

/// The tools in the order in which they are declared; a new one goes to the end of its group.
pub(crate) fn own_tools(parts: &ToolParts<'_>) -> Vec<Arc<dyn Tool>> {
    let ToolParts { store, config, environment, semantics, .. } = *parts;
    let result_chars = config.limits.result_chars;
    let mut tools = memory::tools(parts.memory, semantics);
    tools.extend(plain_tools());
    tools.extend(file_tools(parts.home, &config.files, agents::results(parts.agents)));
    tools.extend(exec_tools(parts.home, config, environment, parts.helper));
    tools.push(Arc::new(ReadResult::new(Arc::clone(store), result_chars)));
    let web = web_tools(config, environment, parts.parser);
    // A worker has these two.
    let reads_web = web.iter().any(|tool| ["web_search", "web_fetch"].contains(&tool.name()));
    tools.extend(web);
    if reads_web {
        tools.push(agents::research(parts.agents));
    }
    tools.extend(goals::tools(parts.goals));
    tools.extend(history_tools(store, semantics));
    tools.extend(skills::tools(parts.skills));
    tools.extend(hardware_tools());
    if config.scheduling.enabled {
        tools.extend(tasks::tools(parts.tasks));
    }
    tools.extend(heartbeat::tools());
    tools.extend(inbox::tools(store, config, environment));
    tools.extend(mail::tools(parts.mail, result_chars));
    tools.push(message_tool(Arc::clone(store)));
    tools.extend(agents::tools(parts.agents));
    tools
}

/// The tools of servers that the owner has looked at. None has the name of a tool of the agent's own, one that is switched off
/// and one that only a profile's text knows included.
pub(crate) fn borrowed_tools<'a>(
    servers: &McpServers,
    config: &Config,
    others: impl Iterator<Item = &'a Arc<dyn Tool>>,
) -> Vec<Arc<dyn Tool>> {
    if config.mcp.servers.is_empty() {
        return Vec::new();
    }
    let mut taken: BTreeSet<String> = others.map(|tool| tool.name().to_owned()).collect();
    taken.insert(FIND_TOOLS.to_owned());
    taken.extend(described_tools());
    servers.tools(&taken)
}

/// The tools of the agent's own that a shipped text describes, whether they are switched on or not.
pub(crate) fn described_tools() -> Vec<String> {
    // `PROFILE/tools/NAME.md`
    let told = |path: &str| Some(path.split_once("/tools/")?.1.strip_suffix(".md")?.to_owned());
    shipped_files().iter().filter_map(|file| told(&file.path)).collect()
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;
    use limpid_channels::mail::MailServers;
    use limpid_config::{Live, RandomIds, SystemClock};
    use limpid_context::FindTools;
    use limpid_core::inbox::Source;
    use limpid_core::policy::{AFTER_SERVER, Effect};
    use limpid_core::{ConversationId, ToolClass};
    use limpid_model::RealPause;
    use limpid_services::agents::{AgentRuns, AgentsParts};
    use limpid_services::deliveries::ConversationSignal;
    use limpid_services::directory::Directory;
    use limpid_services::events::EventBus;
    use limpid_services::goals::{GoalsParts, NextTier};
    use limpid_services::host::Host;
    use limpid_services::mail::{AccountSettings, MailOptions, Secret};
    use limpid_services::models::{ModelRegistry, ModelRegistryParts};
    use limpid_services::timers::SchedulerWaker;
    use limpid_services::tools::{FileHistory, PolicyRules, ToolCatalog};
    use limpid_store::{Inbox as _, NewItem, SqliteOptions, SqliteStore};
    use limpid_tools::{Concerned, check_arguments};
    use serde_json::{Value, json};

    use super::*;

    /// Limpid's own tools, with everything on that an owner can switch on, and the home that they are for.
    async fn every_tool(folder: &Path) -> (Home, Vec<Arc<dyn Tool>>) {
        let store: Arc<dyn Store> =
            Arc::new(SqliteStore::open(folder.join("limpid.db"), SqliteOptions::default()).unwrap());
        let config = "[search]\nengine = \"duckduckgo\"\n[location]\nservice = \"https://place.test/\"\n\
                      [inbox]\nsms = true\nnotifications = true\n[inbox.gateway]\nurl = \"https://sms.test/\"\n";
        let config = Config::parse(config, "limpid.toml").unwrap();
        let (home, environment) = (Home::new(folder), Environment::default());
        let profiles = Arc::new(limpid_services::profiles::ProfileRegistry::new(home.clone()));
        let redactor = limpid_config::Redactor::default();
        let host = Host::new(Arc::new(SystemClock), Arc::new(RandomIds), Live::default(), TimeZone::UTC, "test");
        let memory = MemoryWriter::new(Arc::clone(&store), host.clone(), redactor.clone());
        let events = EventBus::default();
        let skills = Arc::new(Skills::new(
            home.clone(),
            Arc::clone(&store),
            Live::default(),
            host.clone(),
            events.clone(),
            Arc::clone(&profiles),
            Arc::new(FileHistory::new(&home, Live::default(), memory.clone())),
        ));
        let models = Arc::new(ModelRegistry::new(ModelRegistryParts {
            home: home.clone(),
            config: Live::default(),
            environment: environment.clone(),
            only: None,
            clock: Arc::clone(host.clock()),
            redactor: redactor.clone(),
        }));
        let agents = Agents::new(AgentsParts {
            store: Arc::clone(&store),
            config: Live::default(),
            host: host.clone(),
            redactor: redactor.clone(),
            skills: Arc::clone(&skills),
            events: events.clone(),
            signal: ConversationSignal::default(),
            runs: AgentRuns::default(),
            pause: Arc::new(RealPause),
        });
        let goals = Goals::new(GoalsParts {
            store: Arc::clone(&store),
            config: Live::default(),
            host: host.clone(),
            events,
            directory: Directory::new(Arc::clone(&store), Live::default(), host.clone()),
            models,
            profiles,
            next_tier: NextTier::default(),
        });
        let waker = Arc::new(SchedulerWaker::new(home.wake_socket()));
        let mail = MailAccounts::new(MailOptions {
            home: home.clone(),
            environment: environment.clone(),
            config: Live::default(),
            host: host.clone(),
            store: Arc::clone(&store),
            redactor,
            mailbox: Arc::new(MailServers::new(Parser::in_this_process())),
            waker: Arc::clone(&waker),
        });
        let account = AccountSettings { address: "me@example.com".to_owned(), ..AccountSettings::default() };
        mail.setup(account, Some(Secret::new("secret-word"))).await.unwrap();
        let tools = own_tools(&ToolParts {
            store: &store,
            memory: &memory,
            home: &home,
            config: &config,
            environment: &environment,
            helper: Some(Path::new("limpid")),
            parser: &Parser::in_this_process(),
            goals: &goals,
            skills: &skills,
            tasks: &Tasks::new(Arc::clone(&store), Live::default(), host, waker),
            mail: &Arc::new(mail),
            semantics: None,
            agents: &agents,
        });
        (home, tools)
    }

    // PRO-042
    #[tokio::test]
    async fn the_schemas_of_the_tools_are_small_and_always_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let schemas = async || {
            let (home, tools) = every_tool(folder.path()).await;
            let policy = PolicyRules::new(home, Live::default(), Live::default()).without_mode();
            ToolCatalog::new(tools, &[]).inputs(&policy)
        };
        let first = schemas().await;
        assert_eq!(first, schemas().await);
        for tool in first.into_iter().chain([FindTools::input(false)]) {
            insta::with_settings!({snapshot_suffix => tool.name.clone()}, {
                insta::assert_snapshot!("schema", Value::Object((*tool.schema).clone()).to_string());
            });
        }
    }

    // SEC-066
    #[tokio::test]
    async fn a_tool_is_judged_by_its_arguments_and_takes_none_that_it_does_not_know() {
        let folder = tempfile::tempdir().unwrap();
        let tools = ToolCatalog::new(every_tool(folder.path()).await.1, &[]);
        let address = |url: &str| Some(url.to_owned());
        let table = [
            ("read_email", json!({ "id": "1" }), Effect::Look),
            ("read_email", json!({ "id": "1", "mark_read": true }), Effect::Mailbox),
            ("cron", json!({ "action": "list" }), Effect::Look),
            ("cron", json!({ "action": "add", "message": "tea" }), Effect::Plan),
            ("cron", json!({ "action": "add", "command": "date" }), Effect::Run),
            ("cron", json!({ "action": "remove", "job_id": "1" }), Effect::ChangeOwned),
            ("cron", json!({ "action": "what nobody knows" }), Effect::ChangeOwned),
            ("web_fetch", json!({ "url": "https://a.test/x?y#z" }), Effect::Fetch(address("https://a.test/x?y"))),
            ("web_fetch", json!({ "url": "a.test" }), Effect::Fetch(None)),
            ("open_url", json!({ "url": "https://a.test/x" }), Effect::Show(address("https://a.test/x"))),
        ];
        for (name, arguments, effect) in table {
            let tool = tools.tool(name).unwrap();
            assert_eq!(tool.effect(&arguments), effect, "{name} {arguments}");
        }
        for tool in every_tool(tempfile::tempdir().unwrap().path()).await.1 {
            let refused = check_arguments(&tool.schema(), &json!({ "an_argument_that_nobody_knows": 1 })).unwrap_err();
            assert!(refused.contains("an_argument_that_nobody_knows"), "{}: {refused}", tool.name());
        }
    }

    // SEC-077
    #[tokio::test]
    async fn what_changes_something_says_what_that_is() {
        let folder = tempfile::tempdir().unwrap();
        let tools = every_tool(folder.path()).await.1;
        let letter = NewItem {
            source: Source::Mail,
            account: "me@example.com".to_owned(),
            key: None,
            uid: None,
            message_id: None,
            sender: "Eve".to_owned(),
            title: "An offer".to_owned(),
            text: "Seven rooms.".to_owned(),
            posted_ms: 0,
            now_ms: 0,
        };
        let store = SqliteStore::open(folder.path().join("limpid.db"), SqliteOptions::default()).unwrap();
        store.insert_items(vec![letter]).await.unwrap();
        let calls = [
            ("complete_goal", json!({ "summary": "done" })),
            ("create_checkpoint", json!({ "description": "a" })),
            ("create_goal", json!({ "description": "a" })),
            ("record_artifact", json!({ "path": "a", "action": "created" })),
            ("record_decision", json!({ "description": "a" })),
            ("switch_goal", json!({ "goal": "g2" })),
            ("update_checkpoint", json!({ "checkpoint_id": "s1", "status": "completed" })),
            ("memory_update", json!({ "id": 1, "content": "a" })),
            ("promote_learning", json!({ "memory_key": "a", "soul_addition": "b" })),
            ("cron", json!({ "action": "remove", "job_id": "1" })),
            ("cron", json!({ "action": "update", "job_id": "1", "every_seconds": 60 })),
            ("cron", json!({ "action": "add", "message": "tea", "every_seconds": 60 })),
            ("cancel_task", json!({ "task_id": "1" })),
            ("message", json!({ "content": "a", "chat_id": "c9" })),
            ("read_email", json!({ "id": "1", "mark_read": true })),
            ("read_email", json!({ "id": "i1", "mark_read": true })),
            ("update_skill", json!({ "name": "write-skill", "content": "a" })),
            ("update_skill", json!({ "name": "gone", "content": "a" })),
            ("create_skill", json!({ "name": "a", "description": "b", "content": "c" })),
        ];
        let changes = [Effect::ChangeOwned, Effect::Mailbox, Effect::Plan, Effect::ChangeSelf];
        let (chat, mut said) = (ConversationId::new("c"), Vec::new());
        for tool in tools {
            let own = calls.iter().filter(|(name, _)| *name == tool.name()).map(|(_, arguments)| arguments.clone());
            for arguments in own.chain([json!({})]).filter(|arguments| changes.contains(&tool.effect(arguments))) {
                let concerned = tool.concerns(&arguments, Some(&chat)).await;
                assert_ne!(concerned, Concerned::NotSaid, "{} {arguments}", tool.name());
                let words = concerned.into_words().unwrap_or_default();
                if arguments != json!({}) && !words.is_empty() {
                    said.push(format!("{}: {words}", tool.name()));
                }
            }
        }
        insta::assert_snapshot!(said.join("\n"), @"
        memory_update: there is no such memory
        promote_learning: there is no such memory
        create_goal: no goal is worked on
        create_checkpoint: no goal is worked on
        update_checkpoint: no goal is worked on
        complete_goal: no goal is worked on
        record_decision: no goal is worked on
        record_artifact: no goal is worked on
        switch_goal: no goal is worked on
        update_skill: skill write-skill, ready: Write or change a skill.
        update_skill: there is no such skill
        cancel_task: a task that is not there
        cron: removes a task that is not there
        cron: changes a task that is not there
        cron: due every minute
        read_email: a letter that its server does not show
        read_email: a letter to me@example.com from Eve: An offer
        message: you have no such chat
        ");
    }

    // SEC-071
    #[tokio::test]
    async fn no_tool_of_the_agents_own_is_called_as_one_of_a_server() {
        let folder = tempfile::tempdir().unwrap();
        let tools = every_tool(folder.path()).await.1;
        let names = tools.iter().map(|tool| tool.name().to_owned()).chain(described_tools());
        assert_eq!(names.filter(|name| name.contains(AFTER_SERVER)).collect::<Vec<_>>(), [""; 0]);
    }

    // KOSHI-032 SEC-002
    #[tokio::test]
    async fn writing_a_skill_changes_the_agent_itself() {
        let folder = tempfile::tempdir().unwrap();
        let tools = ToolCatalog::new(every_tool(folder.path()).await.1, &[]);
        for (name, class) in [
            ("load_skill", ToolClass::Read),
            ("create_skill", ToolClass::ChangeSelf),
            ("update_skill", ToolClass::ChangeSelf),
        ] {
            assert_eq!(tools.tool(name).map(|tool| tool.class()), Some(class), "{name}");
        }
    }
}
