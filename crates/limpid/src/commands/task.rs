//! `task`.

mod shown;
mod zone;

use limpid_core::ConversationId;
use limpid_core::task::{MissedPolicy, RunOutcome, TaskKind, TaskStatus};
use limpid_runtime::Agent;
use limpid_runtime::tasks::{TaskChange, TaskRequest, When, parse_span};

use super::listing::tell_broken;
use super::own_words::own;
use crate::cli::{AddArgs, EditArgs, TaskCommand, TaskKindWord, WhenArgs};
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Carries out `task …`.
///
/// # Errors
/// When there is no such task, when a time cannot be, or when a run failed.
pub async fn run(agent: &Agent, command: &TaskCommand) -> Result<(), Failure> {
    match command {
        TaskCommand::List { all, json } => list(agent, *all, *json).await,
        TaskCommand::Show { id, json } => shown::one(agent, id, *json).await,
        TaskCommand::Log { id, json } => shown::log(agent, id, *json).await,
        TaskCommand::Add(args) => {
            for words in [Some(&args.text), args.description.as_ref()].into_iter().flatten() {
                own(std::slice::from_ref(words), args.mine.mine)?;
            }
            let task = agent.tasks().add(request(args)?).await?;
            shown::changed(agent, &task, args.json)?;
            if !args.json && !agent.jobs().is_served() {
                output::tell("`limpid serve` is not running; tasks run once it is started.");
            }
            Ok(())
        }
        TaskCommand::Edit(args) => {
            for words in [&args.text, &args.description].into_iter().flatten() {
                own(std::slice::from_ref(words), args.mine.mine)?;
            }
            let task = agent.tasks().change(&args.id, change(args)?).await?;
            shown::changed(agent, &task, args.json)
        }
        TaskCommand::Zone(args) => zone::run(agent, args).await,
        TaskCommand::Cancel { id, json } => shown::changed(agent, &agent.tasks().cancel(id).await?, *json),
        TaskCommand::Undo { id, json } => shown::changed(agent, &agent.tasks().undo_cancel(id).await?, *json),
        TaskCommand::Disable { id, json } => shown::changed(agent, &agent.tasks().set_enabled(id, false).await?, *json),
        TaskCommand::Enable { id, json } => shown::changed(agent, &agent.tasks().set_enabled(id, true).await?, *json),
        TaskCommand::Snooze { id, until, json } => {
            shown::changed(agent, &agent.tasks().snooze(id, until).await?, *json)
        }
        TaskCommand::Done { id, json } => shown::changed(agent, &agent.tasks().finish(id).await?, *json),
        TaskCommand::Run { id, json } => {
            let (task, run) = agent.jobs().run_task(id).await?;
            shown::ran(agent, &task, &run, *json)?;
            match run.end {
                Some((_, RunOutcome::Done)) => Ok(()),
                _ => Err(Failure::new(ExitStatus::Failed, "the task was not carried out")),
            }
        }
    }
}

async fn list(agent: &Agent, all: bool, json: bool) -> Result<(), Failure> {
    let mut listed = agent.tasks().list(None).await?;
    if !all {
        listed.rows.retain(|task| matches!(task.standing.status, TaskStatus::Pending | TaskStatus::Disabled));
    }
    if json {
        output::json("tasks", &shown::heads(&listed.rows))?;
    } else if listed.rows.is_empty() {
        output::tell("Nothing is to be done later.");
    } else {
        output::line(&shown::table(agent, &listed.rows))?;
    }
    tell_broken(&listed.broken);
    Ok(())
}

fn request(args: &AddArgs) -> Result<TaskRequest, Failure> {
    let when = when(&args.when)?.ok_or_else(|| {
        Failure::new(ExitStatus::Usage, "no time given for the task")
            .advise("Say one of --at TIME, --after SPAN, --every SPAN, --cron PATTERN, --heartbeat.")
    })?;
    Ok(TaskRequest {
        key: None,
        description: args.description.clone().unwrap_or_default(),
        prompt: args.text.clone(),
        // What a heartbeat is to do is for its model.
        kind: match args.kind {
            _ if when == When::Heartbeat => TaskKind::Agent,
            TaskKindWord::Reminder => TaskKind::Reminder,
            TaskKindWord::Agent => TaskKind::Agent,
            TaskKindWord::Command => TaskKind::Command,
        },
        when,
        zone: args.when.zone.clone(),
        missed: missed(args.missed.as_deref())?,
        conversation: args.conversation.clone().map(ConversationId::new),
    })
}

fn change(args: &EditArgs) -> Result<TaskChange, Failure> {
    let change = TaskChange {
        description: args.description.clone(),
        prompt: args.text.clone(),
        kind: None,
        when: when(&args.when)?,
        zone: args.when.zone.clone(),
        missed: missed(args.missed.as_deref())?,
    };
    if change == TaskChange::default() {
        return Err(Failure::new(ExitStatus::Usage, "nothing is to be different")
            .advise("Say what: --text, --description, --at, --after, --every, --cron, --zone, --missed."));
    }
    Ok(change)
}

fn when(args: &WhenArgs) -> Result<Option<When>, Failure> {
    let span = |text: &str| {
        parse_span(text).ok_or_else(|| {
            Failure::new(ExitStatus::Usage, format!("`{text}` is no length of time"))
                .advise("Write a number and s, m, h or d: 10m, 2h, 1d.")
        })
    };
    Ok(match (&args.at, &args.after, &args.every, &args.cron) {
        (Some(at), ..) => Some(When::At(at.clone())),
        (_, Some(after), ..) => Some(When::In(span(after)?)),
        (_, _, Some(every), _) => Some(When::Every(span(every)?)),
        (.., Some(pattern)) => Some(When::Cron(pattern.clone())),
        _ => args.heartbeat.then_some(When::Heartbeat),
    })
}

fn missed(word: Option<&str>) -> Result<Option<MissedPolicy>, Failure> {
    let Some(word) = word else { return Ok(None) };
    MissedPolicy::parse(word).map(Some).ok_or_else(|| {
        Failure::new(ExitStatus::Usage, format!("`{word}` is no policy for missed runs"))
            .advise("Use skip, run_once, or run_if_within:SECONDS.")
    })
}
