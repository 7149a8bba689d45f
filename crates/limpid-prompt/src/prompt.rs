//! What rendering returns: messages made of parts, each with its origin, and a report of every section.

use limpid_core::{Role, ToolSpec, Trust};
use serde::{Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::inputs::{CallInput, RoleName, StateInput, TrustName};
use crate::profile::Unit;
use crate::render::Size;
use crate::section::Subject;

/// A rendered prompt: everything that a model will read, and where each byte of it comes from.
///
/// Nobody can change one, and it is made in two ways only: by rendering a profile, and from the record of a request that
/// was sent ([`Prompt::from_record`]). So every sentence that reaches a model comes from a file or a record that the
/// owner can open.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    pub(crate) profile: String,
    pub(crate) path: String,
    pub(crate) revision: String,
    pub(crate) messages: Vec<PromptMessage>,
    pub(crate) report: Vec<SectionReport>,
    pub(crate) budgets: Vec<BudgetUse>,
    pub(crate) offered: Vec<OfferedTool>,
    pub(crate) waiting: Vec<OfferedTool>,
    pub(crate) declared: bool,
    pub(crate) counter: String,
    pub(crate) totals: Option<Totals>,
    pub(crate) template: Vec<String>,
    pub(crate) window: Option<WindowUse>,
    pub(crate) system_target: Option<usize>,
}

/// The window that a prompt is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowUse {
    /// Its size in tokens.
    pub tokens: u32,
    /// How much of it is used at most.
    pub usable: u32,
}

impl WindowUse {
    /// A number of tokens as a share of the window, in percent.
    pub fn percent(self, tokens: usize) -> f64 {
        let percent = tokens as f64 * 100.0 / f64::from(self.tokens.max(1));
        (percent * 10.0).round() / 10.0
    }
}

/// How far a budget is used, after everything that it cuts was cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetUse {
    /// Whose it is: `message 0 (system) of path chat-remote`, `path chat-local`.
    pub what: String,
    /// How much is used.
    pub used: usize,
    /// How much is allowed.
    pub limit: usize,
    /// What is counted; tokens by the counter that the prompt was rendered with.
    pub unit: Unit,
    /// What each section takes, the largest first.
    pub parts: Vec<Size>,
    /// Sections that it does not count.
    pub except: Vec<String>,
}

/// Tokens of a whole prompt, by its counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Messages with their calls, and declared tools.
    pub total: usize,
    /// Declared tools.
    pub tools: usize,
}

impl Prompt {
    /// The profile that was rendered.
    pub fn profile(&self) -> &str {
        &self.profile
    }

    /// The path that was rendered.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The hash of the fixed parts: 16 hexadecimal digits that change only when what they stand for changes.
    pub fn revision(&self) -> &str {
        &self.revision
    }

    /// The messages in the order in which they are sent.
    pub fn messages(&self) -> &[PromptMessage] {
        &self.messages
    }

    /// What the model's own chat template puts around the messages, in order: shown, never sent from here.
    pub fn template(&self) -> &[String] {
        &self.template
    }

    /// The same prompt with what the model's own chat template puts around it, to be shown.
    #[must_use]
    pub fn with_template(self, template: Vec<String>) -> Self {
        Self { template, ..self }
    }

    /// One row for every section of the path.
    pub fn report(&self) -> &[SectionReport] {
        &self.report
    }

    /// How far each budget of a message and of the path is used, when tokens were counted.
    pub fn budgets(&self) -> &[BudgetUse] {
        &self.budgets
    }

    /// The window that it is for; none when it is not known.
    pub fn window(&self) -> Option<WindowUse> {
        self.window
    }

    /// Bytes below which its profile wants the system text of a usual turn.
    pub fn system_target(&self) -> Option<usize> {
        self.system_target
    }

    /// The hash of the system text: 32 hexadecimal digits.
    pub fn system_hash(&self) -> String {
        let system = self.messages.iter().filter(|message| message.role() == Role::System);
        hash_of(system.map(|message| message.text.as_bytes()))
    }

    /// The tools that are declared to the provider, in their fixed order; none when calls are made by other means.
    pub fn tools(&self) -> &[OfferedTool] {
        if self.declared { &self.offered } else { &[] }
    }

    /// The tools of which the model reads nothing until a result names them; none where it does not take such.
    pub fn waiting(&self) -> &[OfferedTool] {
        if self.declared { &self.waiting } else { &[] }
    }

