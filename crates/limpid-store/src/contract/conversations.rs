//! Conversations, messages and accepted input.

use limpid_core::state::Span;
use limpid_core::{AgentState, Effort, Message, ProviderState, Role, Trust, TurnId, WindowView};

use super::sample::{
    ODD, begin, begun, calling, conversation, conversation_id, event, inbound, lease, message, provider_state, result,
};
use super::{Bench, agents};
use crate::{
    AgentEnd, Audience, Conversation, ConversationChange, ConversationKind, NewConversation, NewInbound, NewMessage,
    NewWindowEvent, StoreError, TurnOutcome, TurnWrite, TypedOrCalled, Written,
};

/// What was made is read again, and an id is given once.
pub async fn a_conversation_is_found_again(bench: &Bench) {
    let new = NewConversation {
        kind: ConversationKind::Heartbeat,
        mode: Some("focus".to_owned()),
        model: Some("openai/big-1".to_owned()),
        ..conversation("c", 5)
    };
    let made = bench.store.create_conversation(new).await.unwrap();
    assert_eq!((made.kind, made.created_ms, made.messages), (ConversationKind::Heartbeat, 5, 0));
    assert_eq!(bench.store.conversation(&conversation_id("c")).await.unwrap(), Some(made));
    assert_eq!(bench.store.conversation(&conversation_id("d")).await.unwrap(), None);
    let again = bench.store.create_conversation(conversation("c", 6)).await;
    assert!(matches!(again, Err(StoreError::Exists { .. })), "{again:?}");
}

/// The label of the least trusted message up to one, of this conversation alone.
// SEC-002
pub async fn the_trust_of_a_conversation_is_that_of_its_least_trusted_message(bench: &Bench) {
    let store = bench.store.as_ref();
    for (id, turn) in [("a", "t1"), ("b", "t2")] {
        store.create_conversation(conversation(id, 1)).await.unwrap();
        let lease = lease(store, id, 0).await;
        let turn = begin(store, &lease, turn, &[]).await;
        let labelled = |trust| NewMessage::new(Message::new(Role::User, "hi", trust));
        let said = [Trust::Owner, Trust::Guest, Trust::Outside, Trust::Owner].map(labelled);
        let said = if id == "a" { said.into() } else { vec![message(Role::User, "hi")] };
        store.commit(&lease, &turn, vec![TurnWrite::Messages(said)], 2).await.unwrap();
    }
    let rows = store.messages(&conversation_id("a"), None).await.unwrap().rows;
    let mut labels = Vec::new();
    for row in rows {
        labels.push(store.trust_until(&conversation_id("a"), row.id).await.unwrap());
    }
    assert_eq!(labels, [Trust::Owner, Trust::Guest, Trust::Outside, Trust::Outside]);
    // What is sent of the owner's words may quote a stranger.
    store.create_conversation(conversation("q", 1)).await.unwrap();
    let lease = lease(store, "q", 0).await;
    let turn = begin(store, &lease, "t3", &[]).await;
    let sent = message(Role::User, "go on\n\n[context]\n[untrusted 00ff]\nobey\n[/untrusted 00ff]");
    store.commit(&lease, &turn, vec![TurnWrite::Messages(vec![sent])], 2).await.unwrap();
    let sent = store.messages(&conversation_id("q"), None).await.unwrap().rows[0].id;
    assert_eq!(store.trust_until(&conversation_id("q"), sent).await.unwrap(), Trust::Outside);
    let other = store.messages(&conversation_id("b"), None).await.unwrap().rows[0].id;
    assert_eq!(store.trust_until(&conversation_id("b"), other).await.unwrap(), Trust::Owner);
}

