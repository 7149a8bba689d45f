//! Decides whether a call may run, and runs it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use limpid_config::{Ids, Live, hex};
use limpid_core::policy::{Effect, FileChange, PathFacts, Verdict};
use limpid_core::{ConversationId, Labelled, Sentence, ToolCall, Trust, sentence};
use limpid_store::{Audience, Store, StoreError};
use limpid_tools::{Concerned, Rewrites, StrangersProgram, Tool, ToolContext, check_arguments, echoed};
use limpid_turn::{PlannedCall, ToolOutcome, Why};
use serde_json::Value;

use crate::directory::task_of_run;
use crate::memory::WriteSource;
use crate::tools::catalog::ToolCatalog;
use crate::tools::file_history::{FileHistory, StartedBy, Turn};
use crate::tools::policy::{
    CallContext, CallDescription, CallFacts, LONGEST_PATH, Pins, PolicyRules, ToolPolicy, changes,
};
use crate::tools::reservations::Reservation;

/// The tool of a turn that finds tools which the turn's prompt does not declare.
pub trait ToolFinder: Tool {
    /// Whether a tool exists and must be found before it is called.
    fn is_not_loaded(&self, name: &str) -> bool;

    /// The tools that were found, in the order in which prompts declare them.
    fn found(&self) -> Vec<String>;

    /// The same if something was found since this was asked last: whoever asks keeps it with the conversation.
    fn take_changes(&self) -> Option<Vec<String>>;
}

/// Chats above a conversation that are asked: agents of agents, of a run of a task.
const CHATS: usize = 8;

/// In the place of why a call cannot run, where a stranger's text led to it and others read what comes of it.
const NOT_FOR_OTHERS: &str = "it cannot run as it is; why is not said here, since others read this conversation";

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

/// What a [`ToolExecutor`] is made from.
#[derive(Clone)]
pub struct ToolExecutorParts {
    /// All tools of the agent.
    pub tools: Live<ToolCatalog>,
    /// What policies are made from.
    pub policy: PolicyRules,
    /// Versions of the files that prompts quote.
    pub files: Arc<FileHistory>,
    /// Where tags come from.
    pub ids: Arc<dyn Ids>,
    /// Where it stands who reads a conversation.
    pub store: Arc<dyn Store>,
}

/// Makes the executors of turns, and that of calls outside of turns.
#[derive(Clone)]
pub struct ToolExecutor(ToolExecutorParts);

impl ToolExecutor {
    /// An executor of these tools.
    pub fn new(parts: ToolExecutorParts) -> Self {
        Self(parts)
    }

    /// The tools of one turn. `finder` finds those that its prompt does not declare; `before` are the names of calls
    /// that the turn has already made.
    pub fn for_turn<'a>(
        &self,
        policy: ToolPolicy,
        finder: Option<Arc<dyn ToolFinder>>,
        before: impl Iterator<Item = &'a str>,
    ) -> TurnToolExecutor {
        let ToolExecutorParts { tools, files, ids, store, .. } = &self.0;
        let mut calls = HashMap::new();
        for name in before {
            *calls.entry(name.to_owned()).or_default() += 1;
        }
        TurnToolExecutor {
            tools: ToolCatalog::clone(tools),
            files: Arc::clone(files),
            policy,
            ids: Arc::clone(ids),
            store: Arc::clone(store),
            finder,
            calls: Mutex::new(calls),
        }
    }

    /// What tools and programs changed in files.
    pub fn files(&self) -> &FileHistory {
        &self.0.files
    }

    /// The executor of calls that no turn makes: under the owner's rules alone.
    pub fn outside_turns(&self) -> TurnToolExecutor {
        self.for_turn(self.0.policy.without_mode(), None, std::iter::empty())
    }
}

/// The tools of one turn: they know who may call which, and how often each was called.
pub struct TurnToolExecutor {
    tools: ToolCatalog,
    files: Arc<FileHistory>,
    policy: ToolPolicy,
    ids: Arc<dyn Ids>,
    store: Arc<dyn Store>,
    finder: Option<Arc<dyn ToolFinder>>,
    calls: Mutex<HashMap<String, u32>>,
}

impl TurnToolExecutor {
    /// Whether a call of unknown fate may be made again.
    pub fn is_repeatable(&self, name: &str) -> bool {
        self.tool(name).is_some_and(|tool| tool.is_repeatable())
    }

