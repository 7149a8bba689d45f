//! What came in and waits for a heartbeat, and which of it a prompt has rendered (KAI-086).

use std::collections::BTreeSet;

use limpid_core::inbox::{Source, preview};
use limpid_prompt::Prompt;
use limpid_prompt::inputs::{EmailAccount, Inputs, NewEmail, NewNotification, NewSms, OutsideText};
use limpid_store::{InboxItem, ItemFilter, ItemId, MailAccount};

use crate::agent::Inner;
use crate::error::AgentError;

impl Inner {
    /// Fills in accounts and what waits, of the sources that are on.
    pub(super) async fn gather_inbox(&self, inputs: &mut Inputs) -> Result<(), AgentError> {
        let config = &self.config.inbox;
        let accounts = self.store.mail_accounts().await?.rows;
        inputs.email.enabled = config.mail || !accounts.is_empty();
        inputs.sms.enabled = config.sms;
        inputs.notifications.enabled = config.notifications;
        inputs.email.accounts = accounts.into_iter().map(account_input).collect();
        let on = [inputs.email.enabled, inputs.sms.enabled, inputs.notifications.enabled];
        for (source, _) in Source::ALL.into_iter().zip(on).filter(|(_, on)| *on) {
            for mut item in self.store.pending(source).await?.rows {
                for text in [&mut item.new.sender, &mut item.new.title, &mut item.new.text] {
                    *text = self.redactor.clean(std::mem::take(text));
                }
                fill(inputs, &item);
            }
        }
        Ok(())
    }

    /// Exactly the items that stand in a prompt: what came later, and what a source that is off, a limit or a budget
    /// left out, is not among them.
    #[allow(dead_code, reason = "a run of the heartbeat takes in what its prompt has rendered")]
    pub(crate) async fn rendered_items(&self, prompt: &Prompt) -> Result<Vec<ItemId>, AgentError> {
        let entries: BTreeSet<&str> = prompt.report().iter().flat_map(|row| &row.entries).map(String::as_str).collect();
        let mut rendered = Vec::new();
        for source in Source::ALL {
            let filter = ItemFilter { source: Some(source), unseen: true, ..ItemFilter::default() };
            let unseen = self.store.items(filter).await?.rows;
            rendered.extend(unseen.iter().filter(|item| entries.contains(origin(item).as_str())).map(|item| item.id));
        }
        Ok(rendered)
    }
}

/// The number by which a prompt and the tools know an item: mail of an account by the account's, all others by ours.
pub(crate) fn shown_id(item: &InboxItem) -> String {
    item.new.uid.map_or_else(|| format!("i{}", item.id.0), |uid| uid.uid.to_string())
}

/// Where the report of a prompt says that an item's entry comes from.
fn origin(item: &InboxItem) -> String {
    let id = shown_id(item);
    match item.new.source {
        Source::Mail => format!("email:{}/{id}", item.new.account),
        Source::Sms => format!("sms:{id}"),
        Source::Notification => format!("notification:{id}"),
    }
}

fn fill(inputs: &mut Inputs, item: &InboxItem) {
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
        last_error: account.last_error,
    }
}

/// A moment as prompts write it: `2026-04-11T07:00:00Z`.
fn utc(ms: i64) -> Option<String> {
    let at = jiff::Timestamp::from_millisecond(ms).ok()?;
    Some(at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}
