//! `task zone`.

use limpid_runtime::Agent;
use limpid_runtime::tasks::{ZoneMoves, time_words};
use serde_json::{Value, json};

use super::shown;
use crate::cli::ZoneArgs;
use crate::failure::Failure;
use crate::output;

/// Carries out `task zone`: shows what a move to the owner's zone would change, makes it, or takes it back.
pub(super) async fn run(agent: &Agent, args: &ZoneArgs) -> Result<(), Failure> {
    if args.undo {
        let back = agent.tasks().undo_zone_changes().await?;
        if args.json {
            return output::json("tasks", &shown::heads(&back));
        }
        return match back.len() {
            0 => output::line("None of the tasks is where it was moved to any more."),
            _ => output::line(&shown::table(agent, &back)),
        };
    }
    agent.jobs().check_time_zone().await?;
    let moves =
        if args.move_tasks { agent.tasks().change_zones().await? } else { agent.tasks().zone_changes().await? };
    if args.json {
        return output::json("zone", &moves_json(&moves, args.move_tasks));
    }
    let zone = &moves.zone;
    if moves.moves.is_empty() {
        return output::line(&format!(
            "Your zone is {zone}, and no task keeps the clock of another one that was yours."
        ));
    }
    output::line(&table(agent, &moves))?;
    output::tell(&if args.move_tasks {
        format!("They go by the clock of {zone} now; `limpid task zone --undo` takes that back.")
    } else {
        format!("They keep their clocks; `limpid task zone --move` moves them to that of {zone}.")
    });
    Ok(())
}

fn table(agent: &Agent, moves: &ZoneMoves) -> String {
    let (now, zone) = (agent.now(), agent.zone());
    let words = |at: Option<jiff::Timestamp>| at.map(|at| time_words(at, now, &zone)).unwrap_or_default();
    let rows: Vec<Vec<String>> = moves
        .moves
        .iter()
        .map(|one| {
            let task = &one.task;
            let before = words(task.standing.next);
            vec![task.id.to_string(), task.new.zone.clone(), before, words(one.next), task.new.description.clone()]
        })
        .collect();
    output::table(&["task", "zone", "next there", "next here", "what"], &rows)
}

fn moves_json(moves: &ZoneMoves, moved: bool) -> Value {
    let ms = |at: Option<jiff::Timestamp>| at.map(jiff::Timestamp::as_millisecond);
    let rows = moves.moves.iter().map(|one| {
        json!({
            "id": one.task.id.0, "description": one.task.new.description, "from": one.task.new.zone,
            "next_ms": ms(one.task.standing.next), "next_after_ms": ms(one.next),
        })
    });
    json!({ "zone": moves.zone, "moved": moved, "tasks": rows.collect::<Vec<_>>() })
}
