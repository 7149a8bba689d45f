//! What came in and waits for a heartbeat, and which of it a prompt has rendered.

use limpid_config::{Config, Redactor};
use limpid_core::inbox::{Source, preview};
use limpid_prompt::Prompt;
use limpid_prompt::inputs::{EmailAccount, Inputs, NewEmail, NewNotification, NewSms, OutsideText};
use limpid_services::error::AgentError;
use limpid_services::inbox::shown_id;
use limpid_store::{InboxItem, ItemFilter, ItemId, MailAccount, Store};

use crate::deps::ContextDeps;

/// Fills in accounts and what waits, of the sources that are on.
pub(crate) async fn fill(deps: &ContextDeps, inputs: &mut Inputs) -> Result<(), AgentError> {
    fill_from(&deps.config, &*deps.store, &deps.redactor, inputs).await
}

async fn fill_from(
    config: &Config,
    store: &dyn Store,
    redactor: &Redactor,
    inputs: &mut Inputs,
) -> Result<(), AgentError> {
    // With mail switched off neither accounts nor their letters are shown; mail that is handed in has its own switch.
    let reads_mail = config.mail.enabled;
    let accounts = if reads_mail { store.mail_accounts().await?.rows } else { Vec::new() };
    inputs.email.enabled = config.inbox.mail || !accounts.is_empty();
    inputs.sms.enabled = config.inbox.sms;
    inputs.notifications.enabled = config.inbox.notifications;
    inputs.email.accounts = accounts.into_iter().map(account_input).collect();
    let on = [inputs.email.enabled, inputs.sms.enabled, inputs.notifications.enabled];
    for (source, _) in Source::ALL.into_iter().zip(on).filter(|(_, on)| *on) {
        for mut item in store.pending(source).await?.rows {
            if item.new.uid.is_some() && !reads_mail {
                continue;
            }
            for text in [&mut item.new.sender, &mut item.new.title, &mut item.new.text] {
                *text = redactor.clean(std::mem::take(text));
            }
            place(inputs, &item);
        }
    }
    Ok(())
}

/// Exactly the items that stand in a prompt: what came later, and what a source that is off, a limit or a budget left
/// out, is not among them.
pub async fn rendered_items(store: &dyn Store, prompt: &Prompt) -> Result<Vec<ItemId>, AgentError> {
    let mut rendered = Vec::new();
    for entry in prompt.report().iter().flat_map(|row| &row.entries) {
        rendered.extend(item_of(store, entry).await?);
    }
    Ok(rendered)
}

/// The item that an entry of a prompt comes from; none of an entry that shows something else.
async fn item_of(store: &dyn Store, entry: &str) -> Result<Option<ItemId>, AgentError> {
    let Some((kind, name)) = entry.split_once(':') else { return Ok(None) };
    let (account, id) = match kind {
        "sms" | "notification" => ("", name),
        // An account may have a slash in it, a number has none.
        "email" => name.rsplit_once('/').unwrap_or(("", name)),
        _ => return Ok(None),
    };
    if let Some(number) = id.strip_prefix('i') {
        return Ok(number.parse().ok().map(ItemId));
    }
    let Ok(uid) = id.parse() else { return Ok(None) };
    // The newest, since numbers may have begun anew.
    let filter = ItemFilter {
        source: Some(Source::Mail),
        account: Some(account.to_owned()),
        uids: vec![uid],
        limit: 1,
        ..ItemFilter::default()
    };
    Ok(store.items(filter).await?.rows.first().map(|item| item.id))
}

fn place(inputs: &mut Inputs, item: &InboxItem) {
    let new = &item.new;
    let id = shown_id(item);
    let (from, preview) = (OutsideText::new(&new.sender), OutsideText::new(preview(&new.text)));
    match new.source {
        Source::Mail => inputs.email.new.push(NewEmail {
            id,
            account: new.account.clone(),
            from,
            subject: OutsideText::new(&new.title),
            preview,
        }),
        Source::Sms => inputs.sms.new.push(NewSms { id, from, preview }),
        Source::Notification => inputs.notifications.new.push(NewNotification {
            id,
            app: from,
            title: OutsideText::new(&new.title),
            preview,
            posted_at: utc(new.posted_ms).unwrap_or_default(),
        }),
    }
}

fn account_input(account: MailAccount) -> EmailAccount {
    EmailAccount {
        address: account.address,
        unread: account.unread,
        last_sync: account.synced_ms.and_then(utc),
        last_error: account.last_error.map(OutsideText::new),
    }
}

