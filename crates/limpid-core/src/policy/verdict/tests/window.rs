//! What stands in the window, and what that lets run.

use super::{NONE, at, at_host, call, is_asked, path, setting, text};
use crate::Trust;
use crate::policy::PrivatePlace::OwnNetwork;
use crate::policy::{
    AddressOrigin, Argument, Call, Effect, FileChange, OwnerRules, OwnersWords, PathFacts, PrivatePlace, Rule, Setting,
    ToolPattern, Verdict, judge, keys_in, lasting_yes,
};

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
        // A copy of what is the owner's may lie there, and an agent is given what the call names.
        assert_eq!(is_asked(&judge(&setting, &Call { paths: std::slice::from_ref(&low), ..look })), waits);
        let work = call("spawn_agent", &Effect::Delegate, &arguments);
        assert_eq!(is_asked(&judge(&setting, &work)), waits, "{group} {trust}");
    }
}

/// Whether an edit found its words says what stands in the file.
// SEC-065 PICO-029
#[test]
fn where_others_read_a_change_that_tells_what_was_there_waits_as_a_look_does() {
    let arguments = text("");
    let own =
        PathFacts { is_low: true, of_strangers: true, change: FileChange::OwnLow, ..path("o.md", "/outside/o.md") };
    let edit = Call { paths: std::slice::from_ref(&own), ..call("edit_file", &Effect::Files, &arguments) };
    let keep = call("desk__add", &Effect::Remember, &arguments);
    let tell = call("message", &Effect::Tell, &arguments);
    for (group, trust, waits) in [
        (true, Trust::Outside, true),
        (true, Trust::Guest, true),
        (true, Trust::Owner, false),
        (false, Trust::Outside, false),
    ] {
        let setting = Setting { group, ..setting(&NONE, trust) };
        for call in [edit, keep, tell] {
            assert_eq!(is_asked(&judge(&setting, &call)), waits, "{group} {trust} {}", call.tool.name);
            let fixed = Call { answers_alike: true, ..call };
            assert_eq!(judge(&setting, &fixed), Verdict::Allowed, "{group} {trust} {}", call.tool.name);
        }
    }
    let group = Setting { group: true, ..setting(&NONE, Trust::Outside) };
    let Verdict::NeedsApproval { reason } = judge(&group, &edit) else { panic!("it ran") };
    assert!(reason.ends_with("this would change a file, and others read what it answers"), "{reason}");
}

/// What the owner lets a stranger's text lead to, they do not have shown to others by that.
// SEC-065 SEC-071
#[test]
fn where_others_read_no_rule_lets_a_strangers_text_show_them_what_is_the_owners() {
    let arguments = text("");
    let any = |tool: &str, destination: Option<&str>| Rule {
        tool: ToolPattern::parse(tool).unwrap(),
        arguments: None,
        destination: destination.map(str::to_owned),
        max_bytes: None,
    };
    let rules = OwnerRules { allow: vec![any("*", None), any("t", Some("mcp desk"))], ..OwnerRules::default() };
    let alone = setting(&rules, Trust::Outside);
    let group = Setting { group: true, ..alone };
    let clean = Setting { group: true, ..setting(&rules, Trust::Owner) };
    for effect in [Effect::Look, Effect::Run, Effect::ChangeOwned, Effect::Mailbox, Effect::Plan] {
        let call = call("t", &effect, &arguments);
        assert_eq!(judge(&alone, &call), Verdict::Allowed, "{effect:?}");
        assert_eq!(judge(&clean, &call), Verdict::Allowed, "{effect:?}");
        assert!(is_asked(&judge(&group, &call)), "{effect:?}");
    }
    // A server answers as it likes; what Limpid sends by itself answers that it left.
    let send = Call { destination: Some(at("mcp desk")), ..call("t", &Effect::Send, &arguments) };
    assert_eq!(judge(&group, &send), Verdict::Allowed);
    let of_server = Call { text: Some("a1"), ..send };
    assert_eq!(judge(&alone, &of_server), Verdict::Allowed);
    assert!(is_asked(&judge(&group, &of_server)));
    // What comes from the public web is nobody's.
    assert_eq!(judge(&group, &call("t", &Effect::Research, &arguments)), Verdict::Allowed);
}

