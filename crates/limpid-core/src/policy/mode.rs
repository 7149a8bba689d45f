//! What a mode lets the agent do.

use std::fmt;

use crate::ToolClass;
use crate::tool::names_of_same;

/// Stands between the name of a server and the name of its tool. No name of a server has it, and no tool of Limpid's own.
pub const AFTER_SERVER: &str = "__";

/// What is known of a tool, whatever it is called with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolFacts<'a> {
    /// Its name, which no other tool ever has.
    pub name: &'a str,
    /// What else it is called, such as by its server, which chose that name. Rules that hold calls back know it by each of these; no
    /// rule lets a call pass by one.
    pub other_names: &'a [String],
    /// The group that texts list it under.
    pub group: &'a str,
    /// What kind of effect a call has, at most.
    pub class: ToolClass,
}

/// How a rule names tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolPattern {
    /// `*`: every tool.
    All,
    /// `name`: the tool of this name.
    Name(String),
    /// `prefix*`: every tool whose name begins so.
    Prefix(String),
    /// `class:read`: every tool of this class.
    Class(ToolClass),
    /// `group:memory`: every tool of this group.
    Group(String),
}

impl ToolPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// [`BadPattern`] when it names nothing, or no class.
    ///
    /// ```
    /// use limpid_core::policy::ToolPattern;
    /// assert_eq!(ToolPattern::parse("memory_*"), Ok(ToolPattern::Prefix("memory_".into())));
    /// assert!(ToolPattern::parse("class:danger").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, BadPattern> {
        let bad = || BadPattern(text.to_owned());
        let is_name = |name: &str| !name.is_empty() && !name.contains(['*', ':', ' ']);
        match (text, text.split_once(':'), text.strip_suffix('*')) {
            ("*", ..) => Ok(Self::All),
            (_, Some(("class", word)), _) => ToolClass::parse(word).map(Self::Class).ok_or_else(bad),
            (_, Some(("group", name)), _) if is_name(name) => Ok(Self::Group(name.to_owned())),
            (_, None, Some(prefix)) if is_name(prefix) => Ok(Self::Prefix(prefix.to_owned())),
            (name, None, None) if is_name(name) => Ok(Self::Name(name.to_owned())),
            _ => Err(bad()),
        }
    }

    /// Whether it names a tool, a server or a group, and no kind of tools wherever they lead.
    pub const fn is_named(&self) -> bool {
        !matches!(self, Self::All | Self::Class(_))
    }

    /// Whether a rule that lets calls pass means this tool. The beginning of a name means tools of a server only where it names that
    /// server whole: `memory_*` is none of the server `memory`.
    pub fn permits(&self, tool: &ToolFacts<'_>) -> bool {
        match self {
            Self::Name(name) => name == tool.name,
            Self::Prefix(prefix) => {
                let is_whole = prefix.contains(AFTER_SERVER) || !tool.name.contains(AFTER_SERVER);
                is_whole && tool.name.starts_with(prefix)
            }
            _ => self.is_of_its_kind(tool),
        }
    }

    /// Whether a rule that holds calls back means this tool, by any name that it has.
    pub fn holds_back(&self, tool: &ToolFacts<'_>) -> bool {
        let others = tool.other_names.iter().map(String::as_str).chain(names_of_same(tool.name));
        let mut names = std::iter::once(tool.name).chain(others);
        match self {
            Self::Name(name) => names.any(|known| known == name),
            Self::Prefix(prefix) => names.any(|known| known.starts_with(prefix)),
            _ => self.is_of_its_kind(tool),
        }
    }

    /// Whether it means this tool whatever that is called.
    fn is_of_its_kind(&self, tool: &ToolFacts<'_>) -> bool {
        match self {
            Self::All => true,
            Self::Class(class) => *class == tool.class,
            Self::Group(group) => group == tool.group,
            Self::Name(_) | Self::Prefix(_) => false,
        }
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("*"),
            Self::Name(name) => f.write_str(name),
            Self::Prefix(prefix) => write!(f, "{prefix}*"),
            Self::Class(class) => write!(f, "class:{}", class.as_str()),
            Self::Group(group) => write!(f, "group:{group}"),
        }
    }
}

/// A text that names no tools.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` names no tools; write `name`, `prefix*`, `*`, `group:NAME`, or `class:` with read, remember, write, send, execute or change-self"
)]
pub struct BadPattern(String);

/// Which files a mode lets the agent write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Writes {
    /// Every one that its tools can reach.
    #[default]
    All,
    /// Documents inside the workspace: .md, .txt, .rst, .adoc.
    Documents,
    /// None.
    None,
}

impl Writes {
    /// The word for it, as settings write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Documents => "documents",
            Self::None => "none",
        }
    }

    /// Reads a word; nothing else is accepted.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::All, Self::Documents, Self::None].into_iter().find(|writes| writes.as_str() == word)
    }
}

/// What a mode lets the agent do. What it does not allow does not exist in that mode.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModeRules {
    /// Tools that exist.
    pub allow: Vec<ToolPattern>,
    /// Tools that do not, although `allow` names them.
    pub deny: Vec<ToolPattern>,
    /// Classes whose calls wait for the owner, whatever the turn has read.
    pub ask: Vec<ToolClass>,
    /// Which files may be written.
    pub writes: Writes,
}

