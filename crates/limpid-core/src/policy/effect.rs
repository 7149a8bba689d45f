//! What a call would change, and what a turn may do: the one table that says which effects run and which wait.

use crate::ToolClass;

/// What one call would change, read from its tool and its arguments. A call that could be several is the one with the
/// widest consequences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It looks: reads, lists, recalls, searches what is the owner's.
    Look,
    /// It asks the search service that the owner set.
    Search,
    /// It fetches an address of the web. The address is whole and in its normal form; none when it is no address.
    Fetch(Option<String>),
    /// It has a research worker look something up on the web: a run of its own that sees the task and the web, nothing else.
    Research,
    /// It hands work to an agent, which starts with the label of the turn and has no right that the turn has not.
    Delegate,
    /// It opens an address on the owner's screen, in the same form.
    Show(Option<String>),
    /// It writes, moves or removes files; which ones, the paths of the call say.
    Files,
    /// It keeps something new: a memory, a step of a goal.
    Remember,
    /// It tells the owner something, in a chat of theirs.
    Tell,
    /// It changes, merges, demotes, archives or forgets what the owner has: a memory, a task, a goal, a setting.
    ChangeOwned,
    /// It runs a program.
    Run,
    /// It changes something in a mailbox or at a service of the owner's: marks, files, archives.
    Mailbox,
    /// It makes a task or a reminder.
    Plan,
    /// Something leaves for other people or machines: a message, an invitation.
    Send,
    /// It writes into a chat that others read too.
    TellOthers,
    /// It pays or orders something.
    Pay,
    /// It writes to a device that is wired to the machine.
    Device,
    /// It changes what the agent is told or may do.
    ChangeSelf,
}

impl Effect {
    /// The class that rules and modes know it by.
    pub const fn class(&self) -> ToolClass {
        match self {
            Self::Look | Self::Search | Self::Fetch(_) | Self::Research | Self::Delegate => ToolClass::Read,
            Self::Show(_) | Self::Send | Self::TellOthers | Self::Pay => ToolClass::Send,
            Self::Files | Self::Mailbox => ToolClass::Write,
            Self::Remember | Self::Tell | Self::ChangeOwned => ToolClass::Remember,
            Self::Run | Self::Device => ToolClass::Execute,
            Self::Plan | Self::ChangeSelf => ToolClass::ChangeSelf,
        }
    }
}

impl From<ToolClass> for Effect {
    /// The effect of a tool that declares only its class.
    fn from(class: ToolClass) -> Self {
        match class {
            ToolClass::Read => Self::Look,
            ToolClass::Remember => Self::Remember,
            ToolClass::Write => Self::Files,
            ToolClass::Send => Self::Send,
            ToolClass::Execute => Self::Run,
            ToolClass::ChangeSelf => Self::ChangeSelf,
        }
    }
}

/// Where a file lies that a call would change, and what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// A file that is not there yet, among the owner's. One of a turn that has read a stranger's text is made in a low place.
    New,
    /// A new file of a low place, one there that this conversation made, or an addition to any file there.
    OwnLow,
    /// Any other file.
    Other,
    /// A file of a low place that programs act on by its name, or that has another name besides. Who made it changes nothing.
    FarReaching,
    /// A file of a low place that is acted on as soon as it is opened, as code in an editor is, or asks somebody for something.
    Drawn,
    /// A text that prompts, skills or policies are made from.
    Instructing,
}

/// A row of the table: an effect with what else decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Row {
    /// Look: read, list, recall, search of one's own.
    Look,
    /// The same of what is the owner's, in a conversation that others read too.
    LookForOthers,
    /// Fetch an address that a right names exactly.
    FetchNamed,
    /// Search by the service that the owner set.
    Search,
    /// Search there with words of the owner's that they did not type in the conversation.
    SearchTelling,
    /// Fetch an address that stands word for word in what was read.
    FetchLink,
    /// Fetch an address that the model composed.
    FetchComposed,
    /// Fetch an address of a private place that the owner did not type.
    FetchPrivate,
    /// Have a research worker look something up.
    Research,
    /// Have one look something up with words of the owner's in its task: what it reads may carry them away.
    ResearchTelling,
    /// Hand work to an agent.
    Delegate,
    /// Open a page at the owner's.
    Show,
    /// A new file among the owner's.
    NewFile,
    /// A new file of a low place; change, move or remove one there that this conversation made; append to any file there.
    ChangeOwnLow,
    /// Change, move or remove any other file.
    ChangeFile,
    /// Remember.
    Remember,
    /// Tell the owner.
    Tell,
    /// Change, merge, demote, archive or forget what the owner has.
    ChangeOwned,
    /// Run a program.
    Run,
    /// Run a program that may be a stranger's, with the network and sight of strangers' places: a copy of what is the owner's may
    /// lie there.
    RunSending,
    /// Change something in a mailbox or at a service of the owner's.
    Mailbox,
    /// Make a task or a reminder.
    Plan,
    /// Send, pay, invite, publish, write to a device.
    Send,
    /// Change what the agent is told or may do.
    ChangeSelf,
}

