//! The script of the day: what the person says, and how a model of no size at all answers, whichever agent asks it.

use limpid_model::script::{Arguments, Pieces, Reply, ScriptedCall};
use limpid_testkit::Recorded;
use serde::Deserialize;
use serde_json::{Value, json};

/// The day as it stands in `day.toml`.
#[derive(Deserialize)]
pub(super) struct Day {
    pub request: Vec<Said>,
    pub page: Vec<Page>,
}

/// One message of the person's, and what the model does about it.
#[derive(Deserialize)]
pub(super) struct Said {
    pub says: String,
    #[serde(default)]
    rounds: Vec<Vec<Do>>,
    answer: String,
    delegate: Option<Delegated>,
}

/// What an agent does that work is handed to.
#[derive(Deserialize)]
struct Delegated {
    task: String,
    rounds: Vec<Vec<Do>>,
    answer: String,
}

/// A page of the web.
#[derive(Deserialize)]
pub(super) struct Page {
    pub name: String,
    gist: String,
}

/// One thing that the model calls for.
#[derive(Clone, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
enum Do {
    Read { path: String },
    Write { path: String, text: String },
    Edit { path: String, old: String, new: String },
    List { path: String },
    Fetch { page: String },
    Remind { text: String, at: String },
    Repeat { text: String, cron: String },
    Reminders,
    Delegate,
}

/// Whose tools are called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Limpid,
    Nanobot,
}

/// The tool that declares others.
const FIND: &str = "find_tools";

impl Day {
    /// The day of this repository.
    pub(super) fn read() -> Result<Self, String> {
        toml::from_str(include_str!("day.toml")).map_err(|error| format!("day.toml: {error}"))
    }

    /// What the person says, in order, with the addresses of the pages.
    pub(super) fn says(&self, site: &str) -> Vec<String> {
        self.request.iter().map(|said| self.addressed(&said.says, site)).collect()
    }

    fn addressed(&self, text: &str, site: &str) -> String {
        let fill = |text: String, page: &Page| text.replace(&format!("{{{}}}", page.name), &address(site, &page.name));
        self.page.iter().fold(text.to_owned(), fill)
    }

    /// The model's reply to a request. A tool that is not declared is looked for first, where there is a way to.
    pub(super) fn reply(&self, request: &Recorded, dialect: Dialect, site: &str) -> Reply {
        let body = request.json();
        let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let Some((at, scene)) = self.scene(messages, site) else { return says("Done.") };
        let called = messages[at..].iter().filter(|message| is_round(message)).count();
        let Some(round) = scene.rounds.get(called) else { return says(&scene.answer) };
        let declared: Vec<&str> = names(&body["tools"]);
        let calls: Vec<(&str, Value)> =
            round.iter().map(|one| one.call(&declared, dialect, site, scene.task.as_deref())).collect();
        let missing = calls.iter().find(|(name, _)| !declared.contains(name));
        match missing {
            Some((name, _)) if declared.contains(&FIND) => {
                replies(messages.len(), &[(FIND, json!({ "query": name.replace('_', " ") }))])
            }
            _ => replies(messages.len(), &calls),
        }
    }

    /// What the newest known message asks for, and where it stands.
    fn scene(&self, messages: &[Value], site: &str) -> Option<(usize, Scene)> {
        let users = messages.iter().enumerate().rev().filter(|(_, message)| message["role"] == "user");
        users.map(|(at, message)| (at, text_of(message))).find_map(|(at, text)| Some((at, self.scene_of(&text, site)?)))
    }

