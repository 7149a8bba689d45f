//! The one plain struct with all the data that a prompt may use.
//!
//! Its JSON form, version 1, is `docs/spec/inputs.example.json`: every field may be absent and then has the stated
//! default (nothing, empty or off; `trust` is `file`, since whoever writes them down writes a file), unknown fields are
//! refused. Adding an input is adding a field with a default; who builds one writes `Inputs { .., ..Default::default() }`.
//! What somebody has said has no default: each such value is made with a label.

mod agent;
mod arguments;
mod changed;
mod flat;
mod goal;
mod history;
mod inbox;
mod json;
mod memory;
mod outside;
mod quoted;
mod skills;
mod tasks;
mod workspace;

use std::collections::BTreeMap;

use flat::inputs;

pub use agent::{
    ArgumentSchema, ModelInfo, PlatformInfo, StateReader, TimeInfo, ToolInput, ToolPlacement, ToolProtocolName, UiMode,
};
pub(crate) use arguments::schema_in_short;
pub use changed::{ChangedInput, StoredInput};
pub use goal::{
    ArtifactAction, ArtifactInput, ArtifactType, CheckpointInput, CheckpointStatus, DecisionInput, GoalInput,
    GoalStatus, MoreInput, Priority,
};
pub use history::{CallInput, DelegateInput, Digest, HistoryMessage, RoleName, StateInput, SummarizeInput};
pub use inbox::{EmailAccount, EmailInput, NewEmail, NewNotification, NewSms, NotificationsInput, SmsInput};
pub use json::{InputsError, schema};
pub use memory::{CategoryName, MemoryEntry, MemoryInput};
pub use outside::{OutsideText, TrustName};
pub use quoted::Quoted;
pub use skills::{ActiveSkill, SkillEntry, SkillSource, SkillsInput, UnusedSkill};
pub use tasks::{HeartbeatInput, PreviousReport, QuietInput, SchedulingInput, TaskEntry, Trigger, UnreadEntry};
pub use workspace::{DailyNote, SessionInput, UnreadFile, WorkspaceFile, WorkspaceInput};

/// The only version of the JSON form so far.
pub const INPUTS_VERSION: u32 = 1;

inputs! {
    /// Everything that a prompt may use; nothing else reaches a model.
    pub struct Inputs {
        /// Version of this form; only 1 is read.
        version: u32 = INPUTS_VERSION,
        /// What the agent calls itself.
        agent_name: String = "Assistant".to_owned(),
        /// The owner's soul text. Absent: the shipped one. Empty: none.
        soul: Option<String> = None,
        /// What was promoted into the soul, oldest first; each follows the soul on a line of its own.
        soul_additions: Vec<String> = Vec::new(),
        /// The owner's safety text. Absent: the shipped one. Empty: none.
        safety: Option<String> = None,
        /// The owner's additional instructions; they end the `ollm` prompt.
        additional_instructions: String = String::new(),
        /// Whether the `ollm` prompt carries its sanity checks.
        use_sanity_checks: bool = true,
        /// Whether a person waits for the answer; off in heartbeat and task runs.
        interactive: bool = true,
        /// The mode's name: assistant, developer, planning, debugger, user, or the name of an added one.
        mode: String = "assistant".to_owned(),
        /// The prompt tier, 1 to 5. Absent: from `model.window`, else 3.
        tier: Option<u8> = None,
        /// Whether replies may hold user-interface trees.
        ui_mode: UiMode = UiMode::None,
        /// The model that will read the prompt.
        model: ModelInfo = ModelInfo::default(),
        /// The tools that exist in this turn, in the order in which they are to be declared.
        tools: Vec<ToolInput> = Vec::new(),
        /// What stands behind `find_tools`: a line a tool, or a line a group of tools.
        more_tools: Vec<String> = Vec::new(),
        /// What the agent remembers.
        memory: MemoryInput = MemoryInput::default(),
        /// Tasks that wait for their time.
        scheduling: SchedulingInput = SchedulingInput::default(),
        /// What a heartbeat run reads.
        heartbeat: HeartbeatInput = HeartbeatInput::default(),
        /// Mail accounts and new mail.
        email: EmailInput = EmailInput::default(),
        /// New text messages.
        sms: SmsInput = SmsInput::default(),
        /// New notifications.
        notifications: NotificationsInput = NotificationsInput::default(),
        /// The installed skills and those active in this turn.
        skills: SkillsInput = SkillsInput::default(),
        /// The goal that the prompt shows.
        goal: Option<GoalInput> = None,
        /// Whether the model keeps goals by markers: it would have the tools for them, and has no tools.
        goal_markers: bool = false,
        /// What the agent is in the middle of; gone when it is done.
        active_context: Option<String> = None,
        /// The workspace folder and the files that prompts quote from it.
        workspace: WorkspaceInput = WorkspaceInput::default(),
        /// Where the message came from.
        session: SessionInput = SessionInput::by(TrustName::File),
        /// The message that began the work, kept word for word through compactions.
        pin: Option<Quoted> = None,
        /// Digests of what compaction took out, oldest first; when there are any they stand in place of `summary`.
        digests: Vec<Digest> = Vec::new(),
        /// What changed after the conversation's `session` text was stored.
        changed: ChangedInput = ChangedInput::default(),
        /// When the turn began; read once a turn.
        time: Option<TimeInfo> = None,
        /// The machine.
        platform: PlatformInfo = PlatformInfo::default(),
        /// Earlier messages of the conversation, exactly as they were sent.
        history: Vec<HistoryMessage> = Vec::new(),
        /// Messages of the running turn that follow the newest user message: calls, results, steering messages.
        in_flight: Vec<HistoryMessage> = Vec::new(),
        /// What a delegated run is to do.
        delegate: DelegateInput = DelegateInput::by(TrustName::File),
        /// Data of an isolated path, in that path's own form.
        payload: Option<serde_json::Value> = None,
        /// 16 hexadecimal digits drawn for this run; they mark the boundary around foreign text. Empty: derived from
        /// that text, so that rendering stays a pure function.
        boundary: String = String::new(),
        /// Where texts of these inputs come from, by field (`soul`: `home:soul.md`); a field without a row is `input:<field>`.
        origins: BTreeMap<String, String> = BTreeMap::new(),
    }
}

impl Inputs {
    /// The newest message of the person; empty where there is none.
    pub fn said(&self) -> &str {
        self.user.as_ref().map_or("", |user| user.text.as_str())
    }
}
