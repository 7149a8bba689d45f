//! What a program may touch and use, as one value that the agent hands to the sandbox.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, openat2};
use serde::{Deserialize, Serialize};

use super::view::Granted;

/// A folder, or a file of a toolchain, resolved once. Whatever its path leads to later, this one is used or none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The path that the owner wrote.
    pub named: PathBuf,
    /// The path with every link followed.
    pub path: PathBuf,
    /// Where a program with a file system of its own finds it.
    pub at: PathBuf,
    /// The device that it is on.
    pub device: u64,
    /// Its number on that device.
    pub inode: u64,
}

impl Place {
    /// A folder or file, by a path without links; none when it is gone, or a link was put in the way.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let opened = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).ok()?;
        let (about, path) = (fstat(opened).ok()?, path.to_owned());
        Some(Self { named: path.clone(), at: path.clone(), path, device: about.st_dev, inode: about.st_ino })
    }
}

/// What a program may touch and use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// The folder that it starts in.
    pub folder: PathBuf,
    /// That folder as the one that was judged; none where an empty one is in its place.
    pub start: Option<Place>,
    /// Folders that it may change.
    pub write: Vec<Place>,
    /// Folders that it may read, besides the system's.
    pub read: Vec<Place>,
    /// Files and folders within those that it may change which stay as they are.
    pub kept: Vec<Place>,
    /// Folders within those that it must not see, but for places in them that are named here too.
    pub hidden: Vec<PathBuf>,
    /// Those of them that are not the owner's: not even what can be reached in one is listed.
    pub closed: Vec<Place>,
    /// Where nothing is yet that it must not see, within those that it sees. Whoever starts it looks at these, and nobody else.
    #[serde(skip)]
    pub absent: Vec<PathBuf>,
    /// Folders that are empty for it, where it has a file system of its own. Without one it can read those of strangers.
    pub covered: Vec<PathBuf>,
    /// Folders of which it gets only entries that are named here. Without namespaces it sees the names of the others.
    pub split: Vec<PathBuf>,
    /// Links in such folders, and what they lead to.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// Files that it gets as copies, which nobody changes any more: the path of each, and that of its copy.
    pub frozen: Vec<(PathBuf, PathBuf)>,
    /// Folders of skills, by the name that each has in `~/skills`.
    pub skills: Vec<(String, PathBuf)>,
    /// Where a folder for the call is made, if the program gets no file system of its own.
    pub scratch: PathBuf,
    /// What it may reach over the network.
    pub network: Network,
    /// Whether it may watch files, by which it knows what others read.
    pub watch: bool,
    /// What it may use.
    pub limits: Limits,
    /// Whether it ends before a disk is nearly full, since nobody was asked about it.
    pub spares_disk: bool,
}

impl Confinement {
    /// Takes folders of skills out of what it sees.
    pub(super) fn without_skills(&mut self, unused: &[PathBuf]) {
        let is_unused = |folder: &Path| folder.canonicalize().is_ok_and(|real| unused.contains(&real));
        self.skills.retain(|(_, folder)| !is_unused(folder));
        let is_seen = |folder: &&PathBuf| {
            self.write.iter().chain(&self.read).any(|place| folder.starts_with(&place.path) && **folder != place.path)
        };
        self.hidden.extend(unused.iter().filter(is_seen).cloned());
    }
}

/// What a program may reach over the network, by way of a proxy; nothing when no name is granted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Network {
    /// Names of hosts, each with the port where that is neither 80 nor 443.
    pub names: Vec<String>,
    /// Addresses of the owner's own network. One is reached where it is granted itself.
    pub also: Vec<IpAddr>,
    /// Addresses that count as the public web.
    pub mirrors: Vec<IpAddr>,
    /// Names of those whose answers are the owner's.
    pub trusted: Vec<String>,
}

impl Network {
    /// Whether any name is granted.
    pub fn is_granted(&self) -> bool {
        !self.names.is_empty()
    }

    /// What is granted, as views are chosen by it.
    pub fn granted(&self) -> Granted {
        let trusted = |name: &String| self.trusted.iter().any(|trusted| trusted.eq_ignore_ascii_case(name));
        match (self.is_granted(), self.names.iter().all(trusted)) {
            (false, _) => Granted::Nothing,
            (true, true) => Granted::Trusted,
            (true, false) => Granted::Others,
        }
    }

