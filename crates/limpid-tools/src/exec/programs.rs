//! How programs are run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use limpid_core::Trust;

use super::command::{Command, find};
use super::confinement::{Limits, Network};
use super::given::Giver;
use super::installed::is_installed_by_people;
use super::places::{Kind, Places};
use super::view::{Situation, View};
use crate::files::{Grants, Root};

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
    /// The folder for what strangers wrote: the only one that what may be a stranger's program writes.
    pub outside: PathBuf,
    /// Folders that the owner's languages are in, for reading.
    pub toolchains: Vec<PathBuf>,
    /// Whether a command may be one for a shell.
    pub shell: bool,
    /// What programs may reach over the network.
    pub network: Network,
    /// Folders with programs besides the system's.
    pub path: Vec<PathBuf>,
    /// What the environment of every program says.
    pub environment: Vec<(String, String)>,
    /// What it says besides where a program may know what is the owner's.
    pub own_environment: Vec<(String, String)>,
    /// What a program may use.
    pub limits: Limits,
    /// Folders in which something else holds.
    pub folders: Vec<FolderRules>,
    /// The folders, once they were looked up.
    pub places: Places,
}

/// What holds for programs that start in a folder, or below it.
#[derive(Clone, Debug)]
pub struct FolderRules {
    /// The folder.
    pub folder: PathBuf,
    /// Names of programs that run there unasked after a stranger's text, when the folder is somebody else's.
    pub programs: Vec<String>,
    /// What a program may use there.
    pub limits: Limits,
}

impl Programs {
    /// What holds where a call starts, by the innermost folder.
    fn rules(&self, folder: &Path) -> Option<(PathBuf, &FolderRules)> {
        let real = |rules: &FolderRules| self.grants.open_named(&rules.folder).ok().map(|opened| opened.path);
        let real = self.folders.iter().filter_map(|rules| Some((real(rules)?, rules)));
        let around = real.filter(|(real, _)| folder.starts_with(real));
        around.max_by_key(|(real, _)| real.components().count())
    }

