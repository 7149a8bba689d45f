//! Inputs of a prompt: everything that one turn may say to a model, read from files, store, configuration and clock at
//! one moment. No other code builds [`Inputs`] for a turn.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use limpid_config::TextKind;
use limpid_core::agent::RESEARCH;
use limpid_core::policy::keys_in;
use limpid_core::{Role, Tier, Trust};
use limpid_model::ModelCard;
use limpid_prompt::Profile;
use limpid_prompt::inputs::{
    ChangedInput, Inputs, MemoryInput, Quoted, SessionInput, TimeInfo, TrustName, WorkspaceInput,
};
use limpid_prompt::prompt::hash_of;
use limpid_services::error::AgentError;
use limpid_services::modes::{is_set, kind_of};
use limpid_services::profiles::{LoadedProfile, Reader};
use limpid_services::tools::{Place, ToolPolicy, UnacceptedFiles, is_of_server, shows_owners};
use limpid_services::ui::ui_mode;
use limpid_store::{Audience, ConversationKind};

use crate::deps::ContextDeps;
use crate::folders::Folders;
use crate::history::History;
use crate::notices::StandingNotice;
use crate::occasion::Occasion;
use crate::prefix_cache::{PrefixCache, split_pinned};
use crate::sources::platform::platform;
use crate::tool_selection::{Choice, FindTools, select_tools};
use crate::window_state::WindowState;
use crate::{convert, sources};

/// The tools that a research worker takes the place of.
const BARE: [&str; 2] = ["web_search", "web_fetch"];

/// Messages, the newest that no stranger's text led to, whose calls say which tools are used.
const COUNTED: u32 = 2000;

/// Inputs with what else is known before a prompt is made.
pub struct Gathered {
    /// With what the conversation shows of its past.
    pub inputs: Inputs,
    /// What the conversation shows of its past.
    pub history: History,
    /// The profile that renders the prompt.
    pub profile: Arc<Profile>,
    /// The profile's files, as they stood.
    pub loaded: LoadedProfile,
    /// The path of the profile.
    pub path: String,
    /// Who may call what in this turn.
    pub policy: ToolPolicy,
    /// What the conversation keeps once the turn has begun.
    pub session: PrefixCache,
    /// What the person is to be told.
    pub notices: Vec<String>,
    /// What the person is to be told once, until it is different.
    pub standing_notices: Vec<StandingNotice>,
    /// Calls of the model that may use tools, at most, where AGENT.md says so.
    pub max_turns: Option<u32>,
}

