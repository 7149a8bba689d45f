//! What messages use up of a day, and what they leave to the owner's items.

use super::*;

/// Whoever writes often keeps nothing of the owner's from being looked at.
// SEC-065
#[tokio::test]
async fn messages_use_up_no_run_of_the_owners_items() {
    let bench = bench(&QUIET.repeat(6), "[inbox]\nsms = true\n[heartbeat]\nruns_a_day = 2\n").await;
    let agent = bench.agent();
    let next = async |key: &str| {
        agent.store().insert_items(vec![sms(key, "Hello", &bench.clock)]).await.unwrap();
        pass(&bench, &agent, 31.minutes()).await;
        (bench.server.calls().len(), waiting(&agent).await)
    };
    assert_eq!([next("a").await, next("b").await, next("c").await], [(1, 0), (2, 0), (2, 1)]);
    bench.write("workspace/HEARTBEAT.md", "- Backup\n");
    assert_eq!([next("d").await, next("e").await], [(3, 2), (4, 3)]);
    assert!(bench.server.calls()[2..].iter().all(|call| call.text().contains("Backup")));
    // The owner's items have as many runs as a day may have, and a run by hand looks at everything.
    assert_eq!(next("f").await, (4, 4));
    let status = agent.jobs().heartbeat_status().await.unwrap();
    assert_eq!(status.waits.as_deref(), Some("the day has had as many runs as `[heartbeat] runs_a_day` allows"));
    agent.jobs().run_heartbeat().await.unwrap();
    assert_eq!((bench.server.calls().len(), waiting(&agent).await), (6, 0));
}

/// Nor does what looking at messages costs.
// SEC-065 SEC-043
#[tokio::test]
async fn messages_use_up_half_of_the_tokens_and_the_owners_items_have_the_rest() {
    let limits = "[inbox]\nsms = true\n[limits]\nbackground_tokens_per_day = 1600\n";
    let bench = bench(&QUIET.repeat(4), limits).await;
    let agent = bench.agent();
    let next = async |key: &str| {
        agent.store().insert_items(vec![sms(key, "Hello", &bench.clock)]).await.unwrap();
        pass(&bench, &agent, 31.minutes()).await;
        (bench.server.calls().len(), waiting(&agent).await)
    };
    // Each answer is counted with 712 tokens.
    assert_eq!([next("a").await, next("b").await, next("c").await], [(1, 0), (2, 0), (2, 1)]);
    let told = told(&agent).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("background_tokens_per_day (the half for what others began)"), "{told:?}");
    bench.write("workspace/HEARTBEAT.md", "- Backup (daily)\n");
    assert_eq!([next("d").await, next("e").await], [(3, 2), (3, 3)]);
    assert!(bench.server.calls()[2].text().contains("Backup"));
}
