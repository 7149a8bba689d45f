//! The prompt of a request: what it shows is read at one moment, then it is rendered once and measured. Nothing here
//! writes, and no model is asked; whoever works on a conversation writes what [`build`] hands back.

mod build;
mod calibration;
pub mod convert;
mod deps;
mod fit;
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

pub use crate::context::history::clean::{CLEAN, count_put_aside};

pub use crate::context::build::{BuiltContext, build};
pub use crate::context::calibration::{TokenCalibration, by_kind};
pub use crate::context::deps::ContextDeps;
pub use crate::context::fit::{Fitted, Fitting, NoteRequest, Running, SmallerView, as_it_stands, fit_to_window};
pub use crate::context::gather::Gathered;
pub use crate::context::headroom::Headroom;
pub use crate::context::history::{History, UNSTORED};
pub use crate::context::measure::{Measure, Measured, check_window, sure_tokens, tokens};
pub use crate::context::notices::{cut_notice, unknown_notice};
pub use crate::context::occasion::{Fit, Occasion};
pub use crate::context::prefix_cache::{PrefixCache, window_state_of};
pub use crate::context::render::render;
pub use crate::context::sources::goal::shown as shown_goal;
pub use crate::context::sources::inbox::rendered_items;
pub use crate::context::sources::skills::{Selected as SelectedSkills, dropped_skills, selected as selected_skills};
pub use crate::context::tool_selection::{FindTools, ToolSelection, place_found};
pub use crate::context::window_state::{Offered, WindowState, tier_of};
