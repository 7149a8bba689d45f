//! AGENT.md: its front matter is settings, the text below it is what prompts quote.

use serde_json::{Map, Value};

use crate::front_matter::split_front_matter;
use crate::problem::nearest;
use crate::skill::{as_list, as_text, read_front};

/// The name of the file, at the top of the workspace.
pub const AGENT_FILE: &str = "AGENT.md";

/// Every key that its front matter may have.
const KEYS: [&str; 7] = ["name", "description", "tools", "model", "maxTurns", "skills", "mcpServers"];

/// What the front matter of AGENT.md sets. What is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentFile {
    /// The agent's name.
    pub name: Option<String>,
    /// What the agent is for, for people.
    pub description: Option<String>,
    /// The only tools that are offered.
    pub tools: Option<Vec<String>>,
    /// The model, as `provider/id`, of conversations for which none was chosen.
    pub model: Option<String>,
    /// Calls of the model in a turn that may use tools, at most.
    pub max_turns: Option<u32>,
    /// The only skills that are there.
    pub skills: Option<Vec<String>>,
    /// Servers of the Model Context Protocol.
    pub mcp_servers: Option<Vec<String>>,
}

impl AgentFile {
    /// Reads the front matter of AGENT.md. Also returns what is wrong with it, a sentence each; the rest of it counts.
    ///
    /// ```
    /// use limpid_prompt::agent_file::AgentFile;
    /// let (agent, wrong) = AgentFile::read("---\nname: Nala\nmaxTurns: many\n---\nBe brief.\n");
    /// assert_eq!(agent.name.as_deref(), Some("Nala"));
    /// assert_eq!(wrong, ["`maxTurns` must be a number from 1"]);
    /// ```
    pub fn read(text: &str) -> (Self, Vec<String>) {
        let halves = split(text);
        let Some(front) = halves.front else { return (Self::default(), Vec::new()) };
        if !halves.is_closed {
            return (Self::default(), vec!["its front matter does not end; close it with a line `---`".to_owned()]);
        }
        match read_front(front) {
            Ok(map) => Self::of(&map),
            Err(error) => (Self::default(), vec![format!("its front matter cannot be read: {error}")]),
        }
    }

    fn of(map: &Map<String, Value>) -> (Self, Vec<String>) {
        let mut wrong = Vec::new();
        for key in map.keys().filter(|key| !KEYS.contains(&key.as_str())) {
            // Keys that other programs know are left to them.
            if let Some(close) = nearest(key, KEYS) {
                wrong.push(format!("unknown key `{key}`; did you mean `{close}`?"));
            }
        }
        let given = |key: &str| map.get(key).filter(|value| !value.is_null());
        let mut word = |key: &str| {
            let text = as_text(given(key)?).filter(|text| !text.is_empty());
            if text.is_none() {
                wrong.push(format!("`{key}` must be a text"));
            }
            text
        };
        let (name, description, model) = (word("name"), word("description"), word("model"));
        let mut list = |key: &str| {
            let value = given(key)?;
            let is_list = value.is_string() || value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
            if !is_list {
                wrong.push(format!("`{key}` must be a list of names"));
            }
            is_list.then(|| as_list(value))
        };
        let (tools, skills, mcp_servers) = (list("tools"), list("skills"), list("mcpServers"));
        let max_turns = given("maxTurns").and_then(|value| {
            let number = value.as_u64().and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0);
            if number.is_none() {
                wrong.push("`maxTurns` must be a number from 1".to_owned());
            }
            number
        });
        (Self { name, description, tools, model, max_turns, skills, mcp_servers }, wrong)
    }
}

/// The text below the front matter.
pub(crate) fn body(text: &str) -> &str {
    split(text).body
}

struct Halves<'t> {
    front: Option<&'t str>,
    body: &'t str,
    is_closed: bool,
}

/// The halves of the file. Front matter that does not end reaches to the first blank line or heading, so that no setting
/// is taken for text.
fn split(text: &str) -> Halves<'_> {
    let (front, whole) = split_front_matter(text);
    if front.is_some() {
        return Halves { front, body: whole, is_closed: true };
    }
    let none = Halves { front: None, body: whole, is_closed: true };
    let Some((first, rest)) = whole.split_once('\n') else { return none };
    let is_setting = |line: &str| line.split_once(':').is_some_and(|(key, _)| key.chars().all(char::is_alphanumeric));
    if first.trim_end() != "---" || !rest.lines().next().is_some_and(is_setting) {
        return none;
    }
    let is_front = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    let length: usize = rest.split_inclusive('\n').take_while(is_front).map(str::len).sum();
    let (front, body) = rest.split_at(length);
    Halves { front: Some(front), body: body.trim_start_matches(['\r', '\n']), is_closed: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    // PICO-024
    #[test]
    fn the_front_matter_is_settings_and_what_is_wrong_with_it_is_told() {
        let all = "---\nname: Nala\ndescription: Looks after the house.\ntools: read_file, exec\nmodel: openai/gpt-5-mini\n\
                   maxTurns: 4\nskills: [tea]\nmcpServers:\n  - home\ncolor: red\n---\nBe brief.\n";
        let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        let expected = AgentFile {
            name: Some("Nala".to_owned()),
            description: Some("Looks after the house.".to_owned()),
            tools: names(&["read_file", "exec"]),
            model: Some("openai/gpt-5-mini".to_owned()),
            max_turns: Some(4),
            skills: names(&["tea"]),
            mcp_servers: names(&["home"]),
        };
        assert_eq!(AgentFile::read(all), (expected, Vec::new()));
        assert_eq!(body(all), "Be brief.\n");
        for (text, told, quoted) in [
            ("---\nname: [a]\ntools: 3\nmaxTurns: 0\n---\nx", 3, "x"),
            ("---\nmaxturns: 3\n---\nx", 1, "x"),
            ("---\nname: \"a\n---\nx", 1, "x"),
            ("---\n- a\n---\nx", 1, "x"),
            ("---\nname: n\nmodel: m\n\nx", 1, "x"),
            ("---\nname: n\n# Title\nx", 1, "# Title\nx"),
            ("---\n\nA rule, then text.", 0, "---\n\nA rule, then text."),
            ("Be brief.", 0, "Be brief."),
        ] {
            let (agent, wrong) = AgentFile::read(text);
            assert_eq!((wrong.len(), body(text)), (told, quoted), "{text:?}: {wrong:?}");
            assert_eq!(agent, AgentFile::default(), "{text:?}");
        }
    }
}
