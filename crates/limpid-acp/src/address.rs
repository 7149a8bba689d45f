//! The address of a server that an editor named. What is shown, hashed and connected to is one parsed form, never the
//! letters that a project wrote.

use url::Url;

/// Reads an address.
///
/// # Errors
/// What is wrong with it, and what to do.
pub(crate) fn parse(text: &str) -> Result<Url, String> {
    // It may hold a password, so it is not said again.
    let wrong = |why: &str| format!("the address of an MCP server {why}");
    if text.contains(is_misread) {
        return Err(wrong("has a blank, a `\\` or a control character in it. Write the address without."));
    }
    let is_of_web = |url: &Url| matches!(url.scheme(), "http" | "https");
    let Some(url) = Url::parse(text).ok().filter(is_of_web) else {
        return Err(wrong("is not an HTTP address. Use http:// or https://."));
    };
    // A name before the host looks like one.
    if !url.username().is_empty() || url.password().is_some() {
        let host = url.host_str().unwrap_or_default();
        return Err(format!(
            "the address of the MCP server at `{host}` has a name or a password in it. Take it out, and give it as a \
             header."
        ));
    }
    Ok(url)
}

/// The host that an address leads to.
pub(crate) fn host(address: &str) -> Option<String> {
    Url::parse(address).ok()?.host_str().map(str::to_owned)
}

/// Whether whoever reads an address leaves a letter out or reads it as another one, so that it leads elsewhere than it
/// looks.
fn is_misread(letter: char) -> bool {
    letter.is_control() || letter.is_whitespace() || letter == '\\'
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-023 SEC-077
    #[test]
    fn an_address_that_looks_like_another_one_is_refused() {
        for text in [
            "http://api.example\nheader \"X-Client\": \"zed@127.0.0.1:9/\"",
            "http://api.example\theader",
            " http://api.example/",
            "http://api.example/ ",
            "http://api.example/\u{a0}x",
            "http://api.example/\u{7}",
            "http://127.0.0.1:9\\@api.example/",
            "http:\\\\api.example",
            "http://api.example@127.0.0.1:9/",
            "http://api.example%2f@127.0.0.1:9/",
            "http://:secret@api.example/",
            "file:///w/serve.py",
            "ftp://api.example/",
            "api.example",
            "http://",
            "",
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains("MCP server") && !error.contains('\n') && !error.contains("secret"), "{error}");
        }
    }

    // SEC-023 SEC-077
    #[test]
    fn an_address_is_written_out_as_it_is_used() {
        for (text, form, leads_to) in [
            ("https://api.example/mcp?a=b", "https://api.example/mcp?a=b", "api.example"),
            ("HTTP://API.example:80/x/../y", "http://api.example/y", "api.example"),
            ("http://0x7f.1:9/api.example", "http://127.0.0.1:9/api.example", "127.0.0.1"),
            ("http://[::1]:9/", "http://[::1]:9/", "[::1]"),
            ("https://bücher.example/\u{202e}x", "https://xn--bcher-kva.example/%E2%80%AEx", "xn--bcher-kva.example"),
        ] {
            let url = parse(text).unwrap();
            assert_eq!((url.as_str(), host(url.as_str()).as_deref()), (form, Some(leads_to)));
        }
    }
}
