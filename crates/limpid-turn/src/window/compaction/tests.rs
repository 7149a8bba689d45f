//! Whole compactions: what is asked, what is made of the answers, and what is shown afterwards.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use limpid_core::compaction::WindowSettings;
use limpid_core::{CallId, Message, Role, ToolCall};

use super::*;
use crate::window::settings::Budget;

const SUMMARISE: &str = "Summarise this part of a conversation for the agent that goes on.";

fn count(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}

fn ours(text: &str) -> Labelled<&str> {
    Labelled::new(text, Trust::Owner)
}

/// A text of so many tokens that begins with its name.
fn words(name: &str, tokens: usize) -> String {
    format!("{name}. ").chars().chain("word ".chars().cycle()).take(tokens * 4).collect()
}

fn entry(id: i64, role: Role, text: String) -> Entry {
    Entry { id: MessageId(id), message: Message::new(role, text, Trust::Owner) }
}

/// Questions and answers of so many tokens each, numbered from `first`.
fn talk(first: i64, turns: usize, tokens: usize) -> Vec<Entry> {
    let turn = |n: i64| {
        let [asked, said] = [first + n * 2, first + n * 2 + 1];
        [
            entry(asked, Role::User, words(&format!("Question {asked}"), tokens)),
            entry(said, Role::Assistant, words(&format!("Answer {said}"), tokens)),
        ]
    };
    (0..turns as i64).flat_map(turn).collect()
}

/// One summary in place of digests, of more than ten messages by halves; the last four messages stay.
fn summary() -> WindowSettings {
    WindowSettings {
        style: CompactionStyle::Summary,
        keep_messages: 4,
        split_over: Some(10),
        summary_tokens: 1024,
        ..WindowSettings::default()
    }
}

/// In a window of 8000 tokens, half of it for the conversation.
fn task(settings: WindowSettings, view: WindowView, entries: Vec<Entry>) -> Task {
    Task {
        view,
        request: entries.first().cloned(),
        entries,
        typed: BTreeMap::new(),
        settings,
        budget: Budget::new(&settings, 4000, 0, 3000),
        is_forced: false,
        most_digests: crate::window::settings::most_digests(limpid_core::Tier::of(limpid_core::WindowSize(8192))),
    }
}

/// Answers every question with the next of the answers. Returns what was asked and what came of it.
fn played(task: Task, answers: &[Result<&str, &str>]) -> (String, WindowView) {
    let mut compaction = Compaction::start(task, &count).unwrap();
    let (mut told, mut answers) = (String::new(), answers.iter());
    loop {
        match compaction.next(&count) {
            Next::Ask(ask) => {
                let answer = *answers.next().unwrap_or_else(|| panic!("asked too often:\n{told}{}", shown(&ask)));
                let said = answer.map_or_else(|why| format!("failed: {why}"), head);
                let _ = writeln!(told, "{}= {said}", shown(&ask));
                compaction.answer(answer.map(ours), SUMMARISE, &count);
            }
            Next::Done(made) => {
                assert_eq!(answers.len(), 0, "not everything was asked:\n{told}");
                let _ = write!(told, "{}\n{}", made.steps.join("\n"), of_view(&made.view));
                return (told, made.view);
            }
        }
    }
}

/// The beginning of a text, and how long it is.
fn head(text: &str) -> String {
    let start: String = text.chars().take(60).collect();
    format!("{} ({} tokens)", start.replace('\n', " / ").trim_end(), count(text))
}

fn shown(ask: &Ask) -> String {
    let mut told = format!("ask for at most {} tokens", ask.cap());
    match ask {
        Ask::Summarize { existing, messages, .. } | Ask::Snapshot { existing, messages, .. } => {
            let known = existing.as_ref().map(|text| format!(", given {} by {}", head(text.value()), text.trust()));
            let ends = messages.first().zip(messages.last());
            let ends = ends.map(|(first, last)| format!("{} to {}", head(&first.text), head(&last.text)));
            let _ = writeln!(told, "{} of {}: {}", known.unwrap_or_default(), messages.len(), ends.unwrap_or_default());
        }
        Ask::Merge { first, second, .. } => {
            let trust = first.trust().join(second.trust());
            let _ = writeln!(told, " of both {} and {} by {trust}", head(first.value()), head(second.value()));
        }
    }
    told
}

fn of_view(view: &WindowView) -> String {
    let mut told = format!("compaction {}, shown after {:?}\n", view.compactions, view.through.map(|id| id.0));
    for digest in &view.digests {
        assert_eq!(digest.tokens as usize, count(&digest.text), "{}", digest.id());
        let (id, level, of) = (digest.id(), digest.level, digest.compaction);
        let _ = writeln!(told, "{id} level {level} of {of}, {}: {}", digest.trust, head(&digest.text));
        let tail: String = digest.text.lines().last().unwrap_or_default().chars().take(50).collect();
        let _ = writeln!(told, "  … {tail}");
    }
    told
}

