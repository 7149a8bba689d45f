#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::sync::LazyLock;

use super::*;
use crate::policy::{ArgumentPattern, Rule, ToolPattern};

/// A destination that lives as long as the tests.
fn at(name: &str) -> &'static Destination {
    Box::leak(Box::new(Destination::Place(name.to_owned())))
}

/// The same of a server.
fn at_host(name: &str) -> &'static Destination {
    Box::leak(Box::new(Destination::host(name)))
}

static NONE: OwnerRules = OwnerRules { allow: Vec::new(), ask: Vec::new(), deny: Vec::new(), hosts: Vec::new() };

fn setting(rules: &OwnerRules, trust: Trust) -> Setting<'_> {
    Setting {
        mode: None,
        local_only: false,
        trust,
        private: true,
        research: false,
        strangers: false,
        group: false,
        delegated: false,
        rules,
        grants: &[],
    }
}

fn call<'a>(name: &'a str, effect: &'a Effect, arguments: &'a Argument) -> Call<'a> {
    let tool = ToolFacts { name, other_names: &[], group: "test", class: effect.class() };
    Call {
        tool,
        also: None,
        effect,
        address: AddressOrigin::Composed,
        fetched: 0,
        arguments,
        spellings: &[],
        paths: &[],
        destination: None,
        other_destinations: &[],
        reserved: false,
        unasked: false,
        sends: false,
        public: false,
        adopts: false,
        owners_words: &NO_WORDS,
    }
}

/// A window that shows nothing of the owner's.
static NO_WORDS: LazyLock<OwnersWords> = LazyLock::new(OwnersWords::default);

/// A path that is written; files of prompts are named in capitals here.
fn path(written: &str, real: &str) -> PathFacts {
    let instructs = real.contains("AGENTS");
    let (in_workspace, real) = (real.starts_with("/w/"), Followed::new(Path::new(real)));
    let change = if instructs { FileChange::Instructing } else { FileChange::New };
    PathFacts {
        written: written.to_owned(),
        real,
        over_strangers_link: false,
        in_workspace,
        is_low: false,
        of_strangers: false,
        write: true,
        change,
    }
}

// SEC-065 PICO-029
#[test]
fn where_others_read_a_strangers_text_shows_them_nothing_of_the_owners() {
    let (arguments, low) =
        (Argument::Fields(Vec::new()), PathFacts { is_low: true, write: false, ..path("o", "/w/o") });
    for (group, trust, waits) in [
        (true, Trust::Outside, true),
        (true, Trust::Guest, true),
        (true, Trust::Owner, false),
        (false, Trust::Outside, false),
    ] {
        let setting = Setting { group, private: false, ..setting(&NONE, trust) };
        let look = call("list_tasks", &Effect::Look, &arguments);
        assert_eq!(is_asked(&judge(&setting, &look)), waits, "{group} {trust}");
        assert_eq!(judge(&setting, &Call { public: true, ..look }), Verdict::Allowed);
        assert_eq!(judge(&setting, &Call { paths: std::slice::from_ref(&low), ..look }), Verdict::Allowed);
    }
}

fn is_asked(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::NeedsApproval { .. })
}

fn text(text: &str) -> Argument {
    Argument::Text(text.to_owned())
}

// SEC-002 SEC-065 LES-134
#[test]
fn foreign_text_in_the_window_holds_back_what_has_consequences() {
    let arguments = text("");
    for trust in Trust::ALL {
        for effect in
            [Effect::Look, Effect::Remember, Effect::Tell, Effect::ChangeOwned, Effect::Run, Effect::ChangeSelf]
        {
            let verdict = judge(&setting(&NONE, trust), &call("t", &effect, &arguments));
            let held = matches!(effect, Effect::ChangeOwned | Effect::Run | Effect::ChangeSelf);
            assert_eq!(is_asked(&verdict), held && trust.is_foreign(), "{trust} {effect:?}: {verdict:?}");
        }
        assert!(is_asked(&judge(&setting(&NONE, trust), &call("t", &Effect::Send, &arguments))), "{trust}");
    }
}

