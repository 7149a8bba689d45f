//! Whether mail can be read and sent, and whether things can be handed in.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use limpid_channels::mail::{MailError, Said};
use limpid_config::{Live, Redactor, TextKind, private_file};
use limpid_services::host::Host;
use limpid_services::inbox::TOKEN_VARIABLE;
use limpid_services::mail::{MailAccounts, MailOptions};
use limpid_services::timers::SchedulerWaker;
use limpid_store::{MailAccount, Store};

use crate::agent::AgentOptions;
use crate::doctor::check::Check;

/// How long the servers of one account may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Logs in to every account where its mail is read and where it is sent, all at once: one line each.
pub(crate) async fn mail(options: &AgentOptions, store: Option<Arc<dyn Store>>) -> Vec<Check> {
    let Some(store) = store else { return Vec::new() };
    if !options.config.mail.enabled {
        return vec![Check::of("mail", Ok("off in limpid.toml".to_owned()))];
    }
    let rows = match store.mail_accounts().await {
        Ok(listed) => listed.rows,
        Err(error) => return vec![Check::of("mail", Err((error.to_string(), "")))],
    };
    let redactor = Redactor::new(&options.environment, &options.config.secret_variables());
    let mail = accounts_of(options, store, &redactor);
    let accounts = mail.addresses();
    if accounts.is_empty() {
        let none = "no account; `limpid inbox mail add ADDRESS` adds one";
        return vec![Check::of("mail", Ok(none.to_owned()))];
    }
    let zone = options.config.owner.zone.as_ref().unwrap_or(&options.system_zone);
    let checks = accounts.iter().map(|address| {
        let row = rows.iter().find(|row| row.address == *address);
        account((&mail, &redactor), address, row, zone)
    });
    join_all(checks).await
}

/// The accounts without an agent, since it may be the opening of an agent that fails.
fn accounts_of(options: &AgentOptions, store: Arc<dyn Store>, redactor: &Redactor) -> MailAccounts {
    let config = Live::new(options.config.clone());
    let (clock, ids) = (Arc::clone(&options.clock), Arc::clone(&options.ids));
    MailAccounts::new(MailOptions {
        home: options.home.clone(),
        environment: options.environment.clone(),
        config: config.clone(),
        host: Host::new(clock, ids, config, options.system_zone.clone(), ""),
        store,
        redactor: redactor.clone(),
        mailbox: options.mailbox.clone().unwrap_or_else(|| options.mail_servers()),
        waker: Arc::new(SchedulerWaker::new(options.home.wake_socket())),
    })
}

async fn account(
    (mail, redactor): (&MailAccounts, &Redactor),
    address: &str,
    row: Option<&MailAccount>,
    zone: &TimeZone,
) -> Check {
    let known = row.map_or_else(|| "never read yet".to_owned(), |row| so_far(row, zone));
    let account = match mail.account(Some(address)).await {
        Ok(account) => account,
        // What is wrong with its file or its secret says what to do.
        Err(why) => return Check::of("mail", Err((format!("{} ({known})", why.text().trim_end()), ""))),
    };
    let tested = tokio::time::timeout(PATIENCE, mail.log_in(&account)).await;
    let tested = tested.unwrap_or_else(|_| {
        let why = Said::new(format_args!("no answer in {} seconds", PATIENCE.as_secs()));
        let server = account.imap.to_string();
        Err(MailError::Unreachable { server, why })
    });
    let finding = match tested {
        Ok(()) => Ok(format!("{address} reads at {} and sends at {}; {known}", account.imap, account.smtp)),
        Err(error) => {
            let advice = advice(&error, address);
            Err((redactor.clean_as(TextKind::Failure, format!("{address}: {error} ({known})")), advice))
        }
    };
    Check::with_advice("mail", finding)
}

/// How far an account was read, and what went wrong at the last look.
fn so_far(row: &MailAccount, zone: &TimeZone) -> String {
    let at = |ms| Timestamp::from_millisecond(ms).unwrap_or_default().to_zoned(zone.clone());
    let read = row.synced_ms.map(|ms| at(ms).strftime("%Y-%m-%d %H:%M"));
    let read = read.map(|at| format!("last read {at}, {} unread", row.unread));
    let read = read.unwrap_or_else(|| "never read yet".to_owned());
    match &row.last_error {
        Some(error) => format!("{read}; the last look failed: {error}"),
        None => read,
    }
}

fn advice(error: &MailError, address: &str) -> String {
    match error {
        MailError::Login { .. } => {
            format!(
                "Enter its password anew with `limpid inbox mail add {address}`; many providers want one made for programs."
            )
        }
        MailError::Certificate { .. } => {
            format!("If the server is your own, name its authority with `limpid inbox mail add {address} --ca FILE`.")
        }
        _ => format!("Check the network, and the servers' names and ports with `limpid inbox mail add {address}`."),
    }
}

/// Whether other machines and programs can hand things in.
pub(crate) fn door(options: &AgentOptions) -> Check {
    let config = &options.config.inbox;
    let open = [(config.sms, "text messages"), (config.notifications, "notifications"), (config.mail, "mail")];
    let open: Vec<&str> = open.into_iter().filter(|(on, _)| *on).map(|(_, name)| name).collect();
    if open.is_empty() {
        let closed = "nothing is taken in; `sms`, `notifications` and `mail` under [inbox] in limpid.toml open it";
        return Check::of("inbox", Ok(closed.to_owned()));
    }
    let (open, listen) = (open.join(", "), config.listen);
    let token = match options.environment.get(TOKEN_VARIABLE) {
        Some(token) => Ok(Some(token.to_owned())),
        None => private_file::read(&options.home.ingest_token()),
    };
    match token {
        Ok(Some(_)) => {}
        Ok(None) => {
            let says = format!("{open}: nobody can hand anything in, as there is no token");
            return Check::of("inbox", Err((says, "Make it with `limpid inbox token`.")));
        }
        Err(error) => return Check::of("inbox", Err((error.to_string(), ""))),
    }
    let served = SchedulerWaker::new(options.home.wake_socket()).is_served();
    let says = if served {
        format!("{open} at http://{listen}/v1/inbox/")
    } else {
        format!("{open} at http://{listen}/v1/inbox/ once `limpid serve` runs")
    };
    Check::of("inbox", Ok(says))
}
