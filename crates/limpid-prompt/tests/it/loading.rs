//! Which file counts: layers, bases, the fallback to `limpid`, modes, forms by tier.

use std::sync::Arc;

use limpid_core::Tier;
use limpid_prompt::profile::{ProfileError, Step, shipped_files};
use limpid_prompt::{Estimate, Inputs, Layer, Outcome, Profile, Profiles, RenderRequest, SourceFile};
use proptest::prelude::*;

const CHAT: &str = "[path.chat]\nmessages = [{ role = \"system\", sections = [\"soul\"] }]\n";

fn shipped(files: &[(&str, &str)]) -> Vec<SourceFile> {
    files.iter().map(|(path, text)| SourceFile::shipped(*path, *text)).collect()
}

fn home(files: &[(&str, &str)]) -> Vec<SourceFile> {
    files.iter().map(|(path, text)| SourceFile::home(*path, *text)).collect()
}

fn load(files: impl IntoIterator<Item = Vec<SourceFile>>) -> Profiles {
    let profiles = Profiles::load(files.into_iter().flatten());
    let problems: Vec<String> = profiles.problems().iter().map(ToString::to_string).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
    profiles
}

fn render(profile: &Profile, path: &str, inputs: &Inputs) -> Vec<String> {
    let counter = Estimate::default();
    let prompt = profile.render(RenderRequest { path, inputs, counter: &counter, count_tokens: false }).unwrap();
    prompt.messages().iter().map(|message| message.text().to_owned()).collect()
}

fn says(profile: &Arc<Profile>, path: &str) -> String {
    render(profile, path, &Inputs::default()).join(" | ")
}

// PRO-007 PRO-031
#[test]
fn a_file_of_the_owners_takes_the_place_of_the_shipped_one() {
    let below =
        shipped(&[("kai/profile.toml", CHAT), ("kai/sections/soul.md", "---\ntitle: Soul\n---\nI am shipped.\n")]);
    let profiles = load([below, home(&[("kai/sections/soul.md", "---\ntitle: Soul\n---\n\nI am mine.\n")])]);
    let kai = profiles.get("kai").unwrap();
    assert_eq!(says(kai, "chat"), "I am mine.");
    let section = kai.section("soul").unwrap();
    assert_eq!(section.forms.get(Tier::ALL[0]).unwrap().source.to_string(), "home:profiles/kai/sections/soul.md:5-5");
    assert_eq!(section.shadows.as_ref().unwrap().file(), "shipped:profiles/kai/sections/soul.md");
    let inputs = Inputs::default();
    let request = RenderRequest { path: "chat", inputs: &inputs, counter: &Estimate::default(), count_tokens: false };
    let prompt = kai.render(request).unwrap();
    assert!(prompt.report().iter().any(|row| row.outcome == Outcome::Shadowed), "{:?}", prompt.report());
}

// PRO-011
#[test]
fn what_a_profile_does_not_define_is_limpids() {
    let limpid = "[order]\ntools = [\"b\", \"a\"]\n[groups]\nAll = [\"a\"]\n\
        [path.chat]\nmessages = [{ role = \"system\", sections = [\"soul\"] }]\n\
        [path.task]\nmessages = [{ splice = \"chat\" }, { role = \"user\", sections = [\"job\"] }]\n";
    let below = shipped(&[
        ("limpid/profile.toml", limpid),
        ("limpid/sections/soul.md", "I am Limpid."),
        ("limpid/sections/job.md", "Do it."),
        ("limpid/tools/a.md", "Limpid's a."),
        ("limpid/tools/b.md", "Limpid's b."),
        ("limpid/modes/assistant/tier3.md", "Help."),
        ("kai/profile.toml", CHAT),
        ("kai/sections/soul.md", "I am Kai."),
        ("kai/tools/b.md", "Kai's b."),
    ]);
    let profiles = load([below]);
    let kai = profiles.get("kai").unwrap();
    assert_eq!(says(kai, "task"), "I am Kai. | Do it.", "a splice is the profile's own path");
    assert_eq!(kai.path("task").unwrap().profile, "limpid");
    assert_eq!(kai.tool("a").unwrap().description, "Limpid's a.");
    assert_eq!(kai.tool("b").unwrap().description, "Kai's b.");
    assert_eq!(kai.tool_order(), ["b", "a"]);
    assert_eq!(kai.groups().len(), 1);
    assert_eq!(kai.modes().collect::<Vec<_>>(), ["assistant"]);
    let unknown = kai.path("tsk").unwrap_err().to_string();
    assert_eq!(unknown, "unknown path `tsk`; there are: chat, task");
}

