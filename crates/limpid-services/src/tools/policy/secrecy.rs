//! Whether something that is private to the owner is in a model's window: what a fetch could carry away.

use limpid_core::message::{FROM_CAPABILITY_URL, FROM_OWN_NETWORK, OWNERS_RULES_FORBID};
use limpid_core::policy::keys_in;
use limpid_core::{Message, Role};
use limpid_prompt::inputs::{HeartbeatInput, MemoryInput, SkillSource, SkillsInput, TrustName, WorkspaceInput};
use limpid_prompt::{Inputs, Profile};
use limpid_turn::result::is_cut_within;

/// How the group of the tools of a server of the owner's begins, before the server's name.
pub(crate) const SERVERS_GROUP: &str = "mcp-";

/// Characters within which a result says where it is from.
const SAID_WITHIN: usize = 200;

/// Folders in which each person has one of their own, called by their name.
const HOMES: [&str; 3] = ["home", "Users", "homes"];

/// Whether the window of a turn holds something private: what its inputs show on a path of its profile, or a message that it added.
/// Public is what Limpid ships, what was read from the public web, and what the owner typed for this turn. `is_public` says of a tool by
/// its name that anybody could read its results.
pub fn holds_private(
    on: (&Profile, &str),
    inputs: &Inputs,
    in_flight: &[Message],
    is_public: impl Fn(&str) -> bool,
) -> bool {
    let is_private = |message: &Message| {
        // What others wrote to the owner, or the owner handed in, is theirs.
        if message.role == Role::User {
            return message.trust.is_foreign() || holds_key(&message.text);
        }
        let call = message.call_id.as_ref();
        let mut calls = in_flight.iter().flat_map(|message| &message.calls);
        let name = calls.find(|made| Some(&made.id) == call).map(|made| made.name.as_str());
        message.role == Role::Tool && !name.is_some_and(|name| is_public(name) && is_of_public(&message.text))
    };
    let is_asked_with_key = inputs.user.as_ref().is_some_and(|user| holds_key(&user.text));
    is_asked_with_key || earlier(inputs) || shows_owners(on, inputs) || in_flight.iter().any(is_private)
}

/// Whether a text has an address that is a key: whoever learns it can read what is the owner's.
fn holds_key(text: &str) -> bool {
    keys_in(text).next().is_some()
}

/// Whether a result of a public tool came from where anybody could have read it: not from a place of the owner's, nor from their rules,
/// as the refusal of a call that these forbid. One that was cut before it could say so may be from anywhere.
pub fn is_of_public(result: &str) -> bool {
    !is_cut_within(result, SAID_WITHIN)
        && ![FROM_OWN_NETWORK, FROM_CAPABILITY_URL, OWNERS_RULES_FORBID].iter().any(|from| result.contains(from))
}

/// Whether a group is that of a server of the owner's, whose tools may be described in words of theirs.
pub fn is_of_server(group: &str) -> bool {
    group.starts_with(SERVERS_GROUP)
}

/// Whether a conversation has a past, which its prompts show.
fn earlier(inputs: &Inputs) -> bool {
    inputs.summary.as_ref().is_some_and(|summary| !summary.text.trim().is_empty())
        || inputs.pin.is_some()
        || !inputs.digests.is_empty()
        || !inputs.history.is_empty()
}

/// Whether prompts of a path show something that the owner has, besides the conversation's past: in texts of their own for that path, or
/// in the inputs.
pub fn shows_owners((profile, path): (&Profile, &str), inputs: &Inputs) -> bool {
    // No shipped prompt shows what was left unread, nor skills that are not used.
    let shows =
        |record: &str, field: &str| profile.path(path).is_ok_and(|path| profile.shows_field(path, record, field));
    !profile.owners_texts(path, inputs).is_empty()
        || (!inputs.workspace.unread.is_empty() && shows("workspace", "unread"))
        || (!inputs.skills.unused.is_empty() && shows("skills", "unused"))
        || are_owners(inputs)
}

