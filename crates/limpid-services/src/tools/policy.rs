//! Who may call what: looks up what the pure policy needs to know of a call, and asks it.
//!
//! What a model is offered and what the executor runs are both decided here, by [`limpid_core::policy`].

mod context;
mod drawn;
mod facts;
mod instructing;
mod notes;
mod owners_words;
mod paths;
mod pins;
mod quoted;
mod rules;
mod scope;
mod secrecy;
mod taint;
mod usual_rules;

use std::path::PathBuf;
use std::sync::Arc;

use limpid_config::FilesConfig;
use limpid_core::policy::{
    AddressOrigin, Bans, Call, Effect, FileChange, ModeRules, OwnerRules, PathFacts, PrivatePlace, RefusedBy, Setting,
    ToolFacts, Verdict, Writes, allowed, is_capability_url, judge, lasting_yes, question_of,
};
use limpid_core::{ConversationId, Labelled, ToolClass, Trust};
use limpid_store::Audience;
use limpid_tools::Tool;
use serde_json::Value;

pub use crate::tools::policy::context::{CallContext, WindowFacts};
pub(crate) use crate::tools::policy::facts::CallFacts;
pub(crate) use crate::tools::policy::instructing::{DEEPEST, Entries, LOOKED_AT, NotLookedAt, PartsLeft};
pub use crate::tools::policy::owners_words::owners_words;
pub(crate) use crate::tools::policy::paths::{LONGEST_PATH, PathResolver, Way, free_way, links_on, real, real_by, way};
pub use crate::tools::policy::pins::is_refused;
pub(crate) use crate::tools::policy::pins::{Pins, changes, is_same_call, told_in};
pub(crate) use crate::tools::policy::quoted::QuotedFiles;
pub use crate::tools::policy::rules::PolicyRules;
pub use crate::tools::policy::scope::AgentScope;
pub(crate) use crate::tools::policy::secrecy::SERVERS_GROUP;
pub use crate::tools::policy::secrecy::{holds_private, is_of_public, is_of_server, shows_owners};
pub use crate::tools::policy::taint::{trust_read_in, window_trust};

/// Decides which calls of one turn may run.
#[derive(Clone, Debug)]
pub struct ToolPolicy {
    mode: Option<ModeRules>,
    local_only: bool,
    rules: Arc<OwnerRules>,
    paths: PathResolver,
    /// The folders, some of which have names of ours.
    folders: FilesConfig,
    /// Whether programs of a stranger's folder run without a question by the owner's settings: the model lays code where strangers' text
    /// is kept unasked then, so that these can try it.
    leaves_code: bool,
    is_research: bool,
    /// Whether answers leave for whoever asks, so that no tool looks at what is the owner's.
    for_strangers: bool,
    /// Whether others read the conversation too.
    for_group: bool,
    /// What it is limited to, when the turn is one of an agent that another turn handed work to.
    scope: Option<AgentScope>,
    /// Where copies of what an approval is bound to are kept while it runs.
    copies: PathBuf,
}

/// What the owner is told of a call that waits for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallDescription {
    /// Where it would send or fetch something.
    pub destination: Option<String>,
    /// The folder that the program starts in, where the call starts one; else the one that its relative paths begin at. Empty where it
    /// has neither.
    pub folder: String,
    /// What a lasting yes would cover; none where there is none.
    pub pattern: Option<String>,
    /// Whether a stranger's text led to it, so that all of it has to be seen.
    pub whole: bool,
}

impl ToolPolicy {
    /// What tools and rules say in our own words, without the path of a folder that isn't the owner's: that is a stranger's text.
    pub(crate) fn in_own_words(&self, said: Labelled<String>) -> Labelled<String> {
        if said.trust().is_foreign() { said } else { said.map(|text| self.folders.with_names(text)) }
    }

    /// The policy of a turn whose answer goes to these.
    #[must_use]
    pub fn read_by(self, audience: Audience) -> Self {
        Self { for_strangers: audience == Audience::Strangers, for_group: audience == Audience::Group, ..self }
    }

    /// Whether nothing of the owner's may be in the prompt: a research worker's, or one whose answer leaves for whoever asks.
    pub const fn shows_nothing_private(&self) -> bool {
        self.is_research || self.for_strangers
    }

    /// Whether a call may reach the owner's own network. One that may not is judged as if all of it led to the public web, and the web
    /// says the same of every address that does not: so nobody is told which ones there are in that network.
    pub(crate) const fn reaches_own_network(&self) -> bool {
        !self.shows_nothing_private()
    }

    /// Whether answers leave for whoever asks.
    pub const fn is_for_strangers(&self) -> bool {
        self.for_strangers
    }

