//! `search_email`: mail of an account by sender, subject or date.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_channels::mail::{MailHead, MailQuery};
use limpid_core::mail::LISTED;
use limpid_core::policy::Effect;
use limpid_core::{Labelled, Sentence, sentence};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::inbox::{fitting, list_room};
use crate::mail::service::MailAccounts;
use crate::mail::tools::reading::{self, line, reads_mail};
use crate::tools::{Tool, ToolContext, echoed, read_arguments, trouble};

/// Finds mail on the servers.
pub(crate) struct SearchEmail {
    pub(crate) mail: Arc<MailAccounts>,
    /// Characters of a result that the model gets to read.
    pub(crate) result_chars: usize,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    account: Option<String>,
    from: Option<String>,
    subject: Option<String>,
    since: Option<String>,
}

#[async_trait]
impl Tool for SearchEmail {
    reads_mail!("search_email", Arguments);

    fn effect(&self, _: &Value) -> Effect {
        Effect::Look
    }

    fn is_steady(&self, _: &Value) -> bool {
        true
    }

    fn written_out(&self, arguments: &Value) -> Vec<Value> {
        reading::with_account(arguments, self.mail.every_address())
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { account, from, subject, since } = read_arguments(arguments)?;
        let since = since.map(|since| {
            since.trim().parse().map_err(|_| sentence!("`since` is a day such as 2026-03-28, not `{}`", echoed(since)))
        });
        let query = MailQuery { from, subject, since: since.transpose()?, limit: LISTED };
        if (&query.from, &query.subject, query.since) == (&None, &None, None) {
            return Err("give `from`, `subject` or `since`".into());
        }
        let addresses = match &account {
            Some(account) => vec![self.mail.address(Some(account))?],
            None => self.mail.every_address(),
        };
        let mut lines = Vec::new();
        // Every account gets its share of the room: what the model does not get to read counts as unseen.
        let room = list_room(context, self.result_chars) / addresses.len().max(1);
        for address in addresses {
            let account = self.mail.account(Some(&address)).await;
            let found = match &account {
                Ok(account) => self.mail.mailbox.search(account, &query).await.map_err(trouble),
                Err(why) => Err(why.clone()),
            };
            let found = match found {
                Ok(found) => found,
                Err(why) => {
                    lines.push(format!("{address}: not searched: {}", why.text()));
                    continue;
                }
            };
            let listed: Vec<String> = found.iter().map(|head| shown(head, context)).collect();
            let fits = fitting(&listed, room);
            let rest = if fits < found.len() { format!(", the first {fits} of them here") } else { String::new() };
            lines.push(format!("{address}: {} found{rest}", found.len()));
            lines.extend(listed.into_iter().take(fits));
            let ids: Vec<_> = found.iter().take(fits).map(|head| head.id).collect();
            reading::shown(&self.mail, &address, &ids, context).await?;
        }
        Ok(Labelled::outside(self.mail.redactor.clean(lines.join("\n"))))
    }
}

fn shown(head: &MailHead, context: &ToolContext) -> String {
    line(&head.id.to_string(), (&head.from, &head.subject, &head.preview), head.at_ms, context)
}
