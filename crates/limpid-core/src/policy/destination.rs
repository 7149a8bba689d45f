//! Where a call leads, as the tool that makes it will use it, and which rules are about that.

use std::collections::BTreeSet;
use std::fmt;

use super::hosts::{Scheme, Server, host_matches};

/// Where a call leads. A tool makes it of the very values that it uses, so what is judged and shown is where the call goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A server.
    Host {
        /// Whether it is asked over http, where whoever is on the way reads along and answers in its place.
        in_clear: bool,
        /// Its name or address.
        name: String,
        /// Its port; none where it is the usual one.
        port: Option<u16>,
    },
    /// Everybody who gets a message.
    People {
        /// The account that it comes from, where there is more than one.
        from: Option<String>,
        /// Who gets it.
        to: BTreeSet<String>,
    },
    /// A phone number: digits, with or without a plus.
    Phone(String),
    /// What has one name only: a device, a program, a chat.
    Place(String),
    /// A program that may be a stranger's, and everything that it may send to.
    Program {
        /// The program.
        program: String,
        /// Names of hosts, each with its port where that is not a usual one.
        hosts: BTreeSet<String>,
        /// All that it sees and could send there, each as a question tells it.
        sees: BTreeSet<String>,
    },
}

impl Destination {
    /// A server by its name, with its port behind a colon where that is not the usual one, and with `http://` before it
    /// where it is asked over http.
    ///
    /// ```
    /// use limpid_core::policy::Destination;
    /// assert!(Destination::host("docs.rs").is_all_of("docs.rs"));
    /// assert!(!Destination::host("http://docs.rs").is_all_of("docs.rs"));
    /// ```
    pub fn host(text: &str) -> Self {
        let Server { scheme, name, port } = Server::read(text);
        Self::Host { in_clear: scheme == Some(Scheme::Http), name: name.to_owned(), port }
    }

    /// A phone number, which may be written with blanks and hyphens; none when it is no number.
    ///
    /// ```
    /// use limpid_core::policy::Destination;
    /// assert_eq!(Destination::phone("+49 170-1111").unwrap().to_string(), "+491701111");
    /// assert_eq!(Destination::phone("+491709999://+491701111"), None);
    /// ```
    pub fn phone(text: &str) -> Option<Self> {
        let number: String = text.trim().chars().filter(|letter| !matches!(letter, ' ' | '-')).collect();
        let digits = number.strip_prefix('+').unwrap_or(&number);
        let is_number = (3..=15).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit());
        is_number.then_some(Self::Phone(number))
    }

    /// Everybody or everything that is reached, each by the name that a person would type.
    pub fn recipients(&self) -> Vec<String> {
        match self {
            Self::People { to, .. } => to.iter().cloned().collect(),
            one => vec![one.to_string()],
        }
    }

    /// Whether a rule that lets calls pass names all of this. `*.name` stands for the servers below a name, at their
    /// usual port; a server over http is named with `http://` before it.
    pub fn is_all_of(&self, rule: &str) -> bool {
        match self {
            Self::Host { in_clear, name, port } => {
                let wanted = Server::read(rule);
                (wanted.scheme == Some(Scheme::Http)) == *in_clear
                    && wanted.port == *port
                    && host_matches(wanted.name, name)
            }
            Self::People { from, to } => {
                let (account, names) = account_and_names(rule, from.is_some());
                let is_from = from.as_deref().is_none_or(|from| account.is_some_and(|account| is_same(account, from)));
                is_from && names.len() == to.len() && to.iter().all(|to| names.iter().any(|name| is_same(name, to)))
            }
            Self::Phone(number) => Self::phone(rule).is_some_and(|wanted| wanted == Self::Phone(number.clone())),
            Self::Place(name) => rule == name,
            Self::Program { program, hosts, sees } => {
                let (rule, seen) = without_what_is_seen(rule);
                let (wanted, names) = account_and_names(rule, true);
                let is_told = seen == sees.iter().map(|one| format!("{one:?}")).collect();
                wanted == Some(program) && names == hosts.iter().map(String::as_str).collect() && is_told
            }
        }
    }

    /// Whether a rule that holds calls back names any of this: a server at each of its ports and by each scheme, one of
    /// several people, the account, or the servers that people have their addresses at.
    pub fn has_any_of(&self, rule: &str) -> bool {
        match self {
            Self::Host { in_clear, name, port } => {
                let wanted = Server::read(rule);
                let by_scheme = wanted.scheme.is_none_or(|scheme| (scheme == Scheme::Http) == *in_clear);
                by_scheme && wanted.is_at(*port) && host_matches(wanted.name, name)
            }
            Self::People { from, to } => {
                let is_at = |name: &str, person: &str| {
                    let server = person.rsplit_once('@').map(|(_, server)| server);
                    is_same(name, person) || server.is_some_and(|server| host_matches(name, server))
                };
                let any = |name: &str| from.iter().chain(to).any(|person| is_at(name, person));
                match account_and_names(rule, from.is_some()) {
                    (Some(account), names) => {
                        from.as_deref().is_some_and(|from| is_same(account, from))
                            && names.iter().any(|name| to.iter().any(|person| is_at(name, person)))
                    }
                    (None, names) => names.into_iter().any(any),
                }
            }
            Self::Phone(_) => self.is_all_of(rule),
            Self::Place(name) => is_same(rule, name),
            Self::Program { program, hosts, .. } => {
                let (rule, _) = without_what_is_seen(rule);
                // It may speak to them by either scheme.
                let is_host = |name: &str| {
                    let wanted = Server::read(name);
                    let host = |host: &String| {
                        let Server { name, port, .. } = Server::read(host);
                        wanted.is_at(port) && host_matches(wanted.name, name)
                    };
                    hosts.iter().any(host)
                };
                let is_of = |name: &str| is_same(name, program) || is_host(name);
                match account_and_names(rule, true) {
                    (Some(wanted), names) => is_same(wanted, program) && names.into_iter().any(is_of),
                    (None, names) => names.into_iter().any(is_of),
                }
            }
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Phone(name) | Self::Place(name) => out.write_str(name),
            Self::Host { in_clear, name, port } => {
                let scheme = if *in_clear { "http://" } else { "" };
                write!(out, "{scheme}{name}")?;
                port.iter().try_for_each(|port| write!(out, ":{port}"))
            }
            Self::Program { program, hosts, sees } => {
                write!(out, "{program} to {}", hosts.iter().map(String::as_str).collect::<Vec<_>>().join(", "))?;
                let seen: Vec<String> = sees.iter().map(|one| format!("{one:?}")).collect();
                if seen.is_empty() { Ok(()) } else { write!(out, "{SEEING}{}", seen.join(", ")) }
            }
            Self::People { from, to } => {
                let to: Vec<&str> = to.iter().map(String::as_str).collect();
                from.iter().try_for_each(|from| write!(out, "{from} to "))?;
                out.write_str(&to.join(", "))
            }
        }
    }
}

