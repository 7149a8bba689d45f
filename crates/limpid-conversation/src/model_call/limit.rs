//! How long a reply may be. Where a model reasons, its reasoning is part of the reply.

use limpid_core::Effort;
use limpid_model::ModelCard;
use limpid_turn::window::settings::reserve;

/// Tokens that a reply of a model that reasons may have when nobody set a limit.
const MOST: u32 = 32_768;

/// Tokens that a reply may have behind a prompt of so many, when `own` is what the owner set or the answer needs without
/// any reasoning. None: the provider's own limit.
///
/// A model that does not reason gets what the window keeps free for an answer.
pub fn reply_limit(card: &ModelCard, effort: Effort, prompt: usize, own: Option<u32>) -> Option<u32> {
    if !card.reasons(effort) {
        let kept = card.usable_window.and_then(|usable| u32::try_from(reserve(usable)).ok());
        return kept.into_iter().chain(own).min();
    }
    let possible = most_possible(card, prompt)?;
    let wanted = own.map_or(MOST, |own| own.saturating_add(card.abilities.effort_for(effort).tokens()));
    Some(wanted.min(possible))
}

/// The longest reply that model and window allow behind a prompt of so many tokens; none when neither is known. What is
/// kept free of the window for the counter's error stays so.
pub(crate) fn most_possible(card: &ModelCard, prompt: usize) -> Option<u32> {
    let prompt = u32::try_from(prompt).unwrap_or(u32::MAX);
    let left = card.usable_window.map(|usable| usable.0.saturating_sub(prompt).max(1));
    left.into_iter().chain(card.abilities.max_output).min()
}

/// Why a reply that reached its limit without a word failed, and what to do.
pub(crate) fn nothing_said(limit: Option<u64>, reasoned: bool) -> String {
    let all = limit.map_or_else(|| "all of its".to_owned(), |limit| format!("all {}", with_commas(limit)));
    match reasoned {
        true => format!("{all} tokens went into reasoning; raise `limits.output_tokens` or lower `effort`"),
        false => format!("the reply reached its limit of {all} tokens without a word; raise `limits.output_tokens`"),
    }
}

fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use limpid_core::{UsableWindow, WindowSize};
    use limpid_model::Abilities;

    use super::*;

    fn card(usable: u32, max_output: Option<u32>) -> ModelCard {
        ModelCard {
            window: Some(WindowSize(usable)),
            usable_window: Some(UsableWindow(usable)),
            thinking: true,
            abilities: Abilities { max_output, effort: Some(Effort::ALL.to_vec()), ..Abilities::default() },
            ..ModelCard::default()
        }
    }

    // MOD-024
    #[test]
    fn a_reply_that_holds_reasoning_has_room_for_it() {
        let wide = card(200_000, Some(64_000));
        let limit = |card: &ModelCard, effort, own| reply_limit(card, effort, 10_000, own);
        assert_eq!(limit(&wide, Effort::Default, None), Some(32_768), "not the reserve");
        assert_eq!(
            limit(&card(200_000, Some(8192)), Effort::Default, None),
            Some(8192),
            "not more than the model gives"
        );
        assert_eq!(limit(&card(20_000, None), Effort::Default, None), Some(10_000), "not more than the window leaves");
        assert_eq!(limit(&wide, Effort::Low, Some(500)), Some(4596), "what was set is for the answer");
        assert_eq!(limit(&wide, Effort::Off, None), Some(4096), "without reasoning the reserve");
        assert_eq!(limit(&ModelCard { thinking: true, ..ModelCard::default() }, Effort::Default, None), None);
    }

    // MOD-025
    #[test]
    fn what_went_wrong_is_said_with_its_number() {
        let told = "all 4,096 tokens went into reasoning; raise `limits.output_tokens` or lower `effort`";
        assert_eq!(nothing_said(Some(4096), true), told);
        assert_eq!([0, 12, 999, 1_234_567].map(with_commas), ["0", "12", "999", "1,234,567"]);
    }
}
