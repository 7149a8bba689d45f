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
when = '"name":"heartbeat_decision"'
calls = [{ name = "heartbeat_decision", arguments = { action = "quiet" } }]
[[reply]]
text = "HEARTBEAT_OK"
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
            let (calls, first) = block_on(day(profile, case))?;
            rows.push(vec![profile.to_owned(), case.to_owned(), calls.to_string(), first.to_string()]);
            answer.push(json!({ "profile": profile, "case": case, "calls": calls, "input_tokens": first }));
        }
    }
    let table = Table {
        title: "MEA-03 Cost of an idle day",
        how: "24 hours from 07:00 on in the owner's zone with the usual settings (every 30 min, 8 to 22 h), on a clock \
              that is moved from one due time to the next, with the real scheduler and a store on disk. The model always \
              answers that there is nothing to report. `nothing`: no list, no addition, an empty inbox; `addition`: one \
              standing line of HEARTBEAT.md; `mails`: ten unread mails wait. `calls` are the requests of the whole day, `input \
              tokens` those of the first one (texts and tool schemas of the recorded request, o200k)."
            .to_owned(),
        target: "`nothing`: 0 calls; `addition`: ≤ 1,000 input tokens in the first call",
        head: vec!["profile", "case", "calls", "input tokens"],
        rows,
    };
    Ok((table, json!({ "rows": answer })))
}

/// The requests of a day, and the input tokens of the first.
async fn day(profile: &str, case: &str) -> Result<(usize, usize), String> {
    let home = tempfile::tempdir().map_err(|error| error.to_string())?;
    let bench = Bench::new(home.path(), SCRIPT).await?;
    let agent = bench.agent_of(profile)?;
    prepare(&agent, home.path(), case).await?;
    let end = agent.now_ms() + DAY_MS;
    while agent.now_ms() < end {
        let next = agent.run_due().await.map_err(|error| error.to_string())?;
        let wait = next.map_or(DAY_MS, |next| next - agent.now_ms());
        bench.forward_minutes((wait + 59_999).div_euclid(60_000).max(1));
    }
    let calls = bench.server.calls();
    let first = calls.first().map_or(0, |call| tokens(&call.json()));
    Ok((calls.len(), first))
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
