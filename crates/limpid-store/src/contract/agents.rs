//! Agents that turns hand work to.

use std::collections::HashSet;

use limpid_core::{
    AgentId, AgentLimits, AgentRefusal, AgentState, CallId, ConversationId, Labelled, Purse, RequestId, Trust, TurnId,
};

use super::Bench;
use super::request_log::end as request_end;
use super::sample::{ODD, begin, begun, conversation, inbound, lease, request};
use crate::{
    AcceptedAgent, AgentEnd, AgentEnded, AgentFilter, ConversationKind, CostBy, CostQuery, InboundId, Lease,
    NewConversation, NewPlan, NewPlannedTask, NewRequest, NewSubAgent, RequestEnd, Store, StoreError, SubAgent,
};

pub(super) const LIMITS: AgentLimits = AgentLimits { live: 3, tokens: 1000, a_day: None };

/// An agent is there as it was given before anybody hears of it, and a call that is made again finds it.
// PICO-062 LES-110
pub async fn an_agent_is_kept_as_it_was_given(bench: &Bench) {
    let store = bench.store.as_ref();
    begun(store, "a", "t").await;
    let new = NewSubAgent {
        task: ODD.to_owned(),
        skill: Some("tea".to_owned()),
        context: Some("c".to_owned()),
        tools: Some(vec!["read_file".to_owned()]),
        trust: Trust::Outside,
        ..new("a", "t", "1")
    };
    let agent = fresh(store.accept_agent(new.clone(), LIMITS).await.unwrap());
    assert_eq!((&agent.new, agent.depth, agent.state), (&new, 1, AgentState::Queued));
    assert_eq!((agent.root.as_str(), agent.chat.as_str(), agent.tokens), ("t", "a", 1000));
    assert_eq!(store.agent(agent.id).await.unwrap().as_ref(), Some(&agent));
    assert_eq!(store.agent_in(&agent.id.conversation()).await.unwrap().as_ref(), Some(&agent));
    assert_eq!(bench.other.agent(agent.id).await.unwrap(), None, "it is its owner's");
    let again = store.accept_agent(new, LIMITS).await.unwrap();
    assert_eq!(again, AcceptedAgent::Known(Box::new(agent)));
    let nowhere = store.accept_agent(self::new("nobody", "t", "2"), LIMITS).await;
    assert!(matches!(nowhere, Err(StoreError::NotFound { .. })), "{nowhere:?}");
}

/// The end of an agent is written once, and whoever started it is told once, in the same moment.
// PICO-062 LES-110 LES-117 KOSHI-043
pub async fn an_agent_ends_once_and_is_told_once(bench: &Bench) {
    let store = bench.store.as_ref();
    begun(store, "a", "t").await;
    let agent = fresh(store.accept_agent(new("a", "t", "1"), LIMITS).await.unwrap());
    assert!(store.begin_agent(agent.id, 5).await.unwrap());
    assert!(!store.begin_agent(agent.id, 6).await.unwrap());
    let running = AgentEnd { state: AgentState::Running, ..end(agent.id, AgentState::Done) };
    assert!(matches!(store.end_agent(running).await, Err(StoreError::Invalid(_))));
    let done = AgentEnd { result: "tea".to_owned(), trust: Trust::Guest, ..end(agent.id, AgentState::Done) };
    assert_eq!(store.end_agent(done).await.unwrap(), AgentEnded::Now);
    assert_eq!(store.end_agent(end(agent.id, AgentState::Cancelled)).await.unwrap(), AgentEnded::Before);
    let ended = store.agent(agent.id).await.unwrap().unwrap();
    assert_eq!((ended.state, ended.result.as_str(), ended.trust), (AgentState::Done, "tea", Trust::Guest));
    let waiting = store.waiting(&ConversationId::new("a")).await.unwrap().rows;
    let told: Vec<_> = waiting.iter().map(|row| (row.text.as_str(), row.trust)).collect();
    assert_eq!(told, [("tea", Trust::Guest), ("it ended", Trust::File)]);
    assert_eq!(ended.told, waiting.last().map(|row| row.id));
    assert!(store.typed(&ConversationId::new("a")).await.unwrap().is_empty(), "the owner typed none of it");
    let missing = store.end_agent(end(AgentId(99), AgentState::Done)).await;
    assert!(matches!(missing, Err(StoreError::NotFound { .. })), "{missing:?}");
}

