//! The judgement of one call.

use std::path::Path;

use super::argument::Argument;
use super::beside::Beside;
use super::destination::{Destination, folded};
use super::effect::{AddressOrigin, Cell, Effect, FileChange, Row, Window, cell};
use super::mode::{ModeRules, ToolFacts, Writes, allowed};
use super::owners_words::OwnersWords;
use super::rules::{Grant, OwnerRules};
use crate::tool::LOCAL_TOOL_ALLOWLIST;
use crate::{ToolClass, Trust};

/// Endings of files that planning may write.
const DOCUMENTS: [&str; 4] = [".md", ".txt", ".rst", ".adoc"];

/// What holds for every call of a turn.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The rules of the mode; none where modes have no say.
    pub mode: Option<&'a ModeRules>,
    /// Whether only tools of [`LOCAL_TOOL_ALLOWLIST`] exist.
    pub local_only: bool,
    /// Who wrote the least trusted text in the model's window.
    pub trust: Trust,
    /// Whether something that is private to the owner is in it.
    pub private: bool,
    /// Whether the turn is a research worker's.
    pub research: bool,
    /// Whether its answer leaves for whoever asks.
    pub strangers: bool,
    /// Whether others read the conversation too.
    pub group: bool,
    /// Whether the turn is one of an agent that another turn handed work to.
    pub delegated: bool,
    /// What the owner wrote down.
    pub rules: &'a OwnerRules,
    /// What the owner allowed for the rest of the conversation.
    pub grants: &'a [Grant],
}

/// Words of the owner's that a question names.
const MOST_WORDS: usize = 6;

/// How often a turn may ask for one address: how often it does must say nothing.
pub const MOST_FETCHES: usize = 3;

/// One call.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The tool.
    pub tool: ToolFacts<'a>,
    /// What the call counts as besides, for rules that hold calls back: where one tool serves several servers, as a tool of its server.
    pub also: Option<ToolFacts<'a>>,
    /// What this very call would change.
    pub effect: &'a Effect,
    /// How the address came about that it would fetch.
    pub address: AddressOrigin,
    /// How often the turn has asked for that address before.
    pub fetched: usize,
    /// Its arguments, parsed.
    pub arguments: &'a Argument,
    /// The same with its path spelled in other ways: a rule that holds a call back holds it back under each.
    pub spellings: &'a [Argument],
    /// The files and folders that it would touch, looked up.
    pub paths: &'a [PathFacts],
    /// Where it would send or fetch something.
    pub destination: Option<&'a Destination>,
    /// The same under other names that it has: a rule that holds a call back holds it back under each.
    pub other_destinations: &'a [Destination],
    /// Whether the turn holds a reserved right to exactly this call.
    pub reserved: bool,
    /// Whether the owner wrote down that this program may run in this folder of somebody else's, where it can change and reach
    /// nothing of theirs.
    pub unasked: bool,
    /// Whether it would run a program that may be a stranger's, with the network.
    pub sends: bool,
    /// Whether anybody could read what it returns.
    pub public: bool,
    /// Whether a yes to it makes the words that it keeps the owner's own, whoever wrote what stood there.
    pub adopts: bool,
    /// What the window shows of the owner's that they did not type in this conversation.
    pub owners_words: &'a OwnersWords,
}

impl<'a> Call<'a> {
    /// The tool, and what the call counts as besides.
    fn tools(&self) -> impl Iterator<Item = &ToolFacts<'a>> {
        std::iter::once(&self.tool).chain(&self.also)
    }
}

/// Where a path leads, with every link and `..` in it followed. Whoever made a link has named a part of it, so it is compared and
/// opened, and no text says it: a text says the path that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Followed(String);

impl Followed {
    /// A path in which nothing is left to be followed.
    pub fn new(real: &Path) -> Self {
        Self(real.display().to_string())
    }

