//! The size of a conversation's window, and the tier of its prompts.

use std::fmt;

use limpid_context::Occasion;
use limpid_context::PrefixCache;
use limpid_context::{WindowState, tier_of, window_state_of};
use limpid_core::{ConversationId, Tier, WindowSize};
use limpid_prompt::inputs::Inputs;
use limpid_services::directory::ConversationChoice;
use limpid_services::error::AgentError;
use limpid_services::events::EventKind;
use limpid_services::models::memory_available;
use limpid_services::modes::manual;
use limpid_services::profiles::Reader;
use limpid_store::{Conversation, ConversationChange};

use crate::deps::ConversationDeps;
use crate::settings::outcome::ChangeOutcome;

/// Tokens below which a window is of no use.
const LEAST: u32 = 2048;

/// The tiers of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiers {
    /// The model.
    pub model: String,
    /// Bytes of this machine's memory that a model in this process may use; none for another's machine, or when it is
    /// not known.
    pub memory: Option<u64>,
    /// The window that the model has, when it is known.
    pub actual: Option<WindowSize>,
    /// The window that the conversation is held to, when it is known.
    pub window: Option<WindowSize>,
    /// The tier that its prompts are made in.
    pub effective: Tier,
}

impl fmt::Display for Tiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = |size: Option<WindowSize>| match size {
            Some(size) => format!("a window of {} tokens, tier {}", size.0, Tier::of(size)),
            None => "a window of unknown size".to_owned(),
        };
        write!(f, "{} has {}", self.model, size(self.actual))?;
        if let Some(memory) = self.memory {
            write!(f, ", in {:.1} GB of memory", memory as f64 / 1e9)?;
        }
        if self.window != self.actual {
            write!(f, "; this conversation is held to {}", size(self.window))?;
        }
        if self.window.map(Tier::of) != Some(self.effective) {
            write!(f, "; prompts are of tier {}", self.effective)?;
        }
        f.write_str(".")
    }
}

/// The tiers of a conversation, or of the next new one.
///
/// # Errors
/// When there is no such conversation, or no model.
pub(crate) async fn tiers(deps: &ConversationDeps, conversation: &ConversationChoice) -> Result<Tiers, AgentError> {
    let found = deps.directory.find(conversation).await?;
    let own = found.as_ref();
    let model = deps.context.models.choose(deps.context.wanted_model(own).await.as_deref()).await?;
    let card = model.info();
    let mut frame = window_state_of(own);
    let fitted = frame.fit(card, deps.host().now_ms());
    let profile = own.map_or(deps.config().agent.profile.as_str(), |own| own.profile.as_str());
    let profile = deps.context.profiles.profile(profile, Reader::Owner)?;
    let path = if card.local { "chat-local" } else { "chat-remote" };
    let inputs = Inputs { tier: frame.tier().map(Tier::number), ..Inputs::default() };
    let effective = tier_of(&profile, path, &inputs);
    Ok(Tiers {
        model: card.name(),
        memory: memory_available().filter(|_| card.local),
        actual: card.window,
        window: fitted.card.window,
        effective,
    })
}

/// Refuses a window that the model of a conversation cannot have.
pub(crate) async fn check(
    deps: &ConversationDeps,
    id: &ConversationId,
    size: Option<WindowSize>,
) -> Result<(), AgentError> {
    let conversation = deps.directory.existing(id).await?;
    let card = deps
        .context
        .models
        .choose(deps.context.wanted_model(Some(&conversation)).await.as_deref())
        .await?
        .info()
        .clone();
    let most = card.window.map_or(u32::MAX, |window| window.0);
    if let Some(WindowSize(size)) = size.filter(|size| size.0 < LEAST || size.0 > most) {
        let most = if most == u32::MAX { "more".to_owned() } else { most.to_string() };
        return Err(AgentError::Invalid(format!(
            "{} cannot have a window of {size} tokens; choose {LEAST} to {most}",
            card.name()
        )));
    }
    Ok(())
}

/// Makes the prompt anew after something was set, and takes note of it. Without a model there is none to be made.
pub(crate) async fn rebuild(
    deps: &ConversationDeps,
    conversation: &Conversation,
    frame: &mut WindowState,
) -> Result<Vec<EventKind>, AgentError> {
    let Ok(model) = deps.context.models.choose(deps.context.wanted_model(Some(conversation)).await.as_deref()).await
    else {
        return Ok(Vec::new());
    };
    let mode = deps.modes.of(conversation);
    let occasion = Occasion::between_turns(conversation, mode, model.info(), frame, deps.host().now());
    let mut built = limpid_context::build(&deps.context, occasion).await?;
    let changes = built.take_note();
    *frame = built.gathered.session.window_state;
    Ok(changes)
}

/// Chooses the window of a conversation.
pub(super) async fn resize(
    deps: &ConversationDeps,
    id: &ConversationId,
    size: Option<WindowSize>,
) -> Result<ChangeOutcome, AgentError> {
    let conversation = deps.directory.existing(id).await?;
    let mut session = PrefixCache::of(&conversation);
    let before = session.window_state.chosen();
    if before == size {
        return Ok(ChangeOutcome::Unchanged);
    }
    if let Some(size) = size {
        deps.context.goals.check_fits(id, Tier::of(size)).await?;
    }
    session.window_state.choose(size);
    let changes = rebuild(deps, &conversation, &mut session.window_state).await?;
    let event = manual("window", size.map(|size| size.0.to_string()));
    let window = ConversationChange::Window(size.map(|size| size.0));
    let kept = vec![window, ConversationChange::Session(Some(session.to_text()))];
    deps.store().set_in_conversation(id, kept, vec![event], deps.host().now_ms()).await?;
    changes.into_iter().for_each(|change| deps.events.send(Some(id), change));
    Ok(ChangeOutcome::Applied(before.map_or("the model's own".to_owned(), |before| before.0.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    // OLLM-025
    #[test]
    fn a_start_tells_memory_what_the_model_has_and_the_tier_that_is_used() {
        let tiers = |actual: u32, window: u32, memory| Tiers {
            model: "local/small".to_owned(),
            memory,
            actual: Some(WindowSize(actual)),
            window: Some(WindowSize(window)),
            effective: Tier::of(WindowSize(window)),
        };
        assert_eq!(
            tiers(20_480, 20_480, Some(8_000_000_000)).to_string(),
            "local/small has a window of 20480 tokens, tier 4 (Premium), in 8.0 GB of memory."
        );
        assert_eq!(
            tiers(131_072, 16_384, None).to_string(),
            "local/small has a window of 131072 tokens, tier 5 (Ultra); this conversation is held to a window of 16384 \
             tokens, tier 3 (Standard)."
        );
        let of_path = Tiers { effective: Tier::of(WindowSize(16_384)), ..tiers(20_480, 20_480, None) };
        assert_eq!(
            of_path.to_string(),
            "local/small has a window of 20480 tokens, tier 4 (Premium); prompts are of tier 3 (Standard)."
        );
    }
}
