//! What stands around the killed agent and lives on: the provider, the push service, the mail servers, and somebody who
//! writes mail and hands things in.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use limpid_model::script::Reply;
use limpid_runtime::mail::{AccountSettings, Secret, ServerSettings};
use limpid_testkit::mail::{Manner, PASSWORD};
use limpid_testkit::{Dovecot, Recorder, SmtpSink, free_port};

use super::child::repeat;
use super::model::{FRESH, answer, shown};
use super::world::{ADDRESS, begin_time, mail_servers, open_agent};

/// How often something comes in.
const OFTEN: Duration = Duration::from_millis(200);

/// Things that came in and no heartbeat has looked at, at most: a source that holds a hundred lets the oldest go.
const UNSEEN: usize = 40;

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Everything around the agent.
pub(super) struct Outside {
    /// Kept as long as the agent may ask it.
    _provider: Recorder,
    mail: Option<(Dovecot, SmtpSink)>,
    pushes: Arc<Mutex<BTreeMap<String, u64>>>,
    /// The keys of what came in that the model was asked about.
    seen: Arc<Mutex<BTreeSet<String>>>,
    port: u16,
    token: String,
}

/// Somebody who writes mail and hands things in until they are stopped.
pub(super) struct Feeding {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<String>>,
}

impl Outside {
    /// Starts everything, and makes a home that knows it.
    pub(super) async fn start(home: &Path) -> Result<Self, String> {
        let pushes: Arc<Mutex<BTreeMap<String, u64>>> = Arc::default();
        let seen: Arc<Mutex<BTreeSet<String>>> = Arc::default();
        let (counted, asked) = (Arc::clone(&pushes), Arc::clone(&seen));
        let provider = Recorder::answering(move |request| {
            let body = request.json();
            match body["message"].as_str() {
                Some(message) if request.wire().is_none() => {
                    *lock(&counted).entry(message.to_owned()).or_default() += 1;
                    Reply { status: Some(200), ..Reply::default() }
                }
                _ => {
                    lock(&asked).extend(shown(request));
                    answer(request)
                }
            }
        });
        let provider = provider.await.map_err(|error| format!("provider: {error}"))?;
        let port = free_port();
        let mail = Dovecot::start().zip(SmtpSink::start(Manner::Take));
        begin_time(home)?;
        let config = home.join("limpid.toml");
        std::fs::write(config, configuration(&provider.url(), port)).map_err(|error| error.to_string())?;
        // A draft holds for the workspace that it was kept with.
        std::fs::create_dir(home.join("workspace")).map_err(|error| error.to_string())?;
        let agent = open_agent(home, mail_servers()?)?;
        let failed = |error: limpid_runtime::AgentError| error.to_string();
        let token = agent.inbox().make_token(false).map_err(failed)?;
        let change = limpid_runtime::HeartbeatChange {
            interval_minutes: Some(5),
            start_hour: Some(0),
            end_hour: Some(24),
            ..Default::default()
        };
        agent.heartbeat().change(change).await.map_err(failed)?;
        repeat(&agent).await?;
        if let Some((dovecot, sink)) = &mail {
            let server = |port| {
                Some(ServerSettings {
                    host: "127.0.0.1".to_owned(),
                    port: Some(port),
                    security: Some("none".to_owned()),
                })
            };
            let settings = AccountSettings {
                address: ADDRESS.to_owned(),
                imap: server(dovecot.port),
                smtp: server(sink.port),
                ..AccountSettings::default()
            };
            agent.mail().setup(settings, Some(Secret::new(PASSWORD))).await.map_err(failed)?;
            // What is there before the first look does not count as new.
            agent.mail().fetch(ADDRESS).await.map_err(failed)?;
        }
        Ok(Self { _provider: provider, mail, pushes, seen, port, token })
    }

    /// Whether there are mail servers.
    pub(super) fn has_mail(&self) -> bool {
        self.mail.is_some()
    }

    /// Begins to write mail and to hand things in.
    pub(super) fn feed(self: &Arc<Self>) -> Feeding {
        let stop = Arc::new(AtomicBool::new(false));
        let (outside, stopped) = (Arc::clone(self), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            let mut accepted = Vec::new();
            for number in 1_u64.. {
                while accepted.len() >= UNSEEN + lock(&outside.seen).len() {
                    if stopped.load(Ordering::Relaxed) {
                        return accepted;
                    }
                    std::thread::sleep(OFTEN / 10);
                }
                if let Some((dovecot, _)) = outside.mail.as_ref().filter(|_| number % 2 == 0) {
                    dovecot.deliver(&format!("e{number}"), &letter(&format!("e{number}")));
                    accepted.push(format!("mail e{number}"));
                }
                // As a phone does that is offline: the same thing until somebody has taken it.
                while !outside.hand_in(&format!("i{number}")) {
                    if stopped.load(Ordering::Relaxed) {
                        return accepted;
                    }
                    std::thread::sleep(OFTEN / 10);
                }
                accepted.push(format!("item i{number}"));
                std::thread::sleep(OFTEN);
            }
            accepted
        });
        Feeding { stop, thread }
    }

    /// The letters that arrived, by who gets them.
    pub(super) fn letters(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        let letters = self.mail.as_ref().map(|(_, sink)| sink.letters()).unwrap_or_default();
        for (envelope, _) in letters {
            *counts.entry(envelope.last().cloned().unwrap_or_default()).or_default() += 1;
        }
        counts
    }

    /// The pushes that arrived, by what they say.
    pub(super) fn pushes(&self) -> BTreeMap<String, u64> {
        lock(&self.pushes).clone()
    }

    /// Hands something in under a key; says whether it was taken.
    fn hand_in(&self, key: &str) -> bool {
        let body = format!("{{\"app\":\"Test\",\"text\":\"{FRESH}{key}\"}}");
        let request = format!(
            "POST /v1/inbox/notification HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\nIdempotency-Key: {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.port,
            self.token,
            body.len()
        );
        let spoken = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.write_all(request.as_bytes())?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok(answer)
        };
        spoken().is_ok_and(|answer| answer.starts_with("HTTP/1.1 20"))
    }
}

impl Feeding {
    /// Ends it; the lines of what was accepted.
    pub(super) fn stop(self) -> Result<Vec<String>, String> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| "whoever wrote mail broke off".to_owned())
    }
}

fn configuration(provider: &str, port: u16) -> String {
    format!(
        "model = \"openai/scripted\"\n\
         [owner]\nzone = \"UTC\"\n\
         [provider.openai]\nbase_url = \"{provider}/v1\"\n\
         [tools]\ndefer = false\n\
         [memory]\nenabled = false\n\
         [limits]\nbackground_tokens_per_day = 1000000000000\n\
         [exec]\nshell = true\n\
         [inbox]\nnotifications = true\nlisten = \"127.0.0.1:{port}\"\n\
         [mail]\npoll_minutes = 1\n\
         [heartbeat]\nruns_a_day = 1000000\n\
         [notify]\nntfy = \"{provider}/limpid\"\n"
    )
}

fn letter(key: &str) -> String {
    format!(
        "From: Ada <ada@example.com>\nTo: {ADDRESS}\nSubject: {FRESH}{key}\nMessage-ID: <{key}@example.com>\n\nHello.\n"
    )
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Counts stay whole when another thread panics while it holds the lock.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
