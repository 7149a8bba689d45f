//! What all tools of mail say alike.

use std::time::Duration;

use limpid_channels::mail::MailError;
use limpid_core::{Labelled, Sentence, ToolClass};

/// The group of these tools.
pub(super) const GROUP: &str = "email";

/// How long a call may take that speaks to a server or two.
pub(super) const TIME: Duration = Duration::from_secs(150);

/// The class of letters.
pub(super) const SENDS: ToolClass = ToolClass::Send;

/// What a tool says of an error of a mail server, which may have chosen the words.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` gives it away")]
pub(super) fn server_trouble(error: MailError) -> Sentence {
    Labelled::outside(error.to_string()).into()
}
