//! Whatever was said and counted before, a chat is answered: sections shrink, nothing refuses.

use std::sync::Arc;

use jiff::ToSpan as _;
use limpid_core::goal::Priority;
use limpid_core::{Category, Role, ToolProtocol, Trust, UsableWindow, WindowSize};
use limpid_model::{Model, ModelCall, ModelCard};
use limpid_prompt::count::{Estimate, TokenCounter as _};
use limpid_runtime::{
    Agent, AgentOptions, ChatRequest, Config, ConversationChoice, Outcome, PreviewRequest, TurnEvent,
};
use limpid_store::{Audience, Author, NewMemory};
use limpid_testkit::{Said, Talker};
use proptest::prelude::*;
use proptest::test_runner::{Config as Cases, RngAlgorithm, TestRng, TestRunner};

use crate::kit::{Bench, all};

/// A stretch of each kind of text that tokenizers treat differently.
const TEXTS: [&str; 9] = [
    "The build is red since Monday, and nobody knows why. ",
    "Zażółć gęślą jaźń; proszę sprawdzić, dlaczego kompilacja się nie udaje. ",
    "从星期一开始构建就失败了，没有人知道原因。",
    "البناء معطل منذ يوم الاثنين ولا أحد يعرف السبب. ",
    "2026-01-05;1204;17.25;0.23;99\n",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n",
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk\n",
    "{\"id\":17,\"tags\":[\"a\",\"b\"],\"open\":true},\n",
    "🦞🦀🚀✨🔥",
];
const PROFILES: [&str; 5] = ["limpid", "kai", "koshi", "ollm", "picoclaw"];
const MODES: [&str; 5] = ["assistant", "developer", "planning", "debugger", "user"];
const WINDOWS: [u32; 7] = [2048, 3000, 4096, 6000, 8192, 16_384, 32_768];

/// Conversations that are played: a few seconds. They are the same in every run; a change of the rules is tried with 200.
const CASES: u32 = 14;

/// One owner, one model, one conversation.
#[derive(Clone, Debug)]
struct Case {
    profile: usize,
    mode: usize,
    /// The window of the conversation's first model and of the one that goes on with it: the tier is the first one's.
    windows: (usize, usize),
    local: bool,
    protocol: ToolProtocol,
    /// Hundredths of the plain estimate that the provider reports.
    counts: usize,
    soul: usize,
    /// Of each message the kind of text and its characters.
    said: Vec<(usize, usize)>,
    memories: usize,
    /// Skills of the owner, each with a description of so many characters.
    skills: (usize, usize),
    /// Characters of the goal that is set after the first answer; 0: none.
    goal: usize,
    /// Characters of a file that a model with native calls reads before it answers; 0: it calls nothing.
    file: usize,
    /// Whether others read the conversation after the first answer.
    group: bool,
}

fn case() -> impl Strategy<Value = Case> {
    let one = |count: usize| 0..count;
    let protocol = prop::sample::select(vec![ToolProtocol::Native, ToolProtocol::Json, ToolProtocol::None]);
    let length = prop::sample::select(vec![3_usize, 200, 2000, 12_000]);
    let said = prop::collection::vec((one(TEXTS.len()), length), 2..6);
    let windows = (one(WINDOWS.len()), prop_oneof![3 => Just(0_usize), 2 => one(WINDOWS.len())]);
    let counts = prop::sample::select(vec![20_usize, 70, 100, 180, 250, 400, 2000]);
    let skills = prop::sample::select(vec![(0_usize, 0_usize), (3, 80), (40, 200)]);
    let file = prop::sample::select(vec![0_usize, 100, 40_000]);
    (
        (one(5), one(5), windows, any::<bool>(), protocol),
        (counts, one(TEXTS.len()), said, prop::sample::select(vec![0_usize, 30])),
        (skills, prop::sample::select(vec![0_usize, 40, 400]), file, any::<bool>()),
    )
        .prop_map(|(first, second, third)| {
            let (profile, mode, windows, local, protocol) = first;
            let (counts, soul, said, memories) = second;
            let (skills, goal, file, group) = third;
            Case { profile, mode, windows, local, protocol, counts, soul, said, memories, skills, goal, file, group }
        })
}

/// So many characters of a kind of text.
fn text(kind: usize, characters: usize) -> String {
    TEXTS[kind].chars().cycle().take(characters).collect()
}

fn card(case: &Case, window: u32) -> ModelCard {
    ModelCard {
        provider: "test".to_owned(),
        // A conversation keeps the window that it began with while its remote model stays the same.
        id: if case.local { "talker".to_owned() } else { format!("talker-{window}") },
        local: case.local,
        window: Some(WindowSize(window)),
        usable_window: Some(UsableWindow::default_for(WindowSize(window))),
        tools: case.protocol,
        ..ModelCard::default()
    }
}

