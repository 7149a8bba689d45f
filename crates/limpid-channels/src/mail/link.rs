//! The bytes between an account and its servers. There is no connection without a bound: what a server says is counted where it comes
//! in, before any protocol holds it, since neither library of mail has a limit of its own.

use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::{fmt, io};

use lettre::transport::smtp::client::AsyncTokioStream;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes of a letter that are fetched at most.
pub(super) const LETTER: u32 = 10 * 1024 * 1024;

/// Bytes that an IMAP server may say in one connection: several times the largest letter, and the numbers of the fullest folder.
const IMAP_ALL: usize = 64 * 1024 * 1024;

/// Bytes of one of its answers without letters: the numbers of some 200 000 of them stand in one line. Its library parses a line anew each
/// time that more of it comes, so a longer one costs too much.
const IMAP_LINE: usize = 2 * 1024 * 1024;

/// Brackets that one of its answers may open in all. The library may go one call deeper with each, and nothing that is asked for has more
/// than a few. Which of them are closed is not counted: what stands in quotes would have to be told apart as the library does it.
const IMAP_OPENED: usize = 64;

/// Bytes that an SMTP server may say in one connection, and in one line. Its library reads an answer anew with each line of it.
const SMTP_ALL: usize = 64 * 1024;
const SMTP_LINE: usize = 8 * 1024;

/// What is spoken over a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Imap,
    Smtp,
}

/// Bytes that come and go, whatever secures them.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + Sync + fmt::Debug {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send + Sync + fmt::Debug> Stream for T {}

/// A connection that breaks off once the server says more than is ever asked.
#[derive(Debug)]
pub(super) struct Link {
    stream: Box<dyn Stream>,
    protocol: Protocol,
    heard: Heard,
    /// What is read before anything that the server says.
    before: &'static [u8],
}

impl Link {
    pub(super) fn new(protocol: Protocol, stream: impl Stream + 'static) -> Self {
        Self { stream: Box::new(stream), protocol, heard: Heard::default(), before: b"" }
    }

    /// The bytes without the bound, for whoever makes another connection of them, and what is spoken.
    pub(super) fn into_parts(self) -> (Protocol, Box<dyn Stream>) {
        (self.protocol, self.stream)
    }

    /// The same, greeted: an SMTP server greets once, before STARTTLS, and the library that goes on afterwards waits for it again.
    pub(super) fn greeted(self) -> Self {
        Self { before: b"220 secured\r\n", ..self }
    }
}

