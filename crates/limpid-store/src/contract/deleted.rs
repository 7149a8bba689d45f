//! Conversations that are deleted for good: what goes, what stays, and what is in the way.

use limpid_core::goal::{GoalAuthor, GoalEvent, GoalRecord, Priority};
use limpid_core::task::{MissedPolicy, Standing, TaskKind, TaskStatus, Trigger};
use limpid_core::{
    AgentState, CallId, DraftState, GoalId, Message, MessageId, Money, RequestId, Role, ToolCall, Trust, WindowView,
};

use super::Bench;
use super::agents::{LIMITS, end as agent_end, fresh, new as new_agent};
use super::request_log::end as request_end;
use super::sample::{
    begin, conversation, conversation_id, event, inbound, lease, memory, message, request, request_message,
};
use crate::ConversationKind::Run;
use crate::{
    CostBy, CostQuery, DeliveryOrigin, DraftEdit, DraftRoom, GoalAppend, Lease, NewConversation, NewDelivery, NewDraft,
    NewMemory, NewMessage, NewRaisedLabel, NewRequest, NewSetting, NewSnapshot, NewSubAgent, NewTask, NewWindowEvent,
    PendingNotifications, RaisingAct, RequestEnd, RequestFilter, RequestSummary, Store, StoreError, Task, TurnOutcome,
    TurnWrite,
};

const ROOM: DraftRoom = DraftRoom { open: 20, of_turn: 20, of_chat: None, of_background: (20, 20) };

/// The time at which a conversation is deleted; the leases have run out by then.
const NOW: i64 = 1_000_000;

/// A conversation of which everything is kept that can be, with a word in each text. Its task, and a memory that was made in it, have
/// other words.
pub async fn filled(store: &dyn Store, id: &str, word: &str) {
    let own = conversation_id(id);
    let turn_of = |n: u32| format!("{id}-turn-{n}");
    store.create_conversation(NewConversation { title: word.to_owned(), ..conversation(id, 1) }).await.unwrap();
    let held = lease(store, id, 0).await;
    let said = store.accept(inbound(id, Some(&format!("{id}-key")), word)).await.unwrap().inbound.id;
    let turn = begin(store, &held, &turn_of(1), &[said]).await;
    let call =
        ToolCall { id: CallId::new("a"), name: "read_file".to_owned(), arguments: format!("{{\"path\":\"{word}\"}}") };
    let calls = NewMessage::new(Message { calls: vec![call], ..Message::new(Role::Assistant, word, Trust::Owner) });
    let result =
        NewMessage::new(Message { call_id: Some(CallId::new("a")), ..Message::new(Role::Tool, word, Trust::Outside) });
    let asked = NewMessage {
        inbound: Some(said),
        typed: Some(word.to_owned()),
        ..message(Role::User, &format!("{word} [context]"))
    };
    let sent = NewRequest {
        messages: vec![request_message(Role::User, &[("said", word)])],
        ..request(&format!("{id}-r"), 5, Vec::new())
    };
    let records = |author| {
        let created =
            GoalEvent::Created { goal: GoalId::new("g"), description: word.to_owned(), priority: Priority::High };
        vec![GoalRecord { event: created, by: author, trust: Trust::Owner, turn: Some(turn.clone()), at_ms: 2 }]
    };
    // It goes with the end of its turn, and takes more than a page.
    let journal = crate::NewEvent { payload: format!("{word} ").repeat(3000), ..event("tool-done") };
    let writes = vec![
        TurnWrite::Messages(vec![asked, calls, result]),
        TurnWrite::Event(journal),
        TurnWrite::Request(Box::new(sent)),
        TurnWrite::Goals(GoalAppend { after: 0, records: records(GoalAuthor::Tool) }),
        TurnWrite::RequestEnd(
            RequestId::new(format!("{id}-r")),
            Box::new(RequestEnd { text: word.to_owned(), reasoning: word.to_owned(), ..request_end(6) }),
        ),
    ];
    store.commit(&held, &turn, writes, 3).await.unwrap();
    let agent = fresh(
        store
            .accept_agent(NewSubAgent { task: word.to_owned(), ..new_agent(id, &turn_of(1), "call") }, LIMITS)
            .await
            .unwrap(),
    );
    let run = NewConversation { kind: Run, id: agent.id.conversation(), ..conversation("", 0) };
    store.create_conversation(run).await.unwrap();
    let works = lease(store, agent.id.conversation().as_str(), 0).await;
    let its_turn = begin(store, &works, &format!("{id}-agent"), &[]).await;
    let its_request = NewRequest {
        messages: vec![request_message(Role::User, &[("task", word)])],
        ..request(&format!("{id}-q"), 5, Vec::new())
    };
    let did = vec![
        TurnWrite::Request(Box::new(its_request)),
        TurnWrite::Messages(vec![message(Role::Assistant, word)]),
        TurnWrite::End(TurnOutcome::Answered, String::new()),
    ];
    store.commit(&works, &its_turn, did, 4).await.unwrap();
    store.release(&works.conversation, works.fence).await.unwrap();
    store
        .end_agent(crate::AgentEnd {
            notice: word.to_owned(),
            result: word.to_owned(),
            ..agent_end(agent.id, AgentState::Done)
        })
        .await
        .unwrap();
    // A turn takes what tells of its end.
    let waiting: Vec<_> = store.waiting(&own).await.unwrap().rows.into_iter().map(|row| row.id).collect();
    store
        .commit(&held, &turn, vec![TurnWrite::Take(waiting), TurnWrite::End(TurnOutcome::Answered, String::new())], 5)
        .await
        .unwrap();
    beside(store, &held, id, word).await;
    store.release(&own, held.fence).await.unwrap();
}

