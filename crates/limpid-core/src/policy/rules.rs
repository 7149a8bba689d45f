//! What the owner wrote down, and what they answered.

use super::argument::{Argument, ArgumentPattern};
use super::destination::Destination;
use super::effect::Row;
use super::mode::{ToolFacts, ToolPattern};

/// The owner's rules, for every mode.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnerRules {
    /// Calls that run although the turn has read what a stranger wrote.
    pub allow: Vec<Rule>,
    /// Calls that wait for the owner, but for those that a rule of `allow` names by arguments or a destination where one of these names neither.
    pub ask: Vec<Rule>,
    /// Calls that never run.
    pub deny: Vec<Rule>,
    /// Hosts that may be read from although the turn has read what a stranger wrote: over https, or over http where one
    /// has `http://` before it.
    pub hosts: Vec<String>,
}

/// One rule: all that it names must fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The tools that it is about.
    pub tool: ToolPattern,
    /// What the arguments look like; absent: anything.
    pub arguments: Option<ArgumentPattern>,
    /// The destination as [`Destination`] compares it: a server, with `http://` where it is asked over http, a letter's
    /// account and people, a number, a place; absent: any, or none.
    pub destination: Option<String>,
    /// The most bytes of text that a call which it lets pass may have in its arguments; absent: any number.
    pub max_bytes: Option<u64>,
}

impl Rule {
    /// Whether the rule lets this call pass: an argument that it does not name must not be there, all of them together must not
    /// be larger than it says, and it names all of where the call leads.
    pub fn permits(&self, tool: &ToolFacts<'_>, arguments: &Argument, destination: Option<&Destination>) -> bool {
        let fits = |wanted: &String| destination.is_some_and(|destination| destination.is_all_of(wanted));
        self.tool.permits(tool)
            && self.destination.as_ref().is_none_or(fits)
            && self.arguments.as_ref().is_none_or(|pattern| pattern.matches(arguments))
            && self.max_bytes.is_none_or(|most| arguments.bytes() <= most)
    }

    /// What a rule that lets calls of this row pass has to name besides, and this one does not: what leaves for others
    /// is allowed by a rule that says where it may go, not by one that allows everything.
    pub const fn lacks(&self, row: Row) -> Option<&'static str> {
        let (to, with) = (self.destination.is_none(), self.arguments.is_none());
        match row {
            Row::Send if to => Some("`destination`"),
            // A page on the owner's screen may lead on to any other.
            Row::RunSending | Row::Show => match (to, with) {
                (true, true) => Some("`destination` and `arguments`"),
                (true, false) => Some("`destination`"),
                (false, true) => Some("`arguments`"),
                (false, false) => None,
            },
            _ => None,
        }
    }

    /// Whether the rule holds this call back: no argument that is added gets around it, and no second destination does.
    pub fn holds_back(&self, tool: &ToolFacts<'_>, arguments: &Argument, destination: Option<&Destination>) -> bool {
        let fits = |wanted: &String| destination.is_some_and(|destination| destination.has_any_of(wanted));
        self.tool.holds_back(tool)
            && self.destination.as_ref().is_none_or(fits)
            && self.arguments.as_ref().is_none_or(|pattern| pattern.concerns(arguments))
    }

    /// Whether the rule holds back every call of a tool, whatever its arguments and its destination.
    pub fn covers(&self, tool: &ToolFacts<'_>) -> bool {
        self.arguments.is_none() && self.destination.is_none() && self.tool.holds_back(tool)
    }
}

/// Destinations and addresses that the owner's rules hold a call back from, wherever it is led on its way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bans {
    destinations: Vec<String>,
    addresses: Vec<String>,
}

impl Bans {
    /// Whether it must not go there.
    pub fn forbid(&self, destination: &Destination) -> bool {
        self.destinations.iter().any(|banned| destination.has_any_of(banned))
    }

    /// Whether it must not fetch this address; `forms` gives the forms in which it is compared with one of a rule, of both.
    pub fn forbid_address(&self, address: &str, forms: impl Fn(&str) -> [String; 5]) -> bool {
        let addresses = forms(address).map(Argument::Text);
        let mut banned = self.addresses.iter().flat_map(|banned| forms(banned)).map(ArgumentPattern::Text);
        banned.any(|banned| addresses.iter().any(|address| banned.concerns(address)))
    }
}

impl OwnerRules {
    /// Where a call must not be led: the destinations and the addresses of rules that would forbid it there, or ask about it.
    pub fn bans(&self, tool: &ToolFacts<'_>, arguments: &Argument) -> Bans {
        let concerns = |rule: &&Rule| {
            let arguments = rule.arguments.as_ref().is_none_or(|pattern| pattern.concerns(arguments));
            arguments && rule.tool.holds_back(tool)
        };
        let all = || self.deny.iter().chain(&self.ask);
        let texts = all().filter(|rule| rule.tool.holds_back(tool)).filter_map(|rule| rule.arguments.as_ref());
        let addresses = texts.flat_map(ArgumentPattern::texts).filter(|(field, _)| field == "url");
        Bans {
            destinations: all().filter(concerns).filter_map(|rule| rule.destination.clone()).collect(),
            addresses: addresses.map(|(_, address)| address).collect(),
        }
    }
}

/// Calls that the owner allowed for the rest of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The tool.
    pub tool: String,
    /// What they have in common: see [`lasting_yes`](super::lasting_yes).
    pub pattern: String,
}