/// `last` follows what is said, not the making and not what comes back; kinds do not mix.
// SEC-102
pub async fn the_last_one_is_the_one_written_to_last(bench: &Bench) {
    let store = &bench.store;
    assert_eq!(store.last_conversation(ConversationKind::Chat).await.unwrap(), None);
    for id in ["a", "b"] {
        store.create_conversation(conversation(id, 1)).await.unwrap();
    }
    let report = NewConversation { kind: ConversationKind::Heartbeat, ..conversation("h", 9) };
    store.create_conversation(report).await.unwrap();
    let last = || async { store.last_conversation(ConversationKind::Chat).await.unwrap().unwrap().id };
    assert_eq!(last().await, conversation_id("b"));
    let run = NewConversation { kind: ConversationKind::Run, ..conversation("r", 10) };
    store.create_conversation(run).await.unwrap();
    let listed = store.conversations(10).await.unwrap().rows;
    let listed: Vec<&str> = listed.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(listed, ["h", "b", "a"], "a single run stands in no list");
    let say = async |id: &str, now_ms| {
        let accepted = store.accept(NewInbound { now_ms, ..inbound(id, None, "hi") }).await.unwrap();
        accepted.inbound.id
    };
    let held = lease(store.as_ref(), "a", 0).await;
    let turn = begin(store.as_ref(), &held, "t", &[say("a", 2).await]).await;
    let said = TurnWrite::Messages(vec![message(Role::User, "hi")]);
    store.commit(&held, &turn, vec![said], 2).await.unwrap();
    assert_eq!(last().await, conversation_id("a"));
    let listed = store.conversations(2).await.unwrap();
    let ids: Vec<String> = listed.rows.into_iter().map(|row| row.id.to_string()).collect();
    assert_eq!(ids, ["h", "a"]);
    let room = NewConversation { audience: Audience::Group, ..conversation("room", 11) };
    store.create_conversation(room).await.unwrap();
    assert_eq!(last().await, conversation_id("a"), "what others read is named");

    let held = lease(store.as_ref(), "b", 0).await;
    let turn = begin(store.as_ref(), &held, "of-b", &[]).await;
    let agent = agents::fresh(store.accept_agent(agents::new("b", "of-b", "1"), agents::LIMITS).await.unwrap());
    let answer = TurnWrite::Messages(vec![message(Role::Assistant, "I look.")]);
    store.commit(&held, &turn, vec![answer], 12).await.unwrap();
    let end = AgentEnd { result: "tea".to_owned(), now_ms: 13, ..agents::end(agent.id, AgentState::Done) };
    store.end_agent(end).await.unwrap();
    assert_eq!(store.waiting(&conversation_id("b")).await.unwrap().rows.len(), 2, "it came back");
    assert_eq!(last().await, conversation_id("a"), "nobody said anything in the other one");
    let with = NewInbound { now_ms: 14, ..inbound("b", None, "sum it up") };
    store.accept_with(NewInbound { trust: Trust::Outside, ..with.clone() }, with).await.unwrap();
    assert_eq!(last().await, conversation_id("b"));
    say("a", 15).await;
    assert_eq!(last().await, conversation_id("a"));
}

/// What is not named stays as it is.
// LES-073
pub async fn settings_change_alone(bench: &Bench) {
    let id = conversation_id("c");
    bench.store.create_conversation(conversation("c", 1)).await.unwrap();
    let changes = vec![
        ConversationChange::Mode(Some("focus".to_owned())),
        ConversationChange::Model(Some("openai/big-1".to_owned())),
        ConversationChange::Session(Some(ODD.to_owned())),
    ];
    bench.store.change_conversation(&id, changes, 2).await.unwrap();
    let changes = vec![ConversationChange::Title("Tea".to_owned()), ConversationChange::Mode(None)];
    let changed = bench.store.change_conversation(&id, changes, 3).await.unwrap();
    assert_eq!(changed.title, "Tea");
    assert_eq!(changed.mode, None);
    assert_eq!(changed.model.as_deref(), Some("openai/big-1"));
    assert_eq!(changed.session.as_deref(), Some(ODD));
    let missing = bench.store.change_conversation(&conversation_id("x"), Vec::new(), 4).await;
    assert!(matches!(missing, Err(StoreError::NotFound { .. })), "{missing:?}");
}

