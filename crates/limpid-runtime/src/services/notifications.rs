//! Telling the owner on other screens that something reached a conversation.

pub(crate) mod command;
pub(crate) mod desktop;
pub(crate) mod ntfy;
pub(crate) mod presence;
pub(crate) mod web_push;

use std::sync::Arc;

use async_trait::async_trait;
use limpid_config::{Clock, Environment, NotifyConfig, Redactor, process};
use limpid_core::{ConversationId, notice};
use limpid_store::{DeliveryId, PushOutcome, Pushers, Store};
use tokio_util::task::TaskTracker;

use crate::agent::{Agent, Inner};
use crate::services::error::AgentError;
use crate::services::events::{EventBus, EventKind};

pub use crate::services::notifications::web_push::Browser;
pub(crate) use crate::services::notifications::web_push::WebPush;

/// What stands for the conversation in the address of its page.
const PLACE: &str = "{conversation}";

/// A way to tell the owner something.
#[async_trait]
pub trait Notifier: Send + Sync {
    /// What it is called when it fails.
    fn name(&self) -> &'static str;

    /// Whether there is anybody to tell it to.
    fn is_set_up(&self) -> bool {
        true
    }

    /// Tells it once.
    ///
    /// # Errors
    /// A sentence: why it could not. No run fails for it.
    async fn notify(&self, notice: &Notice) -> Result<(), String>;
}

/// What the owner is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What it is about; a later one about the same thing takes its place.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it says. A [`Notifier`] gets it on one short line without markup.
    pub body: String,
    /// Where it can be read and answered: the page of its conversation, when the owner has set where pages are.
    pub link: Option<String>,
}

/// What notifiers work with.
#[derive(Clone)]
pub(crate) struct NotifyParts {
    pub(crate) bus: EventBus,
    pub(crate) redactor: Redactor,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    /// The process that they are in.
    pub(crate) holder: String,
    /// What is being told.
    pub(crate) under_way: TaskTracker,
}

/// Every way that the owner has set up.
#[derive(Clone)]
pub(crate) struct Notifiers {
    all: Arc<[Arc<dyn Notifier>]>,
    /// See [`NotifyConfig::link`].
    link: Option<String>,
    parts: NotifyParts,
}

impl Notifiers {
    /// Those of the configuration, browsers, then `more`.
    pub(crate) fn new(
        config: &NotifyConfig,
        environment: &Environment,
        parts: NotifyParts,
        web_push: WebPush,
        more: &[Arc<dyn Notifier>],
    ) -> Self {
        let mut all: Vec<Arc<dyn Notifier>> = Vec::new();
        if let Some(topic) = &config.ntfy {
            let token = config.ntfy_token_env.as_deref().and_then(|name| environment.get(name));
            all.push(Arc::new(ntfy::Ntfy::new(topic, token)));
        }
        if !config.command.is_empty() {
            all.push(Arc::new(command::Program::new(&config.command)));
        }
        if desktop::is_used(config.desktop, environment) {
            all.push(Arc::new(desktop::Desktop));
        }
        all.push(Arc::new(web_push));
        all.extend(more.iter().cloned());
        // Closed, it can be waited for; it takes tasks all the same.
        parts.under_way.close();
        Self { all: all.into(), link: config.link.clone(), parts }
    }

    /// The notice of a conversation as it is told: short, without secrets, and with the conversation's page. None when
    /// nothing is left to read.
    pub(crate) fn shortened(&self, conversation: &ConversationId, notice: Notice) -> Option<Notice> {
        let redactor = &self.parts.redactor;
        let body = notice::body(&redactor.clean(notice.body))?;
        let link = self.link.as_ref().map(|link| link.replace(PLACE, conversation.as_str()));
        Some(Notice { body, title: redactor.clean(notice.title), link, ..notice })
    }

    /// Who is to tell something, for the store.
    pub(crate) fn pushers(&self) -> Pushers {
        let names = self.set_up().map(|notifier| notifier.name().to_owned()).collect();
        Pushers { names, holder: self.parts.holder.clone() }
    }

    fn set_up(&self) -> impl Iterator<Item = &Arc<dyn Notifier>> {
        self.all.iter().filter(|notifier| notifier.is_set_up())
    }

    /// Tells a delivery everywhere, and does not keep the caller. What fails is told on the bus; what became of it is
    /// written down.
    pub(crate) fn notify(&self, conversation: &ConversationId, delivery: DeliveryId, notice: Notice) {
        let notice = Arc::new(notice);
        for notifier in self.set_up() {
            let (parts, notifier, notice) = (self.parts.clone(), Arc::clone(notifier), Arc::clone(&notice));
            let conversation = conversation.clone();
            self.parts.under_way.spawn(async move {
                let told = notifier.notify(&notice).await.map_err(|reason| parts.redactor.clean(reason));
                let (outcome, detail) = match &told {
                    Ok(()) => (PushOutcome::Told, ""),
                    Err(reason) => (PushOutcome::Failed, reason.as_str()),
                };
                let now_ms = parts.clock.now().as_millisecond();
                // What cannot be written down is of unknown outcome when this process is gone.
                let _ = parts.store.end_push(delivery, notifier.name(), outcome, detail, now_ms).await;
                if let Err(reason) = told {
                    let by = notifier.name().to_owned();
                    parts.bus.send(Some(&conversation), EventKind::NotificationFailed { by, reason });
                }
            });
        }
    }

    /// Waits until everything has been told, or has failed to be.
    pub(crate) async fn told(&self) {
        self.parts.under_way.wait().await;
    }
}

impl Agent {
    /// The ways of telling the owner something that are set up.
    pub fn ways_to_tell(&self) -> Vec<&'static str> {
        self.inner.notifiers.set_up().map(|notifier| notifier.name()).collect()
    }

    /// Tells a few words everywhere and says for each way how it went.
    pub async fn tell_for_test(&self) -> Vec<(&'static str, Result<(), String>)> {
        let notifiers = &self.inner.notifiers;
        let notice = Notice {
            id: "test".to_owned(),
            title: "Limpid".to_owned(),
            body: "This is what a notice looks like.".to_owned(),
            link: None,
        };
        let mut told = Vec::new();
        for notifier in notifiers.set_up() {
            let result = notifier.notify(&notice).await;
            told.push((notifier.name(), result.map_err(|why| notifiers.parts.redactor.clean(why))));
        }
        told
    }
}

impl Inner {
    /// What a dead process was telling is of unknown outcome: it is not told again, and that is said on the bus.
    pub(crate) async fn settle_pushes(&self) -> Result<(), AgentError> {
        for push in self.store.open_pushes().await?.rows {
            if !process::is_dead(&push.holder) {
                continue;
            }
            let now_ms = self.host.now_ms();
            let fresh = self.store.end_push(push.delivery, &push.by, PushOutcome::Unknown, "", now_ms).await?;
            if fresh {
                let reason = format!("outcome unknown: the program stopped while it told of “{}”", push.title);
                self.bus.send(None, EventKind::NotificationFailed { by: push.by, reason });
            }
        }
        Ok(())
    }
}
