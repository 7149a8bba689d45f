//! What the owner is told, and a way to tell it.

use async_trait::async_trait;
use limpid_prompt::shown::Shown;

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
    pub title: Shown,
    /// What it says. A [`Notifier`] gets it on one short line without markup.
    pub body: Shown,
    /// Where it can be read and answered: the page of its conversation, when the owner has set where pages are.
    pub link: Option<String>,
}
