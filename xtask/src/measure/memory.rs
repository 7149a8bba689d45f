//! MEA-09: how long a memory query takes in stores of three sizes.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use limpid_core::recall::{plain_words, text_words};
use rusqlite::{Connection, named_params};
use serde_json::{Value, json};

use super::Table;
use super::bench::Bench;
use super::program::block_on;

const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];

/// Queries at each size; half of common words, half of rarer ones.
const QUERIES: usize = 400;
const COMMON_WORDS: usize = 4;
const RARER_WORDS: usize = 3;

/// Of so many memories one may hold a rarer word (2 %).
const RARE: usize = 50;

/// Memories that a query returns.
const FIRST: usize = 10;

/// Times of the queries at one size, in milliseconds.
struct Times {
    size: usize,
    common: Vec<f64>,
    rarer: Vec<f64>,
}

/// Makes memories of sentences of the conversations in a folder; the second value is what `--json` prints.
// MEA-09
pub(crate) fn measure(data: &Path) -> Result<(Table, Value), String> {
    let sentences = sentences(data)?;
    let measured = block_on(times(&sentences))?;
    let rows: Vec<Vec<String>> = measured.iter().map(Times::row).collect();
    let answer = measured.iter().map(Times::json).collect();
    let growth = |first: &Times, last: &Times| last.all(0.99) / first.all(0.99);
    let growth = measured.first().zip(measured.last()).map_or(0.0, |(first, last)| growth(first, last));
    let table = Table {
        title: "MEA-09 Memory query",
        how: format!(
            "Memories of two sentences each, drawn from {} sentences of long conversations; {QUERIES} queries at each \
             size through the agent's own search (candidates from the store, ranked, the first {FIRST}), half of \
             {COMMON_WORDS} words that more than 2 % of the memories hold, half of {RARER_WORDS} rarer ones. \
             Milliseconds; from the smallest to the largest store the 99th percentile grows {growth:.1} times.",
            sentences.len()
        ),
        target: "p99 ≤ 2 / 5 / 30 ms",
        head: vec!["memories", "p50", "p99", "p99, common words", "p99, rarer words"],
        rows,
    };
    Ok((table, Value::Array(answer)))
}

async fn times(sentences: &[String]) -> Result<Vec<Times>, String> {
    let home = tempfile::tempdir().map_err(|error| error.to_string())?;
    let bench = Bench::new(home.path(), "[[reply]]\ntext = \"Done.\"\n").await?;
    let mut dice = Dice(1);
    let mut stored = 0;
    let mut measured = Vec::new();
    for size in SIZES {
        // The schema is made by the agent; filling it memory by memory would take longer than all queries.
        bench.agent()?;
        fill(&home.path().join("data/limpid.db"), sentences, stored..size, &mut dice)
            .map_err(|error| error.to_string())?;
        stored = size;
        let agent = bench.agent()?;
        agent.memory().reindex().await.map_err(|error| error.to_string())?;
        let words = Words::of(sentences);
        let mut times = Times { size, common: Vec::new(), rarer: Vec::new() };
        for turn in 0..QUERIES {
            let common = turn % 2 == 0;
            let query = words.query(common, &mut dice);
            let start = Instant::now();
            let found = agent.memory().recall(&query, FIRST).await.map_err(|error| error.to_string())?;
            let took = start.elapsed().as_secs_f64() * 1000.0;
            if found.is_empty() {
                return Err(format!("`{query}` finds nothing among {size} memories"));
            }
            if common { times.common.push(took) } else { times.rarer.push(took) }
        }
        times.common.sort_by(f64::total_cmp);
        times.rarer.sort_by(f64::total_cmp);
        measured.push(times);
    }
    Ok(measured)
}

