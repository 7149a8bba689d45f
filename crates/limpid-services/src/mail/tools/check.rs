//! `check_email`: mail that nobody has shown yet.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::inbox::Source;
use limpid_core::mail::LISTED;
use limpid_core::policy::Effect;
use limpid_core::{Labelled, Sentence};
use limpid_store::{InboxItem, ItemFilter};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::inbox::{fitting, list_room};
use crate::mail::service::MailAccounts;
use crate::mail::tools::reading::{self, line, reads_mail};
use crate::tools::{Tool, ToolContext, echoed, read_arguments, trouble};

/// Lists mail that was not shown yet, and looks into the accounts before.
pub(crate) struct CheckEmail {
    pub(crate) mail: Arc<MailAccounts>,
    /// Characters of a result that the model gets to read.
    pub(crate) result_chars: usize,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    account: Option<String>,
}

#[async_trait]
impl Tool for CheckEmail {
    reads_mail!("check_email", Arguments);

    fn effect(&self, _: &Value) -> Effect {
        Effect::Look
    }

    fn written_out(&self, arguments: &Value) -> Vec<Value> {
        reading::with_account(arguments, self.mail.every_address())
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { account } = read_arguments(arguments)?;
        let mail = &self.mail;
        let addresses = match &account {
            Some(account) => vec![mail.address(Some(account))?],
            None => mail.every_address(),
        };
        let mut lines = Vec::new();
        let mut any = false;
        // Every account gets its share of the room.
        let room = list_room(context, self.result_chars) / addresses.len().max(1);
        for address in addresses {
            let polled = mail.poll(&address).await.map_err(trouble)?;
            let (items, listed) = self.unseen(&address, context, room).await?;
            any |= !items.is_empty() || polled.is_err();
            lines.push(self.head(&address, items.len(), polled.err()).await?);
            lines.extend(listed);
            context.shown.add(items.iter().map(|item| item.id.0));
        }
        let text = lines.join("\n");
        // Without a stranger's word in it there is nothing to be fenced. Servers are strangers too.
        Ok(if any { Labelled::outside(text) } else { echoed(text) })
    }
}

impl CheckEmail {
    /// The newest of an account that nobody has shown and that have room, oldest first, with their lines.
    async fn unseen(
        &self,
        address: &str,
        context: &ToolContext,
        room: usize,
    ) -> Result<(Vec<InboxItem>, Vec<String>), Sentence> {
        let filter = ItemFilter {
            source: Some(Source::Mail),
            account: Some(address.to_owned()),
            unseen: true,
            not_shown_in: Some(context.turn.clone()),
            limit: LISTED,
            ..ItemFilter::default()
        };
        let mut items = self.mail.store.items(filter).await.map_err(trouble)?.rows;
        let mut lines: Vec<String> = items.iter().map(|item| shown(item, context)).collect();
        items.truncate(fitting(&lines, room));
        lines.truncate(items.len());
        items.reverse();
        lines.reverse();
        Ok((items, lines))
    }

    async fn head(&self, address: &str, new: usize, failed: Option<String>) -> Result<String, Sentence> {
        let rows = self.mail.store.mail_accounts().await.map_err(trouble)?.rows;
        let unread = rows.iter().find(|row| row.address == address).map_or(0, |row| row.unread);
        let failed = failed.map(|why| format!("; not read now: {why}")).unwrap_or_default();
        Ok(format!("{address}: {new} not shown before, {unread} unread on the server{failed}"))
    }
}

fn shown(item: &InboxItem, context: &ToolContext) -> String {
    let new = &item.new;
    let id = new.uid.map_or_else(|| format!("i{}", item.id.0), |uid| uid.uid.to_string());
    line(&id, (&new.sender, &new.title, &new.text), Some(new.posted_ms), context)
}
