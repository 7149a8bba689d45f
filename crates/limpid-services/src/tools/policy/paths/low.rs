//! Files for what strangers wrote: where a tainted turn makes new ones, and which of them act by their names.

use std::path::{Path, PathBuf};

use limpid_core::policy::FileChange;

use crate::tools::PathArgument;
use crate::tools::builtin::OUTSIDE;
use crate::tools::policy::notes::{note_way, takes_notes};
use crate::tools::policy::paths::PathResolver;

/// Names without a dot that are acted on without being opened, in small letters, for where code may lie: settings of mise, what a desktop
/// of Windows reads, and the modules that Node finds in folders above.
const LOADED: [&str; 4] = ["desktop.ini", "mise.local.toml", "mise.toml", "node_modules"];

/// Names that are tried for one new file.
const NAMES: u32 = 1000;

impl PathResolver {
    /// Whether a note may be written at a place unasked: one of the places that [`notes`](crate::tools::policy::notes) says, under
    /// the very name that is on the disk.
    pub(in crate::tools::policy) fn takes_notes(&self, real: &Path) -> bool {
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
pub(super) fn acts_by_name(way: &Path) -> bool {
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
