//! A loaded model at work: from text to tokens, evaluated with what is already known, and token by token to an answer.

use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::mpsc::Receiver;

use limpid_core::{FailureClass, Usage};
use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::context::session::{LlamaStateSeqFlags, SeqState};
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::{LogOptions, send_logs_to_tracing};
use tokio::sync::mpsc::Sender;
use tokio_util::sync::CancellationToken;

use super::cache::{Cache, Source};
use super::engine::Setup;
use super::sampler::Sampler;
use super::tokens::Tokenizer;
use super::utf8::Utf8Stream;
use crate::model::{FinishReason, ModelError, ModelEvent, ReplyForm, Sampling};

/// Tokens of an answer without reasoning when nobody set a limit; a small model that goes in circles ends there.
const USUAL_OUTPUT: usize = 2048;
/// The engine's one sequence.
const SEQUENCE: i32 = 0;

/// One reply to be made.
#[derive(Debug)]
pub(super) struct Job {
    /// What the model reads.
    pub(super) text: String,
    /// Stretches of it that people or other programs wrote: nothing in them is a mark of the template.
    pub(super) foreign: Vec<Range<usize>>,
    pub(super) sampling: Sampling,
    pub(super) reply: ReplyForm,
    /// Whether reasoning comes before the answer.
    pub(super) reasons: bool,
    pub(super) conversation: Option<String>,
    pub(super) cancel: CancellationToken,
    pub(super) events: Sender<Result<ModelEvent, ModelError>>,
}

impl Job {
    /// Ends the reply with an error.
    pub(super) fn fail(&self, error: ModelError) {
        let _ = self.events.blocking_send(Err(error));
    }

    /// Sends an event; without a reader there is nothing more to do.
    fn emit(&self, event: ModelEvent) -> Result<(), ModelError> {
        self.events.blocking_send(Ok(event)).map_err(|_| cancelled())
    }
}

/// Loads the model and answers jobs until the handle is gone.
pub(super) fn serve(setup: &Setup, queue: &Receiver<Job>, stop: &CancellationToken) {
    let fail_all = |error: &ModelError| {
        if let Ok(first) = queue.recv() {
            first.fail(error.clone());
        }
        queue.try_iter().for_each(|job| job.fail(error.clone()));
    };
    let model = match load(setup) {
        Ok(model) => model,
        Err(error) => return fail_all(&error),
    };
    let mut session = match Session::new(&model, setup) {
        Ok(session) => session,
        Err(error) => return fail_all(&error),
    };
    while let Ok(job) = queue.recv() {
        if let Err(error) = session.answer(&job, stop) {
            job.fail(error);
        }
    }
}

/// The engine behind all models of this process. It is silent: what it would print is in the errors.
fn backend() -> Result<&'static LlamaBackend, ModelError> {
    static BACKEND: OnceLock<Option<LlamaBackend>> = OnceLock::new();
    let start = || {
        send_logs_to_tracing(LogOptions::default().with_logs_enabled(false));
        LlamaBackend::init().ok()
    };
    let failed = || ModelError::new(FailureClass::Server, "the local engine cannot be started");
    BACKEND.get_or_init(start).as_ref().ok_or_else(failed)
}

fn load(setup: &Setup) -> Result<LlamaModel, ModelError> {
    LlamaModel::load_from_file(backend()?, &setup.file, &LlamaModelParams::default()).map_err(|error| {
        let message = format!(
            "the local engine cannot load {}: {error}; its architecture may be unknown to this version, or the file \
             damaged: fetch it again or take another model",
            setup.file.display()
        );
        ModelError::new(FailureClass::UnknownModel, message)
    })
}

/// A loaded model with its one sequence.
struct Session<'model> {
    tokenizer: Tokenizer<'model>,
    model: &'model LlamaModel,
    context: LlamaContext<'model>,
    batch: LlamaBatch<'static>,
    batch_size: usize,
    cache: Cache<SeqState>,
}

impl<'model> Session<'model> {
    fn new(model: &'model LlamaModel, setup: &Setup) -> Result<Self, ModelError> {
        let threads = i32::try_from(setup.threads).unwrap_or(1).max(1);
        let params = LlamaContextParams::default()
            .with_n_ctx(NonZeroU32::new(setup.window))
            .with_n_seq_max(1)
            .with_n_batch(setup.batch)
            .with_n_ubatch(setup.batch)
            .with_n_threads(threads)
            .with_n_threads_batch(threads)
            .with_no_perf(true);
        let context = model.new_context(backend()?, params).map_err(|_| {
            let message = format!("the local engine has no memory for a window of {} tokens", setup.window);
            ModelError::new(FailureClass::Server, message + "; set a smaller `window` for this model")
        })?;
        let batch_size = setup.batch as usize;
        Ok(Self {
            tokenizer: Tokenizer::new(model),
            model,
            context,
            batch: LlamaBatch::new(batch_size, 1),
            batch_size,
            cache: Cache::new(setup.parked_bytes),
        })
    }

