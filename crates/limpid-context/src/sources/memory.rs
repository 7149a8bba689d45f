//! What a prompt remembers: by the owner's policy or the profile's, and nothing of the owner's where others read along.

use limpid_core::memory::{MemoryPolicy, PROMOTION_HITS};
use limpid_core::{Category, Memory};
use limpid_prompt::Profile;
use limpid_prompt::inputs::{Inputs, MemoryEntry, MemoryInput, TrustName};
use limpid_services::error::AgentError;
use limpid_services::memory::PROMOTE_LEARNING;
use limpid_store::{Listed, PromotionState};

use crate::convert;
use crate::deps::ContextDeps;

/// The section that shows what was promoted.
const SOUL_ADDITIONS: &str = "soul-additions";

/// The file about the owner, at the top of the workspace.
const ABOUT_OWNER: &str = "USER.md";

/// Fills in memories and what was promoted, and leaves of tools and files what goes with the policy.
pub(crate) async fn fill(
    deps: &ContextDeps,
    inputs: &mut Inputs,
    profile: &Profile,
    notices: &mut Vec<String>,
) -> Result<(), AgentError> {
    let standing = deps.store.promotions(Some(PromotionState::Standing)).await?.rows;
    inputs.soul_additions = standing.into_iter().map(|promotion| promotion.addition).collect();
    let config = &deps.config.memory;
    let policy = config.policy(profile.behaviour().memory);
    let mine = is_owners(inputs);
    if !mine {
        inputs.workspace.files.retain(|file| file.name != ABOUT_OWNER);
    }
    if policy != MemoryPolicy::Files || !config.enabled || !mine {
        inputs.workspace.long_term = None;
        inputs.workspace.daily_notes.clear();
    }
    inputs.memory = if config.enabled && mine && policy != MemoryPolicy::Files {
        memories(deps, policy, notices).await?
    } else {
        MemoryInput::default()
    };
    if inputs.memory.enabled {
        inputs.memory.instructions.clone_from(&config.instructions);
    } else {
        inputs.tools.retain(|tool| tool.group != "memory");
    }
    if inputs.memory.promotions.is_empty() || !shows_soul_additions(profile) {
        inputs.tools.retain(|tool| tool.name != PROMOTE_LEARNING);
    }
    Ok(())
}

async fn memories(
    deps: &ContextDeps,
    policy: MemoryPolicy,
    notices: &mut Vec<String>,
) -> Result<MemoryInput, AgentError> {
    let Listed { rows, broken } = match policy {
        MemoryPolicy::Inject => deps.store.memories(None).await?,
        _ => deps.store.prominent_memories().await?,
    };
    for broken in &broken {
        notices.push(format!("memory {} cannot be read ({}); all others can", broken.id, broken.reason));
    }
    let mut input = place(&rows, policy);
    if let Some(name) = &deps.config.owner.name
        // A stranger's memory is in no prompt, so it takes nobody's place.
        && deps.store.memory(&"owner".into()).await?.is_none_or(|memory| memory.trust.is_foreign())
    {
        let owner = MemoryEntry { key: "owner".into(), content: name.clone(), ..MemoryEntry::by(TrustName::Owner) };
        input.pinned.insert(0, owner);
    }
    Ok(input)
}

/// Whether the owner talks with their agent alone.
fn is_owners(inputs: &Inputs) -> bool {
    let session = &inputs.session;
    !session.group
        && session.sender.is_none()
        && !inputs.user.as_ref().is_some_and(|user| limpid_core::Trust::from(user.trust).is_foreign())
}

/// Memories by the place where prompts show them. Those that a stranger wrote are found by query only.
fn place(memories: &[Memory], policy: MemoryPolicy) -> MemoryInput {
    let entries = |wanted: &dyn Fn(&Memory) -> bool| -> Vec<MemoryEntry> {
        let own = memories.iter().filter(|memory| !memory.trust.is_foreign());
        own.filter(|memory| wanted(memory)).map(convert::memory).collect()
    };
    let of = |category| entries(&|memory: &Memory| policy == MemoryPolicy::Inject && memory.category == category);
    MemoryInput {
        enabled: true,
        general: of(Category::General),
        preference: of(Category::Preference),
        learning: of(Category::Learning),
        error: of(Category::Error),
        pinned: entries(&|memory| memory.pinned),
        promotions: entries(&|memory| memory.hits >= PROMOTION_HITS),
        ..MemoryInput::default()
    }
}

/// Whether a promotion would show anywhere: without that it would only lose the memory.
fn shows_soul_additions(profile: &Profile) -> bool {
    profile.path("chat-remote").is_ok_and(|path| path.sections().any(|section| section.id == SOUL_ADDITIONS))
}
