//! The streams of an editor as lines, each with one message.

use std::io;

use futures_util::{Sink, Stream, sink, stream};
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio_util::sync::CancellationToken;

/// Bytes of the longest line. A prompt with attached files is one.
const LONGEST: usize = 32 * 1024 * 1024;

/// How a stream fails that nobody reads any more.
const GONE: [io::ErrorKind; 4] = [
    io::ErrorKind::BrokenPipe,
    io::ErrorKind::ConnectionReset,
    io::ErrorKind::ConnectionAborted,
    io::ErrorKind::NotConnected,
];

/// The lines that come in. One that is too long or no text is skipped; a line in its place says so, which is no message either and
/// is answered as such.
pub(crate) fn incoming(
    input: impl AsyncRead + Unpin + Send + 'static,
) -> impl Stream<Item = io::Result<String>> + Send + 'static {
    stream::unfold(BufReader::new(input), |mut input| async move {
        match line(&mut input, LONGEST).await {
            Ok(None) => None,
            Ok(Some(line)) => Some((Ok(line), input)),
            Err(error) => Some((Err(error), input)),
        }
    })
}

/// Where lines go out. Each is flushed. An editor that reads no more has gone, which is no failure: it cancels `gone`.
pub(crate) fn outgoing(
    output: impl AsyncWrite + Unpin + Send + 'static,
    gone: CancellationToken,
) -> impl Sink<String, Error = io::Error> + Send + 'static {
    sink::unfold((output, gone), |(mut output, gone), mut line: String| async move {
        line.push('\n');
        let written = async {
            output.write_all(line.as_bytes()).await?;
            output.flush().await
        };
        match written.await {
            Err(error) if GONE.contains(&error.kind()) => gone.cancel(),
            written => written?,
        }
        Ok((output, gone))
    })
}

/// The next line without its end; none at the end of the input. No more than `longest` bytes of it are kept.
async fn line(input: &mut (impl AsyncBufRead + Unpin), longest: usize) -> io::Result<Option<String>> {
    let (mut kept, mut length) = (Vec::new(), 0_usize);
    loop {
        let read = input.fill_buf().await?;
        if read.is_empty() && length == 0 {
            return Ok(None);
        }
        let end = read.iter().position(|byte| *byte == b'\n');
        let part = &read[..end.unwrap_or(read.len())];
        length += part.len();
        if length <= longest {
            kept.extend_from_slice(part);
        } else {
            kept = Vec::new();
        }
        let (is_last, used) = (read.is_empty() || end.is_some(), part.len() + usize::from(end.is_some()));
        input.consume(used);
        // An empty line has length 0 and is no end of the input.
        if is_last && (length > 0 || end.is_some()) {
            break;
        }
    }
    if length > longest {
        return Ok(Some(format!("a line of {length} bytes, which is more than {longest}")));
    }
    Ok(Some(String::from_utf8(kept).unwrap_or_else(|_| format!("a line of {length} bytes that is not UTF-8"))))
}

#[cfg(test)]
mod tests {
    use futures_util::SinkExt as _;

    use super::*;

    #[tokio::test]
    async fn an_editor_that_reads_no_more_has_gone() {
        let (ours, theirs) = tokio::io::duplex(64);
        let gone = CancellationToken::new();
        let mut lines = Box::pin(outgoing(theirs, gone.clone()));
        lines.send("{}".to_owned()).await.unwrap();
        assert!(!gone.is_cancelled());
        drop(ours);
        lines.send("{}".to_owned()).await.unwrap();
        assert!(gone.is_cancelled());
    }

    #[tokio::test]
    async fn lines_that_are_too_long_or_no_text_are_skipped_and_said() {
        let mut input: &[u8] = b"{}\n\n0123456789\r\n01234567890123456789\nab\xff\nlast";
        let mut lines = Vec::new();
        while let Some(line) = line(&mut input, 12).await.unwrap() {
            lines.push(line);
        }
        assert_eq!(
            lines,
            [
                "{}",
                "",
                "0123456789\r",
                "a line of 20 bytes, which is more than 12",
                "a line of 3 bytes that is not UTF-8",
                "last"
            ]
        );
    }
}