// PRO-011
#[test]
fn a_tool_of_two_names_is_offered_under_the_one_that_the_profile_chose() {
    let system = "{ role = \"system\", sections = [\"soul\"] }";
    let limpid = format!(
        "[tools]\nwithout = [\"shell\"]\n[path.chat]\nmessages = [{system}]\n[path.small]\nmessages = [{{ tools = \
         [\"shell\"] }}, {system}]\n"
    );
    let kai = format!("[tools]\nwithout = [\"exec\"]\n[path.own]\nmessages = [{system}]\n");
    let koshi = format!("[path.own]\nmessages = [{system}]\n");
    let below = shipped(&[
        ("limpid/profile.toml", limpid.as_str()),
        ("limpid/sections/soul.md", "I am Limpid."),
        ("kai/profile.toml", kai.as_str()),
        ("kai/sections/soul.md", "I am Kai."),
        ("koshi/profile.toml", koshi.as_str()),
        ("koshi/sections/soul.md", "I am Koshi."),
    ]);
    let profiles = load([below]);
    let offers = |profile: &str, path: &str| {
        let path = profiles.get(profile).unwrap().path(path).unwrap();
        ["exec", "shell", "clock"].map(|tool| path.offers(tool, false))
    };
    assert_eq!(offers("limpid", "chat"), [true, false, true]);
    assert_eq!(offers("limpid", "small"), [false, true, false], "a list has its own say");
    assert_eq!(offers("kai", "own"), [false, true, true]);
    assert_eq!(offers("kai", "chat"), [false, true, true], "a path of limpid's that kai takes over");
    assert_eq!(offers("koshi", "own"), [true, false, true]);
}

#[test]
fn a_profile_that_names_its_only_tools_offers_no_others_on_borrowed_paths() {
    let system = "{ role = \"system\", sections = [\"soul\"] }";
    let limpid = format!(
        "[tools]\nwithout = [\"job\"]\n[path.chat]\nmessages = [{system}]\n[path.look]\nlocal_tools = [\"clock\"]\nmessages \
         = [{{ tools = [\"exec\", \"job\"] }}, {system}]\n"
    );
    let koshi = format!(
        "[tools]\nonly = [\"job\", \"memory_*\"]\n[path.own]\nmessages = [{system}]\n[path.work]\nmessages = [{{ tools = \
         [\"exec\"] }}, {system}]\n[path.again]\nmessages = [{{ splice = \"look\" }}]\n"
    );
    let below = shipped(&[
        ("limpid/profile.toml", limpid.as_str()),
        ("limpid/sections/soul.md", "I am Limpid."),
        ("koshi/profile.toml", koshi.as_str()),
        ("koshi/sections/soul.md", "I am Koshi."),
        ("mine/profile.toml", "base = \"koshi\"\n"),
    ]);
    let profiles = load([below]);
    for profile in ["koshi", "mine"] {
        let offers = |path: &str, local: bool| {
            let path = profiles.get(profile).unwrap().path(path).unwrap();
            ["job", "memory_query", "exec", "clock"].map(|tool| path.offers(tool, local))
        };
        assert_eq!(offers("own", false), [true, true, false, false]);
        assert_eq!(offers("chat", false), [true, true, false, false], "borrowed");
        assert_eq!(offers("look", false), [true, false, false, false], "borrowed, with a list");
        assert_eq!(offers("look", true), [false, false, false, false], "borrowed, on this machine");
        assert_eq!(offers("again", false), [true, false, false, false], "what is spliced is no list of its own");
        assert_eq!(offers("work", false), [false, false, true, false], "a list of its own has its own say");
    }
    let limpid = profiles.get("limpid").unwrap().path("chat").unwrap();
    assert!(limpid.offers("exec", false));
}

