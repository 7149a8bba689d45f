//! `heartbeat`.

use jiff::tz::TimeZone;
use limpid_core::failure_words;
use limpid_prompt::boundary::for_readers;
use limpid_runtime::{Agent, DayCost, HeartbeatChange, HeartbeatResult, HeartbeatStatus, marked_line};
use limpid_store::{HeartbeatOutcome, HeartbeatRun, IdleLooks};
use serde_json::{Value, json};

use super::listing::{in_zone, tell_broken};
use super::own_words::own;
use crate::cli::{HeartbeatCommand, HeartbeatSet};
use crate::failure::{ExitStatus, Failure};
use crate::output::{self, behind_margin};

/// Letters of what a model said after a stranger's text that a line shows; `limpid heartbeat log --json` has all of it.
const DETAIL: usize = 120;

/// Carries out `heartbeat …`.
///
/// # Errors
/// When a setting is not allowed, a run failed, or the store fails.
pub async fn run(agent: &Agent, command: &HeartbeatCommand) -> Result<(), Failure> {
    match command {
        HeartbeatCommand::Status { json } => show(agent, *json).await,
        HeartbeatCommand::Run { json } => beat(agent, *json).await,
        HeartbeatCommand::Log { number, json } => log(agent, *number, *json).await,
        HeartbeatCommand::Read { json } => read(agent, *json).await,
        HeartbeatCommand::Dismiss { json } => dismiss(agent, *json).await,
        HeartbeatCommand::Prompt { reset, json } => opening(agent, *reset, *json).await,
        HeartbeatCommand::Set(set) => {
            set.prompt.iter().try_for_each(|words| own(std::slice::from_ref(words), set.mine.mine).map(drop))?;
            agent.heartbeat().change(change(set)?).await?;
            show(agent, set.json).await
        }
    }
}

async fn show(agent: &Agent, json: bool) -> Result<(), Failure> {
    let status = agent.jobs().heartbeat_status().await?;
    if json {
        return output::json("heartbeat", &status_json(&status));
    }
    let zone = agent.zone();
    let at = |ms: Option<i64>| ms.map_or("never".to_owned(), |ms| in_zone(ms, &zone));
    let set = &status.settings;
    let on = if set.enabled { "on" } else { "off" };
    let mut lines = vec![
        format!("The heartbeat is {on}: every {} min, {} to {} h.", set.interval_minutes, set.start_hour, set.end_hour),
        format!("last good run  {}", at(status.succeeded_ms)),
        format!("next           {}", at(status.next_ms)),
        format!("a day costs    {}", cost(status.day.as_ref())),
    ];
    let due = set.runs_due_a_day();
    if due > status.runs_a_day {
        lines.push(format!(
            "at most        {} runs a day, though it is due {due} times; `runs_a_day` under [heartbeat] of limpid.toml \
             allows more",
            status.runs_a_day
        ));
    }
    if let Some(model) = &set.model {
        lines.push(format!("model          {model}"));
    }
    if status.running {
        lines.push("A run is under way.".to_owned());
    } else if let Some(why) = &status.waits {
        lines.push(format!("It waits: {why}."));
    }
    if let Some(run) = &status.last {
        lines.push(format!("newest run     {}", line(run, &zone)));
    }
    if let IdleLooks { count, since_ms: Some(since_ms), last_ms: Some(last_ms) } = status.idle {
        let (since, last) = (in_zone(since_ms, &zone), in_zone(last_ms, &zone));
        let looks = if count == 1 { "1 time".to_owned() } else { format!("{count} times") };
        lines.push(format!("nothing new    {looks} since {since}, last at {last}; no model was asked"));
    }
    if set.enabled && !agent.jobs().is_served() {
        lines.push("`limpid serve` is not running, so the heartbeat does not run by itself.".to_owned());
    }
    output::text(&lines.join("\n"))
}

