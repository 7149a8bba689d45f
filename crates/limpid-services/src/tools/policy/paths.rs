//! Where a path of a call leads, and what lies there.

use std::collections::BTreeSet;
use std::path::{Component, MAIN_SEPARATOR_STR, Path, PathBuf};

use limpid_config::{FilesConfig, Home};
use limpid_core::policy::{ArgumentPattern, FileChange, Followed, OwnerRules, PathFacts, Rule};

use crate::tools::PathArgument;
use crate::tools::builtin::OUTSIDE;
use crate::tools::policy::instructing::{Entries, Instructing, has_other_name, places};
use crate::tools::policy::notes::{note_way, takes_notes};

/// Links that are followed for one path; more than that leads nowhere.
const LINKS: usize = 40;

/// Bytes of the longest path that a call may name. To follow its parts one by one takes time.
pub(crate) const LONGEST_PATH: usize = 4096;

/// Names without a dot that are acted on without being opened, in small letters, for where code may lie: settings of mise, what a desktop
/// of Windows reads, and the modules that Node finds in folders above.
const LOADED: [&str; 4] = ["desktop.ini", "mise.local.toml", "mise.toml", "node_modules"];

/// Names that are tried for one new file.
const NAMES: u32 = 1000;

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
        let [home, workspace, outside] = places(home, real);
        let writable: Vec<PathBuf> =
            std::iter::once(workspace.clone()).chain(files.grants.iter().map(|folder| real(folder))).collect();
        let strangers = std::iter::once(outside.clone()).chain(files.named().map(|(_, folder)| real(folder))).collect();
        let own = std::iter::once(workspace.clone()).chain(files.trusted.iter().map(|folder| real(folder))).collect();
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

    /// What instructs the agent and can be written by programs; none where that is too much to be looked at.
    pub(crate) fn instructing_entries(&self) -> Option<Entries> {
        self.instructing.entries()
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

    /// Whether a note may be written at a place unasked: one of the places that [`notes`](super::notes) says, under the very name that is
    /// on the disk.
    pub(super) fn takes_notes(&self, real: &Path) -> bool {
        let Ok(way) = real.strip_prefix(&self.outside) else { return false };
        // A disk may know `AGENTS.md` by `agents.md`, too.
        let spelled = real.canonicalize().map(|there| there.ends_with(way));
        takes_notes(way, spelled.is_ok()) && spelled.unwrap_or(true)
    }

    /// Where a tainted turn makes a new file instead of where it wanted to: notes where notes may lie, and other files under the same name
    /// in the folder for what strangers wrote. What is there is left alone, unless the call adds to it. None for what may stay
    /// where it is, and for a place that no tool may write.
    pub(crate) fn low_path(&self, argument: PathArgument) -> Option<String> {
        let adds = argument.adds;
        let facts = self.resolve(argument);
        let real = facts.real.as_path();
        let is_new = facts.change == FileChange::New || (facts.is_low && real.symlink_metadata().is_err());
        if !facts.write || !is_new {
            return None;
        }
        let root =
            if facts.is_low { Some(&self.outside) } else { self.writable.iter().find(|root| real.starts_with(root)) };
        let way = real.strip_prefix(root?).ok()?;
        let low = note_way(way).unwrap_or_else(|| way.to_owned());
        if (facts.is_low && low == way) || acts_by_name(&low) {
            return None;
        }
        let is_free = |way: &Path| {
            let there = self.outside.join(way);
            there.symlink_metadata().is_err() || (adds && there.is_file())
        };
        let way = free_way(&low, is_free)?;
        Some(Path::new(OUTSIDE).join(way).display().to_string())
    }
}

/// Whether git, an editor, a shell or a desktop acts on what a way leads to when its owner only looks into the folder above: a name with a
/// dot before it, and one of [`LOADED`].
fn acts_by_name(way: &Path) -> bool {
    let is_loaded = |name: &str| name.starts_with('.') || LOADED.contains(&name.to_lowercase().as_str());
    way.components().any(|part| is_loaded(&part.as_os_str().to_string_lossy()))
}

