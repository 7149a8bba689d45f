//! What a turn does next: it waits, takes in what came, and carries out what its machine asks for.

use std::mem;

use limpid_core::Labelled;
use limpid_services::error::AgentError;
use limpid_turn::{Effect, Event};

use crate::compaction::CompactionDone;
use crate::event::{ApprovalAnswer, TurnEvent};
use crate::model_call::ModelStep;
use crate::question_id::QuestionId;
use crate::turn::requests::ReplyKind;
use crate::turn::running::{RunningTurn, WaitsFor};
use crate::turn::tool_tasks::FinishedCall;
use crate::turn::{agents, approvals, clean_first, replies};

/// What came of something that a turn waits for.
pub(crate) enum TurnStep {
    Model(ModelStep),
    Note(Option<Labelled<String>>),
    Tool(FinishedCall),
    /// Whoever could have answered a question is gone.
    NobodyAnswers,
}

impl RunningTurn {
    /// Waits for the next thing; it may be given up while it waits and asked for again.
    pub(crate) async fn next(&mut self) -> TurnStep {
        let asking = self.is_asking();
        let Self { waits_for, calls, listeners, .. } = self;
        let waited = async {
            match waits_for {
                WaitsFor::Reply(reply) => TurnStep::Model(reply.call.next().await),
                WaitsFor::Note(compaction, ..) => match compaction.done().await {
                    CompactionDone::Note(note) => TurnStep::Note(note),
                    CompactionDone::Compacted => TurnStep::Note(None),
                },
                WaitsFor::Nothing => std::future::pending().await,
            }
        };
        tokio::select! {
            step = waited => step,
            call = calls.next() => TurnStep::Tool(call),
            () = listeners.nobody_answers(), if asking => TurnStep::NobodyAnswers,
        }
    }

    /// Takes in what came of something that it waited for.
    pub(crate) async fn take(&mut self, step: TurnStep) -> Result<(), AgentError> {
        match step {
            TurnStep::Model(step) => replies::model_step(self, step).await,
            TurnStep::Tool(call) => self.tool_done(call).await,
            TurnStep::NobodyAnswers => approvals::ask_nobody(self).await,
            TurnStep::Note(note) => {
                let WaitsFor::Note(_, round, kind) = mem::replace(&mut self.waits_for, WaitsFor::Nothing) else {
                    return Ok(());
                };
                self.requests.take_note(note);
                replies::ask(self, round, kind).await
            }
        }
    }

    /// Carries out effects until it waits for something or is over.
    pub(crate) async fn go_on(&mut self) -> Result<(), AgentError> {
        while let Some(effect) = self.todo.pop_front() {
            match effect {
                Effect::CallModel { .. } | Effect::Decide { .. } if self.clean_end.is_some() => {
                    self.apply(Event::Cancel, None, Vec::new()).await?;
                }
                Effect::CallModel { round, tools: true } => replies::ask(self, round, ReplyKind::Message).await?,
                Effect::CallModel { round, tools: false } => replies::ask(self, round, ReplyKind::End).await?,
                Effect::Decide { round } => replies::ask(self, round, ReplyKind::Decision).await?,
                Effect::RunTools { calls } => self.start_tools(calls).await?,
                Effect::AskOwner { mut calls } => {
                    // What waits at the same time is one question.
                    while let Some(Effect::AskOwner { calls: more }) =
                        self.todo.pop_front_if(|next| matches!(next, Effect::AskOwner { .. }))
                    {
                        calls.extend(more);
                    }
                    approvals::ask_owner(self, calls).await?;
                }
                Effect::Deliver { text } => self.answer = Some(text),
                // Written together with the event that it belongs to.
                Effect::StoreMessages { .. } => {}
                Effect::TellNotDrawn { why } => {
                    let told = format!("the reply cannot be drawn: {why}; it is asked for again");
                    self.listeners.send(&TurnEvent::Notice(told));
                }
                Effect::End { outcome, .. } => {
                    if let Some(end) = self.clean_end.take() {
                        clean_first::settle(self, end).await?;
                    }
                    self.end(outcome);
                }
            }
        }
        Ok(())
    }

    /// Takes the owner's answer; one to no open question changes nothing.
    pub(crate) async fn answered_by_owner(
        &mut self,
        question: &QuestionId,
        answer: ApprovalAnswer,
    ) -> Result<(), AgentError> {
        approvals::take_answer(self, question, answer).await
    }

    /// Stops the turn: the text that came is kept, calls of the model are not.
    pub(crate) async fn cancel(&mut self) -> Result<(), AgentError> {
        match mem::replace(&mut self.waits_for, WaitsFor::Nothing) {
            WaitsFor::Reply(mut reply) => {
                for step in reply.call.stop() {
                    replies::model_step(self, step).await?;
                }
            }
            // The note is not waited for any more; whoever listens loses nothing.
            WaitsFor::Note(..) => replies::nothing_said(self).await?,
            WaitsFor::Nothing => {}
        }
        let ends = self.todo.iter().any(|effect| matches!(effect, Effect::End { .. }));
        if !ends {
            agents::tell_who_goes_on(self).await?;
            self.apply(Event::Cancel, None, Vec::new()).await?;
            // What was to be done before the stop is not.
            self.todo.retain(|effect| {
                matches!(effect, Effect::StoreMessages { .. } | Effect::Deliver { .. } | Effect::End { .. })
            });
        }
        Ok(())
    }
}
