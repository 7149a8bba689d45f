//! Decides whether a call may run: it is looked at, judged, and held against a yes.

use std::sync::Arc;

use limpid_core::policy::{Effect, FileChange, PathFacts, RefusedBy, Verdict};
use limpid_core::{ConversationId, Sentence, ToolCall, Trust, sentence};
use limpid_store::{Audience, Store, StoreError};
use limpid_tools::{Concerned, Tool, check_arguments, echoed};
use limpid_turn::{Approval, PlannedCall, Why};
use serde_json::Value;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

use crate::directory::task_of_run;
use crate::tools::executor::{Decision, Permit, TurnToolExecutor};
use crate::tools::policy::{CallContext, CallDescription, CallFacts, LONGEST_PATH, Pins, changes};

/// Chats above a conversation that are asked: agents of agents, of a run of a task.
const CHATS: usize = 8;

/// In the place of why a call cannot run, where a stranger's text led to it and others read what comes of it.
pub(super) const NOT_FOR_OTHERS: &str =
    "this call cannot run; the reason is withheld, because others read this conversation";

/// Why a call that a rule forbids, or that cannot run, waits where others read and a stranger's text led to it: they are told the same
/// as of each that waits.
const FORBIDDEN: &str = "your rules forbid it, so a yes does not let it run";
const CANNOT_RUN: &str = "it cannot run as it stands, so a yes does not let it run";

/// Why a call does not run that leads to something else than when it was judged.
pub(super) const MOVED: &str = "its folder, or what it may see, changed after the call was checked; call it again";

/// Whether others read a conversation, or the chat that an agent or a task's run works for in it.
async fn is_read_by_others(store: &dyn Store, id: &ConversationId) -> Result<bool, StoreError> {
    let mut id = id.clone();
    for _ in 0..CHATS {
        if store.conversation(&id).await?.is_some_and(|found| found.audience == Audience::Group) {
            return Ok(true);
        }
        let above = match (store.agent_in(&id).await?, task_of_run(&id)) {
            (Some(agent), _) => Some(agent.chat),
            (None, Some(task)) => store.task(task).await?.and_then(|task| task.new.conversation),
            (None, None) => None,
        };
        match above {
            Some(above) if above != id => id = above,
            _ => break,
        }
    }
    Ok(false)
}

impl TurnToolExecutor {
    /// Says whether a call may run now. A right to run comes from here alone, so nothing runs that the policy did not see.
    pub async fn decide(&self, planned: &PlannedCall, context: &CallContext, now_ms: i64) -> Decision {
        match self.judge(planned, context, now_ms).await {
            Decision::Refused(why) => Decision::Refused(self.in_own_words(why)),
            decision => decision,
        }
    }

    /// Whether others read the conversation now, whoever did when its turn began.
    pub(super) async fn others_read(&self, conversation: Option<&ConversationId>) -> bool {
        // Where nobody can say, nothing is shown to others.
        match conversation {
            Some(id) => is_read_by_others(&*self.store, id).await.unwrap_or(true),
            None => false,
        }
    }

