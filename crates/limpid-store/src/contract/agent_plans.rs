//! Which planned tasks are kept and read.

use limpid_core::{AgentState, CallId, ConversationId, Labelled, PlannedId, Trust, TurnId};

use super::Bench;
use super::agents::{LIMITS, end, fresh, new};
use super::sample::begun;
use crate::{AgentEnd, InboundId, NewPlan, NewPlannedTask, NewSubAgent, PlannedTask, Store};

/// Plans so many tasks, each of which needs the one before it.
async fn plan(store: &dyn Store, name: &str, tasks: usize, trust: Trust) -> Vec<PlannedTask> {
    let task = |at: usize| NewPlannedTask {
        name: name.to_owned(),
        task: "tea".to_owned(),
        skill: None,
        context: None,
        needs: at.checked_sub(1).into_iter().collect(),
    };
    let plan = NewPlan {
        chat: ConversationId::new("a"),
        turn: TurnId::new("t"),
        call: CallId::new(name),
        tasks: (0..tasks).map(task).collect(),
        trust,
        now_ms: 1,
    };
    store.keep_plan(plan).await.unwrap()
}

/// More plans than are read.
async fn flood(store: &dyn Store, name: &str, trust: Trust) {
    for at in 0..12 {
        plan(store, &format!("{name} {at}"), 16, trust).await;
    }
}

/// How many tasks of a plan are read: in its conversation, and of all.
async fn read(store: &dyn Store, name: &str) -> [usize; 2] {
    let chat = ConversationId::new("a");
    let here = store.planned_tasks(Some(&chat)).await.unwrap().rows;
    let all = store.planned_tasks(None).await.unwrap().rows;
    [here, all].map(|tasks| tasks.iter().filter(|task| task.name == name).count())
}

/// Plans of each side are counted for themselves.
// SEC-093 SEC-102 KOSHI-044
pub async fn a_strangers_plans_push_out_only_a_strangers(bench: &Bench) {
    let store = bench.store.as_ref();
    begun(store, "a", "t").await;
    plan(store, "of the owner", 3, Trust::Owner).await;
    plan(store, "of a file", 3, Trust::File).await;
    plan(store, "of a page", 3, Trust::Outside).await;
    flood(store, "guest", Trust::Guest).await;
    flood(store, "page", Trust::Outside).await;
    assert_eq!(read(store, "of the owner").await, [3, 3]);
    assert_eq!(read(store, "of a file").await, [3, 3]);
    assert_eq!(read(store, "of a page").await, [0, 0], "of a stranger's own the oldest goes");
    flood(store, "owner", Trust::Owner).await;
    assert_eq!(read(store, "of the owner").await, [0, 0], "the owner's own take its place");
}

/// Whatever was planned since.
// KOSHI-044
pub async fn a_plan_is_read_for_as_long_as_a_task_of_it_is_under_way(bench: &Bench) {
    let store = bench.store.as_ref();
    begun(store, "a", "t").await;
    let tea = plan(store, "tea", 3, Trust::Owner).await;
    let want = async |ids: &[PlannedId]| {
        store.want_planned(ids, &TurnId::new("t"), None, Trust::Owner).await.unwrap();
    };
    want(&[tea[0].id, tea[1].id]).await;
    flood(store, "newer", Trust::Owner).await;
    assert_eq!(read(store, "tea").await[0], 3, "the first waits for its turn");
    let works = NewSubAgent { planned: Some(tea[0].id), ..new("a", "t", &format!("planned {} 1", tea[0].id)) };
    let agent = fresh(store.accept_agent(works, LIMITS).await.unwrap());
    assert_eq!(read(store, "tea").await[0], 3, "it runs");
    let ended = AgentEnd { told_until: InboundId(i64::MAX), ..end(agent.id, AgentState::Done) };
    store.end_agent(ended).await.unwrap();
    assert_eq!(read(store, "tea").await[0], 3, "now the second waits for its turn");
    store.refuse_planned(tea[1].id, &Labelled::new("no".to_owned(), Trust::Owner)).await.unwrap();
    assert_eq!(read(store, "tea").await[0], 0, "nothing is under way");
}

/// It has not failed.
// SEC-093 KOSHI-044
pub async fn a_task_that_a_limit_holds_back_says_so_until_it_is_wanted_again(bench: &Bench) {
    let store = bench.store.as_ref();
    begun(store, "a", "t").await;
    let tea = plan(store, "tea", 1, Trust::Owner).await;
    let stands = async || {
        let task = store.planned_tasks(None).await.unwrap().rows.remove(0);
        (task.tries, task.refusal, task.is_held)
    };
    for tries in 1..=2 {
        store.want_planned(&[tea[0].id], &TurnId::new("t"), None, Trust::Owner).await.unwrap();
        assert_eq!(stands().await, (tries, None, false));
        store.hold_planned(tea[0].id, &Labelled::new("full".to_owned(), Trust::Owner)).await.unwrap();
        assert_eq!(stands().await, (tries, Some("full".to_owned()), true));
    }
    store.refuse_planned(tea[0].id, &Labelled::new("no".to_owned(), Trust::Owner)).await.unwrap();
    assert_eq!(stands().await, (2, Some("no".to_owned()), false));
}

/// Its label says who had it started and who wrote why it failed, and decides nothing about whose it is.
// SEC-050 SEC-102 KOSHI-041
pub async fn a_task_of_the_owners_stays_theirs_whoever_has_it_started_or_says_why_it_failed(bench: &Bench) {
    let store = bench.store.as_ref();
    begun(store, "a", "t").await;
    let mine = plan(store, "of the owner", 2, Trust::Owner).await;
    for (task, led_by, of_why) in [(&mine[0], Trust::Owner, Trust::Outside), (&mine[1], Trust::Guest, Trust::Owner)] {
        store.want_planned(&[task.id], &TurnId::new("t"), None, led_by).await.unwrap();
        store.refuse_planned(task.id, &Labelled::new("no".to_owned(), of_why)).await.unwrap();
    }
    flood(store, "page", Trust::Outside).await;
    let read = store.planned_tasks(Some(&ConversationId::new("a"))).await.unwrap().rows;
    let (mine, theirs): (Vec<_>, Vec<_>) = read.iter().partition(|task| task.name == "of the owner");
    let labels: Vec<_> = mine.iter().map(|task| (task.trust, task.by_strangers)).collect();
    assert_eq!(labels, [(Trust::Outside, false), (Trust::Guest, false)], "and it takes a place of the owner's");
    assert!(!theirs.is_empty() && theirs.iter().all(|task| task.by_strangers));
}
