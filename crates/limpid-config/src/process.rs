//! Which process holds a lease, so that one that died need not be waited for.

mod daemon;

use std::path::Path;

use crate::home::MAX_FILE;
use crate::regular_file;

pub use daemon::{Daemon, ServeError, ServeLock, Standing};

/// This process's name for leases: the machine's start, the process's name space and number, and a nonce.
pub fn holder(nonce: &str) -> String {
    let id = std::process::id();
    format!("{}/{id}@{}/{nonce}", place(), started(id).unwrap_or_default())
}

/// Whether a lease's holder is known to be dead: it ran here and its process is gone. Where that cannot be told, it is
/// taken to live, and its lease runs out by itself.
pub fn is_dead(holder: &str) -> bool {
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
        None => true,
    }
}

/// The number of the process that holds a lease, when it runs on this machine.
pub fn number(holder: &str) -> Option<u32> {
    let mut fields = holder.rsplitn(3, '/');
    let (_nonce, id, its_place) = (fields.next()?, fields.next()?, fields.next()?);
    let id = id.split_once('@').map_or(id, |(id, _)| id);
    id.parse().ok().filter(|_| its_place == place())
}

/// When a process started, in ticks since the machine did; none when it runs no more.
fn started(id: u32) -> Option<String> {
    let stat = regular_file::read_text(Path::new(&format!("/proc/{id}/stat")), MAX_FILE).ok()?;
    // The name, in brackets, may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    // One that ended keeps its entry until its parent asks how.
    let is_over = matches!(fields.next()?, "Z" | "X");
    fields.nth(18).filter(|_| !is_over).map(str::to_owned)
}

/// The machine since it was started, and the name space of process numbers; empty where the system does not say.
fn place() -> String {
    let boot = regular_file::read_text(Path::new("/proc/sys/kernel/random/boot_id"), MAX_FILE).unwrap_or_default();
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
    fn a_process_that_ended_is_dead_though_nobody_has_asked_how() {
        if place().is_empty() {
            return;
        }
        let mut child = std::process::Command::new("true").stdout(std::process::Stdio::piped()).spawn().unwrap();
        let holder = format!("{}/{}@{}/1", place(), child.id(), started(child.id()).unwrap_or_default());
        // Its end closes what it writes to; the kernel marks it as ended before that is seen or soon after.
        let mut output = child.stdout.take().unwrap();
        std::io::Read::read_to_end(&mut output, &mut Vec::new()).unwrap();
        let ended = (0..1_000_000).any(|_| {
            std::thread::yield_now();
            is_dead(&holder)
        });
        assert!(ended, "{holder}");
        child.wait().unwrap();
    }

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