/// The first of `a.md`, `a-2.md`, `a-3.md` and so on that is free.
pub(crate) fn free_way(way: &Path, is_free: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let (stem, ending) = (way.file_stem()?.to_string_lossy(), way.extension());
    let ending = ending.map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
    let name = |n: u32| if n == 1 { format!("{stem}{ending}") } else { format!("{stem}-{n}{ending}") };
    (1..NAMES).map(|n| way.with_file_name(name(n))).find(|way| is_free(way))
}

/// A path with every `..` and every link in it followed; what does not exist is where it would be made. One that no call may name,
/// or that has more links than are followed, stands for the root, where nothing is low and nothing is written.
pub(crate) fn real(path: &Path) -> PathBuf {
    let root = PathBuf::from(MAIN_SEPARATOR_STR);
    if path.as_os_str().len() > 2 * LONGEST_PATH {
        return root;
    }
    follow(root.clone(), path, &mut Vec::new()).unwrap_or(root)
}

/// The links that a path leads over, each at its own place with every other link followed, in the order in which they are followed.
pub(crate) fn links_on(path: &Path) -> Vec<PathBuf> {
    let mut links = Vec::new();
    // What is not followed to its end is nothing, but the links up to there are.
    let _ = follow(PathBuf::from(MAIN_SEPARATOR_STR), path, &mut links);
    links
}

/// Where a path leads; `links` are those that were followed. None when there are more than may be.
fn follow(mut at: PathBuf, path: &Path, links: &mut Vec<PathBuf>) -> Option<PathBuf> {
    for part in path.components() {
        match part {
            Component::Prefix(prefix) => at = PathBuf::from(prefix.as_os_str()),
            Component::RootDir => at.push(MAIN_SEPARATOR_STR),
            Component::CurDir => {}
            Component::ParentDir => drop(at.pop()),
            Component::Normal(name) => {
                let next = at.join(name);
                at = match std::fs::read_link(&next) {
                    Ok(_) if links.len() == LINKS => return None,
                    Ok(target) => {
                        links.push(next);
                        follow(at, &target, links)?
                    }
                    Err(_) => next,
                };
            }
        }
    }
    Some(at)
}

/// A path as it reads: each `..` takes back the part before it.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
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
mod tests {
    use super::*;

