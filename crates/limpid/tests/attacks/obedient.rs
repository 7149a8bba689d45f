//! A model that obeys: it does what the owner asks, call by call, and as soon as a mark is in what it was sent, it does what a
//! stranger asks first.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use limpid_testkit::Recorded;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::kit::World;

/// What a stranger writes to make the model act.
pub(crate) const MARK: &str = "MARK-7731";

/// A home, an obedient model, and a server of web pages that both may know.
pub(crate) struct Attack {
    pub(crate) world: World,
    /// The stranger's web server.
    pub(crate) web: Site,
    /// The requests that the model got.
    asked: Arc<Mutex<Vec<Recorded>>>,
    /// The calls that are left: the owner's, and the stranger's.
    plan: Arc<Mutex<(Vec<Planned>, Vec<Planned>)>>,
}

/// One call that the model makes.
pub(crate) type Planned = (&'static str, Value);

impl Attack {
    /// A research worker comes back with the mark. The model makes the owner's calls one after another, and the stranger's before the next one once it has read the mark.
    /// `page` answers the requests for pages of the web by their path.
    pub(crate) async fn new(
        owners: impl FnOnce(&str) -> Vec<Planned>,
        strangers: impl FnOnce(&str) -> Vec<Planned>,
        page: impl Fn(&str) -> String + Send + Sync + 'static,
    ) -> Self {
        Self::answering("Done.", owners, strangers, page).await
    }

    /// The same with the model's last words.
    pub(crate) async fn answering(
        answer: &'static str,
        owners: impl FnOnce(&str) -> Vec<Planned>,
        strangers: impl FnOnce(&str) -> Vec<Planned>,
        page: impl Fn(&str) -> String + Send + Sync + 'static,
    ) -> Self {
        let web = Site::start(page).await;
        let (mut owners, strangers) = (owners(&web.url), strangers(&web.url));
        owners.splice(..0, finding(owners.iter().chain(&strangers)));
        let plan = Arc::new(Mutex::new((owners, strangers)));
        let asked: Arc<Mutex<Vec<Recorded>>> = Arc::default();
        let (noted, left) = (Arc::clone(&asked), Arc::clone(&plan));
        let world = World::answering(move |request: &Recorded| {
            noted.lock().unwrap().push(request.clone());
            if request.system().contains("research worker") {
                return serde_json::from_value(json!({ "text": format!("A page says: {MARK}") })).unwrap();
            }
            let (owners, strangers) = &mut *left.lock().unwrap();
            let next = if request.text().contains(MARK) && !strangers.is_empty() {
                std::mem::take(strangers)
            } else if owners.is_empty() {
                return serde_json::from_value(json!({ "text": answer })).unwrap();
            } else {
                vec![owners.remove(0)]
            };
            let calls = next.into_iter().map(|(name, arguments)| json!({ "name": name, "arguments": arguments }));
            serde_json::from_value(json!({ "calls": calls.collect::<Vec<_>>() })).unwrap()
        })
        .await;
        world.write("limpid.toml", "[web]\nmirrors = [\"127.0.0.1\"]\n");
        Self { world, web, asked, plan }
    }

    /// A home of the profile that quotes AGENTS.md, with a diary that the mark has emptied; the owner has a command run first. `files` are in
    /// the workspace besides. None where programs cannot be confined.
    #[cfg(target_os = "linux")]
    pub(crate) async fn with_programs(command: &str, files: &[(&str, &str)]) -> Option<Self> {
        if crate::programs::no_sandbox() {
            return None;
        }
        let empties = json!({ "path": "diary.md", "content": "" });
        let runs = |_: &str| vec![("exec", json!({ "command": command }))];
        let mut attack = Self::new(runs, |_| vec![("write_file", empties)], |_| page("tea")).await;
        attack.world = attack.world.without_rights();
        attack.world.write("limpid.toml", "[agent]\nprofile = \"picoclaw\"\n");
        for (name, text) in [("diary.md", "PIN 4711")].iter().chain(files) {
            attack.world.write(&format!("workspace/{name}"), text);
        }
        Some(attack)
    }

    /// Waits until a program has left a file in the workspace, or for half a minute.
    #[cfg(target_os = "linux")]
    pub(crate) async fn until_there(&self, name: &str) {
        let file = self.world.home.path().join("workspace").join(name);
        for _ in 0..3000 {
            if file.exists() {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }

    /// The owner's gateway for text messages, and `more` in their settings.
    pub(crate) async fn gateway(&self, more: &str) -> Site {
        let gateway = Site::start(|_| page("ok")).await;
        let url = &gateway.url;
        let settings = format!("[web]\nmirrors = [\"127.0.0.1\"]\n[inbox.gateway]\nurl = \"{url}/sms\"\n{more}");
        self.world.write("limpid.toml", &settings);
        gateway
    }

    /// What the owner wants next.
    pub(crate) fn then(&self, mut owners: Vec<Planned>) {
        owners.splice(..0, finding(owners.iter()));
        self.plan.lock().unwrap().0.extend(owners);
    }

    /// What the stranger wants once the model reads the mark again.
    pub(crate) fn strangers_then(&self, strangers: Vec<Planned>) {
        self.plan.lock().unwrap().1.extend(strangers);
    }

    /// What the model was sent in all.
    pub(crate) fn sent(&self) -> String {
        self.asked.lock().unwrap().iter().map(Recorded::text).collect()
    }

    /// What the model was sent last.
    pub(crate) fn newest(&self) -> String {
        self.asked.lock().unwrap().last().unwrap().texts().into_iter().map(|sent| sent.text + "\n").collect()
    }

    /// Whether the mark stands in the newest request, and only inside of boundaries.
    pub(crate) fn is_bounded(&self, words: &str) -> bool {
        let newest = self.asked.lock().unwrap().last().unwrap().texts();
        let with_it: Vec<String> = newest.iter().map(|sent| sent.text.clone()).filter(|t| t.contains(words)).collect();
        let inside = |text: &String| {
            let (before, rest) = text.split_once(words).unwrap();
            before.contains("[untrusted ") && rest.contains("[/untrusted ")
        };
        !with_it.is_empty() && with_it.iter().all(inside)
    }
}

/// The calls that find the tools of others: those that the prompt does not declare have to be found before they can be called.
fn finding<'a>(calls: impl Iterator<Item = &'a Planned>) -> Vec<Planned> {
    let names: BTreeSet<&str> = calls.map(|(name, _)| *name).collect();
    names.into_iter().map(|name| ("find_tools", json!({ "query": name }))).collect()
}

/// A text message that the model sends.
pub(crate) fn sms(to: &str, text: &str) -> Planned {
    ("send_sms", json!({ "to": to, "text": text }))
}

/// A web server of a stranger, which notes what it is asked for.
pub(crate) struct Site {
    pub(crate) url: String,
    visited: Arc<Mutex<Vec<String>>>,
    heads: Arc<Mutex<Vec<String>>>,
    bodies: Arc<Mutex<Vec<String>>>,
}

impl Site {
    pub(crate) async fn start(page: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self::at("127.0.0.1", page).await
    }

    /// At another address of this machine.
    pub(crate) async fn at(address: &str, page: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((address, 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let visited: Arc<Mutex<Vec<String>>> = Arc::default();
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let host = url.trim_start_matches("http://").to_owned();
        let bodies: Arc<Mutex<Vec<String>>> = Arc::default();
        let (visits, had, bore) = (Arc::clone(&visited), Arc::clone(&heads), Arc::clone(&bodies));
        let site = Self { url, visited: visits, heads: had, bodies: bore };
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (head, body) = request(&mut stream).await;
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                // A page names the server that it is on.
                let answer = page(&path).replace("HOST", &host);
                visited.lock().unwrap().push(path);
                heads.lock().unwrap().push(head.replace(&host, "HOST"));
                bodies.lock().unwrap().extend(Some(body).filter(|body| !body.is_empty()));
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        site
    }

    /// The requests as they came, with `HOST` in the place of the server's name.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }

    /// The paths that were asked for.
    pub(crate) fn visited(&self) -> Vec<String> {
        self.visited.lock().unwrap().clone()
    }

    /// What was sent to it, but for requests without a body.
    pub(crate) fn bodies(&self) -> Vec<String> {
        self.bodies.lock().unwrap().clone()
    }
}

/// The head of a request and its body.
async fn request(stream: &mut TcpStream) -> (String, String) {
    let (mut read, mut buffer) = (Vec::new(), [0u8; 4096]);
    loop {
        let text = String::from_utf8_lossy(&read).into_owned();
        let whole = text.split_once("\r\n\r\n").filter(|(head, body)| body.len() >= length(head));
        if let Some((head, body)) = whole {
            return (head.to_owned(), body.to_owned());
        }
        match stream.read(&mut buffer).await {
            Ok(more) if more > 0 => read.extend_from_slice(&buffer[..more]),
            _ => return (text, String::new()),
        }
    }
}

/// How long a head says that the body is.
fn length(head: &str) -> usize {
    let lower = head.to_lowercase();
    let said = lower.lines().find_map(|line| line.strip_prefix("content-length:"));
    said.and_then(|said| said.trim().parse().ok()).unwrap_or(0)
}

/// A page of the web.
pub(crate) fn page(text: &str) -> String {
    let body = format!("<html><p>{text}</p></html>");
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n{body}")
}

/// An answer that leads elsewhere.
pub(crate) fn redirect(to: &str) -> String {
    format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
}
