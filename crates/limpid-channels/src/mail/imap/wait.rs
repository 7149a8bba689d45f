//! Waiting for mail with IDLE.

use std::time::Duration;

use async_imap::extensions::idle::IdleResponse;
use limpid_core::mail::Mark;
use tokio::time::Instant;

use super::Imap;
use crate::mail::{MailError, News, Said, tls};

impl Imap<'_> {
    /// Waits until something may have come after the mark, `limit` at most.
    pub(in crate::mail) async fn wait(mut self, mark: Mark, limit: Duration) -> Result<News, MailError> {
        let until = Instant::now() + limit;
        let looked = tokio::time::timeout(tls::WHOLE, self.look(mark)).await;
        if let Some(news) = looked.map_err(|_| tls::unreachable(&self.account.imap, "no answer in a minute"))?? {
            let _ = self.session.logout().await;
            return Ok(news);
        }
        let account = self.account;
        let failed = |error: async_imap::error::Error| MailError::Server {
            server: account.imap.to_string(),
            why: Said::new(error),
        };
        let mut idle = self.session.idle();
        idle.init().await.map_err(failed)?;
        let left = until.saturating_duration_since(Instant::now());
        let news = {
            let (response, _stop) = idle.wait_with_timeout(left);
            // The limit holds for the whole wait, however often the server says that it is still there.
            match tokio::time::timeout(left, response).await {
                Ok(Ok(IdleResponse::NewData(_))) => News::Some,
                Ok(Ok(IdleResponse::Timeout)) | Err(_) => News::None,
                Ok(Ok(IdleResponse::ManualInterrupt)) => {
                    let (server, why) = (account.imap.to_string(), Said::new("it closed the connection"));
                    return Err(MailError::Server { server, why });
                }
                Ok(Err(error)) => return Err(failed(error)),
            }
        };
        // The connection is dropped in any case; a server that is told so is a friendlier one.
        let _ = tokio::time::timeout(tls::CONNECT, async {
            if let Ok(mut session) = idle.done().await {
                let _ = session.logout().await;
            }
        })
        .await;
        Ok(news)
    }

    /// What is known without waiting.
    async fn look(&mut self, mark: Mark) -> Result<Option<News>, MailError> {
        let able = self.session.capabilities().await.map_err(|error| self.failed(&error))?;
        if !able.has_str("IDLE") {
            return Ok(Some(News::Unsupported));
        }
        let folder = self.folder().await?;
        if folder.validity != mark.validity {
            return Ok(Some(News::Some));
        }
        // Only what is there counts: what came and was taken away again would be news for ever.
        let is_behind = folder.highest > mark.uid
            && self
                .search(&format!("UID {}:*", mark.uid.saturating_add(1)))
                .await?
                .into_iter()
                .any(|uid| uid > mark.uid);
        Ok(is_behind.then_some(News::Some))
    }
}