/// Who reads a conversation and the window that was chosen are what they were set to.
// LES-057 MOD-020
pub async fn audience_and_window_are_kept(bench: &Bench) {
    let group = NewConversation { audience: Audience::Group, ..conversation("g", 1) };
    assert_eq!(bench.store.create_conversation(group).await.unwrap().audience, Audience::Group);
    let id = conversation_id("c");
    let made = bench.store.create_conversation(conversation("c", 1)).await.unwrap();
    assert_eq!((made.audience, made.window_tokens), (Audience::Owner, None));
    let change = |changes| bench.store.change_conversation(&id, changes, 2);
    let audience = ConversationChange::Audience(Audience::Group);
    let changed = change(vec![audience, ConversationChange::Window(Some(4096))]).await.unwrap();
    assert_eq!((changed.audience, changed.window_tokens), (Audience::Group, Some(4096)));
    // What the runtime keeps is a cache: without it they stay.
    let changed = change(vec![ConversationChange::Session(None)]).await.unwrap();
    assert_eq!((changed.audience, changed.window_tokens), (Audience::Group, Some(4096)));
    let changed = change(vec![ConversationChange::Effort(Some(Effort::Low))]).await.unwrap();
    assert_eq!(changed.effort, Some(Effort::Low));
    let audience = ConversationChange::Audience(Audience::Owner);
    let back = vec![audience, ConversationChange::Window(None), ConversationChange::Effort(None)];
    let changed = change(back).await.unwrap();
    assert_eq!(changed, Conversation { updated_ms: 2, ..made });
}

/// Turns that were taken out are known in the order in which that was done, whatever the clock says.
// LES-148
pub async fn turns_are_taken_out_and_put_back(bench: &Bench) {
    let store = bench.store.as_ref();
    let (lease, first) = begun(store, "c", "t1").await;
    let second = begin(store, &lease, "t2", &[]).await;
    let id = conversation_id("c");
    let hide = |turn: &TurnId, now| store.change_conversation(&id, vec![ConversationChange::Hide(turn.clone())], now);
    assert_eq!(store.hidden_turns(&id).await.unwrap(), []);
    hide(&second, 100).await.unwrap();
    hide(&first, 50).await.unwrap();
    assert_eq!(store.hidden_turns(&id).await.unwrap(), [second.clone(), first.clone()]);
    store.change_conversation(&id, vec![ConversationChange::Unhide(second.clone())], 60).await.unwrap();
    assert_eq!(store.hidden_turns(&id).await.unwrap(), std::slice::from_ref(&first));
    hide(&second, 70).await.unwrap();
    assert_eq!(store.hidden_turns(&id).await.unwrap(), [first, second]);
    let (_, other) = begun(store, "d", "t3").await;
    let refused = hide(&other, 80).await;
    assert!(matches!(refused, Err(StoreError::NotFound { what: "turn", .. })), "{refused:?}");
    assert_eq!(store.hidden_turns(&conversation_id("d")).await.unwrap(), []);
}

/// Every field comes back, in order, and from a given message on.
// LES-021 SEC-001 MOD-001 MOD-002
pub async fn messages_come_back_as_they_were_written(bench: &Bench) {
    let (lease, turn) = begun(bench.store.as_ref(), "c", "t").await;
    let user = NewMessage { typed: Some("hi".to_owned()), ..message(Role::User, "hi\n\n[context]\nTime: noon") };
    let foreign =
        Message { trust: Trust::Outside, boundary: Some("0123456789abcdef".to_owned()), ..result("b").message };
    let mut thinking = calling(&["a", "b"]);
    thinking.message.state = vec![provider_state(ODD, Span::at(0, 0)), provider_state("{}", Span::at(0, 1))];
    let mut answer = message(Role::Assistant, "ok");
    answer.message.state = vec![ProviderState { after: None, ..provider_state(ODD, Span { text: 0..2, calls: 0..0 }) }];
    let batch = vec![user, thinking, NewMessage::new(foreign), result("a"), answer];
    let write = TurnWrite::Messages(batch.clone());
    let written = bench.store.commit(&lease, &turn, vec![write], 7).await.unwrap();
    let [Written::Messages(ids)] = written.as_slice() else { panic!("{written:?}") };
    let listed = bench.store.messages(&conversation_id("c"), None).await.unwrap();
    assert_eq!(listed.broken, []);
    assert!(ids.is_sorted() && listed.rows.iter().map(|row| row.id).eq(ids.iter().copied()));
    assert!(listed.rows.iter().all(|row| row.turn == turn && row.at_ms == 7));
    let read: Vec<_> = listed.rows.iter().map(|row| (row.message.clone(), row.typed.clone())).collect();
    let sent: Vec<_> = batch.into_iter().map(|new| (new.message, new.typed)).collect();
    assert_eq!(read, sent);
    let after = bench.store.messages(&conversation_id("c"), Some(ids[3])).await.unwrap();
    assert_eq!(after.rows, listed.rows[4..]);
    assert_eq!(bench.store.conversation(&conversation_id("c")).await.unwrap().unwrap().messages, 5);
}

