//! Tasks: what is to be done later. The owner and the model's tools make and change them in the same way, through [`Tasks`].
//! What runs a task when it is due is a job.

mod clock_change;
mod display;
mod owner;
mod request;
mod requester;
mod service;
mod stood;
mod time_zone;
mod tools;

pub use self::clock_change::{after_clock_moved_back, skip_to_next};
pub use self::display::{next_times, on_both_clocks, span_words, status_words, time_words, trigger_words, when_words};
pub use self::owner::parse_span;
pub use self::request::{TaskChange, TaskRequest, When};
pub use self::requester::zone_of;
pub use self::service::Tasks;
pub use self::time_zone::{ZoneMove, ZoneMoves, ZoneNotice};
pub use self::tools::{GROUP as SCHEDULING_TOOLS, tools};
