//! What of the memories reaches a prompt, and whose.

use crate::kit::{Bench, all, last, say, say_as_guest};
use limpid_core::task::TaskKind;
use limpid_core::{Category, Trust};
use limpid_runtime::tasks::{TaskRequest, When};
use limpid_runtime::{Agent, ChangeOutcome, ChatRequest, ConversationChoice, MemoryPolicy};
use limpid_store::{Audience, Author, ConversationChange, NewMemory, NewPromotion, SqliteOptions, SqliteStore};
use limpid_testkit::Recorded;

const OK: &str = "[[reply]]\ntext = \"ok\"\n";

/// A bench with a memory that helped often, a pinned one, MEMORY.md and a note of the day.
async fn filled(profile: &str, policy: Option<MemoryPolicy>) -> (Bench, Agent) {
    let mut bench = Bench::new(&OK.repeat(3)).await;
    bench.config.agent.profile = profile.to_owned();
    bench.config.memory.policy = policy;
    bench.write("workspace/memory/MEMORY.md", "Long-term-fact.\n");
    bench.write("workspace/memory/202603/20260328.md", "Daily-fact.\n");
    bench.write("workspace/USER.md", "About-the-owner.\n");
    let agent = bench.agent();
    agent.memory().remember("plain", "Stored-fact", Category::General, "test").await.unwrap();
    for _ in 0..4 {
        agent.memory().reinforce(&"plain".into()).await.unwrap();
    }
    agent.memory().remember("pin", "Pinned-fact", Category::General, "test").await.unwrap();
    agent.memory().pin(&"pin".into(), true).await.unwrap();
    (bench, agent)
}

/// Which of the facts a request holds, and whether it offers a query.
fn holds(request: &Recorded) -> Vec<&'static str> {
    let text = request.text();
    let all = ["Stored-fact", "Pinned-fact", "Long-term-fact", "Daily-fact", "memory_store"];
    all.into_iter().filter(|word| text.contains(word)).collect()
}

// KOSHI-020 LES-052 PICO-020
#[tokio::test]
async fn the_profile_chooses_how_memories_reach_a_prompt() {
    let cases: [(&str, &[&str]); 4] = [
        ("kai", &["Stored-fact", "Pinned-fact", "memory_store"]),
        ("koshi", &["memory_store"]),
        ("limpid", &["Pinned-fact", "memory_store"]),
        ("picoclaw", &["Long-term-fact", "Daily-fact"]),
    ];
    for (profile, wanted) in cases {
        let (bench, agent) = filled(profile, None).await;
        say(&agent, "hi").await;
        assert_eq!(holds(&bench.server.calls()[0]), wanted, "{profile}");
    }
}

// KOSHI-020 PRO-007
#[tokio::test]
async fn a_profile_built_on_another_shows_memories_as_that_one_does() {
    for profile in ["kai", "koshi", "limpid", "ollm", "picoclaw"] {
        let (bench, agent) = filled(profile, None).await;
        let (copied, copy) = filled("b", None).await;
        copied.write("profiles/a/profile.toml", &format!("base = \"{profile}\"\n"));
        copied.write("profiles/b/profile.toml", "base = \"a\"\n");
        say(&agent, "hi").await;
        say(&copy, "hi").await;
        let [first, second] = [&bench, &copied].map(|bench| holds(&bench.server.calls()[0]));
        assert_eq!(first, second, "b on a on {profile}");
    }
}

// KOSHI-020
#[tokio::test]
async fn the_owner_overrides_the_policy_of_the_profile() {
    let cases: [(&str, MemoryPolicy, &[&str]); 3] = [
        ("kai", MemoryPolicy::Recall, &["memory_store"]),
        ("kai", MemoryPolicy::Files, &[]),
        ("picoclaw", MemoryPolicy::Recall, &["memory_store"]),
    ];
    for (profile, policy, wanted) in cases {
        let (bench, agent) = filled(profile, Some(policy)).await;
        say(&agent, "hi").await;
        assert_eq!(holds(&bench.server.calls()[0]), wanted, "{profile} {policy:?}");
    }
}

// KAI-031
#[tokio::test]
async fn memory_that_is_off_is_in_no_prompt_and_is_there_again_when_it_is_on() {
    for profile in ["kai", "koshi", "limpid", "picoclaw"] {
        let (mut bench, agent) = filled(profile, None).await;
        say(&agent, "hi").await;
        let on = holds(&bench.server.calls()[0]);
        drop(agent);
        for (enabled, wanted) in [(false, Vec::new()), (true, on)] {
            bench.config.memory.enabled = enabled;
            let agent = bench.agent();
            let new = ChatRequest { text: "hi".to_owned(), ..ChatRequest::default() };
            all(agent.chat(new).await.unwrap()).await;
            assert_eq!(holds(bench.server.calls().last().unwrap()), wanted, "{profile} {enabled}");
        }
    }
}

