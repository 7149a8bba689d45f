//! An SMTP server that keeps what it gets.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use super::certificate::Certificate;
use super::part::part;

/// What an SMTP server does with letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// It takes them.
    Take,
    /// It refuses them when they are handed over.
    Refuse,
    /// It takes them and drops the connection without an answer.
    Break,
}

/// An SMTP server that keeps what it gets; it ends when this is dropped.
pub struct SmtpSink {
    process: Child,
    folder: TempDir,
    /// Its port on loopback.
    pub port: u16,
}

impl SmtpSink {
    /// Starts one without TLS; none when aiosmtpd is not installed.
    pub fn start(manner: Manner) -> Option<Self> {
        Self::run(manner, Vec::new())
    }

    /// Starts one that takes letters and lets nobody in without TLS: from the first byte, or after STARTTLS.
    pub fn start_secure(Certificate { file, key }: &Certificate, starttls: bool) -> Option<Self> {
        let words = [if starttls { "starttls" } else { "tls" }.into(), file.into(), key.into()];
        Self::run(Manner::Take, words.to_vec())
    }

    fn run(manner: Manner, secure: Vec<OsString>) -> Option<Self> {
        let Some(python) = part("LIMPID_TEST_SMTP_PYTHON") else {
            eprintln!("SKIPPED a test that sends mail: LIMPID_TEST_SMTP_PYTHON is not set");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let manner = match manner {
            Manner::Take => "take",
            Manner::Refuse => "refuse",
            Manner::Break => "break",
        };
        let mut process = Command::new(python)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/smtp-sink.py"))
            .arg(folder.path())
            .arg(manner)
            .args(secure)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().parse().unwrap_or_else(|_| panic!("the server says {line:?}"));
        Some(Self { process, folder, port })
    }

    /// How often somebody connected.
    pub fn connections(&self) -> usize {
        fs::read_to_string(self.folder.path().join("connections")).unwrap_or_default().lines().count()
    }

    /// The letters, each with its envelope: the sender, then who gets it.
    pub fn letters(&self) -> Vec<(Vec<String>, String)> {
        let letter = |number: usize| {
            let text = fs::read_to_string(self.folder.path().join(format!("{number}.eml"))).ok()?;
            let envelope = fs::read_to_string(self.folder.path().join(format!("{number}.envelope"))).unwrap();
            Some((envelope.lines().map(str::to_owned).collect(), text))
        };
        (1..).map_while(letter).collect()
    }
}

impl Drop for SmtpSink {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
