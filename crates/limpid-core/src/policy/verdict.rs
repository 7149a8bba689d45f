//! The judgement of one call.

mod beside;
mod call;
mod question;

pub use call::{Call, Followed, PathFacts, Setting};
pub use question::question_of;

use super::argument::Argument;
use super::destination::folded;
use super::effect::{Effect, PrivatePlace, Row};
use super::mode::{ModeRules, ToolFacts, Writes, allowed};
use crate::message::OWNERS_RULES_FORBID;
use crate::tool::LOCAL_TOOL_ALLOWLIST;
use beside::Beside;
use call::row_by_rules;
use question::{consequence, why_ask};

/// Endings of files that planning may write.
const DOCUMENTS: [&str; 4] = [".md", ".txt", ".rst", ".adoc"];

/// How often a turn may ask for one address: how often it does must say nothing.
pub const MOST_FETCHES: usize = 3;

/// What is said of an address that is not of the public web, and of a name that is not there, to whoever may have the address of a
/// stranger: the one is not told from the other.
pub const NOT_OF_THE_WEB: &str = "there is no server of the public web at that address; look for another one";

/// What becomes of a call. Reasons are read by the model and by the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Allowed,
    /// It does not run.
    Refused {
        /// Why.
        reason: String,
        /// What says so.
        by: RefusedBy,
    },
    /// It runs when the owner says so.
    NeedsApproval {
        /// Why.
        reason: String,
    },
}

/// What refuses a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedBy {
    /// What everybody may know: the mode, what an agent is for.
    Setting,
    /// A rule of the owner's, whose words are theirs.
    Rule,
    /// What lies in folders, or that the call cannot run.
    Place,
}

impl RefusedBy {
    /// Whether strangers, and others who read what a stranger's text led to, are not to tell it from a call that waits.
    pub const fn is_for_the_owner(self) -> bool {
        !matches!(self, Self::Setting)
    }
}

impl Call<'_> {
    /// What a lasting yes to this call would cover: calls of the tool in this row of the table, to the same destination or
    /// to the same files; of a tool of a server, while that and the text of the tool are what the owner set and looked at; of a program of a
    /// stranger's that can send, this program with these arguments and hosts. None where there
    /// is no lasting yes: for other programs, for payments, for changes of the agent itself, for what private places are asked,
    /// for words of theirs that a search would tell, for pages on their screen, which may lead on to any other, and for calls that
    /// lead nowhere in particular. What it may stand beside comes before the place, whose name may be a stranger's and long.
    fn pattern(&self, row: Row, beside: Beside) -> Option<String> {
        let covers = |place: String| format!("{}{}: {place}", row.as_str(), beside.words());
        if row == Row::RunSending {
            return Some(covers(format!("{} with {:?}", self.destination?, self.arguments)));
        }
        if matches!(self.effect, Effect::Run | Effect::Pay)
            || matches!(row, Row::ChangeSelf | Row::FetchPrivate | Row::SearchTelling | Row::Show)
            || self.address.private_place().is_some()
        {
            return None;
        }
        let written: Vec<&str> = self.paths.iter().filter(|path| path.write).map(|path| path.real.as_str()).collect();
        let place = match self.destination {
            Some(destination) => format!("to {}", folded(destination.to_string().trim_end_matches('.'))),
            None if written.is_empty() => return None,
            None => format!("in {}", written.join(", ")),
        };
        // What others wrote of the tool is a part of what was said yes to.
        Some(covers(match self.text {
            Some(text) => format!("{place}, while that server and its text are as you set them ({text})"),
            None => place,
        }))
    }
}

