//! Drafts: calls that waited for the owner when nobody was there to be asked.

pub(crate) mod finish;
pub(crate) mod led_by;
pub(crate) mod send_state;

use std::sync::Arc;
use std::time::Duration;

use limpid_core::policy::Grant;
use limpid_core::{ConversationId, DraftState, Tier, ToolCall, Trust, TurnId};
use limpid_store::{
    ConversationKind, Draft, DraftEdit, DraftEvent, DraftId, ItemId, Listed, NewDraft, NewSetting, StoreError,
};
use limpid_turn::{HeldCall, PlannedCall, ToolOutcome};
use serde::{Deserialize, Serialize};

pub(crate) use crate::services::drafts::led_by::led_by;
use crate::services::drafts::send_state::DraftPassage;

use crate::agent::{Agent, Inner};
use crate::services::error::AgentError;
use crate::services::events::EventKind;
use crate::services::modes::is_set;
use crate::services::tools::policy::{CallContext, CallDescription};
use crate::services::tools::{Decision, Passage, ShownItems, ToolContext};

/// The path of calls that no turn makes; every path has the same rules but that of few tools.
const CHAT: &str = "chat-remote";

/// The name of the setting that holds what the owner allowed for a conversation.
const GRANT: &str = "grant";

/// Grants of one conversation that count; older ones are asked about again.
const GRANTS: u32 = 200;

/// States that a draft is in before its end.
const UNDER_WAY: [DraftState; 3] = [DraftState::Open, DraftState::Approved, DraftState::Sending];

