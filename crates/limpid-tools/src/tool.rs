//! The interface of a tool.

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use limpid_core::form::AskOwner;
use limpid_core::policy::{ArgumentPattern, Bans, Destination, Effect};
use limpid_core::{CallId, ConversationId, Labelled, Sentence, Tier, ToolClass, Trust, TurnId, sentence};
use reqwest::StatusCode;
use serde_json::{Map, Value};

use crate::rewrites::Rewrites;
use crate::snapshot::Snapshot;
use crate::web::plain_address;

/// Something that the model may have done.
#[async_trait]
pub trait Tool: Send + Sync {
    /// The name that the model calls.
    fn name(&self) -> &str;

    /// What else it is called, such as by its server. The owner's rules that ask and forbid know it by these too; none lets it pass
    /// by one.
    fn other_names(&self) -> &[String] {
        &[]
    }

    /// The names and the group of the tool that a call counts as besides, for the owner's rules that ask and forbid: where one tool serves
    /// several servers, those of a tool of the server that the arguments name.
    fn counts_as(&self, _arguments: &Value) -> Option<(Vec<String>, String)> {
        None
    }

    /// The group that texts list it under.
    fn group(&self) -> &str;

    /// What kind of effect a call has, at most: what modes and rules name.
    fn class(&self) -> ToolClass;

    /// What this very call would change. For unknown arguments: the widest effect that the tool can have.
    fn effect(&self, arguments: &Value) -> Effect;

    /// What it does, for a tool of which no profile says so. Whoever wrote it, the owner has looked at it.
    fn description(&self) -> &str {
        ""
    }

    /// The JSON schema of its arguments; [`schema_of`](crate::schema_of) makes it from a Rust type.
    fn schema(&self) -> Map<String, Value>;

    /// Whether a call of unknown fate may simply be made again. One that may not is reported as of unknown outcome
    /// after a crash.
    fn is_repeatable(&self) -> bool;

    /// Whether the owner's yes to a call makes the words that it keeps their own, whoever wrote what stood there before.
    fn adopts(&self) -> bool {
        false
    }