/// Reads everything anew.
pub(crate) async fn gather(
    deps: &ContextDeps,
    occasion: &Occasion<'_>,
    card: &ModelCard,
    window: &WindowState,
) -> Result<Gathered, AgentError> {
    let path = occasion.path.unwrap_or(if card.local { "chat-local" } else { "chat-remote" }).to_owned();
    let mut notices = Vec::new();
    let (loaded, profile) = deps.profiles.load(occasion.profile, Reader::Prompts(&path))?;
    notices.extend(loaded.notices(&profile));
    let mode_set = is_set(occasion.conversation, occasion.mode);
    let agent = sources::delegate::agent_in(deps, occasion.conversation, &profile).await?;
    let scope = agent.as_ref().map(|(_, scope)| scope.clone());
    let audience = occasion.conversation.map_or(Audience::Owner, |conversation| conversation.audience);
    let policy = deps.policy.for_turn(&profile, &path, (occasion.mode, mode_set), scope).read_by(audience);
    let time = time_info(occasion.now, &zone_for(deps, audience));

    let kept = occasion.conversation.and_then(PrefixCache::kept);
    let group = audience != Audience::Owner;
    let mut standing_notices = Vec::new();
    // What anybody may read. A research worker gets this and nothing else, so it has nothing to carry away.
    let kind = occasion.conversation.map_or_else(|| kind_of(&path), |own| own.kind);
    let mut inputs = Inputs {
        agent_name: profile.behaviour().agent_name.clone(),
        interactive: kind != ConversationKind::Run,
        ui_mode: ui_mode(&deps.config, (kind, audience), card, (&profile, &path)),
        mode: occasion.mode.to_owned(),
        tier: window.tier().map(Tier::number),
        model: convert::model(card),
        tools: deps.tools.inputs(&policy),
        session: SessionInput { group, ..SessionInput::by(TrustName::Owner) },
        time: Some(time),
        platform: platform(),
        user: Some(Quoted::new(occasion.text, occasion.trust.into())),
        boundary: deps.host.tag(),
        ..Inputs::default()
    };
    keep_offered(&profile, &path, &mut inputs);
    let (mut history, mut max_turns) = (past(deps, occasion, &mut notices).await?, None);
    if !policy.shows_nothing_private() {
        let told = (&mut notices, &mut standing_notices);
        max_turns = owners_inputs(deps, occasion, (&profile, &path), &mut inputs, told).await?;
        prefer_research((&profile, &path), &history, &mut inputs);
        // Elsewhere nothing holds a secret, and a guess that is struck out would be confirmed.
        clean(deps, &mut inputs);
    }
    let given = agent.as_ref().filter(|_| !policy.shows_nothing_private());
    if let Some(((agent, _), conversation)) = given.zip(occasion.conversation) {
        let left = sources::delegate::fill(deps, conversation, agent, &mut inputs).await?;
        max_turns = Some(max_turns.map_or(left, |most| most.min(left)));
    }
    let mut learned = kept.clone().unwrap_or_default();
    let conversation = occasion.conversation.map(|conversation| &conversation.id);
    let mut began = None;
    if !policy.shows_nothing_private() {
        began = sources::goal::fill(deps, (conversation, &profile), &mut inputs, &mut learned, &mut notices).await?;
    }
    if let Some((conversation, turn)) = occasion.conversation.zip(began) {
        history.began_with(conversation, deps.store.request_of(&conversation.id, &turn).await?);
    }
    let mut gathered = Gathered {
        inputs,
        history,
        profile,
        loaded,
        path,
        policy,
        session: PrefixCache::default(),
        notices,
        standing_notices: standing_notices.iter().map(|told: &String| StandingNotice::new(told)).collect(),
        max_turns,
    };
    keep_prefix(deps, &mut gathered, kept).await?;
    gathered.session.folders = Some(folders(deps, &mut gathered.inputs, learned.folders.as_ref()));
    gathered.session.goals_asked_for = learned.goals_asked_for;
    gathered.session.window_state = window.clone();
    Ok(gathered)
}

/// What was said before in the conversation; nothing where there is none.
async fn past(deps: &ContextDeps, occasion: &Occasion<'_>, notices: &mut Vec<String>) -> Result<History, AgentError> {
    match occasion.conversation {
        Some(conversation) => History::read(&*deps.store, conversation, notices).await,
        None => Ok(History::default()),
    }
}

/// The folders that a prompt speaks of, after one that spoke of those `before`: what it said of another place to begin at holds no more.
fn folders(deps: &ContextDeps, inputs: &mut Inputs, before: Option<&Folders>) -> Folders {
    let folders = Folders::of(&deps.config.files);
    if folders.base().is_none() && before.is_some_and(|before| before.base().is_some()) {
        inputs.workspace.base = deps.config.files.name_of(&deps.home.workspace(), &deps.home.outside());
    }
    folders
}

/// Adds what the owner has: their texts, memories, tasks, skills, mail. Says how many calls of the model may use tools.
async fn owners_inputs(
    deps: &ContextDeps,
    occasion: &Occasion<'_>,
    (profile, path): (&Profile, &str),
    inputs: &mut Inputs,
    (notices, standing_notices): (&mut Vec<String>, &mut Vec<String>),
) -> Result<Option<u32>, AgentError> {
    let skills = sources::skills::selected(deps, occasion.conversation.map(|own| &own.id), occasion.text).await?;
    standing_notices.extend(skills.told);
    inputs.skills = skills.input;
    let own = (&deps.home, &*deps.config, &*deps.profiles);
    sources::own_words::fill(own, profile, inputs, standing_notices)?;
    let time = time_info(occasion.now, &deps.host.zone());
    let mut unaccepted = UnacceptedFiles::read(&*deps.store, &deps.home, &deps.config.files).await?;
    let told = standing_notices.len();
    loop {
        standing_notices.truncate(told);
        inputs.workspace = workspace(deps, &time, &unaccepted, standing_notices)?;
        let Some(newer) = unaccepted.read_again_if_changed(&*deps.store, &deps.home, &deps.config.files).await? else {
            break;
        };
        unaccepted = newer;
    }
    let (files, outside) = (&deps.config.files, deps.home.outside());
    inputs.workspace.folders = sources::workspace_files::granted(files, &outside);
    inputs.workspace.base = files.base.as_deref().and_then(|base| files.name_of(base, &outside));
    let agent_file = sources::agent_file::apply(deps, profile, inputs, standing_notices);
    sources::memory::fill(deps, inputs, profile, notices).await?;
    sources::tasks::fill(deps, inputs).await?;
    sources::heartbeat::fill(deps, inputs, path, occasion).await?;
    sources::heartbeat::keep_decision(inputs, profile, path);
    clean(deps, inputs);
    sources::inbox::fill(deps, inputs).await?;
    sources::heartbeat::fill_quiet_hours(deps, inputs, path, occasion.now).await?;
    sources::heartbeat::keep_part(deps, inputs, path, occasion).await?;
    sources::active_context::fill(deps, occasion.conversation, (profile, path), inputs).await?;
    sources::audience::keep_from_others(inputs, path);
    keep_quoted(profile, path, inputs);
    Ok(agent_file.max_turns)
}