async fn beat(agent: &Agent, json: bool) -> Result<(), Failure> {
    let run = match agent.jobs().run_heartbeat().await? {
        HeartbeatResult::Waits(why) => {
            return Err(Failure::new(ExitStatus::Failed, format!("the heartbeat was not run: {why}")));
        }
        HeartbeatResult::Ran(run) => run,
    };
    agent.conversations().deliver_waiting().await?;
    if json {
        output::json("run", &run_json(&run))?;
    } else {
        match (&run.report, run.outcome) {
            (Some(report), _) if run.trust.is_foreign() => {
                output::line(&format!("After a stranger's text:\n{}", behind_margin(report)))?;
            }
            (Some(report), _) => output::line(report)?,
            (None, HeartbeatOutcome::Quiet) => output::line("Nothing to report.")?,
            (None, HeartbeatOutcome::Unchanged) => output::line(&format!("No model was asked: {}.", run.detail))?,
            (None, HeartbeatOutcome::Remainder) => {
                output::line(
                    "Nothing was reported, but the answer said more than HEARTBEAT_OK. New messages stay in the queue.",
                )?;
            }
            (None, HeartbeatOutcome::Divided) => output::line(
                "One item read a stranger's text, so each is to be looked at alone. The run stopped before that.",
            )?,
            (None, HeartbeatOutcome::Cancelled) => output::line("The run was stopped before it ended.")?,
            // The error is told below.
            (None, HeartbeatOutcome::Failed | HeartbeatOutcome::Told | HeartbeatOutcome::Repeated) => {}
        }
        output::tell(&line(&run, &agent.zone()));
    }
    match run.outcome {
        HeartbeatOutcome::Failed => Err(Failure::new(ExitStatus::Failed, detail(&run))
            .advise("`limpid heartbeat status` says when it is tried again.")),
        _ => Ok(()),
    }
}

async fn read(agent: &Agent, json: bool) -> Result<(), Failure> {
    let reports = agent.deliveries().read_reports().await?;
    if json {
        let rows = reports.iter().map(|delivery| {
            let new = &delivery.new;
            json!({
                "origin": new.origin.as_str(), "title": new.title, "text": new.text, "trust": new.trust.as_str(),
                "delivered_ms": delivery.settled_ms,
            })
        });
        return output::json("reports", &rows.collect::<Vec<_>>());
    }
    if reports.is_empty() {
        output::tell("Nothing is unread.");
        return Ok(());
    }
    let zone = agent.zone();
    let shown = reports.iter().map(|delivery| {
        let at = delivery.settled_ms.map(|ms| in_zone(ms, &zone)).unwrap_or_default();
        let (origin, text) = (&delivery.new.origin, for_readers(&delivery.new.text));
        match delivery.new.trust.is_foreign() {
            true => format!("{at}  {origin}, after a stranger's text\n{}", behind_margin(&text)),
            false => format!("{at}  {origin}\n{text}"),
        }
    });
    output::line(&shown.collect::<Vec<_>>().join("\n\n"))
}

async fn dismiss(agent: &Agent, json: bool) -> Result<(), Failure> {
    let count = agent.deliveries().dismiss_reports().await?;
    if json {
        return output::json("dismissed", &count);
    }
    output::line(&match count {
        0 => "Nothing is unread.".to_owned(),
        1 => "One report is taken for read; `limpid conversation show heartbeat` has it.".to_owned(),
        _ => format!("{count} reports are taken for read; `limpid conversation show heartbeat` has them."),
    })
}

async fn opening(agent: &Agent, reset: bool, json: bool) -> Result<(), Failure> {
    let mut opening = agent.heartbeat().opening().await?;
    if reset {
        if opening.custom.is_none() {
            let missing = Failure::new(ExitStatus::Usage, "there is no opening of yours to take back");
            return Err(missing.advise("Set one: limpid heartbeat set --prompt TEXT"));
        }
        agent.heartbeat().change(HeartbeatChange { prompt: Some(String::new()), ..HeartbeatChange::default() }).await?;
        opening = agent.heartbeat().opening().await?;
    }
    if json {
        return output::json("opening", &json!({ "custom": opening.custom, "default": opening.default }));
    }
    if let Some(text) = opening.text() {
        output::line(text)?;
    }
    output::tell(match (&opening.custom, &opening.default) {
        (_, None) => "This profile has no place for an opening: HEARTBEAT.md says what a heartbeat does.",
        (Some(_), _) => "This is yours; `limpid heartbeat prompt --reset` takes it back.",
        (None, _) => "This is the profile's; `limpid heartbeat set --prompt TEXT` puts yours in its place.",
    });
    Ok(())
}

async fn log(agent: &Agent, number: u32, json: bool) -> Result<(), Failure> {
    let listed = agent.heartbeat().log(number).await?;
    if json {
        let rows: Vec<Value> = listed.rows.iter().map(run_json).collect();
        output::json("runs", &rows)?;
    } else if listed.rows.is_empty() {
        output::tell("The heartbeat has not run yet.");
    } else {
        let zone = agent.zone();
        let rows: Vec<Vec<String>> = listed
            .rows
            .iter()
            .map(|run| {
                vec![
                    verdict(run).to_owned(),
                    in_zone(run.ended_ms, &zone),
                    run.outcome.to_string(),
                    run.input_tokens.to_string(),
                    run.report.as_ref().map_or_else(|| detail(run), |report| marked_line(report, run.trust)),
                ]
            })
            .collect();
        output::line(&output::table(&["", "ended", "outcome", "input", "what"], &rows))?;
    }
    tell_broken(&listed.broken);
    Ok(())
}