/// A conversation of any length comes back whole, from anywhere on.
// ARC-012
pub async fn a_long_conversation_comes_back_whole(bench: &Bench) {
    let (lease, turn) = begun(bench.store.as_ref(), "c", "t").await;
    let said: Vec<_> = (0..120).map(|n| message(Role::User, &format!("line {n}"))).collect();
    let written = bench.store.commit(&lease, &turn, vec![TurnWrite::Messages(said)], 7).await.unwrap();
    let [Written::Messages(ids)] = written.as_slice() else { panic!("{written:?}") };
    for (after, expected) in
        [(None, 120), (Some(ids[0]), 119), (Some(ids[68]), 51), (Some(ids[69]), 50), (Some(ids[119]), 0)]
    {
        let rows = bench.store.messages(&conversation_id("c"), after).await.unwrap().rows;
        let texts: Vec<_> = rows.iter().map(|row| row.message.text.clone()).collect();
        assert_eq!(texts, (120 - expected..120).map(|n| format!("line {n}")).collect::<Vec<_>>());
    }
}

/// A call without a result, a result without a call, and an id that was used are refused, and nothing is written.
// ARC-012
pub async fn calls_are_written_with_their_results(bench: &Bench) {
    let (lease, turn) = begun(bench.store.as_ref(), "c", "t").await;
    let write = |batch| bench.store.commit(&lease, &turn, vec![TurnWrite::Messages(batch)], 1);
    write(vec![calling(&["a"]), result("a")]).await.unwrap();
    for batch in [
        vec![calling(&["b"])],
        vec![result("b")],
        vec![calling(&["b"]), message(Role::User, "wait"), result("b")],
        vec![calling(&["a"]), result("a")],
        vec![message(Role::User, "first"), calling(&["b", "b"]), result("b"), result("b")],
    ] {
        let refused = write(batch).await;
        assert!(matches!(refused, Err(StoreError::Unpaired { .. })), "{refused:?}");
    }
    assert_eq!(bench.store.messages(&conversation_id("c"), None).await.unwrap().rows.len(), 2);
    // The same id in another conversation is another call.
    let (lease, turn) = begun(bench.store.as_ref(), "d", "u").await;
    let batch = vec![calling(&["a"]), result("a")];
    bench.store.commit(&lease, &turn, vec![TurnWrite::Messages(batch)], 1).await.unwrap();
}

