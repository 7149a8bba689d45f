//! Nothing that an agent does hangs on its profile's name: each shipped profile is copied under a name that nobody knows,
//! and the same day is played with both.

use std::path::Path;

use jiff::ToSpan as _;
use limpid_prompt::profile::shipped_files;
use limpid_runtime::{Config, HeartbeatChange};

use crate::kit::{Bench, say, sms};

const PREFIX: &str = "copy-of-";

/// What can be seen of a day from outside: every request, what the owner was told, and the files that were made.
#[derive(Debug, PartialEq)]
struct Day {
    requests: Vec<String>,
    told: Vec<String>,
    files: Vec<(String, String)>,
}

/// The script of a day: a goal, a memory, enough talk for every trigger of a compaction, and a look of the heartbeat whose
/// answer is quiet in some profiles only.
fn script() -> String {
    let long = "[[reply]]\ntext = \"They asked for the port, which is 8080, and the build of that day is red.\"\n";
    let call = |name: &str, arguments: &str| {
        format!("[[reply]]\ncalls = [{{ id = \"c\", name = \"{name}\", arguments = {arguments} }}]\n")
    };
    let quiet = "[[reply]]\ntext = \"HEARTBEAT_OK and the disk is fine\"\n";
    let goal = call("create_goal", "{ title = \"Move to Oslo\" }");
    let keep = call("memory_store", "{ key = \"tea\", content = \"Likes oolong\" }");
    [goal.as_str(), long, &keep, long, quiet, quiet, &long.repeat(90)].concat()
}

async fn day(profile: &str) -> Day {
    let mut bench = Bench::new(&script()).await;
    let config =
        format!("model = \"openai/scripted\"\n[agent]\nprofile = \"{profile}\"\n[owner]\nzone = \"Europe/Berlin\"\n");
    bench.config = Config::parse(&config, "limpid.toml").unwrap();
    bench.write("models.toml", "[[model]]\nnames = [\"openai/scripted\"]\nwindow = 16384\n");
    for file in shipped_files().into_iter().filter(|file| !file.path.contains("/scenarios/")) {
        let text = String::from_utf8(file.bytes).unwrap();
        let text = text.replace("base = \"limpid\"", &format!("base = \"{PREFIX}limpid\""));
        bench.write(&format!("profiles/{PREFIX}{}", file.path), &text);
    }
    let agent = bench.agent();
    say(&agent, "Set a goal: I move to Oslo").await;
    say(&agent, "Remember that I like oolong").await;
    agent.store().insert_items(vec![sms("The parcel is here", &bench.clock)]).await.unwrap();
    let addition =
        HeartbeatChange { prompt: Some("Say when the disk is full".to_owned()), ..HeartbeatChange::default() };
    // A profile whose list is a file refuses the setting; then both do.
    let _ = agent.heartbeat().change(addition).await;
    for _ in 0..2 {
        bench.clock.forward(1.hour());
        agent.jobs().run_heartbeat().await.unwrap();
    }
    for n in 0..24 {
        say(&agent, &format!("And what of {n}? {}", "The port and the build and the door. ".repeat(40))).await;
    }
    agent.conversations().deliver_waiting().await.unwrap();
    let told = agent.store().deliveries(1000).await.unwrap().rows.into_iter().map(|row| row.new.text).collect();
    let plain = |text: &str| text.replace(PREFIX, "").replace(&bench.home.path().display().to_string(), "HOME");
    Day {
        requests: bench.server.calls().iter().map(|call| plain(&call.text())).collect(),
        told,
        files: files(bench.home.path(), &bench.home.path().join("workspace")),
    }
}

fn files(home: &Path, folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(home, &path));
        } else {
            let name = path.strip_prefix(home).unwrap().display().to_string();
            found.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
    found.sort();
    found
}

// PRO-007 KAI-064 PICO-041 PICO-070 OLLM-006
#[tokio::test]
async fn the_same_day_is_the_same_under_another_name() {
    for profile in ["kai", "koshi", "limpid", "ollm", "picoclaw"] {
        let (shipped, copy) = (day(profile).await, day(&format!("{PREFIX}{profile}")).await);
        assert_eq!(shipped.told, copy.told, "{profile}");
        assert_eq!(shipped.files, copy.files, "{profile}");
        assert_eq!(shipped.requests.len(), copy.requests.len(), "{profile}");
        for (at, (shipped, copy)) in shipped.requests.iter().zip(&copy.requests).enumerate() {
            assert_eq!(shipped, copy, "{profile}: request {at}");
        }
        // The day has in it what it is played for.
        assert!(shipped.requests.len() > 28, "{profile}: {}", shipped.requests.len());
    }
}