// SEC-002
#[test]
fn writing_what_prompts_are_made_from_counts_as_changing_the_agent() {
    let arguments = text("");
    let paths = [path("AGENTS.md", "/w/AGENTS.md")];
    let write = Call { paths: &paths, ..call("write_file", &Effect::Files, &arguments) };
    assert!(is_asked(&judge(&setting(&NONE, Trust::Guest), &write)));
    assert_eq!(judge(&setting(&NONE, Trust::Owner), &write), Verdict::Allowed);
    let reads = [PathFacts { write: false, ..paths[0].clone() }];
    let read = Call { paths: &reads, ..call("read_file", &Effect::Look, &arguments) };
    assert_eq!(judge(&setting(&NONE, Trust::Outside), &read), Verdict::Allowed);
}

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

// SEC-002 SEC-078 LES-136
#[test]
fn a_lasting_yes_covers_one_tool_one_destination_and_one_row() {
    let arguments = text("");
    let mail = Call { destination: Some(at("Ada@example.com")), ..call("send_mail", &Effect::Send, &arguments) };
    let setting = setting(&NONE, Trust::Outside);
    let grants = [Grant { tool: "send_mail".into(), pattern: lasting_yes(&setting, &mail).unwrap() }];
    let pattern = "send, also where strangers' text led to it, with what is private here: to ada@example.com";
    assert_eq!(grants[0].pattern, pattern);
    let setting = Setting { grants: &grants, ..setting };
    assert_eq!(judge(&setting, &mail), Verdict::Allowed, "the same person");
    assert!(is_asked(&judge(&setting, &Call { destination: Some(at("eve@example.com")), ..mail })));
    let other = ToolFacts { name: "send_sms", ..mail.tool };
    assert!(is_asked(&judge(&setting, &Call { tool: other, ..mail })), "another tool");
    for effect in [Effect::ChangeOwned, Effect::Mailbox, Effect::Plan, Effect::Show(None), Effect::Run, Effect::Pay] {
        assert!(is_asked(&judge(&setting, &Call { effect: &effect, ..mail })), "another row: {effect:?}");
    }
}

/// What was harmless to tell while there was nothing to tell, or while nobody else had a word in it, is not so for good.
// SEC-078 SEC-100
#[test]
fn a_lasting_yes_to_tell_somebody_something_covers_nothing_that_more_stands_beside() {
    let (arguments, address) = (text(""), || Some("https://a.example/x".to_owned()));
    let is = [false, true];
    let trusts = [Trust::Owner, Trust::Outside].into_iter();
    let besides: Vec<(Trust, bool, bool)> = trusts
        .flat_map(|trust| is.into_iter().flat_map(move |private| is.map(|group| (trust, private, group))))
        .collect();
    let beside = |(trust, private, group): (Trust, bool, bool)| Setting { private, group, ..setting(&NONE, trust) };
    let effects =
        [Effect::Fetch(address()), Effect::Show(address()), Effect::Send, Effect::Mailbox, Effect::ChangeOwned];
    for effect in effects {
        let tells = Call { destination: Some(at("a.example")), ..call("tell", &effect, &arguments) };
        for &given in &besides {
            let Some(pattern) = lasting_yes(&beside(given), &tells) else { continue };
            let grants = [Grant { tool: "tell".into(), pattern }];
            for &then in &besides {
                let setting = beside(then);
                let asks = is_asked(&judge(&setting, &tells));
                let still_asks = is_asked(&judge(&Setting { grants: &grants, ..setting }, &tells));
                let is_more =
                    (then.0.is_foreign() && !given.0.is_foreign()) || (then.1 && !given.1) || (then.2 && !given.2);
                assert_eq!(still_asks, asks && is_more, "{effect:?} {grants:?}: then {then:?}");
            }
        }
    }
}

