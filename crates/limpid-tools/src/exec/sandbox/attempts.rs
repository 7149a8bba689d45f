//! What each layer must stop, tried by the process that a program would be.

use std::fs;
use std::io;
use std::path::Path;

use limpid_config::{MAX_FILE, regular_file};
use rustix::fs::{MemfdFlags, StatVfsMountFlags, memfd_create, statvfs};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getppid, setrlimit, test_kill_process};

use super::restrict::Around;

/// A layer, and whether it stopped what was tried.
pub(super) type Attempt = (&'static str, bool);

/// Tries every layer. This process must be restricted as a program would be, and it is of no further use.
pub(super) fn all(around: Around) -> Vec<Attempt> {
    let own = match around {
        Around::Namespaces => vec![
            ("own processes", sees_only_itself()),
            ("own files", has_only_its_files()),
            ("own network", has_an_empty_network()),
        ],
        Around::Machine => {
            vec![("namespaces", false), ("signals", getppid().is_none_or(|parent| test_kill_process(parent).is_err()))]
        }
    };
    let common = [
        ("Landlock", is_refused(&fs::write("/proc/self/comm", "x"))),
        ("system calls", matches!(memfd_create("x", MemfdFlags::CLOEXEC), Err(Errno::NOSYS))),
        ("no rights", has_no_rights()),
        ("limits", setrlimit(Resource::Data, Rlimit { current: None, maximum: None }).is_err()),
    ];
    own.into_iter().chain(common).collect()
}

/// Looks for processes besides this one, which is the first of its own.
fn sees_only_itself() -> bool {
    let Ok(entries) = fs::read_dir("/proc") else { return true };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    numbers.into_iter().all(|number| number == 1)
}

/// Looks for a folder that every machine has and no view, and for a way to write to the system's.
fn has_only_its_files() -> bool {
    let is_fixed = statvfs("/usr").is_ok_and(|about| about.f_flag.contains(StatVfsMountFlags::RDONLY));
    is_fixed && fs::symlink_metadata("/var").is_err()
}

/// Looks for an interface to anything but itself. The first two lines are the table's head.
fn has_an_empty_network() -> bool {
    let Ok(table) = regular_file::read_text(Path::new("/proc/self/net/dev"), MAX_FILE) else { return true };
    table.lines().skip(2).all(|line| line.trim_start().starts_with("lo:"))
}

fn is_refused(tried: &io::Result<()>) -> bool {
    tried.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
}

/// Reads which rights this process has, and whether a file could give it some.
fn has_no_rights() -> bool {
    let Ok(status) = regular_file::read_text(Path::new("/proc/self/status"), MAX_FILE) else { return false };
    let value = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let none = |name: &str| value(name).is_some_and(|rights| rights.trim_matches('0').is_empty());
    ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"].into_iter().all(none) && value("NoNewPrivs:") == Some("1")
}
