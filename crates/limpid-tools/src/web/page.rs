//! What came from the web, as text that can be read.

use encoding_rs::{Encoding, UTF_8};
use limpid_core::{Labelled, Sentence, causes};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Response, StatusCode, Url};

/// Columns of text made from HTML. Lines are not broken for the sake of a screen.
const WIDTH: usize = 500;

/// How deep elements may nest.
const MOST_DEPTH: usize = 512;

/// Bytes at the beginning of a page that are looked through for its encoding.
const HEAD: usize = 1024;

/// What came from the web.
#[derive(Clone, Debug)]
pub struct Page {
    /// Where it was at last.
    pub url: Url,
    /// What the server said of it.
    pub status: StatusCode,
    /// Its type: `text/html; charset=utf-8`.
    pub kind: String,
    /// What was read of it.
    pub body: Vec<u8>,
    /// Whether there was more.
    pub cut: bool,
}

/// Reads a response up to a size.
pub(super) async fn read(mut response: Response, url: Url, limit: usize) -> Result<Page, Sentence> {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let mut page =
        Page { url, status: response.status(), kind: kind.to_ascii_lowercase(), body: Vec::new(), cut: false };
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

    /// The page as text: HTML made readable, JSON indented, other text as it is; anything else by its type and size.
    pub fn text(&self) -> String {
        let kind = self.kind.split(';').next().unwrap_or_default().trim();
        let text = self.decoded();
        let looks_like_html = || text.trim_start().get(..1) == Some("<") && text.to_ascii_lowercase().contains("<html");
        match kind {
            "text/html" | "application/xhtml+xml" => readable(&text),
            "" | "application/octet-stream" if looks_like_html() => readable(&text),
            kind if kind == "application/json" || kind.ends_with("+json") => indented(&text),
            kind if kind.starts_with("text/") || kind.ends_with("+xml") => text,
            "application/xml" | "application/javascript" | "application/x-ndjson" | "application/yaml" => text,
            "" if !self.body.contains(&0) => text,
            kind => {
                let kind = if kind.is_empty() { "of no known type" } else { kind };
                let more = if self.cut { "more than " } else { "" };
                format!("This is no text: {kind}, {more}{} bytes.", self.body.len())
            }
        }
    }

    /// The body in the encoding that it names: in its type, in a mark at its beginning, or in HTML.
    fn decoded(&self) -> String {
        let label = |text: &str| {
            let at = text.find("charset=")? + "charset=".len();
            let rest = text[at..].trim_start_matches(['"', '\'']);
            let end = rest.find(|c: char| c.is_whitespace() || "\"';>/".contains(c)).unwrap_or(rest.len());
            Encoding::for_label(&rest.as_bytes()[..end])
        };
        let head = &self.body[..self.body.len().min(HEAD)];
        let within = || label(&String::from_utf8_lossy(head).to_ascii_lowercase());
        let encoding = label(&self.kind).or_else(within).unwrap_or(UTF_8);
        encoding.decode(&self.body).0.into_owned()
    }
}

/// HTML as text that can be read: headings, lists, links and tables stay, scripts and styles go.
fn readable(html: &str) -> String {
    // A parser of deeply nested elements needs a stack as deep, and time that grows with the square of it.
    if is_too_deep(html) {
        return format!("This page nests its elements more than {MOST_DEPTH} deep, and is not read.");
    }
    let text =
        html2text::config::plain().no_table_borders().max_wrap_width(WIDTH).string_from_read(html.as_bytes(), WIDTH);
    let text = text.unwrap_or_else(|_| html.to_owned());
    let title = title(html).filter(|title| !text.contains(title.as_str()));
    let mut out = title.map(|title| format!("{title}\n\n")).unwrap_or_default();
    let mut blank = true;
    for line in text.lines().map(str::trim_end) {
        // One blank line parts as well as five.
        if !(line.is_empty() && blank) {
            out.push_str(line);
            out.push('\n');
        }
        blank = line.is_empty();
    }
    out.trim_end().to_owned()
}

/// Whether the elements of a page nest deeper than is read, by its tags alone. A tag that closes nothing which is open is
/// ignored, as browsers do.
fn is_too_deep(html: &str) -> bool {
    let mut open: Vec<&str> = Vec::new();
    for (at, _) in html.match_indices('<') {
        let tag = &html[at + 1..];
        let (closes, tag) = tag.strip_prefix('/').map_or((false, tag), |tag| (true, tag));
        let name = &tag[..tag.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(tag.len())];
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || is_void(name) {
            continue;
        }
        if !closes {
            open.push(name);
            if open.len() > MOST_DEPTH {
                return true;
            }
        } else if let Some(at) = open.iter().rposition(|opened| opened.eq_ignore_ascii_case(name)) {
            open.truncate(at);
        }
    }
    false
}

/// Whether an element has nothing inside, or is one whose end is often left out.
fn is_void(name: &str) -> bool {
    const NAMES: [&str; 22] = [
        "area", "base", "br", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link", "meta", "option", "p",
        "source", "td", "th", "tr", "track", "wbr", "tbody",
    ];
    NAMES.iter().any(|void| void.eq_ignore_ascii_case(name))
}

/// A piece of HTML on one line, without any marks.
pub(crate) fn bare(html: &str) -> String {
    let text = html2text::config::plain_no_decorate().string_from_read(html.as_bytes(), WIDTH);
    text.unwrap_or_else(|_| html.to_owned()).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn title(html: &str) -> Option<String> {
    let lower = html.to_ascii_lowercase();
    let open = lower.find("<title")?;
    let start = open + lower[open..].find('>')? + 1;
    let end = start + lower[start..].find("</title")?;
    Some(bare(&html[start..end])).filter(|title| !title.is_empty())
}

fn indented(text: &str) -> String {
    let value: Result<serde_json::Value, _> = serde_json::from_str(text);
    value.and_then(|value| serde_json::to_string_pretty(&value)).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-091
    #[test]
    fn a_page_is_too_deep_by_its_open_elements_only() {
        assert!(!is_too_deep(&"<div><p>x<br><li>y</div>".repeat(2000)));
        assert!(!is_too_deep(&"<DIV></div>".repeat(2000)));
        for opened in ["<div>", "<div></p></li>", "<div></span>", "<blockquote class='a'>", "<table><tr><td>"] {
            assert!(is_too_deep(&opened.repeat(600)), "{opened}");
        }
        assert!(!is_too_deep("a < b <- c <3 </ <"));
    }
}
