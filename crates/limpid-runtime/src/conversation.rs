//! One actor for each conversation: it accepts messages, runs turns, calls models and tools, compacts, delivers. The only
//! writer of turns.

mod actor;
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
mod settings;
mod turn;
mod visible_events;

pub use crate::conversation::background_run::{BackgroundRun, RunInputs, RunReport};
pub use crate::conversation::compaction::{CompactionReport, ContextReport};
pub use crate::conversation::conversations::{ChatRequest, Conversations, TurnHandle, WeakConversations};
pub use crate::conversation::deps::{ConversationDeps, WindowMemory};
pub use crate::conversation::event::{Answer, TurnEvent};
pub use crate::conversation::housekeeping::Housekeeping;
pub use crate::conversation::model_call::{Recipe, reply_limit, sampling};
pub use crate::conversation::one_off::{MakeCall, OneOffRequest};
pub use crate::conversation::settings::skills::Chosen;
pub use crate::conversation::settings::{ChangeOutcome, Tiers};
pub use crate::conversation::turn::read_result_tool::ReadResult;
pub use crate::conversation::visible_events::VisibleEvents;