// PRO-007
#[test]
fn a_base_lends_the_files_and_keys_that_a_profile_lacks() {
    let below = shipped(&[
        (
            "kai/profile.toml",
            "[words]\nodd = [\"a\"]\n[path.chat]\nmessages = [{ role = \"system\", sections = [\"soul\", \"odd\"] }]\n",
        ),
        ("kai/sections/soul.md", "I am Kai."),
        ("kai/sections/odd.md", "Odd: {{ words.odd | commas }}."),
    ]);
    let own = home(&[
        ("mine/profile.toml", "base = \"kai\"\n[words]\nodd = [\"b\", \"c\"]\n"),
        ("mine/sections/soul.md", "I am mine."),
    ]);
    let profiles = load([below, own]);
    assert_eq!(says(profiles.get("mine").unwrap(), "chat"), "I am mine.\n\nOdd: b, c.");
    assert_eq!(says(profiles.get("kai").unwrap(), "chat"), "I am Kai.\n\nOdd: a.");
    assert_eq!(profiles.get("mine").unwrap().bases().collect::<Vec<_>>(), ["kai"]);
}

// PRO-010 PRO-012
#[test]
fn a_splice_takes_a_role_without_some_sections_under_a_gate_and_the_tools() {
    let manifest = "[path.chat]\nmessages = [\n\
        { tools = [\"memory_*\", \"clock\"] },\n\
        { role = \"system\", sections = [\"soul\", \"extra\"] },\n\
        { splice = \"history\" },\n\
        { role = \"user\", sections = [\"job\"] },\n]\n\
        [path.whole]\nmessages = [{ splice = \"chat\" }]\n\
        [path.part]\nmessages = [{ splice = \"chat\", only = \"system\", except = [\"extra\"], when = \"interactive\" }, { role = \"user\", sections = [\"job\"] }]\n";
    let profiles = load([home(&[
        ("mine/profile.toml", manifest),
        ("mine/sections/soul.md", "Soul."),
        ("mine/sections/extra.md", "Extra."),
        ("mine/sections/job.md", "Job."),
    ])]);
    let mine = profiles.get("mine").unwrap();
    assert_eq!(says(mine, "whole"), "Soul.\n\nExtra. | Job.");
    assert!(mine.path("whole").unwrap().steps.iter().any(|step| matches!(step, Step::History { .. })));
    let offers = |path: &str, tool: &str| mine.path(path).unwrap().offers(tool, false);
    assert!(offers("whole", "memory_store") && offers("whole", "clock") && !offers("whole", "clocks"));
    assert!(offers("part", "anything"));
    assert_eq!(says(mine, "part"), "Soul. | Job.");
    let alone = Inputs { interactive: false, ..Inputs::default() };
    assert_eq!(render(mine, "part", &alone), ["Job."]);
}

const MODES: [(&str, &str); 6] = [
    ("limpid/profile.toml", "[path.chat]\nmessages = [{ role = \"system\", sections = [\"mode\"] }]\n"),
    ("limpid/modes/developer/tier3.md", "Develop.\n"),
    ("limpid/modes/writer/tier2.md", "Write.\n"),
    ("limpid/modes/writer/tier4.md", "Write well.\n"),
    ("limpid/modes/writer/tier4.txt.bak~", "Old.\n"),
    ("limpid/modes/reader/tier5.txt", "Read.\n"),
];

fn mode(profiles: &Profiles, name: &str, tier: u8) -> String {
    let limpid = profiles.get("limpid").unwrap();
    let inputs = Inputs { mode: name.to_owned(), tier: Some(tier), ..Inputs::default() };
    let found = limpid.mode(name, Tier::new(tier).unwrap()).unwrap().unwrap();
    format!("{} after {}", render(limpid, "chat", &inputs).join(" | "), found.tried.join(" "))
}

// OLLM-032 OLLM-046 OLLM-048
#[test]
fn a_mode_is_found_at_its_tier_then_lower_then_higher_and_the_places_are_told() {
    let profiles = load([shipped(&MODES)]);
    assert_eq!(profiles.get("limpid").unwrap().modes().collect::<Vec<_>>(), ["developer", "reader", "writer"]);
    assert_eq!(mode(&profiles, "writer", 2), "Write. after ");
    assert_eq!(mode(&profiles, "writer", 3), "Write. after modes/writer/tier3.md");
    assert_eq!(mode(&profiles, "writer", 5), "Write well. after modes/writer/tier5.md");
    assert_eq!(mode(&profiles, "writer", 1), "Write. after modes/writer/tier1.md");
    assert_eq!(
        mode(&profiles, "reader", 2),
        "Read. after modes/reader/tier2.md modes/reader/tier1.md modes/reader/tier3.md modes/reader/tier4.md"
    );
}

