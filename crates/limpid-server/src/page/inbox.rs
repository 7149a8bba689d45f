//! The screen of what came in: queues, how far each was read, and what waits in them.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Form, Router};
use limpid_core::inbox::{QUEUE, Source};
use limpid_prompt::shown::{shown, shown_line};
use limpid_runtime::mail::MailStatus;
use limpid_store::{InboxItem, ItemFilter, ItemId};
use serde::Deserialize;

use super::forms::back;
use super::meter::thousands;
use super::shell::Shell;
use super::state::Page;
use super::trouble::Trouble;

/// Items that are shown.
const MOST: usize = 100;

/// A queue.
struct Queue {
    name: String,
    /// How far a heartbeat has read it.
    read: String,
    /// When somebody last looked whether there is more.
    looked: String,
    waiting: usize,
    most: usize,
    /// Why it cannot be read; a server may have worded it.
    trouble: Option<String>,
    /// The account that can be looked into.
    account: Option<String>,
}

/// Something that came in. All its words are a stranger's.
struct Item {
    id: i64,
    title: String,
    from: String,
    text: String,
    source: &'static str,
    account: String,
    at: String,
    waits: bool,
    is_new: bool,
}

#[derive(Template)]
#[template(path = "inbox.html")]
struct InboxScreen {
    shell: Shell,
    queues: Vec<Queue>,
    items: Vec<Item>,
    all: bool,
    query: String,
    is_closed: bool,
    heartbeat: Option<String>,
}

/// What is asked for.
#[derive(Deserialize)]
struct Asked {
    /// Those too that were seen.
    all: Option<String>,
    q: Option<String>,
}

/// A mail account.
#[derive(Deserialize)]
struct Account {
    address: String,
}

/// Its routes.
pub(super) fn routes() -> Router<Arc<Page>> {
    Router::new().route("/inbox", get(screen)).route("/inbox/check", post(check)).route("/inbox/{id}/done", post(done))
}

async fn screen(
    State(page): State<Arc<Page>>,
    Query(Asked { all, q }): Query<Asked>,
    headers: HeaderMap,
) -> Result<Response, Trouble> {
    let query = q.filter(|query| !query.trim().is_empty());
    let all = all.is_some() || query.is_some();
    let filter = ItemFilter { unseen: !all, query: query.clone(), limit: MOST, ..ItemFilter::default() };
    let items = page.agent.inbox().list(filter).await?.rows;
    let queues = queues(&page).await?;
    let screen = InboxScreen {
        shell: Shell::new(&page, &headers, "Inbox · Limpid", "activity").await?,
        is_closed: !page.agent.config().inbox.is_open() && queues.iter().all(|queue| queue.account.is_none()),
        queues,
        items: items.iter().map(|item| row(&page, item)).collect(),
        all,
        query: query.unwrap_or_default(),
        heartbeat: page.agent.heartbeat().next_due_ms().await?.map(|due| page.clock(due)),
    };
    Ok(Html(screen.render()?).into_response())
}

/// `POST /inbox/check`: looks into a mail account now.
async fn check(
    State(page): State<Arc<Page>>,
    headers: HeaderMap,
    Form(Account { address }): Form<Account>,
) -> Result<Response, Trouble> {
    let looked = page.agent.mail().fetch(&address).await;
    back(&page, &headers, looked, |_| "/inbox".to_owned()).await
}

/// `POST /inbox/{id}/done`: nothing shows it as new again.
async fn done(State(page): State<Arc<Page>>, Path(id): Path<i64>, headers: HeaderMap) -> Result<Response, Trouble> {
    let done = match page.agent.inbox().item(ItemId(id)).await {
        Ok(_) => page.agent.inbox().done(&[ItemId(id)]).await,
        Err(error) => Err(error),
    };
    back(&page, &headers, done, |_| "/inbox".to_owned()).await
}

/// The mail accounts, then what is handed in.
async fn queues(page: &Page) -> Result<Vec<Queue>, Trouble> {
    let inbox = page.agent.inbox();
    let config = &page.agent.config().inbox;
    let mail = inbox.waiting(Source::Mail).await?.rows;
    let accounts = page.agent.mail().list().await?;
    let mut queues: Vec<Queue> = accounts.iter().map(|account| account_queue(page, account, &mail)).collect();
    for (source, name, on) in [
        (Source::Mail, "Mail that is handed in", config.mail),
        (Source::Sms, "Text messages", config.sms),
        (Source::Notification, "Notifications", config.notifications),
    ] {
        let waiting = inbox.waiting(source).await?.rows;
        let is_handed_in = |item: &&InboxItem| accounts.iter().all(|account| account.address != item.new.account);
        let waiting = waiting.iter().filter(is_handed_in).count();
        let filter = ItemFilter { source: Some(source), limit: QUEUE, ..ItemFilter::default() };
        let newest = inbox.list(filter).await?.rows;
        let newest: Vec<&InboxItem> = newest.iter().filter(is_handed_in).collect();
        if !on && newest.is_empty() && source == Source::Mail {
            continue;
        }
        let read = newest.iter().find(|item| item.consumed_ms.is_some()).map(|item| page.moment(item.new.posted_ms));
        queues.push(Queue {
            name: name.to_owned(),
            read: read.unwrap_or_else(|| "nothing yet".to_owned()),
            looked: if on { "handed in" } else { "off" }.to_owned(),
            waiting,
            most: QUEUE,
            trouble: None,
            account: None,
        });
    }
    Ok(queues)
}

fn account_queue(page: &Page, account: &MailStatus, waiting: &[InboxItem]) -> Queue {
    let row = account.row.as_ref();
    let read = row.filter(|row| row.watermark > 0);
    let trouble = account.problem.clone().or_else(|| row?.last_error.clone());
    Queue {
        name: format!("Mail, {}", shown_line(&account.address)),
        read: read.map_or("nothing yet".to_owned(), |row| format!("letter {}", thousands(row.watermark as usize))),
        looked: row.and_then(|row| row.attempted_ms).map_or("never".to_owned(), |at| page.clock(at)),
        waiting: waiting.iter().filter(|item| item.new.account == account.address).count(),
        most: QUEUE,
        trouble: trouble.as_deref().map(shown_line),
        account: Some(account.address.clone()),
    }
}

fn row(page: &Page, item: &InboxItem) -> Item {
    let new = &item.new;
    let first = new.text.lines().find(|line| !line.trim().is_empty()).unwrap_or("(no text)");
    Item {
        id: item.id.0,
        title: shown_line(if new.title.trim().is_empty() { first } else { &new.title }),
        from: shown_line(&new.sender),
        text: shown(&new.text).into_owned(),
        source: match new.source {
            Source::Mail => "Mail",
            Source::Sms => "Text message",
            Source::Notification => "Notification",
        },
        account: shown_line(&new.account),
        at: page.moment(new.posted_ms),
        waits: item.waits && item.shown_ms.is_none(),
        is_new: item.shown_ms.is_none(),
    }
}
