//! Which folders of `[exec] path` and `[exec] toolchains` programs get: none that somebody else could choose or fill.

use std::path::{Path, PathBuf};

use super::looks::Looks;
use crate::files::Grants;

/// Why programs do not get a folder that limpid.toml names for programs or a language; none where they do, or where it is not there.
///
/// What is in it counts as the owner's, in every view. So it must not lead over a link that whoever writes a granted folder could lay,
/// nor lie where strangers write, nor be a folder that counts as something else.
pub(super) fn why_not_given(folder: &Path, grants: &Grants, outside: &Path, home: &Path) -> Option<&'static str> {
    let Ok(way) = Looks::new().way(Path::new("/"), folder) else { return Some("leads over too many links") };
    let real = way.real?;
    let real_of = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let roots: Vec<(PathBuf, bool)> = grants
        .roots()
        .map(|root| (real_of(&root.folder), root.trust.is_foreign()))
        .chain([(real_of(outside), true)])
        .collect();
    let is_in = |path: &Path, root: &Path| path.starts_with(root);
    // The last part is a link itself, so it is the folder around it that says who could lay it.
    let lies = |link: &Path| link.parent().map(real_of).unwrap_or_default();
    if way.links.iter().any(|link| roots.iter().any(|(root, _)| is_in(&lies(link), root))) {
        return Some("leads over a link in a folder of [files]");
    }
    // The innermost folder around it decides, as for a file.
    let innermost =
        roots.iter().filter(|(root, _)| is_in(&real, root)).max_by_key(|(root, _)| root.components().count());
    if innermost.is_some_and(|(_, is_foreign)| *is_foreign) {
        return Some("lies where strangers may have written");
    }
    if roots.iter().any(|(root, _)| *root == real) {
        return Some("is a folder of [files] itself");
    }
    (real == real_of(home)).then_some("is Limpid's home")
}
