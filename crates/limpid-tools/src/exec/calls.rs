//! System calls that a program may make (seccomp), by name and value. Every other call fails as if the kernel had none,
//! also one that a newer kernel adds.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

/// A name and its number, for calls that are allowed with any value.
macro_rules! calls {
    ($($name:ident)*) => { &[$((stringify!($name), libc::$name)),*] };
}

type Calls = &'static [(&'static str, i64)];

/// Files and folders, by path or descriptor: which ones, the mounts and Landlock say.
///
/// No call asks which parts of a file are in memory (`mincore`), brings some in (`readahead`) or pushes some out (`fadvise64`): what is
/// in memory stays so after a program has ended, so one that sees what is the owner's could tell it to a later one that can send.
const FILES: Calls = calls! {
    SYS_close SYS_read SYS_write SYS_readv SYS_writev SYS_pread64 SYS_pwrite64
    SYS_preadv SYS_pwritev SYS_lseek SYS_dup SYS_dup3 SYS_pipe2 SYS_ftruncate SYS_truncate
    SYS_fsync SYS_fdatasync SYS_sync_file_range SYS_flock SYS_copy_file_range SYS_sendfile
    SYS_splice SYS_tee SYS_fstat SYS_newfstatat SYS_statx SYS_statfs SYS_fstatfs SYS_faccessat SYS_faccessat2
    SYS_readlinkat SYS_getdents64 SYS_getcwd SYS_chdir SYS_fchdir SYS_mkdirat SYS_unlinkat SYS_renameat SYS_renameat2
    SYS_linkat SYS_symlinkat SYS_umask SYS_getxattr SYS_lgetxattr SYS_fgetxattr SYS_listxattr SYS_llistxattr
    SYS_flistxattr
};

/// Waiting for what happens to files. It tells which of them others read.
const WATCHING: Calls = calls! { SYS_inotify_init1 SYS_inotify_add_watch SYS_inotify_rm_watch };

/// The same under an older name.
#[cfg(target_arch = "x86_64")]
const OLD_WATCHING: Calls = calls! { SYS_inotify_init };
#[cfg(not(target_arch = "x86_64"))]
const OLD_WATCHING: Calls = &[];

/// The same under the names that older programs use.
#[cfg(target_arch = "x86_64")]
const OLD_FILES: Calls = calls! {
    SYS_stat SYS_lstat SYS_access SYS_readlink SYS_getdents SYS_mkdir SYS_rmdir SYS_unlink SYS_rename
    SYS_link SYS_symlink SYS_dup2 SYS_pipe SYS_poll SYS_select SYS_epoll_create SYS_epoll_wait SYS_eventfd
    SYS_vfork SYS_fork SYS_getpgrp SYS_alarm SYS_pause SYS_time SYS_arch_prctl
};
#[cfg(not(target_arch = "x86_64"))]
const OLD_FILES: Calls = &[];

/// Times and owners. A path may lead anywhere, so these need mounts that are read-only outside of the view.
const ATTRIBUTES: Calls = calls! { SYS_utimensat SYS_fchown SYS_fchownat };

/// The same under older names.
#[cfg(target_arch = "x86_64")]
const OLD_ATTRIBUTES: Calls = calls! { SYS_chown SYS_lchown SYS_utime SYS_utimes SYS_futimesat };
#[cfg(not(target_arch = "x86_64"))]
const OLD_ATTRIBUTES: Calls = &[];

/// A call that the headers do not name everywhere.
const SYS_FCHMODAT2: i64 = 452;

/// Flags of an open that makes a file, with a mode.
const MAKES: u32 = (libc::O_CREAT | (libc::O_TMPFILE & !libc::O_DIRECTORY)).unsigned_abs();

/// Bits of a mode that give whoever runs a file the rights of its owner or group. Beyond the sandbox they would hold.
const OTHERS_RIGHTS: u32 = libc::S_ISUID | libc::S_ISGID;