fn digest(first: i64, last: i64, tokens: usize, compaction: u32) -> Digest {
    let text = words(&format!("Digest {first}"), tokens);
    Digest {
        level: DigestLevel::Full,
        first: MessageId(first),
        last: MessageId(last),
        tokens: count(&text) as u32,
        compaction,
        text,
        trust: Trust::Owner,
    }
}

/// A view with one summary of the messages before the 21st.
fn summarised() -> WindowView {
    let summary = Digest { trust: Trust::Guest, ..digest(1, 20, 60, 1) };
    WindowView { compactions: 1, through: Some(MessageId(20)), digests: vec![summary], ..WindowView::default() }
}

// OLLM-094 OLLM-095 OLLM-096
#[test]
fn a_digest_is_asked_for_twice_at_most_and_cut_to_its_cap() {
    let long = words("Long", 700);
    let cases: [&[Result<&str, &str>]; 5] = [
        &[Ok("They agreed on the port 8080.")],
        &[Ok(&long)],
        &[Ok("ok"), Ok("They agreed on the port 8080.")],
        &[Err("the provider is down"), Ok(SUMMARISE)],
        &[Ok(SUMMARISE), Ok("")],
    ];
    let told = cases
        .map(|answers| played(task(WindowSettings::default(), WindowView::default(), talk(1, 12, 160)), answers).0);
    insta::assert_snapshot!(told.join("\n"));
}

// PICO-042 PICO-043 PICO-048 PICO-049 OLLM-095 SEC-002
#[test]
fn a_summary_takes_in_the_earlier_one_whichever_answer_fails() {
    let cases: [(usize, &[Result<&str, &str>]); 6] = [
        (7, &[Ok("They agreed on the port 8080.")]),
        (7, &[Err("down"), Ok("They agreed on the port 8080.")]),
        (7, &[Err("down"), Err("down")]),
        (9, &[Ok("The first half, told shortly."), Ok("The second half, told shortly."), Ok("Both halves, in one.")]),
        (9, &[Err("down"), Ok("The second half, told shortly."), Err("down")]),
        (9, &[Ok("The first half, told shortly."), Err("down"), Ok("Both halves, told in one.")]),
    ];
    let told = cases.map(|(turns, answers)| played(task(summary(), summarised(), talk(21, turns, 30)), answers).0);
    insta::assert_snapshot!(told.join("\n"));
}

// PICO-047
#[test]
fn a_message_over_half_the_window_is_left_out_of_a_summary_which_says_so() {
    let mut entries = talk(1, 4, 30);
    entries[1] = entry(2, Role::Assistant, words("Large", 1501));
    entries[2] = entry(3, Role::User, words("Just small enough", 1500));
    let (told, view) = played(task(summary(), WindowView::default(), entries), &[Ok("They sent long texts.")]);
    assert!(told.contains("of 3: Question 1"), "{told}");
    assert_eq!(view.digests[0].text, "They sent long texts.\n[message 2 left out: 6004 characters]");
}

/// Thirty compactions in a row, the digests after each a line.
fn thirty(most_digests: usize) -> String {
    let mut view = WindowView::default();
    let (mut told, mut asked) = (format!("at most {most_digests} digests\n"), 0);
    for n in 1..=30 {
        let task = task(WindowSettings::default(), view.clone(), talk(n * 4 - 3, 3, 400));
        let mut compaction = Compaction::start(Task { most_digests, is_forced: true, ..task }, &count).unwrap();
        let made = loop {
            match compaction.next(&count) {
                Next::Done(made) => break made,
                Next::Ask(Ask::Merge { first, second, .. }) => {
                    asked += 1;
                    let both = format!("{}\nAnd {}", words(&first.value()[..12], 40), words(&second.value()[..12], 40));
                    compaction.answer(Ok(ours(&both)), SUMMARISE, &count);
                }
                Next::Ask(_) => compaction.answer(Ok(ours(&words(&format!("Digest {n}"), 260))), SUMMARISE, &count),
            }
        };
        let digests = made.view.digests;
        for old in &view.digests {
            let now = digests.iter().find(|now| now.first <= old.first && old.last <= now.last).unwrap();
            assert!(now.id() != old.id() || now.tokens <= old.tokens, "{n}: {} grew", old.id());
        }
        assert!(digests.is_sorted_by(|a, b| a.last < b.first), "{n}: {digests:?}");
        assert!(digests.iter().all(|digest| digest.tokens as usize == count(&digest.text)), "{n}: {digests:?}");
        assert!(digests.iter().map(|digest| digest.tokens).sum::<u32>() <= 800, "their share, {n}");
        let row = |digest: &Digest| format!("{} {} {}", digest.id(), digest.level, digest.tokens);
        let _ = writeln!(told, "{n}: {}", digests.iter().map(row).collect::<Vec<_>>().join(", "));
        view = WindowView { digests, ..made.view };
    }
    format!("{told}{asked} merges were asked for\n")
}

