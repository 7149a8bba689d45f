//! What the protocols' decoders have in common: calls put together from pieces, counts, and the end.

use limpid_core::{Money, ToolCall, Usage};
use serde_json::Value;

use crate::call_ids::CallIds;
use crate::errors::Fault;
use crate::model::{FinishReason, ModelEvent, On, ReplyState};

use super::think::Think;

/// A reply that is being put together.
#[derive(Debug)]
pub(crate) struct Collect {
    ids: CallIds,
    think: Think,
    calls: Vec<Pending>,
    usage: Option<Usage>,
    charged: Option<Money>,
    model: Option<String>,
    finish: Option<FinishReason>,
    ended: bool,
    /// Whether a word of the answer has come.
    spoke: bool,
    /// Bytes of state that came.
    state_bytes: usize,
}

/// Bytes of the name of a model that answers.
const MAX_NAME: usize = 200;

/// Bytes of state that one answer may have.
const MAX_STATE: usize = 4 * 1024 * 1024;

/// A call whose pieces are still coming.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pending {
    /// The place that the server gave it.
    pub(crate) place: u64,
    /// The server's name for it.
    pub(crate) id: String,
    /// The tool.
    pub(crate) name: String,
    /// The arguments so far.
    pub(crate) arguments: String,
}

impl Collect {
    pub(crate) fn new(ids: CallIds) -> Self {
        Self {
            ids,
            think: Think::default(),
            calls: Vec::new(),
            usage: None,
            charged: None,
            model: None,
            finish: None,
            ended: false,
            spoke: false,
            state_bytes: 0,
        }
    }

    /// The same for a model whose text may begin inside its reasoning.
    pub(crate) fn opened(self) -> Self {
        Self { think: Think::opened(), ..self }
    }

    /// More text, in which reasoning may be hidden.
    pub(crate) fn text(&mut self, text: &str, events: &mut Vec<ModelEvent>) {
        self.spoke |= !text.trim().is_empty();
        self.think.feed(text, events);
    }

    /// A new stretch of the text, to which state may belong.
    pub(crate) fn stretch(&mut self, events: &mut Vec<ModelEvent>) {
        self.think.flush(events);
        events.push(ModelEvent::Stretch);
    }

    /// Something that the provider wants back.
    pub(crate) fn state(&mut self, json: String, on: On, events: &mut Vec<ModelEvent>) {
        // More than this is no reasoning. An answer without its state can still be read; one of this size is not sent.
        self.state_bytes += json.len();
        if self.state_bytes <= MAX_STATE {
            self.think.flush(events);
            events.push(ModelEvent::State(ReplyState { json, on }));
        }
    }

    /// Calls that were started.
    pub(crate) fn started(&self) -> usize {
        self.calls.len()
    }

    /// More reasoning.
    pub(crate) fn reasoning(&mut self, text: &str, events: &mut Vec<ModelEvent>) {
        if !text.is_empty() {
            self.think.told_apart();
            events.push(ModelEvent::Reasoning(text.to_owned()));
        }
    }

    /// A new call, from which on pieces can be added.
    pub(crate) fn start_call(&mut self, call: Pending) -> &mut Pending {
        self.calls.push(call);
        let last = self.calls.len() - 1;
        &mut self.calls[last]
    }

    /// The last call that was started at this place.
    pub(crate) fn call_at(&mut self, place: u64) -> Option<&mut Pending> {
        self.calls.iter_mut().rfind(|call| call.place == place)
    }

    /// The position of the last call that was started and that this holds of.
    pub(crate) fn find_call(&self, holds: impl Fn(&Pending) -> bool) -> Option<usize> {
        self.calls.iter().rposition(holds)
    }

    /// The call at a position that [`Collect::find_call`] has named.
    pub(crate) fn call(&mut self, at: usize) -> &mut Pending {
        &mut self.calls[at]
    }

    /// What was counted so far.
    pub(crate) fn count(&mut self, change: impl FnOnce(&mut Usage)) {
        change(self.usage.get_or_insert_default());
    }

