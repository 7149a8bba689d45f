//! What a question says.

use super::{NONE, call, path, setting, text};
use crate::Trust;
use crate::policy::{
    Argument, Call, Effect, OwnerRules, OwnersWords, PathFacts, Rule, Setting, ToolPattern, Verdict, judge, question_of,
};

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
    let work = call("spawn_agent", &Effect::Delegate, &arguments);
    let others_read = Setting { group: true, ..setting(&NONE, Trust::Outside) };
    assert!(
        question_of(&others_read, &work).ends_with("this would hand work to an agent, and others read what it finds")
    );
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