    /// Whether a tool exists in this turn: what is not, is neither declared nor run.
    pub(crate) fn offers(&self, tool: &dyn Tool) -> bool {
        let is_for_them = !self.for_strangers || tool.is_public();
        is_for_them
            && allowed(self.mode.as_ref(), &facts_of(tool))
            && self.scope.as_ref().is_none_or(|scope| scope.has(tool))
    }

    /// Whether a tool is declared: not when the owner's rules deny every call of it.
    pub(crate) fn declares(&self, tool: &dyn Tool) -> bool {
        self.offers(tool) && !self.rules.deny.iter().any(|rule| rule.covers(&facts_of(tool)))
    }

    /// What is to be known of a call.
    pub(crate) fn facts(&self, tool: &dyn Tool, arguments: &Value) -> CallFacts {
        let mut facts = CallFacts::of(tool, arguments, &self.paths);
        facts.own_network &= self.reaches_own_network();
        facts
    }

    /// Adds to what is known of a call the names of the thing of the database that it names, and those that the owner's rules use.
    pub(crate) async fn know_names(
        &self,
        facts: &mut CallFacts,
        tool: &dyn Tool,
        arguments: &Value,
        conversation: Option<&ConversationId>,
    ) {
        facts.know_names(tool, arguments, conversation, &self.paths).await;
    }

    /// Whether a call names a path that takes long to follow.
    pub(crate) fn is_too_long(&self, tool: &dyn Tool, arguments: &Value) -> bool {
        tool.paths(arguments).iter().any(|path| self.paths.is_too_long(path))
    }

    /// The arguments of a call whose new file goes to the folder for strangers' text, because its turn has read such text.
    pub(crate) fn keep_low(&self, tool: &dyn Tool, arguments: &Value, trust: Trust) -> Option<Value> {
        if !trust.is_foreign() {
            return None;
        }
        let mut paths = tool.paths(arguments).into_iter().filter(|path| !self.paths.is_too_long(path));
        let low = paths.find_map(|path| self.paths.low_path(path))?;
        tool.with_new_path(arguments, &low)
    }

    /// Whether nothing that a tainted turn may do unasked changes what a call returns: it reads the web, a message that
    /// came in, or whole files of the owner's that instruct nobody. Memories, history, lists of what is new and the folder for
    /// strangers' text are changed by such turns.
    pub(crate) fn is_fixed(&self, tool: &dyn Tool, arguments: &Value) -> bool {
        let is_owners = |path: &PathFacts| {
            let is_file = path.change == FileChange::Other && path.real.as_path().is_file();
            path.in_workspace && !path.is_low && !path.write && is_file
        };
        match tool.effect(arguments) {
            Effect::Search | Effect::Fetch(_) => tool.is_public(),
            Effect::Look if tool.is_steady(arguments) => true,
            Effect::Look => {
                let paths = self.facts(tool, arguments).paths;
                !paths.is_empty() && paths.iter().all(is_owners)
            }
            _ => false,
        }
    }