    /// Whether anybody could read what a tool returns.
    pub fn is_public(&self, name: &str) -> bool {
        self.tool(name).is_some_and(|tool| tool.is_public())
    }

    /// What finds the tools that the prompt does not declare.
    pub fn finder(&self) -> Option<&dyn ToolFinder> {
        self.finder.as_deref()
    }

    fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        match &self.finder {
            Some(finder) if name == finder.name() => Some(Arc::clone(finder) as Arc<dyn Tool>),
            _ => self.tools.tool(name).map(Arc::clone),
        }
    }

    /// The address that a call would fetch, if that is what it would do.
    pub fn fetched_by(&self, call: &ToolCall) -> Option<String> {
        let arguments = serde_json::from_str(&call.arguments).ok()?;
        match self.tool(&call.name)?.effect(&arguments) {
            Effect::Fetch(address) => address,
            _ => None,
        }
    }

    /// Whether a call would run a program that may be a stranger's, with the network, unless somebody was asked about it.
    pub fn sends_strangers(&self, call: &ToolCall) -> bool {
        let arguments = serde_json::from_str(&call.arguments).ok();
        let program = |arguments| self.tool(&call.name)?.strangers_program(Trust::Owner, false, &arguments);
        arguments.and_then(program) == Some(StrangersProgram::Sends)
    }

    /// Says whether a call may run now. A right to run comes from here alone, so nothing runs that the policy did not see.
    pub async fn decide(&self, planned: &PlannedCall, context: &CallContext, now_ms: i64) -> Decision {
        match self.judge(planned, context, now_ms).await {
            Decision::Refused(why) => Decision::Refused(self.in_own_words(why)),
            decision => decision,
        }
    }

    fn in_own_words(&self, why: Sentence) -> Sentence {
        self.policy.in_own_words(why.into()).into()
    }

    /// Whether others read the conversation now, whoever did when its turn began.
    async fn others_read(&self, conversation: Option<&ConversationId>) -> bool {
        // Where nobody can say, nothing is shown to others.
        match conversation {
            Some(id) => is_read_by_others(&*self.store, id).await.unwrap_or(true),
            None => false,
        }
    }

    async fn judge(&self, planned: &PlannedCall, context: &CallContext, now_ms: i64) -> Decision {
        let call = &self.as_run(&planned.call, context.trust);
        let Some(tool) = self.tool(&call.name) else {
            return Decision::Refused(sentence!("there is no tool `{}`", context.words(&call.name)));
        };
        if let Some(finder) = &self.finder
            && finder.is_not_loaded(&call.name)
        {
            let name = context.words(&call.name);
            return Decision::Refused(sentence!(
                "`{}` is not here yet; get it with {} first",
                name,
                echoed(finder.name().to_owned())
            ));
        }
        let arguments: Value = match serde_json::from_str(&call.arguments) {
            Ok(arguments) => arguments,
            Err(error) => return Decision::Refused(context.words(error.to_string()).into()),
        };
        if tool.paths(&arguments).iter().any(|path| path.path.len() > LONGEST_PATH) {
            return Decision::Refused(sentence!("a path has at most {} bytes; nothing was touched", LONGEST_PATH));
        }
        let others_read = self.others_read(context.conversation.as_ref()).await;
        // The owner is not asked about what cannot run.
        if let Err(why) = check_arguments(&tool.schema(), &arguments) {
            return Decision::Refused(Sentence::from(echoed(why)).join(context.trust));
        }
        if let Err(why) = tool.check(&arguments) {
            // It may hold what only a call that is asked about would show.
            let is_kept_back = others_read && context.trust.is_foreign();
            let why = if is_kept_back { Sentence::from(NOT_FOR_OTHERS) } else { why };
            return Decision::Refused(why.join(context.trust));
        }
        let mut facts = self.policy.facts(&*tool, &arguments);
        facts.others_read = others_read;
        facts.bind(&tool.looked_up(&arguments).await);
        self.policy.know_names(&mut facts, &*tool, &arguments, context.conversation.as_ref()).await;
        let concerned = tool.concerns(&arguments, context.conversation.as_ref()).await;
        if concerned == Concerned::NotSaid && facts.changes_what_is_there() {
            let name = context.words(&call.name);
            return Decision::Refused(sentence!(
                "`{}` does not say what it would change, so it does not run; this is a defect of it, please report it",
                name
            ));
        }
        if matches!(concerned, Concerned::SentTo(_)) {
            facts.effect = Effect::TellOthers;
        }
        let behind_links = self.policy.behind_links(&facts);
        facts.tell(behind_links, concerned.into_words());
        self.know_own_files(&mut facts, context).await;
        facts.know_drawn_files(&*tool, &arguments, context, &self.policy);
        let mut verdict = self.policy.verdict(&*tool, &facts, context);
        // A name is looked up only where the call may run: the question itself leaves.
        let may_look_up = !facts.own_network && (planned.approved.is_some() || verdict == Verdict::Allowed);
        if may_look_up && tool.leads_to_own_network(&arguments).await {
            facts.own_network = true;
            verdict = self.policy.verdict(&*tool, &facts, context);
        }
        if verdict == Verdict::Allowed {
            verdict = self.verdict_of_planned(&*tool, &arguments, context);
        }
        match verdict {
            Verdict::Refused { reason } => Decision::Refused(context.words(reason).into()),
            Verdict::Allowed if planned.approved.is_none() => Decision::Run(Box::new(Permit {
                tool,
                call: call.clone(),
                arguments,
                facts,
                pins: None,
                approved: false,
            })),
            verdict => {
                self.hold_against(planned, verdict, (call, tool, arguments, facts), (context.trust, now_ms)).await
            }
        }
    }

    /// The verdict on the call that a call has made later; allowed where it has none made.
    fn verdict_of_planned(&self, tool: &dyn Tool, arguments: &Value, context: &CallContext) -> Verdict {
        let verdict = |(tool, arguments): (&Arc<dyn Tool>, Value)| {
            let facts = self.policy.facts(&**tool, &arguments);
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
        verdict: Verdict,
        (call, tool, arguments, mut facts): (&ToolCall, Arc<dyn Tool>, Value, CallFacts),
        (trust, now_ms): (Trust, i64),
    ) -> Decision {
        facts.warning = self.warning(&*tool, &arguments, trust);
        // What runs is what was looked at, so a copy of it is kept when it may run.
        let copies = planned.approved.is_some().then(|| self.policy.copies(&self.new_tag()));
        let pins = Pins::look(&tool, &arguments, &facts, copies).await;
        let said = planned.approved.as_ref();
        let approved = said.is_some_and(|yes| pins.is_approved(yes, now_ms));
        match verdict {
            Verdict::NeedsApproval { reason } if !approved => {
                let moved = said.map(|yes| changes(&yes.bound_to, &pins.text)).filter(|moved| !moved.is_empty());
                let moved = moved.map(|moved| format!("since you were asked, {moved}"));
                Decision::Ask(why_asked(reason, facts, moved, pins))
            }
            _ => {
                let (call, pins) = (call.clone(), Some(pins));
                Decision::Run(Box::new(Permit { tool, call, arguments, facts, pins, approved }))
            }
        }
    }

    /// What whoever is asked about a call is told that may run unasked by now: a draft of it waits for its yes anyway.
    pub async fn question(&self, permit: Permit, context: &CallContext) -> Why {
        let Permit { tool, arguments, mut facts, pins, .. } = permit;
        facts.warning = self.warning(&*tool, &arguments, context.trust);
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

    /// A call as it runs, and as whoever is asked about it is shown it: its path means the same everywhere, and a new file of a turn
    /// that has read a stranger's text goes where strangers' text is kept.
    pub fn as_run(&self, call: &ToolCall, trust: Trust) -> ToolCall {
        let moved = || {
            let tool = self.tool(&call.name)?;
            let arguments = serde_json::from_str(&call.arguments).ok()?;
            let whole = tool.with_whole_path(&arguments);
            let low = self.policy.keep_low(&*tool, whole.as_ref().unwrap_or(&arguments), trust);
            Some(low.or(whole)?.to_string())
        };
        ToolCall { arguments: moved().unwrap_or_else(|| call.arguments.clone()), ..call.clone() }
    }

    /// What the owner is told of a call that waits for them; nothing of one that can be none.
    pub async fn describe(&self, call: &ToolCall, context: &CallContext) -> Option<CallDescription> {
        let arguments: Value = serde_json::from_str(&call.arguments).ok()?;
        let tool = self.tool(&call.name)?;
        let others_read = self.others_read(context.conversation.as_ref()).await;
        Some(self.policy.describe(&*tool, &arguments, context, others_read))
    }

    /// Says what keeps a call from being reserved. `typed` are the messages that the owner typed in the conversation.
    ///
    /// # Errors
    /// That sentence, for the model.
    pub fn check_reservation(&self, reservation: &Reservation, typed: &[String]) -> Result<(), Sentence> {
        let find = |name: &str| self.tools.tool(name).map(|tool| &**tool);
        reservation.check(typed, find, |tool, arguments| self.policy.is_fixed(tool, arguments))
    }

    /// Whether a reservation opens links.
    pub fn opens_links(&self, reservation: &Reservation) -> bool {
        self.tools.tool(&reservation.tool).is_some_and(|tool| reservation.fetches(&**tool))
    }

    /// How long a call of a tool may take, when that is not the usual time.
    pub fn timeout_of(&self, name: &str) -> Option<Duration> {
        self.tool(name).and_then(|tool| tool.timeout())
    }

    /// Whether nothing in the workspace may change.
    pub fn is_read_only(&self) -> bool {
        self.policy.is_read_only()
    }

    /// Whether the turn is a research worker's, whose window shows nothing of the owner's.
    pub fn is_research(&self) -> bool {
        self.policy.is_research()
    }

    /// Whether nothing of the owner's may be in the turn's window.
    pub const fn shows_nothing_private(&self) -> bool {
        self.policy.shows_nothing_private()
    }

    /// Whether answers of the turn leave for whoever asks.
    pub const fn is_for_strangers(&self) -> bool {
        self.policy.is_for_strangers()
    }

    /// Runs one call. This is the only place where a tool runs; a tool that panics has failed, no more.
    pub async fn run(&self, context: ToolContext, permit: Permit) -> ToolOutcome {
        // An error may repeat arguments, and these have the label of what the model had read.
        let written_by = context.trust;
        match self.try_run(context, permit).await {
            // The text of a file is given as it is.
            Ok(said) if said.trust() == Trust::Owner => {
                ToolOutcome::done(self.policy.in_own_words(said), || self.new_tag())
            }
            Ok(said) => ToolOutcome::done(said, || self.new_tag()),
            Err(why) => ToolOutcome::failed(self.in_own_words(why).join(written_by), || self.new_tag()),
        }
    }

    /// The tag of a boundary around foreign words.
    pub fn new_tag(&self) -> String {
        hex(&*self.ids)
    }

    async fn try_run(&self, context: ToolContext, permit: Permit) -> Result<Labelled<String>, Sentence> {
        let Permit { tool, call, arguments, facts, pins, approved } = permit;
        let pins = pins.filter(|_| approved);
        let strangers = tool.strangers_program(context.trust, approved, &arguments);
        if strangers == Some(StrangersProgram::Sends) && !approved && !facts.sends {
            return Err("what it names is not what it was when it was judged; call it again".into());
        }
        let turn = match facts.effect {
            Effect::Run => {
                let by = StartedBy::of(context.trust, pins.is_some());
                Some(self.files.program_turn(by, strangers).await?)
            }
            _ => None,
        };
        // From here on nothing of it changes, so a second look at what was approved holds until the program has ended.
        if let Some(pins) = pins.as_ref().filter(|_| facts.effect == Effect::Run) {
            let now = Pins::look(&tool, &arguments, &facts, None).await;
            if now.text != pins.text {
                let moved = context.words(changes(&pins.text, &now.text));
                return Err(sentence!("what was approved is not what is there now ({}); call it again", moved));
            }
        }
        let snapshot = pins.and_then(|pins| pins.snapshot).map(Arc::new);
        let bans = self.policy.bans(&*tool, &facts);
        let (own_network, drawn, program) = (facts.own_network, facts.may_be_drawn(), strangers);
        let unused_skills = if facts.effect == Effect::Run { self.files.unused_skills().await } else { Ok(Vec::new()) };
        let unused_skills = unused_skills
            .map_err(|error| sentence!("which skills are used could not be looked up: {}", echoed(error)))?;
        let context = ToolContext { approved, snapshot, bans, own_network, drawn, program, unused_skills, ..context };
        // What other calls of the turn wrote is none of its own.
        let rewrites = Rewrites::default();
        let context = ToolContext { rewrites: rewrites.clone(), ..context };
        if let Some((limit, refusal)) = tool.calls_a_message()
            && self.count(&call.name) > limit
        {
            return Err(refusal.into());
        }
        let by = WriteSource::turn(&context);
        let before = self.files.before(&call.name, &facts, &by).await?;
        let program = match facts.effect {
            Effect::Run => Some(self.files.program_starts(&call.name, by.now_ms).await?),
            _ => None,
        };
        let read = self.trust_of_read(&facts).await;
        let (reader, as_read) = (context.conversation.clone(), self.files.about_to_read(&facts));
        // A task of its own keeps a panic from reaching the turn.
        let task = match turn.as_ref().map(Turn::is_wanted) {
            Some(wanted) => tokio::spawn(async move { tool.run_until(&context, arguments, wanted).await }),
            None => tokio::spawn(async move { tool.run(&context, arguments).await }),
        };
        let _stop = StopWithUs(task.abort_handle());
        let done = task
            .await
            .unwrap_or_else(|_| Err(sentence!("`{}` broke off; its outcome is unknown", echoed(call.name.clone()))));
        if done.is_ok() {
            self.files.was_read(&reader, as_read);
        }
        // Also after a failure: it may have written before.
        let mut kept = self.files.after(before, &rewrites.take(), &by).await;
        if let Some(program) = program {
            kept = program.end(by.now_ms).await.and(kept);
        }
        let done = done.map(|said| said.join(read)).map_err(|why| why.join(read))?;
        self.take_over(&facts, &call, &by, approved).await?;
        match kept {
            Ok(()) => Ok(done),
            Err(error) => {
                let why = echoed(error);
                Err(sentence!("{}\nIt is done, but what the file said before was not kept: {}", done, why))
            }
        }
    }

    /// The label of the places that a call reads.
    async fn trust_of_read(&self, facts: &CallFacts) -> Trust {
        let mut trust = Trust::Owner;
        for path in facts.paths.iter().filter(|path| !path.write) {
            trust = trust.join(self.files.trust_of(path).await);
        }
        trust
    }

    /// Writes down that the owner's yes makes their own what a stranger's text led to, with what they were shown.
    async fn take_over(
        &self,
        facts: &CallFacts,
        call: &ToolCall,
        by: &WriteSource,
        approved: bool,
    ) -> Result<(), Sentence> {
        if !approved || !by.trust.is_foreign() || facts.effect == Effect::Run {
            return Ok(());
        }
        for path in facts.paths.iter().filter(|path| path.write && !path.is_low) {
            let shown = format!("{} {}", call.name, call.arguments);
            let raised = self.files.raise(path.real.as_path(), shown, &by.source).await;
            raised.map_err(|error| {
                sentence!("that it is the owner's now could not be written down: {}", echoed(error))
            })?;
        }
        Ok(())
    }

    fn count(&self, name: &str) -> u32 {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let count = calls.entry(name.to_owned()).or_default();
        *count += 1;
        *count
    }
}

/// What whoever is asked is told, and what their yes is bound to.
fn why_asked(reason: String, facts: CallFacts, moved: Option<String>, pins: Pins) -> Why {
    let open = pins.unbound().map(str::to_owned);
    let said: Vec<String> = [reason].into_iter().chain(facts.warning).chain(moved).chain(open).collect();
    Why { reason: said.join("; "), about: facts.about, bound_to: pins.text }
}

/// What becomes of a call.
pub enum Decision {
    /// It may run, now.
    Run(Box<Permit>),
    /// It does not run; the model reads why.
    Refused(Sentence),
    /// It runs when the owner says so.
    Ask(Why),
}

/// The right to run one call as the policy saw it.
pub struct Permit {
    tool: Arc<dyn Tool>,
    call: ToolCall,
    arguments: Value,
    facts: CallFacts,
    /// What an approval of it is bound to, when that was looked at.
    pins: Option<Pins>,
    /// Whether the owner has said yes to this very call.
    approved: bool,
}

impl Permit {
    /// The address that it fetches, if that is what it does.
    pub fn fetches(&self) -> Option<&str> {
        match &self.facts.effect {
            Effect::Fetch(address) => address.as_deref(),
            _ => None,
        }
    }

    /// The call.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// The same call without what a yes to this very call would give, such as the network after a stranger's text.
    pub fn unapproved(self) -> Self {
        Self { approved: false, ..self }
    }

    /// Whether the owner has said yes to this very call.
    pub fn is_approved(&self) -> bool {
        self.approved
    }
}

/// Ends a task when whoever waits for it stops waiting: at a time-out or a cancel.
struct StopWithUs(tokio::task::AbortHandle);

impl Drop for StopWithUs {
    fn drop(&mut self) {
        self.0.abort();
    }
}
