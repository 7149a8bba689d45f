//! MEA-02: how much of a request the next one begins with, over two days of fake time.

use limpid_core::{Category, Trust};
use limpid_runtime::{Agent, ConversationChoice};
use limpid_store::{Author, NewMemory};
use limpid_testkit::Recorded;
use serde_json::Value;

use super::Table;
use super::bench::{Bench, say};
use super::program::block_on;

const TURNS: usize = 20;
/// 20 turns with such a pause span two days, with a clock change between them.
const MINUTES: i64 = 48 * 60 / (TURNS as i64 - 1);

// MEA-02
pub(crate) fn measure() -> Result<Table, String> {
    let bodies = block_on(requests())?;
    let pairs: Vec<Pair> = bodies.windows(2).map(|pair| Pair::of(&pair[0], &pair[1])).collect();
    let kept = pairs.iter().filter(|pair| pair.kept == pair.before && pair.same_tools).count();
    let least = pairs.iter().map(Pair::percent).fold(100.0, f64::min);
    let bytes: (usize, usize) = pairs.iter().fold((0, 0), |sum, pair| (sum.0 + pair.bytes.0, sum.1 + pair.bytes.1));
    Ok(Table {
        title: "MEA-02 Prefix kept between turns",
        how: format!(
            "{TURNS} turns {MINUTES} minutes apart (two days with a clock change), each in a new start of the agent; a \
             memory is stored before every turn, every fourth one pinned, every third turn calls a tool. A recording \
             server keeps every request; a message is kept when the next request has it byte for byte in the same place."
        ),
        target: "100 % of the previous request's messages, in every turn",
        head: vec![
            "turns",
            "requests",
            "pairs that keep every message and tool",
            "least kept %",
            "bytes before",
            "bytes kept",
        ],
        rows: vec![vec![
            TURNS.to_string(),
            bodies.len().to_string(),
            format!("{kept} of {}", pairs.len()),
            format!("{least:.0}"),
            bytes.0.to_string(),
            bytes.1.to_string(),
        ]],
    })
}

async fn requests() -> Result<Vec<Value>, String> {
    let home = tempfile::tempdir().map_err(|error| error.to_string())?;
    let bench = Bench::new(home.path(), &script()).await?;
    for turn in 0..TURNS {
        let agent = bench.agent()?;
        remember(&agent, turn).await?;
        say(&agent, ConversationChoice::Last, &text(turn)).await?;
        bench.forward_minutes(MINUTES);
    }
    Ok(bench.server.calls().iter().map(Recorded::json).collect())
}

fn text(turn: usize) -> String {
    format!("Message {turn}{}.", if calls_a_tool(turn) { ", which needs the clock" } else { "" })
}

/// So that calls and results stand in the history too.
fn calls_a_tool(turn: usize) -> bool {
    turn % 3 == 2
}

fn script() -> String {
    let call = |turn| format!("[[reply]]\nwhen = {:?}\ncalls = [{{ name = \"get_local_time\" }}]\n", text(turn));
    (0..TURNS)
        .filter(|turn| calls_a_tool(*turn))
        .map(call)
        .chain(["[[reply]]\ntext = \"Done.\"\n".to_owned()])
        .collect()
}

async fn remember(agent: &Agent, turn: usize) -> Result<(), String> {
    let key = format!("fact-{turn}");
    let new = NewMemory {
        key: Some(key.clone()),
        content: format!("Fact number {turn}"),
        category: Category::General,
        trust: Trust::Owner,
        author: Author::Said,
        source: None,
        now_ms: agent.now_ms(),
    };
    agent.store().store_memory(new).await.map_err(|error| error.to_string())?;
    if turn % 4 == 3 {
        agent
            .store()
            .pin_memory(&key.as_str().into(), true, agent.now_ms())
            .await
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Two requests one after the other.
struct Pair {
    /// Messages of the first.
    before: usize,
    /// How many of them the second begins with.
    kept: usize,
    /// Bytes of the first one's messages, and of those that are kept.
    bytes: (usize, usize),
    same_tools: bool,
}

impl Pair {
    fn of(first: &Value, second: &Value) -> Self {
        let messages = |body: &Value| -> Vec<String> {
            body["messages"].as_array().into_iter().flatten().map(Value::to_string).collect()
        };
        let (before, after) = (messages(first), messages(second));
        let kept = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
        let bytes = |messages: &[String]| messages.iter().map(String::len).sum();
        Self {
            before: before.len(),
            kept,
            bytes: (bytes(&before), bytes(&before[..kept])),
            same_tools: first["tools"] == second["tools"],
        }
    }

    fn percent(&self) -> f64 {
        if self.before == 0 { 0.0 } else { 100.0 * self.kept as f64 / self.before as f64 }
    }
}
