//! Follows limpid.toml and the other files that a running agent goes by.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use limpid_config::{
    Config,
    process::{Daemon, Standing},
    read_text,
};
use limpid_model::catalogue::ModelProfiles;
use limpid_model::chain::Pause;
use limpid_services::inbox::Inbox;
use limpid_services::models::ModelRegistry;

use crate::jobs::deps::JobDeps;
use crate::jobs::serve::watch::Watch;
use crate::jobs::serve_event::{Log, ServeEvent};
use crate::settings::LiveSettings;

/// How long a file must stay as it is before it counts: somebody may have written half of it.
const SETTLE: Duration = Duration::from_millis(100);

/// Looks at a file that keeps changing, before it is left for later.
const LOOKS: u32 = 20;

/// A file as it was read: its text, none when there is no such file, or why it cannot be read.
type Read = Result<Option<String>, String>;

/// A file that is followed.
struct Followed {
    path: PathBuf,
    seen: Read,
}

/// What a process follows that lasts.
pub(crate) struct Follower {
    /// Absent: the configuration comes from no file.
    config: Option<Followed>,
    models: Followed,
    token: Followed,
    /// What the owner has looked at of servers.
    looked: Followed,
    /// The text of the configuration that is in use, when it is known.
    used: Option<String>,
    watch: Option<Watch>,
    /// The process as `doctor` sees it; none where it does nothing by itself.
    daemon: Option<Daemon>,
    standing: Standing,
    settings: Arc<LiveSettings>,
    registry: Arc<ModelRegistry>,
    inbox: Inbox,
    pause: Arc<dyn Pause>,
}

impl Follower {
    pub(crate) fn new(deps: &JobDeps, daemon: Option<Daemon>, log: &Log) -> Self {
        let watch = Watch::new();
        if let Err(error) = &watch {
            log(&ServeEvent::trouble("changes of limpid.toml are noticed within a minute, not at once", error));
        }
        let mut follower = Self {
            config: deps.settings.file().map(Followed::new),
            models: Followed::new(&deps.context.home.model_profiles()),
            token: Followed::new(&deps.context.home.ingest_token()),
            looked: Followed::new(&deps.context.home.mcp_looked()),
            used: None,
            watch: watch.ok(),
            standing: daemon.as_ref().map(|daemon| daemon.standing.clone()).unwrap_or_default(),
            daemon,
            settings: Arc::clone(&deps.settings),
            registry: Arc::clone(&deps.context.models),
            inbox: deps.inbox.clone(),
            pause: Arc::clone(&deps.pause),
        };
        follower.watch_all();
        // What happened before anybody watched is in what is read now.
        for file in follower.files_mut() {
            file.seen = read(&file.path);
        }
        follower
    }

    /// Compares what was read when the agent was opened with what the file says by now.
    pub(crate) fn begin(&mut self, log: &Log) {
        let Some(file) = &self.config else { return self.begun(log) };
        let name = file.path.display().to_string();
        let text = match &file.seen {
            Ok(text) => text.clone().unwrap_or_default(),
            Err(_) => String::new(),
        };
        match Config::parse(&text, &name) {
            Ok(read) if file.seen.is_ok() && read == **self.settings.config() => self.used = Some(text),
            // It changed since, or cannot be read any more.
            _ => drop(self.take_config(log)),
        }
        self.begun(log);
    }

    fn begun(&mut self, log: &Log) {
        self.write_down(log);
        // Who looked at a file before it was watched looks once more.
        self.settings.publish_change();
    }

    /// Waits until something happens to a file.
    pub(crate) async fn happens(&self) {
        let Some(watch) = &self.watch else { return std::future::pending().await };
        let real = self.files().filter_map(|file| file.path.canonicalize().ok()).collect::<Vec<_>>();
        let ours = self.files().map(|file| &file.path).chain(&real).filter_map(|path| path.file_name());
        let ours: Vec<&[u8]> = ours.map(std::ffi::OsStr::as_encoded_bytes).collect();
        watch.happens(|name| ours.contains(&name)).await;
    }

    /// Takes over what has changed, and says so. Returns whether anything did.
    pub(crate) async fn look(&mut self, log: &Log) -> bool {
        // Watched before it is read, so that nothing happens in between: a link may lead elsewhere since the last look.
        self.watch_all();
        let mut changed = false;
        if let Some(file) = &mut self.config
            && file.has_changed(&*self.pause).await
        {
            changed |= self.take_config(log);
            self.write_down(log);
        }
        if self.models.has_changed(&*self.pause).await {
            changed |= take_models(&self.models, &self.registry, log);
        }
        if self.token.has_changed(&*self.pause).await {
            self.inbox.learn_token();
            changed = true;
        }
        if self.looked.has_changed(&*self.pause).await {
            self.settings.rebuild();
            changed = true;
        }
        if changed {
            self.settings.publish_change();
        }
        changed
    }