/// What a lasting yes to a call would cover besides it; none where only a yes to the very call counts. After a stranger's
/// text that holds for files too: what would be written into one later has to be seen.
pub fn lasting_yes(setting: &Setting<'_>, call: &Call<'_>) -> Option<String> {
    let writes = call.row().writes_files() || call.paths.iter().any(|path| path.write);
    if writes && setting.trust.is_foreign() {
        return None;
    }
    // Whoever wrote down that calls like this one are asked about is asked about each.
    let names_it = |rule: &super::Rule| !rule.covers(&call.tool) && holds_back(rule, call);
    if setting.rules.ask.iter().any(names_it) {
        return None;
    }
    let row = row_by_rules(setting, call);
    call.pattern(row, Beside::of(setting, row, call))
}

/// Whether a rule holds a call back, in any form of its arguments and wherever it leads.
fn holds_back(rule: &super::Rule, call: &Call<'_>) -> bool {
    let spellings = || std::iter::once(call.arguments).chain(call.spellings);
    let destinations = || std::iter::once(call.destination).chain(call.other_destinations.iter().map(Some));
    let is_about = |tool: &ToolFacts<'_>, arguments: &Argument| {
        destinations().any(|destination| rule.holds_back(tool, arguments, destination))
    };
    call.tools().any(|tool| spellings().any(|arguments| is_about(tool, arguments)))
}

/// Whether a lasting yes was given to calls like this one.
fn is_granted(setting: &Setting<'_>, call: &Call<'_>) -> bool {
    if lasting_yes(setting, call).is_none() {
        return false;
    }
    let row = row_by_rules(setting, call);
    let mut covering = Beside::of(setting, row, call).covered_by().filter_map(|beside| call.pattern(row, beside));
    covering.any(|pattern| setting.grants.iter().any(|grant| grant.tool == call.tool.name && grant.pattern == pattern))
}

/// Whether a yes to a call makes the owner's, in a file or a skill, what a stranger's text led to.
fn takes_over(setting: &Setting<'_>, call: &Call<'_>) -> bool {
    setting.trust.is_foreign() && (call.writes_owners_files() || call.row() == Row::ChangeSelf)
}

/// Says whether a call may run.
pub fn judge(setting: &Setting<'_>, call: &Call<'_>) -> Verdict {
    let ToolFacts { name, .. } = call.tool;
    let refused = |reason: String| Verdict::Refused { reason, by: RefusedBy::Setting };
    if !call.tools().all(|tool| allowed(setting.mode, tool))
        || (setting.local_only && !LOCAL_TOOL_ALLOWLIST.contains(&name))
    {
        return refused(format!("`{name}` is not available in this mode"));
    }
    if setting.delegated && matches!(call.row(), Row::Remember | Row::Tell | Row::ChangeSelf) {
        let what = consequence(call.row(), call);
        return refused(format!("`{name}` is not for an agent that was given a task: {what}; put it into the result"));
    }
    if setting.rules.deny.iter().any(|rule| holds_back(rule, call)) {
        return Verdict::Refused {
            reason: format!("{OWNERS_RULES_FORBID} this call of `{name}`"),
            by: RefusedBy::Rule,
        };
    }
    // Who sees the name of a link and says yes would say it to another file.
    if let Some(path) = call.paths.iter().find(|path| path.write && path.over_strangers_link) {
        let written = &path.written;
        let reason = format!(
            "`{written}` leads over a link in a folder where others write; call again with the path that it leads to"
        );
        return Verdict::Refused { reason, by: RefusedBy::Place };
    }
    if let Some(reason) = setting.mode.and_then(|mode| wrong_write(mode, call)) {
        return refused(reason);
    }
    if let Some(reason) = wrong_address(setting, call) {
        return refused(reason);
    }
    let asks: Vec<&super::Rule> = setting.rules.ask.iter().filter(|rule| holds_back(rule, call)).collect();
    let asked_always = !asks.is_empty();
    let Some(reason) = why_ask(setting, call, asked_always) else { return Verdict::Allowed };
    let granted = is_granted(setting, call);
    let names_it = |rule: &super::Rule| {
        // A server hears the arguments of whatever it is called for.
        let names_server = call.destination.is_none() || rule.destination.is_some() || rule.tool.is_named();
        rule.lacks(call.row()).is_none() && (call.row().tells() || names_server)
    };
    let fits = |rule: &super::Rule| rule.permits(&call.tool, call.arguments, call.destination);
    // What a stranger's text led to gets into the owner's files and skills by a yes to this very call alone, since it has to be seen.
    // A rule that names the very call is an exception to one that asks about a tool as a whole.
    let whole = asks.iter().all(|rule| rule.covers(&call.tool));
    let is_exception = |rule: &super::Rule| whole && (rule.arguments.is_some() || rule.destination.is_some());
    let passes = |rule: &super::Rule| names_it(rule) && fits(rule) && (!asked_always || is_exception(rule));
    // A rule says that a stranger's text may lead to the call, not that others may read what it answers.
    let is_shown = setting.leads_for_others() && call.answers_with_private();
    let ruled = !takes_over(setting, call) && !is_shown && setting.rules.allow.iter().any(passes);
    // In a clean window a send waits however it was planned.
    let reserved = call.reserved && setting.trust.is_foreign() && call.row() == Row::Send;
    // A program in a stranger's folder runs unasked since the kernel keeps it from everything of the owner's.
    // What it prints shows what lies there.
    let unasked = call.unasked && call.row() == Row::Run && !setting.group;
    // Nothing else but their own yes gets around what the owner's rules ask about.
    let passes = granted || ruled || !asked_always && (reserved || unasked);
    if passes { Verdict::Allowed } else { Verdict::NeedsApproval { reason } }
}

