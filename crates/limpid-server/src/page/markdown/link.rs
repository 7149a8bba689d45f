//! Where a link leads: what is shown of its address and what is opened are made from the same parsed form, never from the letters that
//! stood in the text.

use limpid_core::ui::short_address;
use url::Url;

/// An address of the web or of a mail program.
pub(super) struct Address(Url);

impl Address {
    /// Takes an address that names its host, or whom a letter goes to. One that a browser would read as relative leads into this page, and
    /// is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.trim().split_once(':')?;
        let is_of_web = ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
        let is_whole = match is_of_web {
            true => rest.starts_with("//"),
            false => scheme.eq_ignore_ascii_case("mailto") && !rest.is_empty(),
        };
        let mut url = Url::parse(text.trim()).ok().filter(|url| is_whole && url.has_host() == is_of_web)?;
        // A name before the host looks like a host, and is sent along.
        if is_of_web && (url.set_username("").is_err() || url.set_password(None).is_err()) {
            return None;
        }
        Some(Self(url))
    }

    /// The whole address, in letters that look like no others.
    pub(super) fn url(&self) -> &str {
        self.0.as_str()
    }

    /// The same without what goes without saying.
    pub(super) fn short(&self) -> &str {
        short_address(self.0.as_str())
    }

    /// Whether words say the address already.
    pub(super) fn is_said_by(&self, words: &str) -> bool {
        // Words that hold far more say something else. Around them may be any number of blanks, which each link would go through.
        if words.len() > self.url().len() + 64 {
            return false;
        }
        let words = words.trim();
        words == self.url() || words == self.short() || self.url().strip_suffix('/') == Some(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-005 SEC-089
    #[test]
    fn an_address_is_shown_as_it_is_opened() {
        for (text, url, short) in [
            ("https://hotel.example", "https://hotel.example/", "hotel.example"),
            ("HTTP://Hotel.example/a?x=1#b", "http://hotel.example/a?x=1#b", "hotel.example/a?x=1#b"),
            ("http://h\u{43e}tel.example/", "http://xn--htel-55d.example/", "xn--htel-55d.example"),
            ("https://a.example@evil.example/p", "https://evil.example/p", "evil.example/p"),
            ("https:\\\\evil.example/", "", ""),
            ("https://a.example/k\u{e4}se", "https://a.example/k%C3%A4se", "a.example/k%C3%A4se"),
            ("https://a.example/k\u{202e}", "https://a.example/k%E2%80%AE", "a.example/k%E2%80%AE"),
            ("mailto:eve@evil.example?body=4711", "mailto:eve@evil.example?body=4711", "eve@evil.example?body=4711"),
            ("http:/tasks", "", ""),
            ("http:tasks", "", ""),
            ("http:///tasks", "http://tasks/", "tasks"),
            ("//evil.example", "", ""),
            ("/tasks", "", ""),
            ("javascript:alert(1)", "", ""),
            ("mailto:", "", ""),
        ] {
            let address = Address::parse(text);
            let shown = address.as_ref().map_or(("", ""), |address| (address.url(), address.short()));
            assert_eq!(shown, (url, short), "{text}");
        }
    }
}
