//! What a changed limpid.toml means for an agent that runs: which keys act at once, which need a restart.

mod rebuild;
mod tools;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use limpid_config::{Config, Environment, Live, Redactor};
use limpid_core::RetryPlan;
use tokio::sync::watch;
use toml::{Table, Value};

pub(crate) use rebuild::{Parts, Rebuild};
pub(crate) use tools::described_tools;

/// What became of a changed configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Compared {
    /// Keys that act from here on.
    pub(crate) applied: Vec<String>,
    /// Keys that act after a restart.
    pub(crate) restart: Vec<String>,
}

/// When a changed section acts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// At once: it is read where it is used.
    Now,
    /// After a restart.
    Restart,
}

/// What acts after a restart: a second open model beside one that holds gigabytes may not fit, and browsers that look at the page
/// would lose it. One log has one form, and spans go to one collector.
const RESTART: [&str; 3] = ["local", "page", "telemetry"];

/// Compares two configurations. Returns the one to run with: the new one, but for what needs a restart.
fn compare(old: &Config, new: Config) -> (Config, Vec<(&'static str, Effect)>) {
    // No `..` here: a new section does not compile until somebody has said when it acts.
    let Config {
        agent,
        owner,
        agents,
        model,
        fallback,
        effort,
        path,
        provider,
        catalogue,
        local,
        memory,
        files,
        exec,
        prompt,
        chat,
        trust,
        prompts,
        limits,
        ledger,
        policy,
        tools,
        window,
        search,
        web,
        location,
        scheduling,
        modes,
        inbox,
        page,
        notify,
        heartbeat,
        mail,
        mcp,
        telemetry,
    } = &new;
    let sections = [
        ("agent", old.agent == *agent, Effect::Now),
        ("agents", old.agents == *agents, Effect::Now),
        ("owner", old.owner == *owner, Effect::Now),
        ("model", old.model == *model, Effect::Now),
        ("fallback", old.fallback == *fallback, Effect::Now),
        ("effort", old.effort == *effort, Effect::Now),
        ("path", old.path == *path, Effect::Now),
        ("provider", old.provider == *provider, Effect::Now),
        ("catalogue", old.catalogue == *catalogue, Effect::Now),
        ("local", old.local == *local, Effect::Restart),
        ("memory", old.memory == *memory, Effect::Now),
        ("files", old.files == *files, Effect::Now),
        ("exec", old.exec == *exec, Effect::Now),
        ("prompt", old.prompt == *prompt, Effect::Now),
        ("chat", old.chat == *chat, Effect::Now),
        ("trust", old.trust == *trust, Effect::Now),
        ("prompts", old.prompts == *prompts, Effect::Now),
        ("limits", old.limits == *limits, Effect::Now),
        ("ledger", old.ledger == *ledger, Effect::Now),
        ("policy", old.policy == *policy, Effect::Now),
        ("tools", old.tools == *tools, Effect::Now),
        ("window", old.window == *window, Effect::Now),
        ("search", old.search == *search, Effect::Now),
        ("web", old.web == *web, Effect::Now),
        ("location", old.location == *location, Effect::Now),
        ("scheduling", old.scheduling == *scheduling, Effect::Now),
        ("modes", old.modes == *modes, Effect::Now),
        ("inbox", old.inbox == *inbox, Effect::Now),
        ("page", old.page == *page, Effect::Restart),
        ("notify", old.notify == *notify, Effect::Now),
        ("heartbeat", old.heartbeat == *heartbeat, Effect::Now),
        ("mail", old.mail == *mail, Effect::Now),
        ("mcp", old.mcp == *mcp, Effect::Now),
        ("telemetry", old.telemetry == *telemetry, Effect::Restart),
    ];
    let changed = sections.into_iter().filter(|(_, same, _)| !same).map(|(name, _, effect)| (name, effect)).collect();
    let (local, page, telemetry) = (old.local.clone(), old.page.clone(), old.telemetry.clone());
    (Config { local, page, telemetry, ..new }, changed)
}

/// Whether what a section says acts only after a restart.
pub fn needs_restart(section: &str) -> bool {
    RESTART.contains(&section)
}

/// The settings of an agent that runs. limpid.toml may change while it does.
pub(crate) struct LiveSettings {
    config: Live<Config>,
    /// The file that the settings come from, if any.
    file: Option<PathBuf>,
    environment: Environment,
    redactor: Redactor,
    /// Variables of secrets that the configuration named when the agent was opened.
    named_at_start: Vec<String>,
    rebuild: Rebuild,
    /// Counts changes of settings and of the other files that the agent follows.
    changes: watch::Sender<u64>,
}

impl LiveSettings {
    /// The settings that an agent is opened with.
    pub(crate) fn new(
        config: Live<Config>,
        file: Option<PathBuf>,
        environment: Environment,
        redactor: Redactor,
        rebuild: Rebuild,
    ) -> Self {
        let named_at_start = config.secret_variables().into_iter().map(str::to_owned).collect();
        Self { config, file, environment, redactor, named_at_start, rebuild, changes: watch::Sender::new(0) }
    }

    /// What is in use now.
    pub(crate) fn config(&self) -> &Live<Config> {
        &self.config
    }

    /// How often a request is tried.
    pub(crate) fn retry(&self) -> &Live<RetryPlan> {
        &self.rebuild.retry
    }

    /// The file that the settings come from, if any.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Counts up whenever something has changed.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Has everybody who watches look again.
    pub(crate) fn publish_change(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    /// Builds everything again that is built from the settings: something else that it is built from has changed.
    pub(crate) fn rebuild(&self) {
        self.rebuild.run(&self.config);
    }

    /// Takes a new configuration over. `before` and `after` are the texts of the file, for the names of the keys.
    pub(crate) fn apply(&self, new: Config, before: &str, after: &str) -> Compared {
        let (running, changed) = compare(&self.config, new);
        let keys = changed_keys(before, after);
        let mut compared = Compared::default();
        for (section, effect) in &changed {
            let prefix = format!("{section}.");
            let mut own: Vec<String> =
                keys.iter().filter(|key| *key == section || key.starts_with(&prefix)).cloned().collect();
            // The same keys can mean something else when a default changed with the program.
            if own.is_empty() {
                own.push((*section).to_owned());
            }
            match effect {
                Effect::Now => compared.applied.append(&mut own),
                Effect::Restart => compared.restart.append(&mut own),
            }
        }
        compared.restart.extend(self.missing_variables(&running));
        for name in running.secret_variables() {
            if let Some(value) = self.environment.get(name) {
                self.redactor.learn(name, value);
            }
        }
        if !compared.applied.is_empty() {
            self.config.replace(running);
            self.rebuild.run(&self.config);
        }
        compared
    }

    /// What a restart is needed for because of variables: a process sees only those that it was started with. Those that
    /// were missing then are missed since then.
    fn missing_variables(&self, running: &Config) -> Vec<String> {
        let named = running.secret_variables().into_iter();
        let new = named.filter(|name| !self.named_at_start.iter().any(|own| own == name));
        let missing = new.filter(|name| self.environment.get(name).is_none());
        missing.map(|name| format!("the variable {name}, which is not set in this process")).collect()
    }
}

/// The names of the keys whose values differ.
fn changed_keys(before: &str, after: &str) -> Vec<String> {
    let keys = |text: &str| {
        let mut keys = BTreeMap::new();
        flatten("", &text.parse::<Table>().unwrap_or_default(), &mut keys);
        keys
    };
    let (before, after) = (keys(before), keys(after));
    let mut changed: Vec<String> =
        before.iter().filter(|(key, value)| after.get(*key) != Some(*value)).map(key).collect();
    changed.extend(after.iter().filter(|(key, _)| !before.contains_key(*key)).map(key));
    changed.sort();
    changed
}

fn key((key, _): (&String, &Value)) -> String {
    key.clone()
}

fn flatten(prefix: &str, table: &Table, keys: &mut BTreeMap<String, Value>) {
    for (name, value) in table {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Value::Table(table) => flatten(&key, table, keys),
            value => drop(keys.insert(key, value.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Config {
        Config::parse(text, "limpid.toml").unwrap()
    }

    #[test]
    fn every_section_is_compared_and_only_local_models_the_page_and_telemetry_wait_for_a_restart() {
        let full = config(include_str!("../../limpid-config/src/config/full.toml"));
        let (running, changed) = compare(&Config::default(), full.clone());
        let restart: Vec<&str> =
            changed.iter().filter(|(_, effect)| *effect == Effect::Restart).map(|(name, _)| *name).collect();
        assert_eq!((changed.len(), restart), (34, RESTART.to_vec()));
        let Config { local, page, telemetry, .. } = Config::default();
        assert_eq!(running, Config { local, page, telemetry, ..full.clone() });
        assert!(compare(&full, full.clone()).1.is_empty());
    }

    #[test]
    fn changed_keys_are_named_as_the_file_names_them() {
        let before = "model = \"a/b\"\n[inbox]\nsms = true\nlisten = \"127.0.0.1:1\"\n";
        let after = "[inbox]\nsms = true\nlisten = \"127.0.0.1:2\"\n[limits.path.task]\ntokens_per_day = 1\n";
        assert_eq!(changed_keys(before, after), ["inbox.listen", "limits.path.task.tokens_per_day", "model"]);
    }
}
