//! How drafts come to their end: carried out, too old, or cut off by a crash.

use limpid_config::{TextKind, process};
use limpid_core::line::one_line;
use limpid_core::policy::Effect;
use limpid_core::{DraftState, Labelled, Sentence, Trust, sentence};
use limpid_store::{Draft, DraftId};
use limpid_turn::ToolOutcome;

use crate::deliveries::Announcement;
use crate::drafts::{Drafts, UNDER_WAY, in_short, is_chat, kept_words, missing, tool_of};
use crate::error::AgentError;
use crate::tools::OUTCOME_UNKNOWN;

/// Characters of a result that the chat is told; the draft holds it whole.
const SAID: usize = 300;

impl Drafts {
    /// Ends the drafts that waited too long, and those that a dead process was carrying out; the chat that they came
    /// from is told.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn expire_and_recover(&self) -> Result<(), AgentError> {
        let now_ms = self.0.host.now_ms();
        for draft in self.0.store.drafts(&UNDER_WAY).await?.rows {
            let (next, why) = match draft.state {
                DraftState::Open if draft.new.expires_ms <= now_ms => (DraftState::Expired, "nobody answered in time"),
                DraftState::Approved if process::is_dead(&draft.detail) => {
                    (DraftState::Open, "the program stopped before anything left, so it waits for you again")
                }
                DraftState::Sending if process::is_dead(&draft.detail) => (DraftState::Failed, OUTCOME_UNKNOWN),
                _ => continue,
            };
            // Somebody else may have been faster, and may have approved it again by now.
            if let Some(moved) = self.0.store.move_draft_as_seen(&draft, next, why, now_ms).await? {
                self.announce(moved);
                let told = |of: Sentence| sentence!("Draft {} {}: {} ({}).", draft.id.0, next.in_words(), why, of);
                self.tell(&draft, next, told(tool_of(&draft.new)), told(in_short(&draft.new))).await?;
            }
        }
        Ok(())
    }

    /// What a draft is said to do or have done; of one that was carried out, by what its call changes.
    pub fn in_words(&self, draft: &Draft) -> &'static str {
        if draft.state != DraftState::Sent {
            return draft.state.in_words();
        }
        let arguments = serde_json::from_str(&draft.new.arguments).unwrap_or_default();
        let tool = self.0.tools.tool(&draft.new.tool);
        match tool.map(|tool| tool.effect(&arguments)) {
            Some(Effect::Send) => "was sent",
            Some(Effect::Files) => "was carried out: the file was written",
            Some(Effect::Run) if tool.is_some_and(|tool| tool.plans(&arguments).is_some()) => {
                "was carried out: the command was planned"
            }
            Some(Effect::Run) => "was carried out: the program ran",
            Some(Effect::Mailbox) => "was carried out: the mailbox was changed",
            Some(Effect::Plan) => "was carried out: the task was made",
            Some(Effect::Remember) => "was carried out: it was kept",
            Some(Effect::ChangeOwned) => "was carried out: the change was made",
            Some(Effect::Fetch(_)) => "was carried out: the address was fetched",
            Some(Effect::Show(_)) => "was carried out: the address was opened",
            _ => "was carried out",
        }
    }

    /// Tells the owner of a draft that was kept, `before` the words before what it calls. Whom it concerns and why it waits may be
    /// private, so that is told where they alone read it.
    ///
    /// # Errors
    /// When the conversation is gone, or the store fails.
    pub async fn tell_kept(&self, draft: &Draft, before: &'static str) -> Result<(), AgentError> {
        let (kept, why) = (kept_words(draft.id), Labelled::new(&draft.new.why, draft.new.trust));
        let for_all = sentence!("{} {} {}.", kept, before, tool_of(&draft.new));
        let for_owner = sentence!("{} {} {}. It waits: {}.", kept, before, in_short(&draft.new), why);
        self.tell(draft, draft.state, for_all, for_owner).await
    }

    /// Tells the chat that a draft came from or that its agent works for, or where reports go when it came from a run in the
    /// background: whatever was private where the draft was made may be read by others there, who are told of the tool alone.
    async fn tell(
        &self,
        draft: &Draft,
        state: DraftState,
        for_all: Sentence,
        for_owner: Sentence,
    ) -> Result<(), AgentError> {
        let agent = self.0.store.agent_in(&draft.new.conversation).await?;
        let of = agent.as_ref().map_or(&draft.new.conversation, |agent| &agent.chat);
        let conversation = self.0.directory.existing(of).await?;
        let chat = is_chat(conversation.kind).then_some(&conversation.id);
        // It may be open again more than once, and is told each time.
        let key = match state {
            DraftState::Open => format!("draft:{}:{state}:{}", draft.id.0, draft.changed_ms),
            _ => format!("draft:{}:{state}", draft.id.0),
        };
        let told = Announcement::new(tool_of(&draft.new), for_all).for_owner_alone(in_short(&draft.new), for_owner);
        self.0.deliveries.notice(chat, &key, told.of_draft(draft.id)).await?;
        Ok(())
    }

    /// Writes down what came of a draft that was carried out; none: it gave no result in time and was stopped.
    pub(super) async fn end(&self, id: DraftId, ended: Option<ToolOutcome>) -> Result<Draft, AgentError> {
        let draft = self.0.store.draft(id).await?.ok_or_else(|| missing(id))?;
        let tools = self.0.executor.outside_turns();
        let kind = ended.as_ref().map_or(TextKind::Said, |ended| tools.kind_of_result(&draft.new.tool, ended));
        let own = |words: &str| (false, Labelled::new(words.to_owned(), Trust::Owner));
        let (done, detail) = match (ended, draft.state) {
            (Some(ToolOutcome { said, failed, .. }), _) => (!failed, said),
            (None, DraftState::Approved) => own("no result in time; nothing was sent"),
            (None, _) => own("no result in time; its outcome is unknown"),
        };
        let (detail, trust) = detail.into_parts();
        let detail = self.0.redactor.clean_as(kind, detail);
        let ended = self.write_end(draft, done, &detail).await?;
        self.tell_outcome(&ended, Labelled::new(detail, trust)).await;
        Ok(ended)
    }

    async fn write_end(&self, draft: Draft, done: bool, detail: &str) -> Result<Draft, AgentError> {
        let id = draft.id;
        let next = match (draft.state, done) {
            // Whatever came after it arrived changes nothing about that.
            (DraftState::Sent, true) => {
                return Ok(self.0.store.annotate_draft(id, detail, self.0.host.now_ms()).await?);
            }
            (DraftState::Sent, false) => return Ok(draft),
            (DraftState::Approved, true) => {
                self.move_draft(id, DraftState::Sending, self.0.host.holder()).await?;
                DraftState::Sent
            }
            (_, true) => DraftState::Sent,
            (_, false) => DraftState::Failed,
        };
        Ok(self.move_draft(id, next, detail).await?)
    }

    pub(super) async fn fail(&self, id: DraftId, why: Sentence) -> Result<Draft, AgentError> {
        let failed = self.move_draft(id, DraftState::Failed, why.text()).await?;
        self.tell_outcome(&failed, why.into()).await;
        Ok(failed)
    }

    /// Tells the chat that a draft came from in one line what the owner has made of it, and what it came to. The draft has ended
    /// also where that cannot be written.
    pub(super) async fn tell_outcome(&self, draft: &Draft, said: Labelled<String>) {
        let ended = |of: Sentence| sentence!("Draft {} {} ({})", draft.id.0, self.in_words(draft), of);
        // What came of it may be the owner's; where others read the chat, `limpid draft show` has it.
        let (for_all, mut for_owner) = (ended(tool_of(&draft.new)), ended(in_short(&draft.new)));
        let said = said.map(|said| in_one_line(&said));
        if !said.value().is_empty() {
            for_owner = sentence!("{}: {}", for_owner, said);
        }
        let _ = self.tell(draft, draft.state, for_all, for_owner).await;
    }
}

/// A result in the one line that a chat is told.
fn in_one_line(said: &str) -> String {
    let line = one_line(said);
    let more = if line.chars().count() > SAID { "…" } else { "" };
    line.chars().take(SAID).chain(more.chars()).collect()
}
