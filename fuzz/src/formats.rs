//! Files, mail and pages.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use limpid_channels::mail::MailId;
use limpid_config::Config;
use limpid_conversation::journal_row_again;
use limpid_core::Trust;
use limpid_core::task::Trigger;
use limpid_formats::question::{Answer, Question, answer};
use limpid_prompt::profile::shipped_files;
use limpid_prompt::{Profiles, SourceFile, skill as skills};
use limpid_store::TurnEvent;

/// A message of mail.
pub(crate) fn mail(bytes: &[u8]) {
    match answer(Question::Mail(MailId { validity: 1, uid: 1 }, None), &[bytes.to_vec()]) {
        Answer::Mail(mail) => assert!(!mail.head.key.is_empty(), "a message without a key is read twice"),
        other => assert_eq!(other, Answer::TooDeep),
    }
}

/// A page of the web, as HTML.
pub(crate) fn html(bytes: &[u8]) {
    let question = Question::Page { kind: "text/html".to_owned(), cut: false, most: 1000 };
    match answer(question, &[bytes.to_vec()]) {
        Answer::Page(text, all) => assert_eq!(text.chars().count(), all.min(1000)),
        other => assert_eq!(other, Answer::TooDeep),
    }
}

/// limpid.toml.
pub(crate) fn config(bytes: &[u8]) {
    let _ = Config::parse(&String::from_utf8_lossy(bytes), "limpid.toml");
}

/// A SKILL.md. What was read is a skill of its folder.
pub(crate) fn skill(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(skill) = skills::parse(&text, "any") {
        assert!(!skill.name.as_str().is_empty());
    }
}

/// A profile.toml of the owner's. A broken one leaves the shipped one in use.
pub(crate) fn profile(bytes: &[u8]) {
    let own = SourceFile::home("limpid/profile.toml", bytes);
    let profiles = Profiles::load_one("limpid", shipped_files().into_iter().chain([own]));
    assert!(profiles.get("limpid").is_ok(), "{:?}", profiles.problems());
}

/// A section file of the owner's. A broken one leaves the shipped one in use.
pub(crate) fn section(bytes: &[u8]) {
    let own = SourceFile::home("limpid/sections/acting.md", bytes);
    let profiles = Profiles::load_one("limpid", shipped_files().into_iter().chain([own]));
    assert!(profiles.get("limpid").is_ok(), "{:?}", profiles.problems());
}

/// A row of a turn's journal: its label, its kind on the first line, and its payload. What can be read is written so that it
/// reads the same.
pub(crate) fn journal(bytes: &[u8]) {
    let Some((label, rest)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    let (kind, payload) = text.split_once('\n').unwrap_or((&text, ""));
    let trust = [Trust::Owner, Trust::File, Trust::Guest, Trust::Outside][usize::from(label % 4)];
    let row = |kind: &str, payload: &str, shared: Option<String>, trust| TurnEvent {
        seq: 1,
        kind: kind.to_owned(),
        payload: payload.to_owned(),
        shared,
        trust,
        at_ms: 0,
    };
    let Ok(once) = journal_row_again(&row(kind, payload, None, trust)) else { return };
    let again = journal_row_again(&row(&once.kind, &once.payload, once.shared.clone(), once.trust));
    assert_eq!(again.as_ref(), Ok(&once));
}

/// A cron pattern, a time, and a number of seconds.
pub(crate) fn schedule(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let now = Timestamp::from_second(1_800_000_000).expect("a time");
    let zone = TimeZone::get("Europe/Berlin").expect("a zone");
    let seconds = bytes.first_chunk().map_or(0, |eight| i64::from_le_bytes(*eight));
    let triggers = [
        Trigger::cron(&text, "Europe/Berlin"),
        Trigger::at(&text, &zone, now),
        Trigger::every_seconds(seconds, now),
        Trigger::after_seconds(seconds, now),
    ];
    for trigger in triggers.into_iter().flatten() {
        let times = trigger.times(now, 3);
        assert!(times.is_sorted() && times.iter().all(|time| *time > now), "{trigger:?}: {times:?}");
    }
}
