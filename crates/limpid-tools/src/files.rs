//! The tools of files: `read_file`, `write_file`, `list_dir`, `edit_file`, `append_file`.
//!
//! # Layout
//! - [`grants`]: the folders that they may touch, and which of them a path means.
//! - [`folder`]: a granted folder as an open handle; every path is opened relative to it, so that no link and no `..`
//!   leads out, whatever changes meanwhile.
//! - [`lock`]: what keeps two changes in one folder apart.
//! - one file a tool; `call`: what they do alike.

mod append_file;
mod call;
mod edit_file;
mod folder;
pub mod grants;
mod list_dir;
mod lock;
mod read_file;
mod write_file;

use std::sync::Arc;

use folder::{Changing, Opened};
use limpid_core::Sentence;

use crate::Tool;

pub use append_file::AppendFile;
pub use edit_file::EditFile;
pub use grants::{Grants, Place, Root};
pub use list_dir::ListDir;
pub use read_file::{NamedTexts, ReadFile};
pub use write_file::WriteFile;

/// The tools of files over the same folders, in the order in which they are declared. The first one reads these texts besides.
pub fn tools(grants: &Arc<Grants>, named: Option<Arc<dyn NamedTexts>>) -> Vec<Arc<dyn Tool>> {
    let grants = || Arc::clone(grants);
    vec![
        Arc::new(ReadFile::new(grants(), named)),
        Arc::new(WriteFile::new(grants())),
        Arc::new(ListDir::new(grants())),
        Arc::new(EditFile::new(grants())),
        Arc::new(AppendFile::new(grants())),
    ]
}

/// The text of a file in a granted folder.
///
/// # Errors
/// A sentence that says why it cannot be read.
pub fn text(grants: &Grants, path: &str) -> Result<String, Sentence> {
    Opened::new(grants, grants.place(path)?)?.text()
}

/// Makes of a file's text what `change` makes of it, while no other tool changes the file, and lets its owner alone read
/// it from then on. Returns what it says then.
///
/// # Errors
/// A sentence that says why the file is as it was.
pub fn revise(grants: &Grants, path: &str, change: impl FnOnce(&str) -> String) -> Result<String, Sentence> {
    let file = Changing::new(Opened::new(grants, grants.place_to_write(path)?)?, false, lock::patience())?;
    let text = change(&file.text()?);
    file.replace_privately(text.as_bytes())?;
    Ok(text)
}

/// What an act of the owner's does with links on the way to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// They are the owner's, and the file that they lead to is meant.
    Followed,
    /// None was there when the owner was told of the file, so whoever lays one now has another file in mind.
    Refused,
}

/// Puts bytes into a file that its owner alone may read, all of them or nothing; without bytes the file goes away.
///
/// # Errors
/// A sentence that says why the file is as it was.
pub fn put(grants: &Grants, path: &str, bytes: Option<&[u8]>, links: Links) -> Result<(), Sentence> {
    let file = at(grants, path, links)?;
    bytes.map_or_else(|| file.remove(), |bytes| file.replace_privately(bytes))
}

/// The same for a file that keeps its mode.
///
/// # Errors
/// A sentence that says why the file is as it was.
pub fn restore(grants: &Grants, path: &str, bytes: Option<&[u8]>, links: Links) -> Result<(), Sentence> {
    let file = at(grants, path, links)?;
    bytes.map_or_else(|| file.remove(), |bytes| file.replace(bytes))
}

fn at<'a>(grants: &'a Grants, path: &str, links: Links) -> Result<Changing<'a>, Sentence> {
    let opened = Opened::new(grants, grants.place_to_write(path)?)?;
    match links {
        Links::Followed => Changing::new(opened, true, lock::patience()),
        Links::Refused => Changing::without_links(opened, lock::patience()),
    }
}