impl ModeRules {
    /// The rules of a mode that brings none of its own.
    pub fn of(mode: &str) -> Self {
        match mode {
            "developer" => Self { allow: vec![ToolPattern::All], ..Self::default() },
            "planning" => {
                let classes = [ToolClass::Read, ToolClass::Remember, ToolClass::Write].map(ToolPattern::Class);
                let groups = ["web", "memory", "scheduling"].map(|group| ToolPattern::Group(group.to_owned()));
                let allow = classes.into_iter().chain(groups).collect();
                Self { allow, ask: vec![ToolClass::Send], writes: Writes::Documents, ..Self::default() }
            }
            "debugger" => Self {
                allow: [ToolClass::Read, ToolClass::Remember, ToolClass::Execute].map(ToolPattern::Class).into(),
                writes: Writes::None,
                ..Self::default()
            },
            _ => Self { allow: vec![ToolPattern::All], ask: vec![ToolClass::Send], ..Self::default() },
        }
    }

    /// Whether a tool is named by more than its class.
    pub(super) fn names(&self, tool: &ToolFacts<'_>) -> bool {
        self.allow.iter().any(|pattern| !matches!(pattern, ToolPattern::Class(_)) && pattern.permits(tool))
    }
}

/// Whether a tool exists in a mode. Without rules every tool does; with them, only what they allow.
pub fn allowed(mode: Option<&ModeRules>, tool: &ToolFacts<'_>) -> bool {
    let Some(rules) = mode else { return true };
    rules.allow.iter().any(|pattern| pattern.permits(tool))
        && !rules.deny.iter().any(|pattern| pattern.holds_back(tool))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool<'a>(name: &'a str, group: &'a str, class: ToolClass) -> ToolFacts<'a> {
        ToolFacts { name, other_names: &[], group, class }
    }

    // OLLM-035
    #[test]
    fn a_rule_names_a_tool_its_beginning_or_all_and_the_rest_is_refused() {
        let read = tool("read_file", "files", ToolClass::Read);
        let rules = |allow: &[&str]| ModeRules {
            allow: allow.iter().map(|text| ToolPattern::parse(text).unwrap()).collect(),
            ..ModeRules::default()
        };
        let table = [("read_file", true), ("read_*", true), ("*", true), ("read", false), ("write_*", false)];
        for (pattern, expected) in table {
            assert_eq!(allowed(Some(&rules(&[pattern])), &read), expected, "{pattern}");
        }
        assert!(!allowed(Some(&rules(&[])), &read), "nothing is allowed by default");
        assert!(allowed(None, &read), "no policy");
        let shell = tool("execute_shell_command", "programs", ToolClass::Execute);
        let exec = ToolPattern::Name("exec".into());
        assert!(exec.holds_back(&shell) && !exec.permits(&shell) && !exec.holds_back(&read), "one tool, two names");
        let denied = ModeRules { deny: vec![ToolPattern::Name("read_file".into())], ..rules(&["*"]) };
        assert!(!allowed(Some(&denied), &read));
        for text in ["*", "a", "a_*", "class:send", "group:web"] {
            assert_eq!(ToolPattern::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "a*b", "class:", "class:all", "group:", "x:y", "a b"] {
            assert!(ToolPattern::parse(text).is_err(), "{text}");
        }
    }

    // SEC-071 SEC-077
    #[test]
    fn a_tool_of_a_server_is_held_back_by_each_of_its_names_and_passes_by_its_own_alone() {
        let others = ["keep".to_owned(), "desk_keep".to_owned()];
        let keep = ToolFacts { other_names: &others, ..tool("desk__keep", "mcp-desk", ToolClass::Write) };
        // The pattern, whether it lets the tool pass, and whether it holds it back.
        let table = [
            ("desk__keep", true, true),
            ("desk__*", true, true),
            ("group:mcp-desk", true, true),
            ("class:write", true, true),
            ("*", true, true),
            ("keep", false, true),
            ("ke*", false, true),
            ("desk_keep", false, true),
            ("desk_*", false, true),
            ("desk*", false, true),
            ("toys__keep", false, false),
            ("eep", false, false),
        ];
        for (text, passes, is_held) in table {
            let pattern = ToolPattern::parse(text).unwrap();
            assert_eq!((pattern.permits(&keep), pattern.holds_back(&keep)), (passes, is_held), "{text}");
            let rules =
                ModeRules { allow: vec![ToolPattern::All], deny: vec![pattern.clone()], ..ModeRules::default() };
            assert_eq!(allowed(Some(&rules), &keep), !is_held, "{text}");
            assert_eq!(
                allowed(Some(&ModeRules { allow: vec![pattern], ..ModeRules::default() }), &keep),
                passes,
                "{text}"
            );
        }
    }

    // OLLM-036 OLLM-136
    #[test]
    fn each_mode_offers_its_default_set() {
        let tools = [
            tool("read_file", "files", ToolClass::Read),
            tool("memory_store", "memory", ToolClass::Remember),
            tool("write_file", "files", ToolClass::Write),
            tool("http_request", "web", ToolClass::Send),
            tool("compose_email", "email", ToolClass::Send),
            tool("exec", "shell", ToolClass::Execute),
            tool("schedule_task", "scheduling", ToolClass::ChangeSelf),
            tool("update_skill", "skills", ToolClass::ChangeSelf),
        ];
        let offered = |mode: &str| {
            let rules = ModeRules::of(mode);
            tools.iter().filter(|tool| allowed(Some(&rules), tool)).map(|tool| tool.name).collect::<Vec<_>>().join(" ")
        };
        let all = "read_file memory_store write_file http_request compose_email exec schedule_task update_skill";
        for mode in ["assistant", "user", "my-own"] {
            assert_eq!(offered(mode), all, "{mode}");
        }
        assert_eq!(offered("developer").split(' ').count(), tools.len());
        assert_eq!(offered("planning"), "read_file memory_store write_file http_request schedule_task");
        assert_eq!(offered("debugger"), "read_file memory_store exec");
    }
}
