//! What a program with the network talks to: a proxy that reaches the granted names and nothing else.
//!
//! It reads one request of a connection: `CONNECT name:port`, or a request with a whole `http` address. A name is compared
//! with the grant before anything is looked up, so that no question to a name server carries anything away; it is looked up
//! here, and what was checked is what is connected to.

use std::io::{self, Write as _};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::retry_on_intr;
use rustix::net::RecvFlags;

use crate::exec::confinement::Network;
use crate::web::address::is_of_the_web;
use crate::web::network::own_networks;

/// Connections at a time.
const CONNECTIONS: usize = 64;

/// Bytes of the head of a request.
const HEAD: usize = 16 * 1024;

/// How long the head of a request may take.
const HEAD_TIME: Duration = Duration::from_secs(10);

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(15);

/// Serves connections beside everything else, until this process ends.
pub(super) fn serve(listener: TcpListener, granted: Network) -> io::Result<()> {
    let (granted, open) = (Arc::new(granted), Arc::new(AtomicUsize::new(0)));
    let accept = move || {
        for client in listener.incoming() {
            // One too many, and one for which there is no descriptor, are dropped; the program sees a closed connection.
            let Ok(client) = client else {
                thread::sleep(Duration::from_millis(10));
                continue;
            };
            if open.fetch_add(1, Ordering::SeqCst) >= CONNECTIONS {
                open.fetch_sub(1, Ordering::SeqCst);
                continue;
            }
            let (granted, counted) = (Arc::clone(&granted), Arc::clone(&open));
            let one = move || {
                // What went wrong with one connection is the program's to see.
                let _ = serve_one(client, &granted);
                counted.fetch_sub(1, Ordering::SeqCst);
            };
            if thread::Builder::new().spawn(one).is_err() {
                open.fetch_sub(1, Ordering::SeqCst);
            }
        }
    };
    thread::Builder::new().spawn(accept).map(drop)
}

fn serve_one(mut client: TcpStream, granted: &Network) -> io::Result<()> {
    let (head, rest) = head(&mut client)?;
    let connected = read(&head).and_then(|request| Ok((connect(&request, granted)?, request)));
    let (mut server, request) = match connected {
        Ok(connected) => connected,
        Err(why) => {
            let (status, length) = (why.status, why.text.len() + 1);
            return write!(
                client,
                "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{}\n",
                why.text
            );
        }
    };
    match request.forward {
        None => client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?,
        Some(forward) => server.write_all(forward.as_bytes())?,
    }
    server.write_all(&rest)?;
    tunnel(client, server)
}

/// Why a request is not carried out.
#[derive(Debug, PartialEq, Eq)]
struct Refusal {
    status: &'static str,
    text: String,
}

fn refused(text: String) -> Refusal {
    Refusal { status: "403 Forbidden", text }
}

/// Where a request goes.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    host: String,
    port: u16,
    /// The head that goes to the server; none for a tunnel.
    forward: Option<String>,
}

/// Reads the head of a request, and what came after it.
fn head(client: &mut TcpStream) -> io::Result<(String, Vec<u8>)> {
    let until = Instant::now() + HEAD_TIME;
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = bytes.split_off(at + 4);
            return Ok((String::from_utf8_lossy(&bytes).into_owned(), rest));
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || bytes.len() > HEAD {
            return Err(io::ErrorKind::InvalidData.into());
        }
        client.set_read_timeout(Some(left))?;
        // The kernel does not begin a wait with a time limit again by itself after a signal or a stop.
        let count = retry_on_intr(|| rustix::net::recv(&*client, &mut buffer[..], RecvFlags::empty()))?.1;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&buffer[..count]);
    }
}

/// Reads where a request goes.
fn read(head: &str) -> Result<Request, Refusal> {
    let bad = |text: &str| Refusal { status: "400 Bad Request", text: text.to_owned() };
    let (line, headers) = head.split_once("\r\n").ok_or_else(|| bad("a request has a first line"))?;
    let [method, target, version] = line.split(' ').collect::<Vec<_>>()[..] else {
        return Err(bad("the first line has three words"));
    };
    if method == "CONNECT" {
        let (host, port) = host_and_port(target, None).ok_or_else(|| bad("CONNECT needs a name and a port"))?;
        return Ok(Request { host, port, forward: None });
    }
    let address = target.strip_prefix("http://").ok_or_else(|| bad("use CONNECT, or a whole http:// address"))?;
    let (authority, path) = address.split_at(address.find(['/', '?']).unwrap_or(address.len()));
    let (host, port) = host_and_port(authority, Some(80)).ok_or_else(|| bad("the address has no host"))?;
    let slash = if path.starts_with('/') { "" } else { "/" };
    let mut forward = format!("{method} {slash}{path} {version}\r\nHost: {authority}\r\nConnection: close\r\n");
    // One connection is one request: whom a second one is for would not be looked at.
    let own = ["host", "connection", "keep-alive", "proxy-connection", "proxy-authorization"];
    for header in headers.split("\r\n").filter(|header| !header.is_empty()) {
        let name = header.split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
        if !own.contains(&&*name) {
            forward.push_str(header);
            forward.push_str("\r\n");
        }
    }
    forward.push_str("\r\n");
    Ok(Request { host, port, forward: Some(forward) })
}

fn host_and_port(authority: &str, default: Option<u16>) -> Option<(String, u16)> {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port.parse().ok()?)),
        _ => (authority, default),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_ascii_lowercase();
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || ".-_:".contains(letter);
    Some((host, port?)).filter(|(host, _)| !host.is_empty() && host.chars().all(is_name))
}

