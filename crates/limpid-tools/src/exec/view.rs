//! Which places a program sees, and whether it has the network: one decision for every call.
//!
//! What may be a stranger's program never has both the network and sight of the owner's places. Where nobody was asked about it, it
//! doesn't leave a file after it has read these either: what lies in `outside/` is opened later, and a page sends what it holds.

use crate::StrangersProgram;

/// Which places a program sees and writes. The kernel holds it to that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The owner's places, to read and to write; nothing where a stranger's text may be.
    High {
        /// Whether it has the network: only where the owner trusts every host that may answer.
        network: bool,
    },
    /// The owner's places and those of strangers that the call names, to read. No network.
    Low {
        /// Whether it writes the folder for what strangers wrote, or nothing at all.
        write: bool,
    },
    /// Strangers' places and the network, but nothing of the owner's.
    Apart,
    /// Strangers' places, neither the network nor anything of the owner's.
    Enclosed {
        /// Whether it writes the folder for what strangers wrote. Its words may hold what is private, whoever led to them: where nobody was
        /// asked about these, they must not stand in what it leaves there.
        write: bool,
    },
    /// The owner's places, to read; nothing where a stranger's text may be. To write only an empty folder.
    Reading {
        /// Whether it has the network.
        network: bool,
        /// Whether it writes that folder, or nothing at all.
        write: bool,
    },
}

/// What `[exec] network` grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granted {
    /// Nothing.
    Nothing,
    /// Hosts whose answers are the owner's.
    Trusted,
    /// Hosts of others among them.
    Others,
}

/// What decides about the view of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// What programs may reach.
    pub network: Granted,
    /// Whether a stranger's text led to the call.
    pub is_tainted: bool,
    /// Whether the owner said yes to this very call.
    pub is_approved: bool,
    /// Whether the owner named the program among those that run unasked in a stranger's folder.
    pub is_listed: bool,
    /// Whether the call names a place of strangers: to start in, as the program, in one of its words, or by a link that one of these
    /// leads over.
    pub names_low: bool,
    /// Whether the call names a place of the owner's, as the program or in one of its words.
    pub names_high: bool,
    /// Whether it starts in one, as every call does that says nothing else.
    pub starts_high: bool,
}

impl View {
    /// The view of a call.
    pub fn of(situation: Situation) -> Self {
        let Situation { network, is_tainted, is_approved, is_listed, names_low, names_high, starts_high } = situation;
        let may_go_out = network != Granted::Nothing && (!is_tainted || is_approved);
        match (is_listed || names_low, is_tainted) {
            // Nobody looks at the words of a listed program.
            (true, _) if is_listed => Self::Enclosed { write: is_approved },
            (true, _) if names_high || starts_high && is_approved => Self::Low { write: is_approved },
            (true, _) if !starts_high && may_go_out => Self::Apart,
            (true, _) => Self::Enclosed { write: is_approved },
            // The owner's own program. The question that they said yes to told of both.
            (false, true) => Self::Reading { network: may_go_out, write: is_approved },
            (false, false) if network == Granted::Others => Self::Reading { network: true, write: true },
            (false, false) => Self::High { network: network == Granted::Trusted },
        }
    }

    /// Whether it reads the owner's places.
    pub fn reads_high(self) -> bool {
        !matches!(self, Self::Apart | Self::Enclosed { .. })
    }

    /// Whether it writes the owner's places.
    pub fn writes_high(self) -> bool {
        matches!(self, Self::High { .. })
    }

    /// Whether it reads strangers' places.
    pub fn reads_low(self) -> bool {
        matches!(self, Self::Low { .. } | Self::Apart | Self::Enclosed { .. })
    }

    /// Whether it writes the folder for what strangers wrote.
    pub fn writes_outside(self) -> bool {
        matches!(self, Self::Low { write: true } | Self::Apart | Self::Enclosed { write: true })
    }

    /// Whether its environment says what is the owner's.
    pub fn knows_variables(self) -> bool {
        matches!(self, Self::High { .. } | Self::Reading { .. })
    }