    /// The argument that names a file or a folder, by which rules know it.
    fn path_field(&self) -> &'static str {
        "path"
    }

    /// The files and folders that a call would touch, as the arguments name them.
    fn paths(&self, _arguments: &Value) -> Vec<PathArgument> {
        Vec::new()
    }

    /// The text that the file would hold after a call that writes one, where `before` is what it holds now; none where that cannot be
    /// said. A call that would fail leaves what is there.
    fn leaves(&self, _arguments: &Value, _before: Option<&str>) -> Option<String> {
        None
    }

    /// The same call with another path, for a tool that makes a new file where its call names none that exists.
    fn with_new_path(&self, _arguments: &Value, _path: &str) -> Option<Value> {
        None
    }

    /// The same call with the path absolute that begins at a folder which is not the workspace, so that it means the same wherever it
    /// runs, as a draft for one; none for every other call.
    fn with_whole_path(&self, _arguments: &Value) -> Option<Value> {
        None
    }

    /// Where a call would send or fetch something, made of the very values that the call uses. Rules and approvals name it.
    fn destination(&self, _arguments: &Value) -> Option<Destination> {
        None
    }

    /// Whether a call leads to the owner's own network, by its words alone: what stands there is private, and to ask for it may do
    /// something there.
    fn names_own_network(&self, _arguments: &Value) -> bool {
        false
    }

    /// The same with names looked up, which tells others that somebody asked for them.
    async fn leads_to_own_network(&self, arguments: &Value) -> bool {
        self.names_own_network(arguments)
    }

    /// What else an approval of a call is bound to, looked up now: the program that a name stands for, the folder that
    /// it would run in. Arguments, paths and the workspace are bound to anyway.
    fn bound_to(&self, _arguments: &Value) -> Vec<String> {
        Vec::new()
    }

    /// The same, of what takes a look into the database.
    async fn looked_up(&self, _arguments: &Value) -> Vec<String> {
        Vec::new()
    }

    /// What a call is about, of what is there now: whoever is asked about the call sees it, and an approval is bound to it, so that
    /// what is there later in its place is asked about anew. `conversation` is the one that it is made in. A tool that says nothing
    /// here changes nothing that the owner has: such a call is refused.
    async fn concerns(&self, _arguments: &Value, _conversation: Option<&ConversationId>) -> Concerned {
        Concerned::NotSaid
    }

    /// The program that a call would start: an approval is bound to its bytes, to those of the files that its words name, and
    /// to the folder that it starts in with all that is in it.
    fn starts(&self, _arguments: &Value) -> Option<Started> {
        None
    }

    /// The version of the tool, which an approval is bound to.
    fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    /// Whether anybody could read what it returns, so that its results hold nothing private.
    fn is_public(&self) -> bool {
        false
    }

    /// Whether nothing that a turn may do unasked changes what a call returns: that of a message which has come in, not that of a
    /// list of what was not shown yet.
    fn is_steady(&self, _arguments: &Value) -> bool {
        false
    }

    /// Whether it is there at all now: a tool of something that is not set up is not offered.
    fn is_available(&self) -> bool {
        true
    }

    /// Says what keeps a call from ever running, beyond what the schema says: the owner is not asked about such a one.
    ///
    /// # Errors
    /// That sentence, for the model.
    fn check(&self, _arguments: &Value) -> Result<(), Sentence> {
        Ok(())
    }

    /// The arguments as the owner's rules are compared with them: parsed, where the tool reads more from a text than a
    /// text.
    fn judged(&self, arguments: &Value) -> Value {
        arguments.clone()
    }

    /// The arguments with each value in one form, so that two calls which do the same are the same: a rule that holds one back holds
    /// back the other. They are held by their [usual form](usual_form) besides.
    fn canonical(&self, arguments: &Value) -> Value {
        usual_form(arguments)
    }

    /// The arguments with what they leave out named, once for each thing that it stands for: a rule that holds one of these back holds
    /// back the call. Here nothing that is left out stands for anything.
    fn written_out(&self, _arguments: &Value) -> Vec<Value> {
        Vec::new()
    }

    /// The arguments as rules are compared with them, as such a pattern spells the program that the call starts: a program has several
    /// names, and a rule that holds it back by one of them holds it back by each.
    fn spelled_as(&self, _arguments: &Value, _rule: &ArgumentPattern) -> Vec<Value> {
        Vec::new()
    }

    /// The destination under each of its names by which a rule that holds calls back names it.
    fn destinations_as(&self, _arguments: &Value, _rule: &str) -> Vec<Destination> {
        Vec::new()
    }

    /// The thing of the database that a call names, such as a memory by its number or its key; none where it names none that is there.
    /// It is looked up as the call itself does it, so whatever names the same thing is the same here. `conversation` is the one that the
    /// call is made in.
    async fn named(&self, _arguments: &Value, _conversation: Option<&ConversationId>) -> Option<Named> {
        None
    }

    /// How long a call may take, when that is not the usual time.
    fn timeout(&self) -> Option<Duration> {
        None
    }

    /// Whether the owner has written down that a call may run after a stranger's text was read, because it can change and
    /// reach nothing of theirs.
    fn runs_unasked(&self, _arguments: &Value) -> bool {
        false
    }

    /// The call that a call has made later, by the tool's name and its arguments: whoever plans it is judged as if they made it now.
    fn plans(&self, _arguments: &Value) -> Option<(&'static str, Value)> {
        None
    }

    /// What a program that a call would start gets of the owner's and of the network, if it may be a stranger's. `trust` is who led
    /// to the call.
    fn strangers_program(&self, _trust: Trust, _approved: bool, _arguments: &Value) -> Option<StrangersProgram> {
        None
    }

    /// What whoever is asked about a call has to know besides its words: "it can read your folders and send to a.example".
    /// `trust` is who led to it.
    fn warning(&self, _trust: Trust, _arguments: &Value) -> Option<String> {
        None
    }

    /// Whether it writes down itself when its effect leaves for outside ([`SendState`]); until then nothing has
    /// happened.
    fn marks_send_state(&self) -> bool {
        false
    }

    /// Characters of a result that the model gets to read, when that is not the usual number.
    fn result_chars(&self) -> Option<usize> {
        None
    }

    /// Calls that one message of the person allows, and what is said of one more.
    fn calls_a_message(&self) -> Option<(u32, &'static str)> {
        None
    }

    /// Does it. The text is whole and has the label of the least trusted part of it. So has the error, which the model reads:
    /// what was wrong and what to do.
    async fn run(&self, context: &ToolContext, arguments: Value) -> Result<Labelled<String>, Sentence>;

    /// The same for a call that makes way for another one, if it is one that may: it ends what it runs when `stop` is done, and
    /// returns when that has ended.
    async fn run_until(
        &self,
        context: &ToolContext,
        arguments: Value,
        stop: Stop,
    ) -> Result<Labelled<String>, Sentence> {
        drop(stop);
        self.run(context, arguments).await
    }
}