// OLLM-098 OLLM-099 OLLM-134
#[test]
fn digests_age_and_merge_over_thirty_compactions() {
    insta::assert_snapshot!([5, 15].map(thirty).join("\n"));
}

// OLLM-095 OLLM-099 SEC-002
#[test]
fn of_several_merges_one_is_asked_for_if_a_call_is_left() {
    let digests = [1, 5, 9, 13].map(|first| digest(first, first + 3, 30, 1));
    let trusts = [Trust::Owner, Trust::Outside, Trust::Owner, Trust::Owner];
    let digests = digests.into_iter().zip(trusts).map(|(digest, trust)| Digest { trust, ..digest }).collect();
    let view = WindowView { compactions: 1, through: Some(MessageId(16)), digests, ..WindowView::default() };
    let new = "They agreed on the port 8080.";
    let cases: [&[Result<&str, &str>]; 3] =
        [&[Ok(new), Ok("Two digests became this one.")], &[Ok(new), Err("down")], &[Err("down"), Ok(new), Err("down")]];
    let told = cases.map(|answers| {
        let task = task(WindowSettings::default(), view.clone(), talk(17, 12, 160));
        played(Task { most_digests: 2, ..task }, answers).0
    });
    insta::assert_snapshot!(told.join("\n"));
}

// OLLM-093 OLLM-106
#[test]
fn the_newest_turn_stays_and_what_has_more_than_its_share_is_shown_shorter() {
    let settings = WindowSettings::default();
    let after = |view: &WindowView, entries: &[Entry]| turns::sizes(&shown::shown(view, entries), &count);
    // One turn that has 30 % and more: nothing leaves.
    let large = talk(1, 1, 900);
    let (told, view) = played(task(settings, WindowView::default(), large.clone()), &[]);
    assert_eq!((view.through, view.digests.len()), (None, 0), "{told}");
    assert!((1000..=1200).contains(&after(&view, &large)), "{told}");
    // A large call counts, and is shown without its arguments.
    let mut calling = talk(1, 1, 20);
    let arguments = format!(r#"{{"text":"{}"}}"#, words("Long", 2000));
    calling[1].message.calls = vec![ToolCall { id: CallId::new("c1"), name: "write_file".into(), arguments }];
    let (told, view) = played(task(settings, WindowView::default(), calling.clone()), &[]);
    assert!(after(&view, &calling) <= 1200, "{told}");
    // Behind a digest too.
    let mut both = talk(1, 3, 100);
    both.extend(talk(7, 1, 1000));
    let (told, view) =
        played(task(settings, WindowView::default(), both.clone()), &[Ok("They spoke of this and that.")]);
    assert_eq!(view.through, Some(MessageId(6)), "{told}");
    assert!((1000..=1200).contains(&after(&view, &both)), "{told}");
    // What has room stays, unless the person wants it.
    let small = task(settings, WindowView::default(), talk(1, 3, 100));
    assert!(Compaction::start(small.clone(), &count).is_none());
    let (told, view) = played(Task { is_forced: true, ..small }, &[Ok("They spoke of this and that.")]);
    assert_eq!(view.through, Some(MessageId(4)), "{told}");
}

// OLLM-099
#[test]
fn a_digest_has_its_share_of_a_small_window_and_no_more() {
    let long = words("Long", 300);
    let small = task(WindowSettings::default(), WindowView::default(), talk(1, 12, 160));
    let small = Task { budget: Budget::new(&small.settings, 500, 0, 3000), ..small };
    let (told, view) = played(small, &[Ok(&long)]);
    assert!(told.starts_with("ask for at most 100 tokens") && view.digests[0].tokens <= 100, "{told}");
    // What there is already is brought within it.
    let digests = vec![digest(1, 4, 400, 1), digest(5, 8, 400, 2)];
    let view = WindowView { compactions: 2, through: Some(MessageId(8)), digests, ..WindowView::default() };
    let small = task(WindowSettings::default(), view, talk(9, 12, 160));
    let small = Task { budget: Budget::new(&small.settings, 2500, 0, 3000), most_digests: 5, ..small };
    let (told, view) = played(small, &[Ok("They agreed on the port 8080.")]);
    assert!(view.digests.len() == 3 && view.digests.iter().map(|digest| digest.tokens).sum::<u32>() <= 500, "{told}");
}

// OLLM-091 SEC-002
#[test]
fn a_digest_is_made_of_what_was_typed_and_is_trusted_as_little_as_any_of_it() {
    let mut entries = talk(1, 12, 160);
    entries[3].message.trust = Trust::Outside;
    let mut task = task(WindowSettings::default(), WindowView::default(), entries);
    task.typed.insert(MessageId(1), "As it was typed.".to_owned());
    let (told, view) = played(task, &[Ok("They agreed on the port 8080.")]);
    assert!(told.contains(": As it was typed. (4 tokens)"), "{told}");
    assert_eq!(view.digests[0].trust, Trust::Outside);
    assert_eq!(view.pin.unwrap().text, "As it was typed.");
}
