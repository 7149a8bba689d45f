//! MEA-13: long conversations at small windows, with summarisers that are as bad as they come (OLLM-116 to OLLM-123).
//!
//! The real agent runs with a store on disk, a model in this process and a clock that stands still. After every turn the
//! invariants are checked by recount from what was really sent and from what the store holds.

mod check;
mod model;
mod world;

use serde_json::{Value, json};

use super::program::block_on;
use check::Checked;
use model::Summariser;
use world::World;

use super::Table;

/// Windows of the full measure, in tokens.
const WINDOWS: [u32; 7] = [2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072];

/// The shipped profiles.
const PROFILES: [&str; 5] = ["limpid", "ollm", "picoclaw", "kai", "koshi"];

/// What is measured.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Long {
    /// Only this window, in tokens; without it, 2K to 128K
    #[arg(long, value_name = "N")]
    window: Option<u32>,
    /// Turns of each conversation
    #[arg(long, default_value_t = 1000, value_name = "N")]
    turns: u32,
    /// What the conversations are drawn from
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
}

/// One conversation.
#[derive(Clone, Copy, Debug)]
struct Case {
    window: u32,
    summariser: Summariser,
    profile: &'static str,
    turns: u32,
    seed: u64,
}

/// What one conversation came to.
#[derive(Clone, Debug, Default)]
struct Outcome {
    turns: u32,
    violations: Vec<String>,
    compactions: u64,
    /// Percent of the usable window less the reserve.
    largest: usize,
    /// Why the profile cannot be used at this window at all.
    too_small: Option<String>,
}

/// Takes the measure: its table, and its numbers for programs.
pub(crate) fn measure(long: &Long) -> Result<(Table, Value), String> {
    let windows: Vec<u32> = long.window.map_or_else(|| WINDOWS.to_vec(), |window| vec![window]);
    let mut rows = Vec::new();
    let mut whole = Outcome::default();
    let mut too_small = Vec::new();
    for window in windows {
        for profile in PROFILES {
            let mut sum = Outcome::default();
            for summariser in Summariser::ALL {
                let case = Case { window, summariser, profile, turns: long.turns, seed: long.seed };
                add(&mut sum, play(&case)?);
            }
            let cells = [sum.turns as usize, sum.violations.len(), sum.compactions as usize, sum.largest];
            let row = [window.to_string(), profile.to_owned()].into_iter().chain(cells.map(|cell| cell.to_string()));
            let note = if sum.too_small.is_some() { "its own text leaves no room" } else { "" };
            rows.push(row.chain([note.to_owned()]).collect());
            if let Some(why) = &sum.too_small {
                too_small.push(json!({"window": window, "profile": profile, "why": why}));
            }
            add(&mut whole, sum);
        }
    }
    let first: Vec<&String> = whole.violations.iter().take(20).collect();
    let answer = json!({
        "violations": whole.violations.len(), "compactions": whole.compactions, "turns": whole.turns,
        "largest_share_percent": whole.largest, "too_small": too_small, "first": first,
    });
    Ok((table(long, rows), answer))
}

fn table(long: &Long, rows: Vec<Vec<String>>) -> Table {
    Table {
        title: "MEA-13 Long conversations",
        how: format!(
            "Conversations of {} turns through the real agent with six summarisers (empty, echoing, larger than its \
             input, silent, failing, forgetting), huge messages, tool calls from 8K, restarts, mode switches; after \
             every turn what was sent and what is stored is recounted.",
            long.turns
        ),
        target: "never over the window, never stuck, request never lost: 0 violations",
        head: vec!["window", "profile", "turns", "violations", "compactions", "largest share %", ""],
        rows,
    }
}

fn add(sum: &mut Outcome, one: Outcome) {
    sum.turns += one.turns;
    sum.violations.extend(one.violations);
    sum.compactions += one.compactions;
    sum.largest = sum.largest.max(one.largest);
    sum.too_small = sum.too_small.take().or(one.too_small);
}

/// Plays one conversation.
fn play(case: &Case) -> Result<Outcome, String> {
    let case = *case;
    block_on(async move {
        let mut world = World::new(case)?;
        let mut checked = Checked::new(case);
        for turn in 0..case.turns {
            let said = world.turn(turn).await?;
            checked.turn(&mut world, turn, &said).await?;
            if checked.outcome.too_small.is_some() {
                break;
            }
        }
        Ok(checked.outcome)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // MEA-13 OLLM-116 OLLM-118 OLLM-119 OLLM-121 OLLM-122
    #[test]
    fn no_summariser_is_bad_enough_to_break_a_long_conversation() {
        let mut sum = Outcome::default();
        for (n, summariser) in Summariser::ALL.into_iter().enumerate() {
            let (window, profile) = ([4096, 8192, 16_384][n % 3], PROFILES[n % 5]);
            add(&mut sum, play(&Case { window, summariser, profile, turns: 40, seed: n as u64 }).unwrap());
        }
        assert_eq!(sum.violations, [""; 0]);
        assert_eq!(sum.too_small, None);
        assert!(sum.compactions >= 12 && sum.turns == 240, "{sum:?}");
    }
}
