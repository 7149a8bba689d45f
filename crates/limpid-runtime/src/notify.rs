//! Telling the owner on other screens that something reached a conversation (KAI-068 to KAI-070).

mod command;
mod desktop;
mod ntfy;
mod web_push;

use std::sync::Arc;

use async_trait::async_trait;
use limpid_core::{ConversationId, notice};
use tokio_util::task::TaskTracker;

use crate::agent::Agent;
use crate::bus::{Bus, Change};
use crate::config::NotifyConfig;
use crate::redact::Redactor;
use crate::world::Environment;

pub use web_push::Browser;
pub(crate) use web_push::WebPush;

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
    /// A sentence: why it could not. No run fails for it (KAI-070).
    async fn notify(&self, notice: &Notice) -> Result<(), String>;
}

/// What the owner is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What it is about; a later one about the same thing takes its place (KAI-068).
    pub id: String,
    /// Its title.
    pub title: String,
    /// What it says. A [`Notifier`] gets it on one short line without markup (KAI-069).
    pub body: String,
    /// Where it can be read and answered: the page of its conversation, when the owner has set where pages are.
    pub link: Option<String>,
}

/// Every way that the owner has set up.
#[derive(Clone)]
pub(crate) struct Notifiers {
    all: Arc<[Arc<dyn Notifier>]>,
    /// See [`NotifyConfig::link`].
    link: Option<String>,
    bus: Bus,
    redactor: Redactor,
    /// What is being told.
    under_way: TaskTracker,
}

impl Notifiers {
    /// Those of the configuration, browsers, then `more`.
    pub(crate) fn new(
        config: &NotifyConfig,
        environment: &Environment,
        (bus, redactor): (&Bus, &Redactor),
        web_push: WebPush,
        more: Vec<Arc<dyn Notifier>>,
    ) -> Self {
        let mut all: Vec<Arc<dyn Notifier>> = Vec::new();
        if let Some(topic) = &config.ntfy {
            let token = config.ntfy_token_env.as_deref().and_then(|name| environment.get(name));
            all.push(Arc::new(ntfy::Ntfy::new(topic, token)));
        }
        if !config.command.is_empty() {
            all.push(Arc::new(command::Program::new(&config.command)));
        }
        if config.desktop {
            all.push(Arc::new(desktop::Desktop));
        }
        all.push(Arc::new(web_push));
        all.extend(more);
        let under_way = TaskTracker::new();
        // Closed, it can be waited for; it takes tasks all the same.
        under_way.close();
        Self { all: all.into(), link: config.link.clone(), bus: bus.clone(), redactor: redactor.clone(), under_way }
    }

    /// Tells everywhere, and does not keep the caller: a text without anything to read is told nowhere, and what fails
    /// is told on the bus.
    pub(crate) fn notify(&self, conversation: Option<&ConversationId>, notice: Notice) {
        let Some(body) = notice::body(&self.redactor.clean(notice.body)) else { return };
        let link = conversation.and_then(|id| Some(self.link.as_ref()?.replace(PLACE, id.as_str())));
        let notice = Arc::new(Notice { body, title: self.redactor.clean(notice.title), link, ..notice });
        for notifier in self.all.iter() {
            let (this, notifier, notice) = (self.clone(), Arc::clone(notifier), Arc::clone(&notice));
            let conversation = conversation.cloned();
            self.under_way.spawn(async move {
                if let Err(reason) = notifier.notify(&notice).await {
                    let (by, reason) = (notifier.name().to_owned(), this.redactor.clean(reason));
                    this.bus.send(conversation.as_ref(), Change::NotificationFailed { by, reason });
                }
            });
        }
    }

    /// Waits until everything has been told, or has failed to be.
    pub(crate) async fn told(&self) {
        self.under_way.wait().await;
    }
}

impl Agent {
    /// The ways of telling the owner something that are set up.
    pub fn ways_to_tell(&self) -> Vec<&'static str> {
        let all = self.inner.notifiers.all.iter();
        all.filter(|notifier| notifier.is_set_up()).map(|notifier| notifier.name()).collect()
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
        for notifier in notifiers.all.iter().filter(|notifier| notifier.is_set_up()) {
            let result = notifier.notify(&notice).await;
            told.push((notifier.name(), result.map_err(|why| notifiers.redactor.clean(why))));
        }
        told
    }
}
