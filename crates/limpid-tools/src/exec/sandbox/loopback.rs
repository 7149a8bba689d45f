//! The only network of a program that may reach some names: a loopback of its own, with one listener that another process
//! serves.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use rustix::io::retry_on_intr;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, socket_with};
use rustix::stdio::stdin;

use super::handed;

/// Where the listener is. In a network of its own every number is free.
pub(super) const PORT: u16 = 3128;

/// Bytes of a header of a netlink message.
const HEADER: usize = 16;

/// Brings the loopback up and hands a listener on it to whoever watches. This process must have a network of its own.
pub(super) fn open() -> io::Result<()> {
    bring_up()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, PORT))?;
    handed::send(stdin(), &listener)
}

/// Takes the listener from the process that opened it.
///
/// # Errors
/// What the other process says instead.
pub(super) fn take(stream: &UnixStream) -> Result<TcpListener, String> {
    handed::receive(stream).map(TcpListener::from)
}

/// Asks the kernel, by a netlink message, to switch the first interface on.
fn bring_up() -> io::Result<()> {
    let netlink = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    rustix::net::send(&netlink, &request(), SendFlags::empty())?;
    answer(&netlink)
}

/// The message: a header (length, "new link", "request" and "answer", a number, the kernel), then the interface (its
/// number is 1 in every network) with the flag "up" and which flags are meant.
fn request() -> Vec<u8> {
    const UP: u32 = 1;
    let mut body = vec![0; 4];
    body.extend(1_i32.to_ne_bytes());
    body.extend([UP, UP].into_iter().flat_map(u32::to_ne_bytes));
    let length = u32::try_from(HEADER + body.len()).unwrap_or_default();
    let mut message = length.to_ne_bytes().to_vec();
    message.extend([libc::RTM_NEWLINK, 5].into_iter().flat_map(u16::to_ne_bytes));
    message.extend([1_u32, 0].into_iter().flat_map(u32::to_ne_bytes));
    message.extend(body);
    message
}

/// Reads the kernel's answer: an error's number, or 0.
fn answer(netlink: &OwnedFd) -> io::Result<()> {
    let mut bytes = [0_u8; 256];
    let (_, count) = retry_on_intr(|| rustix::net::recv(netlink, &mut bytes[..], RecvFlags::empty()))?;
    let error = bytes[..count].get(HEADER..HEADER + 4).and_then(|number| number.try_into().ok());
    match error.map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(number) => Err(io::Error::from_raw_os_error(-number)),
        None => Err(io::Error::other("the kernel's answer is too short")),
    }
}
