//! MEA-08: Limpid's own time in a turn, with every journal write durable.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use limpid_runtime::ConversationChoice;

use super::Table;
use super::bench::{Bench, say};
use super::program::{block_on, target_folder};
use super::table::median;

const CONVERSATIONS: usize = 10;
const TURNS: usize = 10;
/// A folder in memory, where `fsync` costs nothing.
const MEMORY: &str = "/dev/shm";

/// Every turn calls a tool once, so that a request follows a reply.
const SCRIPT: &str = "[[reply]]\nwhen = \"Turn NUMBER.\"\ncalls = [{ name = \"get_local_time\" }]\n";

pub(crate) fn measure(root: &Path) -> Result<Table, String> {
    let mut rows = Vec::new();
    for (place, folder) in [("disk", target_folder(root)), ("memory", MEMORY.into())] {
        if folder.is_dir() {
            rows.push(row(place, &folder)?);
        }
    }
    Ok(Table {
        title: "MEA-08 Limpid's own time in a turn",
        how: format!(
            "{CONVERSATIONS} conversations of {TURNS} turns in one process against a recording server that answers at \
             once, with a tool call in every turn; medians in ms. From the call of the agent to the arrival of the whole \
             request, and from the arrival of that request to the arrival of the one behind the tool's result (which \
             holds the server's answering too). Every write is one transaction with `synchronous = full`. The same home \
             on a disk and in memory, where an fsync costs nothing: the row `memory` is the time beyond the disk's own \
             fsync, which is that of appending 4 KB to a plain file in the same folder."
        ),
        target: "≤ 2 ms and ≤ 2 ms median beyond the disk's own fsync time",
        head: vec!["home on", "fsync", "accepted → request", "reply → next request"],
        rows,
    })
}

fn row(place: &str, folder: &Path) -> Result<Vec<String>, String> {
    let home = tempfile::tempdir_in(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let fsync = fsync(home.path()).map_err(|error| format!("{}: {error}", home.path().display()))?;
    let (first, next) = block_on(turns(home.path()))?;
    let shown = |times| format!("{:.2}", median(times));
    Ok(vec![place.to_owned(), shown(fsync), shown(first), shown(next)])
}

/// Milliseconds to the first request of each turn, and from it to the second.
async fn turns(home: &Path) -> Result<(Vec<f64>, Vec<f64>), String> {
    let all = 0..CONVERSATIONS * TURNS;
    let script: String = all.clone().map(|turn| SCRIPT.replace("NUMBER", &turn.to_string())).collect();
    let bench = Bench::new(home, &format!("{script}[[reply]]\ntext = \"Done.\"\n")).await?;
    let agent = bench.agent()?;
    say(&agent, ConversationChoice::New, "Warm up.").await?;
    let (mut first, mut next) = (Vec::new(), Vec::new());
    for turn in all {
        let conversation = if turn % TURNS == 0 { ConversationChoice::New } else { ConversationChoice::Last };
        let accepted = Instant::now();
        say(&agent, conversation, &format!("Turn {turn}.")).await?;
        let calls = bench.server.calls();
        let [.., request, after] = &calls[..] else { return Err("a turn sent fewer than two requests".to_owned()) };
        first.push(ms(bench.server.instant(request).saturating_duration_since(accepted)));
        next.push(ms(after.at.saturating_sub(request.at)));
        bench.forward_minutes(1);
    }
    Ok((first, next))
}

/// What the disk takes for a durable write of 4 KB.
fn fsync(folder: &Path) -> std::io::Result<Vec<f64>> {
    let mut file = File::create(folder.join("plain"))?;
    let mut times = Vec::new();
    for _ in 0..100 {
        let started = Instant::now();
        file.write_all(&[7; 4096])?;
        file.sync_data()?;
        times.push(ms(started.elapsed()));
    }
    Ok(times)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