impl Row {
    /// Every row, in the order of the table.
    pub const ALL: [Self; 24] = [
        Self::Look,
        Self::LookForOthers,
        Self::FetchNamed,
        Self::Search,
        Self::SearchTelling,
        Self::FetchLink,
        Self::FetchComposed,
        Self::FetchPrivate,
        Self::Research,
        Self::ResearchTelling,
        Self::Delegate,
        Self::Show,
        Self::NewFile,
        Self::ChangeOwnLow,
        Self::ChangeFile,
        Self::Remember,
        Self::Tell,
        Self::ChangeOwned,
        Self::Run,
        Self::RunSending,
        Self::Mailbox,
        Self::Plan,
        Self::Send,
        Self::ChangeSelf,
    ];

    /// Its name where the owner reads it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::LookForOthers => "look where others read",
            Self::FetchNamed => "fetch a known address",
            Self::Search => "search",
            Self::SearchTelling => "search with words of yours",
            Self::FetchLink => "fetch a link",
            Self::FetchComposed => "fetch an address",
            Self::FetchPrivate => "fetch something private",
            Self::Research => "research",
            Self::ResearchTelling => "research with words of yours",
            Self::Delegate => "delegate",
            Self::Show => "open a page",
            Self::NewFile => "make a file",
            Self::ChangeOwnLow => "change a file of strangers",
            Self::ChangeFile => "change a file",
            Self::Remember => "remember",
            Self::Tell => "tell you",
            Self::ChangeOwned => "change what you have",
            Self::Run => "run a program",
            Self::RunSending => "run a stranger's program with the network",
            Self::Mailbox => "change a mailbox",
            Self::Plan => "plan",
            Self::Send => "send",
            Self::ChangeSelf => "change the agent",
        }
    }

    /// Whether a call of it tells others something, by its words or by an address alone.
    pub const fn tells(self) -> bool {
        matches!(
            self,
            Self::Search
                | Self::SearchTelling
                | Self::FetchNamed
                | Self::FetchLink
                | Self::FetchComposed
                | Self::FetchPrivate
                | Self::Show
                | Self::Mailbox
                | Self::Send
        )
    }

    /// Whether a call of it writes files, also where it does not say which ones.
    pub const fn writes_files(self) -> bool {
        matches!(self, Self::NewFile | Self::ChangeOwnLow | Self::ChangeFile)
    }

    /// The row of a call. `addresses` says how its address is known; `files` what its paths would change.
    pub fn of(effect: &Effect, address: AddressOrigin, files: &[FileChange]) -> Self {
        let changes = |change: FileChange| files.contains(&change);
        if changes(FileChange::Instructing)
            && !matches!(effect, Effect::Run | Effect::Send | Effect::TellOthers | Effect::Pay | Effect::Device)
        {
            return Self::ChangeSelf;
        }
        match effect {
            Effect::Look => Self::Look,
            Effect::Search => Self::Search,
            Effect::Fetch(_) => match address {
                AddressOrigin::Typed | AddressOrigin::TypedPrivate(_) | AddressOrigin::Reserved => Self::FetchNamed,
                AddressOrigin::Private(_) => Self::FetchPrivate,
                AddressOrigin::Read | AddressOrigin::TypedElsewhere => Self::FetchLink,
                AddressOrigin::Composed => Self::FetchComposed,
            },
            Effect::Research => Self::Research,
            Effect::Delegate => Self::Delegate,
            Effect::Show(_) => Self::Show,
            // A call that names no file may change any.
            Effect::Files
                if [FileChange::Other, FileChange::FarReaching, FileChange::Drawn].into_iter().any(changes)
                    || files.is_empty() =>
            {
                Self::ChangeFile
            }
            Effect::Files if changes(FileChange::OwnLow) => Self::ChangeOwnLow,
            Effect::Files => Self::NewFile,
            Effect::Remember => Self::Remember,
            Effect::Tell => Self::Tell,
            Effect::ChangeOwned => Self::ChangeOwned,
            Effect::Run => Self::Run,
            Effect::Mailbox => Self::Mailbox,
            Effect::Plan => Self::Plan,
            Effect::Send | Effect::TellOthers | Effect::Pay | Effect::Device => Self::Send,
            Effect::ChangeSelf => Self::ChangeSelf,
        }
    }
}

