//! Which layers of the sandbox this machine has.

use std::path::Path;

use landlock::{ABI, Access as _, AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, Scope};
use limpid_config::{MAX_FILE, regular_file};
use rustix::process::getuid;

/// The layers that hold a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layers {
    /// Whether the system lets a program have namespaces, as far as its settings say.
    pub namespaces: bool,
    /// Whether Landlock keeps signals from reaching other programs.
    pub signals: bool,
}

/// Why programs cannot be run here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// A program of root's cannot be kept from its rights.
    Root,
    /// The kernel does not restrict paths.
    Landlock,
    /// The kernel does not filter calls.
    Seccomp,
    /// Nothing would keep a program from ending whoever watches over it.
    Signals,
}

impl Missing {
    /// The reason, as the end of "programs are not run:".
    pub fn why(self) -> &'static str {
        match self {
            Self::Root => "Limpid runs as root",
            Self::Landlock => "the kernel has no Landlock",
            Self::Seccomp => "the kernel has no seccomp filters",
            Self::Signals => {
                "this system allows no user namespaces, and its Landlock is older than version 6 (Linux 6.12)"
            }
        }
    }

    /// What the owner can do.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Root => {
                "Run Limpid as another user: `useradd --create-home limpid`, move the home folder there, then \
                 `setpriv --reuid=limpid --regid=limpid --init-groups limpid serve` or `User=limpid` in a systemd unit."
            }
            Self::Landlock => "Use a kernel with Landlock (Linux 5.13), and put `landlock` in its `lsm=` line.",
            Self::Seccomp => "Use a kernel with CONFIG_SECCOMP_FILTER.",
            Self::Signals => {
                "Allow user namespaces (`sysctl user.max_user_namespaces`, `kernel.unprivileged_userns_clone`), or use \
                 Linux 6.12."
            }
        }
    }
}

/// Which layers there are, as far as can be seen without trying them.
///
/// # Errors
/// [`Missing`] when programs must not run here.
pub fn support() -> Result<Layers, Missing> {
    if getuid().is_root() {
        return Err(Missing::Root);
    }
    let required = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    if required().handle_access(AccessFs::from_all(ABI::V1)).and_then(Ruleset::create).is_err() {
        return Err(Missing::Landlock);
    }
    if !Path::new("/proc/sys/kernel/seccomp/actions_avail").exists() {
        return Err(Missing::Seccomp);
    }
    let is_off = |name: &str| regular_file::read_text(Path::new(name), MAX_FILE).is_ok_and(|value| value.trim() == "0");
    let namespaces =
        !is_off("/proc/sys/user/max_user_namespaces") && !is_off("/proc/sys/kernel/unprivileged_userns_clone");
    let signals = required().scope(Scope::Signal).and_then(Ruleset::create).is_ok();
    if namespaces || signals { Ok(Layers { namespaces, signals }) } else { Err(Missing::Signals) }
}