/// Who said yes in a chat that they alone read did not say that others may read what comes of it.
// SEC-078 SEC-065
#[test]
fn a_lasting_yes_of_a_chat_that_the_owner_alone_reads_does_not_hold_where_others_read() {
    let (arguments, tainted) = (text(""), setting(&NONE, Trust::Outside));
    let group = Setting { group: true, ..tainted };
    for (effect, covers) in [
        (Effect::Send, "send, also where strangers' text led to it, where others read too, with what is private here"),
        (Effect::Look, "look where others read, also where strangers' text led to it, with what is private here"),
    ] {
        let asked = Call { destination: Some(at("mcp desk")), ..call("desk__read_note", &effect, &arguments) };
        let granted = |pattern: Option<String>| [Grant { tool: "desk__read_note".into(), pattern: pattern.unwrap() }];
        let alone = granted(lasting_yes(&tainted, &asked));
        assert_eq!(judge(&Setting { grants: &alone, ..tainted }, &asked), Verdict::Allowed, "{effect:?}");
        assert!(is_asked(&judge(&Setting { grants: &alone, ..group }, &asked)), "{effect:?}");
        let with_others = granted(lasting_yes(&group, &asked));
        assert_eq!(with_others[0].pattern, format!("{covers}: to mcp desk"));
        assert_eq!(judge(&Setting { grants: &with_others, ..group }, &asked), Verdict::Allowed, "{effect:?}");
    }
}

// SEC-065
#[test]
fn what_stands_in_the_owners_network_waits_where_others_read_whoever_typed_its_address() {
    let (arguments, effect) = (text(""), Effect::Fetch(Some("http://nas.example/diary".to_owned())));
    let typed = Call { address: AddressOrigin::TypedOwn, ..call("web_fetch", &effect, &arguments) };
    let alone = setting(&NONE, Trust::Outside);
    assert_eq!(judge(&alone, &typed), Verdict::Allowed);
    assert!(is_asked(&judge(&Setting { group: true, ..alone }, &typed)));
    let clean = Setting { group: true, ..setting(&NONE, Trust::Owner) };
    assert_eq!(judge(&clean, &typed), Verdict::Allowed);
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
}

// SEC-078
#[test]
fn there_is_no_lasting_yes_to_programs_payments_and_changes_of_the_agent() {
    let arguments = text("");
    let lasting = |trust: Trust, effect: &Effect, paths: &[PathFacts], destination: Option<&Destination>| {
        lasting_yes(&setting(&NONE, trust), &Call { paths, destination, ..call("t", effect, &arguments) }).is_some()
    };
    let (notes, agents) = ([path("notes.md", "/w/notes.md")], [path("AGENTS.md", "/w/AGENTS.md")]);
    for trust in Trust::ALL {
        for effect in [Effect::Run, Effect::Pay, Effect::ChangeSelf] {
            assert!(!lasting(trust, &effect, &notes, Some(at("ada@example.com"))), "{effect:?}");
        }
        assert!(!lasting(trust, &Effect::Files, &agents, None), "a file that prompts are made from");
        assert!(!lasting(trust, &Effect::ChangeOwned, &[], None), "it leads nowhere in particular");
        assert_eq!(lasting(trust, &Effect::Files, &notes, None), !trust.is_foreign(), "a stranger's words, unseen");
        let unnamed = lasting(trust, &Effect::Files, &[], Some(at("mcp files")));
        assert_eq!(unnamed, !trust.is_foreign(), "one that says no file may write any");
        assert!(lasting(trust, &Effect::Send, &[], Some(at("ada@example.com"))));
    }
}

// SEC-070
#[test]
fn a_reserved_right_lets_a_send_pass_in_a_tainted_window_and_nothing_else() {
    let arguments = text("");
    let judged = |rules: &OwnerRules, trust: Trust, effect: &Effect| {
        judge(&setting(rules, trust), &Call { reserved: true, ..call("t", effect, &arguments) })
    };
    for trust in [Trust::Guest, Trust::Outside] {
        for effect in [Effect::Send, Effect::Pay] {
            assert_eq!(judged(&NONE, trust, &effect), Verdict::Allowed);
        }
        for effect in [Effect::Run, Effect::ChangeOwned, Effect::Mailbox, Effect::Plan, Effect::ChangeSelf] {
            assert!(is_asked(&judged(&NONE, trust, &effect)), "{effect:?}");
        }
    }
    assert!(is_asked(&judged(&NONE, Trust::Owner, &Effect::Send)), "in a clean window the person is asked as ever");
    let rule =
        || vec![Rule { tool: ToolPattern::parse("t").unwrap(), arguments: None, destination: None, max_bytes: None }];
    let asks = OwnerRules { ask: rule(), ..OwnerRules::default() };
    assert!(is_asked(&judged(&asks, Trust::Outside, &Effect::Send)), "a rule of the owner's asks");
    let denies = OwnerRules { deny: rule(), ..OwnerRules::default() };
    assert!(matches!(judged(&denies, Trust::Outside, &Effect::Send), Verdict::Refused { .. }));
}

