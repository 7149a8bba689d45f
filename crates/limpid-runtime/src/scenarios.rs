//! The scenarios that an owner runs: those that ship for it, and their own, which add to them or replace them by name.
//! Each has the agent's name, soul and rules that a chat would have now.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use limpid_config::{Config, Home, MAX_FILE, regular_file};
use limpid_context::fill_own_words;
use limpid_prompt::count::Estimate;
use limpid_prompt::inputs::Inputs;
use limpid_prompt::profile::shipped_scenarios;
use limpid_prompt::scenario::{Scenario, Snapshot};
use limpid_prompt::{Profile, Profiles};
use limpid_services::error::AgentError;
use limpid_services::profiles::{Identity, ProfileRegistry};

/// Those of a profile.
pub struct Scenarios<'a> {
    profile: &'a Profile,
    /// The profile as it ships; none for an own one.
    shipped: Option<&'a Profile>,
    folder: PathBuf,
    /// What the owner says of their agent now, and what of it is as it ships.
    owners: Inputs,
    untouched: Inputs,
    by_name: BTreeMap<String, Found>,
    /// What the owner is to be told of their files.
    pub notices: Vec<String>,
}

/// A scenario, and whether it ships.
struct Found {
    scenario: Scenario,
    ships: bool,
}

/// A path of a scenario, and what it is compared with.
#[derive(Debug)]
pub struct Case {
    /// What the scenario shows.
    pub about: Option<String>,
    /// What it says now.
    pub now: Snapshot,
    /// Where the owner's snapshot is kept.
    pub place: PathBuf,
    /// The owner's snapshot, or what a scenario that ships says with the shipped texts.
    pub before: Option<String>,
}

impl<'a> Scenarios<'a> {
    /// The owner's own for a profile, and with `shipped` those that ship.
    ///
    /// # Errors
    /// When one is wrong, or a file cannot be read.
    pub fn of(
        (home, config): (&Home, &Config),
        profile: &'a Profile,
        shipped: Option<&'a Profiles>,
    ) -> Result<Self, AgentError> {
        let folder = home.profiles().join(profile.name()).join("scenarios");
        let mut by_name = BTreeMap::new();
        for lender in profile.lineage().filter(|_| shipped.is_some()) {
            for (name, text) in shipped_scenarios(lender) {
                let scenario = Scenario::parse(name, text).map_err(|error| AgentError::Prompt(error.to_string()))?;
                if scenario.about().is_some() {
                    by_name.entry(name.to_owned()).or_insert(Found { scenario, ships: true });
                }
            }
        }
        for scenario in own(&folder)? {
            by_name.insert(scenario.name().to_owned(), Found { scenario, ships: false });
        }
        let (mut owners, mut notices) = (Inputs::default(), Vec::new());
        // Whoever has no scenario has no file that could be wrong.
        if !by_name.is_empty() {
            let profiles = ProfileRegistry::new(home.clone());
            fill_own_words((home, config, &profiles), profile, &mut owners, &mut notices)?;
        }
        let untouched = untouched((home, profile), &owners);
        let shipped = shipped.and_then(|all| all.get(profile.name()).ok()).map(|profile| &**profile);
        Ok(Self { profile, shipped, folder, owners, untouched, by_name, notices })
    }

    /// Every path of every scenario.
    ///
    /// # Errors
    /// When a snapshot is there and cannot be read.
    pub fn cases(&self) -> Result<Vec<Case>, AgentError> {
        let mut cases = Vec::new();
        for found in self.by_name.values() {
            let scenario = found.scenario.clone().with_owners(&self.owners);
            for path in scenario.paths(self.profile) {
                let now = scenario.snapshot(self.profile, &path, &Estimate::default());
                let place = self.folder.join("snapshots").join(&now.file);
                let before = read(&place)?.or_else(|| self.as_shipped(found, &path));
                cases.push(Case { about: scenario.about().map(str::to_owned), now, place, before });
            }
        }
        Ok(cases)
    }

    /// The scenarios to which the owner's file for a section makes no difference: they give that text themselves.
    pub fn without_own(&self, section: &str) -> Vec<&str> {
        let own = match section {
            "soul" => &self.owners.soul,
            _ => &self.owners.safety,
        };
        let is_shown = own.is_some() && self.profile.reads(section);
        let scenarios = self.by_name.values().map(|found| &found.scenario).filter(|_| is_shown);
        scenarios.filter(|scenario| scenario.gives(section)).map(Scenario::name).collect()
    }

    /// What a scenario that ships says with the shipped texts.
    fn as_shipped(&self, found: &Found, path: &str) -> Option<String> {
        let shipped = self.shipped.filter(|_| found.ships)?;
        let scenario = found.scenario.clone().with_owners(&self.untouched);
        let snapshot = scenario.snapshot(shipped, path, &Estimate::default());
        snapshot.problem.is_none().then_some(snapshot.text)
    }
}

/// What the agent is called, and those of the owner's files that are copies which nobody has changed.
fn untouched((home, profile): (&Home, &Profile), owners: &Inputs) -> Inputs {
    let identity = Identity { home, profile, agent_name: &owners.agent_name };
    let copy = |section, own: &Option<String>| own.clone().filter(|own| *own == identity.profile_text(section));
    Inputs {
        agent_name: owners.agent_name.clone(),
        soul: copy("soul", &owners.soul),
        safety: copy("safety", &owners.safety),
        origins: owners.origins.clone(),
        ..Inputs::default()
    }
}

/// The owner's scenarios in a folder.
fn own(folder: &Path) -> Result<Vec<Scenario>, AgentError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(AgentError::file(folder))?,
    };
    let mut files: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
    let scenario = |file: PathBuf| {
        let text = regular_file::read_text(&file, MAX_FILE).map_err(AgentError::file(&file))?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        Scenario::parse(&name, &text).map_err(|error| AgentError::Prompt(format!("{}: {error}", file.display())))
    };
    files.into_iter().map(scenario).collect()
}

/// A snapshot, where there is one.
fn read(file: &Path) -> Result<Option<String>, AgentError> {
    match regular_file::read_text(file, MAX_FILE) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        text => text.map(Some).map_err(AgentError::file(file)),
    }
}