/// How the address of a fetch came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressOrigin {
    /// The owner typed it, whole, and it is the next of those that they typed.
    Typed,
    /// The owner typed it, and others come before it, or it was fetched already: that it is asked for now says something.
    TypedElsewhere,
    /// It stands word for word in what the model read in this turn.
    Read,
    /// It is a link of a result whose links are all opened, by a right that was reserved.
    Reserved,
    /// The model made it.
    Composed,
    /// What stands there is the owner's, and they typed it, as above.
    TypedPrivate(PrivatePlace),
    /// What stands there is the owner's, and it came about in any other way.
    Private(PrivatePlace),
}

/// Where something stands that is the owner's and not everybody's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrivatePlace {
    /// Their own network.
    OwnNetwork,
    /// An address that is a key, and stands in nothing that everybody could read.
    CapabilityUrl,
}

impl AddressOrigin {
    /// The same of an address of a private place: there it counts only what the owner typed.
    #[must_use]
    pub const fn at(self, place: PrivatePlace) -> Self {
        match self {
            Self::Typed | Self::TypedPrivate(_) => Self::TypedPrivate(place),
            Self::TypedElsewhere | Self::Read | Self::Reserved | Self::Composed | Self::Private(_) => {
                Self::Private(place)
            }
        }
    }

    /// Whether what stands there is the owner's, and why.
    pub const fn private_place(self) -> Option<PrivatePlace> {
        match self {
            Self::TypedPrivate(place) | Self::Private(place) => Some(place),
            Self::Typed | Self::TypedElsewhere | Self::Read | Self::Reserved | Self::Composed => None,
        }
    }
}

/// What is in the model's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// Nothing foreign.
    Clean,
    /// Something foreign, and nothing that is private to the owner.
    TaintedPublic,
    /// The same in a research worker, which was sent out to fetch what it likes.
    Research,
    /// Something foreign, beside what is private to the owner.
    Tainted,
}

impl Window {
    /// Every kind of window.
    pub const ALL: [Self; 4] = [Self::Clean, Self::TaintedPublic, Self::Research, Self::Tainted];
}

/// What becomes of an effect when no rule and no mode says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// It runs.
    Runs,
    /// It waits for the owner.
    Waits,
}

/// The table.
pub const fn cell(row: Row, window: Window) -> Cell {
    match (row, window) {
        // What leaves for others waits in every turn; a rule or a reserved right lets it pass.
        // So does what a worker is told of the owner's: whatever page it reads first may have it tell that on.
        (Row::Send | Row::RunSending | Row::ResearchTelling, _) => Cell::Waits,
        (_, Window::Clean) => Cell::Runs,
        // An agent begins with the label of the turn that starts it, so it may do no more than that turn.
        (
            Row::Look | Row::FetchNamed | Row::Search | Row::Delegate | Row::ChangeOwnLow | Row::Remember | Row::Tell,
            _,
        ) => Cell::Runs,
        (Row::FetchLink, Window::TaintedPublic | Window::Research) => Cell::Runs,
        (Row::FetchComposed | Row::SearchTelling, Window::Research) => Cell::Runs,
        (
            Row::LookForOthers
            | Row::SearchTelling
            | Row::FetchLink
            | Row::FetchComposed
            | Row::FetchPrivate
            | Row::Research
            | Row::Show
            | Row::NewFile
            | Row::ChangeFile
            | Row::ChangeOwned
            | Row::Run
            | Row::Mailbox
            | Row::Plan
            | Row::ChangeSelf,
            _,
        ) => Cell::Waits,
    }
}

#[cfg(test)]
mod tests;
