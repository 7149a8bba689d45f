//! Who is logged in. A browser gets in by a code that `limpid serve` prints and that is good once, for an hour; a cookie keeps it
//! there for thirty days after it was last used. Files of the home hold hashes only.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use limpid_config::{FileError, Home, private_file};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// How long a code is good.
const CODE_MS: i64 = 60 * 60 * 1_000;

/// How long a browser that does not come stays logged in.
pub(crate) const SESSION_MS: i64 = 30 * 24 * 60 * 60 * 1_000;

/// Digits of the page's own name.
const NAME: usize = 20;

/// How old the time of the last use may get before it is written again.
const NOTED_MS: i64 = 60 * 60 * 1_000;

/// Browsers that are logged in at once; beyond it the one that was not used for longest is logged out.
const SESSIONS: usize = 32;

/// The logins of a page.
pub struct Logins {
    name: PathBuf,
    code: PathBuf,
    sessions: PathBuf,
    known: Mutex<Known>,
}

/// What the file says, and which one it was: another process may have logged everybody out.
#[derive(Default)]
struct Known {
    read: Option<Seen>,
    sessions: Vec<Session>,
}

/// When a file was written and how long it is; none where there is no file.
type Seen = Option<(SystemTime, u64)>;

/// A secret, of which only the hash is kept, and when it was made or last used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Session {
    hash: String,
    used_ms: i64,
}

impl Logins {
    /// Those of a home.
    pub fn new(home: &Home) -> Self {
        Self { name: home.page_name(), code: home.page_code(), sessions: home.page_sessions(), known: Mutex::default() }
    }

    /// The name by which a browser asks for the page on its own machine; `secret` is what was drawn for a new one.
    ///
    /// Browsers take every name under `localhost` for this machine, and give the cookies of a name to whichever server it is asked of
    /// there, whatever the port. So it is a name that no other server of the machine knows, and none can lead a browser to it.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub(crate) fn own_name(&self, secret: &str) -> Result<String, FileError> {
        if let Some(known) = self.known_name()? {
            return Ok(known);
        }
        let drawn: String = secret.chars().take(NAME).collect();
        let name = format!("limpid-{drawn}.localhost");
        private_file::write(&self.name, &name)?;
        Ok(name)
    }

    /// The same, when there is one.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) fn known_name(&self) -> Result<Option<String>, FileError> {
        let is_name = |name: &String| {
            let drawn = name.strip_prefix("limpid-").and_then(|name| name.strip_suffix(".localhost"));
            drawn.is_some_and(|drawn| drawn.len() == NAME && drawn.bytes().all(|byte| byte.is_ascii_hexdigit()))
        };
        Ok(private_file::read(&self.name)?.filter(is_name))
    }

    /// The page has no name of its own any more: another server may be asked by it.
    ///
    /// # Errors
    /// When the file cannot be removed.
    pub(crate) fn forget_name(&self) -> Result<(), FileError> {
        match fs::remove_file(&self.name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(FileError::io(&self.name)),
        }
    }

    /// Keeps a code that was drawn. The one before is good no more.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub fn keep_code(&self, code: &str, now_ms: i64) -> Result<(), FileError> {
        let kept = Session { hash: hash(code), used_ms: now_ms };
        private_file::write(&self.code, &serde_json::to_string(&kept).unwrap_or_default())
    }

    /// Logs a browser in that shows the code; `secret` is what was drawn for its cookie. A code opens once, also when two come at once.
    ///
    /// # Errors
    /// When a file cannot be read or written.
    pub(crate) fn log_in(&self, code: &str, secret: &str, now_ms: i64) -> Result<bool, FileError> {
        let mut known = self.lock();
        let Some(kept) = private_file::read(&self.code)? else { return Ok(false) };
        let Ok(kept) = serde_json::from_str::<Session>(&kept) else { return Ok(false) };
        if kept.hash != hash(code) || !(0..CODE_MS).contains(&(now_ms - kept.used_ms)) {
            return Ok(false);
        }
        match fs::remove_file(&self.code) {
            // Another one was quicker.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            removed => removed.map_err(FileError::io(&self.code))?,
        }
        self.load(&mut known)?;
        let sessions = &mut known.sessions;
        sessions.retain(|session| is_good(session, now_ms));
        sessions.sort_by_key(|session| session.used_ms);
        sessions.drain(..(sessions.len() + 1).saturating_sub(SESSIONS));
        sessions.push(Session { hash: hash(secret), used_ms: now_ms });
        self.keep(&mut known)?;
        Ok(true)
    }

    /// Whether a browser with this secret is logged in.
    pub(crate) fn knows(&self, secret: &str, now_ms: i64) -> bool {
        let hash = hash(secret);
        let mut known = self.lock();
        // Sessions that cannot be read open nothing.
        if self.load(&mut known).is_err() {
            return false;
        }
        let good = |session: &&mut Session| session.hash == hash && is_good(session, now_ms);
        let Some(session) = known.sessions.iter_mut().find(good) else { return false };
        if now_ms - session.used_ms > NOTED_MS {
            session.used_ms = now_ms;
            // It is written the next time.
            let _ = self.keep(&mut known);
        }
        true
    }

    /// Logs every browser out, also those of a page that another process serves.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn log_out_all(&self) -> Result<(), FileError> {
        self.keep(&mut Known::default())
    }

    /// Logs a browser out.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub(crate) fn log_out(&self, secret: &str) -> Result<(), FileError> {
        let mut known = self.lock();
        self.load(&mut known)?;
        known.sessions.retain(|session| session.hash != hash(secret));
        self.keep(&mut known)
    }

    /// Reads the file where it is another one than the one that was read.
    fn load(&self, known: &mut Known) -> Result<(), FileError> {
        let seen = self.seen();
        if known.read != Some(seen) {
            let text = private_file::read(&self.sessions)?.unwrap_or_default();
            // A file that says nothing knows nobody: everyone logs in again.
            *known = Known { read: Some(seen), sessions: serde_json::from_str(&text).unwrap_or_default() };
        }
        Ok(())
    }

    fn keep(&self, known: &mut Known) -> Result<(), FileError> {
        private_file::write(&self.sessions, &serde_json::to_string(&known.sessions).unwrap_or_default())?;
        known.read = Some(self.seen());
        Ok(())
    }

    fn seen(&self) -> Seen {
        let about = fs::metadata(&self.sessions).ok()?;
        Some((about.modified().ok()?, about.len()))
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_good(session: &Session, now_ms: i64) -> bool {
    now_ms - session.used_ms < SESSION_MS
}

/// Only hashes are compared, so the time that it takes tells nothing of the secret.
fn hash(secret: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(secret))
}
