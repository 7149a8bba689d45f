//! What a server wants the owner to say in the middle of a call: read within bounds, asked of whoever started the call, and sent
//! back to that server and nobody else.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use limpid_core::form::{AskOwner, Choice, Field, FieldKind, Form, FormAnswer, Given, TextForm, Wanted};
use reqwest::Url;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::offered::visible;

/// How long the questions of one call may wait for the owner, all together.
pub const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// Questions that one call may put.
const QUESTIONS: u32 = 8;

/// Bytes of what a question says, of what it says of a field, and of a name or an address in it.
const TEXT: usize = 4 * 1024;
const ABOUT: usize = 1024;
const NAME: usize = 256;
const URL: usize = 2 * 1024;

/// Bytes of a text that is sent when the owner types nothing: it is shown on one line.
const DEFAULT: usize = 200;

/// Bytes of everything that is said of the fields of one question.
const ALL: usize = 64 * 1024;

/// Fields of a question, and what there is to choose in one.
const FIELDS: usize = 32;
const CHOICES: usize = 100;

/// Who may be asked for a call.
#[derive(Clone, Debug)]
pub struct Asking {
    /// The owner's name for the server.
    pub server: String,
    /// The way to the owner.
    pub owner: AskOwner,
}

/// The calls that are open on a connection.
#[derive(Clone, Default)]
pub(crate) struct OpenCalls(Arc<Mutex<Vec<Arc<OpenCall>>>>);

struct OpenCall {
    asking: Option<Asking>,
    until: Instant,
    left: Mutex<u32>,
    /// How many of its questions are open.
    waiting: watch::Sender<u32>,
    ended: CancellationToken,
}

/// A call as long as it is open.
pub(crate) struct Entered {
    calls: OpenCalls,
    call: Arc<OpenCall>,
}

impl OpenCalls {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<OpenCall>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call begins; without `asking` nobody is asked for it.
    pub(crate) fn enter(&self, asking: Option<Asking>) -> Entered {
        let (until, left) = (Instant::now() + PATIENCE, Mutex::new(QUESTIONS));
        let call =
            Arc::new(OpenCall { asking, until, left, waiting: watch::Sender::new(0), ended: CancellationToken::new() });
        self.lock().push(Arc::clone(&call));
        Entered { calls: self.clone(), call }
    }

    /// The call that a question belongs to. A server does not say which one it is, so where calls of several turns are open it
    /// is none: a question is never put to somebody whose call it is not.
    fn only(&self) -> Option<Arc<OpenCall>> {
        let calls = self.lock();
        let first = calls.first()?;
        let turn = first.asking.as_ref()?.owner.turn();
        let is_same = |call: &Arc<OpenCall>| call.asking.as_ref().is_some_and(|asking| asking.owner.turn() == turn);
        calls.iter().all(is_same).then(|| Arc::clone(first))
    }

    /// Asks the owner what a server wants to know. Whatever cannot be asked is declined.
    pub(crate) async fn ask(&self, wanted: ElicitRequestParams, given_up: impl Future<Output = ()>) -> ElicitResult {
        let declined = || ElicitResult::new(ElicitationAction::Decline);
        let Some(call) = self.only() else { return declined() };
        let Some(asking) = &call.asking else { return declined() };
        // Before anything of it is read, so that what is too large counts as a question too.
        if !call.may_ask() {
            return declined();
        }
        let Some(form) = form(&asking.server, wanted) else { return declined() };
        let _waits = Waits::new(&call.waiting);
        let answer = tokio::select! {
            answer = timeout_at(call.until, asking.owner.ask(form)) => answer.unwrap_or(FormAnswer::Left),
            () = given_up => FormAnswer::Left,
            () = call.ended.cancelled() => FormAnswer::Left,
        };
        match answer {
            FormAnswer::Given(values) => {
                let values: Map<String, Value> = values.into_iter().map(|(name, given)| (name, value(given))).collect();
                ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(values))
            }
            FormAnswer::No => declined(),
            FormAnswer::Left => ElicitResult::new(ElicitationAction::Cancel),
        }
    }
}

impl OpenCall {
    fn may_ask(&self) -> bool {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let may = *left > 0 && Instant::now() < self.until;
        *left = left.saturating_sub(1);
        may
    }
}

impl Entered {
    /// What comes of the call within its time, which stands still while the owner thinks.
    pub(crate) async fn within<T>(&self, time: Duration, work: impl Future<Output = T>) -> Option<T> {
        let mut waiting = self.call.waiting.subscribe();
        let mut left = time;
        tokio::pin!(work);
        loop {
            let is_asking = *waiting.borrow_and_update() > 0;
            let began = Instant::now();
            tokio::select! {
                done = &mut work => return Some(done),
                () = sleep(left), if !is_asking => return None,
                // Its sender lives as long as the call.
                _ = waiting.changed() => {}
            }
            if !is_asking {
                left = left.saturating_sub(began.elapsed());
            }
        }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.call.ended.cancel();
        self.calls.lock().retain(|call| !Arc::ptr_eq(call, &self.call));
    }
}

/// Counts a question as long as it is open.
struct Waits<'a>(&'a watch::Sender<u32>);

impl<'a> Waits<'a> {
    fn new(count: &'a watch::Sender<u32>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(count)
    }
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}

fn value(given: Given) -> Value {
    match given {
        Given::Text(text) => Value::String(text),
        Given::Whole(number) => json!(number),
        Given::Number(number) => json!(number),
        Given::YesNo(yes) => Value::Bool(yes),
        Given::Many(values) => json!(values),
    }
}