    fn files(&self) -> impl Iterator<Item = &Followed> {
        self.config.iter().chain([&self.models, &self.token, &self.looked])
    }

    fn files_mut(&mut self) -> impl Iterator<Item = &mut Followed> {
        self.config.iter_mut().chain([&mut self.models, &mut self.token, &mut self.looked])
    }

    fn watch_all(&self) {
        let Some(watch) = &self.watch else { return };
        for file in self.files() {
            let real = file.path.canonicalize().ok();
            for path in [Some(&file.path), real.as_ref()].into_iter().flatten() {
                if let Some(folder) = path.parent() {
                    watch.add(folder);
                }
            }
        }
    }

    /// Takes over what limpid.toml says, or keeps what it said before and says why.
    fn take_config(&mut self, log: &Log) -> bool {
        let Some(file) = &self.config else { return false };
        let name = file.path.display().to_string();
        let had_some = self.used.as_ref().is_none_or(|used| !used.trim().is_empty());
        let read = match &file.seen {
            // Whoever saves a file empties it first. That must not switch rules off, not even for a moment.
            Ok(None) if had_some => Err(format!("{name} is gone")),
            Ok(Some(text)) if had_some && text.trim().is_empty() => Err(format!("{name} is empty")),
            Ok(text) => {
                let text = text.clone().unwrap_or_default();
                Config::parse(&text, &name).map(|config| (config, text)).map_err(|error| error.to_string())
            }
            Err(why) => Err(why.clone()),
        };
        let (config, text) = match read {
            Ok(read) => read,
            Err(why) => {
                log(&ServeEvent::trouble("limpid.toml is invalid, so the previous settings stay in use", &why));
                self.standing.problem = Some(why);
                return false;
            }
        };
        let compared = self.settings.apply(config, self.used.as_deref().unwrap_or_default(), &text);
        if self.standing.problem.take().is_some() && compared.applied.is_empty() {
            log(&ServeEvent::notice("limpid.toml can be used again"));
        }
        if !compared.applied.is_empty() {
            let text = format!("limpid.toml has changed; in effect now: {}", compared.applied.join(", "));
            log(&ServeEvent::Notice { what: "limpid.toml has changed and is in effect", text });
        }
        if !compared.restart.is_empty() {
            let text = format!("limpid.toml has changed; needs a restart: {}", compared.restart.join(", "));
            log(&ServeEvent::Notice { what: "limpid.toml has changed; that needs a restart", text });
        }
        self.used = Some(text);
        self.standing.restart = compared.restart;
        !compared.applied.is_empty()
    }

    /// Writes down what this process goes by, for `doctor`.
    fn write_down(&self, log: &Log) {
        let Some(daemon) = &self.daemon else { return };
        let used = self.used.as_deref().filter(|_| self.config.is_some());
        let standing = Standing { config: used.map(Standing::hash), ..self.standing.clone() };
        if let Err(error) = (Daemon { standing, ..daemon.clone() }).write() {
            log(&ServeEvent::trouble("`limpid doctor` cannot see this process", error));
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        if let Some(daemon) = &self.daemon {
            daemon.remove();
        }
    }
}

impl Followed {
    fn new(path: &Path) -> Self {
        Self { seen: read(path), path: path.to_owned() }
    }

    /// Reads the file again when it is another one, as soon as it stays as it is.
    async fn has_changed(&mut self, pause: &dyn Pause) -> bool {
        let mut now = read(&self.path);
        for _ in 0..LOOKS {
            if now == self.seen {
                return false;
            }
            pause.pause(SETTLE).await;
            let again = read(&self.path);
            if again == now {
                self.seen = now;
                return true;
            }
            now = again;
        }
        // Whoever writes it closes it some day, which is heard, or the next look finds it.
        false
    }
}

fn read(path: &Path) -> Read {
    read_text(path).map_err(|error| error.to_string())
}

/// Has models opened again by what the owner now says of them.
fn take_models(file: &Followed, registry: &ModelRegistry, log: &Log) -> bool {
    let name = file.path.display().to_string();
    let checked = match &file.seen {
        Ok(text) => {
            let own = text.as_deref().map(|text| (name.as_str(), text));
            ModelProfiles::load(own).map(drop).map_err(|error| error.to_string())
        }
        Err(why) => Err(why.clone()),
    };
    match checked {
        Ok(()) => {
            registry.forget();
            log(&ServeEvent::notice("models.toml has changed and is in effect"));
            true
        }
        Err(why) => {
            log(&ServeEvent::trouble("models.toml cannot be used", why));
            false
        }
    }
}
