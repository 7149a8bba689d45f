//! The owner's rules.

use super::{NONE, at, call, is_asked, path, setting, text};
use crate::policy::{
    Argument, ArgumentPattern, Call, Destination, Effect, FileChange, ModeRules, OwnerRules, PathFacts, Rule, Setting,
    ToolFacts, ToolPattern, Verdict, judge,
};
use crate::{ToolClass, Trust};

// SEC-002 SEC-071
#[test]
fn the_owners_rules_decide_by_tool_arguments_and_destination() {
    let rule = |tool: &str, arguments: Option<&str>, destination: Option<&str>| Rule {
        tool: ToolPattern::parse(tool).unwrap(),
        arguments: arguments.map(|text| ArgumentPattern::Text(text.to_owned())),
        destination: destination.map(str::to_owned),
        max_bytes: None,
    };
    let judged = |rule: Rule| {
        let rules = OwnerRules { allow: vec![rule], ..OwnerRules::default() };
        let arguments = text("report");
        let send = Call { destination: Some(at("ada@example.com")), ..call("send_mail", &Effect::Send, &arguments) };
        judge(&setting(&rules, Trust::Outside), &send) == Verdict::Allowed
    };
    assert!(!judged(rule("send_mail", None, None)), "it does not say where");
    assert!(judged(rule("class:send", Some("report"), Some("ada@example.com"))));
    assert!(!judged(rule("send_sms", None, None)));
    assert!(!judged(rule("send_mail", Some("secret"), None)));
    assert!(!judged(rule("send_mail", None, Some("eve@example.com"))));
    let shown = |rule: Rule| {
        let rules = OwnerRules { allow: vec![rule], ..OwnerRules::default() };
        let (arguments, effect) = (text("https://a.test/x"), Effect::Show(None));
        let show = Call { destination: Some(at("a.test")), ..call("open_url", &effect, &arguments) };
        judge(&setting(&rules, Trust::Outside), &show) == Verdict::Allowed
    };
    assert!(!shown(rule("open_url", None, Some("a.test"))), "a page on the screen may lead on to any other");
    assert!(shown(rule("open_url", Some("https://a.test/x"), Some("a.test"))));
    let at_most = |max_bytes: u64| {
        judged(Rule { max_bytes: Some(max_bytes), ..rule("send_mail", None, Some("ada@example.com")) })
    };
    assert!(at_most(6) && !at_most(5), "`report` has six bytes");
    let both = OwnerRules {
        allow: vec![rule("*", None, None)],
        deny: vec![rule("send_*", None, None)],
        ..OwnerRules::default()
    };
    let arguments = text("");
    let send = call("send_mail", &Effect::Send, &arguments);
    assert!(matches!(judge(&setting(&both, Trust::Owner), &send), Verdict::Refused { .. }), "a ban comes first");
    let ask = OwnerRules { ask: vec![rule("send_*", None, None)], ..OwnerRules::default() };
    assert!(is_asked(&judge(&setting(&ask, Trust::Owner), &send)));
    let both = OwnerRules { allow: vec![rule("*", None, None)], ask: vec![rule("class:write", None, None)], ..ask };
    for trust in [Trust::Owner, Trust::Outside] {
        let write = call("write_file", &Effect::Files, &arguments);
        assert!(is_asked(&judge(&setting(&both, trust), &write)), "what is asked about always is asked about");
    }
    let exec = |words: Option<&str>| rule("exec", words, None);
    let (all, one) = (vec![exec(None)], vec![exec(Some("make test"))]);
    let cases = [(&all, &one, true), (&one, &all, false), (&one, &one, false), (&all, &all, false)];
    for (ask, allow, runs) in cases {
        let rules = OwnerRules { ask: ask.clone(), allow: allow.clone(), ..OwnerRules::default() };
        let arguments = text("make test");
        let run = call("exec", &Effect::Run, &arguments);
        let verdict = judge(&setting(&rules, Trust::Owner), &run);
        assert_eq!(verdict == Verdict::Allowed, runs, "an exception names the very call: {ask:?} {allow:?}");
    }
}

