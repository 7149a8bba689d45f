//! `read_email`: one message, whole.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_channels::mail::Mail;
use limpid_core::policy::Effect;
use limpid_core::{ConversationId, Labelled, Sentence, sentence};
use limpid_store::ItemId;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::mail::service::MailAccounts;
use crate::mail::tools::reading::{self, Named, named, reads_mail, when};
use crate::tools::{Concerned, Tool, ToolContext, echoed, read_arguments, trouble};

/// Reads one message. It stays unread on the server unless the call says otherwise.
pub(crate) struct ReadEmail {
    pub(crate) mail: Arc<MailAccounts>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    id: String,
    account: Option<String>,
    #[serde(default)]
    mark_read: bool,
}

#[async_trait]
impl Tool for ReadEmail {
    reads_mail!("read_email", Arguments);

    fn effect(&self, arguments: &Value) -> Effect {
        if arguments["mark_read"] == true { Effect::Mailbox } else { Effect::Look }
    }

    fn is_steady(&self, arguments: &Value) -> bool {
        self.effect(arguments) == Effect::Look
    }

    async fn looked_up(&self, arguments: &Value) -> Vec<String> {
        match self.effect(arguments) {
            Effect::Look => reading::numbers(&self.mail, arguments).await,
            _ => reading::bound(&self.mail, arguments).await,
        }
    }

    fn canonical(&self, arguments: &Value) -> Value {
        reading::with_number(arguments)
    }

    fn written_out(&self, arguments: &Value) -> Vec<Value> {
        let account = self.mail.address(None);
        reading::with_account(arguments, account.into_iter().collect())
    }

    async fn concerns(&self, arguments: &Value, _: Option<&ConversationId>) -> Concerned {
        Concerned::found(reading::in_words(&self.mail, arguments).await, "a letter that its server does not show")
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { id, account, mark_read } = read_arguments(arguments)?;
        let account = self.mail.only_account(account.as_deref()).await?;
        let id = match named(&self.mail, &account.address, &id).await? {
            Named::OnServer(id) => id,
            Named::Kept(id) => return self.kept(&account.address, id, context).await,
        };
        let mail = self.mail.letter(&account, (id, mark_read), &context.conversation).await.map_err(trouble)?;
        reading::shown(&self.mail, &account.address, &[id], context).await?;
        Ok(Labelled::outside(self.mail.redactor.clean(whole(&mail, context))))
    }
}

impl ReadEmail {
    /// Mail that was handed in stands here alone, and so does what an account's server knows by that number no more.
    async fn kept(&self, account: &str, id: ItemId, context: &ToolContext) -> Result<Labelled<String>, Sentence> {
        let Some(item) = reading::kept(&self.mail, account, id).await.map_err(trouble)? else {
            return Err(sentence!("there is no mail `i{}` of {}", echoed(id.0), echoed(account)));
        };
        context.shown.add([id.0]);
        let new = item.new;
        let at = when(new.posted_ms, context);
        Ok(Labelled::outside(format!("From: {}\nDate: {at}\nSubject: {}\n\n{}", new.sender, new.title, new.text)))
    }
}

fn whole(mail: &Mail, context: &ToolContext) -> String {
    let head = &mail.head;
    let mut lines = vec![format!("From: {}", head.from)];
    let people = [("To", &mail.to), ("Cc", &mail.cc), ("Reply-To", &mail.reply_to)];
    lines.extend(
        people
            .iter()
            .filter(|(_, people)| !people.is_empty())
            .map(|(name, people)| format!("{name}: {}", people.join(", "))),
    );
    lines.extend(head.at_ms.map(|at| format!("Date: {}", when(at, context))));
    lines.push(format!("Subject: {}", head.subject));
    for attached in &mail.attachments {
        let name = if attached.name.is_empty() { "(no name)" } else { &attached.name };
        lines.push(format!("Attached: {name}, {}, {} bytes", attached.kind, attached.size));
    }
    let cut = if mail.cut { "\n\n(The message is larger than what is fetched; this is its beginning.)" } else { "" };
    format!("{}\n\n{}{cut}", lines.join("\n"), mail.text)
}
