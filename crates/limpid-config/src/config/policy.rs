//! `[policy]`: the owner's written rules on calls of tools.

use super::files::{NAMED, is_name};
use limpid_core::policy::{ArgumentPattern, OwnerRules, Rule, ToolPattern};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};

/// The owner's written rules.
///
/// The command of `exec` is compared as its words, the first of which is the program's name; its folder is named only
/// when it is not the workspace. With a shell granted the words are `sh`, `-c` and the whole text.
///
/// ```
/// let text = r#"
/// [policy]
/// hosts = ["docs.rs"]
/// [[policy.allow]]
/// tool = "exec"
/// arguments = { command = ["cargo", "test", "**"] }
/// "#;
/// let config = limpid_config::Config::parse(text, "limpid.toml").unwrap();
/// assert_eq!(config.policy.rules().allow.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PolicyConfig {
    /// Calls that run although the turn has read what a stranger wrote: programs, fetching, research, planning, changes of a mailbox, and
    /// sending if `destination` is named. `tool = "exec"` with `arguments = { command = ["make", "test"] }` lets `make test` run in the
    /// workspace; it can write nothing then. Files of yours and skills are never written by a rule, nor files of `outside/` that may act
    /// when they are opened. Where others read the conversation (`/group on`), a rule shows them nothing that is yours: after a stranger's
    /// text it lets pass fetching from the public web, research, and what Limpid itself sends.
    pub allow: Vec<RuleConfig>,
    /// Calls that wait for the owner. Only a rule of `allow` with arguments or a destination goes before one of these that has neither.
    #[serde(deserialize_with = "of_any_size")]
    pub ask: Vec<RuleConfig>,
    /// Calls that never run.
    #[serde(deserialize_with = "of_any_size")]
    pub deny: Vec<RuleConfig>,
    /// Hosts that may be read from although the turn has read what a stranger wrote: over https, or as `http://host`
    /// over http.
    pub hosts: Vec<String>,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleConfig {
    /// The tools: `name`, `prefix*`, `*`, `class:execute`, `group:web`. A tool of a server is called `SERVER__TOOL`; for `ask` and `deny`
    /// the server's own name for it will do.
    #[serde(deserialize_with = "tools")]
    #[schemars(with = "String")]
    pub tool: ToolPattern,
    /// What the arguments look like; `*` is any text, a last `**` any rest of a list. For `allow` these are all that may
    /// be there, and without any the words are free; for `ask` and `deny` others may be there too, a `*` within a text is any letters
    /// (`path = "*.key"`), and what Limpid's own tools take for the same path, address, number or name is held.
    #[serde(default, deserialize_with = "arguments")]
    #[schemars(with = "serde_json::Value")]
    pub arguments: Option<ArgumentPattern>,
    /// Where the call goes, as questions and drafts show it: `host`, `host:port`, `*.host`, a letter as `account to address, address`, a
    /// phone number, a device, a stranger's program with the network as `/usr/bin/python3 to host, host, seeing "folder", "folder"`; such
    /// a one, and a page for your screen, is let pass only with `arguments` too. For `allow` it is all of it, at its usual port if it names
    /// none: `host` is https, `http://host` is http. For `ask` and `deny` it is any part of it: a host at each port and by each scheme, one
    /// of several people, the account, a server of their addresses.
    #[serde(default)]
    pub destination: Option<String>,
    /// The most bytes of text in its arguments, all of them together with the names of their fields; for `allow` alone.
    #[serde(default)]
    pub max_bytes: Option<u64>,
}

impl PolicyConfig {
    /// The rules as the policy reads them.
    pub fn rules(&self) -> OwnerRules {
        let rules = |rules: &[RuleConfig]| {
            let rule = |rule: &RuleConfig| Rule {
                tool: rule.tool.clone(),
                arguments: rule.arguments.clone(),
                destination: rule.destination.as_deref().map(looked_up),
                max_bytes: rule.max_bytes,
            };
            rules.iter().map(rule).collect()
        };
        OwnerRules {
            allow: rules(&self.allow),
            ask: rules(&self.ask),
            deny: rules(&self.deny),
            hosts: self.hosts.clone(),
        }
    }
}

/// A destination with each domain in the form that is looked up, as calls have it: a rule has to hold however its domain is written.
fn looked_up(destination: &str) -> String {
    let ascii = |domain: &str| idna::domain_to_ascii(domain).unwrap_or_else(|_| domain.to_owned());
    let name = |name: &str| match (name.split_once("://"), name.rsplit_once('@')) {
        _ if name.is_ascii() => name.to_owned(),
        (Some((scheme, host)), _) => format!("{scheme}://{}", ascii(host.trim_end_matches('/'))),
        _ if name.contains('/') => name.to_owned(),
        (None, Some((person, domain))) => format!("{person}@{}", ascii(domain)),
        _ if name.contains('.') => ascii(name),
        _ => name.to_owned(),
    };
    let names = |names: &str| names.split(", ").map(name).collect::<Vec<_>>().join(", ");
    destination.split(" to ").map(names).collect::<Vec<_>>().join(" to ")
}