// SEC-071
#[test]
fn a_rule_about_a_server_holds_back_what_counts_as_a_tool_of_it() {
    let deny = |pattern: &str| {
        let tool = ToolPattern::parse(pattern).unwrap();
        let rule = Rule { tool, arguments: None, destination: None, max_bytes: None };
        OwnerRules { deny: vec![rule], ..OwnerRules::default() }
    };
    let arguments = text("");
    let mut look = call("read_mcp_resource", &Effect::Look, &arguments);
    let of_desk =
        ToolFacts { name: "desk__read_mcp_resource", other_names: &[], group: "mcp-desk", class: ToolClass::Write };
    look.also = Some(of_desk);
    for pattern in ["group:mcp-desk", "desk__*", "read_mcp_resource"] {
        assert!(matches!(judge(&setting(&deny(pattern), Trust::Owner), &look), Verdict::Refused { .. }), "{pattern}");
    }
    assert_eq!(judge(&setting(&deny("group:mcp-other"), Trust::Owner), &look), Verdict::Allowed);
}

// SEC-064 SEC-071
#[test]
fn no_rule_lets_a_strangers_text_into_the_owners_files() {
    let all = Rule { tool: ToolPattern::parse("*").unwrap(), arguments: None, destination: None, max_bytes: None };
    let rules = OwnerRules { allow: vec![all], ..OwnerRules::default() };
    let arguments = text("");
    let skill = call("create_skill", &Effect::ChangeSelf, &arguments);
    assert!(is_asked(&judge(&setting(&rules, Trust::Outside), &skill)));
    assert_eq!(judge(&setting(&rules, Trust::Owner), &skill), Verdict::Allowed);
    let low = PathFacts { is_low: true, change: FileChange::Other, ..path("outside/a", "/o/a") };
    for (place, waits) in [(path("a.md", "/w/a.md"), true), (path("AGENTS.md", "/w/AGENTS.md"), true), (low, false)] {
        let paths = [place];
        let write = Call { paths: &paths, ..call("write_file", &Effect::Files, &arguments) };
        assert_eq!(is_asked(&judge(&setting(&rules, Trust::Outside), &write)), waits, "{paths:?}");
        assert_eq!(judge(&setting(&rules, Trust::Owner), &write), Verdict::Allowed);
        let run = Call { effect: &Effect::Run, ..write };
        assert_eq!(judge(&setting(&rules, Trust::Outside), &run), Verdict::Allowed, "it writes low places only");
    }
    let acts = PathFacts { is_low: true, change: FileChange::FarReaching, ..path("outside/.envrc", "/o/.envrc") };
    for paths in [vec![], vec![acts]] {
        let write =
            Call { paths: &paths, destination: Some(at("mcp files")), ..call("put", &Effect::Files, &arguments) };
        assert!(is_asked(&judge(&setting(&rules, Trust::Outside), &write)), "it may write any file: {paths:?}");
        assert_eq!(judge(&setting(&rules, Trust::Owner), &write), Verdict::Allowed);
    }
}

// SEC-070
#[test]
fn a_rule_that_names_no_tool_and_no_destination_lets_nothing_pass_that_a_server_hears() {
    let (arguments, effect) = (text("dear diary"), Effect::ChangeOwned);
    let told = Call { destination: Some(at("mcp wiki")), ..call("wiki__add", &effect, &arguments) };
    let passes = |tool: &str, destination: Option<&str>| {
        let rule = Rule {
            tool: ToolPattern::parse(tool).unwrap(),
            arguments: None,
            destination: destination.map(str::to_owned),
            max_bytes: None,
        };
        let rules = OwnerRules { allow: vec![rule], ..OwnerRules::default() };
        judge(&setting(&rules, Trust::Outside), &told) == Verdict::Allowed
    };
    assert!(!passes("*", None) && !passes("class:write", None));
    assert!(passes("*", Some("mcp wiki")) && passes("wiki__add", None) && passes("wiki__*", None));
    // An address says where it leads by itself.
    let effect = Effect::Fetch(Some("https://a.example/x".to_owned()));
    let fetch = Call { destination: Some(at("a.example")), ..call("web_fetch", &effect, &arguments) };
    let rule = Rule { tool: ToolPattern::All, arguments: None, destination: None, max_bytes: None };
    let rules = OwnerRules { allow: vec![rule], ..OwnerRules::default() };
    assert_eq!(judge(&setting(&rules, Trust::Outside), &fetch), Verdict::Allowed);
}

