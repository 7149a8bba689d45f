//! Pages of the web as text that can be read.

use encoding_rs::{Encoding, UTF_8};

use crate::depth::TooDeep;
use crate::html::{bare, readable};

/// Columns of text made from HTML. Lines are not broken for the sake of a screen.
const WIDTH: usize = 500;

/// Bytes at the beginning of a page that are looked through for its encoding.
const HEAD: usize = 1024;

/// A page as text: HTML made readable, JSON indented, other text as it is; anything else by its type and size. `cut` says
/// whether there was more.
///
/// # Errors
/// [`TooDeep`].
pub(crate) fn text(whole_kind: &str, body: &[u8], cut: bool) -> Result<String, TooDeep> {
    let kind = whole_kind.split(';').next().unwrap_or_default().trim();
    let text = decoded(whole_kind, body);
    let looks_like_html = || text.trim_start().get(..1) == Some("<") && text.to_ascii_lowercase().contains("<html");
    Ok(match kind {
        "text/html" | "application/xhtml+xml" => page(&text)?,
        "" | "application/octet-stream" if looks_like_html() => page(&text)?,
        kind if kind == "application/json" || kind.ends_with("+json") => indented(&text),
        kind if kind.starts_with("text/") || kind.ends_with("+xml") => text,
        "application/xml" | "application/javascript" | "application/x-ndjson" | "application/yaml" => text,
        "" if !body.contains(&0) => text,
        kind => {
            let kind = if kind.is_empty() { "of no known type" } else { kind };
            let more = if cut { "more than " } else { "" };
            format!("This is no text: {kind}, {more}{} bytes.", body.len())
        }
    })
}

/// The body in the encoding that it names: in its type, in a mark at its beginning, or in HTML.
fn decoded(kind: &str, body: &[u8]) -> String {
    let label = |text: &str| {
        let at = text.find("charset=")? + "charset=".len();
        let rest = text[at..].trim_start_matches(['"', '\'']);
        let end = rest.find(|c: char| c.is_whitespace() || "\"';>/".contains(c)).unwrap_or(rest.len());
        Encoding::for_label(&rest.as_bytes()[..end])
    };
    let head = &body[..body.len().min(HEAD)];
    let within = || label(&String::from_utf8_lossy(head).to_ascii_lowercase());
    let encoding = label(kind).or_else(within).unwrap_or(UTF_8);
    encoding.decode(body).0.into_owned()
}

/// A page with its title before it.
fn page(html: &str) -> Result<String, TooDeep> {
    let text = readable(html, WIDTH)?;
    let title = title(html)?.filter(|title| !text.contains(title.as_str()));
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
    Ok(out.trim_end().to_owned())
}

fn title(html: &str) -> Result<Option<String>, TooDeep> {
    let lower = html.to_ascii_lowercase();
    let within = || {
        let open = lower.find("<title")?;
        let start = open + lower[open..].find('>')? + 1;
        Some(&html[start..start + lower[start..].find("</title")?])
    };
    let title = within().map(bare).transpose()?;
    Ok(title.filter(|title| !title.is_empty()))
}

fn indented(text: &str) -> String {
    let value: Result<serde_json::Value, _> = serde_json::from_str(text);
    value.and_then(|value| serde_json::to_string_pretty(&value)).unwrap_or_else(|_| text.to_owned())
}