/// Is done when a call that can make way has to.
pub type Stop = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Where a call writes down how far its effect has come, so that a crash leaves unknown no more than it must.
#[async_trait]
pub trait SendState: fmt::Debug + Send + Sync {
    /// The effect leaves: from here on nobody knows whether it came about, until [`SendState::arrived`].
    ///
    /// # Errors
    /// When that cannot be written down; then it must not leave.
    async fn leaves(&self) -> Result<(), String>;

    /// It came about; `what` says what that was.
    async fn arrived(&self, what: &str);
}

/// The items of the inbox that a call has shown to the model. They are written down together with the call's result, so a
/// call that fails or is cut off has shown nothing.
#[derive(Clone, Debug)]
pub struct ShownItems(Option<Arc<Mutex<Vec<i64>>>>);

impl ShownItems {
    /// What is shown stays unseen: a call that a stranger's text may have led to takes nothing out of the owner's sight.
    pub fn unkept() -> Self {
        Self(None)
    }

    /// Adds items by their numbers.
    pub fn add(&self, items: impl IntoIterator<Item = i64>) {
        if let Some(kept) = &self.0 {
            kept.lock().unwrap_or_else(PoisonError::into_inner).extend(items);
        }
    }

    /// Takes out everything that was added.
    pub fn take(&self) -> Vec<i64> {
        let taken =
            self.0.as_ref().map(|kept| std::mem::take(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner)));
        taken.unwrap_or_default()
    }
}

impl Default for ShownItems {
    fn default() -> Self {
        Self(Some(Arc::default()))
    }
}

/// What a call is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Concerned {
    /// The tool does not say it.
    NotSaid,
    /// The arguments say all of it, whatever is there.
    InArguments,
    /// It is this, such as the words of a memory whose number the arguments have.
    Words(String),
    /// The same of a call that leaves for others, which its arguments alone do not say: it is judged as one that sends.
    SentTo(String),
}

impl Concerned {
    /// What was found, or that there is none of it.
    pub fn found(words: Option<String>, missing: &str) -> Self {
        Self::Words(words.unwrap_or_else(|| missing.to_owned()))
    }

    /// The words that whoever is asked sees besides the arguments.
    pub fn into_words(self) -> Option<String> {
        match self {
            Self::NotSaid | Self::InArguments => None,
            Self::Words(words) | Self::SentTo(words) => Some(words),
        }
    }
}

/// A thing of the database that a call names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The arguments that name it: first the tool's own, then what the same is called where another profile knows the tool.
    pub fields: &'static [&'static str],
    /// All its names, whichever of them the call has.
    pub names: Vec<String>,
}

/// A path that a call names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathArgument {
    /// The path as the model wrote it.
    pub path: String,
    /// Whether the call would change what stands there.
    pub write: bool,
    /// Whether it would only add to what is there.
    pub adds: bool,
}

/// A program that a call would start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// The program, whole and without links.
    pub program: PathBuf,
    /// The files that its words name, in the same way.
    pub files: Vec<PathBuf>,
    /// The folder that it starts in, in the same way.
    pub folder: PathBuf,
    /// The folders that its words name where tools and programs may write, in the same way.
    pub folders: Vec<PathBuf>,
    /// A folder of which it sees the files alone.
    pub files_in: Option<PathBuf>,
}

/// What a program gets that may be a stranger's: never both. What one of them sees must not get to one that sends or leaves something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrangersProgram {
    /// Sight of the owner's places.
    Sees,
    /// The network, and sight of strangers' places, in which a copy of what is the owner's may lie.
    Sends,
    /// Neither. It writes files that are opened or sent later.
    Leaves,
}

impl StrangersProgram {
    /// Whether it sees the owner's places. One that does and one that doesn't never run at once.
    pub fn sees(self) -> bool {
        self == Self::Sees
    }
}

