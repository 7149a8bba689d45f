//! What makes a window private.

use std::sync::Arc;

use limpid_core::{CallId, DEFAULT_PROFILE, ToolCall, Trust};
use limpid_prompt::inputs::{MemoryEntry, Quoted, ToolInput, UnusedSkill};
use limpid_prompt::{Profiles, SourceFile};
use limpid_turn::result::keep_both_ends;

use super::*;

fn shipped() -> Arc<Profile> {
    Arc::clone(Profiles::one_with_home(DEFAULT_PROFILE, []).get(DEFAULT_PROFILE).unwrap())
}

fn holds(inputs: &Inputs, in_flight: &[Message]) -> bool {
    holds_private((&shipped(), "chat-remote"), inputs, in_flight, |_| true)
}

// SEC-100
#[test]
fn a_section_of_the_owners_own_is_private_on_the_paths_that_show_it() {
    let profile = |text: &str| {
        let file = SourceFile::home("limpid/sections/honesty.md", text);
        Arc::clone(Profiles::one_with_home(DEFAULT_PROFILE, [file]).get(DEFAULT_PROFILE).unwrap())
    };
    let shows = |profile: &Profile, path: &str, inputs: &Inputs| shows_owners((profile, path), inputs);
    let own = profile("Ada has diabetes.\n");
    assert!(shows(&own, "chat-remote", &Inputs::default()) && !shows(&own, "heartbeat", &Inputs::default()));
    assert!(!shows(&shipped(), "chat-remote", &Inputs::default()));
    assert!(!shows(&profile("---\npublic: true\n---\nBe kind.\n"), "chat-remote", &Inputs::default()));
    // What ships shows no skill that is not used.
    let unused = UnusedSkill { name: "diabetes".to_owned(), ..UnusedSkill::default() };
    let skills = SkillsInput { unused: vec![unused], ..SkillsInput::default() };
    let inputs = Inputs { skills, ..Inputs::default() };
    let front = "public: true\nentries: skills.unused\nentry: \"{{ name }}\"";
    assert!(!shows(&shipped(), "chat-remote", &inputs));
    assert!(shows(&profile(&format!("---\n{front}\n---\n{{{{ entries }}}}\n")), "chat-remote", &inputs));
}

// SEC-100
#[test]
fn a_window_is_private_by_any_one_thing_of_the_owners() {
    let public = Inputs { user: Some(Quoted::new("compare three hotels", TrustName::Owner)), ..Inputs::default() };
    assert!(!holds(&public, &[]));
    let soul = Inputs { soul: Some("I am Ada's.".to_owned()), ..public.clone() };
    let memory = MemoryInput { general: vec![MemoryEntry::by(TrustName::Owner)], ..MemoryInput::default() };
    let memory = Inputs { memory, ..public.clone() };
    let guest = Inputs { user: Some(Quoted::new("compare three hotels", TrustName::Guest)), ..public.clone() };
    let key = Quoted::new("what is on https://a.test/8f14e45fceea167a?", TrustName::Owner);
    let key = Inputs { user: Some(key), ..public.clone() };
    for private in [soul, memory, guest, key] {
        assert!(holds(&private, &[]), "{private:?}");
    }
}

// SEC-100
#[test]
fn what_a_server_of_the_owners_says_of_its_tools_is_theirs() {
    let tools = |group: &str| vec![ToolInput { group: group.into(), ..ToolInput::default() }];
    let shows = |group: &str| are_owners(&Inputs { tools: tools(group), ..Inputs::default() });
    assert!(shows("mcp-house"));
    assert!(!shows("web") && !shows("mcp"), "the tool that reads resources is shipped");
}

// SEC-100
#[test]
fn a_path_that_says_the_name_of_its_owner_is_theirs() {
    for (path, is_private) in [
        ("/home/ada/.limpid/workspace", true),
        ("/Users/ada/notes", true),
        ("/volume1/homes/ada/limpid/workspace", true),
        (r"C:\Users\ada\notes", true),
        ("/srv/limpid/workspace", false),
        ("/home", false),
        ("", false),
    ] {
        for base in [None, Some(path.into())] {
            let workspace = WorkspaceInput { path: path.into(), base, ..WorkspaceInput::default() };
            assert_eq!(are_owners(&Inputs { workspace, ..Inputs::default() }), is_private, "{path}");
        }
    }
    let base = Some("/srv/limpid/workspace/globex-takeover".into());
    let workspace = WorkspaceInput { path: "/srv/limpid/workspace".into(), base, ..WorkspaceInput::default() };
    assert!(are_owners(&Inputs { workspace, ..Inputs::default() }), "a folder that they opened");
}

// SEC-100
#[test]
fn a_result_is_as_private_as_its_tool() {
    let call = |id: &str, name: &str| ToolCall { id: CallId::new(id), name: name.into(), arguments: "{}".into() };
    let asked = Message {
        calls: vec![call("a", "web_fetch"), call("b", "memory_query")],
        ..Message::new(Role::Assistant, "", Trust::Owner)
    };
    let result =
        |id: &str| Message { call_id: Some(CallId::new(id)), ..Message::new(Role::Tool, "text", Trust::Owner) };
    let is_public = |name: &str| name == "web_fetch";
    let shipped = shipped();
    let private =
        |results: &[Message]| holds_private((&shipped, "chat-remote"), &Inputs::default(), results, is_public);
    assert!(!private(&[asked.clone(), result("a")]));
    let long = Message { text: keep_both_ends(&"public ".repeat(1000), 2000), ..result("a") };
    assert!(!private(&[asked.clone(), long]));
    assert!(private(&[asked.clone(), result("a"), result("b")]));
    assert!(private(&[result("c")]), "a result of no known call");
    let typed = Message::new(Role::User, "what is on https://a.test/8f14e45fceea167a?", Trust::Owner);
    assert!(private(&[asked.clone(), result("a"), typed]), "the links to follow could spell a key");
    for from in [FROM_OWN_NETWORK, FROM_CAPABILITY_URL] {
        let of_private = Message { text: format!("{from}\nthe door is open"), ..result("a") };
        assert!(private(&[asked.clone(), of_private.clone()]), "{from}");
        let long = format!("{}{}", of_private.text, " the door is open".repeat(100));
        for limit in [60, 100, 120, 600] {
            let cut = Message { text: keep_both_ends(&long, limit), ..of_private.clone() };
            assert!(private(&[asked.clone(), cut]), "{from} {limit}");
        }
    }
    let refused = format!("{OWNERS_RULES_FORBID} this call of `web_fetch`");
    let refused = Message { text: refused, ..result("a") };
    assert!(private(&[asked.clone(), refused]), "which hosts the owner's rules name");
    let letter = Message::new(Role::User, "a private letter", Trust::Outside);
    assert!(private(&[asked, result("a"), letter]), "a letter that was handed in meanwhile");
}