/// Tools are counted over all conversations, in the newest messages only.
// PRO-046
pub async fn the_newest_messages_tell_which_tools_are_used(bench: &Bench) {
    assert_eq!(bench.store.tool_uses(10).await.unwrap(), []);
    for (conversation, turn, names) in [("c", "t", ["look", "read"]), ("d", "u", ["look", "look"])] {
        let (lease, turn) = begun(bench.store.as_ref(), conversation, turn).await;
        let mut batch = vec![calling(&["a", "b"]), result("a"), result("b")];
        for (call, name) in batch[0].message.calls.iter_mut().zip(names) {
            call.name = name.to_owned();
        }
        bench.store.commit(&lease, &turn, vec![TurnWrite::Messages(batch)], 1).await.unwrap();
    }
    let uses = async |newest| bench.store.tool_uses(newest).await.unwrap();
    assert_eq!(uses(100).await, [("look".to_owned(), 3), ("read".to_owned(), 1)]);
    assert_eq!(uses(3).await, [("look".to_owned(), 2)]);
    assert_eq!(uses(2).await, []);
    let (lease, turn) = begun(bench.store.as_ref(), "e", "v").await;
    let said = (0..60).map(|n| message(Role::User, &format!("line {n}"))).collect();
    bench.store.commit(&lease, &turn, vec![TurnWrite::Messages(said)], 2).await.unwrap();
    assert_eq!(uses(63).await, [("look".to_owned(), 2)]);
    assert_eq!(uses(60).await, []);
}

/// However often a stranger's text had a tool called, it neither ranks nor pushes out one that the owner uses.
// SEC-102 PRO-046
pub async fn what_strangers_had_called_ranks_no_tool(bench: &Bench) {
    let store = bench.store.as_ref();
    let call = async |conversation: &str, trust: Trust, name: &str, times: usize| {
        let (lease, turn) = begun(store, conversation, conversation).await;
        let batch = (0..times).flat_map(|at| {
            let id = format!("{conversation}{at}");
            let mut calling = calling(&[&id]);
            calling.message.calls[0].name = name.to_owned();
            [calling, result(&id)].map(|mut new| {
                new.message.trust = trust;
                new
            })
        });
        store.commit(&lease, &turn, vec![TurnWrite::Messages(batch.collect())], 1).await.unwrap();
    };
    call("own", Trust::Owner, "look", 2).await;
    call("files", Trust::File, "read", 1).await;
    for (conversation, trust, times) in [("page", Trust::Outside, 4), ("guest", Trust::Guest, 60)] {
        call(conversation, trust, "trap", times).await;
        let uses = store.tool_uses(6).await.unwrap();
        assert_eq!(uses, [("look".to_owned(), 2), ("read".to_owned(), 1)], "{conversation}");
    }
}

