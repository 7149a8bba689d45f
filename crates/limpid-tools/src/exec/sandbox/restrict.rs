//! What a process does to itself before a program runs: limits, no rights, Landlock, seccomp.

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, NetPort, PathBeneath, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, remove_capability_from_bounding_set, set_capabilities,
    set_no_new_privs,
};

use super::frozen::COPIES;
use super::loopback::PORT;
use crate::exec::calls::{Allowance, filters};
use crate::exec::confinement::{Confinement, Limits};
use crate::exec::processes::of_this_user;

/// The newest set of restrictions that is known here; an older kernel gets those that it has.
const NEWEST: ABI = ABI::V9;

/// Folders and files of the system that every program may read.
const SYSTEM: [&str; 8] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store"];

/// What a program may read of the machine's own `/proc` and `/sys`, if it has none of its own.
const MACHINE: [&str; 11] = [
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/loadavg",
    "/proc/uptime",
    "/proc/version",
    "/proc/filesystems",
    "/proc/sys/kernel",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu",
];

/// Devices that every program may read and write.
pub(super) const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Those of them that are not hidden as a whole.
fn system(confinement: &Confinement) -> impl Iterator<Item = &'static str> {
    SYSTEM.into_iter().filter(|folder| !confinement.hidden.iter().any(|hidden| hidden == Path::new(folder)))
}

/// Whether a hidden path lies in a folder that Landlock leaves out by itself.
pub(super) fn is_left_out(confinement: &Confinement, hidden: &Path) -> bool {
    SYSTEM.iter().any(|folder| hidden.starts_with(folder) && !system(confinement).any(|given| given == *folder))
}

/// Whether the program has namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    /// Its own processes and mounts, and a network of its own with nothing in it but the proxy, if a name is granted.
    Namespaces,
    /// Those of the machine.
    Machine,
}

/// Restricts this process for good. `scratch` is what it may write besides the view.
pub(super) fn restrict(confinement: &Confinement, around: Around, scratch: &[PathBuf]) -> Result<(), String> {
    let failed = |what: &'static str| move |error: io::Error| format!("{what}: {error}");
    limit(&confinement.limits, around).map_err(failed("no limits"))?;
    give_up_rights(around).map_err(failed("rights cannot be given up"))?;
    let status = hold(confinement, around, scratch).map_err(|error| format!("no Landlock: {error}"))?;
    if status == RulesetStatus::NotEnforced {
        return Err("no Landlock: the kernel has none".to_owned());
    }
    let (attributes, network) = (around == Around::Namespaces, confinement.network.is_granted());
    // Landlock keeps nobody from watching what they cannot read.
    let watch = confinement.watch && around == Around::Namespaces;
    for filter in filters(Allowance { attributes, network, watch })? {
        seccompiler::apply_filter(&filter).map_err(|error| format!("no seccomp filter: {error}"))?;
    }
    Ok(())
}

fn limit(limits: &Limits, around: Around) -> io::Result<()> {
    let fixed = |value: u64| Rlimit { current: Some(value), maximum: Some(value) };
    setrlimit(Resource::Core, fixed(0))?;
    setrlimit(Resource::Cpu, fixed(limits.seconds.saturating_mul(2)))?;
    setrlimit(Resource::Fsize, fixed(limits.disk_bytes))?;
    setrlimit(Resource::Data, fixed(limits.memory_bytes))?;
    setrlimit(Resource::Nofile, fixed(1024))?;
    setrlimit(Resource::Memlock, fixed(0))?;
    setrlimit(Resource::Msgqueue, fixed(0))?;
    // It stays behind the agent wherever both want a processor.
    setrlimit(Resource::Nice, fixed(0))?;
    setrlimit(Resource::Rtprio, fixed(0))?;
    // In a user namespace the kernel counts its processes; without one, every process of the user.
    let others = if around == Around::Namespaces { 2 } else { of_this_user() };
    // A little more than is permitted, so that whoever watches sees that it is too many and ends them all.
    let processes = u64::from(limits.processes);
    setrlimit(Resource::Nproc, fixed(others + processes + (processes / 5).max(1)))?;
    Ok(())
}

/// Empties every set of capabilities, and sees to it that no file gives one.
fn give_up_rights(around: Around) -> io::Result<()> {
    if around == Around::Namespaces {
        for number in 0..64 {
            // The kernel knows fewer, and says so at the first one that it does not know.
            if remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number)).is_err() {
                break;
            }
        }
    }
    clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    set_no_new_privs(true)?;
    Ok(())
}

/// Holds this process to its folders (Landlock): the system's and the granted ones for reading, some for writing, no
/// TCP but to the proxy, no signals to processes outside.
fn hold(confinement: &Confinement, around: Around, scratch: &[PathBuf]) -> Result<RulesetStatus, RulesetError> {
    let all = AccessFs::from_all(NEWEST);
    let look: BitFlags<AccessFs> = AccessFs::from_read(NEWEST);
    let device = AccessFs::ReadFile | AccessFs::WriteFile;
    let mut rules = Ruleset::default().handle_access(all)?;
    rules = match around {
        Around::Namespaces => rules.scope(Scope::from_all(NEWEST))?,
        // Without processes of its own only this keeps a program from ending the one that watches.
        Around::Machine => {
            let rules = rules.set_compatibility(CompatLevel::HardRequirement).scope(Scope::Signal)?;
            rules.set_compatibility(CompatLevel::BestEffort).scope(Scope::from_all(NEWEST))?
        }
    };
    rules = rules.handle_access(AccessNet::from_all(NEWEST))?;
    let machine: &[&str] = if around == Around::Namespaces { &["/proc"] } else { &MACHINE };
    // A root of its own holds nothing that must not be listed.
    let own_root: &[&str] = if around == Around::Namespaces { &["/"] } else { &[] };
    let mut held = rules
        .create()?
        .add_rules(path_beneath_rules(own_root, AccessFs::ReadDir))?
        .add_rules(path_beneath_rules(system(confinement), look))?
        .add_rules(path_beneath_rules(machine, look))?
        .add_rules(path_beneath_rules(settings(), look))?
        .add_rules(path_beneath_rules(scratch, all))?
        .add_rules(path_beneath_rules(DEVICES, device))?;
    if confinement.network.is_granted() {
        held = held.add_rule(NetPort::new(PORT, AccessNet::ConnectTcp))?;
    }
    if around == Around::Namespaces {
        held = held.add_rules(path_beneath_rules([COPIES], look))?;
    }
    if around == Around::Machine {
        let copies = confinement.frozen.iter().map(|(_, copy)| copy);
        held = held.add_rules(path_beneath_rules(copies, look))?;
        held = held.add_rules(path_beneath_rules(&confinement.split, AccessFs::ReadDir))?;
    }
    for (places, rights) in [(&confinement.read, look), (&confinement.write, all)] {
        for place in places {
            // The handle of the very folder or file, even if another one has been put in its place.
            let path = if around == Around::Namespaces { &place.at } else { &place.path };
            if let Ok(Some(handle)) = super::mounts::open(place, path) {
                held = held.add_rule(PathBeneath::new(handle, rights))?;
            }
        }
    }
    Ok(held.restrict_self()?.ruleset)
}

/// The entries of `/etc` that everybody may read.
fn settings() -> Vec<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    let Ok(entries) = std::fs::read_dir("/etc") else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let open = |path: &PathBuf| path.metadata().is_ok_and(|about| about.permissions().mode() & 0o004 != 0);
    paths.filter(open).collect()
}