// OLLM-047 OLLM-052
#[test]
fn a_mode_whose_files_are_all_broken_falls_back_to_developer_at_tier_3() {
    let broken = home(&[("limpid/modes/poet/tier1.md", "{% if %}"), ("limpid/modes/poet/tier2.md", "  \n")]);
    let profiles = Profiles::load([shipped(&MODES), broken].into_iter().flatten());
    assert_eq!(profiles.problems().len(), 2);
    assert_eq!(
        mode(&profiles, "poet", 2),
        "Develop. after modes/poet/tier2.md modes/poet/tier1.md modes/poet/tier3.md modes/poet/tier4.md modes/poet/tier5.md"
    );
}

// OLLM-033
#[test]
fn an_unknown_mode_is_an_error_that_lists_the_known_ones() {
    let profiles = load([shipped(&MODES)]);
    let error = profiles.get("limpid").unwrap().mode("poet", Tier::ALL[2]).unwrap_err();
    assert_eq!(error.to_string(), "unknown mode `poet`; there are: developer, reader, writer");
}

// PRO-012
#[test]
fn a_section_has_forms_by_tier() {
    let profiles = load([home(&[
        ("mine/profile.toml", CHAT),
        ("mine/sections/soul.md", "---\nwhen: interactive\n---\nAny.\n"),
        ("mine/sections/soul/tier1.md", "One.\n"),
        ("mine/sections/soul/tier4.md", "Four {{ tier }}.\n"),
        ("bare/profile.toml", CHAT),
        ("bare/sections/soul/tier2.md", "Two.\n"),
        ("bare/sections/soul/tier4.md", "Four.\n"),
    ])]);
    let at = |name: &str, tier| {
        let inputs = Inputs { tier: Some(tier), ..Inputs::default() };
        render(profiles.get(name).unwrap(), "chat", &inputs).join(" | ")
    };
    assert_eq!([1, 2, 4, 5].map(|tier| at("mine", tier)), ["One.", "Any.", "Four 4.", "Any."]);
    assert_eq!([1, 2, 3, 5].map(|tier| at("bare", tier)), ["Two.", "Two.", "Two.", "Four."]);
}

// PRO-005
#[test]
fn a_broken_profile_is_kept_out_with_all_its_errors_and_an_unknown_one_lists_the_others() {
    let files = home(&[
        ("mine/profile.toml", CHAT),
        ("mine/sections/soul.md", "{{ a }} {{ b }}"),
        ("yours/profile.toml", CHAT),
        ("yours/sections/soul.md", "Fine."),
        ("heir/profile.toml", "base = \"mine\"\n"),
    ]);
    let profiles = Profiles::load(files);
    let ProfileError::Broken(name, problems) = profiles.get("mine").unwrap_err() else { panic!("not broken") };
    assert_eq!((name.as_str(), problems.0.len()), ("mine", 2));
    assert!(matches!(profiles.get("heir"), Err(ProfileError::Broken(..))));
    assert_eq!(profiles.get("theirs").unwrap_err().to_string(), "unknown profile `theirs`; there are: yours");
}

// PRO-002 PRO-007
#[test]
fn line_endings_marks_and_odd_paths_make_no_difference() {
    let files = [
        SourceFile::home("mine/profile.toml", format!("\u{feff}{}", CHAT.replace('\n', "\r\n"))),
        SourceFile::home(
            "mine/sections/soul.md",
            "---\r\ntitle: Soul\r\n---\r\nOne.\r\n{% if true %}\r\nTwo.\r\n{% endif %}\r\n",
        ),
        SourceFile::home("README.md", "Not a profile's."),
        SourceFile::home("mine/.git/config", [0xff]),
        SourceFile { path: "empty/notes.md".to_owned(), bytes: Vec::new(), layer: Layer::Home },
    ];
    let profiles = Profiles::load(files);
    assert_eq!(says(profiles.get("mine").unwrap(), "chat"), "One.\nTwo.");
}

// PRO-070
#[test]
fn the_schema_of_the_inputs_describes_every_field() {
    let schema = limpid_prompt::inputs::schema();
    let properties = schema["properties"].as_object().unwrap();
    assert!(properties.contains_key("user_message") && properties.len() > 30);
    for (name, property) in properties {
        assert!(property["description"].is_string(), "{name} has no description");
    }
}

