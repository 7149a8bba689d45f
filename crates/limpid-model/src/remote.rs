//! A model behind a provider's HTTP interface.

mod embed;
mod endpoint;
mod extra;
mod http;
mod listing;
mod reply;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use futures_util::stream::{self, BoxStream, StreamExt};
use limpid_core::{FailureClass, UsableWindow, WindowSize, causes};
use limpid_prompt::Prompt;
use reqwest::header::{HeaderMap, HeaderValue};
use tokio_util::sync::CancellationToken;

use crate::call_ids::CallIds;
use crate::errors::Service;
use crate::lessons::Lessons;
use crate::model::{Model, ModelCall, ModelCard, ModelError, ModelEvent, Prepared};
use crate::openai_names::{may_be_unreasoned, takes_tools_unreasoned};
use crate::protocol::{Adapter as _, MOST_UNASKED, Protocol};
use crate::remedy::{Field, Remedy, ToolMark};
use crate::wire::{NameRules, WireCall, left_out};

use extra::with_extra;
use http::{endpoint_url, headers, shown};
use reply::{Asked, Reply};

pub use embed::RemoteEmbedder;
pub use endpoint::{Access, Endpoint, Timeouts};
pub(crate) use http::{client, use_tls};
pub(crate) use listing::Listing;

/// A model behind a provider's HTTP interface.
#[derive(Clone)]
pub struct RemoteModel {
    card: ModelCard,
    endpoint: Endpoint,
    url: reqwest::Url,
    /// Made when it is first needed: reading the system's certificates takes a while.
    client: OnceLock<Result<reqwest::Client, ModelError>>,
    headers: HeaderMap,
    service: Arc<Service>,
    /// What it does not take; shared by those that differ in their window only.
    lessons: Arc<Mutex<Lessons>>,
}

impl RemoteModel {
    /// Makes a model; nothing is sent yet.
    ///
    /// # Errors
    /// When the base URL is none, or the key cannot stand in a header.
    pub fn new(card: ModelCard, endpoint: Endpoint) -> Result<Self, ModelError> {
        let refused = |why: String| ModelError::new(FailureClass::Malformed, why);
        let url = endpoint_url(&endpoint, &card.id).map_err(refused)?;
        let headers = headers(&endpoint).map_err(refused)?;
        let service = Arc::new(Service {
            name: card.name(),
            target: shown(&url),
            key: endpoint.key.clone(),
            key_variable: endpoint.key_variable.clone(),
            listed: endpoint.listed.clone(),
        });
        let mut card = ModelCard { state: endpoint.protocol.state_rule(card.state), ..card };
        if endpoint.protocol == Protocol::Ollama {
            // It cuts in silence what is longer than the window that it was told, or its own small one.
            card.window.get_or_insert(WindowSize(MOST_UNASKED));
            card.usable_window = card.usable_window.or_else(|| card.window.map(UsableWindow::default_for));
        }
        card.abilities.effort_form.get_or_insert(endpoint.protocol.effort_form());
        card.abilities.strict_tools = card.abilities.strict_tools.filter(|_| endpoint.protocol.has_strict_tools());
        if endpoint.protocol == Protocol::OpenaiChat && takes_tools_unreasoned(&card) {
            card.abilities.tools_unreasoned.get_or_insert(true);
        }
        card.abilities.tool_search = card.abilities.tool_search.filter(|_| endpoint.protocol.has_tool_search());
        let lessons = Arc::new(Mutex::new(Lessons::of(&card.abilities)));
        Ok(Self { card, endpoint, url, client: OnceLock::new(), headers, service, lessons })
    }

    fn lessons(&self) -> MutexGuard<'_, Lessons> {
        // What is inside is replaced whole, so it is never half changed.
        self.lessons.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call as this model takes it, but for the names.
    fn wire<'a>(&'a self, call: &'a ModelCall, lessons: &Lessons) -> Result<WireCall<'a>, ModelError> {
        let mut wire = WireCall::new(&self.card, call, self.endpoint.protocol.schemas())?;
        lessons.apply(&mut wire);
        if self.endpoint.protocol.has_system_message() {
            wire.one_system();
        }
        if self.card.abilities.strict_tools == Some(true) && !lessons.refuses(Field::Strict) {
            wire.be_strict(|tool| lessons.is_loose(tool));
        }
        Ok(wire)
    }

    /// What is known once the schema of a tool was refused.
    fn without_tool(&self, lessons: &Lessons, mark: &ToolMark, refused: &ModelCall) -> Option<Lessons> {
        let wire = self.wire(refused, lessons).ok()?;
        let names = self.names();
        let tool = match mark {
            ToolMark::Place(place) => wire.tools.get(*place),
            ToolMark::Name(name) => wire.tools.iter().find(|tool| names.tool(&tool.name) == *name),
        };
        tool.map(|tool| lessons.and_tool(&tool.name, tool.strict))
    }

    /// The bytes of a call to a model of which this is known.
    fn prepare_knowing(&self, call: &ModelCall, lessons: &Lessons) -> Result<Prepared, ModelError> {
        let mut wire = self.wire(call, lessons)?;
        // What leaves is what the request log names, under its own name.
        let (sampling, tools) = (wire.sampling, wire.choice.clone().into_owned());
        wire.fit_names(self.names());
        let body = self.endpoint.protocol.body(&wire, lessons.dialect(self.endpoint.dialect, &self.card.id));
        let body = with_extra(body, &self.endpoint.access.extra);
        let call = ModelCall { sampling, tools, ..call.clone() };
        Ok(Prepared { target: shown(&self.url), body, protocol: self.endpoint.protocol.as_str(), call })
    }

