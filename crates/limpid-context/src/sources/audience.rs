//! What stands in a prompt where others read the conversation too: who the agent is and what it can do, and else nothing of the
//! owner's. Its answer may tell them whatever is there.

use limpid_prompt::inputs::{HeartbeatInput, Inputs};
use limpid_services::heartbeat::PATH;

/// Leaves out what others are not told, where they read along. A heartbeat has its work, wherever its reports go.
pub(crate) fn keep_from_others(inputs: &mut Inputs, path: &str) {
    if !inputs.session.group {
        return;
    }
    // Each field is named, so that whoever adds one says whether others are told it.
    let Inputs {
        version: _,
        agent_name: _,
        soul: _,
        soul_additions,
        safety: _,
        additional_instructions: _,
        use_sanity_checks: _,
        interactive: _,
        mode: _,
        tier: _,
        ui_mode: _,
        model: _,
        tools: _,
        more_tools: _,
        // Its own policy leaves it out.
        memory: _,
        scheduling,
        heartbeat,
        email,
        sms,
        notifications,
        skills: _,
        // What is said and done in this conversation.
        goal: _,
        goal_markers: _,
        active_context: _,
        workspace,
        session: _,
        summary: _,
        pin: _,
        digests: _,
        changed: _,
        time: _,
        platform: _,
        history: _,
        user: _,
        in_flight: _,
        summarize: _,
        delegate: _,
        payload: _,
        boundary: _,
        origins: _,
    } = inputs;
    soul_additions.clear();
    if path == PATH {
        return;
    }
    scheduling.tasks.clear();
    *heartbeat = HeartbeatInput::default();
    email.accounts.clear();
    email.new.clear();
    sms.new.clear();
    notifications.new.clear();
    workspace.long_term = None;
    workspace.daily_notes.clear();
    workspace.folders.clear();
}
