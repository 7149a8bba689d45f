//! Modes, the local path, and agents that were given a task.

use super::{NONE, call, is_asked, path, setting, text};
use crate::Trust;
use crate::policy::{Call, Effect, FileChange, ModeRules, PathFacts, Setting, Verdict, judge};
use crate::tool::LOCAL_TOOL_ALLOWLIST;

// KOSHI-042 LES-121
#[test]
fn an_agent_with_a_task_keeps_nothing_and_changes_nothing_that_instructs() {
    let arguments = text("");
    let judged = |effect: Effect, paths: &[PathFacts]| {
        let agents = Setting { delegated: true, ..setting(&NONE, Trust::Owner) };
        judge(&agents, &Call { paths, ..call("t", &effect, &arguments) })
    };
    let instructing = PathFacts { change: FileChange::Instructing, ..path("MEMORY.md", "/w/MEMORY.md") };
    for (effect, paths) in [
        (Effect::Remember, [].as_slice()),
        (Effect::Tell, &[]),
        (Effect::ChangeSelf, &[]),
        (Effect::Files, &[instructing]),
    ] {
        assert!(matches!(judged(effect.clone(), paths), Verdict::Refused { .. }), "{effect:?}");
    }
    for effect in [Effect::Look, Effect::Run, Effect::Plan, Effect::Delegate] {
        assert_eq!(judged(effect, &[]), Verdict::Allowed);
    }
    assert_eq!(judged(Effect::Files, &[path("a.md", "/w/a.md")]), Verdict::Allowed);
}

// OLLM-037 OLLM-136
#[test]
fn planning_writes_documents_of_the_workspace_by_where_a_path_leads() {
    let arguments = text("");
    let rules = ModeRules::of("planning");
    let judged = |paths: &[PathFacts], effect: Effect| {
        let write = Call { paths, ..call("write_file", &effect, &arguments) };
        judge(&Setting { mode: Some(&rules), ..setting(&NONE, Trust::Owner) }, &write) == Verdict::Allowed
    };
    let inside = |written: &str, real: &str| judged(&[path(written, real)], Effect::Files);
    for real in ["/w/plan.md", "/w/a/PLAN.MD", "/w/x.txt", "/w/x.rst", "/w/x.adoc"] {
        assert!(inside("x", real), "{real}");
    }
    assert!(!inside("docs/../src/app.ts", "/w/src/app.ts"));
    assert!(!inside("plan.md", "/w/src/app.ts"), "a link named like a document");
    assert!(!inside("md", "/w/md"));
    assert!(!judged(&[path("/etc/motd.txt", "/etc/motd.txt")], Effect::Files));
    let two = [path("a.md", "/w/a.md"), path("b.rs", "/w/b.rs")];
    assert!(!judged(&two, Effect::Files), "every path counts");
    assert!(!judged(&two[1..], Effect::Look), "whatever the class");
    assert!(!judged(&[], Effect::Files), "a tool that does not say where");
    let reads = [PathFacts { write: false, ..two[1].clone() }];
    assert!(judged(&reads, Effect::Look));
}

// OLLM-036 KOSHI-017
#[test]
fn what_a_mode_does_not_offer_is_refused_and_sending_becomes_a_draft() {
    let arguments = text("");
    let judged = |mode: &str, effect: Effect| {
        let rules = ModeRules::of(mode);
        judge(&Setting { mode: Some(&rules), ..setting(&NONE, Trust::Owner) }, &call("t", &effect, &arguments))
    };
    assert!(is_asked(&judged("assistant", Effect::Send)));
    assert!(is_asked(&judged("developer", Effect::Send)), "what leaves for others waits in every turn");
    assert_eq!(judged("developer", Effect::Show(None)), Verdict::Allowed);
    assert!(is_asked(&judged("assistant", Effect::Show(None))));
    assert!(matches!(judged("debugger", Effect::Files), Verdict::Refused { .. }));
    assert!(matches!(judged("planning", Effect::Run), Verdict::Refused { .. }));
    let paths = [path("x.md", "/w/x.md")];
    let rules = ModeRules::of("debugger");
    let touching = |effect| Call { paths: &paths, ..call("t", effect, &arguments) };
    let setting = Setting { mode: Some(&rules), ..setting(&NONE, Trust::Owner) };
    assert!(matches!(judge(&setting, &touching(&Effect::Remember)), Verdict::Refused { .. }));
    // A program runs, and the sandbox keeps it from writing in its folder.
    assert_eq!(judge(&setting, &touching(&Effect::Run)), Verdict::Allowed);
}

// KAI-033
#[test]
fn the_local_path_runs_its_allowlist_only() {
    let arguments = text("");
    let local = Setting { local_only: true, ..setting(&NONE, Trust::Owner) };
    for name in LOCAL_TOOL_ALLOWLIST {
        assert_eq!(judge(&local, &call(name, &Effect::Look, &arguments)), Verdict::Allowed);
    }
    assert!(matches!(judge(&local, &call("memory_learn", &Effect::Look, &arguments)), Verdict::Refused { .. }));
}