/// What stands before the first thing that a program sees.
const SEEING: &str = ", seeing ";

/// A rule such as `/bin/python3 to a.test, seeing "theirs", "/opt/go"`: what stands before `seeing`, and what is seen, each in
/// its quotes.
fn without_what_is_seen(rule: &str) -> (&str, BTreeSet<String>) {
    let Some((rule, seen)) = rule.split_once(SEEING) else { return (rule, BTreeSet::new()) };
    // A quote that is part of a name has a backslash before it, so no name passes for two.
    let names = seen.strip_prefix('"').and_then(|seen| seen.strip_suffix('"')).unwrap_or(seen).split("\", \"");
    (rule, names.map(|name| format!("\"{name}\"")).collect())
}

/// The account of a rule such as `me@example.com to ada@example.com, bob@example.com`, if it names one, and who gets it.
fn account_and_names(rule: &str, has_account: bool) -> (Option<&str>, BTreeSet<&str>) {
    let (account, names) = match rule.split_once(" to ").filter(|_| has_account) {
        Some((account, names)) => (Some(account), names),
        None => (None, rule),
    };
    (account, names.split(", ").collect())
}

/// A name as it is compared with others: case does not count, but for letters outside of ASCII, of which some become another
/// mailbox's or host's when their case is changed.
pub(super) fn folded(name: &str) -> String {
    name.to_ascii_lowercase()
}

