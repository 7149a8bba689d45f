//! What the owner is asked about a call, and in which words.

use super::call::{Call, Setting, row_by_rules, widest};
use crate::Trust;
use crate::policy::effect::{AddressOrigin, Cell, Effect, FileChange, PrivatePlace, Row, Window, cell};

/// Words of the owner's that a question names.
const MOST_WORDS: usize = 6;

/// What a question about a call says, also where nothing would ask about it: a draft waits for its yes anyway.
pub fn question_of(setting: &Setting<'_>, call: &Call<'_>) -> String {
    why_ask(setting, call, false).unwrap_or_else(|| comes_to(setting, row_by_rules(setting, call), call))
}

/// Why the owner is asked about a call, if they are.
pub(super) fn why_ask(setting: &Setting<'_>, call: &Call<'_>, asked_always: bool) -> Option<String> {
    let row = row_by_rules(setting, call);
    let window = match (setting.trust.is_foreign(), setting.private, setting.research) {
        (false, ..) => Window::Clean,
        (true, true, _) => Window::Tainted,
        (true, false, true) => Window::Research,
        (true, false, false) => Window::TaintedPublic,
    };
    let waits = cell(row, window) == Cell::Waits;
    if waits && setting.trust.is_foreign() {
        let who = if setting.trust == Trust::Guest { "a guest" } else { "outside" };
        return Some(format!("text from {who} was read, and {}", comes_to(setting, row, call)));
    }
    if asked_always {
        return Some(format!("your rules ask for it, and {}", comes_to(setting, row, call)));
    }
    let mode_asks = setting.mode.is_some_and(|mode| mode.ask.contains(&call.class()));
    (waits || mode_asks).then(|| comes_to(setting, row, call))
}

/// What a call comes to, for the person who is asked, and whether their yes makes its words their own: nobody sees that by the words.
fn comes_to(setting: &Setting<'_>, row: Row, call: &Call<'_>) -> String {
    let what = consequence(row, call);
    match makes_own(setting, call) {
        true => format!("{what}; what it writes counts as yours from then on"),
        false => what,
    }
}

/// Whether a yes to a call makes words the owner's own that are not. Where it changes what the agent is told, the question says as much.
fn makes_own(setting: &Setting<'_>, call: &Call<'_>) -> bool {
    let writes_own = || call.row().writes_files() && call.paths.iter().any(|path| path.write && !path.of_strangers);
    call.adopts || setting.trust.is_foreign() && writes_own()
}

/// What an effect comes to.
pub(super) fn consequence(row: Row, call: &Call<'_>) -> String {
    let what = match (row, call.destination) {
        (Row::FetchLink, _) if call.address == AddressOrigin::TypedElsewhere => {
            return "of the addresses that you typed this is not the next one, or it was fetched already".to_owned();
        }
        (Row::FetchLink | Row::FetchComposed, Some(host)) => {
            return format!("neither you nor your rules named this address of {host}");
        }
        (Row::FetchPrivate, Some(host)) if call.address.private_place() == Some(PrivatePlace::CapabilityUrl) => {
            return format!("this address of {host} is a secret link, and you did not type it");
        }
        (Row::FetchPrivate, Some(host)) => {
            return format!("{host} is an address of your own network, which you did not type");
        }
        (Row::FetchPrivate, None) => "ask something of a private place",
        (Row::Look | Row::FetchNamed | Row::Search | Row::FetchLink | Row::FetchComposed, _) => "read something",
        (Row::LookForOthers, _) if *call.effect == Effect::Delegate => {
            "hand work to an agent, and others read what it finds"
        }
        (Row::LookForOthers, _) if matches!(call.row(), Row::ChangeOwnLow | Row::Remember | Row::Tell) => {
            return format!("{}, and others read what it answers", consequence(call.row(), call));
        }
        (Row::LookForOthers, _) => return "others read what it shows, since they read this conversation".to_owned(),
        (Row::ResearchTelling, _) => {
            return format!("its task says {}, and any page that the worker reads may learn it", untyped(&call.told()));
        }
        (Row::SearchTelling, _) if call.tells_key() => {
            let words = call.told();
            let besides = if words.is_empty() { String::new() } else { format!(" and {}", untyped(&words)) };
            return format!(
                "its words are a part of a secret link of yours{besides}, and the search service learns them"
            );
        }
        (Row::SearchTelling, _) => {
            return format!("its words are {}, and the search service learns them", untyped(&call.told()));
        }
        (Row::Research, _) => {
            "send a research worker to the web with this task, which any page that it reads may learn"
        }
        (Row::Delegate, _) => "hand work to an agent",
        (Row::Remember | Row::Tell, _) => "keep something",
        (Row::ChangeOwned, _) => "change or remove something that you have",
        (Row::NewFile | Row::ChangeOwnLow | Row::ChangeFile, _) => match widest(call) {
            Some(FileChange::Drawn) => {
                "make a file that may run something, or ask others for something, when you open it"
            }
            Some(FileChange::FarReaching) => {
                "change a file that programs act on by its name, or that has another name too"
            }
            _ => "change a file",
        },
        (Row::Mailbox, _) => "change something in a mailbox",
        (Row::Show, _) if call.address.private_place() == Some(PrivatePlace::OwnNetwork) => {
            "open a page of your own network on your screen"
        }
        (Row::Show, _) => "open a page on your screen",
        (Row::Send, Some(device)) if *call.effect == Effect::Device => return format!("this would write to {device}"),
        (Row::Send, _) if *call.effect == Effect::Pay => "pay or order something",
        (Row::Send, _) if *call.effect == Effect::TellOthers => "write into a chat that others read too",
        (Row::Send, None) => "send something to others",
        (Row::Send, Some(_)) => "send something",
        (Row::Run, _) => "run a program",
        (Row::RunSending, _) => "run a program that may be a stranger's, with the network",
        (Row::Plan, _) => "schedule a task",
        (Row::ChangeSelf, _) => "change what the agent is told or may do",
    };
    format!("this would {what}")
}

/// Words that a call would tell.
fn untyped(words: &[String]) -> String {
    let some = words.iter().take(MOST_WORDS).map(|word| format!("“{word}”")).collect::<Vec<_>>().join(", ");
    let more = if words.len() > MOST_WORDS { format!(" and {} more", words.len() - MOST_WORDS) } else { String::new() };
    format!("{some}{more}, which you did not type here")
}
