//! What runs when its time has come.

pub mod catalogue;
pub mod draft_expiry;
pub mod heartbeat;
pub mod mail;
pub mod mail_idle;
pub mod scheduler;
pub mod serve;
pub mod task_runs;
