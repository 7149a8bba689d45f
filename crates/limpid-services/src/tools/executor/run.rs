//! Runs a call that may run.

use std::sync::{Arc, PoisonError};

use limpid_core::policy::Effect;
use limpid_core::{ConversationId, Labelled, Sentence, ToolCall, Trust, sentence};
use limpid_tools::{StrangersProgram, Tool, ToolContext, Written, echoed};
use limpid_turn::ToolOutcome;
use serde_json::Value;

use crate::memory::WriteSource;
use crate::tools::executor::decide::{MOVED, NOT_FOR_OTHERS};
use crate::tools::executor::{Permit, TurnToolExecutor};
use crate::tools::file_history::{Before, Reading, StartedBy, Starting, Turn};
use crate::tools::policy::{CallFacts, Pins, changes};

impl TurnToolExecutor {
    /// Runs one call. This is the only place where a tool runs; a tool that panics has failed, no more.
    pub async fn run(&self, context: ToolContext, permit: Permit) -> ToolOutcome {
        // An error may repeat arguments, and these have the label of what the model had read.
        let written_by = context.trust;
        // Its success says nothing about what was there; its error would. A yes to a change of a file is none to what a failed one tells of it.
        let tells_nothing = match permit.approved {
            true => permit.facts.effect == Effect::Files,
            false => permit.facts.answers_alike,
        };
        let is_kept_back = tells_nothing && permit.facts.others_read && written_by.is_foreign();
        match self.try_run(context, permit).await {
            // The text of a file is given as it is.
            Ok(said) if said.trust() == Trust::Owner => {
                ToolOutcome::done(self.policy.in_own_words(said), || self.new_tag())
            }
            Ok(said) => ToolOutcome::done(said, || self.new_tag()),
            Err(_) if is_kept_back => ToolOutcome::failed(Sentence::from(NOT_FOR_OTHERS), || self.new_tag()),
            Err(why) => ToolOutcome::failed(self.in_own_words(why).join(written_by), || self.new_tag()),
        }
    }

    /// Waits until nothing is in the way of a call that may run; says whether something may have been, so that it is judged once more.
    ///
    /// # Errors
    /// When others that change the same files, or could, do not end in time.
    pub(crate) async fn wait_for(&self, permit: &Permit) -> Result<bool, Sentence> {
        self.files.wait_for(&permit.facts).await
    }

    async fn try_run(&self, context: ToolContext, permit: Permit) -> Result<Labelled<String>, Sentence> {
        let Permit { tool, call, arguments, facts, private_place, may_lead_to_key, pins, approved, conversation } =
            permit;
        let pins = pins.filter(|_| approved);
        let yes = pins.as_ref().map(|pins| Yes { bound_to: pins.text.clone(), conversation });
        let strangers = tool.strangers_program(context.trust, approved, &arguments);
        if strangers == Some(StrangersProgram::Sends) && !approved && !facts.sends {
            return Err("what it names changed after the call was checked; call it again".into());
        }
        let turn = match facts.effect {
            Effect::Run => {
                let sends_outside = tool.sends_outside(context.trust, approved, &arguments);
                let by = StartedBy::of(context.trust, pins.is_some(), sends_outside);
                Some(self.files.program_turn(by, strangers).await?)
            }
            _ => None,
        };
        let tool = self.as_judged(tool, (&arguments, &facts), yes.as_ref(), &context).await?;
        let snapshot = pins.and_then(|pins| pins.snapshot).map(Arc::new);
        let bans = self.policy.bans(&*tool, &facts);
        let (drawn, program) = (facts.may_be_drawn(), strangers);
        let unused_skills = if facts.effect == Effect::Run { self.files.unused_skills().await } else { Ok(Vec::new()) };
        let unused_skills = unused_skills
            .map_err(|error| sentence!("which skills are used could not be looked up: {}", echoed(error)))?;
        let context = ToolContext { approved, snapshot, bans, drawn, program, unused_skills, ..context };
        let context = ToolContext { private_place, may_lead_to_key, ..context };
        if let Some((limit, refusal)) = tool.calls_a_message()
            && self.count(&call.name) > limit
        {
            return Err(refusal.into());
        }
        let by = WriteSource::turn(&context);
        let (program, before) = match facts.effect {
            Effect::Run => {
                let (writes, is_strangers) = (tool.writes_in(), strangers.is_some());
                let starting = Starting { tool: &call.name, writes: &writes, is_strangers };
                let program = self.files.program_starts(turn.as_ref(), starting, by.now_ms).await?;
                let before = self.files.before_program(&call.name, &program).await;
                (Some(program), before)
            }
            _ => {
                let still = self.is_as_approved(&tool, (&arguments, &facts), yes.as_ref(), &context);
                (None, self.files.before(&call.name, &facts, &by, still).await?)
            }
        };
        // What other calls of the turn wrote is none of its own.
        let written = before.as_ref().map_or_else(Written::default, Before::written);
        let _given_up = GiveUp(written.clone());
        let context = ToolContext { written: written.clone(), ..context };
        let paths = facts.paths.iter().filter(|path| !path.write).collect();
        let reading = Reading::begin(&self.files, paths, facts.effect == Effect::Run).await;
        let (reader, as_read) = (context.conversation.clone(), self.files.about_to_read(&facts).await);
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
            self.files.was_read(&reader, as_read, by.trust);
        }
        // Also after a failure: it may have written before.
        let mut kept = self.files.after(before, written.take(), &by).await;
        if let Some(program) = program {
            kept = program.end(by.now_ms).await.and(kept);
        }
        let read = reading.end().await;
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