/// What stands beside the messages.
async fn beside(store: &dyn Store, held: &Lease, id: &str, word: &str) {
    let own = conversation_id(id);
    let text = || word.to_owned();
    let draft = store.keep_draft(new_draft(id, word), ROOM).await.unwrap().unwrap();
    let edit = DraftEdit {
        arguments: text(),
        about: Some(text()),
        hash: "ff".to_owned(),
        folder: text(),
        destination: None,
        why: text(),
        detail: text(),
    };
    store.change_draft(draft.id, edit, 6).await.unwrap();
    let delivery = NewDelivery {
        key: format!("{id}-delivery"),
        conversation: own.clone(),
        origin: DeliveryOrigin::Task,
        title: text(),
        text: text(),
        trust: Trust::Owner,
        draft: None,
        now_ms: 6,
    };
    store.enqueue(delivery.clone()).await.unwrap();
    let number = store.pending_deliveries(Some(&own)).await.unwrap().rows[0].id;
    let notifications = PendingNotifications { names: vec!["push".to_owned()], holder: "me".to_owned() };
    store.deliver(held, number, vec![message(Role::Assistant, word)], notifications, 7).await.unwrap();
    store.enqueue(NewDelivery { key: format!("{id}-waits"), ..delivery }).await.unwrap();
    let shown = NewWindowEvent {
        kind: text(),
        steps: vec![text()],
        view: Some(WindowView::default()),
        ..NewWindowEvent::default()
    };
    store.write_window(held, shown, 8).await.unwrap();
    let moment = NewSnapshot { reason: text(), newest: Some(MessageId(1)), ..NewSnapshot::default() };
    store.keep_snapshot(&own, moment, 8).await.unwrap();
    store.choose_skills(&own, vec![text()]).await.unwrap();
    let setting = NewSetting { name: "focus".to_owned(), value: Some(text()), trigger: "manual".to_owned() };
    store.set_in_conversation(&own, Vec::new(), vec![setting], 8).await.unwrap();
    let mine = NewRaisedLabel {
        act: RaisingAct::Mine,
        subject: id.to_owned(),
        shown: text(),
        source: "chat".to_owned(),
        now_ms: 8,
    };
    store.raise_label(mine).await.unwrap();
    let task = NewTask {
        key: None,
        description: format!("a task of {id}"),
        prompt: "water the plants".to_owned(),
        kind: TaskKind::Reminder,
        trigger: Trigger::Once(at(50)),
        zone: "UTC".to_owned(),
        missed: MissedPolicy::RunIfWithin(jiff::SignedDuration::from_hours(12)),
        base: None,
        conversation: Some(own),
        trust: Trust::Outside,
        typed: false,
    };
    store.keep_task(task, Standing { status: TaskStatus::Pending, next: Some(at(50)), failures: 0 }, 8).await.unwrap();
    let source = Some(format!("turn:{id}-turn-1"));
    let remembered = NewMemory { source, trust: Trust::Outside, ..memory(Some(id), &format!("a memory of {id}"), 8) };
    store.store_memory(remembered).await.unwrap();
}

