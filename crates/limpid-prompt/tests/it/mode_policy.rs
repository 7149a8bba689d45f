//! What a mode lets the agent do, as a file of the profile (OLLM-032, OLLM-035).

use limpid_core::ToolClass;
use limpid_core::policy::{ToolPattern, Writes};
use limpid_prompt::{Layer, Profiles, SourceFile};

fn load(policy: &str) -> Profiles {
    let file = |path: &str, text: &str| SourceFile {
        path: format!("limpid/modes/quiet/{path}"),
        bytes: text.as_bytes().to_vec(),
        layer: Layer::Home,
    };
    Profiles::with_home([file("tier3.md", "Say little.\n"), file("policy.toml", policy)])
}

// OLLM-032 OLLM-035
#[test]
fn a_modes_policy_is_read_from_its_folder() {
    let text =
        "allow = [\"class:read\", \"memory_*\"]\ndeny = [\"web_fetch\"]\nask = [\"send\"]\nwrites = \"documents\"\n";
    let profiles = load(text);
    assert!(profiles.problems().is_empty(), "{:?}", profiles.problems());
    let rules = profiles.get("limpid").unwrap().mode_rules("quiet").cloned().unwrap();
    assert_eq!(rules.allow, [ToolPattern::Class(ToolClass::Read), ToolPattern::Prefix("memory_".into())]);
    assert_eq!((rules.writes, rules.ask.as_slice()), (Writes::Documents, &[ToolClass::Send][..]));
    // A profile that has the modes of `limpid` has their policies too.
    assert_eq!(profiles.get("kai").unwrap().mode_rules("quiet"), Some(&rules));
}

// OLLM-032 OLLM-052
#[test]
fn a_wrong_policy_is_told_with_its_line_and_what_would_be_right() {
    for (text, expected) in [
        ("allow = [\"class:danger\"]\n", "`class:danger` names no tools"),
        ("allow = []\nwrites = \"some\"\n", "`some` is not known"),
        ("allow = []\nask = [\"mail\"]\n", "`mail` is no class"),
        ("alow = []\n", "unknown field `alow`"),
    ] {
        let profiles = load(text);
        let problem = profiles.problems().first().unwrap();
        assert!(problem.message.contains(expected) && problem.place.is_some(), "{problem}");
        assert_eq!(problem.path, "limpid/modes/quiet/policy.toml");
    }
}
