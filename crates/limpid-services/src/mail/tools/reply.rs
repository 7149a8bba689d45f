//! `reply_email`: an answer to a message, in its thread. It waits for the owner as a draft.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use limpid_channels::mail::{Letter, Mail, address};
use limpid_core::policy::{Destination, Effect};
use limpid_core::{ConversationId, Labelled, Sentence, ToolClass, sentence};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::mail::service::MailAccounts;
use crate::mail::tools::compose::{answered, message_id, send};
use crate::mail::tools::group::{GROUP, SENDS, TIME};
use crate::mail::tools::reading::{self, Named, named};
use crate::mail::tools::sending::{destination, sendable, texts};
use crate::tools::{Concerned, Tool, ToolContext, echoed, read_arguments, schema_of, trouble};

/// Answers a message.
pub(crate) struct ReplyEmail {
    pub(crate) mail: Arc<MailAccounts>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    id: String,
    // Said by the call itself, so that the owner approves a recipient and not whatever the message turns out to say.
    to: Vec<String>,
    // The letter's own subject is a stranger's words, which would leave unseen in the owner's name.
    subject: String,
    text: String,
    account: Option<String>,
}

#[async_trait]
impl Tool for ReplyEmail {
    fn name(&self) -> &'static str {
        "reply_email"
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
        sendable(texts(arguments, "to").into_iter())
    }

    fn destination(&self, arguments: &Value) -> Option<Destination> {
        destination(&self.mail, arguments["account"].as_str(), texts(arguments, "to").into_iter())
    }

    fn bound_to(&self, arguments: &Value) -> Vec<String> {
        // Which account is the first one may change until the owner says yes.
        self.mail.address(arguments["account"].as_str()).into_iter().collect()
    }

    fn canonical(&self, arguments: &Value) -> Value {
        reading::with_number(arguments)
    }

    fn written_out(&self, arguments: &Value) -> Vec<Value> {
        let account = self.mail.address(None);
        reading::with_account(arguments, account.into_iter().collect())
    }

    async fn concerns(&self, arguments: &Value, _: Option<&ConversationId>) -> Concerned {
        // Whoever says yes says it to an answer to this very letter.
        Concerned::found(reading::in_words(&self.mail, arguments).await, "a letter that its server does not show")
    }

    async fn looked_up(&self, arguments: &Value) -> Vec<String> {
        reading::bound(&self.mail, arguments).await
    }

    fn marks_send_state(&self) -> bool {
        true
    }

    fn timeout(&self) -> Option<Duration> {
        Some(TIME)
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { id, to, subject, text, account } = read_arguments(arguments)?;
        let account = self.mail.only_account(account.as_deref()).await?;
        let Named::OnServer(id) = named(&self.mail, &account.address, &id).await? else {
            return Err("that mail has no number in an account, so it cannot be answered; if search_email finds it, answer that \
                        one, or else use compose_email"
                .into());
        };
        let mail = self.mail.letter(&account, (id, false), &context.conversation).await.map_err(trouble)?;
        within(&mail, &account.address, &to)?;
        let letter = Letter {
            to,
            cc: Vec::new(),
            subject,
            text,
            message_id: message_id(&self.mail, &account),
            at: context.now,
            answers: Some(answered(&mail)),
        };
        send(&self.mail, context, &account, &letter).await
    }
}

/// An answer goes to people of the message and to nobody else.
fn within(mail: &Mail, own: &str, to: &[String]) -> Result<(), Sentence> {
    let people = [std::slice::from_ref(&mail.head.from), &mail.reply_to, &mail.to, &mail.cc];
    let known: Vec<String> = people.into_iter().flatten().filter_map(|person| address(person).ok()).collect();
    for to in to {
        let bare = address(to).map_err(trouble)?;
        if !known.contains(&bare) {
            let others: Vec<&str> = known.iter().map(String::as_str).filter(|known| *known != own).collect();
            return Err(sentence!(
                "{} is not of this mail ({}); write to others with compose_email",
                echoed(bare),
                // As the mail names them.
                Labelled::outside(others.join(", "))
            ));
        }
    }
    Ok(())
}
