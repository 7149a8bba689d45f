//! Real mail servers of a test's own: Dovecot to read from, Python's aiosmtpd to send to. Both listen on loopback, keep
//! everything in a folder that goes with them, and take any user with the password [`PASSWORD`].
//!
//! `LIMPID_TEST_DOVECOT` names the program `dovecot` and `LIMPID_TEST_SMTP_PYTHON` a Python that has aiosmtpd
//! (`. scripts/parts` sets both). Without them `start` returns nothing and says so.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a part of tests, which may stop at the first surprise")]

mod certificate;
mod part;
mod smtp_sink;

use std::fs;
use std::io::Read;
use std::net::TcpStream;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::port::free_port;

use part::part;

pub use certificate::{Authority, Certificate};
pub use smtp_sink::{Manner, SmtpSink};

/// The password of every user.
pub const PASSWORD: &str = "secret-word";

/// How long a server may take to come up on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The user `nobody`, as whom mail is read when the tests run as root: Dovecot reads none as root.
const NOBODY: u32 = 65534;

/// A Dovecot with one mailbox; it ends when this is dropped.
pub struct Dovecot {
    process: Child,
    folder: TempDir,
    /// Its port on loopback, without TLS; with STARTTLS when it has a certificate.
    pub port: u16,
    /// Its port on loopback that has TLS from the first byte, when it has a certificate.
    pub tls_port: u16,
    owner: (u32, u32),
}

/// What a Dovecot is like.
#[derive(Clone, Debug, Default)]
pub struct Like {
    /// Its certificate; with one it lets nobody in without TLS.
    pub certificate: Option<Certificate>,
    /// Whether it cannot be waited on (IDLE).
    pub lacks_idle: bool,
}

impl Dovecot {
    /// Starts one; none when it is not installed.
    pub fn start() -> Option<Self> {
        Self::start_like(&Like::default())
    }

    /// Starts one that is like this; none when it is not installed.
    pub fn start_like(like: &Like) -> Option<Self> {
        let Some(program) = part("LIMPID_TEST_DOVECOT") else {
            eprintln!("SKIPPED a test with a real mail server: LIMPID_TEST_DOVECOT is not set");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let me = fs::metadata("/proc/self").unwrap();
        let owner = if me.uid() == 0 { (NOBODY, NOBODY) } else { (me.uid(), me.gid()) };
        let (port, tls_port) = (free_port(), free_port());
        let ports = (port, like.certificate.as_ref().map_or(0, |_| tls_port));
        let text = configuration(folder.path(), ports, owner, me.uid() == 0) + &like.lines();
        fs::write(folder.path().join("dovecot.conf"), text).unwrap();
        let dovecot = Self {
            process: Command::new(program)
                .arg("-F")
                .arg("-c")
                .arg(folder.path().join("dovecot.conf"))
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap(),
            folder,
            port,
            tls_port,
            owner,
        };
        for part in ["", "cur", "new", "tmp"] {
            dovecot.make(&dovecot.inbox().join(part));
        }
        greeted(port, "* OK");
        Some(dovecot)
    }

    /// Puts a message into the mailbox, as a delivery does. `name` is how the test speaks of it.
    pub fn deliver(&self, name: &str, text: &str) {
        let file = self.inbox().join("tmp").join(name);
        fs::write(&file, text.replace('\n', "\r\n")).unwrap();
        chown(&file, Some(self.owner.0), Some(self.owner.1)).unwrap();
        fs::rename(file, self.inbox().join("new").join(name)).unwrap();
    }

    /// Takes a message out, as another program does that deletes it.
    pub fn expunge(&self, name: &str) {
        fs::remove_file(self.find(name)).unwrap();
    }

    /// Marks a message as read, as another program does.
    pub fn see(&self, name: &str) {
        let read = self.inbox().join("cur").join(format!("{name}:2,S"));
        fs::rename(self.find(name), read).unwrap();
    }

    /// Whether a message is marked as read.
    pub fn is_seen(&self, name: &str) -> bool {
        self.find(name).to_string_lossy().rsplit_once(":2,").is_some_and(|(_, flags)| flags.contains('S'))
    }

    /// Numbers the mailbox anew, as a server does that was restored.
    pub fn renumber(&self, validity: u32) {
        for entry in fs::read_dir(self.inbox()).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().unwrap().to_string_lossy().starts_with("dovecot.index") {
                fs::remove_file(path).unwrap();
            }
        }
        let list = self.inbox().join("dovecot-uidlist");
        fs::write(&list, format!("3 V{validity} N1 G0123456789abcdef0123456789abcdef\n")).unwrap();
        chown(&list, Some(self.owner.0), Some(self.owner.1)).unwrap();
    }