fn is_same(one: &str, other: &str) -> bool {
    folded(one) == folded(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter(to: &[&str]) -> Destination {
        let to = to.iter().map(|to| (*to).to_owned()).collect();
        Destination::People { from: Some("me@example.com".to_owned()), to }
    }

    fn program(hosts: &[&str]) -> Destination {
        seeing(hosts, &[])
    }

    fn seeing(hosts: &[&str], seen: &[&str]) -> Destination {
        let [hosts, sees] = [hosts, seen].map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        Destination::Program { program: "/bin/python3".to_owned(), hosts, sees }
    }

    // SEC-071
    #[test]
    fn a_rule_that_lets_pass_names_all_and_one_that_holds_back_names_any() {
        let both = letter(&["ada@a.test", "eve@evil.test"]);
        let [all, any] = ["all and any", "any"];
        let table = [
            (letter(&["\u{212a}ate@example.com"]), "me@example.com to kate@example.com", ""),
            (Destination::host("docs.rs"), "docs.rs", all),
            (Destination::host("docs.rs"), "Docs.rs.", all),
            (Destination::host("a.docs.rs"), "*.docs.rs", all),
            (Destination::host("docs.rs"), "*.docs.rs", ""),
            (Destination::host("docs.rs:81"), "docs.rs:81", all),
            (Destination::host("docs.rs:81"), "docs.rs", any),
            (Destination::host("docs.rs:81"), "docs.rs:82", ""),
            (Destination::host("docs.rs"), "docs.rs:81", ""),
            (Destination::host("docs.rs"), "docs.rs:443", any),
            (Destination::host("docs.rs"), "docs.rs:80", any),
            (Destination::host("docs.rs:81"), "docs.rs:80", ""),
            (Destination::host("docs.rs"), "https://docs.rs/", all),
            (Destination::host("docs.rs"), "http://docs.rs", ""),
            (Destination::host("http://docs.rs"), "docs.rs", any),
            (Destination::host("http://docs.rs"), "https://docs.rs", ""),
            (Destination::host("http://docs.rs"), "HTTP://Docs.rs/", all),
            (Destination::host("http://a.docs.rs"), "http://*.docs.rs", all),
            (Destination::host("http://a.docs.rs"), "*.docs.rs", any),
            (Destination::host("http://docs.rs:81"), "docs.rs:81", any),
            (Destination::host("http://docs.rs:81"), "http://docs.rs:81", all),
            (Destination::host("http://docs.rs:81"), "http://docs.rs", any),
            (Destination::host("http://[::1]:81"), "http://[::1]:81", all),
            (Destination::host("[::1]:81"), "[::1]", any),
            (Destination::host("[::1]:81"), "[::1]:81", all),
            (both.clone(), "me@example.com to eve@evil.test, Ada@a.test", all),
            (both.clone(), "me@example.com to ada@a.test", any),
            (both.clone(), "you@example.com to ada@a.test, eve@evil.test", ""),
            (both.clone(), "ada@a.test, eve@evil.test", any),
            (both.clone(), "eve@evil.test", any),
            (both.clone(), "evil.test", any),
            (both.clone(), "*.evil.test", ""),
            (both.clone(), "me@example.com", any),
            (both, "*.test", any),
            (program(&["a.test", "b.test:81"]), "/bin/python3 to b.test:81, a.test", all),
            (program(&["a.test", "b.test:81"]), "/bin/python3 to a.test", any),
            (program(&["a.test", "b.test:81"]), "/bin/python3", any),
            (program(&["a.test"]), "/bin/perl to a.test", ""),
            (program(&["a.test", "b.test:81"]), "b.test", any),
            (program(&["a.test", "b.test:81"]), "http://b.test", any),
            (program(&["a.test"]), "c.test", ""),
            (seeing(&["a.test"], &["b", "a"]), r#"/bin/python3 to a.test, seeing "b", "a""#, all),
            (seeing(&["a.test"], &["b", "a"]), r#"/bin/python3 to a.test, seeing "a""#, any),
            (seeing(&["a.test"], &["b", "a"]), "/bin/python3 to a.test", any),
            (seeing(&["a.test"], &["a"]), r#"/bin/python3 to a.test, seeing "a", "b""#, any),
            (seeing(&["a.test"], &["b\", \"a"]), r#"/bin/python3 to a.test, seeing "b", "a""#, any),
            (seeing(&["a.test"], &["b\", \"a"]), r#"/bin/python3 to a.test, seeing "b\", \"a""#, all),
            (seeing(&["a.test"], &["b"]), "c.test, seeing \"b\"", ""),
            (letter(&["a, b@c.test"]), "me@example.com to a, b@c.test", ""),
            (Destination::phone("+49 170").unwrap(), "+49170", all),
            (Destination::phone("+49170").unwrap(), "+49-170", all),
            (Destination::phone("+49170").unwrap(), "49170", ""),
            (Destination::Place("/dev/i2c-1".to_owned()), "/dev/i2c-1", all),
            (Destination::Place("x://+49170".to_owned()), "+49170", ""),
        ];
        for (destination, rule, expected) in table {
            let said = match (destination.is_all_of(rule), destination.has_any_of(rule)) {
                (true, true) => all,
                (false, true) => any,
                (false, false) => "",
                (true, false) => "all, but nothing of it",
            };
            assert_eq!(said, expected, "{destination} by {rule}");
        }
    }

    // SEC-071 SEC-077
    #[test]
    fn a_phone_number_is_of_digits() {
        for number in ["110", "+491701111", "0170 1111", "+49-170-1111"] {
            assert!(Destination::phone(number).is_some(), "{number}");
        }
        let others =
            ["", "+", "12", "+491701111.", "tel:110", "+49\n170", "1+10", "++110", "+49170\u{661}", "1234567890123456"];
        for other in others {
            assert_eq!(Destination::phone(other), None, "{other}");
        }
    }

    // SEC-077
    #[test]
    fn all_of_it_is_shown() {
        let shown = |destination: Destination| destination.to_string();
        assert_eq!(shown(letter(&["b@a.test", "a@a.test"])), "me@example.com to a@a.test, b@a.test");
        assert_eq!(shown(seeing(&["a.test"], &["b\"", "/a"])), r#"/bin/python3 to a.test, seeing "/a", "b\"""#);
        assert_eq!(shown(Destination::host("a.test:81")), "a.test:81");
        assert_eq!(shown(Destination::host("[::1]")), "[::1]");
        assert_eq!(shown(Destination::host("https://a.test:81")), "a.test:81");
        assert_eq!(shown(Destination::host("http://a.test:81")), "http://a.test:81");
    }
}