    fn names(&self) -> NameRules {
        self.endpoint.protocol.names(self.endpoint.dialect)
    }

    /// The headers of a call: those of every call, and where the provider wants it there, the conversation's name.
    fn headers_for(&self, call: &ModelCall) -> HeaderMap {
        let mut headers = self.headers.clone();
        let conversation = call.conversation.as_ref().filter(|_| self.endpoint.dialect.grok_header);
        if let Some(value) = conversation.and_then(|name| HeaderValue::from_str(name).ok()) {
            headers.insert("x-grok-conv-id", value);
        }
        headers
    }

    fn client(&self) -> Result<&reqwest::Client, ModelError> {
        let made = self.client.get_or_init(|| {
            client(&self.url, self.endpoint.timeouts)
                .map_err(|error| self.service.transport(&format!("no HTTP client can be made: {}", causes(&error))))
        });
        made.as_ref().map_err(Clone::clone)
    }
}

/// The headers with the key that a command prints, and whose errors never quote it.
async fn keyed(endpoint: &Endpoint, service: &Service) -> Result<(HeaderMap, Arc<Service>), ModelError> {
    let refused = |why: String| ModelError::new(FailureClass::Key, format!("{}: {why}", service.name));
    let endpoint = endpoint.with_key().await.map_err(refused)?;
    let headers = headers(&endpoint).map_err(refused)?;
    Ok((headers, Arc::new(Service { key: endpoint.key, ..service.clone() })))
}

/// The events of a reply, as they come.
fn events(reply: Reply) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
    stream::unfold(reply, |mut reply| async move { reply.next().await.map(|event| (event, reply)) }).boxed()
}

impl Model for RemoteModel {
    fn info(&self) -> &ModelCard {
        &self.card
    }

    fn prepare(&self, call: &ModelCall) -> Result<Prepared, ModelError> {
        let lessons = self.lessons().clone();
        self.prepare_knowing(call, &lessons)
    }

    fn left_out(&self, prompt: &Prompt) -> Vec<String> {
        left_out(&self.card, prompt, self.endpoint.protocol.schemas())
    }

    fn learn(&self, remedy: &Remedy, refused: &Prepared) -> Option<String> {
        let mut lessons = self.lessons();
        let more = match remedy {
            Remedy::WithoutTool(mark) => self.without_tool(&lessons, mark, &refused.call)?,
            // One that always reasons is helped by another protocol only, which the error says.
            Remedy::WithoutReasoningBesideTools if !may_be_unreasoned(&self.card) => return None,
            remedy => lessons.and(remedy, &refused.call),
        };
        let changes = self.prepare_knowing(&refused.call, &more).is_ok_and(|again| again.body != refused.body);
        if more == *lessons || !changes {
            return None;
        }
        let is_news = !matches!(remedy, Remedy::WithoutTool(_)) || more.left_out() != lessons.left_out();
        *lessons = more;
        is_news.then(|| lessons.notice(&self.card.name(), remedy))
    }

    fn resized(&self, card: &ModelCard) -> Option<Arc<dyn Model>> {
        Some(Arc::new(Self { card: card.clone(), ..self.clone() }))
    }

    fn send(
        &self,
        prepared: Prepared,
        cancel: CancellationToken,
    ) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        let lessons = self.lessons().clone();
        let (json_tools, originals) = match self.wire(&prepared.call, &lessons) {
            Ok(mut wire) => {
                wire.fit_names(self.names());
                (wire.json_tools, wire.originals)
            }
            Err(error) => return stream::iter([Err(error)]).boxed(),
        };
        let client = match self.client() {
            Ok(client) => client,
            Err(error) => return stream::iter([Err(error)]).boxed(),
        };
        let mut asked = Asked {
            ids: CallIds::new(&prepared.call),
            request: client.post(self.url.clone()).body(prepared.body),
            protocol: self.endpoint.protocol,
            rule: self.card.state,
            opened: self.card.abilities.opens_reasoning == Some(true),
            originals,
            json_tools,
            model: self.card.id.clone(),
            idle: self.endpoint.timeouts.idle,
            service: Arc::clone(&self.service),
            cancel,
        };
        let headers = self.headers_for(&prepared.call);
        let Some(command) = self.endpoint.key_command.clone() else {
            asked.request = asked.request.headers(headers);
            return events(Reply::to(asked));
        };
        let endpoint = self.endpoint.clone();
        let begun = async move {
            let (with_key, service) = tokio::select! {
                made = keyed(&endpoint, &asked.service) => made?,
                () = asked.cancel.cancelled() => return Err(asked.service.cancelled()),
            };
            // First those of every call: the key replaces what stood in its place.
            asked.request = asked.request.headers(headers).headers(with_key);
            Ok(Reply::to(Asked { service, ..asked }))
        };
        let events = stream::once(begun).flat_map(|begun| match begun {
            Ok(reply) => events(reply),
            Err(error) => stream::iter([Err(error)]).boxed(),
        });
        let refused =
            |event: &Result<_, ModelError>| event.as_ref().is_err_and(|error| error.class == FailureClass::Key);
        events
            .inspect(move |event| {
                if refused(event) {
                    command.forget();
                }
            })
            .boxed()
    }
}
