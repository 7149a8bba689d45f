//! Files of other versions: an older one is brought up to date, a newer one is left alone.

use std::path::PathBuf;

use limpid_core::{ConversationId, MessageId, TurnId};
use rusqlite::Connection;
use tempfile::TempDir;

use super::{APPLICATION_ID, MIGRATIONS};
use crate::contract::sample::{conversation, inbound};
use crate::{
    AgentPlans as _, Audience, ConversationKind, Conversations, Deliveries as _, DraftId, FileHash, FileVersion,
    FileVersions, InboundId, NewInbound, NewSnapshot, SqliteOptions, SqliteStore, StoreError, Turns,
};

/// A file as the program before `migration` left it.
fn before(migration: &str) -> (TempDir, PathBuf, Connection) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("limpid.db");
    let older = MIGRATIONS.iter().position(|text| *text == migration).unwrap();
    let sql = Connection::open(&path).unwrap();
    MIGRATIONS[..older].iter().for_each(|migration| sql.execute_batch(migration).unwrap());
    sql.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
    sql.pragma_update(None, "user_version", older as i64).unwrap();
    (folder, path, sql)
}

// LES-057 PICO-029
#[tokio::test]
async fn who_reads_a_conversation_is_taken_over_from_the_state_of_an_older_version() {
    const STATE: &str = r#""key":"k","pinned":[],"told":[],"frame":{"chosen":CHOSEN,"undone":["t2","t1"]}"#;
    let state = |chosen: &str, group: &str| format!("{{{}{group}}}", STATE.replace("CHOSEN", chosen));
    let cases: [(&str, Option<String>, Audience, Option<u32>); 12] = [
        ("new", None, Audience::Owner, None),
        ("owner", Some(state("4096", r#","group":false"#)), Audience::Owner, Some(4096)),
        ("group", Some(state("8192", r#","group":true"#)), Audience::Group, Some(8192)),
        ("before-groups", Some(state("null", "")), Audience::Owner, None),
        ("odd-window", Some(state("-1", r#","group":false"#)), Audience::Owner, None),
        ("huge-window", Some(state("4294967296", r#","group":false"#)), Audience::Owner, None),
        ("cut", Some(state("4096", r#","group":false"#)[..40].to_owned()), Audience::Group, None),
        ("empty", Some(String::new()), Audience::Group, None),
        ("null", Some("null".to_owned()), Audience::Group, None),
        ("other", Some(r#"["owner"]"#.to_owned()), Audience::Group, None),
        ("word", Some(state("1", r#","group":"owner""#)), Audience::Group, Some(1)),
        ("odd-group", Some(state("1", r#","group":0"#)), Audience::Group, Some(1)),
    ];
    let (_folder, path, sql) = before(include_str!("../../../migrations/0026_audience.sql"));
    let insert = "INSERT INTO conversation (owner, id, kind, title, profile, session, created_ms, updated_ms)
                  VALUES ('owner', ?, 'chat', '', 'limpid', ?, 1, 10)";
    let turn = "INSERT INTO turn (owner, id, conversation, path, began_ms) VALUES ('owner', ?, ?, 'chat-remote', 1)";
    for (id, session, ..) in &cases {
        sql.execute(insert, (id, session)).unwrap();
    }
    ["t1", "t2", "t3"].iter().for_each(|id| _ = sql.execute(turn, (id, "owner")).unwrap());
    drop(sql);

    let store = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
    for (id, _, audience, window) in &cases {
        let found = store.conversation(&ConversationId::new(*id)).await.unwrap().unwrap();
        assert_eq!((found.audience, found.window_tokens), (*audience, *window), "{id}");
    }
    let hidden = store.hidden_turns(&ConversationId::new("owner")).await.unwrap();
    assert_eq!(hidden, [TurnId::new("t2"), TurnId::new("t1")], "the one that was taken out last comes back first");
    let session = store.conversation(&ConversationId::new("owner")).await.unwrap().unwrap().session.unwrap();
    assert_eq!(session, r#"{"key":"k","pinned":[],"told":[],"frame":{}}"#, "nothing is kept in two places");
}

// LES-057
#[tokio::test]
async fn an_audience_that_cannot_be_read_is_a_group() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("limpid.db");
    let store = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
    store.create_conversation(conversation("c", 0)).await.unwrap();
    let sql = Connection::open(&path).unwrap();
    let refused = sql.execute("UPDATE conversation SET audience = 'everybody'", []);
    assert!(refused.is_err(), "the table knows two words");
    sql.pragma_update(None, "ignore_check_constraints", true).unwrap();
    for odd in ["'everybody'", "''", "'Owner'", "'owner '", "CAST(x'ff' AS TEXT)"] {
        sql.execute(&format!("UPDATE conversation SET audience = {odd}"), []).unwrap();
        let found = store.conversation(&ConversationId::new("c")).await.unwrap().unwrap();
        assert_eq!(found.audience, Audience::Group, "{odd}");
    }
    let by_an_unknowing_writer = "INSERT INTO conversation (owner, id, kind, title, profile, created_ms, updated_ms)
                                  VALUES ('owner', 'd', 'chat', '', 'limpid', 1, 1)";
    sql.execute(by_an_unknowing_writer, []).unwrap();
    let found = store.conversation(&ConversationId::new("d")).await.unwrap().unwrap();
    assert_eq!(found.audience, Audience::Group);
}

// LES-057 SEC-042
#[tokio::test]
async fn a_file_of_a_later_version_is_refused_whatever_it_says_of_its_readers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("limpid.db");
    let store = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
    store.create_conversation(conversation("c", 0)).await.unwrap();
    drop(store);
    let later = MIGRATIONS.len() as i64 + 1;
    let sql = Connection::open(&path).unwrap();
    sql.pragma_update(None, "ignore_check_constraints", true).unwrap();
    sql.execute("UPDATE conversation SET audience = 'family'", []).unwrap();
    sql.pragma_update(None, "user_version", later).unwrap();
    let opened = SqliteStore::open(&path, SqliteOptions::default());
    assert!(matches!(&opened, Err(StoreError::Newer { found, known, .. }) if *found == later && *known == later - 1));
    let kept: String = sql.query_row("SELECT audience FROM conversation", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, "family", "nothing was changed");
}

#[test]
fn several_who_make_the_same_new_file_all_open_it() {
    for _ in 0..30 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("limpid.db");
        let start = std::sync::Barrier::new(4);
        std::thread::scope(|scope| {
            let open = || {
                start.wait();
                SqliteStore::open(&path, SqliteOptions::default()).map(drop)
            };
            let opened: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
            for one in opened {
                one.join().unwrap().unwrap();
            }
        });
    }
}

// SEC-063
#[tokio::test]
async fn versions_of_files_become_changes_with_their_texts_and_numbers() {
    let (_folder, path, sql) = before(include_str!("../../../migrations/0030_file_changes.sql"));
    let hash = |text: &str| FileHash::of(text.as_bytes()).0;
    for text in ["old", "new"] {
        sql.execute("INSERT INTO file_text VALUES ('owner', ?, ?)", (hash(text), text)).unwrap();
    }
    let insert = "INSERT INTO file_version (id, owner, path, undoes, before, after, author, trust, source, at_ms)
                  VALUES (?, 'owner', 'MEMORY.md', ?, ?, ?, 'said', 'owner', 'turn:t', 5)";
    sql.execute(insert, (3, None::<i64>, None::<[u8; 32]>, Some(hash("old")))).unwrap();
    sql.execute(insert, (7, Some(3), Some(hash("old")), Some(hash("new")))).unwrap();
    drop(sql);

    let store = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
    let rows = store.file_versions(Some("MEMORY.md")).await.unwrap().rows;
    let shown = |version: &FileVersion| (version.id.0, version.undoes.map(|id| id.0), version.ended);
    assert_eq!(rows.iter().map(shown).collect::<Vec<_>>(), [(3, None, true), (7, Some(3), true)]);
    assert_eq!((rows[1].said_before(), rows[1].said_after()), (Some("old"), Some("new")));
    assert_eq!(store.kept_files().await.unwrap(), [], "what the store has as a text needs no copy");
}

/// Numbers, references and what is archived stay as they were, and the number of a deleted message is not given again.
// LES-145 LES-147
#[tokio::test]
async fn messages_of_an_older_version_keep_their_keys_in_their_conversations() {
    let (_folder, path, sql) =
        before(include_str!("../../../migrations/0059_keys_of_messages_belong_to_their_conversation.sql"));
    sql.execute_batch(
        "INSERT INTO conversation (owner, id, kind, title, profile, created_ms, updated_ms)
         VALUES ('owner', 'c', 'chat', '', 'limpid', 1, 1), ('owner', 'd', 'chat', '', 'limpid', 1, 1);
         INSERT INTO turn (owner, id, conversation, path, began_ms) VALUES ('owner', 't', 'c', 'chat', 1);
         INSERT INTO inbound (id, owner, conversation, key, text, trust, turn, accepted_ms, typed, base, handed_in)
         VALUES (4, 'owner', 'c', '1 with', 'a letter', 'outside', 't', 1, 0, '', NULL),
                (5, 'owner', 'c', '1', 'sum it up', 'owner', 't', 1, 1, '', 4),
                (9, 'owner', 'd', NULL, 'taken back', 'owner', NULL, 1, 1, NULL, NULL);
         DELETE FROM inbound WHERE id = 9;
         INSERT INTO agent (owner, own, conversation, turn, call, root, chat, depth, in_background, path, waited_for, label, task,
                            task_hash, tokens, trust, state, holder, made_ms, ended_ms, told)
         VALUES ('owner', 'own', 'c', 't', 'call', 'c', 'c', 1, 0, 'worker', 0, '', 'task', x'00', 1, 'file', 'done', 'h', 1, 1, 5);
         UPDATE conversation SET archived = 1;",
    )
    .unwrap();
    drop(sql);

    let store = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
    let again = store.accept(inbound("c", Some("1"), "again")).await.unwrap();
    assert!(!again.fresh);
    assert_eq!((again.inbound.id, again.inbound.text.as_str()), (InboundId(5), "sum it up"));
    let sql = Connection::open(&path).unwrap();
    sql.pragma_update(None, "foreign_keys", true).unwrap();
    let count = |query: &str| sql.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM conversation WHERE archived = 1"), 2, "nothing was said in them");
    assert_eq!(count("SELECT handed_in FROM inbound WHERE id = 5"), 4);
    assert_eq!(count("SELECT count(*) FROM pragma_foreign_key_check"), 0);
    assert!(sql.execute("DELETE FROM inbound WHERE id = 5", []).is_err(), "an agent's end is told by it");
    for (place, key) in [("c", "1 with"), ("d", "1")] {
        let new = store.accept(inbound(place, Some(key), "another")).await.unwrap();
        assert!(new.fresh && new.inbound.id.0 > 9, "{place} {key}");
    }
    assert_eq!(count("SELECT count(*) FROM conversation WHERE archived = 1"), 0);
}

/// A stranger may have written the words of a notice, and no key.
// SEC-010
#[tokio::test]
async fn notices_of_an_older_version_say_which_draft_they_tell_of() {
    let (_folder, path, sql) =
        before(include_str!("../../../migrations/0063_deliveries_say_which_draft_they_tell_of.sql"));
    sql.execute_batch(
        "INSERT INTO conversation (owner, id, kind, title, profile, created_ms, updated_ms)
         VALUES ('owner', 'c', 'chat', '', 'limpid', 1, 1);",
    )
    .unwrap();
    let insert = "INSERT INTO delivery (owner, key, conversation, origin, title, text, trust, made_ms)
                  VALUES ('owner', ?, 'c', ?, '', 'Draft 7 waits for you', 'outside', 1)";
    let kept = [
        ("draft:12:open:1790000000000", "notice", Some(12)),
        ("draft:3:sent", "notice", Some(3)),
        ("draft:4:open:1", "heartbeat", None),
        ("draft:x:open", "notice", None),
        ("spending/2026-11-30", "notice", None),
    ];
    kept.iter().for_each(|(key, origin, _)| _ = sql.execute(insert, (key, origin)).unwrap());
    drop(sql);

    let store = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
    let rows = store.pending_deliveries(None).await.unwrap().rows;
    let told: Vec<_> = rows.iter().map(|row| (row.new.key.as_str(), row.new.draft)).collect();
    assert_eq!(told, kept.map(|(key, _, draft)| (key, draft.map(DraftId))));
    let sql = Connection::open(&path).unwrap();
    assert!(sql.execute("UPDATE delivery SET draft = 1", []).is_err(), "deliveries are never changed");
}

// SEC-102
#[tokio::test]
async fn moments_of_an_older_version_count_as_the_owners() {
    use crate::Windows as _;
    let (_folder, path, sql) = before(include_str!("../../../migrations/0062_moments_are_kept_by_side.sql"));
    sql.execute_batch(
        "INSERT INTO conversation (owner, id, kind, title, profile, created_ms, updated_ms)
         VALUES ('owner', 'c', 'chat', '', 'limpid', 1, 1);
         INSERT INTO window_snapshot (owner, conversation, automatic, reason, newest, view, at_ms)
         VALUES ('owner', 'c', 1, 'before a compaction', 4, '{}', 1);",
    )
    .unwrap();
    drop(sql);

    let store = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
    let id = ConversationId::new("c");
    for newest in 5..=20 {
        let new = NewSnapshot {
            automatic: true,
            of_strangers: true,
            newest: Some(MessageId(newest)),
            ..NewSnapshot::default()
        };
        store.keep_snapshot(&id, new, newest).await.unwrap();
    }
    let kept = store.kept_snapshots(&id).await.unwrap().rows;
    assert_eq!(kept.iter().map(|row| row.at_ms).collect::<Vec<_>>(), [20, 19, 18, 17, 16, 1]);
    assert!(!kept[5].kept.of_strangers);
}

// SEC-050
#[tokio::test]
async fn planned_tasks_of_an_older_version_are_whose_their_label_says() {
    let (_folder, path, sql) = before(include_str!("../../../migrations/0065_planned_tasks_stay_on_their_side.sql"));
    sql.execute_batch(
        "INSERT INTO conversation (owner, id, kind, title, profile, created_ms, updated_ms)
         VALUES ('owner', 'c', 'chat', '', 'limpid', 1, 1);
         INSERT INTO turn (owner, id, conversation, path, began_ms) VALUES ('owner', 't', 'c', 'chat', 1);
         INSERT INTO planned_task (owner, chat, turn, call, place, name, task, trust, made_ms)
         VALUES ('owner', 'c', 't', '1', 0, 'mine', 'tea', 'file', 1), ('owner', 'c', 't', '2', 0, 'theirs', 'tea', 'guest', 1);",
    )
    .unwrap();
    drop(sql);

    let store = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
    let tasks = store.planned_tasks(None).await.unwrap().rows;
    let sides: Vec<_> = tasks.iter().map(|task| (task.name.as_str(), task.by_strangers)).collect();
    assert_eq!(sides, [("mine", false), ("theirs", true)]);
    let sql = Connection::open(&path).unwrap();
    assert!(sql.execute("UPDATE planned_task SET by_strangers = 1", []).is_err(), "whose a task is never changes");
}

/// Where the owner wrote last is known; what an agent came back with is later, and no word of theirs.
// SEC-102
#[tokio::test]
async fn the_last_conversation_of_an_older_version_is_the_one_in_which_something_was_said_last() {
    let (_folder, path, sql) = before(include_str!("../../../migrations/0066_when_somebody_said_something.sql"));
    sql.execute_batch(
        "INSERT INTO conversation (owner, id, kind, title, profile, audience, created_ms, updated_ms)
         VALUES ('owner', 'c', 'chat', '', 'limpid', 'owner', 1, 10), ('owner', 'd', 'chat', '', 'limpid', 'owner', 2, 30),
                ('owner', 'e', 'chat', '', 'limpid', 'owner', 9, 9);
         INSERT INTO turn (owner, id, conversation, path, began_ms) VALUES ('owner', 't', 'd', 'chat', 3);
         INSERT INTO agent (owner, own, conversation, turn, call, root, chat, depth, in_background, path, waited_for, label, task,
                            task_hash, tokens, trust, state, holder, made_ms)
         VALUES ('owner', 'own', 'd', 't', 'call', 't', 'd', 1, 0, 'worker', 0, '', 'task', x'00', 1, 'file', 'running', 'h', 3);
         INSERT INTO inbound (owner, conversation, text, trust, accepted_ms, typed, agent)
         VALUES ('owner', 'c', 'hi', 'owner', 10, 1, NULL), ('owner', 'd', 'hi', 'owner', 3, 1, NULL),
                ('owner', 'd', 'tea', 'outside', 30, 0, (SELECT id FROM agent));",
    )
    .unwrap();
    drop(sql);

    let store = SqliteStore::open(&path, SqliteOptions::default()).unwrap();
    let last = async || store.last_conversation(ConversationKind::Chat).await.unwrap().unwrap().id;
    assert_eq!(last().await, ConversationId::new("c"));
    store.accept(NewInbound { now_ms: 11, ..inbound("e", None, "and now?") }).await.unwrap();
    assert_eq!(last().await, ConversationId::new("e"));
}