/// Memory of the program's own.
const MEMORY: Calls = calls! {
    SYS_mmap SYS_munmap SYS_mprotect SYS_mremap SYS_msync SYS_brk SYS_membarrier SYS_rseq
};

/// Processes and threads below the program. Signals reach no others: it has process ids of its own, or Landlock's scope.
const PROCESSES: Calls = calls! {
    SYS_execve SYS_execveat SYS_exit SYS_exit_group SYS_wait4 SYS_waitid SYS_kill SYS_tkill SYS_tgkill SYS_pidfd_open
    SYS_pidfd_send_signal SYS_getpid SYS_getppid SYS_gettid SYS_getpgid SYS_setpgid SYS_getsid SYS_getuid
    SYS_geteuid SYS_getgid SYS_getegid SYS_getresuid SYS_getresgid SYS_getgroups SYS_capget SYS_set_tid_address
    SYS_set_robust_list SYS_get_robust_list SYS_futex SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigpending
    SYS_rt_sigsuspend SYS_rt_sigtimedwait SYS_rt_sigreturn SYS_sigaltstack SYS_restart_syscall SYS_sched_yield
    SYS_sched_get_priority_max SYS_sched_get_priority_min SYS_getrusage SYS_times SYS_getcpu
};

/// Waiting, clocks to read, timers, chance, and what the machine is.
const WAITING: Calls = calls! {
    SYS_ppoll SYS_pselect6 SYS_epoll_create1 SYS_epoll_ctl SYS_epoll_pwait SYS_epoll_pwait2 SYS_eventfd2 SYS_signalfd4
    SYS_timerfd_create SYS_timerfd_settime SYS_timerfd_gettime SYS_timer_create SYS_timer_settime SYS_timer_gettime
    SYS_timer_getoverrun SYS_timer_delete SYS_nanosleep SYS_clock_nanosleep SYS_clock_gettime SYS_clock_getres
    SYS_gettimeofday SYS_getitimer SYS_setitimer SYS_getrandom SYS_uname SYS_sysinfo
};

/// Streams between the program's own processes.
const STREAMS: Calls = calls! {
    SYS_recvfrom SYS_recvmsg SYS_sendto SYS_sendmsg SYS_shutdown SYS_getsockopt SYS_getsockname
    SYS_getpeername
};

/// Connections to the proxy, which is all there is in the program's own network.
const NETWORK: Calls = calls! { SYS_connect SYS_sendmmsg SYS_recvmmsg };

/// Commands of `fcntl`: none names another process, asks for signals, or makes a pipe larger.
const FCNTL: [i32; 12] = [
    libc::F_DUPFD,
    libc::F_DUPFD_CLOEXEC,
    libc::F_GETFD,
    libc::F_SETFD,
    libc::F_GETFL,
    libc::F_SETFL,
    libc::F_GETLK,
    libc::F_SETLK,
    libc::F_SETLKW,
    libc::F_OFD_GETLK,
    libc::F_OFD_SETLK,
    libc::F_OFD_SETLKW,
];

/// Commands of `ioctl`: whether it is a terminal and how large, how much can be read, flags of the descriptor.
const IOCTL: [u64; 6] = [0x5401, 0x5413, 0x541b, 0x5421, 0x5450, 0x5451];

/// Options of `prctl`: the thread's name, the signal for its parent's end, names of memory, and questions.
const PRCTL: [i32; 10] = [
    libc::PR_SET_NAME,
    libc::PR_GET_NAME,
    libc::PR_SET_PDEATHSIG,
    libc::PR_GET_PDEATHSIG,
    libc::PR_GET_DUMPABLE,
    libc::PR_GET_NO_NEW_PRIVS,
    libc::PR_SET_NO_NEW_PRIVS,
    libc::PR_CAPBSET_READ,
    libc::PR_GET_SECCOMP,
    libc::PR_SET_VMA,
];

