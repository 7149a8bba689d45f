//! What is to be known of a call before it may run.

use limpid_core::policy::{Argument, Destination, Effect, PathFacts, ToolFacts};
use limpid_core::stars::fits;
use limpid_core::{ConversationId, Trust};
use limpid_tools::{Found, StrangersProgram, ascii_form, letters_form, usual_form};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::tools::Tool;
use crate::tools::policy::context::CallContext;
use crate::tools::policy::paths::PathResolver;

/// What is to be known of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallFacts {
    /// What this very call would change.
    pub(crate) effect: Effect,
    /// The arguments as rules are compared with them.
    pub(crate) arguments: Argument,
    /// The same with the path that they name spelled as whoever writes a rule may have spelled it.
    pub(crate) spellings: Vec<Argument>,
    pub(crate) paths: Vec<PathFacts>,
    /// The names and the group of the tool that it counts as besides.
    also: Option<(Vec<String>, String)>,
    /// What stands for the text of the tool, where others wrote it.
    text: Option<String>,
    /// Where it would send or fetch something.
    pub(crate) destination: Option<Destination>,
    /// The same as the owner's rules name it that hold calls back.
    pub(crate) other_destinations: Vec<Destination>,
    /// Whether it would only add to the files that it names.
    pub(crate) adds: bool,
    /// Whether the owner wrote down that it runs unasked after a stranger's text.
    pub(crate) unasked: bool,
    /// Whether a yes to it makes the words that it keeps the owner's own.
    pub(crate) adopts: bool,
    /// Whether its answer is the same whatever was there before.
    pub(crate) answers_alike: bool,
    /// Whether anybody could read what it returns.
    pub(crate) public: bool,
    /// Whether it leads to the owner's own network.
    pub(crate) own_network: bool,
    /// Whether it would run a program that may be a stranger's, with the network, in a turn that has read nothing of a stranger's.
    pub(crate) sends: bool,
    /// Where it leads, for a tool that looked that up. It runs as nothing else.
    pub(crate) found: Option<Found>,
    /// Whether others read the conversation that it is called in.
    pub(crate) others_read: bool,
    /// What a number or a key in its arguments stands for.
    pub(crate) about: Option<String>,
    /// What it tells of the owner's that they did not type, in a line ([`OwnersWords::line`](limpid_core::policy::OwnersWords::line)). A
    /// yes is bound to it, and what waits is judged by it when its turn is over.
    pub(crate) told: String,
    /// What whoever is asked has to know of it besides: what it can see, change and reach. A yes is bound to it, so it is looked for again when one is held against the call.
    pub(crate) warning: Option<String>,
    /// Whether whoever is asked is told that a yes does not let it run. A yes is bound to it.
    pub(crate) is_refused: bool,
    /// The hash of its words: tool, arguments, where paths lead, the workspace, the program's place. An approval is bound to it,
    /// and to the bytes of files besides.
    pub(crate) hash: String,
}

impl CallFacts {
    pub(crate) fn of(tool: &dyn Tool, arguments: &Value, resolver: &PathResolver) -> Self {
        resolver.create_folders();
        let named = tool.paths(arguments);
        let adds = named.iter().all(|path| path.adds);
        let paths: Vec<PathFacts> = named.into_iter().map(|path| resolver.resolve(path)).collect();
        let mut hash = Sha256::new();
        let mut bind = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        bind(tool.name());
        bind(&canonical(&plain(arguments)));
        bind(&resolver.workspace());
        paths.iter().for_each(|path| bind(&path.real.as_path().display().to_string()));
        tool.bound_to(arguments).iter().for_each(|text| bind(text));
        // Whatever a lasting yes rests on, a yes to one call rests on, too.
        bind(&tool.looked_at(arguments).unwrap_or_default());
        let judged = tool.judged(arguments);
        let rules = resolver.rules();
        let patterns = rules.iter().filter_map(|rule| rule.arguments.as_ref());
        let programs: Vec<Value> = patterns.flat_map(|rule| tool.spelled_as(arguments, rule)).collect();
        let ruled_places = rules.iter().filter_map(|rule| rule.destination.as_deref());
        let at_path = |path: String| {
            let with = |call: &Value| Some(plain(&with_path(call, tool.path_field(), path.clone())?));
            std::iter::once(&judged).chain(&programs).filter_map(with).collect::<Vec<Argument>>()
        };
        let written_out = tool.written_out(arguments);
        let said = || written_out.iter().chain([arguments]);
        let as_ruled = |said| resolver.ruled().iter().filter_map(move |rule| as_ruled(tool, said, rule));
        Self {
            spellings: paths
                .iter()
                .flat_map(|path| resolver.spellings(path))
                .flat_map(at_path)
                .chain(programs.iter().map(plain))
                .chain(said().flat_map(as_ruled))
                .chain(said().flat_map(|said| forms(tool, said)).map(|form| plain(&form)))
                .chain(written_out.iter().map(plain))
                .collect(),
            also: tool.counts_as(arguments),
            text: tool.looked_at(arguments),
            effect: tool.effect(arguments),
            destination: tool.destination(arguments),
            other_destinations: ruled_places.flat_map(|rule| tool.destinations_as(arguments, rule)).collect(),
            adds,
            unasked: tool.runs_unasked(arguments),
            own_network: tool.names_own_network(arguments),
            adopts: tool.adopts(),
            public: tool.is_public(),
            answers_alike: tool.answers_alike(),
            sends: tool.strangers_program(Trust::Owner, false, arguments) == Some(StrangersProgram::Sends),
            found: tool.leads_to(arguments),
            about: None,
            told: String::new(),
            warning: None,
            is_refused: false,
            others_read: false,
            hash: hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect(),
            arguments: plain(&judged),
            paths,
        }
    }