/// Why the address that a call would fetch, or tell a research worker, forbids it, if it does.
fn wrong_address(setting: &Setting<'_>, call: &Call<'_>) -> Option<String> {
    match call.address.private_place() {
        Some(PrivatePlace::OwnNetwork) if setting.research || setting.strangers => {
            return Some(NOT_OF_THE_WEB.to_owned());
        }
        // Whoever writes there would have the worker carry it away.
        Some(PrivatePlace::CapabilityUrl) if setting.research => {
            let why = "a secret link may lead to what is the owner's alone";
            return Some(format!("{why}; say in your result that it was left out"));
        }
        _ => {}
    }
    if matches!(call.effect, Effect::Fetch(_)) && call.fetched >= MOST_FETCHES {
        return Some(format!("this turn has asked for that address {MOST_FETCHES} times, which is the most"));
    }
    (*call.effect == Effect::Research && call.tells_key()).then(|| {
        let why = "research workers open no secret links, and whoever they ask would learn this one";
        format!("{why}; fetch it here instead")
    })
}

/// Why a mode's rule on written files forbids a call, if it does.
fn wrong_write(mode: &ModeRules, call: &Call<'_>) -> Option<String> {
    let mut written = call.paths.iter().filter(|path| path.write);
    match mode.writes {
        Writes::All => None,
        // A program runs where nothing can be written in such a mode; its folder is no file that it writes.
        Writes::None if *call.effect == Effect::Run => None,
        Writes::None => written.next().map(|path| format!("no file is written in this mode: {}", path.written)),
        Writes::Documents => {
            if *call.effect == Effect::Files && !call.paths.iter().any(|path| path.write) && !mode.names(&call.tool) {
                return Some(format!("`{}` does not say which file it writes", call.tool.name));
            }
            let is_document = |path: &PathFacts| {
                let real = path.real.as_str().to_lowercase();
                (path.in_workspace || path.is_low) && DOCUMENTS.iter().any(|ending| real.ends_with(ending))
            };
            let wrong = written.find(|path| !is_document(path))?;
            Some(format!(
                "only {} files in the workspace are written in this mode; {} leads to no such file",
                DOCUMENTS.join(" "),
                wrong.written
            ))
        }
    }
}

#[cfg(test)]
mod tests;