fn new_draft(id: &str, word: &str) -> NewDraft {
    NewDraft {
        conversation: conversation_id(id),
        turn: limpid_core::TurnId::new(format!("{id}-turn-1")),
        call: CallId::new("d"),
        tool: "send_mail".to_owned(),
        arguments: word.to_owned(),
        about: None,
        hash: "00ff".to_owned(),
        folder: word.to_owned(),
        destination: Some(word.to_owned()),
        why: word.to_owned(),
        led_by: word.to_owned(),
        trust: Trust::Outside,
        now_ms: 5,
        expires_ms: 500,
    }
}

fn at(ms: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_millisecond(ms).unwrap()
}

async fn task_of(store: &dyn Store, id: &str) -> Task {
    let rows = store.tasks(None).await.unwrap().rows;
    rows.into_iter().find(|task| task.new.description == format!("a task of {id}")).unwrap()
}

/// Nothing of it is left, and of another one everything.
// SUR-020 PICO-049
pub async fn a_deleted_conversation_goes_whole_and_alone(bench: &Bench) {
    let store = bench.store.as_ref();
    filled(store, "gone", "needle").await;
    filled(store, "kept", "straw").await;
    filled(bench.other.as_ref(), "gone", "needle").await;
    let kept = conversation_id("kept");
    let before = (store.conversation(&kept).await.unwrap(), store.messages(&kept, None).await.unwrap());
    let id = conversation_id("gone");
    store.delete_conversation(&id, NOW).await.unwrap();

    assert_eq!(store.conversation(&id).await.unwrap(), None);
    let listed: Vec<_> = store.conversations(9).await.unwrap().rows.into_iter().map(|own| own.id).collect();
    assert_eq!(listed, std::slice::from_ref(&kept));
    assert_eq!(store.find_conversations(&["needle".to_owned()], 9).await.unwrap().rows, []);
    assert_eq!(store.messages(&id, None).await.unwrap().rows, []);
    assert_eq!(store.typed(&id).await.unwrap(), [""; 0]);
    assert_eq!(store.unread_deliveries().await.unwrap().rows.len(), 1);
    assert_eq!(store.pending_deliveries(None).await.unwrap().rows.len(), 1);
    assert_eq!(store.drafts(&[DraftState::Open]).await.unwrap().rows.len(), 1);
    assert_eq!(store.goal_conversations(9).await.unwrap(), std::slice::from_ref(&kept));
    assert_eq!(store.agents(crate::AgentFilter::default()).await.unwrap().rows.len(), 1);
    assert_eq!(store.raised_labels().await.unwrap().rows.len(), 1);
    let again = store.delete_conversation(&id, NOW).await;
    assert!(matches!(again, Err(StoreError::NotFound { .. })), "{again:?}");

    // Each with its own label.
    let (task, other) = (task_of(store, "gone").await, task_of(store, "kept").await);
    assert_eq!(
        (task.new.conversation, task.new.trust, task.standing.status),
        (None, Trust::Outside, TaskStatus::Pending)
    );
    assert_eq!(other.new.conversation, Some(kept.clone()));
    let memories = store.memories(None).await.unwrap().rows;
    let memories: Vec<_> = memories.iter().map(|memory| (memory.content.as_str(), memory.trust)).collect();
    assert_eq!(memories, [("a memory of gone", Trust::Outside), ("a memory of kept", Trust::Outside)]);
    assert_eq!((store.conversation(&kept).await.unwrap(), store.messages(&kept, None).await.unwrap()), before);
    assert!(bench.other.conversation(&id).await.unwrap().is_some(), "it is another owner's");

    // Whoever comes later under its name begins anew.
    store.create_conversation(conversation("gone", 9)).await.unwrap();
    assert_eq!(store.messages(&id, None).await.unwrap().rows, []);
    lease(store, "gone", NOW).await;
}