    fn answer(&mut self, job: &Job, stop: &CancellationToken) -> Result<(), ModelError> {
        check(job, stop)?;
        let tokens = self.tokenizer.tokens(&job.text, &job.foreign);
        let window = self.context.n_ctx() as usize;
        if tokens.is_empty() || tokens.len() >= window {
            let message = format!("the prompt has {} tokens, and the local model's window {window}", tokens.len());
            return Err(ModelError::new(FailureClass::Overflow, message));
        }
        let mut sampler = Sampler::new(self.model, job.sampling, &job.reply)?;
        let kept = self.recall(job.conversation.as_deref(), &tokens);
        let mut usage = Usage { input: tokens.len() as u64, cached: kept as u64, ..Usage::default() };
        self.evaluate(job, stop, kept, &tokens[kept..])?;

        let limit = limit(job.sampling.max_output, job.reasons, window - tokens.len());
        let reason = self.generate(job, stop, &mut sampler, tokens.len(), limit, &mut usage)?;
        job.emit(ModelEvent::Usage(usage))?;
        job.emit(ModelEvent::End(reason))
    }

    /// Puts the longest known beginning of a prompt into the engine's sequence and returns its length in tokens.
    fn recall(&mut self, conversation: Option<&str>, tokens: &[i32]) -> usize {
        let plan = self.cache.plan(conversation, tokens);
        let mut keep = plan.keep;
        let restored = match plan.source {
            Source::Active => None,
            // A copy, because parking may drop the parked one.
            Source::Parked(number) => self.cache.parked(number).map(|(state, _)| state.clone()),
        };
        if plan.park
            && let Ok(state) = self.context.state_seq_get(SEQUENCE, LlamaStateSeqFlags::empty())
        {
            let bytes = state.byte_len() as u64;
            self.cache.park(state, bytes);
        }
        if let Some(state) = restored {
            self.context.clear_kv_cache();
            if self.context.state_seq_set(&state, SEQUENCE).is_err() {
                keep = 0;
            }
        }
        // Some architectures cannot forget a part; they begin anew.
        let from = u32::try_from(keep).ok();
        if keep == 0 || self.context.kv_cache_seq_rm(SEQUENCE, from, None).is_err() {
            self.context.clear_kv_cache();
            keep = 0;
        }
        self.cache.hold(conversation, &tokens[..keep]);
        keep
    }

    fn evaluate(
        &mut self,
        job: &Job,
        stop: &CancellationToken,
        start: usize,
        tokens: &[i32],
    ) -> Result<(), ModelError> {
        let mut position = start;
        let mut chunks = tokens.chunks(self.batch_size).peekable();
        while let Some(chunk) = chunks.next() {
            check(job, stop)?;
            self.decode(position, chunk, chunks.peek().is_none())?;
            position += chunk.len();
        }
        Ok(())
    }

    /// Evaluates tokens at a position; `draw` says that the next token will be drawn after the last one.
    fn decode(&mut self, position: usize, tokens: &[i32], draw: bool) -> Result<(), ModelError> {
        let failed = |why: String| ModelError::new(FailureClass::Server, format!("the local engine failed: {why}"));
        self.batch.clear();
        for (at, token) in tokens.iter().enumerate() {
            let place = i32::try_from(position + at).map_err(|error| failed(error.to_string()))?;
            let last = draw && at + 1 == tokens.len();
            self.batch.add(LlamaToken(*token), place, &[SEQUENCE], last).map_err(|error| failed(error.to_string()))?;
        }
        if let Err(error) = self.context.decode(&mut self.batch) {
            self.context.clear_kv_cache();
            self.cache.hold(None, &[]);
            return Err(failed(error.to_string()));
        }
        self.cache.extend(tokens);
        Ok(())
    }

    fn generate(
        &mut self,
        job: &Job,
        stop: &CancellationToken,
        sampler: &mut Sampler,
        mut position: usize,
        limit: usize,
        usage: &mut Usage,
    ) -> Result<FinishReason, ModelError> {
        let mut text = Utf8Stream::default();
        let mut reason = FinishReason::Length;
        for drawn in 1..=limit {
            check(job, stop)?;
            let token = sampler.next(&self.context)?;
            if self.tokenizer.ends(token) {
                reason = FinishReason::Stop;
                break;
            }
            usage.output += 1;
            emit_text(job, text.push(&self.tokenizer.bytes(token)))?;
            if drawn < limit {
                self.decode(position, &[token.0], true)?;
                position += 1;
            }
        }
        emit_text(job, text.finish())?;
        Ok(reason)
    }
}

/// Tokens that a reply may have where so many are left of the window.
fn limit(set: Option<u32>, reasons: bool, room: usize) -> usize {
    let usual = if reasons { room } else { USUAL_OUTPUT };
    room.min(set.map_or(usual, |most| most as usize))
}

fn emit_text(job: &Job, text: String) -> Result<(), ModelError> {
    if text.is_empty() { Ok(()) } else { job.emit(ModelEvent::Text(text)) }
}

fn check(job: &Job, stop: &CancellationToken) -> Result<(), ModelError> {
    if job.cancel.is_cancelled() || stop.is_cancelled() || job.events.is_closed() { Err(cancelled()) } else { Ok(()) }
}

/// The error of a reply that was cancelled.
pub(super) fn cancelled() -> ModelError {
    ModelError::new(FailureClass::Cancelled, "the turn was cancelled")
}

#[cfg(test)]
mod tests {
    use super::*;

    // MOD-158
    #[test]
    fn reasoning_is_bounded_by_the_window_and_not_by_what_bounds_an_answer() {
        assert_eq!([limit(None, true, 7000), limit(None, false, 7000), limit(None, false, 900)], [7000, 2048, 900]);
        assert_eq!([limit(Some(3500), true, 7000), limit(Some(9000), true, 7000)], [3500, 7000]);
    }
}