/// What the section `soul` of `mine` says with these files of the owner's and these kept ones, and what is told of them.
fn with_kept(own: &[(&str, &[u8])], kept: &[(&str, &str)]) -> (String, Vec<String>) {
    let shipped =
        [SourceFile::shipped("mine/profile.toml", CHAT), SourceFile::shipped("mine/sections/soul.md", "Shipped.\n")];
    let own = own.iter().map(|(path, bytes)| SourceFile::home(*path, *bytes));
    let kept = kept.iter().map(|(path, text)| SourceFile { layer: Layer::Kept, ..SourceFile::home(*path, *text) });
    let profiles = Profiles::load(kept.chain(own).chain(shipped));
    let told = profiles.problems().iter().map(|problem| problem.kept.clone().unwrap_or_default());
    (says(profiles.get("mine").unwrap(), "chat"), told.collect())
}

// OLLM-052
#[test]
fn the_last_text_that_worked_stands_in_for_a_file_that_does_not() {
    let soul = "mine/sections/soul.md";
    let last = [(soul, "Last.\n")];
    let told =
        |said: &str, told: &[&str]| (said.to_owned(), told.iter().map(|&one| one.to_owned()).collect::<Vec<_>>());
    let kept = "until then the last text of it that worked is used";
    let shipped = "until then the shipped file is used";
    for broken in [b"".as_slice(), b"Half \xff", b"{{ nobody }}", b"{% if"] {
        assert_eq!(with_kept(&[(soul, broken)], &last), told("Last.", &[kept]));
        assert_eq!(with_kept(&[(soul, broken)], &[]), told("Shipped.", &[shipped]));
        // What was kept can be unfit too: the next in the order of lookup is told in its place.
        assert_eq!(with_kept(&[(soul, broken)], &[(soul, "{{ nobody }}")]), told("Shipped.", &[shipped]));
    }
    assert_eq!(with_kept(&[(soul, b"Mine.\n")], &last), told("Mine.", &[]));
    assert_eq!(with_kept(&[], &last), told("Shipped.", &[]));
}