    /// The tool with what a call leads to now, as it comes to run: that may have changed while it waited. What runs is what is found here,
    /// and no later look decides anything.
    ///
    /// # Errors
    /// When it is not what was judged, or not what was approved.
    async fn as_judged(
        &self,
        tool: Arc<dyn Tool>,
        (arguments, facts): (&Value, &CallFacts),
        yes: Option<&Yes>,
        context: &ToolContext,
    ) -> Result<Arc<dyn Tool>, Sentence> {
        let said = arguments.clone();
        let looked = tokio::task::spawn_blocking(move || tool.for_call(&said).unwrap_or(tool)).await;
        let tool = looked.map_err(|_| Sentence::from("where it leads could not be looked up; call it again"))?;
        // From here on nothing of it changes, so a second look at what was approved holds until the program has ended.
        let yes = yes.filter(|_| facts.effect == Effect::Run);
        self.is_as_approved(&tool, (arguments, facts), yes, context).await?;
        if facts.found.is_some() {
            // Why it cannot run any more says more than that it was something else.
            tool.check(arguments)?;
        }
        match tool.leads_to(arguments) == facts.found {
            true => Ok(tool),
            false => Err(MOVED.into()),
        }
    }

    /// Looks once more at what a yes is bound to, where nobody else changes it any more: the call may have waited for that.
    ///
    /// # Errors
    /// When it is something else by now, or when others have come to read the conversation.
    async fn is_as_approved(
        &self,
        tool: &Arc<dyn Tool>,
        (arguments, facts): (&Value, &CallFacts),
        yes: Option<&Yes>,
        context: &ToolContext,
    ) -> Result<(), Sentence> {
        let Some(Yes { bound_to, conversation }) = yes else { return Ok(()) };
        let moved = if self.others_read(conversation.as_ref()).await == facts.others_read {
            let now = Pins::look(tool, arguments, facts, None).await;
            if now.text == *bound_to {
                return Ok(());
            }
            changes(bound_to, &now.text)
        } else {
            // Those who have come are not told what has become of the files.
            "the readers of this conversation have changed".to_owned()
        };
        Err(sentence!("what was approved is not what is there now ({}); call it again", context.words(moved)))
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

/// What the owner has said yes to.
struct Yes {
    /// By the text of its [`Pins`].
    bound_to: String,
    /// Where it was asked.
    conversation: Option<ConversationId>,
}

/// Has a call write nothing more when whoever waits for it stops waiting: what it does on another thread goes on.
struct GiveUp(Written);

impl Drop for GiveUp {
    fn drop(&mut self) {
        self.0.give_up();
    }
}

/// Ends a task when whoever waits for it stops waiting: at a time-out or a cancel.
struct StopWithUs(tokio::task::AbortHandle);

impl Drop for StopWithUs {
    fn drop(&mut self) {
        self.0.abort();
    }
}
