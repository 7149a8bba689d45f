//! What came from the web.

use limpid_core::{Labelled, Sentence, causes};
use limpid_formats::{Broken, Parser};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Response, StatusCode, Url};

/// What came from the web.
#[derive(Clone, Debug)]
pub struct Page {
    /// Where it was at last.
    pub url: Url,
    /// Whether a redirect led over a secret link, or to one.
    pub over_key: bool,
    /// What the server said of it.
    pub status: StatusCode,
    /// Its type: `text/html; charset=utf-8`.
    pub kind: String,
    /// What was read of it.
    pub body: Vec<u8>,
    /// Whether there was more.
    pub cut: bool,
}

/// What came in the place of a page.
#[derive(Clone, Debug)]
pub struct NoPage {
    /// What went wrong.
    pub why: Sentence,
    /// Whether a redirect led over a secret link, or to one, before it did.
    pub over_key: bool,
}

impl From<NoPage> for Sentence {
    fn from(failed: NoPage) -> Self {
        failed.why
    }
}

/// Reads a response up to a size.
pub(super) async fn read(mut response: Response, url: Url, limit: usize) -> Result<Page, Sentence> {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let mut page = Page {
        url,
        over_key: false,
        status: response.status(),
        kind: kind.to_ascii_lowercase(),
        body: Vec::new(),
        cut: false,
    };
    while let Some(chunk) = response.chunk().await.map_err(|error| Labelled::outside(causes(&error.without_url())))? {
        let room = limit - page.body.len();
        page.body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            page.cut = true;
            break;
        }
    }
    Ok(page)
}

impl Page {
    /// Whether the server gave what was asked for.
    pub fn is_ok(&self) -> bool {
        self.status.is_success()
    }

    /// At most so many characters of the page as text, and how many there are.
    ///
    /// # Errors
    /// [`Broken`] when it could not be parsed.
    pub async fn text(self, parser: &Parser, most: usize) -> Result<(String, usize), Broken> {
        parser.page(&self.kind, self.body, self.cut, most).await
    }
}
