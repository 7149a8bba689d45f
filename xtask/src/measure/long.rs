//! MEA-13: long conversations at small windows, with summarisers that are as bad as they come.
//!
//! The real agent runs with a store on disk, a model in this process and a clock that stands still. It is started anew
//! three times and killed once while it waits for a summary. After every turn the invariants are checked by recount from
//! what was really sent and from what the store holds; a conversation that is played again sends the same bytes.

mod check;
mod kept;
mod model;
mod world;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;

use serde_json::{Value, json};

use check::Checked;
use model::Summariser;
use world::{Turn, World};

use super::Table;

/// Windows of the full measure, in tokens.
const WINDOWS: [u32; 7] = [2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072];

/// Turns of a conversation in the full measure; fewer, or fewer windows or profiles, write no page.
const TURNS: u32 = 1000;

/// The shipped profiles.
const PROFILES: [&str; 5] = ["limpid", "ollm", "picoclaw", "kai", "koshi"];

/// What is measured.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Long {
    /// Only this window, in tokens; without it, 2K to 128K
    #[arg(long, value_name = "N")]
    window: Option<u32>,
    /// Only this profile; without it, all that are shipped
    #[arg(long, value_name = "NAME", value_parser = PROFILES)]
    profile: Option<String>,
    /// Turns of each conversation
    #[arg(long, default_value_t = TURNS, value_name = "N")]
    turns: u32,
    /// What the conversations are drawn from
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// A file of the rows that an earlier run of the same program has told; what they found nothing wrong with is not
    /// played again
    #[arg(long, value_name = "FILE")]
    played: Option<PathBuf>,
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
    rollovers: u64,
    /// Stands for everything that was sent.
    sent: u64,
    /// Percent of the usable window less the reserve.
    largest: usize,
    /// Why the profile cannot be used at this window at all.
    too_small: Option<String>,
}

/// Takes the measure: its table, its numbers for programs, and whether it is large enough for a page.
pub(crate) fn measure(long: &Long) -> Result<(Table, Value, bool), String> {
    let windows: Vec<u32> = long.window.map_or_else(|| WINDOWS.to_vec(), |window| vec![window]);
    let wanted = |profile: &&&str| long.profile.as_ref().is_none_or(|wanted| wanted == **profile);
    let profiles: Vec<&'static str> = PROFILES.iter().filter(wanted).copied().collect();
    let mut rows = Vec::new();
    let mut whole = Outcome::default();
    let mut too_small = Vec::new();
    for (window, profile, sum) in play_all(&windows, &profiles, long)? {
        rows.push(row(window, profile, &sum));
        if let Some(why) = &sum.too_small {
            too_small.push(json!({"window": window, "profile": profile, "why": why}));
        }
        add(&mut whole, sum);
    }
    let first: Vec<&String> = whole.violations.iter().take(20).collect();
    let answer = json!({
        "violations": whole.violations.len(), "compactions": whole.compactions, "rollovers": whole.rollovers,
        "turns": whole.turns, "largest_share_percent": whole.largest, "too_small": too_small, "first": first,
        "rows": rows,
    });
    let is_full = long.window.is_none() && long.profile.is_none() && long.turns >= TURNS;
    Ok((table(long, rows), answer, is_full))
}

/// One window and profile, with all summarisers.
fn row(window: u32, profile: &str, sum: &Outcome) -> Vec<String> {
    let numbers = [sum.violations.len() as u64, sum.compactions, sum.rollovers, sum.largest as u64];
    let cells = std::iter::once(u64::from(sum.turns)).chain(numbers).map(|cell| cell.to_string());
    let note = if sum.too_small.is_some() { "its own text leaves no room" } else { "" };
    [window.to_string(), profile.to_owned()].into_iter().chain(cells).chain([note.to_owned()]).collect()
}

