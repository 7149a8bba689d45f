//! `serve`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::tz::TimeZone;
use limpid_runtime::{Agent, ServeEvent};

use super::context::Context;
use super::listen::Beside;
use super::listing::in_zone;
use super::log::{Log, LogLine};
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Carries out `serve`: what is due now, or until an interrupt or a request to end what is due then.
///
/// # Errors
/// When the store fails, or signals cannot be heard.
pub async fn run(context: &Context, once: bool) -> Result<(), Failure> {
    let zone = context.config.owner.zone.clone().unwrap_or_else(TimeZone::system);
    let log = Arc::new(Log::new(context.config.telemetry.logs, zone.clone()));
    context.log_to(&log);
    let served = serve(context, once, &log, zone).await;
    match served {
        // Whoever reads the log reads nothing else.
        Err(failure) if log.is_json() => {
            log.write(&LogLine::failed(&failure));
            Err(failure.told())
        }
        served => served,
    }
}

async fn serve(context: &Context, once: bool, log: &Arc<Log>, zone: TimeZone) -> Result<(), Failure> {
    let agent = context.agent()?;
    // Its log tells what changes.
    drop(context.take_changes(&agent));
    if once {
        return run_once(&agent, log, zone).await;
    }
    let stop = stop()?;
    let beside = Beside::start(&agent, log);
    let told = Arc::clone(log);
    let served = agent.jobs().serve(move |event| told.write(&LogLine::serve(event, &zone)), stop).await;
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
async fn run_once(agent: &Agent, log: &Arc<Log>, zone: TimeZone) -> Result<(), Failure> {
    let beside = Beside::telling(agent, log);
    let counts = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0)));
    let (told, count, in_log) = (Arc::clone(log), Arc::clone(&counts), zone.clone());
    let next_ms = agent
        .jobs()
        .serve_once(move |event| {
            match event {
                ServeEvent::Done { .. } => drop(count.0.fetch_add(1, Ordering::Relaxed)),
                ServeEvent::Failed { .. } => drop(count.1.fetch_add(1, Ordering::Relaxed)),
                _ => {}
            }
            told.write(&LogLine::serve(event, &in_log));
        })
        .await;
    beside.stop().await;
    let next_ms = next_ms?;
    let next = next_ms.map_or("no tasks are scheduled".to_owned(), |next| format!("next {}", in_zone(next, &zone)));
    let (done, failed) = (counts.0.load(Ordering::Relaxed), counts.1.load(Ordering::Relaxed));
    let did = match (done, failed) {
        (0, 0) => "no task was due".to_owned(),
        (done, 0) => format!("{done} done"),
        (done, failed) => format!("{done} done, {failed} failed"),
    };
    log.write(&LogLine::did(format!("{did}; {next}"), done, failed, next_ms));
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
