//! Telling the owner on other screens that something reached a conversation.

mod command;
mod desktop;
mod notice;
mod ntfy;
mod presence;
mod service;
mod web_push;

pub use crate::notifications::desktop::missing as missing_for_desktop;
pub use crate::notifications::notice::{Matter, Notice, Notifier};
pub use crate::notifications::presence::OpenClient;
pub use crate::notifications::service::{NotificationOptions, Notifications};
pub use crate::notifications::web_push::Browser;