    async fn judge(&self, planned: &PlannedCall, context: &CallContext, now_ms: i64) -> Decision {
        let call = &aside(|| self.as_run(&planned.call, context.trust));
        let (tool, arguments) = match self.read(call, context) {
            Ok(read) => read,
            Err(why) => return Decision::Refused(why),
        };
        // From here on all that is said of the call is said of what is found now.
        let tool = aside(|| tool.for_call(&arguments)).unwrap_or(tool);
        let others_read = self.others_read(context.conversation.as_ref()).await;
        // Why it cannot run, and whether it can, may be what only a call that is asked about would show.
        let is_kept_back = others_read && context.trust.is_foreign();
        let mut can_run = true;
        if let Err(why) = aside(|| tool.check(&arguments)) {
            if !is_kept_back {
                return Decision::Refused(why.join(context.trust));
            }
            can_run = false;
        }
        let mut facts = aside(|| self.policy.facts(&*tool, &arguments));
        if facts.has_moved() {
            return Decision::Refused(MOVED.into());
        }
        facts.others_read = others_read;
        facts.bind(&tool.looked_up(&arguments).await);
        self.policy.know_names(&mut facts, &*tool, &arguments, context.conversation.as_ref()).await;
        facts.know_owned(&*tool, &arguments, context).await;
        let concerned = match concerned((call, &*tool), &arguments, &facts, context).await {
            Ok(concerned) => concerned,
            Err(why) if !is_kept_back => return Decision::Refused(why),
            Err(_) => {
                can_run = false;
                Concerned::NotSaid
            }
        };
        if matches!(concerned, Concerned::SentTo(_)) {
            facts.effect = Effect::TellOthers;
        }
        let behind_links = self.policy.behind_links(&facts);
        facts.tell(behind_links, concerned.into_words());
        self.know_own_files(&mut facts, context).await;
        facts.know_drawn_files(&*tool, &arguments, context, &self.policy);
        let mut verdict = self.policy.verdict(&*tool, &facts, context);
        // A name is looked up only where the call may run: the question itself leaves. Whether a yes fits is seen when it is held against.
        let may_run = can_run && planned.approved.is_none() && verdict == Verdict::Allowed;
        if may_run && self.leads_to_own_network(&*tool, &arguments, &facts).await {
            facts.own_network = true;
            verdict = self.policy.verdict(&*tool, &facts, context);
        }
        if verdict == Verdict::Allowed {
            verdict = aside(|| self.verdict_of_planned(&*tool, &arguments, (context, others_read)));
        }
        match verdict {
            Verdict::Refused { reason, by } if !(is_kept_back && by.is_for_the_owner()) => {
                Decision::Refused(context.words(reason).into())
            }
            Verdict::Allowed if !can_run => Decision::Refused(Sentence::from(NOT_FOR_OTHERS).join(context.trust)),
            Verdict::NeedsApproval { .. } if !can_run => {
                let verdict = Verdict::Refused { reason: String::new(), by: RefusedBy::Place };
                self.hold_against(planned, verdict, (call, tool, arguments, facts), (context, now_ms)).await
            }
            Verdict::Allowed if planned.approved.is_none() => Decision::Run(Box::new(Permit {
                private_place: facts.private_place(context),
                may_lead_to_key: facts.may_lead_to_key(context),
                tool,
                call: call.clone(),
                arguments,
                facts,
                pins: None,
                approved: false,
                conversation: context.conversation.clone(),
            })),
            verdict => self.hold_against(planned, verdict, (call, tool, arguments, facts), (context, now_ms)).await,
        }
    }

    /// The tool of a call and its arguments as its schema has them. The owner is not asked about what can be no call.
    fn read(&self, call: &ToolCall, context: &CallContext) -> Result<(Arc<dyn Tool>, Value), Sentence> {
        let tool =
            self.tool(&call.name).ok_or_else(|| sentence!("there is no tool `{}`", context.words(&call.name)))?;
        if let Some(finder) = &self.finder
            && finder.is_not_loaded(&call.name)
        {
            let (name, finder) = (context.words(&call.name), echoed(finder.name().to_owned()));
            return Err(sentence!("`{}` is not here yet; get it with {} first", name, finder));
        }
        let arguments: Value =
            serde_json::from_str(&call.arguments).map_err(|error| Sentence::from(context.words(error.to_string())))?;
        aside(|| self.check_paths(&*tool, &arguments))?;
        check_arguments(&tool.schema(), &arguments).map_err(|why| Sentence::from(echoed(why)).join(context.trust))?;
        Ok((tool, arguments))
    }