    /// What a program in it gets, if it may be a stranger's: in its own files, or in the words of a call that a stranger's text led to.
    pub fn strangers_program(self) -> Option<StrangersProgram> {
        match self {
            Self::Low { .. } | Self::Reading { network: false, .. } | Self::Enclosed { write: false } => {
                Some(StrangersProgram::Sees)
            }
            Self::Apart => Some(StrangersProgram::Sends),
            Self::Enclosed { write: true } => Some(StrangersProgram::Leaves),
            Self::High { .. } | Self::Reading { network: true, .. } => None,
        }
    }

    /// Whether it has the network that is granted.
    pub fn has_network(self) -> bool {
        matches!(self, Self::High { network: true } | Self::Reading { network: true, .. } | Self::Apart)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOLS: [bool; 2] = [false, true];

    fn all() -> Vec<Situation> {
        let mut all = Vec::new();
        for network in [Granted::Nothing, Granted::Trusted, Granted::Others] {
            for bits in 0..64 {
                let bit = |n: u32| BOOLS[usize::from(bits >> n & 1 == 1)];
                let (is_tainted, is_approved, is_listed) = (bit(5), bit(4), bit(3));
                let (names_low, names_high, starts_high) = (bit(2), bit(1), bit(0));
                all.push(Situation { network, is_tainted, is_approved, is_listed, names_low, names_high, starts_high });
            }
        }
        all
    }

    // SEC-058 SEC-087 SEC-100
    #[test]
    fn every_situation_has_its_view() {
        let word = |is: bool, word: &str| if is { word.to_owned() } else { "-".repeat(word.len()) };
        let line = |situation: Situation| {
            let Situation { network, is_tainted, is_approved, is_listed, names_low, names_high, starts_high } =
                situation;
            let words = [
                word(is_tainted, "tainted"),
                word(is_approved, "approved"),
                word(is_listed, "listed"),
                word(names_low, "low"),
                word(names_high, "high"),
                word(starts_high, "starts"),
            ];
            format!("{:8} {} -> {:?}", format!("{network:?}"), words.join(" "), View::of(situation))
        };
        insta::assert_snapshot!(all().into_iter().map(line).collect::<Vec<_>>().join("\n"));
    }

    // SEC-058 SEC-087
    #[test]
    fn what_may_be_a_strangers_never_has_both_the_network_and_the_owners_places() {
        for situation in all() {
            let view = View::of(situation);
            let may_be_strangers = situation.names_low || situation.is_listed;
            let both = view.has_network() && view.reads_high();
            assert!(!(may_be_strangers && both), "{situation:?}");
            // What may be a stranger's is known as that, so that those that see are never beside those that send.
            let strangers = view.strangers_program();
            assert!(!may_be_strangers || strangers.is_some(), "{situation:?}");
            let leaves = view.has_network() || view.writes_outside();
            match strangers {
                Some(StrangersProgram::Sees) => assert!(!view.has_network(), "{situation:?}"),
                Some(StrangersProgram::Sends) => assert!(view.has_network() && !view.reads_high(), "{situation:?}"),
                Some(StrangersProgram::Leaves) => assert!(!view.has_network() && !view.reads_high(), "{situation:?}"),
                None => {}
            }
            // What nobody was asked about leaves nothing that is opened later: neither of what it read nor of what its words say.
            let unasked = may_be_strangers && !situation.is_approved;
            assert!(!(unasked && view.reads_high() && leaves), "{situation:?}");
            assert!(!(unasked && view.writes_outside() && !view.has_network()), "{situation:?}");
            let is_led = situation.is_tainted && !situation.is_approved;
            assert!(!(is_led && matches!(view, View::Reading { write: true, .. })), "{situation:?}");
            assert!(!(situation.is_listed && view.reads_high()), "{situation:?}");
            // What lies there may be run without being named.
            assert!(!view.reads_low() || may_be_strangers, "{situation:?}");
            // What a stranger's text led to has both only when the owner was told of both.
            assert!(!(both && situation.is_tainted && !situation.is_approved), "{situation:?}");
            // Nothing of a stranger's changes what is the owner's.
            assert!(!(view.writes_high() && (may_be_strangers || situation.is_tainted)), "{situation:?}");
            assert!(!(view.has_network() && situation.network == Granted::Nothing), "{situation:?}");
        }
    }
}
