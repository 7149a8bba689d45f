//! What agents are told at the moment of their end: whenever it is said, somebody hears it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use limpid_config::Clock;
use limpid_core::{AgentId, AgentState};
use limpid_model::Pause;
use limpid_runtime::{Agent, AgentReport, Told};
use limpid_testkit::Reply;
use serde_json::json;

use crate::kit::agents::{Passed, agents, bench, calls, is_child, newest, notices, open, says};
use crate::kit::{FixedClock, PATIENCE, all, last};

type Act = Box<dyn FnOnce() + Send>;

/// A clock that stands still, and at one of the times that it is read something happens before the reader goes on.
#[derive(Default)]
struct Moment {
    /// How often it is read until then.
    left: AtomicI64,
    act: Mutex<Option<Act>>,
}

impl std::fmt::Debug for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.left)
    }
}

impl Clock for Moment {
    fn now(&self) -> Timestamp {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1
            && let Some(act) = self.act.lock().unwrap().take()
        {
            // A thread of the runtime must not wait for the runtime.
            std::thread::spawn(act).join().unwrap();
        }
        FixedClock::at("2026-03-28T12:00:00Z").now()
    }
}

/// Tells an agent something at the n-th time that the clock is read after its last reply. None: it is not read so often.
async fn told_at(moment: i64) -> Option<Told> {
    let clock = Arc::new(Moment::default());
    let armed = Arc::clone(&clock);
    let (bench, sent) = bench("koshi", move |request| {
        let newest = newest(request);
        if is_child(request) && newest.contains("Only the green ones.") {
            says("Six green ones.")
        } else if is_child(request) {
            armed.left.store(moment, Ordering::SeqCst);
            says("Nine.")
        } else if newest.contains("Begin.") {
            calls(&[("spawn_agent", json!({ "task": "Count." }))])
        } else {
            says("Well.")
        }
    })
    .await;
    let mut options = bench.options();
    options.clock = Arc::clone(&clock) as Arc<dyn Clock>;
    let agent = Arc::new(Agent::open(options).unwrap());
    let told = Arc::new(OnceLock::new());
    let (runtime, teller, kept) = (tokio::runtime::Handle::current(), Arc::clone(&agent), Arc::clone(&told));
    *clock.act.lock().unwrap() = Some(Box::new(move || {
        let said = runtime.block_on(teller.agents().tell(AgentId(1), "Only the green ones."));
        kept.set(said.unwrap()).unwrap();
    }));
    let handle = agent.chat(last("Begin.")).await.unwrap();
    let chat = handle.conversation().clone();
    all(handle).await;
    for _ in 0..2 {
        tokio::time::timeout(PATIENCE, agent.conversations().wait_for_agents(&chat)).await.unwrap().unwrap();
        agent.conversations().wait_idle(&chat).await;
    }
    clock.act.lock().unwrap().take();
    let told = *told.get()?;
    let all = agents(&agent).await;
    let ends: Vec<_> = all.iter().map(|agent| (agent.state, agent.result.as_str())).collect();
    let expected: &[_] = match told {
        Told::Hears(_) => &[(AgentState::Done, "Six green ones.")],
        Told::GoesOn { .. } => &[(AgentState::Done, "Nine."), (AgentState::Done, "Six green ones.")],
    };
    assert_eq!(ends, expected, "at {moment}: {told:?}");
    assert!(agent.store().waiting(&all[0].works_in()).await.unwrap().rows.is_empty(), "at {moment}: {told:?}");
    let heard = sent.lock().unwrap().iter().filter(|one| newest(one).contains("Only the green ones.")).count();
    assert_eq!(heard, 1, "at {moment}: {told:?}");
    assert_eq!(notices(&agent, &all[0]).await.len(), ends.len(), "at {moment}: each end is told once");
    Some(told)
}

// LES-120 LES-129
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whenever_an_agent_is_told_something_around_its_end_it_hears_it_or_another_one_goes_on() {
    let (mut hear, mut go_on) = (0, 0);
    for moment in 1..=40 {
        match told_at(moment).await {
            Some(Told::Hears(_)) => hear += 1,
            Some(Told::GoesOn { .. }) => go_on += 1,
            None => break,
        }
    }
    assert!(hear > 2 && go_on > 0, "{hear} heard it, {go_on} went on");
}

