//! What reached the owner while nobody looked.

use limpid_core::ConversationId;
use limpid_prompt::boundary::for_readers;
use limpid_runtime::Agent;
use limpid_store::Delivery;

use super::changes::delivered;
use crate::failure::Failure;
use crate::output;

/// Tells what is unread: what reached the conversation that goes on, whole, and what stands elsewhere in one sentence, which
/// is not told again while it is the same as `told`.
///
/// # Errors
/// When the store fails.
pub(super) async fn tell(
    agent: &Agent,
    here: Option<&ConversationId>,
    told: &mut Option<String>,
) -> Result<(), Failure> {
    let unread = agent.deliveries().unread().await?.rows;
    let (own, others): (Vec<Delivery>, Vec<Delivery>) =
        unread.into_iter().partition(|delivery| Some(&delivery.new.conversation) == here);
    let line = in_one_sentence(&others);
    if let Some(line) = line.as_ref().filter(|line| Some(*line) != told.as_ref()) {
        output::tell(line);
    }
    *told = line;
    if let (Some(here), false) = (here, own.is_empty()) {
        tell_whole(agent, here, own.len()).await?;
        agent.deliveries().mark_read(here).await?;
    }
    Ok(())
}

/// The newest messages of a conversation that were delivered, as they stand in it.
async fn tell_whole(agent: &Agent, here: &ConversationId, count: usize) -> Result<(), Failure> {
    let rows = agent.store().messages(here, None).await?.rows;
    let reached: Vec<_> = rows
        .windows(2)
        // Whoever else says the words of the mark has typed them.
        .filter(|pair| pair[0].typed.as_deref() == Some(""))
        .filter_map(|pair| {
            let origin = limpid_store::DeliveryOrigin::of_marker(&pair[0].message.text)?;
            (pair[0].turn == pair[1].turn).then_some((origin, &pair[1].message.text))
        })
        .collect();
    for (origin, text) in &reached[reached.len().saturating_sub(count)..] {
        output::tell_further_in(&delivered(origin.as_str(), &for_readers(text)));
    }
    Ok(())
}

fn in_one_sentence(unread: &[Delivery]) -> Option<String> {
    let (newest, rest) = unread.split_last()?;
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    let after = if newest.new.trust.is_foreign() { ", after a stranger's text" } else { "" };
    let begins = format!("Unread: {} “", newest.new.origin);
    let end = format!("”{after}{more}; limpid conversation show {}", newest.new.conversation);
    Some(output::named(&[(&begins, &newest.new.title)], &end))
}