/// The workspace's texts, as far as nothing of them waits for the owner.
fn workspace(
    deps: &ContextDeps,
    time: &TimeInfo,
    unaccepted: &UnacceptedFiles,
    notices: &mut Vec<String>,
) -> Result<WorkspaceInput, AgentError> {
    let folder = deps.home.workspace();
    let waiting = sources::workspace_files::Waiting {
        is_held_back: &|place: &Place, bytes: &[u8]| unaccepted.contains(place, bytes),
        former: &|place: &Place| unaccepted.former_text(place),
        known: unaccepted.known_in(&folder),
    };
    sources::workspace_files::read(&folder, time, &waiting, notices)
}

/// Leaves out the workspace's texts where no prompt quotes them: what is not in the window is not private in it.
fn keep_quoted(profile: &Profile, path: &str, inputs: &mut Inputs) {
    let Ok(path) = profile.path(path) else { return };
    let WorkspaceInput { files, long_term, daily_notes, path: place, unread: _, base: _, folders } =
        &mut inputs.workspace;
    if !profile.quotes_workspace(path) {
        files.clear();
        *long_term = None;
        daily_notes.clear();
    }
    if !profile.names_workspace(path) {
        place.clear();
    }
    if !profile.names_folders(path) {
        folders.clear();
    }
}

/// Leaves out the tools of servers that no prompt of a path offers, such as a research worker's.
fn keep_offered(profile: &Profile, path: &str, inputs: &mut Inputs) {
    let Ok(path) = profile.path(path) else { return };
    let local = inputs.model.local;
    inputs.tools.retain(|tool| !is_of_server(&tool.group) || path.offers(&tool.name, local));
}

/// Offers one way to the web: a research worker where something of the owner's is in the prompt, since what a page says
/// could have it carried away; else the bare tools. No worker reads an address that is a key, so once the owner named one, fetching
/// stays.
fn prefer_research((profile, path): (&Profile, &str), history: &History, inputs: &mut Inputs) {
    let is_offered = profile.path(path).is_ok_and(|path| path.offers(RESEARCH, inputs.model.local));
    if !is_offered || !inputs.tools.iter().any(|tool| tool.name == RESEARCH) {
        return;
    }
    let has_own = shows_owners((profile, path), inputs);
    let told = inputs.user.as_ref().filter(|user| user.trust == TrustName::Owner);
    let before = history.entries.iter().map(|entry| &entry.message);
    let before = before.filter(|said| said.role == Role::User && said.trust == Trust::Owner);
    let mut told = told.map(|user| &*user.text).into_iter().chain(before.map(|said| &*said.text));
    let names_key = told.any(|text| keys_in(text).next().is_some());
    inputs.tools.retain(|tool| match tool.name.as_str() {
        "web_fetch" if names_key => true,
        name if has_own => !BARE.contains(&name),
        name => name != RESEARCH,
    });
}

