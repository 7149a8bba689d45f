//! Pages of search engines, by the classes of their elements.

use serde::{Deserialize, Serialize};

/// Hits that are looked for at most.
const MOST: usize = 50;

/// A hit of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Where its link leads, as the page writes it.
    pub href: Option<String>,
    /// What its link says, as HTML.
    pub title: String,
    /// What the page says of it, as HTML.
    pub snippet: String,
}

/// The links of a class, each with what the page says of it.
pub(crate) fn hits(html: &str, link: &str, snippet: &str) -> Vec<Found> {
    let mut hits = Vec::new();
    let mut rest = html;
    while hits.len() < MOST
        && let Some((found, behind)) = element(rest, link)
    {
        let here = behind.find(link).map_or(behind, |next| &behind[..next]);
        let said = element(here, snippet).map(|(said, _)| said.text.to_owned()).unwrap_or_default();
        hits.push(Found { href: found.href.map(str::to_owned), title: found.text.to_owned(), snippet: said });
        rest = behind;
    }
    hits
}

/// A link of the page.
struct Link<'h> {
    href: Option<&'h str>,
    text: &'h str,
}

/// The first link of a class, and what stands behind it.
fn element<'h>(html: &'h str, class: &str) -> Option<(Link<'h>, &'h str)> {
    let at = html.find(&format!("class=\"{class}\""))?;
    let start = html[..at].rfind('<')?;
    let open = at + html[at..].find('>')?;
    let tag = &html[start..open];
    let href = tag.find("href=\"").map(|at| &tag[at + "href=\"".len()..]);
    let href = href.and_then(|href| href.split('"').next());
    let end = open + html[open..].find("</a>")?;
    Some((Link { href, text: &html[open + 1..end] }, &html[end..]))
}