fn open(bench: &Bench, case: &Case, window: u32) -> (Agent, Arc<Talker>) {
    let reads = case.file > 0 && case.protocol == ToolProtocol::Native;
    let answer = move |call: &ModelCall| match call.prompt.path() {
        "summarize" | "merge-summaries" | "state-snapshot" => Said::Text("They talk about a build.".to_owned()),
        _ if reads && call.prompt.messages().last().is_some_and(|last| last.role() == Role::User) => {
            Said::Calls(vec![("read_file".to_owned(), "{\"path\":\"notes.txt\"}".to_owned())])
        }
        _ => Said::Text("Noted, and looked at with care. ".repeat(9)),
    };
    let model = Arc::new(Talker::new(card(case, window), answer).counting(case.counts));
    let config = format!("[agent]\nprofile = \"{}\"\nmode = \"{}\"\n", PROFILES[case.profile], MODES[case.mode]);
    let config = Config::parse(&config, "limpid.toml").unwrap();
    let options = AgentOptions { model: Some(Arc::clone(&model) as Arc<dyn Model>), config, ..bench.options() };
    (Agent::open(options).unwrap(), model)
}

async fn play(case: &Case) -> Result<(), String> {
    let bench = Bench::new("[[reply]]\ntext = \"unused\"\n").await;
    let soul: String = {
        let mut soul = text(case.soul, 600);
        while soul.len() > 600 {
            soul.pop();
        }
        soul
    };
    bench.write("soul.md", &soul);
    bench.write("workspace/notes.txt", &text(case.soul, case.file));
    for skill in 0..case.skills.0 {
        let description = text((case.soul + skill) % TEXTS.len(), case.skills.1).replace(['\n', '"', '{', '}'], " ");
        let head = format!("---\nname: skill-{skill}\ndescription: \"{description}\"\n---\nDo it.\n");
        bench.write(&format!("skills/skill-{skill}/SKILL.md"), &head);
    }
    let (first, second) = (WINDOWS[case.windows.0], WINDOWS[case.windows.1]);
    let half = case.said.len() / 2;
    let (mut agent, mut model) = open(&bench, case, first);
    for (n, (kind, characters)) in case.said.iter().enumerate() {
        let window = if n < half { first } else { second };
        if n == half {
            drop(agent);
            (agent, model) = open(&bench, case, window);
        }
        if n == 0 {
            for memory in 0..case.memories {
                let new = NewMemory {
                    key: Some(format!("fact {memory}")),
                    content: text(case.soul, 150),
                    category: [Category::General, Category::Preference, Category::Learning, Category::Error]
                        [memory % 4],
                    trust: Trust::Owner,
                    author: Author::Said,
                    source: None,
                    now_ms: agent.now_ms(),
                };
                let id = agent.store().store_memory(new).await.unwrap().memory.id;
                agent.store().pin_memory(&id.into(), true, agent.now_ms()).await.unwrap();
            }
        }
        let preview = PreviewRequest { conversation: ConversationChoice::New, ..PreviewRequest::default() };
        agent.preview(preview).await.map_err(|error| format!("{n}: a prompt cannot be shown: {error}"))?;
        let conversation = if n == 0 { ConversationChoice::New } else { ConversationChoice::Last };
        let request = ChatRequest { text: text(*kind, *characters), conversation, ..ChatRequest::default() };
        let events = all(agent.chat(request).await.map_err(|error| format!("{n}: {error}"))?).await;
        let answered =
            events.iter().any(|event| matches!(event, TurnEvent::Done { outcome: Outcome::Answered { .. }, .. }));
        if !answered {
            return Err(format!("{n} of {window}: {:?}", events.last()));
        }
        for prompt in model.take_sent() {
            let plain = prompt.totals_by(&Estimate::default()).total;
            let usable = UsableWindow::default_for(WindowSize(window)).0 as usize;
            let room = usable - (usable / 4).min(4096);
            // An estimate that was learned may be off by a little.
            if case.counts >= 100 && plain * 20 > room * 21 {
                let size = |text: &str| Estimate::default().count(text);
                let parts = prompt.messages().iter().flat_map(limpid_prompt::PromptMessage::parts);
                let parts: Vec<_> = parts.map(|part| (part.section().to_owned(), size(part.text()))).collect();
                return Err(format!("{n}: {} has {plain} of {usable} tokens: {parts:?}", prompt.path()));
            }
        }
        let conversation = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap();
        agent.conversations().wait_idle(&conversation.id).await;
        if n == 0 {
            // A goal that has no room is refused by itself; the chat goes on without it.
            let _ =
                agent.goals().create(&ConversationChoice::Last, &text(case.soul, case.goal), Priority::Medium).await;
            let audience = if case.group { Audience::Group } else { Audience::Owner };
            agent.conversations().set_audience(&conversation.id, audience).await.map_err(|error| error.to_string())?;
        }
        bench.clock.forward(1.minutes());
    }
    Ok(())
}

// OLLM-105 PRO-024 OLLM-102 LES-013
#[test]
fn a_chat_is_answered_whatever_was_said_and_counted_before() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let cases = Cases { cases: CASES, max_shrink_iters: 40, failure_persistence: None, ..Cases::default() };
    let mut runner = TestRunner::new_with_rng(cases, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let outcome = runner.run(&case(), |case| runtime.block_on(play(&case)).map_err(TestCaseError::fail));
    outcome.unwrap();
}
