//! AGENT.md of the workspace: the settings of its front matter, in profiles that quote the file.

use limpid_config::read_marking;
use limpid_prompt::Profile;
use limpid_prompt::agent_file::{AGENT_FILE, AgentFile};
use limpid_prompt::inputs::Inputs;
use limpid_services::heartbeat::HEARTBEAT_DECISION;
use limpid_services::profiles::Reader;
use limpid_services::tools::{Place, UnacceptedFiles};
use limpid_store::Conversation;

use crate::deps::ContextDeps;

/// Whether prompts of a profile quote AGENT.md.
fn quotes(profile: &Profile) -> bool {
    profile.file_order().iter().any(|name| name == AGENT_FILE)
}

impl ContextDeps {
    /// The model that a conversation asks for: the one that was chosen for it, else that of AGENT.md where it can be
    /// used. None: the configured one.
    pub async fn wanted_model(&self, conversation: Option<&Conversation>) -> Option<String> {
        if let Some(chosen) = conversation.and_then(|own| own.model.clone()) {
            return Some(chosen);
        }
        let name = conversation.map_or(self.config.agent.profile.as_str(), |own| own.profile.as_str());
        self.model_of_profile(name).await
    }

    /// The model of AGENT.md, in a profile that quotes it.
    pub async fn model_of_profile(&self, name: &str) -> Option<String> {
        let profile = self.profiles.profile(name, Reader::Owner).ok()?;
        let place = Place::of(&self.home.workspace(), AGENT_FILE);
        if !quotes(&profile) {
            return None;
        }
        let mut unaccepted = UnacceptedFiles::read(&*self.store, &self.home, &self.config.files).await.ok()?;
        let text = loop {
            let read = read_marking(place.as_path()).ok().flatten();
            let read = read.filter(|read| !unaccepted.contains(&place, &read.bytes)).map(|read| read.text);
            // Somebody who changes the file chooses no other model: what the owner knew of it holds, as in prompts.
            let text = read.or_else(|| unaccepted.former_text(&place));
            match unaccepted.read_again_if_changed(&*self.store, &self.home, &self.config.files).await.ok()? {
                Some(newer) => unaccepted = newer,
                None => break text?,
            }
        };
        let model = AgentFile::read(&text).0.model?;
        self.models.open(&model).is_ok().then_some(model)
    }
}

/// Applies AGENT.md to the inputs and returns its settings. What of it is wrong or cannot be used is said in
/// `notices`.
pub(crate) fn apply(
    deps: &ContextDeps,
    profile: &Profile,
    inputs: &mut Inputs,
    notices: &mut Vec<String>,
) -> AgentFile {
    let file = inputs.workspace.files.iter().find(|file| file.name == AGENT_FILE).filter(|_| quotes(profile));
    let Some(file) = file else { return AgentFile::default() };
    let (agent, wrong) = AgentFile::read(&file.content);
    let mut tell = |text: String| notices.push(format!("{AGENT_FILE}: {text}"));
    wrong.into_iter().for_each(&mut tell);
    if let Some(name) = &agent.name {
        inputs.agent_name.clone_from(name);
    }
    if let Some(tools) = &agent.tools {
        let exists = |name: &&String| deps.tools.tool(name).is_some();
        for unknown in tools.iter().filter(|name| !exists(name)) {
            tell(format!("there is no tool `{unknown}`"));
        }
        inputs.tools.retain(|tool| tools.contains(&tool.name) || tool.name == HEARTBEAT_DECISION);
    }
    if let Some(skills) = &agent.skills {
        let listed = |name: &str| skills.iter().any(|skill| skill.eq_ignore_ascii_case(name));
        for unknown in skills.iter().filter(|skill| !inputs.skills.index.iter().any(|known| known.name == **skill)) {
            tell(format!("there is no skill `{unknown}` that can be used"));
        }
        inputs.skills.index.retain(|skill| listed(&skill.name));
        inputs.skills.active.retain(|skill| listed(&skill.name));
    }
    if let Some(Err(error)) = agent.model.as_deref().map(|model| deps.models.open(model)) {
        tell(format!("the model cannot be used, so the configured one answers: {error}"));
    }
    if let Some(servers) = agent.mcp_servers.as_ref().filter(|servers| !servers.is_empty()) {
        tell(format!("`mcpServers` ({}) is not read; add a server with `limpid mcp add`", servers.join(", ")));
    }
    agent
}
