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
    let text: String = text.trim().nfkc().collect();
    let of_web = |address: String| {
        let address = with_own_letters(&address);
        // Most servers give the same for both.
        if address.matches('/').count() > 3 { without_end(&address).to_owned() } else { address }
    };
    let text = plain_address(&text).map_or_else(|| plain_path(&text), of_web);
    // What was encoded may be letters that are written in several ways.
    letters(&text)
}

/// A text with its letters written in one way, and nothing read from them: what a path or an address is made of is words to others.
pub(crate) fn letters(text: &str) -> String {
    let text: String = text.trim().nfkc().collect();
    text.to_lowercase().nfc().collect()
}

/// A path, or an address that is none of the web, without steps back, empty ones and such as stay where they are; an address without any
/// encoding, without the name of a user and what stands behind `#`, too. Tools of others may take them for the same.
fn plain_path(text: &str) -> String {
    let is_scheme =
        |scheme: &&str| scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let scheme = text.split_once(":/").map(|(scheme, _)| scheme).filter(is_scheme);
    let Some(scheme) = scheme else {
        let path = text.replace('\\', "/");
        return match path.strip_prefix('/') {
            Some(below) => format!("/{}", without_end(&steps(below, true))),
            None => without_end(&steps(&path, false)).to_owned(),
        };
    };
    let rest = text[scheme.len() + 1..].split('#').next().unwrap_or_default();
    let rest = percent_decode_str(rest.strip_suffix('?').unwrap_or(rest)).decode_utf8_lossy().replace('\\', "/");
    let (host, path) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path))),
        // `file:/a` is `file:///a`.
        None => ("", Some(rest.as_str())),
    };
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = if host.eq_ignore_ascii_case("localhost") { "" } else { host };
    match path {
        // Where a rule's host ends in a star, that stands for the path, too.
        None if host.ends_with('*') => format!("{scheme}://{host}"),
        path => format!("{scheme}://{host}/{}", without_end(&steps(path.unwrap_or_default(), true))),
    }
}

/// A path without the `/` of a folder: many tools take it for the same.
fn without_end(path: &str) -> &str {
    path.strip_suffix('/').unwrap_or(path)
}

/// The steps of a path, each of which leads on; those of a rule with stars stay as they are where one would lead back from a star.
fn steps(path: &str, from_root: bool) -> String {
    let leads_nowhere = |step: &str| step == "." || step == "..";
    if path.contains('*') && path.split('/').any(leads_nowhere) {
        return path.to_owned();
    }
    let is_folder = ["/", "/.", "/.."].iter().any(|end| path.ends_with(end));
    let mut taken: Vec<&str> = Vec::new();
    for step in path.split('/') {
        match step {
            "" | "." => {}
            ".." if taken.last().is_none_or(|last| *last == "..") => taken.extend((!from_root).then_some("..")),
            ".." => drop(taken.pop()),
            step => taken.push(step),
        }
    }
    if taken.is_empty() && !from_root && !path.is_empty() {
        return ".".to_owned();
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

/// Arguments with each value as it is usually compared: texts without blanks around them, in small letters, each written in one way only
/// (NFKC); addresses without any encoding, and their hosts in their own letters; paths without steps that lead nowhere.
pub fn usual_form(arguments: &Value) -> Value {
    form(arguments, usual_text)
}

/// Arguments with texts in small letters alone, and the hosts of addresses as the web has them; paths stay as they are.
pub fn ascii_form(arguments: &Value) -> Value {
    form(arguments, ascii_text)
}

/// Arguments with their letters written in one way, and nothing else of them changed.
pub fn letters_form(arguments: &Value) -> Value {
    form(arguments, letters)
}

fn form(arguments: &Value, of_text: fn(&str) -> String) -> Value {
    match arguments {
        Value::String(text) => Value::from(of_text(text)),
        // 7, 7.0 and 70e-1 are one number.
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 => Value::from(format!("{:.0}", float + 0.0)),
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
    let path = format!("{host}/{}", steps(path, true));
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
        for path in ["/p/./a", "/p/a/", "/p/a/.", "/p//a", "/p/b/../a", "/../p/a", "/P\\a", "/p/\u{ff41}"] {
            assert_eq!(usual_text(path), "/p/a", "{path}");
        }
        for uri in [
            "note://home/a/",
            "note://home/a#x",
            "note://home/a?",
            "note://home/%61",
            "NOTE://ada@home/./a",
            "note://home//b/../a",
        ] {
            assert_eq!(usual_text(uri), "note://home/a", "{uri}");
        }
        for uri in ["file:/srv/a", "file://localhost/srv/a", "file:///srv/a/."] {
            assert_eq!(usual_text(uri), "file:///srv/a", "{uri}");
        }
        assert_eq!(["http://tea.test/a/", "http://tea.test/a"].map(usual_text), ["http://tea.test/a"; 2]);
        // A step back takes no word out of what is compared.
        assert_eq!(letters("\u{ff21}o\u{308} /../"), "aö /../");
        assert_eq!(usual_form(&serde_json::json!([-0.0, 0])), serde_json::json!(["0", "0"]));
        assert_eq!(usual_text("http://ada@tea.test/%61*"), "http://tea.test/a*");
        assert_eq!(["p/./a/", "./p/a/b/..", "p/a/."].map(usual_text), ["p/a"; 3]);
        assert_eq!(["a\u{ff0f}\u{ff0e}\u{ff0e}/b", "./b", "b"].map(usual_text), ["b"; 3]);
        // What is no path, what leads out, and the stars of a rule stay.
        for text in
            ["no", "a: b", "/", "../b", "../../b", ".", "", "*/p/*", "../*", "./*", "*/../*", "*/..", "note://home*"]
        {
            assert_eq!(usual_text(text), text);
        }
        assert_eq!(["note://h%6fme*", "http://tea.*"].map(usual_text), ["note://home*", "http://tea.*"]);
    }
}