// SEC-065 SEC-071
#[test]
fn programs_of_a_strangers_folder_that_the_owner_named_run_in_a_tainted_window_and_nothing_else_does() {
    let arguments = text("");
    let judged = |rules: &OwnerRules, trust: Trust, effect: &Effect| {
        judge(&setting(rules, trust), &Call { unasked: true, ..call("t", effect, &arguments) })
    };
    for trust in [Trust::Guest, Trust::Outside] {
        assert_eq!(judged(&NONE, trust, &Effect::Run), Verdict::Allowed);
        for effect in
            [Effect::Send, Effect::Pay, Effect::Device, Effect::ChangeOwned, Effect::Files, Effect::ChangeSelf]
        {
            assert!(is_asked(&judged(&NONE, trust, &effect)), "{effect:?}");
        }
    }
    let rule =
        || vec![Rule { tool: ToolPattern::parse("t").unwrap(), arguments: None, destination: None, max_bytes: None }];
    let asks = OwnerRules { ask: rule(), ..OwnerRules::default() };
    assert!(is_asked(&judged(&asks, Trust::Outside, &Effect::Run)), "a rule of the owner's asks");
    let denies = OwnerRules { deny: rule(), ..OwnerRules::default() };
    assert!(matches!(judged(&denies, Trust::Outside, &Effect::Run), Verdict::Refused { .. }));
}

// SEC-005 SEC-067 SEC-100
#[test]
fn in_a_tainted_turn_an_address_needs_a_right_or_an_empty_window() {
    let arguments = text("");
    let rules = OwnerRules { hosts: vec!["*.docs.rs".into()], ..OwnerRules::default() };
    let effect = Effect::Fetch(Some("https://example.com/a".to_owned()));
    let judged = |trust: Trust, private: bool, address: AddressOrigin, host: &str| {
        let fetch = Call { destination: Some(at_host(host)), address, ..call("web_fetch", &effect, &arguments) };
        is_asked(&judge(&Setting { private, ..setting(&rules, trust) }, &fetch))
    };
    assert!(!judged(Trust::Owner, true, AddressOrigin::Composed, "evil.test"));
    assert!(judged(Trust::Outside, true, AddressOrigin::Composed, "evil.test"));
    assert!(judged(Trust::Outside, false, AddressOrigin::Composed, "evil.test"), "nothing private, but made up");
    assert!(judged(Trust::Outside, true, AddressOrigin::Read, "evil.test"), "which of the links says something");
    assert!(!judged(Trust::Outside, false, AddressOrigin::Read, "evil.test"));
    assert!(!judged(Trust::Outside, true, AddressOrigin::Typed, "evil.test"));
    assert!(!judged(Trust::Outside, true, AddressOrigin::Composed, "a.docs.rs"), "a written rule");
}

// SEC-101
#[test]
fn a_worker_is_told_words_of_the_owners_by_a_yes_alone() {
    let own = OwnersWords::of(["Ada lives in Pankow and has diabetes."], |word| word == "and");
    let task = |words: &str| Argument::Fields(vec![("task".to_owned(), text(words))]);
    let rules = OwnerRules::default();
    let verdict = |trust, arguments: &Argument| {
        judge(&setting(&rules, trust), &Call { owners_words: &own, ..call("research", &Effect::Research, arguments) })
    };
    assert_eq!(verdict(Trust::Owner, &task("Compare kettles and pans.")), Verdict::Allowed);
    let telling = task("Find a clinic for diabetes in Pankow.");
    let reason = "its task says “diabetes”, “Pankow”, which you did not type here, and any page that the worker reads may learn it";
    assert_eq!(verdict(Trust::Owner, &telling), Verdict::NeedsApproval { reason: reason.to_owned() });
    let reason = format!("text from outside was read, and {reason}");
    assert_eq!(verdict(Trust::Outside, &telling), Verdict::NeedsApproval { reason });
}

