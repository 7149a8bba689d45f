//! Drafts: calls that waited for the owner when nobody was there to be asked.

mod finish;
mod grants;
mod judged_again;
mod kept_words;
mod led_by;
mod send_state;

use std::path::Path;
use std::sync::Arc;

use limpid_config::{Config, Live, Redactor};
use limpid_core::{
    ConversationId, DraftState, Labelled, Sentence, Tier, ToolCall, Trust, TurnId, is_seen_hash, sentence,
};
use limpid_store::{
    ConversationKind, Draft, DraftEvent, DraftId, DraftRoom, ItemId, Listed, NewDraft, Store, StoreError,
};
use limpid_turn::{Approval, HeldCall, PlannedCall};

pub use crate::drafts::judged_again::asked_by;
use crate::drafts::judged_again::call_context;
pub use crate::drafts::kept_words::{behind_kept_words, held_words, kept_words};
pub use crate::drafts::led_by::led_by;
use crate::drafts::send_state::DraftSendState;

use crate::deliveries::Deliveries;
use crate::directory::Directory;
use crate::error::AgentError;
use crate::events::{EventBus, EventKind};
use crate::host::Host;
use crate::modes::{is_set, mode_of, with_mode_of_chat};
use crate::profiles::{ProfileRegistry, Reader};
use crate::timers::SchedulerWaker;
use crate::tools::{
    CallDescription, Decision, PolicyRules, SendState, ShownItems, ToolCatalog, ToolContext, ToolExecutor, Written,
    is_same_call,
};

/// Why a draft is not carried out that leads elsewhere by now.
const NOT_THE_SAME: &str = "the arguments, the folder or the program are not what they were when it was kept";

/// The kind of the timer at which drafts that nobody answers expire.
pub const EXPIRY_TIMER: &str = "expiry";

/// The name of that timer.
const EXPIRY: &str = "drafts";

/// The path of calls that no turn makes; every path has the same rules but that of few tools.
const CHAT: &str = "chat-remote";

/// States that a draft is in before its end.
const UNDER_WAY: [DraftState; 3] = [DraftState::Open, DraftState::Approved, DraftState::Sending];

/// What drafts are made from.
pub struct DraftOptions {
    /// Modes and limits.
    pub config: Live<Config>,
    /// Clock, zone and process.
    pub host: Host,
    /// Where drafts are kept.
    pub store: Arc<dyn Store>,
    /// Which conversation a draft comes from.
    pub directory: Directory,
    /// Tell the owner what became of a draft.
    pub deliveries: Deliveries,
    /// Tells whoever watches what a draft has become.
    pub events: EventBus,
    /// Takes secrets out of what is kept.
    pub redactor: Redactor,
    /// Profiles, for the rules of modes.
    pub profiles: Arc<ProfileRegistry>,
    /// All tools.
    pub tools: Live<ToolCatalog>,
    /// Carries out what was approved.
    pub executor: ToolExecutor,
    /// What the policies of calls are made from.
    pub policy: PolicyRules,
    /// Whoever serves looks again when a draft may expire earlier.
    pub waker: Arc<SchedulerWaker>,
}

/// Calls that wait for the owner, and what the owner allowed for the rest of a conversation.
#[derive(Clone)]
pub struct Drafts(Arc<DraftOptions>);

impl Drafts {
    /// The drafts of a store.
    pub fn new(options: DraftOptions) -> Self {
        Self(Arc::new(options))
    }

