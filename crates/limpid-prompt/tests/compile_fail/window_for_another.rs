//! A size of a window cannot pass for the other one (OLLM-016).

use limpid_core::{Tier, UsableWindow, WindowSize};
use limpid_prompt::profile::Limit;

fn tier_of_what_is_used(window: UsableWindow) -> Tier {
    Tier::of(window)
}

fn limit_of_what_was_chosen(limit: Limit, tier: Tier, window: WindowSize) -> usize {
    limit.at(tier, Some(window))
}

fn converted(window: WindowSize) -> UsableWindow {
    window.into()
}

fn main() {
    let _ = (tier_of_what_is_used, limit_of_what_was_chosen, converted);
}