// KAI-049
#[tokio::test]
async fn where_all_memories_stand_in_the_prompt_only_five_hits_make_a_candidate() {
    let mut bench = Bench::new(&OK.repeat(2)).await;
    bench.config.agent.profile = "kai".to_owned();
    let agent = bench.agent();
    agent.memory().remember("deploy", "Test first", Category::Learning, "test").await.unwrap();
    for reinforced in [3, 1] {
        for _ in 0..reinforced {
            agent.memory().reinforce(&"deploy".into()).await.unwrap();
        }
        say(&agent, "hi").await;
    }
    let shown = |request: &Recorded| {
        let hits = ["4x", "5x"].into_iter().find(|hits| request.system().contains(&format!("(reinforced {hits})")));
        (hits, request.json()["tools"].to_string().contains("\"promote_learning\""))
    };
    let shown: Vec<_> = bench.server.calls().iter().map(shown).collect();
    assert_eq!(shown, [(Some("4x"), false), (Some("5x"), true)]);
}

// LES-056 LES-057 PICO-029
#[tokio::test]
async fn what_the_owner_said_stands_in_no_prompt_of_somebody_else() {
    for (profile, policy) in
        [("kai", None), ("limpid", None), ("limpid", Some(MemoryPolicy::Inject)), ("picoclaw", None)]
    {
        let (bench, agent) = filled(profile, policy).await;
        let request = say_as_guest(&bench, &agent, "who is your owner?").await;
        assert!(request.text().contains("who is your owner?"), "{}", request.text());
        assert_eq!(holds(&request), [""; 0], "{profile}");
        assert!(!request.text().contains("About-the-owner"), "{profile}");
    }
    // Two owners of one file have nothing in common.
    let home = tempfile::tempdir().unwrap();
    let a = SqliteStore::open(home.path().join("limpid.db"), SqliteOptions::default()).unwrap();
    let of = async |owner: &str| -> (Bench, Agent) {
        let bench = Bench::new(OK).await;
        let mut options = bench.options();
        options.store = Some(std::sync::Arc::new(a.for_owner(owner)));
        let agent = Agent::open(options).unwrap();
        (bench, agent)
    };
    let ((_first, ada), (second, bob)) = (of("ada").await, of("bob").await);
    ada.memory().remember("pin", "Pinned-fact", Category::General, "test").await.unwrap();
    ada.memory().pin(&"pin".into(), true).await.unwrap();
    say(&bob, "hi").await;
    assert!(!second.server.calls()[0].text().contains("Pinned-fact"));
    assert!(bob.memory().recall("Pinned-fact", 9).await.unwrap().is_empty());
}

// LES-057 PICO-029
#[tokio::test]
async fn a_chat_that_others_read_has_nothing_of_the_long_term_memory() {
    for (profile, policy) in
        [("kai", None), ("limpid", None), ("limpid", Some(MemoryPolicy::Inject)), ("picoclaw", None)]
    {
        let (bench, agent) = filled(profile, policy).await;
        say(&agent, "hi").await;
        let alone = holds(&bench.server.calls()[0]);
        assert_ne!(alone, [""; 0], "{profile}");
        let conversation = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
        assert_ne!(
            agent.conversations().set_audience(&conversation, Audience::Group).await.unwrap(),
            ChangeOutcome::Unchanged
        );
        say(&agent, "who am I?").await;
        let request = bench.server.calls()[1].clone();
        // What the first turn showed at its tail stands in the history; nothing else does.
        assert_eq!(holds(&request), [""; 0], "{profile}: {}", request.text());
        assert!(!request.text().contains("About-the-owner"), "{profile}");
        agent.conversations().set_audience(&conversation, Audience::Owner).await.unwrap();
        say(&agent, "and now?").await;
        assert_eq!(holds(&bench.server.calls()[2]), alone, "{profile}");
    }
}

// SEC-065 PICO-029
#[tokio::test]
async fn a_chat_that_others_read_shows_no_task_no_account_and_nothing_that_was_promoted() {
    for (profile, shown) in
        [("limpid", &["Promoted-fact"][..]), ("kai", &["Promoted-fact", "Planned-fact", "ada@work.example"])]
    {
        let (bench, agent) = filled(profile, None).await;
        let addition = "Promoted-fact".to_owned();
        let promoted = NewPromotion { addition, trust: Trust::Owner, source: None, now_ms: agent.now_ms() };
        agent.store().promote_memory(&"plain".into(), promoted).await.unwrap();
        agent.store().add_mail_account("ada@work.example").await.unwrap();
        agent.tasks().add(crate::kit::tasks::reminder("Planned-fact", When::In(3600))).await.unwrap();
        let holds = |call: usize| {
            let text = bench.server.calls()[call].text();
            let all = ["Promoted-fact", "Planned-fact", "ada@work.example"];
            all.into_iter().filter(|word| text.contains(word)).collect::<Vec<_>>()
        };
        say(&agent, "hi").await;
        assert_eq!(holds(0), shown, "{profile}");
        let conversation = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
        agent.conversations().set_audience(&conversation, Audience::Group).await.unwrap();
        say(&agent, "who am I?").await;
        assert_eq!(holds(1), [""; 0], "{profile}");
    }
}

