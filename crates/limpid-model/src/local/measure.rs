//! How fast a local model reads and writes on this machine.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use limpid_core::Usage;
use tokio_util::sync::CancellationToken;

use super::{LocalModel, Work, follow};
use crate::model::{ModelError, ModelEvent, ReplyForm, Sampling};
use crate::template::Rendered;

/// What two turns of a conversation took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The first turn: everything is evaluated.
    pub first: Turn,
    /// The second turn: the first one, its answer and the text that was added.
    pub second: Turn,
}

/// What one turn took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    /// Tokens read, reused and written.
    pub usage: Usage,
    /// From the call to the first piece of the answer.
    pub reading: Duration,
    /// From the first piece of the answer to its end.
    pub writing: Duration,
}

impl Turn {
    /// Tokens of the prompt that were evaluated in a second.
    pub fn read_rate(&self) -> f64 {
        rate(self.usage.input.saturating_sub(self.usage.cached), self.reading)
    }

    /// Tokens of the answer in a second; the first one counts as reading.
    pub fn write_rate(&self) -> f64 {
        rate(self.usage.output.saturating_sub(1), self.writing)
    }
}

/// Runs two turns greedily: `text`, then the same with the answer and `added` behind it. The weights are loaded before.
///
/// # Errors
/// When the model fails.
pub async fn measure(model: &LocalModel, text: &str, added: &str, output: u32) -> Result<Measured, ModelError> {
    turn(model, "warm up", 1, None).await?;
    let (first, answer) = turn(model, text, output, Some("measured")).await?;
    let (second, _) = turn(model, &format!("{text}{answer}{added}"), output, Some("measured")).await?;
    Ok(Measured { first, second })
}

async fn turn(
    model: &LocalModel,
    text: &str,
    output: u32,
    conversation: Option<&str>,
) -> Result<(Turn, String), ModelError> {
    let start = Instant::now();
    let cancel = CancellationToken::new();
    let mut events = follow(
        model.start(Work {
            rendered: Rendered { text: text.to_owned(), spans: Vec::new() },
            sampling: Sampling { temperature: Some(0.0), max_output: Some(output), ..Sampling::default() },
            reply: ReplyForm::Text,
            reasons: false,
            conversation: conversation.map(str::to_owned),
            cancel: cancel.clone(),
        }),
        cancel,
    );
    let (mut answer, mut usage, mut reading) = (String::new(), Usage::default(), None);
    while let Some(event) = events.next().await {
        match event? {
            ModelEvent::Text(piece) => {
                reading.get_or_insert_with(|| start.elapsed());
                answer.push_str(&piece);
            }
            ModelEvent::Usage(counted) => usage = counted,
            _ => {}
        }
    }
    let whole = start.elapsed();
    let reading = reading.unwrap_or(whole);
    Ok((Turn { usage, reading, writing: whole - reading }, answer))
}

fn rate(tokens: u64, time: Duration) -> f64 {
    if time.is_zero() { 0.0 } else { tokens as f64 / time.as_secs_f64() }
}
