//! System calls that a confined program may not make (seccomp): what the restriction of paths does not reach.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

use super::confinement::Confinement;

/// Calls of another way to count them, which a filter must name once more.
#[cfg(target_arch = "x86_64")]
const X32: i64 = 0x4000_0000;

/// Two filters: calls that are not permitted, and calls that are to look as if the kernel had none.
pub(super) fn filters(confinement: &Confinement) -> Result<[BpfProgram; 2], String> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    let mut deny = |calls: &[i64]| rules.extend(calls.iter().map(|call| (*call, Vec::new())));
    deny(&OTHERS_MEMORY);
    deny(&NAMESPACES_AND_MOUNTS);
    deny(&KERNEL);
    deny(&RINGS);
    deny(&SHARED);
    deny(&OWNERS_AND_ATTRIBUTES);
    if !confinement.modes {
        deny(&MODES);
    }
    #[cfg(target_arch = "x86_64")]
    {
        deny(&[libc::SYS_chown, libc::SYS_lchown]);
        if !confinement.modes {
            deny(&[libc::SYS_chmod]);
        }
    }
    if confinement.network {
        // The internet, and nothing that reaches the services of this machine past it.
        let internet = [libc::AF_INET, libc::AF_INET6];
        let other = internet.map(|family| argument(0, SeccompCmpOp::Ne, family.unsigned_abs().into()));
        rules.insert(libc::SYS_socket, vec![rule(other.into_iter().collect::<Result<_, _>>()?)?]);
    } else {
        rules.insert(libc::SYS_socket, Vec::new());
    }
    let new_user = libc::CLONE_NEWUSER.unsigned_abs().into();
    let makes_a_user = argument(0, SeccompCmpOp::MaskedEq(new_user), new_user)?;
    rules.insert(libc::SYS_clone, vec![rule(vec![makes_a_user])?]);

    // Its arguments stand in memory, where no filter can look; programs then fall back to `clone`.
    let absent = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    Ok([compile(rules, libc::EPERM)?, compile(absent, libc::ENOSYS)?])
}

/// Looking into other programs.
const OTHERS_MEMORY: [i64; 5] =
    [libc::SYS_ptrace, libc::SYS_process_vm_readv, libc::SYS_process_vm_writev, libc::SYS_pidfd_getfd, libc::SYS_kcmp];

/// Another view of the file system.
const NAMESPACES_AND_MOUNTS: [i64; 13] = [
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
];

/// The kernel and the machine.
const KERNEL: [i64; 18] = [
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_quotactl,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_acct,
    libc::SYS_syslog,
];

/// A second way to every call, past this filter.
const RINGS: [i64; 3] = [libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

/// Memory, queues and keys that other programs of the user share.
const SHARED: [i64; 8] = [
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_mq_open,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
];

/// What the restriction of paths lets a program change of any file that it can name.
const OWNERS_AND_ATTRIBUTES: [i64; 7] = [
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    SYS_SETXATTRAT,
    SYS_REMOVEXATTRAT,
];

/// The modes of files that are named; a file that is open may get another.
const MODES: [i64; 2] = [libc::SYS_fchmodat, SYS_FCHMODAT2];

/// Calls of newer kernels have the same number everywhere.
const SYS_FCHMODAT2: i64 = 452;
const SYS_SETXATTRAT: i64 = 463;
const SYS_REMOVEXATTRAT: i64 = 466;

fn argument(index: u8, is: SeccompCmpOp, value: u64) -> Result<SeccompCondition, String> {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, is, value).map_err(|error| error.to_string())
}

fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, String> {
    SeccompRule::new(conditions).map_err(|error| error.to_string())
}

#[allow(unused_mut, reason = "one kind of machine has more calls")]
fn compile(mut rules: BTreeMap<i64, Vec<SeccompRule>>, error: i32) -> Result<BpfProgram, String> {
    #[cfg(target_arch = "x86_64")]
    {
        let again: Vec<_> = rules.iter().map(|(call, rules)| (call | X32, rules.clone())).collect();
        // There these have numbers of their own: ptrace, process_vm_readv, process_vm_writev.
        let own = [521, 539, 540].map(|call| (call | X32, Vec::new()));
        rules.extend(again.into_iter().chain(own));
    }
    let arch = std::env::consts::ARCH.try_into().map_err(|error: seccompiler::BackendError| error.to_string())?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(error.unsigned_abs()), arch);
    filter.and_then(TryInto::try_into).map_err(|error: seccompiler::BackendError| error.to_string())
}