/// A moment as prompts write it: `2026-04-11T07:00:00Z`.
fn utc(ms: i64) -> Option<String> {
    let at = jiff::Timestamp::from_millisecond(ms).ok()?;
    Some(at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};

    use jiff::Timestamp;
    use jiff::tz::TimeZone;
    use limpid_config::{Clock, Environment, Home, Live, RandomIds};
    use limpid_prompt::RenderRequest;
    use limpid_prompt::count::Estimate;
    use limpid_services::events::EventBus;
    use limpid_services::host::Host;
    use limpid_services::inbox::{Inbox, InboxOptions, IngestKind};
    use limpid_services::profiles::{ProfileRegistry, Reader};
    use limpid_services::timers::SchedulerWaker;
    use limpid_store::{SqliteOptions, SqliteStore};

    use super::*;

    /// A clock that goes on by a minute whenever it is read.
    struct Ticking(AtomicI64);

    impl Clock for Ticking {
        fn now(&self) -> Timestamp {
            Timestamp::from_millisecond(self.0.fetch_add(60_000, Ordering::SeqCst)).unwrap()
        }
    }

    /// The store of a home and its inbox under some settings.
    struct Bench {
        config: Config,
        store: Arc<dyn Store>,
        inbox: Inbox,
        profiles: ProfileRegistry,
    }

    impl Bench {
        fn store(&self) -> &Arc<dyn Store> {
            &self.store
        }

        fn inbox(&self) -> &Inbox {
            &self.inbox
        }
    }

    fn bench(home: &Path, inbox: &str) -> Bench {
        let config = Config::parse(&format!("[inbox]\n{inbox}"), "limpid.toml").unwrap();
        let clock = Arc::new(Ticking(AtomicI64::new(1_775_000_000_000)));
        let home = Home::new(home);
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(home.database(), SqliteOptions::default()).unwrap());
        let inbox = Inbox::new(InboxOptions {
            home: home.clone(),
            environment: Environment::default(),
            config: Live::new(config.clone()),
            host: Host::new(clock, Arc::new(RandomIds), Live::default(), TimeZone::UTC, "test"),
            store: Arc::clone(&store),
            redactor: Redactor::default(),
            events: EventBus::default(),
            waker: Arc::new(SchedulerWaker::new(home.wake_socket())),
        });
        Bench { config, store, inbox, profiles: ProfileRegistry::new(home) }
    }

    async fn inputs(bench: &Bench) -> Inputs {
        let mut inputs = Inputs::default();
        fill_from(&bench.config, &*bench.store, &Redactor::default(), &mut inputs).await.unwrap();
        inputs
    }

    fn prompt(bench: &Bench, profile: &str, inputs: &Inputs) -> Prompt {
        let profile = bench.profiles.profile(profile, Reader::Owner).unwrap();
        let counter = Estimate::default();
        let request = RenderRequest { path: "heartbeat", inputs, counter: &counter, count_tokens: false };
        profile.render(request).unwrap()
    }

    async fn waiting(bench: &Bench, source: Source) -> Vec<i64> {
        bench.store.pending(source).await.unwrap().rows.iter().map(|item| item.id.0).collect()
    }

    // KAI-086 KAI-126
    #[tokio::test]
    async fn exactly_what_a_prompt_has_rendered_is_taken_in() {
        for profile in ["kai", "limpid"] {
            let home = tempfile::tempdir().unwrap();
            let all = bench(home.path(), "sms = true\nnotifications = true\nmail = true");
            for n in 1..=25 {
                let post = format!(r#"{{"app": "Bank", "text": "Card {n}"}}"#);
                all.inbox().ingest(IngestKind::Notification, post.as_bytes(), None).await.unwrap();
            }
            all.inbox().ingest(IngestKind::Sms, br#"{"from": "Eve", "text": "Hi"}"#, None).await.unwrap();
            all.inbox()
                .ingest(IngestKind::Mail, br#"{"from": "e@x.org", "subject": "Hi", "text": "a"}"#, None)
                .await
                .unwrap();
            let off = bench(home.path(), "notifications = true\nmail = true");
            let prompt = prompt(&off, profile, &inputs(&off).await);
            // It comes while the model is at work.
            off.inbox().ingest(IngestKind::Notification, br#"{"app": "Bank", "text": "late"}"#, None).await.unwrap();
            let rendered = rendered_items(&**off.store(), &prompt).await.unwrap();
            assert_eq!(rendered.len(), 21, "{profile}");
            off.store().consume(&rendered, 1).await.unwrap();
            assert_eq!(waiting(&off, Source::Notification).await, [1, 2, 3, 4, 5, 28], "{profile}");
            assert_eq!(waiting(&off, Source::Sms).await, [26], "{profile}: text messages are off");
            assert!(waiting(&off, Source::Mail).await.is_empty(), "{profile}");
        }
    }

    // KAI-086 KAI-092
    #[tokio::test]
    async fn mail_is_known_by_its_account_and_number() {
        let home = tempfile::tempdir().unwrap();
        let bench = bench(home.path(), "");
        let uid = limpid_store::MailUid { validity: 7, uid: 3 };
        let mail = |account: &str| limpid_store::NewItem {
            source: Source::Mail,
            account: account.to_owned(),
            key: None,
            uid: Some(uid),
            message_id: None,
            sender: "eve@x.org".to_owned(),
            title: format!("To {account}"),
            text: "Hi".to_owned(),
            posted_ms: 1,
            now_ms: 1,
        };
        let mark = limpid_core::mail::Mark { validity: 7, uid: 3, renumbered: None };
        for account in ["a@x.org", "b@x.org"] {
            bench.store().add_mail_account(account).await.unwrap();
            let outcome = limpid_store::PollOutcome::Read { mark, unread: 1 };
            bench.store().record_poll(account, limpid_store::Poll { at_ms: 1, outcome }, Vec::new()).await.unwrap();
        }
        bench.store().insert_items(vec![mail("a@x.org")]).await.unwrap();
        let prompt = prompt(&bench, "limpid", &inputs(&bench).await);
        bench.store().insert_items(vec![mail("b@x.org")]).await.unwrap();
        let rendered = rendered_items(&**bench.store(), &prompt).await.unwrap();
        assert_eq!(rendered, [ItemId(1)], "the same number of another account is another mail");
        bench.store().consume(&rendered, 2).await.unwrap();
        let marks: Vec<u32> =
            bench.store().mail_accounts().await.unwrap().rows.iter().map(|row| row.watermark).collect();
        assert_eq!(marks, [3, 0]);
    }
}
