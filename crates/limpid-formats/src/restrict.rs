//! Gives up everything but the standard streams, for good. What a system does not have is left out; `doctor` says what holds.

use rustix::process::{Resource, Rlimit, setrlimit};

/// Bytes of memory, but for the stack.
const MEMORY: u64 = 192 * 1024 * 1024;

/// Bytes of the stack.
const STACK: u64 = 64 * 1024 * 1024;

/// Restricts this process, which may compute for so many seconds.
pub(crate) fn restrict(seconds: u64) {
    // Landlock needs a descriptor, which the limits forbid; the list of calls forbids everything else.
    #[cfg(target_os = "linux")]
    linux::forbid_paths();
    limit(seconds);
    #[cfg(target_os = "linux")]
    linux::forbid_calls();
}

fn limit(seconds: u64) {
    let limits = [
        (Resource::Core, 0, 0),
        // The first ends it, the second also when it would not hear of it.
        (Resource::Cpu, seconds, seconds + 1),
        (Resource::Data, MEMORY, MEMORY),
        (Resource::Stack, STACK, STACK),
        (Resource::Fsize, 0, 0),
        (Resource::Nproc, 0, 0),
        // The standard streams are open, and nothing else ever is.
        (Resource::Nofile, 3, 3),
    ];
    for (resource, current, maximum) in limits {
        // A limit that is lower already stays.
        let _ = setrlimit(resource, Rlimit { current: Some(current), maximum: Some(maximum) });
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;

    use landlock::{ABI, Access as _, AccessFs, AccessNet, Ruleset, RulesetAttr as _, RulesetCreated, Scope};
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    };

    /// The newest set of restrictions that is known here.
    const NEWEST: ABI = ABI::V6;

    /// What a parser needs: its streams, its own memory, and its end. It opens nothing.
    const CALLS: [i64; 20] = [
        libc::SYS_brk,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_madvise,
        libc::SYS_futex,
        libc::SYS_sched_yield,
        libc::SYS_sigaltstack,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_restart_syscall,
        libc::SYS_getrandom,
        libc::SYS_clock_gettime,
        libc::SYS_getpid,
        libc::SYS_gettid,
        libc::SYS_rseq,
        libc::SYS_set_robust_list,
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_membarrier,
    ];

    /// Calls on the standard streams alone, whatever else was passed on by mistake.
    const STREAMS: [i64; 4] = [libc::SYS_read, libc::SYS_readv, libc::SYS_write, libc::SYS_writev];

    /// Descriptors of the standard streams are below this.
    const FIRST_OTHER: u64 = 3;

    /// No path may be opened, no port reached, no process signalled.
    pub(super) fn forbid_paths() {
        let _ = rustix::thread::set_no_new_privs(true);
        let held = Ruleset::default()
            .handle_access(AccessFs::from_all(NEWEST))
            .and_then(|rules| rules.handle_access(AccessNet::from_all(NEWEST)))
            .and_then(|rules| rules.scope(Scope::from_all(NEWEST)))
            .and_then(Ruleset::create);
        let _ = held.map(RulesetCreated::restrict_self);
    }

    pub(super) fn forbid_calls() {
        let _ = filter().map(|filter| seccompiler::apply_filter(&filter));
    }

    fn filter() -> Option<BpfProgram> {
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> = CALLS.into_iter().map(|call| (call, Vec::new())).collect();
        let streams = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Lt, FIRST_OTHER).ok()?;
        for call in STREAMS {
            rules.insert(call, vec![SeccompRule::new(vec![streams.clone()]).ok()?]);
        }
        // Memory of its own that holds no code, so that the limit counts all of it.
        let without = |index, bits: i32| {
            let bits = u64::from(bits.unsigned_abs());
            SeccompCondition::new(index, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(bits), 0)
        };
        let plain = vec![without(2, libc::PROT_EXEC).ok()?, without(3, libc::MAP_SHARED).ok()?];
        rules.insert(libc::SYS_mmap, vec![SeccompRule::new(plain).ok()?]);
        let data = vec![without(2, libc::PROT_EXEC).ok()?];
        rules.insert(libc::SYS_mprotect, vec![SeccompRule::new(data).ok()?]);
        let other = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
        let filter = SeccompFilter::new(rules, other, SeccompAction::Allow, std::env::consts::ARCH.try_into().ok()?);
        filter.ok()?.try_into().ok()
    }
}