// OLLM-052
#[test]
fn a_manifest_that_lacks_what_shipped_files_name_is_set_aside() {
    let own = |name: &str| SourceFile::home(format!("{name}/profile.toml"), "title = \"Half\"\nbase = \"limpid\"\n");
    for (name, own) in
        [("limpid", SourceFile::home("limpid/profile.toml", "title = \"Half\"\n")), ("koshi", own("koshi"))]
    {
        let profiles = Profiles::load(shipped_files().into_iter().chain([own]));
        assert_eq!(profiles.broken().collect::<Vec<_>>(), [""; 0], "{name}");
    }
    let half = SourceFile::home("limpid/profile.toml", "title = \"Half\"\n");
    let profiles = Profiles::load(shipped_files().into_iter().chain([half]));
    insta::assert_snapshot!(profiles.problems()[0], @r"
    error: with this file the shipped `sections/pinned.md` of limpid fails: unknown budget `pinned`
     --> home:profiles/limpid/profile.toml
     help: add `[budget.pinned]` to profile.toml
     note: until then the shipped file is used
    ");
    assert_eq!(profiles.problems().len(), 1);
    assert_eq!(profiles.get("limpid").unwrap().title(), "Limpid");
}

/// A file as a broken editor, a full disk or a careless hand leaves it.
fn damaged(bytes: &[u8], at: usize, length: usize, rubbish: &str) -> Vec<u8> {
    let at = at % (bytes.len() + 1);
    let end = (at + length).min(bytes.len());
    [&bytes[..at], rubbish.as_bytes(), &bytes[end..]].concat()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    // PRO-005 OLLM-052
    #[test]
    fn no_damage_to_the_owners_files_takes_a_shipped_profile_away(
        which in any::<prop::sample::Index>(),
        at in any::<usize>(),
        length in prop_oneof![Just(0usize), 0..40usize, Just(usize::MAX / 2)],
        rubbish in "(\\{\\{|\\}\\}|\\{%|%\\}|---\n|\n|: |\"|'|\\[|\\]|[a-z]{1,6}|[0-9]{1,20}|=|\\||é|🦀|\u{202e}|\u{0}){0,6}",
    ) {
        let shipped: Vec<SourceFile> =
            shipped_files().into_iter().filter(|file| file.path.starts_with("koshi/") || file.path.starts_with("limpid/")).collect();
        let victim = which.get(&shipped);
        let mine = SourceFile::home(victim.path.clone(), damaged(&victim.bytes, at, length, &rubbish));
        let profiles = Profiles::load(shipped.iter().cloned().chain([mine]));
        for name in ["koshi", "limpid"] {
            prop_assert!(profiles.get(name).is_ok(), "{}: {:?}", victim.path, profiles.problems());
        }
        for problem in profiles.problems() {
            prop_assert!(!problem.to_string().is_empty() && problem.path == victim.path, "{problem}");
        }
    }
}

// PRO-005 PRO-011
#[test]
fn a_profile_that_is_loaded_alone_is_the_one_among_all() {
    let all = Profiles::shipped();
    for profile in all.iter() {
        let alone = Profiles::one_with_home(profile.name(), []);
        assert_eq!(format!("{:?}", alone.get(profile.name()).unwrap()), format!("{profile:?}"));
    }
    let own = || {
        home(&[
            ("mine/profile.toml", "base = \"yours\"\n"),
            ("yours/profile.toml", "base = \"kai\"\n"),
            ("yours/sections/soul.md", "I am yours."),
            ("other/profile.toml", "base = \"nobody\"\n"),
        ])
    };
    let (all, alone) = (Profiles::with_home(own()), Profiles::one_with_home("mine", own()));
    assert_eq!(format!("{:?}", alone.get("mine").unwrap()), format!("{:?}", all.get("mine").unwrap()));
    assert_eq!(alone.iter().map(|profile| profile.name()).collect::<Vec<_>>(), ["kai", "limpid", "mine", "yours"]);
    assert!(alone.problems().is_empty(), "what is wrong with `other` is no concern of `mine`");
    let error = Profiles::one_with_home("nine", own()).get("nine").unwrap_err().to_string();
    assert_eq!(error, Profiles::with_home(own()).get("nine").unwrap_err().to_string());
}

// PRO-005 OLLM-052
#[test]
fn a_broken_manifest_is_told_alike_when_its_profile_is_loaded_alone() {
    for broken in ["base = ", "base = \"kai\"\nnonsense = 1\n", "base = \"koshi\"\n[path.chat-remote]\nmessages = 3\n"]
    {
        for name in ["kai", "mine"] {
            let files = || home(&[(&format!("{name}/profile.toml"), broken)]);
            let (all, alone) = (Profiles::with_home(files()), Profiles::one_with_home(name, files()));
            let told = |profiles: &Profiles| profiles.problems().iter().map(ToString::to_string).collect::<Vec<_>>();
            assert_eq!(told(&alone), told(&all), "{broken}");
            assert_eq!(format!("{:?}", alone.get(name)), format!("{:?}", all.get(name)), "{broken}");
        }
    }
}

// SEC-044
#[test]
fn splices_of_splices_that_grow_by_powers_are_refused() {
    let mut manifest = String::from("[path.p0]\nmessages = [{ role = \"user\", sections = [\"soul\"] }]\n");
    for n in 1..10 {
        let splices = vec![format!("{{ splice = \"p{}\" }}", n - 1); 8].join(", ");
        manifest += &format!("[path.p{n}]\nmessages = [{splices}]\n");
    }
    let soul = "---\ntitle: Soul\n---\nHi.\n";
    let profiles = Profiles::load(home(&[("mine/profile.toml", &manifest), ("mine/sections/soul.md", soul)]));
    let problems: Vec<String> = profiles.problems().iter().map(ToString::to_string).collect();
    let told = problems.iter().filter(|problem| problem.contains("more than 10000 messages")).count();
    assert_eq!(told, 1, "{}", problems.join("\n"));
    assert!(profiles.get("mine").is_err());
}

// SEC-044
#[cfg(all(feature = "fs", unix))]
#[test]
fn a_link_in_a_profile_is_not_followed_and_the_profile_itself_may_be_one() {
    use std::fs;
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("real/sections")).unwrap();
    fs::create_dir_all(at("profiles")).unwrap();
    fs::write(at("real/profile.toml"), CHAT).unwrap();
    fs::write(at("token"), "the token").unwrap();
    fs::create_dir(at("data")).unwrap();
    fs::write(at("data/keys.md"), "the keys").unwrap();
    symlink(at("token"), at("real/sections/soul.md")).unwrap();
    symlink(at("data"), at("real/more")).unwrap();
    symlink(at("real"), at("profiles/mine")).unwrap();
    let read = |path: &std::path::Path, _| fs::read(path);
    let files = limpid_prompt::fs::read_profiles(&at("profiles"), Layer::Home, &read).unwrap();
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["mine/profile.toml"]);
}
