//! `compose_email`: a new letter. It waits for the owner as a draft; when it is approved, it is sent once.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use limpid_channels::mail::{Account, Answered, Letter, MailError};
use limpid_core::policy::{Destination, Effect};
use limpid_core::{Labelled, Sentence, ToolClass, sentence};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::mail::service::MailAccounts;
use crate::mail::tools::group::{GROUP, SENDS, TIME};
use crate::mail::tools::reading;
use crate::mail::tools::sending::{destination, sendable, texts};
use crate::tools::{Tool, ToolContext, read_arguments, schema_of};

/// Sends a new letter.
pub(crate) struct ComposeEmail {
    pub(crate) mail: Arc<MailAccounts>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    to: Vec<String>,
    subject: String,
    text: String,
    #[serde(default)]
    cc: Vec<String>,
    account: Option<String>,
}

#[async_trait]
impl Tool for ComposeEmail {
    fn name(&self) -> &'static str {
        "compose_email"
    }

    fn group(&self) -> &'static str {
        GROUP
    }

    fn class(&self) -> ToolClass {
        SENDS
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Send
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    fn is_available(&self) -> bool {
        self.mail.is_set_up()
    }

    fn check(&self, arguments: &Value) -> Result<(), Sentence> {
        sendable(texts(arguments, "to").into_iter().chain(texts(arguments, "cc")))
    }

    fn destination(&self, arguments: &Value) -> Option<Destination> {
        let to = texts(arguments, "to").into_iter().chain(texts(arguments, "cc"));
        destination(&self.mail, arguments["account"].as_str(), to)
    }

    fn bound_to(&self, arguments: &Value) -> Vec<String> {
        // Which account is the first one may change until the owner says yes.
        self.mail.address(arguments["account"].as_str()).into_iter().collect()
    }

    fn written_out(&self, arguments: &Value) -> Vec<Value> {
        let account = self.mail.address(None);
        reading::with_account(arguments, account.into_iter().collect())
    }

    fn marks_send_state(&self) -> bool {
        true
    }

    fn timeout(&self) -> Option<Duration> {
        Some(TIME)
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { to, subject, text, cc, account } = read_arguments(arguments)?;
        let account = self.mail.account(account.as_deref()).await?;
        let letter = Letter {
            to,
            cc,
            subject,
            text,
            message_id: message_id(&self.mail, &account),
            at: context.now,
            answers: None,
        };
        send(&self.mail, context, &account, &letter).await
    }
}

/// A name that no other letter has.
pub(crate) fn message_id(mail: &MailAccounts, account: &Account) -> String {
    let domain = account.address.rsplit('@').next().unwrap_or_default();
    format!("{}{}@{domain}", mail.host.tag(), mail.host.tag())
}

/// What a letter says of the message that it answers.
pub(crate) fn answered(mail: &limpid_channels::mail::Mail) -> Answered {
    Answered { message_id: mail.message_id.clone(), references: mail.references.clone() }
}

/// Sends a letter and says what became of it.
pub(crate) async fn send(
    mail: &MailAccounts,
    context: &ToolContext,
    account: &Account,
    letter: &Letter,
) -> Result<Labelled<String>, Sentence> {
    let failed = |error: MailError| {
        let what = if matches!(error, MailError::Unknown { .. }) { "outcome unknown" } else { "not sent" };
        sentence!("{}: {}", what, Labelled::outside(mail.redactor.clean(error.to_string())))
    };
    let offered = mail.mailbox.offer(account, letter).await.map_err(failed)?;
    context.leaves().await.map_err(|error| sentence!("not sent: {}", error))?;
    offered.hand_over().await.map_err(failed)?;
    let to = letter.to.iter().chain(&letter.cc).map(String::as_str).collect::<Vec<_>>().join(", ");
    let sent = format!("sent from {} to {to}", account.address);
    context.arrived(&sent).await;
    let copy = match mail.mailbox.keep_copy(account, letter).await {
        Ok(Some(folder)) => sentence!("a copy is in {}", Labelled::outside(folder)),
        Ok(None) => "no copy was kept: the server keeps copies by itself".into(),
        Err(why) => sentence!("no copy was kept: {}", Labelled::outside(mail.redactor.clean(why.to_string()))),
    };
    Ok(sentence!("{}; {}", context.words(mail.redactor.clean(sent)), copy).into())
}
