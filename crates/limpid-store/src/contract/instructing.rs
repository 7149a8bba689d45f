//! Files that instruct the agent, and what the owner made their own.

use super::Bench;
use crate::{
    AcceptedContent, FileContent, FileHash, KnownContent, NewProgramRun, NewRaisedLabel, RaisingAct, WaitingFile,
};

fn waiting(path: &str, before: Option<&str>, at_ms: i64) -> WaitingFile {
    let (path, before) = (path.to_owned(), before.map(FileContent::text));
    WaitingFile { path, before, cause: "exec".to_owned(), at_ms, told: None }
}

/// A text that the owner accepted, looked at while no program ran.
async fn accepted(bench: &Bench, text: &str) -> AcceptedContent {
    let no_program_since = Some(bench.store.programs_begun().await.unwrap());
    AcceptedContent { hash: FileHash::of(text.as_bytes()), now: Some(FileContent::text(text)), no_program_since }
}

/// What files hold is there before a program runs; what it changed waits with what it held first.
// SEC-061
pub async fn what_a_program_changed_waits_with_what_it_held_first(bench: &Bench) {
    let store = bench.store.as_ref();
    let binary = FileContent::bytes(FileHash::of(b"\0"));
    let new = NewProgramRun {
        holder: "me".to_owned(),
        tool: "exec".to_owned(),
        folders: vec!["/w".to_owned(), "/a \"b\"".to_owned()],
        files: [("/w/a.md".to_owned(), FileContent::text("one")), ("/w/b".to_owned(), binary)].into(),
        now_ms: 1,
    };
    let id = store.begin_program(new.clone()).await.unwrap();
    assert_eq!(store.programs_begun().await.unwrap(), 1);
    let [run] = <[_; 1]>::try_from(store.program_runs().await.unwrap().rows).unwrap();
    assert_eq!((run.id, &run.new), (id, &new));
    assert_eq!(bench.other.program_runs().await.unwrap().rows, []);
    for (other, now_ms, gone_ms) in [(true, 1, None), (false, 2, Some(2)), (false, 3, Some(2))] {
        if other { &bench.other } else { &bench.store }.note_gone(id, now_ms).await.unwrap();
        assert_eq!(store.program_runs().await.unwrap().rows[0].gone_ms, gone_ms);
    }

    bench.other.end_program(id, Vec::new()).await.unwrap();
    assert_eq!(store.program_runs().await.unwrap().rows.len(), 1, "it is another owner's");
    let first = [waiting("/w/a.md", Some("one"), 1), waiting("/w/new.md", None, 1)];
    store.end_program(id, first.to_vec()).await.unwrap();
    assert_eq!(store.program_runs().await.unwrap().rows, []);
    let second = store.begin_program(new).await.unwrap();
    store.end_program(second, vec![waiting("/w/a.md", Some("two"), 2)]).await.unwrap();
    assert_eq!(store.waiting_files().await.unwrap().rows, first, "it goes on waiting with what it held first");
    assert_eq!(bench.other.waiting_files().await.unwrap().rows, []);
    store.note_told(vec![("/w/a.md".to_owned(), FileHash::of(b"two"))]).await.unwrap();
    let told: Vec<_> = store.waiting_files().await.unwrap().rows.into_iter().map(|file| file.told).collect();
    assert_eq!(told, [Some(FileHash::of(b"two")), None]);
}

/// What the owner made their own is kept with what they saw, and a file waits no more.
// SEC-056 SEC-061
pub async fn what_the_owner_accepted_waits_no_more(bench: &Bench) {
    let store = bench.store.as_ref();
    let new = NewProgramRun {
        holder: "me".to_owned(),
        tool: "exec".to_owned(),
        folders: Vec::new(),
        files: [].into(),
        now_ms: 1,
    };
    let id = store.begin_program(new).await.unwrap();
    let files = [waiting("/w/a.md", None, 1), waiting("/w/b.md", None, 1)];
    store.end_program(id, files[..1].to_vec()).await.unwrap();
    store.wait_for_owner(files[1].clone()).await.unwrap();
    let raise = |act| NewRaisedLabel {
        act,
        subject: "/w/a.md".to_owned(),
        shown: "+one\n".to_owned(),
        source: "command line".to_owned(),
        now_ms: 2,
    };
    for act in RaisingAct::ALL {
        store.raise_label(raise(act)).await.unwrap();
    }
    let one = accepted(bench, "one\n").await;
    bench.other.accept_file(raise(RaisingAct::File), one.clone()).await.unwrap();
    assert_eq!(store.waiting_files().await.unwrap().rows, files);
    store.accept_file(raise(RaisingAct::File), one).await.unwrap();
    assert_eq!(store.waiting_files().await.unwrap().rows, files[1..]);
    let acts: Vec<RaisingAct> = store.raised_labels().await.unwrap().rows.iter().map(|row| row.new.act).collect();
    assert_eq!(acts, [&RaisingAct::ALL[..], &[RaisingAct::File]].concat());
    assert_eq!(store.raised_labels().await.unwrap().rows[4].new, raise(RaisingAct::File));
}