/// What a day costs on which nothing comes in.
fn cost(day: Option<&DayCost>) -> String {
    let Some(day) = day else { return "unknown: no model is set".to_owned() };
    match day {
        DayCost { items: 0, .. } => "nothing until a message arrives: no recurring checks are set up".to_owned(),
        DayCost { runs: 0, .. } => "nothing until a message arrives or a check changes".to_owned(),
        DayCost { items, runs, run_tokens, tokens, money, model } => {
            let items = if *items == 1 { "1 standing item".to_owned() } else { format!("{items} standing items") };
            let runs = if *runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") };
            let money = money.map_or("price unknown".to_owned(), |money| money.to_string());
            format!("{runs} of about {run_tokens} tokens for {items}: {tokens} tokens, {money} ({model})")
        }
    }
}

/// Whether a run went well, as the log shows it.
fn verdict(run: &HeartbeatRun) -> &'static str {
    if run.outcome == HeartbeatOutcome::Failed { "FAIL" } else { "OK" }
}

/// Why a run came to what it did, on one line: what the model said after a stranger's text is marked and cut.
fn detail(run: &HeartbeatRun) -> String {
    let line = marked_line(failure_words(&run.detail), run.trust);
    if run.trust.is_foreign() { output::one_line(&line, DETAIL) } else { line }
}

fn line(run: &HeartbeatRun, zone: &TimeZone) -> String {
    let HeartbeatRun { outcome, requests, input_tokens, .. } = run;
    let detail = if run.detail.is_empty() { String::new() } else { format!(": {}", detail(run)) };
    format!(
        "{} {} {outcome}{detail} ({requests} requests, {input_tokens} tokens read)",
        verdict(run),
        in_zone(run.ended_ms, zone),
    )
}

fn change(set: &HeartbeatSet) -> Result<HeartbeatChange, Failure> {
    let hours =
        match &set.hours {
            None => None,
            Some(words) => Some(hours(words).ok_or_else(|| {
                Failure::new(ExitStatus::Usage, format!("`{words}` are no hours; write them as 8-22"))
            })?),
        };
    let switched = (set.on || set.off).then_some(set.on);
    Ok(HeartbeatChange {
        enabled: switched,
        interval_minutes: set.interval,
        start_hour: hours.map(|(start, _)| start),
        end_hour: hours.map(|(_, end)| end),
        model: set.model.as_ref().map(|model| Some(model.clone()).filter(|model| !model.is_empty())),
        prompt: set.prompt.clone(),
    })
}

fn hours(words: &str) -> Option<(u8, u8)> {
    let (start, end) = words.split_once('-')?;
    Some((start.trim().parse().ok()?, end.trim().parse().ok()?))
}

fn status_json(status: &HeartbeatStatus) -> Value {
    let set = &status.settings;
    json!({
        "enabled": set.enabled, "interval_minutes": set.interval_minutes, "start_hour": set.start_hour,
        "end_hour": set.end_hour, "runs_a_day": status.runs_a_day, "model": set.model, "prompt": set.prompt, "running": status.running,
        "waits": status.waits, "next_ms": status.next_ms, "succeeded_ms": status.succeeded_ms,
        "failures": status.failures, "last": status.last.as_ref().map(run_json),
        "idle": { "count": status.idle.count, "since_ms": status.idle.since_ms, "last_ms": status.idle.last_ms },
        "day": status.day.as_ref().map(|day| json!({
            "items": day.items, "runs": day.runs, "run_tokens": day.run_tokens, "tokens": day.tokens,
            "money_usd": day.money.map(|money| money.0 as f64 / 1e6), "model": day.model,
        })),
    })
}

fn run_json(run: &HeartbeatRun) -> Value {
    json!({
        "key": run.key, "by_hand": run.by_hand, "began_ms": run.began_ms, "ended_ms": run.ended_ms,
        "outcome": run.outcome.as_str(), "detail": run.detail, "report": run.report,
        "report_key": run.report_key, "trust": run.trust.as_str(),
        "conversation": run.conversation.as_ref().map(limpid_core::ConversationId::as_str), "requests": run.requests,
        "input_tokens": run.input_tokens, "output_tokens": run.output_tokens,
    })
}
