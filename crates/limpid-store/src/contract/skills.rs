//! Skills: their history, and what conversations use.

use super::Bench;
use super::sample::{ODD, conversation, conversation_id};
use crate::{NewSkillEvent, SkillEventKind, SkillVersion, StoreError};

fn version(hash: &str, enabled: bool) -> SkillVersion {
    let (place, folder) = ("global".to_owned(), Some("tea".to_owned()));
    SkillVersion { hash: hash.to_owned(), place, folder, installed: true, enabled }
}

fn event(skill: &str, kind: SkillEventKind, after: Option<SkillVersion>, now_ms: i64) -> NewSkillEvent {
    NewSkillEvent { skill: skill.to_owned(), kind, before: None, after, source: ODD.to_owned(), now_ms }
}

/// Events come back as they were written, and those of each folder that say how it stands are found.
// KOSHI-032 SEC-024
pub async fn every_event_stays_and_says_how_a_folder_stands(bench: &Bench) {
    let store = bench.store.as_ref();
    let installed = event("tea", SkillEventKind::Installed, Some(version("aa", false)), 1);
    let first = store.record_skill(installed.clone()).await.unwrap();
    assert_eq!((first.kind, &first.after, first.at_ms), (installed.kind, &installed.after, 1));
    store.record_skill(event("house", SkillEventKind::Created, Some(version("bb", true)), 2)).await.unwrap();
    let enabled = NewSkillEvent {
        before: installed.after.clone(),
        ..event("tea", SkillEventKind::Enabled, Some(version("aa", true)), 3)
    };
    let last = store.record_skill(enabled).await.unwrap();
    assert_eq!(store.skill_events(Some("tea")).await.unwrap().rows, [first, last.clone()]);
    assert_eq!(store.skill_events(None).await.unwrap().rows.len(), 3);
    let states = || async { store.skill_states().await.unwrap().rows };
    assert_eq!(states().await.iter().map(|state| state.skill.as_str()).collect::<Vec<_>>(), ["house", "tea"]);
    assert_eq!(states().await[1], last);
    let own = |place: &str, folder: &str| {
        let (place, folder) = (place.to_owned(), Some(folder.to_owned()));
        SkillVersion { place, folder, installed: false, ..version("cc", true) }
    };
    let beside = event("tea", SkillEventKind::Updated, Some(own("workspace", "tea")), 4);
    let beside = store.record_skill(beside).await.unwrap();
    let over = store.record_skill(event("tea", SkillEventKind::Created, Some(own("global", "tea")), 5)).await.unwrap();
    let gone =
        NewSkillEvent { before: Some(own("workspace", "tea")), ..event("tea", SkillEventKind::Removed, None, 6) };
    let gone = store.record_skill(gone).await.unwrap();
    assert!(!states().await.contains(&beside), "a later event of the same folder says how it stands");
    assert_eq!(states().await[1..], [last, over, gone], "that it was installed is never forgotten");
    assert!(bench.other.skill_states().await.unwrap().rows.is_empty(), "what is another's is not seen");
}

/// The order stays; a swap says what was there; lists of one conversation are not another's.
// OLLM-061
pub async fn a_conversation_keeps_its_skills_in_order(bench: &Bench) {
    let store = bench.store.as_ref();
    store.create_conversation(conversation("a", 1)).await.unwrap();
    store.create_conversation(conversation("b", 1)).await.unwrap();
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let (a, b) = (conversation_id("a"), conversation_id("b"));
    assert_eq!(store.choose_skills(&a, names(&["z", "m"])).await.unwrap(), names(&[]));
    assert_eq!(store.choose_skills(&a, names(&["m", ODD])).await.unwrap(), names(&["z", "m"]));
    assert_eq!(store.note_active_skills(&a, names(&["m"])).await.unwrap(), names(&[]));
    assert_eq!(store.note_active_skills(&a, names(&["m"])).await.unwrap(), names(&["m"]));
    assert_eq!(store.chosen_skills(&a).await.unwrap(), names(&["m", ODD]));
    assert_eq!(store.chosen_skills(&b).await.unwrap(), names(&[]));
    let gone = store.choose_skills(&conversation_id("gone"), names(&["m"])).await.unwrap_err();
    assert!(matches!(gone, StoreError::NotFound { .. }), "{gone:?}");
}