/// Plays the conversations of every window and profile, two at a time.
fn play_all(
    windows: &[u32],
    profiles: &[&'static str],
    long: &Long,
) -> Result<Vec<(u32, &'static str, Outcome)>, String> {
    let pairs: Vec<(u32, &'static str)> =
        windows.iter().flat_map(|window| profiles.iter().map(|profile| (*window, *profile))).collect();
    let told = long.played.as_ref().map(std::fs::read_to_string).transpose().map_err(|error| error.to_string())?;
    let told = told.unwrap_or_default();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut played = Vec::new();
        while let Some((at, (window, profile))) = take(&next, &pairs) {
            if let Some(sum) = told.lines().find_map(|line| clean(line, window, profile)) {
                played.push((at, sum));
                continue;
            }
            let sum = play_six(window, profile, long)?;
            tell(&row(window, profile, &sum), &sum.violations);
            played.push((at, sum));
        }
        Ok::<_, String>(played)
    };
    let halves = std::thread::scope(|scope| [scope.spawn(work), scope.spawn(work)].map(ScopedJoinHandle::join));
    let mut played = Vec::new();
    for half in halves {
        played.extend(half.map_err(|_| "a conversation broke off".to_owned())??);
    }
    played.sort_by_key(|(at, _)| *at);
    Ok(played.into_iter().zip(pairs).map(|((_, sum), (window, profile))| (window, profile, sum)).collect())
}

/// The measure takes an hour; what broke is seen at once.
#[expect(clippy::print_stderr, reason = "this is a command-line program")]
fn tell(row: &[String], violations: &[String]) {
    eprintln!("{}", row.join(" "));
    violations.iter().take(5).for_each(|what| eprintln!("  {what}"));
}

/// What an earlier run found of a window and a profile, when nothing was wrong.
fn clean(line: &str, window: u32, profile: &str) -> Option<Outcome> {
    let mut cells = line.split_whitespace();
    let is_row = cells.next()? == window.to_string() && cells.next()? == profile;
    let numbers: Vec<u64> = cells.map(str::parse).collect::<Result<_, _>>().ok()?;
    let [turns, 0, compactions, rollovers, largest] = numbers[..] else { return None };
    let (turns, largest) = (turns.try_into().ok()?, largest.try_into().ok()?);
    is_row.then(|| Outcome { turns, compactions, rollovers, largest, ..Outcome::default() })
}

fn take<T: Copy>(next: &AtomicUsize, list: &[T]) -> Option<(usize, T)> {
    let at = next.fetch_add(1, Ordering::SeqCst);
    list.get(at).map(|one| (at, *one))
}

/// Plays one conversation for each summariser; one of the six twice.
fn play_six(window: u32, profile: &'static str, long: &Long) -> Result<Outcome, String> {
    let mut sum = Outcome::default();
    for summariser in Summariser::ALL {
        let case = Case { window, summariser, profile, turns: long.turns, seed: long.seed };
        add(&mut sum, if summariser == Summariser::Forgetting { play_twice(&case)? } else { play(&case)? });
    }
    Ok(sum)
}

fn table(long: &Long, rows: Vec<Vec<String>>) -> Table {
    Table {
        title: "MEA-13 Long conversations",
        how: format!(
            "Conversations of {} turns through the real agent with six summarisers (empty, echoing, larger than its \
             input, silent, failing, forgetting), a goal with a locked decision, huge messages, tool results to twice \
             the window, markers of strangers, three restarts, a kill inside a compaction, mode switches; after every \
             turn what was sent and what is stored is recounted, and one conversation in six is played twice.{}",
            long.turns,
            if long.played.is_some() { " The run was broken off and carried on." } else { "" }
        ),
        target: "never over the window, never stuck, request never lost: 0 violations",
        head: vec!["window", "profile", "turns", "violations", "compactions", "rollovers", "largest share %", ""],
        rows,
    }
}

fn add(sum: &mut Outcome, one: Outcome) {
    sum.turns += one.turns;
    sum.violations.extend(one.violations);
    sum.compactions += one.compactions;
    sum.rollovers += one.rollovers;
    sum.largest = sum.largest.max(one.largest);
    sum.too_small = sum.too_small.take().or(one.too_small);
}

/// Plays one conversation, again and again with another program where it is restarted or killed.
fn play(case: &Case) -> Result<Outcome, String> {
    let mut world = World::new(*case)?;
    let mut checked = Checked::new(*case, world.home());
    let (mut turn, mut killed) = (0, None);
    while turn < case.turns && checked.outcome.too_small.is_none() {
        // What the program has begun and not ended dies with its runtime.
        let program = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let life = live(&mut world, &mut checked, &mut turn, &mut killed);
        program.map_err(|error| error.to_string())?.block_on(life)?;
    }
    Ok(Outcome { sent: checked.sent(), ..checked.outcome })
}

/// The life of one program, until it is restarted or killed or the conversation is over. What a killed one left is
/// looked at by the next, which is then started anew: a start changes nothing.
async fn live(
    world: &mut World,
    checked: &mut Checked,
    turn: &mut u32,
    killed: &mut Option<Turn>,
) -> Result<(), String> {
    let agent = world.start()?;
    checked.started(&agent, *turn).await?;
    let mut is_first = true;
    loop {
        let ended = match killed.take() {
            Some(ended) => ended,
            None => world.turn(&agent, *turn, is_first).await?,
        };
        if ended.is_killed && !is_first {
            *killed = Some(ended);
            return Ok(());
        }
        checked.turn(world, &agent, *turn, &ended).await?;
        let is_over = ended.is_killed || world.restarts_after(*turn) || checked.outcome.too_small.is_some();
        (*turn, is_first) = (*turn + 1, false);
        if is_over || *turn == world.turns() {
            return checked.kept.hold(&agent).await;
        }
    }
}

/// Plays a conversation twice: the second time the same bytes are sent.
fn play_twice(case: &Case) -> Result<Outcome, String> {
    let (mut first, second) = (play(case)?, play(case)?);
    if first.sent != second.sent {
        first.violations.push(format!("{case:?}: another play sent other requests"));
    }
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    // MEA-13
    #[test]
    fn what_was_played_is_told_from_what_was_wrong_or_of_another_window() {
        let line = "2048 kai 6000 0 3308 419 100 ";
        let sum = clean(line, 2048, "kai").unwrap();
        assert_eq!(row(2048, "kai", &sum).join(" "), line);
        let others =
            [line, "2048 kai 6000 1 3308 419 100 ", "2048 kai 0 0 0 0 0 its own text leaves no room", "  2048 kai"];
        let found = others.map(|line| (clean(line, 2048, "kai").is_some(), clean(line, 4096, "kai").is_some()));
        assert_eq!(found, [(true, false), (false, false), (false, false), (false, false)]);
    }

    // MEA-13 OLLM-086 OLLM-098 OLLM-116 OLLM-117 OLLM-118 OLLM-119 OLLM-120 OLLM-121 OLLM-122 OLLM-123
    #[test]
    fn no_summariser_is_bad_enough_to_break_a_long_conversation() {
        let mut sum = Outcome::default();
        for (n, window) in WINDOWS.into_iter().enumerate() {
            let summariser = Summariser::ALL[n % 6];
            let turns = if window > 16_384 { 24 } else { 48 };
            let case = Case { window, summariser, profile: PROFILES[n % 5], turns, seed: n as u64 };
            add(&mut sum, if window == 8192 { play_twice(&case).unwrap() } else { play(&case).unwrap() });
        }
        // In its fifth turn a request is shortened while the goal has just been told in a message.
        let case = Case { window: 2048, summariser: Summariser::Slow, profile: "limpid", turns: 100, seed: 1 };
        add(&mut sum, play(&case).unwrap());
        assert_eq!(sum.violations, [""; 0]);
        assert_eq!(sum.too_small, None);
        assert!(sum.compactions >= 12, "{sum:?}");
    }
}
