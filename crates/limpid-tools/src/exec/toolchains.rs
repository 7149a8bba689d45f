//! What programs get of the folders that languages are in: everything but files with credentials.
//!
//! Landlock cannot take a part out of a folder that it gave, so such a folder is never given whole: its entries are, one by
//! one, and those of a folder within it that has such a file.

use std::fs::{self, Metadata};
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::confinement::Place;

/// Levels of folders that are looked through.
const DEPTH: usize = 3;

/// The same where several versions are kept, each in a folder with settings of its own (nvm, pyenv).
const DEPTH_OF_VERSIONS: usize = 5;

/// Bytes of a file of settings that is read. A larger one is none.
const SETTINGS: u64 = 64 * 1024;

/// Files of credentials by their names: Cargo, npm, Yarn, pip, Ruby, Composer, Gradle, Maven, Hex, Dart, NuGet, Git, curl.
const NAMES: [&str; 21] = [
    ".credentials",
    ".env",
    ".git-credentials",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".yarnrc",
    ".yarnrc.yml",
    "_netrc",
    "auth.json",
    "auth.toml",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "credentials.xml",
    "hex.config",
    "npmrc",
    "pub-credentials.json",
    "pub-tokens.json",
    "settings-security.xml",
    "token",
];

/// How files of settings end; those without an ending may be some too.
const ENDINGS: [&str; 13] =
    ["cfg", "conf", "config", "ini", "json", "key", "pem", "properties", "tfrc", "toml", "xml", "yaml", "yml"];

/// Words in the name of a setting whose value is secret.
const SECRETS: [&str; 9] =
    ["token", "password", "passwd", "passphrase", "secret", "_auth", "apikey", "api_key", "authorization"];

/// What programs get of such folders.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// Files and folders, each whole.
    pub(super) places: Vec<Place>,
    /// Links, by their paths and what they lead to.
    pub(super) links: Vec<(PathBuf, PathBuf)>,
    /// Folders of which only entries are given.
    pub(super) split: Vec<PathBuf>,
    /// Files that are kept back.
    pub(super) kept_back: Vec<PathBuf>,
}

impl Parts {
    /// Adds what programs get of the folder with this path, which is read by way of `open`.
    pub(super) fn add(&mut self, path: &Path, open: &Path) {
        self.add_entries(path, open, 1);
    }

    /// Adds the entries of a folder, and says whether one of them was kept back.
    fn add_entries(&mut self, path: &Path, open: &Path, depth: usize) -> bool {
        self.split.push(path.to_owned());
        let before = self.kept_back.len();
        // What cannot be listed is given to nobody.
        let entries = fs::read_dir(open).into_iter().flatten().flatten();
        for entry in entries {
            let (path, open) = (path.join(entry.file_name()), open.join(entry.file_name()));
            let Ok(about) = open.symlink_metadata() else { continue };
            if about.is_symlink() {
                self.links.extend(fs::read_link(&open).map(|target| (path, target)));
            } else if about.is_dir() {
                self.add_folder(path, &open, &about, depth);
            } else if about.is_file() && holds_secret(&open, &about) {
                self.kept_back.push(path);
            } else if about.is_file() {
                self.places.push(place(path, &about));
            }
        }
        self.kept_back.len() > before
    }

    /// Adds a folder: whole if nothing in it is to be kept back.
    fn add_folder(&mut self, path: PathBuf, open: &Path, about: &Metadata, depth: usize) {
        let has_versions = path.components().any(|part| part.as_os_str() == "versions");
        if depth < if has_versions { DEPTH_OF_VERSIONS } else { DEPTH } {
            let mut inner = Self::default();
            if inner.add_entries(&path, open, depth + 1) {
                self.places.extend(inner.places);
                self.links.extend(inner.links);
                self.split.extend(inner.split);
                self.kept_back.extend(inner.kept_back);
                return;
            }
        }
        self.places.push(place(path, about));
    }
}

fn place(path: PathBuf, about: &Metadata) -> Place {
    Place { named: path.clone(), at: path.clone(), path, device: about.dev(), inode: about.ino() }
}

/// Whether a file has credentials, by its name or by what it says.
fn holds_secret(path: &Path, about: &Metadata) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let ending = Path::new(&name).extension().map(|ending| ending.to_string_lossy().into_owned());
    let may_be_settings = ending.is_none_or(|ending| ENDINGS.contains(&&*ending));
    let is_program = about.permissions().mode() & 0o111 != 0;
    NAMES.contains(&&*name) || (may_be_settings && !is_program && about.len() <= SETTINGS && says_secret(path))
}

fn says_secret(path: &Path) -> bool {
    let mut bytes = Vec::new();
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    #[expect(clippy::disallowed_methods, reason = "a handle to a place; what it holds is not read")]
    let opened = fs::File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path);
    // What cannot be read here can't be read by a program of the same user either.
    let read = opened.and_then(|file| file.take(SETTINGS).read_to_end(&mut bytes));
    read.is_ok() && String::from_utf8_lossy(&bytes).lines().any(is_secret)
}

/// Whether a line of settings gives a secret: a private key, a setting with such a name, an address with a password.
fn is_secret(line: &str) -> bool {
    let line = line.trim().to_lowercase();
    if line.is_empty() || line.starts_with(['#', ';']) || line.starts_with("//") && !line.contains('=') {
        return false;
    }
    let setting = line.match_indices(['=', ':', '>']).any(|(at, _)| {
        let (name, value) = line.split_at(at);
        let value = value.trim_matches(|letter: char| letter.is_whitespace() || "\"'=:,<>{}[]".contains(letter));
        !value.is_empty() && SECRETS.iter().any(|word| name.contains(word))
    });
    let address = line.split("://").skip(1).any(|rest| {
        let user = rest.split(['/', '"', '\'', ' ']).next().and_then(|host| host.rsplit_once('@'));
        user.is_some_and(|(user, _)| user.split_once(':').is_some_and(|(_, password)| !password.is_empty()))
    });
    setting || address || line.contains("private key-----") || line.contains("cleartextpassword")
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-058
    #[test]
    fn lines_of_settings_that_give_a_secret() {
        let secret = [
            "token = \"abc\"",
            "//registry.example/:_authToken=abc",
            "<password>abc</password>",
            "  \"apiKey\": \"abc\",",
            "proxy = \"http://me:abc@proxy.example:80\"",
            "index-url = https://__token__:abc@example.org/simple",
            "-----BEGIN OPENSSH PRIVATE KEY-----",
            "mavenPassword=abc",
        ];
        let plain = [
            "# token = \"abc\"",
            "token =",
            "[registries.mine]",
            "index = \"https://example.org/index\"",
            "linker = \"clang\"",
            "default_toolchain = \"stable-x86_64-unknown-linux-gnu\"",
            "git-fetch-with-cli = true",
            "index = \"ssh://git@example.org/index\"",
        ];
        assert_eq!(secret.into_iter().filter(|line| !is_secret(line)).collect::<Vec<_>>(), [""; 0]);
        assert_eq!(plain.into_iter().filter(|line| is_secret(line)).collect::<Vec<_>>(), [""; 0]);
    }
}
