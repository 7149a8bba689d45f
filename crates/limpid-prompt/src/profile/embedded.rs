//! The files of the profiles that ship, embedded into the program.

use include_dir::{Dir, include_dir};

pub(super) static SHIPPED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/profiles");

/// The names of the profiles that ship.
pub fn shipped_names() -> impl Iterator<Item = &'static str> {
    SHIPPED.dirs().filter_map(|dir| dir.path().to_str())
}

/// The text that ships under a path of the folder of profiles: `kai/sections/soul.md`.
pub fn shipped_text(path: &str) -> Option<&'static str> {
    SHIPPED.get_file(path)?.contents_utf8()
}