/// Sums stay what they were, and whose work it was; the texts that were sent are gone.
// SUR-020 SUR-025
pub async fn what_a_deleted_conversation_cost_stays(bench: &Bench) {
    let store = bench.store.as_ref();
    filled(store, "gone", "needle").await;
    let day = CostQuery { by: CostBy::Day, ..CostQuery::default() };
    let before = (store.costs(day.clone()).await.unwrap(), store.spent(0, None).await.unwrap());
    assert!(before.0.iter().any(|row| row.requests == 2 && row.cost == Money(1500)), "{before:?}");
    store.delete_conversation(&conversation_id("gone"), NOW).await.unwrap();
    assert_eq!((store.costs(day).await.unwrap(), store.spent(0, None).await.unwrap()), before);
    let groups = store.costs(CostQuery { by: CostBy::Conversation, ..CostQuery::default() }).await.unwrap();
    assert_eq!(groups.iter().map(|row| (row.group.as_str(), row.requests)).collect::<Vec<_>>(), [("deleted-chat", 2)]);
    assert_eq!(store.requests(RequestFilter::default()).await.unwrap().rows, [] as [RequestSummary; 0]);
    assert_eq!(store.request(&RequestId::new("gone-r")).await.unwrap(), None);
    for stands_in in ["deleted-chat", "deleted-run"] {
        let id = conversation_id(stands_in);
        assert_eq!(store.conversation(&id).await.unwrap(), None);
        assert!(store.delete_conversation(&id, NOW).await.is_err());
    }
}

/// A running turn, a message that waits, a lease, a draft on its way, a task that runs: each keeps it whole.
// SUR-020
pub async fn what_is_at_work_keeps_a_conversation(bench: &Bench) {
    let store = bench.store.as_ref();
    filled(store, "c", "needle").await;
    let id = conversation_id("c");
    let refused = async || {
        let before = (store.conversation(&id).await.unwrap(), store.messages(&id, None).await.unwrap());
        let refused = store.delete_conversation(&id, NOW).await;
        assert!(matches!(&refused, Err(StoreError::Invalid(why)) if why.contains("still at work")), "{refused:?}");
        assert_eq!((store.conversation(&id).await.unwrap(), store.messages(&id, None).await.unwrap()), before);
    };
    let held = lease(store, "c", NOW).await;
    refused().await;
    let turn = begin(store, &held, "t", &[]).await;
    store.release(&id, held.fence).await.unwrap();
    refused().await;
    let held = lease(store, "c", NOW).await;
    store.commit(&held, &turn, vec![TurnWrite::End(TurnOutcome::Answered, String::new())], NOW).await.unwrap();
    store.release(&id, held.fence).await.unwrap();

    let task = task_of(store, "c").await;
    let run = store.begin_task_run(task.id, 50, NOW).await.unwrap();
    refused().await;
    let end = crate::TaskRunEnd {
        run,
        outcome: limpid_core::task::RunOutcome::Done,
        detail: String::new(),
        conversation: None,
        standing: task.standing,
        delivery: None,
        now_ms: NOW,
    };
    store.end_task_run(end).await.unwrap();

    let draft = store
        .keep_draft(NewDraft { call: CallId::new("d2"), ..new_draft("c", "needle") }, ROOM)
        .await
        .unwrap()
        .unwrap();
    store.move_draft(draft.id, DraftState::Approved, "", NOW).await.unwrap();
    refused().await;
    store.move_draft(draft.id, DraftState::Sending, "", NOW).await.unwrap();
    refused().await;
    store.move_draft(draft.id, DraftState::Sent, "", NOW).await.unwrap();

    let waits = store.accept(inbound("c", None, "and now?")).await.unwrap().inbound.id;
    refused().await;
    let held = lease(store, "c", NOW).await;
    let turn = begin(store, &held, "t2", &[waits]).await;
    store.commit(&held, &turn, vec![TurnWrite::End(TurnOutcome::Answered, String::new())], NOW).await.unwrap();
    store.release(&id, held.fence).await.unwrap();
    store.delete_conversation(&id, NOW).await.unwrap();

    store.create_conversation(NewConversation { kind: Run, ..conversation("run", 1) }).await.unwrap();
    let run = store.delete_conversation(&conversation_id("run"), NOW).await;
    assert!(matches!(run, Err(StoreError::NotFound { .. })), "{run:?}");
}
