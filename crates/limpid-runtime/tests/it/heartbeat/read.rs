//! What the model of a heartbeat reads, and which model that is.

use super::*;

// PICO-070 PICO-071
#[tokio::test]
async fn picoclaw_makes_its_list_and_asks_nobody() {
    let bench = bench("[[reply]]\ntext = \"heartbeat_ok.\"\n", "[agent]\nprofile = \"picoclaw\"\n").await;
    let agent = bench.agent();
    pass(&bench, &agent, 2.hours()).await;
    let path = bench.home.path().join("workspace/HEARTBEAT.md");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("# Heartbeat Check List\n") && text.ends_with("below this line:\n"));
    assert_eq!(bench.server.calls().len(), 0);
    std::fs::write(&path, format!("{text}- Look at the disk\n")).unwrap();
    pass(&bench, &agent, 31.minutes()).await;
    assert_eq!(bench.server.calls().len(), 1);
    assert_eq!(newest(&agent).await.outcome.as_str(), "quiet");
}

/// A program may lay a link there to a place where it could not write.
// SEC-058 PICO-070
#[cfg(unix)]
#[tokio::test]
async fn the_list_is_made_over_no_link() {
    let bench = bench("[[reply]]\ntext = \"heartbeat_ok.\"\n", "[agent]\nprofile = \"picoclaw\"\n").await;
    let (agent, elsewhere) = (bench.agent(), bench.home.path().join("elsewhere"));
    std::fs::create_dir_all(bench.home.path().join("workspace")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, bench.home.path().join("workspace/HEARTBEAT.md")).unwrap();
    pass(&bench, &agent, 2.hours()).await;
    assert!(!elsewhere.exists());
}

// LES-033 PICO-077
#[tokio::test]
async fn the_fiftieth_run_reads_as_much_as_the_first() {
    let bench = bench(QUIET, "").await;
    bench.write("workspace/HEARTBEAT.md", LIST);
    let agent = bench.agent();
    for _ in 0..50 {
        agent.jobs().run_heartbeat().await.unwrap();
    }
    let sizes: Vec<usize> = bench.server.calls().iter().map(|call| call.text().len()).collect();
    assert_eq!((sizes.len(), sizes[0]), (50, sizes[49]));
}

// LES-032
#[tokio::test]
async fn what_a_run_sends_when_nothing_is_new_is_below_1000_tokens() {
    let bench = bench(QUIET, "[inbox]\nsms = true\nnotifications = true\n").await;
    let agent = bench.agent();
    let HeartbeatResult::Ran(run) = agent.jobs().run_heartbeat().await.unwrap() else { panic!() };
    let filter = RequestFilter { conversation: run.conversation, ..RequestFilter::default() };
    let requests = agent.store().requests(filter).await.unwrap().rows;
    let sent = bench.server.calls()[0].json();
    // Text and schemas as they went out, which is more than what they say.
    let parts = [&sent["messages"], &sent["tools"]].map(|part| Estimate::default().count(&part.to_string()));
    assert!(parts.iter().sum::<usize>() < 1_000, "{parts:?} {:?}", requests[0].estimate);
}

// KAI-074
#[tokio::test]
async fn the_opening_is_the_profiles_until_the_owner_writes_another() {
    for (profile, default) in [
        ("limpid", Some("You run alone, between talks with your owner, to look at what stands below.")),
        (
            "kai",
            Some(
                "Look through your memories and tasks.\nIf nothing needs attention, answer HEARTBEAT_OK.\nIf something does, deal with it and report what you did.",
            ),
        ),
        ("picoclaw", None),
    ] {
        let bench = bench(QUIET, &format!("[agent]\nprofile = \"{profile}\"\n")).await;
        let agent = bench.agent();
        let opening = agent.heartbeat().opening().await.unwrap();
        assert_eq!((opening.custom.as_deref(), opening.text()), (None, default), "{profile}");
        let Some(default) = default else { continue };
        let set = async |text: &str| {
            let prompt = Some(text.to_owned());
            agent.heartbeat().change(HeartbeatChange { prompt, ..HeartbeatChange::default() }).await.unwrap();
            let changes = agent.store().setting_events(None, "heartbeat", 10).await.unwrap().rows.len();
            (agent.heartbeat().opening().await.unwrap().custom, changes)
        };
        assert_eq!(set(&format!(" {default}\n")).await, (None, 0), "the default is no change");
        assert_eq!(set("Look at the disk.").await, (Some("Look at the disk.".to_owned()), 1));
        assert_eq!(set("Look at the disk.").await.1, 1, "nor are the same words");
        assert_eq!(agent.heartbeat().opening().await.unwrap().text(), Some("Look at the disk."));
        assert_eq!(set("").await, (None, 2));
    }
}

// KAI-137 KAI-040
#[tokio::test]
async fn the_last_three_reports_are_shown_oldest_first() {
    let report = |n: u32| {
        format!(
            "[[reply]]\ncalls = [{{ id = \"d\", name = \"heartbeat_decision\", arguments = {{ action = \"report\", key = \"k{n}\", text = \"Report {n}\" }} }}]\n"
        )
    };
    let bench = bench(&(1..=5).map(report).collect::<String>(), "").await;
    bench.write("workspace/HEARTBEAT.md", LIST);
    let agent = bench.agent();
    for _ in 0..5 {
        agent.jobs().run_heartbeat().await.unwrap();
    }
    assert_eq!(told(&agent).await.len(), 5);
    let deliveries = agent.store().deliveries(10).await.unwrap().rows;
    assert!(deliveries.iter().all(|delivery| delivery.new.origin == DeliveryOrigin::Heartbeat));
    let request = bench.server.calls()[4].text();
    assert!(request.contains("1. Report 2\\n2. Report 3\\n3. Report 4") && !request.contains("Report 1"), "{request}");
}

// LES-041
#[tokio::test]
async fn the_run_knows_the_owners_time_and_weekday() {
    let zones = [
        ("Europe/Berlin", "Time: 2026-03-28 13:00 +01:00 (Europe/Berlin), Saturday"),
        ("Pacific/Auckland", "Time: 2026-03-29 01:00 +13:00 (Pacific/Auckland), Sunday"),
        ("America/Los_Angeles", "Time: 2026-03-28 05:00 -07:00 (America/Los_Angeles), Saturday"),
    ];
    for (zone, expected) in zones {
        let mut bench = Bench::new(QUIET).await;
        bench.config.owner.zone = Some(limpid_core::zone::named(zone).unwrap());
        bench.agent().jobs().run_heartbeat().await.unwrap();
        let request = bench.server.calls()[0].text();
        assert!(request.contains(expected), "{request}");
    }
}

// KAI-061
#[tokio::test]
async fn a_model_of_its_own_that_is_gone_is_stood_in_for() {
    let bench = bench(&QUIET.repeat(2), "[heartbeat]\nmodel = \"nobody/nothing\"\n").await;
    let agent = bench.agent();
    agent.jobs().run_heartbeat().await.unwrap();
    let model = Some(Some("openai/cheap".to_owned()));
    agent.heartbeat().change(HeartbeatChange { model, ..HeartbeatChange::default() }).await.unwrap();
    agent.jobs().run_heartbeat().await.unwrap();
    let models = bench.server.calls().iter().map(|call| call.json()["model"].clone()).collect::<Vec<_>>();
    assert_eq!(models, ["scripted", "cheap"]);
    let unknown = Some(Some("nobody/nothing".to_owned()));
    let refused = agent.heartbeat().change(HeartbeatChange { model: unknown, ..HeartbeatChange::default() }).await;
    assert!(refused.is_err());
}
