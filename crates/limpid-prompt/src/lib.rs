//! The prompt engine.

pub mod boundary;
mod budget;
pub mod count;
pub mod diff;
#[cfg(feature = "fs")]
pub mod fs;
pub mod inputs;
mod lint;
pub mod problem;
pub mod profile;
pub mod prompt;
pub mod recorded;
pub mod reference;
pub mod render;
pub mod scenario;
pub mod scope;
pub mod section;
pub mod show;
pub mod source;
pub mod template;
pub mod workspace;

pub use count::{Estimate, TokenCounter};
pub use inputs::{Inputs, inputs_schema};
pub use profile::{Profile, Profiles};
pub use prompt::{OfferedTool, Outcome, Part, Prompt, PromptMessage, SectionReport, Stability};
pub use render::{RenderError, RenderRequest};
pub use section::Section;
pub use source::{Layer, SourceFile, SourceRef};