/// What a server wants to know, if it is within the bounds: what is too large is not asked at all, since a cut question is another.
fn form(server: &str, wanted: ElicitRequestParams) -> Option<Form> {
    let (text, wants) = match wanted {
        ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
            (message, Wanted::Fields(fields(&requested_schema)?))
        }
        ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
            let parsed = Url::parse(&url).ok().filter(|parsed| matches!(parsed.scheme(), "http" | "https"))?;
            // Written out as it is visited, so that a name in other letters shows what it is.
            let (host, url) = (parsed.host_str()?.to_owned(), parsed.to_string());
            (message, Wanted::Visit { host, url: within(&url, URL)? })
        }
        _ => return None,
    };
    Some(Form { from: server.to_owned(), text: within(&text, TEXT)?, wants })
}

fn fields(schema: &ElicitationSchema) -> Option<Vec<Field>> {
    // Before they are put in order and written out: the server says how many there are.
    if schema.properties.len() > FIELDS {
        return None;
    }
    let mut names: Vec<&String> = schema.properties.keys().collect();
    if let Some(order) = &schema.property_order {
        // Names that no field has, and those that stand there twice, are passed over once.
        let mut places: HashMap<&String, usize> = HashMap::new();
        for (place, name) in order.iter().enumerate() {
            if schema.properties.contains_key(name) {
                places.entry(name).or_insert(place);
            }
        }
        names.sort_by_key(|name| places.get(*name));
    }
    if serde_json::to_string(&schema.properties).ok()?.len() > ALL {
        return None;
    }
    let required = schema.required.as_deref().unwrap_or_default();
    let field = |name: &String| {
        let schema = serde_json::to_value(schema.properties.get(name)?).ok()?;
        field(name, &schema, required.contains(name))
    };
    names.into_iter().map(field).collect()
}

fn field(name: &str, schema: &Value, required: bool) -> Option<Field> {
    let text = |key: &str, most| within(schema[key].as_str().unwrap_or_default(), most);
    let size = |key: &str| schema[key].as_u64().and_then(|size| usize::try_from(size).ok());
    let kind = match schema["type"].as_str()? {
        "string" => match choices(&schema["enum"], &schema["oneOf"], &schema["enumNames"])? {
            Some(choices) => FieldKind::One(choices),
            None => FieldKind::Text(size("minLength").unwrap_or(0), size("maxLength"), format(schema)),
        },
        "integer" => FieldKind::Whole(schema["minimum"].as_i64(), schema["maximum"].as_i64()),
        "number" => FieldKind::Number(schema["minimum"].as_f64(), schema["maximum"].as_f64()),
        "boolean" => FieldKind::YesNo,
        "array" => {
            let items = &schema["items"];
            let choices = choices(&items["enum"], &items["anyOf"], &Value::Null)??;
            FieldKind::Many(choices, size("minItems").unwrap_or(0), size("maxItems"))
        }
        _ => return None,
    };
    let default = given(&kind, &schema["default"]).filter(|default| kind.holds(default) && is_seen(default));
    let title = Some(text("title", NAME)?).filter(|title| !title.is_empty());
    (!name.is_empty() && name.len() <= NAME).then_some(())?;
    Some(Field { name: name.to_owned(), title, description: text("description", ABOUT)?, kind, default, required })
}

fn format(schema: &Value) -> Option<TextForm> {
    match schema["format"].as_str()? {
        "email" => Some(TextForm::Email),
        "uri" => Some(TextForm::Uri),
        "date" => Some(TextForm::Date),
        "date-time" => Some(TextForm::DateTime),
        _ => None,
    }
}

/// What there is to choose, if it is a choice; nothing at all where that is too much.
#[expect(clippy::option_option, reason = "no choice and no field are two things")]
fn choices(values: &Value, titled: &Value, names: &Value) -> Option<Option<Vec<Choice>>> {
    let choice = |value: &Value, title: &Value| {
        let value = value.as_str().filter(|value| value.len() <= NAME)?;
        let title = within(title.as_str().unwrap_or(value), NAME)?;
        Some(Choice { value: value.to_owned(), title })
    };
    let choices: Option<Vec<Choice>> = match (values, titled) {
        (Value::Array(values), _) if values.len() <= CHOICES => {
            values.iter().enumerate().map(|(at, value)| choice(value, &names[at])).collect()
        }
        (_, Value::Array(titled)) if titled.len() <= CHOICES => {
            titled.iter().map(|titled| choice(&titled["const"], &titled["title"])).collect()
        }
        (Value::Array(_), _) | (_, Value::Array(_)) => None,
        _ => return Some(None),
    };
    choices.filter(|choices| !choices.is_empty()).map(Some)
}

fn given(kind: &FieldKind, value: &Value) -> Option<Given> {
    match kind {
        FieldKind::Text(..) | FieldKind::One(_) => value.as_str().map(|text| Given::Text(text.to_owned())),
        FieldKind::Whole(..) => value.as_i64().map(Given::Whole),
        FieldKind::Number(..) => value.as_f64().map(Given::Number),
        FieldKind::YesNo => value.as_bool().map(Given::YesNo),
        FieldKind::Many(..) => {
            let values = value.as_array()?.iter().map(|value| value.as_str().map(str::to_owned));
            values.collect::<Option<_>>().map(Given::Many)
        }
    }
}

/// Whether the owner sees all of a value before it is sent.
fn is_seen(default: &Given) -> bool {
    match default {
        Given::Text(text) => text.len() <= DEFAULT && !text.contains('\n') && visible(text) == *text,
        Given::Whole(_) | Given::Number(_) | Given::YesNo(_) | Given::Many(_) => true,
    }
}

/// A text without what nobody can see, if it has at most so many bytes.
fn within(text: &str, most: usize) -> Option<String> {
    (text.len() <= most).then(|| visible(text))
}

#[cfg(test)]
mod tests;