    /// The path, to be compared or opened.
    pub fn as_path(&self) -> &Path {
        Path::new(&self.0)
    }
}

/// A path of a call with every link and `..` in it followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathFacts {
    /// The path as the model wrote it.
    pub written: String,
    /// Where it leads.
    pub real: Followed,
    /// Whether a link was followed on the way that anybody may have made.
    pub over_strangers_link: bool,
    /// Whether that is in the agent's workspace.
    pub in_workspace: bool,
    /// Whether that is in the folder for what strangers wrote.
    pub is_low: bool,
    /// Whether that is in any folder in which what stands in files counts as a stranger's.
    pub of_strangers: bool,
    /// Whether the call would change it.
    pub write: bool,
    /// What such a change would be.
    pub change: FileChange,
}

/// What becomes of a call. Reasons are read by the model and by the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Allowed,
    /// It does not run.
    Refused {
        /// Why.
        reason: String,
    },
    /// It runs when the owner says so.
    NeedsApproval {
        /// Why.
        reason: String,
    },
}

impl Call<'_> {
    /// The row of the table that it is of.
    pub fn row(&self) -> Row {
        let files: Vec<FileChange> = self.paths.iter().filter(|path| path.write).map(|path| path.change).collect();
        match Row::of(self.effect, self.address, &files) {
            Row::Run if self.sends => Row::RunSending,
            Row::Research if !self.told().is_empty() => Row::ResearchTelling,
            row => row,
        }
    }

    /// The words of the owner's that it repeats.
    fn told(&self) -> Vec<String> {
        self.owners_words.repeated_in(self.arguments)
    }

    /// Its class, with what it would write: a text that prompts are made from changes the agent itself.
    fn class(&self) -> ToolClass {
        if self.row() == Row::ChangeSelf { ToolClass::ChangeSelf } else { self.effect.class() }
    }

    /// Whether what it looks at is the owner's, and no file in the folder for what strangers wrote.
    fn shows_owners(&self) -> bool {
        let is_low = !self.paths.is_empty() && self.paths.iter().all(|path| path.is_low);
        !self.public && !is_low
    }

    /// Whether it writes files of the owner's, or may, or such in low places that act when somebody looks there. A program does not by
    /// itself: in such a turn it can write low places only.
    fn writes_owners_files(&self) -> bool {
        let mut written = self.paths.iter().filter(|path| path.write).peekable();
        // One that does not say which files it writes may write any.
        let any = self.row().writes_files() && written.peek().is_none();
        any || *self.effect != Effect::Run && (written.any(|path| !path.is_low) || widest(self).is_some())
    }

    /// What a lasting yes to this call would cover: calls of the tool in this row of the table, to the same destination or
    /// to the same files; of a program of a stranger's that can send, this program with these arguments and hosts. None where there
    /// is no lasting yes: for other programs, for payments, for changes of the agent itself,
    /// for what the owner's own network is asked, and for calls that lead nowhere in particular. What it may stand beside comes before
    /// the place, whose name may be a stranger's and long.
    fn pattern(&self, row: Row, beside: Beside) -> Option<String> {
        let covers = |place: String| format!("{}{}: {place}", row.as_str(), beside.words());
        if row == Row::RunSending {
            return Some(covers(format!("{} with {:?}", self.destination?, self.arguments)));
        }
        if matches!(self.effect, Effect::Run | Effect::Pay) || matches!(row, Row::ChangeSelf | Row::FetchOwn) {
            return None;
        }
        let written: Vec<&str> = self.paths.iter().filter(|path| path.write).map(|path| path.real.0.as_str()).collect();
        let place = match self.destination {
            Some(destination) => format!("to {}", folded(destination.to_string().trim_end_matches('.'))),
            None if written.is_empty() => return None,
            None => format!("in {}", written.join(", ")),
        };
        Some(covers(place))
    }
}