impl AsyncRead for Link {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if !this.before.is_empty() {
            let (now, later) = this.before.split_at(this.before.len().min(buf.remaining()));
            buf.put_slice(now);
            this.before = later;
            return Poll::Ready(Ok(()));
        }
        let known = buf.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(cx, buf))?;
        let heard = this.heard.hear(this.protocol, &buf.filled()[known..]);
        // Whoever gets an error has read nothing.
        heard.inspect_err(|_| buf.set_filled(known))?;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Link {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl AsyncTokioStream for Link {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        // Nobody asks who is at the other end: the server was named when it was connected to.
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// How much was heard. An IMAP answer is a line; where it is about a letter (`* 7 FETCH (…`), literals may stand in it, such as letters:
/// `{5}`, a line break, five bytes. Elsewhere what looks like one is counted as part of the line.
#[derive(Debug, Default)]
struct Heard {
    all: usize,
    /// Bytes of the answer so far, without its literals.
    line: usize,
    /// Bytes of its literals.
    literals: usize,
    /// Bytes of the literal that are still to come.
    left: usize,
    announced: Announced,
    /// Whether the answer begins as one about a letter does, as far as it was heard.
    is_of_letter: bool,
    /// Brackets that were opened in it.
    opened: usize,
}

/// The end of what was heard, as far as it may announce a literal.
#[derive(Clone, Copy, Debug, Default)]
enum Announced {
    #[default]
    Nothing,
    /// After `{` and some digits.
    Size(usize),
    /// After `}`.
    Literal(usize),
}

impl Heard {
    /// Counts what came.
    ///
    /// # Errors
    /// What is too long.
    fn hear(&mut self, protocol: Protocol, mut bytes: &[u8]) -> io::Result<()> {
        let (all, line) = match protocol {
            Protocol::Imap => (IMAP_ALL, IMAP_LINE),
            Protocol::Smtp => (SMTP_ALL, SMTP_LINE),
        };
        self.all = self.all.saturating_add(bytes.len());
        if self.all > all {
            return Err(too_much("it says more than is ever asked in one connection"));
        }
        while let Some((byte, after)) = bytes.split_first() {
            if self.left > 0 {
                let within = self.left.min(bytes.len());
                self.left -= within;
                bytes = &bytes[within..];
                continue;
            }
            bytes = after;
            self.line += 1;
            match protocol {
                Protocol::Imap => self.announced = self.answer(*byte)?,
                Protocol::Smtp if *byte == b'\n' => self.line = 0,
                Protocol::Smtp => {}
            }
            if self.line > line || self.literals > LETTER as usize {
                return Err(too_much("it gives an answer that is longer than any that is asked for"));
            }
        }
        Ok(())
    }

    /// Goes on by one byte of an answer.
    ///
    /// # Errors
    /// What no answer has that is asked for.
    fn answer(&mut self, byte: u8) -> io::Result<Announced> {
        match self.line {
            1 => self.is_of_letter = byte == b'*',
            2 => self.is_of_letter &= byte == b' ',
            3 => self.is_of_letter &= byte.is_ascii_digit(),
            _ => {}
        }
        self.opened += usize::from(byte == b'(');
        if self.opened > IMAP_OPENED {
            return Err(too_much("it gives an answer with more brackets than any that is asked for"));
        }
        Ok(match (byte, self.announced) {
            (b'{', _) => Announced::Size(0),
            (b'0'..=b'9', Announced::Size(size)) => {
                Announced::Size(size.saturating_mul(10).saturating_add(usize::from(byte - b'0')))
            }
            (b'}', Announced::Size(size)) => Announced::Literal(size),
            (b'\r', announced @ Announced::Literal(_)) => announced,
            // The library makes room for it at once, wherever it stands.
            (b'\n', Announced::Literal(size)) if !self.is_of_letter && size > IMAP_LINE => {
                return Err(too_much("it announces more than is ever asked for"));
            }
            (b'\n', Announced::Literal(size)) if self.is_of_letter => {
                self.left = size;
                self.literals = self.literals.saturating_add(size);
                Announced::Nothing
            }
            // Where the library takes it for a literal all the same, its answer goes on.
            (b'\n', Announced::Literal(_)) => Announced::Nothing,
            (b'\n', _) => {
                (self.line, self.literals, self.opened) = (0, 0, 0);
                Announced::Nothing
            }
            _ => Announced::Nothing,
        })
    }
}

fn too_much(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// Whether a server may say all of this, in pieces of 4 KiB.
    fn may_say(protocol: Protocol, said: &[&[u8]]) -> bool {
        let mut heard = Heard::default();
        said.concat().chunks(4096).all(|piece| heard.hear(protocol, piece).is_ok())
    }

    // SEC-093
    #[test]
    fn a_server_says_letters_and_long_lists_and_no_line_without_an_end() {
        let (letter, long) = (vec![b'a'; LETTER as usize], vec![b'a'; IMAP_LINE]);
        let announced = format!("* 1 FETCH (BODY[] {{{LETTER}}}\r\n").into_bytes();
        let fetched = [announced.as_slice(), letter.as_slice(), b")\r\n"].concat();
        assert!(may_say(Protocol::Imap, &[&fetched, &fetched, b"* OK\r\n"]));
        assert!(may_say(Protocol::Imap, &[&long[2..], b"\r\n", &long[2..], b"\r\n"]));
        assert!(!may_say(Protocol::Imap, &[b"* OK ", &long]), "a line");
        assert!(!may_say(Protocol::Imap, &[b"* 1 FETCH (BODY[] {10485761}\r\n"]), "a literal");
        assert!(!may_say(Protocol::Imap, &[b"* 1 FETCH (BODY[] {99999999999999999999999}\r\n"]), "any number");
        assert!(!may_say(Protocol::Imap, &[&announced, &letter, b" BODY[] {1}\r\n"]), "two literals");
        assert!(!may_say(Protocol::Imap, &[b"* OK {530000000}\r\n"]), "room for nothing");
        assert!(!may_say(Protocol::Imap, &[b"* OK {10485760}\r\n", &long, b"a"]), "no literal stands in a text");
        assert!(
            !may_say(Protocol::Imap, &[b"* 1 FETCH (BODYSTRUCTURE ", &[b'('; IMAP_OPENED]]),
            "brackets without an end"
        );
        assert!(may_say(Protocol::Imap, &[&b"* 1 FETCH (FLAGS (\\Seen) UID 7)\r\n".repeat(IMAP_OPENED)]));
        let in_quotes = b"((\"A\" \")))\" NIL NIL NIL \"7BIT\" 1)".repeat(IMAP_OPENED);
        assert!(!may_say(Protocol::Imap, &[b"* 1 FETCH (BODYSTRUCTURE ", &in_quotes]), "closed in quotes");
        let small = b" {1}\r\nx".repeat(IMAP_LINE / 6);
        assert!(!may_say(Protocol::Imap, &[b"* 1 FETCH (", &small]), "an answer without an end");
        let lines = b"* OK\r\n".repeat(IMAP_ALL / 6 + 1);
        assert!(!may_say(Protocol::Imap, &[&lines]), "all of it");
    }

    // SEC-093
    #[test]
    fn a_server_that_takes_letters_says_short_lines_and_not_many() {
        assert!(may_say(Protocol::Smtp, &[b"220 ready {900000}\r\n250 ok\r\n"]));
        assert!(!may_say(Protocol::Smtp, &[b"220 ", &[b'a'; SMTP_LINE]]));
        assert!(!may_say(Protocol::Smtp, &[b"220 {900000}\r\n", &[b'a'; SMTP_LINE + 1]]), "it knows no literals");
        assert!(!may_say(Protocol::Smtp, &[&b"250-ok\r\n".repeat(SMTP_ALL / 8 + 1)]));
    }

    // SEC-093
    #[tokio::test]
    async fn a_connection_breaks_off_where_too_much_is_said() {
        let (mut server, client) = tokio::io::duplex(SMTP_ALL);
        server.write_all(&[b'a'; SMTP_LINE + 1]).await.unwrap();
        let mut link = Link::new(Protocol::Smtp, client);
        let error = link.read_to_end(&mut Vec::new()).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");

        let (mut server, client) = tokio::io::duplex(100);
        server.write_all(b"250 ok\r\n").await.unwrap();
        drop(server);
        let mut said = String::new();
        Link::new(Protocol::Smtp, client).greeted().read_to_string(&mut said).await.unwrap();
        assert_eq!(said, "220 secured\r\n250 ok\r\n");
    }
}
