//! Telling of deliveries, by every way that is set up.

use std::sync::Arc;

use limpid_config::{Config, Environment, Home, Live, Redactor, TextKind, process};
use limpid_core::{ConversationId, Labelled, notice};
use limpid_prompt::boundary::for_readers;
use limpid_prompt::shown::Shown;
use limpid_store::{DeliveryId, PendingNotifications, PushOutcome, Store};
use tokio_util::task::TaskTracker;

use crate::error::AgentError;
use crate::events::{EventBus, EventKind};
use crate::host::Host;
use crate::notifications::command::Program;
use crate::notifications::desktop;
use crate::notifications::notice::{Matter, Notice, Notifier};
use crate::notifications::ntfy::Ntfy;
use crate::notifications::presence::Presence;
use crate::notifications::web_push::WebPush;

/// What stands for the conversation in the address of its page.
const PLACE: &str = "{conversation}";

/// What notifications are made from.
pub struct NotificationOptions {
    /// The folder with the clients that are open and the browsers that subscribed.
    pub home: Home,
    /// Which ways are set up; a change acts with the next notification.
    pub config: Live<Config>,
    /// Where tokens are, and whether there is a desktop.
    pub environment: Environment,
    /// Clock and process.
    pub host: Host,
    /// Where it is written down what became of a notification.
    pub store: Arc<dyn Store>,
    /// Where it is told what failed.
    pub events: EventBus,
    /// Takes secrets out of what is told.
    pub redactor: Redactor,
    /// Ways to tell the owner something, besides those of the configuration.
    pub more: Vec<Arc<dyn Notifier>>,
}

/// Tells the owner of what was delivered, by every way that is set up, while no client is open.
#[derive(Clone)]
pub struct Notifications {
    pub(super) home: Home,
    pub(super) config: Live<Config>,
    pub(super) environment: Environment,
    pub(super) host: Host,
    pub(super) store: Arc<dyn Store>,
    pub(super) events: EventBus,
    pub(super) redactor: Redactor,
    pub(super) more: Arc<[Arc<dyn Notifier>]>,
    pub(super) presence: Presence,
    /// What is being told.
    pub(super) under_way: TaskTracker,
}

impl Notifications {
    /// Tells nothing by itself.
    pub fn new(options: NotificationOptions) -> Self {
        let NotificationOptions { home, config, environment, host, store, events, redactor, more } = options;
        let presence = Presence::new(home.clients());
        let under_way = TaskTracker::new();
        // Closed, it can be waited for; it takes tasks all the same.
        under_way.close();
        Self { home, config, environment, host, store, events, redactor, more: more.into(), presence, under_way }
    }

