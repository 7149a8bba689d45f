//! Where a path of a call leads, and what lies there.

mod links;
mod low;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use limpid_config::{FilesConfig, Home};
use limpid_core::policy::{ArgumentPattern, FileChange, Followed, OwnerRules, PathFacts, Rule};

use crate::tools::PathArgument;
use crate::tools::builtin::OUTSIDE;
use crate::tools::policy::instructing::{Below, Entries, Instructing, NotLookedAt, PartsLeft, has_other_name, places};
pub(crate) use crate::tools::policy::paths::links::{LONGEST_PATH, Way, links_on, real, real_by, way};
use crate::tools::policy::paths::links::{is_too_long, plain};
use crate::tools::policy::paths::low::acts_by_name;
pub(crate) use crate::tools::policy::paths::low::free_way;
use crate::tools::policy::quoted::QuotedFiles;

/// Says where paths lead, by the folders that matter to the policy.
#[derive(Clone, Debug)]
pub(crate) struct PathResolver {
    workspace: PathBuf,
    /// The folder that relative paths begin at.
    base: PathBuf,
    /// The folder for what strangers wrote.
    outside: PathBuf,
    /// Every folder that anybody may have written in.
    strangers: Vec<PathBuf>,
    /// The folders whose files the owner wrote or looked through.
    own: Vec<PathBuf>,
    instructing: Instructing,
    /// The folders that programs may write, the workspace first.
    writable: Vec<PathBuf>,
    /// The folders that aren't the owner's, by their names of ours.
    named: Vec<(String, PathBuf)>,
    /// The arguments that the owner's rules hold calls back by, as they wrote them: of each rule the texts.
    ruled: Vec<Vec<(String, String)>>,
    /// These rules themselves.
    rules: Vec<Rule>,
}

impl PathResolver {
    /// `files` names the folders besides the workspace, and whose they are.
    pub(crate) fn new(home: &Home, prompt_files: Vec<PathBuf>, files: &FilesConfig) -> Self {
        let resolver = files.resolver(home);
        let [home, workspace, outside] = places(home, real);
        let writable: Vec<PathBuf> =
            std::iter::once(workspace.clone()).chain(files.grants.iter().map(|folder| real(folder))).collect();
        let strangers = std::iter::once(outside.clone()).chain(files.named().map(|(_, folder)| real(folder))).collect();
        // What is behind a link that somebody else could have laid is nobody's own.
        let trusted = files.trusted.iter().filter_map(|folder| resolver.path(folder));
        let own = std::iter::once(workspace.clone()).chain(trusted).collect();
        let instructing = Instructing::new([home, workspace.clone(), outside.clone()], prompt_files, writable.clone());
        let named = files.named().map(|(name, folder)| (name, folder.clone())).collect();
        let base = workspace.clone();
        Self {
            base,
            workspace,
            outside,
            strangers,
            own,
            instructing,
            writable,
            named,
            ruled: Vec::new(),
            rules: Vec::new(),
        }
    }

    /// The same with the files that prompts quote as they were read.
    pub(crate) fn quoting(home: &Home, quoted: QuotedFiles, files: &FilesConfig) -> Self {
        let QuotedFiles { names, all_at_top } = quoted;
        let resolver = Self::new(home, names, files);
        Self { instructing: resolver.instructing.with_all_at_top(all_at_top), ..resolver }
    }

    /// Has relative paths begin at a folder, if one is named.
    pub(crate) fn with_base(self, folder: Option<&Path>) -> Self {
        Self { base: folder.map_or_else(|| self.workspace.clone(), real), ..self }
    }

    /// Knows the arguments that these rules hold calls back by.
    pub(crate) fn with_rules(self, rules: &OwnerRules) -> Self {
        let texts = |rule: &Rule| rule.arguments.as_ref().map(ArgumentPattern::texts).unwrap_or_default();
        let rules: Vec<Rule> = rules.ask.iter().chain(&rules.deny).cloned().collect();
        Self { ruled: rules.iter().map(texts).collect(), rules, ..self }
    }

    /// The owner's rules that hold calls back, as they wrote them.
    pub(crate) fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The arguments that the owner's rules hold calls back by: of each rule the texts, by their fields.
    pub(crate) fn ruled(&self) -> &[Vec<(String, String)>] {
        &self.ruled
    }

    /// Makes the workspace and the folder for what strangers wrote when there is none yet: what is bound to a folder is
    /// bound to one that is there, and is the same when it is looked at again. Where it cannot be made nothing can be done
    /// in it either.
    pub(crate) fn create_folders(&self) {
        for own in [&self.workspace, &self.outside] {
            let _ = std::fs::create_dir_all(own);
        }
    }

    /// The workspace with every link followed, and which folder that is: another one at the same place is another.
    pub(crate) fn workspace(&self) -> String {
        format!("{}{}", self.workspace.display(), identity(&self.workspace))
    }

    /// The folder that relative paths begin at.
    pub(crate) fn folder(&self) -> &Path {
        &self.base
    }

    /// The folders that programs may write.
    pub(crate) fn writable(&self) -> &[PathBuf] {
        &self.writable
    }

    /// What instructs the agent and can be written by programs.
    ///
    /// # Errors
    /// When not all of that could be looked at.
    pub(crate) fn instructing_entries(&self) -> Result<Entries, NotLookedAt> {
        self.instructing.entries()
    }

    /// What lies below a folder with every link followed, looked at as what instructs the agent is, as far as parts are
    /// left.
    ///
    /// # Errors
    /// When not all of it could be looked at.
    pub(crate) fn lying_below(&self, folder: &Path, left: &PartsLeft) -> Result<Below, NotLookedAt> {
        self.instructing.below(folder, left)
    }