    /// Which files a call would change that links in the owner's folders lead to, for whoever is asked about it.
    pub(crate) fn behind_links(&self, facts: &CallFacts) -> Option<String> {
        let paths = facts.paths.iter().filter(|_| facts.effect == Effect::Files);
        let told: Vec<String> = paths.filter_map(|path| self.paths.behind_link(path)).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    /// Where the owner's rules let a call not be led.
    pub(crate) fn bans(&self, tool: &dyn Tool, facts: &CallFacts) -> Bans {
        self.rules.bans(&facts_of(tool), &facts.arguments)
    }

    /// Says whether a call may run.
    pub(crate) fn verdict(&self, tool: &dyn Tool, facts: &CallFacts, context: &CallContext) -> Verdict {
        if self.scope.as_ref().is_some_and(|scope| !scope.has(tool)) {
            let reason = format!("`{}` is none of this agent's tools", tool.name());
            return Verdict::Refused { reason, by: RefusedBy::Setting };
        }
        if self.for_strangers && !tool.is_public() {
            let reason = format!("`{}` is not there for whoever asks from outside", tool.name());
            return Verdict::Refused { reason, by: RefusedBy::Setting };
        }
        match judge(&self.setting_of(facts, context), &facts.call(facts_of(tool), context)) {
            // The owner would say yes to a call whose result goes to somebody whom they don't see. What their rules name is theirs, so
            // the same is said of a call that one forbids.
            Verdict::NeedsApproval { .. } | Verdict::Refused { by: RefusedBy::Rule, .. } if self.for_strangers => {
                let name = tool.name();
                let reason =
                    format!("`{name}` does not run like this: it would need a yes, and nobody can be asked here");
                Verdict::Refused { reason, by: RefusedBy::Setting }
            }
            verdict => verdict,
        }
    }

    /// What a question about a call says, also where it may run unasked.
    pub(crate) fn question(&self, tool: &dyn Tool, facts: &CallFacts, context: &CallContext) -> String {
        question_of(&self.setting_of(facts, context), &facts.call(facts_of(tool), context))
    }

    /// What holds for a call of which it is known whether others read its conversation.
    fn setting_of<'a>(&'a self, facts: &CallFacts, context: &'a CallContext) -> Setting<'a> {
        let setting = self.setting(context);
        Setting { group: setting.group || facts.others_read, ..setting }
    }

    fn setting<'a>(&'a self, context: &'a CallContext) -> Setting<'a> {
        Setting {
            mode: self.mode.as_ref(),
            local_only: self.local_only,
            trust: context.trust,
            rules: &self.rules,
            private: context.window.is_private,
            research: self.is_research,
            strangers: self.for_strangers,
            group: self.for_group,
            delegated: self.scope.is_some(),
            grants: &context.grants,
        }
    }

    /// What the owner is told of a call that waits for them.
    pub(crate) async fn describe(
        &self,
        tool: &dyn Tool,
        arguments: &Value,
        context: &CallContext,
        others_read: bool,
    ) -> CallDescription {
        let mut facts = self.facts(tool, arguments);
        facts.others_read = others_read;
        facts.know_owned(tool, arguments, context).await;
        let call = facts.call(facts_of(tool), context);
        let pattern = lasting_yes(&self.setting_of(&facts, context), &call);
        let destination = facts.destination.map(|to| to.to_string());
        // The same that a yes is bound to.
        let starts_in = tool.starts(arguments).map(|started| started.folder);
        let is_relative = |path: &str| !path.starts_with(['/', '~']);
        let begins_there =
            tool.class() == ToolClass::Execute || tool.paths(arguments).iter().any(|named| is_relative(&named.path));
        let folder = starts_in.as_deref().or_else(|| begins_there.then(|| self.paths.folder()));
        let folder = folder.map(|folder| folder.display().to_string()).unwrap_or_default();
        CallDescription { destination, folder, pattern, whole: context.trust.is_foreign() }
    }

    /// Whether the turn is a research worker's, whose window shows nothing of the owner's.
    pub fn is_research(&self) -> bool {
        self.is_research
    }

    /// A new folder for copies of what an approval is bound to.
    pub(crate) fn copies(&self, name: &str) -> PathBuf {
        self.copies.join(name)
    }

    /// Whether nothing in the workspace may change.
    pub fn is_read_only(&self) -> bool {
        self.mode.as_ref().is_some_and(|mode| mode.writes == Writes::None)
    }
}

impl CallFacts {
    /// Where it leads, if that is private to the owner. What everybody could read names no key.
    pub(crate) fn private_place(&self, context: &CallContext) -> Option<PrivatePlace> {
        let is_key =
            |address: &str| is_capability_url(address) && !context.window.read.iter().any(|read| read == address);
        match &self.effect {
            _ if self.own_network => Some(PrivatePlace::OwnNetwork),
            Effect::Fetch(Some(address)) | Effect::Show(Some(address)) if is_key(address) => {
                Some(PrivatePlace::CapabilityUrl)
            }
            _ => None,
        }
    }

    /// Whether what stands where it is led on to is the owner's, if that is a key: not where everybody could read the address.
    pub(crate) fn may_lead_to_key(&self, context: &CallContext) -> bool {
        // Any other may be a short link of theirs, also in a research worker, whose task may name it.
        context.address_origin(&self.effect) != AddressOrigin::Read
    }

    /// The call as the policy judges it.
    pub(crate) fn call<'a>(&'a self, tool: ToolFacts<'a>, context: &'a CallContext) -> Call<'a> {
        let origin = context.address_origin(&self.effect);
        let address = match self.private_place(context) {
            // Of a result whose links are all opened the model chooses none.
            Some(PrivatePlace::CapabilityUrl) if origin == AddressOrigin::Reserved => origin,
            Some(place) => origin.at(place),
            None => origin,
        };
        Call {
            also: self.also(&tool),
            text: self.text(),
            tool,
            effect: &self.effect,
            address,
            fetched: context.times_fetched(&self.effect),
            arguments: &self.arguments,
            spellings: &self.spellings,
            paths: &self.paths,
            destination: self.destination.as_ref(),
            other_destinations: &self.other_destinations,
            reserved: context.reserved,
            unasked: self.unasked,
            // After a stranger's text it has the network by a yes alone, and waits for that anyway.
            sends: self.sends && !context.trust.is_foreign(),
            public: self.public,
            answers_alike: self.answers_alike,
            adopts: self.adopts,
            owners_words: &context.owners_words,
        }
    }
}

/// A tool as the policy knows it.
pub(crate) fn facts_of(tool: &dyn Tool) -> ToolFacts<'_> {
    ToolFacts { name: tool.name(), other_names: tool.other_names(), group: tool.group(), class: tool.class() }
}