    /// The ways that are set up, by name.
    pub fn ways(&self) -> Vec<&'static str> {
        self.set_up().map(|notifier| notifier.name()).collect()
    }

    /// Tells a few words everywhere and says for each way how it went.
    pub async fn test(&self) -> Vec<(&'static str, Result<(), String>)> {
        let notice = Notice {
            id: "test".to_owned(),
            title: Shown::new("Limpid"),
            body: Shown::new("This is what a notice looks like."),
            link: None,
        };
        let mut told = Vec::new();
        for notifier in self.set_up() {
            let result = notifier.notify(&notice).await;
            told.push((notifier.name(), result.map_err(|why| self.redactor.clean_as(TextKind::Failure, why))));
        }
        told
    }

    /// The notice of a matter of a conversation as it is told: short, without secrets, and with the conversation's page. None when
    /// nothing is left to read, or a client is open and shows it. What is foreign says no address: a messenger may ask for it at once.
    /// The whole stands in the conversation.
    pub fn prepare(
        &self,
        conversation: &ConversationId,
        matter: &Matter<'_>,
        title: Labelled<String>,
        text: Labelled<String>,
    ) -> Option<Notice> {
        if self.presence.is_client_open() {
            return None;
        }
        let is_foreign = title.trust().join(text.trust()).is_foreign();
        let clean = |text: Labelled<String>| text.map(|text| self.redactor.clean(text));
        let (title, body) = notice::of(clean(title), &clean(text).map(|text| for_readers(&text).into_owned()))?;
        let (title, body) = (Shown::new(&title), Shown::new(&body));
        let link = self.config.notify.link.as_ref().map(|link| link.replace(PLACE, conversation.as_str()));
        Some(Notice { id: matter.id(conversation, is_foreign), title, body, link })
    }

    /// Who is to tell something, for the store.
    pub fn pending_notifications(&self) -> PendingNotifications {
        let names = self.set_up().map(|notifier| notifier.name().to_owned()).collect();
        PendingNotifications { names, holder: self.host.holder().to_owned() }
    }

    /// Tells a delivery everywhere, and does not keep the caller. What fails is told on the bus; what became of it is
    /// written down.
    pub fn send(&self, conversation: &ConversationId, delivery: DeliveryId, notice: Notice) {
        let notice = Arc::new(notice);
        for notifier in self.set_up() {
            let (own, notice, conversation) = (self.clone(), Arc::clone(&notice), conversation.clone());
            self.under_way.spawn(async move {
                let told = notifier.notify(&notice).await;
                let told = told.map_err(|reason| own.redactor.clean_as(TextKind::Failure, reason));
                let (outcome, detail) = match &told {
                    Ok(()) => (PushOutcome::Told, ""),
                    Err(reason) => (PushOutcome::Failed, reason.as_str()),
                };
                // What cannot be written down is of unknown outcome when this process is gone.
                let _ = own.store.end_push(delivery, notifier.name(), outcome, detail, own.host.now_ms()).await;
                if let Err(reason) = told {
                    let by = notifier.name().to_owned();
                    own.events.send(Some(&conversation), EventKind::NotificationFailed { by, reason });
                }
            });
        }
    }

    /// Tells the bus of this process of a delivery, once, and wakes the clients of every process, which show it.
    pub fn announce(&self, conversation: &ConversationId, delivery: DeliveryId, change: EventKind) {
        if self.presence.is_first_told(delivery) {
            self.events.send(Some(conversation), change);
        }
        self.presence.wake_clients();
    }

    /// Waits until everything has been told, or has failed to be.
    pub async fn sent(&self) {
        self.under_way.wait().await;
    }

    /// Ends what a dead process was telling: its outcome is unknown, it is not told again, and the bus says so.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn recover(&self) -> Result<(), AgentError> {
        for push in self.store.open_pushes().await?.rows {
            if !process::is_dead(&push.holder) {
                continue;
            }
            let now_ms = self.host.now_ms();
            let fresh = self.store.end_push(push.delivery, &push.by, PushOutcome::Unknown, "", now_ms).await?;
            if fresh {
                let reason = format!("outcome unknown: the program stopped while it told of “{}”", push.title);
                self.events.send(None, EventKind::NotificationFailed { by: push.by, reason });
            }
        }
        Ok(())
    }

    /// Every way that is set up now: those of the configuration, browsers, then those of the embedder.
    fn set_up(&self) -> impl Iterator<Item = Arc<dyn Notifier>> {
        let config = &self.config.notify;
        let mut all: Vec<Arc<dyn Notifier>> = Vec::new();
        if let Some(topic) = &config.ntfy {
            let token = config.ntfy_token_env.as_deref().and_then(|name| self.environment.get(name));
            all.push(Arc::new(Ntfy::new(topic, token)));
        }
        if !config.command.is_empty() {
            all.push(Arc::new(Program::new(&config.command)));
        }
        if desktop::is_used(config.desktop, &self.environment) {
            all.push(Arc::new(desktop::Desktop));
        }
        all.push(Arc::new(self.web_push()));
        all.extend(self.more.iter().cloned());
        all.into_iter().filter(|notifier| notifier.is_set_up())
    }

    pub(super) fn web_push(&self) -> WebPush {
        let contact = self.config.notify.web_push_contact.clone();
        WebPush::new(self.home.push(), contact, Arc::clone(self.host.clock()))
    }
}