    /// The drafts: those that wait or are under way, or (`all`) every one. What waited too long is expired first; one that
    /// a crash cut off waits again when nothing of it had left, else it counts as failed.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub async fn list(&self, all: bool) -> Result<Listed<Draft>, AgentError> {
        self.expire_and_recover().await?;
        let states = if all { &DraftState::ALL[..] } else { &UNDER_WAY[..] };
        Ok(self.0.store.drafts(states).await?)
    }

    /// One draft, and what happened to it.
    ///
    /// # Errors
    /// When there is none of that number, or the store cannot be read.
    pub async fn get(&self, id: DraftId) -> Result<(Draft, Vec<DraftEvent>), AgentError> {
        self.expire_and_recover().await?;
        let draft = self.0.store.draft(id).await?.ok_or_else(|| missing(id))?;
        Ok((draft, self.0.store.draft_events(id).await?.rows))
    }

    /// Approves a draft and carries out exactly what it holds, once; with `seen`, only if the draft still is what was
    /// looked at: its hash begins so. The draft says what came of it. One whose files have changed does not run: it is bound to
    /// what is there now, says what has changed, and waits again.
    ///
    /// # Errors
    /// When there is none, when it does not wait any more, or when it is something else than what was looked at.
    pub async fn approve(&self, id: DraftId, seen: Option<&str>) -> Result<Draft, AgentError> {
        self.expire_and_recover().await?;
        let parts = &self.0;
        let draft = parts.store.draft(id).await?.ok_or_else(|| missing(id))?;
        if seen.is_some_and(|seen| !is_seen_hash(seen, &draft.new.hash)) {
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
        let now_ms = parts.host.now_ms();
        let approved = Some(Approval { bound_to: draft.new.hash.clone(), at_ms: now_ms });
        let planned =
            PlannedCall { call, timeout: parts.tools.time_limit(&draft.new.tool, &parts.config.limits), approved };
        let context = self.context_of(&draft).await?;
        let tools = parts.executor.outside_turns();
        // Whatever the modes say by now, the owner has said yes to this very call; nothing else is let through.
        let call_context = call_context(&draft);
        let mut judged = tools.decide(&planned, &call_context, now_ms).await;
        let has_waited = match &judged {
            Decision::Run(permit) if permit.is_approved() => {
                tools.wait_for(permit).await.map_err(|why| still_waits(id, why))?
            }
            _ => false,
        };
        if has_waited {
            judged = tools.decide(&planned, &call_context, now_ms).await;
        }
        let (permit, now) = match judged {
            Decision::Run(permit) if permit.is_approved() => (Ok(permit), None),
            Decision::Run(permit) => (Err(NOT_THE_SAME.into()), Some(tools.question(*permit, &call_context).await)),
            Decision::Ask(why) => (Err(NOT_THE_SAME.into()), Some(why)),
            Decision::Refused(why) => return Err(still_waits(id, why)),
        };
        if let Some(why) = now.filter(|why| is_same_call(&draft.new.hash, &why.bound_to))
            && let Some(described) = tools.describe(&planned.call, &call_context).await
        {
            return judged_again::put_again(self, &draft, planned.call, why, described).await;
        }
        self.announce(parts.store.keep_approval(id, &draft.new.hash, parts.host.holder(), now_ms).await?);
        let permit = match permit {
            Ok(permit) => permit,
            Err(why) => return self.fail(id, why).await,
        };
        let marks = parts.tools.tool(&draft.new.tool).is_some_and(|tool| tool.marks_send_state());
        let send_state = DraftSendState::new(self, id);
        if !marks {
            send_state.leaves().await.map_err(AgentError::Invalid)?;
        }
        let send_state: Arc<dyn SendState> = Arc::new(send_state);
        let shown = context.shown.clone();
        let running = tools.run(ToolContext { send_state: marks.then_some(send_state), ..context }, *permit);
        let ended = tokio::time::timeout(planned.timeout, running).await;
        if ended.as_ref().is_ok_and(|outcome| !outcome.failed) {
            let items: Vec<ItemId> = shown.take().into_iter().map(ItemId).collect();
            parts.store.mark_shown(&items, parts.host.now_ms()).await?;
        }
        self.end(id, ended.ok()).await
    }

    /// Puts other arguments into a draft, as JSON. They are checked as a call's are, and whatever approval the draft had
    /// is void.
    ///
    /// # Errors
    /// When there is none, when it does not wait any more, or when the call would be refused.
    pub async fn edit(&self, id: DraftId, arguments: &str) -> Result<Draft, AgentError> {
        judged_again::edit(self, id, arguments).await
    }

    /// Says no to a draft.
    ///
    /// # Errors
    /// When there is none, or it does not wait any more.
    pub async fn refuse(&self, id: DraftId) -> Result<Draft, AgentError> {
        self.expire_and_recover().await?;
        let refused = self.move_draft(id, DraftState::Refused, "").await?;
        self.tell_outcome(&refused, Labelled::new(String::new(), Trust::Owner)).await;
        Ok(refused)
    }

    /// Keeps a call for the owner, and has it expire in time; none when too many wait already.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn keep(&self, new: NewDraft, room: DraftRoom) -> Result<Option<Draft>, AgentError> {
        let Some(draft) = self.0.store.keep_draft(new, room).await? else { return Ok(None) };
        let draft = self.announce(draft);
        if let Some(due_ms) = self.next_expiry_ms().await? {
            self.0.store.set_timer(EXPIRY_TIMER, EXPIRY, due_ms).await?;
            self.0.waker.wake();
        }
        Ok(Some(draft))
    }

    /// When the next draft expires, in milliseconds since 1970.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn next_expiry_ms(&self) -> Result<Option<i64>, AgentError> {
        let open = self.0.store.drafts(&[DraftState::Open]).await?.rows;
        Ok(open.into_iter().map(|draft| draft.new.expires_ms).min())
    }

    /// Whether the mode of a conversation lets nothing in the workspace change.
    async fn is_read_only(&self, id: &ConversationId) -> Result<bool, AgentError> {
        let conversation = self.0.directory.existing(id).await?;
        let conversation = with_mode_of_chat(&*self.0.store, &self.0.config, conversation).await?;
        let profile = self.0.profiles.profile(&conversation.profile, Reader::Owner)?;
        let mode = mode_of(&self.0.config, &conversation);
        let set = is_set(Some(&conversation), mode);
        Ok(self.0.policy.for_turn(&profile, CHAT, (mode, set), None).is_read_only())
    }

    async fn move_draft(&self, id: DraftId, state: DraftState, detail: &str) -> Result<Draft, StoreError> {
        Ok(self.announce(self.0.store.move_draft(id, state, detail, self.0.host.now_ms()).await?))
    }

    /// Tells everybody who watches what a draft has become.
    fn announce(&self, draft: Draft) -> Draft {
        let change =
            EventKind::DraftUpdated { draft: draft.id.0, tool: draft.new.tool.clone(), state: draft.state.to_string() };
        self.0.events.send(Some(&draft.new.conversation), change);
        draft
    }

    async fn context_of(&self, draft: &Draft) -> Result<ToolContext, AgentError> {
        Ok(ToolContext {
            now: self.0.host.now(),
            zone: self.0.host.zone(),
            conversation: draft.new.conversation.clone(),
            turn: draft.new.turn.clone(),
            call: draft.new.call.clone(),
            trust: draft.new.trust,
            tier: Tier::ALL[2],
            read_only: self.is_read_only(&draft.new.conversation).await?,
            approved: false,
            snapshot: None,
            bans: limpid_core::policy::Bans::default(),
            unused_skills: Vec::new(),
            private_place: None,
            may_lead_to_key: true,
            drawn: false,
            program: None,
            send_state: None,
            tools_of_agents: None,
            shown: ShownItems::default(),
            written: Written::default(),
            owner: None,
        })
    }
}

