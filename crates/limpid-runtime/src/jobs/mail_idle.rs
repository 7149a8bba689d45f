//! Waiting for mail where the server says when it comes (IDLE), beside the looks by the clock.

use std::sync::{Arc, Weak};
use std::time::Duration;

use limpid_channels::mail::News;
use limpid_core::mail::{BETWEEN_LOOKS, IDLE_MS, rejoin_wait};
use limpid_model::chain::Pause;
use limpid_services::mail::MailAccounts;

/// Begins to wait for mail of an account, unless somebody here does.
pub(crate) fn watch(mail: &Arc<MailAccounts>, pause: &Arc<dyn Pause>, address: &str) {
    let Some(watching) = mail.watch(address) else { return };
    let (mail, pause, address) = (Arc::downgrade(mail), Arc::clone(pause), address.to_owned());
    tokio::spawn(async move {
        wait(&mail, &*pause, &address).await;
        drop(watching);
    });
}

/// Waits for mail and looks each time that some came, with a pause behind each look: how often that is must not be for the
/// server to say. A wait that broke off is begun again after a pause that grows; what came meanwhile ends the new one at
/// once. It ends when the account or the agent is gone, and with a server that cannot be waited on: there the next look by
/// the clock asks again.
async fn wait(mail: &Weak<MailAccounts>, pause: &dyn Pause, address: &str) {
    let mut failures = 0;
    loop {
        match once(mail, address).await {
            Waited::HadTime => failures = 0,
            Waited::Looked => {
                failures = 0;
                pause.pause(BETWEEN_LOOKS).await;
            }
            Waited::BrokeOff => {
                failures += 1;
                pause.pause(rejoin_wait(failures)).await;
            }
            Waited::IsOver => return,
        }
    }
}

/// What one wait came to.
enum Waited {
    /// Nothing came in all the time that a wait lasts.
    HadTime,
    /// Mail came and was kept.
    Looked,
    BrokeOff,
    IsOver,
}

async fn once(mail: &Weak<MailAccounts>, address: &str) -> Waited {
    // Nobody keeps the accounts alive while a server is waited on.
    let started = match mail.upgrade() {
        Some(mail) => mail.start_wait(address).await,
        None => return Waited::IsOver,
    };
    let waiting = match started {
        Ok(Some(waiting)) => waiting,
        Ok(None) => return Waited::IsOver,
        Err(_) => return Waited::BrokeOff,
    };
    match waiting.run(Duration::from_millis(IDLE_MS)).await {
        Ok(News::None) => Waited::HadTime,
        Ok(News::Some) => {
            let Some(mail) = mail.upgrade() else { return Waited::IsOver };
            if matches!(mail.poll(address).await, Ok(Ok(_))) { Waited::Looked } else { Waited::BrokeOff }
        }
        Ok(News::Unsupported) => Waited::IsOver,
        Err(_) => Waited::BrokeOff,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Mutex;

    use async_trait::async_trait;
    use futures_util::FutureExt as _;
    use futures_util::future::BoxFuture;
    use limpid_channels::mail::{
        Account, Letter, Mail, MailError, MailHead, MailId, MailQuery, Mailbox, Offered, Poll, Secret,
    };
    use limpid_config::Home;
    use limpid_core::mail::Mark;
    use limpid_model::chain::Pause;
    use limpid_services::mail::AccountSettings;

    use super::*;
    use crate::agent::{Agent, AgentOptions};

    /// Servers on which waits come to what the test says, and which note what they are asked.
    #[derive(Default)]
    struct Scripted {
        waits: Mutex<VecDeque<Result<News, MailError>>>,
        log: Arc<Mutex<Vec<String>>>,
    }

    /// Time that passes at once, and is noted.
    struct Noted(Arc<Mutex<Vec<String>>>);

    impl Pause for Noted {
        fn pause(&self, time: Duration) -> BoxFuture<'static, ()> {
            self.0.lock().unwrap().push(format!("pause {} s", time.as_secs()));
            std::future::ready(()).boxed()
        }
    }

    #[async_trait]
    impl Mailbox for Scripted {
        async fn poll(&self, _: &Account, _: Option<Mark>, _: i64) -> Result<Poll, MailError> {
            self.log.lock().unwrap().push("look".to_owned());
            let mark = Mark { validity: 1, uid: 1, renumbered: None };
            Ok(Poll { mark, heads: Vec::new(), renumbered: false, unread: 0 })
        }

        async fn wait(&self, _: &Account, _: Mark, limit: Duration) -> Result<News, MailError> {
            self.log.lock().unwrap().push(format!("wait {} min", limit.as_secs() / 60));
            self.waits.lock().unwrap().pop_front().unwrap_or(Ok(News::Unsupported))
        }

        async fn read(&self, _: &Account, id: MailId, _: bool) -> Result<Mail, MailError> {
            Err(MailError::NotFound(id.to_string()))
        }

        async fn head(&self, _: &Account, _: MailId) -> Result<Option<MailHead>, MailError> {
            Ok(None)
        }

        async fn search(&self, _: &Account, _: &MailQuery) -> Result<Vec<MailHead>, MailError> {
            Ok(Vec::new())
        }

        async fn offer(&self, _: &Account, _: &Letter) -> Result<Box<dyn Offered>, MailError> {
            Err(MailError::Invalid("nothing is sent here".to_owned()))
        }

        async fn keep_copy(&self, _: &Account, _: &Letter) -> Result<Option<String>, MailError> {
            Ok(None)
        }

        async fn test(&self, _: &Account) -> Result<(), MailError> {
            Ok(())
        }
    }

    // KAI-090 SEC-093
    #[tokio::test]
    async fn a_wait_is_renewed_before_the_server_hangs_up_and_comes_back_after_growing_pauses() {
        let cut = || Err(MailError::Invalid("cut".to_owned()));
        let mut waits =
            vec![Ok(News::None), Ok(News::None), Ok(News::Some), cut(), cut(), cut(), Ok(News::Some), cut()];
        waits.extend((0..9).map(|_| cut()));
        let log = Arc::new(Mutex::new(Vec::new()));
        let mailbox = Scripted { waits: Mutex::new(waits.into()), log: Arc::clone(&log) };
        let home = tempfile::tempdir().unwrap();
        let agent = Agent::open(AgentOptions {
            mailbox: Some(Arc::new(mailbox)),
            pause: Arc::new(Noted(Arc::clone(&log))),
            ..AgentOptions::new(Home::new(home.path()))
        })
        .unwrap();
        let settings = AccountSettings { address: "me@example.com".to_owned(), ..AccountSettings::default() };
        agent.mail().setup(settings, Some(Secret::new("secret-word"))).await.unwrap();
        agent.mail().fetch("me@example.com").await.unwrap();

        wait(&Arc::downgrade(&agent.jobs().deps.mail), &*agent.jobs().deps.pause, "me@example.com").await;
        insta::assert_snapshot!(log.lock().unwrap().join("\n"));
    }

    // KAI-090
    #[tokio::test]
    async fn nobody_waits_for_an_account_that_is_gone() {
        let home = tempfile::tempdir().unwrap();
        let log = Arc::default();
        let mailbox = Scripted { log: Arc::clone(&log), ..Scripted::default() };
        let options = AgentOptions::new(Home::new(home.path()));
        let agent = Agent::open(AgentOptions { mailbox: Some(Arc::new(mailbox)), ..options }).unwrap();
        wait(&Arc::downgrade(&agent.jobs().deps.mail), &*agent.jobs().deps.pause, "me@example.com").await;
        assert_eq!(*log.lock().unwrap(), [""; 0]);
    }
}