    /// Whether a path leads over so much that it takes long to follow. Nothing else may ask where it leads then.
    pub(crate) fn is_too_long(&self, argument: &PathArgument) -> bool {
        argument.path.len() > LONGEST_PATH || is_too_long(&self.base.join(&argument.path))
    }

    /// Whether a path leads elsewhere than when it was resolved, or takes long to follow by now.
    pub(crate) fn leads_elsewhere(&self, path: &PathFacts) -> bool {
        let whole = self.base.join(&path.written);
        is_too_long(&whole) || Followed::new(&real(&whole)) != path.real
    }

    /// Where a path leads.
    pub(crate) fn resolve(&self, argument: PathArgument) -> PathFacts {
        let whole = self.base.join(&argument.path);
        let real = real(&whole);
        let change = self.change(&real, argument.adds);
        // Of folders in each other the innermost says whose a file is.
        let within = |folders: &[PathBuf]| {
            let around = folders.iter().filter(|folder| real.starts_with(folder));
            around.map(|folder| folder.components().count()).max()
        };
        let is_strangers = |link: &PathBuf| self.strangers.iter().any(|folder| link.starts_with(folder));
        PathFacts {
            over_strangers_link: links_on(&whole).iter().any(is_strangers),
            in_workspace: real.starts_with(&self.workspace),
            is_low: real.starts_with(&self.outside),
            of_strangers: within(&self.strangers) > within(&self.own),
            real: Followed::new(&real),
            change,
            written: argument.path,
            write: argument.write,
        }
    }

    /// Which file a call would change, where a link in a folder of the owner's leads to it: whoever is asked about the link's name
    /// sees what would become another one. Both are named by their places, and the path as the call has it, which may be padded, is
    /// no part of it.
    pub(crate) fn behind_link(&self, path: &PathFacts) -> Option<String> {
        let links = links_on(&self.base.join(&path.written));
        let is_owners = |link: &&PathBuf| self.writable.iter().any(|folder| link.starts_with(folder));
        let link = links.iter().find(is_owners).filter(|_| path.write)?;
        let named = |place: &Path| place.strip_prefix(&self.workspace).unwrap_or(place).display().to_string();
        Some(format!("{} would be changed: the link {} leads there", named(path.real.as_path()), named(link)))
    }

    /// The ways to spell a path: as it reads without steps back and with every link followed, each whole, from the workspace where it
    /// lies there, and by the short name of the folder for what strangers wrote.
    pub(crate) fn spellings(&self, path: &PathFacts) -> Vec<String> {
        let said = plain(&self.base.join(&path.written));
        let mut spellings = BTreeSet::new();
        for whole in [said.as_path(), path.real.as_path()] {
            let below = |folder: &Path| whole.strip_prefix(folder).ok().map(Path::to_owned);
            spellings.insert(whole.display().to_string());
            spellings.extend(below(&self.workspace).map(|way| way.display().to_string()));
            spellings.extend(below(&self.outside).map(|way| Path::new(OUTSIDE).join(way).display().to_string()));
        }
        let ruled = self.ruled.iter().flatten().filter(|(field, _)| field == "path" || field == "working_dir");
        spellings.extend(ruled.flat_map(|(_, rule)| self.as_ruled(&said, path.real.as_path(), rule)));
        spellings.into_iter().collect()
    }

    /// A place as a rule's path spells it, where that leads there: over links, from the workspace or from where relative paths begin.
    /// Of a path with a `*` the folder before it is followed.
    fn as_ruled(&self, said: &Path, real_place: &Path, rule: &str) -> Vec<String> {
        let fixed = match rule.split_once('*') {
            Some((before, _)) => &before[..before.rfind('/').map_or(0, |at| at + 1)],
            None => rule,
        };
        let named = |(name, folder): &(String, PathBuf)| {
            let way = fixed.strip_prefix(name.as_str())?;
            (way.is_empty() || way.starts_with('/')).then(|| folder.join(way.trim_start_matches('/')))
        };
        let whole = self.named.iter().find_map(named);
        let starts = [&self.base, &self.workspace].map(|start| whole.clone().unwrap_or_else(|| start.join(fixed)));
        let places = starts.iter().flat_map(|start| [plain(start), real(start)]);
        let ways = places.flat_map(|place| {
            [said, real_place].map(|at| at.strip_prefix(&place).ok().map(|way| way.display().to_string()))
        });
        let is_whole = fixed.len() == rule.len();
        ways.flatten().filter(|way| !is_whole || way.is_empty()).map(|way| format!("{fixed}{way}")).collect()
    }

    /// What a change of the file at a place would be.
    fn change(&self, real: &Path, adds: bool) -> FileChange {
        let is_there = real.symlink_metadata().is_ok();
        if self.instructing.contains(real) {
            FileChange::Instructing
        } else if let Ok(way) = real.strip_prefix(&self.outside) {
            match adds || !is_there {
                _ if has_other_name(real) || acts_by_name(way) => FileChange::FarReaching,
                true => FileChange::OwnLow,
                false => FileChange::Other,
            }
        } else if is_there {
            FileChange::Other
        } else {
            FileChange::New
        }
    }
}

#[cfg(unix)]
fn identity(folder: &Path) -> String {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(folder).map(|folder| format!(" {}:{}", folder.dev(), folder.ino())).unwrap_or_default()
}

#[cfg(not(unix))]
fn identity(_folder: &Path) -> String {
    String::new()
}

#[cfg(test)]
mod tests;
