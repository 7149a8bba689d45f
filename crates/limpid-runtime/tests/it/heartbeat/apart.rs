//! What messages use up of a day, and what they leave to the owner's items.

use super::*;

/// Whoever writes often keeps nothing of the owner's from being looked at.
// SEC-102
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

/// Nor does what looking at messages costs, whatever the limit is about.
// SEC-043 SEC-102
#[tokio::test]
async fn messages_use_up_half_of_each_limit_and_the_owners_items_have_the_rest() {
    let prices = "[[model]]\nnames = [\"openai/scripted\"]\nwindow = 32000\nprice = { input = 10.0, cached = 10.0, output = 10.0 }\n";
    // Each answer is counted with 712 tokens. Of a day's own limit the background has three quarters.
    for (key, limit) in [
        ("background_tokens_per_day", "background_tokens_per_day = 1600"),
        ("background_dollars_per_day", "background_dollars_per_day = 0.016"),
        ("tokens_per_day", "tokens_per_day = 2400"),
        ("dollars_per_day", "dollars_per_day = 0.024"),
        ("path.heartbeat.tokens_per_day", "path = { heartbeat = { tokens_per_day = 1600 } }"),
        ("path.heartbeat.dollars_per_day", "path = { heartbeat = { dollars_per_day = 0.016 } }"),
    ] {
        let bench = bench(&QUIET.repeat(4), &format!("[inbox]\nsms = true\n[limits]\n{limit}\n")).await;
        bench.write("models.toml", prices);
        let agent = bench.agent();
        let next = async |id: &str| {
            agent.store().insert_items(vec![sms(id, "Hello", &bench.clock)]).await.unwrap();
            pass(&bench, &agent, 31.minutes()).await;
            (bench.server.calls().len(), waiting(&agent).await)
        };
        assert_eq!([next("a").await, next("b").await, next("c").await], [(1, 0), (2, 0), (2, 1)], "{key}");
        let told = told(&agent).await;
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].contains(&format!("the limit {key} (the half for other people's messages)")), "{told:?}");
        bench.write("workspace/HEARTBEAT.md", "- Backup (daily)\n");
        assert_eq!([next("d").await, next("e").await], [(3, 2), (3, 3)], "{key}");
        assert!(bench.server.calls()[2].text().contains("Backup"), "{key}");
    }
}

/// Nor does it work the other way round: what the owner wants looked at often keeps no message waiting.
// SEC-102
#[tokio::test]
async fn the_owners_items_use_up_no_run_of_messages() {
    let bench = bench(&QUIET.repeat(3), "[inbox]\nsms = true\n[heartbeat]\nruns_a_day = 1\n").await;
    bench.write("workspace/HEARTBEAT.md", "- Backup\n");
    let agent = bench.agent();
    let next = async |key: Option<&str>| {
        agent.store().insert_items(key.map(|key| sms(key, "Hello", &bench.clock)).into_iter().collect()).await.unwrap();
        pass(&bench, &agent, 31.minutes()).await;
        (bench.server.calls().len(), waiting(&agent).await)
    };
    assert_eq!([next(None).await, next(None).await], [(1, 0), (1, 0)]);
    let waits = agent.jobs().heartbeat_status().await.unwrap().waits.unwrap();
    assert!(waits.contains("your own items wait until tomorrow") && !waits.contains("new messages wait"), "{waits}");
    assert_eq!([next(Some("a")).await, next(Some("b")).await], [(2, 0), (2, 1)]);
    let held = |words: &str| bench.server.calls().iter().map(|call| call.text().contains(words)).collect::<Vec<_>>();
    assert_eq!((held("Backup"), held("Hello")), (vec![true, false], vec![false, true]));
}

/// Whoever looks at the status sees that messages wait for the next day's tokens, and causes no notice by looking.
// SEC-102 SEC-043
#[tokio::test]
async fn the_status_says_that_messages_wait_for_tokens_and_tells_nobody() {
    let limits = "[inbox]\nsms = true\n[limits]\nbackground_tokens_per_day = 1400\n";
    let bench = bench(QUIET, limits).await;
    let agent = bench.agent();
    agent.store().insert_items(vec![sms("a", "Hello", &bench.clock)]).await.unwrap();
    pass(&bench, &agent, 31.minutes()).await;
    let waits = agent.jobs().heartbeat_status().await.unwrap().waits.unwrap();
    assert!(waits.contains("new messages wait, because the limit background_tokens_per_day"), "{waits}");
    assert!(told(&agent).await.is_empty());
    agent.store().insert_items(vec![sms("b", "Hello", &bench.clock)]).await.unwrap();
    pass(&bench, &agent, 31.minutes()).await;
    let told = told(&agent).await;
    assert!(told.len() == 1 && told[0].contains("Your own tasks and heartbeat items go on"), "{told:?}");
}
