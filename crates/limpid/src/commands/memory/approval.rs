//! The question whether a memory becomes part of the soul: what goes and what comes, both whole.

use limpid_runtime::Agent;
use limpid_store::{Promotion, PromotionId};

use super::{PROMOTED, exactly, tell_done};
use crate::confirm::Approval;
use crate::failure::Failure;
use crate::output;

/// Shows a proposal of the agent's, asks, and carries it out as it was shown.
pub(super) async fn approve(agent: &Agent, id: PromotionId, seen: Option<&str>, can_ask: bool) -> Result<(), Failure> {
    let proposal = agent.memory().proposal(id).await?;
    let shown = Approval {
        hash: &proposal.hash(),
        name: &format!("promotion {}", id.0),
        command: &format!("limpid memory approve {}", id.0),
        question: "Make it part of the soul?",
        refused: "Nothing was approved",
    };
    if shown.ask(seen, can_ask, || show(&proposal))? {
        tell_done(&agent.memory().approve_promotion(id, shown.hash).await?, PROMOTED);
    }
    Ok(())
}

fn show(proposal: &Promotion) -> Result<(), Failure> {
    let Promotion { memory, addition, .. } = proposal;
    let key = exactly(&memory.key, memory.trust);
    let out = format!("Removes memory {}, ", memory.id);
    output::line(&output::named(&[(&out, &key)], ":"))?;
    output::line(&output::behind_margin(&memory.content))?;
    output::line("Adds to the soul, as your own words in every prompt:")?;
    output::line(&output::behind_margin(addition))?;
    if proposal.is_foreign() {
        output::line("Limpid proposed it after reading someone else's text.")?;
    }
    Ok(())
}
