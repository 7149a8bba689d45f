//! How large the next prompt of a conversation is, before it is made.

use limpid_core::Tier;
use limpid_prompt::Inputs;
use limpid_services::profiles::Reader;
use limpid_store::Conversation;

use crate::{ContextDeps, convert, window_state_of};

impl ContextDeps {
    /// The tier of a conversation's next prompt, as far as it is known.
    pub async fn next_tier(&self, conversation: &Conversation) -> Tier {
        let model = self.models.choose(self.wanted_model(Some(conversation)).await.as_deref()).await;
        let card = model.ok().map(|model| model.info().clone());
        let path = if card.as_ref().is_some_and(|card| card.local) { "chat-local" } else { "chat-remote" };
        let model = card.as_ref().map(convert::model).unwrap_or_default();
        let profile = self.profiles.profile(&conversation.profile, Reader::Prompts(path));
        let tier = window_state_of(Some(conversation)).tier().map(Tier::number);
        let inputs = Inputs { model, tier, ..Inputs::default() };
        let tier = profile.ok().and_then(|profile| profile.tier(path, &inputs).ok());
        tier.unwrap_or(Tier::ALL[2])
    }
}
