//! The numbers that Limpid claims, each got by a command (docs/spec/measures.md).
//!
//! Every measure prints one table and writes it to `docs/measures/NAME.md` with the machine and the date. Nothing here
//! is a test: what must hold is said as the target beside the number.

mod agents;
mod bench;
mod build;
mod database;
mod day;
mod first;
mod growth;
mod idle;
mod idle_day;
pub(crate) mod kills;
mod local;
mod local_models;
mod long;
mod memory;
mod page;
mod prefix;
pub(crate) mod program;
mod recall;
mod render;
mod resident;
mod size;
mod start;
mod table;
mod trust;
mod turn;

use std::path::{Path, PathBuf};

use clap::Subcommand;

pub(crate) use table::Table;

/// What can be measured.
#[derive(Debug, Subcommand)]
pub(crate) enum Measure {
    /// Tokens of the first turn, message "hi" (MEA-01)
    First,
    /// The prefix kept between turns (MEA-02)
    Prefix,
    /// A day on which nobody talks to the agent (MEA-03)
    IdleDay,
    /// A day's work of one person, beside a peer's (MEA-18)
    Day(day::DayOptions),
    /// From process start to the request on the wire (MEA-04)
    Start,
    /// Memory of `limpid serve` when nothing happens (MEA-05)
    Idle(idle::Idle),
    /// Memory after many turns beside that after a tenth of them
    Growth(growth::Growth),
    /// What a turn of plain chat adds to the database (MEA-19)
    Database(database::Database),
    /// Size of the release binary (MEA-06)
    Size,
    /// Rendering a prompt (MEA-07)
    Render,
    /// What a screen of the page weighs, and how soon it shows something (SUR-029)
    Page,
    /// Limpid's own time in a turn (MEA-08)
    Turn,
    /// A memory query among 10,000 to 1,000,000 memories (MEA-09)
    Memory {
        /// A folder of conversations, whose sentences memories are made of
        #[arg(long)]
        data: PathBuf,
    },
    /// Recall of memory and history search (MEA-10)
    Recall(recall::Recall),
    /// Ten thousand owners with something due in one minute (MEA-12)
    Agents,
    /// Long conversations with bad summarisers (MEA-13)
    Long(long::Long),
    /// An agent that is killed again and again (MEA-14)
    Kills(kills::Kills),
    /// The local engine beside the reference (MEA-15)
    Local,
    /// Which local model is fetched unasked: tool calls, answers, speed, memory
    LocalModels(local_models::LocalModels),
    /// Injected texts and an obedient model: what runs unasked, and how often the owner is asked (MEA-16)
    Trust(trust::Trust),
    /// A clean build, and the test cycle of one crate (MEA-17)
    Build,
}

/// Takes one measure, prints it and writes its page.
pub(crate) fn run(root: &Path, measure: Measure, json: bool) -> Result<(), String> {
    let mut answer = None;
    let (name, table) = match measure {
        Measure::First => ("first", first::measure(root)?),
        Measure::Prefix => ("prefix", prefix::measure()?),
        Measure::IdleDay => {
            let (table, value) = idle_day::measure()?;
            answer = Some(value);
            ("idle-day", table)
        }
        Measure::Day(day) => {
            let (table, is_full) = day::measure(root, &day)?;
            if !is_full {
                return table.print(json, None);
            }
            ("day", table)
        }
        Measure::Start => ("start", start::measure(root)?),
        Measure::Idle(idle) => ("idle", idle::measure(root, idle)?),
        Measure::Growth(growth) => {
            let (table, value, is_full) = growth::measure(growth)?;
            if !is_full {
                return table.print(json, Some(value));
            }
            answer = Some(value);
            ("growth", table)
        }
        Measure::Database(database) => {
            let (table, value, is_full) = database::measure(database)?;
            if !is_full {
                return table.print(json, Some(value));
            }
            answer = Some(value);
            ("database", table)
        }
        Measure::Size => ("size", size::measure(root)?),
        Measure::Render => ("render", render::measure(root)?),
        Measure::Page => ("page", page::measure(root)?),
        Measure::Turn => ("turn", turn::measure(root)?),
        Measure::Memory { data } => {
            let (table, value) = memory::measure(&data)?;
            answer = Some(value);
            ("memory", table)
        }
        Measure::Recall(recall) => {
            let (table, value) = recall::measure(&recall)?;
            answer = Some(value);
            ("recall", table)
        }
        Measure::Agents => ("agents", agents::measure()?),
        Measure::Long(long) => {
            let (table, value, is_full) = long::measure(&long)?;
            let violations = value["violations"].clone();
            if is_full {
                table.publish(root, "long", json, Some(value))?;
            } else {
                table.print(json, Some(value))?;
            }
            // What it counts are rules, so one is a failure.
            return if violations == 0 { Ok(()) } else { Err(format!("{violations} rules were broken")) };
        }
        Measure::Kills(kills) => {
            let (table, value, is_full) = kills::measure(&kills)?;
            if !is_full {
                return table.print(json, Some(value));
            }
            answer = Some(value);
            ("kills", table)
        }
        Measure::Local => ("local", local::measure(root)?),
        Measure::LocalModels(wanted) => ("local-models", local_models::measure(root, &wanted)?),
        Measure::Trust(trust) => {
            let trust::Measured { tables, value, is_full, wrong } = trust::measure(root, &trust)?;
            if is_full {
                table::publish_all(&tables, root, "trust", json, value)?;
            } else {
                table::print_all(&tables, json, value)?;
            }
            // What it counts are rules, so one is a failure.
            return if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) };
        }
        Measure::Build => ("build", build::measure(root)?),
    };
    table.publish(root, name, json, answer)
}
