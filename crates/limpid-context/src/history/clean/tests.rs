use limpid_core::{CallId, DigestLevel, Pin, Shortened, ToolCall, TurnId, message::unpaired};

use super::*;

fn rows() -> Vec<StoredMessage> {
    let call = |id: &str| ToolCall { id: CallId::new(id), name: "t".into(), arguments: "{\"a\":\"evil\"}".into() };
    let calling = |ids: &[&str]| Message {
        calls: ids.iter().map(|id| call(id)).collect(),
        ..Message::new(Role::Assistant, "", Trust::Owner)
    };
    let result = |id: &str, text: &str, trust: Trust| Message {
        call_id: Some(CallId::new(id)),
        boundary: trust.is_foreign().then(|| "00ff".to_owned()),
        ..Message::new(Role::Tool, text, trust)
    };
    let messages = [
        Message::new(Role::User, "hello", Trust::Owner),
        Message::new(Role::Assistant, "Hi.", Trust::Owner),
        Message::new(Role::User, "read it", Trust::Owner),
        calling(&["a", "b"]),
        result("a", "12:00", Trust::Owner),
        result("b", "evil", Trust::Outside),
        calling(&["c"]),
        result("c", "evil again", Trust::Owner),
        Message::new(Role::Assistant, "It says evil.", Trust::Owner),
        Message::new(Role::User, "and now?", Trust::Owner),
        Message::new(Role::Assistant, "evil, still", Trust::Owner),
    ];
    let row = |(message, id): (Message, i64)| StoredMessage {
        id: MessageId(id),
        turn: TurnId::new("t"),
        message,
        typed: None,
        request: None,
        at_ms: 0,
    };
    messages.into_iter().zip(1..).map(row).collect()
}

// SEC-002
#[test]
fn the_owners_text_stays_and_the_rest_becomes_pointers_in_whole_pairs() {
    let shown = |until: i64| {
        let rows = pointed(rows(), MessageId(until), false);
        let messages: Vec<Message> = rows.iter().map(|row| row.message.clone()).collect();
        assert_eq!(unpaired(&messages), None);
        messages.iter().map(|message| format!("{} {}", message.role, message.text)).collect::<Vec<_>>()
    };
    assert_eq!(
        shown(11),
        [
            "user hello",
            "assistant Hi.",
            "user read it",
            "assistant [messages 4 to 9 of this conversation: put aside]",
            "user and now?",
            "assistant [messages 11 to 11 of this conversation: put aside]",
        ]
    );
    assert_eq!(shown(0).len(), 11, "what came before is all that is cleaned");
    assert_eq!(shown(3).len(), 11);
    assert!(!shown(11).join(" ").contains("evil"));
}

// SEC-002 SEC-102
#[test]
fn digests_and_pins_of_strangers_go_and_what_the_digests_stood_for_is_read_again() {
    let digest = |first: i64, last: i64, trust| Digest {
        level: DigestLevel::Full,
        first: MessageId(first),
        last: MessageId(last),
        tokens: 1,
        compaction: 1,
        text: String::new(),
        trust,
    };
    let pin = |trust| Some(Pin { message: MessageId(1), text: String::new(), trust });
    let shown = |pinned, first, until| {
        let digests = vec![digest(1, 4, first), digest(5, 6, Trust::Outside), digest(7, 9, Trust::Guest)];
        let view = WindowView { pin: pin(pinned), digests, through: Some(MessageId(9)), ..WindowView::default() };
        let (view, reads_again) = cleaned_view(view, MessageId(until));
        let firsts: Vec<i64> = view.digests.iter().map(|digest| digest.first.0).collect();
        (view.pin.map(|pin| pin.trust), firsts, view.through.map(|id| id.0), reads_again)
    };
    let (owner, outside) = (Trust::Owner, Trust::Outside);
    assert_eq!(shown(owner, owner, 9), (Some(owner), vec![1], Some(4), true), "what came before strangers stays");
    assert_eq!(shown(outside, owner, 9), (None, vec![1], Some(4), true));
    assert_eq!(shown(owner, outside, 9), (None, vec![], None, true), "a message is not pinned and shown");
    assert_eq!(
        shown(owner, outside, 3),
        (Some(owner), vec![1, 5, 7], Some(9), false),
        "what came after it was cleaned"
    );
}

// SEC-002 SEC-102
#[test]
fn what_was_shortened_beside_strangers_is_whole_again_and_what_is_shortened_since_stays_so() {
    let kept = |through| {
        let shortened = Some(Shortened { through: MessageId(through), results: 80, texts: 80 });
        cleaned_view(WindowView { shortened, ..WindowView::default() }, MessageId(9)).0.shortened.is_some()
    };
    assert_eq!([8, 9, 12].map(kept), [false, true, true]);
}

// SEC-002 SEC-102
#[test]
fn of_messages_that_are_read_again_the_agents_own_stay_up_to_a_strangers() {
    let first = |rows: Vec<StoredMessage>, is_whole| {
        let cleaned = Cleaned { until: MessageId(11), reads_again: true };
        let shown = cleaned.pointed(rows, is_whole).into_iter().map(|row| row.message.text);
        shown.take(2).collect::<Vec<_>>()
    };
    let aside = "[messages 2 to 2 of this conversation: put aside]";
    assert_eq!(first(rows(), true), ["hello", "Hi."]);
    assert_eq!(first(rows(), false), ["hello", aside], "what cannot be read may have been a stranger's");
    let owners = rows().into_iter().filter(|row| !row.message.trust.is_foreign() && row.id.0 < 4).collect();
    assert_eq!(first(owners, true), ["hello", aside], "the digest had its label from something else");
}

// SEC-002
#[test]
fn what_a_prompt_quoted_behind_the_owners_words_goes_too() {
    let text = "go on\n\n[context]\nGoal: [untrusted 00ff]\nevil\n[/untrusted 00ff]";
    let asked = Message::new(Role::User, text, Trust::Owner);
    let row = |typed: Option<&str>| StoredMessage {
        message: asked.clone(),
        typed: typed.map(str::to_owned),
        ..rows().remove(0)
    };
    let shown = |typed, until| pointed(vec![row(typed)], MessageId(until), true).remove(0).message.text;
    assert_eq!(shown(Some("go on"), 1), "go on");
    assert_eq!(shown(Some("go on"), 0), text, "what comes after stays as it was sent");
    assert!(shown(None, 1).contains("put aside"), "a run's prompt, which nobody typed, goes whole");
}