/// What a file held while it was the owner's is known at that place, for that owner, and nowhere else; so is what they accepted.
// SEC-056 SEC-061
pub async fn what_was_the_owners_is_known_by_its_place_and_its_content(bench: &Bench) {
    let store = bench.store.as_ref();
    let known = |path: &str, text: &str| {
        let (path, hash, source) = (path.to_owned(), FileHash::of(text.as_bytes()), "turn:1".to_owned());
        KnownContent { path, hash, source, now_ms: 1 }
    };
    store.note_known(vec![known("/w/a.md", "one"), known("/w/b.md", "two")]).await.unwrap();
    store.note_known(vec![known("/w/a.md", "one")]).await.unwrap();
    store.note_known(Vec::new()).await.unwrap();
    let new = NewRaisedLabel {
        act: RaisingAct::File,
        subject: "/w/a.md".to_owned(),
        shown: "+three".to_owned(),
        source: "command line".to_owned(),
        now_ms: 2,
    };
    store.accept_file(new, accepted(bench, "three").await).await.unwrap();
    let mut found = Vec::new();
    for (path, text) in [("/w/a.md", "one"), ("/w/a.md", "two"), ("/w/a.md", "three"), ("/w/b.md", "two")] {
        found.push(store.is_known(path, FileHash::of(text.as_bytes())).await.unwrap());
        assert!(!bench.other.is_known(path, FileHash::of(text.as_bytes())).await.unwrap());
    }
    assert_eq!(found, [true, false, true, true]);
}

/// A program that ran when the owner looked at a file may have changed it by the time they accept it.
// SEC-056 SEC-061
pub async fn what_was_accepted_beside_a_program_is_known_and_anything_else_waits(bench: &Bench) {
    let store = bench.store.as_ref();
    let run = || NewProgramRun {
        holder: "me".to_owned(),
        tool: "exec".to_owned(),
        folders: vec!["/w".to_owned()],
        files: [].into(),
        now_ms: 1,
    };
    let (path, hash) = ("/w/a.md".to_owned(), |text: &str| FileHash::of(text.as_bytes()));
    let accept = async |accepted: AcceptedContent| {
        let (subject, shown, source) = ("/w/a.md".to_owned(), "+two".to_owned(), "command line".to_owned());
        let new = NewRaisedLabel { act: RaisingAct::File, subject, shown, source, now_ms: 2 };
        store.accept_file(new, accepted).await.unwrap();
    };
    let known =
        async || store.waiting_files().await.unwrap().rows.into_iter().map(|file| file.before).collect::<Vec<_>>();
    store.wait_for_owner(waiting("/w/a.md", Some("one"), 1)).await.unwrap();
    store.note_told(vec![(path.clone(), hash("two"))]).await.unwrap();

    // It ran when they looked, and has ended.
    let seen_beside = AcceptedContent { no_program_since: None, ..accepted(bench, "two").await };
    accept(seen_beside).await;
    assert_eq!(known().await, [Some(FileContent::text("two"))]);
    assert_eq!(store.waiting_files().await.unwrap().rows[0].told, None, "they were told of another content");
    // It came to wait while they looked.
    let seen = accepted(bench, "three").await;
    let id = store.begin_program(run()).await.unwrap();
    accept(seen.clone()).await;
    store.end_program(id, vec![waiting("/w/a.md", Some("one"), 3)]).await.unwrap();
    accept(seen).await;
    assert_eq!(known().await, [Some(FileContent::text("three"))]);

    // The row goes once the file holds what is known, and no program can have written there since.
    let begun = store.programs_begun().await.unwrap();
    let forget = async |text: &str, since| {
        store.forget_waiting(vec![("/w/a.md".to_owned(), Some(FileHash::of(text.as_bytes())))], since).await.unwrap();
        store.waiting_files().await.unwrap().rows.len()
    };
    assert_eq!(forget("two", begun).await, 1, "it is another content");
    assert_eq!(forget("three", begun - 1).await, 1, "a program began meanwhile");
    let id = store.begin_program(run()).await.unwrap();
    assert_eq!(forget("three", begun + 1).await, 1, "a program runs");
    store.end_program(id, Vec::new()).await.unwrap();
    bench.other.forget_waiting(vec![(path.clone(), Some(hash("three")))], begun + 1).await.unwrap();
    assert_eq!(known().await.len(), 1, "it is another owner's");
    assert_eq!(forget("three", begun + 1).await, 0);
}
