//! What programs get of the folders that languages are in: everything but files with credentials.
//!
//! Landlock cannot take a part out of a folder that it gave, so such a folder is never given whole: its entries are, one by
//! one, and those of a folder within it that has such a file.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read as _;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType, Mode, OFlags, Stat, fstat, openat, readlinkat};

use super::confinement::Place;

/// Folders of languages by their names, and the variables that tell a program where they are.
pub(super) const HOMES: [(&str, &str); 2] = [(".cargo", "CARGO_HOME"), (".rustup", "RUSTUP_HOME")];

/// Levels of folders that are looked through.
const DEPTH: usize = 3;

/// The same where several versions are kept, each in a folder with settings of its own (nvm, pyenv).
const DEPTH_OF_VERSIONS: usize = 5;

/// Bytes of a file of settings that is read. A larger one is none.
const SETTINGS: u64 = 64 * 1024;

/// Entries of one folder of `[exec] toolchains`, with all that is looked through in it. What packages put there nobody counts, and each call
/// of a program looks anew.
const ENTRIES: usize = 20_000;

/// Bytes of files of settings that are read in one.
const BYTES: u64 = 16 * 1024 * 1024;

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

/// That a folder holds more than is looked through. Nobody knows then what of it may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

/// What is still looked at in a folder of `[exec] toolchains`.
struct Left {
    entries: usize,
    bytes: u64,
}

impl Left {
    /// The names in a folder that is open; none where it cannot be listed.
    fn names_in(&mut self, folder: impl AsFd) -> Result<Vec<OsString>, TooLarge> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(listing) = openat(folder, ".", flags, Mode::empty()).and_then(Dir::new) else { return Ok(Vec::new()) };
        let names = listing.flatten().map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
        let names = names.filter(|name| name != "." && name != "..").take(self.entries + 1);
        let names: Vec<OsString> = names.collect();
        self.entries = self.entries.checked_sub(names.len()).ok_or(TooLarge)?;
        Ok(names)
    }

    fn read(&mut self, bytes: u64) -> Result<(), TooLarge> {
        self.bytes = self.bytes.checked_sub(bytes).ok_or(TooLarge)?;
        Ok(())
    }
}

/// What is under a name in a folder, open whatever is put in its place meanwhile.
struct Entry {
    name: OsString,
    handle: OwnedFd,
    about: Stat,
}

impl Entry {
    /// What is under a name; none where that cannot be opened, so that nobody is given it.
    fn open(folder: impl AsFd, name: OsString) -> Option<Self> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = openat(folder, &name, flags, Mode::empty()).ok()?;
        let about = fstat(&handle).ok()?;
        Some(Self { name, handle, about })
    }

    fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.about.st_mode)
    }

    fn place(&self, path: PathBuf) -> Place {
        Place { named: path.clone(), at: path.clone(), path, device: self.about.st_dev, inode: self.about.st_ino }
    }

    /// Whether it has credentials, by its name or by what it says.
    fn holds_secret(&self, left: &mut Left) -> Result<bool, TooLarge> {
        let name = self.name.to_string_lossy().to_lowercase();
        let ending = Path::new(&name).extension().map(|ending| ending.to_string_lossy().into_owned());
        let may_be_settings = ending.is_none_or(|ending| ENDINGS.contains(&&*ending));
        let is_program = self.about.st_mode & 0o111 != 0;
        let size = u64::try_from(self.about.st_size).ok().filter(|size| *size <= SETTINGS);
        match size.filter(|_| may_be_settings && !is_program) {
            _ if NAMES.contains(&&*name) => Ok(true),
            Some(size) => left.read(size).map(|()| self.says_secret()),
            None => Ok(false),
        }
    }

    fn says_secret(&self) -> bool {
        let (mut bytes, flags) = (Vec::new(), OFlags::NONBLOCK.bits().cast_signed());
        let path = format!("/proc/self/fd/{}", self.handle.as_raw_fd());
        #[expect(clippy::disallowed_methods, reason = "a regular file that is open already")]
        let opened = fs::File::options().read(true).custom_flags(flags).open(path);
        // What cannot be read here can't be read by a program of the same user either.
        let read = opened.and_then(|file| file.take(SETTINGS).read_to_end(&mut bytes));
        read.is_ok() && String::from_utf8_lossy(&bytes).lines().any(is_secret)
    }
}

impl Parts {
    /// Adds what programs get of a folder, which is open and has this path.
    ///
    /// # Errors
    /// When it is too large to be looked through.
    pub(super) fn add(&mut self, path: &Path, folder: impl AsFd) -> Result<(), TooLarge> {
        self.add_entries(path, folder, 1, &mut Left { entries: ENTRIES, bytes: BYTES }).map(drop)
    }