/// Whether inputs are something that the owner has. By name, so that a new input is looked at before it counts as public.
fn are_owners(inputs: &Inputs) -> bool {
    let Inputs {
        version: _,
        agent_name: _,
        soul,
        soul_additions,
        safety,
        additional_instructions,
        use_sanity_checks: _,
        interactive: _,
        mode: _,
        tier: _,
        ui_mode: _,
        model: _,
        tools,
        // Lines of these tools.
        more_tools: _,
        memory,
        scheduling,
        heartbeat,
        email,
        sms,
        notifications,
        skills,
        goal,
        goal_markers: _,
        active_context,
        workspace,
        session,
        summary: _,
        pin: _,
        digests: _,
        changed,
        time: _,
        platform: _,
        history: _,
        user,
        in_flight: _,
        summarize,
        delegate,
        payload,
        boundary: _,
        origins: _,
    } = inputs;
    let came_in = !email.accounts.is_empty()
        || !email.new.is_empty()
        || !sms.new.is_empty()
        || !notifications.new.is_empty()
        || user.as_ref().is_some_and(|user| user.trust != TrustName::Owner);
    let changed = changed.goal
        || !changed.pinned.is_empty()
        || changed.stored.as_ref().is_some_and(|stored| stored.goal.is_some());
    let own_texts = is_said(soul)
        || !soul_additions.is_empty()
        || is_said(safety)
        || !additional_instructions.trim().is_empty()
        || is_said(active_context);
    let planned = !scheduling.tasks.is_empty() || heartbeat_is_private(heartbeat) || goal.is_some();
    let handed_on = summarize != &limpid_prompt::inputs::SummarizeInput::default()
        || delegate.skill.is_some()
        || !delegate.task.is_empty()
        || is_said(&delegate.context)
        || payload.is_some();
    memory_is_private(memory)
        || is_said(&session.sender)
        || came_in
        || changed
        || own_texts
        || planned
        || handed_on
        || workspace_is_private(workspace)
        || skills_are_private(skills)
        || tools.iter().any(|tool| is_of_server(&tool.group))
}

fn workspace_is_private(workspace: &WorkspaceInput) -> bool {
    let WorkspaceInput { path, files, long_term, daily_notes, unread: _, base, folders } = workspace;
    !files.is_empty()
        || is_said(long_term)
        || !daily_notes.is_empty()
        || !folders.is_empty()
        || is_in_home(path)
        // A folder that they opened is called as they like.
        || base.as_ref().is_some_and(|base| base != path)
}

/// Whether a path leads into somebody's home folder, and so says their name.
fn is_in_home(path: &str) -> bool {
    let mut parts = path.split(['/', '\\']).filter(|part| !part.is_empty());
    parts.any(|part| HOMES.contains(&part)) && parts.next().is_some()
}

fn memory_is_private(memory: &MemoryInput) -> bool {
    let remembered = [&memory.general, &memory.preference, &memory.learning, &memory.error, &memory.pinned];
    remembered.iter().any(|entries| !entries.is_empty())
        || !memory.promotions.is_empty()
        || is_said(&memory.instructions)
}

fn heartbeat_is_private(heartbeat: &HeartbeatInput) -> bool {
    is_said(&heartbeat.prompt)
        || !heartbeat.checklist.trim().is_empty()
        || !heartbeat.previous.is_empty()
        || heartbeat.quiet.is_some()
}

/// Skills of the owner's own say something of them; those that are shipped do not.
fn skills_are_private(skills: &SkillsInput) -> bool {
    let SkillsInput { index, active, unused: _ } = skills;
    !active.is_empty() || index.iter().any(|skill| skill.source != SkillSource::Builtin)
}

fn is_said(text: &Option<String>) -> bool {
    text.as_deref().is_some_and(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests;