/// Advice of `madvise` that allocators and runtimes give on memory of their own. None of it brings parts of files into memory (3, 22),
/// pushes some out (20, 21), or looks for the same pages elsewhere (12). Numbers, as not every C library names the newer ones.
const ADVICE: [u64; 14] = [
    0, // normal
    1, // random
    2, // sequential
    4, // don't need
    8, // free
    10, 11, // fork
    14, 15, // huge pages
    16, 17, // dump
    18, 19,  // wipe on fork
    102, // guard, as for the stacks of threads
];

/// Flags of `clone` that make a namespace.
const NAMESPACES: i32 = libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET;

/// Calls that return 0 and do nothing. Each new session would get a full share of the CPU; test runners stop if `setsid` fails.
const WITHOUT_EFFECT: Calls = calls! { SYS_setsid };

/// Flag of `close_range` that gives a thread its own descriptors, which the watcher would not see.
const CLOSE_RANGE_UNSHARE: u32 = 2;

/// How a call of the list is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Allowed {
    /// With any value.
    Whole,
    /// With some values.
    SomeValues,
    /// It seems to succeed and does nothing.
    WithoutEffect,
}

/// What the list depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Whether modes, times and owners may change by path: nothing but the view's own places is mounted writable.
    pub attributes: bool,
    /// Whether the proxy may be connected to.
    pub network: bool,
    /// Whether files may be watched: what may be a stranger's must not know what is read.
    pub watch: bool,
}

/// The numbers that are allowed, each with its name and how.
pub fn allowed(allowance: Allowance) -> Result<Vec<(i64, &'static str, Allowed)>, String> {
    let whole = whole(allowance).into_iter().map(|(name, call)| (call, name, Allowed::Whole));
    let some = by_value(allowance)?.into_iter().map(|(name, call, _)| (call, name, Allowed::SomeValues));
    let without = WITHOUT_EFFECT.iter().map(|(name, call)| (*call, *name, Allowed::WithoutEffect));
    let mut all: Vec<_> = whole.chain(some).chain(without).collect();
    all.sort_unstable();
    Ok(all)
}

/// The filters of a program, in the order in which they are to be applied. The kernel asks all of them, and a refusal of one holds.
pub(super) fn filters(allowance: Allowance) -> Result<[BpfProgram; 2], String> {
    let without = WITHOUT_EFFECT.iter().map(|(_, call)| (*call, Vec::new()));
    let whole = whole(allowance).into_iter().map(|(_, call)| (call, Vec::new()));
    let some = by_value(allowance)?.into_iter().map(|(_, call, rules)| (call, rules));
    let allowed = whole.chain(some).chain(without.clone()).collect();
    // A call that fails with no error returns 0 and is not carried out.
    let without = compiled(without.collect(), SeccompAction::Allow, SeccompAction::Errno(0))?;
    let other = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    Ok([without, compiled(allowed, other, SeccompAction::Allow)?])
}

/// A filter that does one thing with these calls, and another one with all others.
fn compiled(
    calls: BTreeMap<i64, Vec<SeccompRule>>,
    other: SeccompAction,
    these: SeccompAction,
) -> Result<BpfProgram, String> {
    let arch = std::env::consts::ARCH.try_into().map_err(|error: seccompiler::BackendError| error.to_string())?;
    let filter = SeccompFilter::new(calls, other, these, arch);
    filter.and_then(TryInto::try_into).map_err(|error: seccompiler::BackendError| error.to_string())
}

/// Calls that are allowed with any value.
fn whole(allowance: Allowance) -> Vec<(&'static str, i64)> {
    let mut lists = vec![FILES, OLD_FILES, MEMORY, PROCESSES, WAITING, STREAMS];
    if allowance.network {
        lists.push(NETWORK);
    }
    if allowance.attributes {
        lists.extend([ATTRIBUTES, OLD_ATTRIBUTES]);
    }
    if allowance.watch {
        lists.extend([WATCHING, OLD_WATCHING]);
    }
    lists.concat()
}

