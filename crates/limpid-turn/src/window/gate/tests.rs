//! What the gate does, with a prompt whose sizes are those of its texts.

use std::collections::BTreeMap;

use limpid_core::compaction::WindowSettings;
use limpid_core::{
    CallId, Digest, DigestLevel, Labelled, Message, MessageId, Role, ToolCall, Trust, UsableWindow, WindowView,
};

use super::*;
use crate::window::context_size::{Digests, InFlight, Pinned, Recent, System};
use crate::window::settings::Budget;

const USABLE: UsableWindow = UsableWindow(4000);

fn count(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}

fn ours(text: &str) -> Labelled<String> {
    Labelled::new(text.to_owned(), Trust::Owner)
}

fn words(tokens: usize) -> String {
    "word ".chars().cycle().take(tokens * 4).collect()
}

/// Turns of a question and an answer of so many tokens each.
fn talk(turns: &[usize]) -> Vec<Entry> {
    let messages = turns.iter().flat_map(|tokens| {
        [
            Message::new(Role::User, words(*tokens), Trust::Owner),
            Message::new(Role::Assistant, words(*tokens), Trust::Owner),
        ]
    });
    messages.zip(1..).map(|(message, id)| Entry { id: MessageId(id), message }).collect()
}

/// A call and its result of so many tokens, numbered from `id`.
fn lookup(id: i64, tokens: usize) -> [Entry; 2] {
    let call = ToolCall { id: CallId::new("c1"), name: "read_file".into(), arguments: "{}".into() };
    [
        Entry {
            id: MessageId(id),
            message: Message { calls: vec![call], ..Message::new(Role::Assistant, "", Trust::Owner) },
        },
        Entry {
            id: MessageId(id + 1),
            message: Message {
                call_id: Some(CallId::new("c1")),
                ..Message::new(Role::Tool, words(tokens), Trust::Owner)
            },
        },
    ]
}

fn digest(first: i64, tokens: usize, level: DigestLevel) -> Digest {
    let text = words(tokens);
    Digest {
        level,
        first: MessageId(first),
        last: MessageId(first + 9),
        tokens: count(&text) as u32,
        compaction: 1,
        text,
        trust: Trust::Owner,
    }
}

fn task(view: WindowView, entries: Vec<Entry>, system: usize) -> Task {
    let settings = WindowSettings::default();
    let available = USABLE.0 as usize - 1000 - system;
    let request = entries.first().cloned();
    Task {
        view,
        entries,
        typed: BTreeMap::new(),
        request,
        settings,
        budget: Budget::new(&settings, available, 0, 2500),
        is_forced: false,
        most_digests: 4,
    }
}

/// The sizes of a request: those of its texts.
fn recount(task: &Task, system: usize, running: usize, view: &WindowView) -> ContextSize {
    let (past, ahead) = task.entries.split_at(task.entries.len() - running);
    ContextSize {
        usable: USABLE,
        system: System(system),
        pin: Pinned(view.pin.as_ref().map_or(0, |pin| count(&pin.text))),
        digests: Digests(view.digests.iter().map(|digest| count(&digest.text)).sum()),
        recent: Recent(sizes(&shown::shown(view, past), &count)),
        in_flight: InFlight(sizes(&shown::shown(view, ahead), &count)),
    }
}

fn fitted(task: &Task, running: usize, note: Note<'_>) -> Fit {
    fit(task, running, note, &|view| recount(task, 200, running, view), &count)
}

/// What was done and what it freed; the freed tokens must add up to what is missing afterwards.
fn deeds(task: &Task, running: usize, fit: &Fit) -> Vec<(&'static str, usize)> {
    let Fit::With(view, actions) = fit else { panic!("{fit:?}") };
    let (before, after) = (recount(task, 200, running, &task.view), recount(task, 200, running, view));
    assert_eq!(actions.iter().map(|action| action.freed).sum::<usize>(), before.total() - after.total());
    assert!(after.fits());
    actions.iter().map(|action| (action.what.as_str(), action.freed)).collect()
}

// OLLM-102
#[test]
fn a_request_with_room_is_left_alone() {
    let task = task(WindowView::default(), talk(&[300, 300]), 200);
    assert_eq!(fitted(&task, 0, Note::Mechanical), Fit::AsIs);
}

// OLLM-102
#[test]
fn results_are_shortened_first_to_a_quarter_of_what_is_available_each() {
    let mut entries = talk(&[100, 100]);
    entries.extend(lookup(5, 2800));
    let task = task(WindowView::default(), entries, 200);
    let fit = fitted(&task, 0, Note::Mechanical);
    assert_eq!(deeds(&task, 0, &fit), [("tool results shortened", 2100)]);
    let Fit::With(view, _) = fit else { panic!() };
    assert_eq!(task.budget.result, 700);
    assert_eq!(sizes(&shown::shown(&view, &task.entries[5..]), &count), 700);
}