// SEC-077 SEC-101
#[test]
fn a_question_says_who_is_told() {
    let arguments = text("");
    for (effect, told) in [
        (Effect::Research, "any page that it reads may learn"),
        (Effect::TellOthers, "a chat that others read too"),
        (Effect::Send, "to others"),
    ] {
        for trust in [Trust::Owner, Trust::Outside] {
            let said = question_of(&setting(&NONE, trust), &call("t", &effect, &arguments));
            assert!(said.contains(told), "{effect:?}: {said}");
        }
    }
    let own = OwnersWords::of(["diabetes"], |_| false);
    let task = text("a clinic for diabetes");
    let rule =
        Rule { tool: ToolPattern::parse("research").unwrap(), arguments: None, destination: None, max_bytes: None };
    let asks = OwnerRules { ask: vec![rule], ..OwnerRules::default() };
    let research = Call { owners_words: &own, ..call("research", &Effect::Research, &task) };
    let asked = judge(&setting(&asks, Trust::Owner), &research);
    let is_said = |reason: &String| reason.starts_with("your rules ask for it, and") && reason.contains("“diabetes”");
    assert!(matches!(&asked, Verdict::NeedsApproval { reason } if is_said(reason)), "{asked:?}");
}

// SEC-056 SEC-077
#[test]
fn a_question_says_where_a_yes_makes_words_the_owners() {
    let (arguments, own) = (text(""), [path("a.md", "/w/a.md")]);
    let (low, read) =
        ([PathFacts { of_strangers: true, ..own[0].clone() }], [PathFacts { write: false, ..own[0].clone() }]);
    let instructing = [path("AGENTS.md", "/w/AGENTS.md")];
    let corrects = Call { adopts: true, ..call("memory_update", &Effect::ChangeOwned, &arguments) };
    let files = |paths| Call { paths, ..call("write_file", &Effect::Files, &arguments) };
    for (made, clean, tainted) in [
        (corrects, true, true),
        (call("memory_forget", &Effect::ChangeOwned, &arguments), false, false),
        (files(&own), false, true),
        (files(&low), false, false),
        (files(&read), false, false),
        // That its text is what the agent is told is what the question says already.
        (files(&instructing), false, false),
        (Call { paths: &own, ..call("exec", &Effect::Run, &arguments) }, false, false),
    ] {
        for (trust, says) in [(Trust::Owner, clean), (Trust::Guest, tainted), (Trust::Outside, tainted)] {
            let said = question_of(&setting(&NONE, trust), &made);
            let is_said = said.ends_with("; what it writes counts as yours from then on");
            assert_eq!(is_said, says, "{} {trust}: {said}", made.tool.name);
        }
    }
    let Verdict::NeedsApproval { reason } = judge(&setting(&NONE, Trust::Outside), &corrects) else { panic!("it ran") };
    let expected = "text from outside was read, and this would change or remove something that you have; \
                    what it writes counts as yours from then on";
    assert_eq!(reason, expected);
}

