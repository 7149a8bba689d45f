//! What a run of the heartbeat takes in of the mail.

use crate::kit::Bench;
use crate::kit::post::Post;
use limpid_core::heartbeat::Why;
use limpid_core::inbox::Source;
use limpid_core::mail::Mark;
use limpid_runtime::{Agent, Config, HeartbeatChange, HeartbeatResult};
use limpid_store::InboxItem;

// KAI-087
#[tokio::test]
async fn a_run_that_did_not_end_well_takes_nothing_in() {
    let says = |text: &str| format!("[[reply]]\ntext = \"{text}\"\n");
    let remainder = says(&format!("HEARTBEAT_OK {}", "x".repeat(41)));
    let refused = "[[reply]]\nstatus = 401\nbody = '{\"error\":{\"message\":\"bad key\"}}'\n";
    let looked = "[[reply]]\ncalls = [{ name = \"search_email\", arguments = {} }]\n";
    type Case<'a> = (&'a str, &'a str, String);
    let table: [Case<'_>; 6] = [
        ("kai", "failed", refused.to_owned()),
        ("kai", "failed", says("")),
        // A tool of mail that was called before the run failed.
        ("kai", "failed", format!("{looked}{refused}")),
        ("kai", "quiet with remainder", remainder),
        ("limpid", "failed", [says("All is calm."), says("All is calm.")].concat()),
        ("limpid", "failed", refused.to_owned()),
    ];
    for (profile, outcome, script) in table {
        let mut post = Post::new(&[("check_email", "{}")]).await;
        post.bench = Bench::new(&script).await;
        post.bench.config.agent.profile = profile.to_owned();
        let agent = post.ready().await;
        post.deliver(1);
        agent.mail().fetch("me@example.com").await.unwrap();
        let before = taken_in(&agent).await;
        let HeartbeatResult::Ran(run) = agent.jobs().run_heartbeat().await.unwrap() else {
            panic!("{profile}: {script}")
        };
        assert_eq!((run.outcome.as_str(), run.requests > 0), (outcome, true), "{profile}: {script}");
        assert_eq!((before.waits.len(), before.watermarks.as_slice()), (1, &[0][..]));
        assert_eq!(taken_in(&agent).await, before, "{profile}: {script}");
    }
}

// KAI-087
#[tokio::test]
async fn a_run_that_was_skipped_takes_nothing_in() {
    let usual = "model = \"openai/scripted\"\n";
    let table: [(Why, &str, i64); 4] = [
        (Why::NoModel, "model = \"nobody/nothing\"\n", 0),
        (Why::Hours, usual, 12),
        (Why::Spent, "model = \"openai/scripted\"\n[limits]\nbackground_tokens_per_day = 0\n", 0),
        (Why::Off, usual, 0),
    ];
    for (why, config, hours) in table {
        let mut post = Post::new(&[("check_email", "{}")]).await;
        post.bench.config = Config::parse(config, "limpid.toml").unwrap();
        post.bench.clock.forward(jiff::Span::new().hours(hours));
        let agent = post.ready().await;
        post.deliver(1);
        agent.mail().fetch("me@example.com").await.unwrap();
        let before = taken_in(&agent).await;
        let enabled = Some(why != Why::Off);
        agent.heartbeat().change(HeartbeatChange { enabled, ..HeartbeatChange::default() }).await.unwrap();
        agent.jobs().run_due().await.unwrap();
        post.bench.clock.forward(jiff::Span::new().minutes(31));
        agent.jobs().run_due().await.unwrap();
        let waits = agent.jobs().heartbeat_status().await.unwrap().waits;
        assert!(waits.as_ref().is_some_and(|waits| waits.starts_with(&why.to_string())), "{why}: {waits:?}");
        assert_eq!((post.bench.server.calls().len(), agent.heartbeat().log(9).await.unwrap().rows.len()), (0, 0));
        assert_eq!(taken_in(&agent).await, before, "{why}");
    }
}

/// What waits for a heartbeat, and how far each account was taken in and polled.
#[derive(Debug, PartialEq, Eq)]
struct TakenIn {
    waits: Vec<InboxItem>,
    watermarks: Vec<u32>,
    marks: Vec<Option<Mark>>,
}

async fn taken_in(agent: &Agent) -> TakenIn {
    let accounts = agent.store().mail_accounts().await.unwrap().rows;
    TakenIn {
        waits: agent.store().pending(Source::Mail).await.unwrap().rows,
        watermarks: accounts.iter().map(|account| account.watermark).collect(),
        marks: accounts.iter().map(|account| account.mark).collect(),
    }
}
