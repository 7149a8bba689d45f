//! Who may call what: looks up what the pure policy needs to know of a call, and asks it.
//!
//! What a model is offered and what the executor runs are both decided here, by [`limpid_core::policy`].

mod drawn;
mod facts;
mod instructing;
mod notes;
mod owners_words;
mod paths;
mod pins;
mod scope;
mod secrecy;
mod taint;
mod usual_rules;

use std::path::PathBuf;
use std::sync::Arc;

use limpid_config::{Config, FilesConfig, Home, Live};
use limpid_core::policy::{
    AddressOrigin, Bans, Call, Effect, FileChange, Grant, ModeRules, OwnerRules, OwnersWords, PathFacts, Setting,
    ToolFacts, TypedAddresses, Verdict, Writes, allowed, judge, lasting_yes, question_of,
};
use limpid_core::{ConversationId, Labelled, Trust};
use limpid_prompt::Profile;
use limpid_prompt::profile::ModeRulesApply;

use limpid_store::Audience;
use limpid_tools::Tool;
use serde_json::Value;

use crate::tools::builtin::grants;
pub(crate) use crate::tools::policy::facts::CallFacts;
pub(crate) use crate::tools::policy::instructing::{Entries, LOOKED_AT};
pub use crate::tools::policy::owners_words::owners_words;
pub(crate) use crate::tools::policy::paths::{LONGEST_PATH, PathResolver, free_way, links_on, real};
pub(crate) use crate::tools::policy::pins::{Pins, changes, is_same_call};
pub use crate::tools::policy::scope::AgentScope;
pub use crate::tools::policy::secrecy::{holds_private, is_of_public, shows_owners};
pub use crate::tools::policy::taint::{trust_read_in, window_trust};
use crate::tools::policy::usual_rules::with_usual_forms;

/// Files of a workspace that prompts of shipped profiles quote.
pub(crate) const QUOTED: [&str; 6] = ["AGENT.md", "AGENTS.md", "SOUL.md", "USER.md", "IDENTITY.md", "HEARTBEAT.md"];

/// What the policies of turns are made from: the owner's rules, and the folders that calls may touch.
#[derive(Clone)]
pub struct PolicyRules {
    home: Home,
    config: Live<Config>,
    rules: Live<Arc<OwnerRules>>,
}

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

/// What changes from call to call.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// The conversation that it is made in, if in one.
    pub conversation: Option<ConversationId>,
    /// Who wrote the least trusted text in the model's window.
    pub trust: Trust,
    /// What the owner allowed for the rest of the conversation.
    pub grants: Vec<Grant>,
    /// What is known of the model's window besides.
    pub window: WindowFacts,
    /// Whether the turn holds a reserved right to exactly this call.
    pub reserved: bool,
    /// The addresses that the turn has asked for, in their normal form, as often as it did.
    pub fetched: Vec<String>,
    /// What the window shows of the owner's that they did not type in the conversation; looked for only where a worker can be told.
    pub owners_words: Arc<OwnersWords>,
}

/// What a tainted turn is judged by besides its label. In a clean one nothing of it counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowFacts {
    /// Whether something is in the window that is private to the owner.
    pub is_private: bool,
    /// The addresses that the owner typed, in their normal form.
    pub named: TypedAddresses,
    /// A link that a right names which the owner reserved, in its normal form.
    pub link: Option<String>,
    /// The addresses that stand in what was read in this turn, in their normal form; looked for only where nothing private is.
    pub read: Vec<String>,
}

impl WindowFacts {
    /// A window of which nothing is known: it is private, and no right names an address.
    pub fn unknown() -> Self {
        Self { is_private: true, named: TypedAddresses::default(), link: None, read: Vec::new() }
    }
}

impl CallContext {
    /// A call of somebody who wrote down what to do, with nothing allowed beforehand.
    pub fn of(trust: Trust) -> Self {
        Self {
            conversation: None,
            trust,
            grants: Vec::new(),
            window: WindowFacts::unknown(),
            reserved: false,
            fetched: Vec::new(),
            owners_words: Arc::default(),
        }
    }

    /// Says that an address was asked for, or is being asked for.
    pub fn note_fetch(&mut self, address: &str) {
        self.window.named.fetched(address);
        self.fetched.push(address.to_owned());
    }

    /// How often the address of a fetch was asked for before.
    fn times_fetched(&self, effect: &Effect) -> usize {
        let Effect::Fetch(Some(address)) = effect else { return 0 };
        self.fetched.iter().filter(|fetched| *fetched == address).count()
    }

    /// How the address of a fetch came about.
    fn address_origin(&self, effect: &Effect) -> AddressOrigin {
        let Effect::Fetch(Some(address)) = effect else { return AddressOrigin::Composed };
        if self.window.link.as_ref() == Some(address) {
            AddressOrigin::Reserved
        } else if self.window.named.is_next(address) {
            AddressOrigin::Typed
        } else if self.window.named.contains(address) {
            AddressOrigin::TypedElsewhere
        } else if self.window.read.contains(address) {
            AddressOrigin::Read
        } else {
            AddressOrigin::Composed
        }
    }

    /// Words of the call: they have the label of what the model had read.
    pub(crate) fn words<T>(&self, words: T) -> Labelled<T> {
        Labelled::new(words, self.trust)
    }
}