// LES-057 PICO-029
#[tokio::test]
async fn a_chat_that_others_read_stays_one_when_what_it_keeps_is_damaged() {
    for spoilt in ["", "{", "{\"group\":false}", "null"] {
        let (bench, agent) = filled("limpid", Some(MemoryPolicy::Inject)).await;
        say(&agent, "hi").await;
        let id = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
        agent.conversations().set_audience(&id, Audience::Group).await.unwrap();
        let spoil = vec![ConversationChange::Session(Some(spoilt.to_owned()))];
        agent.store().change_conversation(&id, spoil, agent.now_ms()).await.unwrap();
        say(&agent, "who am I?").await;
        assert_eq!(holds(&bench.server.calls()[1]), [""; 0], "{spoilt}");
    }
}

// LES-057 PICO-029
#[tokio::test]
async fn a_task_of_a_chat_that_others_read_knows_nothing_of_the_long_term_memory() {
    for (audience, knows) in [(Audience::Owner, true), (Audience::Group, false)] {
        let (bench, agent) = filled("limpid", Some(MemoryPolicy::Inject)).await;
        say(&agent, "hi").await;
        let id = agent.directory().find(&ConversationChoice::Last).await.unwrap().unwrap().id;
        agent.conversations().set_audience(&id, audience).await.unwrap();
        let task = TaskRequest {
            key: None,
            description: String::new(),
            prompt: "Say who your owner is.".to_owned(),
            kind: TaskKind::Agent,
            when: When::In(60),
            zone: None,
            missed: None,
            conversation: Some(id),
        };
        let task = agent.tasks().add(task).await.unwrap();
        agent.jobs().run_task(&task.id.to_string()).await.unwrap();
        let request = bench.server.calls().pop().unwrap();
        assert!(request.text().contains("Say who your owner is."), "{}", request.text());
        assert_eq!(!holds(&request).is_empty(), knows, "{audience:?}: {}", request.text());
    }
}

// KAI-034 KAI-035 KAI-036 KAI-037
#[tokio::test]
async fn what_is_stored_keeps_to_the_budget_of_kais_local_path() {
    for (characters, wanted) in [(1971, true), (1972, false)] {
        let mut bench = Bench::new(OK).await;
        bench.config.agent.profile = "kai".to_owned();
        let agent = bench.agent();
        agent.memory().remember("k", &"x".repeat(characters), Category::General, "test").await.unwrap();
        agent.memory().remember("tone", "Short", Category::Preference, "test").await.unwrap();
        let mut request = last("hi");
        request.path = Some("chat-local".to_owned());
        all(agent.chat(request).await.unwrap()).await;
        let system = bench.server.calls()[0].system();
        assert_eq!(system.contains("## Your Memories"), wanted, "{characters}");
        assert!(!system.contains("## User Preferences"), "{characters}");
    }
}

