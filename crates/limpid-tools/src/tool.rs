//! The interface of a tool.

mod arguments;
mod call;
mod context;

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use limpid_core::policy::{ArgumentPattern, Destination, Effect};
use limpid_core::{ConversationId, Labelled, Sentence, ToolClass, Trust};
use serde_json::{Map, Value};

pub(crate) use self::arguments::status;
pub use self::arguments::{echoed, read_arguments};
pub use self::call::{Concerned, Found, Named, PathArgument, Started, StrangersProgram};
pub use self::context::{SendState, ShownItems, ToolContext};

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

    /// The tool for this one call, which has looked up where the arguments lead: all that it says of the call is said of that, so that a
    /// call is not judged by what is there at one moment and at another. None where it follows nothing.
    fn for_call(&self, _arguments: &Value) -> Option<Arc<dyn Tool>> {
        None
    }

    /// What [`Tool::for_call`] found: the call runs only if the same is found when it comes to run. None where nothing was.
    fn leads_to(&self, _arguments: &Value) -> Option<Found> {
        None
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

    /// What stands for the server that a call goes to and for the text of the tool, where others wrote it and the owner looked at
    /// it: with another server or text it is another one, and a lasting yes to calls ends.
    fn looked_at(&self, _arguments: &Value) -> Option<String> {
        None
    }

    /// The same as [`Tool::bound_to`], of what takes a look into the database.
    async fn looked_up(&self, _arguments: &Value) -> Vec<String> {
        Vec::new()
    }

    /// What a call is about, of what is there now: whoever is asked about the call sees it, and an approval is bound to it, so that
    /// what is there later in its place is asked about anew. `conversation` is the one that it is made in. A call that changes what
    /// the owner has and says nothing here is refused. A call that only looks is asked for this when it waits, not when it runs unasked;
    /// it says here what its arguments name by a number alone.
    async fn concerns(&self, _arguments: &Value, _conversation: Option<&ConversationId>) -> Concerned {
        Concerned::NotSaid
    }

    /// Whether a call that hands work on would use up something of the owner's that its arguments name by a number, such as a task that
    /// they planned. It is looked up after a stranger's text, and such a call is then judged as a change of what they have.
    async fn changes_owned(&self, _arguments: &Value, _conversation: Option<&ConversationId>) -> bool {
        false
    }

    /// The program that a call would start: an approval is bound to its bytes, to those of the files that its words name, and
    /// to the folder that it starts in with all that is in it.
    fn starts(&self, _arguments: &Value) -> Option<Started> {
        None
    }

    /// The folders that the programs which it starts can change, each without links. They are those of when the tool was made: a turn
    /// keeps its tools while the settings change.
    fn writes_in(&self) -> Vec<PathBuf> {
        Vec::new()
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

    /// Whether the answer to a call that was carried out is the same whatever was there before. One that tells of what it found, such as
    /// whether words stand in a file, or a list that it added to, counts as a look where others read it; so does each tool that says
    /// nothing of this. Errors of calls that answer alike are withheld there.
    fn answers_alike(&self) -> bool {
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
    /// back the other. They are held by their [usual form](crate::usual_form) besides.
    fn canonical(&self, arguments: &Value) -> Value {
        crate::spelling::usual_form(arguments)
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

    /// Whether a program of a call can send what lies directly in `outside/`: what is laid there while it runs, it could send, too.
    fn sends_outside(&self, _trust: Trust, _approved: bool, _arguments: &Value) -> bool {
        false
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