/// What an agent is told reaches it before its end, or finds that it has ended: its end is written only where it knows of it.
// LES-120 LES-129
pub async fn a_message_to_an_agent_comes_before_its_end_or_finds_it_ended(bench: &Bench) {
    let store = bench.store.as_ref();
    begun(store, "a", "t").await;
    let agent = fresh(store.accept_agent(new("a", "t", "1"), LIMITS).await.unwrap());
    let place = agent.works_in();
    let missing = store.tell_agent(inbound(place.as_str(), None, "too early")).await;
    assert!(matches!(missing, Err(StoreError::NotFound { .. })), "{missing:?}");
    begun_in(store, &place, "in").await;
    let tell = async |text: &str| store.tell_agent(inbound(place.as_str(), Some(text), text)).await.unwrap();
    assert_eq!(tell("only the green ones").await, Some(agent.id));
    let waiting = store.waiting(&place).await.unwrap().rows;
    let first = waiting[0].id;
    assert_eq!(store.end_agent(end(agent.id, AgentState::Done)).await.unwrap(), AgentEnded::IsTold(first));
    // It is stopped, by somebody who knows of the one and not of the other.
    assert_eq!(tell("and quickly").await, Some(agent.id));
    let stopped = AgentEnd { told_until: first, ..end(agent.id, AgentState::Cancelled) };
    let AgentEnded::IsTold(second) = store.end_agent(stopped.clone()).await.unwrap() else { panic!("it has ended") };
    assert!(second > first);
    assert_eq!(store.agent(agent.id).await.unwrap().unwrap().state, AgentState::Queued, "nothing is written");
    // A turn that has taken what it was told is none that its end tells of.
    let answered_by = Some(TurnId::new("earlier"));
    let done = AgentEnd { told_until: second, answered_by, ..end(agent.id, AgentState::Done) };
    assert_eq!(store.end_agent(done).await.unwrap(), AgentEnded::WorksOn);
    let stopped = AgentEnd { told_until: second, ..stopped };
    assert_eq!(store.end_agent(stopped).await.unwrap(), AgentEnded::Now);
    assert_eq!(tell("too late").await, None);
    assert_eq!(store.waiting(&place).await.unwrap().rows.len(), 2, "nothing is kept for one that has ended");
}

/// Whoever waits for an agent is told by the result of the call alone.
// PICO-060
pub async fn an_agent_that_is_waited_for_sends_no_message(bench: &Bench) {
    let store = bench.store.as_ref();
    begun(store, "a", "t").await;
    let new = NewSubAgent { waited_for: true, ..new("a", "t", "1") };
    let agent = fresh(store.accept_agent(new, LIMITS).await.unwrap());
    assert_eq!(store.end_agent(end(agent.id, AgentState::Failed)).await.unwrap(), AgentEnded::Now);
    assert_eq!(store.agent(agent.id).await.unwrap().unwrap().told, None);
    assert!(store.waiting(&ConversationId::new("a")).await.unwrap().rows.is_empty());
}

/// A task is given once a turn, and so many agents work for a conversation at a time.
// LES-116 PICO-064 PICO-065 KOSHI-044
pub async fn a_turn_gives_a_task_once_and_few_agents_work_at_a_time(bench: &Bench) {
    let store = bench.store.as_ref();
    let (lease, _) = begun(store, "a", "t").await;
    let first = fresh(store.accept_agent(new("a", "t", "1"), LIMITS).await.unwrap());
    let same = NewSubAgent { task: format!(" {}\n", first.new.task), ..new("a", "t", "2") };
    assert_eq!(refused(store.accept_agent(same.clone(), LIMITS).await.unwrap()), AgentRefusal::SameTask(first.id));
    for call in ["3", "4"] {
        fresh(store.accept_agent(new("a", "t", call), LIMITS).await.unwrap());
    }
    assert_eq!(refused(store.accept_agent(new("a", "t", "5"), LIMITS).await.unwrap()), AgentRefusal::Live(3));
    store.end_agent(end(first.id, AgentState::Done)).await.unwrap();
    fresh(store.accept_agent(new("a", "t", "5"), LIMITS).await.unwrap());
    store.end_agent(end(AgentId(first.id.0 + 1), AgentState::Done)).await.unwrap();
    store
        .commit(&lease, &TurnId::new("t"), vec![crate::TurnWrite::End(crate::TurnOutcome::Answered, String::new())], 1)
        .await
        .unwrap();
    begin(store, &lease, "u", &[]).await;
    let later = NewSubAgent { turn: TurnId::new("u"), ..same };
    fresh(store.accept_agent(later, LIMITS).await.unwrap());
}

