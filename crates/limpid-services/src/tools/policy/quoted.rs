//! Files of the workspace that prompts quote.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use limpid_config::{Home, regular_file};

/// Those that prompts of shipped profiles quote.
const SHIPPED: [&str; 6] = ["AGENT.md", "AGENTS.md", "SOUL.md", "USER.md", "IDENTITY.md", "HEARTBEAT.md"];

/// The file of a profile that lists others.
const MANIFEST: &str = "profile.toml";

/// Bytes of the longest manifest that is read.
const LONGEST: u64 = 1 << 20;

/// What lies in a folder of profiles of which manifests are read.
const MOST: usize = 1_000;

/// The files of a workspace that prompts quote of any profile of a home, shipped or the owner's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QuotedFiles {
    /// Those that are known.
    pub(crate) names: Vec<PathBuf>,
    /// Whether every file at the top may be one: what a profile lists cannot be read, and may be when the next prompt is made.
    pub(crate) all_at_top: bool,
}

impl QuotedFiles {
    /// Reads what the owner's profiles list, and the copies that stand in for those that cannot be used.
    pub(crate) fn read(home: &Home) -> Self {
        let mut names: BTreeSet<String> = SHIPPED.into_iter().map(str::to_owned).collect();
        let mut all_at_top = false;
        for folder in [home.profiles(), home.kept_profiles()] {
            all_at_top |= read_below(&folder, &mut names).is_err();
        }
        Self { names: names.into_iter().map(PathBuf::from).collect(), all_at_top }
    }
}

/// Adds what the manifests of a folder of profiles list: of each that can be read, also where another one cannot.
fn read_below(folder: &Path, names: &mut BTreeSet<String>) -> io::Result<()> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let mut read = Ok(());
    for (number, entry) in entries.enumerate() {
        if number == MOST {
            return Err(io::Error::from(ErrorKind::FileTooLarge));
        }
        match entry.and_then(|entry| regular_file::read(&entry.path().join(MANIFEST), LONGEST)) {
            Ok(manifest) => match quoted_by(&manifest) {
                Ok(listed) => names.extend(listed),
                Err(error) => read = Err(error),
            },
            // A folder without a manifest lists nothing, nor does a file beside the profiles.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) => read = Err(error),
        }
    }
    read
}

/// The files that a manifest lists, whatever is wrong with the rest of it: once that is mended, prompts quote them.
///
/// # Errors
/// When it is no TOML, so that nobody knows yet what it will list.
fn quoted_by(manifest: &[u8]) -> io::Result<Vec<String>> {
    let text = String::from_utf8_lossy(manifest);
    let table: toml::Table = text.trim_start_matches('\u{feff}').parse().map_err(io::Error::other)?;
    let listed = table.get("order").and_then(|order| order.get("files")?.as_array());
    Ok(listed.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect())
}

#[cfg(test)]
mod tests {
    use limpid_config::FilesConfig;
    use limpid_core::policy::FileChange;
    use limpid_tools::PathArgument;

    use super::*;
    use crate::tools::policy::PathResolver;

    fn home() -> (tempfile::TempDir, Home) {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path());
        (folder, home)
    }

    fn write(file: &Path, text: &str) {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    // SEC-061 SEC-075
    #[test]
    fn a_file_that_any_profile_of_the_home_quotes_is_one_for_every_policy() {
        let (_folder, home) = home();
        assert_eq!(QuotedFiles::read(&home).names.len(), SHIPPED.len());
        for (name, text) in [
            ("mine/profile.toml", "base = \"picoclaw\"\n[order]\nfiles = [\"AGENTS.md\", \"RULES.md\"]\n"),
            ("wrong/profile.toml", "no_key = 1\n[order]\nfiles = [\"LAWS.md\"]\n"),
            ("mine/sections/soul.md", "[order]\nfiles = [\"NOTES.md\"]\n"),
            ("README.md", "These are mine.\n"),
        ] {
            write(&home.profiles().join(name), text);
        }
        write(&home.kept_profiles().join("mine/profile.toml"), "[order]\nfiles = [\"FORMER.md\"]\n");
        let quoted = QuotedFiles::read(&home);
        for (name, is_quoted) in
            [("AGENTS.md", true), ("RULES.md", true), ("LAWS.md", true), ("FORMER.md", true), ("NOTES.md", false)]
        {
            assert_eq!(quoted.names.contains(&PathBuf::from(name)), is_quoted, "{name}");
        }
        assert!(!quoted.all_at_top);
        // Once it is TOML again, whatever it lists is quoted.
        write(&home.profiles().join("halved/profile.toml"), "[order]\nfiles = [\"OATHS.md\"");
        assert!(QuotedFiles::read(&home).all_at_top);
    }

    // SEC-061
    #[test]
    fn where_a_manifest_cannot_be_read_every_file_at_the_top_may_be_quoted() {
        for unreadable in ["profiles/broken/profile.toml", "data/kept-profiles/broken/profile.toml"] {
            let (folder, home) = home();
            write(&home.profiles().join("mine/profile.toml"), "[order]\nfiles = [\"docs/RULES.md\"]\n");
            write(&home.workspace().join("plan.txt"), "Plan\n");
            write(&home.workspace().join("docs/plan.txt"), "Plan\n");
            let instructs = |name: &str| {
                let resolver = PathResolver::quoting(&home, QuotedFiles::read(&home), &FilesConfig::default());
                let path = name.to_owned();
                let listed = resolver.instructing_entries().unwrap().files;
                let is_listed = listed.iter().any(|path| path.ends_with(Path::new("workspace").join(name)));
                let change = resolver.resolve(PathArgument { path, write: true, adds: false }).change;
                (change == FileChange::Instructing, is_listed)
            };
            assert_eq!(instructs("plan.txt"), (false, false));
            // A folder in its place is none that can be read as a file.
            std::fs::create_dir_all(folder.path().join(unreadable)).unwrap();
            for (name, wanted) in [
                ("plan.txt", (true, true)),
                ("new.txt", (true, false)),
                ("docs/plan.txt", (false, false)),
                ("docs/RULES.md", (true, false)),
            ] {
                assert_eq!(instructs(name), wanted, "{unreadable}: {name}");
            }
        }
    }
}
