//! `[behaviour]`: what ships, what a base lends, and what is refused with its place.

use limpid_core::compaction::CompactionStyle;
use limpid_core::heartbeat::Quiet;
use limpid_core::memory::MemoryPolicy;
use limpid_prompt::profile::{Behaviour, HeartbeatBehaviour, ModeRulesApply, shipped_files};
use limpid_prompt::{Profiles, SourceFile};

const PATH: &str = "[path.chat]\nmessages = [{ role = \"system\", sections = [\"soul\"] }]\n";

/// A profile of one section whose manifest begins with this text.
fn own(name: &str, manifest: &str) -> Vec<SourceFile> {
    vec![
        SourceFile::home(format!("{name}/profile.toml"), format!("{manifest}\n{PATH}")),
        SourceFile::home(format!("{name}/sections/soul.md"), "I am."),
    ]
}

fn behaviour(profiles: &Profiles, name: &str) -> Behaviour {
    profiles.get(name).unwrap().behaviour().clone()
}

// PRO-007 KAI-033 KAI-064 PICO-070 OLLM-006 KOSHI-062
#[test]
fn each_shipped_profile_says_how_it_behaves() {
    let defaults = || Behaviour { mode_rules: ModeRulesApply::WhenSet, ..Behaviour::default() };
    let limpid = Behaviour { stable_prefix: true, find_tools: true, system_target: Some(2048), ..Behaviour::default() };
    let ollm = Behaviour { agent_name: "Assistant".to_owned(), system_target: None, ..limpid.clone() };
    let koshi = Behaviour { system_target: Some(2048), ..defaults() };
    let mut picoclaw = Behaviour {
        memory: MemoryPolicy::Files,
        heartbeat: HeartbeatBehaviour { create_checklist: true, ..HeartbeatBehaviour::default() },
        ..defaults()
    };
    picoclaw.compaction.style = CompactionStyle::Summary;
    picoclaw.compaction.window_percent = Some(75);
    picoclaw.compaction.messages = Some(20);
    picoclaw.compaction.keep_messages = 4;
    picoclaw.compaction.split_over = Some(10);
    picoclaw.compaction.summary_tokens = 1024;
    picoclaw.agents_delegate = true;
    let kai = Behaviour {
        memory: MemoryPolicy::Inject,
        small_model_tools: vec!["chat-local".to_owned()],
        heartbeat: HeartbeatBehaviour { quiet: Quiet::Contains, ..HeartbeatBehaviour::default() },
        ..defaults()
    };
    let table = [("kai", kai), ("koshi", koshi), ("limpid", limpid), ("ollm", ollm), ("picoclaw", picoclaw)];
    let profiles = Profiles::shipped();
    assert_eq!(profiles.iter().map(|profile| profile.name()).collect::<Vec<_>>(), table.each_ref().map(|row| row.0));
    for (name, expected) in table {
        assert_eq!(behaviour(&profiles, name), expected, "{name}");
    }
}

// PRO-007
#[test]
fn a_profile_built_on_another_behaves_as_it_does_at_any_depth() {
    for shipped in Profiles::shipped().iter() {
        let files = [
            SourceFile::home("a/profile.toml", format!("base = \"{}\"\n", shipped.name())),
            SourceFile::home("b/profile.toml", "base = \"a\"\n"),
        ];
        let profiles = Profiles::with_home(files);
        let b = profiles.get("b").unwrap();
        assert_eq!(b.behaviour(), shipped.behaviour(), "b on a on {}", shipped.name());
        assert_eq!(b.lineage().take(3).collect::<Vec<_>>(), ["b", "a", shipped.name()]);
        assert_eq!(b.lineage().last(), Some("limpid"));
    }
}

