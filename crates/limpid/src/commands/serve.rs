//! `serve`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use limpid_runtime::{Agent, ServeEvent};

use super::context::Context;
use super::listen::{Beside, Say};
use super::listing::in_zone;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Carries out `serve`: what is due now, or until an interrupt or a request to end what is due then.
///
/// # Errors
/// When the store fails, or signals cannot be heard.
pub async fn run(context: &Context, once: bool) -> Result<(), Failure> {
    let agent = context.agent()?;
    // Its log tells what changes.
    drop(context.take_changes(&agent));
    let zone = agent.zone();
    let say: Say = Arc::new(move |words| output::tell(&stamped(words, Timestamp::now(), &zone)));
    let zone = agent.zone();
    if once {
        return run_once(&agent, say, zone).await;
    }
    let stop = stop()?;
    let beside = Beside::start(&agent, &say);
    let served = agent.jobs().serve(move |event| say(&words(event, &zone)), stop).await;
    beside.stop().await;
    Ok(served?)
}

/// Logs every browser out at the page.
///
/// # Errors
/// When that cannot be written down.
pub fn log_out(context: &Context) -> Result<(), Failure> {
    limpid_server::log_out_all(&context.agent()?)?;
    output::tell("Every browser is logged out. Print a link for one: limpid serve --link");
    Ok(())
}

/// Prints a link that logs a browser in.
///
/// # Errors
/// When there is no page, or the link cannot be written down.
pub fn print_link(context: &Context) -> Result<(), Failure> {
    let agent = context.agent()?;
    let page = agent.config().page.clone();
    if !page.on {
        let off = Failure::new(ExitStatus::Usage, "the page is off");
        return Err(off.advise("Set `on = true` under [page] in limpid.toml, and start `limpid serve`"));
    }
    output::line(&limpid_server::login_link(&agent, page.listen)?)?;
    if !agent.jobs().is_served() {
        output::tell("Nothing serves it now. Start it: limpid serve");
    }
    Ok(())
}

/// Does what is due, tells what came of it, and says what is due next.
async fn run_once(agent: &Agent, say: Say, zone: TimeZone) -> Result<(), Failure> {
    let beside = Beside::telling(agent, &say);
    let counts = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let (log, count, in_log) = (Arc::clone(&say), Arc::clone(&counts), zone.clone());
    let next_ms = agent
        .jobs()
        .serve_once(move |event| {
            match event {
                ServeEvent::Done { .. } => drop(count.0.fetch_add(1, Ordering::Relaxed)),
                ServeEvent::Failed { .. } => drop(count.1.fetch_add(1, Ordering::Relaxed)),
                _ => {}
            }
            log(&words(event, &in_log));
        })
        .await;
    beside.stop().await;
    let next = next_ms?.map_or("no tasks are scheduled".to_owned(), |next| format!("next {}", in_zone(next, &zone)));
    let did = match (counts.0.load(Ordering::Relaxed), counts.1.load(Ordering::Relaxed)) {
        (0, 0) => "no task was due".to_owned(),
        (done, 0) => format!("{done} done"),
        (done, failed) => format!("{done} done, {failed} failed"),
    };
    say(&format!("{did}; {next}"));
    Ok(())
}

/// Ends at the first signal to stop.
#[cfg(unix)]
pub(super) fn stop() -> Result<impl Future<Output = ()>, Failure> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Ends at the first interrupt.
#[cfg(not(unix))]
pub(super) fn stop() -> Result<impl Future<Output = ()>, Failure> {
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}

/// What a line of the log says.
fn words(event: &ServeEvent, zone: &TimeZone) -> String {
    match event {
        ServeEvent::Ready => "ready".to_owned(),
        ServeEvent::Began { kind, name, slot_ms } => format!("{kind} {name} begins (due {})", in_zone(*slot_ms, zone)),
        ServeEvent::Done { kind, name, next_ms: Some(next) } => {
            format!("{kind} {name} has run, next {}", in_zone(*next, zone))
        }
        ServeEvent::Done { kind, name, next_ms: None } => format!("{kind} {name} has run"),
        ServeEvent::Failed { kind, name, why, again_ms } => {
            format!("{kind} {name} failed, again {}: {why}", in_zone(*again_ms, zone))
        }
        ServeEvent::Notice(words) => words.clone(),
        ServeEvent::Stopping => "stopping".to_owned(),
    }
}

/// A line of the log with its time.
fn stamped(words: &str, now: Timestamp, zone: &TimeZone) -> String {
    format!("{} {words}", now.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_when_what_happened_in_the_owners_zone() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let now: Timestamp = "2026-04-11T07:00:01Z".parse().unwrap();
        let (kind, name, at) = ("task".to_owned(), "t1".to_owned(), now.as_millisecond() - 1_000);
        let events = [
            ServeEvent::Ready,
            ServeEvent::Began { kind: kind.clone(), name: name.clone(), slot_ms: at },
            ServeEvent::Done { kind: kind.clone(), name: name.clone(), next_ms: Some(at + 86_400_000) },
            ServeEvent::Done { kind: kind.clone(), name: name.clone(), next_ms: None },
            ServeEvent::Failed { kind, name, why: "no model".to_owned(), again_ms: at + 60_000 },
            ServeEvent::Notice("something to know".to_owned()),
            ServeEvent::Stopping,
        ];
        let lines: Vec<String> = events.iter().map(|event| stamped(&words(event, &zone), now, &zone)).collect();
        insta::assert_snapshot!(lines.join("\n"));
    }
}
