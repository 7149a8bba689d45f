//! Looking into accounts by itself: every quarter of an hour, and at once where the server says when mail comes.

use std::sync::Arc;

use async_trait::async_trait;

use crate::agent::Inner;
use crate::jobs::mail_idle::watch;
use crate::jobs::scheduler::Job;
use crate::services::error::AgentError;

/// The kind of the timers of accounts; their names are the addresses.
const KIND: &str = "mail";

const MINUTE_MS: i64 = 60 * 1000;

/// A look into one account. One look more does no harm: a message is kept once however often it is found.
pub(crate) struct MailJob;

#[async_trait]
impl Job for MailJob {
    fn kind(&self) -> &'static str {
        KIND
    }

    async fn run(&self, inner: &Arc<Inner>, name: &str, _slot_ms: i64) -> Result<Option<i64>, AgentError> {
        let desk = &inner.mail;
        let Some(every_ms) = inner.poll_ms().filter(|_| desk.addresses().iter().any(|address| address == name)) else {
            return Ok(None);
        };
        let now_ms = inner.host.now_ms();
        // What went wrong stands with the account, and the next look may go well.
        if desk.poll(name, now_ms).await?.is_ok() {
            watch(inner, name);
        }
        Ok(Some(now_ms.saturating_add(every_ms)))
    }
}

impl Inner {
    /// Has every account looked into when its time has come, counted from the last look.
    pub(crate) async fn plan_all_mail(&self) -> Result<(), AgentError> {
        let Some(every_ms) = self.poll_ms() else { return Ok(()) };
        let rows = self.store.mail_accounts().await?.rows;
        for address in self.mail.addresses() {
            let last = rows.iter().find(|row| row.address == address).and_then(|row| row.attempted_ms);
            // A clock that was set back must not keep mail away until the old time comes again.
            let due_ms =
                last.map_or_else(|| self.host.now_ms(), |last| last.min(self.host.now_ms()).saturating_add(every_ms));
            self.store.set_timer(KIND, &address, due_ms).await?;
        }
        Ok(())
    }

    /// Has no account wait longer than the time between two looks: the clock may have been set back since.
    pub(crate) async fn bring_back_mail(&self) -> Result<(), AgentError> {
        let Some(latest_ms) = self.poll_ms().map(|every_ms| self.host.now_ms().saturating_add(every_ms)) else {
            return Ok(());
        };
        let timers = self.store.timers().await?.rows;
        for timer in timers.into_iter().filter(|timer| timer.kind == KIND && timer.due_ms > latest_ms) {
            self.store.set_timer(KIND, &timer.name, latest_ms).await?;
        }
        Ok(())
    }

    /// Has an account looked into at once by whoever serves.
    pub(crate) async fn plan_mail(&self, address: &str) -> Result<(), AgentError> {
        if self.poll_ms().is_some() {
            self.store.set_timer(KIND, address, self.host.now_ms()).await?;
            self.wake_scheduler();
        }
        Ok(())
    }

    /// Has an account not looked into any more.
    pub(crate) async fn unplan_mail(&self, address: &str) -> Result<(), AgentError> {
        Ok(self.store.remove_timer(KIND, address).await?)
    }

    /// How long to wait between two looks; none: for ever.
    fn poll_ms(&self) -> Option<i64> {
        let minutes = self.config.mail.poll_minutes;
        (self.config.mail.enabled && minutes > 0).then(|| i64::from(minutes) * MINUTE_MS)
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

    use super::*;
    use crate::agent::{Agent, AgentOptions};
    use crate::services::mail::{AccountSettings, Secret};

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
        agent.set_up_mail(settings, Some(Secret::new("secret-word"))).await.unwrap();
        agent
    }

    async fn due(agent: &Agent) -> Vec<i64> {
        let timers = agent.store().timers().await.unwrap().rows;
        timers.into_iter().filter(|timer| timer.kind == KIND).map(|timer| timer.due_ms).collect()
    }

    // KAI-089
    #[tokio::test]
    async fn an_account_is_looked_into_every_quarter_of_an_hour_from_the_last_attempt() {
        let home = tempfile::tempdir().unwrap();
        let agent = agent(&home, 15).await;
        assert_eq!(due(&agent).await, [NOON], "at once when it is new");
        let next = MailJob.run(&agent.inner, "me@example.com", NOON).await.unwrap();
        assert_eq!(next, Some(NOON + 15 * MINUTE_MS), "also when the look failed");
        agent.inner.plan_all_mail().await.unwrap();
        assert_eq!(due(&agent).await, [NOON + 15 * MINUTE_MS], "a start of the program changes nothing");
        let gone = MailJob.run(&agent.inner, "other@example.com", NOON).await.unwrap();
        assert_eq!(gone, None);
        agent.forget_mail("me@example.com").await.unwrap();
        assert_eq!(due(&agent).await, [0; 0]);
    }

    // KAI-089
    #[tokio::test]
    async fn zero_minutes_are_never() {
        let home = tempfile::tempdir().unwrap();
        let agent = agent(&home, 0).await;
        agent.inner.plan_all_mail().await.unwrap();
        assert_eq!(due(&agent).await, [0; 0]);
        assert_eq!(MailJob.run(&agent.inner, "me@example.com", NOON).await.unwrap(), None);
    }
}
