//! Which process holds a lease, so that one that died need not be waited for.

pub(crate) mod daemon;

use std::path::Path;

/// This process's name for leases: the machine's start, the process's name space and number, and a nonce.
pub(crate) fn holder(nonce: &str) -> String {
    let id = std::process::id();
    format!("{}/{id}@{}/{nonce}", place(), started(id).unwrap_or_default())
}

/// Whether a lease's holder is known to be dead: it ran here and its process is gone. Where that cannot be told, it is
/// taken to live, and its lease runs out by itself.
pub(crate) fn is_dead(holder: &str) -> bool {
    let mut fields = holder.rsplitn(3, '/');
    let (Some(_nonce), Some(id), Some(its_place)) = (fields.next(), fields.next(), fields.next()) else { return false };
    let here = place();
    if here.is_empty() || its_place != here {
        return false;
    }
    // A number is given to another process one day, and to its threads. Holders of an older program carry no start.
    let (id, start) = id.split_once('@').unwrap_or((id, ""));
    match id.parse().ok().and_then(started) {
        Some(now) => !start.is_empty() && start != now,
        None => !Path::new("/proc").join(id).exists(),
    }
}

/// When a process started, in ticks since the machine did.
fn started(id: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name, in brackets, may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19).map(str::to_owned)
}

/// The machine since it was started, and the name space of process numbers; empty where the system does not say.
fn place() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let names = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    match boot.trim() {
        "" => String::new(),
        boot => format!("{boot}/{}", names.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // ARC-010
    #[test]
    fn only_a_process_of_this_machine_that_is_gone_is_dead() {
        assert!(!is_dead(&holder("1")));
        assert!(!is_dead("elsewhere/pid:[1]/1/1"));
        assert!(!is_dead(""));
        if !place().is_empty() {
            assert!(is_dead(&format!("{}/999999999/1", place())));
            let id = std::process::id();
            assert!(is_dead(&format!("{}/{id}@1/1", place())), "another process had the number before");
            assert!(!is_dead(&format!("{}/{id}/1", place())), "an older program's holder");
        }
    }
}
