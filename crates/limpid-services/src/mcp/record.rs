//! What the owner has looked at of servers, and what these said last: a file for each server in `data/mcp` of the home.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use limpid_config::{Home, McpServerConfig, private_file};
use limpid_core::SEEN_DIGITS;
use limpid_mcp::{Listed, OfferedTool};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::error::AgentError;

/// What is kept of one server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ServerRecord {
    /// How its last connection began.
    pub(crate) revision: Option<String>,
    /// Its tools, in its own order.
    pub(crate) tools: Vec<ToolRecord>,
    /// Tools that it offered and that were not within the bounds.
    pub(crate) left_out: usize,
    /// When it was asked last, in milliseconds since 1970.
    pub(crate) seen_ms: i64,
}

/// What is kept of one tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ToolRecord {
    /// The server's own name for it.
    pub(crate) name: String,
    /// What the owner has looked at. Nothing else ever reaches a model.
    pub(crate) looked: Option<ToolText>,
    /// When they did, in milliseconds since 1970.
    pub(crate) looked_ms: Option<i64>,
    /// What the server says now, where that is something else.
    pub(crate) now: Option<ToolText>,
    /// Whether the server does not have it any more.
    pub(crate) gone: bool,
}

/// What a server says of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ToolText {
    pub(crate) description: String,
    pub(crate) schema: Map<String, Value>,
}

impl ToolText {
    /// The SHA-256 of a tool's name with this, in hexadecimal digits. The order of keys does not count.
    pub(crate) fn sha256(&self, name: &str) -> String {
        let whole = Value::from(vec![
            Value::from(name),
            Value::from(self.description.as_str()),
            sorted(&Value::Object(self.schema.clone())),
        ]);
        hashed(&whole)
    }
}

impl From<&OfferedTool> for ToolText {
    fn from(tool: &OfferedTool) -> Self {
        Self { description: tool.description.clone(), schema: tool.schema.clone() }
    }
}

