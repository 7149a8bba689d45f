//! As much HTTP/1.1 as a test server needs, by hand, because it must also break the rules on purpose.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const MAX_HEAD: usize = 64 * 1024;
const MAX_BODY: usize = 256 * 1024 * 1024;

/// One request as it came.
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// A connection and what was read from it beyond the last request.
pub(crate) struct Connection {
    stream: TcpStream,
    ahead: Vec<u8>,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self { stream, ahead: Vec::new() }
    }

    /// The next request; none when the client is done.
    pub(crate) async fn request(&mut self) -> io::Result<Option<Request>> {
        let Some(end) = self.read_head().await? else { return Ok(None) };
        let head: Vec<u8> = self.ahead.drain(..end + 4).collect();
        let head = String::from_utf8_lossy(&head[..end]).into_owned();
        let mut lines = head.split("\r\n");
        let mut first = lines.next().unwrap_or_default().split(' ');
        let (Some(method), Some(path)) = (first.next(), first.next()) else { return Err(bad("no request line")) };
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let body = self.read_body(&headers).await?;
        Ok(Some(Request { method: method.to_owned(), path: path.to_owned(), headers, body }))
    }

    /// Writes bytes at once.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.stream.flush().await
    }

    /// Waits until the client goes away.
    pub(crate) async fn wait_for_close(&mut self) {
        let mut sink = [0u8; 1024];
        while matches!(self.stream.read(&mut sink).await, Ok(read) if read > 0) {}
    }

    async fn read_head(&mut self) -> io::Result<Option<usize>> {
        loop {
            if let Some(at) = find(&self.ahead, b"\r\n\r\n") {
                return Ok(Some(at));
            }
            if self.ahead.len() > MAX_HEAD {
                return Err(bad("the head is too long"));
            }
            if self.more().await? == 0 {
                return Ok(None);
            }
        }
    }

    async fn read_body(&mut self, headers: &[(String, String)]) -> io::Result<Vec<u8>> {
        let value = |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        if value("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
            return self.read_chunks().await;
        }
        let size = value("content-length").map_or(Ok(0), str::parse).map_err(|_| bad("bad content-length"))?;
        self.take(size).await
    }

    async fn read_chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = loop {
                match find(&self.ahead, b"\r\n") {
                    Some(at) => break at,
                    None if self.more().await? == 0 => return Err(bad("the body broke off")),
                    None => {}
                }
            };
            let size = self.take(line + 2).await?;
            let size = String::from_utf8_lossy(&size);
            let size = size.trim().split(';').next().unwrap_or_default();
            let size = usize::from_str_radix(size, 16).map_err(|_| bad("bad chunk size"))?;
            let chunk = self.take(size + 2).await?;
            if size == 0 {
                return Ok(body);
            }
            body.extend_from_slice(&chunk[..size]);
        }
    }

    async fn take(&mut self, size: usize) -> io::Result<Vec<u8>> {
        if size > MAX_BODY {
            return Err(bad("the body is too long"));
        }
        while self.ahead.len() < size {
            if self.more().await? == 0 {
                return Err(bad("the body broke off"));
            }
        }
        Ok(self.ahead.drain(..size).collect())
    }

    async fn more(&mut self) -> io::Result<usize> {
        let mut buffer = [0u8; 16 * 1024];
        let read = self.stream.read(&mut buffer).await?;
        self.ahead.extend_from_slice(&buffer[..read]);
        Ok(read)
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn bad(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
