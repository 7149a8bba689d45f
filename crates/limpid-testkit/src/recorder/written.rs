//! Replies as bytes on a connection.

use std::io;
use std::time::Duration;

use limpid_model::script::{Hang, Reply};

use crate::http::Connection;
use crate::wire::Wire;

/// Writes one reply; true when the connection may be used again.
pub(super) async fn answer(
    connection: &mut Connection,
    reply: &Reply,
    wire: Option<Wire>,
    model: &str,
) -> io::Result<bool> {
    if reply.hang == Some(Hang::Start) {
        connection.wait_for_close().await;
        return Ok(false);
    }
    pause(reply.delay_ms).await;
    let status = reply.status.unwrap_or(200);
    let (pieces, end, content_type) = match (&reply.raw, wire) {
        (Some(raw), _) => (vec![raw.clone()], Vec::new(), "text/event-stream"),
        (None, Some(wire)) if !reply.is_error() => {
            let spoken = wire.speak(reply, model);
            (spoken.pieces, spoken.end, wire.content_type())
        }
        _ => (vec![reply.body.clone()], Vec::new(), "application/json"),
    };
    let retry = reply.retry_after.map(|seconds| format!("retry-after: {seconds}\r\n")).unwrap_or_default();
    let content_type = reply.content_type.as_deref().unwrap_or(content_type);
    let head = format!(
        "HTTP/1.1 {status} Scripted\r\ncontent-type: {content_type}\r\n{retry}transfer-encoding: chunked\r\n\r\n"
    );
    connection.write(head.as_bytes()).await?;

    let mut budget = reply.cut.unwrap_or(usize::MAX);
    let end = if reply.hang == Some(Hang::End) { Vec::new() } else { end };
    for (at, piece) in pieces.iter().chain(&end).enumerate() {
        if at > 0 {
            pause(reply.between_ms).await;
        }
        let comment = if reply.comments { wire.map_or("", Wire::comment) } else { "" };
        let text = format!("{comment}{piece}");
        let left = &text.as_bytes()[..text.len().min(budget)];
        budget -= left.len();
        for chunk in left.chunks(reply.piece.unwrap_or(usize::MAX).max(1)) {
            connection.write(format!("{:x}\r\n", chunk.len()).as_bytes()).await?;
            connection.write(chunk).await?;
            connection.write(b"\r\n").await?;
        }
        if budget == 0 {
            return Ok(false);
        }
    }
    if reply.hang == Some(Hang::End) {
        connection.wait_for_close().await;
        return Ok(false);
    }
    connection.write(b"0\r\n\r\n").await?;
    Ok(true)
}

async fn pause(milliseconds: u64) {
    if milliseconds > 0 {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    }
}