// PRO-007
#[test]
fn no_behaviour_hangs_on_a_profiles_name() {
    // Every shipped profile again under a name that nobody knows.
    let renamed = |file: SourceFile| {
        let (profile, rest) = file.path.split_once('/').unwrap();
        let text = String::from_utf8(file.bytes.clone()).unwrap();
        let path = format!("copy-of-{profile}/{rest}");
        SourceFile::home(path, text.replace("base = \"limpid\"", "base = \"copy-of-limpid\""))
    };
    let copies = shipped_files().into_iter().filter(|file| !file.path.contains("/scenarios/")).map(renamed);
    let profiles = Profiles::with_home(copies);
    for shipped in Profiles::shipped().iter() {
        assert_eq!(
            behaviour(&profiles, &format!("copy-of-{}", shipped.name())),
            *shipped.behaviour(),
            "{}",
            shipped.name()
        );
    }
}

// PRO-007
#[test]
fn a_key_is_inherited_by_itself_and_a_number_can_be_taken_away_again() {
    let own = SourceFile::home(
        "mine/profile.toml",
        "base = \"picoclaw\"\n[behaviour.compaction]\nmessages = \"none\"\nkeep_messages = 6\n",
    );
    let profiles = Profiles::with_home([own]);
    let mine = behaviour(&profiles, "mine");
    assert_eq!((mine.compaction.messages, mine.compaction.keep_messages), (None, 6));
    assert_eq!((mine.memory, mine.compaction.window_percent), (MemoryPolicy::Files, Some(75)));
    let values = profiles.get("mine").unwrap().behaviour_values();
    let from = |key: &str| {
        values.iter().find(|row| row.key == key).unwrap().source.as_ref().map(limpid_prompt::SourceRef::line)
    };
    assert_eq!(from("compaction.messages").as_deref(), Some("home:profiles/mine/profile.toml:3"));
    assert!(from("memory").unwrap().starts_with("shipped:profiles/picoclaw/profile.toml:"));
    assert_eq!(from("find_tools"), None);
}

// PRO-007 OLLM-050
#[test]
fn an_owners_manifest_from_before_the_table_keeps_the_shipped_behaviour() {
    let manifest = shipped_files().into_iter().find(|file| file.path == "kai/profile.toml").unwrap();
    let text = String::from_utf8(manifest.bytes).unwrap();
    let (head, rest) = text.split_once("[behaviour]").unwrap();
    let rest = rest.split_once("\n\n").unwrap().1;
    let profiles = Profiles::with_home([SourceFile::home("kai/profile.toml", format!("{head}\n{rest}"))]);
    assert_eq!(behaviour(&profiles, "kai"), behaviour(&Profiles::shipped(), "kai"));
}

// PRO-005 PRO-053
#[test]
fn a_wrong_value_is_told_with_its_place_and_cure() {
    let cases = [
        ("[behaviour]\nmemry = \"inject\"", "unknown key `memry` in [behaviour]", "2:1", "did you mean `memory`?"),
        ("[behaviour]\nmemory = \"all\"", "wrong value of `memory`", "2:10", "\"inject\" or \"recall\" or \"files\""),
        ("[behaviour]\nstable_prefix = 1", "wrong value of `stable_prefix`", "2:17", "write true or false"),
        ("[behaviour]\nfind_tools = true", "`find_tools` needs `stable_prefix`", "2:14", "set `stable_prefix = true`"),
        ("[behaviour]\nsmall_model_tools = [\"chats\"]", "unknown path `chats`", "2:21", "did you mean `chat`?"),
        ("[behaviour]\ncompaction.start = 101", "wrong value of `compaction.start`", "2:20", "from 1 to 100"),
        ("[behaviour]\ncompaction.start = 50", "the thresholds of compaction do not rise", "2:20", "warn ≤ start"),
        ("[behaviour]\ncompaction.recent = 80", "add up to 110 %", "2:21", "100 at most"),
        ("behaviour = 1", "`behaviour` is not a table", "1:13", "write a table"),
    ];
    for (manifest, message, place, cure) in cases {
        let error = Profiles::load(own("mine", manifest)).get("mine").unwrap_err().to_string();
        for part in [message, place, cure] {
            assert!(error.contains(part), "{manifest}: no {part:?} in\n{error}");
        }
    }
}