/// A tree has a depth, a number and a budget, and what the end of an agent leads to belongs to its tree.
// PICO-064 LES-119
pub async fn a_tree_of_agents_comes_to_an_end(bench: &Bench) {
    let store = bench.store.as_ref();
    let (lease, _) = begun(store, "a", "t").await;
    let mut above = fresh(store.accept_agent(new("a", "t", "1"), LIMITS).await.unwrap());
    for depth in 2..=3 {
        let turn = format!("t{depth}");
        begun_in(store, &above.id.conversation(), &turn).await;
        let new = NewSubAgent { conversation: above.id.conversation(), ..new("", &turn, "1") };
        let below = fresh(store.accept_agent(new, LIMITS).await.unwrap());
        assert_eq!(
            (below.depth, below.parent, below.root.as_str(), below.chat.as_str()),
            (depth, Some(above.id), "t", "a")
        );
        above = below;
    }
    begun_in(store, &above.id.conversation(), "t4").await;
    let too_deep = NewSubAgent { conversation: above.id.conversation(), ..new("", "t4", "1") };
    assert_eq!(refused(store.accept_agent(too_deep.clone(), LIMITS).await.unwrap()), AgentRefusal::Depth);
    store.end_agent(end(above.id, AgentState::Done)).await.unwrap();
    assert_eq!(refused(store.accept_agent(too_deep, LIMITS).await.unwrap()), AgentRefusal::Over);
    // A model that answers each end with a new agent.
    let (mut turn, mut call) = ("t".to_owned(), 10);
    let refused = loop {
        call += 1;
        let accepted = store.accept_agent(new("a", &turn, &call.to_string()), LIMITS).await.unwrap();
        let agent = match accepted {
            AcceptedAgent::Fresh(agent) => agent,
            AcceptedAgent::Refused(refusal) => break refusal,
            AcceptedAgent::Known(agent) => panic!("{agent:?}"),
        };
        assert_eq!(agent.root.as_str(), "t");
        store.end_agent(end(agent.id, AgentState::Done)).await.unwrap();
        let told: Vec<InboundId> =
            store.waiting(&ConversationId::new("a")).await.unwrap().rows.iter().map(|row| row.id).collect();
        turn = format!("t-{call}");
        begin(store, &lease, &turn, &told).await;
    };
    assert_eq!(refused, AgentRefusal::Tree);
    assert_eq!(store.agents(AgentFilter::default()).await.unwrap().rows.len(), 16);
    // What a person says begins another tree, also when the end of an agent came with it.
    let said = store.accept(inbound("a", None, "go on")).await.unwrap().inbound.id;
    begin(store, &lease, "said", &[said]).await;
    assert_eq!(fresh(store.accept_agent(new("a", "said", "1"), LIMITS).await.unwrap()).root.as_str(), "said");
    // However many turns there are, a day has an end where one is set.
    let few = AgentLimits { a_day: Some(5), ..LIMITS };
    begin(store, &lease, "few", &[]).await;
    assert_eq!(self::refused(store.accept_agent(new("a", "few", "1"), few).await.unwrap()), AgentRefusal::Day(5));
    let spent = AgentLimits { tokens: 0, ..LIMITS };
    begin(store, &lease, "spent", &[]).await;
    assert_eq!(
        self::refused(store.accept_agent(new("a", "spent", "1"), spent).await.unwrap()),
        AgentRefusal::Tokens(0)
    );
}

