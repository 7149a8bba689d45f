//! What a button does, and what is said by pressing it.

/// What a button does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Says something.
    Callback(Callback),
    /// Shows or hides the component of this name.
    Toggle(String),
    /// Opens an address.
    OpenUrl(WebLink),
    /// Puts a text where it can be pasted from.
    Copy(String),
}

/// What is said by pressing a button.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callback {
    /// Which one of its answer it is, from 1.
    pub number: usize,
    /// What has happened.
    pub event: String,
    /// What the model wants back with it.
    pub data: Vec<(String, String)>,
    /// The inputs that go with it; no other does.
    pub collect: Vec<String>,
}

/// An address of the web that every reader takes for one at the same host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebLink {
    url: String,
}

impl Callback {
    /// The message, with the values of the inputs that go with it.
    pub(super) fn message(&self, collected: &[(String, String)]) -> String {
        let pairs: Vec<String> =
            self.data.iter().chain(collected).map(|(name, value)| format!("{name}: {value}")).collect();
        if pairs.is_empty() {
            return format!("Pressed: {}", self.event);
        }
        format!("Responded with: {}", pairs.join(", "))
    }
}

impl WebLink {
    /// Takes an address of the web. One with a name before the host, with letters that look like others, or with a sign that
    /// programs disagree about is none.
    ///
    /// ```
    /// use limpid_core::ui::WebLink;
    /// let link = WebLink::new("https://example.com/a?b=ü").unwrap();
    /// assert_eq!((link.short(), link.url()), ("example.com/a?b=%C3%BC", "https://example.com/a?b=%C3%BC"));
    /// for text in ["javascript:alert(1)", "https://bank.example@evil.example", "https:\\\\evil.example", "//evil.example"] {
    ///     assert!(WebLink::new(text).is_none());
    /// }
    /// ```
    pub fn new(text: &str) -> Option<Self> {
        let (scheme, rest) = text.trim().split_once("://")?;
        let scheme = ["http", "https"].into_iter().find(|known| scheme.eq_ignore_ascii_case(known))?;
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (host, port) = authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)));
        let is_host = host.split('.').all(|label| !label.is_empty() && !label.starts_with('-'))
            && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
        if !is_host || port.is_some_and(|port| port.parse::<u16>().is_err()) {
            return None;
        }
        let host = host.to_ascii_lowercase();
        let mut url = format!("{scheme}://{host}");
        port.iter().for_each(|port| url.extend([":", port]));
        for byte in path.bytes() {
            match byte {
                b'!' | b'#'..=b'&' | b'('..=b';' | b'=' | b'?'..=b'[' | b']' | b'_' | b'a'..=b'z' | b'~' => {
                    url.push(char::from(byte));
                }
                byte => url.push_str(&format!("%{byte:02X}")),
            }
        }
        Some(Self { url })
    }

    /// The whole address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The same without what goes without saying, to be shown beside what a button says: all that is sent when it is opened.
    pub fn short(&self) -> &str {
        short_address(&self.url)
    }
}

/// An address without what goes without saying: its scheme, and a path that is empty. Its query stays, as it is sent along.
pub fn short_address(url: &str) -> &str {
    let short = ["https://", "http://", "mailto:"].iter().find_map(|start| url.strip_prefix(start)).unwrap_or(url);
    match short.strip_suffix('/') {
        Some(host) if !host.contains(['/', '?', '#', '@']) => host,
        _ => short,
    }
}

/// Values by name in a text such as `day: Tomorrow, note: two, or three`: one begins where its name stands at the beginning or
/// behind a comma.
pub(super) fn pairs<'a, 'n>(text: &'a str, names: &[&'n str]) -> Vec<(&'n str, &'a str)> {
    let mut begins: Vec<(usize, usize, &'n str)> = Vec::new();
    for name in names.iter().filter(|name| !name.is_empty()) {
        let behind = format!(", {name}:");
        let at = match text.starts_with(&behind[2..]) {
            true => Some((0, behind.len() - 2)),
            false => text.find(&behind).map(|at| (at, behind.len())),
        };
        begins.extend(at.map(|(at, width)| (at, at + width, *name)));
    }
    begins.sort_unstable();
    begins.dedup_by_key(|(at, ..)| *at);
    let ends = begins.iter().skip(1).map(|(at, ..)| *at).chain([text.len()]);
    let value = |from: usize, to: usize| text.get(from..to).unwrap_or_default().trim();
    begins.iter().zip(ends).map(|((_, from, name), to)| (*name, value(*from, to))).collect()
}
