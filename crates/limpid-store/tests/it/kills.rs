//! A process that writes is killed again and again; what it said was stored is stored, once.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use limpid_core::{Role, TurnId};
use limpid_store::contract::sample::{calling, conversation, conversation_id, event, inbound, message, result};
use limpid_store::{
    Acquired, Kept, Lease, NewEvent, NewMessage, NewTurn, SqliteOptions, SqliteStore, Store, TurnOutcome, TurnWrite,
};

const KILLS: u64 = 30;
const CONVERSATIONS: [&str; 3] = ["a", "b", "c"];
/// Names the file to the process that is killed, and the first number that it may use.
const FILE: &str = "LIMPID_KILLS_FILE";
const FIRST: &str = "LIMPID_KILLS_FIRST";

// LES-143 LES-145 ARC-012
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_was_accepted_is_lost_or_doubled() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("limpid.db");
    let store = open(&path);
    for id in CONVERSATIONS {
        store.create_conversation(conversation(id, 0)).await.unwrap();
    }
    drop(store);
    let mut told = Vec::new();
    let mut seed = 1u64;
    for kill in 0..KILLS {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        told.extend(run_and_kill(&path, kill * 1_000_000, (seed >> 33) as usize % 60));
    }
    let store = open(&path);
    let written = written(store.as_ref()).await;
    assert!(told.len() > KILLS as usize, "the process got too little done: {}", told.len());
    for line in &told {
        let (what, number) = line.split_once(' ').unwrap();
        match what {
            // Delivered again, it is the message that was accepted.
            "accepted" => {
                let worker = number.parse::<usize>().unwrap() % 1_000_000 / 100_000;
                let again = store.accept(inbound(CONVERSATIONS[worker], Some(number), "again")).await.unwrap();
                assert!(!again.fresh, "{line} was lost");
                assert_eq!(again.inbound.text, format!("question {number}"));
            }
            "answered" => assert_eq!(written.get(number), Some(&1), "{line} was lost or doubled"),
            _ => panic!("{line}"),
        }
    }
    assert!(written.values().all(|count| *count == 1), "{written:?}");
}

/// Not a test of its own: the process that is killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the test above starts it"]
#[allow(clippy::disallowed_methods, reason = "the way from one test process to another")]
async fn process_that_is_killed() {
    let (Ok(path), Ok(first)) = (std::env::var(FILE), std::env::var(FIRST)) else { return };
    let store = open(Path::new(&path));
    let first: u64 = first.parse().unwrap();
    let workers: Vec<_> = CONVERSATIONS
        .into_iter()
        .enumerate()
        .map(|(worker, id)| tokio::spawn(write_forever(Arc::clone(&store), id, first + worker as u64 * 100_000)))
        .collect();
    for worker in workers {
        worker.await.unwrap();
    }
}

async fn write_forever(store: Arc<dyn Store>, id: &'static str, first: u64) {
    let lease = take_over(store.as_ref(), id).await;
    for number in first.. {
        let key = number.to_string();
        let accepted = store.accept(inbound(id, Some(&key), &format!("question {number}"))).await.unwrap();
        tell("accepted", number);
        let turn = TurnId::new(&key);
        let new = NewTurn { id: turn.clone(), path: "chat".to_owned(), inbound: vec![accepted.inbound.id], now_ms: 1 };
        store.begin_turn(&lease, new, Vec::new()).await.unwrap();
        let asked = NewMessage { inbound: Some(accepted.inbound.id), ..message(Role::User, &key) };
        let batch = vec![asked, calling(&[&key]), result(&key), message(Role::Assistant, "done")];
        store.commit(&lease, &turn, vec![TurnWrite::Event(event("began"))], 1).await.unwrap();
        let writes = vec![
            TurnWrite::Messages(batch),
            TurnWrite::Event(NewEvent { kept: Kept::Afterwards, ..event("ended") }),
            TurnWrite::End(TurnOutcome::Answered, String::new()),
        ];
        store.commit(&lease, &turn, writes, 1).await.unwrap();
        tell("answered", number);
    }
}

/// The process that had the conversation was killed, so its lease is of no more use.
async fn take_over(store: &dyn Store, id: &str) -> Lease {
    loop {
        match store.acquire(&conversation_id(id), "child", 0, i64::MAX).await.unwrap() {
            Acquired::Lease(lease) => return lease,
            Acquired::Busy(dead) => store.release(&conversation_id(id), dead.fence).await.unwrap(),
        }
    }
}

/// How often each question stands in a conversation. Each turn is whole: four messages, of its journal what is
/// kept afterwards, ended; or none.
async fn written(store: &dyn Store) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for id in CONVERSATIONS {
        let listed = store.messages(&conversation_id(id), None).await.unwrap();
        assert_eq!(listed.broken, []);
        for four in listed.rows.chunks(4) {
            let roles: Vec<Role> = four.iter().map(|row| row.message.role).collect();
            assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool, Role::Assistant]);
            let events = store.turn_events(&four[0].turn).await.unwrap().rows;
            assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), [2]);
            assert!(store.turn(&four[0].turn).await.unwrap().unwrap().end.is_some());
            *counts.entry(four[0].message.text.clone()).or_default() += 1;
        }
    }
    for open in store.unfinished_turns().await.unwrap().rows {
        assert_eq!(counts.get(open.id.as_str()), None);
    }
    counts
}

/// Starts the process, reads `lines` of what it tells, kills it in the middle of what it does next, reads the rest.
fn run_and_kill(path: &Path, first: u64, lines: usize) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kills::process_that_is_killed", "--ignored", "--nocapture", "--quiet"])
        .env(FILE, path)
        .env(FIRST, first.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let is_told = |line: &String| line.starts_with("accepted ") || line.starts_with("answered ");
    let mut read: Vec<String> = told.by_ref().filter(is_told).take(lines).collect();
    child.kill().unwrap();
    read.extend(told.filter(is_told));
    child.wait().unwrap();
    read
}

fn tell(what: &str, number: u64) {
    // One write, so that a line is whole or not there.
    std::io::stdout().lock().write_all(format!("{what} {number}\n").as_bytes()).unwrap();
}

fn open(path: &Path) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(path, SqliteOptions::default()).unwrap())
}
