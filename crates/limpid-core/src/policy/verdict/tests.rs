//! Tests of the judgement by what they are about. Here stands what they share.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod lasting_yes;
mod modes;
mod questions;
mod rules;
mod window;

use std::path::Path;
use std::sync::LazyLock;

use crate::Trust;
use crate::policy::{
    AddressOrigin, Argument, Call, Destination, Effect, FileChange, Followed, OwnerRules, OwnersWords, PathFacts,
    Setting, ToolFacts, Verdict,
};

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
        text: None,
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
        answers_alike: false,
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

fn is_asked(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::NeedsApproval { .. })
}

fn text(text: &str) -> Argument {
    Argument::Text(text.to_owned())
}