/// What a call knows of the turn that it belongs to.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// When the call began: the one reading of the clock.
    pub now: Timestamp,
    /// The owner's zone.
    pub zone: TimeZone,
    /// The conversation.
    pub conversation: ConversationId,
    /// The turn.
    pub turn: TurnId,
    /// The call, as the model named it.
    pub call: CallId,
    /// Who wrote the least trusted text that the model has read in this turn.
    pub trust: Trust,
    /// The tier of the turn's prompt: how much room it has.
    pub tier: Tier,
    /// Whether the mode is one that looks and changes nothing: programs see the workspace read-only.
    pub read_only: bool,
    /// Whether the owner has said yes to this very call.
    pub approved: bool,
    /// The program and the files as they were when the owner said yes: these are run, and not what lies there by now.
    pub snapshot: Option<Arc<Snapshot>>,
    /// Where the owner's rules let it not be led.
    pub bans: Bans,
    /// Whether it was judged as one that leads to the owner's own network. No other call gets there.
    pub own_network: bool,
    /// Whether it was judged as one that may leave a file which asks others for something when it is opened. No other call leaves one
    /// after a stranger's text, whatever the file holds by now.
    pub drawn: bool,
    /// As what it was judged when it starts a program that may be a stranger's. It runs as nothing else.
    pub program: Option<StrangersProgram>,
    /// Folders of skills that are not used as they stand: no program sees them.
    pub unused_skills: Vec<PathBuf>,
    /// Where it writes down how far its effect has come; absent: whoever called it has done so before.
    pub send_state: Option<Arc<dyn SendState>>,
    /// The only tools that an agent which it starts may have; none: those of its path.
    pub tools_of_agents: Option<Vec<String>>,
    /// Where it says which items of the inbox its result shows.
    pub shown: ShownItems,
    /// Where it says what it wrote into files.
    pub rewrites: Rewrites,
    /// The way to the owner for what a stranger wants to know in the middle of it; absent: nobody is there to be asked.
    pub owner: Option<AskOwner>,
}

impl ToolContext {
    /// Words that the model wrote in this turn: they have the label of what it had read.
    pub fn words<T>(&self, words: T) -> Labelled<T> {
        Labelled::new(words, self.trust)
    }

    /// The time, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.now.as_millisecond()
    }

    /// Writes down that the effect of the call leaves for outside.
    ///
    /// # Errors
    /// When that cannot be written down; then it must not leave.
    pub async fn leaves(&self) -> Result<(), Sentence> {
        match &self.send_state {
            Some(send_state) => send_state.leaves().await.map_err(|why| echoed(why).into()),
            None => Ok(()),
        }
    }

    /// Writes down that the effect came about.
    pub async fn arrived(&self, what: &str) {
        if let Some(send_state) = &self.send_state {
            send_state.arrived(what).await;
        }
    }
}

/// Reads arguments into a type.
///
/// # Errors
/// A sentence that names the field, for the model.
pub fn read_arguments<T: serde::de::DeserializeOwned>(arguments: Value) -> Result<T, Sentence> {
    // The executor adds the label of who wrote the arguments.
    serde_json::from_value(arguments)
        .map_err(|error| sentence!("wrong arguments: {}", Labelled::new(error, Trust::Owner)))
}

/// Words of the model or of the owner that an error repeats, and what the system says of a path of theirs. The executor adds
/// the label of the turn, which is that of the model's words. For errors only: in a result nobody adds a label.
pub fn echoed<T>(words: T) -> Labelled<T> {
    Labelled::new(words, Trust::Owner)
}

/// The status of an answer by its number and its usual name; what the server itself calls it is left out.
pub(crate) fn status(status: StatusCode) -> Sentence {
    sentence!("{} {}", status.as_u16(), status.canonical_reason().unwrap_or("(unknown)"))
}
/// Arguments with each value as it is usually compared: texts without blanks around them and in small letters, addresses without any
/// encoding.
pub fn usual_form(arguments: &Value) -> Value {
    match arguments {
        Value::String(text) => {
            let text = text.trim();
            Value::from(plain_address(text).unwrap_or_else(|| text.to_owned()).to_lowercase())
        }
        // 7, 7.0 and 70e-1 are one number.
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 => Value::from(format!("{float:.0}")),
            _ => Value::from(number.to_string()),
        },
        Value::Array(items) => items.iter().map(usual_form).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), usual_form(value))).collect(),
        other => other.clone(),
    }
}
