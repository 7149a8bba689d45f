//! `send_sms` and `reply_sms`: a text message leaves by the owner's gateway, once, when the owner lets it.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::inbox::Source;
use limpid_core::policy::{Destination, Effect};
use limpid_core::{ConversationId, Labelled, Sentence, ToolClass, sentence};
use limpid_store::{ItemId, Store};
use limpid_tools::Outlet;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::inbox::tools::{group, in_words, item_id};
use crate::tools::{Concerned, Tool, ToolContext, echoed, read_arguments, schema_of, trouble};

/// Writes to a number.
pub(crate) struct SendSms {
    pub(crate) gateway: Outlet,
}

/// Answers a text message.
pub(crate) struct ReplySms {
    pub(crate) gateway: Outlet,
    pub(crate) store: Arc<dyn Store>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Send {
    to: String,
    text: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Reply {
    id: String,
    text: String,
}

#[async_trait]
impl Tool for SendSms {
    fn name(&self) -> &'static str {
        "send_sms"
    }

    fn group(&self) -> &'static str {
        group(Source::Sms)
    }

    fn class(&self) -> ToolClass {
        ToolClass::Send
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Send
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Send>()
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    fn timeout(&self) -> Option<std::time::Duration> {
        Some(limpid_tools::outlet::TIME)
    }

    fn check(&self, arguments: &Value) -> Result<(), Sentence> {
        let to = echoed(arguments["to"].as_str().unwrap_or_default());
        sendable(to, arguments["text"].as_str().unwrap_or_default()).map(drop)
    }

    fn destination(&self, arguments: &Value) -> Option<Destination> {
        Some(leads_to(arguments.get("to")?.as_str()?))
    }

    fn canonical(&self, arguments: &Value) -> Value {
        let to = arguments["to"].as_str().unwrap_or_default();
        json!({ "to": leads_to(to).to_string(), "text": arguments["text"] })
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Send { to, text } = read_arguments(arguments)?;
        send(&self.gateway, context.words(to.as_str()), &text).await
    }
}

#[async_trait]
impl Tool for ReplySms {
    fn name(&self) -> &'static str {
        "reply_sms"
    }

    fn group(&self) -> &'static str {
        group(Source::Sms)
    }

    fn class(&self) -> ToolClass {
        ToolClass::Send
    }

    fn effect(&self, _: &Value) -> Effect {
        Effect::Send
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Reply>()
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    fn timeout(&self) -> Option<std::time::Duration> {
        Some(limpid_tools::outlet::TIME)
    }

    fn check(&self, arguments: &Value) -> Result<(), Sentence> {
        let id = item_id(arguments["id"].as_str().unwrap_or_default())?;
        let store = Arc::clone(&self.store);
        let to = wait_for(move |runtime| Some(runtime.block_on(sender(&*store, id))));
        let to = to.unwrap_or_else(|| Err("The sender of the message could not be looked up. Try again.".into()))?;
        sendable(str_of(&to), arguments["text"].as_str().unwrap_or_default()).map(drop)
    }

    /// Whoever sent the message that is answered: the owner is to read it before they say yes.
    fn destination(&self, arguments: &Value) -> Option<Destination> {
        let id = item_id(arguments.get("id")?.as_str()?).ok()?;
        let store = Arc::clone(&self.store);
        wait_for(move |runtime| runtime.block_on(sender(&*store, id)).ok()).map(|to| leads_to(to.value()))
    }

    async fn concerns(&self, arguments: &Value, _: Option<&ConversationId>) -> Concerned {
        Concerned::found(in_words(&*self.store, Source::Sms, arguments).await, "there is no such message")
    }

    async fn run(&self, _: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let Reply { id, text } = read_arguments(arguments)?;
        let to = sender(&*self.store, item_id(&id)?).await?;
        send(&self.gateway, str_of(&to), &text).await
    }
}

/// Whoever sent a message, as the message says: a stranger's words, wherever they are repeated.
async fn sender(store: &dyn Store, id: ItemId) -> Result<Labelled<String>, Sentence> {
    let found = store.item(id).await.map_err(trouble)?;
    let sms = found.filter(|item| item.new.source == Source::Sms);
    let sender = sms.map(|item| Labelled::outside(item.new.sender.trim().to_owned()));
    sender.ok_or_else(|| sentence!("there is no sms i{}", echoed(id.0)))
}

/// Waits for the store where a policy asks and cannot wait: on a thread of its own, since this one may be a runtime's.
fn wait_for<T: std::marker::Send + 'static>(
    look: impl FnOnce(&tokio::runtime::Runtime) -> Option<T> + std::marker::Send + 'static,
) -> Option<T> {
    let looking = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().ok()?;
        look(&runtime)
    });
    looking.join().ok().flatten()
}

/// Where a text message goes that is addressed so; what is no number is never sent to.
fn leads_to(to: &str) -> Destination {
    Destination::phone(to).unwrap_or_else(|| Destination::Place(to.to_owned()))
}

/// Whether a text message can go there. Asked before the owner is, so that nobody approves what cannot leave.
fn sendable(to: Labelled<&str>, text: &str) -> Result<Destination, Sentence> {
    let Some(number) = Destination::phone(to.value()) else {
        return Err(sentence!(
            "Text messages cannot be sent to {}. Give a phone number, such as \"+491701234\".",
            to.map(|to| format!("{to:?}"))
        ));
    };
    if text.trim().is_empty() {
        return Err("The text is blank. Nothing was sent.".into());
    }
    Ok(number)
}

fn str_of(to: &Labelled<String>) -> Labelled<&str> {
    to.as_ref().map(String::as_str)
}

async fn send(gateway: &Outlet, to: Labelled<&str>, text: &str) -> Result<Labelled<String>, Sentence> {
    let number = sendable(to.clone(), text)?.to_string();
    gateway.hand_over(&json!({ "to": number, "text": text })).await?;
    Ok(sentence!("sent to {}", to.map(|_| number)).into())
}
