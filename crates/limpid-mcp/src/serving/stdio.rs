//! Serving over standard input and output.

use std::sync::Arc;

use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{ServerHandler, serve_server};
use tokio::io::{AsyncRead, AsyncWrite};

use super::answering::Answering;
use super::lends::Lends;

/// Bytes of one message of a client; a longer one is refused.
const MESSAGE: usize = 4 * 1024 * 1024;

/// Answers one client until its input ends.
///
/// # Errors
/// That what the client sends first is none of the protocol's beginnings.
pub async fn serve_stdio<R, W>(lends: Arc<dyn Lends>, input: R, output: W) -> Result<(), String>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    serve(Answering::new(lends), input, output).await
}

async fn serve<H, R, W>(handler: H, input: R, output: W) -> Result<(), String>
where
    H: ServerHandler,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let transport = AsyncRwTransport::new_server(input, output).with_max_line_length(MESSAGE);
    match serve_server(handler, transport).await {
        Ok(running) => {
            // It ends with the client's input, whatever the reason is called.
            let _ = running.waiting().await;
            Ok(())
        }
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(ServerInitializeError::ExpectedInitializeRequest(_)) => {
            Err("the client began with something that begins no connection".to_owned())
        }
        Err(error) => Err(error.to_string()),
    }
}
