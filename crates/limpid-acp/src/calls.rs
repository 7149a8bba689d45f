//! Calls of tools, as an editor shows them: what kind they are, which files they touch, what they change.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use agent_client_protocol::v1::schema::{
    SessionUpdate, ToolCall, ToolCallContent, ToolCallLocation, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
    ToolKind,
};
use limpid_config::regular_file;
use limpid_core::CallId;
use limpid_core::message::is_failure;
use limpid_core::policy::Effect;
use limpid_prompt::shown::{Drawn, shown_line};
use limpid_runtime::{ApprovalAnswer, QuestionPart, Tool};
use serde_json::Value;

use crate::session::Session;
use crate::texts::{call, content, difference, location};

/// Bytes of the largest file of which a difference is shown.
const LARGEST: u64 = 1024 * 1024;

/// Letters of the argument that a title shows.
const TITLE: usize = 80;

/// Arguments that a title shows rather than others.
const TITLE_ARGUMENTS: [&str; 4] = ["path", "command", "url", "query"];

/// The calls of a turn.
pub(crate) struct Calls<'a> {
    session: &'a Session,
    /// Those that have not ended, with what they would change.
    open: BTreeMap<CallId, Vec<ToolCallContent>>,
}

/// What a call is.
pub(crate) struct CallView {
    title: Drawn,
    kind: ToolKind,
    locations: Vec<ToolCallLocation>,
    changes: Vec<ToolCallContent>,
}

impl<'a> Calls<'a> {
    pub(crate) fn new(session: &'a Session) -> Self {
        Self { session, open: BTreeMap::new() }
    }

    /// A call waits for the owner.
    pub(crate) fn waits(&mut self, part: &QuestionPart) {
        self.begin(
            part.id.call(),
            CallView::new(self.session, &part.name, &part.arguments, true),
            ToolCallStatus::Pending,
        );
    }

    /// A call runs.
    pub(crate) fn started(&mut self, id: &CallId, name: &str, arguments: &str) {
        if self.open.contains_key(id) {
            self.update(id, ToolCallUpdateFields::new().status(ToolCallStatus::InProgress));
        } else {
            // Where the call is quicker than this look, the difference is that of what it has left.
            self.begin(id, CallView::new(self.session, name, arguments, true), ToolCallStatus::InProgress);
        }
    }

    /// A call was refused and never ran.
    pub(crate) fn refused(&mut self, id: &CallId, (name, arguments): (&str, &str), result: &str) {
        if !self.open.contains_key(id) {
            let look = CallView::new(self.session, name, arguments, false).without_files();
            self.begin(id, look, ToolCallStatus::Pending);
        }
        self.done(id, result);
    }

    /// A call has ended.
    pub(crate) fn done(&mut self, id: &CallId, result: &str) {
        let failed = is_failure(result);
        let status = if failed { ToolCallStatus::Failed } else { ToolCallStatus::Completed };
        let mut shown = self.open.remove(id).filter(|_| !failed).unwrap_or_default();
        shown.push(told(result));
        self.update(id, ToolCallUpdateFields::new().status(status).content(shown));
    }

    /// Questions were answered. How a call of an agent ends is told to the agent alone, so here it ends with its answer.
    pub(crate) fn answered(&mut self, parts: &[QuestionPart], answers: &[ApprovalAnswer]) {
        for (part, answer) in parts.iter().zip(answers).filter(|(part, _)| part.id.call().as_str().contains(' ')) {
            let mut shown = self.open.remove(part.id.call()).unwrap_or_default();
            let (status, word) = match answer {
                ApprovalAnswer::No => (ToolCallStatus::Failed, "refused"),
                _ => (ToolCallStatus::Completed, "approved"),
            };
            shown.push(content(Drawn::new(word)));
            self.update(part.id.call(), ToolCallUpdateFields::new().status(status).content(shown));
        }
    }

    /// The turn has ended, so nothing of it runs.
    pub(crate) fn end(&mut self) {
        for id in std::mem::take(&mut self.open).into_keys() {
            self.update(&id, ToolCallUpdateFields::new().status(ToolCallStatus::Failed));
        }
    }

    /// What a call that waits would change.
    pub(crate) fn changes(&self, id: &CallId) -> Vec<ToolCallContent> {
        self.open.get(id).cloned().unwrap_or_default()
    }

    fn begin(&mut self, id: &CallId, look: CallView, status: ToolCallStatus) {
        self.open.insert(id.clone(), look.changes.clone());
        self.session.send(SessionUpdate::ToolCall(look.call(id, status)));
    }

    fn update(&self, id: &CallId, fields: ToolCallUpdateFields) {
        self.session.send(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id.as_str().to_owned(), fields)));
    }
}