    /// Refuses a call, or one that makes a later call, whose paths take too long to follow.
    fn check_paths(&self, tool: &dyn Tool, arguments: &Value) -> Result<(), Sentence> {
        let later = self.planned(tool, arguments);
        let is_too_long = later.is_some_and(|(tool, arguments)| self.policy.is_too_long(&**tool, &arguments));
        match is_too_long || self.policy.is_too_long(tool, arguments) {
            true => Err(sentence!(
                "a path has more than {} bytes or leads over too many links; nothing was touched. Use a shorter path",
                LONGEST_PATH
            )),
            false => Ok(()),
        }
    }

    /// The verdict on the call that a call has made later; allowed where it has none made.
    fn verdict_of_planned(
        &self,
        tool: &dyn Tool,
        arguments: &Value,
        (context, others_read): (&CallContext, bool),
    ) -> Verdict {
        let verdict = |(tool, arguments): (&Arc<dyn Tool>, Value)| {
            let mut facts = self.policy.facts(&**tool, &arguments);
            facts.others_read = others_read;
            self.policy.verdict(&**tool, &facts, context)
        };
        self.planned(tool, arguments).map_or(Verdict::Allowed, verdict)
    }

    /// What whoever is asked has to know of a call, or of the one that it has made later.
    fn warning(&self, tool: &dyn Tool, arguments: &Value, trust: Trust) -> Option<String> {
        let of_planned = || {
            let (tool, arguments) = self.planned(tool, arguments)?;
            tool.warning(trust, &arguments)
        };
        tool.warning(trust, arguments).or_else(of_planned)
    }

    /// The call that a call has made later.
    fn planned(&self, tool: &dyn Tool, arguments: &Value) -> Option<(&Arc<dyn Tool>, Value)> {
        let (name, arguments) = tool.plans(arguments)?;
        Some((self.tools.tool(name)?, arguments))
    }

    /// Holds a yes against everything that it is bound to, as it is now: it holds for what was asked about and nothing else.
    async fn hold_against(
        &self,
        planned: &PlannedCall,
        mut verdict: Verdict,
        (call, tool, arguments, mut facts): (&ToolCall, Arc<dyn Tool>, Value, CallFacts),
        (context, now_ms): (&CallContext, i64),
    ) -> Decision {
        facts.know_what_is_asked(&*tool, &arguments, context.conversation.as_ref()).await;
        facts.know_told(context);
        facts.warning = aside(|| self.warning(&*tool, &arguments, context.trust));
        facts.is_refused = matches!(verdict, Verdict::Refused { .. });
        // What runs is what was looked at, so a copy of it is kept when it may run.
        let copies = || planned.approved.is_some().then(|| self.policy.copies(&self.new_tag()));
        let mut pins = Pins::look(&tool, &arguments, &facts, copies()).await;
        let said = planned.approved.as_ref();
        let fits = |yes: &Approval| verdict == Verdict::Allowed || pins.fits_wherever_it_leads(yes);
        let may_run = !facts.is_refused && said.is_some_and(fits);
        if may_run && self.leads_to_own_network(&*tool, &arguments, &facts).await {
            facts.own_network = true;
            verdict = self.policy.verdict(&*tool, &facts, context);
            facts.is_refused = matches!(verdict, Verdict::Refused { .. });
            pins = Pins::look(&tool, &arguments, &facts, copies()).await;
        }
        let approved = said.is_some_and(|yes| pins.is_approved(yes, now_ms));
        match verdict {
            Verdict::Refused { .. } if said.is_some() => Decision::Refused(NOT_FOR_OTHERS.into()),
            Verdict::Refused { by, .. } => {
                let reason = if by == RefusedBy::Rule { FORBIDDEN } else { CANNOT_RUN };
                Decision::Ask(why_asked(reason.to_owned(), facts, None, pins))
            }
            Verdict::NeedsApproval { reason } if !approved => {
                let moved = said.map(|yes| changes(&yes.bound_to, &pins.text)).filter(|moved| !moved.is_empty());
                let moved = moved.map(|moved| format!("since you were asked, {moved}"));
                Decision::Ask(why_asked(reason, facts, moved, pins))
            }
            Verdict::Allowed | Verdict::NeedsApproval { .. } => {
                let (call, pins) = (call.clone(), Some(pins));
                let private_place = facts.private_place(context);
                let may_lead_to_key = facts.may_lead_to_key(context);
                let conversation = context.conversation.clone();
                let permit = Permit {
                    tool,
                    call,
                    arguments,
                    facts,
                    private_place,
                    may_lead_to_key,
                    pins,
                    approved,
                    conversation,
                };
                Decision::Run(Box::new(permit))
            }
        }
    }

