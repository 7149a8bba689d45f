//! Where spans go: a queue that never makes anybody wait, emptied by a thread of its own.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry_otlp::{Protocol, RetryPolicy, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SpanData, SpanProcessor as _};

use crate::facts::{RequestFacts, ToolFacts, TurnFacts};
use crate::sender::Sender;
use crate::spans;

/// Spans that wait at most; what comes then is left out.
const QUEUE: usize = 2048;

/// Spans that are sent together.
const BATCH: usize = 256;

/// How long spans wait for others to be sent with.
const TOGETHER: Duration = Duration::from_secs(2);

/// How long a collector may take for a batch.
pub(crate) const PATIENCE: Duration = Duration::from_secs(4);

/// How long the end of the program waits for the last batch.
const LAST: Duration = Duration::from_secs(5);

/// Whoever is told that spans cannot be sent: once, and again only when they could be sent meanwhile.
pub type Trouble = Arc<dyn Fn(&str) + Send + Sync>;

/// The traces of an agent. Clones share them.
#[derive(Clone, Default)]
pub struct Traces(Option<Arc<BatchSpanProcessor>>);

impl Traces {
    /// Sends spans to a collector at an `http` or `https` address, under a program's name; `/v1/traces` is put behind the address.
    pub fn to(collector: &str, program: &'static str, trouble: &Trouble) -> Self {
        match processor(collector, program, Arc::clone(trouble)) {
            Ok(processor) => Self(Some(Arc::new(processor))),
            Err(why) => {
                trouble(&format!("traces are not sent: {why}"));
                Self::default()
            }
        }
    }

    /// Whether anybody looks at them.
    pub fn are_on(&self) -> bool {
        self.0.is_some()
    }

    /// A turn has ended.
    pub fn turn(&self, facts: &TurnFacts<'_>) {
        self.send(|| spans::of_turn(facts));
    }

    /// A request has ended.
    pub fn request(&self, facts: &RequestFacts<'_>) {
        self.send(|| spans::of_request(facts));
    }

    /// A call of a tool has ended.
    pub fn tool(&self, facts: &ToolFacts<'_>) {
        self.send(|| spans::of_tool(facts));
    }

    /// Sends what waits, for a few seconds at most. Nothing is sent after that.
    pub async fn close(&self) {
        let Some(processor) = self.0.clone() else { return };
        // It blocks until the thread of the queue is done.
        let closed = tokio::task::spawn_blocking(move || processor.shutdown_with_timeout(LAST));
        // Whether the last spans arrived was told by the sender.
        drop(closed.await);
    }

    fn send(&self, span: impl FnOnce() -> SpanData) {
        if let Some(processor) = &self.0 {
            processor.on_end(span());
        }
    }
}

impl fmt::Debug for Traces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Traces").field(&self.are_on()).finish()
    }
}

fn processor(collector: &str, program: &'static str, trouble: Trouble) -> Result<BatchSpanProcessor, String> {
    let sender = Sender::new(collector, trouble);
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(sender)
        .with_endpoint(endpoint(collector))
        .with_protocol(Protocol::HttpBinary)
        .with_timeout(PATIENCE)
        .with_retry_policy(RetryPolicy::disabled())
        .build()
        .map_err(|error| error.to_string())?;
    let config = BatchConfigBuilder::default()
        .with_max_queue_size(QUEUE)
        .with_max_export_batch_size(BATCH)
        .with_scheduled_delay(TOGETHER)
        .build();
    let mut processor = BatchSpanProcessor::new(exporter, config);
    let resource =
        [KeyValue::new("service.name", program), KeyValue::new("service.version", env!("CARGO_PKG_VERSION"))];
    processor.set_resource(&Resource::builder_empty().with_attributes(resource).build());
    Ok(processor)
}

/// Where a collector takes spans.
fn endpoint(collector: &str) -> String {
    let base = collector.trim_end_matches('/');
    if base.ends_with("/v1/traces") { base.to_owned() } else { format!("{base}/v1/traces") }
}