impl Agent {
    /// The drafts: those that wait or are under way, or (`all`) every one. What waited too long is expired first; one that
    /// a crash cut off waits again when nothing of it had left, else it counts as failed.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub async fn drafts(&self, all: bool) -> Result<Listed<Draft>, AgentError> {
        self.inner.settle_drafts().await?;
        let states = if all { &DraftState::ALL[..] } else { &UNDER_WAY[..] };
        Ok(self.inner.store.drafts(states).await?)
    }

    /// One draft, and what happened to it.
    ///
    /// # Errors
    /// When there is none of that number, or the store cannot be read.
    pub async fn draft(&self, id: DraftId) -> Result<(Draft, Vec<DraftEvent>), AgentError> {
        self.inner.settle_drafts().await?;
        let draft = self.inner.store.draft(id).await?.ok_or_else(|| missing(id))?;
        Ok((draft, self.inner.store.draft_events(id).await?.rows))
    }

    /// Puts other arguments into a draft, as JSON. They are checked as a call's are, and whatever approval the draft had
    /// is void.
    ///
    /// # Errors
    /// When there is none, when it does not wait any more, or when the call would be refused.
    pub async fn edit_draft(&self, id: DraftId, arguments: &str) -> Result<Draft, AgentError> {
        self.inner.settle_drafts().await?;
        let inner = &self.inner;
        let draft = inner.store.draft(id).await?.ok_or_else(|| missing(id))?;
        let arguments = inner.redactor.clean(arguments.trim().to_owned());
        let call = ToolCall { id: draft.new.call.clone(), name: draft.new.tool.clone(), arguments };
        let tools = inner.executor.outside_turns();
        let planned = PlannedCall { call: call.clone(), timeout: inner.tool_time(&draft.new.tool), approved: None };
        let call_context = CallContext { trust: draft.new.trust, ..CallContext::default() };
        let hash = match tools.decide(&planned, &call_context).await {
            Decision::Ask(why) => why.bound_to,
            Decision::Run(permit) => permit.hash().to_owned(),
            Decision::Refused(why) => return Err(AgentError::Invalid(why)),
        };
        let gone = || AgentError::Invalid(format!("there is no tool `{}` any more", call.name));
        let CallDescription { destination, folder, .. } = tools.describe(&call).ok_or_else(gone)?;
        let edit = DraftEdit { arguments: call.arguments, hash, folder, destination };
        Ok(inner.announce_draft(inner.store.change_draft(id, edit, inner.host.now_ms()).await?))
    }

    /// Approves a draft and carries out exactly what it holds, once. The draft says what came of it.
    ///
    /// # Errors
    /// When there is none, when it does not wait any more, or when it would no longer be what was asked about.
    pub async fn approve_draft(&self, id: DraftId) -> Result<Draft, AgentError> {
        self.approve(id, None).await
    }

    /// The same, only if the draft still is what was looked at: its hash begins so.
    ///
    /// # Errors
    /// As [`Agent::approve_draft`]; and when it is something else by now.
    pub async fn approve_draft_as_seen(&self, id: DraftId, hash: &str) -> Result<Draft, AgentError> {
        self.approve(id, Some(hash)).await
    }

    async fn approve(&self, id: DraftId, seen: Option<&str>) -> Result<Draft, AgentError> {
        self.inner.settle_drafts().await?;
        let inner = &self.inner;
        let draft = inner.store.draft(id).await?.ok_or_else(|| missing(id))?;
        if seen.is_some_and(|seen| seen.is_empty() || !draft.new.hash.starts_with(seen)) {
            return Err(AgentError::Invalid(format!(
                "draft {} is not what was looked at; `limpid draft show {}` shows what it is",
                id.0, id.0
            )));
        }
        let call = ToolCall {
            id: draft.new.call.clone(),
            name: draft.new.tool.clone(),
            arguments: draft.new.arguments.clone(),
        };
        let approved = Some(draft.new.hash.clone());
        let planned = PlannedCall { call, timeout: inner.tool_time(&draft.new.tool), approved };
        let context = inner.draft_context(&draft).await?;
        inner.announce_draft(
            inner.store.keep_approval(id, &draft.new.hash, inner.host.holder(), inner.host.now_ms()).await?,
        );

        let tools = inner.executor.outside_turns();
        // Whatever the modes say by now, the owner has said yes to this very call; nothing else is let through.
        let call_context = CallContext { trust: draft.new.trust, ..CallContext::default() };
        let permit = match tools.decide(&planned, &call_context).await {
            Decision::Run(permit) if permit.is_bound_to(&draft.new.hash) => permit,
            Decision::Refused(why) => return inner.draft_failed(id, &why).await,
            Decision::Run(_) | Decision::Ask(_) => {
                let why = "the arguments, the folder or the program are not what they were when it was kept";
                return inner.draft_failed(id, why).await;
            }
        };
        let marks = inner.tools.tool(&draft.new.tool).is_some_and(|tool| tool.marks_passage());
        let passage = DraftPassage::new(inner, id);
        if !marks {
            passage.leaves().await.map_err(AgentError::Invalid)?;
        }
        let passage: Arc<dyn Passage> = Arc::new(passage);
        let shown = context.shown.clone();
        let running = tools.run(ToolContext { passage: marks.then_some(passage), ..context }, *permit);
        let ended = tokio::time::timeout(planned.timeout, running).await;
        if matches!(ended, Ok(ToolOutcome::Done { .. })) {
            let items: Vec<ItemId> = shown.take().into_iter().map(ItemId).collect();
            inner.store.mark_shown(&items, inner.host.now_ms()).await?;
        }
        inner.end_draft(id, ended.ok()).await
    }

    /// Says no to a draft.
    ///
    /// # Errors
    /// When there is none, or it does not wait any more.
    pub async fn refuse_draft(&self, id: DraftId) -> Result<Draft, AgentError> {
        self.inner.settle_drafts().await?;
        Ok(self.inner.move_draft(id, DraftState::Refused, "").await?)
    }
}

impl Inner {
    /// What the owner allowed for the rest of a conversation.
    pub(crate) async fn grants(&self, conversation: &ConversationId) -> Result<Vec<Grant>, AgentError> {
        let listed = self.store.setting_events(Some(conversation), GRANT, GRANTS).await?;
        let grant = |text: &str| serde_json::from_str::<GrantRow>(text).ok();
        let rows = listed.rows.iter().filter_map(|event| grant(event.value.as_deref()?));
        Ok(rows.map(|row| Grant { tool: row.tool, pattern: row.pattern }).collect())
    }