fn tools<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ToolPattern, D::Error> {
    ToolPattern::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// Rules that hold calls back, which they do whatever the size.
fn of_any_size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<RuleConfig>, D::Error> {
    let rules = Vec::<RuleConfig>::deserialize(deserializer)?;
    match rules.iter().any(|rule| rule.max_bytes.is_some()) {
        true => Err(D::Error::custom("`max_bytes` says how large a call may be that runs; it belongs to `allow`")),
        false => Ok(rules),
    }
}

fn arguments<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ArgumentPattern>, D::Error> {
    let pattern = pattern(&toml::Value::Table(toml::Table::deserialize(deserializer)?));
    // Nothing here knows where the owner's home folder is, so such a rule would hold nothing.
    let is_of_home = |(field, text): &&(String, String)| {
        PATHS.contains(&field.as_str()) && text.starts_with('~') && !text.starts_with(NAMED)
    };
    let texts = pattern.texts();
    if let Some((_, path)) = texts.iter().find(is_of_home) {
        return Err(D::Error::custom(format!("`{path}` begins with `~`; write the whole path, from `/` on")));
    }
    let names_none = |(field, text): &&(String, String)| PATHS.contains(&field.as_str()) && is_misnamed(text);
    match texts.iter().find(names_none) {
        Some((_, path)) => Err(D::Error::custom(format!(
            "`{path}` is in no folder: the names of folders that aren't yours have 20 digits. Copy the name from a question, or write the \
             whole path, from `/` on"
        ))),
        None => Ok(Some(pattern)),
    }
}

/// Whether a path begins like the name of a folder and is none: a rule about it would hold nothing.
fn is_misnamed(path: &str) -> bool {
    let name = path.strip_prefix(NAMED).map(|rest| rest.split('/').next().unwrap_or_default());
    name.is_some_and(|name| !name.contains('*') && !is_name(name))
}

/// Arguments that name a file or a folder.
const PATHS: [&str; 2] = ["path", "working_dir"];

fn pattern(value: &toml::Value) -> ArgumentPattern {
    match value {
        toml::Value::String(text) => ArgumentPattern::Text(text.clone()),
        toml::Value::Array(items) => ArgumentPattern::List(items.iter().map(pattern).collect()),
        toml::Value::Table(fields) => {
            ArgumentPattern::Fields(fields.iter().map(|(name, value)| (name.clone(), pattern(value))).collect())
        }
        other => ArgumentPattern::Text(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use crate::Config;

    // SEC-071 SEC-077
    #[test]
    fn a_rule_holds_for_a_domain_however_it_is_written() {
        let read = |to: &str| {
            let text = format!("[policy]\ndeny = [{{ tool = \"*\", destination = {to:?} }}]\n");
            Config::parse(&text, "limpid.toml").unwrap().policy.rules().deny[0].destination.clone().unwrap()
        };
        for (written, held) in [
            ("ada@exämple.com", "ada@xn--exmple-cua.com"),
            ("exämple.com", "xn--exmple-cua.com"),
            ("http://exämple.com/", "http://xn--exmple-cua.com"),
            ("me@a.example to ada@exämple.com, bob@b.example", "me@a.example to ada@xn--exmple-cua.com, bob@b.example"),
            ("/home/größe.sh", "/home/größe.sh"),
            ("Größe", "Größe"),
            ("ada@example.com", "ada@example.com"),
        ] {
            assert_eq!(read(written), held);
        }
    }

    // SEC-071
    #[test]
    fn a_rule_that_could_hold_nothing_is_refused() {
        let read = |path: &str| {
            let text = format!("[policy]\ndeny = [{{ tool = \"read_file\", arguments = {{ path = {path:?} }} }}]\n");
            Config::parse(&text, "limpid.toml").map(drop)
        };
        let refused = read("~/notes/diary.md").unwrap_err().to_string();
        assert!(refused.contains("`~/notes/diary.md` begins with `~`; write the whole path"), "{refused}");
        // A name that an earlier version gave.
        let refused = read("~/folders/3fa9c1/.env").unwrap_err().to_string();
        assert!(refused.contains("`~/folders/3fa9c1/.env` is in no folder: the names"), "{refused}");
        for path in [
            "/home/ada/notes/diary.md",
            "notes/~diary.md",
            "~/folders/3fa9c13fa9c13fa9c1ff/.env",
            "~/folders/3fa9c13fa9c13fa9c1ff",
            "~/folders/*/.env",
            "~/folders/3fa*",
        ] {
            assert!(read(path).is_ok(), "{path}");
        }
    }

    // SEC-071
    #[test]
    fn the_size_of_a_call_is_a_limit_of_what_is_allowed_alone() {
        let read = |list: &str| {
            let text = format!("[policy]\n{list} = [{{ tool = \"send_mail\", max_bytes = 9 }}]\n");
            Config::parse(&text, "limpid.toml")
        };
        assert_eq!(read("allow").unwrap().policy.rules().allow[0].max_bytes, Some(9));
        for list in ["ask", "deny"] {
            assert!(read(list).unwrap_err().to_string().contains("it belongs to `allow`"));
        }
    }
}