// KAI-096
#[test]
fn a_letter_waits_for_the_owner_unless_a_rule_names_where_it_goes() {
    let arguments = text("");
    let base = call("compose_email", &Effect::Send, &arguments);
    let to = ["ada@example.com".to_owned()].into();
    let letter = Destination::People { from: Some("me@example.com".to_owned()), to };
    let letter = Call { destination: Some(&letter), ..base };
    let rule = |tool: &str, destination: Option<&str>| OwnerRules {
        allow: vec![Rule {
            tool: ToolPattern::parse(tool).unwrap(),
            arguments: None,
            destination: destination.map(str::to_owned),
            max_bytes: None,
        }],
        ..OwnerRules::default()
    };
    let table = [
        ("nothing was said", OwnerRules::default(), true),
        ("every tool", rule("*", None), true),
        ("this tool, whoever gets it", rule("compose_email", None), true),
        ("from another account", rule("compose_email", Some("work@example.com to ada@example.com")), true),
        ("to somebody else", rule("compose_email", Some("me@example.com to eve@example.com")), true),
        ("another tool", rule("reply_email", Some("me@example.com to ada@example.com")), true),
        ("tool, account and recipient", rule("compose_email", Some("me@example.com to Ada@example.com")), false),
    ];
    for trust in [Trust::Owner, Trust::Outside] {
        for (case, rules, asked) in &table {
            assert_eq!(is_asked(&judge(&setting(rules, trust), &letter)), *asked, "{case}, {trust}");
        }
    }
    let developer = ModeRules::of("developer");
    let free = Setting { mode: Some(&developer), ..setting(&NONE, Trust::Owner) };
    assert!(is_asked(&judge(&free, &letter)), "also in a mode that does not ask");
}

/// What the owner holds back stays so, whatever a call brings besides; what they let pass passes as it is written.
// LES-136
#[test]
fn an_argument_that_is_added_gets_around_no_rule() {
    let field = |name: &str, text: &str| (name.to_owned(), Argument::Text(text.to_owned()));
    let words = |words: &[&str]| {
        let words = words.iter().map(|word| Argument::Text((*word).to_owned())).collect();
        ("command".to_owned(), Argument::List(words))
    };
    let plain = Argument::Fields(vec![words(&["rm", "-r", "-f", "notes"])]);
    let added = Argument::Fields(vec![words(&["rm", "-r", "-f", "notes"]), field("working_dir", "notes")]);
    let rule = || {
        let word = |word: &str| ArgumentPattern::Text(word.to_owned());
        let pattern = ArgumentPattern::List(vec![word("rm"), word("**")]);
        let arguments = Some(ArgumentPattern::Fields(vec![("command".to_owned(), pattern)]));
        vec![Rule { tool: ToolPattern::parse("exec").unwrap(), arguments, destination: None, max_bytes: None }]
    };
    let deny = OwnerRules { deny: rule(), ..OwnerRules::default() };
    let ask = OwnerRules { ask: rule(), ..OwnerRules::default() };
    let allow = OwnerRules { allow: rule(), ..OwnerRules::default() };
    for arguments in [&plain, &added] {
        let run = call("exec", &Effect::Run, arguments);
        assert!(matches!(judge(&setting(&deny, Trust::Owner), &run), Verdict::Refused { .. }), "{arguments:?}");
        assert!(is_asked(&judge(&setting(&ask, Trust::Owner), &run)), "{arguments:?}");
    }
    let judged = |arguments| judge(&setting(&allow, Trust::Outside), &call("exec", &Effect::Run, arguments));
    assert_eq!(judged(&plain), Verdict::Allowed);
    assert!(is_asked(&judged(&added)), "a folder that the rule does not name");
}

// SEC-071
#[test]
fn a_rule_that_holds_back_names_a_place_by_any_of_its_names_and_one_that_allows_by_the_one_that_is_shown() {
    let (arguments, effect) = (Argument::Fields(Vec::new()), Effect::Run);
    let place = |name: &str| Destination::Place(name.to_owned());
    let (shown, others) = (place("/usr/bin/python3.11"), [place("/usr/bin/python3")]);
    let run = Call { destination: Some(&shown), other_destinations: &others, ..call("exec", &effect, &arguments) };
    let named = |name: &str| {
        let tool = ToolPattern::parse("exec").unwrap();
        vec![Rule { tool, arguments: None, destination: Some(name.to_owned()), max_bytes: None }]
    };
    for (name, is_shown) in [("/usr/bin/python3.11", true), ("/usr/bin/python3", false)] {
        let deny = OwnerRules { deny: named(name), ..OwnerRules::default() };
        assert!(matches!(judge(&setting(&deny, Trust::Owner), &run), Verdict::Refused { .. }), "{name}");
        let allow = OwnerRules { allow: named(name), ..OwnerRules::default() };
        let verdict = judge(&setting(&allow, Trust::Outside), &run);
        assert_eq!(verdict == Verdict::Allowed, is_shown, "{name}");
    }
}