    /// Everything that is declared, in an order that stays the same when a tool is found: what the model reads from the
    /// start, then by name what it reads where a result names it.
    pub fn declarations(&self) -> impl Iterator<Item = &OfferedTool> {
        let (always, loaded): (Vec<_>, Vec<_>) = self.tools().iter().partition(|tool| tool.loading == Loading::Always);
        let mut later: Vec<&OfferedTool> = loaded.into_iter().chain(self.waiting()).collect();
        later.sort_by(|one, other| one.name.cmp(&other.name));
        always.into_iter().chain(later)
    }

    /// The tools that the model may call, declared or only listed in the text.
    pub fn offered(&self) -> &[OfferedTool] {
        &self.offered
    }

    /// What counted the tokens, and how sure it is.
    pub fn counter(&self) -> &str {
        &self.counter
    }

    /// The tokens of the whole, when they were counted.
    pub fn totals(&self) -> Option<Totals> {
        self.totals
    }

    /// The rows of what a budget cut or dropped; nothing is cut silently.
    pub fn cuts(&self) -> impl Iterator<Item = &SectionReport> {
        self.report.iter().filter(|row| matches!(row.outcome, Outcome::Trimmed | Outcome::Dropped))
    }
}

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PromptMessage {
    pub(crate) role: RoleName,
    pub(crate) text: String,
    pub(crate) parts: Vec<Part>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) calls: Vec<CallInput>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) state: Vec<StatePart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) call_id: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) loads: Vec<String>,
    /// Tokens of the calls, when they were counted.
    #[serde(skip)]
    pub(crate) call_tokens: Option<usize>,
    #[serde(skip)]
    pub(crate) cache_mark: bool,
    #[serde(skip)]
    pub(crate) place: Place,
}

/// Where a message of a prompt comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// The path's list of messages.
    #[default]
    Path,
    /// The conversation before the newest message.
    History,
    /// What the running turn has added.
    InFlight,
}

impl PromptMessage {
    /// Who speaks.
    pub fn role(&self) -> Role {
        self.role.into()
    }

    /// Exactly what goes over the wire.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The parts; they and the joins between them add up to the text.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The calls of an assistant message.
    pub fn calls(&self) -> &[CallInput] {
        &self.calls
    }

    /// What its provider gets back with an assistant message.
    pub fn state(&self) -> &[StatePart] {
        &self.state
    }

    /// The call that a tool message answers.
    pub fn call_id(&self) -> Option<&str> {
        self.call_id.as_deref()
    }

    /// The tools whose declarations the model reads here, and not before the history.
    pub fn loads(&self) -> &[String] {
        &self.loads
    }

    /// Where the message comes from.
    pub fn place(&self) -> Place {
        self.place
    }

    /// Whether a provider's cache should be told to keep everything up to here.
    pub fn cache_mark(&self) -> bool {
        self.cache_mark
    }
}

/// A stretch of a message that comes from one place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    pub(crate) section: String,
    pub(crate) origin: String,
    pub(crate) text: String,
    pub(crate) bytes: usize,
    pub(crate) tokens: Option<usize>,
    pub(crate) stability: Stability,
    pub(crate) trust: TrustName,
    #[serde(skip)]
    pub(crate) subject: Subject,
}

impl Part {
    /// The section's id; `history` and `in-flight` for messages of the conversation.
    pub fn section(&self) -> &str {
        &self.section
    }

    /// Where the text comes from: `shipped:<path>:<first>-<last>`, `home:<path>:<first>-<last>`, `memory:<key>`,
    /// `task:<id>`, `skill:<name>`, `goal:<id>`, `input:<field>`, `message:<id>`, `model:chat_template`.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The text, as it stands in the message.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its tokens, when they were counted.
    pub fn tokens(&self) -> Option<usize> {
        self.tokens
    }

    /// How often it changes.
    pub fn stability(&self) -> Stability {
        self.stability
    }

    /// What its section shows; nothing is known of it in a prompt that was made of a record.
    pub fn subject(&self) -> Subject {
        self.subject
    }

    /// Who wrote it.
    pub fn trust(&self) -> Trust {
        self.trust.into()
    }
}

/// Provider state that goes back with a message. It is shown by its size only.
#[derive(Clone, Debug, PartialEq)]
pub struct StatePart {
    pub(crate) input: StateInput,
    pub(crate) tokens: Option<usize>,
}

