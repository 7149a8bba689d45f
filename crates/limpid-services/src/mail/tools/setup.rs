//! `setup_email`: prepares a mail account. Its password is entered by the owner and never seen by a model.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_channels::mail::address;
use limpid_core::policy::Effect;
use limpid_core::{ConversationId, Labelled, Sentence, ToolClass, sentence};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::mail::service::MailAccounts;
use crate::mail::settings::{AccountSettings, ServerSettings};
use crate::mail::tools::group::GROUP;
use crate::tools::{Concerned, Tool, ToolContext, echoed, read_arguments, schema_of, trouble};

/// Prepares a mail account.
pub(crate) struct SetupEmail {
    pub(crate) mail: Arc<MailAccounts>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    address: String,
    name: Option<String>,
    imap: Option<String>,
    smtp: Option<String>,
}

#[async_trait]
impl Tool for SetupEmail {
    fn name(&self) -> &'static str {
        "setup_email"
    }

    fn group(&self) -> &'static str {
        GROUP
    }

    fn class(&self) -> ToolClass {
        ToolClass::ChangeSelf
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::ChangeSelf
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    fn is_available(&self) -> bool {
        self.mail.is_on()
    }

    /// An account that is there stays as it is.
    async fn concerns(&self, _: &Value, _: Option<&ConversationId>) -> Concerned {
        Concerned::InArguments
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Arguments { address: given, name, imap, smtp } = read_arguments(arguments)?;
        let bare = address(&given).map_err(trouble)?;
        let next = format!("the owner enters the password with `limpid inbox mail add {bare}`, never here");
        // A password that is there is never sent to another server than the owner gave it for.
        if self.mail.files.addresses().contains(&bare) {
            return Err(sentence!("{} is there already; to change it, {}", echoed(bare), echoed(next)));
        }
        let server = |text: Option<String>| {
            text.map(|text| {
                ServerSettings::parse(&text)
                    .ok_or_else(|| sentence!("`{}` is no server; write HOST or HOST:PORT", echoed(text)))
            })
            .transpose()
        };
        let settings = AccountSettings {
            address: bare.clone(),
            name,
            imap: server(imap)?,
            smtp: server(smtp)?,
            ..AccountSettings::default()
        };
        self.mail.files.write(&settings, None).map_err(trouble)?;
        Ok(sentence!("{} is prepared; {}", context.words(bare), context.words(next)).into())
    }
}