/// What arrived is kept whatever becomes of the turn, and is taken once.
// LES-143
pub async fn an_accepted_message_waits_until_a_turn_takes_it(bench: &Bench) {
    let store = bench.store.as_ref();
    store.create_conversation(conversation("c", 0)).await.unwrap();
    let accepted = store.accept(inbound("c", None, ODD)).await.unwrap();
    assert!(accepted.fresh);
    let second = store.accept(inbound("c", None, ODD)).await.unwrap().inbound.id;
    let waiting = store.waiting(&conversation_id("c")).await.unwrap().rows;
    assert_eq!(waiting[0], accepted.inbound);
    assert_eq!((waiting.len(), waiting[0].text.as_str()), (2, ODD));
    assert_eq!(store.conversations_that_wait().await.unwrap(), [conversation_id("c")]);
    assert_eq!(bench.other.conversations_that_wait().await.unwrap(), []);
    let lease = lease(store, "c", 0).await;
    let id = accepted.inbound.id;
    let turn = begin(store, &lease, "t", &[id]).await;
    assert_eq!(store.waiting(&conversation_id("c")).await.unwrap().rows.len(), 1);
    let became = NewMessage { inbound: Some(id), ..message(Role::User, ODD) };
    let write = TurnWrite::Messages(vec![became.clone()]);
    store.commit(&lease, &turn, vec![write, TurnWrite::Event(event("began"))], 1).await.unwrap();
    let twice = store.commit(&lease, &turn, vec![TurnWrite::Messages(vec![became])], 1).await;
    assert!(matches!(twice, Err(StoreError::Invalid(_))), "{twice:?}");
    let end = TurnWrite::End(TurnOutcome::Failed, "no provider".to_owned());
    store.commit(&lease, &turn, vec![end], 2).await.unwrap();
    assert_eq!(store.waiting(&conversation_id("c")).await.unwrap().rows[0].id, second);
    assert_eq!(store.messages(&conversation_id("c"), None).await.unwrap().rows[0].message.text, ODD);
    // SEC-070
    let prompt = NewInbound { typed: false, ..inbound("d", None, "the prompt of a task") };
    store.create_conversation(conversation("d", 0)).await.unwrap();
    store.accept(prompt).await.unwrap();
    for (id, typed) in [("c", &[ODD, ODD][..]), ("d", &[])] {
        assert_eq!(store.typed(&conversation_id(id)).await.unwrap(), typed, "{id}");
        assert_eq!(bench.other.typed(&conversation_id(id)).await.unwrap(), [""; 0], "{id}");
    }
    // SEC-067
    let said = store.typed_and_called(&conversation_id("c")).await.unwrap();
    assert_eq!(said, [TypedOrCalled::Typed(ODD.to_owned()), TypedOrCalled::Typed(ODD.to_owned())]);
    assert!(bench.other.typed_and_called(&conversation_id("c")).await.unwrap().is_empty());
    // What is taken out of the conversation gives no right; what waits stays.
    let hide = vec![ConversationChange::Hide(turn.clone())];
    store.change_conversation(&conversation_id("c"), hide, 3).await.unwrap();
    assert_eq!(store.typed_and_called(&conversation_id("c")).await.unwrap(), [TypedOrCalled::Typed(ODD.to_owned())]);
    assert_eq!(store.typed(&conversation_id("c")).await.unwrap(), [ODD, ODD]);
    // Neither does what the person went back from; what the model called stays counted.
    let back = vec![ConversationChange::Unhide(turn.clone())];
    store.change_conversation(&conversation_id("c"), back, 3).await.unwrap();
    assert_eq!(store.typed_and_called(&conversation_id("c")).await.unwrap().len(), 2);
    let row = store.messages(&conversation_id("c"), None).await.unwrap().rows[0].id;
    let view = WindowView { hidden: vec![(row, row)], ..WindowView::default() };
    store
        .write_window(
            &lease,
            NewWindowEvent { kind: "restore".to_owned(), view: Some(view), ..NewWindowEvent::default() },
            4,
        )
        .await
        .unwrap();
    assert_eq!(store.typed_and_called(&conversation_id("c")).await.unwrap(), [TypedOrCalled::Typed(ODD.to_owned())]);
    let missing = store.accept(inbound("nowhere", None, "hi")).await;
    assert!(matches!(missing, Err(StoreError::NotFound { .. })), "{missing:?}");
}

/// What waits can be taken back, once, and by nobody else; what a turn has is that turn's.
// LES-144
pub async fn a_message_that_waits_can_be_taken_back(bench: &Bench) {
    let store = bench.store.as_ref();
    let here = conversation_id("c");
    store.create_conversation(conversation("c", 0)).await.unwrap();
    store.create_conversation(conversation("d", 0)).await.unwrap();
    let first = store.accept(inbound("c", None, "a")).await.unwrap().inbound.id;
    let second = store.accept(inbound("c", None, "b")).await.unwrap().inbound.id;
    assert!(!bench.other.take_back(&here, first).await.unwrap());
    assert!(!store.take_back(&conversation_id("d"), first).await.unwrap());
    assert_eq!(
        [store.take_back(&here, first).await.unwrap(), store.take_back(&here, first).await.unwrap()],
        [true, false]
    );
    // What was handed in goes with its message, and is kept with it alone.
    let with =
        |key: &str| (inbound("c", Some(&format!("{key} with")), "a letter"), inbound("c", Some(key), "sum it up"));
    let (handed_in, message) = with("k");
    let (letter, said) = store.accept_with(handed_in, message.clone()).await.unwrap();
    let letter = letter.unwrap().inbound.id;
    assert!(letter < said.inbound.id && store.take_back(&here, said.inbound.id).await.unwrap());
    assert_eq!((store.accepted(letter).await.unwrap(), store.accepted(said.inbound.id).await.unwrap()), (None, None));
    let again = store.accept(message).await.unwrap().inbound.id;
    let (handed_in, message) = with("k");
    let (letter, said) = store.accept_with(handed_in, message).await.unwrap();
    assert_eq!((letter, said.inbound.id, said.fresh), (None, again, false));
    assert_eq!(store.waiting(&here).await.unwrap().rows.len(), 2);
    let lease = lease(store, "c", 0).await;
    begin(store, &lease, "t", &[second]).await;
    assert!(!store.take_back(&here, second).await.unwrap());
    assert_eq!((store.accepted(first).await.unwrap(), store.accepted(second).await.unwrap().is_some()), (None, true));
}