/// Writes memories into the store's file, without their index.
fn fill(file: &Path, sentences: &[String], numbers: std::ops::Range<usize>, dice: &mut Dice) -> rusqlite::Result<()> {
    let mut sql = Connection::open(file)?;
    let tx = sql.transaction()?;
    let mut insert = tx.prepare(
        "INSERT INTO memory (owner, key, content, category, hits, score, pinned, trust, words, created_ms, updated_ms)
         VALUES ('owner', :key, :content, 'GENERAL', 1, 0, 0, 'owner', :words, :at, :at)",
    )?;
    for number in numbers {
        let content = format!("{} {}", dice.pick(sentences), dice.pick(sentences));
        let words = text_words(&content).len() as i64 + 1;
        let at = number as i64 * 1000;
        insert.execute(named_params! {
            ":key": format!("m{number}"), ":content": content, ":words": words, ":at": at,
        })?;
    }
    drop(insert);
    tx.commit()
}

/// Words of queries, by how many sentences hold them.
struct Words {
    common: Vec<String>,
    rarer: Vec<String>,
}

impl Words {
    fn of(sentences: &[String]) -> Self {
        let mut holding: HashMap<String, usize> = HashMap::new();
        for sentence in sentences {
            let mut words = plain_words(sentence);
            words.sort();
            words.dedup();
            words.into_iter().for_each(|word| *holding.entry(word).or_default() += 1);
        }
        // A memory has two sentences, so that twice as many memories as sentences hold a word.
        let is_common = |count: usize| count * 2 * RARE > sentences.len();
        let mut words: Vec<(String, usize)> = holding.into_iter().collect();
        words.sort();
        let (common, rarer): (Vec<_>, Vec<_>) = words.into_iter().partition(|(_, count)| is_common(*count));
        let names = |words: Vec<(String, usize)>| words.into_iter().map(|(word, _)| word).collect();
        Self { common: names(common), rarer: names(rarer) }
    }

    fn query(&self, common: bool, dice: &mut Dice) -> String {
        let (words, count) = if common { (&self.common, COMMON_WORDS) } else { (&self.rarer, RARER_WORDS) };
        (0..count).map(|_| dice.pick(words).as_str()).collect::<Vec<_>>().join(" ")
    }
}

impl Times {
    /// The time that a share of all queries stays below.
    fn all(&self, share: f64) -> f64 {
        let mut all = [self.common.as_slice(), &self.rarer].concat();
        all.sort_by(f64::total_cmp);
        quantile(&all, share)
    }

    fn row(&self) -> Vec<String> {
        let times = [self.all(0.5), self.all(0.99), quantile(&self.common, 0.99), quantile(&self.rarer, 0.99)];
        [self.size.to_string()].into_iter().chain(times.map(|time| format!("{time:.2}"))).collect()
    }

    fn json(&self) -> Value {
        json!({
            "memories": self.size,
            "p50_ms": self.all(0.5),
            "p99_ms": self.all(0.99),
            "common_p99_ms": quantile(&self.common, 0.99),
            "rarer_p99_ms": quantile(&self.rarer, 0.99),
        })
    }
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(at.saturating_sub(1)).copied().unwrap_or_default()
}

/// Every sentence that was said in the conversations of a folder.
fn sentences(data: &Path) -> Result<Vec<String>, String> {
    let trouble = |error: &dyn std::fmt::Display| format!("{}: {error}", data.display());
    let mut sentences = Vec::new();
    for entry in fs::read_dir(data).map_err(|error| trouble(&error))? {
        let path = entry.map_err(|error| trouble(&error))?.path();
        if path.extension().is_some_and(|ending| ending == "json") {
            let text = fs::read_to_string(&path).map_err(|error| trouble(&error))?;
            let conversation: Value = serde_json::from_str(&text).map_err(|error| trouble(&error))?;
            let turns = conversation["turns"].as_array().into_iter().flatten();
            let said = turns.filter_map(|turn| turn["text"].as_str());
            let parts = said.flat_map(|text| text.split_inclusive(['.', '!', '?'])).map(str::trim);
            sentences.extend(parts.filter(|part| part.contains(' ')).map(str::to_owned));
        }
    }
    sentences.sort();
    if sentences.is_empty() { Err(trouble(&"no conversation with turns")) } else { Ok(sentences) }
}

/// Numbers that look random and are the same in every run (SplitMix64).
struct Dice(u64);

impl Dice {
    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        &from[((mixed ^ (mixed >> 31)) % from.len() as u64) as usize]
    }
}
