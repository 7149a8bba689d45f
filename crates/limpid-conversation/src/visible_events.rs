//! What of an answer's events people see: everything but the protocol's own words.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};

use limpid_core::quiet::{QuietFilter, without_quiet};

use tokio::sync::mpsc::UnboundedReceiver;

use crate::event::TurnEvent;

/// The events of one answer as a surface sees them.
#[derive(Debug)]
pub struct VisibleEvents {
    events: UnboundedReceiver<TurnEvent>,
    text: QuietFilter,
    reasoning: QuietFilter,
    ready: VecDeque<TurnEvent>,
}

impl VisibleEvents {
    /// What may be seen of the events of a turn.
    pub fn new(events: UnboundedReceiver<TurnEvent>) -> Self {
        Self { events, text: QuietFilter::default(), reasoning: QuietFilter::default(), ready: VecDeque::new() }
    }

    /// The next event that may be seen; none after the last one.
    pub async fn next(&mut self) -> Option<TurnEvent> {
        poll_fn(|context| self.poll(context)).await
    }

    /// The same, for a stream.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<TurnEvent>> {
        while self.ready.is_empty() {
            match ready!(self.events.poll_recv(context)) {
                Some(event) => self.take(event),
                None => {
                    self.give_rest();
                    break;
                }
            }
        }
        Poll::Ready(self.ready.pop_front())
    }

    fn take(&mut self, event: TurnEvent) {
        let seen = match event {
            TurnEvent::Text(text) => spoken(self.text.push(&text), TurnEvent::Text),
            TurnEvent::Reasoning(text) => spoken(self.reasoning.push(&text), TurnEvent::Reasoning),
            TurnEvent::Done { outcome, answer } => {
                self.give_rest();
                Some(TurnEvent::Done { outcome, answer: answer.map(|answer| without_quiet(&answer)) })
            }
            other => {
                self.give_rest();
                Some(other)
            }
        };
        self.ready.extend(seen);
    }

    /// Nothing more comes of the text before this moment.
    fn give_rest(&mut self) {
        self.ready.extend(spoken(self.reasoning.finish(), TurnEvent::Reasoning));
        self.ready.extend(spoken(self.text.finish(), TurnEvent::Text));
    }
}

fn spoken(text: String, event: fn(String) -> TurnEvent) -> Option<TurnEvent> {
    (!text.is_empty()).then(|| event(text))
}
