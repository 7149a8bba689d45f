//! The question whether a memory becomes part of the soul: what goes and what comes, both whole.

use limpid_core::{SEEN_DIGITS, is_seen_hash};
use limpid_prompt::shown::exact_line;
use limpid_runtime::Agent;
use limpid_store::{Promotion, PromotionId};

use super::{NAMED, PROMOTED, tell_done};
use crate::confirm::confirmed;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// Shows a proposal of the agent's, asks, and carries it out as it was shown.
pub(super) async fn approve(agent: &Agent, id: PromotionId, seen: Option<&str>, can_ask: bool) -> Result<(), Failure> {
    let proposal = agent.memory().proposal(id).await?;
    let hash = proposal.hash();
    match seen {
        Some(seen) if is_seen_hash(seen, &hash) => {}
        Some(_) => {
            let why = format!("promotion {} is not what you looked at", id.0);
            let look = format!("Look at it: limpid memory approve {}", id.0);
            return Err(Failure::new(ExitStatus::Usage, why).advise(look));
        }
        None => {
            show(&proposal)?;
            if !can_ask {
                let hash = &hash[..SEEN_DIGITS];
                output::tell(&format!(
                    "Nothing was approved. This makes it part of the soul: limpid memory approve {} --hash {hash}",
                    id.0
                ));
                return Ok(());
            }
            if !confirmed("Make it part of the soul?", false)? {
                output::tell("Nothing was approved.");
                return Ok(());
            }
        }
    }
    tell_done(&agent.memory().approve_promotion(id, &hash).await?, PROMOTED);
    Ok(())
}

fn show(proposal: &Promotion) -> Result<(), Failure> {
    let Promotion { memory, addition, .. } = proposal;
    let key = output::one_line(&exact_line(&memory.key), NAMED);
    output::line(&format!("Out of the memories goes memory {}, {key}:", memory.id))?;
    output::line(&output::behind_margin(&memory.content))?;
    output::line("Into the soul comes, as your own words in every prompt:")?;
    output::line(&output::behind_margin(addition))?;
    if proposal.is_foreign() {
        output::line("Limpid proposed it after reading someone else's text.")?;
    }
    Ok(())
}