/// A call that nobody could be asked about, as a draft.
pub fn new_draft(
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
        about: held.why.about.clone(),
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
fn is_chat(kind: ConversationKind) -> bool {
    matches!(kind, ConversationKind::Chat | ConversationKind::Interactive | ConversationKind::Heartbeat)
}

/// What a draft would do, in a few words. Of a program only the tool: its path is one that was found on the disk, and whoever made the
/// link to it has named it.
fn in_short(draft: &NewDraft) -> Sentence {
    match draft.destination.as_deref().filter(|destination| !Path::new(destination).is_absolute()) {
        Some(destination) => sentence!("{} to {}", tool_of(draft), Labelled::new(destination, draft.trust)),
        None => tool_of(draft),
    }
}

/// The tool that a draft would call: all that others may read of it. What led to the call has a part in its name.
fn tool_of(draft: &NewDraft) -> Sentence {
    sentence!("{}", Labelled::new(&draft.tool, draft.trust))
}

/// Nothing was begun, so nothing is used up.
fn still_waits(id: DraftId, why: Sentence) -> AgentError {
    AgentError::Invalid(format!("draft {} still waits, since it cannot be carried out: {}", id.0, why.into_text()))
}

fn missing(id: DraftId) -> AgentError {
    AgentError::NotFound { what: "draft", name: id.0.to_string(), advice: "`limpid draft list` lists them".to_owned() }
}