/// Each side has its own places, its own number, and its own tokens.
// SEC-093 SEC-102 LES-119
pub async fn strangers_agents_take_no_place_number_or_tokens_of_the_owners(bench: &Bench) {
    let store = bench.store.as_ref();
    begun(store, "a", "t").await;
    let new = |call: &str, by_strangers: bool| {
        let trust = if by_strangers { Trust::Outside } else { Trust::Owner };
        NewSubAgent { trust, by_strangers, ..new("a", "t", call) }
    };
    let limits = AgentLimits { a_day: Some(20), ..LIMITS };
    let accept = async |call: String, by_strangers| store.accept_agent(new(&call, by_strangers), limits).await.unwrap();
    for (full, other) in [(true, false), (false, true)] {
        for at in 0..3 {
            fresh(accept(format!("place {full} {at}"), full).await);
        }
        assert_eq!(refused(accept("no place".to_owned(), full).await), AgentRefusal::Live(3));
        let there = fresh(accept(format!("beside {full}"), other).await);
        assert_eq!(there.new.by_strangers, other);
        for open in store.agents(AgentFilter { open: true, ..AgentFilter::default() }).await.unwrap().rows {
            // Whatever it has read by its end, it is its owner's.
            store.end_agent(AgentEnd { trust: Trust::Outside, ..end(open.id, AgentState::Done) }).await.unwrap();
        }
    }
    for at in 0..12 {
        let agent = fresh(accept(format!("number {at}"), true).await);
        store.end_agent(end(agent.id, AgentState::Done)).await.unwrap();
    }
    assert_eq!(refused(accept("no number".to_owned(), true).await), AgentRefusal::Tree);
    // A stranger's text said the very same before.
    let own = NewSubAgent { task: "make tea number 0".to_owned(), ..new("own", false) };
    let own = fresh(store.accept_agent(own, limits).await.unwrap());
    let all = store.agents(AgentFilter::default()).await.unwrap().rows;
    assert_eq!(all.iter().filter(|agent| agent.new.by_strangers).count(), 16);
    let strangers = all.iter().find(|agent| agent.new.by_strangers).unwrap();
    for agent in [strangers, &own] {
        let run = NewConversation { id: agent.id.conversation(), ..conversation("", 0) };
        store.create_conversation(run).await.unwrap();
    }
    for (agent, name) in [(strangers, "of a stranger"), (&own, "clean"), (&own, "tainted")] {
        let used = NewRequest { conversation: Some(agent.id.conversation()), ..request(name, 1, Vec::new()) };
        store.record_request(used).await.unwrap();
    }
    let read = RequestEnd { trust: Trust::Outside, usage: None, ..request_end(2) };
    store.end_request(&RequestId::new("tainted"), read).await.unwrap();
    for purse in [Purse::Clean, Purse::Tainted, Purse::Strangers] {
        let used = store.tokens_of_tree(&TurnId::new("t"), purse).await.unwrap();
        assert_eq!(used, 20, "{}", purse.as_str());
    }
}

/// However often strangers' texts have it go on since.
// SEC-050 SEC-065 LES-120
pub async fn work_that_an_agent_of_the_owners_began_stays_theirs(bench: &Bench) {
    let store = bench.store.as_ref();
    begun(store, "a", "t").await;
    for first_by_strangers in [false, true] {
        let mut before = None;
        for n in 0..4 {
            let next = NewSubAgent {
                by_strangers: first_by_strangers || n > 0,
                continues: before,
                ..new("a", "t", &format!("{first_by_strangers} {n}"))
            };
            let agent = fresh(store.accept_agent(next, LIMITS).await.unwrap());
            let place = agent.works_in();
            assert_eq!(store.is_owners_work(&place).await.unwrap(), !first_by_strangers, "agent {n}");
            assert!(!bench.other.is_owners_work(&place).await.unwrap(), "no work of another owner's");
            store.end_agent(end(agent.id, AgentState::Done)).await.unwrap();
            before = Some(agent.id);
        }
    }
}

