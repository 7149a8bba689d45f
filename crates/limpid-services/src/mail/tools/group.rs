//! What all tools of mail say alike.

use std::time::Duration;

use limpid_core::ToolClass;

/// The group of these tools.
pub(super) const GROUP: &str = "email";

/// How long a call may take that speaks to a server or two.
pub(super) const TIME: Duration = Duration::from_secs(150);

/// The class of letters.
pub(super) const SENDS: ToolClass = ToolClass::Send;