// OLLM-100 OLLM-135
#[test]
fn an_emergency_ages_the_largest_digest_then_merges_then_shortens_old_turns_and_tells_what_each_freed() {
    let digests = |sizes: &[(usize, DigestLevel)]| {
        let one = |(at, (tokens, level)): (usize, &(usize, DigestLevel))| digest(at as i64 * 10 - 100, *tokens, *level);
        WindowView { digests: sizes.iter().enumerate().map(one).collect(), ..WindowView::default() }
    };
    let aged = task(digests(&[(450, DigestLevel::Full), (300, DigestLevel::Full)]), talk(&[480, 480]), 200);
    let fit = fitted(&aged, 0, Note::Mechanical);
    assert_eq!(deeds(&aged, 0, &fit), [("the largest digest aged", 250)]);
    let second = task(digests(&[(100, DigestLevel::Full), (650, DigestLevel::Full)]), talk(&[480, 480]), 200);
    let fit = fitted(&second, 0, Note::Mechanical);
    assert_eq!(deeds(&second, 0, &fit), [("the largest digest aged", 450)]);
    let merged = task(digests(&[(40, DigestLevel::Line), (40, DigestLevel::Line)]), talk(&[660, 660]), 200);
    let fit = fitted(&merged, 0, Note::Mechanical);
    let done = deeds(&merged, 0, &fit);
    assert_eq!(done.last().unwrap().0, "old turns shortened", "{done:?}");
    assert_eq!(done[0].0, "the largest digest aged");
    let Fit::With(view, _) = fit else { panic!() };
    let whole: Vec<bool> = merged.entries.iter().map(|entry| shown::show(&view, entry) == *entry).collect();
    assert_eq!(whole, [false, false, true, true], "the newest turn is as it was");
}

// OLLM-100
#[test]
fn digests_that_cannot_be_shorter_are_merged() {
    let digests = (0..12).map(|n| digest(n * 10 - 200, 20, DigestLevel::Line)).collect();
    let task = task(WindowView { digests, ..WindowView::default() }, talk(&[560, 560]), 200);
    // Each digest has a frame of its own.
    let framed = |view: &WindowView| {
        let size = recount(&task, 200, 0, view);
        ContextSize { digests: Digests(size.digests.0 + view.digests.len() * 30), ..size }
    };
    let Fit::With(view, actions) = fit(&task, 0, Note::Mechanical, &framed, &count) else { panic!() };
    assert!(actions.iter().all(|action| action.what == FitAction::Merged), "{actions:?}");
    assert_eq!(actions.iter().map(|one| one.freed).sum::<usize>(), framed(&task.view).total() - framed(&view).total());
    assert_eq!(view.digests[0].first, task.view.digests[0].first, "the oldest first");
    assert_eq!(view.digests.last(), task.view.digests.last());
}

// OLLM-101
#[test]
fn a_rollover_leaves_the_request_one_note_and_the_newest_turns() {
    // Messages too small to be shortened: only leaving helps.
    let entries = talk(&[20; 80]);
    let known = Digest { trust: Trust::Guest, ..digest(-10, 20, DigestLevel::Line) };
    let view = WindowView { digests: vec![known], ..WindowView::default() };
    let task = task(view, entries, 200);
    let (ask, source) = note_of(&task, 0, &count).unwrap();
    let Ask::Snapshot { existing, messages, cap } = &ask else { panic!("{ask:?}") };
    assert_eq!((existing.as_ref(), *cap), (Some(&Labelled::new(words(20), Trust::Guest)), 500));
    assert!(messages.len() > 100 && source > 2000 && ask.cap() == *cap);
    let long = format!("Wanted: a tower. {}", words(1000));
    for (note, starts) in [
        (Note::Written(&ours("Wanted: a lighthouse.")), "Wanted: a lighthouse."),
        (Note::Written(&ours(&long)), "Wanted: a tower."),
        (Note::Mechanical, "word "),
    ] {
        let fit = fitted(&task, 0, note);
        assert_eq!(deeds(&task, 0, &fit).last().unwrap().0, "the window was rolled over");
        let Fit::With(view, _) = fit else { panic!() };
        let [note] = &view.digests[..] else { panic!("{:?}", view.digests) };
        assert!(note.text.starts_with(starts), "{}", note.text);
        assert_eq!((note.first, Some(note.last)), (MessageId(-10), view.through));
        assert_eq!((note.tokens as usize, note.trust), (count(&note.text), Trust::Guest));
        assert!(note.tokens as usize <= task.budget.digests && view.compactions == 1);
        assert_eq!(view.pin.as_ref().unwrap().message, MessageId(1));
        let recent = recount(&task, 200, 0, &view).recent.0;
        assert!(recent > 0 && recent <= task.budget.recent, "{recent}");
    }
}

// OLLM-101 OLLM-093
#[test]
fn of_one_large_newest_turn_a_rollover_leaves_what_the_newest_may_have() {
    let mut sizes = [20; 60].to_vec();
    sizes.push(900);
    let task = task(WindowView::default(), talk(&sizes), 200);
    let Fit::With(view, _) = fitted(&task, 0, Note::Mechanical) else { panic!() };
    let recent = recount(&task, 200, 0, &view).recent.0;
    assert!(view.through == Some(MessageId(120)) && (500..=task.budget.recent).contains(&recent), "{recent}");
}

// OLLM-101 OLLM-102
#[test]
fn the_running_turn_never_leaves_and_is_shortened_last() {
    let mut entries = talk(&[600, 600]);
    entries.push(Entry { id: MessageId(5), message: Message::new(Role::User, words(1500), Trust::Owner) });
    entries.extend(lookup(6, 2000));
    let task = task(WindowView::default(), entries, 200);
    let fit = fitted(&task, 3, Note::Mechanical);
    let Fit::With(view, _) = &fit else { panic!("{fit:?}") };
    deeds(&task, 3, &fit);
    assert!((5..=7).all(|id| view.shows(MessageId(id))));
}

// OLLM-102
#[test]
fn what_cannot_fit_is_refused_with_the_size_of_each_part() {
    let task = task(WindowView::default(), talk(&[300, 300]), 200);
    let before = task.view.clone();
    let fit = fit(&task, 0, Note::Mechanical, &|view| recount(&task, 2990, 0, view), &count);
    let Fit::Refused(size) = fit else { panic!("{fit:?}") };
    assert_eq!((size.system.0, size.reserve(), size.usable), (2990, 1000, USABLE));
    assert_eq!(task.view, before);
}
