//! Looking into accounts by itself: every quarter of an hour, and at once where the server says when mail comes.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_model::chain::Pause;
use limpid_services::error::AgentError;
use limpid_services::host::Host;
use limpid_services::mail::{MAIL_TIMER, MailAccounts};
use limpid_store::Store;

use crate::jobs::deps::JobDeps;
use crate::jobs::job::Job;
use crate::jobs::mail_idle::watch;

/// Looks into accounts. One look more does no harm: a message is kept once however often it is found.
pub(crate) struct MailJob {
    mail: Arc<MailAccounts>,
    store: Arc<dyn Store>,
    host: Host,
    pause: Arc<dyn Pause>,
}

#[async_trait]
impl Job for MailJob {
    fn kind(&self) -> &'static str {
        MAIL_TIMER
    }

    async fn run(&self, name: &str, _slot_ms: i64) -> Result<Option<i64>, AgentError> {
        let is_there = self.mail.addresses().iter().any(|address| address == name);
        let Some(every_ms) = self.mail.poll_ms().filter(|_| is_there) else { return Ok(None) };
        let now_ms = self.host.now_ms();
        // What went wrong stands with the account, and the next look may go well.
        if self.mail.poll(name).await?.is_ok() {
            watch(&self.mail, &self.pause, name);
        }
        Ok(Some(now_ms.saturating_add(every_ms)))
    }

    /// Has every account looked into when its time has come, counted from the last look.
    async fn plan(&self) -> Result<(), AgentError> {
        let Some(every_ms) = self.mail.poll_ms() else { return Ok(()) };
        let rows = self.store.mail_accounts().await?.rows;
        for address in self.mail.addresses() {
            let last = rows.iter().find(|row| row.address == address).and_then(|row| row.attempted_ms);
            // A clock that was set back must not keep mail away until the old time comes again.
            let now_ms = self.host.now_ms();
            let due_ms = last.map_or(now_ms, |last| last.min(now_ms).saturating_add(every_ms));
            self.store.set_timer(MAIL_TIMER, &address, due_ms).await?;
        }
        Ok(())
    }

    /// Has no account wait longer than the time between two looks, after the clock was set back.
    async fn after_clock_moved_back(&self) -> Result<(), AgentError> {
        let Some(every_ms) = self.mail.poll_ms() else { return Ok(()) };
        let latest_ms = self.host.now_ms().saturating_add(every_ms);
        let timers = self.store.timers().await?.rows;
        for timer in timers.into_iter().filter(|timer| timer.kind == MAIL_TIMER && timer.due_ms > latest_ms) {
            self.store.set_timer(MAIL_TIMER, &timer.name, latest_ms).await?;
        }
        Ok(())
    }
}

impl MailJob {
    pub(crate) fn new(deps: &JobDeps) -> Self {
        let (store, host) = (Arc::clone(&deps.context.store), deps.context.host.clone());
        Self { mail: Arc::clone(&deps.mail), store, host, pause: Arc::clone(&deps.pause) }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use limpid_channels::mail::{
        Account, Letter, Mail, MailError, MailHead, MailId, MailQuery, Mailbox, News, Offered, Poll,
    };
    use limpid_config::{Config, Home};
    use limpid_core::mail::Mark;
    use limpid_services::mail::{AccountSettings, Secret};

    use super::*;
    use crate::agent::{Agent, AgentOptions};

    /// Servers that are down.
    struct Down;

    #[async_trait]
    impl Mailbox for Down {
        async fn poll(&self, _: &Account, _: Option<Mark>, _: i64) -> Result<Poll, MailError> {
            Err(MailError::Invalid("down".to_owned()))
        }

        async fn wait(&self, _: &Account, _: Mark, _: Duration) -> Result<News, MailError> {
            Ok(News::Unsupported)
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
            Err(MailError::Invalid("down".to_owned()))
        }

        async fn keep_copy(&self, _: &Account, _: &Letter) -> Result<Option<String>, MailError> {
            Ok(None)
        }

        async fn test(&self, _: &Account) -> Result<(), MailError> {
            Ok(())
        }
    }

    struct Noon;

    impl limpid_config::Clock for Noon {
        fn now(&self) -> jiff::Timestamp {
            jiff::Timestamp::from_millisecond(1_774_699_200_000).unwrap()
        }
    }

    const MINUTE_MS: i64 = 60 * 1000;

    const NOON: i64 = 1_774_699_200_000;

    async fn agent(home: &tempfile::TempDir, minutes: u32) -> Agent {
        let config = Config::parse(&format!("[mail]\npoll_minutes = {minutes}\n"), "limpid.toml").unwrap();
        let agent = Agent::open(AgentOptions {
            config,
            clock: Arc::new(Noon),
            mailbox: Some(Arc::new(Down)),
            ..AgentOptions::new(Home::new(home.path()))
        })
        .unwrap();
        let settings = AccountSettings { address: "me@example.com".to_owned(), ..AccountSettings::default() };
        agent.mail().setup(settings, Some(Secret::new("secret-word"))).await.unwrap();
        agent
    }

    fn job(agent: &Agent) -> MailJob {
        MailJob::new(&agent.jobs().deps)
    }

    async fn due(agent: &Agent) -> Vec<i64> {
        let timers = agent.store().timers().await.unwrap().rows;
        timers.into_iter().filter(|timer| timer.kind == MAIL_TIMER).map(|timer| timer.due_ms).collect()
    }

    // KAI-089
    #[tokio::test]
    async fn an_account_is_looked_into_every_quarter_of_an_hour_from_the_last_attempt() {
        let home = tempfile::tempdir().unwrap();
        let agent = agent(&home, 15).await;
        assert_eq!(due(&agent).await, [NOON], "at once when it is new");
        let next = job(&agent).run("me@example.com", NOON).await.unwrap();
        assert_eq!(next, Some(NOON + 15 * MINUTE_MS), "also when the look failed");
        job(&agent).plan().await.unwrap();
        assert_eq!(due(&agent).await, [NOON + 15 * MINUTE_MS], "a start of the program changes nothing");
        let gone = job(&agent).run("other@example.com", NOON).await.unwrap();
        assert_eq!(gone, None);
        agent.mail().forget("me@example.com").await.unwrap();
        assert_eq!(due(&agent).await, [0; 0]);
    }

    // KAI-089
    #[tokio::test]
    async fn zero_minutes_are_never() {
        let home = tempfile::tempdir().unwrap();
        let agent = agent(&home, 0).await;
        job(&agent).plan().await.unwrap();
        assert_eq!(due(&agent).await, [0; 0]);
        assert_eq!(job(&agent).run("me@example.com", NOON).await.unwrap(), None);
    }
}
