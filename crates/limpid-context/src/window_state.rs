//! What frames the prompts of a conversation: the tier, the window that they are held to, and the system prompt that
//! was sent last.

mod last_prompt;

use limpid_core::{Tier, UsableWindow, WindowSize};
use limpid_model::ModelCard;
use limpid_prompt::inputs::Inputs;
use limpid_prompt::{Profile, render};
use limpid_services::events::{Difference, EventKind};
use serde::{Deserialize, Serialize};

pub(crate) use crate::window_state::last_prompt::NewPrompt;

use crate::window_state::last_prompt::LastPrompt;

/// How long a warning about another window stands alone.
const WARN_AGAIN_MS: i64 = 30_000;

/// Part of a [`PrefixCache`](crate::prefix_cache::PrefixCache).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WindowState {
    /// The tier of its prompts; none before the first.
    tier: Option<u8>,
    /// The window that it was begun with.
    window: Option<Window>,
    /// The window that the person chose; kept with the conversation.
    #[serde(skip)]
    pub(crate) chosen: Option<u32>,
    /// Why tier and window are taken anew at the next prompt.
    renewed: Option<String>,
    /// When the person was told last that the model has another window.
    warned_ms: Option<i64>,
    /// The system prompt that was made last.
    system: Option<LastPrompt>,
    /// The tools that were offered last.
    tools: Vec<String>,
}

/// A model's window as prompts are held to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Window {
    model: String,
    size: Option<u32>,
    usable: Option<u32>,
}

/// A model as a conversation sees it.
pub struct Offered {
    /// The model with the window of the conversation.
    pub card: ModelCard,
    /// What changed by it.
    pub(crate) changes: Vec<EventKind>,
    /// What the person should know.
    pub(crate) notice: Option<String>,
}

impl WindowState {
    /// What frames the first prompt of a conversation for which the person chose a window.
    pub(crate) fn of_window(chosen: Option<u32>) -> Self {
        Self { chosen, ..Self::default() }
    }

    /// The tier of its prompts, once one was made.
    pub fn tier(&self) -> Option<Tier> {
        self.tier.and_then(Tier::new)
    }

    /// The mode of the system prompt that was made last.
    pub fn mode(&self) -> Option<&str> {
        self.system.as_ref().map(|system| system.mode.as_str())
    }

    /// The hash of the system prompt that was made last.
    pub fn system_hash(&self) -> Option<&str> {
        self.system.as_ref().map(|system| system.hash.as_str())
    }

    /// The window that the person chose.
    pub fn chosen(&self) -> Option<WindowSize> {
        self.chosen.map(WindowSize)
    }

    /// Chooses a window, or the model's own again; it holds from the next prompt on.
    pub fn choose(&mut self, size: Option<WindowSize>) {
        self.chosen = size.map(|size| size.0);
        self.renew("resize");
    }

    /// Lets tier and window be taken anew at the next prompt, as after a compaction.
    pub fn renew(&mut self, reason: &str) {
        self.renewed = Some(reason.to_owned());
    }

    /// Goes back to the tier of a kept moment.
    pub fn go_back(&mut self, tier: Option<Tier>) {
        self.tier = tier.map(Tier::number);
        self.renewed = None;
    }

    /// Holds a model to the window that the conversation was begun with, whatever the model's is at the moment; of
    /// another model it takes the window, but not the tier.
    pub fn fit(&mut self, card: &ModelCard, now_ms: i64) -> Offered {
        let offered = Window::of(card, self.chosen);
        let renewed = self.renewed.take();
        let kept = self.window.clone().filter(|kept| kept.model == offered.model && renewed.is_none());
        let notice =
            kept.as_ref().filter(|kept| **kept != offered).and_then(|kept| self.warning(kept, &offered, now_ms));
        let window = match kept {
            // What runs on this machine has no more than it was opened with.
            Some(kept) if !(card.local && offered.usable < kept.usable) => kept,
            _ => offered,
        };
        let own = window.size.map_or(Tier::ALL[2], |size| Tier::of(WindowSize(size)));
        let old = self.tier();
        let new = old.filter(|_| renewed.is_none()).unwrap_or(own);
        let changed = old.zip(renewed).filter(|(old, _)| *old != new);
        let changes =
            changed.map(|(old, reason)| EventKind::PromptTierChanged { old: old.number(), new: new.number(), reason });
        let card = ModelCard {
            window: window.size.map(WindowSize),
            usable_window: window.usable.map(UsableWindow),
            ..card.clone()
        };
        self.tier = Some(new.number());
        self.window = Some(window);
        Offered { card, changes: changes.into_iter().collect(), notice }
    }

    /// Takes note of a prompt that was made, and says what is different from the one before it.
    pub(crate) fn made(&mut self, made: &NewPrompt<'_>) -> Vec<EventKind> {
        let mut changes = Vec::new();
        let system = LastPrompt::of(made);
        if self.system.as_ref().is_none_or(|before| before.hash != system.hash) {
            changes.push(EventKind::SystemPromptUpdated {
                mode: system.mode.clone(),
                tier: system.tier,
                tokens: made.tokens(),
                hash: system.hash.clone(),
                reason: system.reason(self.system.as_ref()).to_owned(),
                trims: made.trims.clone(),
            });
        }
        let tools: Vec<String> = made.prompt.offered().iter().map(|tool| tool.name().to_owned()).collect();
        if self.system.is_some() {
            changes.extend(Difference::between(&self.tools, &tools).map(EventKind::ActiveToolsUpdated));
        }
        self.system = Some(system);
        self.tools = tools;
        changes
    }

