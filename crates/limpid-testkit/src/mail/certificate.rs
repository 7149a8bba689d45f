//! Certificates that a test makes for its own servers, with the program `openssl`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// An authority that nobody trusts unless a test says so.
pub struct Authority {
    folder: TempDir,
}

/// A certificate of a server with its key, as files.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The certificate.
    pub file: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

impl Authority {
    /// Makes one; none when `openssl` is not installed.
    pub fn new() -> Option<Self> {
        let this = Self { folder: tempfile::tempdir().unwrap() };
        let (file, key) = (this.file(), this.path("ca.key"));
        let words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
        let mut command = this.openssl();
        command.args(words).args(["-subj", "/CN=Authority of a test", "-keyout"]).arg(key).arg("-out").arg(&file);
        command.args(["-addext", "keyUsage=critical,keyCertSign"]);
        if command.status().is_err() {
            eprintln!("SKIPPED a test with TLS: the program `openssl` is not installed");
            return None;
        }
        assert!(file.exists(), "openssl makes no authority");
        Some(this)
    }

    /// The authority's own certificate.
    pub fn file(&self) -> PathBuf {
        self.path("ca.pem")
    }

    /// A certificate that is made out to a name, such as `IP:127.0.0.1` or `DNS:localhost`, for some days from today on;
    /// with less than none it has expired.
    pub fn issue(&self, name: &str, days: i32) -> Certificate {
        let stem = format!("{}{days}", name.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-"));
        let (file, key) = (self.path(&format!("{stem}.pem")), self.path(&format!("{stem}.key")));
        let (request, extensions) = (self.path(&format!("{stem}.csr")), self.path(&format!("{stem}.ext")));
        fs::write(&extensions, format!("subjectAltName={name}\n")).unwrap();
        let mut command = self.openssl();
        command.args(["req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]);
        command.args(["-subj", "/CN=Server of a test", "-keyout"]).arg(&key).arg("-out").arg(&request);
        assert!(command.status().unwrap().success());
        let mut command = self.openssl();
        command.args(["x509", "-req", "-CAcreateserial", "-days", &days.to_string(), "-in"]).arg(&request);
        command.arg("-CA").arg(self.file()).arg("-CAkey").arg(self.path("ca.key"));
        command.arg("-extfile").arg(&extensions).arg("-out").arg(&file);
        assert!(command.status().unwrap().success());
        Certificate { file, key }
    }

    fn openssl(&self) -> Command {
        let mut command = Command::new("openssl");
        command.current_dir(self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn path(&self, name: &str) -> PathBuf {
        Path::new(self.folder.path()).join(name)
    }
}
