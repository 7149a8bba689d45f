//! Rows that the cases write.

use limpid_core::state::Span;
use limpid_core::{CallId, ConversationId, Message, ProviderState, RequestId, Role, ToolCall, Trust, TurnId};

use crate::{
    Acquired, Audience, Author, Base, ConversationKind, InboundId, Kept, Lease, NewConversation, NewEvent, NewInbound,
    NewMemory, NewMessage, NewRequest, NewTurn, RequestMessage, RequestPart, Store,
};

/// A text with everything that might trip a store.
pub const ODD: &str = "a\0b\u{feff}\u{202e}'\"%_\\ {{ x }}\r\n\u{10ffff}é\u{301}🦀";

/// The id of a conversation.
pub fn conversation_id(id: &str) -> ConversationId {
    ConversationId::new(id)
}

/// A conversation that was made at a time.
pub fn conversation(id: &str, now_ms: i64) -> NewConversation {
    NewConversation {
        id: conversation_id(id),
        kind: ConversationKind::Chat,
        title: String::new(),
        profile: "limpid".to_owned(),
        mode: None,
        model: None,
        audience: Audience::Owner,
        now_ms,
    }
}

/// A message that arrived.
pub fn inbound(conversation: &str, key: Option<&str>, text: &str) -> NewInbound {
    NewInbound {
        conversation: conversation_id(conversation),
        key: key.map(str::to_owned),
        text: text.to_owned(),
        trust: Trust::Owner,
        typed: true,
        base: Base::Workspace,
        now_ms: 1,
    }
}

/// Takes a conversation for a minute.
pub async fn lease(store: &dyn Store, conversation: &str, now_ms: i64) -> Lease {
    match store.acquire(&conversation_id(conversation), "me", now_ms, 60_000).await.unwrap() {
        Acquired::Lease(lease) => lease,
        Acquired::Busy(lease) => panic!("taken: {lease:?}"),
    }
}

/// A conversation with a turn that has begun.
pub async fn begun(store: &dyn Store, conversation: &str, turn: &str) -> (Lease, TurnId) {
    store.create_conversation(self::conversation(conversation, 0)).await.unwrap();
    let lease = lease(store, conversation, 0).await;
    let id = begin(store, &lease, turn, &[]).await;
    (lease, id)
}

/// Begins a turn.
pub async fn begin(store: &dyn Store, lease: &Lease, turn: &str, inbound: &[InboundId]) -> TurnId {
    let id = TurnId::new(turn);
    let new = NewTurn { id: id.clone(), path: "chat-remote".to_owned(), inbound: inbound.to_vec(), now_ms: 0 };
    store.begin_turn(lease, new, Vec::new()).await.unwrap();
    id
}

/// An event of a journal.
pub fn event(kind: &str) -> NewEvent {
    NewEvent {
        kind: kind.to_owned(),
        payload: "{}".to_owned(),
        shared: None,
        trust: Trust::Owner,
        kept: Kept::UntilEnd,
    }
}

/// A message of a conversation.
pub fn message(role: Role, text: &str) -> NewMessage {
    NewMessage::new(Message::new(role, text, Trust::Owner))
}

/// An assistant's message with calls.
pub fn calling(ids: &[&str]) -> NewMessage {
    let calls = ids
        .iter()
        .map(|id| ToolCall { id: CallId::new(*id), name: "clock".to_owned(), arguments: "{\"a\":\"é\"}".to_owned() })
        .collect();
    NewMessage::new(Message { calls, ..Message::new(Role::Assistant, "", Trust::Owner) })
}

/// What a provider wants back with a message.
pub fn provider_state(json: &str, span: Span) -> ProviderState {
    ProviderState {
        protocol: "anthropic".to_owned(),
        model: "anthropic/big-1".to_owned(),
        json: json.to_owned(),
        span,
        after: Some("00ff".to_owned()),
    }
}

/// The result of a call.
pub fn result(id: &str) -> NewMessage {
    NewMessage::new(Message { call_id: Some(CallId::new(id)), ..Message::new(Role::Tool, "noon", Trust::Owner) })
}

/// A message of a request, its parts joined by a blank line.
pub fn request_message(role: Role, parts: &[(&str, &str)]) -> RequestMessage {
    let parts: Vec<RequestPart> = parts
        .iter()
        .map(|(section, text)| RequestPart {
            section: (*section).to_owned(),
            origin: format!("shipped:{section}.md:1-2"),
            stability: "fixed".to_owned(),
            trust: Trust::File,
            text: (*text).to_owned(),
            tokens: Some(3),
        })
        .collect();
    let text = parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join("\n\n");
    RequestMessage { role, text, calls: Vec::new(), state: Vec::new(), call_id: None, parts }
}

/// A request outside of any conversation.
pub fn request(id: &str, sent_ms: i64, messages: Vec<RequestMessage>) -> NewRequest {
    NewRequest {
        id: RequestId::new(id),
        conversation: None,
        turn: None,
        round: 1,
        provider: "openai".to_owned(),
        model: "big-1".to_owned(),
        protocol: "openai-chat".to_owned(),
        target: "https://api.example.org/v1/chat/completions".to_owned(),
        profile: "limpid".to_owned(),
        path: "chat-remote".to_owned(),
        revision: "0123456789abcdef".to_owned(),
        sampling: "{}".to_owned(),
        tools: "[]".to_owned(),
        body: format!("body of {id}"),
        messages,
        estimate: Some(20),
        estimate_by_kind: [("words".to_owned(), 20)].into(),
        holder: Some("me".to_owned()),
        sent_ms,
    }
}

/// A memory to be stored.
pub fn memory(key: Option<&str>, content: &str, now_ms: i64) -> NewMemory {
    NewMemory {
        key: key.map(str::to_owned),
        content: content.to_owned(),
        category: limpid_core::Category::General,
        trust: Trust::Owner,
        author: Author::Said,
        source: None,
        now_ms,
    }
}
