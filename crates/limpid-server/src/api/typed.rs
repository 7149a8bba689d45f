//! What of a request was typed by the owner; everything else is anybody's text.

use limpid_config::PasteTrust;
use limpid_core::pasted;

use super::state::Api;
use super::tokens::{ApiRole, ApiToken};

/// Whether a message counts as typed. Apps put what was said before, pages and files into one message, so a long one counts as a paste
/// does; and what a program hands in at which nobody sits is anybody's.
pub(super) fn is_typed(api: &Api, program: &ApiToken, text: &str) -> bool {
    let pastes_are_mine = api.page.agent.config().trust.paste == PasteTrust::Mine;
    program.role == ApiRole::Owner && (pastes_are_mine || !pasted::is_long(text))
}