/// What an agent costs is its chat's, and its tokens are its tree's.
// LES-119 PICO-064
pub async fn what_an_agent_costs_is_its_chats(bench: &Bench) {
    let store = bench.store.as_ref();
    let (lease, _) = begun(store, "a", "t").await;
    let agent = fresh(store.accept_agent(new("a", "t", "1"), LIMITS).await.unwrap());
    let run = NewConversation { kind: ConversationKind::Run, id: agent.id.conversation(), ..conversation("", 0) };
    store.create_conversation(run).await.unwrap();
    for (id, conversation) in [("q", agent.id.conversation()), ("r", ConversationId::new("a"))] {
        let request = NewRequest { conversation: Some(conversation), ..request(id, 1, Vec::new()) };
        store.record_request(request).await.unwrap();
    }
    assert_eq!(store.tokens_of_tree(&TurnId::new("t"), Purse::Clean).await.unwrap(), 20);
    // One that goes on with its work, for another message, has a budget of its own.
    store.end_agent(end(agent.id, AgentState::Done)).await.unwrap();
    begin(store, &lease, "v", &[]).await;
    let goes_on = NewSubAgent { continues: Some(agent.id), ..new("a", "v", "1") };
    let goes_on = fresh(store.accept_agent(goes_on, LIMITS).await.unwrap());
    assert_eq!((goes_on.works_in(), goes_on.message_before), (agent.works_in(), None));
    assert_eq!(store.tokens_of_tree(&TurnId::new("v"), Purse::Clean).await.unwrap(), 0);
    let later = NewRequest { conversation: Some(agent.works_in()), ..request("q2", 1, Vec::new()) };
    store.record_request(later).await.unwrap();
    for tree in ["t", "v"] {
        assert_eq!(store.tokens_of_tree(&TurnId::new(tree), Purse::Clean).await.unwrap(), 20, "{tree}");
    }
    let query = CostQuery { by: CostBy::Conversation, ..CostQuery::default() };
    let costs = store.costs(query).await.unwrap();
    assert_eq!(costs.iter().map(|row| (row.group.as_str(), row.requests)).collect::<Vec<_>>(), [("a", 3)]);
    let spent = store.spent(0, None).await.unwrap();
    assert!(spent.iter().all(|row| !row.in_background), "the owner asked for it: {spent:?}");
    let few = AgentLimits { tokens: 20, ..LIMITS };
    begun(store, "b", "u").await;
    let other = fresh(store.accept_agent(new("b", "u", "1"), few).await.unwrap());
    let run = NewConversation { id: other.id.conversation(), ..conversation("", 0) };
    store.create_conversation(run).await.unwrap();
    let request = NewRequest { conversation: Some(other.id.conversation()), ..request("s", 1, Vec::new()) };
    store.record_request(request).await.unwrap();
    let spent = store.accept_agent(new("b", "u", "2"), few).await.unwrap();
    assert_eq!(refused(spent), AgentRefusal::Tokens(20));
}

/// However many agents were started because of a stranger's text, and whatever the owner's have read since.
// SEC-102
pub async fn strangers_agents_push_none_of_the_owners_out_of_a_list(bench: &Bench) {
    let store = bench.store.as_ref();
    begun(store, "a", "t").await;
    let own = fresh(store.accept_agent(new("a", "t", "own"), LIMITS).await.unwrap());
    let read = AgentEnd { trust: Trust::Outside, ..end(own.id, AgentState::Done) };
    assert_eq!(store.end_agent(read).await.unwrap(), AgentEnded::Now);
    for n in 0..30 {
        begun(store, &format!("s{n}"), &format!("s{n}")).await;
        let theirs =
            NewSubAgent { by_strangers: true, trust: Trust::Outside, ..new(&format!("s{n}"), &format!("s{n}"), "1") };
        fresh(store.accept_agent(theirs, LIMITS).await.unwrap());
    }
    let listed = async |limit| {
        let rows = store.agents(AgentFilter { limit, ..AgentFilter::default() }).await.unwrap().rows;
        assert!(rows.is_sorted_by(|a, b| a.id > b.id), "newest first");
        (rows.len(), rows.iter().any(|agent| agent.id == own.id))
    };
    assert_eq!((listed(20).await, listed(1).await, listed(0).await), ((20, true), (2, true), (31, true)));
}

