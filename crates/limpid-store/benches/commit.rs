//! What a durable write costs beyond the disk's own `fsync` (MEA-08), and what writers that wait together save.

#![allow(missing_docs, reason = "the macros of criterion make public functions")]
#![allow(clippy::unwrap_used, reason = "a measure may fail")]

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use limpid_core::{Role, TurnId};
use limpid_store::contract::sample::{begun, event, message, request, request_message};
use limpid_store::{Lease, RequestMessage, SqliteOptions, SqliteStore, Store, TurnWrite};

const WRITERS: usize = 32;

fn commits(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let store: Arc<dyn Store> =
        Arc::new(SqliteStore::open(folder.path().join("limpid.db"), SqliteOptions::default()).unwrap());
    let (lease, turn) = runtime.block_on(begun(store.as_ref(), "c", "t"));
    let mut group = criterion.benchmark_group("commit");
    group.sample_size(20).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(3));

    let mut file = File::create(folder.path().join("plain")).unwrap();
    group.bench_function("plain file: append 4 KB, fsync", |bench| {
        bench.iter(|| {
            file.write_all(&[7; 4096]).unwrap();
            file.sync_data().unwrap();
        });
    });
    group.bench_function("journal entry", |bench| {
        bench.iter(|| runtime.block_on(journal(&store, &lease, &turn)));
    });
    group.bench_function("journal entries of 32 writers at once", |bench| {
        bench.iter(|| {
            let writers: Vec<_> = (0..WRITERS)
                .map(|_| {
                    let (store, lease, turn) = (Arc::clone(&store), lease.clone(), turn.clone());
                    runtime.spawn(async move { journal(&store, &lease, &turn).await })
                })
                .collect();
            for writer in writers {
                runtime.block_on(writer).unwrap();
            }
        });
    });
    let mut number = 0;
    let mut messages = vec![request_message(Role::System, &[("soul", "Kind.")])];
    messages.extend((0..200).map(|n| request_message(Role::User, &[("history", format!("{n:0>400}").as_str())])));
    group.bench_function("request of 200 messages with journal entry and message", |bench| {
        bench.iter(|| {
            number += 1;
            messages.push(request_message(Role::User, &[("history", format!("next {number}").as_str())]));
            let writes = one_round(number, &messages);
            runtime.block_on(store.commit(&lease, &turn, writes, 1)).unwrap();
        });
    });
    group.finish();
}

async fn journal(store: &Arc<dyn Store>, lease: &Lease, turn: &TurnId) {
    store.commit(lease, turn, vec![TurnWrite::Event(event("result"))], 1).await.unwrap();
}

fn one_round(number: u32, messages: &[RequestMessage]) -> Vec<TurnWrite> {
    let request = request(&number.to_string(), 1, messages.to_vec());
    vec![
        TurnWrite::Event(event("reply")),
        TurnWrite::Messages(vec![message(Role::User, "next")]),
        TurnWrite::Request(Box::new(request)),
    ]
}

criterion_group!(benches, commits);
criterion_main!(benches);
