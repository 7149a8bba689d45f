//! MEA-03: what an agent costs on a day on which nobody talks to it.
//!
//! The real scheduler step and the real store run a day on a clock that is moved from one due time to the next.

use std::path::Path;

use limpid_core::inbox::Source;
use limpid_model::tokens::ExactCounter;
use limpid_prompt::TokenCounter as _;
use limpid_runtime::Agent;
use limpid_store::NewItem;
use serde_json::{Value, json};

use super::Table;
use super::bench::Bench;
use super::program::block_on;

/// The shipped profiles.
const PROFILES: [&str; 5] = ["limpid", "ollm", "picoclaw", "kai", "koshi"];

/// What waits on the day.
const CASES: [&str; 3] = ["nothing", "addition", "mails"];

/// The model has nothing to report, in whichever way the profile wants to hear it.
const SCRIPT: &str = r#"
[[reply]]
when = 'HEARTBEAT_OK'
text = "HEARTBEAT_OK"
[[reply]]
when = '"name":"heartbeat_decision"'
calls = [{ name = "heartbeat_decision", arguments = { action = "quiet" } }]
"#;

/// A standing line of HEARTBEAT.md, of fewer than 200 tokens.
const ADDITION: &str = "Look whether the backup of the house server ran last night, how full its disk is and whether \
    one of the three cameras has been offline for more than an hour; tell me only what is wrong, with the time at which \
    it began, and leave out what you have told me before.";

const DAY_MS: i64 = 24 * 3_600_000;
const MAILS: usize = 10;

pub(crate) fn measure() -> Result<(Table, Value), String> {
    let (mut rows, mut answer) = (Vec::new(), Vec::new());
    for profile in PROFILES {
        for case in CASES {
            let Day { calls, largest, prefix, sum } = block_on(day(profile, case))?;
            let numbers = [calls, largest, prefix, sum].map(|number| number.to_string());
            rows.push([vec![profile.to_owned(), case.to_owned()], numbers.to_vec()].concat());
            answer.push(json!({
                "profile": profile, "case": case, "calls": calls, "input_tokens": largest, "prefix": prefix, "day": sum,
            }));
        }
    }
    let table = Table {
        title: "MEA-03 Cost of an idle day",
        how: "24 hours from 07:00 on in the owner's zone with the usual settings (every 30 min, 8 to 22 h), on a clock \
              that is moved from one due time to the next, with the real scheduler and a store on disk. The model always \
              answers that there is nothing to report. `nothing`: no list, no addition, an empty inbox; `addition`: one \
              standing line of HEARTBEAT.md; `mails`: ten unread mails wait. `calls` are the requests of the whole day, `input \
              tokens` those of the largest one (texts and tool schemas of the recorded request, o200k), `prefix` how many of \
              them every request from the second on shares with the one before from its first byte, which is what a \
              provider can read from its cache; `day` is the sum of all requests. Peers sent 7,564 to 12,703 tokens a run, \
              211,792 to 355,684 in a day of 28 runs."
            .to_owned(),
        target: "`nothing`: 0 calls; `addition` in `limpid`: ≤ 600 input tokens a run, a shared prefix from the second on",
        head: vec!["profile", "case", "calls", "input tokens", "prefix", "day"],
        rows,
    };
    Ok((table, json!({ "rows": answer })))
}

/// The requests of a day, with their input tokens.
struct Day {
    calls: usize,
    /// Of the largest request.
    largest: usize,
    /// That every request shares with the one before it, at least.
    prefix: usize,
    /// Of all requests.
    sum: usize,
}

async fn day(profile: &str, case: &str) -> Result<Day, String> {
    let home = tempfile::tempdir().map_err(|error| error.to_string())?;
    let bench = Bench::new(home.path(), SCRIPT).await?;
    let agent = bench.agent_of(profile)?;
    prepare(&agent, home.path(), case).await?;
    let end = agent.now_ms() + DAY_MS;
    while agent.now_ms() < end {
        let next = agent.jobs().run_due().await.map_err(|error| error.to_string())?;
        let wait = next.map_or(DAY_MS, |next| next - agent.now_ms());
        bench.forward_minutes((wait + 59_999).div_euclid(60_000).max(1));
    }
    let calls = bench.server.calls();
    let bodies: Vec<Value> = calls.iter().map(limpid_testkit::Recorded::json).collect();
    let counts: Vec<usize> = bodies.iter().map(tokens).collect();
    let shared = bodies.windows(2).map(|pair| shared_tokens(&pair[0], &pair[1]));
    Ok(Day {
        calls: bodies.len(),
        largest: counts.iter().copied().max().unwrap_or_default(),
        prefix: shared.min().unwrap_or_default(),
        sum: counts.iter().sum(),
    })
}

/// Tokens that two requests share from the first byte on: tool schemas, then the texts of the messages.
fn shared_tokens(one: &Value, other: &Value) -> usize {
    let whole = |body: &Value| {
        let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let texts = messages.iter().map(|message| message["content"].as_str().unwrap_or_default());
        std::iter::once(body["tools"].to_string()).chain(texts.map(str::to_owned)).collect::<Vec<_>>().join("\n")
    };
    let (one, other) = (whole(one), whole(other));
    let same: String = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
    ExactCounter::O200K.count(&same)
}

async fn prepare(agent: &Agent, home: &Path, case: &str) -> Result<(), String> {
    match case {
        "addition" => {
            let folder = home.join("workspace");
            std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
            let list = format!("# Heartbeat\n\n- {ADDITION}\n");
            std::fs::write(folder.join("HEARTBEAT.md"), list).map_err(|error| error.to_string())
        }
        "mails" => {
            let store = agent.store();
            store.add_mail_account("ana@example.org").await.map_err(|error| error.to_string())?;
            let mails = (1..=MAILS).map(|n| mail(n, agent.now_ms())).collect();
            store.insert_items(mails).await.map(|_| ()).map_err(|error| error.to_string())
        }
        _ => Ok(()),
    }
}

fn mail(n: usize, now_ms: i64) -> NewItem {
    NewItem {
        source: Source::Mail,
        account: "ana@example.org".to_owned(),
        key: Some(format!("mail-{n}")),
        uid: None,
        message_id: None,
        sender: format!("Sender {n} <sender{n}@example.com>"),
        title: format!("The minutes of meeting {n}"),
        text: "Here are the minutes of last week; please look at the second page before Friday.".to_owned(),
        posted_ms: now_ms,
        now_ms,
    }
}

/// Tokens of the texts and the tool schemas of a request.
fn tokens(body: &Value) -> usize {
    let counter = ExactCounter::O200K;
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let texts = messages.iter().map(|message| counter.count(message["content"].as_str().unwrap_or_default()));
    texts.sum::<usize>() + body.get("tools").map_or(0, |tools| counter.count(&tools.to_string()))
}
