//! How often a prompt is rendered, by the spans of rendering.

use std::cell::Cell;

use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::kit::{Bench, say};

thread_local! {
    /// Spans of rendering in a thread: each test has one of its own, in which its agent runs.
    static RENDERS: Cell<usize> = const { Cell::new(0) };
}

struct Renders;

impl Subscriber for Renders {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.name() == "prompt.render"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        RENDERS.set(RENDERS.get() + 1);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

// MEA-08
#[tokio::test]
async fn a_request_renders_its_prompt_once() {
    let bench = Bench::new(
        r#"
[[reply]]
calls = [{ id = "a", name = "get_local_time" }]
[[reply]]
text = "Noon."
[[reply]]
text = "Still noon."
[[reply]]
text = "Noon, says the next process."
"#,
    )
    .await;
    bench.write("profiles/limpid/sections/acting.md", "Speak like a clock.\n");
    tracing::subscriber::set_global_default(Renders).unwrap();
    let mut counted = Vec::new();
    let (first, next) = (bench.agent(), bench.agent());
    for (agent, text) in [(&first, "What time is it?"), (&first, "And now?"), (&next, "And now?")] {
        let (before, sent) = (RENDERS.get(), bench.server.calls().len());
        say(agent, text).await;
        counted.push((RENDERS.get() - before, bench.server.calls().len() - sent));
    }
    assert_eq!(counted, [(2, 2), (1, 1), (1, 1)], "renders and requests of each message");
}