/// Connects to a granted name.
fn connect(request: &Request, granted: &Network) -> Result<TcpStream, Refusal> {
    let Request { host, port, .. } = request;
    if !granted.admits(host, *port) {
        return Err(refused(format!("`{host}:{port}` is not among the names of `network` under `[exec]`")));
    }
    let gone = |text: String| Refusal { status: "502 Bad Gateway", text };
    let found = (host.as_str(), *port).to_socket_addrs();
    let found: Vec<SocketAddr> = found.map_err(|error| gone(format!("`{host}`: {error}")))?.collect();
    // One that may not be is one too many: the name is not what it says.
    let own = own_networks();
    let may_be = |address: IpAddr| granted.may_lead_to(host, address, is_of_the_web(address, &own));
    if let Some(wrong) = found.iter().find(|address| !may_be(address.ip())) {
        return Err(refused(format!(
            "`{host}` leads to {}, which is not an address of the public web. One of the owner's own network is reached where `also` of `[web]` \
             and `network` of `[exec]` hold the address itself",
            wrong.ip()
        )));
    }
    let connected = found.iter().map(|address| TcpStream::connect_timeout(address, CONNECT));
    let mut last = gone(format!("`{host}` has no address"));
    for connection in connected {
        match connection {
            Ok(connection) => return Ok(connection),
            Err(error) => last = gone(format!("`{host}`: {error}")),
        }
    }
    Err(last)
}

/// Carries bytes both ways until both sides are done.
fn tunnel(client: TcpStream, server: TcpStream) -> io::Result<()> {
    client.set_read_timeout(None)?;
    let (mut from, mut to) = (client.try_clone()?, server.try_clone()?);
    let back = thread::Builder::new().spawn(move || carry(&mut from, &mut to))?;
    let (mut from, mut to) = (server, client);
    carry(&mut from, &mut to);
    // It ends with the connection.
    let _ = back.join();
    Ok(())
}

fn carry(from: &mut TcpStream, to: &mut TcpStream) {
    // Whoever ended tells the other side, in whatever way it ended.
    let _ = io::copy(from, to);
    let _ = to.shutdown(Shutdown::Write);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granted(names: &[&str]) -> Network {
        Network { names: names.iter().map(|name| (*name).to_owned()).collect(), ..Network::default() }
    }

    // SEC-087
    #[test]
    fn a_request_goes_where_its_first_line_says() {
        let tunnel = read("CONNECT Tea.Example.:443 HTTP/1.1\r\nHost: other.example\r\n\r\n").unwrap();
        assert_eq!(tunnel, Request { host: "tea.example".to_owned(), port: 443, forward: None });
        let plain = read("GET http://a.example/x?y HTTP/1.1\r\nHost: b.example\r\nProxy-Connection: x\r\nA: b\r\n\r\n");
        let forward = "GET /x?y HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\nA: b\r\n\r\n".to_owned();
        assert_eq!(plain.unwrap(), Request { host: "a.example".to_owned(), port: 80, forward: Some(forward) });
        for wrong in [
            "GET / HTTP/1.1\r\n\r\n",
            "CONNECT tea.example HTTP/1.1\r\n\r\n",
            "CONNECT a b:443 HTTP/1.1\r\n\r\n",
            "CONNECT me@tea.example:443 HTTP/1.1\r\n\r\n",
            "GET ftp://a.example/ HTTP/1.1\r\n\r\n",
            "GET http://:80/ HTTP/1.1\r\n\r\n",
        ] {
            assert_eq!(read(wrong).unwrap_err().status, "400 Bad Request", "{wrong}");
        }
    }

    // SEC-087 SEC-022
    #[test]
    fn only_granted_names_and_public_addresses_are_connected_to() {
        let to = |host: &str, port| Request { host: host.to_owned(), port, forward: None };
        let granted = granted(&["tea.example", "localhost", "a.example:8080", "127.0.0.1"]);
        for (host, port) in
            [("example", 443), ("x.tea.example", 443), ("tea.example", 8080), ("a.example", 443), ("1.1.1.1", 443)]
        {
            let why = connect(&to(host, port), &granted).unwrap_err();
            assert!(why.text.contains("is not among the names"), "{why:?}");
        }
        for host in ["localhost", "127.0.0.1"] {
            let why = connect(&to(host, 80), &granted).unwrap_err();
            assert!(why.text.contains("not an address of the public web"), "{why:?}");
        }
    }

    // SEC-087 SEC-022
    #[test]
    fn a_name_that_leads_to_the_owners_own_network_is_not_connected_to() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut granted = granted(&[&format!("localhost:{port}"), &format!("127.0.0.1:{port}")]);
        let reaches = |host: &str, granted: &Network| {
            connect(&Request { host: host.to_owned(), port, forward: None }, granted).map(drop)
        };
        let addresses: Vec<IpAddr> = ["127.0.0.1", "::1"].map(|address| address.parse().unwrap()).to_vec();
        granted.also = addresses.clone();
        assert!(reaches("localhost", &granted).unwrap_err().text.contains("not an address of the public web"));
        assert_eq!(reaches("127.0.0.1", &granted), Ok(()));
        // What counts as the public web is reached by any name that is granted.
        granted.also = Vec::new();
        granted.mirrors = addresses;
        assert_eq!(reaches("localhost", &granted), Ok(()));
    }
}