    fn scene_of(&self, text: &str, site: &str) -> Option<Scene> {
        let said = self.request.iter().find_map(|said| {
            let handed = said.delegate.as_ref();
            if text.contains(&self.addressed(&said.says, site)) {
                let task = handed.map(|handed| handed.task.clone());
                return Some(Scene { rounds: said.rounds.clone(), answer: said.answer.clone(), task });
            }
            let handed = handed.filter(|handed| text.contains(&handed.task))?;
            Some(Scene { rounds: handed.rounds.clone(), answer: handed.answer.clone(), task: None })
        });
        let read = || {
            let page = self.page.iter().find(|page| text.contains(&asked_of(site, &page.name)))?;
            let rounds = vec![vec![Do::Fetch { page: page.name.clone() }]];
            Some(Scene { rounds, answer: page.gist.clone(), task: None })
        };
        said.or_else(read)
    }
}

/// What is asked for, round by round, and what is said at the end.
struct Scene {
    rounds: Vec<Vec<Do>>,
    answer: String,
    /// What an agent is to do, where work is handed to one.
    task: Option<String>,
}

impl Do {
    /// The tool and its arguments.
    fn call(&self, declared: &[&str], dialect: Dialect, site: &str, task: Option<&str>) -> (&'static str, Value) {
        use Dialect::{Limpid, Nanobot};
        match (self, dialect) {
            (Self::Read { path }, _) => ("read_file", json!({ "path": path })),
            (Self::Write { path, text }, _) => ("write_file", json!({ "path": path, "content": text })),
            (Self::Edit { path, old, new }, _) => {
                ("edit_file", json!({ "path": path, "old_text": old, "new_text": new }))
            }
            (Self::List { path }, _) => ("list_dir", json!({ "path": path })),
            (Self::Fetch { page }, Limpid) if declared.contains(&"research") => {
                ("research", json!({ "task": asked_of(site, page) }))
            }
            (Self::Fetch { page }, _) => ("web_fetch", json!({ "url": address(site, page) })),
            (Self::Remind { text, at }, Limpid) => {
                ("schedule_task", json!({ "description": text, "prompt": format!("Remind: {text}"), "execute_at": at }))
            }
            (Self::Remind { text, at }, Nanobot) => ("cron", json!({ "action": "add", "message": text, "at": at })),
            (Self::Repeat { text, cron }, Limpid) => {
                ("schedule_task", json!({ "description": text, "prompt": format!("Remind: {text}"), "cron": cron }))
            }
            (Self::Repeat { text, cron }, Nanobot) => {
                ("cron", json!({ "action": "add", "message": text, "cron_expr": cron }))
            }
            (Self::Reminders, Limpid) => ("list_tasks", json!({})),
            (Self::Reminders, Nanobot) => ("cron", json!({ "action": "list" })),
            (Self::Delegate, Limpid) => ("spawn_agent", json!({ "task": task, "run_in_background": false })),
            (Self::Delegate, Nanobot) => ("spawn", json!({ "task": task, "wait": true })),
        }
    }
}

/// Where a page is.
fn address(site: &str, page: &str) -> String {
    format!("{site}/pages/{page}.html")
}

/// What a worker is asked about a page.
fn asked_of(site: &str, page: &str) -> String {
    format!("What does {} say?", address(site, page))
}

/// Whether a message of the model's is a round of the script: calls for more than other tools.
fn is_round(message: &Value) -> bool {
    let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
    calls.iter().any(|call| call["function"]["name"] != FIND)
}

fn names(tools: &Value) -> Vec<&str> {
    tools.as_array().into_iter().flatten().filter_map(|tool| tool["function"]["name"].as_str()).collect()
}

/// A message's text, whatever parts it has.
pub(super) fn text_of(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

fn says(text: &str) -> Reply {
    Reply { text: Pieces(vec![text.to_owned()]), ..Reply::default() }
}

/// Calls, by names that no other reply of the conversation gives.
fn replies(messages: usize, calls: &[(&str, Value)]) -> Reply {
    let calls = calls.iter().enumerate().map(|(at, (name, arguments))| ScriptedCall {
        id: Some(format!("call_{messages}_{at}")),
        name: (*name).to_owned(),
        arguments: Arguments::Text(arguments.to_string()),
    });
    Reply { calls: calls.collect(), ..Reply::default() }
}
