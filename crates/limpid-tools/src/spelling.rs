//! Texts as rules that hold something back are compared with them: what may be the same to whoever gets it is spelled in one way.

use percent_encoding::percent_decode_str;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

use crate::web::address_of;

/// A text without blanks around it and in small letters; an address without any encoding, with its host as the web has it (`xn--…`), as a
/// rule may have a part of it.
pub(crate) fn ascii_text(text: &str) -> String {
    let text = text.trim();
    plain_address(text).unwrap_or_else(|| text.to_owned()).to_lowercase()
}

/// A text as it is usually compared: without blanks around it, in small letters, each written in one way only; an address without any
/// encoding, and its host in its own letters; a path without steps that lead nowhere.
pub(crate) fn usual_text(text: &str) -> String {
    let text = text.trim();
    let text = plain_address(text).map_or_else(|| plain_path(text), |address| with_own_letters(&address));
    let text: String = text.nfkc().collect();
    text.to_lowercase().nfc().collect()
}

/// A path, or an address that is none of the web, without steps back, empty ones and such as stay where they are; an address without any
/// encoding and without the name of a user, too. Tools of others may take them for the same.
fn plain_path(text: &str) -> String {
    let is_scheme = |scheme: &str| scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let (start, path) = match text.split_once("://").filter(|(scheme, _)| is_scheme(scheme)) {
        Some((scheme, rest)) => {
            let rest = percent_decode_str(rest).decode_utf8_lossy().replace('\\', "/");
            let (host, path) = rest.split_once('/').unwrap_or((&rest, ""));
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            (format!("{scheme}://{host}/"), path.to_owned())
        }
        None => {
            let path = text.replace('\\', "/");
            let start = if path.starts_with('/') { "/" } else { "" };
            (start.to_owned(), path)
        }
    };
    format!("{start}{}", steps(&path))
}

/// The steps of a path, each of which leads on.
fn steps(path: &str) -> String {
    let is_folder = ["/", "/.", "/.."].iter().any(|end| path.ends_with(end));
    let mut taken: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." => drop(taken.pop()),
            step => taken.push(step),
        }
    }
    let end = if is_folder && !taken.is_empty() { "/" } else { "" };
    format!("{}{end}", taken.join("/"))
}

/// An address with its host in its own letters, `bücher.example` for `xn--bcher-kva.example`.
fn with_own_letters(address: &str) -> String {
    let start = address.find("://").map_or(0, |at| at + 3);
    let end = address[start..].find(['/', ':', '?']).map_or(address.len(), |at| start + at);
    let (host, _) = idna::domain_to_unicode(&address[start..end]);
    format!("{}{host}{}", &address[..start], &address[end..])
}

/// Arguments with each value as it is usually compared: texts without blanks around them, in small letters, each written in one way only;
/// addresses without any encoding, and their hosts in their own letters.
pub fn usual_form(arguments: &Value) -> Value {
    form(arguments, usual_text)
}

/// The same with the hosts of addresses as the web has them.
pub fn ascii_form(arguments: &Value) -> Value {
    form(arguments, ascii_text)
}

fn form(arguments: &Value, of_text: fn(&str) -> String) -> Value {
    match arguments {
        Value::String(text) => Value::from(of_text(text)),
        // 7, 7.0 and 70e-1 are one number.
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 => Value::from(format!("{float:.0}")),
            _ => Value::from(number.to_string()),
        },
        Value::Array(items) => items.iter().map(|item| form(item, of_text)).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), form(value, of_text))).collect(),
        other => other.clone(),
    }
}

/// An address without any encoding, with no slash twice, no step back and nothing empty behind its `?`, as rules that hold back are
/// compared with it: most servers give the same for all that look the same so. It may stand for another address, so nothing is fetched by
/// it and no right is read from it.
pub(crate) fn plain_address(url: &str) -> Option<String> {
    let address = address_of(url)?;
    let (start, rest) = address.split_at(address.find("://")? + 3);
    let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let path = decoded(path).replace('\\', "/");
    let (host, path) = path.split_once('/').unwrap_or((&path, ""));
    let (name, port) = host.rsplit_once(':').map_or((host, ""), |(name, _)| (name, &host[name.len()..]));
    // `mail.example.` is `mail.example`.
    let host = format!("{}{port}", name.trim_end_matches('.'));
    // Where a rule's host ends in a star, that stands for the path, too.
    if path.is_empty() && query.is_none() && host.ends_with('*') && !url.trim_end().ends_with('/') {
        return Some(format!("{start}{host}"));
    }
    let path = format!("{host}/{}", steps(path));
    let pairs = query.into_iter().flat_map(|query| query.split('&')).filter(|pair| !pair.is_empty());
    let pairs: Vec<String> = pairs.map(|pair| decoded(&pair.replace('+', " "))).collect();
    let query = if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) };
    Some(format!("{start}{path}{query}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    // SEC-071
    #[test]
    fn letters_are_compared_in_one_way_however_they_are_written() {
        let own = "http://bücher.test:8080/x?q=y";
        for spelled in [
            "http://xn--bcher-kva.test:8080/x?q=y",
            "HTTP://BÜCHER.test:8080/%78?q=y",
            "http://bu\u{308}cher.test:8080/x?q=y",
        ] {
            assert_eq!(usual_text(spelled), own);
        }
        assert_eq!(usual_text("*Bücher.test*"), "*bücher.test*");
        assert_eq!(usual_text(" Tagebu\u{308}cher.md"), "tagebücher.md");
        assert_eq!(usual_text("http://tea.test"), "http://tea.test/");
        for dotted in ["http://tea.test.:8080/x", "http://tea.test..:8080/x"] {
            assert_eq!(usual_text(dotted).as_str(), usual_text("http://tea.test:8080/x"), "{dotted}");
        }
        assert_eq!(usual_text("http://xn--bcher-kva.test."), "http://bücher.test/");
        assert_eq!(ascii_text("http://Bücher.test/TEA"), "http://xn--bcher-kva.test/tea");
    }

    // SEC-071
    #[test]
    fn a_path_is_compared_by_the_steps_that_lead_on() {
        for path in ["/p/./a", "/p//a", "/p/b/../a", "/../p/a", "/P\\a", "/p/\u{ff41}"] {
            assert_eq!(usual_text(path), "/p/a", "{path}");
        }
        for uri in ["note://home/%61", "NOTE://ada@home/./a", "note://home//b/../a"] {
            assert_eq!(usual_text(uri), "note://home/a", "{uri}");
        }
        assert_eq!(usual_text("http://ada@tea.test/%61*"), "http://tea.test/a*");
        assert_eq!(["p/./a/", "./p/a/b/.."].map(usual_text), ["p/a/"; 2]);
        assert_eq!(
            ["no", "a: b", "/", "*/p/*", "http://tea.*"].map(usual_text),
            ["no", "a: b", "/", "*/p/*", "http://tea.*"]
        );
    }
}
