//! How programs are run.

use std::path::PathBuf;

use limpid_core::Trust;

use super::command::Command;
use super::confinement::{Limits, Network, View};
use super::places::Places;
use crate::files::Grants;

/// How programs are run, whatever name the model calls.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The folders that programs may read, and change where the grant says so.
    pub grants: Grants,
    /// Folders of skills: a script in one of them may be run by a shell.
    pub scripts: Vec<PathBuf>,
    /// The binary whose hidden sub-commands make the sandbox.
    pub helper: PathBuf,
    /// Limpid's home folder: no program sees it, but for the granted folders in it.
    pub home: PathBuf,
    /// The folder for what strangers wrote: the only one that programs in the low view write.
    pub outside: PathBuf,
    /// Folders that the owner's languages are in, for reading.
    pub toolchains: Vec<PathBuf>,
    /// Whether a command may be one for a shell.
    pub shell: bool,
    /// What programs may reach over the network.
    pub network: Network,
    /// Folders with programs besides the system's.
    pub path: Vec<PathBuf>,
    /// The environment of programs, whole.
    pub environment: Vec<(String, String)>,
    /// What a program may use.
    pub limits: Limits,
    /// The folders, once they were looked up.
    pub places: Places,
}

impl Programs {
    /// The view that a call gets: the low one when something foreign led to it, when it names a low place, and when it
    /// has the network, where anybody may answer.
    pub fn view(&self, trust: Trust, command: &Command) -> View {
        let is_low = self.network.is_granted() || trust.is_foreign() || self.names_low_place(command);
        if is_low { View::Low } else { View::High }
    }

    /// Who may have written what a program prints: whoever wrote what it can read.
    pub(super) fn trust(&self, view: View) -> Trust {
        match view {
            View::Low => Trust::Outside,
            View::High => {
                let own = self.grants.roots().map(|root| root.trust).filter(|trust| !trust.is_foreign());
                own.fold(Trust::Owner, Trust::join)
            }
        }
    }
}
