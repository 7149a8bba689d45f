//! Which text stands in for the template that a mode lacks for a tier, told once.

use limpid_core::Tier;
use limpid_prompt::{Layer, Profile};
use limpid_store::{NewSetting, Store};

use crate::error::AgentError;

/// A mode's template and the one that stands in for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeFallback {
    /// Where the text that is used stands.
    pub used: String,
    /// Places that were looked at in vain.
    pub tried: Vec<String>,
    /// Whether the owner should know: a text of theirs is used, or one of another mode. The forms that ship leave out
    /// tiers on purpose.
    pub is_news: bool,
}

/// The text that stands in for the template of a mode and tier; none when it has its own.
pub fn mode_fallback(profile: &Profile, mode: &str, tier: Tier) -> Option<ModeFallback> {
    let found = profile.mode(mode, tier).ok()??;
    let source = &found.form.source;
    let own = source.path.contains(&format!("/modes/{mode}/"));
    let is_news = source.layer != Layer::Shipped || !own;
    (!found.tried.is_empty()).then(|| ModeFallback { used: source.file(), tried: found.tried, is_news })
}

/// What the person is told of a template that stands in for another, unless they were told before.
///
/// # Errors
/// When the store fails.
pub async fn new_fallback_notice(
    store: &dyn Store,
    profile: &Profile,
    (mode, tier): (&str, Tier),
    now_ms: i64,
) -> Result<Option<String>, AgentError> {
    let Some(found) = mode_fallback(profile, mode, tier).filter(|found| found.is_news) else { return Ok(None) };
    let name = format!("template {}/{mode}/{}", profile.name(), tier.number());
    let told = store.setting_events(None, &name, 1).await?.rows;
    let tried = found.tried.join(", ");
    if told.first().is_some_and(|event| event.value.as_ref() == Some(&tried)) {
        return Ok(None);
    }
    let event = NewSetting { name, value: Some(tried.clone()), trigger: "auto".to_owned() };
    store.set_for_all(vec![event], now_ms).await?;
    Ok(Some(format!("the mode {mode} has no template for tier {tier}: {} is used; looked for {tried}", found.used)))
}