/// Shows pinned memories, goal and tools where the conversation's earlier prompts did, so that its prefix stays the same
/// until something resets it.
async fn keep_prefix(
    deps: &ContextDeps,
    gathered: &mut Gathered,
    mut kept: Option<PrefixCache>,
) -> Result<(), AgentError> {
    let Gathered { inputs, history, profile, loaded, path, session, .. } = gathered;
    let behaviour = profile.behaviour();
    let defers = behaviour.find_tools && deps.config.tools.defer;
    let sends = behaviour.find_tools && deps.tools.sends();
    if defers || sends {
        inputs.tools.push(FindTools::input(sends));
    }
    let tools = kept.as_mut().map(|kept| std::mem::take(&mut kept.tools));
    let view_id = History::view_id(&history.view);
    let prefix_reset = if behaviour.stable_prefix {
        let key = prefix_key(loaded, inputs, profile, path, &view_id);
        let kept = kept.filter(|kept| !kept.shows_gone_goal_of_strangers(inputs.goal.as_ref()));
        let memories = split_pinned(kept, key, std::mem::take(&mut inputs.memory.pinned));
        inputs.memory.pinned = memories.pinned;
        *session = memories.session;
        let (goal, stored) = session.split_goal(inputs.goal.as_ref());
        inputs.changed = ChangedInput { goal, pinned: memories.changed, stored: Some(stored) };
        memories.prefix_reset
    } else {
        *session = kept.unwrap_or_default().without_beginning();
        true
    };
    let counts = defers && (prefix_reset || tools.is_none());
    let uses = if counts { deps.store.tool_uses(COUNTED).await? } else { Vec::new() };
    let uses = uses.into_iter().collect();
    let asked = sources::goal::asked_tool(inputs);
    let choice = Choice { profile, path, defers, prefix_reset, view_id, kept: tools, uses: &uses, asked };
    session.tools = select_tools(inputs, &choice);
    Ok(())
}

/// Takes known secrets out of every text of the owner's.
fn clean(deps: &ContextDeps, inputs: &mut Inputs) {
    let clean = |text: &mut String| *text = deps.redactor.clean_as(TextKind::Owned, std::mem::take(text));
    let clean_said = |text: &mut String| *text = deps.redactor.clean(std::mem::take(text));
    inputs.soul.iter_mut().chain(inputs.safety.as_mut()).for_each(clean);
    inputs.soul_additions.iter_mut().for_each(clean);
    clean(&mut inputs.agent_name);
    clean(&mut inputs.additional_instructions);
    inputs.memory.instructions.iter_mut().for_each(clean);
    inputs.user.iter_mut().map(|user| &mut user.text).for_each(clean_said);
    let workspace = &mut inputs.workspace;
    workspace.files.iter_mut().map(|file| &mut file.content).for_each(clean);
    workspace.long_term.iter_mut().for_each(clean);
    workspace.daily_notes.iter_mut().map(|note| &mut note.content).for_each(clean);
    let MemoryInput { general, preference, learning, error, pinned, promotions, .. } = &mut inputs.memory;
    for memories in [general, preference, learning, error, pinned, promotions] {
        memories.iter_mut().map(|memory| &mut memory.content).for_each(clean_said);
    }
}

/// The hash of everything whose change resets the prefix of a conversation's prompts.
fn prefix_key(loaded: &LoadedProfile, inputs: &Inputs, profile: &Profile, path: &str, view: &str) -> String {
    let standing: Vec<_> = inputs.skills.active.iter().filter(|skill| skill.standing).collect();
    let settings = serde_json::json!([
        env!("CARGO_PKG_VERSION"),
        profile.name(),
        path,
        inputs.mode,
        inputs.ui_mode,
        inputs.goal_markers,
        inputs.model,
        inputs.agent_name,
        inputs.soul,
        inputs.soul_additions,
        inputs.safety,
        inputs.memory.enabled,
        inputs.session.group,
        view,
        inputs.skills.index,
        standing,
    ])
    .to_string();
    let files = loaded.files.iter().flat_map(|file| [file.path.as_bytes(), &file.bytes]);
    hash_of(std::iter::once(settings.as_bytes()).chain(files))
}

/// The zone that prompts are read in: where the owner lives is theirs.
fn zone_for(deps: &ContextDeps, audience: Audience) -> TimeZone {
    if audience == Audience::Strangers { TimeZone::UTC } else { deps.host.zone() }
}

fn time_info(now: Timestamp, zone: &TimeZone) -> TimeInfo {
    let local = now.to_zoned(zone.clone());
    TimeInfo {
        local: local.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        zone: zone.iana_name().unwrap_or("UTC").to_owned(),
        utc: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    }
}
