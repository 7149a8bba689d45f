//! Browsers, by way of their makers' servers. Each that subscribed has a file of the folder `data/push` of the home, beside
//! the key with which this home signs; only the owner may read them, since whoever has one can tell that browser something.

use std::path::PathBuf;
use std::sync::Arc;
use std::{fs, io};

use async_trait::async_trait;
use limpid_channels::push::{Subscription, VapidKey, push};
use limpid_config::{Clock, private_file};
use limpid_core::Sentence;
use limpid_tools::outlet::post_bytes;
use serde_json::json;

use crate::error::AgentError;
use crate::notifications::notice::{Notice, Notifier};
use crate::notifications::service::Notifications;

/// The name of the file with the key.
const KEY: &str = "vapid.key";

/// Characters of a title that are told.
const TITLE_CHARS: usize = 200;

/// What a push service answers when a browser does not want to be told anything any more.
const GONE: [u16; 2] = [404, 410];

/// The browsers that subscribed.
pub(crate) struct WebPush {
    folder: PathBuf,
    contact: Option<String>,
    clock: Arc<dyn Clock>,
}

/// A browser that is told notices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Browser {
    /// What it is called here.
    pub id: String,
    /// The server that reaches it: `https://push.example.net`.
    pub service: String,
}

impl WebPush {
    /// Takes the folder; `contact` is whom a push service may write to.
    pub(crate) fn new(folder: PathBuf, contact: Option<String>, clock: Arc<dyn Clock>) -> Self {
        Self { folder, contact, clock }
    }

    /// The key; the first one who asks has it made.
    fn key(&self) -> Result<VapidKey, AgentError> {
        let path = self.folder.join(KEY);
        let text = match private_file::read(&path)? {
            Some(text) => text,
            None => {
                let text = VapidKey::make().map_err(AgentError::Invalid)?;
                private_file::write(&path, &text)?;
                text
            }
        };
        let wrong = |why| AgentError::Invalid(format!("{}: {why}; without the file a new one is made", path.display()));
        VapidKey::parse(&text, self.contact.clone()).map_err(wrong)
    }

    /// The browsers that subscribed; a file that cannot be read is told with its name.
    fn subscriptions(&self) -> Result<Vec<Subscription>, AgentError> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(AgentError::file(&self.folder))?,
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
        paths.sort();
        let read = |path: PathBuf| {
            let wrong = |why| AgentError::Invalid(format!("{}: {why}", path.display()));
            let text = private_file::read(&path)?;
            text.map(|text| Subscription::parse(&text).map_err(wrong)).transpose()
        };
        paths.into_iter().filter_map(|path| read(path).transpose()).collect()
    }

    fn file(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    async fn tell(&self, browser: &Subscription, notice: &Notice, key: &VapidKey) -> Result<(), String> {
        let title: String = notice.title.as_str().chars().take(TITLE_CHARS).collect();
        let text = json!({ "id": notice.id, "title": title, "body": notice.body.as_str() }).to_string();
        let request = push(browser, text.as_bytes(), &notice.id, key, self.clock.now().as_second())?;
        let headers: Vec<(&str, &str)> = request.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = post_bytes(&request.url, &headers, request.body).await.map_err(Sentence::into_text)?;
        if answer.status < 300 {
            return Ok(());
        }
        if GONE.contains(&answer.status) {
            // Whatever becomes of the file, the next notice comes here again.
            let _ = fs::remove_file(self.file(&browser.id()));
            return Err(format!("the browser {} has unsubscribed and is told nothing any more", browser.id()));
        }
        Err(answer.refusal(&request.url).into_text())
    }
}

#[async_trait]
impl Notifier for WebPush {
    fn name(&self) -> &'static str {
        "web push"
    }

    fn is_set_up(&self) -> bool {
        self.subscriptions().map_or(true, |all| !all.is_empty())
    }

    async fn notify(&self, notice: &Notice) -> Result<(), String> {
        let browsers = self.subscriptions().map_err(|error| error.to_string())?;
        if browsers.is_empty() {
            return Ok(());
        }
        let key = self.key().map_err(|error| error.to_string())?;
        let mut failures = Vec::new();
        for browser in &browsers {
            failures.extend(self.tell(browser, notice, &key).await.err());
        }
        if failures.is_empty() { Ok(()) } else { Err(failures.join("; ")) }
    }
}

impl Notifications {
    /// The public half of the key with which notices to browsers are signed: what a page gives its browser as
    /// `applicationServerKey` when it subscribes. It is made when it is asked for first.
    ///
    /// # Errors
    /// When the key cannot be read or written.
    pub fn push_key(&self) -> Result<String, AgentError> {
        Ok(self.web_push().key()?.public())
    }

    /// The browsers that are told notices.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn browsers(&self) -> Result<Vec<Browser>, AgentError> {
        let browser = |browser: Subscription| {
            let service = browser.origin().map_err(AgentError::Invalid)?;
            Ok(Browser { id: browser.id(), service })
        };
        self.web_push().subscriptions()?.into_iter().map(browser).collect()
    }

    /// Has a browser told notices from here on; `json` is what it gave out. The same browser is kept once.
    ///
    /// # Errors
    /// When it is no subscription, or cannot be kept.
    pub fn add_browser(&self, json: &str) -> Result<Browser, AgentError> {
        let browser = Subscription::parse(json).map_err(AgentError::Invalid)?;
        let text = serde_json::to_string(&browser).map_err(|error| AgentError::Invalid(error.to_string()))?;
        private_file::write(&self.web_push().file(&browser.id()), &text)?;
        let service = browser.origin().map_err(AgentError::Invalid)?;
        Ok(Browser { id: browser.id(), service })
    }

    /// Has a browser told nothing any more.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn remove_browser(&self, id: &str) -> Result<(), AgentError> {
        let advice = || "`limpid notify list` lists them".to_owned();
        let unknown = || AgentError::NotFound { what: "browser", name: id.to_owned(), advice: advice() };
        let browser = self.browsers()?.into_iter().find(|browser| browser.id == id).ok_or_else(unknown)?;
        let path = self.web_push().file(&browser.id);
        fs::remove_file(&path).map_err(AgentError::file(path))
    }
}