/// What a lasting yes to a call would cover besides it; none where only a yes to the very call counts. After a stranger's
/// text that holds for files too: what would be written into one later has to be seen.
pub fn lasting_yes(setting: &Setting<'_>, call: &Call<'_>) -> Option<String> {
    let writes = call.row().writes_files() || call.paths.iter().any(|path| path.write);
    if writes && setting.trust.is_foreign() {
        return None;
    }
    let row = row_by_rules(setting, call);
    call.pattern(row, Beside::of(setting, row, call))
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

/// Whether a yes to a call makes files of the owner's of what a stranger's text led to.
fn takes_over(setting: &Setting<'_>, call: &Call<'_>) -> bool {
    setting.trust.is_foreign() && call.writes_owners_files()
}

/// Says whether a call may run.
pub fn judge(setting: &Setting<'_>, call: &Call<'_>) -> Verdict {
    let ToolFacts { name, .. } = call.tool;
    let refused = |reason: String| Verdict::Refused { reason };
    if !call.tools().all(|tool| allowed(setting.mode, tool))
        || (setting.local_only && !LOCAL_TOOL_ALLOWLIST.contains(&name))
    {
        return refused(format!("`{name}` is not available in this mode"));
    }
    if setting.delegated && matches!(call.row(), Row::Remember | Row::Tell | Row::ChangeSelf) {
        let what = consequence(call.row(), call);
        return refused(format!("`{name}` is not for an agent that was given a task: {what}; put it into the result"));
    }
    let spellings = || std::iter::once(call.arguments).chain(call.spellings);
    let destinations = || std::iter::once(call.destination).chain(call.other_destinations.iter().map(Some));
    let is_about = |rule: &super::Rule, tool: &ToolFacts<'_>, arguments: &Argument| {
        destinations().any(|destination| rule.holds_back(tool, arguments, destination))
    };
    let holds_back =
        |rule: &super::Rule| call.tools().any(|tool| spellings().any(|arguments| is_about(rule, tool, arguments)));
    let is_in = |rules: &[super::Rule]| rules.iter().any(holds_back);
    if is_in(&setting.rules.deny) {
        return refused(format!("the owner's rules forbid this call of `{name}`"));
    }
    // Who sees the name of a link and says yes would say it to another file.
    if let Some(path) = call.paths.iter().find(|path| path.write && path.over_strangers_link) {
        let written = &path.written;
        return refused(format!(
            "`{written}` leads over a link in a folder where others write; call again with the path that it leads to"
        ));
    }
    if let Some(reason) = setting.mode.and_then(|mode| wrong_write(mode, call)) {
        return refused(reason);
    }
    if call.address.is_own_network() && (setting.research || setting.strangers) {
        return refused("the owner's own network is not for this; look for it on the public web".to_owned());
    }
    if matches!(call.effect, Effect::Fetch(_)) && call.fetched >= MOST_FETCHES {
        return refused(format!("this turn has asked for that address {MOST_FETCHES} times, which is the most"));
    }
    let asks: Vec<&super::Rule> = setting.rules.ask.iter().filter(|rule| holds_back(rule)).collect();
    let asked_always = !asks.is_empty();
    let Some(reason) = why_ask(setting, call, asked_always) else { return Verdict::Allowed };
    let granted = is_granted(setting, call);
    // What leaves for others is allowed by a rule that says where it may go, not by one that allows everything.
    let names_it = |rule: &super::Rule| match call.row() {
        Row::Send => rule.destination.is_some(),
        Row::RunSending => rule.destination.is_some() && rule.arguments.is_some(),
        // A server hears the arguments of whatever it is called for.
        _ => call.destination.is_none() || rule.destination.is_some() || rule.tool.is_named(),
    };
    let fits = |rule: &super::Rule| rule.permits(&call.tool, call.arguments, call.destination);
    // What a stranger's text led to gets into the owner's files by a yes to this very call alone, since it has to be seen.
    // A rule that names the very call is an exception to one that asks about a tool as a whole.
    let whole = asks.iter().all(|rule| rule.covers(&call.tool));
    let is_exception = |rule: &super::Rule| whole && (rule.arguments.is_some() || rule.destination.is_some());
    let passes = |rule: &super::Rule| names_it(rule) && fits(rule) && (!asked_always || is_exception(rule));
    let ruled = !takes_over(setting, call) && setting.rules.allow.iter().any(passes);
    // In a clean window a send waits however it was planned.
    let reserved = call.reserved && setting.trust.is_foreign() && call.row() == Row::Send;
    // A program in a stranger's folder runs unasked since the kernel keeps it from everything of the owner's.
    let unasked = call.unasked && call.row() == Row::Run;
    // Nothing else but their own yes gets around what the owner's rules ask about.
    let passes = granted || ruled || !asked_always && (reserved || unasked);
    if passes { Verdict::Allowed } else { Verdict::NeedsApproval { reason } }
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
                let real = path.real.0.to_lowercase();
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

/// What a question about a call says, also where nothing would ask about it: a draft waits for its yes anyway.
pub fn question_of(setting: &Setting<'_>, call: &Call<'_>) -> String {
    why_ask(setting, call, false).unwrap_or_else(|| comes_to(setting, row_by_rules(setting, call), call))
}

/// Why the owner is asked about a call, if they are.
fn why_ask(setting: &Setting<'_>, call: &Call<'_>, asked_always: bool) -> Option<String> {
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

/// The row of a call, with the hosts that the owner wrote down, a fetch from one of which is as good as named; and with who reads what it
/// shows.
fn row_by_rules(setting: &Setting<'_>, call: &Call<'_>) -> Row {
    let known = |to: &Destination| setting.rules.hosts.iter().any(|known| to.is_all_of(known));
    match call.row() {
        Row::FetchLink | Row::FetchComposed if call.destination.is_some_and(known) => Row::FetchNamed,
        Row::Look if setting.group && call.shows_owners() => Row::LookForOthers,
        // What stands in their own network is private, whoever typed the address before others read along.
        Row::FetchNamed if setting.group && call.address.is_own_network() => Row::LookForOthers,
        row => row,
    }
}

/// What makes a file more than a file, where something does.
fn widest(call: &Call<'_>) -> Option<FileChange> {
    let changes = || call.paths.iter().filter(|path| path.write).map(|path| path.change);
    [FileChange::Drawn, FileChange::FarReaching].into_iter().find(|change| changes().any(|one| one == *change))
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
fn consequence(row: Row, call: &Call<'_>) -> String {
    let what = match (row, call.destination) {
        (Row::FetchLink, _) if call.address == AddressOrigin::TypedElsewhere => {
            return "of the addresses that you typed this is not the next one, or it was fetched already".to_owned();
        }
        (Row::FetchLink | Row::FetchComposed, Some(host)) => {
            return format!("neither you nor your rules named this address of {host}");
        }
        (Row::FetchOwn, Some(host)) => {
            return format!("{host} is an address of your own network, which you did not type");
        }
        (Row::FetchOwn, None) => "ask something of your own network",
        (Row::Look | Row::FetchNamed | Row::Search | Row::FetchLink | Row::FetchComposed, _) => "read something",
        (Row::LookForOthers, _) => return "others read what it shows, since they read this conversation".to_owned(),
        (Row::ResearchTelling, _) => return telling(&call.told()),
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

/// What a worker's task would tell.
fn telling(words: &[String]) -> String {
    let some = words.iter().take(MOST_WORDS).map(|word| format!("“{word}”")).collect::<Vec<_>>().join(", ");
    let more = if words.len() > MOST_WORDS { format!(" and {} more", words.len() - MOST_WORDS) } else { String::new() };
    format!("its task says {some}{more}, which you did not type here, and any page that the worker reads may learn it")
}

#[cfg(test)]
mod tests;
