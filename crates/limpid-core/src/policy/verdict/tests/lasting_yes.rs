//! What a lasting yes covers.

use super::{NONE, at, at_host, call, is_asked, path, setting, text};
use crate::Trust;
use crate::policy::PrivatePlace::OwnNetwork;
use crate::policy::{
    AddressOrigin, Argument, ArgumentPattern, Call, Destination, Effect, Grant, OwnerRules, OwnersWords, PathFacts,
    Rule, Setting, ToolFacts, ToolPattern, Verdict, judge, lasting_yes,
};

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

// SEC-071 SEC-078
#[test]
fn what_a_rule_asks_about_by_its_arguments_is_asked_about_each_time() {
    let asks = |tool: &str, arguments: Option<&str>| Rule {
        tool: ToolPattern::parse(tool).unwrap(),
        arguments: arguments.map(|text| ArgumentPattern::Text(text.to_owned())),
        destination: None,
        max_bytes: None,
    };
    let said = |words: &str| {
        let rules = OwnerRules { ask: vec![asks("send_mail", Some("*code*"))], ..OwnerRules::default() };
        let whole = OwnerRules { ask: vec![asks("send_mail", None)], ..OwnerRules::default() };
        let (arguments, harmless) = (text(words), text("tea?"));
        let to_ada = |arguments| Call {
            destination: Some(at("ada@example.com")),
            ..call("send_mail", &Effect::Send, arguments)
        };
        [rules, whole].map(|rules| {
            let tainted = setting(&rules, Trust::Outside);
            let grants =
                [Grant { tool: "send_mail".into(), pattern: lasting_yes(&tainted, &to_ada(&harmless)).unwrap() }];
            judge(&Setting { grants: &grants, ..tainted }, &to_ada(&arguments)) == Verdict::Allowed
        })
    };
    assert_eq!(said("tea at five?"), [true, true]);
    assert_eq!(said("the code is 4711"), [false, true], "a rule about the whole tool is what the yes was given to");
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

/// Whoever is on the way to a server over http reads the address and writes the answer.
// SEC-078 SEC-071
#[test]
fn a_yes_or_a_rule_for_a_server_over_https_covers_nothing_over_http() {
    let (arguments, tainted) = (text(""), setting(&NONE, Trust::Outside));
    let asked = |scheme: &str| Effect::Fetch(Some(format!("{scheme}://docs.rs/a")));
    let (clear, secret) = (asked("http"), asked("https"));
    let over_http = Call { destination: Some(at_host("http://docs.rs")), ..call("web_fetch", &clear, &arguments) };
    let over_https = Call { destination: Some(at_host("docs.rs")), ..call("web_fetch", &secret, &arguments) };
    let beside = ", also where strangers' text led to it, with what is private here";
    for (call, other, place) in [(over_https, over_http, "docs.rs"), (over_http, over_https, "http://docs.rs")] {
        let pattern = lasting_yes(&tainted, &call).unwrap();
        assert_eq!(pattern, format!("fetch an address{beside}: to {place}"));
        let grants = [Grant { tool: "web_fetch".into(), pattern }];
        let granted = Setting { grants: &grants, ..tainted };
        assert_eq!((judge(&granted, &call), is_asked(&judge(&granted, &other))), (Verdict::Allowed, true), "{place}");
        let tool = ToolPattern::parse("web_fetch").unwrap();
        let rule = Rule { tool, arguments: None, destination: Some(place.to_owned()), max_bytes: None };
        let hosts = OwnerRules { hosts: vec![place.to_owned()], ..OwnerRules::default() };
        for rules in [OwnerRules { allow: vec![rule], ..OwnerRules::default() }, hosts] {
            let ruled = setting(&rules, Trust::Outside);
            assert_eq!((judge(&ruled, &call), is_asked(&judge(&ruled, &other))), (Verdict::Allowed, true), "{place}");
        }
    }
}

/// What a server says of its tool decides what a model calls it for.
// SEC-078 SEC-023
#[test]
fn a_lasting_yes_to_a_servers_tool_ends_with_the_text_that_the_owner_looked_at() {
    let (arguments, clean) = (text(""), setting(&NONE, Trust::Owner));
    let tell = Call { destination: Some(at("mcp desk")), ..call("desk__tell", &Effect::Send, &arguments) };
    let looked = |text| Call { text, ..tell };
    let (before, after) = (looked(Some("a1")), looked(Some("b2")));
    let pattern = lasting_yes(&clean, &before).unwrap();
    let said = "send, with what is private here: to mcp desk, while that server and its text are as you set them (a1)";
    assert_eq!(pattern, said);
    let grants = [Grant { tool: "desk__tell".into(), pattern }];
    let granted = Setting { grants: &grants, ..clean };
    assert_eq!(judge(&granted, &before), Verdict::Allowed);
    assert!(is_asked(&judge(&granted, &after)));
    // One that was given before texts were named in it says nothing of which.
    let unnamed = [Grant { tool: "desk__tell".into(), pattern: lasting_yes(&clean, &looked(None)).unwrap() }];
    assert!(is_asked(&judge(&Setting { grants: &unnamed, ..clean }, &after)));
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

// SEC-078 SEC-100
#[test]
fn there_is_no_lasting_yes_to_what_is_private_at_a_search_or_in_the_owners_network() {
    let (query, own) = (text("clinic adams"), OwnersWords::of(["My doctor is Adams."], |_| false));
    let tainted = setting(&NONE, Trust::Outside);
    let search = Call { destination: Some(at("search.example")), ..call("web_search", &Effect::Search, &query) };
    assert!(lasting_yes(&tainted, &search).is_some());
    assert_eq!(lasting_yes(&tainted, &Call { owners_words: &own, ..search }), None);
    let effect = Effect::Fetch(Some("http://nas.example/diary".to_owned()));
    let typed = Call {
        destination: Some(at("nas.example")),
        address: AddressOrigin::TypedPrivate(OwnNetwork),
        ..call("web_fetch", &effect, &query)
    };
    assert_eq!(lasting_yes(&Setting { group: true, ..tainted }, &typed), None);
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
        // A page on their screen may lead on to any other.
        for effect in [Effect::Run, Effect::Pay, Effect::ChangeSelf, Effect::Show(None)] {
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

// SEC-058 SEC-071
#[test]
fn a_program_of_strangers_that_can_send_runs_by_a_yes_or_by_a_rule_that_names_it_whole() {
    let arguments =
        Argument::Fields(vec![("command".to_owned(), Argument::List(vec![text("python3"), text("test.py")]))]);
    let other =
        Argument::Fields(vec![("command".to_owned(), Argument::List(vec![text("python3"), text("a test.py")]))]);
    let to = |hosts: &[&str], seen: &[&str]| {
        let [hosts, sees] = [hosts, seen].map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        Destination::Program { program: "/bin/python3".to_owned(), hosts, sees }
    };
    let (one, two) = (to(&["a.test"], &[]), to(&["a.test", "b.test"], &[]));
    // The owner added a language to what programs see.
    let more = to(&["a.test"], &["/opt/go"]);
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
    assert!(is_asked(&judge(&ruled, &sending(&arguments, &more))));

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
    assert!(is_asked(&judge(&granted, &sending(&arguments, &more))));
}