/// What the owner is told of a call that waits for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallDescription {
    /// Where it would send or fetch something.
    pub destination: Option<String>,
    /// The folder that the program starts in, where the call starts one; else the one that relative paths begin at.
    pub folder: String,
    /// What a lasting yes would cover; none where there is none.
    pub pattern: Option<String>,
    /// Whether a stranger's text led to it, so that all of it has to be seen.
    pub whole: bool,
}

impl PolicyRules {
    /// What the owner wrote down about calls, for policies over this home.
    pub fn new(home: Home, config: Live<Config>, rules: Live<Arc<OwnerRules>>) -> Self {
        Self { home, config, rules }
    }

    /// The policy of a turn; `mode` is the mode that is on, `set` whether the person set it, `scope` what an agent is limited
    /// to.
    pub fn for_turn(
        &self,
        profile: &Profile,
        path: &str,
        (mode, set): (&str, bool),
        scope: Option<AgentScope>,
    ) -> ToolPolicy {
        let behaviour = profile.behaviour();
        let rules = (set || behaviour.mode_rules == ModeRulesApply::Always)
            .then(|| profile.mode_rules(mode).cloned().unwrap_or_else(|| ModeRules::of(mode)));
        ToolPolicy {
            mode: rules,
            local_only: behaviour.small_model_tools.iter().any(|few| few == path),
            rules: with_usual_forms(&self.rules),
            paths: self.paths(prompt_files(profile)),
            folders: self.config.files.clone(),
            leaves_code: self.leaves_code(),
            is_research: profile.path(path).is_ok_and(|path| path.public),
            for_strangers: false,
            for_group: false,
            scope,
            copies: self.home.approved_copies(),
        }
    }

    /// The policy of calls outside of any turn: the owner's rules alone.
    pub fn without_mode(&self) -> ToolPolicy {
        let paths = self.paths(QUOTED.map(PathBuf::from).into());
        let copies = self.home.approved_copies();
        ToolPolicy {
            mode: None,
            local_only: false,
            rules: with_usual_forms(&self.rules),
            paths,
            folders: self.config.files.clone(),
            leaves_code: self.leaves_code(),
            is_research: false,
            for_strangers: false,
            for_group: false,
            scope: None,
            copies,
        }
    }

    fn leaves_code(&self) -> bool {
        let mut listed = self.config.exec.folders.iter().filter(|one| !one.programs.is_empty()).peekable();
        if listed.peek().is_none() {
            return false;
        }
        let grants = grants(&self.home, &self.config.files);
        listed.any(|one| grants.is_strangers(&one.folder))
    }

    fn paths(&self, prompt_files: Vec<PathBuf>) -> PathResolver {
        let files = &self.config.files;
        let resolver = PathResolver::new(&self.home, prompt_files, files).with_base(files.base.as_deref());
        resolver.with_rules(&self.rules)
    }
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
        CallFacts::of(tool, arguments, &self.paths)
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

    /// The arguments of a call whose new file goes to the folder for strangers' text, because its turn has read such text.
    pub(crate) fn keep_low(&self, tool: &dyn Tool, arguments: &Value, trust: Trust) -> Option<Value> {
        if !trust.is_foreign() {
            return None;
        }
        let low = tool.paths(arguments).into_iter().find_map(|path| self.paths.low_path(path))?;
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
            return Verdict::Refused { reason: format!("`{}` is none of this agent's tools", tool.name()) };
        }
        if self.for_strangers && !tool.is_public() {
            return Verdict::Refused {
                reason: format!("`{}` is not there for whoever asks from outside", tool.name()),
            };
        }
        match judge(&self.setting_of(facts, context), &facts.call(facts_of(tool), context)) {
            // The owner would say yes to a call whose result goes to somebody whom they don't see.
            Verdict::NeedsApproval { .. } if self.for_strangers => {
                Verdict::Refused { reason: format!("`{}` would need a yes, and nobody can be asked here", tool.name()) }
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
    pub(crate) fn describe(
        &self,
        tool: &dyn Tool,
        arguments: &Value,
        context: &CallContext,
        others_read: bool,
    ) -> CallDescription {
        let mut facts = self.facts(tool, arguments);
        facts.others_read = others_read;
        let call = facts.call(facts_of(tool), context);
        let pattern = lasting_yes(&self.setting_of(&facts, context), &call);
        let destination = facts.destination.map(|to| to.to_string());
        // The same that a yes is bound to.
        let starts_in = tool.starts(arguments).map(|started| started.folder);
        let folder = starts_in.as_deref().unwrap_or_else(|| self.paths.folder()).display().to_string();
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
    /// The call as the policy judges it.
    pub(crate) fn call<'a>(&'a self, tool: ToolFacts<'a>, context: &'a CallContext) -> Call<'a> {
        let address = context.address_origin(&self.effect);
        Call {
            also: self.also(&tool),
            tool,
            effect: &self.effect,
            address: if self.own_network { address.of_own_network() } else { address },
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
            adopts: self.adopts,
            owners_words: &context.owners_words,
        }
    }
}

/// A tool as the policy knows it.
pub(crate) fn facts_of(tool: &dyn Tool) -> ToolFacts<'_> {
    ToolFacts { name: tool.name(), other_names: tool.other_names(), group: tool.group(), class: tool.class() }
}

/// Files of the workspace that prompts quote: those of the profile, and those of profiles that may come after it.
fn prompt_files(profile: &Profile) -> Vec<PathBuf> {
    let own = profile.file_order().iter().map(String::as_str);
    own.chain(QUOTED).map(PathBuf::from).collect()
}
