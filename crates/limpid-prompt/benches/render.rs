//! How long a prompt takes to render (MEA-07): "hi" in a typical set-up, and a prompt with everything in it.
#![allow(missing_docs, reason = "criterion writes the entry point")]
#![allow(clippy::unwrap_used)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use limpid_prompt::inputs::{Inputs, MemoryEntry, Quoted, SkillEntry, ToolInput, TrustName};
use limpid_prompt::scenario::EXAMPLE_INPUTS;
use limpid_prompt::{Estimate, Profile, Profiles, Prompt, RenderRequest};

/// The example with so many tools, skills and memories.
fn inputs(tools: usize, skills: usize, memories: usize) -> Inputs {
    let mut inputs: Inputs = serde_json::from_str(EXAMPLE_INPUTS).unwrap();
    let tool = inputs.tools[0].clone();
    inputs.tools = (0..tools).map(|n| ToolInput { name: format!("tool_{n}"), ..tool.clone() }).collect();
    let skill = |n| SkillEntry {
        name: format!("skill-{n}"),
        description: "Does one thing well".into(),
        ..SkillEntry::by(TrustName::File)
    };
    inputs.skills.index = (0..skills).map(skill).collect();
    inputs.skills.active.clear();
    let memory = |n| MemoryEntry {
        key: format!("key-{n}"),
        content: "A fact worth a line".into(),
        ..MemoryEntry::by(TrustName::Owner)
    };
    inputs.memory.general = (0..memories).map(memory).collect();
    inputs.user = Some(Quoted::new("hi", TrustName::Owner));
    inputs
}

fn render(profile: &Profile, inputs: &Inputs, count_tokens: bool) -> Prompt {
    let counter = Estimate::default();
    profile.render(RenderRequest { path: "chat-remote", inputs, counter: &counter, count_tokens }).unwrap()
}

fn benches(criterion: &mut Criterion) {
    let profiles = Profiles::shipped();
    let limpid = profiles.get("limpid").unwrap();
    let kai = profiles.get("kai").unwrap();
    let hi = Inputs { goal: None, ..inputs(0, 10, 0) };
    let typical = Inputs { goal: None, ..inputs(20, 10, 0) };
    let full = inputs(40, 20, 200);
    criterion.bench_function("hi", |bench| bench.iter(|| render(limpid, black_box(&hi), false)));
    criterion.bench_function("hi with 20 tools", |bench| bench.iter(|| render(limpid, black_box(&typical), false)));
    criterion.bench_function("everything, limpid", |bench| bench.iter(|| render(limpid, black_box(&full), false)));
    criterion.bench_function("everything, kai", |bench| bench.iter(|| render(kai, black_box(&full), false)));
    criterion.bench_function("everything, kai, counted", |bench| bench.iter(|| render(kai, black_box(&full), true)));
}

criterion_group!(group, benches);
criterion_main!(group);