    /// The server says what the reply costs, in US dollars.
    pub(crate) fn charged(&mut self, dollars: f64) {
        if dollars.is_finite() && dollars >= 0.0 {
            self.charged = Some(Money((dollars * 1e6).round() as u64));
        }
    }

    /// The server says which model answers.
    pub(crate) fn by_model(&mut self, name: &str) {
        if !name.is_empty() && name.len() <= MAX_NAME {
            self.model = Some(name.to_owned());
        }
    }

    /// Gives out what was counted so far, of a reply that does not end well.
    pub(crate) fn counted(&self, events: &mut Vec<ModelEvent>) {
        events.extend(self.usage.map(ModelEvent::Usage));
        // A server that charges has chosen among models; another only has its own word for the one that was asked for.
        let model = self.model.clone().filter(|_| self.charged.is_some());
        events.extend(model.map(ModelEvent::Model));
        events.extend(self.charged.map(ModelEvent::Charged));
    }

    /// The server said that it is done, and why.
    pub(crate) fn finished(&mut self, reason: FinishReason) {
        self.finish = Some(reason);
    }

    /// Whether the server said that it is done.
    pub(crate) fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Ends the reply, once.
    pub(crate) fn end(&mut self, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        let Some(reason) = self.finish.clone() else { return Err(Fault::BrokeOff) };
        if let FinishReason::Other(word) = reason {
            return Err(Fault::Ended(word));
        }
        if std::mem::replace(&mut self.ended, true) {
            return Ok(());
        }
        self.think.finish(reason == FinishReason::Length, events);
        let mut called = false;
        for call in std::mem::take(&mut self.calls) {
            if call.is_whole(&reason) {
                called = true;
                events.push(ModelEvent::Call(self.name_call(call)));
            }
        }
        self.counted(events);
        // Nothing is left of an answer that was taken back whole.
        if reason == FinishReason::Moderated && !called && !self.spoke {
            return Err(Fault::Refused(Value::Null));
        }
        events.push(ModelEvent::End(match reason {
            FinishReason::Stop | FinishReason::Calls if called => FinishReason::Calls,
            FinishReason::Calls => FinishReason::Stop,
            other => other,
        }));
        Ok(())
    }

    fn name_call(&mut self, call: Pending) -> ToolCall {
        let id = self.ids.claim(Some(&call.id));
        ToolCall { id, name: call.name, arguments: settled(call.arguments) }
    }
}

impl Pending {
    /// Takes arguments as servers give them: text in pieces, or an object at once.
    pub(crate) fn add(&mut self, arguments: &Value) {
        match arguments {
            Value::String(piece) => self.arguments.push_str(piece),
            Value::Null => {}
            // An object that follows pieces is the whole, not a piece.
            whole => self.arguments = whole.to_string(),
        }
    }

    /// Whether nothing of it can be missing: when the reply ran into its limit, only a whole document proves that.
    fn is_whole(&self, reason: &FinishReason) -> bool {
        let cut = matches!(reason, FinishReason::Length | FinishReason::Moderated);
        !self.name.is_empty()
            && (!cut || serde_json::from_str::<Value>(&self.arguments).is_ok_and(|all| all.is_object()))
    }
}

/// Arguments without what odd servers do to them: nothing or `null` for none, the same document twice, an empty one before
/// the real one, a document inside a text.
fn settled(arguments: String) -> String {
    let trimmed = arguments.trim();
    if trimmed.is_empty() || trimmed == "null" {
        return "{}".to_owned();
    }
    let documents: Result<Vec<Value>, _> = serde_json::Deserializer::from_str(trimmed).into_iter().collect();
    let Ok(documents) = documents else { return arguments };
    if let [Value::String(inside)] = &documents[..] {
        let is_object = serde_json::from_str::<Value>(inside).is_ok_and(|inside| inside.is_object());
        return if is_object { inside.clone() } else { arguments };
    }
    let is_empty = |one: &Value| one.as_object().is_some_and(serde_json::Map::is_empty);
    let mut said = documents.iter().filter(|one| !is_empty(one));
    match (documents.len(), said.next()) {
        (2.., None) => "{}".to_owned(),
        (2.., Some(first)) if first.is_object() && said.all(|other| other == first) => first.to_string(),
        _ => arguments,
    }
}