/// Random trees and random crashes: each accepted agent ends in one state and is told of once, to whoever started it.
// LES-110 PICO-062 PICO-063
pub async fn whatever_happens_each_agent_ends_once_and_is_told_once(bench: &Bench) {
    let store = bench.store.as_ref();
    let mut random = 7_u64;
    let mut next = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let (mut accepted, mut call) = (HashSet::new(), 0);
    for tree in 0..40 {
        let turn = format!("t{tree}");
        begun(store, &format!("c{tree}"), &turn).await;
        let mut parents = vec![(ConversationId::new(format!("c{tree}")), turn)];
        for _ in 0..60 {
            let open = store.agents(AgentFilter { open: true, ..AgentFilter::default() }).await.unwrap().rows;
            match (next(10), open.is_empty()) {
                (0..=4, _) | (_, true) => {
                    let (conversation, turn) = parents[next(parents.len() as u64) as usize].clone();
                    call += 1;
                    let new = NewSubAgent {
                        conversation,
                        waited_for: next(5) == 0,
                        ..new("", &turn, &format!("{}", call - next(2)))
                    };
                    if let AcceptedAgent::Fresh(agent) = store.accept_agent(new, LIMITS).await.unwrap() {
                        accepted.insert(agent.id);
                        let turn = format!("in-{}", agent.id);
                        begun_in(store, &agent.id.conversation(), &turn).await;
                        parents.push((agent.id.conversation(), turn));
                    }
                }
                (5 | 6, _) => drop(store.begin_agent(open[next(open.len() as u64) as usize].id, 1).await.unwrap()),
                // Somebody who comes too late changes nothing.
                (7 | 8, _) => {
                    let id = open[next(open.len() as u64) as usize].id;
                    let states = AgentState::ALL.into_iter().filter(|state| state.is_over());
                    let state = states.clone().nth(next(5) as usize).unwrap();
                    let ended = ends(store, AgentEnd { result: "r".to_owned(), ..end(id, state) }).await;
                    assert_eq!(ended, AgentEnded::Now);
                    for state in states {
                        assert_eq!(store.end_agent(end(id, state)).await.unwrap(), AgentEnded::Before);
                    }
                    assert_eq!(store.agent(id).await.unwrap().unwrap().state, state);
                }
                // The process dies, and another one looks at what it left.
                _ => {
                    for agent in open {
                        let ended = ends(store, end(agent.id, AgentState::Interrupted)).await;
                        assert_eq!(ended, AgentEnded::Now);
                    }
                }
            }
        }
    }
    for agent in store.agents(AgentFilter { open: true, ..AgentFilter::default() }).await.unwrap().rows {
        ends(store, end(agent.id, AgentState::Interrupted)).await;
    }
    let all = store.agents(AgentFilter::default()).await.unwrap();
    assert!(all.broken.is_empty());
    assert_eq!(all.rows.iter().map(|agent| agent.id).collect::<HashSet<_>>(), accepted);
    assert!(all.rows.len() > 300, "{}", all.rows.len());
    let mut told = HashSet::new();
    for agent in all.rows {
        assert!(agent.state.is_over() && agent.depth <= 3);
        let waiting = store.waiting(&agent.new.conversation).await.unwrap().rows;
        let notices: Vec<_> = waiting.iter().filter(|row| row.key == Some(format!("agent/{}", agent.id))).collect();
        let expected: &[InboundId] = if agent.new.waited_for { &[] } else { &[agent.told.unwrap()] };
        assert_eq!(notices.iter().map(|row| row.id).collect::<Vec<_>>(), expected);
        assert!(notices.iter().all(|row| told.insert(row.id)));
    }
}

/// Ends an agent whatever it was told.
async fn ends(store: &dyn Store, end: AgentEnd) -> AgentEnded {
    store.end_agent(AgentEnd { told_until: InboundId(i64::MAX), ..end }).await.unwrap()
}

