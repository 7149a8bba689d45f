//! The prompt engine.

pub mod inputs;
pub mod prompt;

pub use inputs::Inputs;
pub use prompt::{OfferedTool, Outcome, Part, Prompt, PromptMessage, SectionReport, Stability};
