//! Ports for servers that are started later, or again and again.

#![allow(clippy::expect_used, reason = "a part of tests, which may stop at the first surprise")]

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

/// The ports that are looked through; outgoing connections get higher ones, which they would hold when a server wants its
/// own again.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// How many were looked at in this process.
static LOOKED_AT: AtomicU16 = AtomicU16::new(0);

/// A port of this machine that nothing listens on.
///
/// # Panics
/// When there is none.
pub fn free_port() -> u16 {
    // Processes begin at different ones, so that they rarely meet.
    let own = (std::process::id() % u32::from(COUNT)) as u16;
    let port = |_| FIRST + (own + LOOKED_AT.fetch_add(1, Ordering::Relaxed) % COUNT) % COUNT;
    (0..COUNT).map(port).find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).expect("a free port")
}