    /// Whether its paths lead elsewhere than the tool found: something was put in the way while it was looked at.
    pub(crate) fn has_moved(&self) -> bool {
        let is_other = |found: &Found| self.paths.iter().any(|path| path.real.as_path() != found.folder);
        self.found.as_ref().is_some_and(is_other)
    }

    /// Notes what it tells of the owner's, where a question says so.
    pub(crate) fn know_told(&mut self, context: &CallContext) {
        let is_told = self.effect == Effect::Research || (self.effect == Effect::Search && context.trust.is_foreign());
        if is_told {
            self.told = context.owners_words.told_by(&self.arguments).line();
        }
    }

    /// A call that hands work on changes what the owner has, where it would use up something of theirs and a stranger's text may have led
    /// to it.
    pub(crate) async fn know_owned(&mut self, tool: &dyn Tool, arguments: &Value, context: &CallContext) {
        let may_be_led = self.effect == Effect::Delegate && context.trust.is_foreign();
        if may_be_led && tool.changes_owned(arguments, context.conversation.as_ref()).await {
            self.effect = Effect::ChangeOwned;
        }
    }

    /// What stands for the text of the tool, where others wrote it.
    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The tool that it counts as besides.
    pub(crate) fn also<'a>(&'a self, tool: &ToolFacts<'a>) -> Option<ToolFacts<'a>> {
        let (names, group) = self.also.as_ref()?;
        let (name, other_names) = names.split_first()?;
        Some(ToolFacts { name, other_names, group, class: tool.class })
    }

    /// Whether it changes something by a number, a key or a place, which another one may have by the time it runs. Files and
    /// programs are bound by their bytes.
    pub(crate) fn changes_what_is_there(&self) -> bool {
        matches!(self.effect, Effect::ChangeOwned | Effect::Mailbox | Effect::Plan | Effect::ChangeSelf)
    }

    /// Whether it only looks at something, or hands work on, which changes nothing by itself.
    pub(crate) fn only_looks(&self) -> bool {
        matches!(self.effect, Effect::Look | Effect::Delegate)
    }

    /// Keeps what a call that only looks is about, such as the message whose number it names, for whoever is asked about it.
    pub(crate) async fn know_what_is_asked(
        &mut self,
        tool: &dyn Tool,
        arguments: &Value,
        conversation: Option<&ConversationId>,
    ) {
        if self.only_looks() {
            self.tell(None, tool.concerns(arguments, conversation).await.into_words());
        }
    }

    /// Keeps what whoever is asked is told besides the arguments: what Limpid knows of the call stands before words that others may
    /// have written, so that these push nothing out.
    pub(crate) fn tell(&mut self, behind_links: Option<String>, stands_for: Option<String>) {
        // A look's own sentence says it.
        let is_read = self.others_read && !self.only_looks();
        let readers = is_read.then(|| "others read this conversation, and what comes of the call with it".to_owned());
        let about: Vec<String> = readers.into_iter().chain(behind_links).chain(stands_for).collect();
        self.about = (!about.is_empty()).then(|| about.join("; "));
    }

