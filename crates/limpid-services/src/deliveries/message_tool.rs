//! `message`: tells the owner something in a chat of theirs, apart from the answer.
//!
//! Whoever delivers is the one that always does: what goes to another chat waits as a delivery, and what a run that
//! nobody waits for says to its own chat is the one message with which it ends.

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::policy::Effect;
use limpid_core::{ConversationId, Labelled, Message as ChatMessage, Role, Sentence, ToolClass, sentence};
use limpid_prompt::prompt::hash_of;
use limpid_store::{Audience, Conversation, ConversationKind, DeliveryOrigin, NewDelivery, Store};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::directory::is_run;
use crate::tools::{Concerned, Tool, ToolContext, echoed, read_arguments, schema_of, trouble};

const NAME: &str = "message";

/// What such a message is called in a list.
const TITLE: &str = "Message";

/// What a run is told whose message is the one that it ends with.
const AT_THE_END: &str = "it is sent when this run ends, in place of the answer";

/// The tool that writes deliveries into a store.
pub fn message_tool(store: Arc<dyn Store>) -> Arc<dyn Tool> {
    Arc::new(Message { store })
}

/// What a run has said to its own chat, oldest first: what was refused is not among it.
pub fn said_in_run<'a>(messages: impl Iterator<Item = &'a ChatMessage> + Clone) -> Vec<String> {
    let taken = messages.clone().filter(|message| message.role == Role::Tool && message.text == AT_THE_END);
    let taken: Vec<_> = taken.filter_map(|message| message.call_id.as_ref()).collect();
    let calls = messages.flat_map(|message| &message.calls);
    let calls = calls.filter(|call| call.name == NAME && taken.contains(&&call.id));
    let content = |arguments: &str| Some(serde_json::from_str::<Arguments>(arguments).ok()?.content.trim().to_owned());
    calls.filter_map(|call| content(&call.arguments)).collect()
}

/// Whether it is a chat of the owner's: no run of its own, and none whose answers leave for whoever asks a program.
fn is_owners(chat: &Conversation) -> bool {
    chat.kind != ConversationKind::Run && chat.audience != Audience::Strangers
}

/// Keeps what is to be told until its chat is free.
struct Message {
    store: Arc<dyn Store>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    content: String,
    channel: Option<String>,
    chat_id: Option<String>,
}

impl Message {
    /// The chat that is meant; none: the one that the call comes from.
    async fn chat(&self, arguments: &Arguments, context: &ToolContext) -> Result<Option<ConversationId>, Sentence> {
        let given =
            |text: &Option<String>| text.clone().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        if let Some(channel) = given(&arguments.channel) {
            return Err(sentence!(
                "there is no channel `{}`; leave it out, and name a chat of the owner's by `chat_id`",
                echoed(channel)
            ));
        }
        let Some(id) = given(&arguments.chat_id).map(ConversationId::new).filter(|id| *id != context.conversation)
        else {
            return Ok(None);
        };
        let found = self.store.conversation(&id).await.map_err(trouble)?;
        match found.filter(is_owners) {
            Some(_) => Ok(Some(id)),
            None => Err(sentence!("the owner has no chat `{}`; leave `chat_id` out for this one", echoed(id))),
        }
    }
}

#[async_trait]
impl Tool for Message {
    fn name(&self) -> &'static str {
        NAME
    }

    fn group(&self) -> &'static str {
        "chat"
    }

    /// The owner's own chats are no `send`.
    fn class(&self) -> ToolClass {
        ToolClass::Remember
    }

    /// Another chat may be one that others read.
    fn effect(&self, arguments: &Value) -> Effect {
        let names_another = arguments["chat_id"].as_str().is_some_and(|id| !id.trim().is_empty());
        if names_another { Effect::ChangeOwned } else { Effect::Tell }
    }

    fn schema(&self) -> Map<String, Value> {
        schema_of::<Arguments>()
    }

    /// The same text of the same turn is one message.
    fn is_repeatable(&self) -> bool {
        true
    }

    /// That a message was sent already is said of the very same one of the same turn.
    fn answers_alike(&self) -> bool {
        true
    }

    async fn concerns(&self, arguments: &Value, conversation: Option<&ConversationId>) -> Concerned {
        let id = arguments["chat_id"].as_str().map(str::trim).filter(|id| !id.is_empty()).map(ConversationId::new);
        let Some(id) = id.filter(|id| Some(id) != conversation) else {
            return Concerned::InArguments;
        };
        let found = self.store.conversation(&id).await.ok().flatten().filter(is_owners);
        match found.map(|chat| (chat.audience, chat.title)) {
            Some((Audience::Owner, title)) => Concerned::Words(format!("to your chat {id}: {title}")),
            Some((_, title)) => Concerned::SentTo(format!("to the chat {id}, which others read too: {title}")),
            None => Concerned::Words("you have no such chat".to_owned()),
        }
    }

    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence> {
        let arguments: Arguments = read_arguments(arguments)?;
        let text = arguments.content.trim();
        if text.is_empty() {
            return Err("`content` is blank; say what is to be sent".into());
        }
        let chat = self.chat(&arguments, context).await?;
        if chat.is_none() && is_run(&context.conversation) {
            return Ok(Sentence::from(AT_THE_END).into());
        }
        let conversation = chat.unwrap_or_else(|| context.conversation.clone());
        let key = hash_of([context.turn.as_str(), conversation.as_str(), text].map(str::as_bytes));
        let new = NewDelivery {
            key: format!("message/{key}"),
            conversation,
            origin: DeliveryOrigin::Message,
            title: TITLE.to_owned(),
            text: text.to_owned(),
            trust: context.trust,
            draft: None,
            now_ms: context.now_ms(),
        };
        let fresh = self.store.enqueue(new).await.map_err(trouble)?;
        Ok(Sentence::from(if fresh { "sent" } else { "that was sent already" }).into())
    }
}
