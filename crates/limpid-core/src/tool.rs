//! What a tool is to a model, how a model can be made to call one, and which tools a local model is offered.

/// What a model is told about one tool. Name and description are prompt text; the schema is JSON text whose bytes
/// never change between requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSpec {
    /// The name that the model calls.
    pub name: String,
    /// The group that the tool belongs to (`memory`, `schedule`, `skills`, …).
    pub group: String,
    /// What the tool does, in a line or two.
    pub description: String,
    /// The JSON schema of its arguments, serialised.
    pub schema: String,
}

/// What kind of effect a tool has: what policies and approvals are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ToolClass {
    /// It looks and changes nothing.
    Read,
    /// It keeps something for later: a memory, a goal's step.
    Remember,
    /// It changes files of the workspace, or plans work.
    Write,
    /// Something leaves for other people or machines.
    Send,
    /// A program runs.
    Execute,
    /// It changes what the agent is told or may do: prompt files, soul, skills, schedules, policies.
    ChangeSelf,
}

impl ToolClass {
    /// Every class.
    pub const ALL: [Self; 6] = [Self::Read, Self::Remember, Self::Write, Self::Send, Self::Execute, Self::ChangeSelf];

    /// The class's name, as settings write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Remember => "remember",
            Self::Write => "write",
            Self::Send => "send",
            Self::Execute => "execute",
            Self::ChangeSelf => "change-self",
        }
    }

    /// Reads a class's name; nothing else is accepted.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.as_str() == word)
    }
}

/// How tool calls are obtained from a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ToolProtocol {
    /// The model cannot call tools; none are offered.
    None,
    /// Tools are declared to the provider and calls come back as such.
    #[default]
    Native,
    /// The prompt lists the tools, and the reply is constrained to a JSON schema that holds either calls or an answer.
    Json,
}

impl ToolProtocol {
    /// The protocol's name, as settings write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Native => "native",
            Self::Json => "json",
        }
    }

    /// Reads a protocol's name; nothing else is accepted.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::None, Self::Native, Self::Json].into_iter().find(|protocol| protocol.as_str() == word)
    }
}

/// Tools that do the same under the names that profiles know them by. What the owner's rules hold back of one they hold back of each.
const SAME_TOOLS: [&[&str]; 5] = [
    &["exec", "execute_shell_command"],
    &["schedule_task", "schedule_job", "cron"],
    &["list_tasks", "list_jobs"],
    &["cancel_task", "cancel_job", "cron"],
    &["spawn_agent", "spawn", "subagent"],
];

/// The names under which profiles know a tool, its own among them; none when it has one name.
pub fn names_of_same(tool: &str) -> impl Iterator<Item = &str> {
    let known = SAME_TOOLS.iter().filter(move |names| names.contains(&tool));
    known.flat_map(|names| names.iter().copied())
}

/// The tools that `chat-local` may offer: few enough for a model of 2 to 4 billion parameters.
pub const LOCAL_TOOL_ALLOWLIST: [&str; 8] = [
    "get_local_time",
    "get_location_from_ip",
    "web_search",
    "open_url",
    "memory_store",
    "memory_forget",
    "memory_reinforce",
    "execute_shell_command",
];
