//! Mail, text messages and notifications.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::OutsideText;

/// Mail accounts and new mail.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EmailInput {
    /// Whether mail is on.
    pub enabled: bool,
    /// The connected accounts.
    pub accounts: Vec<EmailAccount>,
    /// Mail that awaits triage.
    pub new: Vec<NewEmail>,
}

/// One connected account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EmailAccount {
    /// Its address.
    pub address: String,
    /// Unread messages on the server.
    pub unread: u32,
    /// When it was read last, in UTC.
    pub last_sync: Option<String>,
    /// Why the last reading failed; it may quote what the server said.
    pub last_error: Option<OutsideText>,
}

/// One message that awaits triage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewEmail {
    /// Its number in the account.
    pub id: String,
    /// The account it came to.
    pub account: String,
    /// Who sent it, by their own word.
    pub from: OutsideText,
    /// Its subject.
    pub subject: OutsideText,
    /// How it begins.
    pub preview: OutsideText,
}

/// New text messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SmsInput {
    /// Whether text messages are on.
    pub enabled: bool,
    /// Messages that await triage.
    pub new: Vec<NewSms>,
}

/// One text message that awaits triage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewSms {
    /// Its number.
    pub id: String,
    /// Who sent it.
    pub from: OutsideText,
    /// How it begins.
    pub preview: OutsideText,
}

/// New notifications.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NotificationsInput {
    /// Whether notifications are on.
    pub enabled: bool,
    /// Notifications that await triage.
    pub new: Vec<NewNotification>,
}

/// One notification that awaits triage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewNotification {
    /// Its number.
    pub id: String,
    /// The program that posted it.
    pub app: OutsideText,
    /// Its title.
    pub title: OutsideText,
    /// How it begins.
    pub preview: OutsideText,
    /// When it was posted, in UTC.
    pub posted_at: String,
}