    /// Adds the call under each name of the thing of the database that it names, and as rules that hold calls back name that thing: they
    /// are looked up as the call is.
    pub(crate) async fn know_names(
        &mut self,
        tool: &dyn Tool,
        arguments: &Value,
        conversation: Option<&ConversationId>,
        resolver: &PathResolver,
    ) {
        let Some(named) = tool.named(arguments, conversation).await else { return };
        let mut names = named.names.clone();
        for (field, text) in resolver.ruled().iter().flatten() {
            if !named.fields.contains(&field.as_str()) {
                continue;
            }
            let asked = with_names(arguments, named.fields.get(..1).unwrap_or_default(), text);
            if tool.named(&asked, conversation).await.as_ref() == Some(&named) {
                names.push(text.clone());
            }
        }
        for said in tool.written_out(arguments).iter().chain([arguments]) {
            let calls = names.iter().map(|name| with_names(said, named.fields, name));
            self.spellings.extend(calls.flat_map(|call| [plain(&call), plain(&usual_form(&call))]));
        }
    }

    /// Binds an approval to more than the call itself says.
    pub(crate) fn bind(&mut self, looked_up: &[String]) {
        for text in looked_up {
            let hash = Sha256::new().chain_update(&self.hash).chain_update(text).finalize();
            self.hash = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        }
    }
}

/// The forms in which arguments are compared: a tool's own adds to the usual one.
fn forms(tool: &dyn Tool, arguments: &Value) -> [Value; 4] {
    [tool.canonical(arguments), usual_form(arguments), ascii_form(arguments), letters_form(arguments)]
}

/// The arguments as a rule spells them, where that is the same to the tool.
fn as_ruled(tool: &dyn Tool, arguments: &Value, rule: &[(String, String)]) -> Option<Argument> {
    let said = forms(tool, arguments);
    let with = |arguments: &Value, field: &str, text: &str| {
        let mut ruled = arguments.clone();
        *ruled.get_mut(field)? = Value::from(text);
        Some(ruled)
    };
    let means = |field: &str, text: &str| {
        let Some(ruled) = with(arguments, field, text).map(|ruled| forms(tool, &ruled)) else { return false };
        ruled.iter().zip(&said).any(|(ruled, said)| {
            let is_like = || Some(fits(ruled.get(field)?.as_str()?, said.get(field)?.as_str()?));
            ruled == said || text.contains('*') && is_like().unwrap_or(false)
        })
    };
    let meant: Vec<_> = rule.iter().filter(|(field, text)| means(field, text)).collect();
    let ruled = meant.iter().try_fold(arguments.clone(), |ruled, (field, text)| with(&ruled, field, text))?;
    (!meant.is_empty()).then(|| plain(&ruled))
}

fn plain(value: &Value) -> Argument {
    match value {
        Value::String(text) => Argument::Text(text.clone()),
        Value::Array(items) => Argument::List(items.iter().map(plain).collect()),
        Value::Object(fields) => {
            Argument::Fields(fields.iter().map(|(name, value)| (name.clone(), plain(value))).collect())
        }
        other => Argument::Text(other.to_string()),
    }
}

/// The same arguments with another path; none where they name none.
fn with_path(arguments: &Value, field: &str, path: String) -> Option<Value> {
    let mut spelled = arguments.clone();
    // Where it is left out it is the workspace.
    let is_path = spelled.get(field).is_none_or(|path| path.is_string() || path.is_null());
    spelled.as_object_mut().filter(|_| is_path)?.insert(field.to_owned(), Value::from(path));
    Some(spelled)
}

/// The same arguments with another name in each of these fields that is there.
fn with_names(arguments: &Value, fields: &[&str], name: &str) -> Value {
    let mut named = arguments.clone();
    for field in fields {
        if let Some(value) = named.get_mut(field) {
            *value = Value::from(name);
        }
    }
    named
}

/// A text that is the same for the same arguments, whatever their order.
fn canonical(argument: &Argument) -> String {
    match argument {
        Argument::Text(text) => format!("{}:{text}", text.len()),
        Argument::List(items) => format!("[{}]", items.iter().map(canonical).collect::<String>()),
        Argument::Fields(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            let field = |(name, value): &&(String, Argument)| format!("{}:{name}{}", name.len(), canonical(value));
            format!("{{{}}}", fields.iter().map(field).collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests;
