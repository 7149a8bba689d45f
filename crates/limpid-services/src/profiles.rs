//! Profiles: those that ship and the files of the owner that change them.

mod files;
mod identity;
mod kept;
mod mode_fallback;
mod prompt_file;
mod registry;

pub use files::{
    OwnFile, OwnState, copy_out, file_of_section, own_file_of_section, own_file_of_tool, reset, shipped_text,
    start_profile, status, write_base,
};
pub use identity::{Identity, identity_files, identity_text, is_untouched};
pub use kept::own_profile_files;
pub use mode_fallback::{ModeFallback, mode_fallback, new_fallback_notice};
pub use prompt_file::{PromptFile, PromptFileText, base_of_copy, prompt_files};
pub use registry::{LoadedProfile, ProfileRegistry, REPORT_NOW, Reader};