    fn warning(&mut self, kept: &Window, offered: &Window, now_ms: i64) -> Option<String> {
        let is_early = self.warned_ms.is_some_and(|warned| now_ms - warned < WARN_AGAIN_MS);
        if is_early {
            return None;
        }
        self.warned_ms = Some(now_ms);
        let size = |window: &Window| window.size.map_or("unknown".to_owned(), |size| format!("{size} tokens"));
        Some(format!(
            "the window of {} is {} now; this conversation stays at {}, until a compaction, `/context size`, or /new",
            kept.model,
            size(offered),
            size(kept),
        ))
    }
}

impl Window {
    fn of(card: &ModelCard, chosen: Option<u32>) -> Self {
        let own = card.window.map(|window| window.0);
        let smaller = chosen.filter(|chosen| own.is_none_or(|own| *chosen < own));
        match smaller {
            None => Self { model: card.name(), size: own, usable: card.usable_window.map(|usable| usable.0) },
            Some(size) => {
                let usable = UsableWindow::default_for(WindowSize(size));
                let usable = card.usable_window.map_or(usable, |own| own.min(usable));
                Self { model: card.name(), size: Some(size), usable: Some(usable.0) }
            }
        }
    }
}

/// The tier that a path's prompt is made in.
pub fn tier_of(profile: &Profile, path: &str, inputs: &Inputs) -> Tier {
    profile.path(path).map_or(Tier::ALL[2], |path| render::tier(path, inputs))
}

#[cfg(test)]
mod tests {

    use super::*;

    fn card(id: &str, window: u32) -> ModelCard {
        ModelCard {
            provider: "ollama".to_owned(),
            id: id.to_owned(),
            window: Some(WindowSize(window)),
            usable_window: Some(UsableWindow::default_for(WindowSize(window))),
            ..ModelCard::default()
        }
    }

    fn seen(fitted: &Offered) -> (Option<u32>, Option<u32>, bool, usize) {
        let Offered { card, changes, notice } = fitted;
        (card.window.map(|w| w.0), card.usable_window.map(|w| w.0), notice.is_some(), changes.len())
    }

    // OLLM-018 OLLM-026 OLLM-027
    #[test]
    fn a_conversation_keeps_tier_and_window_until_a_reset() {
        let mut frame = WindowState::default();
        assert_eq!(seen(&frame.fit(&card("m", 16_384), 0)), (Some(16_384), Some(13_926), false, 0));
        assert_eq!(frame.tier(), Tier::new(3));
        // 20K asks for tier 4, and nothing happens but a warning, once in 30 seconds.
        let grown: Vec<_> = [0, 29_999, 30_000].map(|now| seen(&frame.fit(&card("m", 20_480), now))).to_vec();
        let held = |warned| (Some(16_384), Some(13_926), warned, 0);
        assert_eq!(grown, [held(true), held(false), held(true)]);
        assert_eq!(frame.tier(), Tier::new(3));
        frame.renew("compaction");
        let fitted = frame.fit(&card("m", 20_480), 31_000);
        let change = EventKind::PromptTierChanged { old: 3, new: 4, reason: "compaction".to_owned() };
        assert_eq!(fitted.changes, [change]);
        assert_eq!(seen(&fitted), (Some(20_480), Some(17_408), false, 1));
        // Another model has a window of its own; the tier stays.
        assert_eq!(seen(&frame.fit(&card("other", 8192), 32_000)), (Some(8192), Some(6963), false, 0));
        assert_eq!(frame.tier(), Tier::new(4));
    }

    // OLLM-018 OLLM-026
    #[test]
    fn a_chosen_window_holds_and_never_exceeds_the_models() {
        let mut frame = WindowState::default();
        frame.fit(&card("m", 16_384), 0);
        frame.choose(Some(WindowSize(4096)));
        let fitted = frame.fit(&card("m", 16_384), 1);
        assert_eq!(seen(&fitted), (Some(4096), Some(3482), false, 1));
        assert_eq!(frame.tier(), Tier::new(1));
        frame.choose(Some(WindowSize(65_536)));
        assert_eq!(seen(&frame.fit(&card("m", 16_384), 2)).0, Some(16_384));
        frame.choose(None);
        assert_eq!(seen(&frame.fit(&card("m", 16_384), 3)), (Some(16_384), Some(13_926), false, 0));
    }

    // OLLM-018
    #[test]
    fn a_model_on_this_machine_has_no_more_than_it_was_opened_with() {
        let mut frame = WindowState::default();
        let local = |window| ModelCard { local: true, ..card("m", window) };
        frame.fit(&local(16_384), 0);
        assert_eq!(seen(&frame.fit(&local(8192), 1)), (Some(8192), Some(6963), true, 0));
        assert_eq!(frame.tier(), Tier::new(3));
    }
}
