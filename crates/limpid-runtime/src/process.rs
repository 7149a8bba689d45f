//! Which process holds a lease, so that one that died need not be waited for.

use std::path::Path;

/// This process's name for leases: the machine's start, the process's name space and number, and a nonce.
pub(crate) fn holder(nonce: &str) -> String {
    format!("{}/{}/{nonce}", place(), std::process::id())
}

/// Whether a lease's holder is known to be dead: it ran here and its process is gone. Where that cannot be told, it is
/// taken to live, and its lease runs out by itself.
pub(crate) fn is_dead(holder: &str) -> bool {
    let mut fields = holder.rsplitn(3, '/');
    let (Some(_nonce), Some(id), Some(its_place)) = (fields.next(), fields.next(), fields.next()) else { return false };
    let here = place();
    !here.is_empty() && its_place == here && !Path::new("/proc").join(id).exists()
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
        }
    }
}