/// Words that the owner typed in the conversation were given to its work.
// SEC-100
#[test]
fn a_search_after_a_strangers_text_tells_no_words_of_the_owners_unasked() {
    let own = OwnersWords::of(["My doctor is Adams."], |_| false);
    let judged = |trust, research, query: &str| {
        let query = text(query);
        let search = Call { owners_words: &own, ..call("web_search", &Effect::Search, &query) };
        judge(&Setting { research, private: !research, ..setting(&NONE, trust) }, &search)
    };
    assert_eq!(judged(Trust::Outside, false, "opening hours"), Verdict::Allowed);
    assert_eq!(judged(Trust::Owner, false, "Adams opening hours"), Verdict::Allowed);
    assert_eq!(judged(Trust::Outside, true, "Adams opening hours"), Verdict::Allowed);
    let Verdict::NeedsApproval { reason } = judged(Trust::Outside, false, "clinic adams") else { panic!("it runs") };
    assert_eq!(
        reason,
        "text from outside was read, and its words are “adams”, which you did not type here, and the search service learns them"
    );
}

/// An address that is a key was typed for the server that it is of, and for nobody else.
// SEC-100 SEC-101
#[test]
fn no_worker_and_no_search_after_a_strangers_text_is_told_a_key() {
    let own = OwnersWords::default().with_keys(keys_in("https://calendar.test/private-8f14e45fceea167a/basic.ics"));
    let says = text("What is on https://calendar.test/private-8f14%65%34 5fceea167a/basic.ics?");
    let about = text("What is on calendar.test?");
    let judged = |trust, effect: &Effect, arguments: &Argument| {
        judge(&setting(&NONE, trust), &Call { owners_words: &own, ..call("t", effect, arguments) })
    };
    for trust in [Trust::Owner, Trust::Outside] {
        let Verdict::Refused { reason, .. } = judged(trust, &Effect::Research, &says) else { panic!("it may run") };
        assert!(reason.contains("research workers open no secret links"), "{reason}");
    }
    assert_eq!(judged(Trust::Owner, &Effect::Research, &about), Verdict::Allowed);
    let Verdict::NeedsApproval { reason } = judged(Trust::Outside, &Effect::Search, &says) else { panic!("it ran") };
    assert!(
        reason.ends_with("its words are a part of a secret link of yours, and the search service learns them"),
        "{reason}"
    );
    assert_eq!(judged(Trust::Outside, &Effect::Search, &about), Verdict::Allowed);
    // Beside a key the question still names the words.
    let own = OwnersWords::of(["My doctor is Adams."], |_| false).with_keys(["8f14e45fceea167a".to_owned()]);
    let query = text("adams 8f14e45fceea167a");
    let search = Call { owners_words: &own, ..call("web_search", &Effect::Search, &query) };
    let Verdict::NeedsApproval { reason } = judge(&setting(&NONE, Trust::Outside), &search) else { panic!("it ran") };
    assert!(reason.contains("a secret link of yours and “adams”, which you did not type here"), "{reason}");
}

// SEC-100
#[test]
fn a_question_says_that_a_page_on_the_screen_is_of_the_owners_own_network() {
    let (arguments, effect) = (text(""), Effect::Show(Some("http://router.home/reboot".to_owned())));
    let show = Call { destination: Some(at_host("router.home")), ..call("open_url", &effect, &arguments) };
    let reason = |call: &Call<'_>| match judge(&setting(&NONE, Trust::Outside), call) {
        Verdict::NeedsApproval { reason } => reason,
        verdict => panic!("{verdict:?}"),
    };
    assert!(reason(&show).ends_with("this would open a page on your screen"));
    let own = Call { address: AddressOrigin::Private(OwnNetwork), ..show };
    assert!(reason(&own).ends_with("this would open a page of your own network on your screen"));
}