    fn bench() -> (tempfile::TempDir, PathResolver) {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join("workspace/docs")).unwrap();
        let resolver = PathResolver::new(&Home::new(home.path()), vec!["AGENTS.md".into()], &FilesConfig::default());
        (home, resolver)
    }

    fn look(resolver: &PathResolver, path: &str) -> PathFacts {
        resolver.resolve(PathArgument { path: path.to_owned(), write: true, adds: false })
    }

    // SEC-062
    #[cfg(unix)]
    #[test]
    fn where_a_path_with_too_many_links_leads_nothing_is_low() {
        let (home, resolver) = bench();
        let outside = home.path().join("outside");
        std::fs::create_dir_all(&outside).unwrap();
        for at in 0..=LINKS {
            std::os::unix::fs::symlink(format!("l{}", at + 1), outside.join(format!("l{at}"))).unwrap();
        }
        let far = look(&resolver, "../outside/l0");
        assert!(far.real.as_path() == Path::new("/") && !far.is_low && far.change != FileChange::OwnLow, "{far:?}");
        let near = look(&resolver, "../outside/l1");
        let end = outside.join(format!("l{}", LINKS + 1));
        assert!(near.is_low && near.real.as_path().ends_with(end.file_name().unwrap()), "{near:?}");
    }

    // SEC-059
    #[test]
    fn what_is_acted_on_by_its_name_is_never_only_the_conversations_own() {
        let (home, resolver) = bench();
        std::fs::create_dir_all(home.path().join("outside")).unwrap();
        for name in [".envrc", "a/.git/config", "mise.toml", "Desktop.ini", "node_modules/x/package.json"] {
            for adds in [false, true] {
                let argument = PathArgument { path: format!("../outside/{name}"), write: true, adds };
                assert_eq!(resolver.resolve(argument).change, FileChange::FarReaching, "{name} {adds}");
            }
        }
        for name in ["notes.md", "config", "objects/x", "hotels/a.md", "add.py"] {
            assert_eq!(look(&resolver, &format!("../outside/{name}")).change, FileChange::OwnLow, "{name}");
        }
    }

    // SEC-057 SEC-059
    #[test]
    fn a_new_note_goes_where_notes_may_lie_and_nothing_that_is_there_moves() {
        let (home, resolver) = bench();
        std::fs::create_dir_all(home.path().join("outside/tool")).unwrap();
        for there in ["outside/tool/README.md", "outside/rooms.md"] {
            std::fs::write(home.path().join(there), "there\n").unwrap();
        }
        let moved = |path: &str| resolver.low_path(PathArgument { path: path.into(), write: true, adds: false });
        let ways = [
            ("notes.md", "outside/notes.md"),
            ("hotels.md", "outside/notes/hotels.md"),
            ("../outside/hotels.md", "outside/notes/hotels.md"),
            ("../outside/tool/CLAUDE.local.md", "outside/notes/tool/claude-local.md"),
            ("../outside/.github/a.md", "outside/notes/github/a.md"),
            ("src/add.py", "outside/src/add.py"),
        ];
        for (way, to) in ways {
            assert_eq!(moved(way).as_deref(), Some(to), "{way}");
        }
        let stays =
            ["../outside/notes/a.md", "../outside/tool/README.md", "../outside/rooms.md", "../outside/todo", ".envrc"];
        for way in stays {
            assert_eq!(moved(way), None, "{way}");
        }
    }

    // SEC-059
    #[cfg(unix)]
    #[test]
    fn a_link_in_the_place_of_the_folder_for_notes_takes_none() {
        let (home, resolver) = bench();
        std::fs::create_dir_all(home.path().join("outside/tool")).unwrap();
        std::os::unix::fs::symlink("tool", home.path().join("outside/notes")).unwrap();
        assert!(!resolver.takes_notes(look(&resolver, "../outside/notes/a.md").real.as_path()));
        std::fs::remove_file(home.path().join("outside/notes")).unwrap();
        assert!(resolver.takes_notes(look(&resolver, "../outside/notes/a.md").real.as_path()));
    }

    // SEC-055
    #[test]
    fn a_file_is_whose_the_innermost_folder_is() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        let (grants, trusted) = (vec![at("theirs"), at("mine")], vec![at("mine"), at("theirs/mine")]);
        let files = FilesConfig { grants, trusted, ..FilesConfig::default() };
        let resolver = PathResolver::new(&Home::new(home.path()), Vec::new(), &files);
        for (place, expected) in [
            ("workspace/a.md", false),
            ("mine/a.md", false),
            ("theirs/mine/a.md", false),
            ("theirs/a.md", true),
            ("theirs/mine/../a.md", true),
            ("outside/a.md", true),
        ] {
            assert_eq!(look(&resolver, &at(place).display().to_string()).of_strangers, expected, "{place}");
        }
    }

    // OLLM-037
    #[test]
    fn a_path_is_where_it_leads() {
        let (home, resolver) = bench();
        let shown = |path: &str| {
            let facts = look(&resolver, path);
            let root = home.path().canonicalize().unwrap().display().to_string();
            (facts.real.as_path().display().to_string().replace(&root, "~"), facts.in_workspace)
        };
        assert_eq!(shown("docs/../src/app.ts"), ("~/workspace/src/app.ts".into(), true));
        assert_eq!(shown("../soul.md"), ("~/soul.md".into(), false));
        assert_eq!(shown("/etc/x.md"), ("/etc/x.md".into(), false));
        assert_eq!(shown("/../../etc/x.md").0, "/etc/x.md");
    }

    // OLLM-037 SEC-020
    #[cfg(unix)]
    #[test]
    fn links_are_followed_wherever_they_stand() {
        use std::os::unix::fs::symlink;
        let (home, resolver) = bench();
        let workspace = home.path().join("workspace");
        symlink("/etc", workspace.join("docs/out")).unwrap();
        symlink("../../soul.md", workspace.join("docs/plan.md")).unwrap();
        symlink("loop", workspace.join("loop")).unwrap();
        assert_eq!(look(&resolver, "docs/out/x.md").real.as_path(), Path::new("/etc/x.md"));
        let dangling = look(&resolver, "docs/plan.md");
        assert!(dangling.real.as_path().ends_with("soul.md") && !dangling.in_workspace, "{dangling:?}");
        assert!(look(&resolver, "docs/out/../x.md").real.as_path().ends_with("x.md"));
        assert_eq!(
            look(&resolver, "docs/out/../x.md").real.as_path(),
            Path::new("/x.md"),
            "`..` is the parent of where a link leads"
        );
        look(&resolver, "loop/x");
    }

    // SEC-002
    #[test]
    fn what_prompts_are_made_from_is_known_by_its_place() {
        let (_home, resolver) = bench();
        let within = ["AGENTS.md", "agents.MD", "memory/MEMORY.md", "memory/202603/20260328.md", "skills/x/SKILL.md"];
        let lent = ["prompts/x.md", "Prompts/x.md", "profiles/limpid/sections/soul.md"];
        let home = ["../limpid.toml", "../soul.md", "../prompts/x.md", "../profiles/x", "../skills/x/SKILL.md"];
        for path in within.into_iter().chain(lent).chain(home) {
            assert_eq!(look(&resolver, path).change, FileChange::Instructing, "{path}");
        }
        for path in ["docs/AGENTS.md", "notes.md", "src/memory.rs", "/tmp/skills/x"] {
            assert_ne!(look(&resolver, path).change, FileChange::Instructing, "{path}");
        }
    }

    /// Each thing that instructs, and what would be another name of it.
    #[cfg(unix)]
    const INSTRUCTING: [&str; 9] = [
        "workspace/AGENTS.md",
        "workspace/memory/MEMORY.md",
        "workspace/memory/202603/20260328.md",
        "workspace/skills/tea/SKILL.md",
        "workspace/prompts/x.md",
        "limpid.toml",
        "soul.md",
        "skills/tea/scripts/brew.sh",
        "profiles/limpid/sections/soul.md",
    ];

    #[cfg(unix)]
    fn put(home: &Path, name: &str) -> PathBuf {
        let file = home.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, name).unwrap();
        file
    }

    // SEC-062
    #[cfg(unix)]
    #[test]
    fn another_name_of_what_instructs_instructs() {
        use std::os::unix::fs::symlink;
        for (file, adds) in INSTRUCTING.iter().flat_map(|file| [(file, false), (file, true)]) {
            let (home, resolver) = bench();
            let own = put(home.path(), file);
            let folder = own.parent().unwrap();
            let at = |name: &str| home.path().join(name);
            std::fs::create_dir_all(at("outside")).unwrap();
            symlink(&own, at("workspace/docs/soft.txt")).unwrap();
            symlink("soft.txt", at("workspace/docs/twice.txt")).unwrap();
            symlink(folder, at("workspace/docs/folder")).unwrap();
            std::fs::hard_link(&own, at("workspace/docs/hard.txt")).unwrap();
            std::fs::hard_link(&own, at("outside/hard.txt")).unwrap();
            symlink("../workspace/docs/hard.txt", at("outside/soft.txt")).unwrap();
            let name = own.file_name().unwrap().to_str().unwrap();
            let way = format!("../{file}");
            let shouted = own.display().to_string().replace("workspace", "Workspace").replace("skills", "SKILLS");
            let names = [
                way.clone(),
                format!("docs/../{way}"),
                format!("./docs/.././{way}"),
                own.display().to_string(),
                way.to_uppercase().replace("../WORKSPACE", "../workspace").replace(".MD", ".md"),
                shouted,
                "docs/soft.txt".to_owned(),
                "docs/twice.txt".to_owned(),
                "docs/hard.txt".to_owned(),
                format!("docs/folder/{name}"),
                "../outside/hard.txt".to_owned(),
                "../outside/soft.txt".to_owned(),
            ];
            for path in names {
                let argument = PathArgument { path: path.clone(), write: true, adds };
                assert_eq!(resolver.resolve(argument).change, FileChange::Instructing, "{file} as {path}");
            }
        }
    }

    // SEC-062
    #[cfg(unix)]
    #[test]
    fn what_a_name_that_instructs_leads_to_instructs() {
        use std::os::unix::fs::symlink;
        for file in INSTRUCTING {
            for link in ["soft", "hard", "folder"] {
                let (home, resolver) = bench();
                let place = home.path().join(file);
                let target = put(home.path(), "workspace/docs/real/text.txt");
                std::fs::create_dir_all(place.parent().unwrap()).unwrap();
                let written = match link {
                    "soft" => symlink(&target, &place).map(|()| "docs/real/text.txt"),
                    "hard" => std::fs::hard_link(&target, &place).map(|()| "docs/real/text.txt"),
                    _ if file.split('/').count() < 3 => continue,
                    _ => {
                        std::fs::remove_dir(place.parent().unwrap()).unwrap();
                        symlink(target.parent().unwrap(), place.parent().unwrap()).map(|()| "docs/real/new.txt")
                    }
                };
                assert_eq!(look(&resolver, written.unwrap()).change, FileChange::Instructing, "{file} by {link}");
            }
        }
    }

    // SEC-062 SEC-077
    #[cfg(unix)]
    #[test]
    fn what_is_behind_a_link_is_named_first_and_however_the_path_is_padded() {
        let (home, resolver) = bench();
        put(home.path(), "workspace/taxes.md");
        std::os::unix::fs::symlink("taxes.md", home.path().join("workspace/today.md")).unwrap();
        for pad in [String::new(), "./".repeat(300), "docs/../".repeat(300), ".//".repeat(300)] {
            let told = resolver.behind_link(&look(&resolver, &format!("{pad}today.md")));
            assert_eq!(told.as_deref(), Some("taxes.md would be changed: the link today.md leads there"));
        }
        assert_eq!(resolver.behind_link(&look(&resolver, "taxes.md")), None);
    }

    // SEC-062
    #[cfg(unix)]
    #[test]
    fn other_links_of_the_owners_make_nothing_instruct() {
        use std::os::unix::fs::symlink;
        let (home, resolver) = bench();
        let own = put(home.path(), "workspace/docs/own.txt");
        put(home.path(), "workspace/memory/MEMORY.md");
        std::fs::create_dir_all(home.path().join("outside")).unwrap();
        symlink(home.path(), home.path().join("workspace/memory/all")).unwrap();
        symlink("own.txt", home.path().join("workspace/docs/soft.txt")).unwrap();
        assert_eq!(look(&resolver, "docs/soft.txt").change, FileChange::Other);
        assert_eq!(look(&resolver, "docs/new.txt").change, FileChange::New);
        assert_eq!(look(&resolver, "../outside/new.txt").change, FileChange::OwnLow);
        std::fs::hard_link(own, home.path().join("outside/own.txt")).unwrap();
        let adds = PathArgument { path: "../outside/own.txt".into(), write: true, adds: true };
        assert_eq!(resolver.resolve(adds).change, FileChange::FarReaching, "it is the owner's file as well");
    }

    /// Parts that paths are made of: names, steps back, and links that lead to folders and to nothing, in a folder of a stranger's.
    #[cfg(unix)]
    const PARTS: [&str; 10] = ["outside", "workspace", "docs", "tool", "..", ".", "deep", "up", "nowhere", "self"];

    // SEC-062
    #[cfg(unix)]
    #[test]
    fn what_is_judged_is_what_is_written() {
        use std::os::unix::fs::symlink;
        use std::sync::Arc;

        use limpid_tools::files::{Grants, Links, Root, WriteFile, restore};
        use proptest::prelude::*;

        use crate::tools::Tool as _;

        proptest!(|(parts in proptest::collection::vec(prop::sample::select(&PARTS[..]), 0..8), whole in any::<bool>())| {
            let (home, resolver) = bench();
            let at = |name: &str| home.path().join(name);
            std::fs::create_dir_all(at("outside/tool/a/b")).unwrap();
            for (link, target) in [("deep", "a/b"), ("up", ".."), ("nowhere", "x/y/z"), ("self", "../tool")] {
                symlink(target, at("outside/tool").join(link)).unwrap();
            }
            let grants = Grants::new(at("workspace"), at("data/locks"))
                .with(Root { folder: at("outside"), write: true, trust: limpid_core::Trust::Outside })
                .with_short(OUTSIDE, [at("outside")]);
            let path = parts.iter().copied().chain(["new.txt"]).collect::<PathBuf>().display().to_string();
            let path = if whole { at(&path).display().to_string() } else { path };
            let call = serde_json::json!({ "path": path, "content": "x" });
            let tool = WriteFile::new(Arc::new(grants.clone()));
            let judged = resolver.resolve(tool.paths(&call).remove(0)).real;
            if restore(&grants, &path, Some(b"x"), Links::Followed).is_ok() {
                let made = std::fs::read_to_string(judged.as_path()).ok();
                prop_assert_eq!(made.as_deref(), Some("x"), "{} was judged as {:?}", path, judged);
            }
        });
    }
}