fn hashed(value: &Value) -> String {
    Sha256::digest(value.to_string()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<&String, Value> = fields.iter().map(|(key, value)| (key, sorted(value))).collect();
            Value::Object(fields.into_iter().map(|(key, value)| (key.clone(), value)).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

impl ToolRecord {
    /// What a model is offered: what was looked at, as long as the server says the same.
    pub(crate) fn usable(&self) -> Option<&ToolText> {
        self.looked.as_ref().filter(|_| self.now.is_none() && !self.gone)
    }

    /// What stands for the owner's look at a text of the tool. It is made of what one write of the record keeps
    /// together, so no lasting yes to calls outlives the acceptance of another text, nor holds for another server of
    /// the name.
    pub(crate) fn looked_at(&self, server: (&str, &McpServerConfig), text: &ToolText) -> String {
        let whole = vec![
            Value::from(server_as_set(server)),
            Value::from(text.sha256(&self.name)),
            self.looked_ms.map_or(Value::Null, Value::from),
        ];
        hashed(&Value::from(whole)).chars().take(SEEN_DIGITS).collect()
    }

    /// The owner has looked at what it says now.
    pub(crate) fn look(&mut self, now_ms: i64) {
        if let Some(now) = self.now.take() {
            self.looked = Some(now);
            self.looked_ms = Some(now_ms);
        }
    }
}

/// What stands for a server with all that says which one is started or spoken to: another one has another, also under its name.
pub(crate) fn server_as_set((server, config): (&str, &McpServerConfig)) -> String {
    let McpServerConfig { command, args, env, env_from, url, headers, token_env, .. } = config;
    let RecordName(name) = RecordName::of(server, Some(config));
    let whole = serde_json::json!([name, command, args, env, env_from, url, headers, token_env]);
    hashed(&sorted(&whole)).chars().take(SEEN_DIGITS).collect()
}

impl ServerRecord {
    /// Takes in what the server offers now. What the owner has looked at stays as it was.
    pub(crate) fn see(&mut self, listed: &Listed<OfferedTool>, revision: &str, now_ms: i64) {
        let mut before = std::mem::take(&mut self.tools);
        for tool in &listed.items {
            let text = ToolText::from(tool);
            let known = before.iter().position(|known| known.name == tool.name).map(|at| before.remove(at));
            let mut known = known.unwrap_or_else(|| ToolRecord { name: tool.name.clone(), ..ToolRecord::default() });
            let is_same =
                known.looked.as_ref().is_some_and(|looked| looked.sha256(&tool.name) == text.sha256(&tool.name));
            known.now = (!is_same).then_some(text);
            known.gone = false;
            self.tools.push(known);
        }
        // What comes back has to be what it was.
        let gone = before.into_iter().filter(|known| known.looked.is_some());
        self.tools.extend(gone.map(|known| ToolRecord { gone: true, now: None, ..known }));
        self.left_out = listed.left_out;
        self.revision = Some(revision.to_owned());
        self.seen_ms = now_ms;
    }
}

/// What the record of a server is called: as the server, unless its settings say otherwise. A name alone may be that of another one.
#[derive(Clone, Debug)]
pub(crate) struct RecordName(String);

impl RecordName {
    /// The one of a server by its name and its settings, where it has some.
    pub(crate) fn of(server: &str, config: Option<&McpServerConfig>) -> Self {
        Self(config.and_then(|config| config.kept_as.clone()).unwrap_or_else(|| server.to_owned()))
    }
}

impl ServerRecord {
    /// Reads what is kept of a server. Of one that nobody knows it is nothing.
    ///
    /// # Errors
    /// When it cannot be read, or others may read it.
    pub(crate) fn read(home: &Home, server: &RecordName) -> Result<Self, AgentError> {
        let path = file(home, server);
        let Some(text) = private_file::read(&path)? else { return Ok(Self::default()) };
        serde_json::from_str(&text).map_err(|error| {
            let advice = format!("remove the file, then look again: limpid mcp enable {}", server.0);
            AgentError::Invalid(format!("{} cannot be read ({error}); {advice}", path.display()))
        })
    }

    /// Changes it. Other processes wait meanwhile.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub(crate) fn change<T>(
        home: &Home,
        server: &RecordName,
        change: impl FnOnce(&mut Self) -> T,
    ) -> Result<T, AgentError> {
        let path = home.mcp().join("lock");
        let _held = lock(&path).map_err(AgentError::file(&path))?;
        let before = Self::read(home, server)?;
        let mut record = before.clone();
        let done = change(&mut record);
        if record != before {
            let text = serde_json::to_string(&record).map_err(|error| AgentError::Invalid(error.to_string()))?;
            private_file::write(&file(home, server), &text)?;
        }
        Ok(done)
    }

    /// Forgets a server.
    ///
    /// # Errors
    /// When its file cannot be removed.
    pub(crate) fn forget(home: &Home, server: &RecordName) -> Result<(), AgentError> {
        let path = file(home, server);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(AgentError::file(path)(error)),
            _ => Ok(()),
        }
    }
}

/// Tells processes that run that the owner has looked at something.
///
/// # Errors
/// When that cannot be written.
pub(crate) fn tell_others(home: &Home, now_ms: i64) -> Result<(), AgentError> {
    Ok(private_file::write(&home.mcp_looked(), &format!("{now_ms}\n"))?)
}

fn file(home: &Home, server: &RecordName) -> PathBuf {
    home.mcp().join(format!("{}.json", server.0))
}

#[expect(clippy::disallowed_methods, reason = "a handle to lock; what it holds is not read")]
fn lock(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    file.lock()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-078 SEC-023
    #[test]
    fn each_look_at_another_text_of_a_tool_is_another_one() {
        let with = |kept_as: &str, url: &str| {
            let (kept_as, url) = (Some(kept_as.to_owned()), Some(url.to_owned()));
            McpServerConfig { kept_as, url, ..McpServerConfig::default() }
        };
        let (one, other, moved) = (with("one", "a"), with("other", "a"), with("one", "b"));
        let mut tool = ToolRecord { name: "tell".to_owned(), ..ToolRecord::default() };
        let mut look = |description: &str, now_ms: i64| {
            tool.now = Some(ToolText { description: description.to_owned(), ..ToolText::default() });
            tool.look(now_ms);
            let text = tool.usable().unwrap();
            [&one, &other, &moved].map(|config| tool.looked_at(("desk", config), text))
        };
        let looks = [look("Tells.", 1), look("Tells Eve too.", 1), look("Tells.", 2)];
        let all = looks.into_iter().flatten().collect::<std::collections::BTreeSet<String>>();
        assert_eq!(all.len(), 9, "{all:?}");
        assert!(all.iter().all(|one| one.len() == SEEN_DIGITS));
    }

    // SEC-023
    #[test]
    fn what_was_looked_at_of_a_server_is_not_that_of_another_one_of_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path());
        let [one, other, own] = [Some("one"), Some("other"), None].map(|kept_as| {
            let config = McpServerConfig { kept_as: kept_as.map(str::to_owned), ..McpServerConfig::default() };
            RecordName::of("desk", Some(&config))
        });
        let look = |record: &mut ServerRecord| record.tools.push(ToolRecord::default());
        ServerRecord::change(&home, &one, look).unwrap();
        let tools = |name: &RecordName| ServerRecord::read(&home, name).unwrap().tools.len();
        assert_eq!([tools(&one), tools(&other), tools(&own)], [1, 0, 0]);
        ServerRecord::forget(&home, &other).unwrap();
        assert_eq!(tools(&one), 1);
        ServerRecord::forget(&home, &one).unwrap();
        assert_eq!(tools(&one), 0);
    }
}
