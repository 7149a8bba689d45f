//! Tools of mail. What they read was written by strangers and comes back so labelled, so that it stands in a fence.

mod check;
mod compose;
mod group;
mod read;
mod reading;
mod reply;
mod search;
mod sending;
mod setup;

use std::sync::Arc;

use crate::mail::service::MailAccounts;
use crate::tools::Tool;

/// The tools, in the order in which they are declared.
pub fn tools(mail: &Arc<MailAccounts>, result_chars: usize) -> Vec<Arc<dyn Tool>> {
    let mail = || Arc::clone(mail);
    vec![
        Arc::new(check::CheckEmail { mail: mail(), result_chars }),
        Arc::new(read::ReadEmail { mail: mail() }),
        Arc::new(search::SearchEmail { mail: mail(), result_chars }),
        Arc::new(reply::ReplyEmail { mail: mail() }),
        Arc::new(compose::ComposeEmail { mail: mail() }),
        Arc::new(setup::SetupEmail { mail: mail() }),
    ]
}
