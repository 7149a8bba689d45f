//! The one plain struct with all the data that a prompt may use.
//!
//! Its JSON form, version 1, is `docs/spec/inputs.example.json`: every field may be absent and then has the stated
//! default (nothing, empty or off; `trust` is `owner`), unknown fields are refused. Adding an input is adding a field
//! with a default; who builds one writes `Inputs { .., ..Default::default() }`.

mod agent;
mod changed;
mod goal;
mod history;
mod inbox;
mod json;
mod memory;
mod outside;
mod skills;
mod tasks;
mod workspace;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use agent::{
    ArgumentSchema, ModelInfo, PlatformInfo, StateReader, TimeInfo, ToolInput, ToolPlacement, ToolProtocolName, UiMode,
};
pub use changed::{ChangedInput, StoredInput};
pub use goal::{
    ArtifactAction, ArtifactInput, ArtifactType, CheckpointInput, CheckpointStatus, DecisionInput, GoalInput,
    GoalStatus, MoreInput, Priority,
};
pub use history::{CallInput, DelegateInput, Digest, HistoryMessage, Quoted, RoleName, StateInput, SummarizeInput};
pub use inbox::{EmailAccount, EmailInput, NewEmail, NewNotification, NewSms, NotificationsInput, SmsInput};
pub use json::{InputsError, schema};
pub use memory::{CategoryName, MemoryEntry, MemoryInput};
pub use outside::{OutsideText, TrustName};
pub use skills::{ActiveSkill, SkillEntry, SkillSource, SkillsInput, UnusedSkill};
pub use tasks::{HeartbeatInput, PreviousReport, QuietInput, SchedulingInput, TaskEntry, Trigger, UnreadEntry};
pub use workspace::{DailyNote, SessionInput, UnreadFile, WorkspaceFile, WorkspaceInput};

/// The only version of the JSON form so far.
pub const INPUTS_VERSION: u32 = 1;

/// Everything that a prompt may use; nothing else reaches a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Inputs {
    /// Version of this form; only 1 is read.
    pub version: u32,
    /// What the agent calls itself.
    pub agent_name: String,
    /// The owner's soul text. Absent: the shipped one. Empty: none.
    pub soul: Option<String>,
    /// What was promoted into the soul, oldest first; each follows the soul on a line of its own.
    pub soul_additions: Vec<String>,
    /// The owner's safety text. Absent: the shipped one. Empty: none.
    pub safety: Option<String>,
    /// The owner's additional instructions; they end the `ollm` prompt.
    pub additional_instructions: String,
    /// Whether the `ollm` prompt carries its sanity checks.
    pub use_sanity_checks: bool,
    /// Whether a person waits for the answer; off in heartbeat and task runs.
    pub interactive: bool,
    /// The mode's name: assistant, developer, planning, debugger, user, or the name of an added one.
    pub mode: String,
    /// The prompt tier, 1 to 5. Absent: from `model.window`, else 3.
    pub tier: Option<u8>,
    /// Whether replies may hold user-interface trees.
    pub ui_mode: UiMode,
    /// The model that will read the prompt.
    pub model: ModelInfo,
    /// The tools that exist in this turn, in the order in which they are to be declared.
    pub tools: Vec<ToolInput>,
    /// What stands behind `find_tools`: a line a tool, or a line a group of tools.
    pub more_tools: Vec<String>,
    /// What the agent remembers.
    pub memory: MemoryInput,
    /// Tasks that wait for their time.
    pub scheduling: SchedulingInput,
    /// What a heartbeat run reads.
    pub heartbeat: HeartbeatInput,
    /// Mail accounts and new mail.
    pub email: EmailInput,
    /// New text messages.
    pub sms: SmsInput,
    /// New notifications.
    pub notifications: NotificationsInput,
    /// The installed skills and those active in this turn.
    pub skills: SkillsInput,
    /// The goal that the prompt shows.
    pub goal: Option<GoalInput>,
    /// Whether the model keeps goals by markers: it would have the tools for them, and has no tools.
    pub goal_markers: bool,
    /// What the agent is in the middle of; gone when it is done.
    pub active_context: Option<String>,
    /// The workspace folder and the files that prompts quote from it.
    pub workspace: WorkspaceInput,
    /// Where the message came from.
    pub session: SessionInput,
    /// Summary of what compaction took out of the conversation.
    pub summary: Option<String>,
    /// Who wrote the text that was summarised; the least trusted of them.
    pub summary_trust: TrustName,
    /// The message that began the work, kept word for word through compactions.
    pub pin: Option<Quoted>,
    /// Digests of what compaction took out, oldest first; when there are any they stand in place of `summary`.
    pub digests: Vec<Digest>,
    /// What changed after the conversation's `session` text was stored.
    pub changed: ChangedInput,
    /// When the turn began; read once a turn.
    pub time: Option<TimeInfo>,
    /// The machine.
    pub platform: PlatformInfo,
    /// Earlier messages of the conversation, exactly as they were sent.
    pub history: Vec<HistoryMessage>,
    /// The newest message of the person, as they wrote it.
    pub user_message: String,
    /// Who wrote `user_message`.
    pub user_trust: TrustName,
    /// Messages of the running turn that follow the newest user message: calls, results, steering messages.
    pub in_flight: Vec<HistoryMessage>,
    /// What a summarising call reads.
    pub summarize: SummarizeInput,
    /// What a delegated run is to do.
    pub delegate: DelegateInput,
    /// Data of an isolated path, in that path's own form.
    pub payload: Option<serde_json::Value>,
    /// 16 hexadecimal digits drawn for this run; they mark the boundary around foreign text. Empty: derived from
    /// that text, so that rendering stays a pure function.
    pub boundary: String,
    /// Where texts of these inputs come from, by field (`soul`: `home:soul.md`); a field without a row is `input:<field>`.
    pub origins: BTreeMap<String, String>,
}

impl Default for Inputs {
    fn default() -> Self {
        Self {
            version: INPUTS_VERSION,
            agent_name: "Assistant".to_owned(),
            soul: None,
            soul_additions: Vec::new(),
            safety: None,
            additional_instructions: String::new(),
            use_sanity_checks: true,
            interactive: true,
            mode: "assistant".to_owned(),
            tier: None,
            ui_mode: UiMode::None,
            model: ModelInfo::default(),
            tools: Vec::new(),
            more_tools: Vec::new(),
            memory: MemoryInput::default(),
            scheduling: SchedulingInput::default(),
            heartbeat: HeartbeatInput::default(),
            email: EmailInput::default(),
            sms: SmsInput::default(),
            notifications: NotificationsInput::default(),
            skills: SkillsInput::default(),
            goal: None,
            goal_markers: false,
            active_context: None,
            workspace: WorkspaceInput::default(),
            session: SessionInput::default(),
            summary: None,
            summary_trust: TrustName::Owner,
            pin: None,
            digests: Vec::new(),
            changed: ChangedInput::default(),
            time: None,
            platform: PlatformInfo::default(),
            history: Vec::new(),
            user_message: String::new(),
            user_trust: TrustName::Owner,
            in_flight: Vec::new(),
            summarize: SummarizeInput::default(),
            delegate: DelegateInput::default(),
            payload: None,
            boundary: String::new(),
            origins: BTreeMap::new(),
        }
    }
}
