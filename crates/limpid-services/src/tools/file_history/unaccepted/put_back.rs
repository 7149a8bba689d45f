//! Files that wait and hold again what their owner knew: their rows are deleted, so that what the owner writes there next is not taken for
//! what a program did.

use limpid_config::Home;
use limpid_store::{Store, WaitingFile, path_of_key};

use crate::error::AgentError;
use crate::tools::file_history::disk::on_disk;
use crate::tools::file_history::entries::own_entry_hash;
use crate::tools::file_history::locks::{self, How};
use crate::tools::policy::real;

/// Deletes the rows of these files, unless a program may have written since `no_program_since` of them had begun. An undo has a file wait
/// before it writes it, so this is left for the next time while anybody changes files.
///
/// # Errors
/// When the store cannot be written.
pub(in crate::tools::file_history) async fn forget_put_back(
    store: &dyn Store,
    home: &Home,
    files: Vec<WaitingFile>,
    no_program_since: i64,
) -> Result<(), AgentError> {
    let Ok(Some(_lock)) = locks::now(&home.files_lock(), How::Alone) else { return Ok(()) };
    let look = move || {
        let still = files.into_iter().filter(is_put_back);
        Ok(still.map(|file| (file.path, file.before.map(|before| before.hash))).collect::<Vec<_>>())
    };
    let put_back = on_disk(look).await?;
    Ok(store.forget_waiting(put_back, no_program_since).await?)
}

/// Whether a file holds again what it held before it waited. Where its folder is gone, or behind a link, the file may come back with it.
pub(super) fn is_put_back(file: &WaitingFile) -> bool {
    let path = path_of_key(&file.path);
    let is_there = path.parent().is_some_and(|folder| folder.is_dir() && real(folder) == folder);
    let before = file.before.as_ref().map(|before| before.hash);
    // A folder in the place of a file holds nothing either.
    let is_free = || path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound);
    is_there && own_entry_hash(&path).is_ok_and(|now| now == before) && (before.is_some() || is_free())
}

#[cfg(test)]
mod tests {
    use limpid_store::{FileContent, file_key};

    use super::*;

    // SEC-061
    #[test]
    fn a_file_is_put_back_that_holds_what_it_held_in_a_folder_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        std::fs::create_dir(at("conf")).unwrap();
        std::fs::write(at("conf/rules.md"), "Be kind.\n").unwrap();
        let cases = [
            ("conf/rules.md", Some("Be kind.\n"), true),
            ("conf/rules.md", Some("Be mean.\n"), false),
            ("conf/rules.md", None, false),
            ("conf/new.md", None, true),
            ("conf/new.md", Some("Be kind.\n"), false),
            ("conf", None, false),
            ("moved-away/new.md", None, false),
        ];
        for (name, before, expected) in cases {
            let (path, before) = (file_key(&at(name)), before.map(FileContent::text));
            let file = WaitingFile { path, before, cause: "exec".to_owned(), at_ms: 1, told: None };
            assert_eq!(is_put_back(&file), expected, "{name} {:?}", file.before);
        }
    }
}
