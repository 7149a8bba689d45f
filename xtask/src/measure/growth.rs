//! The memory of an agent at work does not grow with the number of its turns.

use std::sync::Arc;

use limpid_core::{UsableWindow, WindowSize};
use limpid_model::{Model, ModelCall, ModelCard};
use limpid_runtime::{Agent, AgentOptions, Config, ConversationChoice, Home};
use limpid_testkit::{Said, Talker};
use serde_json::{Value, json};

use super::Table;
use super::bench::say;
use super::program::block_on;
use super::resident::Resident;

/// What is measured.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Growth {
    /// Turns in all; a tenth of them is what they are compared with
    #[arg(long, default_value_t = FULL, value_name = "N")]
    turns: u32,
}

/// Turns of the full measure; fewer write no page.
const FULL: u32 = 10_000;

/// Turns of one conversation.
const TURNS: u32 = 20;

/// Takes the measure: its table, its numbers for programs, and whether it is large enough for a page.
pub(crate) fn measure(growth: Growth) -> Result<(Table, Value, bool), String> {
    let turns = growth.turns.max(10);
    let [few, many] = block_on(run([turns / 10, turns]))?;
    let percent = (many.all as f64 / few.all.max(1) as f64 - 1.0) * 100.0;
    let mb = |kb: u64| format!("{:.1}", kb as f64 / 1000.0);
    let row = |turns: u32, resident: Resident| vec![turns.to_string(), mb(resident.all), mb(resident.own)];
    let table = Table {
        title: "LES-149 Memory and turns",
        how: format!(
            "An agent that serves, with its store on disk and a model in this process; conversations of {TURNS} turns, in \
             each of which a tool is called. Resident memory in MB by `/proc/self/smaps_rollup`. From the first row to the \
             second: {percent:+.1} %."
        ),
        target: "after 10,000 turns within 10 % of that after 1,000",
        head: vec!["turns", "resident", "of it no file's"],
        rows: vec![row(turns / 10, few), row(turns, many)],
    };
    let answer = json!({ "turns": turns, "few_kb": few.all, "many_kb": many.all, "percent": percent });
    Ok((table, answer, turns >= FULL))
}

/// What is resident after so many turns.
async fn run(marks: [u32; 2]) -> Result<[Resident; 2], String> {
    let home = tempfile::tempdir().map_err(|error| error.to_string())?;
    let talker = Arc::new(Talker::new(card(), answer));
    let config = "[limits]\nbackground_tokens_per_day = 1000000000\n[memory]\nenabled = false\n";
    let agent = Agent::open(AgentOptions {
        config: Config::parse(config, "limpid.toml").map_err(|error| error.to_string())?,
        model: Some(Arc::clone(&talker) as Arc<dyn Model>),
        ..AgentOptions::new(Home::new(home.path()))
    })
    .map_err(|error| error.to_string())?;
    let serving = agent.clone();
    let serving = tokio::spawn(async move { serving.jobs().serve(|_| {}, std::future::pending()).await });
    let mut after = [Resident::default(); 2];
    for turn in 0..marks[1] {
        let conversation = if turn % TURNS == 0 { ConversationChoice::New } else { ConversationChoice::Last };
        say(&agent, conversation, &format!("What is the time, for the {turn}th time?")).await?;
        // What was sent is kept by the model for tests that look at it.
        talker.take_calls();
        for (mark, resident) in marks.iter().zip(&mut after) {
            if turn + 1 == *mark {
                *resident = Resident::of("self")?;
            }
        }
    }
    serving.abort();
    Ok(after)
}

/// Calls a tool once a turn.
fn answer(call: &ModelCall) -> Said {
    let asked = call.prompt.messages().last().is_some_and(|message| message.role() == limpid_core::Role::User);
    if asked {
        Said::Calls(vec![("get_local_time".to_owned(), "{}".to_owned())])
    } else {
        Said::Text("It is late.".to_owned())
    }
}

/// The card of the model in this process.
pub(super) fn card() -> ModelCard {
    let window = WindowSize(32_768);
    ModelCard {
        provider: "test".to_owned(),
        id: "talker".to_owned(),
        window: Some(window),
        usable_window: Some(UsableWindow::default_for(window)),
        ..ModelCard::default()
    }
}