    /// The messages of a folder other than the inbox.
    pub fn kept(&self, folder: &str) -> Vec<String> {
        let parts = ["cur", "new"].map(|part| self.inbox().join(format!(".{folder}")).join(part));
        let files = parts.iter().filter_map(|part| fs::read_dir(part).ok()).flatten();
        files.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap()).collect()
    }

    fn inbox(&self) -> PathBuf {
        self.folder.path().join("mail")
    }

    fn make(&self, folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        chown(folder, Some(self.owner.0), Some(self.owner.1)).unwrap();
    }

    fn find(&self, name: &str) -> PathBuf {
        let files = ["new", "cur"].map(|part| self.inbox().join(part));
        let mut files =
            files.iter().flat_map(|folder| fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
        let is_it = |path: &PathBuf| {
            let file = path.file_name().unwrap().to_string_lossy().into_owned();
            file == name || file.starts_with(&format!("{name}:")) || file.starts_with(&format!("{name},"))
        };
        files.find(is_it).unwrap_or_else(|| panic!("no message {name}"))
    }
}

impl Like {
    /// Lines of a configuration.
    fn lines(&self) -> String {
        let mut lines = match &self.certificate {
            None => "ssl = no\ndisable_plaintext_auth = no\n".to_owned(),
            Some(Certificate { file, key }) => {
                format!("ssl = required\nssl_cert = <{}\nssl_key = <{}\n", file.display(), key.display())
            }
        };
        if self.lacks_idle {
            lines.push_str("imap_capability = IMAP4rev1 LITERAL+ UIDPLUS SPECIAL-USE\n");
        }
        lines
    }
}

impl Drop for Dovecot {
    fn drop(&mut self) {
        // Its master takes its children with it when it is asked to end.
        let id = self.process.id().to_string();
        let _ = Command::new("kill").arg(id).status();
        let _ = self.process.wait();
    }
}

/// Waits until a server greets.
fn greeted(port: u16, greeting: &str) {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) {
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            let mut start = vec![0; greeting.len()];
            if stream.read_exact(&mut start).is_ok() && start == greeting.as_bytes() {
                return;
            }
        }
        assert!(Instant::now() < until, "no mail server came up on port {port}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn configuration(folder: &Path, (port, tls): (u16, u16), (uid, gid): (u32, u32), root: bool) -> String {
    let folder = folder.display();
    let (inside, login) = if root { ("root".to_owned(), "nobody".to_owned()) } else { (user(uid), user(uid)) };
    format!(
        "base_dir = {folder}/run\n\
         state_dir = {folder}/run\n\
         log_path = {folder}/log\n\
         protocols = imap\n\
         listen = 127.0.0.1\n\
         default_internal_user = {inside}\n\
         default_login_user = {login}\n\
         mail_location = maildir:{folder}/mail\n\
         mailbox_list_index = no\n\
         auth_mechanisms = plain login xoauth2\n\
         passdb {{\n  driver = static\n  args = password={PASSWORD}\n}}\n\
         userdb {{\n  driver = static\n  args = uid={uid} gid={gid} home={folder}/mail\n}}\n\
         namespace inbox {{\n  inbox = yes\n  mailbox \"Sent Mail\" {{\n    auto = create\n    special_use = \\Sent\n  }}\n}}\n\
         service imap-login {{\n  chroot =\n  inet_listener imap {{\n    port = {port}\n  }}\n  \
         inet_listener imaps {{\n    port = {tls}\n    ssl = yes\n  }}\n}}\n\
         service anvil {{\n  chroot =\n}}\n\
         service stats {{\n  chroot =\n}}\n"
    )
}

/// The name of the user that runs the tests.
fn user(uid: u32) -> String {
    let output = Command::new("id").arg("-un").output().unwrap();
    let name = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if name.is_empty() { uid.to_string() } else { name }
}
