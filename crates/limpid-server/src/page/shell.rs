//! What stands on every screen: reports, where one can go, which model answers, when the next heartbeat is, what today has cost.

use axum::http::HeaderMap;
use limpid_prompt::shown::shown_line;
use limpid_store::{CostBy, CostRow};

use super::around::waiting;
use super::banner::banner;
use super::state::Page;
use super::trouble::Trouble;
use super::{assets, door};

/// What stands on every screen.
pub(super) struct Shell {
    /// The title of the window.
    pub(super) title: String,
    /// Which place is the current one.
    pub(super) here: &'static str,
    pub(super) version: &'static str,
    pub(super) theme: Option<&'static str>,
    /// The newest report, ready to be drawn.
    pub(super) banner: String,
    /// Questions and drafts that wait.
    pub(super) waiting: usize,
    pub(super) model: String,
    pub(super) heartbeat: Option<String>,
    pub(super) today: String,
}

impl Shell {
    /// That of a screen.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(super) async fn new(
        page: &Page,
        headers: &HeaderMap,
        title: &str,
        here: &'static str,
    ) -> Result<Self, Trouble> {
        let agent = &page.agent;
        let waiting = waiting(page).await?.count;
        let model = match &agent.config().model {
            Some(model) => shown_line(model),
            None => match agent.models().choose(None).await {
                Ok(model) => shown_line(&model.info().name()),
                Err(_) => "none yet".to_owned(),
            },
        };
        let heartbeat = agent.heartbeat().next_due_ms().await?.map(|due| page.clock(due));
        Ok(Self {
            title: shown_line(title),
            here,
            banner: banner(page).await?,
            version: assets::version(),
            theme: door::theme_of(headers),
            waiting,
            model,
            heartbeat,
            today: spent_today(page).await?,
        })
    }
}

/// What today has cost; a request whose price is not known is said to be so.
async fn spent_today(page: &Page) -> Result<String, Trouble> {
    let (now, zone) = (page.agent.now(), page.agent.zone());
    let today = now.to_zoned(zone).start_of_day();
    let since_ms = today.map_or(0, |today| today.timestamp().as_millisecond());
    let mut sum = CostRow::empty("Today");
    page.agent.costs(CostBy::Day, Some(since_ms), None).await?.iter().for_each(|row| sum.add(row));
    Ok(match (sum.unknown_cost, sum.requests) {
        (0, _) => sum.cost.to_string(),
        (unknown, all) if unknown == all || sum.cost.0 == 0 => "unknown".to_owned(),
        _ => format!("{} and more", sum.cost),
    })
}