    /// Whether a host may be reached, by its name in small letters.
    pub fn admits(&self, host: &str, port: u16) -> bool {
        let is_usual = port == 80 || port == 443;
        let with_port = format!("{host}:{port}");
        self.names
            .iter()
            .any(|name| name.eq_ignore_ascii_case(&with_port) || (is_usual && name.eq_ignore_ascii_case(host)))
    }

    /// Whether a granted host may have this address. `is_public` is whether that is one of the public web. An address of the owner's own
    /// network is reached by itself alone: whoever answers for another name would choose what of that network is asked, and is told.
    pub fn may_lead_to(&self, host: &str, address: IpAddr, is_public: bool) -> bool {
        match self.also.contains(&address) {
            true => host.parse::<IpAddr>() == Ok(address),
            false => is_public || self.mirrors.contains(&address),
        }
    }

    /// The granted hosts of the owner's own network, and the others.
    pub fn own_and_others(&self) -> (Vec<&str>, Vec<&str>) {
        let is_own = |host: &str| {
            let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
            address.is_ok_and(|address| self.also.contains(&address))
        };
        let without_port = |name: &str| name.rsplit_once(':').is_some_and(|(host, _)| is_own(host));
        self.names.iter().map(String::as_str).partition(|name| is_own(name) || without_port(name))
    }
}

/// What a program and everything that it starts may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Seconds until it is ended.
    pub seconds: u64,
    /// Bytes of memory, all processes together.
    pub memory_bytes: u64,
    /// Processes at a time.
    pub processes: u32,
    /// Bytes of disk that it may add, all files together.
    pub disk_bytes: u64,
    /// Files that it may add.
    pub files: u64,
    /// Bytes of output after which it is ended.
    pub output_bytes: u64,
}

impl Default for Limits {
    /// A minute, 2 GiB of memory, 64 processes, 1 GiB in 20,000 files, 64 MiB of output.
    fn default() -> Self {
        let gib = 1024 * 1024 * 1024;
        Self {
            seconds: 60,
            memory_bytes: 2 * gib,
            processes: 64,
            disk_bytes: gib,
            files: 20_000,
            output_bytes: 64 * 1024 * 1024,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-022 SEC-087
    #[test]
    fn an_address_of_the_owners_own_network_is_reached_by_itself_alone() {
        let addresses = |all: &[&str]| all.iter().map(|one| one.parse().unwrap()).collect::<Vec<IpAddr>>();
        let names = ["a.example", "10.0.0.5", "[fd00::1]:8080", "10.0.0.6:8080", "192.0.2.1"];
        let network = Network {
            names: names.map(str::to_owned).to_vec(),
            also: addresses(&["10.0.0.5", "10.0.0.6", "fd00::1", "1.1.1.1"]),
            mirrors: addresses(&["10.0.0.6", "10.0.0.7"]),
            trusted: Vec::new(),
        };
        let table = [
            ("10.0.0.5", "10.0.0.5", false, true),
            ("a.example", "10.0.0.5", false, false),
            ("10.0.0.6", "10.0.0.5", false, false),
            // It is private, whatever else is said of it.
            ("a.example", "10.0.0.6", false, false),
            ("a.example", "1.1.1.1", true, false),
            ("1.1.1.1", "1.1.1.1", true, true),
            ("fd00::1", "fd00::1", false, true),
            ("a.example", "10.0.0.7", false, true),
            ("a.example", "8.8.8.8", true, true),
            ("a.example", "10.0.0.8", false, false),
            ("10.0.0.8", "10.0.0.8", false, false),
        ];
        for (host, address, is_public, may) in table {
            assert_eq!(network.may_lead_to(host, address.parse().unwrap(), is_public), may, "{host} at {address}");
        }
        let own = vec!["10.0.0.5", "[fd00::1]:8080", "10.0.0.6:8080"];
        assert_eq!(network.own_and_others(), (own, vec!["a.example", "192.0.2.1"]));
    }
}