// KOSHI-028
#[tokio::test]
async fn the_size_of_the_memories_is_looked_at_once_a_day() {
    let mut bench = Bench::new(OK).await;
    bench.config.memory.keep_megabytes = 0;
    let agent = bench.agent();
    for n in 0..3 {
        agent.memory().remember(&format!("k{n}"), "tea", Category::General, "test").await.unwrap();
    }
    say(&agent, "hi").await;
    let first = async {
        while agent.memory().archived().await.unwrap().rows.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(crate::kit::PATIENCE, first).await.unwrap();
    let mut moved = Vec::new();
    for _ in 0..3 {
        moved.push(agent.memory().archive_if_due().await.unwrap());
        bench.clock.forward(jiff::Span::new().hours(13));
    }
    assert_eq!(moved, [0, 0, 1], "only 26 hours after the first time");
    assert_eq!(agent.memory().recall("tea", 9).await.unwrap().len(), 3, "the archive is searched");
}

// KOSHI-028
#[tokio::test]
async fn memories_may_have_as_many_megabytes_as_the_owner_says() {
    assert_eq!(limpid_runtime::Config::default().memory.keep_megabytes, 100);
    let mut bench = Bench::new(OK).await;
    bench.config.memory.keep_megabytes = 1;
    let agent = bench.agent();
    let mut moved = Vec::new();
    for bytes in [999_997, 999_998] {
        agent.memory().remember("big", &"x".repeat(bytes), Category::General, "test").await.unwrap();
        moved.push(agent.memory().archive_if_due().await.unwrap());
        bench.clock.forward(jiff::Span::new().hours(25));
    }
    assert_eq!(moved, [0, 1], "with the key a million bytes, then one more");
}

/// Strangers' texts may have a model keep what they like; none of it takes the place of what the owner said.
// SEC-061
#[tokio::test]
async fn however_many_memories_strangers_leave_a_query_finds_the_owners() {
    let query = "[[reply]]\ncalls = [{ name = \"memory_query\", arguments = { query = \"allergy nuts\" } }]\n";
    let bench = Bench::new(&format!("{query}{OK}")).await;
    let agent = bench.agent();
    let owners = "There is an allergy in the family, and it was the nuts that nearly killed me";
    agent.memory().remember("health", owners, Category::General, "test").await.unwrap();
    for number in 0..150 {
        let theirs = NewMemory {
            key: Some(format!("allergy {number}")),
            content: "allergy nuts: none".to_owned(),
            category: Category::General,
            trust: Trust::Outside,
            author: Author::Inferred,
            source: None,
            now_ms: agent.now_ms(),
        };
        agent.store().store_memory(theirs).await.unwrap();
    }
    say(&agent, "what about nuts?").await;
    let request = bench.server.calls().last().unwrap().json();
    let messages = request["messages"].as_array().unwrap().clone();
    let found = messages.iter().rfind(|message| message["role"] == "tool").unwrap()["content"].as_str().unwrap();
    assert!(found.contains(owners), "{found}");
    assert_eq!(found.matches("none").count(), 3, "{found}");
}

// LES-058
#[tokio::test]
async fn a_stale_a_broken_and_a_locked_index_each_give_their_own_answer() {
    let query = "[[reply]]\ncalls = [{ name = \"memory_query\", arguments = { query = \"rain\" } }]\n";
    let bench = Bench::new(&format!("{query}{OK}").repeat(3)).await;
    let agent = bench.agent();
    for key in ["tea", "rain"] {
        agent.memory().remember(key, "likes it", Category::General, "test").await.unwrap();
    }
    let answer = async || -> String {
        say(&agent, "cake?").await;
        let request = bench.server.calls().last().unwrap().json();
        let messages = request["messages"].as_array().unwrap().clone();
        let tool = messages.iter().rfind(|message| message["role"] == "tool").unwrap();
        tool["content"].as_str().unwrap().to_owned()
    };
    assert_eq!(answer().await, "[id:2] rain: likes it");
    let database = bench.home.path().join("data/limpid.db");
    spoil(&database, "DELETE FROM memory_fts WHERE rowid = 1");
    let stale = answer().await;
    assert!(stale.contains("not searched: 1 of 2 memories, which the index lacks"), "{stale}");
    spoil(&database, "DELETE FROM memory_fts_data WHERE id > 10");
    let broken = answer().await;
    assert!(broken.contains("the search index of memories cannot be read (it is damaged"), "{broken}");
    assert_eq!(agent.memory().reindex().await.unwrap(), 2);
    assert_eq!(agent.memory().recall("likes", 9).await.unwrap().len(), 2);
    let locked = limpid_store::StoreError::Locked { path: database }.to_string();
    assert!(locked.contains("another program has locked the database") && locked != broken, "{locked}");
}

// LES-058
#[tokio::test]
async fn a_locked_index_can_be_searched_and_says_that_it_cannot_be_written() {
    let bench = Bench::new(OK).await;
    let database = bench.home.path().join("data/limpid.db");
    let patience = SqliteOptions { busy_timeout: std::time::Duration::ZERO, ..SqliteOptions::default() };
    let mut options = bench.options();
    options.store = Some(std::sync::Arc::new(SqliteStore::open(&database, patience).unwrap()));
    let agent = Agent::open(options).unwrap();
    agent.memory().remember("rain", "likes it", Category::General, "test").await.unwrap();
    let other = rusqlite::Connection::open(&database).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert_eq!(agent.memory().recall("rain", 9).await.unwrap().len(), 1);
    let refused = agent.memory().remember("tea", "likes it", Category::General, "test").await.unwrap_err().to_string();
    assert!(refused.contains("another program has locked the database"), "{refused}");
}

/// Changes the file behind the store's back, as a crash or another program might.
fn spoil(database: &std::path::Path, sql: &str) {
    rusqlite::Connection::open(database).unwrap().execute_batch(sql).unwrap();
}