// SEC-065
#[test]
fn what_stands_in_the_owners_network_waits_where_others_read_whoever_typed_its_address() {
    let (arguments, effect) = (text(""), Effect::Fetch(Some("http://nas.example/diary".to_owned())));
    let typed = Call { address: AddressOrigin::TypedPrivate(OwnNetwork), ..call("web_fetch", &effect, &arguments) };
    let alone = setting(&NONE, Trust::Outside);
    assert_eq!(judge(&alone, &typed), Verdict::Allowed);
    assert!(is_asked(&judge(&Setting { group: true, ..alone }, &typed)));
    let clean = Setting { group: true, ..setting(&NONE, Trust::Owner) };
    assert_eq!(judge(&clean, &typed), Verdict::Allowed);
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
    let program = Call { unasked: true, ..call("t", &Effect::Run, &arguments) };
    let others_read = Setting { group: true, ..setting(&NONE, Trust::Outside) };
    assert!(is_asked(&judge(&others_read, &program)), "what it prints shows others what lies there");
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
        assert_eq!(judge(&tainted, &fetch(AddressOrigin::TypedPrivate(OwnNetwork))), Verdict::Allowed);
        let Verdict::NeedsApproval { reason } = judge(&tainted, &fetch(AddressOrigin::Private(OwnNetwork))) else {
            panic!("it ran")
        };
        assert!(reason.ends_with("router.home is an address of your own network, which you did not type"), "{reason}");
        assert_eq!(lasting_yes(&tainted, &fetch(AddressOrigin::Private(OwnNetwork))), None);
        for for_others in [Setting { research: true, ..tainted }, Setting { strangers: true, ..tainted }] {
            for address in [AddressOrigin::TypedPrivate(OwnNetwork), AddressOrigin::Private(OwnNetwork)] {
                assert!(matches!(judge(&for_others, &fetch(address)), Verdict::Refused { .. }));
            }
        }
    }
    assert_eq!(judge(&setting(&rules, Trust::Owner), &fetch(AddressOrigin::Private(OwnNetwork))), Verdict::Allowed);
}

// SEC-100 SEC-101
#[test]
fn an_address_that_is_a_key_is_fetched_as_one_that_is_private_and_by_no_worker() {
    let arguments = text("");
    let effect = Effect::Fetch(Some("https://calendar.test/private-1".to_owned()));
    let fetch = |origin: AddressOrigin| Call {
        destination: Some(at_host("calendar.test")),
        address: origin.at(PrivatePlace::CapabilityUrl),
        ..call("web_fetch", &effect, &arguments)
    };
    let tainted = Setting { private: false, ..setting(&NONE, Trust::Outside) };
    assert_eq!(judge(&tainted, &fetch(AddressOrigin::Typed)), Verdict::Allowed);
    let Verdict::NeedsApproval { reason } = judge(&tainted, &fetch(AddressOrigin::Composed)) else { panic!("it ran") };
    assert!(reason.ends_with("this address of calendar.test is a secret link, and you did not type it"), "{reason}");
    assert_eq!(lasting_yes(&tainted, &fetch(AddressOrigin::Composed)), None);
    assert_eq!(judge(&setting(&NONE, Trust::Owner), &fetch(AddressOrigin::Composed)), Verdict::Allowed);
    for trust in [Trust::Owner, Trust::Outside] {
        let worker = Setting { research: true, private: false, ..setting(&NONE, trust) };
        assert!(matches!(judge(&worker, &fetch(AddressOrigin::Typed)), Verdict::Refused { .. }));
        // A guest's key is a guest's.
        let guest = Setting { strangers: true, private: false, ..setting(&NONE, trust) };
        assert_eq!(judge(&guest, &fetch(AddressOrigin::Typed)), Verdict::Allowed);
        let group = Setting { group: true, ..setting(&NONE, trust) };
        assert_eq!(is_asked(&judge(&group, &fetch(AddressOrigin::Typed))), trust == Trust::Outside);
    }
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
