//! The prompt of a request: what it shows is read at one moment, then it is rendered once and measured. No model is asked,
//! and nothing that the agent knows changes: whoever works on a conversation writes what [`build`] hands back.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "the files of a test are its own"))]

mod build;
mod calibration;
pub mod convert;
mod deps;
mod fit;
mod folders;
mod gather;
mod headroom;
mod history;
mod measure;
mod new_texts;
mod next_tier;
mod notices;
mod occasion;
mod prefix_cache;
mod render;
mod sources;
mod tool_selection;
mod window_state;

pub use crate::history::clean::{CLEAN, count_put_aside};

pub use crate::build::{BuiltContext, build};
pub use crate::calibration::{TokenCalibration, by_kind};
pub use crate::deps::ContextDeps;
pub use crate::fit::{Fitted, Fitting, NoteRequest, Running, SmallerView, as_it_stands, fit_to_window};
pub use crate::folders::Folders;
pub use crate::gather::Gathered;
pub use crate::headroom::Headroom;
pub use crate::history::{History, UNSTORED};
pub use crate::measure::{Measure, Measured, check_window, sure_tokens, tokens};
pub use crate::notices::{StandingNotice, cut_notice, unknown_notice};
pub use crate::occasion::{Fit, Occasion};
pub use crate::prefix_cache::{PrefixCache, window_state_of};
pub use crate::render::render;
pub use crate::sources::goal::shown as shown_goal;
pub use crate::sources::inbox::rendered_items;
pub use crate::sources::own_words::fill as fill_own_words;
pub use crate::sources::skills::{Selected as SelectedSkills, dropped_skills, selected as selected_skills};
pub use crate::tool_selection::{FindTools, ToolSelection, place_found};
pub use crate::window_state::{Offered, WindowState, tier_of};