/// A call by its name and number, with the rules of which one must fit.
type ByValue = (&'static str, i64, Vec<SeccompRule>);

/// Calls that are allowed with some values only.
fn by_value(allowance: Allowance) -> Result<Vec<ByValue>, String> {
    // The program itself, not another process.
    let own = || rule(vec![equal(0, 0)?]);
    let kind = |index, mask: u32, value: u32| condition(index, SeccompCmpOp::MaskedEq(mask.into()), value.into());
    let of_stream = |kind_of: i32| kind(1, 0xf, kind_of.unsigned_abs());
    let pair = vec![equal(0, libc::AF_UNIX.unsigned_abs().into())?, of_stream(libc::SOCK_STREAM)?];
    let pipe = |index| rule(vec![kind(index, libc::S_IFMT, libc::S_IFIFO)?]);
    let any = |index, values: Vec<u64>| -> Result<Vec<SeccompRule>, String> {
        values.into_iter().map(|value| rule(vec![equal(index, value)?])).collect()
    };
    let plain = |index| rule(vec![kind(index, OTHERS_RIGHTS, 0)?]);
    let opens = |flags, mode| Ok::<_, String>(vec![rule(vec![kind(flags, MAKES, 0)?])?, plain(mode)?]);
    let keeps = u64::from(u32::MAX);
    // Takes back its own user or group, as make does before each command; the real and the saved one stay as they are.
    let own_again = || rule(vec![equal(0, keeps)?, equal(2, keeps)?]);
    let numbers = |values: &[i32]| values.iter().map(|value| u64::from(value.unsigned_abs())).collect::<Vec<_>>();
    // Any option but the sizes of buffers, which are counted as the system makes them.
    let sizes = [libc::SO_SNDBUF, libc::SO_RCVBUF, libc::SO_SNDBUFFORCE, libc::SO_RCVBUFFORCE];
    let of_sockets = u64::from(libc::SOL_SOCKET.unsigned_abs());
    let other = sizes.map(|option| condition(2, SeccompCmpOp::Ne, u64::from(option.unsigned_abs())));
    let other = std::iter::once(equal(1, of_sockets)).chain(other).collect::<Result<Vec<_>, _>>()?;
    let options = vec![rule(vec![condition(1, SeccompCmpOp::Ne, of_sockets)?])?, rule(other)?];
    let mut some = vec![
        ("SYS_clone", libc::SYS_clone, clones()?),
        ("SYS_close_range", libc::SYS_close_range, vec![rule(vec![kind(2, CLOSE_RANGE_UNSHARE, 0)?])?]),
        // Flags could ask whether a part of a file is in memory.
        ("SYS_preadv2", libc::SYS_preadv2, vec![rule(vec![equal(5, 0)?])?]),
        ("SYS_pwritev2", libc::SYS_pwritev2, vec![rule(vec![equal(5, 0)?])?]),
        ("SYS_madvise", libc::SYS_madvise, any(2, ADVICE.to_vec())?),
        ("SYS_openat", libc::SYS_openat, opens(2, 3)?),
        ("SYS_fcntl", libc::SYS_fcntl, any(1, numbers(&FCNTL))?),
        ("SYS_ioctl", libc::SYS_ioctl, any(1, IOCTL.to_vec())?),
        ("SYS_prctl", libc::SYS_prctl, any(0, numbers(&PRCTL))?),
        ("SYS_socketpair", libc::SYS_socketpair, vec![rule(pair)?]),
        ("SYS_setsockopt", libc::SYS_setsockopt, options),
        ("SYS_mknodat", libc::SYS_mknodat, vec![pipe(2)?]),
        ("SYS_prlimit64", libc::SYS_prlimit64, vec![own()?]),
        ("SYS_setresuid", libc::SYS_setresuid, vec![own_again()?]),
        ("SYS_setresgid", libc::SYS_setresgid, vec![own_again()?]),
        ("SYS_getpriority", libc::SYS_getpriority, vec![rule(vec![equal(0, 0)?, equal(1, 0)?])?]),
        ("SYS_setpriority", libc::SYS_setpriority, vec![rule(vec![equal(0, 0)?, equal(1, 0)?])?]),
        // The first value says that the second is a process.
        ("SYS_ioprio_set", libc::SYS_ioprio_set, vec![rule(vec![equal(0, 1)?, equal(1, 0)?])?]),
        ("SYS_ioprio_get", libc::SYS_ioprio_get, vec![rule(vec![equal(0, 1)?, equal(1, 0)?])?]),
        ("SYS_sched_getaffinity", libc::SYS_sched_getaffinity, vec![own()?]),
        ("SYS_sched_setaffinity", libc::SYS_sched_setaffinity, vec![own()?]),
        ("SYS_sched_getscheduler", libc::SYS_sched_getscheduler, vec![own()?]),
        ("SYS_sched_setscheduler", libc::SYS_sched_setscheduler, vec![own()?]),
        ("SYS_sched_getparam", libc::SYS_sched_getparam, vec![own()?]),
        ("SYS_sched_setparam", libc::SYS_sched_setparam, vec![own()?]),
        ("SYS_sched_rr_get_interval", libc::SYS_sched_rr_get_interval, vec![own()?]),
    ];
    #[cfg(target_arch = "x86_64")]
    some.extend([
        ("SYS_open", libc::SYS_open, opens(1, 2)?),
        ("SYS_creat", libc::SYS_creat, vec![plain(1)?]),
        ("SYS_mknod", libc::SYS_mknod, vec![pipe(1)?]),
        ("SYS_getrlimit", libc::SYS_getrlimit, Vec::new()),
        ("SYS_setrlimit", libc::SYS_setrlimit, Vec::new()),
    ]);
    if allowance.attributes {
        some.extend([
            ("SYS_fchmod", libc::SYS_fchmod, vec![plain(1)?]),
            ("SYS_fchmodat", libc::SYS_fchmodat, vec![plain(2)?]),
            ("SYS_fchmodat2", SYS_FCHMODAT2, vec![plain(2)?]),
        ]);
        #[cfg(target_arch = "x86_64")]
        some.push(("SYS_chmod", libc::SYS_chmod, vec![plain(1)?]));
    }
    if allowance.network {
        let tcp = vec![equal(0, libc::AF_INET.unsigned_abs().into())?, of_stream(libc::SOCK_STREAM)?];
        some.push(("SYS_socket", libc::SYS_socket, vec![rule(tcp)?]));
    }
    Ok(some)
}

/// New processes and threads, without namespaces of their own. Threads share their descriptors, since the watcher looks at those of one.
fn clones() -> Result<Vec<SeccompRule>, String> {
    let flags = |mask: i32, value: i32| {
        condition(0, SeccompCmpOp::MaskedEq(mask.unsigned_abs().into()), value.unsigned_abs().into())
    };
    let threads = libc::CLONE_THREAD | libc::CLONE_FILES;
    let process = rule(vec![flags(NAMESPACES | libc::CLONE_THREAD, 0)?])?;
    Ok(vec![process, rule(vec![flags(NAMESPACES | threads, threads)?])?])
}

fn equal(index: u8, value: u64) -> Result<SeccompCondition, String> {
    condition(index, SeccompCmpOp::Eq, value)
}

/// Compares the lower half of a value: the upper one of an `int` may hold anything.
fn condition(index: u8, is: SeccompCmpOp, value: u64) -> Result<SeccompCondition, String> {
    SeccompCondition::new(index, SeccompCmpArgLen::Dword, is, value).map_err(|error| error.to_string())
}

fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, String> {
    SeccompRule::new(conditions).map_err(|error| error.to_string())
}
