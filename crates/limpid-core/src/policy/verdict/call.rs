//! A call as it is judged, and what holds for every call of its turn.

use std::path::Path;

use crate::policy::argument::Argument;
use crate::policy::destination::Destination;
use crate::policy::effect::{AddressOrigin, Effect, FileChange, Row};
use crate::policy::mode::{ModeRules, ToolFacts};
use crate::policy::owners_words::OwnersWords;
use crate::policy::rules::{Grant, OwnerRules};
use crate::{ToolClass, Trust};

/// What holds for every call of a turn.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The rules of the mode; none where modes have no say.
    pub mode: Option<&'a ModeRules>,
    /// Whether only tools of [`LOCAL_TOOL_ALLOWLIST`](crate::tool::LOCAL_TOOL_ALLOWLIST) exist.
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

impl Setting<'_> {
    /// Whether a stranger's text may have led to calls whose answers others read.
    pub(super) fn leads_for_others(&self) -> bool {
        self.group && self.trust.is_foreign()
    }
}

/// One call.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The tool.
    pub tool: ToolFacts<'a>,
    /// What the call counts as besides, for rules that hold calls back: where one tool serves several servers, as a tool of its server.
    pub also: Option<ToolFacts<'a>>,
    /// What stands for the text of the tool, where others wrote it and the owner looked at it.
    pub text: Option<&'a str>,
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
    /// Whether its answer is the same whatever was there before.
    pub answers_alike: bool,
    /// Whether a yes to it makes the words that it keeps the owner's own, whoever wrote what stood there.
    pub adopts: bool,
    /// What the window shows of the owner's that they did not type in this conversation.
    pub owners_words: &'a OwnersWords,
}

impl<'a> Call<'a> {
    /// The tool, and what the call counts as besides.
    pub(super) fn tools(&self) -> impl Iterator<Item = &ToolFacts<'a>> {
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

    /// The same as a text, to be compared.
    pub(super) fn as_str(&self) -> &str {
        &self.0
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

impl Call<'_> {
    /// The row of the table that it is of.
    pub fn row(&self) -> Row {
        let files: Vec<FileChange> = self.paths.iter().filter(|path| path.write).map(|path| path.change).collect();
        match Row::of(self.effect, self.address, &files) {
            Row::Run if self.sends => Row::RunSending,
            Row::Research if !self.told().is_empty() => Row::ResearchTelling,
            Row::Search if self.tells_key() || !self.told().is_empty() => Row::SearchTelling,
            row => row,
        }
    }

    /// The words of the owner's that it repeats.
    pub(super) fn told(&self) -> Vec<String> {
        self.owners_words.repeated_in(self.arguments)
    }

    /// Whether it says a key of an address of the owner's.
    pub(super) fn tells_key(&self) -> bool {
        self.owners_words.says_key(self.arguments)
    }

    /// Its class, with what it would write: a text that prompts are made from changes the agent itself.
    pub(super) fn class(&self) -> ToolClass {
        if self.row() == Row::ChangeSelf { ToolClass::ChangeSelf } else { self.effect.class() }
    }

    /// Whether what comes back may hold something that not everybody could have. Each row is named, so that a new one is not forgotten.
    fn shows_private(&self, row: Row) -> bool {
        match row {
            Row::Look | Row::LookForOthers => !self.public,
            // What stands in a private place is theirs, whoever typed the address before others read along.
            Row::FetchNamed | Row::FetchLink | Row::FetchComposed | Row::FetchPrivate => {
                self.address.private_place().is_some()
            }
            // An agent is given what the call names: skills, results of others.
            Row::Delegate => true,
            Row::Search | Row::SearchTelling | Row::Research | Row::ResearchTelling => false,
            // What runs unasked tells by its answer what it found, such as whether words stand in a file.
            Row::ChangeOwnLow | Row::Remember | Row::Tell => !self.answers_alike,
            // They wait for the owner by themselves.
            Row::Show
            | Row::NewFile
            | Row::ChangeFile
            | Row::ChangeOwned
            | Row::Run
            | Row::RunSending
            | Row::Mailbox
            | Row::Plan
            | Row::Send
            | Row::ChangeSelf => false,
        }
    }

    /// The same of a call that waits by itself too, once something lets it pass. What leaves for others answers that it left, but for
    /// tools of servers, which answer as they like.
    pub(super) fn answers_with_private(&self) -> bool {
        let row = self.row();
        match row {
            Row::NewFile
            | Row::ChangeFile
            | Row::ChangeOwned
            | Row::Run
            | Row::RunSending
            | Row::Mailbox
            | Row::Plan
            | Row::ChangeSelf => !self.answers_alike,
            Row::Show | Row::Send => !self.answers_alike && self.text.is_some(),
            _ => self.shows_private(row),
        }
    }

    /// Whether it writes files of the owner's, or may, or such in low places that act when somebody looks there. A program does not by
    /// itself: in such a turn it can write low places only.
    pub(super) fn writes_owners_files(&self) -> bool {
        let mut written = self.paths.iter().filter(|path| path.write).peekable();
        // One that does not say which files it writes may write any.
        let any = self.row().writes_files() && written.peek().is_none();
        any || *self.effect != Effect::Run && (written.any(|path| !path.is_low) || widest(self).is_some())
    }
}

/// The row of a call, with the hosts that the owner wrote down, a fetch from one of which is as good as named; and with who reads what it
/// shows.
pub(super) fn row_by_rules(setting: &Setting<'_>, call: &Call<'_>) -> Row {
    let known = |to: &Destination| setting.rules.hosts.iter().any(|known| to.is_all_of(known));
    match call.row() {
        Row::FetchLink | Row::FetchComposed if call.destination.is_some_and(known) => Row::FetchNamed,
        row if setting.group && call.shows_private(row) => Row::LookForOthers,
        row => row,
    }
}

/// What makes a file more than a file, where something does.
pub(super) fn widest(call: &Call<'_>) -> Option<FileChange> {
    let changes = || call.paths.iter().filter(|path| path.write).map(|path| path.change);
    [FileChange::Drawn, FileChange::FarReaching].into_iter().find(|change| changes().any(|one| one == *change))
}