    /// Allows calls of one pattern for the rest of a conversation.
    pub(crate) async fn grant(&self, conversation: &ConversationId, grant: Grant) -> Result<(), AgentError> {
        let row = GrantRow { tool: grant.tool, pattern: grant.pattern };
        // Plain data with text keys always serialises.
        let value = serde_json::to_string(&row).unwrap_or_default();
        let setting = NewSetting { name: GRANT.to_owned(), value: Some(value), trigger: "manual".to_owned() };
        self.store.set_in_conversation(conversation, Vec::new(), vec![setting], self.host.now_ms()).await?;
        Ok(())
    }

    /// Whether the mode of a conversation lets nothing in the workspace change.
    async fn is_read_only(&self, id: &ConversationId) -> Result<bool, AgentError> {
        let conversation = self.directory.existing(id).await?;
        let profile = self.profiles.profile(&conversation.profile)?;
        let mode = self.mode_of(&conversation);
        let set = is_set(Some(&conversation), mode);
        Ok(self.context.policy.for_turn(&profile, CHAT, mode, set).is_read_only())
    }

    async fn move_draft(&self, id: DraftId, state: DraftState, detail: &str) -> Result<Draft, StoreError> {
        Ok(self.announce_draft(self.store.move_draft(id, state, detail, self.host.now_ms()).await?))
    }

    /// Tells everybody who watches what a draft has become.
    pub(crate) fn announce_draft(&self, draft: Draft) -> Draft {
        let change =
            EventKind::DraftUpdated { draft: draft.id.0, tool: draft.new.tool.clone(), state: draft.state.to_string() };
        self.bus.send(Some(&draft.new.conversation), change);
        draft
    }

    async fn draft_context(&self, draft: &Draft) -> Result<ToolContext, AgentError> {
        Ok(ToolContext {
            now: self.host.now(),
            zone: self.host.zone(),
            conversation: draft.new.conversation.clone(),
            turn: draft.new.turn.clone(),
            trust: draft.new.trust,
            tier: Tier::ALL[2],
            read_only: self.is_read_only(&draft.new.conversation).await?,
            approved: false,
            passage: None,
            shown: ShownItems::default(),
        })
    }

    /// How long a call of a tool may take.
    pub(crate) fn tool_time(&self, name: &str) -> Duration {
        let own = self.tools.tool(name).and_then(|tool| tool.timeout());
        own.unwrap_or_else(|| Duration::from_secs(self.config.limits.tool_seconds))
    }
}

/// A call that nobody could be asked about, as a draft.
pub(crate) fn new_draft(
    (conversation, turn): (&ConversationId, &TurnId),
    held: &HeldCall,
    described: CallDescription,
    (led_by, trust): (String, Trust),
    now_ms: i64,
) -> NewDraft {
    NewDraft {
        conversation: conversation.clone(),
        turn: turn.clone(),
        call: held.call.id.clone(),
        tool: held.call.name.clone(),
        arguments: held.call.arguments.clone(),
        hash: held.why.bound_to.clone(),
        folder: described.folder,
        destination: described.destination,
        why: held.why.reason.clone(),
        led_by,
        trust,
        now_ms,
        expires_ms: now_ms.saturating_add(limpid_core::draft::DRAFT_LIFE_MS),
    }
}

/// Whether people read a conversation of this kind by themselves.
pub(crate) fn is_chat(kind: ConversationKind) -> bool {
    matches!(kind, ConversationKind::Chat | ConversationKind::Heartbeat)
}

/// What a draft would do, in a few words.
pub(crate) fn in_short(draft: &NewDraft) -> String {
    match &draft.destination {
        Some(destination) => format!("{} to {destination}", draft.tool),
        None => draft.tool.clone(),
    }
}

#[derive(Serialize, Deserialize)]
struct GrantRow {
    tool: String,
    pattern: String,
}

fn missing(id: DraftId) -> AgentError {
    AgentError::NotFound { what: "draft", name: id.0.to_string(), advice: "`limpid draft list` lists them".to_owned() }
}