impl CallView {
    /// What a call is. `now` says whether it is about to run, so that the files are as it finds them.
    pub(crate) fn new(session: &Session, name: &str, arguments: &str, now: bool) -> Self {
        let tool = session.agent.tool(name);
        let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
        let paths: Vec<PathBuf> = match &tool {
            Some(tool) => tool.paths(&arguments).iter().map(|path| place(session, &path.path)).collect(),
            None => Vec::new(),
        };
        Self {
            title: title(name, &arguments),
            kind: tool.map_or(ToolKind::Other, |tool| kind(&*tool, &arguments)),
            changes: change(session, name, &arguments, now).into_iter().collect(),
            locations: paths.iter().filter_map(|path| location(path)).collect(),
        }
    }

    /// The call without its files, where it is not known which they were: after a stranger's text, what would write a new file
    /// writes it elsewhere.
    pub(crate) fn without_files(mut self) -> Self {
        if self.kind == ToolKind::Edit {
            self.changes.clear();
            self.locations.clear();
        }
        self
    }

    /// The call as an update has it.
    pub(crate) fn call(self, id: &CallId, status: ToolCallStatus) -> ToolCall {
        let call = call(id, self.title).kind(self.kind).status(status);
        call.content(self.changes).locations(self.locations)
    }

    /// The call after it has ended with this result.
    pub(crate) fn ended(mut self, id: &CallId, result: Option<&str>) -> ToolCall {
        let failed = result.is_none_or(is_failure);
        if failed {
            self.changes.clear();
        }
        self.changes.extend(result.map(told));
        self.call(id, if failed { ToolCallStatus::Failed } else { ToolCallStatus::Completed })
    }
}

/// What a call came to. It is somebody else's text, and no Markdown.
fn told(result: &str) -> ToolCallContent {
    content(Drawn::fenced(result))
}

/// The tool's name, and the argument that says most.
fn title(name: &str, arguments: &Value) -> Drawn {
    let told = TITLE_ARGUMENTS.iter().find_map(|field| arguments.get(field)?.as_str());
    let first = told.or_else(|| arguments.as_object()?.values().find_map(Value::as_str));
    let words = match first {
        Some(first) => format!("{name} {}", first.split_whitespace().collect::<Vec<_>>().join(" ")),
        None => name.to_owned(),
    };
    let words = shown_line(&words);
    let is_short = words.chars().count() <= TITLE;
    Drawn::line(&if is_short { words } else { words.chars().take(TITLE - 1).chain(['…']).collect() })
}

fn kind(tool: &dyn Tool, arguments: &Value) -> ToolKind {
    match tool.effect(arguments) {
        Effect::Look if !tool.paths(arguments).is_empty() => ToolKind::Read,
        Effect::Look if ["query", "search", "find"].iter().any(|word| tool.name().contains(word)) => ToolKind::Search,
        Effect::Search | Effect::Research => ToolKind::Search,
        Effect::Fetch(_) | Effect::Show(_) => ToolKind::Fetch,
        Effect::Files => ToolKind::Edit,
        Effect::Run => ToolKind::Execute,
        Effect::Delegate | Effect::Remember => ToolKind::Think,
        _ => ToolKind::Other,
    }
}

/// Where a path of a call leads, by its words: as the tools of files read it, for which a `..` takes back what stands before it.
fn place(session: &Session, path: &str) -> PathBuf {
    let (home, base) = (session.agent.home(), &session.agent.config().files.base);
    let whole = match Path::new(path).strip_prefix("outside") {
        Ok(way) => home.outside().join(way),
        Err(_) => base.clone().unwrap_or_else(|| home.workspace()).join(path),
    };
    whole.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
        plain
    })
}

/// What a file says before a call.
enum Before {
    /// There is none, or the call is over.
    Nothing,
    Text(String),
    /// It is too large, no text, or not the session's.
    Unshown,
}

/// What a call changes in a file, where that is plain from its arguments.
fn change(session: &Session, name: &str, arguments: &Value, now: bool) -> Option<ToolCallContent> {
    let argument = |name: &str| arguments.get(name).and_then(Value::as_str);
    let path = place(session, argument("path")?);
    let before = || if now { before(session, &path) } else { Before::Nothing };
    let (old, new) = match name {
        "edit_file" => (Before::Text(argument("old_text")?.to_owned()), argument("new_text")?.to_owned()),
        "write_file" => (before(), argument("content")?.to_owned()),
        "append_file" => match before() {
            Before::Text(old) => {
                let whole = format!("{old}{}", argument("content")?);
                (Before::Text(old), whole)
            }
            old => (old, argument("content")?.to_owned()),
        },
        _ => return None,
    };
    let old = match old {
        Before::Nothing => None,
        Before::Text(old) => Some(old),
        // A difference without the old text is that of a new file.
        Before::Unshown => {
            let path = shown_line(&path.display().to_string());
            return Some(content(Drawn::line(&format!("{path} is there, and what it says cannot be shown here."))));
        }
    };
    Some(difference(&path, old.as_deref(), &new))
}

fn before(session: &Session, path: &Path) -> Before {
    if path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
        return Before::Nothing;
    }
    let real = path.canonicalize().ok().filter(|real| session.holds(real));
    match real.and_then(|real| regular_file::read_text(&real, LARGEST).ok()) {
        Some(text) => Before::Text(text),
        None => Before::Unshown,
    }
}