    /// Adds the entries of a folder, and says whether one of them was kept back. Each is reached from the folder around it: a program that
    /// writes there may put a link in the place of one meanwhile.
    fn add_entries(&mut self, path: &Path, folder: impl AsFd, depth: usize, left: &mut Left) -> Result<bool, TooLarge> {
        self.split.push(path.to_owned());
        let before = self.kept_back.len();
        // One at a time: a folder may have more entries than a process may open.
        for entry in left.names_in(&folder)?.into_iter().filter_map(|name| Entry::open(&folder, name)) {
            let path = path.join(&entry.name);
            match entry.kind() {
                FileType::Symlink => {
                    let target = readlinkat(&entry.handle, "", Vec::new()).ok();
                    let target = target.map(|target| PathBuf::from(OsString::from_vec(target.into_bytes())));
                    self.links.extend(target.map(|target| (path, target)));
                }
                FileType::Directory => self.add_folder(path, &entry, depth, left)?,
                FileType::RegularFile if entry.holds_secret(left)? => self.kept_back.push(path),
                FileType::RegularFile => self.places.push(entry.place(path)),
                _ => {}
            }
        }
        Ok(self.kept_back.len() > before)
    }

    /// Adds a folder: whole if nothing in it is to be kept back.
    fn add_folder(&mut self, path: PathBuf, entry: &Entry, depth: usize, left: &mut Left) -> Result<(), TooLarge> {
        let has_versions = path.components().any(|part| part.as_os_str() == "versions");
        if depth < if has_versions { DEPTH_OF_VERSIONS } else { DEPTH } {
            let mut inner = Self::default();
            if inner.add_entries(&path, &entry.handle, depth + 1, left)? {
                self.places.extend(inner.places);
                self.links.extend(inner.links);
                self.split.extend(inner.split);
                self.kept_back.extend(inner.kept_back);
                return Ok(());
            }
        }
        self.places.push(entry.place(path));
        Ok(())
    }
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

    // SEC-093
    #[test]
    fn a_folder_is_looked_through_within_bounds() {
        let disk = tempfile::tempdir().unwrap();
        let made = |folder: &str, files: usize, text: &str| {
            let path = disk.path().join(folder);
            fs::create_dir_all(path.join("lib")).unwrap();
            (0..files).for_each(|n| fs::write(path.join("lib").join(format!("s{n}.json")), text).unwrap());
            let opened = openat(rustix::fs::CWD, &path, OFlags::PATH, Mode::empty()).unwrap();
            Parts::default().add(&path, opened)
        };
        let settings = "a: b = c\n".repeat(7000);
        assert_eq!(made("usual", 20, &settings), Ok(()));
        assert_eq!(made("many", ENTRIES, ""), Err(TooLarge));
        assert_eq!(made("long", 300, &settings), Err(TooLarge));
    }

    /// A package that writes in a folder of a language exchanges one of its folders for a link, again and again.
    // SEC-058 SEC-088
    #[test]
    fn a_folder_that_is_exchanged_for_a_link_meanwhile_shows_nothing_that_the_link_leads_to() {
        use std::os::unix::fs::{MetadataExt as _, symlink};
        use std::sync::atomic::{AtomicBool, Ordering};

        use rustix::fs::{CWD, RenameFlags, renameat_with};

        let disk = tempfile::tempdir().unwrap();
        let at = |name: &str| disk.path().join(name);
        for folder in ["tools/lib", "private"] {
            fs::create_dir_all(at(folder)).unwrap();
            fs::write(at(folder).join("diary.md"), folder).unwrap();
            // A folder with a secret is given entry by entry.
            fs::write(at(folder).join(".env"), "").unwrap();
        }
        symlink(at("private"), at("laid")).unwrap();
        let private = at("private/diary.md").metadata().unwrap().ino();
        let (folder, link) = (at("tools/lib"), at("laid"));
        let opened = fs::File::from(openat(CWD, at("tools"), OFlags::PATH, Mode::empty()).unwrap());
        let exchange = || renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE);
        // Twice, so that all is as before: where no disk can do it the test would not end.
        exchange().and_then(|()| exchange()).unwrap();
        let stop = AtomicBool::new(false);
        let (mut folders, mut links, mut leaks) = (0, 0, 0);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                while !stop.load(Ordering::SeqCst) {
                    let _ = exchange();
                }
            });
            // Until it was met often enough as either.
            while folders < 300 || links < 300 {
                let mut parts = Parts::default();
                parts.add(&at("tools"), &opened).unwrap();
                folders += usize::from(!parts.places.is_empty());
                links += usize::from(!parts.links.is_empty());
                leaks += usize::from(parts.places.iter().any(|place| place.inode == private));
            }
            stop.store(true, Ordering::SeqCst);
        });
        assert_eq!(leaks, 0);
    }
}