    /// Whether a call leads to the owner's own network by a name. Looking it up tells whoever answers for the name.
    async fn leads_to_own_network(&self, tool: &dyn Tool, arguments: &Value, facts: &CallFacts) -> bool {
        self.policy.reaches_own_network() && !facts.own_network && tool.leads_to_own_network(arguments).await
    }

    /// What whoever is asked about a call is told that may run unasked by now: a draft of it waits for its yes anyway.
    pub async fn question(&self, permit: Permit, context: &CallContext) -> Why {
        let Permit { tool, arguments, mut facts, pins, .. } = permit;
        facts.know_what_is_asked(&*tool, &arguments, context.conversation.as_ref()).await;
        facts.know_told(context);
        facts.warning = aside(|| self.warning(&*tool, &arguments, context.trust));
        let reason = self.policy.question(&*tool, &facts, context);
        let pins = match pins {
            Some(pins) => pins,
            None => Pins::look(&tool, &arguments, &facts, None).await,
        };
        why_asked(reason, facts, None, pins)
    }

    /// Marks files for strangers' text that this conversation made itself: these it may change.
    async fn know_own_files(&self, facts: &mut CallFacts, context: &CallContext) {
        let Some(conversation) = &context.conversation else { return };
        let others = |path: &&mut PathFacts| path.write && path.is_low && path.change == FileChange::Other;
        for path in facts.paths.iter_mut().filter(others) {
            if self.files.is_made_by(path.real.as_path(), conversation).await {
                path.change = FileChange::OwnLow;
            }
        }
    }

    /// What the owner is told of a call that waits for them; nothing of one that can be none.
    pub async fn describe(&self, call: &ToolCall, context: &CallContext) -> Option<CallDescription> {
        let arguments: Value = serde_json::from_str(&call.arguments).ok()?;
        let tool = self.tool(&call.name)?;
        let others_read = self.others_read(context.conversation.as_ref()).await;
        Some(self.policy.describe(&*tool, &arguments, context, others_read).await)
    }
}

/// What a call is about; refused where its tool changes what is there and does not say what.
async fn concerned(
    (call, tool): (&ToolCall, &dyn Tool),
    arguments: &Value,
    facts: &CallFacts,
    context: &CallContext,
) -> Result<Concerned, Sentence> {
    // What a look is about is looked up when somebody is asked about it: most looks run unasked.
    let concerned = match facts.only_looks() {
        true => Concerned::NotSaid,
        false => tool.concerns(arguments, context.conversation.as_ref()).await,
    };
    match concerned {
        Concerned::NotSaid if facts.changes_what_is_there() => Err(sentence!(
            "`{}` does not say what it would change, so it does not run; this is a defect of it, please report it",
            context.words(&call.name)
        )),
        concerned => Ok(concerned),
    }
}

/// Looks at files, which may take a while, without keeping other conversations waiting.
fn aside<T>(look: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => block_in_place(look),
        _ => look(),
    }
}

/// What whoever is asked is told, and what their yes is bound to.
fn why_asked(reason: String, facts: CallFacts, moved: Option<String>, pins: Pins) -> Why {
    let open = pins.unbound().map(str::to_owned);
    let said: Vec<String> = [reason].into_iter().chain(facts.warning).chain(moved).chain(open).collect();
    Why { reason: said.join("; "), about: facts.about, bound_to: pins.text }
}