impl StatePart {
    /// The section under which it is listed.
    pub const SECTION: &str = "reasoning";

    /// Where it comes from.
    pub const ORIGIN: &str = "model:reasoning";

    pub(crate) fn new(input: &StateInput) -> Self {
        Self { input: input.clone(), tokens: None }
    }

    /// The state itself.
    pub fn input(&self) -> &StateInput {
        &self.input
    }

    /// The provider's JSON, as it is sent.
    pub fn json(&self) -> &str {
        &self.input.json
    }

    /// Its tokens, when they were counted.
    pub fn tokens(&self) -> Option<usize> {
        self.tokens
    }
}

impl Serialize for StatePart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shown<'a> {
            section: &'a str,
            origin: &'a str,
            protocol: &'a str,
            model: &'a str,
            bytes: usize,
            tokens: Option<usize>,
        }
        let shown = Shown {
            section: Self::SECTION,
            origin: Self::ORIGIN,
            protocol: &self.input.protocol,
            model: &self.input.model,
            bytes: self.input.json.len(),
            tokens: self.tokens,
        };
        shown.serialize(serializer)
    }
}

/// How often a section's text changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stability {
    /// Only with a file.
    #[default]
    Fixed,
    /// At a border: a new conversation, a compaction, a changed file, mode or profile.
    Session,
    /// Every turn.
    Turn,
}

impl Stability {
    /// The word for it, as section files write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Session => "session",
            Self::Turn => "turn",
        }
    }
}

/// What became of one section of the path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SectionReport {
    /// The section's id.
    pub section: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Why, when it is not simply included: the gate that was false, the budget, the file that shadows it.
    pub reason: Option<String>,
    /// Bytes that it has in the prompt.
    pub bytes: usize,
    /// Its tokens by the prompt's counter, when they were counted.
    pub tokens: Option<usize>,
    /// Entries or paragraphs that are in the prompt; none for a text without any.
    pub kept: Option<usize>,
    /// Entries or paragraphs that were cut.
    pub dropped: Option<usize>,
    /// Where each entry that is in the prompt comes from, in order: `email:<account>/<id>`, `sms:<id>`, `task:<id>`.
    #[serde(skip)]
    pub entries: Vec<String>,
}

/// What became of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It is in the prompt, whole.
    Included,
    /// Its gate was false, or it has no text.
    Skipped,
    /// Some of it is in the prompt.
    Trimmed,
    /// A budget left no room for it.
    Dropped,
    /// Another file stands in its place.
    Shadowed,
}

impl Outcome {
    /// The word for it, as reports write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Included => "included",
            Self::Skipped => "skipped",
            Self::Trimmed => "trimmed",
            Self::Dropped => "dropped",
            Self::Shadowed => "shadowed",
        }
    }
}

/// A tool as it is declared to a provider: its schema is text whose bytes never change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedTool {
    pub(crate) name: String,
    pub(crate) group: String,
    pub(crate) description: String,
    pub(crate) schema: String,
    pub(crate) loading: Loading,
}

/// When a model reads the declaration of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Loading {
    /// Before everything else.
    #[default]
    Always,
    /// Where the first result of `find_tools` names it.
    Found,
    /// Not, though a result names it: it had to make room.
    Held,
}

impl Loading {
    /// The word for it, as the request log writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Found => "found",
            Self::Held => "held",
        }
    }

    /// Reads a word; nothing else is accepted.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Always, Self::Found, Self::Held].into_iter().find(|loading| loading.as_str() == word)
    }
}

impl OfferedTool {
    /// The name that the model calls.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The group that it belongs to.
    pub fn group(&self) -> &str {
        &self.group
    }

    /// What the tool does.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// When the model reads its declaration.
    pub fn loading(&self) -> Loading {
        self.loading
    }

    /// The JSON schema of its arguments, serialised.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// The tool as one JSON text, as sizes count it: name, description and schema.
    pub fn declaration(&self) -> String {
        let text = |text: &str| Value::from(text).to_string();
        format!(
            r#"{{"name":{},"description":{},"parameters":{}}}"#,
            text(&self.name),
            text(&self.description),
            self.schema
        )
    }

    /// The same as a core type.
    pub fn to_spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name.clone(),
            group: self.group.clone(),
            description: self.description.clone(),
            schema: self.schema.clone(),
        }
    }
}

/// The hash of texts, each kept apart from the next: 32 hexadecimal digits.
pub fn hash_of<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}
