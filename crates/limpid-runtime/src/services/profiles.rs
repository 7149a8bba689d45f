//! Profiles: those that ship and the files of the owner that change them.

pub mod files;
pub(crate) mod identity;
pub(crate) mod kept;
pub(crate) mod mode_fallback;
pub(crate) mod registry;