// LES-120 LES-123 LES-129
#[tokio::test]
async fn one_that_goes_on_answers_for_what_was_said_since_and_not_for_the_one_before() {
    let (bench, _) = bench("koshi", |request| {
        let newest = newest(request);
        if is_child(request) && newest.contains("Go on.") {
            serde_json::from_value::<Reply>(json!({ "status": 400, "body": "{\"error\":{\"message\":\"no\"}}" }))
                .unwrap()
        } else if is_child(request) && newest.contains("Count.") {
            calls(&[("list_dir", json!({ "path": "." }))])
        } else if is_child(request) {
            says("Nine.")
        } else if newest.contains("Begin.") {
            calls(&[("spawn_agent", json!({ "task": "Count." }))])
        } else {
            says("Well.")
        }
    })
    .await;
    let agent = open(&bench, &Passed::new(), &[]);
    crate::kit::agents::talk(&agent, "Begin.").await;
    let told = agent.agents().tell(AgentId(1), "Go on.").await.unwrap();
    assert_eq!(told, Told::GoesOn { before: AgentId(1), now: AgentId(2) });
    let chat = agents(&agent).await[0].chat.clone();
    tokio::time::timeout(PATIENCE, agent.conversations().wait_for_agents(&chat)).await.unwrap().unwrap();
    let all = agents(&agent).await;
    let ends: Vec<_> = all.iter().map(|agent| (agent.state, agent.result.as_str())).collect();
    assert_eq!(ends, [(AgentState::Done, "Nine."), (AgentState::Failed, "")]);
    let [first, second] = [&all[0], &all[1]].map(AgentReport::of_row);
    assert_eq!((first.rounds, first.calls.len()), (2, 1));
    assert_eq!((second.rounds, second.calls.len(), second.tokens), (0, 0, 0));
}

/// Whoever pastes a letter for an agent has not written it.
// SEC-053
#[tokio::test]
async fn what_is_longer_than_three_lines_is_somebody_elses_text_to_an_agent() {
    for (message, is_fenced) in [("one\ntwo\nthree", false), ("one\ntwo\nthree\nfour", true)] {
        let sent: Arc<Mutex<Vec<String>>> = Arc::default();
        let noted = Arc::clone(&sent);
        let (bench, _) = bench("koshi", move |request| {
            noted.lock().unwrap().push(request.text());
            match newest(request) {
                newest if !is_child(request) && newest.contains("Begin.") => {
                    calls(&[("spawn_agent", json!({ "task": "Count." }))])
                }
                _ => says("Nine."),
            }
        })
        .await;
        let agent = open(&bench, &Passed::new(), &[]);
        crate::kit::agents::talk(&agent, "Begin.").await;
        agent.agents().tell(AgentId(1), message).await.unwrap();
        let chat = agents(&agent).await[0].chat.clone();
        tokio::time::timeout(PATIENCE, agent.conversations().wait_for_agents(&chat)).await.unwrap().unwrap();
        let sent = sent.lock().unwrap().clone();
        let told = sent.iter().find(|text| text.contains(r"one\ntwo")).unwrap_or_else(|| panic!("{sent:#?}"));
        let before = told.split(r"one\ntwo").next().unwrap();
        let is_inside = before.matches("[untrusted ").count() > before.matches("[/untrusted ").count();
        assert_eq!(is_inside, is_fenced, "{told}");
    }
}

/// At the first wait for another try the database is as it was. The time of agents does not pass.
struct Mended(PathBuf, Option<&'static str>);

impl Pause for Mended {
    fn pause(&self, time: Duration) -> BoxFuture<'static, ()> {
        if time >= Duration::from_secs(30) {
            return std::future::pending().boxed();
        }
        if let Some(mend) = self.1 {
            rusqlite::Connection::open(&self.0).unwrap().execute_batch(mend).unwrap();
        }
        std::future::ready(()).boxed()
    }
}

// LES-110 LES-113
#[tokio::test]
async fn an_end_that_cannot_be_written_is_written_later_or_without_its_words() {
    let whole = (AgentState::Done, "Nine.", "");
    let bare = (AgentState::Failed, "", "its end could not be written whole");
    for (mend, expected) in [(Some("DROP TRIGGER IF EXISTS full"), whole), (None, bare)] {
        let (bench, _) = bench("koshi", |request| {
            if is_child(request) {
                says("Nine.")
            } else if newest(request).contains("Begin.") {
                calls(&[("spawn_agent", json!({ "task": "Count." }))])
            } else {
                says("Well.")
            }
        })
        .await;
        let file = bench.home.path().join("data/limpid.db");
        let mut options = bench.options();
        options.pause = Arc::new(Mended(file.clone(), mend));
        let agent = Agent::open(options).unwrap();
        let full =
            "CREATE TRIGGER full BEFORE UPDATE ON agent WHEN NEW.result <> '' BEGIN SELECT RAISE(ABORT, 'full'); END";
        rusqlite::Connection::open(&file).unwrap().execute_batch(full).unwrap();
        crate::kit::agents::talk(&agent, "Begin.").await;
        let ended = agents(&agent).await.remove(0);
        assert_eq!((ended.state, ended.result.as_str(), ended.reason.as_str()), expected);
        assert_eq!(notices(&agent, &ended).await.len(), 1);
    }
}