/// A key is accepted once in its conversation, whatever happened to the message since.
// LES-145
pub async fn a_message_delivered_twice_is_accepted_once(bench: &Bench) {
    let store = bench.store.as_ref();
    store.create_conversation(conversation("c", 0)).await.unwrap();
    let first = store.accept(inbound("c", Some("telegram:7"), "hi")).await.unwrap();
    let lease = lease(store, "c", 0).await;
    begin(store, &lease, "t", &[first.inbound.id]).await;
    let again = store.accept(inbound("c", Some("telegram:7"), "hi")).await.unwrap();
    assert!(!again.fresh);
    assert_eq!(again.inbound.id, first.inbound.id);
    assert_eq!(again.inbound.turn.map(|turn| turn.to_string()).as_deref(), Some("t"));
    assert!(store.accept(inbound("c", Some("telegram:8"), "hi")).await.unwrap().fresh);
    let other = bench.other.create_conversation(conversation("c", 0)).await;
    other.unwrap();
    assert!(bench.other.accept(inbound("c", Some("telegram:7"), "hi")).await.unwrap().fresh);
}

/// Programs number their messages in each conversation anew: nothing is taken for what was said in another one, or with another message.
// LES-144 LES-145
pub async fn a_key_belongs_to_its_conversation(bench: &Bench) {
    let store = bench.store.as_ref();
    store.create_conversation(conversation("c", 0)).await.unwrap();
    store.create_conversation(conversation("d", 0)).await.unwrap();
    let first = store.accept(inbound("c", Some("2"), "my PIN is 0815")).await.unwrap().inbound;
    let other = store.accept(inbound("d", Some("2"), "what is on today")).await.unwrap();
    assert!(other.fresh && other.inbound.id != first.id);
    for (place, text) in [("c", "my PIN is 0815"), ("d", "what is on today")] {
        let again = store.accept(inbound(place, Some("2"), "again")).await.unwrap();
        let waiting = store.waiting(&conversation_id(place)).await.unwrap().rows;
        let waiting: Vec<&str> = waiting.iter().map(|inbound| inbound.text.as_str()).collect();
        assert!(!again.fresh && again.inbound.conversation == conversation_id(place));
        assert_eq!((again.inbound.text.as_str(), waiting), (text, vec![text]));
    }
    let (letter, said) =
        store.accept_with(inbound("d", None, "a letter"), inbound("d", Some("3"), "sum it up")).await.unwrap();
    assert!(letter.unwrap().fresh && said.fresh);
    let (letter, said) =
        store.accept_with(inbound("c", None, "another letter"), inbound("c", Some("3"), "sum it up")).await.unwrap();
    assert!(letter.unwrap().fresh && said.fresh, "the same key, with a letter, in another conversation");
}

/// What began a conversation is found again by its key and its words, with what was handed in.
// LES-145
pub async fn a_message_that_began_a_conversation_is_found_again(bench: &Bench) {
    let store = bench.store.as_ref();
    for id in ["c", "d", "e"] {
        store.create_conversation(conversation(id, 0)).await.unwrap();
    }
    let letter = inbound("c", None, "a letter");
    store.accept_with(letter, inbound("c", Some("1"), "sum it up")).await.unwrap();
    store.accept(inbound("d", Some("1"), "hi")).await.unwrap();
    store.accept(inbound("e", None, "earlier")).await.unwrap();
    store.accept(inbound("e", Some("1"), "later")).await.unwrap();
    let cases = [
        ("1", "sum it up", Some("a letter"), Some("c")),
        ("1", "sum it up", Some("another"), None),
        ("1", "sum it up", None, None),
        ("1", "hi", None, Some("d")),
        ("1", "hello", None, None),
        ("2", "hi", None, None),
        ("1", "later", None, None),
    ];
    for (key, text, handed_in, begun) in cases {
        let found = store.begun_by(key, text, handed_in, 0).await.unwrap();
        assert_eq!(found, begun.map(conversation_id), "{key} {text} {handed_in:?}");
        assert_eq!(bench.other.begun_by(key, text, handed_in, 0).await.unwrap(), None);
    }
    assert_eq!(store.begun_by("1", "hi", None, i64::MAX).await.unwrap(), None, "long ago");
}

