//! One actor for each conversation: it accepts messages, runs turns, calls models and tools, compacts, delivers. The only
//! writer of turns.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "the files of a test are its own"))]

mod actor;
mod actors;
mod agent_run;
mod background_run;
mod clean;
mod compaction;
mod conversations;
mod delivery;
mod deps;
mod event;
mod housekeeping;
mod incomplete;
mod lease;
mod listeners;
mod model_call;
mod one_off;
mod outcome;
mod question_id;
mod sent;
mod settings;
#[cfg(test)]
mod test_kit;
mod turn;
mod visible_events;

pub use crate::agent_run::AgentRunner;
pub use crate::background_run::{BackgroundRun, RunReport};
pub use crate::compaction::{CompactionReport, ContextReport};
pub use crate::conversations::{ChatRequest, Conversations, TurnHandle, WeakConversations};
pub use crate::deps::{ConversationDeps, WindowMemory};
pub use crate::event::{ApprovalAnswer, FormQuestion, QuestionPart, TurnEvent};
pub use crate::housekeeping::Housekeeping;
pub use crate::model_call::{Recipe, reply_limit, sampling};
pub use crate::one_off::{MakeCall, OneOffRequest};
pub use crate::question_id::QuestionId;
pub use crate::settings::skills::Chosen;
pub use crate::settings::{ChangeOutcome, Tiers};
pub use crate::turn::journal::journal_row_again;
pub use crate::turn::read_result_tool::ReadResult;
pub use crate::visible_events::VisibleEvents;