    /// What decides which folders of `path` and `toolchains` programs get.
    pub(super) fn giver(&self) -> Giver<'_> {
        Giver { grants: &self.grants, outside: &self.outside, home: &self.home }
    }

    /// The folders of `path` that programs get, without links.
    pub(super) fn folders_of_programs(&self) -> Vec<PathBuf> {
        self.giver().given(&self.path).map(|(_, opened)| opened.path).collect()
    }

    /// Whether there is a program of this name where programs are looked for.
    pub fn has(&self, name: &str) -> bool {
        find(name, Path::new("/"), &self.folders_of_programs()).is_ok()
    }

    /// What a program may use that starts in a folder.
    pub(super) fn limits_in(&self, folder: &Path) -> Limits {
        self.rules(folder).map_or(self.limits, |(_, rules)| rules.limits)
    }

    /// Seconds that any program may take.
    pub(super) fn most_seconds(&self) -> u64 {
        let folders = self.folders.iter().map(|rules| rules.limits.seconds);
        folders.fold(self.limits.seconds, u64::max)
    }

    /// Whether the owner lets a call run unasked after a stranger's text was read: it starts in a folder of somebody else's,
    /// and is one of the system's programs that they named for it.
    pub(super) fn runs_unasked(&self, command: &Command) -> bool {
        let Some((real, rules)) = self.rules(&command.folder) else { return false };
        let name = command.judged_words(&self.folders_of_programs()).into_iter().next();
        self.grants.is_strangers(&real)
            && self.is_low_place(&real)
            && self.is_low_place(&command.folder)
            && name.is_some_and(|name| rules.programs.contains(&name))
    }

    /// The view that a call gets. `trust` is who led to it.
    pub fn view(&self, trust: Trust, is_approved: bool, command: &Command) -> View {
        let named = &command.named;
        View::of(Situation {
            network: self.network.granted(),
            is_tainted: trust.is_foreign(),
            is_approved,
            is_listed: command.is_listed,
            names_low: named.low,
            names_high: named.high,
            starts_high: named.starts_high,
        })
    }

    /// Where a call would send something that may be a stranger's, when its turn has read nothing of a stranger's.
    pub(super) fn sends_to(&self, command: &Command) -> Option<&[String]> {
        (self.view(Trust::Owner, false, command) == View::Apart).then_some(&*self.network.names)
    }

    /// The granted low folders that a call names, as the owner knows them, and what it sees of the things that people installed.
    pub(super) fn low_folders_named(&self, command: &Command) -> Vec<String> {
        let named = &command.named;
        let is_named = |root: &Root| self.grants.real(root).is_some_and(|real| named.low_folders.contains(&real));
        let roots = self.grants.roots().filter(|root| root.folder != self.outside && is_named(root));
        let installed = named.installed.iter().map(|path| path.display().to_string());
        roots.map(|root| self.grants.name_of(root)).chain(installed).collect()
    }

    /// The folders that a view shows besides those of `[files]` and `outside/`, as the owner wrote them: languages, and what people put
    /// into folders of the system and the call uses.
    pub(super) fn seen_besides(&self, view: View, command: &Command) -> Vec<String> {
        let languages = self.folders().filter(|(_, kind)| match kind {
            Kind::Toolchain => kind.is_seen(view),
            // A question names these: as the owner's, by their names, or as `outside/`. Of programs those are seen that were installed.
            Kind::High { .. } | Kind::Low | Kind::Outside | Kind::Programs => false,
        });
        let mut seen: Vec<&Path> = languages.map(|([written, _], _)| written).collect();
        let used = self.used(command);
        let is_known = |path: &Path| self.kind_of(path) == Some(Kind::Toolchain);
        seen.extend(used.iter().map(PathBuf::as_path).filter(|path| is_installed_by_people(path) && !is_known(path)));
        let mut seen: Vec<String> = seen.into_iter().map(|path| path.display().to_string()).collect();
        seen.sort();
        seen.dedup();
        seen
    }

    /// All that a program that may be a stranger's and has the network could send: the folders that it sees, as the owner knows
    /// them, and hosts in the owner's own network.
    pub(super) fn could_send(&self, command: &Command) -> BTreeSet<String> {
        let outside = command.named.outside.any.then(|| "outside/".to_owned());
        let folders = self.low_folders_named(command).into_iter().chain(outside);
        let folders = folders.chain(self.seen_besides(View::Apart, command));
        let (own, _) = self.network.own_and_others();
        folders.chain(own.into_iter().map(|host| format!("{host} in your network"))).collect()
    }

    /// What whoever is asked about a call has to know of its view besides the command.
    pub(super) fn told_of(&self, trust: Trust, command: &Command) -> Option<String> {
        let view = self.view(trust, true, command);
        let hosts = self.network.names.join(", ");
        let (own, others) = self.network.own_and_others();
        let own = match own.is_empty() || others.is_empty() {
            true => String::new(),
            false => {
                format!("; what {} says, in your own network, it can send to {}", own.join(", "), others.join(", "))
            }
        };
        let sees_outside = command.named.outside.any;
        let besides = self.seen_besides(view, command);
        let yours: String = besides.iter().map(|folder| format!(", `{folder}`")).collect();
        let variables: Vec<&str> = self.own_environment.iter().map(|(name, _)| name.as_str()).collect();
        let variables = match view.knows_variables() && !variables.is_empty() {
            true => format!(" and the variables {}", variables.join(", ")),
            false => String::new(),
        };
        match view {
            View::Reading { network: true, .. } => {
                Some(format!("it can read your folders{yours}{variables} and send to {hosts}{own}"))
            }
            View::Apart => {
                let mut folders = self.low_folders_named(command);
                let besides = besides.into_iter().filter(|folder| !folders.contains(folder)).collect::<Vec<_>>();
                folders.extend(besides);
                let outside = sees_outside.then(|| "`outside/`, where copies of what is yours may be".to_owned());
                let seen = outside.into_iter().chain(folders.iter().map(|folder| format!("`{folder}`")));
                let seen = seen.collect::<Vec<_>>().join(", and in ");
                let seen = if seen.is_empty() { seen } else { format!(" and what lies in {seen}") };
                Some(format!("it can reach {hosts} and send there this command{seen}{own}"))
            }
            View::Reading { network: false, write: true } => Some(format!(
                "it can read your folders{yours}{variables}, change nothing in them, and leave in `outside/` what it read there"
            )),
            View::Low { write: true } => {
                let leaves = match sees_outside {
                    true => ", change what lies in `outside/` and leave there",
                    false => " and leave in `outside/`",
                };
                Some(format!("it can read your folders{yours}{leaves} what it read"))
            }
            View::Enclosed { write: true } => {
                let read = besides.join("`, and in `");
                Some(match (sees_outside, read.is_empty()) {
                    (true, true) => "it can change what lies in `outside/`".to_owned(),
                    (true, false) => {
                        format!("it can change what lies in `outside/`, and leave there what lies in `{read}`")
                    }
                    (false, true) => "it can leave files in `outside/`".to_owned(),
                    (false, false) => format!("it can leave in `outside/` what lies in `{read}`"),
                })
            }
            View::High { .. } | View::Reading { .. } | View::Low { .. } | View::Enclosed { .. } => None,
        }
    }
}