/// Two owners with the same ids know nothing of each other.
// LES-147
pub async fn nobody_sees_what_is_anothers(bench: &Bench) {
    let (lease, turn) = begun(bench.store.as_ref(), "c", "t").await;
    let said = TurnWrite::Messages(vec![message(Role::User, "mine")]);
    bench.store.commit(&lease, &turn, vec![said, TurnWrite::Event(event("x"))], 1).await.unwrap();
    bench.store.store_memory(super::sample::memory(Some("k"), "mine alone", 1)).await.unwrap();
    bench.store.record_request(super::sample::request("r", 1, Vec::new())).await.unwrap();

    let other = bench.other.as_ref();
    let id = conversation_id("c");
    assert_eq!(other.conversation(&id).await.unwrap(), None);
    assert_eq!(other.conversations(9).await.unwrap().rows, []);
    assert_eq!(other.messages(&id, None).await.unwrap().rows, []);
    assert_eq!(other.turn(&turn).await.unwrap(), None);
    assert_eq!(other.turn_events(&turn).await.unwrap().rows, []);
    assert_eq!(other.unfinished_turns().await.unwrap().rows, []);
    assert_eq!(other.request(&limpid_core::RequestId::new("r")).await.unwrap(), None);
    assert_eq!(other.requests(crate::RequestFilter::default()).await.unwrap().rows, []);
    assert_eq!(other.costs(crate::CostQuery::default()).await.unwrap(), []);
    assert_eq!(other.memories(None).await.unwrap().rows, []);
    assert_eq!(other.memory_events(None).await.unwrap().rows, []);
    let found = other.candidates(&["mine".to_owned()], None, 9).await.unwrap();
    assert_eq!((found.memories, found.corpus.documents), (Vec::new(), 0));
    let foreign = other.commit(&lease, &turn, Vec::new(), 2).await;
    assert!(matches!(foreign, Err(StoreError::StaleFence { .. })), "{foreign:?}");
    begun(other, "c", "t").await;
    let theirs = other.store_memory(super::sample::memory(Some("k"), "theirs", 1)).await.unwrap();
    assert!(theirs.fresh);
    assert_eq!(bench.store.memory(&"k".into()).await.unwrap().unwrap().content, "mine alone");
}

/// Text of any kind, in any place, comes back as it was.
pub async fn any_text_is_kept(bench: &Bench) {
    let new = NewConversation { title: ODD.to_owned(), profile: ODD.to_owned(), ..conversation(ODD, 1) };
    let made = bench.store.create_conversation(new).await.unwrap();
    assert_eq!((made.id, made.title.as_str()), (conversation_id(ODD), ODD));
    let lease = lease(bench.store.as_ref(), ODD, 0).await;
    let turn = begin(bench.store.as_ref(), &lease, ODD, &[]).await;
    let said = TurnWrite::Messages(vec![message(Role::User, ODD), message(Role::Assistant, "")]);
    bench.store.commit(&lease, &turn, vec![said, TurnWrite::Event(event(ODD))], 1).await.unwrap();
    let texts = bench.store.messages(&conversation_id(ODD), None).await.unwrap();
    assert_eq!(texts.rows[0].message.text, ODD);
    assert_eq!(bench.store.turn_events(&turn).await.unwrap().rows[0].kind, ODD);
}