// SEC-058 SEC-071
#[test]
fn a_program_of_strangers_that_can_send_runs_by_a_yes_or_by_a_rule_that_names_it_whole() {
    let arguments =
        Argument::Fields(vec![("command".to_owned(), Argument::List(vec![text("python3"), text("test.py")]))]);
    let other =
        Argument::Fields(vec![("command".to_owned(), Argument::List(vec![text("python3"), text("a test.py")]))]);
    let to = |hosts: &[&str]| {
        let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        Destination::Program { program: "/bin/python3".to_owned(), hosts }
    };
    let (one, two) = (to(&["a.test"]), to(&["a.test", "b.test"]));
    let sending = |arguments, destination| Call {
        sends: true,
        destination: Some(destination),
        ..call("exec", &Effect::Run, arguments)
    };
    let words =
        |words: &[&str]| ArgumentPattern::List(words.iter().map(|w| ArgumentPattern::Text((*w).to_owned())).collect());
    let pattern = || ArgumentPattern::Fields(vec![("command".to_owned(), words(&["python3", "test.py"]))]);
    let rule = |arguments: Option<ArgumentPattern>, destination: Option<&str>| Rule {
        arguments,
        destination: destination.map(str::to_owned),
        tool: ToolPattern::parse("exec").unwrap(),
        max_bytes: None,
    };
    let wide = [rule(None, None), rule(Some(pattern()), None), rule(None, Some("/bin/python3 to a.test"))];
    for rule in wide {
        let rules = OwnerRules { allow: vec![rule], ..OwnerRules::default() };
        assert!(is_asked(&judge(&setting(&rules, Trust::Owner), &sending(&arguments, &one))));
    }
    let rules =
        OwnerRules { allow: vec![rule(Some(pattern()), Some("/bin/python3 to a.test"))], ..OwnerRules::default() };
    let ruled = setting(&rules, Trust::Owner);
    assert_eq!(judge(&ruled, &sending(&arguments, &one)), Verdict::Allowed);
    assert!(is_asked(&judge(&ruled, &sending(&arguments, &two))) && is_asked(&judge(&ruled, &sending(&other, &one))));

    let clean = setting(&NONE, Trust::Owner);
    let pattern = lasting_yes(&clean, &sending(&arguments, &one)).unwrap();
    let said = "run a stranger's program with the network: /bin/python3 to a.test with { command = [\"python3\", \"test.py\"] }";
    assert_eq!(pattern, said);
    let grants = [Grant { tool: "exec".to_owned(), pattern }];
    let granted = Setting { grants: &grants, ..clean };
    assert_eq!(judge(&granted, &sending(&arguments, &one)), Verdict::Allowed);
    assert!(
        is_asked(&judge(&granted, &sending(&arguments, &two))) && is_asked(&judge(&granted, &sending(&other, &one)))
    );
}

// SEC-100 SEC-101
#[test]
fn of_the_owners_own_network_only_what_they_typed_is_fetched_unasked_beside_a_strangers_text() {
    let arguments = text("");
    let rules = OwnerRules { hosts: vec!["router.home".into()], ..OwnerRules::default() };
    let effect = Effect::Fetch(Some("http://router.home/open".to_owned()));
    let fetch =
        |address| Call { destination: Some(at_host("router.home")), address, ..call("web_fetch", &effect, &arguments) };
    for private in [false, true] {
        let tainted = Setting { private, ..setting(&rules, Trust::Outside) };
        assert_eq!(judge(&tainted, &fetch(AddressOrigin::TypedOwn)), Verdict::Allowed);
        let Verdict::NeedsApproval { reason } = judge(&tainted, &fetch(AddressOrigin::Own)) else { panic!("it ran") };
        assert!(reason.ends_with("router.home is an address of your own network, which you did not type"), "{reason}");
        assert_eq!(lasting_yes(&tainted, &fetch(AddressOrigin::Own)), None);
        for for_others in [Setting { research: true, ..tainted }, Setting { strangers: true, ..tainted }] {
            for address in [AddressOrigin::TypedOwn, AddressOrigin::Own] {
                assert!(matches!(judge(&for_others, &fetch(address)), Verdict::Refused { .. }));
            }
        }
    }
    assert_eq!(judge(&setting(&rules, Trust::Owner), &fetch(AddressOrigin::Own)), Verdict::Allowed);
}

// SEC-101
#[test]
fn a_research_worker_fetches_what_it_likes_while_nothing_private_is_in_its_window() {
    let arguments = text("");
    let effect = Effect::Fetch(Some("https://example.com/a".to_owned()));
    let fetch = Call { destination: Some(at_host("example.com")), ..call("web_fetch", &effect, &arguments) };
    let worker = Setting { research: true, private: false, ..setting(&NONE, Trust::Outside) };
    assert_eq!(judge(&worker, &fetch), Verdict::Allowed);
    assert!(is_asked(&judge(&Setting { private: true, ..worker }, &fetch)));
    assert!(is_asked(&judge(&worker, &call("research", &Effect::Research, &arguments))), "it sends out no other");
}

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