/// Whole plans are read, the newest of a conversation, and older ones of which nothing was ever started are deleted.
// KOSHI-044
pub async fn the_newest_plans_are_kept_and_those_that_were_started(bench: &Bench) {
    let store = bench.store.as_ref();
    begun(store, "a", "t").await;
    let chat = ConversationId::new("a");
    let plan = async |call: u32| {
        let task = |at: usize| NewPlannedTask {
            name: format!("{call}-{at}"),
            task: "tea".to_owned(),
            skill: None,
            context: None,
            needs: (0..at).collect(),
        };
        let plan = NewPlan {
            chat: chat.clone(),
            turn: TurnId::new("t"),
            call: CallId::new(call.to_string()),
            tasks: (0..16).map(task).collect(),
            trust: Trust::Owner,
            now_ms: 1,
        };
        store.keep_plan(plan).await.unwrap()
    };
    let first = plan(0).await;
    assert_eq!(first.len(), 16);
    store.want_planned(&[first[0].id], &TurnId::new("t"), Some("/repo"), Trust::Owner).await.unwrap();
    let read = store.planned_tasks(Some(&chat)).await.unwrap().rows;
    assert_eq!((read[0].base.as_deref(), read[1].base.as_deref()), (Some("/repo"), None), "where it was wanted");
    for call in 1..=30 {
        assert_eq!(plan(call).await.len(), 16);
        let read = store.planned_tasks(Some(&chat)).await.unwrap().rows;
        assert!(read.len() <= 176 && read.len() >= 160.min(16 * (call as usize + 1)), "{}", read.len());
        let ids: HashSet<_> = read.iter().map(|task| task.id).collect();
        assert!(read.iter().flat_map(|task| &task.needs).all(|need| ids.contains(need)), "plans are whole");
    }
    let all = store.planned_tasks(None).await.unwrap().rows;
    assert_eq!(all.iter().filter(|task| task.name.starts_with("0-")).count(), 16, "it was started");
    assert!(all.len() <= 16 + 176 && all.iter().all(|task| !task.name.starts_with("1-")), "{}", all.len());
}

/// Lists of tasks show why one got no agent, and a server may have a part in these words.
// SEC-051 SEC-055
pub async fn a_task_has_the_label_of_why_it_got_no_agent(bench: &Bench) {
    let store = bench.store.as_ref();
    begun(store, "a", "t").await;
    let task =
        NewPlannedTask { name: "tea".to_owned(), task: ODD.to_owned(), skill: None, context: None, needs: Vec::new() };
    let plan = NewPlan {
        chat: ConversationId::new("a"),
        turn: TurnId::new("t"),
        call: CallId::new("1"),
        tasks: vec![task],
        trust: Trust::Owner,
        now_ms: 1,
    };
    let id = store.keep_plan(plan).await.unwrap()[0].id;
    for (label, of_task) in [
        (Trust::Owner, Trust::Owner),
        (Trust::File, Trust::Owner),
        (Trust::Outside, Trust::Outside),
        (Trust::Owner, Trust::Outside),
    ] {
        store.refuse_planned(id, &Labelled::new(ODD.to_owned(), label)).await.unwrap();
        let read = store.planned_tasks(None).await.unwrap().rows;
        assert_eq!((read[0].refusal.as_deref(), read[0].trust), (Some(ODD), of_task), "{label}");
    }
}

pub(super) fn new(conversation: &str, turn: &str, call: &str) -> NewSubAgent {
    NewSubAgent {
        conversation: ConversationId::new(conversation),
        turn: TurnId::new(turn),
        call: CallId::new(call),
        path: "worker".to_owned(),
        waited_for: false,
        label: "tea".to_owned(),
        task: format!("make tea {call}"),
        skill: None,
        context: None,
        tools: None,
        planned: None,
        continues: None,
        named: None,
        trust: Trust::Owner,
        by_strangers: false,
        holder: "me".to_owned(),
        now_ms: 3,
    }
}

pub(super) fn end(id: AgentId, state: AgentState) -> AgentEnd {
    AgentEnd {
        id,
        told_until: InboundId(0),
        answered_by: None,
        state,
        result: String::new(),
        trust: Trust::Owner,
        reason: String::new(),
        above: String::new(),
        report: "{}".to_owned(),
        notice: "it ended".to_owned(),
        now_ms: 9,
    }
}

async fn begun_in(store: &dyn Store, id: &ConversationId, turn: &str) -> Lease {
    let new = NewConversation { id: id.clone(), ..conversation("", 0) };
    store.create_conversation(new).await.unwrap();
    let lease = lease(store, id.as_str(), 0).await;
    begin(store, &lease, turn, &[]).await;
    lease
}

pub(super) fn fresh(accepted: AcceptedAgent) -> SubAgent {
    match accepted {
        AcceptedAgent::Fresh(agent) => *agent,
        other => panic!("{other:?}"),
    }
}

fn refused(accepted: AcceptedAgent) -> AgentRefusal {
    match accepted {
        AcceptedAgent::Refused(refusal) => refusal,
        other => panic!("{other:?}"),
    }
}
