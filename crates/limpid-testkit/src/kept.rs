//! Bodies that were sent, kept for whoever compares them with the providers' own types (`cargo xtask check-wire`).

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;

use crate::wire::Wire;

/// Names the folder that bodies are kept in; without it none is kept.
pub const KEPT_BODIES: &str = "LIMPID_TEST_BODIES";

/// Keeps a body that a model was or would be sent, once.
///
/// # Panics
/// When the folder cannot be written.
pub fn keep_body(wire: Wire, body: &[u8]) {
    let Some(folder) = std::env::var_os(KEPT_BODIES).map(PathBuf::from) else { return };
    let mut hash = DefaultHasher::new();
    body.hash(&mut hash);
    let file = folder.join(format!("{}-{:016x}.json", wire.name(), hash.finish()));
    std::fs::write(file, body).expect("the folder of bodies can be written");
}
